/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the cost flat? Groups of rows, each compared with another row:
 *
 *	flat    a million datagrams under way, against 16,384
 *	full    a full table, in which each new datagram needs the room of another, against a table half full whose
 *	        unfinished datagrams leave by timeout; the same stream, the same time
 *	many    45 fragments, and 8,192 of 8 bytes, against 8
 *	burst   bursts of 1 to 256, against 32
 *	memory  bytes of table for each datagram
 *
 * A fragment's cycles are those of core.c.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "fm_reass.h"
#include "full.h"
#include "measure.h"
#include "memory.h"
#include "options.h"
#include "report.h"

enum {
	EAL_MB = 64,
	REPEAT = 5,
	QUICK_REPEAT = 3,
	QUICK_FRAGMENTS = 1 << 17, /* under way at most, with --quick */
	LARGE = 1 << 19,           /* fragments under way from which on ... */
	LARGE_REPEAT = 3,          /* ... this many repetitions do */
	BURST = 32,
	MILLION = 1000000,
	ROWS_MAX = 128,
	NO_ROW = -1,
};

struct row {
	const char *group;
	struct fm_bench_cell cell;
	uint32_t burst;
	int base; /* number of the row to compare with, or NO_ROW */
	double target;
	uint32_t repeat;
	double own[REPEAT], floor[REPEAT];
};

struct choice {
	bool tsv, quick;
	uint32_t memory_mb;
	char **group;
	int n_groups;
};

struct rows {
	const struct choice *choice;
	struct row row[ROWS_MAX];
	int n;
};

static const char *const groups[] = {"flat", "full", "many", "burst", "memory"};

static bool chosen(const struct choice *choice, const char *group)
{
	for (int i = 0; i < choice->n_groups; i++)
		if (strcmp(choice->group[i], group) == 0)
			return true;
	return choice->n_groups == 0;
}

/* --- which rows --- */

static int add(struct rows *rows, const char *group, const struct fm_bench_cell *cell, uint32_t burst, int base,
	       double target)
{
	const uint64_t block = fm_bench_block(cell);
	const uint32_t most = rows->choice->quick ? QUICK_REPEAT : REPEAT;

	if (rows->choice->quick && block > QUICK_FRAGMENTS)
		return NO_ROW;
	rows->row[rows->n] = (struct row){
		.group = group,
		.cell = *cell,
		.burst = burst,
		.base = base,
		.target = target,
		.repeat = block >= LARGE ? LARGE_REPEAT : most,
	};
	return rows->n++;
}

static void add_flat(struct rows *rows, uint32_t family)
{
	static const enum fm_bench_order order[] = {FM_BENCH_IN_ORDER, FM_BENCH_ROUND_ROBIN};
	struct fm_bench_cell cell = {.family = family, .fragments = 2, .payload = FM_BENCH_PAYLOAD};
	int base;

	for (unsigned int i = 0; i < RTE_DIM(order); i++) {
		cell.order = order[i];
		cell.datagrams = FM_BENCH_MANY;
		base = add(rows, "flat", &cell, BURST, NO_ROW, 0);
		cell.datagrams = MILLION;
		add(rows, "flat", &cell, BURST, base, 2.0);
	}
}

/* 65,535 bytes in pieces of 8; IPv4 counts its header in. */
static void add_tiny(struct rows *rows, uint32_t family, int base)
{
	const struct fm_bench_cell cell = {
		.family = family,
		.fragments = family == 4 ? 8190 : 8192,
		.order = FM_BENCH_SHUFFLED,
		.datagrams = 1,
		.payload = 8,
	};

	add(rows, "many", &cell, BURST, base, 4.0);
}

static void add_many(struct rows *rows, uint32_t family)
{
	static const enum fm_bench_order order[] = {FM_BENCH_IN_ORDER, FM_BENCH_ROUND_ROBIN, FM_BENCH_SHUFFLED};
	static const uint32_t datagrams[] = {1, FM_BENCH_FEW, FM_BENCH_SOME, FM_BENCH_MANY};
	struct fm_bench_cell cell = {.family = family, .payload = FM_BENCH_PAYLOAD};

	for (unsigned int i = 0; i < RTE_DIM(order); i++)
		for (unsigned int d = 0; d < RTE_DIM(datagrams); d++) {
			int base;

			cell.order = order[i];
			cell.datagrams = datagrams[d];
			cell.fragments = 8;
			base = add(rows, "many", &cell, BURST, NO_ROW, 0);
			cell.fragments = 45;
			add(rows, "many", &cell, BURST, base, 1.2);
			if (cell.order == FM_BENCH_SHUFFLED && cell.datagrams == 1)
				add_tiny(rows, family, base);
		}
}

