/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The minimum at the budget: never an mbuf over it; all of a datagram or nothing; cold datagrams go first, in the order
 * in which they were found cold; then the one with least progress; a new one never displaces a warm and likely one.
 */
#include "bed.h"

enum { BUDGET = 10, LONG_SILENCE = BED_TIMEOUT4 * 3 / 4 };

static void init(struct bed *bed, uint32_t budget)
{
	struct fm_reass_params params = bed_params();

	params.settings.budget_mbufs = budget;
	bed_init_params(bed, &params);
}

/* Fragment number `i` of 64 bytes of an IPv4 datagram that never ends. */
static void send_part(struct bed *bed, uint32_t id, uint32_t i)
{
	const struct fm_test_frag frag = bed_ipv4(id, 64 * i, 64, true);

	bed_send(bed, &frag);
}

/* Is a datagram with this identification held, and by how many fragments? */
static uint32_t held_of(const struct bed *bed, uint32_t id)
{
	struct fm_reass_view views[64];
	const uint32_t n = fm_reass_views(bed->reass, bed->now, views, 64);

	for (uint32_t i = 0; i < n; i++) {
		if (views[i].id == id)
			return views[i].fragments;
	}
	return 0;
}

/* New ones that were refused for want of room, whether more for their source's sake or not. */
static uint64_t refused(const struct bed *bed)
{
	return bed_count(bed, FM_REFUSED_BUDGET) + bed_count(bed, FM_REFUSED_SHARE);
}

static void never_over_the_budget(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	/* bed_send() asserts the budget after each. */
	for (uint32_t i = 0; i < 40; i++)
		send_part(&bed, i, 0);
	assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, BUDGET);
	assert_int_equal(fm_test_pool_out(bed.pool), BUDGET);
	assert_int_equal(refused(&bed), 30);
	bed_fini(&bed);
}

/* The budget counts mbufs, not fragments: one that is alone may fill it to the last mbuf, and not more. */
static void segments_count(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	bed.segment = 25;
	send_part(&bed, 1, 0);
	assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, 4);
	send_part(&bed, 1, 1);
	assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, 8);
	/* Four more do not fit, whoever sends them. */
	send_part(&bed, 2, 0);
	assert_int_equal(refused(&bed), 1);
	bed.segment = 50;
	send_part(&bed, 1, 2);
	assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, BUDGET);
	assert_int_equal(held_of(&bed, 1), 3);
	bed.segment = 0;
	send_part(&bed, 1, 3);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 4);
	assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, 0);
	bed_fini(&bed);
}

/* Nothing is stored for a datagram that lost its first chance, even if room comes. */
static void refused_is_condemned(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed, 2);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	send_part(&bed, 2, 0);
	assert_int_equal(refused(&bed), 1);
	bed_send_pieces(&bed, &frag, 192, 64, 2, 3);
	assert_int_equal(bed.n_done, 1);
	assert_int_equal(bed_held(&bed), 0);
	for (uint32_t i = 0; i < 3; i++)
		send_part(&bed, 2, i);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 3);
	assert_int_equal(bed_held(&bed), 0);
	bed.now += BED_TIMEOUT4;
	send_part(&bed, 2, 0);
	assert_int_equal(bed_held(&bed), 1);
	bed_fini(&bed);
}

/* What completes a datagram needs no room: it is held by nobody. */
static void completing_needs_no_room(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed, 2);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 3);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 192);
	assert_int_equal(bed_count(&bed, FM_COMPLETED), 3);
	bed_fini(&bed);
}

static void least_progress_gives_way(void **state)
{
	struct bed bed;

	(void)state;
	bed_judges_all = true;
	init(&bed, BUDGET);
	bed_judges_all = false;
	for (uint32_t i = 0; i < 7; i++)
		send_part(&bed, 1, i);
	for (uint32_t i = 0; i < 2; i++)
		send_part(&bed, 2, i);
	send_part(&bed, 3, 0);
	/* Full. Number 3 has least, then 2. */
	send_part(&bed, 1, 7);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 1);
	assert_int_equal(held_of(&bed, 3), 0);
	send_part(&bed, 1, 8);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 3);
	assert_int_equal(held_of(&bed, 2), 0);
	assert_int_equal(held_of(&bed, 1), 9);
	/* They are condemned. */
	send_part(&bed, 2, 2);
	send_part(&bed, 3, 1);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 2);
	bed_fini(&bed);
}

