/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A complete datagram becomes one mbuf chain: the first fragment's frame with its header mended, and behind it the
 * payloads of the others. No byte of payload is copied.
 *
 *	 first                 second                third, padded
 *	[eth|ip|payload 0..  ] [eth|ip|payload ..  ] [eth|ip|payload ..|pad]
 *	[eth|ip'|payload 0.. ]-------->[payload .. ]-------->[payload ..]
 */
#include "bytes.h"
#include "checksum.h"
#include "internal.h"

enum { ECN_NOT_ECT = 1 << 0, ECN_CE = 1 << 3, ECN_CODE_CE = 3 };
enum { IPV4_DF = 0x4000, IPV4_KEEP = 0xc000 };

/* What the first fragment knows about the headers. */
struct head {
	uint32_t end;		/* payload bytes of the whole datagram */
	uint16_t l2_len, l3_len, next_at, payload_at;
	uint8_t next_header;
	bool ipv4, mark_ce;
};

/* `m`: the first fragment, a header that can be written to. */
static void mend_ipv4(struct rte_mbuf *m, const struct head *h)
{
	uint8_t *ip = rte_pktmbuf_mtod_offset(m, uint8_t *, h->l2_len);

	fm_put16(ip + 2, (uint16_t)(h->l3_len + h->end));
	/* RFC 791 3.2: no more fragments, offset 0. DF and the reserved bit stay as the sender set them. */
	fm_put16(ip + 6, fm_get16(ip + 6) & IPV4_KEEP);
	if (h->mark_ce)
		ip[1] |= ECN_CODE_CE;
	fm_put16(ip + 10, 0);
	fm_put16(ip + 10, fm_ipv4_checksum(ip, h->l3_len));
}

/* The same, and the fragment header goes (RFC 8200 4.5). */
static void mend_ipv6(struct rte_mbuf *m, const struct head *h)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *), *ip;

	memmove(frame + FM_IPV6_FRAG_LEN, frame, h->l2_len + h->l3_len);
	ip = frame + FM_IPV6_FRAG_LEN + h->l2_len;
	ip[h->next_at] = h->next_header;
	fm_put16(ip + 4, (uint16_t)(h->l3_len - FM_IPV6_LEN + h->end));
	if (h->mark_ce)
		ip[1] |= ECN_CODE_CE << 4;
	m->data_off += FM_IPV6_FRAG_LEN;
	m->data_len -= FM_IPV6_FRAG_LEN;
	m->pkt_len -= FM_IPV6_FRAG_LEN;
}

/*
 * A copy of the headers in an mbuf of our own, in front of what they were copied from: for frames that are shared,
 * external or indirect, or whose headers are split over segments. `m` is not changed.
 */
static struct rte_mbuf *copy_header(struct fm_reass *r, const struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *copy;
	const void *from;
	char *to;

	if (r->header_pool == NULL)
		return NULL;
	copy = rte_pktmbuf_alloc(r->header_pool);
	if (copy == NULL)
		return NULL;
	to = rte_pktmbuf_append(copy, (uint16_t)len);
	if (to == NULL) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	from = rte_pktmbuf_read(m, 0, len, to);
	if (from != to)
		memcpy(to, from, len);
	fm_chain_copy_meta(copy, m);
	return copy;
}

/* The first fragment's frame, headers mended, padding cut; NULL: no mbuf, `m` is untouched. */
static struct rte_mbuf *mend(struct fm_reass *r, struct rte_mbuf *m, const struct head *h, uint32_t length)
{
	struct rte_mbuf *front = m;

	if (!fm_chain_writable(m, h->payload_at)) {
		front = copy_header(r, m, h->payload_at);
		if (front == NULL)
			return NULL;
	}
	fm_chain_trim(m, h->payload_at + length);
	if (front != m) {
		front->next = fm_chain_strip(m, h->payload_at);
		front->nb_segs = (uint16_t)(front->next->nb_segs + 1);
		front->pkt_len += front->next->pkt_len;
	}
	if (h->ipv4)
		mend_ipv4(front, h);
	else
		mend_ipv6(front, h);
	/* What the port said about checksums was said about a fragment. */
	front->ol_flags &= ~(RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK);
	return front;
}