static void add_bursts(struct rows *rows, uint32_t datagrams)
{
	static const uint32_t burst[] = {1, 8, 64, 256};
	const struct fm_bench_cell cell = {
		.family = 4,
		.fragments = 8,
		.order = FM_BENCH_ROUND_ROBIN,
		.datagrams = datagrams,
		.payload = FM_BENCH_PAYLOAD,
	};
	const int base = add(rows, "burst", &cell, BURST, NO_ROW, 0);

	for (unsigned int i = 0; i < RTE_DIM(burst); i++)
		add(rows, "burst", &cell, burst[i], base, 0);
}

static void make_rows(struct rows *rows)
{
	for (uint32_t family = 4; family <= 6; family += 2) {
		if (chosen(rows->choice, "flat"))
			add_flat(rows, family);
		if (chosen(rows->choice, "many"))
			add_many(rows, family);
	}
	if (chosen(rows->choice, "burst")) {
		add_bursts(rows, 1);
		add_bursts(rows, FM_BENCH_SOME);
		add_bursts(rows, FM_BENCH_MANY);
	}
}

/* --- measuring and printing --- */

static void measure_rows(struct rows *rows, struct fm_bench_how *how)
{
	for (uint32_t i = 0; i < REPEAT; i++)
		for (struct row *row = rows->row; row < rows->row + rows->n; row++) {
			if (i >= row->repeat)
				continue;
			how->burst = row->burst;
			row->own[i] = fm_bench_measure(&row->cell, &fm_bench_engine[FM_BENCH_FRAGMEND], how);
			row->floor[i] = fm_bench_measure(&row->cell, &fm_bench_engine[FM_BENCH_FLOOR], how);
		}
}

static void print_rows(struct rows *rows, struct fm_bench_report *report)
{
	for (struct row *row = rows->row; row < rows->row + rows->n; row++) {
		struct fm_bench_row line = {
			.group = row->group,
			.family = row->cell.family,
			.datagrams = row->cell.datagrams,
			.value = fm_bench_median(row->own, row->repeat),
			.unit = "cycles",
			.floor = fm_bench_median_ratio(row->own, row->floor, row->repeat),
			.target = row->target,
		};

		if (row->base != NO_ROW) {
			const struct row *base = &rows->row[row->base];

			line.ratio = fm_bench_median_ratio(row->own, base->own, RTE_MIN(row->repeat, base->repeat));
		}
		snprintf(line.what, sizeof(line.what), "%u of %u bytes %s, bursts of %u", row->cell.fragments,
			 row->cell.payload, fm_bench_order_name[row->cell.order], row->burst);
		fm_bench_report_row(report, &line);
	}
}

static void print_full(const struct fm_bench_how *how, enum fm_bench_stream stream, uint32_t family, uint32_t repeat,
		       struct fm_bench_report *report)
{
	static const char *const name[] = {"one of three never completes", "none completes"};
	double cycles[2][REPEAT];
	struct fm_bench_full_result result[2];

	for (uint32_t i = 0; i < repeat; i++)
		for (int full = 0; full < 2; full++) {
			const struct fm_bench_full spec = {.stream = stream, .full = full, .family = family};

			fm_bench_full_run(&spec, how, &result[full]);
			cycles[full][i] = result[full].cycles;
		}
	for (int full = 0; full < 2; full++) {
		struct fm_bench_row line = {.group = "full", .family = family, .unit = "cycles"};

		line.value = fm_bench_median(cycles[full], repeat);
		line.ratio = full ? fm_bench_median_ratio(cycles[1], cycles[0], repeat) : 0;
		line.target = full ? 1.3 : 0;
		snprintf(line.what, sizeof(line.what), "%s, %s", name[stream], full ? "full" : "half full");
		fm_bench_report_row(report, &line);
	}
	for (int full = 0; full < 2; full++)
		fprintf(report->tsv ? stderr : stdout,
			"  %s: %.0f%% of the budget held; of the fragments %.1f%% evicted, %.1f%% refused, %.1f%% "
			"timed "
			"out; %.1f%% of the datagrams that could complete did\n",
			full ? "full" : "half", 100 * result[full].held, 100 * result[full].evicted,
			100 * result[full].refused, 100 * result[full].timed_out, 100 * result[full].completed);
}

