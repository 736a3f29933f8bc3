/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cycles a fragment costs: fragmend's core, DPDK's rte_ip_frag, and the floor, on the same frames in one run.
 *
 * Inside the timed part, for bursts of 32:
 *   - what a receive burst does to an mbuf: its first cache line is written;
 *   - the engine: from the Ethernet header to the joined datagram;
 *   - freeing what comes out, and whatever the engine frees itself.
 * The floor reads each header and frees the mbuf instead.
 *
 * Outside: taking mbufs from the pool and writing the headers. That is done for LAP frames at a time, so when their
 * turn comes the headers are in a near cache, as frames are that a port has just written there. Payload is never
 * touched. Laps in which the kernel ran another thread on this CPU are left out. One lcore, a real mempool with its
 * cache, its mbufs in random order as after hours of use, the same order for all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/resource.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_version.h>

#include "engine.h"
#include "options.h"
#include "traffic.h"

enum {
	LAP = 1024,
	TIMED_MIN = 32768, /* fragments of a repetition, at least; whole blocks */
	WARM_MIN = 8192,   /* untimed before them */
	POOL_CACHE = 512,
	/* Of an mbuf. Small, so that the largest cell fits in a gigabyte; no engine looks behind the headers. */
	DATA_ROOM = RTE_PKTMBUF_HEADROOM + 192,
};

static void must(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "bench: %s: not enough memory, give it more with --memory\n", what);
		exit(1);
	}
}

/* A pool that holds what is under way and a lap; the order of its mbufs is random, and the same each time. */
static struct rte_mempool *make_pool(const struct fm_bench_cell *cell)
{
	static unsigned int pools;
	const uint32_t n = (uint32_t)fm_bench_block(cell) + LAP + 2 * POOL_CACHE;
	struct rte_mbuf **all = malloc(n * sizeof(struct rte_mbuf *));
	uint64_t random = 8200;
	struct rte_mempool *pool;
	char name[32];

	snprintf(name, sizeof(name), "bench%u", pools++);
	pool = rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, DATA_ROOM, SOCKET_ID_ANY);
	must(pool != NULL && all != NULL, "the mbuf pool");
	must(rte_mempool_get_bulk(pool, (void **)all, n) == 0, "the mbuf pool");
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

struct lap {
	struct rte_mbuf *m[LAP];
	uint32_t n;
	uint32_t frame_len;
	uint64_t rx_flags;
};

