/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "measure.h"

enum {
	TIMED_MIN = 32768, /* fragments of a repetition, at least; whole blocks */
	WARM_MIN = 8192,   /* untimed before them */
	POOL_CACHE = 512,
	/* Of an mbuf. Small, so that the largest cells fit; no engine looks behind the headers. */
	DATA_ROOM = RTE_PKTMBUF_HEADROOM + 192,
};

static unsigned int faults;

unsigned int fm_bench_faults(void)
{
	return faults;
}

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

static uint64_t lap_frames(const struct fm_bench_cell *cell, const struct fm_bench_how *how)
{
	return how->lap > 0 ? how->lap : whole_blocks(cell, FM_BENCH_LAP_MIN);
}

/* --- mbufs --- */

uint64_t fm_bench_pool_bytes(uint32_t n)
{
	struct rte_mempool_objsz size;

	rte_mempool_calc_obj_size(sizeof(struct rte_mbuf) + DATA_ROOM, 0, &size);
	/* No mbuf lies across two pages. And the ring. */
	return (uint64_t)n * size.total_size + n / 1024 * 1024 + (uint64_t)rte_align32pow2(n + 1) * sizeof(void *);
}

struct rte_mempool *fm_bench_pool(uint32_t n, int socket)
{
	static unsigned int pools;
	struct rte_mbuf **all = malloc(n * sizeof(struct rte_mbuf *));
	uint64_t random = 8200;
	struct rte_mempool *pool;
	char name[32];

	snprintf(name, sizeof(name), "bench%u", pools++);
	pool = rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, DATA_ROOM, socket);
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

void fm_bench_pool_free(struct rte_mempool *pool, const char *who)
{
	if (rte_mempool_avail_count(pool) != pool->size) {
		fprintf(stderr, "bench: %s left %u mbufs outside\n", who, rte_mempool_in_use_count(pool));
		faults++;
	}
	rte_mempool_free(pool);
}

/* --- laps --- */

void fm_bench_lap_init(struct fm_bench_lap *lap, const struct fm_bench_cell *cell, const struct fm_bench_how *how,
		       uint64_t frames_max)
{
	*lap = (struct fm_bench_lap){
		.m = malloc(frames_max * sizeof(*lap->m)),
		.frame_len = fm_bench_frame_len(cell),
		.burst = how->burst,
		.rx_flags = how->software_checksum ? 0 : RTE_MBUF_F_RX_IP_CKSUM_GOOD,
	};
	fm_bench_must(lap->m != NULL, "a lap");
}

void fm_bench_lap_fini(struct fm_bench_lap *lap)
{
	free(lap->m);
}

void fm_bench_prepare(struct fm_bench_lap *lap, struct rte_mempool *pool, struct fm_bench_traffic *traffic,
		      uint64_t positions)
{
	struct rte_mbuf *m = NULL;

	while (positions-- > 0) {
		if (m == NULL)
			m = rte_pktmbuf_alloc(pool);
		fm_bench_must(m != NULL, "mbufs");
		if (!fm_bench_next(traffic, rte_pktmbuf_mtod(m, uint8_t *)))
			continue;
		lap->m[lap->n++] = m;
		m = NULL;
	}
	rte_pktmbuf_free(m);
}

/* What a poll mode driver writes for a received frame. */
static inline void receive(struct rte_mbuf *m, const struct fm_bench_lap *lap)
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

uint64_t fm_bench_interruptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nivcsw + (uint64_t)usage.ru_nvcsw;
}

void fm_bench_run_slice(const struct fm_bench_lap *lap, uint32_t first, uint32_t n,
			const struct fm_bench_engine *engine, void *state, struct fm_bench_result *result)
{
	const uint64_t before = fm_bench_interruptions(), start = rte_rdtsc_precise();
	struct fm_bench_sum *sum;
	uint64_t cycles;

	for (uint32_t at = first; at < first + n; at += lap->burst) {
		const uint32_t burst = RTE_MIN(first + n - at, lap->burst);

		for (uint32_t i = 0; i < burst; i++)
			receive(lap->m[at + i], lap);
		result->done += engine->burst(state, &lap->m[at], burst, rte_rdtsc());
	}
	cycles = rte_rdtsc_precise() - start;
	sum = fm_bench_interruptions() == before ? &result->quiet : &result->disturbed;
	sum->cycles += cycles;
	sum->fragments += n;
}

