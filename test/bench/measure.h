/* SPDX-License-Identifier: BSD-3-Clause */
/* One engine on one cell, timed. core.c says what is inside the timed part and why. */
#ifndef FM_BENCH_MEASURE_H
#define FM_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"
#include "traffic.h"

struct rte_mempool;

enum {
	FM_BENCH_SAMPLES_MAX = 101,
	FM_BENCH_LAP_MIN = 1024,
	FM_BENCH_SLICE = 1024, /* frames that are timed together: few enough to be left alone by the kernel, mostly */
};

struct fm_bench_how {
	int socket;             /* whose memory is used */
	uint32_t burst;         /* frames, 1..FM_BENCH_BURST_MAX */
	uint32_t lap;           /* frames prepared at a time; 0: whole blocks, FM_BENCH_LAP_MIN frames or more */
	bool software_checksum; /* the port has not verified the IPv4 header checksum */
};

/* From an empty table. Complains where datagrams were lost. @return TSC cycles a fragment */
double fm_bench_measure(const struct fm_bench_cell *cell, const struct fm_bench_engine *engine,
			const struct fm_bench_how *how);
/* Memory that fm_bench_measure() takes at most, whatever the engine. */
uint64_t fm_bench_bytes(const struct fm_bench_cell *cell, const struct fm_bench_how *how);
/* How often an engine has lost a datagram or an mbuf so far: what it took is worth nothing then. */
unsigned int fm_bench_faults(void);
/* n: 1..FM_BENCH_SAMPLES_MAX */
double fm_bench_median(const double *values, uint32_t n);
/*
 * Median of value[i] / to[i]: what is measured one after the other is compared, as a shared machine is quick in one
 * minute and slow in the next. 0 where a `to` is 0.
 */
double fm_bench_median_ratio(const double *values, const double *to, uint32_t n);
/* Ends the program where `condition` is 0: there is no memory for `what`. */
void fm_bench_must(int condition, const char *what);

/* --- the parts, for who measures something else --- */

/* `n` mbufs in random order, the same each time. */
struct rte_mempool *fm_bench_pool(uint32_t n, int socket);
uint64_t fm_bench_pool_bytes(uint32_t n);
/* Complains where mbufs are still out. */
void fm_bench_pool_free(struct rte_mempool *pool, const char *who);

/* Frames that are made first, and then received one slice after the other. */
struct fm_bench_lap {
	struct rte_mbuf **m;
	uint32_t n;
	uint32_t frame_len;
	uint32_t burst;
	uint64_t rx_flags;
};

void fm_bench_lap_init(struct fm_bench_lap *lap, const struct fm_bench_cell *cell, const struct fm_bench_how *how,
		       uint64_t frames_max);
void fm_bench_lap_fini(struct fm_bench_lap *lap);
/* Add the frames of so many positions to those that the lap has. */
void fm_bench_prepare(struct fm_bench_lap *lap, struct rte_mempool *pool, struct fm_bench_traffic *traffic,
		      uint64_t positions);

struct fm_bench_sum {
	uint64_t cycles, fragments;
};

struct fm_bench_result {
	struct fm_bench_sum quiet, disturbed; /* disturbed: the kernel ran somebody else meanwhile */
	uint64_t done;                        /* datagrams */
};

/* Receive frames first..first + n - 1 of the lap, n at most FM_BENCH_SLICE, and time that. */
void fm_bench_run_slice(const struct fm_bench_lap *lap, uint32_t first, uint32_t n,
			const struct fm_bench_engine *engine, void *state, struct fm_bench_result *result);
/* All of it. */
void fm_bench_run_lap(const struct fm_bench_lap *lap, const struct fm_bench_engine *engine, void *state,
		      struct fm_bench_result *result);
/* TSC cycles a fragment of the quiet slices, if there are any. */
double fm_bench_cycles(const struct fm_bench_result *result);
/* How often the kernel has taken the CPU from this thread. */
uint64_t fm_bench_interruptions(void);

#endif
