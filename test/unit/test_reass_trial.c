/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Beside the pace (plan.c): whom it never refuses, what is given back to those who were promised too much, and how a
 * source of ill repute may show that it has changed.
 */
#include <math.h>

#include "inside.h"

enum { MANY = 200, SOURCE = 0x0a000001, BAD = 0x0a000100, SIZE = 10, GAP = 1000, FURTHEST = 8 };

static struct fm_datagram datagram(uint32_t held, uint32_t expected)
{
	return (struct fm_datagram){
		.mbufs_held = (uint16_t)held,
		.mbufs_expected = (uint16_t)expected,
		.bin = FM_NO_BIN,
	};
}

/* The datagrams here hold nothing that the table knows of: tell it. */
static void pretend_held(struct bed *bed, uint32_t mbufs)
{
	bed->reass->stats.held_mbufs = mbufs;
}

static struct fm_source *source(const struct bed *bed)
{
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);

	return inside_source(bed, &frag);
}

/* What the table believes, from one extreme to the other. */
struct belief {
	float size, source_size, gap, credit, pressed, doubtful, chance;
	uint32_t service, mean_service;
};

static void believe(struct bed *bed, struct fm_source *s, const struct belief *b)
{
	bed->reass->sources.size = b->size;
	bed->reass->sources.gap = b->gap;
	inside_set_mean(bed, b->mean_service);
	bed->reass->plan.credit = b->credit;
	bed->reass->plan.pressed = b->pressed;
	bed->reass->plan.doubtful = b->doubtful;
	s->begun = s->grown = 1;
	s->second = (uint16_t)(b->chance * FM_CHANCE_ONE);
	s->rest = FM_CHANCE_ONE;
	s->size = b->source_size;
	s->service = b->service;
}

/* Count through all combinations: the next digit of *n. */
static uint32_t pick(uint32_t *n, uint32_t choices)
{
	const uint32_t digit = *n % choices;

	*n /= choices;
	return digit;
}

static void believe_number(struct bed *bed, struct fm_source *s, uint32_t n)
{
	static const float sizes[] = {0, 2, 45, 65535}, gaps[] = {0, 1e6F}, credits[] = {-1e15F, 0, 1e15F};
	static const float shares[] = {0, 1}, chances[] = {0, 0.29F, 0.5F, 1};
	static const uint32_t services[] = {0, 10, 0x7fffffff, 0x80000000, UINT32_MAX}, budgets[] = {1, 2, 3, 64, 1024};
	struct belief b;

	b.size = sizes[pick(&n, RTE_DIM(sizes))];
	b.source_size = sizes[pick(&n, RTE_DIM(sizes))];
	b.gap = gaps[pick(&n, RTE_DIM(gaps))];
	b.credit = credits[pick(&n, RTE_DIM(credits))];
	b.pressed = shares[pick(&n, RTE_DIM(shares))];
	b.doubtful = shares[pick(&n, RTE_DIM(shares))];
	b.chance = chances[pick(&n, RTE_DIM(chances))];
	b.service = services[pick(&n, RTE_DIM(services))];
	b.mean_service = services[pick(&n, RTE_DIM(services))];
	bed->reass->settings.budget_mbufs = budgets[pick(&n, RTE_DIM(budgets))];
	believe(bed, s, &b);
}

static enum fm_admission admit(struct bed *bed, struct fm_source *s, bool headless, bool trial, enum fm_outcome *why)
{
	struct fm_ask ask = { .source = s, .headless = headless, .trial = trial };

	return fm_admit_new(bed->reass, &ask, 1, bed->now, why);
}

/* Nothing is refused while memory is empty, whatever has been learned. */
static void nobody_is_refused_by_an_empty_memory(void **state)
{
	enum { ALL = 4 * 4 * 2 * 3 * 2 * 2 * 4 * 5 * 5 * 5 };
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);
	struct fm_source *s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	s = inside_source(&bed, &frag);
	for (uint32_t i = 0; i < 4 * ALL; i++) {
		enum fm_outcome why = FM_OUTCOME_MAX;

		believe_number(&bed, s, i / 4);
		if (admit(&bed, s, i & 1, i & 2, &why) != FM_ADMIT)
			fail_msg("%s: number %u, size %g, of the source %g, service %u of %u, budget %u",
				 fm_outcome_info[why].name, i, (double)bed.reass->sources.size, (double)s->size,
				 s->service, fm_plan_mean(bed.reass), bed.reass->settings.budget_mbufs);
	}
	bed.reass->settings = bed.params.settings;
	bed_fini(&bed);
}

