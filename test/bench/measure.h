/* SPDX-License-Identifier: BSD-3-Clause */
/* One engine on one cell, timed. core.c says what is inside the timed part and why. */
#ifndef FM_BENCH_MEASURE_H
#define FM_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "traffic.h"

struct fm_bench_how {
	uint32_t burst; /* frames, 1..FM_BENCH_BURST_MAX */
	uint32_t lap;   /* frames prepared at a time; 0: whole blocks, FM_BENCH_LAP_MIN frames or more */
	bool software_checksum; /* the port has not verified the IPv4 header checksum */
};

enum { FM_BENCH_LAP_MIN = 1024 };

/* From an empty table. Complains where datagrams were lost. @return TSC cycles a fragment */
double fm_bench_measure(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			const struct fm_bench_how *how);
/* Sorts the values. */
double fm_bench_median(double *values, uint32_t n);
/* Ends the program where `condition` is 0: there is no memory for `what`. */
void fm_bench_must(int condition, const char *what);

#endif
