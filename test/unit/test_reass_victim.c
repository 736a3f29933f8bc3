/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of many likely datagrams gives way to one that is under way (admit.c): by progress, and by what its source has
 * got.
 */
#include "inside.h"

enum { GOOD = 0x0a000001, FAST = GOOD, SLOW = GOOD + 1 };

enum { SIZE = 6 };

/* Equal progress: of the source that has got most. Any of them may be that one. */
static void least_progress_of_the_most_served(void **state)
{
	enum { SOURCES = 4 };

	(void)state;
	for (uint32_t most = 0; most < SOURCES; most++) {
		struct bed bed;

		inside_init_budget(&bed, 100);
		for (uint32_t i = 0; i < SOURCES; i++)
			inside_send_parts(&bed, GOOD + i, i, 0, 2);
		inside_send_parts(&bed, GOOD + SOURCES, SOURCES, 0, 3);
		/* Full, whatever the plan would have let in. */
		inside_set_budget(&bed, 2 * SOURCES + 3);
		assert_int_equal(bed_held(&bed), 2 * SOURCES + 3);
		for (uint32_t i = 0; i < SOURCES; i++) {
			const struct fm_test_frag frag = inside_frag(GOOD + i, i, 0, 2);

			/* Wherever the count stands. */
			inside_source(&bed, &frag)->service = fm_plan_mean(bed.reass) +
							      (i == most ? 1000 : i - SOURCES);
		}
		inside_send_parts(&bed, GOOD + SOURCES, SOURCES, 3, 4);
		assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 2);
		assert_int_equal(inside_evicted(&bed), 2);
		for (uint32_t i = 0; i < SOURCES; i++)
			assert_int_equal(inside_held_of(&bed, i), i == most ? 0 : 2);
		assert_int_equal(inside_held_of(&bed, SOURCES), 4);
		bed_fini(&bed);
	}
}

enum { FEW = 3, LARGE = 16 };

/* Of those who might give way: what each holds, and how far its source is ahead of the mean. */
struct candidates {
	uint32_t held[FEW];
	int32_t ahead[FEW];
};

/* Who goes when another wants one more mbuf; all are of sources known for the same size. */
static uint32_t who_goes(const struct candidates *c)
{
	uint32_t held = 0, gone = FEW;
	struct bed bed;

	inside_init_budget(&bed, 1000);
	for (uint32_t i = 0; i <= FEW; i++)
		for (uint32_t n = 0; n < 3; n++)
			inside_complete(&bed, GOOD + i, n, LARGE, 1);
	for (uint32_t i = 0; i <= FEW; i++) {
		const uint32_t pieces = i == FEW ? LARGE - 2 : c->held[i];
		const struct fm_test_frag frag = inside_frag(GOOD + i, 0, 0, 2);

		inside_send_parts(&bed, GOOD + i, 100 + i, 0, pieces);
		held += pieces;
		inside_source(&bed, &frag)->service = fm_plan_mean(bed.reass) +
						      (uint32_t)(i == FEW ? -4 * LARGE : c->ahead[i]);
	}
	inside_set_budget(&bed, held);
	assert_int_equal(bed_held(&bed), held);
	inside_send(&bed, GOOD + FEW, 100 + FEW, LARGE - 2, LARGE);
	assert_int_equal(inside_held_of(&bed, 100 + FEW), LARGE - 1);
	for (uint32_t i = 0; i < FEW; i++)
		if (inside_held_of(&bed, 100 + i) == 0) {
			assert_int_equal(gone, FEW);
			gone = i;
		}
	assert_in_range(gone, 0, FEW - 1);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), c->held[gone]);
	bed_fini(&bed);
	return gone;
}

/*
 * However progress and service are weighed against each other: nobody goes while there is one that has less, and whose
 * source has got more.
 */
static void less_progress_and_more_service_go_first(void **state)
{
	static const uint32_t held[] = {1, 4, 10};
	static const int32_t ahead[] = {-LARGE, 0, 2 * LARGE};
	uint32_t told = 0;

	(void)state;
	for (uint32_t n = 0; n < 27 * 27; n++) {
		struct candidates c;
		uint32_t goes, digits = n;

		for (uint32_t i = 0; i < FEW; i++, digits /= 9) {
			c.held[i] = held[digits % 3];
			c.ahead[i] = ahead[digits / 3 % 3];
		}
		goes = who_goes(&c);
		for (uint32_t i = 0; i < FEW; i++) {
			const bool less = c.held[i] < c.held[goes], more = c.ahead[i] > c.ahead[goes];
			const bool no_more = c.held[i] <= c.held[goes], no_less = c.ahead[i] >= c.ahead[goes];

			if ((less && no_less) || (more && no_more))
				fail_msg("%u of %d ahead goes, not %u of %d ahead", c.held[goes], c.ahead[goes],
					 c.held[i], c.ahead[i]);
			told += (c.held[i] > c.held[goes] && c.ahead[i] <= c.ahead[goes]) ||
				(c.ahead[i] < c.ahead[goes] && c.held[i] >= c.held[goes]);
		}
	}
	assert_true(told > 300);
}

