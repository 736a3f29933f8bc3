/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of scenarios. How long each lasts is counted in datagrams of a sender; the first and the last of them
 * stand in for the start, which counts, and for what is under way at the end, which does not.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "scenario.h"

enum { SECOND_NS = 1000000000, MAX_FRAGMENTS = 128, BIG = 45 /* fragments of 65,507 bytes at an MTU of 1500 */ };

static void __attribute__((format(printf, 2, 3))) describe(struct fm_scenario_case *c, const char *format, ...)
{
	char *end = c->params;
	va_list args;

	while (*end != '\0')
		end++;
	va_start(args, format);
	vsnprintf(end, sizeof(c->params) - (size_t)(end - c->params), format, args);
	va_end(args);
}

/* Senders of one kind and a budget; the rest is for the caller to add. */
static struct fm_scenario_case *add(struct fm_scenario_list *list, uint32_t senders, uint16_t fragments,
				    uint32_t budget, enum fm_scenario_order order)
{
	struct fm_scenario_case *c = &list->item[list->n++];

	if (list->n > FM_SCENARIO_CASES_MAX)
		abort();
	*c = (struct fm_scenario_case){
		.group[0] = {.senders = senders, .flows = 1, .fragments = fragments, .percent = 100},
		.n_groups = 1,
		.n_classes = 1,
		.order = order,
		.max_fragments = MAX_FRAGMENTS,
		.budget_mbufs = budget,
		.slot_ns = FM_SCENARIO_SLOT_NS,
		.reference = -1,
	};
	describe(c, "N=%u K=%u B=%u %s", senders, fragments, budget, order == FM_SCENARIO_RANDOM ? "random" : "rr");
	return c;
}

static void want(struct fm_scenario_case *c, unsigned int class, enum fm_scenario_metric metric, double limit)
{
	struct fm_scenario_target *target = c->class[class].target;

	while (target->metric != FM_SCENARIO_NO_TARGET)
		target++;
	*target = (struct fm_scenario_target){metric, limit};
}

static uint32_t by_scale(const struct fm_scenario_list *list, uint32_t smoke, uint32_t quick, uint32_t full)
{
	return list->scale == FM_SCENARIO_SMOKE ? smoke : list->scale == FM_SCENARIO_QUICK ? quick : full;
}

/* So long that each sender of the first group sends so many datagrams. */
static void last(struct fm_scenario_case *c, uint32_t datagrams)
{
	const struct fm_scenario_group *g = &c->group[0];

	c->slots =
		(uint64_t)g->senders * g->flows * g->fragments * datagrams * (c->hostile.ratio + 1) * 100 / g->percent;
}

static const enum fm_scenario_order orders[] = {FM_SCENARIO_ROUND_ROBIN, FM_SCENARIO_RANDOM};

/* The report of 2012: a sender's rate does not depend on the number of senders, so neither may the total. */
static void seed_warm(struct fm_scenario_list *list)
{
	enum { SENDERS = 16, BUDGET = 128, FITS = 2, PRESSURE_FROM = 4, SMOKE_STEP = 4 };

	for (unsigned int o = 0; o < RTE_DIM(orders); o++)
		for (uint32_t n = 1; n <= SENDERS;
		     n += list->scale == FM_SCENARIO_SMOKE ? SMOKE_STEP - n % SMOKE_STEP : 1) {
			struct fm_scenario_case *c = add(list, n, BIG, BUDGET, orders[o]);

			c->slot_ns = (uint64_t)SENDERS * FM_SCENARIO_SLOT_NS / n;
			last(c, by_scale(list, 100, 400, 4000));
			if (n > 1) {
				c->reference = (int)list->n - 2;
				want(c, 0, FM_SCENARIO_COMPLETED, 0.99);
			}
			if (n <= FITS)
				want(c, 0, FM_SCENARIO_GOODPUT, 1);
			if (n < PRESSURE_FROM)
				continue;
			want(c, 0, FM_SCENARIO_RATIO, orders[o] == FM_SCENARIO_RANDOM ? 0.60 : 0.65);
			want(c, 0, FM_SCENARIO_JAIN, 0.95);
			want(c, 0, FM_SCENARIO_WORST, 0.05);
		}
}

static void overload(struct fm_scenario_list *list)
{
	static const uint32_t senders[] = {100, 200, 400, 1600};
	const unsigned int n = by_scale(list, 3, RTE_DIM(senders), RTE_DIM(senders));

	for (unsigned int o = 0; o < RTE_DIM(orders); o++)
		for (unsigned int i = 0; i < n; i++) {
			struct fm_scenario_case *c = add(list, senders[i], BIG, 4096, orders[o]);

			last(c, by_scale(list, 12, 150, 600));
			want(c, 0, FM_SCENARIO_RATIO, 0.88);
			want(c, 0, FM_SCENARIO_JAIN, 0.95);
		}
}

