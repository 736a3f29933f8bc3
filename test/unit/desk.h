/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A way out and a port behind it that takes as many frames as it is told to: for tests of the transmit side without
 * EAL. desk_down() asserts that nothing is waiting and no mbuf lost, and that a capture was shown each drop.
 */
#ifndef FM_TEST_DESK_H
#define FM_TEST_DESK_H

#include "bed.h"
#include "counted_tap.h"
#include "transmit.h"

enum {
	PORT = 0,
	ROOM = 64,
	SENT_MAX = 512,
	MBUF_ROOM = 2048,
	LARGE_ROOM = 65535,
	STUCK = 1000,
	MTU = 1500,
};

/* What the port was given. */
struct wire {
	uint32_t accepts;	/* frames until it is full */
	uint32_t n;
	uint32_t len[SENT_MAX];
	uint16_t segs[SENT_MAX];
	uint8_t *bytes[SENT_MAX];
};

struct desk {
	struct bed bed;
	struct rte_mempool *pool, *large;
	struct wire wire;
	void *clbk[1];
	void *queues[1];
	void *memory;
	struct rte_mbuf *pieces[FM_PIECES_MAX];
	struct fm_tx_counters counters;
	struct fm_egress e;
	struct counted_tap tap;
};

int desk_up(void **state);
int desk_down(void **state);
#define DESK_TEST(f) cmocka_unit_test_setup_teardown(f, desk_up, desk_down)

/* Send a frame of `len` bytes that says its number, in segments of `segment` bytes (0: one). */
void desk_frame(struct desk *d, uint8_t number, uint32_t len, uint32_t segment, enum fm_outcome as, uint64_t now);
/* Send frames as one burst. */
struct desk_frame {
	uint8_t number;
	uint32_t len, segment;
};
void desk_frames(struct desk *d, const struct desk_frame *frames, uint16_t n, enum fm_outcome as, uint64_t now);
/* Send a datagram of `total` bytes of payload that came in pieces of `step`. */
void desk_datagram(struct desk *d, const struct fm_test_frag *frag, uint32_t total, uint32_t step,
		   enum fm_output_mode mode, uint64_t now);
uint64_t desk_count(const struct desk *d, enum fm_outcome outcome);
/* So many frames went out, and were counted. */
void desk_assert_sent(const struct desk *d, uint32_t n);

#endif
