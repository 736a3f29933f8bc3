/* SPDX-License-Identifier: BSD-3-Clause */
/* The stream of a scenario: whose turn it is, what is sent, and what an honest datagram needs. */
#include <stdio.h>
#include <stdlib.h>

#include "scenario_internal.h"
#include "traffic.h"

static void *must(void *memory)
{
	if (memory == NULL) {
		fprintf(stderr, "scenario: out of memory\n");
		exit(1);
	}
	return memory;
}

static uint32_t below(struct fm_scenario_traffic *t, uint32_t n)
{
	return (uint32_t)((fm_bench_random(&t->random) >> 32) * n >> 32);
}

/* --- start and end --- */

static void shuffle(struct fm_scenario_traffic *t, uint16_t *permutation, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		const uint32_t j = below(t, i + 1U);

		permutation[i] = permutation[j];
		permutation[j] = i;
	}
}

static void start_group(struct fm_scenario_traffic *t, unsigned int g)
{
	const struct fm_scenario_group *group = &t->spec->group[g];
	const uint32_t n = group->senders * group->flows;

	for (uint32_t i = 0; i < n; i++) {
		struct fm_scenario_flow *flow = &t->flow[t->n_flows + i];

		*flow = (struct fm_scenario_flow){
			.sender = t->n_senders + i % group->senders,
			.group = (uint8_t)g,
			.wait = (uint16_t)(t->spec->even_phases ? (uint64_t)i * group->fragments / n
								: below(t, group->fragments)),
		};
	}
	for (uint32_t i = 0; i < group->senders; i++)
		t->next_id[t->n_senders + i] = (uint16_t)below(t, UINT16_MAX + 1);
	t->first_flow[g] = t->n_flows;
	t->n_flows += n;
	t->n_senders += group->senders;
}

static void start_hostile(struct fm_scenario_traffic *t)
{
	const struct fm_scenario_hostile *hostile = &t->spec->hostile;

	if (hostile->ratio == 0)
		return;
	t->hostile = must(calloc(hostile->live, sizeof(*t->hostile)));
	t->permutation = must(calloc(hostile->length, sizeof(*t->permutation)));
	if (hostile->shuffled)
		shuffle(t, t->permutation, hostile->length);
	else
		for (uint16_t i = 0; i < hostile->length; i++)
			t->permutation[i] = i;
}

struct fm_scenario_traffic *fm_scenario_traffic_new(const struct fm_scenario_case *spec, uint64_t seed)
{
	struct fm_scenario_traffic *t = must(calloc(1, sizeof(*t)));
	uint32_t flows = 0, senders = 0;

	t->spec = spec;
	/* Never 0, and far apart for neighbouring seeds. */
	t->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
	for (unsigned int g = 0; g < spec->n_groups; g++) {
		flows += spec->group[g].senders * spec->group[g].flows;
		senders += spec->group[g].senders;
	}
	t->flow = must(calloc(flows, sizeof(*t->flow)));
	t->next_id = must(calloc(senders, sizeof(*t->next_id)));
	for (unsigned int c = 0; c < spec->n_classes; c++)
		t->class[c].share = must(calloc(senders, sizeof(*t->class[c].share)));
	t->window = must(calloc(spec->reorder + 1U, sizeof(*t->window)));
	for (unsigned int g = 0; g < spec->n_groups; g++)
		start_group(t, g);
	start_hostile(t);
	return t;
}

void fm_scenario_traffic_free(struct fm_scenario_traffic *t)
{
	for (unsigned int c = 0; c < t->spec->n_classes; c++)
		free(t->class[c].share);
	free(t->window);
	free(t->permutation);
	free(t->hostile);
	free(t->next_id);
	free(t->flow);
	free(t);
}

/* --- honest senders --- */

static uint8_t class_of(const struct fm_scenario_traffic *t, const struct fm_scenario_flow *flow)
{
	uint8_t class = 0;

	if (t->spec->phase_ns[0] == 0)
		return t->spec->n_classes > 1 ? flow->group : 0;
	while (class + 1 < t->spec->n_classes && t->now_ns >= t->spec->phase_ns[class])
		class ++;
	return class;
}

static void begin(struct fm_scenario_traffic *t, struct fm_scenario_flow *flow)
{
	/* Keys that collide are computed, so there is one for each sender. */
	flow->id = t->spec->address == FM_SCENARIO_ADDRESS_CRC_KEY ? 0 : t->next_id[flow->sender]++;
	flow->class = class_of(t, flow);
	flow->first_ns = t->now_ns;
	flow->delay_sum_ns = 0;
	flow->arrived = 0;
}

/* A fragment was sent; if it was the last one, note what the datagram needed. */
static void account(struct fm_scenario_traffic *t, struct fm_scenario_flow *flow, bool arrived)
{
	struct fm_scenario_tally *tally = &t->class[flow->class];
	const uint16_t fragments = t->spec->group[flow->group].fragments;
	const uint64_t delay_ns = t->now_ns - flow->first_ns;

	if (arrived) {
		flow->arrived++;
		flow->delay_sum_ns += delay_ns;
	}
	if (++flow->sent < fragments)
		return;
	tally->sent++;
	tally->area += (double)(flow->arrived * delay_ns - flow->delay_sum_ns);
	if (flow->arrived == fragments)
		tally->share[flow->sender].offered++;
	flow->sent = 0;
}