/* Room for a third of the sources, each of which sends ten fragments a second. */
static void many_flows(struct fm_scenario_list *list)
{
	enum { FRAGMENTS = 3, PER_SECOND = 10, REFERENCE = 1 };
	static const uint32_t senders[] = {100, 1000, 3000, 5000, 20000, 100000, 1000000};
	const unsigned int n = by_scale(list, 3, 6, 7);

	for (unsigned int o = 0; o < RTE_DIM(orders); o++) {
		const int first = (int)list->n;

		for (unsigned int i = 0; i < n; i++) {
			struct fm_scenario_case *c = add(list, senders[i], FRAGMENTS, senders[i] / 3, orders[o]);

			c->slot_ns = SECOND_NS / PER_SECOND / senders[i];
			last(c, by_scale(list, 12, 20, 40));
			if (i <= REFERENCE)
				continue;
			c->reference = first + REFERENCE;
			want(c, 0, FM_SCENARIO_RATIO_FLAT, 1 / 1.5);
			want(c, 0, FM_SCENARIO_CYCLES, 1.5);
		}
	}
}

static void flood(struct fm_scenario_list *list, enum fm_scenario_source source, const double limit[3])
{
	enum { SENDERS = 16 };
	static const struct {
		uint16_t fragments;
		uint32_t budget, datagrams[2];
	} kind[] = {{BIG, 4096, {60, 400}}, {3, 512, {200, 2000}}};
	static const uint32_t ratio[] = {1, 10, 100};
	const unsigned int n = by_scale(list, 2, 3, 3);

	for (unsigned int k = 0; k < RTE_DIM(kind); k++)
		for (unsigned int i = 0; i < n; i++) {
			struct fm_scenario_case *c =
				add(list, SENDERS, kind[k].fragments, kind[k].budget, FM_SCENARIO_ROUND_ROBIN);

			describe(c, " x%u", ratio[i]);
			c->hostile = (struct fm_scenario_hostile){.ratio = ratio[i],
								  .source = source,
								  .live = 1,
								  .length = 1,
								  .payload = FM_SCENARIO_PAYLOAD};
			last(c, by_scale(list, 20, kind[k].datagrams[0], kind[k].datagrams[1]));
			want(c, 0, FM_SCENARIO_GOODPUT, limit[i]);
		}
}

static void flood_one(struct fm_scenario_list *list)
{
	flood(list, FM_SCENARIO_ONE, (const double[]){0.99, 0.99, 0.95});
}

static void flood_spoof(struct fm_scenario_list *list)
{
	flood(list, FM_SCENARIO_SPOOFED, (const double[]){0.99, 0.99, 0.90});
}

/*
 * Few live ones grow fast, many grow slowly; either way they want more than the budget. With 64 live ones for each
 * hostile fragment in an honest one's place, a hostile datagram gets one as often as every fourth turn of an honest
 * one.
 */
static void flood_trickle(struct fm_scenario_list *list)
{
	enum { SENDERS = 16, LENGTH = 40 };
	static const uint32_t ratio[] = {1, 10};
	static const enum fm_scenario_source source[] = {FM_SCENARIO_ONE, FM_SCENARIO_SPOOFED};
	static const struct {
		uint32_t live, live_by_ratio, budget;
	} kind[] = {{0, 64, 1024}, {512, 0, 4096}, {4096, 0, 4096}};

	for (unsigned int i = 0; i < RTE_DIM(source) * RTE_DIM(ratio) * RTE_DIM(kind); i++) {
		const unsigned int k = i % RTE_DIM(kind), r = i / RTE_DIM(kind) % RTE_DIM(ratio);
		const unsigned int s = i / RTE_DIM(kind) / RTE_DIM(ratio);
		struct fm_scenario_case *c = add(list, SENDERS, BIG, kind[k].budget, FM_SCENARIO_ROUND_ROBIN);

		c->hostile = (struct fm_scenario_hostile){.ratio = ratio[r],
							  .source = source[s],
							  .live = kind[k].live + kind[k].live_by_ratio * ratio[r],
							  .length = LENGTH,
							  .payload = FM_SCENARIO_PAYLOAD};
		describe(c, " x%u live=%u %s", ratio[r], c->hostile.live, s == 0 ? "one" : "spoofed");
		last(c, by_scale(list, 20, 60, 400));
		want(c, 0, FM_SCENARIO_GOODPUT, 0.90);
	}
}

