/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of a fragment: it is held, completes its datagram, or is dropped for a reason. */
#include "ahead.h"
#include "fragment.h"
#include "internal.h"
#include "promise.h"
#include "source.h"
#include "young.h"

/*
 * Somebody else holds this mbuf too, so not even its lengths may be changed: go on with an indirect one of our own that
 * refers to the same bytes. NULL: no mbuf.
 */
struct rte_mbuf *fm_own_clone(struct fm_reass *r, struct rte_mbuf *m)
{
	struct rte_mbuf *own = r->header_pool == NULL ? NULL : rte_pktmbuf_clone(m, r->header_pool);

	if (own == NULL)
		return NULL;
	rte_pktmbuf_free(m);
	return own;
}

/* One segment, and ours alone. */
static inline bool is_plain(const struct rte_mbuf *m)
{
	return rte_mbuf_refcnt_read(m) == 1 && m->nb_segs == 1;
}

static bool is_duplicate(const struct fm_extent *e, const struct rte_mbuf *m, const struct fm_frag *frag)
{
	return e != NULL && fm_extent_offset(e) == frag->offset && e->length == frag->length &&
	       fm_extent_more(e) == frag->more &&
	       fm_chain_equal(fm_extent_mbuf(e), e->payload_at, m, frag->payload_at, frag->length);
}

/* Without branches: where the last fragment comes early or late, they would be guessed wrongly half of the time. */
static inline bool contradicts_end(const struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t end = (uint32_t)frag->offset + frag->length, last = !frag->more;
	const uint32_t known = d->end != FM_END_UNKNOWN;

	return (known & ((end > d->end) | (last & (end != d->end)))) | ((known ^ 1) & last & (end < d->held_end));
}

/*
 *	  before            frag           after
 *	|--------|     |..........|     |---------|
 *	         ^ end >  offset        ^ offset < end: an overlap (RFC 5722, and for IPv4 the same)
 */
static bool overlaps(const struct fm_place *place, const struct fm_frag *frag)
{
	const uint32_t end = (uint32_t)frag->offset + frag->length;

	return (place->before != NULL && fm_extent_end(place->before) > frag->offset) ||
	       (place->after != NULL && fm_extent_offset(place->after) < end);
}

/* Take note of what a stored fragment says about its datagram. */
static inline void note(struct fm_reass *r, struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t ip_len = fm_frag_ip_len(frag);
	const uint32_t end = (uint32_t)frag->offset + frag->length;

	d->fragments++;
	fm_count_add(&r->stats.held_fragments, 1);
	d->bytes_held = (uint16_t)(d->bytes_held + frag->length);
	d->ecn_seen |= (uint8_t)(1 << frag->ecn);
	d->largest = (uint16_t)RTE_MAX((uint32_t)d->largest, RTE_MIN(ip_len, (uint32_t)UINT16_MAX));
	d->end = frag->more ? d->end : (uint16_t)end;
	d->held_end = (uint16_t)RTE_MAX((uint32_t)d->held_end, end);
}

/* A fragment that cannot be stored takes its datagram with it: all or nothing. */
static __rte_noinline __rte_cold void give_up(struct fm_reass *r, struct fm_datagram *d, struct rte_mbuf *m,
					       enum fm_outcome why, enum fm_doom doom, uint64_t now_tsc)
{
	fm_datagram_condemn(r, d, why, doom, now_tsc);
	fm_drop(r, m, why);
}

/*
 * Where does it belong, and may it go there? FM_OUTCOME_MAX: yes. One behind all others, as they mostly come, overlaps
 * with nothing and is no duplicate.
 */
static inline enum fm_outcome judge(const struct fm_reass *r, const struct fm_datagram *d, const struct fm_item *item,
				    struct fm_place *place)
{
	const struct fm_frag *frag = &item->frag;

	place->append = frag->offset >= d->held_end;
	if (unlikely(!place->append)) {
		place->before = place->after = NULL;
		fm_extent_seek(r, d, frag->offset, place);
		if (is_duplicate(place->after, item->m, frag))
			return FM_DUPLICATE;
	}
	if (unlikely(contradicts_end(d, frag)))
		return FM_INCONSISTENT_END;
	if (unlikely(!place->append) && overlaps(place, frag))
		return FM_OVERLAP;
	if (unlikely(d->fragments >= r->settings.max_fragments || d->mbufs_held + item->m->nb_segs > FM_SEGS_MAX))
		return FM_TOO_MANY_FRAGMENTS;
	return FM_OUTCOME_MAX;
}