static struct fm_scenario_flow *whose_turn(struct fm_scenario_traffic *t)
{
	const struct fm_scenario_case *spec = t->spec;
	const unsigned int g = spec->n_groups > 1 && below(t, 100) >= spec->group[0].percent;
	const uint32_t n = spec->group[g].senders * spec->group[g].flows;

	return &t->flow[t->first_flow[g] +
			(spec->order == FM_SCENARIO_RANDOM ? below(t, n) : (uint32_t)(t->turn[g]++ % n))];
}

static bool honest(struct fm_scenario_traffic *t, struct fm_scenario_fragment *f)
{
	struct fm_scenario_flow *flow = whose_turn(t);
	bool arrives;

	if (flow->wait > 0) {
		flow->wait--;
		return false;
	}
	if (flow->sent == 0)
		begin(t, flow);
	*f = (struct fm_scenario_fragment){
		.at_ns = t->now_ns,
		.destination = rte_cpu_to_be_32(FM_SCENARIO_HONEST | flow->sender),
		.flow = (uint32_t)(flow - t->flow),
		.number = flow->sent,
		.id = flow->id,
		.offset = (uint16_t)(flow->sent * FM_SCENARIO_PAYLOAD),
		.length = FM_SCENARIO_PAYLOAD,
		.tos = (uint8_t)(flow->class << FM_SCENARIO_CLASS_SHIFT),
		.more = flow->sent + 1 < t->spec->group[flow->group].fragments,
	};
	f->source = fm_scenario_source_address(t->spec->address, flow->sender, f->destination, rte_cpu_to_be_16(f->id));
	arrives = t->spec->loss_permille == 0 || below(t, 1000) >= t->spec->loss_permille;
	account(t, flow, arrives);
	return arrives;
}

/* --- hostile ones --- */

static void begin_hostile(struct fm_scenario_traffic *t, uint32_t number)
{
	const struct fm_scenario_hostile *spec = &t->spec->hostile;
	struct fm_scenario_stream *stream = &t->hostile[number];
	/* The first round stands for datagrams that began earlier, at different times. */
	const bool first = stream->length == 0;

	stream->sent = 0;
	stream->length = first && !spec->completes ? (uint16_t)(1 + below(t, spec->length)) : spec->length;
	switch (spec->source) {
	case FM_SCENARIO_SPOOFED:
		stream->source = FM_SCENARIO_SPOOFED_NETWORK | below(t, FM_SCENARIO_SPOOFED_SIZE);
		stream->id = (uint16_t)below(t, UINT16_MAX + 1);
		break;
	case FM_SCENARIO_EACH:
		stream->source = FM_SCENARIO_HOSTILE + number;
		stream->id++;
		break;
	default:
		stream->source = FM_SCENARIO_HOSTILE;
		stream->id = t->hostile_id++;
		break;
	}
}

static bool hostile(struct fm_scenario_traffic *t, struct fm_scenario_fragment *f)
{
	const struct fm_scenario_hostile *spec = &t->spec->hostile;
	const uint32_t number = (uint32_t)(t->hostile_turn++ % spec->live);
	struct fm_scenario_stream *stream = &t->hostile[number];
	uint16_t place;

	if (t->now_ns < spec->from_ns || (spec->to_ns != 0 && t->now_ns >= spec->to_ns))
		return false;
	if (stream->sent == stream->length)
		begin_hostile(t, number);
	place = t->permutation[stream->sent++];
	*f = (struct fm_scenario_fragment){
		.at_ns = t->now_ns,
		.source = rte_cpu_to_be_32(stream->source),
		.destination = rte_cpu_to_be_32(FM_SCENARIO_VICTIM),
		.flow = FM_SCENARIO_NO_FLOW,
		.number = place,
		.id = stream->id,
		.offset = (uint16_t)(place * spec->payload),
		.length = spec->payload,
		.more = !spec->completes || place + 1 < spec->length,
	};
	return true;
}

/* --- the wire --- */

static bool next_in_order(struct fm_scenario_traffic *t, struct fm_scenario_fragment *f)
{
	const uint32_t ratio = t->spec->hostile.ratio;

	while (t->slot < t->spec->slots) {
		t->now_ns = t->slot++ * t->spec->slot_ns;
		if (ratio > 0 && below(t, ratio + 1) != 0 ? hostile(t, f) : honest(t, f))
			return true;
	}
	return false;
}

/* Fill the window and shuffle it; the times stay in order. */
static void fill_window(struct fm_scenario_traffic *t)
{
	t->window_at = t->window_n = 0;
	while (t->window_n < t->spec->reorder && next_in_order(t, &t->window[t->window_n]))
		t->window_n++;
	for (uint32_t i = t->window_n; i > 1; i--) {
		struct fm_scenario_fragment *a = &t->window[i - 1], *b = &t->window[below(t, i)];
		const struct fm_scenario_fragment fragment = *a;
		const uint64_t at_ns = b->at_ns;

		*a = *b;
		*b = fragment;
		a->at_ns = fragment.at_ns;
		b->at_ns = at_ns;
	}
}

bool fm_scenario_next(struct fm_scenario_traffic *t, struct fm_scenario_fragment *fragment)
{
	if (t->spec->reorder == 0)
		return next_in_order(t, fragment);
	if (t->window_at == t->window_n)
		fill_window(t);
	if (t->window_at == t->window_n)
		return false;
	*fragment = t->window[t->window_at++];
	return true;
}
