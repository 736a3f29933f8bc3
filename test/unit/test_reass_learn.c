/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learned of sources (source.c), and what teaches nothing. */
#include <math.h>

#include "inside.h"

enum { HOME = 0x0a010203 };

static void learns_the_size(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	assert_true(inside_record(&bed, HOME).size == 0);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, HOME, i, 5, 1);
	assert_true(fabsf(inside_record(&bed, HOME).size - 5) < 0.01F);
	assert_true(fabsf(bed.reass->sources.size - 5) < 0.01F);
	/* It follows, and another's is another's. */
	for (uint32_t i = 0; i < 40; i++)
		inside_complete(&bed, HOME, i, 10, 1);
	assert_true(fabsf(inside_record(&bed, HOME).size - 10) < 0.1F);
	inside_complete(&bed, HOME + 1, 1, 3, 1);
	assert_true(inside_record(&bed, HOME + 1).size == 3);
	assert_true(fabsf(inside_record(&bed, HOME).size - 10) < 0.1F);
	/* mbufs, not fragments. */
	bed.segment = 49;
	inside_complete(&bed, HOME + 2, 1, 3, 1);
	assert_true(inside_record(&bed, HOME + 2).size == 6);
	/* What does not complete has no size. */
	bed.segment = 0;
	for (uint32_t i = 0; i < 20; i++)
		inside_fail(&bed, HOME + 1, i, 2);
	assert_true(inside_record(&bed, HOME + 1).size == 3);
	bed_fini(&bed);
}

static void learns_the_gap(void **state)
{
	struct fm_source s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	/* The time between datagrams is no gap. */
	for (uint32_t i = 0; i < 100; i++) {
		inside_complete(&bed, HOME, i, 5, 20);
		bed.now += 500;
	}
	s = inside_record(&bed, HOME);
	assert_true(fabsf(s.gap - 20) < 1.5F);
	assert_true(s.gap_deviation < 2);
	for (uint32_t i = 0; i < 100; i++)
		inside_complete(&bed, HOME + 1, i, 5, i % 2 == 0 ? 10 : 30);
	s = inside_record(&bed, HOME + 1);
	assert_in_range((int)s.gap, 12, 28);
	assert_true(s.gap_deviation > 3);
	/* The other is as it was. */
	assert_true(fabsf(inside_record(&bed, HOME).gap - 20) < 1.5F);
	bed_fini(&bed);
}

/* The mean over a whole datagram, of those that complete: neither each gap nor who stops has a say. */
static void a_gap_is_that_of_a_whole_datagram(void **state)
{
	static const uint32_t gaps[] = {5, 5, 50};
	float gap;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t piece = 0; piece < 4; piece++) {
		inside_send(&bed, HOME, 1, piece, 4);
		bed.now += piece < 3 ? gaps[piece] : 0;
		assert_true(piece == 3 || inside_record(&bed, HOME).gap == 0);
	}
	assert_int_equal(bed.n_done, 1);
	assert_true(fabsf(inside_record(&bed, HOME).gap - 20) < 1.5F);
	/* The others follow, a part of the way each. */
	inside_complete(&bed, HOME, 2, 4, 40);
	gap = inside_record(&bed, HOME).gap;
	assert_true(gap > 22 && gap < 40);
	for (uint32_t i = 0; i < 20; i++) {
		for (uint32_t piece = 0; piece < 3; piece++) {
			inside_send(&bed, HOME, 100 + i, piece, 4);
			bed.now += 300;
		}
		bed.now += BED_TIMEOUT4;
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	assert_int_equal(bed_held(&bed), 0);
	assert_true(inside_record(&bed, HOME).gap == gap);
	bed_fini(&bed);
}

static void learns_chances(void **state)
{
	enum { ONE = FM_CHANCE_ONE };
	struct fm_source s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 60; i++)
		inside_complete(&bed, HOME, i, 5, 1);
	s = inside_record(&bed, HOME);
	assert_true(fm_source_known(&s));
	assert_true(s.second > ONE * 9 / 10 && s.rest > ONE * 9 / 10);
	assert_int_equal(s.delivered, 300);
	assert_int_equal(s.wasted, 0);
	/* One fragment and no second: that says nothing of the rest. */
	for (uint32_t i = 0; i < 60; i++)
		inside_fail(&bed, HOME, i, 1);
	assert_int_equal(inside_record(&bed, HOME).rest, s.rest);
	s = inside_record(&bed, HOME);
	assert_true(s.second < ONE / 10);
	assert_int_equal(s.wasted, 60);
	/* Three, and no more of five. */
	for (uint32_t i = 0; i < 60; i++)
		inside_fail(&bed, HOME + 1, i, 3);
	s = inside_record(&bed, HOME + 1);
	assert_true(s.second > ONE * 9 / 10 && s.rest < ONE / 10);
	/* It may do better again. */
	for (uint32_t i = 0; i < 60; i++)
		inside_complete(&bed, HOME + 1, i, 5, 1);
	s = inside_record(&bed, HOME + 1);
	assert_true(s.second > ONE * 9 / 10 && s.rest > ONE * 9 / 10);
	bed_fini(&bed);
}

