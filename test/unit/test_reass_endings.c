/* SPDX-License-Identifier: BSD-3-Clause */
/* What a datagram that ends otherwise than by its time teaches of its source (source.c): cold, evicted, wrong. */
#include "inside.h"

enum { STRANGERS = 0x0b000000, HOME = 0x0a010203 };

/* One that was silent for so long that it is cold has failed, before its time is up and whether evicted or not. */
static void cold_ones_teach(void **state)
{
	struct fm_source before, after;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 10; i++)
		inside_complete(&bed, HOME, i, 3, 1);
	before = inside_record(&bed, HOME);
	inside_send(&bed, HOME, 100, 0, 3);
	bed.now += BED_TIMEOUT4 - 1;
	/* Anybody's fragments make the table look. */
	for (uint32_t i = 0; i < 10; i++)
		inside_send(&bed, STRANGERS, i, 0, 3);
	after = inside_record(&bed, HOME);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 0);
	assert_int_equal(after.begun, before.begun + 1);
	assert_true(after.second < before.second);
	/* And once only. */
	bed.now += 1;
	fm_reass_expire(bed.reass, bed.now, BED_ALL);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 1);
	before = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);
	bed_fini(&bed);
}

/* Fragments of others, that never go on: the table looks around for cold ones. */
static void let_it_look(struct bed *bed)
{
	for (uint32_t i = 0; i < 30; i++)
		inside_send(bed, STRANGERS, i, 0, 3);
}

/* It was taken for dead, and goes on: what it says then is learned as well, whether it ends well or not. */
static void who_was_taken_for_dead_teaches_anew(void **state)
{
	static const bool ends[] = {false, true};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(ends); i++) {
		struct fm_source before, dead, after;
		struct bed bed;

		bed_init(&bed);
		for (uint32_t n = 0; n < 20; n++)
			inside_complete(&bed, HOME, n, 4, 1);
		before = inside_record(&bed, HOME);
		inside_send(&bed, HOME, 100, 0, 4);
		bed.now += BED_TIMEOUT4 / 2;
		let_it_look(&bed);
		dead = inside_record(&bed, HOME);
		assert_true(dead.second < before.second);
		assert_int_equal(dead.rest, before.rest);
		inside_send(&bed, HOME, 100, 1, 4);
		after = inside_record(&bed, HOME);
		assert_true(after.second > dead.second);
		inside_send(&bed, HOME, 100, 2, 4);
		if (ends[i]) {
			inside_send(&bed, HOME, 100, 3, 4);
			assert_int_equal(bed.n_done, 1);
			after = inside_record(&bed, HOME);
			assert_int_equal(after.delivered, before.delivered + 4);
			assert_true(after.rest >= before.rest);
		} else {
			bed.now += BED_TIMEOUT4;
			fm_reass_expire(bed.reass, bed.now, BED_ALL);
			after = inside_record(&bed, HOME);
			assert_true(after.rest < before.rest);
		}
		bed_fini(&bed);
	}
}

/* Cold in the middle, with more than two fragments: the rest failed, and then it did not. */
static void dead_in_the_middle_teaches_anew(void **state)
{
	struct fm_source before, dead, after;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t n = 0; n < 20; n++)
		inside_complete(&bed, HOME, n, 4, 1);
	before = inside_record(&bed, HOME);
	inside_send(&bed, HOME, 100, 0, 4);
	inside_send(&bed, HOME, 100, 1, 4);
	bed.now += BED_TIMEOUT4 / 2;
	let_it_look(&bed);
	dead = inside_record(&bed, HOME);
	assert_true(dead.rest < before.rest);
	/* A copy of what is there says nothing. */
	inside_send(&bed, HOME, 100, 1, 4);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&dead, &after);
	inside_send(&bed, HOME, 100, 2, 4);
	inside_send(&bed, HOME, 100, 3, 4);
	after = inside_record(&bed, HOME);
	assert_true(after.rest > dead.rest);
	bed_fini(&bed);
}

