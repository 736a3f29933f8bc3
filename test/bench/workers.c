/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments per second of one worker, of several that share nothing, and of several that share what one receives.
 *
 * No ports: a generator in memory stands for the receive burst, on the lcore of the worker and in its time. What is
 * completed is freed. Modes:
 *   apart    each worker has a generator, a pool and a table: how well they keep out of each other's way
 *   steered  the first worker receives all and hands over what is not its own (lib/port/steer.h), as for a port that
 *            does not spread by address; one pool. It waits for pipes that are full, so nothing is dropped. A
 *            single one hands all to itself: what steering costs where no line goes from one CPU to another.
 *   shared   each worker receives as in `apart`, and hands over what is not its own: a port with a queue for each of
 *            them that does not spread by address
 *
 * Where somebody else uses the CPUs, the clock on the wall says little. So there is a second figure: what each worker
 * did for each second of CPU that it got, summed up. It is what they would do with a CPU each. In mode steered it
 * flatters, because who waits uses CPU, too.
 */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include "engine.h"
#include "steer.h"

enum {
	WORKERS_MAX = 4,
	REPEAT_MAX = 101,
	POOL_CACHE = 512,
	PIPE_MBUFS = 2048,
	BURST = 32,
	DATA_ROOM = RTE_PKTMBUF_HEADROOM + 192,
};

enum mode { APART, STEERED, SHARED, MODES };

static const char *const mode_name[MODES] = { "apart", "steered", "shared" };
static const uint16_t counts[] = { 1, 2, 4 };

static struct {
	bool tsv;
	uint32_t repeat, ms, memory_mb;
	struct fm_bench_cell cell;
} options = {
	.repeat = 5, .ms = 500, .memory_mb = 512,
	.cell = { .family = 4, .fragments = 4, .order = FM_BENCH_ROUND_ROBIN, .datagrams = 1024,
		  .payload = FM_BENCH_PAYLOAD },
};

/* One worker. Each on lines of its own: nobody writes what another one reads but where it is meant. */
struct __rte_cache_aligned lane {
	struct rte_mempool *pool;
	struct fm_bench_traffic traffic;
	void *table;
	struct fm_steer *steer;		/* of those who hand over */
	struct fm_pipe *pipe[WORKERS_MAX];	/* of those to whom they do */
	uint16_t n_pipes;
	uint64_t fragments;
	double wall_s, cpu_s;
};

static struct lane lane[WORKERS_MAX];
static uint16_t n_workers;
static enum mode mode;
static atomic_uint ready;
static _Atomic uint64_t end_tsc;

static void *must(void *memory, const char *what)
{
	if (memory == NULL) {
		fprintf(stderr, "workers: no memory for %s: give it more with --memory\n", what);
		exit(1);
	}
	return memory;
}

/* What a receive burst does, and the sender before it. */
static void receive(struct lane *l, struct rte_mbuf **in)
{
	const uint32_t len = fm_bench_frame_len(&options.cell);

	while (rte_pktmbuf_alloc_bulk(l->pool, in, BURST) != 0)
		rte_pause();
	for (uint32_t i = 0; i < BURST; i++) {
		while (!fm_bench_next(&l->traffic, rte_pktmbuf_mtod(in[i], uint8_t *)))
			;
		in[i]->ol_flags = RTE_MBUF_F_RX_IP_CKSUM_GOOD;
		in[i]->data_len = (uint16_t)len;
		in[i]->pkt_len = len;
	}
}

static void reassemble(struct lane *l, struct rte_mbuf **in, uint32_t n)
{
	if (n == 0)
		return;
	fm_bench_engine[FM_BENCH_FRAGMEND].burst(l->table, in, n, rte_rdtsc());
	l->fragments += n;
}

static bool has_room(const struct fm_steer *s)
{
	for (uint16_t w = 0; w < s->n_workers; w++)
		if (s->box[w] != NULL && fm_pipe_room(&s->box[w]->pipe) < BURST)
			return false;
	return true;
}

static void take(struct lane *l, struct fm_pipe *pipe)
{
	struct rte_mbuf *in[BURST];
	const uint32_t n = rte_ring_sc_dequeue_burst(pipe->ring, (void **)in, BURST, NULL);

	if (n == 0)
		rte_pause();
	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(in[i]);
	reassemble(l, in, n);
	fm_pipe_count_taken(pipe, n, n);
}

static void generate(struct lane *l)
{
	struct rte_mbuf *in[BURST];
	uint32_t n = BURST;

	receive(l, in);
	if (l->steer != NULL)
		n = fm_steer_burst(l->steer, in, BURST, 0);
	reassemble(l, in, n);
}

