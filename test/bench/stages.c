/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each stage of a burst costs, without anything in the core for it. Datagrams of 8 fragments come round-robin, so
 * the fragments that do the same come together: first ones, which begin a datagram, six in the middle, last ones, which
 * complete it. All frames of a block are made before it is worked, as in core.c.
 *
 * In every other block some of these groups are given to a part of the pipeline only, each to a longer part than the
 * one before; what a stage costs is the difference. (Then the group is given to the table, untimed, so that the block
 * goes on.) What is left of the whole when these stages are taken off is admission, insertion or joining. Parts that
 * run alone overlap their cache misses a little better than in the whole, so the stages behind look a little dearer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "internal.h"
#include "measure.h"
#include "memory.h"
#include "options.h"
#include "report.h"

enum {
	EAL_MB = 64,
	REPEAT = 5,
	BURST = 32,
	FRAGMENTS = 8,
	ROOM = 2,
	TIMED_MIN = 65536, /* frames of each group in a repetition, about */
	BLOCKS_MIN = 4,
	POOL_CACHE_ROOM = 1024,
	TIMEOUT_S = 3600,
};

/* What is timed. */
enum part {
	/* Parts of the pipeline. */
	RECEIVE,
	PARSE,
	HASH,
	LOOKUP_HELD, /* its datagram is held */
	LOOKUP_NEW,  /* nothing is */
	/* All of it. */
	FIRST,
	MIDDLE,
	LAST, /* without freeing the datagrams */
	FREE,
	DUPLICATE,
	ALONE, /* frames that are no fragments; for IPv6, atomic fragments */
	PARTS,
};

struct stages {
	struct fm_reass *reass;
	void *memory;
	uint16_t port;
	uint64_t sum; /* keeps the compiler from leaving anything out */
	uint64_t free_cycles;
	struct fm_result result;
};

/* --- parts of the pipeline, as engines --- */

static uint32_t receive(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct stages *s = arg;

	(void)now_tsc;
	s->sum += in[n - 1]->data_len;
	return 0;
}

static void parse_burst(struct stages *s, struct rte_mbuf **in, uint32_t n, struct fm_frag *frag)
{
	enum fm_outcome why;

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(in[i], void *));
	for (uint32_t i = 0; i < n; i++)
		s->sum += fm_frame_parse(rte_pktmbuf_mtod(in[i], const uint8_t *), rte_pktmbuf_data_len(in[i]),
					 rte_pktmbuf_pkt_len(in[i]), s->port, FM_PARSE_CHECKSUM_GOOD, &frag[i], &why);
}

static uint32_t parse(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct fm_frag frag[FM_BENCH_BURST_MAX];

	(void)now_tsc;
	parse_burst(arg, in, n, frag);
	return 0;
}

static enum fm_family_index family_of(const struct fm_frag *frag)
{
	return frag->family == 4 ? FM_IPV4 : FM_IPV6;
}

static void hash_burst(struct stages *s, const struct fm_frag *frag, uint32_t n, uint64_t *hash)
{
	for (uint32_t i = 0; i < n; i++) {
		hash[i] = fm_key_hash(s->reass, &frag[i].key, family_of(&frag[i]));
		s->sum += hash[i];
	}
}

static uint32_t hash(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct fm_frag frag[FM_BENCH_BURST_MAX];
	uint64_t hashes[FM_BENCH_BURST_MAX];

	(void)now_tsc;
	parse_burst(arg, in, n, frag);
	hash_burst(arg, frag, n, hashes);
	return 0;
}

/* @return datagrams found */
static uint32_t lookup(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct stages *s = arg;
	struct fm_frag frag[FM_BENCH_BURST_MAX];
	uint64_t hashes[FM_BENCH_BURST_MAX];
	uint32_t found = 0;

	(void)now_tsc;
	parse_burst(s, in, n, frag);
	hash_burst(s, frag, n, hashes);
	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(fm_entry(s->reass, fm_index_guess(s->reass, (uint32_t)hashes[i])));
	for (uint32_t i = 0; i < n; i++)
		found += fm_index_find(s->reass, &frag[i].key, (uint32_t)hashes[i]) != NULL;
	return found;
}