/* All fragments came, and what they make is wrong: nothing is delivered, and no size or gap or rate is learned. */
static void what_is_wrong_as_a_whole_is_not_delivered(void **state)
{
	static const enum fm_outcome expected[] = {FM_ECN_MISMATCH, FM_BAD_L4_CHECKSUM};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(expected); i++) {
		struct fm_reass_params params = bed_params();
		struct fm_source before, after;
		struct fm_sources all;
		struct bed bed;

		params.settings.verify_l4 = expected[i] == FM_BAD_L4_CHECKSUM;
		bed_init_params(&bed, &params);
		before = inside_record(&bed, HOME);
		all = bed.reass->sources;
		for (uint32_t n = 0; n < 20; n++)
			for (uint32_t piece = 0; piece < 3; piece++) {
				struct fm_test_frag frag = inside_frag(HOME, n, piece, 3);

				frag.tos = expected[i] == FM_ECN_MISMATCH && piece == 1 ? 3 : 0;
				bed.now += 5;
				bed_send(&bed, &frag);
			}
		assert_int_equal(bed_count(&bed, expected[i]), 60);
		after = inside_record(&bed, HOME);
		assert_int_equal(after.delivered, 0);
		assert_int_equal(after.wasted, 60);
		assert_int_equal(after.grown, before.grown);
		assert_int_equal(after.rest, before.rest);
		assert_true(after.size == 0 && after.gap == 0);
		assert_true(bed.reass->sources.size == all.size && bed.reass->sources.typical == all.typical);
		assert_int_equal(after.held_mbufs, 0);
		bed_fini(&bed);
	}
}

/* Who was thrown out while warm did not fail: its memory was wanted. */
static void evicted_warm_ones_teach_nothing(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_source before, after;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 8;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 10; i++)
		inside_complete(&bed, HOME, i, 3, 1);
	inside_send(&bed, HOME, 100, 0, 3);
	before = inside_record(&bed, HOME);
	for (uint32_t piece = 0; piece < 8; piece++)
		inside_send(&bed, HOME + 1, 1, piece, 10);
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 1);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);
	assert_int_equal(after.wasted, before.wasted + 1);
	/* And what still comes for it teaches nothing, neither now nor in the end. */
	inside_send(&bed, HOME, 100, 1, 3);
	inside_send(&bed, HOME, 100, 2, 3);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 2);
	bed.now += BED_TIMEOUT4;
	fm_reass_expire(bed.reass, bed.now, BED_ALL);
	after = inside_record(&bed, HOME);
	inside_assert_learned_same(&before, &after);
	bed_fini(&bed);
}

/* One thrown out as unlikely teaches as much as its silence was long: without any, nothing. */
static void evicted_unlikely_ones_teach_by_their_silence(void **state)
{
	enum { BAD = HOME + 1, GAP = 20 };
	struct fm_reass_params params = bed_params();
	struct fm_source before, after;
	uint16_t last = UINT16_MAX;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 4;
	for (uint64_t silence = 0; silence <= 3 * GAP; silence += GAP) {
		bed_init_params(&bed, &params);
		for (uint32_t i = 0; i < 10; i++) {
			inside_complete(&bed, HOME, i, 3, GAP);
			inside_complete(&bed, BAD, i, 3, GAP);
		}
		for (uint32_t i = 0; i < 40; i++)
			inside_fail(&bed, BAD, i, 1);
		for (uint32_t i = 0; i < 4; i++)
			inside_send(&bed, BAD, 100 + i, 0, 3);
		before = inside_record(&bed, BAD);
		bed.now += silence;
		inside_send(&bed, HOME, 100, 0, 3);
		assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), 1);
		after = inside_record(&bed, BAD);
		/* Give or take a rounding. */
		if (silence == 0)
			assert_in_range(after.second, before.second - 1, before.second);
		else
			assert_true(after.second < last);
		last = after.second;
		bed_fini(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cold_ones_teach),
		cmocka_unit_test(who_was_taken_for_dead_teaches_anew),
		cmocka_unit_test(dead_in_the_middle_teaches_anew),
		cmocka_unit_test(what_is_wrong_as_a_whole_is_not_delivered),
		cmocka_unit_test(evicted_warm_ones_teach_nothing),
		cmocka_unit_test(evicted_unlikely_ones_teach_by_their_silence),
	};

	return cmocka_run_group_tests_name("reassembly: what endings teach", tests, NULL, NULL);
}
