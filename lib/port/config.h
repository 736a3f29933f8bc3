/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user asked for. struct fm_config is filled once by the command line and constant after start;
 * struct fm_settings is what the console may change while traffic runs.
 */
#ifndef FM_CONFIG_H
#define FM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FM_PORTS_MAX = 32,
	FM_WORKERS_MAX = 128,
	FM_QUEUES_MAX = FM_PORTS_MAX * 4,	/* polled by one worker */
	FM_TIMEOUT_MS_MAX = 120000,
	FM_MTU_MIN = 68,			/* RFC 791 */
	FM_MTU_MAX = 65575,			/* the longest IP packet without jumbo payload: IPv6 */
	FM_SENTENCE_LEN = 768,			/* bytes that hold any error sentence */
	FM_NODES_MAX = 32,			/* NUMA nodes */
	FM_NODE_TEXT_LEN = 160,			/* bytes of a list of CPUs or lcores; longer ones are cut */
	FM_PLACE_TEXT_LEN = 512,		/* bytes of what is said of a worker's place; longer is cut */
};

/* mbufs in each port's pool, unless told otherwise: 2^n - 1, which is what a ring of 2^n holds. A text in the help. */
#define FM_MBUFS_DEFAULT 32767

enum fm_output_mode {
	FM_OUTPUT_WHOLE_OR_REFRAGMENT,	/* whole if it fits the egress MTU, else clean fragments */
	FM_OUTPUT_WHOLE_ONLY,		/* whole, or dropped too_big_for_egress */
	FM_OUTPUT_REFRAGMENT,		/* always clean fragments */
};

enum fm_topology {
	FM_TOPOLOGY_PAIRED,		/* 0 and 1, 2 and 3, ... */
	FM_TOPOLOGY_LOOP,		/* each port back to itself */
};

/* Of a worker's place. */
enum fm_placed {
	FM_PLACED_IDLE,		/* it polls nothing */
	FM_PLACED_UNKNOWN,		/* its lcore may run on several nodes */
	FM_PLACED_LOCAL,		/* all that it uses is on its lcore's node */
	FM_PLACED_REMOTE,
};

enum fm_steering {
	FM_STEERING_AUTO,		/* where fragments of a datagram may come to several workers */
	FM_STEERING_ON,			/* on each port that not all workers poll, too */
};

enum fm_clock { FM_CLOCK_TSC, FM_CLOCK_RX_TIMESTAMP };

/* Settings: an immutable snapshot once published. */
struct fm_settings {
	uint64_t budget_mbufs;		/* held by all workers together; 0, before start only: all there is to have */
	uint32_t timeout_ms[2];		/* IPv4, IPv6: 1..FM_TIMEOUT_MS_MAX */
	uint16_t max_fragments;		/* per datagram, 2..8192 */
	uint8_t source_prefix[2];	/* IPv4, IPv6: leading bits of an address that are one source, 1..32, 1..128 */
	enum fm_output_mode output;
	bool verify_l4;
	bool header_chain;		/* first IPv6 fragments must hold the whole of it (RFC 7112) */
	bool bypass;
	bool link_follow;
};

struct fm_config {
	struct fm_settings settings;	/* at start */
	uint32_t budget_percent;	/* 1..100; 0: settings.budget_mbufs counts */
	uint32_t max_datagrams;		/* per worker; 0: chosen from the budget */
	uint32_t total_num_mbufs;	/* in each port's pool; 0: FM_MBUFS_DEFAULT or fewer */
	uint32_t max_pkt_len;		/* longest frame received, bytes; 0: the port's default */
	uint32_t mtu[FM_PORTS_MAX];	/* egress MTU in bytes; 0: what the port reports */
	const char *write_path[FM_PORTS_MAX];	/* capture file in place of the port's TX queue; NULL: none */
	uint16_t nb_rxq, nb_txq;	/* per port; 0: chosen */
	uint16_t nb_rxd, nb_txd;	/* descriptors per queue */
	uint16_t burst;			/* 1..256 */
	uint16_t mbcache;		/* mempool cache per lcore, 0..512 */
	uint16_t mbuf_size;		/* data room with headroom, bytes */
	uint16_t nb_cores;		/* workers; 0: all lcores but the main one */
	enum fm_topology topology;
	enum fm_steering steer;
	bool numa;
	enum fm_clock clock;
	bool has_seed;
	uint64_t seed;			/* fixed hash secret: tests only */
};

#endif
