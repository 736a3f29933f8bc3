/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst's way through the table, and what becomes of each fragment in it. */
#include "internal.h"

enum { AHEAD = 4 };	/* fragments of a burst that are being prefetched for */

/* A fragment of the burst, between the stages. */
struct item {
	struct rte_mbuf *m;
	struct fm_frag frag;
	uint64_t hash;
	uint32_t guess;		/* entry that it most likely belongs to */
};

struct work {
	uint16_t n;
	struct item item[FM_BURST_MAX];
};

static unsigned int parse_flags(const struct fm_reass *r, const struct rte_mbuf *m)
{
	const uint64_t checksum = m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_MASK;
	unsigned int flags = r->settings.short_chain ? FM_PARSE_SHORT_CHAIN : 0;

	/* NONE: the port has verified the packet, though the field is not to be trusted (rte_mbuf_core.h). */
	if (checksum == RTE_MBUF_F_RX_IP_CKSUM_GOOD || checksum == RTE_MBUF_F_RX_IP_CKSUM_NONE)
		flags |= FM_PARSE_CHECKSUM_GOOD;
	else if (checksum == RTE_MBUF_F_RX_IP_CKSUM_BAD)
		flags |= FM_PARSE_CHECKSUM_BAD;
	return flags;
}

/* Headers that go on in the next segment are read from a copy of the frame: rare, slow and right. */
static enum fm_verdict parse_split(struct fm_reass *r, const struct rte_mbuf *m, uint16_t port, struct fm_frag *frag,
				   enum fm_outcome *why)
{
	const uint32_t len = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)FM_SCRATCH_LEN);
	const uint8_t *data = rte_pktmbuf_read(m, 0, len, r->scratch);
	enum fm_verdict verdict;

	if (data == NULL)
		return FM_VERDICT_MALFORMED;
	verdict = fm_frame_parse(data, len, rte_pktmbuf_pkt_len(m), port, parse_flags(r, m), frag, why);
	return verdict == FM_VERDICT_MORE ? FM_VERDICT_MALFORMED : verdict;
}

static enum fm_verdict parse(struct fm_reass *r, const struct rte_mbuf *m, uint16_t port, struct fm_frag *frag,
			     enum fm_outcome *why)
{
	const enum fm_verdict verdict = fm_frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
						       rte_pktmbuf_pkt_len(m), port, parse_flags(r, m), frag, why);

	return verdict == FM_VERDICT_MORE ? parse_split(r, m, port, frag, why) : verdict;
}

/*
 * Somebody else holds this mbuf too, so not even its lengths may be changed: go on with an indirect one of our own that
 * refers to the same bytes. NULL: no mbuf.
 */
static struct rte_mbuf *make_private(struct fm_reass *r, struct rte_mbuf *m)
{
	struct rte_mbuf *clone;

	if (likely(!fm_chain_shared(m)))
		return m;
	clone = r->header_pool == NULL ? NULL : rte_pktmbuf_clone(m, r->header_pool);
	if (clone == NULL)
		return NULL;
	rte_pktmbuf_free(m);
	return clone;
}

static void pass(struct fm_reass *r, struct rte_mbuf *m, enum fm_outcome outcome, struct fm_result *result)
{
	fm_count_add(&r->stats.count[outcome], 1);
	result->pass[result->n_pass++] = m;
}

static void done(struct fm_reass *r, struct rte_mbuf *m, struct fm_result *result)
{
	fm_count_add(&r->stats.count[FM_COMPLETED], result->whole[result->n_done].fragments);
	fm_count_add(&r->stats.datagrams_done, 1);
	result->done[result->n_done++] = m;
}