/* Those who are unlikely take what nobody else wants: the plan does not count them, and does not refuse them. */
static void the_unlikely_are_never_refused(void **state)
{
	const struct fm_test_frag frag = inside_frag(SOURCE, 1, 0, 2);
	static struct fm_datagram d[MANY];
	enum fm_outcome why;
	struct fm_source *s;
	struct fm_plan before;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	s = inside_source(&bed, &frag);
	for (uint32_t i = 0; i < MANY; i++) {
		d[i] = datagram(30, 100);
		fm_plan_add(bed.reass, &d[i], 1);
	}
	pretend_held(&bed, MANY * 30);
	assert_false(fm_plan_accepts(bed.reass, s, 1, 100, bed.now, &why));
	before = bed.reass->plan;
	for (uint32_t i = 0; i < 1000; i++) {
		const float chance = fm_unlikely(bed.reass) * 0.999F * (float)i / 1000;

		s->service = i * 0x12345678;
		assert_true(fm_plan_accepts(bed.reass, s, chance, 2 + i, bed.now, &why));
		assert_int_equal(s->service, i * 0x12345678);
	}
	/* They cost nothing, press nobody and move no mean; that they ask is all that is noted. */
	before.doubtful = bed.reass->plan.doubtful;
	assert_memory_equal(&before, &bed.reass->plan, sizeof(before));
	s->service = 0;
	assert_false(fm_plan_accepts(bed.reass, s, 1, 100, bed.now, &why));
	pretend_held(&bed, 0);
	for (uint32_t i = 0; i < MANY; i++)
		fm_plan_remove(bed.reass, &d[i]);
	bed_fini(&bed);
}

/* Memory times time of a datagram that comes to hold `n`. */
static double area(uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 1; i <= n; i++)
		sum += i * (double)GAP;
	return sum;
}

/* Evicted though it was promised room: what it has not used is given back, and nothing to those promised nothing. */
static void what_was_not_used_is_given_back(void **state)
{
	struct fm_source *s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed.reass->sources.gap = GAP;
	s = source(&bed);
	for (uint32_t held = 1; held < 40; held++)
		for (uint32_t expected = held + 1; expected < 60; expected++) {
			struct fm_datagram d = datagram(held, expected);
			const double unused = area(expected - 1) - area(held);

			d.source = (uint32_t)(s - bed.reass->sources.record);
			d.source_check = s->check;
			d.marks = FM_MARK_CHARGED;
			s->service = 5;
			bed.reass->plan.credit = 1000;
			/* Unlikely: no part of the plan. */
			fm_plan_refund(bed.reass, &d);
			assert_true(bed.reass->plan.credit == 1000);
			assert_int_equal(s->service, 5);
			fm_plan_add(bed.reass, &d, 0.8F);
			/* Its source is gone. */
			d.source_check++;
			fm_plan_refund(bed.reass, &d);
			assert_true(bed.reass->plan.credit == 1000);
			assert_int_equal(s->service, 5);
			d.source_check--;
			/* Its source was never charged: it began when there was enough for everybody. */
			d.marks = 0;
			fm_plan_refund(bed.reass, &d);
			assert_true(bed.reass->plan.credit == 1000);
			assert_int_equal(s->service, 5);
			d.marks = FM_MARK_CHARGED;
			fm_plan_refund(bed.reass, &d);
			assert_true(fabs(1000 + 0.8 * unused - (double)bed.reass->plan.credit) <= 1 + unused / 500);
			/* Below zero too. */
			assert_int_equal(s->service, (uint32_t)(5 - (int)(expected - 1 - held)));
			fm_plan_remove(bed.reass, &d);
		}
	bed_fini(&bed);
}

