/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Young datagrams: those that nobody has had to judge yet.
 *
 * While less than half of the budget is held or expected, every datagram is welcome, and most of them complete soon. So
 * a new one is put into the index and the age list and nowhere else; its source is asked for when it has completed.
 * Only when memory becomes scarce are the young enrolled, the oldest first: into the plan, the activity lists and their
 * sources' records (doc/design/0016-young.md).
 */
#ifndef FM_YOUNG_H
#define FM_YOUNG_H

#include "internal.h"

/*
 * Is there enough for everybody? What is held, and what is expected of those enrolled and of the young, takes less than
 * half of the budget, and nobody has been refused of late.
 */
static inline bool fm_at_ease(const struct fm_reass *r)
{
	const uint64_t expected = (uint64_t)r->plan.promised / FM_WEIGHT_ONE +
				  (uint64_t)r->n_young * r->sources.size_mbufs;

	return RTE_MAX(expected, r->stats.held_mbufs) < r->ease_mbufs && r->stats.datagrams < r->ease_datagrams &&
	       !r->plan.pressing;
}

static inline bool fm_is_young(const struct fm_datagram *d)
{
	return d->list == FM_LIST_YOUNG;
}

/* A new one, at the end of the age list. */
static inline void fm_young_add(struct fm_reass *r, struct fm_datagram *d)
{
	d->list = FM_LIST_YOUNG;
	r->n_young++;
	if (r->young[d->family] == FM_NONE)
		r->young[d->family] = fm_number(r, d);
}

/* The one that a walk has come to is about to leave. */
static inline void fm_walk_leave(struct fm_reass *r, const struct fm_datagram *d)
{
	r->walk.next[d->family] = fm_age_next(r, fm_number(r, d));
	r->walk.at = r->walk.missing = 0;
}

/* One is about to leave the age list, young or not. */
static inline void fm_young_leave(struct fm_reass *r, const struct fm_datagram *d)
{
	if (r->young[d->family] == fm_number(r, d))
		r->young[d->family] = fm_age_next(r, fm_number(r, d));
	if (unlikely(r->walk.next[d->family] == fm_number(r, d)))
		fm_walk_leave(r, d);
	r->n_young -= fm_is_young(d);
}

/* Judge it: as if it had been from its first fragment on. */
void fm_young_enroll(struct fm_reass *r, struct fm_datagram *d);
/*
 * The oldest ones, up to so many; those that are cold by now among the cold. Returns how much of that has been done:
 * `max`, or less if no young ones are left.
 */
uint32_t fm_young_enroll_some(struct fm_reass *r, uint32_t max, uint64_t now_tsc);

#endif
