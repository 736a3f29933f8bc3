/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of strangers (source.c), and of whatever comes without a head or with something missing. */
#include "inside.h"

enum { STRANGERS = 0x0b000000, HOME = 0x0a010203 };

static void assert_reach(const struct bed *bed)
{
	const struct fm_sources *s = &bed->reass->sources;

	assert_true(s->reach[FM_STEPS] == 1);
	for (int i = FM_STEPS - 1; i >= 0; i--) {
		assert_true(s->go_on[i] >= 0 && s->go_on[i] <= 1);
		assert_true(s->reach[i] == s->go_on[i] * s->reach[i + 1]);
	}
}

/* What is known of strangers follows what becomes of them, at each size that a datagram can have. */
static void strangers_of_every_size(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	params.max_mbufs = params.settings.budget_mbufs = 70000;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	bed_init_params(&bed, &params);
	assert_reach(&bed);
	for (uint32_t size = 3; size < 65000; size = size * 3 / 2) {
		const uint32_t pieces = (size + 41) / 42 + 1;

		/* 42 bytes each, most of the large ones in as many mbufs. */
		bed.segment = size > 100 ? 1 : 0;
		frag.source++;
		frag.id++;
		bed_send_pieces(&bed, &frag, 8 * (size > 100 ? pieces : size), 8, 0, UINT32_MAX);
		assert_int_equal(bed.n_done, 1);
		bed_clear(&bed);
		assert_reach(&bed);
	}
	bed_fini(&bed);
}

static void strangers_are_judged_by_strangers(void **state)
{
	const struct fm_test_frag next = inside_frag(STRANGERS + 0xffff, 1, 0, 2);
	struct bed bed;
	float at_first, after_flood;

	(void)state;
	bed_init(&bed);
	at_first = fm_chance_new(bed.reass, inside_source(&bed, &next), false);
	for (uint32_t i = 0; i < 300; i++)
		inside_fail(&bed, STRANGERS + i, i, 1);
	after_flood = fm_chance_new(bed.reass, inside_source(&bed, &next), false);
	assert_true(after_flood < fm_unlikely(bed.reass) && after_flood < at_first);
	assert_reach(&bed);
	/* A second fragment says more than that. */
	inside_send(&bed, STRANGERS + 1000, 1, 0, 3);
	inside_send(&bed, STRANGERS + 1000, 1, 1, 3);
	assert_true(fm_chance_now(bed.reass, fm_entry(bed.reass, bed.reass->age[FM_IPV4].head), bed.now) >
		    2 * after_flood);
	for (uint32_t i = 0; i < 300; i++)
		inside_complete(&bed, STRANGERS + 2000 + i, i, 3, 1);
	assert_true(fm_chance_new(bed.reass, inside_source(&bed, &next), false) > 2 * after_flood);
	assert_reach(&bed);
	bed_fini(&bed);
}

/* Nobody is hopeless: what a flood teaches has an end, and a second fragment is always worth something. */
static void no_stranger_is_hopeless(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 3000; i++)
		inside_fail(&bed, STRANGERS + i, i & 0xffff, 1 + i % 3);
	assert_reach(&bed);
	for (int i = 0; i < FM_STEPS; i++)
		assert_true(bed.reass->sources.go_on[i] > 0.0005F);
	bed_fini(&bed);
}

/* Pieces of a datagram of `pieces` in this order; it ends when they do. */
static void send_order(struct bed *bed, uint32_t source, uint32_t id, const uint32_t *order, uint32_t n,
		       uint32_t pieces)
{
	for (uint32_t i = 0; i < n; i++) {
		bed->now++;
		inside_send(bed, source, id, order[i], pieces);
	}
	bed_clear(bed);
}

static const struct fm_datagram *only(const struct bed *bed)
{
	const uint32_t n = bed->reass->age[FM_IPV4].head;

	assert_int_equal(n, bed->reass->age[FM_IPV4].tail);
	return fm_entry(bed->reass, n);
}

/* Something is missing in between exactly while something is. */
static void missing_in_between(void **state)
{
	static const struct {
		uint32_t order[4], n;
		bool gappy;
	} cases[] = {
		{{0}, 1, false}, {{0, 1}, 2, false}, {{0, 2}, 2, true}, {{0, 2, 1}, 3, false},
		{{0, 3}, 2, true}, {{0, 3, 1}, 3, true}, {{0, 1, 2, 4}, 4, true}, {{0, 2, 4, 3}, 4, true},
	};
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		send_order(&bed, HOME, 1, cases[i].order, cases[i].n, 9);
		assert_int_equal((only(&bed)->marks & FM_MARK_GAPPY) != 0, cases[i].gappy);
		fm_reass_flush(bed.reass);
	}
	bed_fini(&bed);
}

