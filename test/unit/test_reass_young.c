/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams begun while there is memory for all of them: judged later, and only if that has to be. */
#include "inside.h"
#include "young.h"

enum {
	SOURCE = 0x0a000001,
	BUDGET = 256,
	/* So many datagrams of a source teach it all of what they say; then one in four speaks for the others. */
	FEW = 5,
	MANY = 60,
};

static void init(struct bed *bed, uint32_t budget)
{
	struct fm_reass_params params = bed_params();

	bed_judges_all = false;
	params.max_mbufs = params.settings.budget_mbufs = budget;
	params.max_datagrams = budget;
	bed_init_params(bed, &params);
}

static void init_judging(struct bed *bed, uint32_t budget)
{
	init(bed, budget);
	bed->reass->ease_mbufs = 0;
}

static uint32_t young(const struct bed *bed)
{
	return bed->reass->n_young;
}

/* All of a datagram in one burst. */
static void complete_at_once(struct bed *bed, uint32_t id, uint32_t pieces)
{
	struct rte_mbuf *m[16];

	for (uint32_t i = 0; i < pieces; i++) {
		const struct fm_test_frag frag = inside_frag(SOURCE, id, i, pieces);

		m[i] = bed_mbuf(bed, &frag);
	}
	bed_send_mbufs(bed, m, (uint16_t)pieces, BED_PORT);
	assert_int_equal(bed->n_done, 1);
	bed_clear(bed);
}

static void assert_same_of_all(const struct fm_sources *a, const struct fm_sources *b)
{
	for (int i = 0; i < FM_STEPS; i++)
		assert_true(a->go_on[i] == b->go_on[i]);
	assert_true(a->size == b->size && a->first_size == b->first_size && a->gap == b->gap);
}

static void near(float a, float b, float off)
{
	assert_true(a - b <= off && b - a <= off);
}

static void what_completes_young_teaches_the_same(void **state)
{
	for (uint32_t pieces = 2; pieces <= 12; pieces++) {
		struct bed judged, unjudged;
		struct fm_source a, b;

		(void)state;
		init_judging(&judged, BUDGET);
		init(&unjudged, BUDGET);
		for (uint32_t id = 0; id < MANY; id++) {
			inside_complete(&judged, SOURCE, id, pieces, 10);
			inside_complete(&unjudged, SOURCE, id, pieces, 10);
			a = inside_record(&judged, SOURCE);
			b = inside_record(&unjudged, SOURCE);
			assert_int_equal(a.delivered, b.delivered);
			assert_int_equal(b.held_mbufs, 0);
			assert_int_equal(b.wasted, 0);
			if (id >= FEW)
				continue;
			inside_assert_learned_same(&a, &b);
			assert_true(a.gap == b.gap);
			assert_same_of_all(&judged.reass->sources, &unjudged.reass->sources);
		}
		near(a.second, b.second, FM_CHANCE_ONE / 64);
		near(a.rest, b.rest, FM_CHANCE_ONE / 64);
		near(a.size, b.size, 0.01F);
		near(a.gap, b.gap, 0.5F);
		bed_fini(&judged);
		bed_fini(&unjudged);
	}
}

/* The same in one burst, of which nothing is ever held. */
static void what_is_whole_at_once_teaches_the_same(void **state)
{
	for (uint32_t pieces = 2; pieces <= 12; pieces++) {
		struct bed judged, whole;
		struct fm_source a, b;

		(void)state;
		init_judging(&judged, BUDGET);
		init_judging(&whole, BUDGET);
		for (uint32_t id = 0; id < MANY; id++) {
			inside_complete(&judged, SOURCE, id, pieces, 0);
			complete_at_once(&whole, id, pieces);
			a = inside_record(&judged, SOURCE);
			b = inside_record(&whole, SOURCE);
			assert_int_equal(a.delivered, b.delivered);
			assert_int_equal(b.held_mbufs, 0);
			assert_int_equal(b.wasted, 0);
			if (id >= FEW)
				continue;
			inside_assert_learned_same(&a, &b);
			assert_same_of_all(&judged.reass->sources, &whole.reass->sources);
		}
		near(a.second, b.second, FM_CHANCE_ONE / 64);
		near(a.rest, b.rest, FM_CHANCE_ONE / 64);
		bed_fini(&judged);
		bed_fini(&whole);
	}
}

/* What becomes of a young one that does not complete: three ways. */
static void by_flush(struct bed *bed)
{
	fm_reass_flush(bed->reass);
}

static void by_timeout(struct bed *bed)
{
	bed->now += BED_TIMEOUT4;
	fm_reass_expire(bed->reass, bed->now, BED_ALL);
}

static void by_overlap(struct bed *bed)
{
	const struct fm_test_frag frag = {
		.family = 4, .id = 1, .source = SOURCE, .destination = 0x0a000002, .protocol = 17, .offset = 8,
		.length = 64, .more = true,
	};

	bed_send(bed, &frag);
}

static void what_ends_young_is_wasted_as_if_judged(void **state)
{
	static void (*const ends[])(struct bed *bed) = {by_flush, by_timeout, by_overlap};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(ends); i++) {
		for (uint32_t pieces = 1; pieces <= 5; pieces++) {
			struct bed judged, unjudged;
			struct fm_source a, b;

			init_judging(&judged, BUDGET);
			init(&unjudged, BUDGET);
			inside_send_parts(&judged, SOURCE, 1, 0, pieces);
			inside_send_parts(&unjudged, SOURCE, 1, 0, pieces);
			assert_int_equal(young(&unjudged), 1);
			ends[i](&judged);
			ends[i](&unjudged);
			a = inside_record(&judged, SOURCE);
			b = inside_record(&unjudged, SOURCE);
			assert_int_equal(b.wasted, pieces);
			assert_int_equal(a.wasted, pieces);
			assert_int_equal(b.held_mbufs, 0);
			inside_assert_learned_same(&a, &b);
			assert_same_of_all(&judged.reass->sources, &unjudged.reass->sources);
			assert_int_equal(young(&unjudged), 0);
			bed_fini(&judged);
			bed_fini(&unjudged);
		}
	}
}

