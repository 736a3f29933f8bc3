/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stage four of a burst: what the entries point to is asked for in steps, each some fragments ahead of the next, as
 * each finds its way by what the one before it has brought. Only worth its while when there are more datagrams than the
 * near caches hold.
 *
 *	12 ahead   the tree's root and last leaf, or the one mbuf; who sent it; the neighbours in the lists
 *	 8 ahead   of what is about to complete: its mbufs, or its leaves; the source's record
 *	 4 ahead   of that: the first frame's headers, or the mbufs
 *
 * Others of the burst come first, so what was there a step ago can be gone: each step asks again.
 */
#ifndef FM_AHEAD_H
#define FM_AHEAD_H

#include "fragment.h"
#include "young.h"

enum { FM_AHEAD_PARTS = 12, FM_AHEAD_MBUFS = 8, FM_AHEAD_FRAMES = 4 };

/* Two lines: an entry, a node, an mbuf. */
static inline void fm_prefetch_cell(const void *cell)
{
	rte_prefetch0(cell);
	rte_prefetch0((const uint8_t *)cell + FM_LINE);
}

static inline void fm_prefetch_mbufs(const struct fm_leaf *leaf)
{
	for (uint32_t i = 0; i < fm_leaf_count(leaf); i++)
		fm_prefetch_cell(fm_extent_mbuf(&leaf->extent[i]));
}

/*
 * The datagram that an item most likely belongs to, if it is still there; NULL: it is not. What is no entry any more
 * can be anything.
 */
static inline const struct fm_datagram *fm_ahead_of_item(const struct fm_reass *r, const struct fm_item *item)
{
	const struct fm_datagram *d = fm_entry(r, item->guess);

	return fm_datagram_is(d, &item->frag.key, (uint32_t)item->hash) ? d : NULL;
}

static inline void fm_ahead_parts(struct fm_reass *r, struct fm_item *item)
{
	const struct fm_datagram *d;

	item->completes = false;
	if (item->same)
		return;
	if (item->guess == FM_NONE) {
		if (r->at_ease)
			return;
		fm_source_ask(r, &item->frag.key, fm_item_family(item), &item->who);
		item->asked = true;
		return;
	}
	d = fm_ahead_of_item(r, item);
	if (unlikely(d == NULL))
		return;
	if (!fm_is_young(d)) {
		rte_prefetch0(&r->sources.record[d->source]);
		rte_prefetch0(&fm_entry(r, d->activity.prev)->activity);
		rte_prefetch0(&fm_entry(r, d->activity.next)->activity);
	}
	if (d->fragments > 1) {
		fm_prefetch_cell(&r->node[d->tail]);
		if (d->height > 0)
			fm_prefetch_cell(&r->node[d->root]);
	}
	if (!fm_completes(d, &item->frag))
		return;
	item->completes = true;
	if (d->fragments == 1)
		fm_prefetch_cell(fm_extent_mbuf(&d->only));
	if (fm_is_young(d)) {
		fm_source_ask(r, &item->frag.key, fm_item_family(item), &item->who);
		item->asked = true;
	}
	rte_prefetch0(&r->age_link[item->guess]);
}

static inline void fm_ahead_mbufs(const struct fm_reass *r, const struct fm_item *item)
{
	const struct fm_datagram *d;

	if (item->asked)
		fm_source_ask_record(r, &item->who);
	if (!item->completes)
		return;
	d = fm_ahead_of_item(r, item);
	if (unlikely(d == NULL))
		return;
	if (d->fragments == 1) {
		rte_prefetch0(rte_pktmbuf_mtod(fm_extent_mbuf(&d->only), void *));
	} else if (d->height == 0) {
		fm_prefetch_mbufs(&r->node[d->root].leaf);
	} else if (d->height == 1) {
		const struct fm_inner *root = &r->node[d->root].inner;

		for (uint32_t i = 0; i < fm_inner_count(root); i++)
			fm_prefetch_cell(&r->node[root->child[i]]);
	}
}

static inline void fm_ahead_frames(const struct fm_reass *r, const struct fm_item *item)
{
	const struct fm_datagram *d;

	if (!item->completes)
		return;
	d = fm_ahead_of_item(r, item);
	if (d == NULL || d->fragments == 1)
		return;
	if (d->height == 0) {
		rte_prefetch0(rte_pktmbuf_mtod(fm_extent_mbuf(&r->node[d->root].leaf.extent[0]), void *));
	} else if (d->height == 1) {
		const struct fm_inner *root = &r->node[d->root].inner;

		for (uint32_t i = 0; i < fm_inner_count(root); i++)
			fm_prefetch_mbufs(&r->node[root->child[i]].leaf);
	}
}

/* Before the first item is worked off. */
static inline void fm_ahead_start(struct fm_reass *r, struct fm_item *item, uint32_t n)
{
	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)FM_AHEAD_PARTS); i++)
		fm_ahead_parts(r, &item[i]);
	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)FM_AHEAD_MBUFS); i++)
		fm_ahead_mbufs(r, &item[i]);
	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)FM_AHEAD_FRAMES); i++)
		fm_ahead_frames(r, &item[i]);
}

/* When item number `at` of `n` has been worked off. */
static inline void fm_ahead_of(struct fm_reass *r, struct fm_item *item, uint32_t at, uint32_t n)
{
	if (at + FM_AHEAD_PARTS < n)
		fm_ahead_parts(r, &item[at + FM_AHEAD_PARTS]);
	if (at + FM_AHEAD_MBUFS < n)
		fm_ahead_mbufs(r, &item[at + FM_AHEAD_MBUFS]);
	if (at + FM_AHEAD_FRAMES < n)
		fm_ahead_frames(r, &item[at + FM_AHEAD_FRAMES]);
}

#endif
