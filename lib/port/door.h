/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control door: the only way from the control layer to ports and workers.
 *
 * All functions are called by one control thread at a time: the main lcore's, or who has borrowed the door from it
 * (lib/control/lock.h). No worker waits for any of them, but some give it work to do between two bursts.
 * fm_door_stop() and fm_door_flush(): as much as there are datagrams to free. fm_door_datagrams(), fm_door_sources(),
 * and fm_door_publish() of bypass or a smaller budget: little in each turn, for as many turns as it takes. Functions
 * that can fail return 0 or -errno and put one sentence into `err` (may be NULL).
 */
#ifndef FM_DOOR_H
#define FM_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "fm_reass.h"

/* Counters of one worker, its table's included. Written by the worker with relaxed stores, copied here. */
struct fm_worker_stats {
	struct fm_reass_stats reass;	/* count[] holds the outcomes of the transmit side, too */
	uint64_t rx_frames, rx_bytes;
	uint64_t tx_frames, tx_bytes;	/* as handed to the egress queue, by itself or by another worker for it */
	uint64_t polls, busy_polls;	/* turns of the loop; those that found frames */
	uint64_t tx_backlog_mbufs;	/* waiting for room in TX queues now */
	uint64_t pipe_frames;		/* handed to other workers and not counted by anybody yet */
	uint64_t pipe_mbufs;		/* those, and what is on its way to who sends it */
};

enum { FM_PIPES_MAX = FM_WORKERS_MAX + FM_PORTS_MAX };	/* into which a worker puts */

/* A pipe from one worker to another. */
struct fm_pipe_view {
	uint16_t to_lcore;
	uint16_t port;			/* frames that leave by it; UINT16_MAX: fragments, for their owner */
	uint32_t mbufs, room_mbufs;	/* in it now; at most */
	uint64_t frames;		/* handed over since start */
	uint64_t dropped;		/* there was no room: fragments, or frames and datagrams */
};

struct fm_worker_view {
	uint16_t id;			/* 0..fm_door_workers()-1 */
	uint16_t lcore;
	int socket;			/* NUMA node of the lcore; -1: unknown */
	uint32_t budget_mbufs;		/* its share */
	uint32_t max_datagrams;
	uint64_t table_bytes;
	uint16_t n_queues;
	/* Polled, and where to; tx_lcore: who has that TX queue. */
	struct { uint16_t port, queue, peer, tx_queue, tx_lcore; } queue[FM_QUEUES_MAX];
	uint16_t n_owned;
	uint16_t owned[FM_PORTS_MAX];	/* ports whose fragments are steered and of which it gets a part */
	uint16_t n_pipes;
	struct fm_pipe_view pipe[FM_PIPES_MAX];
};

struct fm_port_view {
	uint16_t id;			/* ethdev port id */
	uint16_t peer;
	char name[64], driver[32];
	uint8_t mac[6];
	int socket;
	bool link_up;
	uint32_t link_speed_mbps;
	uint32_t egress_mtu;
	uint16_t nb_rxq, nb_txq, nb_rxd, nb_txd;
	uint16_t max_segs;		/* segments a frame may have on its way out; 1: linear only */
	bool promiscuous, rss, checksum_offload;
	bool rss_symmetric;		/* both directions of a pair of addresses come by one queue */
	const char *no_rss;		/* why it cannot spread by addresses, the end of a sentence; NULL: it can */
	const char *write_path;		/* NULL: none */
	/* From rte_eth_stats. */
	uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes, rx_missed, rx_errors, tx_errors, rx_nombuf;
};

/* What a port is and can besides: asked for when somebody looks, not each second. */
struct fm_port_more_view {
	char interface[16];		/* the kernel's, behind the port; "": none */
	char firmware[64];		/* "": the driver does not tell */
	bool allmulticast, full_duplex, autoneg;
	bool link_held_down;		/* link-follow has taken it down */
	bool link_interrupt;		/* the driver tells when the link changes */
	bool scatter;			/* frames may arrive in several mbufs */
	uint16_t mtu;			/* ethdev's; 0: the driver does not tell */
	uint16_t mtu_min, mtu_max;	/* what it could be set to */
	uint32_t rx_frame_max;		/* longest frame that may arrive, bytes */
	uint32_t tx_frame_max;		/* longest that can leave; UINT32_MAX: any */
	uint16_t rxq_max, txq_max, rxd_min, rxd_max, txd_min, txd_max;
	uint16_t reta_size;		/* entries that spread hashes over queues; 0: none */
	uint8_t hash_key_bytes;
};

