/* SPDX-License-Identifier: BSD-3-Clause */
/* How likely a datagram is to complete (chance.c): by its source's record, its progress, and its silence. */
#include <math.h>

#include "inside.h"

enum { SOURCE = 0x0a000001, NOW = BED_START, GAP = 1000 };

/* One datagram, and what is known of its source and of all: made by hand. */
struct past {
	struct bed bed;
	struct fm_reass *r;
	struct fm_source *s;
	struct fm_datagram d;
};

static void begin(struct past *p)
{
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);

	bed_init(&p->bed);
	p->r = p->bed.reass;
	p->s = inside_source(&p->bed, &frag);
	p->d = (struct fm_datagram){
		.source = (uint32_t)(p->s - p->r->sources.record),
		.source_check = p->s->check,
		.mbufs_held = 1,
		.fragments = 1,
		.mbufs_expected = 10,
		.last_seen_tsc = NOW,
	};
	p->s->begun = p->s->grown = 15;
	p->s->second = p->s->rest = FM_CHANCE_ONE / 2;
	p->s->gap = GAP;
	p->s->gap_deviation = GAP;
	p->r->sources.gap = GAP;
	p->r->sources.gap_deviation = GAP;
}

static void set_strangers(struct past *p, float second, float go_on)
{
	struct fm_sources *s = &p->r->sources;

	for (int i = FM_STEPS - 1; i >= 0; i--) {
		s->go_on[i] = i == 1 ? second : go_on;
		s->reach[i] = s->go_on[i] * s->reach[i + 1];
	}
}

/* Count through all combinations: the next digit of *n. */
static uint32_t pick(uint32_t *n, uint32_t choices)
{
	const uint32_t digit = *n % choices;

	*n /= choices;
	return digit;
}

static const uint16_t rates[] = {0, 1, FM_CHANCE_ONE / 3, FM_CHANCE_ONE - 1, FM_CHANCE_ONE};
static const float shares[] = {0, 0.002F, 0.5F, 0.999999F, 1}, times[] = {0, 0.5F, 20, 1e4F, 1e12F};
static const float goes_on[] = {1, 0.9F, 0.3F, 0.002F};
static const uint16_t held[] = {1, 2, 3, 100, 65000}, expected[] = {2, 10, 65535};
static const uint8_t marks[] = {
	0, FM_MARK_STRANGER, FM_MARK_HEADLESS, FM_MARK_GAPPY, FM_MARK_TRIAL, FM_MARK_HEADLESS | FM_MARK_GAPPY,
	FM_MARK_GAPPY | FM_MARK_TRIAL, FM_MARK_HEADLESS | FM_MARK_GAPPY | FM_MARK_TRIAL,
};

/* Any past there can be, by number. */
static void set_past(struct past *p, uint32_t n)
{
	struct fm_sources *all = &p->r->sources;

	p->d.mbufs_held = held[pick(&n, RTE_DIM(held))];
	p->d.fragments = p->d.mbufs_held == 1 || n % 13 == 0 ? 1 : p->d.mbufs_held;
	p->d.marks = marks[pick(&n, RTE_DIM(marks))];
	p->s->gap = times[pick(&n, RTE_DIM(times))];
	p->s->gap_deviation = times[pick(&n, RTE_DIM(times))];
	p->s->second = rates[pick(&n, RTE_DIM(rates))];
	p->s->rest = rates[pick(&n, RTE_DIM(rates))];
	p->s->begun = pick(&n, 2) ? 15 : 0;
	p->s->grown = pick(&n, 2);
	set_strangers(p, shares[pick(&n, RTE_DIM(shares))], goes_on[n % RTE_DIM(goes_on)]);
	p->d.mbufs_expected = expected[n % RTE_DIM(expected)];
	all->gap = times[n % RTE_DIM(times)];
	all->gap_deviation = times[n / 2 % RTE_DIM(times)];
	all->headless = shares[n / 3 % RTE_DIM(shares)];
	all->gappy = shares[n / 5 % RTE_DIM(shares)];
	all->typical = shares[n / 7 % RTE_DIM(shares)];
	p->d.source_check = (uint16_t)(p->s->check + (n % 11 == 0));
}

