/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several workers with their pipes, made as the engine makes them, between two ports of the test's; without EAL and in
 * one thread: the test says whose turn it is. After each turn `show check` must find every frame and every mbuf.
 * team_down() stops all workers and asserts that nothing is left anywhere, and that a capture was shown each drop.
 */
#ifndef FM_TEST_TEAM_H
#define FM_TEST_TEAM_H

#include "bed.h"
#include "counted_tap.h"
#include "worker.h"

enum { TEAM_QUEUES = 4, TEAM_FRAMES_MAX = 4096, TEAM_BURST = 32 };

struct team_queue {
	struct rte_mbuf *m[TEAM_FRAMES_MAX];
	uint32_t head, tail;
};

/* What left, in order. */
struct team_wire {
	bool stuck;			/* takes nothing */
	uint32_t n;
	uint32_t len[TEAM_FRAMES_MAX];
	uint8_t *bytes[TEAM_FRAMES_MAX];
};

struct team {
	struct rte_mempool *pool, *header_pool;
	struct fm_config config;
	struct counted_tap tap;			/* of all workers */
	struct team_queue rx[2][TEAM_QUEUES];
	struct team_wire tx[2];
	void *rx_data[2][TEAM_QUEUES], *tx_data[2][TEAM_QUEUES], *clbk[2][TEAM_QUEUES];
};

/*
 * Port 0 has `rxq` RX queues, port 1 has `txq` TX queues; the other way there is one. No port spreads by address; both
 * are steered.
 */
struct team *team_up(uint16_t workers, uint16_t rxq, uint16_t txq);
void team_down(struct team *t);

/* Change a setting while the workers run: none of them has a turn meanwhile. */
void team_set(struct team *t, const struct fm_settings *settings);
/* Let a frame come in by a port. */
void team_receive(struct team *t, uint16_t port, uint16_t queue, const struct fm_test_frag *frag);
/* One turn of a worker, and a look at the accounts. */
void team_turn(struct team *t, uint16_t worker);
/* Turns for all until nothing comes, goes or waits. */
void team_settle(struct team *t);
/* Outcomes of all workers. */
uint64_t team_count(enum fm_outcome outcome);
/* What waits in pipes, of all workers. */
struct fm_pipe_level team_between(void);

#endif