/* The one that wants to grow may be the one with least progress: then it is the one to go. */
static void grower_with_least_progress_gives_way(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t i = 0; i < 8; i++)
		send_part(&bed, 1, i);
	send_part(&bed, 2, 0);
	send_part(&bed, 2, 1);
	send_part(&bed, 2, 2);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 3);
	assert_int_equal(held_of(&bed, 2), 0);
	assert_int_equal(held_of(&bed, 1), 8);
	bed_fini(&bed);
}

/* Cold ones before warm ones whatever their progress, and of the cold ones the one found first. */
static void cold_first_in_the_order_found(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t i = 0; i < 6; i++)
		send_part(&bed, 1, i);
	bed.now += 10;
	send_part(&bed, 2, 0);
	send_part(&bed, 2, 1);
	/* The table has a look with each fragment, here of one that is held already. */
	for (uint32_t i = 0; i < LONG_SILENCE; i++) {
		bed.now++;
		send_part(&bed, 2, 0);
	}
	send_part(&bed, 3, 0);
	send_part(&bed, 4, 0);
	/* Full: 1 and 2 are cold, 1 was first. */
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 0);
	send_part(&bed, 5, 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 6);
	assert_int_equal(held_of(&bed, 1), 0);
	assert_int_equal(held_of(&bed, 2), 2);
	assert_int_equal(held_of(&bed, 5), 1);
	/* Fill up again: then 2 goes. */
	for (uint32_t i = 1; i < 6; i++)
		send_part(&bed, 5, i);
	send_part(&bed, 3, 1);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 8);
	assert_int_equal(held_of(&bed, 2), 0);
	/* After it there is nothing cold: whoever comes may have what is free, and displaces nobody. */
	for (uint32_t id = 6; id < 12; id++)
		send_part(&bed, id, 0);
	assert_int_not_equal(refused(&bed), 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS) + bed_count(&bed, FM_EVICTED_UNLIKELY), 0);
	assert_int_equal(held_of(&bed, 3), 2);
	assert_int_equal(held_of(&bed, 4), 1);
	assert_int_equal(held_of(&bed, 5), 6);
	/* Evicted means condemned. */
	send_part(&bed, 1, 6);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	bed_fini(&bed);
}

/* A first-only flood holds what it got no longer than until room is wanted and it has gone cold. */
static void first_only_flood_makes_way(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1000, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t i = 0; i < 100; i++)
		send_part(&bed, i, 0);
	bed.now += LONG_SILENCE;
	bed_send_pieces(&bed, &frag, 500, 104, 0, 5);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 500);
	bed_fini(&bed);
}

/* A frame of more segments than the whole budget: nobody dies for it. */
static void larger_than_the_budget(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t i = 0; i < 5; i++)
		send_part(&bed, 1, i);
	bed.now += LONG_SILENCE;
	bed.segment = 5;
	send_part(&bed, 2, 0);
	assert_int_equal(bed_count(&bed, FM_REFUSED_BUDGET), 1);
	assert_int_equal(held_of(&bed, 1), 5);
	bed.segment = 0;
	send_part(&bed, 3, 0);
	bed.segment = 10;
	send_part(&bed, 3, 1);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 2);
	assert_int_equal(held_of(&bed, 1), 5);
	bed_fini(&bed);
}

/* A smaller budget counts at once: cold first, then least progress. */
static void budget_shrinks_at_once(void **state)
{
	struct fm_reass_settings settings;
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t i = 0; i < 3; i++)
		send_part(&bed, 1, i);
	bed.now += LONG_SILENCE;
	for (uint32_t i = 0; i < 4; i++)
		send_part(&bed, 2, i);
	send_part(&bed, 3, 0);
	settings = bed.params.settings;
	settings.budget_mbufs = 5;
	bed_set(&bed, &settings);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 3);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 0);
	settings.budget_mbufs = 4;
	bed_set(&bed, &settings);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 1);
	assert_int_equal(held_of(&bed, 2), 4);
	settings.budget_mbufs = 1;
	bed_set(&bed, &settings);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 5);
	assert_int_equal(fm_test_pool_out(bed.pool), 0);
	/* And grows again. */
	settings.budget_mbufs = BUDGET;
	bed_set(&bed, &settings);
	for (uint32_t i = 0; i < BUDGET; i++)
		send_part(&bed, 9, i);
	assert_int_equal(held_of(&bed, 9), BUDGET);
	bed_fini(&bed);
}

