/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at the budget.
 *
 * All or nothing: a datagram that is refused or evicted is condemned, so nothing is stored for one that cannot
 * complete. Whether a new one is begun is the plan's decision (plan.c). Room is made by evicting, in this order: cold
 * ones, in the order in which they were found to be cold; one much less likely to complete than the one that wants the
 * room, with regard to how little it still needs; and, so that admitted ones can grow, one that has got little while
 * its source has got much. A new datagram displaces cold ones and far less likely ones; an unlikely one that grows
 * displaces its like only.
 *
 * A datagram teaches its source's rate when its time is up, not when its memory is wanted: one evicted before that
 * teaches what its silence says, and one that gives way to others nothing.
 */
#include "internal.h"
#include "young.h"

enum {
	COOL_EACH = 4,		/* of each list, at a look */
	COOL_OFTEN = 8,		/* looks in the time between two fragments of a datagram ... */
	PAUSE_SHIFT = 18,	/* but not in less than so small a part of the timeout */
	LOOK = 4,		/* candidates of each step of progress */
	PICKS = 32,		/* cells, of which a part holds datagrams */
};

#define GIVE_WAY 0.3F		/* times as likely, at most, as who wants the room */

bool fm_admit_cold(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	return d->list == FM_LIST_COLD || fm_elapsed(d->last_seen_tsc, now_tsc) > fm_patience_tsc(r, d);
}

static struct fm_datagram *head_but(const struct fm_reass *r, uint32_t list, const struct fm_datagram *self)
{
	uint32_t n = r->activity[list].head;

	if (n != FM_NONE && fm_entry(r, n) == self)
		n = self->activity.next;
	return n == FM_NONE ? NULL : fm_entry(r, n);
}

static uint64_t warm_used(const struct fm_reass *r)
{
	return r->list_used & ((1ULL << FM_WARM_LISTS) - 1);
}

/* 1 at the start, more the less it still needs. */
static float progress_of(const struct fm_datagram *d)
{
	const int left = d->mbufs_expected - d->mbufs_held;

	if (d->marks & FM_MARK_GAPPY)
		return 1;
	return (float)d->mbufs_expected / (float)(left > 1 ? left : 1);
}

/* Of the lists in `used` the one least likely to complete, if it is less likely than `chance` by enough. */
static struct fm_datagram *least_likely_of(const struct fm_reass *r, uint64_t used, const struct fm_datagram *self,
					   float chance, uint64_t now_tsc)
{
	struct fm_datagram *victim = NULL;
	float lowest = chance * GIVE_WAY;

	for (; used != 0; used &= used - 1) {
		struct fm_datagram *d = head_but(r, (uint32_t)__builtin_ctzll(used), self);
		float own;

		if (d == NULL)
			continue;
		/* The less it still needs, the more it is worth. */
		own = fm_chance_now(r, d, now_tsc) * progress_of(d);
		if (own < lowest) {
			lowest = own;
			victim = d;
		}
	}
	return victim;
}

/* Among the unlikely ones it is found in a flood; the others are looked at where there is none. */
static struct fm_datagram *least_likely(const struct fm_reass *r, const struct fm_datagram *self, float chance,
					uint64_t now_tsc)
{
	const uint64_t unlikely = (1ULL << FM_LIST_LIKELY) - 1;
	struct fm_datagram *d = least_likely_of(r, warm_used(r) & unlikely, self, chance, now_tsc);

	return d != NULL ? d : least_likely_of(r, warm_used(r) & ~unlikely, self, chance, now_tsc);
}

static void evict(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why, uint64_t now_tsc)
{
	const bool unlikely = fm_chance_now(r, d, now_tsc) < fm_unlikely(r);

	if (why == FM_EVICTED_PROGRESS)
		fm_plan_refund(r, d);
	if (why == FM_EVICTED_UNLIKELY)
		fm_source_failed(r, d, fm_chance_alive(r, d, now_tsc));
	fm_datagram_condemn(r, d, why, unlikely ? FM_DOOM_UNLIKELY : FM_DOOM_PRESSURE, now_tsc);
}

