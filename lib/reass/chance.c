/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How likely is a datagram to complete?
 *
 * A source with a record is judged by it, a stranger by what became of strangers with as much progress: a second
 * fragment says more than any record. Silence counts by Bayes: one that lives is silent for a time t with probability
 * silence(), a dead one always.
 */
#include <math.h>

#include "internal.h"

enum {
	PATIENCE = 16,		/* deviations of the gap until a datagram is cold: random gaps have long tails */
	SLOW = 4,		/* times the gap of all */
	FLOOR_SHIFT = 10,	/* and never before 1/1024 of the timeout: a burst is no silence */
};

#define UNLIKELY 0.3F		/* of the chance that those have who complete */
#define EXPONENTIAL 0.74F
#define REGULAR 8
#define HAZARD_MIN 0.0001F

static float chance(const struct fm_reass *r, const struct fm_source *s, uint8_t step, bool single, bool headless)
{
	const float *reach = r->sources.reach;
	const float head = headless ? r->sources.headless : 1;
	float known, grown;

	if (s == NULL || !fm_source_known(s))
		return reach[step] * head;
	known = s->grown > 0 ? (float)s->rest / FM_CHANCE_ONE : reach[2];
	if (single)
		return known * (float)s->second / FM_CHANCE_ONE * head;
	/* What strangers gain by progress is gained here as well. */
	grown = reach[step] / fm_maxf(reach[2], 0.02F);
	return fm_minf(1, known * fm_maxf(1, grown)) * head;
}

float fm_chance_new(const struct fm_reass *r, const struct fm_source *s, bool headless)
{
	return chance(r, s, 1, true, headless);
}

float fm_chance_of(const struct fm_reass *r, const struct fm_source *s)
{
	return chance(r, s, 1, true, false);
}

float fm_chance_with(const struct fm_reass *r, const struct fm_datagram *d, uint32_t mbufs, uint32_t fragments)
{
	const float whole = d->marks & FM_MARK_GAPPY ? r->sources.gappy : 1;
	const float own = chance(r, fm_source_of(r, d), fm_step_of(mbufs), fragments <= 1,
				 d->marks & FM_MARK_HEADLESS) * whole;

	return d->marks & FM_MARK_TRIAL ? fm_maxf(own, r->sources.typical) : own;
}

/*
 * Would one that lives be silent for so long? Its gaps are exponential behind a part that they all have: with a mean
 * deviation of 0.74 of the mean there is no such part. Where no gap is known, silence says nothing.
 */
static float silence(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	const struct fm_source *s = fm_source_of(r, d);
	const bool known = s != NULL && s->gap > 0;
	const float gap = known ? s->gap : r->sources.gap;
	const float deviation = known ? s->gap_deviation : r->sources.gap_deviation;
	const float tail = fm_minf(gap, fm_maxf(gap / REGULAR, deviation / EXPONENTIAL));
	const float late = (float)fm_elapsed(d->last_seen_tsc, now_tsc) - (gap - tail);

	if (gap == 0 || late <= 0)
		return 1;
	return expf(-late / tail);
}

/* That the fragment it waits for never comes. What a datagram can lose by lost fragments is spread over all of them. */
static float hazard(const struct fm_reass *r, const struct fm_datagram *d, float chance)
{
	const struct fm_source *s = fm_source_of(r, d);
	const int left = d->mbufs_expected - d->mbufs_held;
	const bool known = s != NULL && fm_source_known(s);
	const float first = known ? (float)s->second / FM_CHANCE_ONE : r->sources.go_on[1];

	return fm_maxf(HAZARD_MIN, d->fragments <= 1 ? 1 - first : (1 - chance) / (float)(left > 1 ? left : 1));
}

float fm_chance_alive(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	const float chance = fm_chance_with(r, d, d->mbufs_held, d->fragments);
	const float silent = silence(r, d, now_tsc), dead = hazard(r, d, chance);

	return fm_minf(1, silent / ((1 - dead) * silent + dead));
}

float fm_chance_now(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	return fm_chance_with(r, d, d->mbufs_held, d->fragments) * fm_chance_alive(r, d, now_tsc);
}

float fm_unlikely(const struct fm_reass *r)
{
	return UNLIKELY * r->sources.typical;
}

bool fm_slow(const struct fm_reass *r, const struct fm_datagram *d)
{
	const struct fm_source *s = fm_source_of(r, d);

	return s != NULL && s->gap > SLOW * r->sources.gap;
}

/* Timeouts may be as long as a number is; half of what the type holds is long enough. */
static uint64_t to_tsc(float tsc)
{
	return (uint64_t)fm_minf(tsc, (float)(1ULL << 62));
}

uint64_t fm_patience_tsc(const struct fm_reass *r, const struct fm_datagram *d)
{
	const struct fm_source *s = fm_source_of(r, d);
	const bool known = s != NULL && s->gap > 0;
	const float gap = known ? s->gap : r->sources.gap;
	const float deviation = known ? s->gap_deviation : r->sources.gap_deviation;

	return to_tsc(gap + PATIENCE * deviation) + (r->settings.timeout_tsc[d->family] >> FLOOR_SHIFT);
}

uint64_t fm_patience_general_tsc(const struct fm_reass *r)
{
	return to_tsc(r->sources.gap + PATIENCE * r->sources.gap_deviation);
}