static void prepare(struct lap *lap, struct rte_mempool *pool, struct fm_bench_traffic *traffic)
{
	must(rte_pktmbuf_alloc_bulk(pool, lap->m, lap->n) == 0, "mbufs");
	for (uint32_t i = 0; i < lap->n; i++)
		fm_bench_next(traffic, rte_pktmbuf_mtod(lap->m[i], uint8_t *));
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

static void run_lap(struct lap *lap, const struct fm_bench_engine *engine, void *state, struct result *result)
{
	const uint64_t before = interruptions(), start = rte_rdtsc_precise();
	struct sum *sum;
	uint64_t cycles;

	for (uint32_t at = 0; at < lap->n; at += FM_BENCH_BURST) {
		const uint32_t n = RTE_MIN(lap->n - at, (uint32_t)FM_BENCH_BURST);

		for (uint32_t i = 0; i < n; i++)
			receive(lap->m[at + i], lap);
		result->done += engine->burst(state, &lap->m[at], n, rte_rdtsc());
	}
	cycles = rte_rdtsc_precise() - start;
	sum = interruptions() == before ? &result->quiet : &result->disturbed;
	sum->cycles += cycles;
	sum->fragments += lap->n;
}

static uint64_t whole_blocks(const struct fm_bench_cell *cell, uint64_t at_least)
{
	const uint64_t block = fm_bench_block(cell);

	return (at_least + block - 1) / block * block;
}

static void check_result(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			 const struct result *result, uint64_t total)
{
	if (engine != &fm_bench_engine[FM_BENCH_FLOOR] && result->done != fm_bench_complete(cell, total))
		fprintf(stderr, "bench: %s completed %lu of %lu datagrams: IPv%u, %u fragments, %u datagrams\n",
			engine->name, result->done, fm_bench_complete(cell, total), cell->family, cell->fragments,
			cell->datagrams);
	if (result->quiet.fragments < result->disturbed.fragments)
		fprintf(stderr, "bench: %s: the machine is busy, most laps were disturbed\n", engine->name);
}

static double per_fragment(const struct result *result)
{
	const struct sum *sum = result->quiet.fragments > 0 ? &result->quiet : &result->disturbed;

	return (double)sum->cycles / (double)sum->fragments;
}

/* One engine on one cell, from an empty table: cycles a fragment. */
static double measure(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
		      const struct fm_bench_options *options)
{
	const uint64_t warm = whole_blocks(cell, WARM_MIN), total = warm + whole_blocks(cell, TIMED_MIN);
	struct rte_mempool *pool = make_pool(cell);
	struct lap lap = {
		.frame_len = fm_bench_frame_len(cell),
		.rx_flags = options->software_checksum ? 0 : RTE_MBUF_F_RX_IP_CKSUM_GOOD,
	};
	struct result result = {0};
	struct fm_bench_traffic traffic;
	void *state = engine->create(cell);

	fm_bench_traffic_init(&traffic, cell);
	for (uint64_t at = 0; at < total; at += lap.n) {
		lap.n = (uint32_t)RTE_MIN((uint64_t)LAP, (at < warm ? warm : total) - at);
		if (at == warm)
			result = (struct result){.done = result.done};
		prepare(&lap, pool, &traffic);
		run_lap(&lap, engine, state, &result);
	}
	check_result(cell, engine, &result, total);
	engine->destroy(state);
	fm_bench_traffic_fini(&traffic);
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

static double median(double *values, uint32_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* What was measured of a line: cycles a fragment, 0 where an engine cannot. */
struct samples {
	double cycles[FM_BENCH_ENGINES][FM_BENCH_REPEAT_MAX];
};

/* All lines and engines once: a slow minute of the machine is one repetition, not some lines of the table. */
static void repeat(const struct fm_bench_options *options, struct samples *samples, uint32_t number)
{
	struct fm_bench_cell cell;

	for (uint64_t i = 0; fm_bench_cell(options, i, &cell); i++)
		for (int e = 0; e < FM_BENCH_ENGINES; e++) {
			const struct fm_bench_engine *engine = &fm_bench_engine[e];

			if (engine->fragments_max == 0 || cell.fragments <= engine->fragments_max)
				samples[i].cycles[e][number] = measure(&cell, engine, options);
		}
}

static const char *const order_name[] = {
#define ORDER_NAME(sym, name, text) name,
	FM_BENCH_ORDERS(ORDER_NAME)
#undef ORDER_NAME
};

static void ratio(char text[16], double cycles, double to)
{
	if (cycles > 0 && to > 0)
		snprintf(text, 16, "%.2f", cycles / to);
	else
		snprintf(text, 16, "-");
}

static void print_rows(const struct fm_bench_cell *cell, const double cycles[FM_BENCH_ENGINES])
{
	for (int e = 0; e < FM_BENCH_ENGINES; e++) {
		char to_floor[16], to_peer[16];

		if (cycles[e] <= 0)
			continue;
		ratio(to_floor, cycles[e], cycles[FM_BENCH_FLOOR]);
		ratio(to_peer, cycles[e], cycles[FM_BENCH_PEER]);
		printf("%s\t%u\t%u\t%s\t%u\t%.1f\t%s\t%s\n", fm_bench_engine[e].name, cell->family, cell->fragments,
		       order_name[cell->order], cell->datagrams, cycles[e], to_floor, to_peer);
	}
}

static void print_line(const struct fm_bench_cell *cell, const double cycles[FM_BENCH_ENGINES])
{
	char to_floor[16], to_peer[16], peer[16] = "-";

	ratio(to_floor, cycles[FM_BENCH_FRAGMEND], cycles[FM_BENCH_FLOOR]);
	ratio(to_peer, cycles[FM_BENCH_FRAGMEND], cycles[FM_BENCH_PEER]);
	if (cycles[FM_BENCH_PEER] > 0)
		snprintf(peer, sizeof(peer), "%.0f", cycles[FM_BENCH_PEER]);
	printf("IPv%u  %9u  %-11s  %9u  %8.0f  %11s  %5.0f  %8s  %7s\n", cell->family, cell->fragments,
	       order_name[cell->order], cell->datagrams, cycles[FM_BENCH_FRAGMEND], peer, cycles[FM_BENCH_FLOOR],
	       to_peer, to_floor);
}

static void print_head(const struct fm_bench_options *options)
{
	FILE *out = options->tsv ? stderr : stdout;

	fprintf(out,
		"TSC cycles per fragment at %.2f GHz; %s; %s; bursts of %d; median of %u; IPv4 header checksum %s\n",
		(double)rte_get_tsc_hz() / 1e9, rte_version(), rte_eal_has_hugepages() ? "hugepages" : "4 KB pages",
		FM_BENCH_BURST, options->repeat,
		options->software_checksum ? "verified in software" : "verified by the port");
	if (options->tsv)
		printf("engine\tfamily\tfragments\torder\tdatagrams\tcycles\tfloor\tpeer\n");
	else
		printf("family  fragments  order        datagrams  fragmend  rte_ip_frag  floor  to_peer  to_floor\n");
}

static void print_table(const struct fm_bench_options *options, struct samples *samples)
{
	struct fm_bench_cell cell;

	for (uint64_t i = 0; fm_bench_cell(options, i, &cell); i++) {
		double cycles[FM_BENCH_ENGINES];

		for (int e = 0; e < FM_BENCH_ENGINES; e++)
			cycles[e] = median(samples[i].cycles[e], options->repeat);
		if (options->tsv)
			print_rows(&cell, cycles);
		else
			print_line(&cell, cycles);
	}
}

int main(int argc, char **argv)
{
	struct fm_bench_options options;
	struct fm_bench_cell cell;
	struct samples *samples;
	uint64_t lines = 0;

	fm_bench_options(argc, argv, order_name, &options);
	fm_bench_start_eal(&options);
	while (fm_bench_cell(&options, lines, &cell))
		lines++;
	samples = calloc(lines, sizeof(*samples));
	must(samples != NULL, "the results");
	print_head(&options);
	for (uint32_t i = 0; i < options.repeat; i++) {
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "repetition %u of %u, %lu lines\n", i + 1, options.repeat, lines);
		repeat(&options, samples, i);
	}
	print_table(&options, samples);
	free(samples);
	rte_eal_cleanup();
	return 0;
}
