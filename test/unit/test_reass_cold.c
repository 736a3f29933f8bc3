/* SPDX-License-Identifier: BSD-3-Clause */
/* Cold datagrams (admit.c): which are found cold and when, and that they give way first, in the order found. */
#include "inside.h"

enum { BUDGET = 12, GOOD = 0x0a000001, BAD = 0x0a000002, LONG_SILENCE = BED_TIMEOUT4 * 3 / 4 };

static bool found_cold(const struct bed *bed, uint32_t id)
{
	return inside_datagram(bed, id)->list == FM_LIST_COLD;
}

/* Time goes by, and the table has a look at each moment, until this one is found cold. */
static void wait_until_cold(struct bed *bed, uint32_t id)
{
	while (!found_cold(bed, id)) {
		bed->now++;
		fm_admit_cool(bed->reass, 1, bed->now);
		assert_true(bed->now < BED_START + BED_TIMEOUT4);
	}
}

/* Numbers 1 to 3 with 3, 2 and 1 fragments fall silent in this order and are found cold; then number 9 wants room. */
static void assert_in_order_found(const uint32_t order[3])
{
	struct bed bed;

	inside_init_budget(&bed, 6);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, GOOD + 50, i, 4, 20);
	bed.now = BED_START;
	for (uint32_t i = 0; i < 3; i++) {
		inside_send_parts(&bed, GOOD + order[i], order[i], 0, 4 - order[i]);
		bed.now += 20;
	}
	for (uint32_t i = 0; i < 3; i++) {
		wait_until_cold(&bed, order[i]);
		assert_true(i == 2 || !found_cold(&bed, order[i + 1]));
	}
	for (uint32_t i = 0, piece = 0; i < 3; i++) {
		const uint32_t size = 4 - order[i];

		assert_int_equal(inside_held_of(&bed, order[i]), size);
		/* As many as it had. */
		inside_send_parts(&bed, GOOD, 9, piece, piece + size);
		piece += size;
		assert_int_equal(inside_held_of(&bed, order[i]), 0);
		for (uint32_t j = i + 1; j < 3; j++)
			assert_int_equal(inside_held_of(&bed, order[j]), 4 - order[j]);
	}
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 6);
	assert_int_equal(inside_evicted(&bed), 6);
	bed_fini(&bed);
}

/* Of the cold ones, the one found first, whatever its progress. */
static void cold_ones_in_the_order_found(void **state)
{
	static const uint32_t orders[][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3}, {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(orders); i++)
		assert_in_order_found(orders[i]);
}

/* Found first, not silent first: what is silence for the one is a gap for the other. */
static void found_first_may_be_silent_for_less_long(void **state)
{
	enum { FAST = GOOD, SLOW = GOOD + 1 };
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 6);
	for (uint32_t i = 0; i < 60; i++) {
		inside_complete(&bed, FAST, i, 4, 1);
		inside_complete(&bed, SLOW, i, 4, 100);
	}
	bed.now = BED_START;
	inside_send_parts(&bed, SLOW, 1, 0, 3);
	bed.now += 3;
	inside_send_parts(&bed, FAST, 2, 0, 2);
	wait_until_cold(&bed, 2);
	assert_false(found_cold(&bed, 1));
	wait_until_cold(&bed, 1);
	inside_send_parts(&bed, GOOD + 2, 9, 0, 2);
	assert_int_equal(inside_held_of(&bed, 1), 3);
	assert_int_equal(inside_held_of(&bed, 2), 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 2);
	assert_int_equal(inside_evicted(&bed), 2);
	bed_fini(&bed);
}

/* Idle and alive, those whose fragments are far apart hide nobody who is dead. */
static void the_slow_hide_nobody(void **state)
{
	enum { FAST = GOOD, SLOW = GOOD + 1, MANY = 10 };
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	for (uint32_t i = 0; i < 100; i++)
		inside_complete(&bed, FAST, i, 4, 1);
	for (uint32_t i = 0; i < 10; i++)
		inside_complete(&bed, SLOW, i, 4, 200);
	for (uint32_t i = 0; i < 100; i++)
		inside_complete(&bed, FAST, i, 4, 1);
	for (uint32_t i = 0; i < MANY; i++)
		inside_send(&bed, SLOW, 100 + i, 0, 4);
	for (uint32_t i = 0; i < MANY; i++)
		inside_send(&bed, FAST, 200 + i, 0, 4);
	bed.now += 150;
	for (uint32_t i = 0; i < MANY; i++)
		fm_admit_cool(bed.reass, 1, bed.now);
	for (uint32_t i = 0; i < MANY; i++) {
		assert_false(found_cold(&bed, 100 + i));
		assert_true(found_cold(&bed, 200 + i));
	}
	/* They go cold as well, in their own time. */
	bed.now += BED_TIMEOUT4 - 200;
	for (uint32_t i = 0; i < MANY; i++)
		inside_send(&bed, SLOW, 100 + i, 1, 4);
	assert_int_equal(bed_held(&bed), 3 * MANY);
	bed_fini(&bed);
}

