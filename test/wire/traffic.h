/* SPDX-License-Identifier: BSD-3-Clause */
/* The senders of wire_send: which fragment is next, and what became of their datagrams. */
#ifndef FM_WIRE_TRAFFIC_H
#define FM_WIRE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include "line.h"
#include "options.h"
#include "wire.h"

struct fm_wire_sender {
	uint8_t *udp;     /* the datagram under way: UDP header and payload */
	uint8_t *copy;    /* a frame to be sent a second time */
	uint32_t address; /* host order */
	uint32_t number;
	uint32_t begun;            /* datagrams; the next sequence number */
	uint32_t incomplete;       /* of them, on the wire */
	uint32_t incomplete_below; /* the last one that was counted so, plus 1 */
	uint16_t ident, port;
	uint16_t copy_bytes; /* 0: no copy waits */
	uint16_t at;         /* the next fragment; 0: no datagram is under way */
	uint16_t wait;       /* turns to let pass before the first datagram */
	uint8_t group;       /* enum fm_wire_group, of the datagram under way */
};

struct fm_wire_traffic {
	const struct fm_wire_plan *plan;
	struct fm_wire_line line;
	struct fm_wire_sender *sender;  /* the steady ones, then those of the burst */
	uint32_t fragments;             /* of a datagram */
	uint16_t ident;                 /* the counter of the one source */
	uint32_t turn, burst_turn;      /* whose it is */
	uint32_t under_way, burst_left; /* datagrams */
	uint64_t hostile_random, loss_random, copy_random;
	uint64_t hostile, lost, copies; /* fragments */
	uint64_t begun[FM_WIRE_GROUPS], incomplete[FM_WIRE_GROUPS];
};

void fm_wire_traffic_open(struct fm_wire_traffic *t, const struct fm_wire_plan *plan);

/*
 * The next steady sender's turn. A datagram is begun only if it `may_begin`, and then belongs to `group`. False: all
 * are finished, and may not begin another.
 */
bool fm_wire_steady_turn(struct fm_wire_traffic *t, bool may_begin, enum fm_wire_group group);

/* The next burst sender's turn; false: all are finished. */
bool fm_wire_burst_turn(struct fm_wire_traffic *t);

/* A first fragment that will never be followed. */
void fm_wire_hostile_turn(struct fm_wire_traffic *t);

#endif
