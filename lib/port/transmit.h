/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out: one queue of frames for each (worker, egress port), sent from in order.
 *
 * A datagram enters the queue with all its pieces or not at all, and what has entered is offered to the port again
 * each turn until it is taken, so a datagram is not sent in part. Only if the port takes nothing at all for
 * FM_STUCK_MS (link lost, a frame the driver refuses for ever) is the first frame or datagram in the queue given up,
 * so that the rest can go on. What became of a frame is counted when it leaves the queue.
 *
 * Owner: the worker; no other thread touches any of it, but for reading counters.
 */
#ifndef FM_TRANSMIT_H
#define FM_TRANSMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "config.h"
#include "fm_reass.h"
#include "state.h"

enum {
	FM_STUCK_MS = 100,
	FM_TX_BURST = 64,
};

/* Written by the worker, read by control. */
struct fm_tx_counters {
	uint64_t frames, bytes;		/* taken by the port */
	uint64_t backlog_mbufs;		/* waiting now */
	uint64_t passed_dropped;	/* of the frames that the core counted as passed: dropped here */
	uint64_t count[FM_OUTCOME_MAX];
};

/* What is known of a waiting frame; once the port has it, its mbuf may be gone. */
struct fm_tx_slot {
	uint32_t bytes;
	uint16_t segs;
	uint8_t outcome;	/* of the frame or datagram it belongs to, if it gets out */
	bool last;		/* piece of it */
};

struct fm_egress {
	uint16_t port, queue;		/* ethdev port id */
	struct fm_limits limits;
	struct fm_sink *sink;		/* NULL: the TX queue */
	struct fm_tap *tap;		/* NULL: nothing is captured */
	struct rte_mempool *pool;	/* new mbufs: the ingress port's ... */
	struct rte_mempool *large;	/* ... or these, if longer; NULL: none */
	uint32_t mbuf_room, large_room;	/* frame bytes that fit into one */
	struct fm_tx_counters *counters;

	struct rte_mbuf **ring;		/* ring[i & mask] and slot[i & mask], head <= i < tail */
	struct fm_tx_slot *slot;
	uint32_t mask, head, tail;
	uint32_t waiting_mbufs;		/* segments of all frames in the ring */
	uint32_t reported_mbufs;	/* of these, what the counter has */
	uint32_t room_mbufs;		/* most that may wait */
	uint64_t progress_tsc;		/* when the port last took something, or the first of these came */
	uint64_t stuck_tsc;		/* FM_STUCK_MS */

	struct rte_mbuf **pieces;	/* scratch for FM_PIECES_MAX, shared by the worker's egresses */
	uint64_t frame_us;		/* time for the capture file; 0: now */
};

/*
 * Some frames, added up while they are in the cache anyway. The bits that are set in any of the lengths are an upper
 * bound for each of them, and cheaper than the longest.
 */
struct fm_burst_size {
	uint64_t bytes;
	uint32_t len_bits;
	uint32_t segs_bits;
};

static inline struct fm_burst_size fm_burst_size(struct rte_mbuf *const *m, uint16_t n)
{
	struct fm_burst_size size = { 0 };

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t len = m[i]->pkt_len;

		size.bytes += len;
		size.len_bits |= len;
		size.segs_bits |= m[i]->nb_segs;
	}
	return size;
}

/* Bytes fm_egress_init() needs to wait for `room_mbufs`. */
size_t fm_egress_memsize(uint32_t room_mbufs);

/* `memory`: that many bytes, zeroed. All members in front of `ring` are set. */
void fm_egress_init(struct fm_egress *e, void *memory, uint32_t room_mbufs, struct rte_mbuf **pieces);

/*
 * Send a frame as it came; takes the mbuf.
 *
 * @param as  FM_PASSED for what the core counted as passed (not counted again), or FM_BYPASSED
 */
void fm_egress_frame(struct fm_egress *e, struct rte_mbuf *m, enum fm_outcome as, uint64_t tsc);

/*
 * Send `n` frames as they came, in order; takes the mbufs, not the array. What fm_egress_frame() does for each, but
 * those that need not wait cost much less.
 *
 * @param as    see there
 * @param size  fm_burst_size() of them
 */
void fm_egress_frames(struct fm_egress *e, struct rte_mbuf **m, uint16_t n, enum fm_outcome as,
		      const struct fm_burst_size *size, uint64_t tsc);

/* Send a joined datagram, whole or in pieces; takes the mbufs. */
void fm_egress_datagram(struct fm_egress *e, struct rte_mbuf *m, const struct fm_whole *whole, enum fm_output_mode mode,
			uint64_t tsc);

/* Offer what waits to the port, once. `tsc`: now, of rte_rdtsc(). */
void fm_egress_flush(struct fm_egress *e, uint64_t tsc);

/* Offer what waits to the port until nothing does; after a second at most the rest is given up. */
void fm_egress_drain(struct fm_egress *e);

#endif
