/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams of which everything is there: joined, or dropped for what the whole turned out to be. */
#include "fragment.h"
#include "internal.h"
#include "join.h"
#include "source.h"
#include "young.h"

static inline void done(struct fm_reass *r, struct rte_mbuf *m, struct fm_result *result)
{
	fm_count_add(&r->stats.count[FM_COMPLETED], result->whole[result->n_done].fragments);
	fm_count_add(&r->stats.datagrams_done, 1);
	result->done[result->n_done++] = m;
}

void fm_whole_atomic(struct fm_reass *r, struct fm_item *item, struct fm_result *result)
{
	struct rte_mbuf *own = fm_make_private(r, item->m), *m;
	enum fm_outcome why;

	if (own == NULL) {
		fm_drop(r, item->m, FM_NO_MBUF);
		return;
	}
	m = fm_join_atomic(r, own, &item->frag, &result->whole[result->n_done], &why);
	if (m == NULL)
		fm_drop(r, own, why);
	else
		done(r, m, result);
}

/* Joined, but is it what was sent? False: it has been dropped. */
static inline bool verified(struct fm_reass *r, struct rte_mbuf *m, const struct fm_whole *whole)
{
	if (likely(!r->settings.verify_l4) || fm_verify_l4(m, whole))
		return true;
	/* The frames are joined already: one observation, and the count of all of them. */
	fm_count_add(&r->stats.count[FM_BAD_L4_CHECKSUM], whole->fragments - 1U);
	fm_drop(r, m, FM_BAD_L4_CHECKSUM);
	return false;
}

void fm_whole_held(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, uint64_t now_tsc,
		   struct fm_result *result)
{
	struct fm_whole *whole = &result->whole[result->n_done];
	const struct fm_joint joint = {
		.key = &d->key,
		.run = fm_run_first(r, d),
		.end = d->end,
		.largest = d->largest,
		.fragments = d->fragments,
		.family = d->family,
		.ecn_seen = d->ecn_seen,
	};
	enum fm_outcome why;
	struct rte_mbuf *m = fm_join(r, &joint, whole, &why);

	if (unlikely(m == NULL)) {
		fm_datagram_drop(r, d, why);
		return;
	}
	if (unlikely(!verified(r, m, whole))) {
		fm_datagram_forget(r, d, d->fragments);
		return;
	}
	if (fm_is_young(d)) {
		struct fm_source *s = fm_item_source(r, item);

		if (!fm_source_goes_on(s, d->mbufs_held, d->fragments))
			fm_source_ended(r, s, &(struct fm_end){
				.mbufs = d->mbufs_held,
				.fragments = d->fragments,
				.marks = d->marks,
				.took_tsc = fm_elapsed(d->first_seen_tsc, now_tsc),
				.gap_tsc = fm_elapsed(d->last_seen_tsc, now_tsc),
			});
		fm_datagram_leave(r, d);
	} else {
		fm_source_completed(r, d, now_tsc);
		fm_datagram_forget(r, d, 0);
	}
	done(r, m, result);
}

/* Two fragments, one of them held: as most datagrams are. */
void fm_whole_pair(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, struct rte_mbuf *m,
		   uint64_t now_tsc, struct fm_result *result)
{
	const bool behind = item->frag.offset != 0;
	const struct fm_extent other = fm_item_extent(&item->frag, m);
	const struct fm_extent extent[2] = { behind ? d->only : other, behind ? other : d->only };
	const struct fm_joint joint = {
		.key = &d->key,
		.run = { .extent = extent, .count = 2, .next = FM_NONE },
		.end = (uint16_t)fm_extent_end(&extent[1]),
		.largest = (uint16_t)RTE_MAX((uint32_t)d->largest, fm_frag_ip_len(&item->frag)),
		.fragments = 2,
		.family = d->family,
		.ecn_seen = (uint8_t)(d->ecn_seen | 1 << item->frag.ecn),
	};
	const uint32_t mbufs = (uint32_t)d->mbufs_held + m->nb_segs;
	struct fm_whole *whole = &result->whole[result->n_done];
	struct fm_source *s;
	enum fm_outcome why;

	m = fm_join(r, &joint, whole, &why);
	if (unlikely(m == NULL)) {
		fm_drop(r, fm_extent_mbuf(&other), why);
		fm_datagram_drop(r, d, why);
		return;
	}
	if (unlikely(!verified(r, m, whole))) {
		fm_datagram_forget(r, d, 2);
		return;
	}
	s = fm_item_source(r, item);
	if (!fm_source_goes_on(s, mbufs, 2))
		fm_source_ended(r, s, &(struct fm_end){
			.mbufs = mbufs,
			.fragments = 2,
			.marks = d->marks,
			.took_tsc = fm_elapsed(d->first_seen_tsc, now_tsc),
			.gap_tsc = fm_elapsed(d->first_seen_tsc, now_tsc),
		});
	fm_datagram_leave(r, d);
	done(r, m, result);
}

