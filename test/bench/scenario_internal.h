/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files that make and score a stream share. */
#ifndef FM_SCENARIO_INTERNAL_H
#define FM_SCENARIO_INTERNAL_H

#include "scenario.h"

/* Addresses and marks by which what comes out is told apart. */
enum {
	FM_SCENARIO_HONEST = 10 << 24,  /* destination of sender 0; the others follow */
	FM_SCENARIO_VICTIM = 11 << 24,  /* destination of what is hostile */
	FM_SCENARIO_HOSTILE = 12 << 24, /* hostile source 0 */
	FM_SCENARIO_SPOOFED_NETWORK = 64 << 24,
	FM_SCENARIO_SPOOFED_SIZE = 1 << 30,
	FM_SCENARIO_CLASS_SHIFT = 2, /* the class travels as DSCP */
};

/* A datagram at a time, again and again. */
struct fm_scenario_flow {
	uint64_t first_ns;     /* when the datagram began */
	uint64_t delay_sum_ns; /* since then, of each fragment that arrived */
	uint32_t sender;
	uint16_t sent, arrived; /* fragments */
	uint16_t wait;          /* turns to stay silent at the start */
	uint16_t id;
	uint8_t group, class;
};

struct fm_scenario_stream {
	uint32_t source;
	uint16_t id, sent, length;
};

struct fm_scenario_share {
	uint32_t offered, completed;
};

struct fm_scenario_tally {
	uint64_t sent;                   /* datagrams, complete on the wire or not */
	double area;                     /* that they need, mbufs x ns */
	struct fm_scenario_share *share; /* by sender */
};

struct fm_scenario_traffic {
	const struct fm_scenario_case *spec;
	uint64_t random, slot, now_ns;
	uint32_t n_flows, n_senders;
	uint32_t first_flow[FM_SCENARIO_GROUPS];
	uint64_t turn[FM_SCENARIO_GROUPS];
	struct fm_scenario_flow *flow;
	uint16_t *next_id; /* by sender */
	uint64_t hostile_turn;
	uint16_t hostile_id;
	struct fm_scenario_stream *hostile;
	uint16_t *permutation; /* the order in which a hostile datagram is sent */
	struct fm_scenario_fragment *window;
	uint32_t window_at, window_n;
	struct fm_scenario_tally class[FM_SCENARIO_CLASSES];
};

#endif
