/* SPDX-License-Identifier: BSD-3-Clause */
/* What to measure, and with what memory. */
#ifndef FM_BENCH_OPTIONS_H
#define FM_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure.h"
#include "traffic.h"

enum {
	FM_BENCH_REPEAT_MAX = FM_BENCH_SAMPLES_MAX,
	FM_BENCH_VALUES_MAX = 8,
	FM_BENCH_LINES_MAX = 8 * 8 * 8 * 2,
	/* Values of the `datagrams` column that the targets speak of. */
	FM_BENCH_FEW = 64,
	FM_BENCH_SOME = 1024,
	FM_BENCH_MANY = 16384,
	FM_BENCH_MOST = 262144,
};

/* The values of one column that were asked for. */
struct fm_bench_values {
	uint32_t value[FM_BENCH_VALUES_MAX];
	uint32_t n;
};

struct fm_bench_options {
	struct fm_bench_values family, fragments, order, datagrams;
	struct fm_bench_how how;
	uint32_t repeat;
	uint32_t memory_mb; /* 0: what the lines need */
	bool tsv;
	bool small_pages;
	bool own; /* fragmend only */
	bool strict;
};

/* Prints a sentence and ends the program (exit code 2) where the command line is wrong. */
void fm_bench_options(int argc, char **argv, struct fm_bench_options *options);
/* Write all lines of the table to `cell`, room for FM_BENCH_LINES_MAX. @return how many */
uint32_t fm_bench_lines(const struct fm_bench_options *options, struct fm_bench_cell *cell);

extern const char *const fm_bench_order_name[FM_BENCH_ORDER_MAX];

#endif
