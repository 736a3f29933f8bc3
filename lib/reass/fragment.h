/* SPDX-License-Identifier: BSD-3-Clause */
/* A fragment of a burst: on its way (reass.c), what becomes of it (fragment.c), and of the whole datagram (whole.c). */
#ifndef FM_FRAGMENT_H
#define FM_FRAGMENT_H

#include "internal.h"
#include "source.h"

struct fm_item {
	struct rte_mbuf *m;
	uint64_t hash;
	uint32_t guess;		/* entry that it most likely belongs to; FM_NONE: most likely a new one */
	bool same;		/* key as the fragment before it in the burst */
	bool asked;		/* `who` is set */
	bool completes;		/* most likely */
	struct fm_frag frag;
	struct fm_who who;
};

/* Keys of one family, to be hashed side by side. */
struct fm_work_keys {
	uint32_t n;
	uint16_t item[FM_BURST_MAX];			/* whose key it is */
	uint64_t hash[FM_BURST_MAX];
};

/* The fragments of a burst, in order of arrival. */
struct fm_work {
	uint32_t n;
	struct fm_item item[FM_BURST_MAX + 2];		/* from 1 on; before the first and behind the last: none */
	struct fm_work_keys keys[FM_FAMILIES];		/* of those that are not the `same` */
	fm_lane_words ipv4[FM_KEY_IPV4_WORDS], ipv6[FM_KEY_IPV6_WORDS];
};
static_assert((int)FM_BURST_MAX <= (int)FM_LANE_KEYS, "the keys of a burst are hashed at once");

static inline struct fm_item *fm_work_first(struct fm_work *work)
{
	return &work->item[1];
}

static inline enum fm_family_index fm_item_family(const struct fm_item *item)
{
	return item->frag.family == 4 ? FM_IPV4 : FM_IPV6;
}

/* The record of its source, a new one if it has none. */
static inline struct fm_source *fm_item_source(struct fm_reass *r, struct fm_item *item)
{
	if (!item->asked)
		fm_source_ask(r, &item->frag.key, fm_item_family(item), &item->who);
	return fm_source_find(r, &item->who);
}

static inline struct fm_extent fm_item_extent(const struct fm_frag *frag, struct rte_mbuf *m)
{
	return fm_extent_make(m, frag->offset, frag->length, frag->payload_at, frag->more);
}

static inline uint32_t fm_frag_ip_len(const struct fm_frag *frag)
{
	return (uint32_t)frag->payload_at - frag->l2_len + frag->length;
}

/* Is this all that is missing? */
static inline bool fm_completes(const struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t end = frag->more ? d->end : (uint32_t)frag->offset + frag->length;

	return d->bytes_held + frag->length == end;
}

static inline bool fm_is_shared(const struct rte_mbuf *m)
{
	return unlikely(rte_mbuf_refcnt_read(m) != 1) || (unlikely(m->nb_segs != 1) && fm_chain_shared(m->next));
}

/* --- fragment.c --- */

/* Stages four and five of a burst. Takes the mbufs. @param far  there are more datagrams than the near caches hold */
void fm_work_off(struct fm_reass *r, struct fm_work *work, bool far, uint64_t now_tsc, struct fm_result *result);
/* An mbuf of our own for one that somebody else holds, too; NULL: there is none. */
struct rte_mbuf *fm_own_clone(struct fm_reass *r, struct rte_mbuf *m);

static inline struct rte_mbuf *fm_make_private(struct fm_reass *r, struct rte_mbuf *m)
{
	return likely(!fm_is_shared(m)) ? m : fm_own_clone(r, m);
}

/* --- whole.c --- */

/* An atomic one (RFC 6946): a datagram of its own, whatever else there is with its key. */
void fm_whole_atomic(struct fm_reass *r, struct fm_item *item, struct fm_result *result);
/*
 * A datagram that is in the burst from its first fragment to its last, in whatever order, as they are that somebody has
 * sent at once: it is joined and never held, so it takes no room, and nobody has to be asked for any. Nothing is held
 * of the datagram and its key is not condemned.
 *
 * Returns how many fragments it has taken; 0: they are no such datagram.
 */
uint32_t fm_whole_at_once(struct fm_reass *r, struct fm_item *item, uint32_t n, struct fm_result *result);
/* What a young one holds, one fragment, and this one are all of it. `m`: the item's mbuf, held by us alone. */
void fm_whole_pair(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, struct rte_mbuf *m,
		   uint64_t now_tsc, struct fm_result *result);
/* It holds all of itself. `item`: the last one that came. */
void fm_whole_held(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, uint64_t now_tsc,
		   struct fm_result *result);

#endif
