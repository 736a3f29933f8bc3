/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of the mbuf pools, done before anything is allocated. Pure, no EAL.
 *
 * A pool must give what the RX and TX rings, the transmit backlog, the per-lcore caches and the bursts in hand can
 * take at the same time, and the tables may hold what is left: so a full table never takes an mbuf that a NIC needs
 * to receive.
 */
#ifndef FM_BUDGET_H
#define FM_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

enum {
	/* More of a backlog is of no use: the largest datagram there can be, long fragments as chains, and a burst. */
	FM_BACKLOG_MAX = 8192 + 512,
	/* Fragments that wait for a worker that has lost its CPU: what a port receives in about a millisecond. */
	FM_STEER_MAX = 2048,
};

/* All numbers are mbufs. */
struct fm_budget_pool {
	/* Given. */
	uint16_t port;		/* for messages */
	uint16_t tables;	/* workers that own its fragments: their tables can hold mbufs of this pool */
	uint32_t size;
	uint32_t rx_descriptors, tx_descriptors, tx_backlog, caches, burst_reserve;
	uint32_t pipes;		/* on their way from one worker to another, at most */
	/* Made. */
	uint32_t budget;	/* what the tables may hold of it now */
	uint32_t spare;		/* what is left then */
};

struct fm_budget {
	/* Given. */
	uint16_t n_pools;
	uint16_t n_tables;	/* workers that own fragments of at least one port */
	uint64_t wanted;	/* held by all tables together; 0: see wanted_percent */
	uint32_t enough;	/* for messages: a size of every pool that would do; 0: none is known */
	bool by_memory;		/* for messages: the size is what there is memory for, not what was asked for */
	uint32_t wanted_percent;	/* 1..100 percent of `whole`; 0: all that the reserve leaves */
	struct fm_budget_pool pool[FM_PORTS_MAX];
	/* Made. */
	uint64_t whole;		/* what all tables together could hold if there were no reserve: 100 percent */
	uint64_t max;		/* what they can hold with it */
	uint64_t granted;	/* what they may hold: n_tables * share */
	uint32_t share;		/* of one table */
	uint32_t share_max;
};

/*
 * Fill in what is to be made.
 *
 * @return 0; -EINVAL: does not fit, and `err` names the option to change, what it needs and what it got
 */
int fm_budget_make(struct fm_budget *budget, char *err, size_t err_len);

/*
 * Find a pool size that will do, the smallest one if whatever is larger than one that does will do, too.
 *
 * @param from  does not
 * @param to    the largest to look at
 * @param fits  will that size do?
 * @return      the size, mbufs; 0: none of those that were looked at
 */
uint32_t fm_budget_enough(uint32_t from, uint32_t to, bool (*fits)(void *arg, uint32_t size), void *arg);

/* What the pool cannot give to the tables. */
uint64_t fm_budget_reserve(const struct fm_budget_pool *pool);

/*
 * The most pieces a datagram can leave in, or fragments it can have been made of.
 *
 * @param max_fragments  2..8192
 * @param egress_mtu     bytes, 68 or more
 */
uint32_t fm_budget_pieces(uint32_t max_fragments, uint32_t egress_mtu);

/*
 * Room of one worker's transmit backlog, or of its pipe to the worker that has the TX queue: FM_BACKLOG_MAX, as long as
 * all of them take no more than a third of the pool, but always enough for the largest datagram that the settings at
 * start let through, and a burst.
 *
 * @param pool_size  mbufs
 * @param backlogs   backlogs and pipes, 1 or more
 * @param pieces     fm_budget_pieces() at start
 * @param burst      frames
 * @return           mbufs
 */
uint32_t fm_budget_backlog(uint32_t pool_size, uint32_t backlogs, uint32_t pieces, uint32_t burst);

/*
 * Room of one pipe by which fragments are steered: FM_STEER_MAX, as long as all of them take no more than an eighth of
 * the pool, but always enough for a burst, or for one frame.
 *
 * @param pool_size  mbufs
 * @param pipes      that may hold mbufs of the pool; 0: none
 * @param burst      frames
 * @param segs       mbufs in the longest frame
 * @return           mbufs; 0: no pipe
 */
uint32_t fm_budget_steer(uint32_t pool_size, uint32_t pipes, uint32_t burst, uint32_t segs);

#endif
