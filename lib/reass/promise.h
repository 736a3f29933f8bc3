/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the plan (plan.c) that each fragment touches: what a datagram holds and wants, in its bin. */
#ifndef FM_PROMISE_H
#define FM_PROMISE_H

#include "internal.h"

static inline uint8_t fm_bin_of(uint32_t wanted)
{
	uint32_t octave, bin;

	/* Exact up to 7, then four bins an octave. */
	if (wanted < 8)
		return (uint8_t)wanted;
	octave = 31 - (uint32_t)__builtin_clz(wanted);
	bin = 8 + (octave - 3) * 4 + ((wanted >> (octave - 2)) & 3);
	return (uint8_t)(bin < FM_BINS ? bin : FM_BINS - 1);
}

/* The last fragment is never held: it completes. */
static inline int64_t fm_plan_wanted(const struct fm_datagram *d)
{
	return d->mbufs_expected > d->mbufs_held + 1 ? d->mbufs_expected - d->mbufs_held - 1 : 0;
}

static inline void fm_plan_count(struct fm_plan *p, const struct fm_datagram *d, int64_t weight)
{
	struct fm_bin *bin = &p->bin[d->bin];
	const int64_t held = weight * d->mbufs_held, wanted = weight * fm_plan_wanted(d);

	bin->count += weight;
	bin->held += held;
	bin->wanted += wanted;
	p->promised += held + wanted;
}

static inline void fm_plan_add(struct fm_reass *r, struct fm_datagram *d, float chance)
{
	/* One that has outgrown what was expected wants at least one more. */
	if (unlikely(d->mbufs_held >= d->mbufs_expected))
		d->mbufs_expected = (uint16_t)RTE_MIN(d->mbufs_held + 2U, (uint32_t)UINT16_MAX);
	d->bin = fm_bin_of((uint32_t)fm_plan_wanted(d));
	d->weight = (uint8_t)(chance * FM_WEIGHT_ONE);
	r->plan.used |= 1ULL << d->bin;
	fm_plan_count(&r->plan, d, d->weight);
}

static inline void fm_plan_remove(struct fm_reass *r, struct fm_datagram *d)
{
	if (d->bin == FM_NO_BIN)
		return;
	fm_plan_count(&r->plan, d, -(int64_t)d->weight);
	d->bin = FM_NO_BIN;
}

/*
 * One that is in the plan is about to hold `mbufs` more, its chance as it was. False, and nothing changed: it is not in
 * the plan, or outgrows what was expected.
 */
static inline bool fm_plan_grow(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs)
{
	const int64_t weight = d->weight, left = fm_plan_wanted(d) - mbufs;
	struct fm_bin *from, *to;

	if (d->bin == FM_NO_BIN || left < 0)
		return false;
	from = &r->plan.bin[d->bin];
	d->bin = fm_bin_of((uint32_t)left);
	to = &r->plan.bin[d->bin];
	from->count -= weight;
	from->held -= weight * d->mbufs_held;
	from->wanted -= weight * (left + mbufs);
	to->count += weight;
	to->held += weight * (d->mbufs_held + mbufs);
	to->wanted += weight * left;
	r->plan.used |= 1ULL << d->bin;
	return true;
}

static inline void fm_datagram_hold(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc)
{
	d->mbufs_held = (uint16_t)(d->mbufs_held + mbufs);
	fm_count_add(&r->stats.held_mbufs, mbufs);
	d->last_seen_tsc = now_tsc;
}

/*
 * It has got another fragment: its place in the activity lists and in the plan. What is known of its chance changes by
 * steps (`changed`: that is the case). Between them it keeps its weight and its list, unless it has been silent for so
 * long that it was moved, or outgrows what was expected of it.
 */
static inline void fm_datagram_touch(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, bool changed,
				     uint64_t now_tsc)
{
	struct fm_list *list = &r->activity[d->list];

	changed |= d->fragments <= 2 || fm_step_of(d->mbufs_held) != fm_step_of(d->mbufs_held + mbufs);
	if (changed || unlikely(!fm_plan_grow(r, d, mbufs))) {
		fm_datagram_move(r, d, mbufs, now_tsc);
		return;
	}
	fm_datagram_hold(r, d, mbufs, now_tsc);
	if (list->tail != fm_number(r, d)) {
		fm_list_remove(r, list, d);
		fm_list_add_tail(r, list, d);
	}
}

#endif