static void turn(struct lane *l)
{
	if (l->steer != NULL && !has_room(l->steer))
		rte_pause();
	else if (l->steer != NULL || l->n_pipes == 0)
		generate(l);
	for (uint16_t i = 0; i < l->n_pipes; i++)
		take(l, l->pipe[i]);
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int work(void *arg)
{
	struct lane *l = arg;
	double wall, cpu;

	/* All of them at once; the last one says until when. */
	if (atomic_fetch_add(&ready, 1) + 1 == n_workers)
		atomic_store(&end_tsc, rte_rdtsc() + options.ms * (rte_get_tsc_hz() / 1000));
	while (atomic_load(&end_tsc) == 0)
		sched_yield();
	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t end = atomic_load(&end_tsc);

	while (rte_rdtsc() < end)
		turn(l);
	l->cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	l->wall_s = seconds(CLOCK_MONOTONIC) - wall;
	return 0;
}

static void connect_lane(uint16_t from)
{
	struct fm_steer *s = must(rte_zmalloc("steer", sizeof(*s), RTE_CACHE_LINE_SIZE), "steering");
	const size_t size = fm_pipe_memsize(sizeof(void *), PIPE_MBUFS);

	s->key = (struct fm_siphash_key){ 8200, 791 };
	s->n_workers = n_workers;
	for (uint16_t w = 0; w < n_workers; w++) {
		if (w == from && (n_workers > 1 || mode == SHARED))
			continue;
		s->box[w] = must(rte_zmalloc("box", sizeof(*s->box[w]), RTE_CACHE_LINE_SIZE), "a pipe");
		fm_pipe_init(&s->box[w]->pipe, must(rte_zmalloc("pipe", size, RTE_CACHE_LINE_SIZE), "a pipe"), from, w,
			     PIPE_MBUFS);
		lane[w].pipe[lane[w].n_pipes++] = &s->box[w]->pipe;
	}
	lane[from].steer = s;
}

static void disconnect_lane(uint16_t from)
{
	struct fm_steer *s = lane[from].steer;
	struct rte_mbuf *m;

	for (uint16_t w = 0; w < n_workers; w++) {
		if (s->box[w] == NULL)
			continue;
		while (rte_ring_sc_dequeue(s->box[w]->pipe.ring, (void **)&m) == 0)
			rte_pktmbuf_free(m);
		rte_free(s->box[w]->pipe.ring);
		rte_free(s->box[w]);
	}
	if (s->full_fragments != 0)
		fprintf(stderr, "workers: %lu fragments were dropped\n", s->full_fragments);
	rte_free(s);
	lane[from].steer = NULL;
}

/* Those who hand over. */
static uint16_t n_steering(void)
{
	return mode == APART ? 0 : mode == STEERED ? 1 : n_workers;
}

static void set_up(void)
{
	atomic_store(&ready, 0);
	atomic_store(&end_tsc, 0);
	for (uint16_t w = 0; w < n_workers; w++) {
		struct fm_bench_cell cell = options.cell;

		cell.network = w;
		fm_bench_traffic_init(&lane[w].traffic, &cell);
		lane[w].table = fm_bench_engine[FM_BENCH_FRAGMEND].create(&options.cell, SOCKET_ID_ANY);
		lane[w].fragments = 0;
		lane[w].n_pipes = 0;
	}
	for (uint16_t w = 0; w < n_steering(); w++)
		connect_lane(w);
}

static void tear_down(void)
{
	for (uint16_t w = 0; w < n_steering(); w++)
		disconnect_lane(w);
	for (uint16_t w = 0; w < n_workers; w++) {
		fm_bench_engine[FM_BENCH_FRAGMEND].destroy(lane[w].table);
		fm_bench_traffic_fini(&lane[w].traffic);
	}
	for (uint16_t w = 0; w < n_workers; w++)
		if (rte_mempool_avail_count(lane[w].pool) != lane[w].pool->size)
			fprintf(stderr, "workers: %u mbufs did not come back\n",
				rte_mempool_in_use_count(lane[w].pool));
}

struct result {
	double per_wall_s, per_cpu_s, cpu_share;
};

static struct result run(void)
{
	struct result result = { 0 };
	unsigned int lcore;
	uint16_t w = 1;
	double wall_s = 0, fragments = 0;

	set_up();
	RTE_LCORE_FOREACH_WORKER(lcore)
		if (w < n_workers && rte_eal_remote_launch(work, &lane[w++], lcore) != 0)
			must(NULL, "a worker");
	work(&lane[0]);
	rte_eal_mp_wait_lcore();
	for (w = 0; w < n_workers; w++) {
		const struct lane *l = &lane[w];

		fragments += (double)l->fragments;
		wall_s = RTE_MAX(wall_s, l->wall_s);
		result.per_cpu_s += (double)l->fragments / l->cpu_s;
		result.cpu_share += l->cpu_s / l->wall_s / n_workers;
	}
	result.per_wall_s = fragments / wall_s;
	tear_down();
	return result;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const struct result *results, size_t member)
{
	double value[REPEAT_MAX];

	for (uint32_t i = 0; i < options.repeat; i++)
		memcpy(&value[i], (const char *)&results[i] + member, sizeof(value[i]));
	qsort(value, options.repeat, sizeof(value[0]), compare);
	return value[options.repeat / 2];
}

static void print(const struct result results[REPEAT_MAX], enum mode m, uint16_t workers, const struct result *one)
{
	const double wall = median(results, offsetof(struct result, per_wall_s));
	const double cpu = median(results, offsetof(struct result, per_cpu_s));

	printf(options.tsv ? "%s\t%u\t%.0f\t%.3f\t%.0f\t%.3f\t%.2f\n" : "%-8s %7u %13.0f %6.2f %13.0f %6.2f %9.2f\n",
	       mode_name[m], workers, wall, wall / one->per_wall_s, cpu, cpu / one->per_cpu_s,
	       median(results, offsetof(struct result, cpu_share)));
}

static void measure(void)
{
	static struct result results[MODES][RTE_DIM(counts)][REPEAT_MAX];
	struct result one;

	for (uint32_t r = 0; r < options.repeat; r++)
		for (mode = APART; mode < MODES; mode++)
			for (size_t c = 0; c < RTE_DIM(counts); c++) {
				n_workers = counts[c];
				results[mode][c][r] = run();
			}
	one.per_wall_s = median(results[APART][0], offsetof(struct result, per_wall_s));
	one.per_cpu_s = median(results[APART][0], offsetof(struct result, per_cpu_s));
	printf(options.tsv ? "mode\tworkers\tper_s\tratio\tper_cpu_s\tcpu_ratio\tcpu_share\n" :
	       "mode     workers   fragments/s  ratio     per cpu s  ratio cpu share\n");
	for (int m = 0; m < MODES; m++)
		for (size_t c = 0; c < RTE_DIM(counts); c++)
			print(results[m][c], (enum mode)m, counts[c], &one);
}

static uint32_t number(const char *option, const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && value >= min && value <= max)
		return (uint32_t)value;
	fprintf(stderr, "workers: %s: %u to %u expected, got \"%s\"\n", option, min, max, text);
	exit(2);
}

