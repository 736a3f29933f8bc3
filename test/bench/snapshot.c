/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `show reassembly datagrams|sources` costs a worker, for tables of several sizes: its looks (lib/port/look.h)
 * between bursts of 32 fragments, as in the worker's loop, one show after the other without end.
 *
 *	look     a look takes so many bursts: half of them at most, 999 of a thousand at most
 *	at once  all looks of a show of datagrams in one call, in bursts
 *	burst    a burst itself, 999 of a thousand: what the machine does to everybody
 *	paced    fragments' cycles with looks as often as control can ask for them, against none
 *	always   the same with a look after every burst, which nobody can ask for
 *
 * One thread, no ports: frames come from memory, what is completed is freed. Datagrams have two fragments, so as many
 * are held as are under way. All of it is ratios: of what was measured in turns, slice by slice, on one CPU.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fm_reass.h"
#include "look.h"
#include "measure.h"
#include "memory.h"

enum {
	EAL_MB = 64,
	BURST = 32,
	VIEWS_MAX = 1000,		/* of `top N` */
	LAP = 32 * 1024,		/* frames prepared at a time; a multiple of BURST * SLICE */
	SLICE = 32,			/* bursts that are thrown away together where the kernel ran somebody else */
	SLICES = 512,
	POOL_CACHE_ROOM = 1024,
	PACE_US = 50,			/* control sleeps so long, at least, before it looks for an answer */
	FAMILY = 4,
	TIMEOUT_S = 3600,
	AT_ONCE = 9,			/* measured so often, the median is shown */
};

enum show { NONE, DATAGRAMS, SOURCES };
enum pace { NEVER, PACED, ALWAYS, PACES };

static struct { bool tsv; uint32_t most, memory_mb; } options = { .most = 1 << 18 };
static const uint32_t sizes[] = { 64, 4096, 1 << 16, 1 << 18, 1 << 20 };

struct bench {
	struct fm_reass *reass;
	void *memory;
	struct rte_mempool *pool;
	struct fm_bench_traffic traffic;
	struct fm_bench_lap lap;
	struct fm_result result;
	/* The show that is on. */
	enum show show;
	uint32_t at, max, n;
	struct fm_reass_view *views;
	struct fm_source_view *sources;
	uint64_t shows;
};

struct sum {
	uint64_t cycles, bursts;
};

/* Cycles of single bursts and looks, of undisturbed slices. */
struct times {
	uint32_t *value;
	uint32_t n;
};

static struct fm_reass_params params_of(uint32_t datagrams)
{
	return (struct fm_reass_params){
		.settings = { .timeout_tsc = { TIMEOUT_S * rte_get_tsc_hz(), TIMEOUT_S * rte_get_tsc_hz() },
			      .budget_mbufs = 2 * datagrams + 64, .max_fragments = 128 },
		.max_datagrams = 2 * datagrams + 64, .max_mbufs = 2 * datagrams + 64, .secret = "a fixed secret 1",
	};
}

static uint64_t bytes_for(uint32_t datagrams)
{
	const struct fm_reass_params params = params_of(datagrams);
	const uint64_t bytes = fm_reass_memsize(&params) + fm_bench_pool_bytes(datagrams + LAP + POOL_CACHE_ROOM);

	return bytes + bytes / 32 + (16 << 20);
}

static void receive(struct rte_mbuf *m, const struct fm_bench_lap *lap)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->nb_segs = 1;
	m->port = 0;
	m->ol_flags = lap->rx_flags;
	m->pkt_len = lap->frame_len;
	m->data_len = (uint16_t)lap->frame_len;
}

static void burst(struct bench *b, uint32_t at)
{
	for (uint32_t i = 0; i < BURST; i++)
		receive(b->lap.m[at + i], &b->lap);
	fm_reass_burst(b->reass, &b->lap.m[at], BURST, 0, rte_rdtsc(), &b->result);
	rte_pktmbuf_free_bulk(b->result.done, b->result.n_done);
}

/* As lib/port/door.c asks for it. */
static void look(struct bench *b)
{
	uint32_t next;

	if (b->at == 0)
		b->n = 0;
	if (b->show == DATAGRAMS)
		next = fm_reass_views_some(b->reass, b->at == 0, FM_LOOK_RUNS, rte_rdtsc(), b->views, b->max, &b->n);
	else
		next = fm_reass_sources(b->reass, b->at, fm_look_records(b->at, b->max), b->sources, b->max, &b->n);
	b->shows += next == 0;
	b->at = next;
}

static void lap(struct bench *b)
{
	b->lap.n = 0;
	while (b->lap.n < LAP)
		fm_bench_prepare(&b->lap, b->pool, &b->traffic, 1);
}

static void add(struct times *times, uint64_t cycles)
{
	times->value[times->n++] = (uint32_t)RTE_MIN(cycles, (uint64_t)UINT32_MAX);
}

