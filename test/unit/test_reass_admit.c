/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who gives way to whom (admit.c), when nothing is cold: one far less likely to complete, with regard to what it still
 * needs; and for one that is under way also one with less progress. Nobody likely gives way to anybody unlikely.
 */
#include "inside.h"

enum { BUDGET = 12, GOOD = 0x0a000001, BAD = 0x0a000002, LONG_SILENCE = BED_TIMEOUT4 * 3 / 4 };

/* Warm or not: what hardly completes makes way for what mostly does, one for one and not the other way round. */
static void unlikely_before_likely(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, BUDGET);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, GOOD, i, 3, 1);
	for (uint32_t i = 0; i < 20; i++)
		inside_fail(&bed, BAD, i, 1);
	for (uint32_t i = 0; i < 2; i++)
		inside_send(&bed, GOOD, 100 + i, 0, 3);
	for (uint32_t i = 0; i < BUDGET - 2; i++)
		inside_send(&bed, BAD, 200 + i, 0, 3);
	assert_int_equal(bed_held(&bed), BUDGET);
	assert_int_equal(inside_evicted(&bed), 0);
	inside_send(&bed, GOOD, 102, 0, 3);
	assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), 1);
	/* The one that came first of them. */
	assert_int_equal(inside_held_of(&bed, 200), 0);
	assert_int_equal(inside_held_of(&bed, 102), 1);
	/* More of the bad ones get nothing, */
	for (uint32_t i = 0; i < 50; i++)
		inside_send(&bed, BAD, 300 + i, 0, 3);
	assert_int_equal(inside_evicted(&bed), 1);
	/* and one that grows takes of them too. */
	inside_send(&bed, GOOD, 102, 1, 3);
	assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), 2);
	assert_int_equal(inside_evicted(&bed), 2);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(inside_held_of(&bed, 100 + i), i == 2 ? 2 : 1);
	bed_fini(&bed);
}

enum { SIZE = 6 };

/* GOOD is known for datagrams of SIZE that complete, BAD for the same, of which none completes any more. */
static void know_good_and_bad(struct bed *bed)
{
	for (uint32_t i = 0; i < 30; i++) {
		inside_complete(bed, GOOD, i, SIZE, 1);
		inside_complete(bed, BAD, i, SIZE, 1);
	}
	for (uint32_t i = 0; i < 60; i++) {
		inside_fail(bed, BAD, i, 1);
		inside_fail(bed, BAD, 100 + i, 3);
	}
}

/* An unlikely one grows with the memory full: of likely ones, which stay, though they have least progress. */
static void the_unlikely_displace_nobody_likely(void **state)
{
	for (uint32_t others = 0; others < 2; others++) {
		struct bed bed;

		(void)state;
		inside_init_budget(&bed, 100);
		know_good_and_bad(&bed);
		for (uint32_t i = 0; i < 4; i++)
			inside_send_parts(&bed, GOOD, 1000 + i, 0, 1);
		inside_send_parts(&bed, BAD, 2000, 0, 4);
		/* Another like it with less progress, or none. */
		if (others)
			inside_send_parts(&bed, BAD, 2001, 0, 3);
		inside_set_budget(&bed, 8 + 3 * others);
		assert_int_equal(bed_held(&bed), 8 + 3 * others);
		assert_true(inside_datagram(&bed, 2000)->list < FM_LIST_LIKELY);
		inside_send_parts(&bed, BAD, 2000, 4, 5);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(inside_held_of(&bed, 1000 + i), 1);
		assert_int_equal(inside_held_of(&bed, 2000), others ? 5 : 0);
		if (others)
			assert_int_equal(inside_held_of(&bed, 2001), 0);
		assert_int_equal(inside_evicted(&bed), others ? 3 : 5);
		bed_fini(&bed);
	}
}

/* The same for one that was cold, and goes on: it is apart from likely and unlikely ones. */
static void the_cold_displace_nobody_likely(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	know_good_and_bad(&bed);
	inside_send_parts(&bed, BAD, 2000, 0, 4);
	while (inside_datagram(&bed, 2000)->list != FM_LIST_COLD) {
		bed.now++;
		fm_admit_cool(bed.reass, 1, bed.now);
	}
	for (uint32_t i = 0; i < 4; i++)
		inside_send_parts(&bed, GOOD, 1000 + i, 0, 1);
	inside_set_budget(&bed, 8);
	assert_int_equal(bed_held(&bed), 8);
	inside_send_parts(&bed, BAD, 2000, 4, 5);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(inside_held_of(&bed, 1000 + i), 1);
	assert_int_equal(inside_held_of(&bed, 2000), 0);
	assert_int_equal(inside_evicted(&bed), 5);
	bed_fini(&bed);
}