/* Whether what is missing still comes is learned from all: of those where it came, and of those where it did not. */
static void what_is_missing_comes_or_not(void **state)
{
	static const uint32_t order[] = {0, 2, 1, 3};
	float at_first, low;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	at_first = bed.reass->sources.gappy;
	for (uint32_t i = 0; i < 400; i++) {
		send_order(&bed, HOME + i % 7, i, order, 2, 4);
		bed.now += BED_TIMEOUT4;
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	low = bed.reass->sources.gappy;
	assert_true(low < at_first && low > 0);
	/* One of a good source is less likely with something missing; and as likely as before without. */
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, HOME + 100, i, 4, 1);
	send_order(&bed, HOME + 100, 1000, order, 2, 4);
	if (!(only(&bed)->marks & FM_MARK_TRIAL))
		assert_true(fm_chance_now(bed.reass, only(&bed), bed.now) < 0.9F);
	inside_send(&bed, HOME + 100, 1000, 1, 4);
	assert_true(fm_chance_now(bed.reass, only(&bed), bed.now) > 0.9F);
	inside_send(&bed, HOME + 100, 1000, 3, 4);
	bed_clear(&bed);
	for (uint32_t i = 0; i < 400; i++)
		send_order(&bed, HOME + i % 7, 2000 + i, order, 4, 4);
	assert_true(bed.reass->sources.gappy > 0.95F);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* Some of those that look hopeless for what is missing are tried all the same: a few, not none, and not most. */
static void a_few_are_tried_all_the_same(void **state)
{
	static const uint32_t order[] = {0, 2};
	uint32_t tried = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed.reass->sources.gappy = 0.01F;
	for (uint32_t i = 0; i < 1000; i++) {
		send_order(&bed, HOME, i, order, 2, 4);
		if (only(&bed)->marks & FM_MARK_TRIAL) {
			assert_true(fm_chance_now(bed.reass, only(&bed), bed.now) >= fm_unlikely(bed.reass));
			tried++;
		} else {
			assert_true(fm_chance_now(bed.reass, only(&bed), bed.now) < fm_unlikely(bed.reass));
		}
		fm_reass_flush(bed.reass);
	}
	assert_in_range(tried, 10, 300);
	bed_fini(&bed);
}

/* And not so many at a time that they make a difference, should they all fail. */
static void trials_take_little_room(void **state)
{
	enum { PIECES = 4, MANY = 60 };
	static const uint32_t order[] = {0, 2};
	uint32_t tried = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, HOME, i, PIECES, 1);
	inside_set_budget(&bed, 2 * MANY);
	for (uint32_t round = 0; round < 100; round++) {
		uint32_t now = 0;

		for (uint32_t i = 0; i < MANY; i++)
			send_order(&bed, HOME, round * MANY + i, order, 2, PIECES);
		for (uint32_t n = bed.reass->age[FM_IPV4].head; n != FM_NONE;
		     n = fm_age_next(bed.reass, n))
			now += (fm_entry(bed.reass, n)->marks & FM_MARK_TRIAL) != 0;
		assert_int_equal(bed.reass->sources.trials, now);
		/* One at least, or it could be none for ever. */
		assert_true(now <= 1 + 2 * MANY / PIECES / 4);
		tried += now;
		fm_reass_flush(bed.reass);
		assert_int_equal(bed.reass->sources.trials, 0);
	}
	assert_true(tried > 0);
	bed_fini(&bed);
}

/* A head that never came is no fault of its source: it may have been refused. But the headless are judged by it. */
static void headless_ones_are_apart(void **state)
{
	static const uint32_t order[] = {1, 2}, late[] = {1, 0, 2};
	struct fm_source before, after;
	float at_first, low;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	at_first = bed.reass->sources.headless;
	for (uint32_t i = 0; i < 20; i++)
		inside_complete(&bed, HOME, i, 4, 1);
	before = inside_record(&bed, HOME);
	for (uint32_t i = 0; i < 100; i++) {
		send_order(&bed, HOME, 100 + i, order, 1, 3);
		bed.now += BED_TIMEOUT4;
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	after = inside_record(&bed, HOME);
	assert_int_equal(after.second, before.second);
	assert_int_equal(after.rest, before.rest);
	low = bed.reass->sources.headless;
	assert_true(low < at_first);
	assert_true(fm_chance_new(bed.reass, &after, true) < fm_chance_new(bed.reass, &after, false) / 2);
	for (uint32_t i = 0; i < 200; i++)
		send_order(&bed, HOME, 1000 + i, late, 3, 3);
	assert_true(bed.reass->sources.headless > 2 * low);
	/* Not even they are hopeless. */
	for (uint32_t i = 0; i < 1000; i++) {
		send_order(&bed, HOME, 100 + i, order, 1, 3);
		bed.now += BED_TIMEOUT4;
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	assert_true(bed.reass->sources.headless > 0.002F);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_of_every_size),
		cmocka_unit_test(strangers_are_judged_by_strangers),
		cmocka_unit_test(no_stranger_is_hopeless),
		cmocka_unit_test(missing_in_between),
		cmocka_unit_test(what_is_missing_comes_or_not),
		cmocka_unit_test(a_few_are_tried_all_the_same),
		cmocka_unit_test(trials_take_little_room),
		cmocka_unit_test(headless_ones_are_apart),
	};

	return cmocka_run_group_tests_name("reassembly: strangers", tests, NULL, NULL);
}