/* FAST and SLOW complete whatever they send. */
static void know_fast_and_slow(struct bed *bed)
{
	for (uint32_t i = 0; i < 100; i++)
		inside_complete(bed, FAST, i, SIZE, 1);
	for (uint32_t i = 0; i < 10; i++)
		inside_complete(bed, SLOW, i, SIZE, 300);
	for (uint32_t i = 0; i < 100; i++)
		inside_complete(bed, FAST, i, SIZE, 1);
}

/* Those whose fragments are far apart lie apart, but they give way by the same rule: to their like, and to others. */
static void the_slow_give_way_too(void **state)
{
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	know_fast_and_slow(&bed);
	inside_send_parts(&bed, SLOW, 1000, 0, 2);
	inside_send_parts(&bed, SLOW, 1001, 0, 3);
	inside_set_budget(&bed, 5);
	inside_send_parts(&bed, SLOW, 1001, 3, 4);
	assert_int_equal(inside_held_of(&bed, 1000), 0);
	assert_int_equal(inside_held_of(&bed, 1001), 4);
	inside_set_budget(&bed, 3);
	assert_int_equal(bed_held(&bed), 0);
	inside_set_budget(&bed, 100);
	inside_send_parts(&bed, SLOW, 1002, 0, 1);
	inside_send_parts(&bed, FAST, 1003, 0, 4);
	inside_set_budget(&bed, 5);
	inside_send_parts(&bed, FAST, 1003, 4, 5);
	assert_int_equal(inside_held_of(&bed, 1002), 0);
	assert_int_equal(inside_held_of(&bed, 1003), 5);
	bed_fini(&bed);
}

/* But nobody unlikely displaces them. */
static void the_unlikely_displace_nobody_slow(void **state)
{
	const struct fm_test_frag frag = inside_frag(FAST, 0, 0, 2);
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 100);
	know_fast_and_slow(&bed);
	inside_source(&bed, &frag)->rest = 0;
	inside_send_parts(&bed, SLOW, 1000, 0, 2);
	inside_send_parts(&bed, FAST, 1001, 0, 3);
	inside_set_budget(&bed, 5);
	inside_send_parts(&bed, FAST, 1001, 3, 4);
	assert_int_equal(inside_held_of(&bed, 1000), 2);
	assert_int_equal(inside_held_of(&bed, 1001), 0);
	bed_fini(&bed);
}

/* Evicted though it was promised room, for another or for want of room for itself: its source has had less. */
static void who_gives_way_is_made_up_to(void **state)
{
	(void)state;
	for (uint32_t itself = 0; itself < 2; itself++) {
		uint32_t before;
		struct bed bed;

		inside_init_budget(&bed, 100);
		for (uint32_t i = 0; i < 20; i++) {
			inside_complete(&bed, GOOD, i, SIZE, 300);
			inside_complete(&bed, GOOD + 1, i, SIZE, 300);
		}
		inside_send_parts(&bed, GOOD, 1000, 0, 1);
		inside_send_parts(&bed, GOOD + 1, 1001, 0, 3);
		inside_set_budget(&bed, 4);
		before = inside_record(&bed, GOOD).service;
		if (itself)
			inside_send_parts(&bed, GOOD, 1000, 1, 2);
		else
			inside_send_parts(&bed, GOOD + 1, 1001, 3, 4);
		assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 1 + itself);
		assert_int_equal(inside_held_of(&bed, 1001), 4 - itself);
		/* All but what it held, and the last, which is never held; give or take a rounding. */
		assert_in_range(before - inside_record(&bed, GOOD).service, SIZE - 3, SIZE - 2);
		bed_fini(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_progress_of_the_most_served),
		cmocka_unit_test(less_progress_and_more_service_go_first),
		cmocka_unit_test(the_slow_give_way_too),
		cmocka_unit_test(the_unlikely_displace_nobody_slow),
		cmocka_unit_test(who_gives_way_is_made_up_to),
	};

	return cmocka_run_group_tests_name("reassembly: least progress", tests, NULL, NULL);
}
