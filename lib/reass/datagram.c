/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an entry:
 *
 *	          admitted             complete, timed out, flushed
 *	FREE ----------------> LIVE ------------------------------------> FREE
 *	  |                     |   overlap, evicted, ...                   ^
 *	  |                     +-------------------------------------------+
 *	  | refused             | its key
 *	  +---------------------+-------> condemned.c
 */
#include "internal.h"
#include "promise.h"
#include "source.h"
#include "young.h"

void fm_drop_flush(struct fm_reass *r)
{
	if (r->n_dead == 0)
		return;
	rte_pktmbuf_free_bulk(r->dead, r->n_dead);
	r->n_dead = 0;
}

void fm_reass_on_drop(struct fm_reass *r, void (*dropped)(void *arg, const struct rte_mbuf *m, enum fm_outcome why),
		      void *arg)
{
	r->dropped = dropped;
	r->dropped_arg = arg;
}

void fm_drop(struct fm_reass *r, struct rte_mbuf *m, enum fm_outcome why)
{
	fm_count_add(&r->stats.count[why], 1);
	if (r->dropped != NULL)
		r->dropped(r->dropped_arg, m, why);
	if (r->n_dead == FM_DEAD_MAX)
		fm_drop_flush(r);
	r->dead[r->n_dead++] = m;
}

static void activity_remove(struct fm_reass *r, struct fm_datagram *d)
{
	fm_list_remove(r, &r->activity[d->list], d);
	if (r->activity[d->list].head == FM_NONE)
		r->list_used &= ~(1ULL << d->list);
}

static void activity_add(struct fm_reass *r, struct fm_datagram *d, uint32_t list)
{
	d->list = (uint8_t)list;
	fm_list_add_tail(r, &r->activity[list], d);
	r->list_used |= 1ULL << list;
}

/* Out of the plan and the lists: it is about to let go of what it holds. */
static void leave(struct fm_reass *r, struct fm_datagram *d)
{
	fm_plan_remove(r, d);
	activity_remove(r, d);
}

static void drop_all(struct fm_reass *r, const struct fm_datagram *d, enum fm_outcome why)
{
	for (struct fm_run run = fm_run_first(r, d); run.count > 0; fm_run_next(r, &run))
		for (uint32_t i = 0; i < run.count; i++)
			fm_drop(r, fm_extent_mbuf(&run.extent[i]), why);
}

void fm_datagram_leave(struct fm_reass *r, struct fm_datagram *d)
{
	fm_extent_clear(r, d);
	fm_count_sub(&r->stats.held_fragments, d->fragments);
	fm_count_sub(&r->stats.held_mbufs, d->mbufs_held);
	fm_count_sub(&r->stats.datagrams, 1);
	fm_young_leave(r, d);
	fm_age_remove(r, d);
	fm_index_remove(r, d);
	fm_cell_put(r, d);
}

void fm_datagram_forget(struct fm_reass *r, struct fm_datagram *d, uint32_t wasted)
{
	if (fm_is_young(d))
		fm_young_enroll(r, d);
	leave(r, d);
	fm_source_released(r, d, wasted);
	r->sources.trials -= (d->marks & FM_MARK_TRIAL) != 0;
	fm_datagram_leave(r, d);
}

void fm_datagram_drop(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why)
{
	drop_all(r, d, why);
	fm_datagram_forget(r, d, d->fragments);
}

void fm_datagram_condemn(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why, enum fm_doom doom,
			 uint64_t now_tsc)
{
	const enum fm_family_index family = (enum fm_family_index)d->family;
	const uint64_t until_tsc = doom == FM_DOOM_FAULTY ? d->first_seen_tsc + r->settings.timeout_tsc[family] :
							    now_tsc + fm_condemned_for_tsc(r, family);

	fm_condemned_add(r, fm_key_hash(r, &d->key, family), doom, now_tsc, until_tsc);
	fm_datagram_drop(r, d, why);
}

void fm_datagram_enlist(struct fm_reass *r, struct fm_datagram *d, float chance)
{
	const bool likely = chance >= fm_unlikely(r);

	if (likely)
		fm_plan_add(r, d, chance);
	if (fm_slow(r, d))
		activity_add(r, d, FM_LIST_SLOW);
	else
		activity_add(r, d, (likely ? FM_LIST_LIKELY : FM_LIST_UNLIKELY) + fm_step_of(d->mbufs_held));
}

