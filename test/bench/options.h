/* SPDX-License-Identifier: BSD-3-Clause */
/* What to measure, and with what memory. */
#ifndef FM_BENCH_OPTIONS_H
#define FM_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "measure.h"
#include "traffic.h"

enum {
	FM_BENCH_REPEAT_MAX = 101,
	FM_BENCH_VALUES_MAX = 8,
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
	uint32_t memory_mb;
	bool tsv;
};

/* Prints a sentence and ends the program (exit code 2) where the command line is wrong. */
void fm_bench_options(int argc, char **argv, const char *const order_name[FM_BENCH_ORDER_MAX],
		      struct fm_bench_options *options);
/* The `i`-th line of the table; false: there are no more. */
bool fm_bench_cell(const struct fm_bench_options *options, uint64_t i, struct fm_bench_cell *cell);
/* On the last CPU this process may use; with hugepages where enough are free. Ends the program where EAL fails. */
void fm_bench_start_eal(const struct fm_bench_options *options);

#endif