/* `self` is just being served: it is not cold whatever its past. */
static bool make_room(struct fm_reass *r, const struct fm_datagram *self, float chance, uint64_t now_tsc)
{
	struct fm_datagram *d;

	/* None are left where memory becomes scarce by and by, see begin_judged(). But budgets can be made smaller. */
	if (unlikely(r->n_young > 0))
		fm_young_enroll_some(r, UINT32_MAX, now_tsc);
	d = head_but(r, FM_LIST_COLD, self);
	if (d != NULL) {
		evict(r, d, FM_EVICTED_COLD, now_tsc);
		return true;
	}
	d = least_likely(r, self, chance, now_tsc);
	if (d == NULL)
		return false;
	evict(r, d, FM_EVICTED_UNLIKELY, now_tsc);
	return true;
}

/* How much rather than others it gives way: it has got little so far, and its source much. */
static float dispensable(const struct fm_reass *r, const struct fm_datagram *d)
{
	const float got = fm_minf(1, (float)d->mbufs_held / (float)d->mbufs_expected);

	return fm_plan_ahead(r, d) - got;
}

/* A bounded look at those of a list that have been idle for longest: who is more dispensable than `victim`? */
static struct fm_datagram *more_dispensable(const struct fm_reass *r, uint32_t list, struct fm_datagram *victim)
{
	uint32_t n = r->activity[list].head;

	for (int i = 0; i < LOOK && n != FM_NONE; i++, n = fm_entry(r, n)->activity.next)
		if (victim == NULL || dispensable(r, fm_entry(r, n)) > dispensable(r, victim))
			victim = fm_entry(r, n);
	return victim;
}

/* Of the lists from `first` on, one a step. */
static struct fm_datagram *least_progress(const struct fm_reass *r, uint32_t first)
{
	struct fm_datagram *victim = NULL;

	for (uint64_t used = r->list_used >> first & ((1ULL << FM_STEPS) - 1); used != 0; used &= used - 1)
		victim = more_dispensable(r, first + (uint32_t)__builtin_ctzll(used), victim);
	return victim;
}

/* Who is unlikely to complete lets nobody give way but those like it. */
static struct fm_datagram *gives_way(const struct fm_reass *r, bool to_likely)
{
	struct fm_datagram *victim = least_progress(r, FM_LIST_UNLIKELY);

	if (victim != NULL || !to_likely)
		return victim;
	return more_dispensable(r, FM_LIST_SLOW, least_progress(r, FM_LIST_LIKELY));
}

uint32_t fm_expected_size(const struct fm_reass *r, const struct fm_source *s)
{
	const float size = s->size > 0 ? s->size : r->sources.first_size;

	return (uint32_t)fm_minf(fm_maxf(size + 0.5F, 2), UINT16_MAX);
}

enum fm_admission fm_admit_new(struct fm_reass *r, struct fm_ask *ask, uint32_t mbufs, uint64_t now_tsc,
			       enum fm_outcome *why)
{
	struct fm_source *s = ask->source;

	ask->chance = fm_chance_new(r, s, ask->headless);
	if (unlikely(ask->trial))
		ask->chance = fm_maxf(ask->chance, r->sources.typical);
	ask->expected_mbufs = fm_expected_size(r, s);
	ask->charged = ask->chance >= fm_unlikely(r);
	/* Larger than the whole budget: nothing need die for it. */
	*why = FM_REFUSED_BUDGET;
	if (mbufs > r->settings.budget_mbufs)
		return FM_REFUSE;
	if (!fm_plan_accepts(r, s, ask->chance, ask->expected_mbufs, now_tsc, why))
		return FM_REFUSE;
	*why = FM_REFUSED_BUDGET;
	while (unlikely(!fm_fits(r, mbufs)))
		if (!make_room(r, NULL, ask->chance, now_tsc)) {
			fm_plan_no_room(r, ask->chance);
			return FM_REFUSE;
		}
	*why = FM_REFUSED_TABLE;
	if (unlikely(r->stats.datagrams >= r->max_datagrams) && !make_room(r, NULL, ask->chance, now_tsc)) {
		fm_plan_no_room(r, ask->chance);
		return FM_REFUSE;
	}
	if (ask->charged)
		fm_plan_charge(r, s, ask->expected_mbufs);
	return FM_ADMIT;
}

void fm_admit_note(struct fm_reass *r, struct fm_datagram *d, const struct fm_ask *ask)
{
	d->source = (uint32_t)(ask->source - r->sources.record);
	d->source_check = ask->source->check;
	d->mbufs_expected = (uint16_t)ask->expected_mbufs;
	d->marks = (fm_source_known(ask->source) ? 0 : FM_MARK_STRANGER) | (ask->headless ? FM_MARK_HEADLESS : 0) |
		   (ask->charged ? FM_MARK_CHARGED : 0);
	if (unlikely(ask->trial))
		fm_mark_trial(r, d);
}

