/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <rte_common.h>

#include "pipe.h"

/* A ring of 2^n holds one less. */
static uint32_t slots(uint32_t room_mbufs)
{
	return rte_align32pow2(room_mbufs + 1);
}

size_t fm_pipe_memsize(uint32_t elem_bytes, uint32_t room_mbufs)
{
	return (size_t)rte_ring_get_memsize_elem(elem_bytes, slots(room_mbufs));
}

void fm_pipe_init(struct fm_pipe *pipe, void *memory, uint16_t from, uint16_t to, uint32_t room_mbufs)
{
	pipe->ring = memory;
	pipe->from = from;
	pipe->to = to;
	pipe->room_mbufs = room_mbufs;
	if (rte_ring_init(pipe->ring, "fm_pipe", slots(room_mbufs), RING_F_SP_ENQ | RING_F_SC_DEQ) != 0)
		assert(!"a power of 2, and a short name");
}

void fm_pipe_level(const struct fm_pipe *pipe, struct fm_pipe_level *level)
{
	/* In this order: what is put meanwhile makes it more, never less than nothing. */
	const uint64_t taken_frames = __atomic_load_n(&pipe->taken_frames, __ATOMIC_ACQUIRE);
	const uint64_t taken_mbufs = __atomic_load_n(&pipe->taken_mbufs, __ATOMIC_ACQUIRE);

	level->frames = fm_count_read(&pipe->put_frames) - taken_frames;
	level->mbufs = fm_count_read(&pipe->put_mbufs) - taken_mbufs;
}