/* --- the whole --- */

static uint32_t whole(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct stages *s = arg;

	fm_reass_burst(s->reass, in, (uint16_t)n, s->port, now_tsc, &s->result);
	if (s->result.n_done > 0) {
		const uint64_t start = rte_rdtsc();

		rte_pktmbuf_free_bulk(s->result.done, s->result.n_done);
		s->free_cycles += rte_rdtsc() - start;
	}
	if (s->result.n_pass > 0)
		rte_pktmbuf_free_bulk(s->result.pass, s->result.n_pass);
	return s->result.n_done;
}

static const struct fm_bench_engine engine_of[PARTS] = {
	[RECEIVE] = {.name = "receive", .burst = receive},
	[PARSE] = {.name = "parse", .burst = parse},
	[HASH] = {.name = "hash", .burst = hash},
	[LOOKUP_HELD] = {.name = "lookup", .burst = lookup},
	[LOOKUP_NEW] = {.name = "lookup", .burst = lookup},
	[FIRST] = {.name = "first", .burst = whole},
	[MIDDLE] = {.name = "middle", .burst = whole},
	[LAST] = {.name = "last", .burst = whole},
	[DUPLICATE] = {.name = "duplicate", .burst = whole},
	[ALONE] = {.name = "alone", .burst = whole},
};

/* --- a block --- */

struct run {
	struct stages stages;
	struct rte_mempool *pool;
	struct fm_bench_cell cell;
	struct fm_bench_traffic traffic;
	struct fm_bench_lap lap;
	struct fm_bench_result result[PARTS];
};

/* Group `number` of the block in the lap: the number-th fragments of all datagrams. */
static void run_group(struct run *run, uint32_t number, enum part part)
{
	const uint32_t n = run->cell.datagrams;

	for (uint32_t at = 0; at < n; at += FM_BENCH_SLICE)
		fm_bench_run_slice(&run->lap, number * n + at, RTE_MIN(n - at, (uint32_t)FM_BENCH_SLICE),
				   &engine_of[part], &run->stages, &run->result[part]);
}

/* To the table, untimed. */
static void pass_group(struct run *run, uint32_t number)
{
	struct fm_bench_result unused = {0};
	const uint32_t n = run->cell.datagrams;

	for (uint32_t at = 0; at < n; at += FM_BENCH_SLICE)
		fm_bench_run_slice(&run->lap, number * n + at, RTE_MIN(n - at, (uint32_t)FM_BENCH_SLICE),
				   &engine_of[MIDDLE], &run->stages, &unused);
}

static void prepare(struct run *run, struct fm_bench_traffic *traffic, uint64_t positions)
{
	run->lap.n = 0;
	fm_bench_prepare(&run->lap, run->pool, traffic, positions);
	/* Duplicates are compared. */
	for (uint32_t i = 0; i < run->lap.n; i++)
		memset(rte_pktmbuf_mtod_offset(run->lap.m[i], uint8_t *, run->lap.frame_len - run->cell.payload), 0,
		       run->cell.payload);
}

static void parts_block(struct run *run)
{
	prepare(run, &run->traffic, fm_bench_block(&run->cell));
	run_group(run, 0, LOOKUP_NEW);
	pass_group(run, 0);
	for (uint32_t number = 1; number < FRAGMENTS; number++) {
		if (number <= LOOKUP_HELD + 1)
			run_group(run, number, RECEIVE + number - 1);
		pass_group(run, number);
	}
}

static void whole_block(struct run *run)
{
	prepare(run, &run->traffic, fm_bench_block(&run->cell));
	run_group(run, 0, FIRST);
	for (uint32_t number = 1; number < FRAGMENTS - 1; number++)
		run_group(run, number, MIDDLE);
	run->stages.free_cycles = 0;
	run_group(run, FRAGMENTS - 1, LAST);
	/* By group, quiet or not: it is a small part of a small time. */
	run->result[FREE].quiet.cycles += run->stages.free_cycles;
	run->result[FREE].quiet.fragments += fm_bench_block(&run->cell);
}

