/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "measure.h"

enum {
	SLICE = 1024,      /* frames that are timed together: few enough to be left alone by the kernel, mostly */
	TIMED_MIN = 32768, /* fragments of a repetition, at least; whole blocks */
	WARM_MIN = 8192,   /* untimed before them */
	POOL_CACHE = 512,
	/* Of an mbuf. Small, so that the largest cells fit; no engine looks behind the headers. */
	DATA_ROOM = RTE_PKTMBUF_HEADROOM + 192,
};

void fm_bench_must(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "bench: %s: not enough memory, give it more with --memory\n", what);
		exit(1);
	}
}

static uint64_t whole_blocks(const struct fm_bench_cell *cell, uint64_t at_least)
{
	const uint64_t block = fm_bench_block(cell);

	return (at_least + block - 1) / block * block;
}

/* A pool that holds what is under way and a lap; the order of its mbufs is random, and the same each time. */
static struct rte_mempool *make_pool(const struct fm_bench_cell *cell, uint64_t lap)
{
	static unsigned int pools;
	const uint32_t n = (uint32_t)(fm_bench_block(cell) + lap + 2 * POOL_CACHE);
	struct rte_mbuf **all = malloc(n * sizeof(struct rte_mbuf *));
	uint64_t random = 8200;
	struct rte_mempool *pool;
	char name[32];

	snprintf(name, sizeof(name), "bench%u", pools++);
	pool = rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, DATA_ROOM, SOCKET_ID_ANY);
	fm_bench_must(pool != NULL && all != NULL, "the mbuf pool");
	fm_bench_must(rte_mempool_get_bulk(pool, (void **)all, n) == 0, "the mbuf pool");
	for (uint32_t i = n - 1; i > 0; i--) {
		const uint32_t j = (uint32_t)(fm_bench_random(&random) % (i + 1));
		struct rte_mbuf *m = all[i];

		all[i] = all[j];
		all[j] = m;
	}
	rte_mempool_put_bulk(pool, (void **)all, n);
	free(all);
	return pool;
}

/* Frames that are made first, and then received one slice after the other. */
struct lap {
	struct rte_mbuf **m;
	uint32_t n;
	uint32_t frame_len;
	uint32_t burst;
	uint64_t rx_flags;
};

static void prepare(struct lap *lap, struct rte_mempool *pool, struct fm_bench_traffic *traffic)
{
	for (uint32_t at = 0; at < lap->n; at += SLICE) {
		const uint32_t n = RTE_MIN(lap->n - at, (uint32_t)SLICE);

		fm_bench_must(rte_pktmbuf_alloc_bulk(pool, &lap->m[at], n) == 0, "mbufs");
		for (uint32_t i = 0; i < n; i++)
			fm_bench_next(traffic, rte_pktmbuf_mtod(lap->m[at + i], uint8_t *));
	}
}

/* What a poll mode driver writes for a received frame. */
static inline void receive(struct rte_mbuf *m, const struct lap *lap)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	rte_mbuf_refcnt_set(m, 1);
	m->nb_segs = 1;
	m->port = 0;
	m->ol_flags = lap->rx_flags;
	m->packet_type = 0;
	m->pkt_len = lap->frame_len;
	m->data_len = (uint16_t)lap->frame_len;
}

/* How often the kernel has taken the CPU from this thread. */
static uint64_t interruptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nivcsw + (uint64_t)usage.ru_nvcsw;
}

struct sum {
	uint64_t cycles, fragments;
};

struct result {
	struct sum quiet, disturbed; /* disturbed: the kernel ran somebody else meanwhile */
	uint64_t done;               /* datagrams */
};

static void run_slice(const struct lap *lap, struct rte_mbuf **m, uint32_t frames, const struct fm_bench_engine *engine,
		      void *state, struct result *result)
{
	const uint64_t before = interruptions(), start = rte_rdtsc_precise();
	struct sum *sum;
	uint64_t cycles;

	for (uint32_t at = 0; at < frames; at += lap->burst) {
		const uint32_t n = RTE_MIN(frames - at, lap->burst);

		for (uint32_t i = 0; i < n; i++)
			receive(m[at + i], lap);
		result->done += engine->burst(state, &m[at], n, rte_rdtsc());
	}
	cycles = rte_rdtsc_precise() - start;
	sum = interruptions() == before ? &result->quiet : &result->disturbed;
	sum->cycles += cycles;
	sum->fragments += frames;
}

static void run_lap(const struct lap *lap, const struct fm_bench_engine *engine, void *state, struct result *result)
{
	for (uint32_t at = 0; at < lap->n; at += SLICE)
		run_slice(lap, &lap->m[at], RTE_MIN(lap->n - at, (uint32_t)SLICE), engine, state, result);
}

static void check_result(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			 const struct result *result, uint64_t total)
{
	if (engine != &fm_bench_engine[FM_BENCH_FLOOR] && result->done != fm_bench_complete(cell, total))
		fprintf(stderr, "bench: %s completed %lu of %lu datagrams: IPv%u, %u fragments, %u datagrams\n",
			engine->name, result->done, fm_bench_complete(cell, total), cell->family, cell->fragments,
			cell->datagrams);
	if (result->quiet.fragments < result->disturbed.fragments)
		fprintf(stderr, "bench: %s: the machine is busy, most slices were disturbed\n", engine->name);
}

static double per_fragment(const struct result *result)
{
	const struct sum *sum = result->quiet.fragments > 0 ? &result->quiet : &result->disturbed;

	return (double)sum->cycles / (double)sum->fragments;
}

double fm_bench_measure(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			const struct fm_bench_how *how)
{
	const uint64_t warm = whole_blocks(cell, WARM_MIN), total = warm + whole_blocks(cell, TIMED_MIN);
	const uint64_t lap_max = how->lap > 0 ? how->lap : whole_blocks(cell, FM_BENCH_LAP_MIN);
	struct rte_mempool *pool = make_pool(cell, lap_max);
	struct lap lap = {
		.m = malloc(lap_max * sizeof(*lap.m)),
		.frame_len = fm_bench_frame_len(cell),
		.burst = how->burst,
		.rx_flags = how->software_checksum ? 0 : RTE_MBUF_F_RX_IP_CKSUM_GOOD,
	};
	struct result result = {0};
	struct fm_bench_traffic traffic;
	void *state = engine->create(cell);

	fm_bench_must(lap.m != NULL, "a lap");
	fm_bench_traffic_init(&traffic, cell);
	for (uint64_t at = 0; at < total; at += lap.n) {
		lap.n = (uint32_t)RTE_MIN(lap_max, (at < warm ? warm : total) - at);
		if (at == warm)
			result = (struct result){.done = result.done};
		prepare(&lap, pool, &traffic);
		run_lap(&lap, engine, state, &result);
	}
	check_result(cell, engine, &result, total);
	engine->destroy(state);
	fm_bench_traffic_fini(&traffic);
	free(lap.m);
	if (rte_mempool_avail_count(pool) != pool->size)
		fprintf(stderr, "bench: %s left %u mbufs outside\n", engine->name, rte_mempool_in_use_count(pool));
	rte_mempool_free(pool);
	return per_fragment(&result);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double fm_bench_median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}
