/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining a datagram: what is rare. */
#include "join.h"

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

struct rte_mbuf *fm_mend_copy(struct fm_reass *r, struct rte_mbuf *m, const struct fm_head *h, uint32_t length)
{
	struct rte_mbuf *front = copy_header(r, m, h->payload_at);

	if (front == NULL)
		return NULL;
	fm_chain_trim(m, h->payload_at + length);
	front->next = fm_chain_strip(m, h->payload_at);
	front->nb_segs = (uint16_t)(front->next->nb_segs + 1);
	front->pkt_len += front->next->pkt_len;
	return front;
}

uint16_t fm_find_next_at(const struct rte_mbuf *m, uint32_t l2_len, uint32_t l3_len)
{
	uint32_t at = FM_IPV6_LEN, next_at = FM_IPV6_NEXT_AT;
	uint8_t buf[2], type;

	type = *(const uint8_t *)rte_pktmbuf_read(m, l2_len + next_at, 1, buf);
	while (at < l3_len) {
		const uint8_t *header = rte_pktmbuf_read(m, l2_len + at, 2, buf);

		next_at = at;
		at += fm_ipv6_ext_len(type, header, &type);
	}
	return (uint16_t)next_at;
}

struct rte_mbuf *fm_join_atomic(struct fm_reass *r, struct rte_mbuf *m, const struct fm_frag *frag,
				struct fm_whole *whole, enum fm_outcome *why)
{
	struct fm_head h = {
		.end = frag->length,
		.l2_len = frag->l2_len,
		.l3_len = frag->l3_len,
		.next_at = frag->next_at,
		.payload_at = frag->payload_at,
		.next_header = frag->next_header,
	};
	const uint32_t largest = (uint32_t)frag->payload_at - frag->l2_len + frag->length;

	*why = FM_NO_MBUF;
	m = fm_mend(r, m, &h, frag->length);
	if (m != NULL)
		fm_describe(&h, frag->id, (uint16_t)RTE_MIN(largest, (uint32_t)UINT16_MAX), 1, whole);
	return m;
}
