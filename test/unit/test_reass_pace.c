/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may begin under pressure (plan.c): newcomers are paid for with memory times time, which is earned, saved and owed
 * within bounds. How much exactly is a matter of taste, and nothing here depends on it.
 */
#include <math.h>

#include "pace.h"

/* Credit grows with time and memory, by most of what there is of both and never by more. */
static void earns_what_memory_is_worth(void **state)
{
	static struct pace p;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	for (uint64_t time = 1; time < PACE_LIFETIME / 50; time++) {
		enum fm_outcome why;
		float earned;

		/* Of one that is not admitted: it wants more memory than there is. */
		p.r->plan.credit = -1e6F;
		p.r->plan.earned_tsc = p.bed.now;
		p.bed.now += time;
		p.r->plan.pressed = 1;
		assert_false(pace_ask(&p, pace_source(&p, 0), &why));
		earned = p.r->plan.credit + 1e6F;
		assert_true(earned <= (float)(PACE_BUDGET * time) && earned >= (float)(PACE_BUDGET * time) / 2);
	}
	pace_end(&p);
}

/* Exactly by what the newcomer is going to take. */
static void spends_the_area(void **state)
{
	static const float chances[] = {0.5F, 0.75F, 1};
	static struct pace p;
	enum fm_outcome why;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	for (uint32_t mbufs = 2; mbufs < 30; mbufs++)
		for (size_t i = 0; i < RTE_DIM(chances); i++) {
			const double cost = chances[i] * pace_area(mbufs - 1);
			struct fm_source *s = pace_source(&p, 0);

			p.r->plan.pressed = 0;
			p.r->plan.credit = 1000;
			p.r->plan.earned_tsc = p.bed.now;
			s->service = fm_plan_mean(p.r);
			/* With as little debt as this takes there is no bound in the way. */
			p.r->sources.size = 100;
			assert_true(fm_plan_accepts(p.r, s, chances[i], mbufs, p.bed.now, &why));
			assert_true(fabs(1000 - cost - (double)p.r->plan.credit) < 1 + cost / 500);
		}
	/* At its own pace if that is known. */
	pace_source(&p, 0)->gap = 3 * PACE_GAP;
	p.r->plan.credit = 1000;
	assert_true(pace_ask(&p, pace_source(&p, 0), &why));
	assert_true(fabs(1000 - 3 * pace_area(PACE_SIZE - 1) - (double)p.r->plan.credit) < pace_area(PACE_SIZE) / 100);
	pace_end(&p);
}

/* How many of the mean may begin at one moment, after so long a time. */
static uint32_t crowd(struct pace *p, uint64_t time)
{
	enum fm_outcome why;
	uint32_t n = 0;

	p->bed.now += time;
	for (;;) {
		p->r->plan.pressed = 1;
		pace_source(p, 0)->service = fm_plan_mean(p->r);
		if (!pace_ask(p, pace_source(p, 0), &why))
			break;
		assert_true(++n < 10000);
	}
	assert_int_equal(why, FM_REFUSED_BUDGET);
	return n;
}

/* However long nobody asked: what was saved lets in a few, not a crowd that grows together. */
static void what_is_saved_is_bounded(void **state)
{
	const double memory = PACE_BUDGET * (double)PACE_LIFETIME;
	static struct pace p;
	uint32_t n;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	n = crowd(&p, PACE_FOREVER);
	assert_true(n > 0);
	assert_true(n * pace_area(PACE_SIZE - 1) <= memory / 4);
	assert_int_equal(crowd(&p, PACE_FOREVER), n);
	assert_int_equal(crowd(&p, 1000 * (uint64_t)PACE_FOREVER), n);
	/* At least one datagram of the usual size, however small the memory. */
	p.r->settings.budget_mbufs = PACE_SIZE + 2;
	for (uint32_t i = 1; i < PACE_OTHERS; i++)
		fm_plan_remove(p.r, &p.others[i]);
	assert_true(crowd(&p, PACE_FOREVER) > 0);
	pace_end(&p);
}

