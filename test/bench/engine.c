/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_ip_frag.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "engine.h"
#include "fm_reass.h"

enum {
	/* Every table has room for twice the datagrams under way, and time that does not run out. */
	ROOM = 2,
	TIMEOUT_S = 3600,
	/*
	 * DPDK's ip_reassembly example has a bucket of 16 for each datagram it is to hold, and the library doubles
	 * them: 8 KB for a datagram.
	 */
	EXAMPLE_BUCKET_ENTRIES = 16,
	/*
	 * rte_ip_frag looks at all entries of two buckets before it takes a datagram for new, so it likes them small;
	 * but it loses what finds both full. Of buckets of 4, 8 and 16 and 4, 8 and 16 entries for each datagram under
	 * way, these were the fastest that lost nothing.
	 */
	TUNED_BUCKET_ENTRIES = 8,
	TUNED_ENTRIES_PER_DATAGRAM = 4,
	PEER_ENTRY_BYTES = 512, /* or less */
	PREFETCH_AHEAD = 3,
};

static void *must(void *memory, const char *what)
{
	if (memory == NULL) {
		fprintf(stderr, "bench: no memory for %s: give it more with --memory\n", what);
		exit(1);
	}
	return memory;
}

/* --- fragmend --- */

struct fragmend {
	struct fm_reass *reass;
	void *memory;
	struct fm_result result;
};

static struct fm_reass_params fragmend_params(const struct fm_bench_cell *cell)
{
	const uint64_t timeout = TIMEOUT_S * rte_get_tsc_hz();
	const uint32_t mbufs = ROOM * cell->datagrams * cell->fragments + FM_BENCH_BURST_MAX;

	return (struct fm_reass_params){
		.settings.timeout_tsc = {timeout, timeout},
		.settings.budget_mbufs = mbufs,
		.settings.max_fragments = (uint16_t)cell->fragments,
		.max_datagrams = ROOM * cell->datagrams,
		.max_mbufs = mbufs,
		.secret = "a fixed secret 1",
	};
}

static uint64_t fragmend_bytes(const struct fm_bench_cell *cell)
{
	const struct fm_reass_params params = fragmend_params(cell);

	return fm_reass_memsize(&params);
}

static void *fragmend_create(const struct fm_bench_cell *cell, int socket)
{
	const struct fm_reass_params params = fragmend_params(cell);
	struct fragmend *state =
		must(rte_zmalloc_socket("fragmend", sizeof(*state), RTE_CACHE_LINE_SIZE, socket), "fragmend");
	char err[256];

	state->memory = must(rte_zmalloc_socket("table", fm_reass_memsize(&params), RTE_CACHE_LINE_SIZE, socket),
			     "fragmend's table");
	if (fm_reass_init(state->memory, &params, &state->reass, err, sizeof(err)) != 0) {
		fprintf(stderr, "bench: %s\n", err);
		exit(1);
	}
	return state;
}

static uint32_t fragmend_burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct fragmend *state = arg;

	fm_reass_burst(state->reass, in, (uint16_t)n, 0, now_tsc, &state->result);
	if (state->result.n_done > 0)
		rte_pktmbuf_free_bulk(state->result.done, state->result.n_done);
	return state->result.n_done;
}

static void fragmend_destroy(void *arg)
{
	struct fragmend *state = arg;

	fm_reass_flush(state->reass);
	rte_free(state->memory);
	rte_free(state);
}

/* --- rte_ip_frag, driven as DPDK's ip_reassembly example drives it --- */

struct peer {
	struct rte_ip_frag_tbl *table;
	struct rte_ip_frag_death_row death_row;
	struct rte_mbuf *done[FM_BENCH_BURST_MAX];
};

static uint64_t peer_bytes(uint32_t buckets, uint32_t bucket_entries)
{
	return (uint64_t)rte_align32pow2(buckets) * 2 * bucket_entries * PEER_ENTRY_BYTES;
}

static void *peer_create(uint32_t buckets, uint32_t bucket_entries, uint32_t datagrams, int socket)
{
	const uint64_t timeout = TIMEOUT_S * rte_get_tsc_hz();
	struct peer *state =
		must(rte_zmalloc_socket("peer", sizeof(*state), RTE_CACHE_LINE_SIZE, socket), "rte_ip_frag");

	state->table = must(rte_ip_frag_table_create(buckets, bucket_entries, datagrams, timeout, socket),
			    "rte_ip_frag's table");
	return state;
}

static uint64_t example_bytes(const struct fm_bench_cell *cell)
{
	return peer_bytes(ROOM * cell->datagrams, EXAMPLE_BUCKET_ENTRIES);
}