/* One of what a driver counts. */
struct fm_xstat_view {
	char name[64];
	uint64_t value;
};

/* The arithmetic of one pool: all in mbufs; size >= the sum of the others. */
struct fm_budget_view {
	char name[32];
	uint16_t port;
	int socket;
	uint32_t size, available;	/* available: free now, caches included */
	uint32_t rx_descriptors, tx_descriptors, tx_backlog, pipes, caches, burst_reserve;
	uint32_t budget;		/* what the tables may hold of it */
	uint32_t spare;			/* size less all of the above */
};

/* The two accounting identities, with numbers. Exact when forwarding is stopped or traffic is quiet. */
struct fm_check_view {
	uint64_t frames_in, frames_out;			/* received = counted by outcome of unit FRAME + fragments_in */
	uint64_t frames_between;			/* ... + handed to other workers and not counted yet */
	uint64_t fragments_in, completed, dropped, held;
	uint64_t mbufs_size, mbufs_free, mbufs_held, mbufs_elsewhere;	/* elsewhere: rings, backlog, between workers */
	uint64_t mbufs_lost;				/* elsewhere, and more than all of these hold */
	bool fragments_ok, frames_ok, mbufs_ok;
};

enum {
	FM_SNAPLEN_MIN = 64, FM_SNAPLEN_DEFAULT = 2048, FM_SNAPLEN_MAX = 65000,		/* bytes */
	FM_CAPTURE_RATE_DEFAULT = 10000, FM_CAPTURE_RATE_MAX = 1000000,			/* packets per second */
	FM_PATH_LEN = 4096,		/* bytes of a file's name, its end included */
};

/* What to capture into a new file. */
struct fm_capture_request {
	const char *path;
	bool all;			/* frames in and out, too; false: what is dropped */
	uint32_t snaplen_bytes;		/* FM_SNAPLEN_MIN..FM_SNAPLEN_MAX */
	uint32_t rate_pps;		/* 1..FM_CAPTURE_RATE_MAX, of all workers; each has its part of it */
	uint64_t limit_packets;		/* ends then; 0: when it is stopped */
};

enum fm_capture_state {
	FM_CAPTURE_NONE,		/* there was none yet */
	FM_CAPTURE_RUNNING,
	FM_CAPTURE_ENDING,		/* what was captured is still being written */
	FM_CAPTURE_STOPPED,
	FM_CAPTURE_LIMIT,		/* ended, since limit_packets were written */
	FM_CAPTURE_FAILED,		/* ended, since the file could not be written: `error` */
};

/* The capture that runs, or the last one. */
struct fm_capture_view {
	enum fm_capture_state state;
	struct fm_capture_request request;	/* its `path` is `path` */
	char path[FM_PATH_LEN];
	double seconds;			/* since it began, or that it took */
	uint64_t packets, bytes;	/* in the file */
	uint64_t over_rate;		/* not captured: over the rate */
	uint64_t no_room;		/* not captured: the file is written more slowly than packets come */
	uint64_t unwritten;		/* captured when the file could not be written any more */
	int error;			/* errno */
};

/* NUMA nodes; -1: none, or unknown. */
struct fm_numa_view {
	bool numa;			/* the kernel tells nodes apart */
	bool placed;			/* memory goes to the nodes of ports and lcores (--numa) */
	uint16_t n_nodes;
	struct fm_node_view {
		int id;
		char cpus[FM_NODE_TEXT_LEN], lcores[FM_NODE_TEXT_LEN];	/* "0-7 16-23"; "": none */
		uint64_t total_bytes, free_bytes;		/* the kernel's; 0: it does not tell */
		uint64_t heap_bytes, heap_free_bytes;		/* what DPDK has of it */
	} node[FM_NODES_MAX];
	uint16_t distance[FM_NODES_MAX][FM_NODES_MAX];		/* by index in `node`; 0: unknown */
};

struct fm_port_place_view {
	uint16_t id;
	char name[64];
	int node, pool_node;
	int pool_wanted;		/* where the pool was asked for */
};

