/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst's way through the table: stages that go over all of it, each asking for the memory of the next one. */
#include "ahead.h"
#include "fragment.h"
#include "quick.h"
#include "young.h"

enum {
	HEADERS_AHEAD = 8,	/* frames of a burst whose headers are on their way */
	NEAR_DATAGRAMS = 96,	/* so many, and what belongs to them, lie in the nearest cache: nothing to ask for */
};

struct work {
	uint16_t n;
	struct fm_item item[FM_BURST_MAX];
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

static void pass(struct fm_reass *r, struct rte_mbuf *m, enum fm_outcome outcome, struct fm_result *result)
{
	fm_count_add(&r->stats.count[outcome], 1);
	result->pass[result->n_pass++] = m;
}

static inline void add_item(struct rte_mbuf *m, struct work *work)
{
	struct fm_item *item = &work->item[work->n];

	item->m = m;
	item->asked = false;
	item->same = work->n > 0 && fm_key_equal(&item->frag.key, &item[-1].frag.key) &&
		     item->frag.family == item[-1].frag.family;
	work->n++;
}

/* Stage one: look at every frame; fragments go on, everything else is done with. */
static void parse_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint16_t n, uint16_t port,
			struct fm_result *result, struct work *work)
{
	uint32_t fragments = 0;

	for (uint16_t i = 0; i < RTE_MIN(n, (uint16_t)HEADERS_AHEAD); i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		enum fm_outcome why = FM_OUTCOME_MAX;

		if (i + HEADERS_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(in[i + HEADERS_AHEAD], void *));
		switch (parse(r, in[i], port, &work->item[work->n].frag, &why)) {
		case FM_VERDICT_FRAGMENT:
			add_item(in[i], work);
			fragments++;
			break;
		case FM_VERDICT_PASS:
			pass(r, in[i], FM_PASSED, result);
			break;
		case FM_VERDICT_DROP:
			fragments++;
			fm_drop(r, in[i], why);
			break;
		default:
			pass(r, in[i], FM_PASSED_MALFORMED, result);
			break;
		}
	}
	fm_count_add(&r->stats.fragments_in, fragments);
}

static inline void set_hash(const struct fm_reass *r, struct fm_item *item, uint64_t hash)
{
	item->hash = item->frag.family == 4 ? hash & ~FM_HASH_IPV6 : hash | FM_HASH_IPV6;
	rte_prefetch0(fm_index_bucket(r, (uint32_t)item->hash));
}

static void hash_one_by_one(const struct fm_reass *r, struct fm_item *const *item, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		set_hash(r, item[i], fm_key_hash(r, &item[i]->frag.key, fm_item_family(item[i])));
}

static void hash_together(const struct fm_reass *r, struct fm_item *const *item)
{
	const uint64_t *key[FM_LANES];
	uint64_t hash[FM_LANES];

	for (uint32_t i = 0; i < FM_LANES; i++)
		key[i] = item[i]->frag.key.word;
	r->lanes(&r->secret, key, item[0]->frag.family == 4 ? FM_KEY_IPV4_WORDS : FM_KEY_IPV6_WORDS, hash);
	for (uint32_t i = 0; i < FM_LANES; i++)
		set_hash(r, item[i], hash[i]);
}

/* Stage two: hash the keys, those of a family side by side, and ask for the buckets. */
static void hash_burst(const struct fm_reass *r, struct work *work)
{
	struct fm_item *waiting[FM_FAMILIES][FM_LANES];
	uint32_t n[FM_FAMILIES] = { 0 };

	for (uint16_t i = 0; i < work->n; i++) {
		struct fm_item *item = &work->item[i];
		const enum fm_family_index family = fm_item_family(item);

		if (item->same)
			continue;
		waiting[family][n[family]++] = item;
		if (r->lanes == NULL) {
			hash_one_by_one(r, waiting[family], 1);
			n[family] = 0;
		} else if (n[family] == FM_LANES) {
			hash_together(r, waiting[family]);
			n[family] = 0;
		}
	}
	for (int family = 0; family < FM_FAMILIES; family++)
		hash_one_by_one(r, waiting[family], n[family]);
}

/* Stage three: the bucket has come, so ask for the entry. */
static void prefetch_entries(const struct fm_reass *r, struct work *work)
{
	for (uint16_t i = 0; i < work->n; i++) {
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

static void guess_entries(const struct fm_reass *r, struct work *work)
{
	for (uint16_t i = 0; i < work->n; i++) {
		struct fm_item *item = &work->item[i];

		if (item->same)
			item->hash = item[-1].hash;
		item->guess = item->same ? item[-1].guess : fm_index_guess(r, (uint32_t)item->hash);
	}
}

/* Fragments of one datagram that came one after the other go together. */
static uint16_t count_same(const struct work *work, uint16_t first)
{
	uint16_t i = first + 1;

	while (i < work->n && work->item[i].same && !work->item[i].frag.atomic)
		i++;
	return i - first;
}

/* Stage five, with stage four some fragments ahead. */
static void work_off(struct fm_reass *r, struct work *work, bool far, uint64_t now_tsc, struct fm_result *result)
{
	uint16_t n;

	if (far)
		fm_ahead_start(r, work->item, work->n);
	for (uint16_t i = 0; i < work->n; i += n) {
		const bool atomic = work->item[i].frag.atomic;

		n = atomic ? 1 : count_same(work, i);
		for (uint16_t j = i; far && j < i + n; j++)
			fm_ahead_of(r, work->item, j, work->n);
		if (unlikely(atomic))
			fm_whole_atomic(r, &work->item[i], result);
		else
			fm_fragments(r, &work->item[i], n, now_tsc, result);
	}
}

void fm_reass_burst(struct fm_reass *r, struct rte_mbuf *const *in, uint16_t n, uint16_t port, uint64_t now_tsc,
		    struct fm_result *result)
{
	struct work work;
	bool far;

	assert(n <= FM_BURST_MAX);
	work.n = 0;
	result->n_pass = 0;
	result->n_done = 0;
	fm_count_add(&r->stats.frames_in, n);
	parse_burst(r, in, n, port, result, &work);
	if (work.n > 0 && (int64_t)(now_tsc - r->cool_at_tsc) >= 0)
		fm_admit_cool(r, work.n, now_tsc);
	/* Who begins is asked anew; but those that grow make memory scarce, too. */
	r->at_ease = fm_at_ease(r);
	hash_burst(r, &work);
	far = r->stats.datagrams > NEAR_DATAGRAMS;
	if (far)
		prefetch_entries(r, &work);
	else
		guess_entries(r, &work);
	work_off(r, &work, far, now_tsc, result);
	if (r->n_dead > 0)
		fm_drop_flush(r);
}

const struct fm_reass_stats *fm_reass_stats(const struct fm_reass *r)
{
	return &r->stats;
}