/* As many pieces as IPv4 allows. */
static void flood_tiny(struct fm_scenario_list *list)
{
	enum { SENDERS = 16, FRAGMENTS = 3, BUDGET = 16384, RATIO = 10, LIVE = 4, LENGTH = 8189, MAX = 8192 };

	for (unsigned int i = 0; i < 4; i++) {
		struct fm_scenario_case *c = add(list, SENDERS, FRAGMENTS, BUDGET, FM_SCENARIO_ROUND_ROBIN);

		c->max_fragments = MAX;
		c->hostile = (struct fm_scenario_hostile){.ratio = RATIO,
							  .source = FM_SCENARIO_EACH,
							  .live = LIVE,
							  .length = LENGTH,
							  .payload = FM_SCENARIO_PAYLOAD_TINY,
							  .completes = i / 2 == 1,
							  .shuffled = i % 2 == 1};
		describe(c, " x%u %s %s", RATIO, c->hostile.completes ? "whole" : "never",
			 i % 2 == 1 ? "shuffled" : "in-order");
		last(c, by_scale(list, 200, 1000, 5000));
		want(c, 0, FM_SCENARIO_GOODPUT, 0.95);
		if (c->hostile.shuffled) {
			c->reference = (int)list->n - 2;
			want(c, 0, FM_SCENARIO_CYCLES, 4);
		}
	}
}

/* The mice need 64 mbufs on average; the elephant wants 22 for each datagram that it sends interleaved. */
static void elephant_mice(struct fm_scenario_list *list)
{
	static const struct {
		uint32_t flows, budget;
	} kind[] = {{1, 128}, {32, 512}};

	for (unsigned int k = 0; k < RTE_DIM(kind); k++) {
		struct fm_scenario_case *c = add(list, 64, 3, kind[k].budget, FM_SCENARIO_ROUND_ROBIN);

		c->group[0].percent = 10;
		c->group[1] = (struct fm_scenario_group){
			.senders = 1, .flows = kind[k].flows, .fragments = BIG, .percent = 90};
		c->n_groups = c->n_classes = 2;
		c->class[0].name = "mice";
		c->class[1].name = "elephant";
		c->params[0] = '\0';
		describe(c, "B=%u flows=%u", kind[k].budget, kind[k].flows);
		last(c, by_scale(list, 60, 300, 3000));
		want(c, 0, FM_SCENARIO_WORST, 0.95);
		want(c, 1, FM_SCENARIO_RATIO, 0.80);
	}
}

static void loss(struct fm_scenario_list *list)
{
	static const struct {
		uint32_t senders;
		uint16_t fragments;
		bool pressure;
	} kind[] = {{100, BIG, false}, {400, BIG, true}, {1000, 3, false}, {8192, 3, true}};
	static const uint16_t permille[] = {10, 50};

	for (unsigned int k = 0; k < RTE_DIM(kind); k++)
		for (unsigned int i = 0; i < RTE_DIM(permille); i++) {
			struct fm_scenario_case *c =
				add(list, kind[k].senders, kind[k].fragments, 4096, FM_SCENARIO_ROUND_ROBIN);

			c->loss_permille = permille[i];
			describe(c, " loss=%u%%", permille[i] / 10);
			last(c, by_scale(list, 10, 40, 400));
			want(c, 0, kind[k].pressure ? FM_SCENARIO_RATIO : FM_SCENARIO_GOODPUT,
			     kind[k].pressure ? 0.88 : 0.99);
		}
}

static void reorder(struct fm_scenario_list *list)
{
	static const uint16_t window[] = {2, 10, 100, 1000}, fragments[] = {BIG, 3};

	for (unsigned int k = 0; k < RTE_DIM(fragments); k++)
		for (unsigned int i = 0; i < RTE_DIM(window); i++) {
			struct fm_scenario_case *c = add(list, 16, fragments[k], 4096, FM_SCENARIO_ROUND_ROBIN);

			c->reorder = window[i];
			describe(c, " window=%u", window[i]);
			last(c, by_scale(list, 20, 60, 600) * (fragments[k] == 3 ? 10 : 1));
			want(c, 0, FM_SCENARIO_GOODPUT, 1);
		}
}

static void overload_flood(struct fm_scenario_list *list)
{
	static const enum fm_scenario_source source[] = {FM_SCENARIO_ONE, FM_SCENARIO_SPOOFED};

	for (unsigned int s = 0; s < RTE_DIM(source); s++)
		for (unsigned int o = 0; o < RTE_DIM(orders); o++) {
			struct fm_scenario_case *c = add(list, 400, BIG, 4096, orders[o]);

			describe(c, " x1 %s", s == 0 ? "one" : "spoofed");
			c->hostile = (struct fm_scenario_hostile){.ratio = 1,
								  .source = source[s],
								  .live = 1,
								  .length = 1,
								  .payload = FM_SCENARIO_PAYLOAD};
			last(c, by_scale(list, 12, 40, 200));
			want(c, 0, FM_SCENARIO_RATIO, 0.80);
			want(c, 0, FM_SCENARIO_JAIN, 0.95);
		}
}

