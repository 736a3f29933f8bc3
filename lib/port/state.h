/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/port share: the ports, the workers and the one struct that holds them. */
#ifndef FM_STATE_H
#define FM_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_rcu_qsbr.h>

#include "budget.h"
#include "config.h"
#include "driver.h"
#include "fm_reass.h"
#include "log.h"
#include "plan.h"

struct fm_sink;
struct fm_worker;

extern int fm_port_logtype;

enum {
	FM_L2_MAX = 22,			/* Ethernet header and two tags */
	FM_LINEAR_MAX = UINT16_MAX,	/* bytes in one mbuf segment */
};

/* What can leave by a port. */
struct fm_limits {
	uint32_t mtu;			/* longest IP packet, bytes */
	uint32_t frame_max;		/* longest frame the driver is known to carry, bytes */
	uint32_t chain_max_bytes;	/* longest frame in more than one segment, bytes */
	uint16_t chain_max_segs;	/* segments of a frame; 1: linear only */
};

/* One port. Written by the main lcore before the workers start, constant while they run; the last group is its own. */
struct fm_port {
	uint16_t id;			/* ethdev port id */
	uint16_t peer;			/* index of the port its frames leave by */
	int socket;			/* NUMA node; SOCKET_ID_ANY: unknown */
	const struct fm_driver *driver;
	struct rte_eth_dev_info info;
	char name[RTE_ETH_NAME_MAX_LEN];
	unsigned int kernel_ifindex;	/* interface behind the port; 0: none */
	uint32_t kernel_mtu;
	uint16_t rx_mtu;		/* to configure; 0: leave it */
	uint32_t rx_frame_max;		/* longest frame that may arrive, bytes */
	uint16_t nb_rxd, nb_txd;
	struct fm_limits limits;
	bool by_address, scatter, checksum_offload, promiscuous;
	bool symmetric;			/* its hash takes both directions of a pair of addresses to one queue */
	const char *no_rss;		/* why not by_address: the end of a sentence about the port; NULL: it is */
	struct rte_mempool *pool;	/* what the port receives into */
	struct rte_mempool *large;	/* for what leaves in one segment longer than an mbuf; NULL: nothing */
	struct fm_sink *sink;		/* capture file in place of the TX queue; NULL: none */

	bool opened, started;
	bool set_promiscuous;		/* the kernel interface, which was not, and outlives the port */
	struct fm_follow {
		bool held_down;		/* taken down because its peer lost its link */
		bool refused;		/* the driver would not do it, and that has been said */
		uint64_t grace_until_tsc;	/* give the link time to come up before its loss counts */
	} follow;
};

/* A set of settings as the workers use it. */
struct fm_snapshot {
	uint64_t generation;		/* of each set that was ever published, another one */
	struct fm_settings settings;
	struct fm_reass_settings reass;	/* the same for one table: its share of the budget, times in ticks */
};

struct fm_engine {
	const struct fm_config *config;
	struct fm_plan plan;
	struct fm_budget budget;
	uint32_t total_num_mbufs;	/* in each port's pool */
	uint32_t pieces_max[FM_PORTS_MAX];	/* by ingress port: what a backlog can hold of one datagram */
	uint32_t backlog_mbufs[FM_PORTS_MAX];	/* by ingress port: room of one worker's backlog or pipe; 0: none */
	uint32_t steer_mbufs;			/* room of a pipe by which fragments are steered; 0: none is */
	uint8_t steer_secret[FM_SECRET_LEN];	/* by which they are */
	struct fm_port port[FM_PORTS_MAX];
	uint16_t lcore[FM_WORKERS_MAX];
	struct fm_worker *worker[FM_WORKERS_MAX];
	struct rte_mempool *header_pool[RTE_MAX_NUMA_NODES];

	int timestamp_offset;		/* RX timestamp in an mbuf; -1: not in use */
	uint64_t timestamp_flag;
	uint64_t clock_hz;		/* ticks per second of the clock the tables run on */

	/* Settings: `current` points to one of the two; written by control, read by the workers once per burst. */
	struct fm_snapshot snapshot[2];
	const struct fm_snapshot *current;
	struct rte_rcu_qsbr *rcu;

	/* As of the last frame that was received; main lcore. */
	struct fm_idle {
		uint64_t since_tsc;		/* 0: not looked at yet */
		uint64_t frames;		/* received until then */
		uint64_t polls[FM_WORKERS_MAX];	/* turns of each worker until then */
	} idle;

	bool followed;			/* link-follow was on when it was last looked at; main lcore */

	/* Turns of each worker when all of them had last been seen to turn; main lcore. */
	uint64_t turns[FM_WORKERS_MAX];

	bool launched;
	bool forwarding;		/* what all workers answered last */
	bool in_doubt;			/* since then, not all of them answered */
	atomic_bool quit;		/* written by control, read by the workers */
};

extern struct fm_engine fm_engine;

static inline uint16_t fm_engine_ports(void)
{
	return fm_engine.plan.n_ports;
}

static inline uint16_t fm_engine_workers(void)
{
	return fm_engine.plan.n_workers;
}

/* The index of an ethdev port id, or -1. */
int fm_engine_port_index(uint16_t id);

/* Where to allocate for a port or worker that is on `socket`. */
int fm_engine_socket(int socket);

#endif
