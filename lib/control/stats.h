/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics as people want them: summed over workers, counted from the last `clear`, with rates. Prints nothing.
 *
 * Times are passed in: nanoseconds of any clock that does not go back, the same for all calls. Called by the control
 * thread only.
 */
#ifndef FM_STATS_H
#define FM_STATS_H

#include <stdint.h>

#include "door.h"

enum { FM_ALL_WORKERS = UINT16_MAX };

/* One worker, or the sum of all. */
struct fm_stats {
	struct fm_worker_stats raw;	/* since start */
	struct fm_worker_stats shown;	/* since the last fm_stats_clear(); what is held is what is held now */
	struct fm_worker_stats recent;	/* what came within the last recent_s; all zero if that is not known */
	double recent_s;		/* 0.5 to 2 s if sampled often enough; 0: not known yet; < 0: show no rates */
};

struct fm_port_stats {
	struct fm_port_view view;
	uint64_t recent_rx_packets, recent_tx_packets, recent_rx_bytes, recent_tx_bytes;
	double recent_s;		/* as above */
};

/* Sums that go by the columns of the outcome table. */
struct fm_stats_sums {
	uint64_t fragments_dropped;
	uint64_t datagrams_sent, datagrams_dropped;
	uint64_t frames_dropped;	/* frames that are no fragments */
	uint64_t frames, fragments;	/* all outcomes of the unit */
};

/* Nanoseconds of the monotonic clock. */
uint64_t fm_now_ns(void);

/* Take a sample for the rates if the last one is a second old. Call it several times a second. */
void fm_stats_sample(uint64_t now_ns);

/* @param worker  0..fm_door_workers()-1 or FM_ALL_WORKERS */
void fm_stats_get(uint16_t worker, uint64_t now_ns, struct fm_stats *stats);

/* @param index  0..fm_door_ports()-1 */
void fm_stats_port(uint16_t index, uint64_t now_ns, struct fm_port_stats *stats);

/* Let `shown` start at 0 from here. */
void fm_stats_clear(void);

/* The counters of a port start at 0 from here, and its rates anew. */
void fm_stats_port_cleared(uint16_t index, uint64_t now_ns);

void fm_stats_sum(const struct fm_worker_stats *stats, struct fm_stats_sums *sums);

#endif