static void usage(FILE *out, int code)
{
	fprintf(out,
		"usage: workers [options]\n"
		"  --tsv          tab-separated: mode workers per_s ratio per_cpu_s cpu_ratio cpu_share\n"
		"  --repeat N     repetitions, 1 to %d, of which the median is shown; default 5\n"
		"  --ms N         of each run; default 500\n"
		"  --datagrams N  under way with each worker; default 1024\n"
		"  --fragments N  of a datagram; default 4\n"
		"  --memory MB    for EAL; default 512\n"
		"ratio: to one worker. CPUs that this process may use are taken in turn.\n", REPEAT_MAX);
	exit(code);
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "tsv", no_argument, NULL, 't' }, { "repeat", required_argument, NULL, 'r' },
		{ "ms", required_argument, NULL, 'm' }, { "datagrams", required_argument, NULL, 'd' },
		{ "fragments", required_argument, NULL, 'f' }, { "memory", required_argument, NULL, 'M' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't')
			options.tsv = true;
		else if (option == 'r')
			options.repeat = number("--repeat", optarg, 1, REPEAT_MAX);
		else if (option == 'm')
			options.ms = number("--ms", optarg, 1, 100000);
		else if (option == 'd')
			options.cell.datagrams = number("--datagrams", optarg, 1, 1 << 18);
		else if (option == 'f')
			options.cell.fragments = number("--fragments", optarg, 2, 64);
		else if (option == 'M')
			options.memory_mb = number("--memory", optarg, 64, 1 << 20);
		else
			usage(option == 'h' ? stdout : stderr, option == 'h' ? 0 : 2);
	}
	if (optind < argc)
		usage(stderr, 2);
}

/* An lcore for each worker, on the CPUs in turn. */
static void start_eal(void)
{
	char word[][64] = { "workers", "--no-pci", "--no-telemetry", "--no-shconf", "--no-huge", "--log-level",
			    "*:error", "-m", "", "--lcores", "" };
	char *argv[RTE_DIM(word) + 1] = { NULL };
	int cpu[CPU_SETSIZE], cpus = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (int c = 0; c < CPU_SETSIZE; c++)
		if (CPU_ISSET(c, &set))
			cpu[cpus++] = c;
	snprintf(word[8], sizeof(word[8]), "%u", options.memory_mb);
	for (int l = 0; l < WORKERS_MAX; l++)
		snprintf(word[10] + strlen(word[10]), sizeof(word[10]) - strlen(word[10]), "%s%d@%d", l == 0 ? "" : ",",
			 l, cpu[l % cpus]);
	for (size_t i = 0; i < RTE_DIM(word); i++)
		argv[i] = word[i];
	if (rte_eal_init(RTE_DIM(word), argv) < 0)
		must(NULL, "EAL");
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	start_eal();
	for (uint16_t w = 0; w < WORKERS_MAX; w++) {
		/* All datagrams under way may be with one table, or in the pipes. */
		const uint32_t n = 2 * (uint32_t)fm_bench_block(&options.cell) + WORKERS_MAX * (PIPE_MBUFS +
				   2 * POOL_CACHE);
		char name[32];

		snprintf(name, sizeof(name), "workers%u", w);
		lane[w].pool = must(rte_pktmbuf_pool_create(name, n, POOL_CACHE, 0, DATA_ROOM, SOCKET_ID_ANY),
				    "the mbuf pool");
	}
	measure();
	for (uint16_t w = 0; w < WORKERS_MAX; w++)
		rte_mempool_free(lane[w].pool);
	rte_eal_cleanup();
	return 0;
}