/* Each fragment pays for a bounded look; and as many looks as there are lists find all there is. */
static void a_look_is_bounded(void **state)
{
	enum { MANY = 60 };
	uint32_t found = 0, looks = 0;
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 1000);
	for (uint32_t i = 0; i < MANY; i++)
		inside_send_parts(&bed, GOOD + i, i, 0, 1 + i % 9);
	bed.now += BED_TIMEOUT4 - 1;
	for (; found < MANY; looks++) {
		const uint32_t before = found;

		assert_true(looks < MANY);
		fm_admit_cool(bed.reass, 1, bed.now);
		found = 0;
		for (uint32_t i = 0; i < MANY; i++)
			found += found_cold(&bed, i);
		assert_in_range(found - before, 1, 16);
	}
	bed_fini(&bed);
}

/* A cold one goes before any warm one, though it be all but complete, and the warm one have one fragment. */
static void cold_before_warm(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, BUDGET);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, GOOD, i, 8, 1);
	for (uint32_t i = 0; i < 20; i++)
		inside_fail(&bed, BAD, i, 1);
	for (uint32_t piece = 0; piece < 7; piece++)
		inside_send(&bed, GOOD, 101, piece, 8);
	bed.now += LONG_SILENCE;
	/* These hardly complete, but they are warm. */
	for (uint32_t i = 0; i < BUDGET - 7; i++)
		inside_send(&bed, BAD, 1000 + i, 0, 2);
	assert_int_equal(bed_held(&bed), BUDGET);
	inside_send(&bed, GOOD, 200, 0, 8);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 7);
	assert_int_equal(inside_evicted(&bed), 7);
	assert_int_equal(inside_held_of(&bed, 101), 0);
	for (uint32_t i = 0; i < BUDGET - 7; i++)
		assert_int_equal(inside_held_of(&bed, 1000 + i), 1);
	bed_fini(&bed);
}

/* It was silent for long and goes on: it is not the cold one that has to make room for itself. */
static void no_cold_victim_of_itself(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 4);
	inside_send_parts(&bed, GOOD, 1, 0, 3);
	bed.now += LONG_SILENCE;
	/* Two others make the table notice. */
	inside_send_parts(&bed, BAD, 2, 0, 1);
	assert_int_equal(bed_held(&bed), 4);
	inside_send_parts(&bed, GOOD, 1, 3, 4);
	assert_int_equal(inside_held_of(&bed, 1), 4);
	assert_int_equal(inside_held_of(&bed, 2), 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 0);
	/* Alone with all of the memory: it goes for what it is, too large. */
	bed.now += BED_TIMEOUT4 / 8;
	inside_send_parts(&bed, GOOD, 1, 4, 5);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 1 + 5);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* Two cold ones, one of which goes on: the other makes room, though it is cold for less long. */
static void the_other_cold_one_makes_room(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 4);
	inside_send_parts(&bed, GOOD, 1, 0, 2);
	bed.now += 2;
	inside_send_parts(&bed, GOOD, 2, 0, 2);
	bed.now += LONG_SILENCE;
	inside_send_parts(&bed, GOOD, 1, 2, 3);
	assert_int_equal(inside_held_of(&bed, 1), 3);
	assert_int_equal(inside_held_of(&bed, 2), 0);
	assert_int_equal(bed_count(&bed, FM_EVICTED_COLD), 2);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cold_ones_in_the_order_found),
		cmocka_unit_test(found_first_may_be_silent_for_less_long),
		cmocka_unit_test(the_slow_hide_nobody),
		cmocka_unit_test(a_look_is_bounded),
		cmocka_unit_test(cold_before_warm),
		cmocka_unit_test(no_cold_victim_of_itself),
		cmocka_unit_test(the_other_cold_one_makes_room),
	};

	return cmocka_run_group_tests_name("reassembly: cold ones", tests, NULL, NULL);
}