/* The first fragments, and then copies of them. */
static void duplicate_block(struct run *run)
{
	struct fm_bench_traffic again = run->traffic, rest;

	prepare(run, &run->traffic, run->cell.datagrams);
	pass_group(run, 0);
	rest = run->traffic;
	prepare(run, &again, run->cell.datagrams);
	run_group(run, 0, DUPLICATE);
	prepare(run, &rest, fm_bench_block(&run->cell) - run->cell.datagrams);
	run->traffic = rest;
	for (uint32_t number = 0; number < FRAGMENTS - 1; number++)
		pass_group(run, number);
}

/* Datagrams of one fragment. */
static void alone_block(struct run *run)
{
	struct fm_bench_traffic traffic;
	struct fm_bench_cell cell = run->cell;

	cell.fragments = 1;
	cell.network = 1;
	fm_bench_traffic_init(&traffic, &cell);
	prepare(run, &traffic, cell.datagrams);
	run_group(run, 0, ALONE);
	fm_bench_traffic_fini(&traffic);
}

/* --- a repetition --- */

static struct fm_reass_params params_of(const struct fm_bench_cell *cell)
{
	const uint64_t timeout = TIMEOUT_S * rte_get_tsc_hz();

	return (struct fm_reass_params){
		.settings.timeout_tsc = {timeout, timeout},
		.settings.budget_mbufs = ROOM * FRAGMENTS * cell->datagrams,
		.settings.max_fragments = FRAGMENTS,
		.max_datagrams = ROOM * cell->datagrams,
		.max_mbufs = ROOM * FRAGMENTS * cell->datagrams,
		.secret = "a fixed secret 1",
	};
}

static bool broken;

static void complain(const struct run *run, uint64_t blocks)
{
	const uint64_t frames = blocks * run->cell.datagrams;
	const struct fm_reass_stats *stats = fm_reass_stats(run->stages.reass);

	if (run->result[LOOKUP_NEW].done != 0 || run->result[LOOKUP_HELD].done != frames ||
	    run->result[LAST].done != frames || stats->count[FM_DUPLICATE] != frames ||
	    stats->held_mbufs + stats->datagrams != 0) {
		broken = true;
		fprintf(stderr, "stages: IPv%u, %u datagrams: a block did not do what it should\n", run->cell.family,
			run->cell.datagrams);
	}
}

/* All parts once: cycles a frame of each. */
static void measure(const struct fm_bench_cell *cell, int socket, double cycles[PARTS])
{
	const struct fm_bench_how how = {.socket = socket, .burst = BURST};
	const struct fm_reass_params params = params_of(cell);
	const uint64_t blocks = RTE_MAX(TIMED_MIN / cell->datagrams, (uint32_t)BLOCKS_MIN);
	struct run run = {.cell = *cell};
	char err[256];

	run.pool = fm_bench_pool((uint32_t)fm_bench_block(cell) * 2 + POOL_CACHE_ROOM, socket);
	run.stages.memory = rte_zmalloc_socket("table", fm_reass_memsize(&params), RTE_CACHE_LINE_SIZE, socket);
	fm_bench_must(run.stages.memory != NULL, "fragmend's table");
	if (fm_reass_init(run.stages.memory, &params, &run.stages.reass, err, sizeof(err)) != 0) {
		fprintf(stderr, "stages: %s\n", err);
		exit(1);
	}
	fm_bench_traffic_init(&run.traffic, cell);
	fm_bench_lap_init(&run.lap, cell, &how, fm_bench_block(cell));
	whole_block(&run);
	memset(run.result, 0, sizeof(run.result));
	for (uint64_t i = 0; i < blocks; i++) {
		parts_block(&run);
		whole_block(&run);
		duplicate_block(&run);
		alone_block(&run);
	}
	complain(&run, blocks);
	for (int part = 0; part < PARTS; part++)
		cycles[part] = fm_bench_cycles(&run.result[part]);
	cycles[LAST] -= cycles[FREE] * FRAGMENTS;
	fm_reass_flush(run.stages.reass);
	rte_free(run.stages.memory);
	fm_bench_lap_fini(&run.lap);
	fm_bench_traffic_fini(&run.traffic);
	fm_bench_pool_free(run.pool, "fragmend");
}