/* Piece by piece, each piece no longer than was asked for; and then nothing that is held is missing. */
static void sources_count_what_young_ones_hold(void **state)
{
	enum { SOURCES = 5, EACH = 8 };

	(void)state;
	for (uint32_t count = 1; count < 100; count = count * 2 + 1) {
		struct fm_source_view views[SOURCES + 1];
		uint32_t n = 0, at = 0;
		struct bed bed;

		init(&bed, BUDGET);
		for (uint32_t i = 0; i < SOURCES * EACH; i++)
			inside_send_parts(&bed, SOURCE + i % SOURCES, i, 0, 1 + i % SOURCES);
		assert_int_equal(young(&bed), SOURCES * EACH);
		do {
			const uint32_t before = young(&bed);

			at = fm_reass_sources(bed.reass, at, count, views, RTE_DIM(views), &n);
			inside_assert_sound(&bed);
			assert_in_range(before - young(&bed), 0, count);
			/* No record is shown before all that is held is counted. */
			assert_true(young(&bed) == 0 || n == 0);
		} while (at != 0);
		assert_int_equal(young(&bed), 0);
		assert_int_equal(n, SOURCES);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(views[i].held_mbufs, EACH * (SOURCES - i));
		bed_fini(&bed);
	}
}

/* First fragments alone, each of another source, each of the two families in turn. */
static void all_are_judged_when_the_budget_is_full(void **state)
{
	(void)state;
	for (uint32_t budget = 4; budget <= BUDGET; budget = budget * 3 / 2) {
		struct bed bed;
		uint32_t most = 0;

		init(&bed, budget);
		for (uint32_t i = 0; i < 3 * budget; i++) {
			struct fm_test_frag frag = i % 2 == 0 ? bed_ipv4(i, 0, 64, true) : bed_ipv6(i, 0, 64, true);

			frag.source = SOURCE + i;
			bed_send(&bed, &frag);
			most = RTE_MAX(most, young(&bed));
			assert_true(bed_held(&bed) < budget || young(&bed) == 0);
		}
		assert_in_range(most, 1, budget / 2 + 1);
		bed_fini(&bed);
	}
}

/* They grow while nobody begins: then nobody has been asked, and the budget holds all the same. */
static void young_ones_outgrow_the_budget(void **state)
{
	enum { DATAGRAMS = 20 };
	struct bed bed;

	(void)state;
	init(&bed, 64);
	for (uint32_t i = 0; i < DATAGRAMS * 6; i++)
		inside_send(&bed, SOURCE + i % DATAGRAMS, i % DATAGRAMS, i / DATAGRAMS, UINT32_MAX);
	assert_int_equal(young(&bed), 0);
	assert_true(inside_evicted(&bed) > 0);
	bed_fini(&bed);
}

static void a_smaller_budget_judges_them(void **state)
{
	for (uint32_t budget = 1; budget < 100; budget += 7) {
		struct bed bed;

		(void)state;
		init(&bed, BUDGET);
		for (uint32_t i = 0; i < 50; i++)
			inside_send_parts(&bed, SOURCE + i, i, 0, 2);
		assert_int_equal(young(&bed), 50);
		inside_set_budget(&bed, budget);
		assert_true(bed_held(&bed) <= budget);
		assert_int_equal(inside_evicted(&bed), 100 - bed_held(&bed));
		assert_int_equal(young(&bed), 0);
		bed_fini(&bed);
	}
}

/* It is shown with what is known of its source: nothing changes when it is judged. */
static void the_view_of_one_is_that_of_a_judged_one(void **state)
{
	struct fm_reass_view before, after;
	struct fm_source_view sources[2];
	uint32_t n = 0, at = 0;
	struct bed bed;

	(void)state;
	init(&bed, BUDGET);
	for (uint32_t id = 0; id < 12; id++)
		inside_fail(&bed, SOURCE, id, 1);
	inside_send(&bed, SOURCE, 100, 0, 2);
	assert_int_equal(young(&bed), 1);
	assert_int_equal(fm_reass_views(bed.reass, bed.now, &before, 1), 1);
	do
		at = fm_reass_sources(bed.reass, at, 100, sources, RTE_DIM(sources), &n);
	while (at != 0);
	assert_int_equal(young(&bed), 0);
	assert_int_equal(fm_reass_views(bed.reass, bed.now, &after, 1), 1);
	assert_int_equal(before.chance_permille, after.chance_permille);
	assert_in_range(after.chance_permille, 0, 200);
	assert_int_equal(before.fragments, after.fragments);
	assert_int_equal(before.held_mbufs, after.held_mbufs);
	assert_int_equal(before.cold, after.cold);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_completes_young_teaches_the_same),
		cmocka_unit_test(what_is_whole_at_once_teaches_the_same),
		cmocka_unit_test(what_ends_young_is_wasted_as_if_judged),
		cmocka_unit_test(sources_count_what_young_ones_hold),
		cmocka_unit_test(all_are_judged_when_the_budget_is_full),
		cmocka_unit_test(young_ones_outgrow_the_budget),
		cmocka_unit_test(a_smaller_budget_judges_them),
		cmocka_unit_test(the_view_of_one_is_that_of_a_judged_one),
	};

	return cmocka_run_group_tests_name("young datagrams", tests, NULL, NULL);
}
