/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an entry:
 *
 *	          admitted                     complete
 *	FREE ----------------> LIVE ----------------------> FREE
 *	  |                     |   timed out, flushed        ^
 *	  | refused             | overlap, evicted, ...       | timed out, flushed, oldest when entries run out
 *	  +---------------> CONDEMNED ------------------------+
 */
#include "internal.h"

void fm_drop_flush(struct fm_reass *r)
{
	if (r->n_dead == 0)
		return;
	rte_pktmbuf_free_bulk(r->dead, r->n_dead);
	r->n_dead = 0;
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

static void remove_from_step(struct fm_reass *r, struct fm_datagram *d)
{
	fm_list_remove(r, &r->step[d->step], FM_LINK_STEP, d);
}

/* Let go of all fragments: `why` is their outcome, or they have gone elsewhere (why == FM_OUTCOME_MAX). */
static void release(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why)
{
	if (why != FM_OUTCOME_MAX)
		for (uint32_t n = fm_extent_first_leaf(r, d); n != FM_NONE; n = r->node[n].leaf.next)
			for (uint32_t i = 0; i < r->node[n].leaf.count; i++)
				fm_drop(r, r->node[n].leaf.extent[i].m, why);
	fm_extent_clear(r, d);
	fm_count_sub(&r->stats.held_fragments, d->fragments);
	fm_count_sub(&r->stats.held_mbufs, d->mbufs_held);
	d->fragments = 0;
	d->mbufs_held = 0;
	d->bytes_held = 0;
}

static void set_free(struct fm_reass *r, struct fm_datagram *d)
{
	fm_list_remove(r, &r->age[d->family], FM_LINK_AGE, d);
	fm_index_remove(r, d);
	d->state = FM_STATE_FREE;
	d->chain = r->free_entry;
	r->free_entry = fm_number(r, d);
}

void fm_datagram_forget(struct fm_reass *r, struct fm_datagram *d)
{
	if (d->state == FM_STATE_LIVE) {
		remove_from_step(r, d);
		release(r, d, FM_OUTCOME_MAX);
		fm_count_sub(&r->stats.datagrams, 1);
	} else {
		fm_list_remove(r, &r->condemned, FM_LINK_STEP, d);
		fm_count_sub(&r->stats.condemned, 1);
	}
	set_free(r, d);
}

void fm_datagram_drop(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why)
{
	remove_from_step(r, d);
	release(r, d, why);
	fm_count_sub(&r->stats.datagrams, 1);
	set_free(r, d);
}

void fm_datagram_condemn(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why)
{
	remove_from_step(r, d);
	release(r, d, why);
	fm_count_sub(&r->stats.datagrams, 1);
	d->state = FM_STATE_CONDEMNED;
	fm_list_add_tail(r, &r->condemned, FM_LINK_STEP, d);
	fm_count_add(&r->stats.condemned, 1);
}

void fm_datagram_expire(struct fm_reass *r, struct fm_datagram *d)
{
	if (d->state == FM_STATE_LIVE)
		fm_datagram_drop(r, d, FM_TIMEOUT);
	else
		fm_datagram_forget(r, d);
}

void fm_datagram_touch(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc)
{
	remove_from_step(r, d);
	d->mbufs_held += mbufs;
	fm_count_add(&r->stats.held_mbufs, mbufs);
	d->last_seen_tsc = now_tsc;
	d->step = fm_step_of(d->mbufs_held);
	fm_list_add_tail(r, &r->step[d->step], FM_LINK_STEP, d);
}

struct fm_datagram *fm_datagram_new(struct fm_reass *r, const struct fm_frag *frag, uint32_t hash, enum fm_state state,
				    uint64_t now_tsc)
{
	struct fm_datagram *d;

	/* Live ones are fewer than entries, so if none is free some are condemned. */
	if (r->free_entry == FM_NONE)
		fm_datagram_forget(r, fm_entry(r, r->condemned.head));
	d = fm_entry(r, r->free_entry);
	r->free_entry = d->chain;
	*d = (struct fm_datagram){
		.key = frag->key,
		.hash = hash,
		.state = (uint8_t)state,
		.family = frag->family == 4 ? FM_IPV4 : FM_IPV6,
		.first_seen_tsc = now_tsc,
		.last_seen_tsc = now_tsc,
		.end = FM_END_UNKNOWN,
	};
	fm_index_add(r, d);
	fm_list_add_tail(r, &r->age[d->family], FM_LINK_AGE, d);
	if (state == FM_STATE_LIVE) {
		fm_list_add_tail(r, &r->step[d->step], FM_LINK_STEP, d);
		fm_count_add(&r->stats.datagrams, 1);
	} else {
		fm_list_add_tail(r, &r->condemned, FM_LINK_STEP, d);
		fm_count_add(&r->stats.condemned, 1);
	}
	return d;
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
	fm_drop_flush(r);
	return n;
}

uint64_t fm_reass_flush(struct fm_reass *r)
{
	const uint64_t before = r->stats.count[FM_FLUSHED];

	for (int family = 0; family < FM_FAMILIES; family++)
		while (r->age[family].head != FM_NONE) {
			struct fm_datagram *d = fm_entry(r, r->age[family].head);

			if (d->state == FM_STATE_LIVE)
				fm_datagram_drop(r, d, FM_FLUSHED);
			else
				fm_datagram_forget(r, d);
		}
	fm_drop_flush(r);
	return r->stats.count[FM_FLUSHED] - before;
}