static void *example_create(const struct fm_bench_cell *cell, int socket)
{
	return peer_create(ROOM * cell->datagrams, EXAMPLE_BUCKET_ENTRIES, ROOM * cell->datagrams, socket);
}

/* The table has two buckets for each asked for, and rounds up to a power of two. */
static uint32_t tuned_buckets(const struct fm_bench_cell *cell)
{
	return RTE_MAX(cell->datagrams * TUNED_ENTRIES_PER_DATAGRAM / TUNED_BUCKET_ENTRIES / 2, 1U);
}

static uint64_t tuned_bytes(const struct fm_bench_cell *cell)
{
	return peer_bytes(tuned_buckets(cell), TUNED_BUCKET_ENTRIES);
}

static void *tuned_create(const struct fm_bench_cell *cell, int socket)
{
	return peer_create(tuned_buckets(cell), TUNED_BUCKET_ENTRIES, ROOM * cell->datagrams, socket);
}

static struct rte_mbuf *peer_fragment(struct peer *state, struct rte_mbuf *m, uint64_t now_tsc)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

	m->l2_len = sizeof(*ether);
	if (ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4)) {
		struct rte_ipv4_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, sizeof(*ether));

		m->l3_len = sizeof(*ip);
		if (rte_ipv4_frag_pkt_is_fragmented(ip))
			return rte_ipv4_frag_reassemble_packet(state->table, &state->death_row, m, now_tsc, ip);
	} else if (ether->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV6)) {
		struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, sizeof(*ether));
		struct rte_ipv6_fragment_ext *header = rte_ipv6_frag_get_ipv6_fragment_header(ip);

		m->l3_len = sizeof(*ip) + sizeof(*header);
		if (header != NULL)
			return rte_ipv6_frag_reassemble_packet(state->table, &state->death_row, m, now_tsc, ip, header);
	}
	return m;
}

static uint32_t peer_burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct peer *state = arg;
	uint32_t done = 0;

	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)PREFETCH_AHEAD); i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m;

		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(rte_pktmbuf_mtod(in[i + PREFETCH_AHEAD], void *));
		m = peer_fragment(state, in[i], now_tsc);
		if (m != NULL)
			state->done[done++] = m;
	}
	rte_ip_frag_free_death_row(&state->death_row, PREFETCH_AHEAD);
	if (done > 0)
		rte_pktmbuf_free_bulk(state->done, done);
	return done;
}

static void peer_destroy(void *arg)
{
	struct peer *state = arg;

	rte_ip_frag_table_destroy(state->table);
	rte_free(state);
}

/* --- the floor: what any program that looks at frames pays --- */

static uint64_t floor_bytes(const struct fm_bench_cell *cell)
{
	(void)cell;
	return sizeof(uint64_t);
}

static void *floor_create(const struct fm_bench_cell *cell, int socket)
{
	(void)cell;
	return must(rte_zmalloc_socket("floor", sizeof(uint64_t), RTE_CACHE_LINE_SIZE, socket), "the floor");
}

static uint32_t floor_burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	uint64_t *sum = arg;

	/* The sum makes the compiler read the headers. */
	for (uint32_t i = 0; i < n; i++) {
		*sum += rte_pktmbuf_mtod_offset(in[i], const struct rte_ipv4_hdr *, sizeof(struct rte_ether_hdr))
				->packet_id;
		rte_pktmbuf_free(in[i]);
	}
	*sum ^= now_tsc;
	return 0;
}

/* clang-format off */
const struct fm_bench_engine fm_bench_engine[FM_BENCH_ENGINES] = {
	[FM_BENCH_FRAGMEND] = {
		.name = "fragmend",
		.bytes = fragmend_bytes,
		.create = fragmend_create,
		.burst = fragmend_burst,
		.destroy = fragmend_destroy,
	},
	[FM_BENCH_PEER] = {
		.name = "rte_ip_frag",
		.fragments_max = RTE_LIBRTE_IP_FRAG_MAX_FRAG,
		.bytes = example_bytes,
		.create = example_create,
		.burst = peer_burst,
		.destroy = peer_destroy,
	},
	[FM_BENCH_TUNED] = {
		.name = "rte_ip_frag_tuned",
		.fragments_max = RTE_LIBRTE_IP_FRAG_MAX_FRAG,
		.bytes = tuned_bytes,
		.create = tuned_create,
		.burst = peer_burst,
		.destroy = peer_destroy,
	},
	[FM_BENCH_FLOOR] = {
		.name = "floor",
		.bytes = floor_bytes,
		.create = floor_create,
		.burst = floor_burst,
		.destroy = rte_free,
	},
};
/* clang-format on */
