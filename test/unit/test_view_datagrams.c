/* SPDX-License-Identifier: BSD-3-Clause */
/* fm_reass_views_some(): what is held, looked at in pieces while datagrams come and go. */
#include "bed.h"

enum { VIEWS_MAX = 64, STEP = 8, MANY = 40, LONG = 400, RUN = 10, ROUNDS = 200 };

static void begin(struct bed *bed, uint8_t family, uint32_t id)
{
	const struct fm_test_frag frag = family == 4 ? bed_ipv4(id, 0, STEP, true) : bed_ipv6(id, 0, STEP, true);

	bed_send(bed, &frag);
	bed->now++;
}

static void end(struct bed *bed, uint8_t family, uint32_t id)
{
	const struct fm_test_frag frag = family == 4 ? bed_ipv4(id, STEP, STEP, false) :
						       bed_ipv6(id, STEP, STEP, false);

	bed_send(bed, &frag);
	bed_clear(bed);
}

/* Every other fragment of so many: a gap behind each. */
static void hold_with_gaps(struct bed *bed, uint32_t id, uint32_t fragments)
{
	for (uint32_t i = 0; i < fragments; i++) {
		const struct fm_test_frag frag = bed_ipv4(id, 2 * STEP * i, STEP, true);

		bed_send(bed, &frag);
	}
	bed->now++;
}

static void init(struct bed *bed)
{
	struct fm_reass_params params = bed_params();

	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	bed_init_params(bed, &params);
}

static void assert_same(const struct fm_reass_view *a, const struct fm_reass_view *b)
{
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->family, b->family);
	assert_int_equal(a->age_tsc, b->age_tsc);
	assert_int_equal(a->idle_tsc, b->idle_tsc);
	assert_int_equal(a->fragments, b->fragments);
	assert_int_equal(a->held_bytes, b->held_bytes);
	assert_int_equal(a->missing_ranges, b->missing_ranges);
	assert_int_equal(a->chance_permille, b->chance_permille);
}

static void nothing_held(void **state)
{
	struct fm_reass_view view;
	struct bed bed;
	uint32_t n = 0;

	(void)state;
	init(&bed);
	assert_false(fm_reass_views_some(bed.reass, true, 1, bed.now, &view, 1, &n));
	assert_false(fm_reass_views_some(bed.reass, false, 1, bed.now, &view, 1, &n));
	assert_int_equal(n, 0);
	begin(&bed, 4, 1);
	assert_false(fm_reass_views_some(bed.reass, true, 1, bed.now, NULL, 0, &n));
	assert_int_equal(n, 0);
	bed_fini(&bed);
}

/* In pieces of whatever size the same is seen as at once, and no piece is larger than was asked for. */
static void piece_by_piece(void **state)
{
	static const uint32_t works[] = { 1, 3, 1000 }, maxima[] = { 1, 7, MANY, VIEWS_MAX };
	struct fm_reass_view all[VIEWS_MAX], views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	init(&bed);
	for (uint32_t i = 0; i < MANY; i++)
		if (i % 3 == 0)
			hold_with_gaps(&bed, i, 1 + i);
		else
			begin(&bed, i % 3 == 1 ? 4 : 6, i);
	assert_int_equal(fm_reass_views(bed.reass, bed.now, all, VIEWS_MAX), MANY);
	assert_int_equal(all[MANY - 1].missing_ranges, MANY);
	for (size_t w = 0; w < RTE_DIM(works); w++)
		for (size_t m = 0; m < RTE_DIM(maxima); m++) {
			const uint32_t expected = RTE_MIN(maxima[m], (uint32_t)MANY);
			uint32_t n = 0, before;
			bool more = true;

			for (bool first = true; more; first = false) {
				before = n;
				more = fm_reass_views_some(bed.reass, first, works[w], bed.now, views, maxima[m], &n);
				assert_in_range(n - before, 0, works[w]);
			}
			assert_int_equal(n, expected);
			for (uint32_t i = 0; i < n; i++)
				assert_same(&views[i], &all[i]);
		}
	bed_fini(&bed);
}

/* One datagram of many fragments takes as many calls as it has runs of them. */
static void a_long_one(void **state)
{
	struct fm_reass_view view, whole;
	uint32_t calls = 0, n = 0;
	struct bed bed;
	bool more;

	(void)state;
	init(&bed);
	hold_with_gaps(&bed, 1, LONG);
	assert_int_equal(fm_reass_views(bed.reass, bed.now, &whole, 1), 1);
	assert_int_equal(whole.missing_ranges, LONG);
	do {
		assert_int_equal(n, 0);
		more = fm_reass_views_some(bed.reass, calls == 0, 1, bed.now, &view, 1, &n);
		calls++;
	} while (more);
	assert_int_equal(n, 1);
	assert_same(&view, &whole);
	assert_in_range(calls, LONG / RUN, LONG);
	bed_fini(&bed);
}