/* A first fragment of several mbufs is one fragment. */
static void fragments_of_several_mbufs(void **state)
{
	struct fm_source s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed.segment = 30;
	for (uint32_t i = 0; i < 60; i++)
		inside_complete(&bed, HOME, i, 3, 1);
	s = inside_record(&bed, HOME);
	assert_true(s.size > 8);
	assert_true(fm_source_known(&s));
	assert_true(s.second > FM_CHANCE_ONE * 9 / 10 && s.rest > FM_CHANCE_ONE * 9 / 10);
	for (uint32_t i = 0; i < 60; i++)
		inside_fail(&bed, HOME, i, 1);
	assert_int_equal(inside_record(&bed, HOME).rest, s.rest);
	assert_true(inside_record(&bed, HOME).second < FM_CHANCE_ONE / 10);
	bed_fini(&bed);
}

/* The gap of all is taken from those that complete as well; until then patience is what it was at the start. */
static void the_gap_of_all(void **state)
{
	uint64_t patience;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	patience = fm_patience_general_tsc(bed.reass);
	assert_in_range(patience, BED_TIMEOUT4 / 16, BED_TIMEOUT4);
	for (uint32_t piece = 0; piece < 5; piece++) {
		inside_send(&bed, HOME, 1, piece, 10);
		bed.now += piece * 7;
	}
	assert_int_equal(fm_patience_general_tsc(bed.reass), patience);
	inside_complete(&bed, HOME, 2, 5, 50);
	assert_true(fabsf(bed.reass->sources.gap - 50) < 1.5F);
	/* It is believed with care at first. */
	assert_true(fm_patience_general_tsc(bed.reass) > 100);
	for (uint32_t i = 0; i < 1000; i++)
		inside_complete(&bed, HOME + i % 7, i, 5, 80);
	assert_true(fabsf(bed.reass->sources.gap - 80) < 3);
	assert_in_range(fm_patience_general_tsc(bed.reass), 80, 800);
	bed_fini(&bed);
}

/* However many fragments it has: one datagram is one outcome of each kind. */
static void a_datagram_teaches_once(void **state)
{
	struct fm_source s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	inside_complete(&bed, HOME, 1, 20, 1);
	s = inside_record(&bed, HOME);
	assert_int_equal(s.begun, 1);
	assert_int_equal(s.grown, 1);
	inside_fail(&bed, HOME, 2, 20);
	s = inside_record(&bed, HOME);
	assert_int_equal(s.begun, 2);
	assert_int_equal(s.grown, 2);
	inside_fail(&bed, HOME, 3, 1);
	s = inside_record(&bed, HOME);
	assert_int_equal(s.begun, 3);
	assert_int_equal(s.grown, 2);
	bed_fini(&bed);
}

/* No record is earned by repeating first fragments, of a datagram that is held, condemned, or refused. */
static void repeated_first_fragments_earn_nothing(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_source before, after;
	struct fm_test_frag overlap;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 8;
	bed_init_params(&bed, &params);
	inside_send(&bed, HOME, 1, 0, 3);
	before = inside_record(&bed, HOME);
	for (uint32_t i = 0; i < 100; i++)
		inside_send(&bed, HOME, 1, 0, 3);
	assert_int_equal(bed_count(&bed, FM_DUPLICATE), 100);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);

	overlap = inside_frag(HOME, 1, 0, 3);
	overlap.offset = 8;
	bed_send(&bed, &overlap);
	before = inside_record(&bed, HOME);
	for (uint32_t i = 0; i < 100; i++)
		inside_send(&bed, HOME, 1, 0, 3);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 100);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);

	/* Full of others, nearly done: refused. */
	for (uint32_t piece = 0; piece < 8; piece++)
		inside_send(&bed, HOME + 1, 1, piece, 10);
	for (uint32_t i = 0; i < 100; i++)
		inside_send(&bed, HOME, 2, 0, 3);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 199);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);
	bed_fini(&bed);
}

/* The same over time: whatever comes of it, it looks no better than it did. */
static void repeating_over_time_earns_nothing(void **state)
{
	const struct fm_test_frag frag = inside_frag(HOME, 1, 0, 3);
	struct fm_reass_params params = bed_params();
	struct bed bed;
	float at_first;

	(void)state;
	params.settings.budget_mbufs = 8;
	bed_init_params(&bed, &params);
	at_first = fm_chance_new(bed.reass, inside_source(&bed, &frag), false);
	for (uint32_t i = 0; i < 20000; i++) {
		bed.now += 7;
		inside_send(&bed, HOME, i / 50 % 16, 0, 3);
		if (i % 16 == 0)
			fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	assert_int_equal(bed_count(&bed, FM_COMPLETED), 0);
	assert_true(fm_chance_new(bed.reass, inside_source(&bed, &frag), false) < at_first / 2);
	assert_int_equal(inside_record(&bed, HOME).delivered, 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(learns_the_size),
		cmocka_unit_test(learns_the_gap),
		cmocka_unit_test(a_gap_is_that_of_a_whole_datagram),
		cmocka_unit_test(learns_chances),
		cmocka_unit_test(fragments_of_several_mbufs),
		cmocka_unit_test(the_gap_of_all),
		cmocka_unit_test(a_datagram_teaches_once),
		cmocka_unit_test(repeated_first_fragments_earn_nothing),
		cmocka_unit_test(repeating_over_time_earns_nothing),
	};

	return cmocka_run_group_tests_name("reassembly: what is learned", tests, NULL, NULL);
}
