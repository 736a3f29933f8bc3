/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work of one line of core.c for somebody who counts instructions, which neither other programs nor the machine's
 * clock change:
 *
 *	valgrind --tool=callgrind --toggle-collect=fm_reass_burst count family=4 fragments=2 order=in-order datagrams=64
 *
 * Prints how many fragments went in; "Collected" over that is what a fragment costs in fm_reass_burst() and what it
 * calls. Time is virtual, so each run does the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_mbuf.h>

#include "engine.h"
#include "measure.h"
#include "memory.h"
#include "options.h"

enum {
	EAL_MB = 64,
	FRAGMENTS = 32768, /* or more: whole blocks */
	GAP_TSC = 2000,    /* from one fragment to the next */
};

/* What a poll mode driver writes for a received frame. */
static void receive(const struct fm_bench_lap *lap)
{
	for (uint32_t i = 0; i < lap->n; i++) {
		struct rte_mbuf *m = lap->m[i];

		m->ol_flags = lap->rx_flags;
		m->pkt_len = lap->frame_len;
		m->data_len = (uint16_t)lap->frame_len;
	}
}

static uint64_t work(const struct fm_bench_cell *cell, const struct fm_bench_how *how)
{
	const struct fm_bench_engine *engine = &fm_bench_engine[FM_BENCH_FRAGMEND];
	struct rte_mempool *pool =
		fm_bench_pool((uint32_t)fm_bench_block(cell) * 2 + 2 * FM_BENCH_LAP_MIN, how->socket);
	void *state = engine->create(cell, how->socket);
	struct fm_bench_traffic traffic;
	const uint64_t block = fm_bench_block(cell);
	/* Whole blocks, and enough of them for whole bursts. */
	const uint64_t positions = (FM_BENCH_LAP_MIN + block - 1) / block * block;
	uint64_t now_tsc = 1, fragments = 0, done = 0;
	struct fm_bench_lap lap;

	fm_bench_lap_init(&lap, cell, how, positions);
	fm_bench_traffic_init(&traffic, cell);
	while (fragments < FRAGMENTS) {
		lap.n = 0;
		fm_bench_prepare(&lap, pool, &traffic, positions);
		receive(&lap);
		for (uint32_t at = 0; at < lap.n; at += lap.burst) {
			const uint32_t n = RTE_MIN(lap.n - at, lap.burst);

			done += engine->burst(state, &lap.m[at], n, now_tsc);
			now_tsc += n * (uint64_t)GAP_TSC;
		}
		fragments += lap.n;
	}
	if (done != fm_bench_complete(cell, traffic.position)) {
		fprintf(stderr, "count: %lu of %lu datagrams completed\n", done,
			fm_bench_complete(cell, traffic.position));
		exit(1);
	}
	engine->destroy(state);
	fm_bench_traffic_fini(&traffic);
	fm_bench_lap_fini(&lap);
	fm_bench_pool_free(pool, engine->name);
	return fragments;
}

int main(int argc, char **argv)
{
	static struct fm_bench_cell cell[FM_BENCH_LINES_MAX];
	struct fm_bench_options options;

	fm_bench_options(argc, argv, &options);
	if (fm_bench_lines(&options, cell) != 1) {
		fprintf(stderr, "count: one line expected: family=4 fragments=2 order=in-order datagrams=64\n");
		return 2;
	}
	fm_bench_eal(EAL_MB);
	options.how.socket = fm_bench_memory(fm_bench_bytes(cell, &options.how), true);
	printf("fragments\t%lu\n", work(cell, &options.how));
	rte_eal_cleanup();
	return 0;
}