static void handle_atomic(struct fm_reass *r, struct item *item, struct fm_result *result)
{
	struct rte_mbuf *own = make_private(r, item->m), *m;
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

/* All fragments are here: join them, or drop them all for what the whole turned out to be. */
static void complete(struct fm_reass *r, struct fm_datagram *d, uint64_t now_tsc, struct fm_result *result)
{
	struct fm_whole *whole = &result->whole[result->n_done];
	enum fm_outcome why;
	struct rte_mbuf *m = fm_join(r, d, whole, &why);

	if (m == NULL) {
		fm_datagram_drop(r, d, why);
		return;
	}
	if (r->settings.verify_l4 && !fm_verify_l4(m, whole)) {
		const uint16_t fragments = whole->fragments;

		/* The frames are joined already: one observation, and the count of all of them. */
		fm_datagram_forget(r, d, fragments);
		fm_count_add(&r->stats.count[FM_BAD_L4_CHECKSUM], fragments - 1U);
		fm_drop(r, m, FM_BAD_L4_CHECKSUM);
		return;
	}
	fm_source_completed(r, d, now_tsc);
	fm_datagram_forget(r, d, 0);
	done(r, m, result);
}

static bool is_duplicate(const struct fm_extent *e, const struct rte_mbuf *m, const struct fm_frag *frag)
{
	return e != NULL && e->offset == frag->offset && e->length == frag->length && e->more == frag->more &&
	       fm_chain_equal(e->m, e->payload_at, m, frag->payload_at, frag->length);
}

static bool contradicts_end(const struct fm_reass *r, const struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t end = (uint32_t)frag->offset + frag->length;

	if (d->end != FM_END_UNKNOWN)
		return end > d->end || (!frag->more && end != d->end);
	return !frag->more && end < fm_extent_held_end(r, d);
}

/*
 *	  before            frag           after
 *	|--------|     |..........|     |---------|
 *	         ^ end >  offset        ^ offset < end: an overlap (RFC 5722, and for IPv4 the same)
 */
static bool overlaps(const struct fm_place *place, const struct fm_frag *frag)
{
	const uint32_t end = (uint32_t)frag->offset + frag->length;

	return (place->before != NULL && (uint32_t)place->before->offset + place->before->length > frag->offset) ||
	       (place->after != NULL && place->after->offset < end);
}

/* May this fragment join what is held? FM_OUTCOME_MAX: yes. */
static enum fm_outcome judge(const struct fm_reass *r, const struct fm_datagram *d, const struct rte_mbuf *m,
			     const struct fm_frag *frag, const struct fm_place *place)
{
	if (is_duplicate(place->after, m, frag))
		return FM_DUPLICATE;
	if (contradicts_end(r, d, frag))
		return FM_INCONSISTENT_END;
	if (overlaps(place, frag))
		return FM_OVERLAP;
	if (d->fragments >= r->settings.max_fragments || d->mbufs_held + m->nb_segs > FM_SEGS_MAX)
		return FM_TOO_MANY_FRAGMENTS;
	return FM_OUTCOME_MAX;
}

static bool completes(const struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t end = frag->more ? d->end : (uint32_t)frag->offset + frag->length;

	return d->bytes_held + frag->length == end;
}

/* Take note of what a stored fragment says about its datagram. */
static void note(struct fm_reass *r, struct fm_datagram *d, const struct fm_frag *frag)
{
	const uint32_t ip_len = (uint32_t)frag->payload_at - frag->l2_len + frag->length;

	d->fragments++;
	fm_count_add(&r->stats.held_fragments, 1);
	d->bytes_held = (uint16_t)(d->bytes_held + frag->length);
	d->ecn_seen |= 1 << frag->ecn;
	if (ip_len > d->largest)
		d->largest = (uint16_t)RTE_MIN(ip_len, (uint32_t)UINT16_MAX);
	if (!frag->more)
		d->end = (uint16_t)(frag->offset + frag->length);
	if (frag->offset == 0) {
		d->l2_len = (uint8_t)frag->l2_len;
		d->l3_len = frag->l3_len;
		d->next_at = frag->next_at;
		d->next_header = frag->next_header;
	}
}

/* A fragment that cannot be stored takes its datagram with it: all or nothing. */
static void give_up(struct fm_reass *r, struct fm_datagram *d, struct rte_mbuf *m, enum fm_outcome why,
		    enum fm_doom doom, uint64_t now_tsc)
{
	fm_datagram_condemn(r, d, why, doom, now_tsc);
	fm_drop(r, m, why);
}

static void store(struct fm_reass *r, struct fm_datagram *d, struct item *item, struct fm_place *place,
		  uint64_t now_tsc, struct fm_result *result)
{
	const bool last = completes(d, &item->frag);
	struct fm_extent extent = {
		.offset = item->frag.offset,
		.length = item->frag.length,
		.payload_at = item->frag.payload_at,
		.more = item->frag.more,
	};
	enum fm_outcome why;

	/* What completes a datagram is held by nobody: it needs no room. */
	if (!last && fm_admit_more(r, d, item->m->nb_segs, now_tsc, &why) == FM_REFUSE) {
		give_up(r, d, item->m, why, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	extent.m = make_private(r, item->m);
	if (extent.m == NULL) {
		give_up(r, d, item->m, FM_NO_MBUF, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	if (!fm_extent_insert(r, d, place, &extent)) {
		give_up(r, d, extent.m, FM_EVICTED_PROGRESS, FM_DOOM_PRESSURE, now_tsc);
		return;
	}
	fm_source_progress(r, d, extent.m->nb_segs, now_tsc);
	note(r, d, &item->frag);
	fm_source_gappy(r, d, d->bytes_held != fm_extent_held_end(r, d));
	fm_datagram_touch(r, d, extent.m->nb_segs, now_tsc);
	if (last)
		complete(r, d, now_tsc, result);
}

/* Begin a datagram. NULL: the fragment has met its fate. */
static struct fm_datagram *admit(struct fm_reass *r, struct item *item, uint64_t now_tsc)
{
	const enum fm_family_index family = item->frag.family == 4 ? FM_IPV4 : FM_IPV6;
	const bool headless = item->frag.offset != 0;
	struct fm_source *s = fm_source_find(r, &item->frag);
	const bool trial = !headless && fm_plan_trial(r, s);
	struct fm_datagram *d;
	enum fm_outcome why;

	if (fm_admit_new(r, s, headless, trial, item->m->nb_segs, now_tsc, &why) == FM_REFUSE) {
		const bool unlikely = fm_chance_new(r, s, headless) < fm_unlikely(r);

		fm_condemned_add(r, item->hash, unlikely ? FM_DOOM_UNLIKELY : FM_DOOM_PRESSURE, now_tsc,
				 now_tsc + fm_condemned_for_tsc(r, family));
		fm_drop(r, item->m, why);
		return NULL;
	}
	d = fm_datagram_new(r, &item->frag, (uint32_t)item->hash, now_tsc);
	fm_admit_note(r, d, s, headless, trial);
	return d;
}

/* Find the datagram of a fragment, or begin one. NULL: the fragment has met its fate. */
static struct fm_datagram *find_or_admit(struct fm_reass *r, struct item *item, uint64_t now_tsc)
{
	const enum fm_family_index family = item->frag.family == 4 ? FM_IPV4 : FM_IPV6;
	struct fm_datagram *d = fm_index_find(r, &item->frag.key, family, (uint32_t)item->hash);

	/* RFC 8200 4.5: the time runs from the first fragment that came, whatever came since. */
	if (d != NULL && fm_expired(r, d, now_tsc)) {
		fm_datagram_expire(r, d);
		d = NULL;
	}
	if (d != NULL)
		return d;
	if (fm_condemned_find(r, item->hash, family, now_tsc)) {
		fm_drop(r, item->m, FM_CONDEMNED);
		return NULL;
	}
	return admit(r, item, now_tsc);
}

static void handle_fragment(struct fm_reass *r, struct item *item, uint64_t now_tsc, struct fm_result *result)
{
	struct fm_datagram *d;
	struct fm_place place;
	enum fm_outcome why;

	if (item->frag.atomic) {
		handle_atomic(r, item, result);
		return;
	}
	if ((int64_t)(now_tsc - r->cool_at_tsc) >= 0)
		fm_admit_cool(r, now_tsc);
	d = find_or_admit(r, item, now_tsc);
	if (d == NULL)
		return;
	fm_extent_find(r, d, item->frag.offset, &place);
	why = judge(r, d, item->m, &item->frag, &place);
	if (why == FM_OUTCOME_MAX)
		store(r, d, item, &place, now_tsc, result);
	else if (why == FM_DUPLICATE)
		fm_drop(r, item->m, why);
	else
		give_up(r, d, item->m, why, FM_DOOM_FAULTY, now_tsc);
}

/* Stage one: look at every frame; fragments go on, everything else is done with. */
static void parse_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint16_t n, uint16_t port,
			struct fm_result *result, struct work *work)
{
	for (uint16_t i = 0; i < n; i++) {
		struct item *item = &work->item[work->n];
		enum fm_outcome why = FM_OUTCOME_MAX;

		switch (parse(r, in[i], port, &item->frag, &why)) {
		case FM_VERDICT_PASS:
			pass(r, in[i], FM_PASSED, result);
			break;
		case FM_VERDICT_FRAGMENT:
			item->m = in[i];
			item->hash = fm_key_hash(r, &item->frag.key, item->frag.family == 4 ? FM_IPV4 : FM_IPV6);
			rte_prefetch0(fm_index_bucket(r, (uint32_t)item->hash));
			work->n++;
			fm_count_add(&r->stats.fragments_in, 1);
			break;
		case FM_VERDICT_DROP:
			fm_count_add(&r->stats.fragments_in, 1);
			fm_drop(r, in[i], why);
			break;
		default:
			pass(r, in[i], FM_PASSED_MALFORMED, result);
			break;
		}
	}
}

/* Stage two: the bucket has come, so ask for the entry. */
static void prefetch_entries(const struct fm_reass *r, struct work *work)
{
	for (uint16_t i = 0; i < work->n; i++) {
		struct item *item = &work->item[i];

		item->guess = fm_index_guess(r, (uint32_t)item->hash);
		if (item->guess == FM_NONE) {
			if (r->stats.condemned > 0)
				rte_prefetch0(fm_condemned_set(r, item->hash));
			continue;
		}
		rte_prefetch0(fm_entry(r, item->guess));
		rte_prefetch0((const uint8_t *)fm_entry(r, item->guess) + FM_LINE);
	}
}

/* Stage three, some fragments ahead: the entry has come, so ask for what it points to. */
static void prefetch_parts(const struct fm_reass *r, const struct work *work, uint16_t i)
{
	const struct fm_datagram *d;

	if (i >= work->n || work->item[i].guess == FM_NONE)
		return;
	d = fm_entry(r, work->item[i].guess);
	rte_prefetch0(&r->node[d->tail]);
	rte_prefetch0(&r->sources.record[d->source]);
}

void fm_reass_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint16_t n, uint16_t port, uint64_t now_tsc,
		    struct fm_result *result)
{
	struct work work;

	assert(n <= FM_BURST_MAX);
	work.n = 0;
	result->n_pass = 0;
	result->n_done = 0;
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	fm_count_add(&r->stats.frames_in, n);
	parse_burst(r, in, n, port, result, &work);
	prefetch_entries(r, &work);
	for (uint16_t i = 0; i < RTE_MIN(work.n, (uint16_t)AHEAD); i++)
		prefetch_parts(r, &work, i);
	for (uint16_t i = 0; i < work.n; i++) {
		prefetch_parts(r, &work, i + AHEAD);
		handle_fragment(r, &work.item[i], now_tsc, result);
	}
	fm_drop_flush(r);
}

const struct fm_reass_stats *fm_reass_stats(const struct fm_reass *r)
{
	return &r->stats;
}
