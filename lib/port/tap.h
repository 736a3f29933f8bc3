/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a worker shows a capture what it drops, or all of its frames. It has a tap only while something is captured;
 * without one, each place that drops has one branch more, and each burst two.
 *
 * What is shown is copied, cut to the snap length, into an mbuf of the tap's own pool, and goes through the tap's own
 * ring to the thread that writes the file. There is a token for each packet or it is only counted, and so it is if the
 * pool is empty because the writer does not keep up: the worker never waits. A copy is nobody's packet: what becomes of
 * it changes no counter but the tap's.
 */
#ifndef FM_TAP_H
#define FM_TAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>
#include <rte_mbuf.h>

#include "fm_outcome.h"

enum fm_tap_direction { FM_TAP_IN, FM_TAP_OUT };

/* In place of an outcome: the frame goes its way. */
#define FM_TAP_NO_OUTCOME FM_OUTCOME_MAX

enum {
	FM_TAP_BURST = 64,		/* tokens that a bucket holds at least, if there are so many a second */
	FM_TAP_BURSTS_PER_S = 100,	/* it holds what comes in one of so many parts of a second */
};

/* Tokens that come evenly. */
struct fm_bucket {
	uint64_t cost_tsc;	/* from one token to the next */
	uint64_t depth_tsc;	/* in which an empty bucket becomes full */
	uint64_t full_tsc;	/* when it is full again */
};

/* Full. Of `rate` tokens a second, 1 or more, it gets one in `share`. */
void fm_bucket_init(struct fm_bucket *bucket, uint64_t rate, uint32_t share, uint64_t hz, uint64_t now_tsc);

static inline bool fm_bucket_take(struct fm_bucket *bucket, uint64_t now_tsc)
{
	const uint64_t full_tsc = RTE_MAX(bucket->full_tsc, now_tsc) + bucket->cost_tsc;

	if (full_tsc - now_tsc > bucket->depth_tsc)
		return false;
	bucket->full_tsc = full_tsc;
	return true;
}

struct __rte_cache_aligned fm_tap {
	/* Written by control before the worker gets it, constant since. */
	void (*take)(struct fm_tap *tap, const struct rte_mbuf *m, uint16_t port, uint16_t queue,
		     enum fm_tap_direction direction, enum fm_outcome why);
	bool all;			/* frames that go their way, too */
	uint16_t port;			/* ethdev id, for frames whose driver does not say where they came in */
	uint32_t snaplen_bytes;
	struct rte_mempool *pool;
	struct rte_ring *ring;		/* has room for all of the pool */
	uint64_t base_tsc, base_ns, hz;	/* this tick was at that time since 1970 */
	const atomic_bool *closed;	/* written by the writer: nothing more is wanted */

	/* Written by the worker, the counters read by control. */
	__rte_cache_aligned
	uint64_t now_tsc;		/* as of this turn: most drops of a flood find no token, and look no further */
	struct fm_bucket bucket;
	uint64_t copied;		/* handed to the writer */
	uint64_t over_rate, no_room;	/* not captured: no token, no mbuf */
};

/* The `take` of a tap. (A pointer, so that what drops can be tested without files.) */
void fm_tap_take(struct fm_tap *tap, const struct rte_mbuf *m, uint16_t port, uint16_t queue,
		 enum fm_tap_direction direction, enum fm_outcome why);

/* Nanoseconds since 1970. */
uint64_t fm_tap_time_ns(const struct fm_tap *tap, uint64_t tsc);

/* A frame that came in and is dropped; `tap` may be NULL. The mbuf must say its port, see fm_tap_in(). */
static inline void fm_tap_dropped_in(struct fm_tap *tap, const struct rte_mbuf *m, enum fm_outcome why)
{
	if (unlikely(tap != NULL))
		tap->take(tap, m, m->port, 0, FM_TAP_IN, why);
}

/* A frame, or joined datagram, that does not get out by the port. */
static inline void fm_tap_dropped_out(struct fm_tap *tap, const struct rte_mbuf *m, uint16_t port, uint16_t queue,
				      enum fm_outcome why)
{
	if (unlikely(tap != NULL))
		tap->take(tap, m, port, queue, FM_TAP_OUT, why);
}

/* A burst that has come in. Not every driver writes the port into the mbuf, so it is written here. */
static inline void fm_tap_in(struct fm_tap *tap, struct rte_mbuf *const *m, uint16_t n, uint16_t port, uint16_t queue)
{
	for (uint16_t i = 0; i < n; i++)
		m[i]->port = port;
	for (uint16_t i = 0; i < n && tap->all; i++)
		tap->take(tap, m[i], port, queue, FM_TAP_IN, FM_TAP_NO_OUTCOME);
}

/* On their way to the port, which may still refuse them; then they are shown again, with their outcome. */
static inline void fm_tap_out(struct fm_tap *tap, struct rte_mbuf *const *m, uint32_t n, uint16_t port, uint16_t queue)
{
	for (uint32_t i = 0; i < n && tap->all; i++)
		tap->take(tap, m[i], port, queue, FM_TAP_OUT, FM_TAP_NO_OUTCOME);
}

#endif
