/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst's way through the table: stages that go over all of it, each asking for the memory of the next one. */
#include "fragment.h"
#include "quick.h"
#include "young.h"

enum {
	HEADERS_AHEAD = 8,	/* frames of a burst whose headers are on their way */
	NEAR_DATAGRAMS = 96,	/* so many, and what belongs to them, lie in the nearest cache: nothing to ask for */
};

static inline unsigned int parse_flags(const struct fm_reass *r, const struct rte_mbuf *m)
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

static __rte_noinline enum fm_verdict parse_all(struct fm_reass *r, const struct rte_mbuf *m, uint16_t port,
						struct fm_frag *frag, enum fm_outcome *why)
{
	const enum fm_verdict verdict = fm_frame_parse(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
						       rte_pktmbuf_pkt_len(m), port, parse_flags(r, m), frag, why);

	return verdict == FM_VERDICT_MORE ? parse_split(r, m, port, frag, why) : verdict;
}

static inline enum fm_verdict parse(struct fm_reass *r, const struct rte_mbuf *m, uint16_t port, struct fm_frag *frag,
				    enum fm_outcome *why)
{
	const enum fm_verdict verdict = fm_frame_quick(rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
						       rte_pktmbuf_pkt_len(m), port, parse_flags(r, m), frag);

	return unlikely(verdict == FM_VERDICT_MORE) ? parse_all(r, m, port, frag, why) : verdict;
}

/* Its key is to be hashed. */
static inline void add_key(struct fm_work *work, const struct fm_item *item)
{
	const struct fm_key *key = &item->frag.key;
	const uint16_t at = (uint16_t)(item - work->item);

	if (item->frag.family == 4) {
		struct fm_work_keys *keys = &work->keys[FM_IPV4];

		work->ipv4[0][keys->n] = key->word[0];
		work->ipv4[1][keys->n] = key->word[1];
		keys->item[keys->n++] = at;
	} else {
		struct fm_work_keys *keys = &work->keys[FM_IPV6];

		for (unsigned int i = 0; i < FM_KEY_IPV6_WORDS; i++)
			work->ipv6[i][keys->n] = key->word[i];
		keys->item[keys->n++] = at;
	}
}

/* A frame that cannot be told to be a fragment, or a fragment not to go on with. */
static void set_aside(struct fm_reass *r, struct rte_mbuf *m, enum fm_verdict verdict, enum fm_outcome why,
		      struct fm_result *result)
{
	if (verdict == FM_VERDICT_DROP) {
		fm_count_add(&r->stats.fragments_in, 1);
		fm_drop(r, m, why);
		return;
	}
	fm_count_add(&r->stats.count[FM_PASSED_MALFORMED], 1);
	result->pass[result->n_pass++] = m;
}

/* Stage one: look at every frame; fragments go on, everything else is done with. */
static inline void parse_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint32_t n, uint16_t port,
			       struct fm_result *result, struct fm_work *work)
{
	struct fm_item *item = fm_work_first(work);
	uint32_t passed = 0;

	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)HEADERS_AHEAD); i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = in[i];
		enum fm_verdict verdict;
		enum fm_outcome why;

		if (i + HEADERS_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(in[i + HEADERS_AHEAD], void *));
		verdict = parse(r, m, port, &item->frag, &why);
		if (verdict == FM_VERDICT_PASS) {
			passed++;
			result->pass[result->n_pass++] = m;
			continue;
		}
		if (unlikely(verdict != FM_VERDICT_FRAGMENT)) {
			set_aside(r, m, verdict, why, result);
			continue;
		}
		item->m = m;
		item->asked = false;
		item->same = fm_key_equal(&item->frag.key, &item[-1].frag.key) &&
			     item->frag.family == item[-1].frag.family;
		if (likely(!item->same))
			add_key(work, item);
		item++;
	}
	item->same = false;
	work->n = (uint32_t)(item - fm_work_first(work));
	fm_count_add(&r->stats.fragments_in, work->n);
	if (passed > 0)
		fm_count_add(&r->stats.count[FM_PASSED], passed);
}

/* Stage two: hash the keys, those of a family side by side, and ask for the buckets. */
static void hash_family(const struct fm_reass *r, struct fm_work *work, enum fm_family_index family)
{
	struct fm_work_keys *keys = &work->keys[family];

	if (keys->n == 0)
		return;
	if (family == FM_IPV4)
		r->lanes(&r->secret, work->ipv4, FM_KEY_IPV4_WORDS, keys->n, keys->hash);
	else
		r->lanes(&r->secret, work->ipv6, FM_KEY_IPV6_WORDS, keys->n, keys->hash);
	for (uint32_t i = 0; i < keys->n; i++) {
		const uint64_t hash = family == FM_IPV4 ? keys->hash[i] & ~FM_HASH_IPV6 : keys->hash[i] | FM_HASH_IPV6;

		work->item[keys->item[i]].hash = hash;
		rte_prefetch0(fm_index_bucket(r, (uint32_t)hash));
	}
}

/* Stage three: the bucket has come, so ask for the entry. */
static void prefetch_entries(const struct fm_reass *r, struct fm_work *work)
{
	for (uint32_t i = 1; i <= work->n; i++) {
		struct fm_item *item = &work->item[i];
		const uint8_t *entry;

		if (item->same) {
			item->hash = item[-1].hash;
			item->guess = item[-1].guess;
			continue;
		}
		item->guess = fm_index_guess(r, (uint32_t)item->hash);
		entry = (const uint8_t *)fm_entry(r, item->guess);
		rte_prefetch0(entry);
		rte_prefetch0(entry + FM_LINE);
		if (item->guess == FM_NONE && r->stats.condemned > 0)
			rte_prefetch0(fm_condemned_set(r, item->hash));
	}
}

static void guess_entries(const struct fm_reass *r, struct fm_work *work)
{
	for (uint32_t i = 1; i <= work->n; i++) {
		struct fm_item *item = &work->item[i];

		if (item->same)
			item->hash = item[-1].hash;
		item->guess = item->same ? item[-1].guess : fm_index_guess(r, (uint32_t)item->hash);
	}
}

/* Stages two to five. */
static inline void work_burst(struct fm_reass *r, struct fm_work *work, uint64_t now_tsc, struct fm_result *result)
{
	bool far;

	if ((int64_t)(now_tsc - r->cool_at_tsc) >= 0)
		fm_admit_cool(r, work->n, now_tsc);
	/* Who begins is asked anew; but those that grow make memory scarce, too. */
	r->at_ease = fm_at_ease(r);
	hash_family(r, work, FM_IPV4);
	hash_family(r, work, FM_IPV6);
	far = r->stats.datagrams > NEAR_DATAGRAMS;
	if (far)
		prefetch_entries(r, work);
	else
		guess_entries(r, work);
	fm_work_off(r, work, far, now_tsc, result);
}

void fm_reass_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint16_t n, uint16_t port, uint64_t now_tsc,
		    struct fm_result *result)
{
	struct fm_work work;

	assert(n <= FM_BURST_MAX);
	work.item[0].frag.key.word[0] = FM_KEY_NONE;
	work.keys[FM_IPV4].n = work.keys[FM_IPV6].n = 0;
	result->n_pass = 0;
	result->n_done = 0;
	fm_count_add(&r->stats.frames_in, n);
	parse_burst(r, in, n, port, result, &work);
	if (work.n > 0)
		work_burst(r, &work, now_tsc, result);
	if (r->n_dead > 0)
		fm_drop_flush(r);
}

const struct fm_reass_stats *fm_reass_stats(const struct fm_reass *r)
{
	return &r->stats;
}