static void assert_falls_with_silence(const struct past *p, uint32_t number)
{
	const float at_first = fm_chance_with(p->r, &p->d, p->d.mbufs_held, p->d.fragments);
	float before = at_first, alive_before = 1;

	if (!(at_first >= 0 && at_first <= 1))
		fail_msg("past %u: chance %g", number, (double)at_first);
	/* A clock that went back a little is no silence. */
	assert_true(fm_chance_now(p->r, &p->d, NOW - 1) == at_first);
	assert_true(fm_chance_now(p->r, &p->d, NOW) == at_first);
	for (uint64_t silence = 1; silence < 1ULL << 62; silence += silence / 3 + 1) {
		const float alive = fm_chance_alive(p->r, &p->d, NOW + silence);
		const float now = fm_chance_now(p->r, &p->d, NOW + silence);

		/* Falls, give or take a rounding; and is never more than without silence, not by a rounding. */
		if (!(alive >= 0 && alive <= alive_before + 1e-6F && now >= 0 && now <= before + 1e-6F &&
		      alive <= 1 && now <= at_first))
			fail_msg("past %u: %.9g alive, chance %.9g of %.9g after %llu tsc", number, (double)alive,
				 (double)now, (double)at_first, (unsigned long long)silence);
		before = fminf(before, now);
		alive_before = fminf(alive_before, alive);
	}
}

/* Whatever is known, true or not: chances are chances, silence is no good sign, and no certainty outlives it. */
static void silence_never_raises_a_chance(void **state)
{
	static struct past p;

	(void)state;
	begin(&p);
	/* A prime, so that combinations come in no order. */
	for (uint32_t i = 0; i < 100000; i++) {
		set_past(&p, i * 7919);
		assert_falls_with_silence(&p, i * 7919);
	}
	bed_fini(&p.bed);
}

static void nobody_outlives_any_silence(void **state)
{
	static struct past p;

	(void)state;
	begin(&p);
	for (size_t i = 0; i < RTE_DIM(rates); i++)
		for (size_t j = 0; j < RTE_DIM(held); j++) {
			p.s->second = p.s->rest = rates[i];
			p.d.mbufs_held = p.d.fragments = held[j];
			assert_true(fm_chance_alive(p.r, &p.d, NOW + 100 * GAP) < 0.001F);
		}
	bed_fini(&p.bed);
}

/* Progress is no bad sign: of strangers, of the known, and of those known for anything. */
static void progress_never_lowers_a_chance(void **state)
{
	static struct past p;

	(void)state;
	begin(&p);
	for (uint32_t n = 0; n < 100000; n++) {
		/* The first fragment may be of several mbufs. */
		const uint32_t several = n % 3 == 0 ? 20 : 2;
		float before = 0;

		set_past(&p, n * 7919);
		for (uint32_t mbufs = 1; mbufs <= 65000; mbufs += mbufs / 2 + 1) {
			const uint32_t fragments = mbufs < several ? 1 : 2;
			const float now = fm_chance_with(p.r, &p.d, mbufs, fragments);

			if (!(now >= before - 1e-6F))
				fail_msg("past %u: %g with %u mbufs, %g before", n * 7919, (double)now, mbufs,
					 (double)before);
			before = now;
		}
	}
	bed_fini(&p.bed);
}

/* By Bayes. One whose gaps vary as much as they last may be silent for as long again, whatever time has gone by. */
static void silence_of_random_gaps(void **state)
{
	static struct past p;

	(void)state;
	begin(&p);
	p.s->gap_deviation = 2 * GAP;
	for (uint16_t second = 1000; second < 65000; second += 1000)
		for (uint64_t silence = 0; silence < 15 * GAP; silence += GAP / 10) {
			const double dead = 1 - (double)second / FM_CHANCE_ONE;
			const double alive = exp(-(double)silence / GAP);
			const double now = alive / ((1 - dead) * alive + dead);

			p.s->second = second;
			assert_true(fabs(now - (double)fm_chance_alive(p.r, &p.d, NOW + silence)) < 5e-3);
		}
	bed_fini(&p.bed);
}

/* One whose gaps are all alike is above suspicion for most of a gap, and beyond hope soon after. */
static void silence_of_regular_gaps(void **state)
{
	static struct past p;
	float random;

	(void)state;
	begin(&p);
	random = fm_chance_alive(p.r, &p.d, NOW + 2 * GAP);
	p.s->gap_deviation = 0;
	for (uint64_t silence = 0; silence < GAP / 2; silence++)
		assert_true(fm_chance_alive(p.r, &p.d, NOW + silence) == 1);
	assert_true(fm_chance_alive(p.r, &p.d, NOW + 2 * GAP) < random / 10);
	/* The more regular, the sooner. */
	for (uint32_t deviation = 0; deviation < GAP; deviation += 10) {
		const float before = fm_chance_alive(p.r, &p.d, NOW + 2 * GAP);

		p.s->gap_deviation = (float)deviation;
		assert_true(fm_chance_alive(p.r, &p.d, NOW + 2 * GAP) >= before);
	}
	/* What is known of the source comes before what is known of all. */
	p.r->sources.gap = 100 * GAP;
	assert_true(fm_chance_alive(p.r, &p.d, NOW + 20 * GAP) < 0.01F);
	p.s->gap = 0;
	assert_true(fm_chance_alive(p.r, &p.d, NOW + 20 * GAP) > 0.5F);
	bed_fini(&p.bed);
}