void fm_bench_run_lap(const struct fm_bench_lap *lap, const struct fm_bench_engine *engine, void *state,
		      struct fm_bench_result *result)
{
	for (uint32_t at = 0; at < lap->n; at += FM_BENCH_SLICE)
		fm_bench_run_slice(lap, at, RTE_MIN(lap->n - at, (uint32_t)FM_BENCH_SLICE), engine, state, result);
}

double fm_bench_cycles(const struct fm_bench_result *result)
{
	const struct fm_bench_sum *sum = result->quiet.fragments > 0 ? &result->quiet : &result->disturbed;

	return sum->fragments == 0 ? 0 : (double)sum->cycles / (double)sum->fragments;
}

/* --- a cell --- */

static uint32_t mbufs_for(const struct fm_bench_cell *cell, const struct fm_bench_how *how)
{
	/* What is under way, and a lap. */
	return (uint32_t)(fm_bench_block(cell) + lap_frames(cell, how) + 2 * POOL_CACHE);
}

uint64_t fm_bench_bytes(const struct fm_bench_cell *cell, const struct fm_bench_how *how)
{
	uint64_t table = 0, bytes;

	for (int e = 0; e < FM_BENCH_ENGINES; e++)
		table = RTE_MAX(table, fm_bench_engine[e].bytes(cell));
	bytes = table + fm_bench_pool_bytes(mbufs_for(cell, how));
	return bytes + bytes / 32 + (16 << 20);
}

static void check_result(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			 const struct fm_bench_result *result, uint64_t total)
{
	if (engine != &fm_bench_engine[FM_BENCH_FLOOR] && result->done != fm_bench_complete(cell, total)) {
		faults++;
		fprintf(stderr, "bench: %s completed %lu of %lu datagrams: IPv%u, %u fragments, %u datagrams\n",
			engine->name, result->done, fm_bench_complete(cell, total), cell->family, cell->fragments,
			cell->datagrams);
	}
	if (result->quiet.fragments < result->disturbed.fragments)
		fprintf(stderr, "bench: %s: the machine is busy, most slices were disturbed\n", engine->name);
}

double fm_bench_measure(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			const struct fm_bench_how *how)
{
	const uint64_t warm = whole_blocks(cell, WARM_MIN), total = warm + whole_blocks(cell, TIMED_MIN);
	const uint64_t lap_max = lap_frames(cell, how);
	struct rte_mempool *pool = fm_bench_pool(mbufs_for(cell, how), how->socket);
	struct fm_bench_result result = {0};
	struct fm_bench_traffic traffic;
	struct fm_bench_lap lap;
	void *state = engine->create(cell, how->socket);
	uint64_t positions;

	fm_bench_lap_init(&lap, cell, how, lap_max);
	fm_bench_traffic_init(&traffic, cell);
	for (uint64_t at = 0; at < total; at += positions) {
		positions = RTE_MIN(lap_max, (at < warm ? warm : total) - at);
		if (at == warm)
			result = (struct fm_bench_result){.done = result.done};
		lap.n = 0;
		fm_bench_prepare(&lap, pool, &traffic, positions);
		fm_bench_run_lap(&lap, engine, state, &result);
	}
	check_result(cell, engine, &result, total);
	engine->destroy(state);
	fm_bench_traffic_fini(&traffic);
	fm_bench_lap_fini(&lap);
	fm_bench_pool_free(pool, engine->name);
	return fm_bench_cycles(&result);
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double fm_bench_median(const double *values, uint32_t n)
{
	double sorted[FM_BENCH_SAMPLES_MAX];

	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double fm_bench_median_ratio(const double *values, const double *to, uint32_t n)
{
	double ratio[FM_BENCH_SAMPLES_MAX];

	for (uint32_t i = 0; i < n; i++) {
		if (to[i] <= 0)
			return 0;
		ratio[i] = values[i] / to[i];
	}
	return fm_bench_median(ratio, n);
}