static void datagrams_run_out(void **state)
{
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.max_datagrams = 4;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 6; i++)
		send_part(&bed, i, 0);
	assert_int_equal(bed_count(&bed, FM_REFUSED_TABLE), 2);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 4);
	send_part(&bed, 5, 1);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	bed.now += LONG_SILENCE;
	send_part(&bed, 3, 1);
	send_part(&bed, 6, 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 1);
	assert_int_equal(held_of(&bed, 0), 0);
	assert_int_equal(held_of(&bed, 3), 2);
	bed_fini(&bed);
}

/* Memory for condemned keys has an end too: the oldest are forgotten, nothing breaks, nothing grows. */
static void condemned_keys_run_out(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, 1);
	send_part(&bed, 0, 0);
	for (uint32_t i = 1; i < 2000; i++)
		send_part(&bed, i, 0);
	assert_int_equal(refused(&bed), 1999);
	assert_true(fm_reass_stats(bed.reass)->condemned > 0);
	assert_true(fm_reass_stats(bed.reass)->condemned < 1999);
	/* The young ones are remembered, */
	for (uint32_t i = 1990; i < 2000; i++)
		send_part(&bed, i, 1);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 10);
	/* the old ones are not: refused anew. */
	send_part(&bed, 1, 1);
	assert_int_equal(refused(&bed), 2000);
	assert_int_equal(held_of(&bed, 0), 1);
	bed_fini(&bed);
}

/* So many datagrams of two families at once, in pieces in any order, and time that goes by fast or not at all. */
static void storm(uint64_t count[FM_OUTCOME_MAX], uint32_t datagrams, uint32_t ticks, uint32_t seed)
{
	uint32_t random = seed;
	struct bed bed;

	init(&bed, 50);
	for (uint32_t i = 0; i < 10000; i++) {
		struct fm_test_frag frag;

		random = random * 1664525 + 1013904223;
		frag = bed_ipv4((random >> 8 & 63) % datagrams, 64 * (random >> 16 & 7), 64, (random >> 16 & 7) < 7);
		frag.family = random >> 24 & 1 ? 4 : 6;
		bed.segment = random >> 25 & 1 ? 0 : 40;
		bed.now += (random >> 26) * ticks / 64;
		bed_send(&bed, &frag);
		bed_clear(&bed);
		if (i % 64 == 0)
			fm_reass_expire(bed.reass, bed.now, 8);
	}
	for (int i = 0; i < FM_OUTCOME_MAX; i++)
		count[i] += bed_count(&bed, (enum fm_outcome)i);
	bed_fini(&bed);
}

/* A full table under storms of everything: bed_send() asserts soundness, sums and budget after each fragment. */
static void storms_at_the_budget(void **state)
{
	static const uint32_t datagrams[] = {4, 8, 16, 64}, ticks[] = {0, 2, 16};
	uint64_t count[FM_OUTCOME_MAX] = {0};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(datagrams) * RTE_DIM(ticks); i++)
		storm(count, datagrams[i % RTE_DIM(datagrams)], ticks[i / RTE_DIM(datagrams)], 12345 + (uint32_t)i);
	assert_int_not_equal(count[FM_COMPLETED], 0);
	assert_int_not_equal(count[FM_EVICTED_COLD], 0);
	assert_int_not_equal(count[FM_EVICTED_UNLIKELY], 0);
	assert_int_not_equal(count[FM_EVICTED_PROGRESS], 0);
	assert_int_not_equal(count[FM_REFUSED_BUDGET] + count[FM_REFUSED_SHARE], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_over_the_budget),
		cmocka_unit_test(segments_count),
		cmocka_unit_test(refused_is_condemned),
		cmocka_unit_test(completing_needs_no_room),
		cmocka_unit_test(least_progress_gives_way),
		cmocka_unit_test(grower_with_least_progress_gives_way),
		cmocka_unit_test(cold_first_in_the_order_found),
		cmocka_unit_test(first_only_flood_makes_way),
		cmocka_unit_test(larger_than_the_budget),
		cmocka_unit_test(budget_shrinks_at_once),
		cmocka_unit_test(datagrams_run_out),
		cmocka_unit_test(condemned_keys_run_out),
		cmocka_unit_test(storms_at_the_budget),
	};

	return cmocka_run_group_tests_name("reassembly: budget", tests, NULL, NULL);
}
