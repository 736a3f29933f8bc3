/* SPDX-License-Identifier: BSD-3-Clause */
/* A budget that becomes smaller: who has to give way, and how much of it is done at a time. */
#include "bed.h"

enum { PIECES = 4, STEP = 800, WORK = 16, SOURCES = 8, HISTORY = 30 };

static uint32_t next_id;

static struct fm_test_frag datagram(uint32_t source)
{
	struct fm_test_frag frag = bed_ipv4(++next_id, 0, STEP, true);

	frag.source = 0x0a000100 + source;
	return frag;
}

/* Send the first `sent` of PIECES fragments of so many new datagrams. */
static void send_from(struct bed *bed, uint32_t source, uint32_t datagrams, uint32_t sent)
{
	for (uint32_t i = 0; i < datagrams; i++) {
		const struct fm_test_frag frag = datagram(source);

		bed_send_pieces(bed, &frag, PIECES * STEP, STEP, 0, sent);
		bed_clear(bed);
	}
}

static uint32_t held_by(struct bed *bed, uint32_t source)
{
	struct fm_source_view views[SOURCES + 1];
	uint32_t n = 0;

	assert_int_equal(fm_reass_sources(bed->reass, 0, UINT32_MAX, views, RTE_DIM(views), &n), 0);
	for (uint32_t i = 0; i < n; i++)
		if (views[i].prefix[3] == source)
			return views[i].held_mbufs;
	return 0;
}

static void set_budget(struct bed *bed, uint32_t mbufs)
{
	struct fm_reass_settings settings = bed->params.settings;

	settings.budget_mbufs = mbufs;
	bed_set(bed, &settings);
}

static void init(struct bed *bed, uint32_t datagrams)
{
	struct fm_reass_params params = bed_params();

	params.max_datagrams = datagrams;
	bed_init_params(bed, &params);
}

/* In steps to `mbufs`, none of which does more than it may. Returns how many. */
static uint32_t shrink(struct bed *bed, uint32_t mbufs)
{
	uint64_t held = bed_held(bed), now;
	uint32_t steps = 0;
	bool done;

	do {
		done = fm_reass_shrink(bed->reass, mbufs, WORK, bed->now);
		now = bed_held(bed);
		/* The last fragment that has to go takes its datagram with it. */
		assert_in_range(held - now, 0, WORK + PIECES - 2);
		held = now;
		assert_in_range(++steps, 1, 1000);
	} while (!done);
	assert_in_range(held, 0, mbufs);
	return steps;
}

/* Steps, then the new budget holds; what nobody had judged is judged first, some at a time, too. */
static void step_by_step(void **state)
{
	static const uint32_t budgets[] = { 300, 299, 17, 2, 1 };
	struct bed bed;

	(void)state;
	init(&bed, 512);
	for (uint32_t s = 0; s < SOURCES; s++)
		send_from(&bed, s, 40, 1);
	assert_int_equal(bed_held(&bed), SOURCES * 40);
	assert_in_range(shrink(&bed, budgets[0]), SOURCES * 40 / WORK / 2, SOURCES * 40);
	for (size_t i = 1; i < RTE_DIM(budgets); i++) {
		shrink(&bed, budgets[i]);
		send_from(&bed, 1, 5, 1);
		assert_in_range(bed_held(&bed), 0, budgets[i]);
	}
	bed_fini(&bed);
}

/* It ends though others begin all the time. */
static void under_traffic(void **state)
{
	struct bed bed;
	uint32_t steps = 0;

	(void)state;
	init(&bed, 512);
	send_from(&bed, 0, 400, 1);
	while (!fm_reass_shrink(bed.reass, 50, WORK, bed.now)) {
		send_from(&bed, 1 + steps % 7, 2 * WORK, 1);
		assert_in_range(++steps, 1, 200);
	}
	assert_in_range(bed_held(&bed), 1, 50);
	bed_fini(&bed);
}

