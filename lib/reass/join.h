/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complete datagram becomes one mbuf chain: the first fragment's frame with its header mended, and behind it the
 * payloads of the others. No byte of payload is copied.
 *
 *	 first                 second                third, padded
 *	[eth|ip|payload 0..  ] [eth|ip|payload ..  ] [eth|ip|payload ..|pad]
 *	[eth|ip'|payload 0.. ]-------->[payload .. ]-------->[payload ..]
 */
#ifndef FM_JOIN_H
#define FM_JOIN_H

#include "bytes.h"
#include "checksum.h"
#include "internal.h"

enum {
	FM_JOIN_NEAR = 2,	/* mbufs of a datagram in as many pieces are near already */
	FM_ECN_NOT_ECT = 1 << 0,
	FM_ECN_CE = 1 << 3,
	FM_ECN_CODE_CE = 3,
	FM_IPV4_DF = 0x4000,
	FM_IPV4_KEEP = 0xc000,
	FM_IPV6_NEXT_AT = 6,
};

/* What the first fragment knows about the headers. */
struct fm_head {
	uint32_t end;		/* payload bytes of the whole datagram */
	uint16_t l2_len, l3_len, next_at, payload_at;
	uint8_t next_header;
	bool ipv4, mark_ce, dont_fragment;
};

/* --- join.c: what is rare --- */

/* A header that cannot be written to, or that goes on in the next segment. NULL: no mbuf, `m` is untouched. */
struct rte_mbuf *fm_mend_copy(struct fm_reass *r, struct rte_mbuf *m, const struct fm_head *h, uint32_t length);
/* Where an IPv6 header chain of `l3_len` bytes names what follows it. The parser has been through it. */
uint16_t fm_find_next_at(const struct rte_mbuf *m, uint32_t l2_len, uint32_t l3_len);
/* An atomic fragment (RFC 6946) becomes a datagram. NULL: `m` is untouched, and *why is set. */
struct rte_mbuf *fm_join_atomic(struct fm_reass *r, struct rte_mbuf *m, const struct fm_frag *frag,
				struct fm_whole *whole, enum fm_outcome *why);

/*
 * `m`: the first fragment, a header that can be written to. The header is taken as words and put back as words: what
 * has just been written in halves cannot be read as a whole without waiting. Returns DF.
 */
static inline bool fm_mend_ipv4(struct rte_mbuf *m, const struct fm_head *h)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, h->l2_len);
	uint32_t first = (fm_get32(ip) & ~UINT32_C(0xffff)) | (uint16_t)(h->l3_len + h->end);
	/* RFC 791 3.2: no more fragments, offset 0. DF and the reserved bit stay as the sender set them. */
	const uint32_t second = fm_get32(ip + 4) & (0xffff0000 | FM_IPV4_KEEP);
	const uint32_t third = fm_get32(ip + 8) & 0xffff0000;
	uint64_t sum = (uint64_t)second + third + fm_get32(ip + 12) + fm_get32(ip + 16);

	if (unlikely(h->mark_ce))
		first |= FM_ECN_CODE_CE << 16;
	for (uint32_t i = FM_IPV4_MIN_LEN; unlikely(i < h->l3_len); i += 4)
		sum += fm_get32(ip + i);
	sum += first;
	fm_put32(ip, first);
	fm_put32(ip + 4, second);
	fm_put32(ip + 8, third | (uint16_t)~fm_sum_fold64(sum));
	return (second & FM_IPV4_DF) != 0;
}

/* The same, and the fragment header goes (RFC 8200 4.5). */
static inline void fm_mend_ipv6(struct rte_mbuf *m, const struct fm_head *h)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip = frame + FM_IPV6_FRAG_LEN + h->l2_len;

	if (likely(h->l2_len + h->l3_len == FM_ETHER_LEN + FM_IPV6_LEN)) {
		uint8_t headers[FM_ETHER_LEN + FM_IPV6_LEN];

		memcpy(headers, frame, sizeof(headers));
		memcpy(frame + FM_IPV6_FRAG_LEN, headers, sizeof(headers));
	} else {
		memmove(frame + FM_IPV6_FRAG_LEN, frame, h->l2_len + h->l3_len);
	}
	ip[h->next_at] = h->next_header;
	fm_put16(ip + 4, (uint16_t)(h->l3_len - FM_IPV6_LEN + h->end));
	if (unlikely(h->mark_ce))
		ip[1] |= FM_ECN_CODE_CE << 4;
	m->data_off += FM_IPV6_FRAG_LEN;
	m->data_len -= FM_IPV6_FRAG_LEN;
	m->pkt_len -= FM_IPV6_FRAG_LEN;
}

/* The first fragment's frame, headers mended, padding cut; NULL: no mbuf, `m` is untouched. */
static inline struct rte_mbuf *fm_mend(struct fm_reass *r, struct rte_mbuf *m, struct fm_head *h, uint32_t length)
{
	const uint32_t len = h->payload_at + length;

	if (unlikely(!fm_chain_writable(m, h->payload_at))) {
		m = fm_mend_copy(r, m, h, length);
		if (m == NULL)
			return NULL;
	} else if (likely(m->nb_segs == 1)) {
		m->data_len = (uint16_t)len;
		m->pkt_len = len;
	} else {
		fm_chain_trim(m, len);
	}
	if (h->ipv4)
		h->dont_fragment = fm_mend_ipv4(m, h);
	else
		fm_mend_ipv6(m, h);
	/* What the port said about checksums was said about a fragment. */
	m->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	return m;
}

