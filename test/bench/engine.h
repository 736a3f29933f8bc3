/* SPDX-License-Identifier: BSD-3-Clause */
/* What is measured: each engine takes the same bursts of received frames. */
#ifndef FM_BENCH_ENGINE_H
#define FM_BENCH_ENGINE_H

#include <stdint.h>

#include "traffic.h"

struct rte_mbuf;

enum { FM_BENCH_BURST_MAX = 256 };

struct fm_bench_engine {
	const char *name;
	uint32_t fragments_max; /* of a datagram; 0: no limit */
	/* About the memory that create() will take. */
	uint64_t (*bytes)(const struct fm_bench_cell *cell);
	/* A table for the cell from that socket's memory; ends the program where there is none. */
	void *(*create)(const struct fm_bench_cell *cell, int socket);
	/*
	 * Take a burst, 1..FM_BENCH_BURST_MAX frames, and free what comes out. This is what is timed.
	 *
	 * @return datagrams completed
	 */
	uint32_t (*burst)(void *state, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc);
	/* Free the table and what it holds. */
	void (*destroy)(void *state);
};

/* PEER: as DPDK's example program sets it up. TUNED: the same with the table it likes best. */
enum { FM_BENCH_FRAGMEND, FM_BENCH_PEER, FM_BENCH_TUNED, FM_BENCH_FLOOR, FM_BENCH_ENGINES };

extern const struct fm_bench_engine fm_bench_engine[FM_BENCH_ENGINES];

#endif
