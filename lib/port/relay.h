/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out for a worker that has no TX queue of the port: through the worker that has.
 *
 * What goes over is a parcel: a frame as it came, or a joined datagram, whole. The owner of the queue cuts it if it has
 * to be cut, so all pieces go out or none. Parcels from one worker stay in order. For each (worker, port) the owner has
 * an egress of its own, whose counters are that worker's: what became of its frames stands with it, whoever sent them.
 */
#ifndef FM_RELAY_H
#define FM_RELAY_H

#include <stdint.h>

#include "pipe.h"
#include "transmit.h"

enum { FM_RELAY_BURST = 32 };

struct fm_parcel {
	struct rte_mbuf *m;
	struct fm_whole whole;		/* of a datagram */
	uint32_t as;			/* of a frame: FM_PASSED or FM_BYPASSED; FM_COMPLETED: a datagram */
};

struct fm_relay {
	struct fm_pipe pipe;

	/* The worker that has no queue; `counters` are its own. */
	__rte_cache_aligned
	struct fm_tx_counters *counters;
	uint64_t put_bypassed;		/* frames that nobody has counted yet; control reads */
	struct fm_tap *tap;		/* NULL: nothing is captured */
	uint32_t n;
	struct fm_parcel parcel[FM_BURST_MAX];

	/* The worker that has the queue. */
	__rte_cache_aligned
	struct fm_egress egress;
	struct fm_tx_counters sent;	/* control reads, too, and what follows */
	uint64_t taken_bypassed;
};

/*
 * The way out for what came in by one port: one of the two. Constant.
 */
struct fm_way {
	struct fm_egress *egress;
	struct fm_relay *relay;
	uint16_t tx_queue, tx_worker;	/* for display */
};

/* The worker that has no queue: add to what fm_relay_flush() will hand over; take the mbufs. */
void fm_relay_frames(struct fm_relay *r, struct rte_mbuf **m, uint16_t n, enum fm_outcome as);
void fm_relay_datagram(struct fm_relay *r, struct rte_mbuf *m, const struct fm_whole *whole);
/* Hand over. What does not fit the pipe is dropped, FM_TX_FULL or FM_TX_FULL_FRAME. */
void fm_relay_flush(struct fm_relay *r);

/*
 * The worker that has the queue: take a burst from the pipe and send it, but only when nothing waits any more of what
 * was taken before, so that what the port does not take fills the pipe, and then the other end drops.
 *
 * @return parcels taken
 */
uint32_t fm_relay_take(struct fm_relay *r, enum fm_output_mode mode, uint64_t tsc);
/* The same until nothing is left of what is in the pipe now; see fm_egress_drain(). */
void fm_relay_drain(struct fm_relay *r, enum fm_output_mode mode);

/* Frames in the pipe that nobody has counted yet. Any thread; exact when nothing moves. */
static inline uint64_t fm_relay_uncounted(const struct fm_relay *r)
{
	/* In this order: never less than nothing. */
	const uint64_t taken = __atomic_load_n(&r->taken_bypassed, __ATOMIC_ACQUIRE);

	return fm_count_read(&r->put_bypassed) - taken;
}

/* Send by whichever way there is. The calls of a burst are followed by fm_way_flush(). */
/* `size`: fm_burst_size() of the frames, see fm_egress_frames(). */
static inline void fm_way_frames(const struct fm_way *way, struct rte_mbuf **m, uint16_t n, enum fm_outcome as,
				 const struct fm_burst_size *size, uint64_t tsc)
{
	if (likely(way->relay == NULL))
		fm_egress_frames(way->egress, m, n, as, size, tsc);
	else
		fm_relay_frames(way->relay, m, n, as);
}

static inline void fm_way_datagram(const struct fm_way *way, struct rte_mbuf *m, const struct fm_whole *whole,
				   enum fm_output_mode mode, uint64_t tsc)
{
	if (likely(way->relay == NULL))
		fm_egress_datagram(way->egress, m, whole, mode, tsc);
	else
		fm_relay_datagram(way->relay, m, whole);
}

static inline void fm_way_flush(const struct fm_way *way, uint64_t tsc)
{
	if (unlikely(way->relay != NULL))
		fm_relay_flush(way->relay);
	else if (way->egress->head != way->egress->tail)
		fm_egress_flush(way->egress, tsc);
}

#endif