/* Some bursts with the looks between them. False: the kernel ran somebody else meanwhile. */
static bool slice(struct bench *b, uint32_t at, enum pace pace, struct times *bursts, struct times *looks,
		  struct sum *sum)
{
	static uint64_t due_tsc;
	const uint64_t before = fm_bench_interruptions(), pause = rte_get_tsc_hz() / 1000000 * PACE_US;
	const uint32_t n_bursts = bursts->n, n_looks = looks->n;
	const uint64_t start = rte_rdtsc_precise();

	for (uint32_t i = 0; i < SLICE; i++) {
		const uint64_t t0 = rte_rdtsc();
		uint64_t t1, t2;

		burst(b, at + i * BURST);
		t1 = rte_rdtsc();
		add(bursts, t1 - t0);
		if (pace == NEVER || (pace == PACED && t1 < due_tsc))
			continue;
		look(b);
		t2 = rte_rdtsc();
		add(looks, t2 - t1);
		due_tsc = t2 + pause;
	}
	sum->cycles += rte_rdtsc_precise() - start;
	sum->bursts += SLICE;
	if (fm_bench_interruptions() == before)
		return true;
	bursts->n = n_bursts;
	looks->n = n_looks;
	return false;
}

static int compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double permille(struct times *times, uint32_t per)
{
	if (times->n == 0)
		return 0;
	qsort(times->value, times->n, sizeof(times->value[0]), compare);
	return times->value[(uint64_t)(times->n - 1) * per / 1000];
}

static void row(const struct bench *b, const char *what, uint32_t datagrams, double value, const char *text)
{
	printf(options.tsv ? "%s\t%s\t%u\t%u\t%.3f\t%s\n" : "%-8s %-10s %9u %5u %8.3f  %s\n", what,
	       b->show == DATAGRAMS ? "datagrams" : "sources", datagrams, b->max, value, text);
	fflush(stdout);
}

/* All that a show of datagrams asks for in one call, in bursts. */
static double at_once(struct bench *b, double burst_cycles)
{
	uint32_t value[AT_ONCE];
	struct times times = { .value = value };

	for (int i = 0; i < AT_ONCE; i++) {
		const uint64_t start = rte_rdtsc();

		fm_reass_views(b->reass, start, b->views, b->max);
		add(&times, rte_rdtsc() - start);
		lap(b);
		for (uint32_t at = 0; at < LAP; at += BURST)
			burst(b, at);
	}
	return permille(&times, 500) / burst_cycles;
}

static void print(struct bench *b, uint32_t datagrams, struct times bursts[PACES], struct times looks[PACES],
		  const struct sum sum[PACES])
{
	const double cycles = (double)sum[NEVER].cycles / (double)sum[NEVER].bursts;
	const double half = permille(&bursts[NEVER], 500);

	row(b, "look", datagrams, permille(&looks[ALWAYS], 500) / half, "bursts, half of the looks at most");
	row(b, "look", datagrams, permille(&looks[ALWAYS], 999) / half, "bursts, 999 of 1000 looks at most");
	row(b, "burst", datagrams, permille(&bursts[NEVER], 999) / half, "bursts, 999 of 1000 bursts at most");
	for (int p = PACED; p < PACES; p++)
		row(b, p == PACED ? "paced" : "always", datagrams,
		    (double)sum[p].cycles / (double)sum[p].bursts / cycles, "times the cycles without looks");
	if (b->show == DATAGRAMS)
		row(b, "at once", datagrams, at_once(b, half), "bursts, if a show were not in pieces");
}

/* The paces take turns, slice by slice: whatever else the machine does, it does to all of them. */
static void measure(struct bench *b, uint32_t datagrams)
{
	struct times bursts[PACES], looks[PACES];
	struct sum sum[PACES] = { 0 };

	for (int p = 0; p < PACES; p++) {
		bursts[p] = (struct times){ .value = calloc(SLICES * SLICE, sizeof(uint32_t)) };
		looks[p] = (struct times){ .value = calloc(SLICES * SLICE, sizeof(uint32_t)) };
		fm_bench_must(bursts[p].value != NULL && looks[p].value != NULL, "the times");
	}
	b->at = 0;
	for (uint32_t s = 0; s < SLICES;) {
		lap(b);
		for (uint32_t at = 0; at < LAP && s < SLICES; at += SLICE * BURST, s++) {
			const enum pace pace = (enum pace)(s % PACES);
			struct sum now = { 0 };

			if (!slice(b, at, pace, &bursts[pace], &looks[pace], &now))
				continue;
			sum[pace].cycles += now.cycles;
			sum[pace].bursts += now.bursts;
		}
	}
	if (sum[NEVER].bursts == 0 || sum[PACED].bursts == 0 || sum[ALWAYS].bursts == 0)
		fprintf(stderr, "snapshot: the machine is busy, every slice was disturbed\n");
	else
		print(b, datagrams, bursts, looks, sum);
	for (int p = 0; p < PACES; p++) {
		free(bursts[p].value);
		free(looks[p].value);
	}
}

