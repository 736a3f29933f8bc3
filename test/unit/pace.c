/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

double pace_area(uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 1; i <= n; i++)
		sum += i * (double)PACE_GAP;
	return sum;
}

void pace_begin(struct pace *p, uint32_t held)
{
	bed_init(&p->bed);
	p->r = p->bed.reass;
	p->r->settings.budget_mbufs = PACE_BUDGET;
	p->r->sources.size = PACE_SIZE;
	p->r->sources.gap = PACE_GAP;
	p->r->plan.earned_tsc = p->bed.now;
	for (uint32_t i = 0; i < PACE_OTHERS; i++) {
		p->others[i] = (struct fm_datagram){
			.mbufs_held = (uint16_t)held, .mbufs_expected = (uint16_t)(held + 1), .bin = FM_NO_BIN,
		};
		fm_plan_add(p->r, &p->others[i], 1);
	}
	p->r->stats.held_mbufs = PACE_OTHERS * held;
}

void pace_end(struct pace *p)
{
	for (uint32_t i = 0; i < PACE_OTHERS; i++)
		fm_plan_remove(p->r, &p->others[i]);
	p->r->stats.held_mbufs = 0;
	p->r->settings = p->bed.params.settings;
	bed_fini(&p->bed);
}

struct fm_source *pace_source(const struct pace *p, uint32_t number)
{
	const struct fm_test_frag frag = inside_frag(PACE_SOURCE + number, 1, 0, 2);

	return inside_source(&p->bed, &frag);
}

bool pace_ask(struct pace *p, struct fm_source *s, enum fm_outcome *why)
{
	*why = FM_OUTCOME_MAX;
	return fm_plan_accepts(p->r, s, 1, PACE_SIZE, p->bed.now, why);
}

bool pace_ask_as(struct pace *p, int32_t ahead, float credit, uint64_t later, enum fm_outcome *why)
{
	struct fm_source *s = pace_source(p, 0);
	const uint64_t mean = p->r->plan.mean_service;
	bool yes;

	s->service = fm_plan_mean(p->r) + (uint32_t)ahead;
	p->r->plan.credit = credit;
	p->r->plan.pressed = 1;
	p->r->plan.earned_tsc = p->bed.now;
	p->bed.now += later;
	yes = pace_ask(p, s, why);
	p->r->plan.mean_service = mean;
	return yes;
}

uint64_t pace_waits(struct pace *p, int32_t ahead)
{
	enum fm_outcome why;
	uint64_t low = 0, high = PACE_FOREVER;

	if (pace_ask_as(p, ahead, 0, 0, &why))
		return 0;
	assert_int_equal(why, ahead > 0 ? FM_REFUSED_SHARE : FM_REFUSED_BUDGET);
	assert_true(pace_ask_as(p, ahead, 0, high, &why));
	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;

		if (pace_ask_as(p, ahead, 0, middle, &why))
			high = middle;
		else
			low = middle;
	}
	return high;
}