/* Who mostly goes on is given more time; and who has more to come has lost less with each that came. */
static void silence_is_forgiven_to_the_reliable(void **state)
{
	static struct past p;
	float before = 0;

	(void)state;
	begin(&p);
	for (uint16_t second = 1000; second < 65000; second += 1000) {
		p.s->second = second;
		assert_true(fm_chance_alive(p.r, &p.d, NOW + GAP) > before);
		before = fm_chance_alive(p.r, &p.d, NOW + GAP);
	}
	/* It is the second fragment that matters, whatever the mbufs of the first. */
	before = 0;
	p.d.mbufs_held = 5;
	for (uint16_t second = 1000; second < 65000; second += 1000) {
		p.s->second = second;
		assert_true(fm_chance_alive(p.r, &p.d, NOW + GAP) > before);
		before = fm_chance_alive(p.r, &p.d, NOW + GAP);
	}
	p.s->rest = 0;
	assert_true(fm_chance_alive(p.r, &p.d, NOW + GAP) == before);
	p.s->rest = FM_CHANCE_ONE / 2;
	p.d.mbufs_held = p.d.fragments = 10;
	before = 0;
	for (p.d.mbufs_expected = 11; p.d.mbufs_expected < 100; p.d.mbufs_expected++) {
		assert_true(fm_chance_alive(p.r, &p.d, NOW + GAP) >= before);
		before = fm_chance_alive(p.r, &p.d, NOW + GAP);
	}
	p.d.mbufs_expected = 11;
	assert_true(fm_chance_alive(p.r, &p.d, NOW + GAP) < before);
	bed_fini(&p.bed);
}

/* Unlikely is what is far less likely than those that complete were: in a network of losses, nothing is. */
static void unlikely_is_relative(void **state)
{
	static struct past p;
	float of_one;

	(void)state;
	begin(&p);
	p.r->sources.typical = 1;
	of_one = fm_unlikely(p.r);
	assert_true(of_one > 0 && of_one < 1);
	for (float typical = 0; typical <= 1; typical += 0.05F) {
		p.r->sources.typical = typical;
		assert_true(fabsf(fm_unlikely(p.r) - typical * of_one) < 1e-6F);
	}
	bed_fini(&p.bed);
}

/* Typical is what those had that complete, when they began; what fails has no say. */
static void typical_is_who_completes(void **state)
{
	enum { LOSSY = 3 };
	float before;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 200; i++)
		inside_complete(&bed, SOURCE, i, 4, 1);
	before = bed.reass->sources.typical;
	assert_true(before > 0.9F);
	for (uint32_t i = 0; i < 200; i++)
		inside_fail(&bed, SOURCE + 1, i, 2);
	assert_true(bed.reass->sources.typical == before);
	/* One in four completes, whoever sends: that is what is usual then, and no reason for anything. */
	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t source = SOURCE + i % 5;

		if (i / 5 % (LOSSY + 1) == 0)
			inside_complete(&bed, source, i, 4, 1);
		else
			inside_fail(&bed, source, i, 2);
	}
	assert_in_range((int)(bed.reass->sources.typical * 100), 10, 45);
	inside_send(&bed, SOURCE, 1, 0, 4);
	assert_in_range(fm_entry(bed.reass, bed.reass->age[FM_IPV4].head)->list, FM_LIST_LIKELY, FM_WARM_LISTS - 1);
	/* And again, when most complete. */
	bed_clear(&bed);
	fm_reass_flush(bed.reass);
	for (uint32_t i = 0; i < 500; i++)
		inside_complete(&bed, SOURCE + 1 + i % 4, i, 4, 1);
	inside_send(&bed, SOURCE, 1, 0, 4);
	assert_true(bed.reass->sources.typical > 0.8F);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(silence_never_raises_a_chance),
		cmocka_unit_test(nobody_outlives_any_silence),
		cmocka_unit_test(progress_never_lowers_a_chance),
		cmocka_unit_test(silence_of_random_gaps),
		cmocka_unit_test(silence_of_regular_gaps),
		cmocka_unit_test(silence_is_forgiven_to_the_reliable),
		cmocka_unit_test(unlikely_is_relative),
		cmocka_unit_test(typical_is_who_completes),
	};

	return cmocka_run_group_tests_name("reassembly: chances", tests, NULL, NULL);
}