static void describe(const struct head *h, uint32_t id, uint16_t largest, uint16_t fragments, struct fm_whole *whole)
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
	};
}

/* Link the payloads of all extents but the first behind `front`. */
static void link_payloads(struct fm_reass *r, const struct fm_datagram *d, struct rte_mbuf *front)
{
	struct rte_mbuf *last = rte_pktmbuf_lastseg(front);
	uint32_t n = fm_extent_first_leaf(r, d), segs = front->nb_segs, i = 1;

	for (; n != FM_NONE; n = r->node[n].leaf.next, i = 0)
		for (; i < r->node[n].leaf.count; i++) {
			const struct fm_extent *e = &r->node[n].leaf.extent[i];
			struct rte_mbuf *m = e->m;

			fm_chain_trim(m, (uint32_t)e->payload_at + e->length);
			m = fm_chain_strip(m, e->payload_at);
			segs += m->nb_segs;
			last->next = m;
			last = rte_pktmbuf_lastseg(m);
		}
	front->nb_segs = (uint16_t)segs;
	front->pkt_len += d->end - r->node[fm_extent_first_leaf(r, d)].leaf.extent[0].length;
}

struct rte_mbuf *fm_join(struct fm_reass *r, struct fm_datagram *d, struct fm_whole *whole, enum fm_outcome *why)
{
	const struct fm_extent *first = &r->node[fm_extent_first_leaf(r, d)].leaf.extent[0];
	const bool ipv4 = d->family == FM_IPV4;
	const struct head h = {
		.end = d->end,
		.l2_len = d->l2_len,
		.l3_len = d->l3_len,
		.next_at = d->next_at,
		.payload_at = first->payload_at,
		.next_header = d->next_header,
		.ipv4 = ipv4,
		.mark_ce = d->ecn_seen & ECN_CE,
	};
	struct rte_mbuf *front;
	uint16_t flags;

	/* Each fragment alone fitted, but the first one's options or headers count for all (ping of death). */
	*why = FM_TOO_BIG;
	if (h.l3_len - (ipv4 ? 0 : FM_IPV6_LEN) + h.end > FM_DATAGRAM_MAX)
		return NULL;
	/* RFC 3168 5.3: a sender marks all fragments or none; one Not-ECT among marked ones means that somebody
	 * meddled. */
	*why = FM_ECN_MISMATCH;
	if (d->ecn_seen & ECN_NOT_ECT && d->ecn_seen != ECN_NOT_ECT)
		return NULL;
	*why = FM_NO_MBUF;
	front = mend(r, first->m, &h, first->length);
	if (front == NULL)
		return NULL;
	link_payloads(r, d, front);
	describe(&h, ipv4 ? (uint16_t)d->key.word[0] : (uint32_t)d->key.word[1], d->largest, d->fragments, whole);
	if (ipv4) {
		flags = fm_get16(rte_pktmbuf_mtod_offset(front, uint8_t *, h.l2_len + 6));
		whole->dont_fragment = flags & IPV4_DF;
	}
	return front;
}

struct rte_mbuf *fm_join_atomic(struct fm_reass *r, struct rte_mbuf *m, const struct fm_frag *frag,
				struct fm_whole *whole, enum fm_outcome *why)
{
	const struct head h = {
		.end = frag->length,
		.l2_len = frag->l2_len,
		.l3_len = frag->l3_len,
		.next_at = frag->next_at,
		.payload_at = frag->payload_at,
		.next_header = frag->next_header,
	};
	const uint32_t largest = (uint32_t)frag->payload_at - frag->l2_len + frag->length;

	*why = FM_NO_MBUF;
	m = mend(r, m, &h, frag->length);
	if (m != NULL)
		describe(&h, frag->id, (uint16_t)RTE_MIN(largest, (uint32_t)UINT16_MAX), 1, whole);
	return m;
}
