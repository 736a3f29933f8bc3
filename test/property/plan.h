/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams to send: cut, shuffled, and spoilt a little, from a seed. */
#ifndef FM_TEST_PLAN_H
#define FM_TEST_PLAN_H

#include "fm_packet.h"
#include "random.h"

enum { PLAN_FRAMES_MAX = 20, PLAN_PAYLOAD_MAX = 400, PLAN_FRAME_MAX = 700, PLAN_KEYS = 8 };

/* What is still to be sent with one key. */
struct plan {
	struct fm_test_frag frame[PLAN_FRAMES_MAX];
	unsigned int n;
	uint8_t payload[PLAN_PAYLOAD_MAX + 8];
	uint8_t other[PLAN_PAYLOAD_MAX + 8];	/* other bytes, for overlaps that lie */
};

/* A new datagram with key number `key`, 0..PLAN_KEYS - 1. */
void plan_make(struct plan *plan, unsigned int key, struct random *random);
/* The next frame of it (a new datagram is made when the last one is sent), sometimes mutated; returns its length. */
uint32_t plan_next(struct plan *plan, unsigned int key, struct random *random, uint8_t *frame);

#endif
