/* SPDX-License-Identifier: BSD-3-Clause */
/* A table that is full against one that is half full, under the same stream. */
#ifndef FM_BENCH_FULL_H
#define FM_BENCH_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "measure.h"

/* What comes: of each three fragments one begins a datagram that never completes; or each fragment does. */
enum fm_bench_stream { FM_BENCH_MIXED, FM_BENCH_FLOOD };

struct fm_bench_full {
	enum fm_bench_stream stream;
	/*
	 * How unfinished datagrams leave. true: they do not time out, so the table is full and each new datagram needs
	 * the room of another. false: by timeout, as soon as they would fill more than half.
	 */
	bool full;
	uint32_t family;
};

struct fm_bench_full_result {
	double cycles;           /* a fragment */
	double evicted, refused; /* fragments, of all */
	double timed_out;
	double completed; /* of the datagrams that could */
	double held;      /* mbufs at the end, of the budget */
};

void fm_bench_full_run(const struct fm_bench_full *spec, const struct fm_bench_how *how,
		       struct fm_bench_full_result *result);
uint64_t fm_bench_full_bytes(void);

#endif
