/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose turn it is under pressure (plan.c): who has had more than others waits for more credit, who has had less for
 * less. What was had is counted modulo 2^32.
 */
#include "pace.h"

/* The more it has had the longer it waits; who is furthest behind does not wait at all; nobody waits for ever. */
static void who_is_ahead_waits_longer(void **state)
{
	static struct pace p;
	uint64_t last = 0;
	enum fm_outcome why;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	assert_int_equal(pace_waits(&p, -PACE_FURTHEST * PACE_SIZE), 0);
	for (int32_t ahead = -PACE_FURTHEST * PACE_SIZE; ahead <= PACE_FURTHEST * PACE_SIZE; ahead++) {
		const uint64_t now = pace_waits(&p, ahead);

		assert_true(now >= last);
		last = now;
	}
	assert_true(pace_waits(&p, 0) > 0 && pace_waits(&p, PACE_FURTHEST * PACE_SIZE) > pace_waits(&p, 0));
	/* Even on credit; but who is level waits for all of it. */
	assert_true(pace_ask_as(&p, -PACE_FURTHEST * PACE_SIZE, -1, 0, &why));
	assert_false(pace_ask_as(&p, 0, -1, 0, &why));
	pace_end(&p);
}

/* Two sources that ask in turn, one of them nine times as often, for so many rounds; who gets how many. */
static void compete(struct pace *p, uint32_t rounds, uint32_t got[2])
{
	enum fm_outcome why;

	got[0] = got[1] = 0;
	p->r->plan.credit = 0;
	p->r->plan.pressed = 1;
	for (uint32_t i = 0; i < rounds; i++) {
		const uint32_t who = i % 10 == 9;
		struct fm_source *s = pace_source(p, who);

		/* Room for one in five. */
		p->bed.now += (uint64_t)(pace_area(PACE_SIZE - 1) / PACE_BUDGET / 5);
		if (!pace_ask(p, s, &why))
			continue;
		s->service += PACE_SIZE;
		got[who]++;
	}
}

/* Who asks for less than its share gets it, nearly; who asks for all gets what is left, all of it. */
static void the_modest_get_what_they_ask_for(void **state)
{
	enum { ROUNDS = 20000 };
	static struct pace p;
	uint32_t got[2];

	(void)state;
	pace_begin(&p, PACE_SIZE);
	compete(&p, ROUNDS, got);
	assert_in_range(got[1], ROUNDS / 10 * 8 / 10, ROUNDS / 10);
	assert_in_range(got[0] + got[1], ROUNDS / 5 * 7 / 10, ROUNDS / 5 * 11 / 10);
	pace_end(&p);
}

static const uint32_t means[] = {1000, 0x7fffffff, 0x80000000, UINT32_MAX, UINT32_MAX - 5, UINT32_MAX - 100, 0, 3};

/* Nothing changes where the count of service begins anew: for nobody, whether ahead or behind. */
static void service_may_wrap(void **state)
{
	static struct pace p;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	for (int32_t ahead = -PACE_FURTHEST * PACE_SIZE; ahead <= PACE_FURTHEST * PACE_SIZE; ahead += 3) {
		uint64_t first = 0;

		for (size_t i = 0; i < RTE_DIM(means); i++) {
			inside_set_mean(&p.bed, means[i]);
			first = i == 0 ? pace_waits(&p, ahead) : first;
			assert_int_equal(pace_waits(&p, ahead), first);
		}
	}
	pace_end(&p);
}

/* And when it is the mean that gets there, by itself. */
static void service_wraps_under_way(void **state)
{
	static struct pace p;
	uint32_t got[RTE_DIM(means)][2];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(means); i++) {
		pace_begin(&p, PACE_SIZE);
		inside_set_mean(&p.bed, means[i]);
		compete(&p, 20000, got[i]);
		/* Both have got further than to the end of the count. */
		assert_true(pace_source(&p, 0)->service - means[i] > 1000);
		assert_true(pace_source(&p, 1)->service - means[i] > 1000);
		assert_memory_equal(got[i], got[0], sizeof(got[0]));
		pace_end(&p);
	}
}

/* Neither a long absence nor a time alone takes anybody further than so far from the others. */
static void nobody_is_far_from_the_others(void **state)
{
	static const int32_t distances[] = {1000 * PACE_SIZE, 1000000, 0x7fff0000};
	static struct pace p;
	enum fm_outcome why;
	int32_t limit = 0;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	for (size_t i = 0; i < RTE_DIM(means); i++)
		for (size_t j = 0; j < 2 * RTE_DIM(distances); j++) {
			const int32_t sign = j & 1 ? -1 : 1;
			struct fm_source *s = pace_source(&p, 0);
			int32_t ahead;

			inside_set_mean(&p.bed, means[i]);
			s->service = means[i] + (uint32_t)(sign * distances[j / 2]);
			pace_ask(&p, s, &why);
			ahead = sign * (int32_t)(s->service - fm_plan_mean(p.r));
			limit = limit == 0 ? ahead : limit;
			assert_int_equal(ahead, limit);
		}
	assert_in_range(limit, 2 * PACE_SIZE, 200 * PACE_SIZE);
	pace_end(&p);
}

/* Who had all for himself, with nothing in memory, did so at nobody's expense. */
static void alone_is_not_far_ahead(void **state)
{
	static struct pace p;
	struct fm_source *s;
	enum fm_outcome why;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	p.r->stats.held_mbufs = 0;
	s = pace_source(&p, 0);
	for (uint32_t i = 0; i < 100000; i++) {
		assert_true(pace_ask(&p, s, &why));
		s->service += PACE_SIZE;
		assert_true((int32_t)(s->service - fm_plan_mean(p.r)) <= 200 * PACE_SIZE);
		assert_true((int32_t)(s->service - fm_plan_mean(p.r)) > 0);
	}
	pace_end(&p);
}

/* Memory is taken for a time: who is slow has had more with the same, if not without end; nobody has it for nothing. */
static void the_slow_have_had_more(void **state)
{
	static struct pace p;
	struct fm_source *s;
	uint32_t last = 0;

	(void)state;
	pace_begin(&p, PACE_SIZE);
	s = pace_source(&p, 0);
	p.r->sources.gap = 1000000;
	for (float gap = 1; gap < 1e12F; gap *= 1.5F) {
		uint32_t had;

		s->gap = gap;
		s->service = UINT32_MAX;
		fm_plan_charge(p.r, s, 100);
		had = s->service - UINT32_MAX;
		assert_true(had >= 1 && had >= last);
		last = had;
	}
	assert_in_range(last, 200, 10000);
	/* As fast as all, or not known to be anything else. */
	for (s->gap = 1000000;; s->gap = 0) {
		s->service = 5;
		fm_plan_charge(p.r, s, 100);
		assert_in_range(s->service, 5 + 99, 5 + 100);
		if (s->gap == 0)
			break;
	}
	pace_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_ahead_waits_longer),
		cmocka_unit_test(the_modest_get_what_they_ask_for),
		cmocka_unit_test(service_may_wrap),
		cmocka_unit_test(service_wraps_under_way),
		cmocka_unit_test(nobody_is_far_from_the_others),
		cmocka_unit_test(alone_is_not_far_ahead),
		cmocka_unit_test(the_slow_have_had_more),
	};

	return cmocka_run_group_tests_name("reassembly: the share", tests, NULL, NULL);
}