/* A datagram that is put together from a burst, and what is to be learned from it. */
struct gathered {
	struct fm_extent extent[FM_BURST_MAX];
	uint32_t n, bytes, mbufs, largest;
	uint8_t ecn_seen;
};

static inline void gather(struct gathered *g, uint32_t at, const struct fm_item *item)
{
	g->extent[at] = fm_item_extent(&item->frag, item->m);
	g->n++;
	g->bytes += item->frag.length;
	g->mbufs += item->m->nb_segs;
	g->largest = RTE_MAX(g->largest, fm_frag_ip_len(&item->frag));
	g->ecn_seen |= (uint8_t)(1 << item->frag.ecn);
}

/* As they mostly come: each begins where the one before it ends. False: that is not so, or the last one is not here. */
static inline bool gather_in_order(struct gathered *g, const struct fm_item *item, uint32_t n)
{
	uint32_t bytes = 0, mbufs = 0, largest = 0, ecn_seen = 0;

	for (uint32_t i = 0; i < n; i++, item++) {
		if (unlikely(item->frag.offset != bytes || fm_is_shared(item->m)))
			return false;
		g->extent[i] = fm_item_extent(&item->frag, item->m);
		bytes += item->frag.length;
		mbufs += item->m->nb_segs;
		largest = RTE_MAX(largest, fm_frag_ip_len(&item->frag));
		ecn_seen |= 1U << item->frag.ecn;
		if (!item->frag.more) {
			g->n = i + 1;
			g->bytes = bytes;
			g->mbufs = mbufs;
			g->largest = largest;
			g->ecn_seen = (uint8_t)ecn_seen;
			return true;
		}
	}
	return false;
}

/* Nothing is missing, and nothing there twice. */
static bool is_whole(const struct gathered *g)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		if (fm_extent_offset(&g->extent[i]) != end || fm_extent_more(&g->extent[i]) != (i + 1 < g->n))
			return false;
		end = fm_extent_end(&g->extent[i]);
	}
	return true;
}

/* In any order, as long as those up to the one that completes the datagram come before others. */
static __rte_noinline bool gather_in_any_order(struct gathered *g, const struct fm_item *item, uint32_t n)
{
	uint32_t end = 0;

	g->n = g->bytes = g->mbufs = g->largest = g->ecn_seen = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;

		if (fm_is_shared(item[i].m))
			return false;
		for (; at > 0 && fm_extent_offset(&g->extent[at - 1]) > item[i].frag.offset; at--)
			g->extent[at] = g->extent[at - 1];
		gather(g, at, &item[i]);
		if (!item[i].frag.more)
			end = (uint32_t)item[i].frag.offset + item[i].frag.length;
		if (g->bytes == end)
			return is_whole(g);
	}
	return false;
}

static void drop_all(struct fm_reass *r, const struct fm_item *item, uint32_t n, enum fm_outcome why)
{
	for (uint32_t i = 0; i < n; i++)
		fm_drop(r, item[i].m, why);
}

uint32_t fm_whole_at_once(struct fm_reass *r, struct fm_item *item, uint32_t n, struct fm_result *result)
{
	struct fm_whole *whole = &result->whole[result->n_done];
	struct fm_joint joint;
	struct gathered g;
	struct fm_source *s;
	enum fm_outcome why;
	struct rte_mbuf *m;

	n = RTE_MIN(n, (uint32_t)r->settings.max_fragments);
	if (!gather_in_order(&g, item, n) && !gather_in_any_order(&g, item, n))
		return 0;
	if (unlikely(g.mbufs > FM_SEGS_MAX))
		return 0;
	joint = (struct fm_joint){
		.key = &item->frag.key,
		.run = { .extent = g.extent, .count = g.n, .next = FM_NONE },
		.end = (uint16_t)g.bytes,
		.largest = (uint16_t)RTE_MIN(g.largest, (uint32_t)UINT16_MAX),
		.fragments = (uint16_t)g.n,
		.family = fm_item_family(item),
		.ecn_seen = g.ecn_seen,
	};
	m = fm_join(r, &joint, whole, &why);
	if (unlikely(m == NULL)) {
		drop_all(r, item, g.n, why);
		fm_item_source(r, item)->wasted += g.n;
		return g.n;
	}
	if (unlikely(!verified(r, m, whole))) {
		fm_item_source(r, item)->wasted += g.n;
		return g.n;
	}
	s = fm_item_source(r, item);
	if (!fm_source_goes_on(s, g.mbufs, g.n))
		fm_source_ended(r, s, &(struct fm_end){ .mbufs = g.mbufs, .fragments = g.n });
	done(r, m, result);
	return g.n;
}