/* Only of a known source, with nothing in memory, that has had far less than others: wherever the count stands. */
static void who_may_be_tried(void **state)
{
	static const uint32_t means[] = {1000, 0x7fffffff, 0x80000000, UINT32_MAX, 5};
	struct fm_source *s;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed.reass->sources.size = SIZE;
	s = source(&bed);
	for (size_t i = 0; i < RTE_DIM(means); i++) {
		bool last = true;

		inside_set_mean(&bed, means[i]);
		for (int32_t ahead = -FURTHEST * SIZE; ahead <= FURTHEST * SIZE; ahead++) {
			bool now;

			s->service = means[i] + (uint32_t)ahead;
			s->begun = 1;
			now = fm_plan_trial(bed.reass, s);
			/* Once far enough behind, always so. */
			assert_true(last || !now);
			if (ahead == -FURTHEST * SIZE)
				assert_true(now);
			if (ahead >= 0)
				assert_false(now);
			s->held_mbufs = 1;
			assert_false(fm_plan_trial(bed.reass, s));
			s->held_mbufs = 0;
			s->begun = 0;
			assert_false(fm_plan_trial(bed.reass, s));
			last = now;
		}
	}
	bed_fini(&bed);
}

/* A trial is taken for as likely as those that complete, and makes those give way that are as its record is. */
static void a_trial_is_taken_for_likely(void **state)
{
	enum { ROOM = 6 };
	const struct fm_test_frag bad = inside_frag(BAD, 1, 0, 2);
	struct fm_reass_params params = bed_params();
	enum fm_outcome why;
	struct fm_source *s;
	uint32_t service;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = ROOM;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 60; i++) {
		inside_fail(&bed, BAD, i, 1);
		inside_fail(&bed, BAD + 1, i, 1);
	}
	/* They get what nobody else wants, which costs them nothing. */
	service = inside_record(&bed, BAD + 1).service;
	for (uint32_t i = 0; i < ROOM; i++)
		inside_send(&bed, BAD + 1, 100 + i, 0, 3);
	assert_int_equal(bed_held(&bed), ROOM);
	assert_int_equal(inside_record(&bed, BAD + 1).service, service);
	s = inside_source(&bed, &bad);
	service = s->service;
	assert_true(fm_chance_new(bed.reass, s, false) < fm_unlikely(bed.reass));
	assert_int_equal(admit(&bed, s, false, false, &why), FM_REFUSE);
	assert_int_equal(admit(&bed, s, false, true, &why), FM_ADMIT);
	fm_drop_flush(bed.reass);
	assert_int_not_equal(s->service, service);
	assert_int_equal(bed_held(&bed), ROOM - 1);
	assert_int_equal(bed_count(&bed, FM_EVICTED_UNLIKELY), 1);
	bed_fini(&bed);
}

enum { CROWD = 8, PIECES = 6 };

/* All send on, a fragment each in turn, and nothing is lost; how many of the source's datagrams complete? */
static uint32_t send_on(struct bed *bed, uint32_t of, uint32_t rounds)
{
	uint32_t completed = 0;

	for (uint32_t i = 0; i < rounds; i++) {
		for (uint32_t who = 0; who < 2 * CROWD; who++) {
			/* Each is at another piece. */
			const uint32_t at = i + who * 7;
			const uint32_t from = who == 0 ? of : SOURCE + who;

			bed->now += 3;
			inside_send(bed, from, at / PIECES & 0x7fff, at % PIECES, PIECES);
			completed += bed->n_done == 1 && from == of;
			bed_clear(bed);
		}
		fm_reass_expire(bed->reass, bed->now, BED_ALL);
	}
	return completed;
}

/* With memory full of likely ones all the time, a source that used to fail still can show that it has changed. */
static void who_has_changed_is_found_out(void **state)
{
	const struct fm_test_frag bad = inside_frag(BAD, 1, 0, 2);
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = CROWD * PIECES / 2;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 60; i++)
		inside_fail(&bed, BAD, i, 1);
	send_on(&bed, SOURCE, 300);
	assert_true(fm_chance_new(bed.reass, inside_source(&bed, &bad), false) < fm_unlikely(bed.reass));
	assert_true(send_on(&bed, BAD, 3000) > 20);
	assert_true(fm_chance_new(bed.reass, inside_source(&bed, &bad), false) > fm_unlikely(bed.reass));
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_refused_by_an_empty_memory),
		cmocka_unit_test(the_unlikely_are_never_refused),
		cmocka_unit_test(what_was_not_used_is_given_back),
		cmocka_unit_test(who_may_be_tried),
		cmocka_unit_test(a_trial_is_taken_for_likely),
		cmocka_unit_test(who_has_changed_is_found_out),
	};

	return cmocka_run_group_tests_name("reassembly: whom the plan favours", tests, NULL, NULL);
}
