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
#include "options.h"
#include "traffic.h"

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
				samples[i].cycles[e][number] = fm_bench_measure(&cell, engine, &options->how);
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
		"TSC cycles per fragment at %.2f GHz; %s; %s; bursts of %u; median of %u; IPv4 header checksum %s\n",
		(double)rte_get_tsc_hz() / 1e9, rte_version(), rte_eal_has_hugepages() ? "hugepages" : "4 KB pages",
		options->how.burst, options->repeat,
		options->how.software_checksum ? "verified in software" : "verified by the port");
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
			cycles[e] = fm_bench_median(samples[i].cycles[e], options->repeat);
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
	fm_bench_must(samples != NULL, "the results");
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
