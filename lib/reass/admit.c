/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at the budget.
 *
 * All or nothing: a datagram that is refused or evicted is condemned, so nothing is stored for one that cannot
 * complete. Cold datagrams go first, the one idle for longest before all; then, to let admitted ones grow, the one with
 * least progress. A new datagram never displaces a warm one. Every decision looks at the heads of FM_STEPS lists, no
 * further.
 */
#include "internal.h"

enum {
	GAP_SHIFT = 6,    /* a fragment's weight in the learned gap: 1/64, as deviation and mean are in TCP's RTO */
	PATIENCE = 8,     /* deviations from the mean gap until a datagram is cold */
	FLOOR_SHIFT = 10, /* and never before 1/1024 of the timeout: a burst is no silence */
};

static uint64_t cold_after_tsc(const struct fm_reass *r, enum fm_family_index family)
{
	const uint64_t learned = r->gap_tsc + PATIENCE * r->gap_deviation_tsc;
	const uint64_t floor = r->settings.timeout_tsc[family] >> FLOOR_SHIFT;

	return learned > floor ? learned : floor;
}

bool fm_admit_cold(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	return fm_elapsed(d->last_seen_tsc, now_tsc) > cold_after_tsc(r, d->family);
}

/* Called when `d` gets another fragment, before last_seen_tsc moves. */
void fm_admit_learn_gap(struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	const int64_t gap = (int64_t)fm_elapsed(d->last_seen_tsc, now_tsc);
	const int64_t error = gap - (int64_t)r->gap_tsc;
	const int64_t magnitude = error < 0 ? -error : error;

	r->gap_tsc = (uint64_t)((int64_t)r->gap_tsc + error / (1 << GAP_SHIFT));
	r->gap_deviation_tsc = (uint64_t)((int64_t)r->gap_deviation_tsc +
					  (magnitude - (int64_t)r->gap_deviation_tsc) / (1 << GAP_SHIFT));
}

/* The datagram idle for longest; each step list is in order of activity. NULL: there is none but `self`. */
static struct fm_datagram *idle_longest(const struct fm_reass *r, const struct fm_datagram *self, uint64_t now_tsc)
{
	struct fm_datagram *oldest = NULL;

	for (int step = 0; step < FM_STEPS; step++) {
		struct fm_datagram *d;
		uint32_t n = r->step[step].head;

		if (n != FM_NONE && fm_entry(r, n) == self)
			n = self->link[FM_LINK_STEP].next;
		if (n == FM_NONE)
			continue;
		d = fm_entry(r, n);
		if (oldest == NULL ||
		    fm_elapsed(d->last_seen_tsc, now_tsc) > fm_elapsed(oldest->last_seen_tsc, now_tsc))
			oldest = d;
	}
	return oldest;
}

/* `self` is just being served: it is not cold whatever its past. */
static bool evict_cold(struct fm_reass *r, const struct fm_datagram *self, uint64_t now_tsc)
{
	struct fm_datagram *d = idle_longest(r, self, now_tsc);

	if (d == NULL || !fm_admit_cold(r, d, now_tsc))
		return false;
	fm_datagram_condemn(r, d, FM_EVICTED_COLD);
	return true;
}

/* The one idle for longest among those that have got least. */
static struct fm_datagram *least_progress(const struct fm_reass *r)
{
	for (int step = 0; step < FM_STEPS; step++)
		if (r->step[step].head != FM_NONE)
			return fm_entry(r, r->step[step].head);
	return NULL;
}

static bool fits(const struct fm_reass *r, uint32_t mbufs)
{
	return r->stats.held_mbufs + mbufs <= r->settings.budget_mbufs;
}

enum fm_admission fm_admit_new(struct fm_reass *r, uint32_t mbufs, uint64_t now_tsc, enum fm_outcome *why)
{
	/* Larger than the whole budget: nothing need die for it. */
	*why = FM_REFUSED_BUDGET;
	if (mbufs > r->settings.budget_mbufs)
		return FM_REFUSE;
	while (!fits(r, mbufs))
		if (!evict_cold(r, NULL, now_tsc))
			return FM_REFUSE;
	*why = FM_REFUSED_TABLE;
	if (r->stats.datagrams >= r->max_datagrams && !evict_cold(r, NULL, now_tsc))
		return FM_REFUSE;
	return FM_ADMIT;
}

enum fm_admission fm_admit_more(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc,
				enum fm_outcome *why)
{
	/* Larger than the whole budget: it goes before anybody dies for it. */
	*why = FM_EVICTED_PROGRESS;
	if (d->mbufs_held + mbufs > r->settings.budget_mbufs)
		return FM_REFUSE;
	while (!fits(r, mbufs)) {
		struct fm_datagram *victim;

		if (evict_cold(r, d, now_tsc))
			continue;
		victim = least_progress(r);
		if (victim == d)
			return FM_REFUSE;
		fm_datagram_condemn(r, victim, FM_EVICTED_PROGRESS);
	}
	return FM_ADMIT;
}

void fm_admit_shrink(struct fm_reass *r, uint64_t now_tsc)
{
	while (!fits(r, 0))
		if (!evict_cold(r, NULL, now_tsc))
			fm_datagram_condemn(r, least_progress(r), FM_EVICTED_PROGRESS);
}