static void init(struct bench *b, uint32_t datagrams, int socket)
{
	const struct fm_bench_cell cell = { .family = FAMILY, .fragments = 2, .order = FM_BENCH_ROUND_ROBIN,
					    .datagrams = datagrams, .payload = FM_BENCH_PAYLOAD };
	const struct fm_bench_how how = { .socket = socket, .burst = BURST };
	const struct fm_reass_params params = params_of(datagrams);
	char err[256];

	*b = (struct bench){ .views = calloc(VIEWS_MAX, sizeof(*b->views)),
			     .sources = calloc(VIEWS_MAX, sizeof(*b->sources)) };
	b->memory = rte_zmalloc_socket("table", fm_reass_memsize(&params), RTE_CACHE_LINE_SIZE, socket);
	fm_bench_must(b->memory != NULL && b->views != NULL && b->sources != NULL, "the table");
	if (fm_reass_init(b->memory, &params, &b->reass, err, sizeof(err)) != 0) {
		fprintf(stderr, "snapshot: %s\n", err);
		exit(1);
	}
	b->pool = fm_bench_pool(datagrams + LAP + POOL_CACHE_ROOM, socket);
	fm_bench_lap_init(&b->lap, &cell, &how, LAP);
	fm_bench_traffic_init(&b->traffic, &cell);
	/* Until as many are held as there will be. */
	for (uint64_t frames = 0; frames < 2ULL * datagrams; frames += LAP) {
		lap(b);
		for (uint32_t at = 0; at < LAP; at += BURST)
			burst(b, at);
	}
}

static void fini(struct bench *b)
{
	fm_reass_flush(b->reass);
	rte_free(b->memory);
	fm_bench_traffic_fini(&b->traffic);
	fm_bench_lap_fini(&b->lap);
	fm_bench_pool_free(b->pool, "snapshot");
	free(b->views);
	free(b->sources);
}

static void measure_size(uint32_t datagrams, int socket)
{
	static const struct { enum show show; uint32_t top; } shows[] = {
		{ DATAGRAMS, 10 }, { DATAGRAMS, VIEWS_MAX }, { SOURCES, 64 }, { SOURCES, VIEWS_MAX },
	};
	struct bench b;

	init(&b, datagrams, socket);
	for (size_t i = 0; i < RTE_DIM(shows); i++) {
		b.show = shows[i].show;
		b.max = shows[i].top;
		measure(&b, datagrams);
	}
	if (b.shows == 0)
		fprintf(stderr, "snapshot: no show came to its end\n");
	fini(&b);
}

static uint32_t number(const char *option, const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && value >= min && value <= max)
		return (uint32_t)value;
	fprintf(stderr, "snapshot: %s: %u to %u expected, got \"%s\"\n", option, min, max, text);
	exit(2);
}

static void usage(FILE *out, int code)
{
	fprintf(out, "usage: snapshot [options]\n"
		     "  --tsv       tab-separated: what show datagrams top value unit\n"
		     "  --quick     small tables only\n"
		     "  --most N    the largest table, datagrams; default %u\n"
		     "  --memory MB for EAL; default: what it needs\n", options.most);
	exit(code);
}

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "tsv", no_argument, NULL, 't' }, { "quick", no_argument, NULL, 'q' },
		{ "most", required_argument, NULL, 'm' }, { "memory", required_argument, NULL, 'M' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't')
			options.tsv = true;
		else if (option == 'q')
			options.most = sizes[1];
		else if (option == 'm')
			options.most = number("--most", optarg, sizes[0], 1 << 20);
		else if (option == 'M')
			options.memory_mb = number("--memory", optarg, 64, 1 << 20);
		else
			usage(option == 'h' ? stdout : stderr, option == 'h' ? 0 : 2);
	}
	if (optind < argc)
		usage(stderr, 2);
}

int main(int argc, char **argv)
{
	uint64_t bytes = 0;
	int socket;

	parse(argc, argv);
	fm_bench_eal(EAL_MB);
	for (size_t i = 0; i < RTE_DIM(sizes) && sizes[i] <= options.most; i++)
		bytes = RTE_MAX(bytes, bytes_for(sizes[i]));
	socket = fm_bench_memory(options.memory_mb != 0 ? (uint64_t)options.memory_mb << 20 : bytes, true);
	printf(options.tsv ? "what\tshow\tdatagrams\ttop\tvalue\tunit\n" :
			     "what     show       datagrams   top    value\n");
	for (size_t i = 0; i < RTE_DIM(sizes) && sizes[i] <= options.most; i++)
		measure_size(sizes[i], socket);
	return fm_bench_faults() == 0 ? 0 : 1;
}