static inline void fm_describe(const struct fm_head *h, uint32_t id, uint16_t largest, uint16_t fragments,
			    struct fm_whole *whole)
{
	*whole = (struct fm_whole){
		.id = id,
		.ip_len = h->l3_len + h->end,
		.l2_len = h->l2_len,
		.l3_len = h->l3_len,
		.next_at = h->next_at,
		.largest = largest,
		.fragments = fragments,
		.family = h->ipv4 ? 4 : 6,
		.dont_fragment = h->dont_fragment,
	};
}

/* Nothing but the payload of a fragment's frame. */
static inline struct rte_mbuf *fm_strip(const struct fm_extent *e)
{
	struct rte_mbuf *m = fm_extent_mbuf(e);

	if (likely(m->nb_segs == 1)) {
		m->data_off = (uint16_t)(m->data_off + e->payload_at);
		m->data_len = e->length;
		m->pkt_len = e->length;
		return m;
	}
	fm_chain_trim(m, (uint32_t)e->payload_at + e->length);
	return fm_chain_strip(m, e->payload_at);
}

/* Link the payloads of all extents but the first behind `front`, which has that one's. */
static inline void fm_link_payloads(struct fm_reass *r, struct fm_run run, uint16_t end, struct rte_mbuf *front)
{
	struct rte_mbuf *last = likely(front->nb_segs == 1) ? front : rte_pktmbuf_lastseg(front);
	uint32_t segs = front->nb_segs, i = 1;

	front->pkt_len += end - run.extent[0].length;
	for (; run.count > 0; fm_run_next(r, &run), i = 0)
		for (; i < run.count; i++) {
			struct rte_mbuf *m = fm_strip(&run.extent[i]);

			segs += m->nb_segs;
			last->next = m;
			last = likely(m->nb_segs == 1) ? m : rte_pktmbuf_lastseg(m);
		}
	front->nb_segs = (uint16_t)segs;
}

/* What it held may have gone cold since: ask for all of it, and for the frame with the headers. */
static inline void fm_prefetch_run(const struct fm_reass *r, struct fm_run run)
{
	for (; run.count > 0; fm_run_next(r, &run))
		for (uint32_t i = 0; i < run.count; i++) {
			const uint8_t *m = (const uint8_t *)fm_extent_mbuf(&run.extent[i]);

			rte_prefetch0(m);
			rte_prefetch0(m + FM_LINE);
		}
}

/* What the first fragment, which is `m`, says about the headers. */
static inline void fm_read_head(const struct fm_joint *joint, const struct rte_mbuf *m, struct fm_head *h)
{
	uint8_t buf[1];

	*h = (struct fm_head){
		.end = joint->end,
		.l2_len = (uint16_t)(FM_ETHER_LEN + fm_key_tags(joint->key) * FM_VLAN_LEN),
		.payload_at = joint->run.extent[0].payload_at,
		.ipv4 = joint->family == FM_IPV4,
		.mark_ce = joint->ecn_seen & FM_ECN_CE,
	};
	h->l3_len = (uint16_t)(h->payload_at - h->l2_len);
	if (h->ipv4)
		return;
	h->l3_len -= FM_IPV6_FRAG_LEN;
	h->next_at = likely(h->l3_len == FM_IPV6_LEN) ? FM_IPV6_NEXT_AT : fm_find_next_at(m, h->l2_len, h->l3_len);
	h->next_header = *(const uint8_t *)rte_pktmbuf_read(m, h->l2_len + h->l3_len, 1, buf);
}

/*
 * Join a datagram; its mbufs are in what is returned. NULL: they are as they were, and *why is set. Inline, as what the
 * three callers know of the datagram is then in registers.
 */
static inline __attribute__((always_inline)) struct rte_mbuf *fm_join(struct fm_reass *r, const struct fm_joint *joint,
								      struct fm_whole *whole, enum fm_outcome *why)
{
	const struct fm_extent *extent = &joint->run.extent[0];
	struct rte_mbuf *front;
	struct fm_head h;

	if (joint->fragments > FM_JOIN_NEAR)
		fm_prefetch_run(r, joint->run);
	fm_read_head(joint, fm_extent_mbuf(extent), &h);
	/* Each fragment alone fitted, but the first one's options or headers count for all (ping of death). */
	if (unlikely(h.l3_len - (h.ipv4 ? 0 : FM_IPV6_LEN) + h.end > FM_DATAGRAM_MAX)) {
		*why = FM_TOO_BIG;
		return NULL;
	}
	/* RFC 3168 5.3: a sender marks all fragments or none; one Not-ECT among marked ones means that somebody
	 * meddled. */
	if (unlikely(joint->ecn_seen & FM_ECN_NOT_ECT && joint->ecn_seen != FM_ECN_NOT_ECT)) {
		*why = FM_ECN_MISMATCH;
		return NULL;
	}
	front = fm_mend(r, fm_extent_mbuf(extent), &h, extent->length);
	if (unlikely(front == NULL)) {
		*why = FM_NO_MBUF;
		return NULL;
	}
	fm_link_payloads(r, joint->run, joint->end, front);
	fm_describe(&h, h.ipv4 ? (uint16_t)joint->key->word[0] : (uint32_t)joint->key->word[1], joint->largest,
		    joint->fragments, whole);
	return front;
}

#endif