/* A young datagram's; nobody has to know. */
static inline void hold_young(struct fm_reass *r, struct fm_datagram *d, const struct fm_frag *frag, uint32_t mbufs,
			      uint64_t now_tsc)
{
	uint32_t gap;

	note(r, d, frag);
	fm_datagram_hold(r, d, mbufs, now_tsc);
	gap = d->bytes_held != d->held_end;
	d->marks = (uint8_t)((d->marks & ~FM_MARK_GAPPY) | gap * (FM_MARK_GAPPY | FM_MARK_HOLED));
}

static inline bool put(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place, struct fm_extent extent)
{
	return likely(place->append) ? fm_extent_append(r, d, extent) : fm_extent_insert(r, d, place, extent);
}

/* One more fragment for a datagram that has some. */
static inline void store(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, struct fm_place *place,
			 uint64_t now_tsc, struct fm_result *result)
{
	const bool last = fm_completes(d, &item->frag);
	struct rte_mbuf *m = item->m;
	enum fm_outcome why;

	if (unlikely(!r->at_ease) && fm_is_young(d))
		fm_young_enroll(r, d);
	/* What completes a datagram is held by nobody: it needs no room. */
	if (!last && unlikely(!fm_fits(r, m->nb_segs)) &&
	    fm_admit_more(r, d, m->nb_segs, now_tsc, &why) == FM_REFUSE) {
		give_up(r, d, m, why, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	m = fm_make_private(r, m);
	if (unlikely(m == NULL)) {
		give_up(r, d, item->m, FM_NO_MBUF, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	if (last && d->fragments == 1 && fm_is_young(d)) {
		fm_whole_pair(r, d, item, m, now_tsc, result);
		return;
	}
	if (unlikely(!put(r, d, place, fm_item_extent(&item->frag, m)))) {
		give_up(r, d, m, FM_EVICTED_PROGRESS, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	if (likely(fm_is_young(d))) {
		hold_young(r, d, &item->frag, m->nb_segs, now_tsc);
	} else {
		fm_source_progress(r, d, m->nb_segs, now_tsc);
		note(r, d, &item->frag);
		if (!last) {
			fm_datagram_touch(r, d, m->nb_segs, fm_source_gappy(r, d), now_tsc);
			return;
		}
		fm_plan_remove(r, d);
		fm_datagram_hold(r, d, m->nb_segs, now_tsc);
	}
	if (last)
		fm_whole_held(r, d, item, now_tsc, result);
}

static __rte_noinline __rte_cold void refuse(struct fm_reass *r, const struct fm_item *item, enum fm_outcome why,
					      enum fm_doom doom, uint64_t now_tsc)
{
	const enum fm_family_index family = fm_item_family(item);
	const uint64_t for_tsc = doom == FM_DOOM_FAULTY ? r->settings.timeout_tsc[family] :
							  fm_condemned_for_tsc(r, family);

	fm_condemned_add(r, item->hash, doom, now_tsc, now_tsc + for_tsc);
	fm_drop(r, item->m, why);
}

/* Its first fragment, one way or the other. */
static inline struct fm_datagram *begin_with(struct fm_reass *r, const struct fm_item *item, struct rte_mbuf *m,
					     uint64_t now_tsc)
{
	struct fm_datagram *d = fm_datagram_new(r, &item->frag, (uint32_t)item->hash, m->nb_segs, now_tsc);

	d->only = fm_item_extent(&item->frag, m);
	note(r, d, &item->frag);
	return d;
}

enum { ENROLL_EACH = 4 };	/* young ones, for each that begins */

/* Begin a datagram while memory is scarce, if that may be. Returns its number; FM_NONE: it may not. */
static __rte_noinline uint32_t begin_judged(struct fm_reass *r, struct fm_item *item, uint64_t now_tsc)
{
	struct fm_ask ask = { .headless = item->frag.offset != 0 };
	struct fm_datagram *d;
	struct rte_mbuf *m;
	enum fm_outcome why;

	/*
	 * More than half of the budget is spoken for. Each that begins now takes an mbuf or more of the other half, so
	 * all young ones are enrolled before that is used up.
	 */
	if (r->n_young > 0)
		fm_young_enroll_some(r, ENROLL_EACH, now_tsc);
	ask.source = fm_item_source(r, item);
	ask.trial = !ask.headless && fm_plan_trial(r, ask.source);
	if (fm_admit_new(r, &ask, item->m->nb_segs, now_tsc, &why) == FM_REFUSE) {
		const bool unlikely = fm_chance_new(r, ask.source, ask.headless) < fm_unlikely(r);

		refuse(r, item, why, unlikely ? FM_DOOM_UNLIKELY : FM_DOOM_PRESSURE, now_tsc);
		return FM_NONE;
	}
	m = fm_make_private(r, item->m);
	if (unlikely(m == NULL)) {
		refuse(r, item, FM_NO_MBUF, FM_DOOM_PRESSURE, now_tsc);
		return FM_NONE;
	}
	/* Others have been judged to make room, and a new record is the first to be given up for theirs. */
	if (unlikely(!fm_source_is(ask.source, &item->who)))
		ask.source = fm_source_find(r, &item->who);
	d = begin_with(r, item, m, now_tsc);
	fm_admit_note(r, d, &ask);
	fm_source_hold(r, ask.source, m->nb_segs);
	fm_source_gappy(r, d);
	fm_datagram_enlist(r, d, d->marks & FM_MARK_GAPPY ? ask.chance * r->sources.gappy : ask.chance);
	return fm_number(r, d);
}

/* While there is enough for everybody. */
static inline uint32_t begin_young(struct fm_reass *r, struct fm_item *item, uint64_t now_tsc)
{
	struct rte_mbuf *m = fm_make_private(r, item->m);
	struct fm_datagram *d;

	if (unlikely(m == NULL)) {
		refuse(r, item, FM_NO_MBUF, FM_DOOM_PRESSURE, now_tsc);
		return FM_NONE;
	}
	d = begin_with(r, item, m, now_tsc);
	fm_young_add(r, d);
	if (unlikely(item->frag.offset != 0))
		d->marks = FM_MARK_HEADLESS | FM_MARK_GAPPY | FM_MARK_HOLED;
	return fm_number(r, d);
}

/* A fragment of a datagram that nothing is held of: may it begin one? False: it has been dropped. */
static inline bool may_begin(struct fm_reass *r, struct fm_item *item, uint64_t now_tsc)
{
	if (unlikely(r->stats.condemned > 0) && fm_condemned_find(r, item->hash, fm_item_family(item), now_tsc)) {
		fm_drop(r, item->m, FM_CONDEMNED);
		return false;
	}
	if (unlikely(item->m->nb_segs > FM_SEGS_MAX)) {
		refuse(r, item, FM_TOO_MANY_FRAGMENTS, FM_DOOM_FAULTY, now_tsc);
		return false;
	}
	return true;
}

/* The live datagram with the key of `item`. */
static inline struct fm_datagram *find(struct fm_reass *r, const struct fm_item *item, uint64_t now_tsc)
{
	struct fm_datagram *d = fm_entry(r, item->guess);

	if (!fm_datagram_is(d, &item->frag.key, (uint32_t)item->hash))
		d = fm_index_find(r, &item->frag.key, (uint32_t)item->hash);
	/* RFC 8200 4.5: the time runs from the first fragment that came, whatever came since. */
	if (d != NULL && unlikely(fm_expired(r, d, now_tsc))) {
		fm_datagram_expire(r, d);
		d = NULL;
	}
	return d;
}

/* Of one segment and for a young datagram, within all limits: there is nobody to be asked. */
static inline bool may_go_quickly(const struct fm_reass *r, const struct fm_datagram *d, const struct fm_item *item)
{
	return fm_is_young(d) && r->at_ease && is_plain(item->m) && d->fragments < r->settings.max_fragments &&
	       d->mbufs_held < FM_SEGS_MAX && fm_fits(r, 1);
}

/*
 * What most fragments of larger datagrams are: neither the first nor the last one seen of a young datagram, and behind
 * all others. Nothing that can go wrong does. False: it is not as simple as that, and nothing has been done.
 */
static inline bool append_quickly(struct fm_reass *r, struct fm_datagram *d, const struct fm_item *item,
				  uint64_t now_tsc)
{
	const struct fm_frag *frag = &item->frag;
	struct fm_leaf *leaf;

	if (frag->offset < d->held_end || d->fragments < 2 || d->end != FM_END_UNKNOWN || !frag->more ||
	    unlikely(!may_go_quickly(r, d, item)))
		return false;
	leaf = &r->node[d->tail].leaf;
	if (unlikely(fm_leaf_count(leaf) == FM_LEAF_EXTENTS))
		return false;
	leaf->extent[fm_leaf_count(leaf)] = fm_item_extent(frag, item->m);
	leaf->head++;
	hold_young(r, d, frag, 1, now_tsc);
	return true;
}

/* The same in disorder, as long as one leaf holds all. Few branches, as nobody can foretell where such fragments go. */
static inline bool insert_quickly(struct fm_reass *r, struct fm_datagram *d, const struct fm_item *item,
				  uint64_t now_tsc)
{
	const struct fm_frag *frag = &item->frag;
	const uint32_t end = (uint32_t)frag->offset + frag->length;
	struct fm_extent *extent;
	struct fm_leaf *leaf;
	uint32_t count, at;

	if (d->fragments < 2 || d->height > 0 || fm_completes(d, frag) ||
	    unlikely(!may_go_quickly(r, d, item) || contradicts_end(d, frag)))
		return false;
	leaf = &r->node[d->tail].leaf;
	extent = leaf->extent;
	count = fm_leaf_count(leaf);
	if (unlikely(count == FM_LEAF_EXTENTS))
		return false;
	for (at = count; at > 0 && fm_extent_offset(&extent[at - 1]) >= frag->offset; at--)
		extent[at] = extent[at - 1];
	if (unlikely((at > 0 && fm_extent_end(&extent[at - 1]) > frag->offset) ||
		     (at < count && fm_extent_offset(&extent[at + 1]) < end))) {
		for (; at < count; at++)
			extent[at] = extent[at + 1];
		return false;
	}
	extent[at] = fm_item_extent(frag, item->m);
	leaf->head++;
	hold_young(r, d, frag, 1, now_tsc);
	return true;
}

/* Another fragment of a datagram. */
static inline void more(struct fm_reass *r, struct fm_datagram *d, struct fm_item *item, uint64_t now_tsc,
			struct fm_result *result)
{
	struct fm_place place;
	enum fm_outcome why;

	if (item[1].same)
		item[1].guess = fm_number(r, d);
	if (append_quickly(r, d, item, now_tsc) || insert_quickly(r, d, item, now_tsc))
		return;
	why = judge(r, d, item, &place);
	if (likely(why == FM_OUTCOME_MAX))
		store(r, d, item, &place, now_tsc, result);
	else if (why == FM_DUPLICATE)
		fm_drop(r, item->m, why);
	else
		give_up(r, d, item->m, why, FM_DOOM_FAULTY, now_tsc);
}

/* Fragments of one datagram that came one after the other. */
static inline uint32_t count_same(const struct fm_item *item)
{
	uint32_t n = 1;

	while (item[n].same && !item[n].frag.atomic)
		n++;
	return n;
}

/* Begins a datagram, or is one with those behind it. Returns how many have been taken. */
static inline uint32_t begin(struct fm_reass *r, struct fm_item *item, uint64_t now_tsc, struct fm_result *result)
{
	uint32_t taken, begun;

	if (unlikely(!may_begin(r, item, now_tsc)))
		return 1;
	if (item[1].same) {
		taken = fm_whole_at_once(r, item, count_same(item), result);
		if (taken > 0)
			return taken;
	}
	r->at_ease = fm_at_ease(r) && fm_fits(r, item->m->nb_segs);
	begun = likely(r->at_ease) ? begin_young(r, item, now_tsc) : begin_judged(r, item, now_tsc);
	if (item[1].same)
		item[1].guess = begun;
	return 1;
}

void fm_work_off(struct fm_reass *r, struct fm_work *work, bool far, uint64_t now_tsc, struct fm_result *result)
{
	struct fm_item *item = fm_work_first(work);
	uint32_t taken;

	if (far)
		fm_ahead_start(r, item, work->n);
	for (uint32_t i = 0; i < work->n; i += taken, item += taken) {
		struct fm_datagram *d;

		taken = 1;
		if (unlikely(item->frag.atomic)) {
			fm_whole_atomic(r, item, result);
		} else {
			d = find(r, item, now_tsc);
			if (d != NULL)
				more(r, d, item, now_tsc, result);
			else
				taken = begin(r, item, now_tsc, result);
		}
		for (uint32_t j = i; far && j < i + taken; j++)
			fm_ahead_of(r, fm_work_first(work), j, work->n);
	}
}