/* A larger budget needs no steps, and ends those of a smaller one. */
static void larger_again(void **state)
{
	struct bed bed;
	uint64_t held;

	(void)state;
	init(&bed, 512);
	send_from(&bed, 0, 400, 1);
	assert_true(fm_reass_shrink(bed.reass, 400, 1, bed.now));
	set_budget(&bed, 1024);
	assert_false(fm_reass_shrink(bed.reass, 10, WORK, bed.now));
	held = bed_held(&bed);
	set_budget(&bed, 1000);
	assert_int_equal(bed_held(&bed), held);
	send_from(&bed, 0, 50, 1);
	assert_int_equal(bed_held(&bed), held + 50);
	bed_fini(&bed);
}

/* Who holds `held[i]` mbufs when all have delivered alike. Then the budget becomes smaller. */
static void hold_and_shrink(struct bed *bed, const uint32_t held[SOURCES], uint32_t mbufs, bool in_steps)
{
	init(bed, 512);
	for (uint32_t i = 0; i < HISTORY; i++)
		for (uint32_t s = 0; s < SOURCES; s++)
			send_from(bed, s, 1, PIECES);
	for (uint32_t s = 0; s < SOURCES; s++)
		send_from(bed, s, held[s] / 2, 2);
	for (uint32_t s = 0; s < SOURCES; s++)
		assert_int_equal(held_by(bed, s), held[s]);
	if (in_steps)
		shrink(bed, mbufs);
	else
		set_budget(bed, mbufs);
	assert_in_range(bed_held(bed), mbufs - PIECES, mbufs);
}

/*
 * One has most of the table, the others little, and its datagrams came first, then each of the others' all at once. It
 * comes down to them; from there on all go down together, be it in steps or not.
 */
static void nobody_is_emptied_for_the_greedy(void **state)
{
	static const uint32_t held[SOURCES] = { 400, 20, 20, 20, 20, 20, 20, 20 };
	struct bed bed;

	(void)state;
	for (int in_steps = 0; in_steps < 2; in_steps++)
		for (uint32_t mbufs = 520; mbufs > 40; mbufs -= 40) {
			const uint32_t share = mbufs / SOURCES;

			hold_and_shrink(&bed, held, mbufs, in_steps);
			for (uint32_t s = 0; s < SOURCES; s++)
				assert_in_range(held_by(&bed, s), RTE_MIN(share, held[s]) / 2, held[s]);
			/* What it has beyond its share pays for nearly all of it. */
			assert_in_range(held_by(&bed, 0), 0, mbufs - (SOURCES - 1) * RTE_MIN(share, 20U) * 3 / 4);
			bed_fini(&bed);
		}
}

/* Whoever never delivered goes first, however little it holds. */
static void unlikely_ones_go_first(void **state)
{
	enum { BAD = 3, BAD_HELD = 10, GOOD_HELD = 40 };
	struct bed bed;

	(void)state;
	init(&bed, 512);
	for (uint32_t i = 0; i < HISTORY; i++) {
		for (uint32_t s = 0; s < SOURCES; s++)
			send_from(&bed, s, 1, s == BAD ? 1 : PIECES);
		bed.now += BED_TIMEOUT4 + 1;
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	assert_int_equal(bed_held(&bed), 0);
	for (uint32_t s = 0; s < SOURCES; s++)
		send_from(&bed, s, s == BAD ? BAD_HELD : GOOD_HELD / 2, s == BAD ? 1 : 2);
	shrink(&bed, (SOURCES - 1) * GOOD_HELD);
	for (uint32_t s = 0; s < SOURCES; s++)
		assert_int_equal(held_by(&bed, s), s == BAD ? 0 : GOOD_HELD);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_by_step),
		cmocka_unit_test(under_traffic),
		cmocka_unit_test(larger_again),
		cmocka_unit_test(nobody_is_emptied_for_the_greedy),
		cmocka_unit_test(unlikely_ones_go_first),
	};

	return cmocka_run_group_tests_name("reass_shrink", tests, NULL, NULL);
}