struct fm_worker_place_view {
	uint16_t lcore;
	int node, table_node;		/* table_node -1: it has no table */
	enum fm_placed verdict;
	char text[FM_PLACE_TEXT_LEN];	/* why, and what would be better: a clause whose subject is the worker */
};

uint16_t fm_door_workers(void);
uint16_t fm_door_ports(void);

/*
 * Start or stop forwarding. Stop flushes the tables (FM_FLUSHED) and drains the backlog. -EALREADY: no change.
 * -ETIMEDOUT: a worker did not answer within three seconds; the others did as asked, and both may be called again.
 */
int fm_door_start(char *err, size_t err_len);
int fm_door_stop(char *err, size_t err_len);
/* What all workers answered last. */
bool fm_door_forwarding(void);

/* The running settings, and a new set in their place. -EINVAL: out of range or over what the pools can hold. */
void fm_door_settings(struct fm_settings *settings);
int fm_door_publish(const struct fm_settings *settings, char *err, size_t err_len);
/* The most that settings.budget_mbufs may be. */
uint64_t fm_door_budget_max(void);
/* What 100 percent of `budget` is: what the tables could hold if the pools had nothing else to do. */
uint64_t fm_door_budget_whole(void);

/* Free all held fragments now; *freed: how many. -ETIMEDOUT: a worker did not answer within three seconds. */
int fm_door_flush(uint64_t *freed, char *err, size_t err_len);

/* `worker`: 0..fm_door_workers()-1. The counters never go back; who clears them subtracts. */
void fm_door_worker_stats(uint16_t worker, struct fm_worker_stats *stats);
void fm_door_worker(uint16_t worker, struct fm_worker_view *view);

/* `index`: 0..fm_door_ports()-1. */
void fm_door_port(uint16_t index, struct fm_port_view *view);
void fm_door_port_more(uint16_t index, struct fm_port_more_view *view);
void fm_door_budget(uint16_t index, struct fm_budget_view *view);
void fm_door_numa(struct fm_numa_view *view);
void fm_door_port_place(uint16_t index, struct fm_port_place_view *view);
void fm_door_worker_place(uint16_t worker, struct fm_worker_place_view *view);
/* Clear the ethdev statistics of a port. */
int fm_door_clear_port(uint16_t index, char *err, size_t err_len);
/*
 * What the driver of a port counts, and clear it, which clears the ethdev statistics, too. Both speak to the driver
 * only; no worker takes part.
 *
 * @param max  room in `views`; 0: only tell how many there are
 * @return     how many; -EAGAIN: more than max; -errno
 */
int fm_door_xstats(uint16_t index, struct fm_xstat_view *views, uint32_t max, char *err, size_t err_len);
int fm_door_clear_xstats(uint16_t index, char *err, size_t err_len);

/* Held datagrams of one worker, oldest first; returns how many or -errno. */
int fm_door_datagrams(uint16_t worker, struct fm_reass_view *views, uint32_t max, char *err, size_t err_len);
/*
 * Sources of one worker: those that hold most mbufs, then those that wasted most fragments, then those that were
 * delivered most; returns how many or -errno.
 */
int fm_door_sources(uint16_t worker, struct fm_source_view *views, uint32_t max, char *err, size_t err_len);
/* Converts the ages in a view. */
double fm_door_tsc_to_ms(uint64_t tsc);

void fm_door_check(struct fm_check_view *check);

/*
 * Capture what is dropped, or all, to a file that must not be there yet. A thread of its own writes it, so neither
 * workers nor control wait for the disk, but for its first bytes, a fifth of a second at most.
 *
 * @return 0; -EALREADY: one runs; -EEXIST and others: the file cannot be made; -ENOMEM; -ETIMEDOUT: a worker did not
 *         answer
 */
int fm_door_capture_start(const struct fm_capture_request *request, char *err, size_t err_len);
/*
 * End it: what is captured is written and the file closed, for which this waits a second at most; see then whether the
 * state is still FM_CAPTURE_ENDING. -EALREADY: none runs. -ETIMEDOUT: a worker did not answer; may be called again.
 */
int fm_door_capture_stop(char *err, size_t err_len);
void fm_door_capture(struct fm_capture_view *view);

/* The start-up configuration, constant. */
const struct fm_config *fm_door_config(void);

#endif