/* What has been counted of one that leaves is not counted for the next one, be it in the same entry. */
static void a_long_one_leaves(void **state)
{
	/* Overlaps the first one. */
	const struct fm_test_frag bad = bed_ipv4(1, 0, 2 * STEP, true);
	struct fm_reass_view view[2];
	struct bed bed;
	uint32_t n = 0;

	(void)state;
	init(&bed);
	hold_with_gaps(&bed, 1, LONG);
	hold_with_gaps(&bed, 2, 3);
	assert_true(fm_reass_views_some(bed.reass, true, LONG / RUN / 2, bed.now, view, 2, &n));
	assert_int_equal(n, 0);
	bed_send(&bed, &bad);
	assert_int_equal(bed_held(&bed), 3);
	begin(&bed, 4, 3);
	assert_false(fm_reass_views_some(bed.reass, false, LONG, bed.now, view, 2, &n));
	assert_int_equal(n, 2);
	assert_int_equal(view[0].id, 2);
	assert_int_equal(view[0].missing_ranges, 3);
	assert_int_equal(view[1].id, 3);
	bed_fini(&bed);
}

/* Fragments come in front of what has been looked at and behind it. */
static void a_long_one_grows(void **state)
{
	struct fm_reass_view view;
	struct bed bed;
	uint32_t n = 0;

	(void)state;
	init(&bed);
	hold_with_gaps(&bed, 1, LONG);
	assert_true(fm_reass_views_some(bed.reass, true, LONG / RUN / 2, bed.now, &view, 1, &n));
	for (uint32_t i = 0; i < LONG; i++) {
		const struct fm_test_frag frag = bed_ipv4(1, 2 * STEP * i + STEP, STEP, true);

		bed_send(&bed, &frag);
	}
	assert_false(fm_reass_views_some(bed.reass, false, LONG, bed.now, &view, 1, &n));
	assert_int_equal(n, 1);
	assert_int_equal(view.fragments, 2 * LONG);
	/* Gaps that were seen are counted; of those filled before they were, none is. The end is still missing. */
	assert_in_range(view.missing_ranges, LONG / 4, LONG - 1);
	bed_fini(&bed);
}

struct crowd {
	struct bed bed;
	uint32_t next;			/* identification */
	uint32_t held[VIEWS_MAX];	/* identifications; IPv6 has odd ones */
	uint32_t n_held;
	uint32_t random;
};

static uint32_t below(struct crowd *c, uint32_t n)
{
	c->random = c->random * 1664525 + 1013904223;
	return (c->random >> 8) % n;
}

static void arrive(struct crowd *c)
{
	if (c->n_held == VIEWS_MAX)
		return;
	c->held[c->n_held++] = c->next;
	begin(&c->bed, c->next % 2 == 0 ? 4 : 6, c->next);
	c->next++;
}

static void leave(struct crowd *c, uint32_t at)
{
	const uint32_t id = c->held[at];

	memmove(&c->held[at], &c->held[at + 1], (--c->n_held - at) * sizeof(id));
	end(&c->bed, id % 2 == 0 ? 4 : 6, id);
}

static uint32_t times_seen(const struct fm_reass_view *views, uint32_t n, uint32_t id)
{
	uint32_t times = 0;

	for (uint32_t i = 0; i < n; i++)
		times += views[i].id == id;
	return times;
}

/* One look, with `churn` datagrams that leave and as many that come after each call. */
static void look_at_crowd(struct crowd *c, uint32_t churn)
{
	struct fm_reass_view views[2 * VIEWS_MAX];
	const uint32_t end_id = c->next;
	bool more = true;
	uint32_t n = 0;

	for (bool first = true; more; first = false) {
		more = fm_reass_views_some(c->bed.reass, first, 1 + below(c, 3), c->bed.now, views, 2 * VIEWS_MAX, &n);
		for (uint32_t i = 0; i < churn; i++) {
			leave(c, below(c, 4) == 0 ? 0 : below(c, c->n_held));
			arrive(c);
		}
	}
	for (uint32_t i = 0; i < c->n_held; i++)
		if (c->held[i] < end_id)
			assert_int_equal(times_seen(views, n, c->held[i]), 1);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(times_seen(views, n, views[i].id), 1);
		assert_true(i == 0 || views[i].id > views[i - 1].id);
	}
}

/* Each that stays is seen once, none twice, and older ones first. */
static void coming_and_going(void **state)
{
	struct crowd c = { .random = 1 };

	(void)state;
	init(&c.bed);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		while (c.n_held < MANY)
			arrive(&c);
		look_at_crowd(&c, round % 4);
		/* Within the time that is left to them. */
		while (c.n_held > 0 && below(&c, 8) != 0)
			leave(&c, 0);
	}
	bed_fini(&c.bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_held),
		cmocka_unit_test(piece_by_piece),
		cmocka_unit_test(a_long_one),
		cmocka_unit_test(a_long_one_leaves),
		cmocka_unit_test(a_long_one_grows),
		cmocka_unit_test(coming_and_going),
	};

	return cmocka_run_group_tests_name("view_datagrams", tests, NULL, NULL);
}
