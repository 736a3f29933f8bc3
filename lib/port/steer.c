/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <rte_mbuf.h>

#include "frag.h"
#include "key.h"
#include "quick.h"
#include "steer.h"
#include "tap.h"

/* The checksum is the owner's to verify, and so is the header chain. */
enum { FM_STEER_PARSE = FM_PARSE_CHECKSUM_GOOD | FM_PARSE_SHORT_CHAIN };

uint16_t fm_steer_owner(const struct fm_siphash_key *key, const struct fm_frag *frag, uint16_t n_workers)
{
	const unsigned int words = frag->family == 4 ? FM_KEY_IPV4_WORDS : FM_KEY_IPV6_WORDS;
	const uint64_t hash = fm_siphash13(key, frag->key.word, words);

	return (uint16_t)((hash >> 32) * n_workers >> 32);
}

static enum fm_verdict parse_split(struct fm_steer *s, const struct rte_mbuf *m, uint16_t port, struct fm_frag *frag)
{
	const uint32_t len = RTE_MIN(rte_pktmbuf_pkt_len(m), (uint32_t)FM_STEER_SCRATCH);
	const uint8_t *data = rte_pktmbuf_read(m, 0, len, s->scratch);
	enum fm_outcome why;

	if (data == NULL)
		return FM_VERDICT_MALFORMED;
	return fm_frame_parse(data, len, rte_pktmbuf_pkt_len(m), port, FM_STEER_PARSE, frag, &why);
}

/* Is it a fragment of a datagram that others may have parts of? */
static bool parse(struct fm_steer *s, const struct rte_mbuf *m, uint16_t port, struct fm_frag *frag)
{
	const uint8_t *data = rte_pktmbuf_mtod(m, const uint8_t *);
	const uint32_t len = rte_pktmbuf_data_len(m), frame_len = rte_pktmbuf_pkt_len(m);
	enum fm_outcome why;
	enum fm_verdict verdict;

	verdict = fm_frame_quick(data, len, frame_len, port, FM_STEER_PARSE, frag);
	if (likely(verdict != FM_VERDICT_MORE))
		return verdict == FM_VERDICT_FRAGMENT;
	frag->family = 0;
	verdict = fm_frame_parse(data, len, frame_len, port, FM_STEER_PARSE, frag, &why);
	if (unlikely(verdict == FM_VERDICT_MORE && frag->family == 0))
		verdict = parse_split(s, m, port, frag);
	/* Only what stands behind the fragment header is not at hand: the key is. */
	if (verdict == FM_VERDICT_MORE && frag->family != 0)
		verdict = FM_VERDICT_FRAGMENT;
	return verdict == FM_VERDICT_FRAGMENT && !frag->atomic;
}

static void drop_rest(struct fm_steer *s, struct fm_outbox *box, uint16_t from)
{
	const uint16_t dropped = box->n - from;

	fm_count(&s->full_fragments, dropped);
	fm_count(&box->pipe.full_frames, dropped);
	for (uint16_t i = from; i < box->n; i++)
		fm_tap_dropped_in(s->tap, box->m[i], FM_STEER_FULL);
	rte_pktmbuf_free_bulk(&box->m[from], dropped);
}

static void hand_over(struct fm_steer *s, struct fm_outbox *box)
{
	const uint32_t room = fm_pipe_room(&box->pipe);
	uint32_t mbufs = 0;
	uint16_t n = 0;

	while (n < box->n && mbufs + box->m[n]->nb_segs <= room)
		mbufs += box->m[n++]->nb_segs;
	if (unlikely(n < box->n))
		drop_rest(s, box, n);
	box->n = 0;
	if (n == 0)
		return;
	fm_pipe_count_put(&box->pipe, n, mbufs);
	if (rte_ring_sp_enqueue_bulk(box->pipe.ring, (void **)box->m, n, NULL) != n)
		assert(!"a slot for each mbuf there is room for");
}

uint16_t fm_steer_burst(struct fm_steer *s, struct rte_mbuf **in, uint16_t n, uint16_t port)
{
	uint16_t stay = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = in[i];
		struct fm_outbox *box = NULL;
		struct fm_frag frag;

		if (parse(s, m, port, &frag))
			box = s->box[fm_steer_owner(&s->key, &frag, s->n_workers)];
		if (box == NULL) {
			in[stay++] = m;
			continue;
		}
		/* Not every driver writes it. */
		m->port = port;
		box->m[box->n++] = m;
	}
	if (stay == n)
		return n;
	for (uint16_t w = 0; w < s->n_workers; w++)
		if (s->box[w] != NULL && s->box[w]->n != 0)
			hand_over(s, s->box[w]);
	return stay;
}
