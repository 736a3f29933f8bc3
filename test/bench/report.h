/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the programs that measure more than cells. */
#ifndef FM_BENCH_REPORT_H
#define FM_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

enum { FM_BENCH_CASE_MAX = 48 };

struct fm_bench_row {
	const char *group;
	char what[FM_BENCH_CASE_MAX];
	uint32_t family;    /* 4, 6; 0: either */
	uint32_t datagrams; /* under way; 0: none */
	double value;
	const char *unit;
	double floor;  /* times the floor in the same setting; 0: not measured */
	double ratio;  /* times the row that this one is compared with; 0: none */
	double target; /* what the ratio, or without one the value, may be at most; 0: anything */
};

struct fm_bench_report {
	bool tsv;
	uint32_t targets, met;
};

void fm_bench_report_head(const struct fm_bench_report *report);
void fm_bench_report_row(struct fm_bench_report *report, const struct fm_bench_row *row);
void fm_bench_report_foot(const struct fm_bench_report *report);

#endif
