/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan (plan.c): its sums, and what it foretells. Its datagrams are made by hand here. */
#include <math.h>

#include "inside.h"

enum { MANY = 200, SOURCE = 0x0a000001, GAP = 1000000 };

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)random_state * n >> 32);
}

/* The datagrams here hold nothing that the table knows of: tell it. */
static void pretend_held(struct bed *bed, uint32_t mbufs)
{
	bed->reass->stats.held_mbufs = mbufs;
}

static struct fm_datagram datagram(uint32_t held, uint32_t expected)
{
	return (struct fm_datagram){
		.mbufs_held = (uint16_t)held,
		.mbufs_expected = (uint16_t)expected,
		.bin = FM_NO_BIN,
	};
}

static uint32_t wants(const struct fm_datagram *d)
{
	return d->mbufs_expected - d->mbufs_held - 1U;
}

struct totals {
	int64_t count, held, wanted;
};

static struct totals totals_of_plan(const struct fm_plan *p)
{
	struct totals t = {0};

	for (int bin = 0; bin < FM_BINS; bin++) {
		t.count += p->bin[bin].count;
		t.held += p->bin[bin].held;
		t.wanted += p->bin[bin].wanted;
	}
	return t;
}

static struct totals totals_of(const struct fm_datagram *d, uint32_t n)
{
	struct totals t = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (d[i].bin == FM_NO_BIN)
			continue;
		t.count += d[i].weight;
		t.held += (int64_t)d[i].weight * d[i].mbufs_held;
		t.wanted += (int64_t)d[i].weight * wants(&d[i]);
	}
	return t;
}

static void assert_totals(const struct bed *bed, const struct fm_datagram *d, uint32_t n)
{
	const struct totals plan = totals_of_plan(&bed->reass->plan), expected = totals_of(d, n);

	assert_int_equal(plan.count, expected.count);
	assert_int_equal(plan.held, expected.held);
	assert_int_equal(plan.wanted, expected.wanted);
}

/* Put in, grown and put in again, taken out, in any order: the sums are those of who is in it, in the end nothing. */
static void sums_never_drift(void **state)
{
	static struct fm_datagram d[MANY];
	const struct fm_plan *p;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	p = &bed.reass->plan;
	for (uint32_t i = 0; i < MANY; i++)
		d[i] = datagram(1 + random_below(100), 2 + random_below(60000));
	for (uint32_t n = 0; n < 100000; n++) {
		const uint32_t i = random_below(MANY);

		fm_plan_remove(bed.reass, &d[i]);
		/* Twice is as good as once. */
		fm_plan_remove(bed.reass, &d[i]);
		assert_int_equal(d[i].bin, FM_NO_BIN);
		if (random_below(3) == 0)
			continue;
		d[i].mbufs_held = (uint16_t)(random_below(20) == 0 ? 1 + random_below(100) :
								      d[i].mbufs_held + random_below(50));
		if (d[i].mbufs_held > 64000)
			d[i].mbufs_held = 1;
		fm_plan_add(bed.reass, &d[i], (float)random_below(256) / 255);
		assert_true(d[i].bin < FM_BINS);
		assert_true(d[i].mbufs_expected > d[i].mbufs_held);
		if (n % 64 == 0)
			assert_totals(&bed, d, MANY);
	}
	assert_totals(&bed, d, MANY);
	for (uint32_t i = 0; i < MANY; i++)
		fm_plan_remove(bed.reass, &d[i]);
	for (int bin = 0; bin < FM_BINS; bin++)
		assert_true(p->bin[bin].count == 0 && p->bin[bin].held == 0 && p->bin[bin].wanted == 0);
	bed_fini(&bed);
}

/*
 * By the definition: all grow at the same pace, the newcomer `speed` times as fast. When the others have grown by `w`,
 * those that want less have gone, and each of the rest holds `w` more. What comes after its own completion is none of
 * its business.
 */
static double foretold(const struct fm_datagram *d, uint32_t n, double newcomer_chance, double newcomer_wants,
		       double speed)
{
	const double end = newcomer_wants / speed;
	double highest = 0, w = 0;

	for (;;) {
		double need = newcomer_chance * w * speed;

		for (uint32_t i = 0; i < n; i++)
			if (wants(&d[i]) >= w)
				need += d[i].weight / 255.0 * (d[i].mbufs_held + w);
		if (need > highest)
			highest = need;
		if (w == end)
			return highest;
		w = w + 1 < end ? w + 1 : end;
	}
}

/* What the plan says at a budget, with nothing else in the way: no pressure, nobody ahead. */
static bool accepts(struct bed *bed, float chance, uint32_t mbufs, uint32_t budget)
{
	struct fm_reass *r = bed->reass;
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);
	struct fm_source *s = inside_source(bed, &frag);
	const uint32_t before = r->settings.budget_mbufs;
	enum fm_outcome why = FM_OUTCOME_MAX;
	bool yes;

	r->plan.pressed = 0;
	s->service = fm_plan_mean(r);
	r->settings.budget_mbufs = budget;
	pretend_held(bed, 1);
	yes = fm_plan_accepts(r, s, chance, mbufs, bed->now, &why);
	pretend_held(bed, 0);
	r->settings.budget_mbufs = before;
	if (!yes)
		assert_int_equal(why, FM_REFUSED_BUDGET);
	return yes;
}

