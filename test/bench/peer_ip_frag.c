/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_ip_frag of the installed DPDK, driven as DPDK's ip_reassembly example drives it. It counts datagrams, not mbufs;
 * so it gets as many datagrams as the budget holds whole honest ones.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_ip_frag.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "peer.h"

enum {
	BUCKET_ENTRIES = 8,
	/* More room in the hash than datagrams are allowed, so that it is not the hash that refuses them. */
	ENTRIES_PER_DATAGRAM = 4,
	PREFETCH_AHEAD = 3,
};

struct ip_frag {
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row death_row;
	struct rte_mbuf *done[FM_PEER_BURST];
};

static uint32_t datagrams(const struct fm_peer_params *params)
{
	return RTE_MAX(params->budget_mbufs / params->fragments, 1U);
}

static uint32_t mbufs(const struct fm_peer_params *params)
{
	return datagrams(params) * RTE_LIBRTE_IP_FRAG_MAX_FRAG + RTE_IP_FRAG_DEATH_ROW_MBUF_LEN;
}

static void *create(const struct fm_peer_params *params)
{
	const uint32_t n = datagrams(params);
	/* The table has two buckets for each asked for, and rounds up to a power of two. */
	const uint32_t buckets = RTE_MAX(n * ENTRIES_PER_DATAGRAM / BUCKET_ENTRIES / 2, 1U);
	struct ip_frag *peer = fm_peer_memory(sizeof(*peer));

	peer->table = rte_ip_frag_table_create(buckets, BUCKET_ENTRIES, n, FM_PEER_TIMEOUT_NS, params->socket);
	if (peer->table == NULL) {
		fprintf(stderr, "scenario: no memory for the table of rte_ip_frag\n");
		exit(1);
	}
	return peer;
}

static uint32_t burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_ns, struct rte_mbuf ***done)
{
	struct ip_frag *peer = arg;
	uint32_t n_done = 0;

	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)PREFETCH_AHEAD); i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = in[i];
		struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr));

		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(in[i + PREFETCH_AHEAD], void *));
		m->l2_len = sizeof(struct rte_ether_hdr);
		m->l3_len = sizeof(*ip);
		m = rte_ipv4_frag_reassemble_packet(peer->table, &peer->death_row, m, now_ns, ip);
		if (m != NULL)
			peer->done[n_done++] = m;
	}
	rte_ip_frag_free_death_row(&peer->death_row, PREFETCH_AHEAD);
	*done = peer->done;
	return n_done;
}

static void destroy(void *arg)
{
	struct ip_frag *peer = arg;

	rte_ip_frag_table_destroy(peer->table);
	free(peer);
}

const struct fm_peer fm_peer_ip_frag = {
	.name = "rte_ip_frag",
	.fragments_max = RTE_LIBRTE_IP_FRAG_MAX_FRAG,
	.mbufs = mbufs,
	.create = create,
	.burst = burst,
	.destroy = destroy,
};