void fm_datagram_move(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc)
{
	leave(r, d);
	fm_datagram_hold(r, d, mbufs, now_tsc);
	fm_datagram_enlist(r, d, fm_chance_with(r, d, d->mbufs_held, d->fragments));
}

void fm_datagram_doubt(struct fm_reass *r, struct fm_datagram *d)
{
	leave(r, d);
	activity_add(r, d, FM_LIST_UNLIKELY + fm_step_of(d->mbufs_held));
}

void fm_datagram_cool(struct fm_reass *r, struct fm_datagram *d)
{
	leave(r, d);
	activity_add(r, d, FM_LIST_COLD);
}

struct fm_datagram *fm_datagram_new(struct fm_reass *r, const struct fm_frag *frag, uint32_t hash, uint32_t mbufs,
				    uint64_t now_tsc)
{
	struct fm_datagram *d = fm_entry(r, r->free_cell);

	r->free_cell = d->chain;
	/* The next one is taken from there. */
	rte_prefetch0(fm_entry(r, r->free_cell));
	rte_prefetch0((const uint8_t *)fm_entry(r, r->free_cell) + FM_LINE);
	/* Each field by itself: of a zeroed whole, compilers make a slow loop. */
	d->key = frag->key;
	d->hash = hash;
	d->first_seen_tsc = now_tsc;
	d->last_seen_tsc = now_tsc;
	d->source = 0;
	d->bytes_held = 0;
	d->held_end = 0;
	d->end = FM_END_UNKNOWN;
	d->mbufs_held = (uint16_t)mbufs;
	d->mbufs_expected = 0;
	d->fragments = 0;
	d->largest = 0;
	d->source_check = 0;
	d->family = frag->family == 4 ? FM_IPV4 : FM_IPV6;
	d->ecn_seen = 0;
	d->list = FM_LIST_YOUNG;
	d->bin = FM_NO_BIN;
	d->weight = 0;
	d->marks = 0;
	fm_index_add(r, d);
	fm_age_add(r, d);
	fm_count_add(&r->stats.datagrams, 1);
	fm_count_add(&r->stats.held_mbufs, mbufs);
	return d;
}

void fm_datagram_expire(struct fm_reass *r, struct fm_datagram *d)
{
	if (fm_is_young(d))
		fm_young_enroll(r, d);
	fm_source_failed(r, d, 0);
	fm_datagram_drop(r, d, FM_TIMEOUT);
}

uint32_t fm_reass_expire(struct fm_reass *r, uint64_t now_tsc, uint32_t max_datagrams)
{
	uint32_t n = 0;

	/* Each family is the first in turn, so that a storm in one does not keep the other's past their time. */
	r->expire_first ^= 1;
	for (int i = 0; i < FM_FAMILIES; i++) {
		const int family = i ^ r->expire_first;

		while (n < max_datagrams && r->age[family].head != FM_NONE) {
			struct fm_datagram *d = fm_entry(r, r->age[family].head);

			if (!fm_expired(r, d, now_tsc))
				break;
			fm_datagram_expire(r, d);
			n++;
		}
	}
	fm_condemned_sweep(r, max_datagrams, now_tsc);
	fm_drop_flush(r);
	return n;
}

bool fm_reass_flush_some(struct fm_reass *r, uint32_t fragments)
{
	const uint64_t end = r->stats.count[FM_FLUSHED] + fragments;

	for (int family = 0; family < FM_FAMILIES; family++)
		while (r->age[family].head != FM_NONE && r->stats.count[FM_FLUSHED] < end)
			fm_datagram_drop(r, fm_entry(r, r->age[family].head), FM_FLUSHED);
	fm_drop_flush(r);
	return r->stats.datagrams == 0;
}

uint64_t fm_reass_flush(struct fm_reass *r)
{
	const uint64_t before = r->stats.count[FM_FLUSHED];

	for (int family = 0; family < FM_FAMILIES; family++)
		while (r->age[family].head != FM_NONE)
			fm_datagram_drop(r, fm_entry(r, r->age[family].head), FM_FLUSHED);
	fm_condemned_clear(r);
	fm_drop_flush(r);
	return r->stats.count[FM_FLUSHED] - before;
}