/* The lowest budget at which the plan says yes. */
static uint32_t least_budget(struct bed *bed, float chance, uint32_t mbufs)
{
	uint32_t low = 0, high = 1 << 20;

	assert_true(accepts(bed, chance, mbufs, high));
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (accepts(bed, chance, mbufs, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* How far need may exceed the budget is a matter of taste: find out, with a need that is beyond doubt. */
static double need_per_budget(struct bed *bed)
{
	struct fm_datagram d = datagram(60000, 60001);
	double ratio;

	fm_plan_add(bed->reass, &d, 1);
	ratio = 60000.0 / least_budget(bed, 1, 2);
	fm_plan_remove(bed->reass, &d);
	assert_true(ratio > 0.7 && ratio < 1.4);
	return ratio;
}

/*
 * Random sets of datagrams; those that want up to 7 more lie in bins of their own, so the forecast is exact;
 * `tolerance` is the width of the others.
 */
static void compare_forecasts(uint32_t wants_max, double tolerance, double speed)
{
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);
	static struct fm_datagram d[MANY];
	uint32_t compared = 0;
	double ratio;
	struct bed bed;

	bed_init(&bed);
	ratio = need_per_budget(&bed);
	bed.reass->sources.gap = GAP;
	inside_source(&bed, &frag)->gap = (float)(GAP / speed);
	for (uint32_t round = 0; round < 3000; round++) {
		const uint32_t n = random_below(round % 2 == 0 ? 5 : 40), newcomer = 1 + random_below(wants_max);
		const float unlikely = fm_unlikely(bed.reass);
		const float chance = unlikely + (float)random_below(100) / 100 * (1 - unlikely);
		double need, said;

		for (uint32_t i = 0; i < n; i++) {
			const uint32_t held = 100 + random_below(1000);

			d[i] = datagram(held, held + 1 + random_below(wants_max + 1));
			fm_plan_add(bed.reass, &d[i], (float)random_below(256) / 255);
		}
		need = foretold(d, n, chance, newcomer, speed);
		/* A newcomer wants no more than the budget; and what is little beside it is another matter. */
		if (need > 2 * newcomer && need > 200) {
			said = least_budget(&bed, chance, newcomer + 1) * ratio;
			if (fabs(said - need) > need * tolerance + 2)
				fail_msg("round %u: %u datagrams, newcomer wants %u: foretold %g, it is %g", round, n,
					 newcomer, said, need);
			compared++;
		}
		for (uint32_t i = 0; i < n; i++)
			fm_plan_remove(bed.reass, &d[i]);
	}
	assert_true(compared > 2000);
	bed_fini(&bed);
}

static void forecast_is_exact_for_small_ones(void **state)
{
	(void)state;
	compare_forecasts(7, 0.001, 1);
}

static void forecast_is_near_for_large_ones(void **state)
{
	(void)state;
	compare_forecasts(500, 0.2, 1);
}

/* A slow one sees more of the others' growth, a fast one less: they are none of its business when it has gone. */
static void forecast_of_the_fast_and_the_slow(void **state)
{
	static const double speeds[] = {0.5, 0.7, 2, 10};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(speeds); i++)
		compare_forecasts(7, 0.002, speeds[i]);
}

/* Others may need all there is and more, when the newcomer has long gone: it is as if they wanted no more than it. */
static void later_needs_are_none_of_its_business(void **state)
{
	static struct fm_datagram d[MANY];
	static const uint32_t others_want[] = {8, 100, 5000, 60000};
	uint32_t first = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < RTE_DIM(others_want); i++) {
		uint32_t least;

		for (uint32_t n = 0; n < 10; n++) {
			d[n] = datagram(50, 50 + 1 + others_want[i]);
			fm_plan_add(bed.reass, &d[n], 1);
		}
		least = least_budget(&bed, 1, 4);
		first = i == 0 ? least : first;
		assert_int_equal(least, first);
		/* But one that stays for longer sees them grow. */
		assert_true(least_budget(&bed, 1, 9) > least);
		for (uint32_t n = 0; n < 10; n++)
			fm_plan_remove(bed.reass, &d[n]);
	}
	bed_fini(&bed);
}

/* While most that ask are unlikely, some room is kept for strangers; not much, and only for so long. */
static void a_flood_of_strangers_gets_a_little_room(void **state)
{
	const struct fm_test_frag frag = inside_frag(SOURCE + 1, 1, 0, 2);
	struct fm_datagram d = datagram(60000, 60001);
	uint32_t quiet, flooded;
	enum fm_outcome why;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	fm_plan_add(bed.reass, &d, 1);
	quiet = least_budget(&bed, 1, 2);
	for (uint32_t i = 0; i < 5000; i++)
		assert_true(fm_plan_accepts(bed.reass, inside_source(&bed, &frag), 0.01F, 2, bed.now, &why));
	flooded = least_budget(&bed, 1, 2);
	assert_true(flooded > quiet && flooded < quiet + quiet / 3);
	for (uint32_t i = 0; i < 5000; i++)
		accepts(&bed, 1, 2, 1 << 20);
	assert_in_range(least_budget(&bed, 1, 2), quiet, quiet + quiet / 1000);
	fm_plan_remove(bed.reass, &d);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_never_drift),
		cmocka_unit_test(forecast_is_exact_for_small_ones),
		cmocka_unit_test(forecast_is_near_for_large_ones),
		cmocka_unit_test(forecast_of_the_fast_and_the_slow),
		cmocka_unit_test(later_needs_are_none_of_its_business),
		cmocka_unit_test(a_flood_of_strangers_gets_a_little_room),
	};

	return cmocka_run_group_tests_name("reassembly: plan", tests, NULL, NULL);
}
