/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that does the whole way of a frame for the RX queues it polls and for the fragments it owns. It
 * has a table, counters and, where there are enough, TX queues of its own. What it hands to other workers or takes from
 * them goes through pipes (steer.h, relay.h); it shares nothing else. No system call, lock, log or allocation in the
 * loop (but see sink.h).
 */
#ifndef FM_WORKER_H
#define FM_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include <rte_common.h>

#include "mailbox.h"
#include "relay.h"
#include "state.h"
#include "steer.h"
#include "transmit.h"

/* Written by the worker, read by control. */
struct fm_worker_counters {
	uint64_t rx_frames, rx_bytes;
	uint64_t polls, busy_polls;
	uint64_t waits;			/* turns in which it was not to forward */
	uint64_t bypass_frames;		/* received and not shown to the table */
};

struct fm_queue {
	uint16_t port, queue;		/* ethdev port id */
	uint16_t peer;			/* likewise, for display */
	bool odd_length;		/* see fm_driver */
	bool steered;			/* its fragments have several owners */
	const struct fm_way *way;
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
	struct fm_reass *reass;		/* NULL: has nothing to do */
	struct rte_mbuf **pieces;
	struct fm_steer *steer;		/* NULL: hands over no fragments */
	uint16_t n_steered, n_relayed;	/* pipes that end here */
	struct fm_pipe **steered;	/* fragments that it owns and others received */
	struct fm_relay **relayed;	/* what others send by a TX queue that it has */
	struct fm_queue queue[FM_QUEUES_MAX];
	struct fm_way way[FM_PORTS_MAX];	/* by ethdev id of the port where it came in */

	/* The worker's own. */
	__rte_cache_aligned
	const struct fm_snapshot *snapshot;	/* fm_engine.current as of this turn */
	uint64_t generation;		/* of the settings that the table has */
	bool forwarding;
	struct fm_tap *tap;		/* NULL: nothing is captured */
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
/* The secret by which fragments are steered, into fm_engine; before fm_workers_connect(). */
int fm_worker_make_secret(char *err, size_t err_len);
/* Free it; nothing happens if it was not made. */
void fm_worker_free(uint16_t id);

/* The loop; `arg` is the worker. Ends when fm_engine.quit is set. */
int fm_worker_main(void *arg);
/* Once through the loop. */
void fm_worker_turn(struct fm_worker *w);

/*
 * Rounds in which all workers must be told to stop, so that nothing is left between them: in the first they stop
 * receiving, in the second all fragments that were on their way have reached their owners, in the third what became of
 * them has reached who sends it.
 */
enum { FM_STOP_ROUNDS = 3 };

/* What is in the pipes into which the worker puts. Any thread. */
void fm_worker_pipes(const struct fm_worker *w, struct fm_pipe_level *steered, struct fm_pipe_level *relayed);

/* Show frames to a tap, or to none; the worker itself, or anybody once it has ended. */
void fm_worker_tap(struct fm_worker *w, struct fm_tap *tap);

/* Stop forwarding, flush the table, send what waits: the worker itself, or anybody once it has ended. */
void fm_worker_stop(struct fm_worker *w);

#endif
