/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cycles a fragment costs: fragmend's core, DPDK's rte_ip_frag, and the floor, on the same frames in one run.
 *
 * Inside the timed part, for bursts of 32 (--burst):
 *   - what a receive burst does to an mbuf: its first cache line is written;
 *   - the engine: from the Ethernet header to the joined datagram;
 *   - freeing what comes out, and whatever the engine frees itself.
 * The floor reads each header and frees the mbuf instead.
 *
 * Outside: taking mbufs from the pool and writing the headers. That is done a lap at a time: a whole block, which is
 * all fragments of all datagrams under way, 1,024 frames or more. So a frame is as far away when its turn comes as the
 * number of datagrams makes it. That is how it is behind a card: an mbuf is used again after all others in the pool's
 * ring, so its lines have long left the near caches, and the card writes frames into the last-level cache at best.
 * With `--lap 1024` all frames come from a near cache whatever the number of datagrams: what the tables alone cost.
 *
 * Cycles are medians of the repetitions, ratios medians of the repetitions' ratios.
 *
 * Payload is never touched. A lap is timed in slices of 1,024 frames; slices in which the kernel ran another thread on
 * this CPU are left out. One lcore, a real mempool with its cache, its mbufs in random order as after hours of use, the
 * same order for all.
 */
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_version.h>

#include "engine.h"
#include "measure.h"
#include "memory.h"
#include "options.h"

enum {
	EAL_MB = 64,
	LARGE = 1 << 19,  /* fragments under way from which on a line takes seconds ... */
	LARGE_REPEAT = 3, /* ... and is repeated no more than this */
	PERCENT = 100,
};

struct line {
	struct fm_bench_cell cell;
	uint32_t repeat;
	double cycles[FM_BENCH_ENGINES][FM_BENCH_REPEAT_MAX];
	double median[FM_BENCH_ENGINES]; /* 0: the engine cannot do it, or was not asked */
	double to_floor[FM_BENCH_ENGINES], to_peer[FM_BENCH_ENGINES];
	double to_tuned; /* fragmend's */
};

/* What fragmend's cycles may be, in percent; 0: there is no target. */
struct target {
	uint32_t peer, floor;
};

static bool takes(const struct fm_bench_options *options, int engine, const struct fm_bench_cell *cell)
{
	const uint32_t most = fm_bench_engine[engine].fragments_max;

	const bool own = engine == FM_BENCH_FRAGMEND || engine == FM_BENCH_FLOOR;

	return (most == 0 || cell->fragments <= most) && (own || !options->own);
}

/* All lines and engines once: a slow minute of the machine is one repetition, not some lines of the table. */
static void repeat(const struct fm_bench_options *options, struct line *lines, uint32_t n, uint32_t number)
{
	for (struct line *line = lines; line < lines + n; line++)
		for (int e = 0; number < line->repeat && e < FM_BENCH_ENGINES; e++)
			if (takes(options, e, &line->cell))
				line->cycles[e][number] =
					fm_bench_measure(&line->cell, &fm_bench_engine[e], &options->how);
}

static struct target target_of(const struct fm_bench_cell *cell)
{
	switch (cell->datagrams) {
	case 1:
	case FM_BENCH_FEW:
		return (struct target){.peer = 100};
	case FM_BENCH_SOME:
		return (struct target){.peer = 60};
	case FM_BENCH_MANY:
	case FM_BENCH_MOST:
		return (struct target){.peer = 40, .floor = 400};
	default:
		return (struct target){0};
	}
}

/* --- printing --- */

static bool within(double ratio, uint32_t percent)
{
	return percent == 0 || ratio * PERCENT <= percent;
}

static bool met(const struct line *line)
{
	const struct target target = target_of(&line->cell);

	return within(line->to_peer[FM_BENCH_FRAGMEND], target.peer) &&
	       within(line->to_floor[FM_BENCH_FRAGMEND], target.floor);
}

static bool has_target(const struct line *line)
{
	return target_of(&line->cell).peer > 0 && line->median[FM_BENCH_PEER] > 0;
}

static void ratio_text(char text[16], double ratio)
{
	if (ratio > 0)
		snprintf(text, 16, "%.2f", ratio);
	else
		snprintf(text, 16, "-");
}

static void print_rows(const struct line *line)
{
	const struct fm_bench_cell *cell = &line->cell;

	for (int e = 0; e < FM_BENCH_ENGINES; e++) {
		char to_floor[16], to_peer[16];

		if (line->median[e] <= 0)
			continue;
		ratio_text(to_floor, line->to_floor[e]);
		ratio_text(to_peer, line->to_peer[e]);
		printf("%s\t%u\t%u\t%s\t%u\t%.1f\t%s\t%s\n", fm_bench_engine[e].name, cell->family, cell->fragments,
		       fm_bench_order_name[cell->order], cell->datagrams, line->median[e], to_floor, to_peer);
	}
}

