/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that does the whole way of a frame for the RX queues it polls. It has a table, counters and TX
 * queues of its own and shares nothing on that way. No system call, lock, log or allocation in the loop (but see
 * sink.h).
 */
#ifndef FM_WORKER_H
#define FM_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "mailbox.h"
#include "state.h"
#include "transmit.h"

/* Written by the worker, read by control. */
struct fm_worker_counters {
	uint64_t rx_frames, rx_bytes;
	uint64_t polls, busy_polls;
	uint64_t bypass_frames;		/* received and not shown to the table */
};

struct fm_queue {
	uint16_t port, queue;		/* ethdev port id */
	uint16_t peer, tx_queue;	/* likewise, for display */
	bool odd_length;		/* see fm_driver */
	struct fm_egress *egress;
};

struct __rte_cache_aligned fm_worker {
	/* Written by control before the start, constant since. */
	uint16_t id, lcore;
	uint16_t n_queues, n_egress;
	uint16_t burst;
	bool rx_clock;			/* time comes from the frames */
	uint32_t max_datagrams;
	size_t table_bytes;
	void *table;
	struct fm_reass *reass;		/* NULL: polls nothing */
	struct rte_mbuf **pieces;
	struct fm_queue queue[FM_QUEUES_MAX];

	/* The worker's own. */
	__rte_cache_aligned
	const struct fm_snapshot *snapshot;	/* fm_engine.current as of this turn */
	uint64_t generation;		/* of the settings that the table has */
	bool forwarding;
	uint64_t now;			/* the table's clock: ticks, or microseconds of the capture */
	struct fm_worker_counters counters;
	struct fm_tx_counters tx;
	struct fm_egress egress[FM_PORTS_MAX];
	struct rte_mbuf *in[FM_BURST_MAX];
	struct fm_result result;

	__rte_cache_aligned
	struct fm_mailbox mailbox;
};

/* Allocate worker `id` on its lcore's node and lay out what it polls; needs plan, budget and pools. */
int fm_worker_make(uint16_t id, char *err, size_t err_len);
/* Free it; nothing happens if it was not made. */
void fm_worker_free(uint16_t id);

/* The loop; `arg` is the worker. Ends when fm_engine.quit is set. */
int fm_worker_main(void *arg);

#endif
