/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for the core's fuzz target, built from a few bytes of input each, so that a short input reaches far: a
 * datagram in 12 pieces is 12 operations of three bytes.
 */
#ifndef FM_FUZZ_FRAME_H
#define FM_FUZZ_FRAME_H

#include <stdbool.h>

#include <rte_mbuf.h>

#include "fuzz.h"

enum {
	FM_FUZZ_FRAME_MAX = 66000,
	FM_FUZZ_SEGMENT_MAX = 2048, /* bytes; the pool's data room holds it behind the headroom */
	FM_FUZZ_SEGMENTS_MAX = 512, /* of a frame */
	FM_FUZZ_KEPT_MAX = 64,
};

struct fm_fuzz_frame {
	uint8_t bytes[FM_FUZZ_FRAME_MAX];
	uint32_t len;
	bool plain; /* a fragment whose payload is fm_test_byte() of its place */
};

/* One piece of one of 256 datagrams, each in 2 to 17 pieces; `generation` goes into the identification. */
void fm_fuzz_piece(struct fm_fuzz_input *in, uint32_t generation, struct fm_fuzz_frame *frame);
/* A fragment whose every field is input. */
void fm_fuzz_described(struct fm_fuzz_input *in, struct fm_fuzz_frame *frame);
/* A frame whose every byte is input. */
void fm_fuzz_raw(struct fm_fuzz_input *in, struct fm_fuzz_frame *frame);

/* A segment that somebody else holds too: neither it nor its bytes may change. */
struct fm_fuzz_kept {
	struct rte_mbuf *m, *next;
	uint8_t *bytes;
	uint32_t pkt_len;
	uint16_t data_off, data_len, nb_segs;
};

struct fm_fuzz_owner {
	struct rte_mempool *pool;
	struct fm_fuzz_kept kept[FM_FUZZ_KEPT_MAX];
	uint32_t n_kept;
	uint32_t external; /* buffers that live */
};

/*
 * The frame as an mbuf: linear or cut into segments, the owner's alone, shared, a clone, or on an external buffer, as
 * the next two bytes of input say.
 */
struct rte_mbuf *fm_fuzz_mbuf(struct fm_fuzz_input *in, struct fm_fuzz_owner *owner, const struct fm_fuzz_frame *frame);
/* Check that nothing that is shared was changed, and give it back. */
void fm_fuzz_release(struct fm_fuzz_owner *owner);

#endif