/* The appliance makes its tables for as many datagrams as mbufs, if nobody says otherwise. */
static void print_memory(struct fm_bench_report *report)
{
	static const uint32_t datagrams[] = {1 << 12, 1 << 16, 1 << 20}, mbufs[] = {1, 2, 8};

	for (unsigned int d = 0; d < RTE_DIM(datagrams); d++)
		for (unsigned int i = 0; i < RTE_DIM(mbufs); i++) {
			const struct fm_reass_params params = {
				.settings.timeout_tsc = {1, 1},
				.settings.budget_mbufs = 1,
				.settings.max_fragments = 45,
				.max_datagrams = datagrams[d],
				.max_mbufs = datagrams[d] * mbufs[i],
			};
			struct fm_bench_row line = {
				.group = "memory",
				.datagrams = datagrams[d],
				.value = (double)fm_reass_memsize(&params) / datagrams[d],
				.unit = "bytes",
				/* More mbufs than that are not the table's business but the budget's. */
				.target = mbufs[i] == 1 ? 256 : 0,
			};

			snprintf(line.what, sizeof(line.what), "table for each datagram, %u mbuf%s each", mbufs[i],
				 mbufs[i] == 1 ? "" : "s");
			fm_bench_report_row(report, &line);
		}
}

/* --- running --- */

static void usage(FILE *out)
{
	fprintf(out, "usage: flat [options] [flat] [full] [many] [burst] [memory]\n"
		     "  --tsv        tab-separated: group case family datagrams value unit floor ratio target met\n"
		     "  --quick      no line with more than 131,072 fragments under way, fewer repetitions\n");
}

static void read_options(int argc, char **argv, struct choice *choice)
{
	static const struct option known[] = {
		{"tsv", no_argument, NULL, 't'},
		{"quick", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	*choice = (struct choice){0};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 't') {
			choice->tsv = true;
		} else if (option == 'q') {
			choice->quick = true;
		} else {
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	choice->group = argv + optind;
	choice->n_groups = argc - optind;
	for (int i = 0; i < choice->n_groups; i++) {
		unsigned int g = 0;

		while (g < RTE_DIM(groups) && strcmp(groups[g], choice->group[i]) != 0)
			g++;
		if (g == RTE_DIM(groups)) {
			fprintf(stderr, "flat: there is no group \"%s\"\n", choice->group[i]);
			usage(stderr);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	static struct rows rows;
	struct fm_bench_how how = {.burst = BURST};
	struct fm_bench_report report = {0};
	struct choice choice;
	uint64_t bytes;

	read_options(argc, argv, &choice);
	report.tsv = choice.tsv;
	rows.choice = &choice;
	fm_bench_eal(EAL_MB);
	make_rows(&rows);
	bytes = fm_bench_full_bytes();
	for (int i = 0; i < rows.n; i++)
		bytes = RTE_MAX(bytes, fm_bench_bytes(&rows.row[i].cell, &how));
	how.socket = fm_bench_memory(bytes, true);
	fm_bench_report_head(&report);
	measure_rows(&rows, &how);
	print_rows(&rows, &report);
	how.burst = BURST;
	for (uint32_t family = 4; family <= 6 && chosen(&choice, "full"); family += 2) {
		print_full(&how, FM_BENCH_MIXED, family, choice.quick ? QUICK_REPEAT : REPEAT, &report);
		print_full(&how, FM_BENCH_FLOOD, family, choice.quick ? QUICK_REPEAT : REPEAT, &report);
	}
	if (chosen(&choice, "memory"))
		print_memory(&report);
	fm_bench_report_foot(&report);
	rte_eal_cleanup();
	return fm_bench_faults() > 0;
}