enum fm_admission fm_admit_more(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc,
				enum fm_outcome *why)
{
	float chance;

	/* Larger than the whole budget: it goes before anybody dies for it. */
	*why = FM_EVICTED_PROGRESS;
	if (d->mbufs_held + mbufs > r->settings.budget_mbufs)
		return FM_REFUSE;
	if (likely(fm_fits(r, mbufs)))
		return FM_ADMIT;
	chance = fm_chance_with(r, d, d->mbufs_held + mbufs, d->fragments + 1U);
	while (!fm_fits(r, mbufs)) {
		struct fm_datagram *victim;

		if (make_room(r, d, chance, now_tsc))
			continue;
		victim = gives_way(r, chance >= fm_unlikely(r));
		if (victim == d || victim == NULL) {
			fm_plan_refund(r, d);
			return FM_REFUSE;
		}
		evict(r, victim, FM_EVICTED_PROGRESS, now_tsc);
	}
	return FM_ADMIT;
}

static bool is_held(const struct fm_datagram *d)
{
	return d->key.word[0] < FM_NODE;
}

/*
 * Of some datagrams picked at random, one of the source that holds most. Who holds much has most of them. NULL: there
 * was none.
 */
static struct fm_datagram *of_largest_holder(struct fm_reass *r)
{
	uint32_t number[PICKS], most = 0;
	struct fm_datagram *victim = NULL;

	for (int i = 0; i < PICKS; i++) {
		r->random = r->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		number[i] = 1 + (uint32_t)((r->random >> 32) * r->n_cells >> 32);
		rte_prefetch0(fm_entry(r, number[i]));
	}
	for (int i = 0; i < PICKS; i++) {
		struct fm_datagram *d = fm_entry(r, number[i]);
		const struct fm_source *s = is_held(d) ? fm_source_of(r, d) : NULL;

		if (s == NULL || s->held_mbufs <= most)
			continue;
		most = s->held_mbufs;
		victim = d;
	}
	return victim;
}

/*
 * A smaller budget. Cold and unlikely ones go first, as ever. But then nobody asks for the room of somebody, so who
 * gives way does not depend on who came when: the largest holders do, until all hold alike.
 */
void fm_admit_shrink(struct fm_reass *r, uint64_t now_tsc)
{
	while (!fm_fits(r, 0)) {
		struct fm_datagram *victim;

		if (make_room(r, NULL, 0, now_tsc))
			continue;
		victim = gives_way(r, false);
		if (victim == NULL)
			victim = of_largest_holder(r);
		evict(r, victim != NULL ? victim : gives_way(r, true), FM_EVICTED_PROGRESS, now_tsc);
	}
}

/* False: there may be more. */
static bool cool_list(struct fm_reass *r, uint32_t list, uint64_t now_tsc)
{
	for (int i = 0; i < COOL_EACH && r->activity[list].head != FM_NONE; i++) {
		struct fm_datagram *d = fm_entry(r, r->activity[list].head);

		if (fm_admit_cold(r, d, now_tsc)) {
			fm_source_failed(r, d, 0);
			fm_datagram_cool(r, d);
		} else if (list >= FM_LIST_LIKELY && fm_chance_now(r, d, now_tsc) < fm_unlikely(r)) {
			fm_datagram_doubt(r, d);
		} else {
			return true;
		}
	}
	return r->activity[list].head == FM_NONE;
}

void fm_admit_cool(struct fm_reass *r, uint32_t fragments, uint64_t now_tsc)
{
	const uint64_t pause = (uint64_t)(r->sources.gap / COOL_OFTEN);
	bool all = false;

	/* A storm of them is worked off as fast as fragments come. */
	for (uint32_t i = 0; i < fragments && !all; i++) {
		all = true;
		for (uint64_t used = warm_used(r); used != 0; used &= used - 1)
			all &= cool_list(r, (uint32_t)__builtin_ctzll(used), now_tsc);
	}
	r->cool_at_tsc = all ? now_tsc + RTE_MAX(pause, r->settings.timeout_tsc[FM_IPV4] >> PAUSE_SHIFT) : now_tsc;
}