/* A likely one grows: of all, the unlikely ones give way first, though they have more progress than likely ones. */
static void the_unlikely_give_way_first(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	know_good_and_bad(&bed);
	inside_send_parts(&bed, GOOD, 1000, 0, 1);
	inside_send_parts(&bed, GOOD, 1001, 0, 2);
	inside_send_parts(&bed, BAD, 2000, 0, 4);
	inside_send_parts(&bed, BAD, 2001, 0, 5);
	inside_set_budget(&bed, 12);
	inside_send_parts(&bed, GOOD, 1001, 2, 3);
	assert_int_equal(inside_held_of(&bed, 2000), 0);
	assert_int_equal(inside_held_of(&bed, 2001), 5);
	assert_int_equal(inside_held_of(&bed, 1000), 1);
	assert_int_equal(inside_evicted(&bed), 4);
	inside_send_parts(&bed, GOOD, 1001, 3, 5);
	inside_send_parts(&bed, GOOD, 1000, 1, 4);
	assert_int_equal(inside_held_of(&bed, 2001), 0);
	assert_int_equal(inside_evicted(&bed), 4 + 5);
	assert_int_equal(bed_held(&bed), 4 + 5);
	bed_fini(&bed);
}

static void set_rates(struct bed *bed, uint32_t source, float rest)
{
	const struct fm_test_frag frag = inside_frag(source, 1, 0, 2);
	struct fm_source *s = inside_source(bed, &frag);

	s->second = FM_CHANCE_ONE;
	s->rest = (uint16_t)(rest * FM_CHANCE_ONE);
}

/*
 * A new one takes of those far less likely; of two such the one that needs more, though it be a little likelier. But
 * what misses something in between may need it for ever.
 */
static void what_is_nearly_done_is_worth_more(void **state)
{
	for (uint32_t gappy = 0; gappy < 2; gappy++) {
		struct bed bed;

		(void)state;
		inside_init_budget(&bed, 100);
		know_good_and_bad(&bed);
		for (uint32_t i = 0; i < 30; i++)
			inside_complete(&bed, BAD + 1, i, SIZE, 1);
		set_rates(&bed, BAD, 0.02F);
		set_rates(&bed, BAD + 1, 0.03F);
		inside_send_parts(&bed, BAD, 2000, 0, 4);
		inside_send_parts(&bed, BAD, 2000, 4 + gappy, 5 + gappy);
		/* No luck: nobody tries it though it looks hopeless. */
		((struct fm_datagram *)(uintptr_t)inside_datagram(&bed, 2000))->marks &= (uint8_t)~FM_MARK_TRIAL;
		inside_send_parts(&bed, BAD + 1, 2001, 0, 1);
		inside_set_budget(&bed, 6);
		inside_send(&bed, GOOD, 1000, 0, SIZE);
		assert_int_equal(inside_held_of(&bed, 1000), 1);
		assert_int_equal(inside_held_of(&bed, 2000), gappy ? 0 : 5);
		assert_int_equal(inside_held_of(&bed, 2001), gappy ? 1 : 0);
		assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), gappy ? 5 : 1);
		bed_fini(&bed);
	}
}

/* However many come, known or not, large or small: those that are warm and likely stay. */
static void a_new_one_never_displaces_a_warm_and_likely_one(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, GOOD, i, 6, 1);
	for (uint32_t i = 0; i < 3; i++)
		inside_send_parts(&bed, BAD + i, 100 + i, 0, 4);
	inside_set_budget(&bed, BUDGET);
	assert_int_equal(bed_held(&bed), BUDGET);
	for (uint32_t i = 0; i < 1000; i++) {
		bed.segment = i % 3 == 0 ? 40 : 0;
		inside_send(&bed, i % 2 == 0 ? GOOD : 0x0b000000 + i, 1000 + i, i % 5 == 0, 6);
	}
	assert_int_equal(inside_evicted(&bed), 0);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(inside_held_of(&bed, 100 + i), 4);
	bed_fini(&bed);
}

/* Something of everything: cold, unlikely, likely, with much progress and little. */
static void fill_with_all_kinds(struct bed *bed)
{
	inside_set_budget(bed, 100);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(bed, GOOD, i, 3, 1);
	for (uint32_t i = 0; i < 20; i++)
		inside_fail(bed, BAD, i, 1);
	inside_send_parts(bed, GOOD + 10, 100, 0, 3);
	bed->now += LONG_SILENCE;
	for (uint32_t i = 0; i < 3; i++)
		inside_send(bed, BAD, 200 + i, 0, 3);
	inside_send_parts(bed, GOOD, 300, 0, 2);
	inside_send_parts(bed, GOOD + 11, 400, 0, 4);
	inside_set_budget(bed, BUDGET);
	assert_int_equal(bed_held(bed), BUDGET);
}

