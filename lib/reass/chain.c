/* SPDX-License-Identifier: BSD-3-Clause */
#include "internal.h"

bool fm_chain_shared(const struct rte_mbuf *m)
{
	for (; m != NULL; m = m->next)
		if (rte_mbuf_refcnt_read(m) != 1)
			return true;
	return false;
}

/* These segments are the middle of a packet, not one with a head of its own. */
static void free_segments(struct rte_mbuf *seg)
{
	while (seg != NULL) {
		struct rte_mbuf *next = seg->next;

		rte_pktmbuf_free_seg(seg);
		seg = next;
	}
}

void fm_chain_trim(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *seg = m;
	uint32_t left = len;
	uint16_t segs = 1;

	if (rte_pktmbuf_pkt_len(m) == len)
		return;
	for (; left > rte_pktmbuf_data_len(seg); seg = seg->next, segs++)
		left -= rte_pktmbuf_data_len(seg);
	seg->data_len = (uint16_t)left;
	free_segments(seg->next);
	seg->next = NULL;
	m->nb_segs = segs;
	m->pkt_len = len;
}

struct rte_mbuf *fm_chain_strip(struct rte_mbuf *m, uint32_t len)
{
	const uint32_t pkt_len = rte_pktmbuf_pkt_len(m) - len;
	uint16_t segs = m->nb_segs;

	while (len >= rte_pktmbuf_data_len(m) && m->next != NULL) {
		struct rte_mbuf *next = m->next;

		len -= rte_pktmbuf_data_len(m);
		rte_pktmbuf_free_seg(m);
		m = next;
		segs--;
	}
	m->data_off = (uint16_t)(m->data_off + len);
	m->data_len = (uint16_t)(m->data_len - len);
	m->pkt_len = pkt_len;
	m->nb_segs = segs;
	return m;
}

/* The segment that holds byte `*at` of a chain; *at becomes its place in there. */
static const struct rte_mbuf *seek(const struct rte_mbuf *m, uint32_t *at)
{
	while (*at >= rte_pktmbuf_data_len(m) && m->next != NULL) {
		*at -= rte_pktmbuf_data_len(m);
		m = m->next;
	}
	return m;
}

bool fm_chain_equal(const struct rte_mbuf *a, uint32_t a_at, const struct rte_mbuf *b, uint32_t b_at, uint32_t len)
{
	while (len > 0) {
		uint32_t n = len;

		a = seek(a, &a_at);
		b = seek(b, &b_at);
		n = RTE_MIN(n, rte_pktmbuf_data_len(a) - a_at);
		n = RTE_MIN(n, rte_pktmbuf_data_len(b) - b_at);
		if (memcmp(rte_pktmbuf_mtod_offset(a, const uint8_t *, a_at),
			   rte_pktmbuf_mtod_offset(b, const uint8_t *, b_at), n) != 0)
			return false;
		a_at += n;
		b_at += n;
		len -= n;
	}
	return true;
}

void fm_chain_copy_meta(struct rte_mbuf *to, const struct rte_mbuf *from)
{
	to->port = from->port;
	to->vlan_tci = from->vlan_tci;
	to->vlan_tci_outer = from->vlan_tci_outer;
	to->packet_type = from->packet_type;
	to->hash = from->hash;
	to->ol_flags |= from->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
	rte_mbuf_dynfield_copy(to, from);
}