/*
 * 200,000 first fragments a second for two seconds, beside an honest load of 0.9 of the budget: 167 senders whose 45
 * fragments need 22 mbufs on average are 3674 of 4096. A datagram takes 75 ms; those that begin one such time after the
 * flood has ended are done two such times after it.
 */
static void recover(struct fm_scenario_list *list)
{
	enum { SENDERS = 167, RATIO = 2, PER_SECOND = 300000 };
	static const enum fm_scenario_source source[] = {FM_SCENARIO_ONE, FM_SCENARIO_SPOOFED};
	const uint64_t second = SECOND_NS / by_scale(list, 4, 1, 1);

	for (unsigned int s = 0; s < RTE_DIM(source); s++) {
		struct fm_scenario_case *c = add(list, SENDERS, BIG, 4096, FM_SCENARIO_ROUND_ROBIN);
		const uint64_t from_ns = second, to_ns = 3 * second, slot_ns = SECOND_NS / PER_SECOND;
		const uint64_t datagram_ns = (uint64_t)SENDERS * BIG * (RATIO + 1) * slot_ns;

		describe(c, " x%u %s", RATIO, s == 0 ? "one" : "spoofed");
		c->even_phases = true;
		c->slot_ns = slot_ns;
		c->hostile = (struct fm_scenario_hostile){.ratio = RATIO,
							  .source = source[s],
							  .live = 1,
							  .length = 1,
							  .payload = FM_SCENARIO_PAYLOAD,
							  .from_ns = from_ns,
							  .to_ns = to_ns};
		c->n_classes = 3;
		c->class[0].name = "before";
		c->class[1].name = "flood";
		c->class[2].name = "after";
		c->phase_ns[0] = from_ns - datagram_ns;
		c->phase_ns[1] = to_ns + datagram_ns;
		c->slots = 9 * second / 2 / slot_ns;
		want(c, 0, FM_SCENARIO_GOODPUT, 1);
		want(c, 2, FM_SCENARIO_GOODPUT, 1);
	}
}

static void collide(struct fm_scenario_list *list, const enum fm_scenario_address *address, const char *const *name,
		    unsigned int n)
{
	enum { SENDERS = 4096, FRAGMENTS = 3, BUDGET = SENDERS * FRAGMENTS };
	const int first = (int)list->n;

	for (unsigned int i = 0; i < n; i++) {
		struct fm_scenario_case *c = add(list, SENDERS, FRAGMENTS, BUDGET, FM_SCENARIO_ROUND_ROBIN);

		describe(c, " %s", name[i]);
		c->address = address[i];
		last(c, by_scale(list, 10, 40, 400));
		want(c, 0, FM_SCENARIO_GOODPUT, 1);
		if (i > 0) {
			c->reference = first;
			want(c, 0, FM_SCENARIO_CYCLES, 1.5);
		}
	}
}

static void collide_index(struct fm_scenario_list *list)
{
	collide(list, (const enum fm_scenario_address[]){FM_SCENARIO_ADDRESS_RANDOM, FM_SCENARIO_ADDRESS_CRC_KEY},
		(const char *const[]){"random", "crc"}, 2);
}

static void collide_source(struct fm_scenario_list *list)
{
	collide(list,
		(const enum fm_scenario_address[]){FM_SCENARIO_ADDRESS_RANDOM, FM_SCENARIO_ADDRESS_CRC_SOURCE,
						   FM_SCENARIO_ADDRESS_STRIDE},
		(const char *const[]){"random", "crc", "stride"}, 3);
}

const struct fm_scenario fm_scenario_table[] = {
	{"seed-warm", "a few large datagrams, interleaved, and room for not quite three", seed_warm},
	{"overload", "large datagrams of many senders at up to ten times the budget", overload},
	{"many-flows", "a hundred to a million sources, room for a third of them", many_flows},
	{"flood-one", "first fragments of one source that never complete", flood_one},
	{"flood-spoof", "first fragments of random sources that never complete", flood_spoof},
	{"flood-trickle", "hostile datagrams that get a fragment now and then", flood_trickle},
	{"flood-tiny", "hostile datagrams in thousands of pieces of 8 bytes", flood_tiny},
	{"elephant-mice", "one source with nine tenths of the traffic, 64 small ones", elephant_mice},
	{"loss", "lost fragments, without pressure and at twice the budget", loss},
	{"reorder", "fragments shuffled within a window, without pressure", reorder},
	{"overload+flood", "twice the budget, and as many hostile first fragments", overload_flood},
	{"recover", "a flood that ends", recover},
	{"collide-index", "keys with the same CRC", collide_index},
	{"collide-source", "sources with the same low bits, plain or of their CRC", collide_source},
	{0},
};