/* From and to every budget there is: it holds at once, and all of it can be used again. bed_set() looks closer. */
static void shrinks_to_any_budget(void **state)
{
	(void)state;
	for (uint32_t first = 1; first <= BUDGET; first++)
		for (uint32_t second = 1; second <= first; second++) {
			uint64_t held;
			struct bed bed;

			inside_init_budget(&bed, 100);
			fill_with_all_kinds(&bed);
			inside_set_budget(&bed, first);
			/* The cold one first, and no more than has to go. */
			assert_int_equal(inside_held_of(&bed, 100), first == BUDGET ? 3 : 0);
			held = bed_held(&bed);
			assert_true(first == BUDGET || held <= first);
			assert_true(held + 4 > first);
			inside_set_budget(&bed, second);
			assert_true(bed_held(&bed) <= second && bed_held(&bed) + 4 > RTE_MIN(held, second));
			fm_reass_flush(bed.reass);
			inside_send_parts(&bed, GOOD, 500, 0, second);
			assert_int_equal(bed_held(&bed), second);
			bed_fini(&bed);
		}
}

/* One fragment of more mbufs than the budget, as the first of its datagram and as a later one: nobody dies for it. */
static void larger_than_the_budget_kills_nobody(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	fill_with_all_kinds(&bed);
	/* 98 bytes. */
	bed.segment = 7;
	inside_send(&bed, GOOD, 900, 0, 3);
	assert_int_equal(bed_count(&bed, FM_REFUSED_BUDGET), 1);
	inside_send(&bed, 0x0b000000, 901, 0, 3);
	assert_int_equal(bed_count(&bed, FM_REFUSED_BUDGET), 2);
	assert_int_equal(inside_evicted(&bed), 0);
	assert_int_equal(bed_held(&bed), BUDGET);
	/* Of those that grow only they themselves go. */
	bed.segment = 9;
	inside_send(&bed, GOOD, 300, 2, UINT32_MAX);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 3);
	assert_int_equal(inside_evicted(&bed), 3);
	assert_int_equal(bed_held(&bed), BUDGET - 2);
	inside_send(&bed, GOOD + 10, 100, 3, UINT32_MAX);
	assert_int_equal(inside_evicted(&bed), 3 + 4);
	assert_int_equal(bed_held(&bed), BUDGET - 2 - 3);
	assert_int_equal(inside_held_of(&bed, 400), 4);
	bed_fini(&bed);
}

/* Datagrams run out before memory does: the same rules. */
static void a_full_table_follows_the_same_rules(void **state)
{
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.max_datagrams = 4;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, GOOD, i, 3, 1);
	for (uint32_t i = 0; i < 20; i++)
		inside_fail(&bed, BAD, i, 1);
	inside_send_parts(&bed, GOOD, 100, 0, 2);
	inside_send_parts(&bed, GOOD, 101, 0, 1);
	inside_send(&bed, BAD, 200, 0, 3);
	inside_send(&bed, BAD, 201, 0, 3);
	inside_send(&bed, BAD, 202, 0, 3);
	assert_int_equal(bed_count(&bed, FM_REFUSED_TABLE), 1);
	for (uint32_t i = 0; i < 2; i++) {
		inside_send(&bed, GOOD, 102 + i, 0, 3);
		assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), i + 1);
		assert_int_equal(inside_held_of(&bed, 102 + i), 1);
	}
	inside_send(&bed, GOOD, 104, 0, 3);
	assert_int_equal(bed_count(&bed, FM_REFUSED_TABLE), 2);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 4);
	assert_int_equal(inside_evicted(&bed), 2);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unlikely_before_likely),
		cmocka_unit_test(the_unlikely_displace_nobody_likely),
		cmocka_unit_test(the_cold_displace_nobody_likely),
		cmocka_unit_test(the_unlikely_give_way_first),
		cmocka_unit_test(what_is_nearly_done_is_worth_more),
		cmocka_unit_test(a_new_one_never_displaces_a_warm_and_likely_one),
		cmocka_unit_test(shrinks_to_any_budget),
		cmocka_unit_test(larger_than_the_budget_kills_nobody),
		cmocka_unit_test(a_full_table_follows_the_same_rules),
	};

	return cmocka_run_group_tests_name("reassembly: who gives way", tests, NULL, NULL);
}