/* --- the table --- */

static void print_part(struct fm_bench_report *report, const struct fm_bench_cell *cell, const char *what,
		       double cycles, double floor)
{
	struct fm_bench_row row = {
		.group = "stage",
		.family = cell->family,
		.datagrams = cell->datagrams,
		.value = cycles,
		.unit = "cycles",
		.floor = cycles / floor,
	};

	snprintf(row.what, sizeof(row.what), "%s", what);
	fm_bench_report_row(report, &row);
}

static void print_parts(struct fm_bench_report *report, const struct fm_bench_cell *cell, const double c[PARTS],
			double floor)
{
	const double known = c[HASH], held = c[LOOKUP_HELD];
	const struct {
		const char *what;
		double cycles;
	} rows[] = {
		{"receive: the mbuf written", c[RECEIVE]},
		{"parse", c[PARSE] - c[RECEIVE]},
		{"hash", c[HASH] - c[PARSE]},
		{"lookup, datagram held", held - known},
		{"lookup, nothing held", c[LOOKUP_NEW] - known},
		{"admit: begin a datagram, and insert", c[FIRST] - c[LOOKUP_NEW]},
		{"insert and policy, in the middle", c[MIDDLE] - held},
		{"insert, join and forget, a datagram", c[LAST] - held},
		{"free, a fragment", c[FREE]},
		{"whole: first fragment", c[FIRST]},
		{"whole: middle fragment", c[MIDDLE]},
		{"whole: last fragment", c[LAST] + c[FREE] * FRAGMENTS},
		{"whole: mean of 8", (c[FIRST] + 6 * c[MIDDLE] + c[LAST]) / FRAGMENTS + c[FREE]},
		{"whole: duplicate", c[DUPLICATE]},
		{cell->family == 4 ? "whole: no fragment" : "whole: atomic fragment", c[ALONE]},
	};

	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		print_part(report, cell, rows[i].what, rows[i].cycles, floor);
}

static void run_cell(struct fm_bench_report *report, const struct fm_bench_cell *cell, int socket, uint32_t repeat)
{
	const struct fm_bench_how how = {.socket = socket, .burst = BURST};
	double cycles[PARTS][REPEAT], median[PARTS], floor[REPEAT];

	for (uint32_t i = 0; i < repeat; i++) {
		double once[PARTS];

		measure(cell, socket, once);
		for (int part = 0; part < PARTS; part++)
			cycles[part][i] = once[part];
		floor[i] = fm_bench_measure(cell, &fm_bench_engine[FM_BENCH_FLOOR], &how);
	}
	for (int part = 0; part < PARTS; part++)
		median[part] = fm_bench_median(cycles[part], repeat);
	print_parts(report, cell, median, fm_bench_median(floor, repeat));
}

int main(int argc, char **argv)
{
	static const uint32_t datagrams[] = {FM_BENCH_FEW, FM_BENCH_SOME, FM_BENCH_MANY};
	const struct fm_bench_how how = {.burst = BURST};
	struct fm_bench_cell cell = {
		.fragments = FRAGMENTS, .order = FM_BENCH_ROUND_ROBIN, .payload = FM_BENCH_PAYLOAD};
	struct fm_bench_report report = {0};
	uint32_t repeat = REPEAT;
	int socket;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--tsv") == 0) {
			report.tsv = true;
		} else if (strcmp(argv[i], "--quick") == 0) {
			repeat = 1;
		} else {
			fprintf(stderr, "usage: stages [--tsv] [--quick]\n");
			return 2;
		}
	}
	fm_bench_eal(EAL_MB);
	cell.datagrams = FM_BENCH_MANY;
	socket = fm_bench_memory(fm_bench_bytes(&cell, &how), true);
	fm_bench_report_head(&report);
	for (cell.family = 4; cell.family <= 6; cell.family += 2)
		for (unsigned int i = 0; i < RTE_DIM(datagrams); i++) {
			cell.datagrams = datagrams[i];
			run_cell(&report, &cell, socket, repeat);
		}
	fm_bench_report_foot(&report);
	rte_eal_cleanup();
	return fm_bench_faults() > 0 || broken;
}
