/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pipe: mbufs on their way from one worker to another. An rte_ring with one producer and one consumer, limited by the
 * mbufs in it and not only by its slots, so that the pools can be planned for it.
 *
 * One for each pair of workers, not one for all that end at a worker: what came first from a worker stays first, no
 * atomic read-modify-write, no line that two producers write, and a producer that has lost its CPU half way through
 * holds up nobody.
 */
#ifndef FM_PIPE_H
#define FM_PIPE_H

#include <stddef.h>
#include <stdint.h>

#include <rte_ring.h>

#include "counter.h"

struct fm_pipe {
	/* Constant while workers run. */
	struct rte_ring *ring;
	uint32_t room_mbufs;		/* most that may be in it */
	uint16_t from, to;		/* workers */

	/* Written by `from`; `to` and control read. */
	__rte_cache_aligned
	uint64_t put_frames, put_mbufs;
	uint64_t full_frames;		/* dropped because there was no room */

	/* Written by `to`, once it is done with what it took; `from` and control read. */
	__rte_cache_aligned
	uint64_t taken_frames, taken_mbufs;
} __rte_cache_aligned;

/* What is in a pipe, or in the hands of `to` and not done with. Any thread; exact when nothing moves. */
struct fm_pipe_level {
	uint64_t frames, mbufs;
};

/*
 * Bytes fm_pipe_init() needs.
 *
 * @param elem_bytes  of an element, a multiple of 4; each holds one mbuf or more
 * @param room_mbufs  1..2^24
 */
size_t fm_pipe_memsize(uint32_t elem_bytes, uint32_t room_mbufs);

/* `memory`: that many bytes, zeroed, aligned to a cache line; stays the caller's. The pipe is zeroed, too. */
void fm_pipe_init(struct fm_pipe *pipe, void *memory, uint16_t from, uint16_t to, uint32_t room_mbufs);

void fm_pipe_level(const struct fm_pipe *pipe, struct fm_pipe_level *level);

/* `from`: mbufs that may be put now. As each element holds one at least, there is a slot for each, too. */
static inline uint32_t fm_pipe_room(const struct fm_pipe *pipe)
{
	/* Acquire: who sees that they were taken sees their slots free. */
	const uint64_t taken = __atomic_load_n(&pipe->taken_mbufs, __ATOMIC_ACQUIRE);

	return pipe->room_mbufs - (uint32_t)(pipe->put_mbufs - taken);
}

/* `from`: count before the ring is given them, so that nobody sees more taken than put. */
static inline void fm_pipe_count_put(struct fm_pipe *pipe, uint32_t frames, uint32_t mbufs)
{
	fm_count(&pipe->put_frames, frames);
	fm_count(&pipe->put_mbufs, mbufs);
}

/* `to`: what was taken from the ring waits no more, and is in nobody's hands. */
static inline void fm_pipe_count_taken(struct fm_pipe *pipe, uint32_t frames, uint32_t mbufs)
{
	fm_count(&pipe->taken_frames, frames);
	__atomic_store_n(&pipe->taken_mbufs, pipe->taken_mbufs + mbufs, __ATOMIC_RELEASE);
}

#endif