/* However many were let in without credit, while nothing pressed: it is made up for in less than a lifetime or two. */
static void what_is_owed_is_bounded(void **state)
{
	static struct pace p;
	enum fm_outcome why;
	float owed = 0;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	for (uint32_t i = 0; i < 10000; i++) {
		p.r->plan.pressed = 0;
		pace_source(&p, 0)->service = fm_plan_mean(p.r);
		assert_true(pace_ask(&p, pace_source(&p, 0), &why));
		if (i == 5000)
			owed = p.r->plan.credit;
	}
	assert_true(owed < 0);
	assert_true(p.r->plan.credit == owed);
	assert_false(pace_ask_as(&p, 0, owed, 0, &why));
	assert_true(pace_ask_as(&p, 0, owed, 2 * PACE_LIFETIME, &why));
	pace_end(&p);
}

/* Refusals make pressure and acceptances take it away; only under it is credit asked for. */
static void credit_counts_under_pressure_only(void **state)
{
	static struct pace p;
	enum fm_outcome why;

	(void)state;
	for (uint32_t by_plan = 0; by_plan < 2; by_plan++) {
		pace_begin(&p, PACE_SIZE);
		p.r->plan.credit = 0;
		assert_true(pace_ask(&p, pace_source(&p, 0), &why));
		for (uint32_t i = 0; i < 200; i++) {
			if (!by_plan) {
				fm_plan_no_room(p.r, 1);
				continue;
			}
			p.r->settings.budget_mbufs = PACE_BUDGET / 2;
			assert_false(pace_ask(&p, pace_source(&p, 0), &why));
			assert_int_equal(why, FM_REFUSED_BUDGET);
		}
		p.r->settings.budget_mbufs = PACE_BUDGET;
		p.r->plan.credit = 0;
		assert_false(pace_ask(&p, pace_source(&p, 0), &why));
		/* With little in memory it is asked for by nobody, and in time nothing presses any more. */
		p.r->settings.budget_mbufs = PACE_BUDGET * 10;
		for (uint32_t i = 0; i < 2000; i++)
			assert_true(pace_ask(&p, pace_source(&p, 0), &why));
		p.r->settings.budget_mbufs = PACE_BUDGET;
		pace_source(&p, 0)->service = fm_plan_mean(p.r);
		p.r->plan.credit = 0;
		assert_true(pace_ask(&p, pace_source(&p, 0), &why));
		pace_end(&p);
	}
}

/* The forecast is above all that: neither credit nor a claim helps when there will be no room. */
static void nobody_is_let_in_beyond_the_forecast(void **state)
{
	static struct pace p;
	enum fm_outcome why;

	(void)state;
	pace_begin(&p, 2 * PACE_SIZE);
	for (int32_t ahead = -PACE_FURTHEST * PACE_SIZE; ahead <= PACE_FURTHEST * PACE_SIZE; ahead += PACE_SIZE) {
		assert_false(pace_ask_as(&p, ahead, 1e30F, PACE_FOREVER, &why));
		assert_int_equal(why, FM_REFUSED_BUDGET);
	}
	/* And there is no crowd at the end of it. */
	for (uint32_t i = 0; i < PACE_OTHERS; i++) {
		fm_plan_remove(p.r, &p.others[i]);
		p.others[i].mbufs_held = PACE_SIZE;
		p.others[i].mbufs_expected = PACE_SIZE + 1;
		fm_plan_add(p.r, &p.others[i], 1);
	}
	assert_true(crowd(&p, 0) <= 1);
	pace_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(earns_what_memory_is_worth),
		cmocka_unit_test(spends_the_area),
		cmocka_unit_test(what_is_saved_is_bounded),
		cmocka_unit_test(what_is_owed_is_bounded),
		cmocka_unit_test(credit_counts_under_pressure_only),
		cmocka_unit_test(nobody_is_let_in_beyond_the_forecast),
	};

	return cmocka_run_group_tests_name("reassembly: the pace", tests, NULL, NULL);
}