static void print_line(const struct line *line)
{
	const struct fm_bench_cell *cell = &line->cell;
	const struct target target = target_of(cell);
	const double *cycles = line->median;
	char to_floor[16], to_peer[16], to_tuned[16], peer[16] = "-", tuned[16] = "-", wanted[40] = "";

	ratio_text(to_floor, line->to_floor[FM_BENCH_FRAGMEND]);
	ratio_text(to_peer, line->to_peer[FM_BENCH_FRAGMEND]);
	if (cycles[FM_BENCH_PEER] > 0)
		snprintf(peer, sizeof(peer), "%.0f", cycles[FM_BENCH_PEER]);
	if (cycles[FM_BENCH_TUNED] > 0)
		snprintf(tuned, sizeof(tuned), "%.0f", cycles[FM_BENCH_TUNED]);
	ratio_text(to_tuned, line->to_tuned);
	if (has_target(line) && target.floor > 0)
		snprintf(wanted, sizeof(wanted), "%-3s  <= %.1f and %.1f", met(line) ? "yes" : "NO",
			 (double)target.peer / PERCENT, (double)target.floor / PERCENT);
	else if (has_target(line))
		snprintf(wanted, sizeof(wanted), "%-3s  <= %.1f", met(line) ? "yes" : "NO",
			 (double)target.peer / PERCENT);
	printf("IPv%u  %9u  %-11s  %9u  %8.0f  %11s  %5s  %5.0f  %7s  %8s  %8s  %s\n", cell->family, cell->fragments,
	       fm_bench_order_name[cell->order], cell->datagrams, cycles[FM_BENCH_FRAGMEND], peer,
	       tuned, cycles[FM_BENCH_FLOOR], to_peer, to_tuned, to_floor, wanted);
}

static void print_head(const struct fm_bench_options *options)
{
	FILE *out = options->tsv ? stderr : stdout;

	fprintf(out, "TSC cycles per fragment at %.2f GHz; %s; bursts of %u; median of %u; IPv4 header checksum %s",
		(double)rte_get_tsc_hz() / 1e9, rte_version(), options->how.burst, options->repeat,
		options->how.software_checksum ? "verified in software" : "verified by the port");
	if (options->how.lap > 0)
		fprintf(out, "; laps of %u frames", options->how.lap);
	fprintf(out, "\n");
	if (options->tsv)
		printf("engine\tfamily\tfragments\torder\tdatagrams\tcycles\tfloor\tpeer\n");
	else
		printf("family  fragments  order        datagrams  fragmend  rte_ip_frag  tuned  floor  to_peer  "
		       "to_tuned  to_floor  met  target\n");
}

/* Returns how many targets were missed. */
static uint32_t print_table(const struct fm_bench_options *options, const struct line *lines, uint32_t n)
{
	uint32_t targets = 0, hits = 0;

	for (const struct line *line = lines; line < lines + n; line++) {
		if (options->tsv)
			print_rows(line);
		else
			print_line(line);
		targets += has_target(line);
		hits += has_target(line) && met(line);
	}
	fprintf(options->tsv ? stderr : stdout, "targets met: %u of %u lines; %s\n", hits, targets, fm_bench_pages());
	return targets - hits;
}

/* --- running --- */

static struct line *make_lines(const struct fm_bench_options *options, uint32_t *n)
{
	static struct fm_bench_cell cell[FM_BENCH_LINES_MAX];
	struct line *lines;

	*n = fm_bench_lines(options, cell);
	lines = calloc(*n, sizeof(*lines));
	fm_bench_must(lines != NULL, "the results");
	for (uint32_t i = 0; i < *n; i++) {
		const bool large = fm_bench_block(&cell[i]) >= LARGE;

		lines[i].cell = cell[i];
		lines[i].repeat = large ? RTE_MIN(options->repeat, (uint32_t)LARGE_REPEAT) : options->repeat;
	}
	return lines;
}

static void take_memory(struct fm_bench_options *options, const struct line *lines, uint32_t n)
{
	uint64_t bytes = (uint64_t)options->memory_mb << 20;

	for (uint32_t i = 0; options->memory_mb == 0 && i < n; i++)
		bytes = RTE_MAX(bytes, fm_bench_bytes(&lines[i].cell, &options->how));
	options->how.socket = fm_bench_memory(bytes, !options->small_pages);
}

static void summarise(struct line *line)
{
	for (int e = 0; e < FM_BENCH_ENGINES; e++) {
		const double *cycles = line->cycles[e];

		line->median[e] = fm_bench_median(cycles, line->repeat);
		line->to_floor[e] = fm_bench_median_ratio(cycles, line->cycles[FM_BENCH_FLOOR], line->repeat);
		line->to_peer[e] = fm_bench_median_ratio(cycles, line->cycles[FM_BENCH_PEER], line->repeat);
	}
	line->to_tuned = fm_bench_median_ratio(line->cycles[FM_BENCH_FRAGMEND], line->cycles[FM_BENCH_TUNED],
					       line->repeat);
}

int main(int argc, char **argv)
{
	struct fm_bench_options options;
	struct line *lines;
	uint32_t n, missed;

	fm_bench_options(argc, argv, &options);
	fm_bench_eal(EAL_MB);
	lines = make_lines(&options, &n);
	take_memory(&options, lines, n);
	print_head(&options);
	for (uint32_t i = 0; i < options.repeat; i++) {
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "repetition %u of %u, %u lines\n", i + 1, options.repeat, n);
		repeat(&options, lines, n, i);
	}
	for (uint32_t i = 0; i < n; i++)
		summarise(&lines[i]);
	missed = print_table(&options, lines, n);
	free(lines);
	rte_eal_cleanup();
	return fm_bench_faults() > 0 || (options.strict && missed > 0);
}
