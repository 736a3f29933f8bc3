/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "fail.h"
#include "fm_numa.h"
#include "fm_split.h"
#include "pool.h"
#include "port.h"

enum {
	FM_POOL_LEAST = 2047,
	FM_POOL_MOST = (1 << 24) - 1,	/* of --total-num-mbufs */
	FM_HEADERS_PER_WORKER = 512,
	FM_LARGE_LEAST = 64,
	FM_LARGE_BYTES_MAX = 32 << 20,	/* of one pool of large buffers */
};

/* Room for frame bytes in one mbuf of a port's pool. */
static uint32_t mbuf_room(void)
{
	return fm_engine.config->mbuf_size - RTE_PKTMBUF_HEADROOM;
}

/* Memory that one mbuf takes. Without hugepages it does not cross the border of a page. */
static uint64_t mbuf_bytes(void)
{
	const uint64_t bytes =
		rte_mempool_calc_obj_size(sizeof(struct rte_mbuf) + fm_engine.config->mbuf_size, 0, NULL);
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (rte_eal_has_hugepages())
		return bytes;
	return bytes <= page ? page / (page / bytes) : RTE_ALIGN_CEIL(bytes, page);
}

/* mbufs per pool if the user did not say: fewer where memory is fixed at start (--no-huge) and small. */
static uint32_t default_size(void)
{
	struct rte_malloc_socket_stats heap;
	uint32_t size = FM_MBUFS_DEFAULT;

	if (rte_eal_has_hugepages() || rte_malloc_get_socket_stats((int)rte_socket_id(), &heap) != 0)
		return size;
	while (size > FM_POOL_LEAST && mbuf_bytes() * size * fm_engine_ports() > heap.heap_freesz_bytes / 4 * 3)
		size /= 2;
	return size;
}

/* What leaves by the port is written at once: nothing of it waits in a ring or backlog. */
static bool goes_to_file(const struct fm_port *port)
{
	return fm_engine.config->write_path[port->id] != NULL;
}

/* Pipes by which fragments are steered and that may hold mbufs of port `i`. */
static uint32_t steering_pipes(uint16_t i)
{
	const struct fm_plan_port *p = &fm_engine.plan.port[i];

	return p->steered ? p->n_workers * (fm_engine_workers() - 1U) : 0;
}

/* Workers that touch mbufs of port `i`: that receive, hold, send or free them. */
static uint32_t lcores_touching(uint16_t i)
{
	uint32_t n = 1;		/* the main one, which sets up the rings */

	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		n += fm_plan_owns(&fm_engine.plan, i, w) || fm_plan_owns(&fm_engine.plan, fm_engine.port[i].peer, w);
	return n;
}

/*
 * TX rings that hold mbufs of port `i`: its peer's, into which its frames go, unless the peer's driver copies; and
 * its own if its own driver does, because the copies are made from the port's own pool.
 */
static uint32_t tx_descriptors(uint16_t i)
{
	const struct fm_port *port = &fm_engine.port[i];
	const struct fm_port *peer = &fm_engine.port[port->peer];
	uint32_t n = 0;

	if (!peer->driver->own_tx_pool && !goes_to_file(peer))
		n += fm_engine.plan.port[port->peer].nb_txq * fm_port_tx_held(peer);
	if (port->driver->own_tx_pool)
		n += fm_engine.plan.port[i].nb_txq * fm_port_tx_held(port);
	return n;
}

uint32_t fm_pools_pieces(uint32_t max_fragments, uint32_t egress_mtu)
{
	/* Whole datagrams wait as chains, in which a long fragment may be several segments. */
	return fm_budget_pieces(max_fragments, egress_mtu) + FM_LINEAR_MAX / mbuf_room();
}

/* Room of a worker's backlog, of a pipe to a TX queue, and what all of these hold of the pool. */
static void fill_ways_out(uint16_t i, struct fm_budget_pool *p)
{
	const struct fm_config *config = fm_engine.config;
	const struct fm_port *egress = &fm_engine.port[fm_engine.port[i].peer];
	const uint32_t pieces = fm_pools_pieces(config->settings.max_fragments, egress->limits.mtu);
	const uint32_t relayed = fm_plan_relayed(&fm_engine.plan, i);
	uint32_t backlog = 0;

	if (!goes_to_file(egress))
		backlog = fm_budget_backlog(p->size, p->tables + relayed, pieces, config->burst);
	fm_engine.backlog_mbufs[i] = backlog;
	fm_engine.pieces_max[i] = backlog == 0 ? 0 : backlog - config->burst;
	p->tx_backlog = p->tables * backlog;
	p->pipes += relayed * backlog;
}

static uint32_t frame_segs(uint16_t i)
{
	return fm_engine.port[i].rx_frame_max / mbuf_room() + 1;
}

/* A pipe holds mbufs of all ports that its worker polls, so it must suit each of them. */
static uint32_t steer_room(uint32_t pool_size)
{
	uint32_t pipes = 0, segs = 1;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		pipes = RTE_MAX(pipes, steering_pipes(i));
		segs = RTE_MAX(segs, frame_segs(i));
	}
	return fm_budget_steer(pool_size, pipes, fm_engine.config->burst, segs);
}

static void fill_pool(uint16_t i, struct fm_budget_pool *p)
{
	const struct fm_config *config = fm_engine.config;
	const struct fm_port *port = &fm_engine.port[i];

	p->port = port->id;
	p->tables = fm_engine.plan.port[i].n_owners;
	p->size = fm_engine.total_num_mbufs;
	p->rx_descriptors = fm_engine.plan.port[i].nb_rxq * fm_port_rx_held(port);
	p->tx_descriptors = tx_descriptors(i);
	/* A mempool cache gives mbufs back only when it holds one and a half times its size. */
	p->caches = lcores_touching(i) * (config->mbcache + config->mbcache / 2);
	/* Of those who poll; what a worker took from a pipe counts as in it until it is done with. */
	p->burst_reserve = fm_engine.plan.port[i].n_workers * config->burst * frame_segs(i);
	p->pipes = steering_pipes(i) * fm_engine.steer_mbufs;
	fill_ways_out(i, p);
}

static int try_size(struct fm_budget *b, uint32_t size, char *err, size_t err_len)
{
	fm_engine.total_num_mbufs = size;
	fm_engine.steer_mbufs = steer_room(size);
	for (uint16_t i = 0; i < b->n_pools; i++)
		fill_pool(i, &b->pool[i]);
	return fm_budget_make(b, err, err_len);
}

static bool fits(void *arg, uint32_t size)
{
	return try_size(arg, size, NULL, 0) == 0;
}

int fm_pools_budget(char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;
	struct fm_budget *b = &fm_engine.budget;
	const uint32_t size = config->total_num_mbufs != 0 ? config->total_num_mbufs : default_size();

	b->n_pools = fm_engine_ports();
	b->n_tables = fm_plan_tables(&fm_engine.plan);
	b->wanted = config->settings.budget_mbufs;
	b->wanted_percent = config->budget_percent;
	b->by_memory = config->total_num_mbufs == 0 && size < FM_MBUFS_DEFAULT;
	b->enough = 0;
	if (fits(b, size))
		return 0;
	b->enough = fm_budget_enough(size, FM_POOL_MOST, fits, b);
	return try_size(b, size, err, err_len);
}

int fm_pools_recount(char *err, size_t err_len)
{
	struct fm_budget *b = &fm_engine.budget;
	bool more = false;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		const struct fm_port *port = &fm_engine.port[i];
		const uint32_t kept = rte_mempool_in_use_count(port->pool);

		if (kept <= b->pool[i].rx_descriptors)
			continue;
		FM_LOG(NOTICE, "port %u (%s): its driver keeps %u mbufs, %u were reckoned with\n", port->id, port->name,
		       kept, b->pool[i].rx_descriptors);
		b->pool[i].rx_descriptors = kept;
		more = true;
	}
	return more ? fm_budget_make(b, err, err_len) : 0;
}

static struct rte_mempool *make_pool(const char *kind, int id, uint32_t size, uint16_t cache, uint32_t data_room,
				     int socket, char *err, size_t err_len)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "fm_%s_%d", kind, id);
	pool = rte_pktmbuf_pool_create(name, size, cache, 0, (uint16_t)data_room, socket);
	if (pool == NULL)
		fm_fail(err, err_len, -rte_errno,
			"no memory for %u mbufs of %u bytes (pool %s): %s; give more (-m, hugepages) or lower "
			"--total-num-mbufs", size, data_room, name, rte_strerror(rte_errno));
	return pool;
}

/*
 * What leaves by `egress` and is longer than an mbuf, but must lie in one: frames that the driver does not take as a
 * chain, and pieces as long as a fragment that came in as a chain. Returns the longest of them, 0 if there are none.
 */
static uint32_t large_frame(const struct fm_port *egress)
{
	const struct fm_port *ingress = &fm_engine.port[egress->peer];
	const struct fm_limits *l = &egress->limits;
	const uint32_t longest = RTE_MIN(RTE_MIN(l->mtu + FM_L2_MAX, l->frame_max), (uint32_t)FM_LINEAR_MAX);
	const bool linear = l->chain_max_segs != UINT16_MAX || l->chain_max_bytes < longest;

	if (longest <= mbuf_room() || (!linear && ingress->rx_frame_max <= mbuf_room()))
		return 0;
	return longest;
}

static int make_large(struct fm_port *port, char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;
	const uint32_t frame = large_frame(port);
	const uint32_t room = RTE_MIN(frame + RTE_PKTMBUF_HEADROOM, (uint32_t)FM_LINEAR_MAX);
	uint32_t n = 2U * config->burst;

	if (frame == 0)
		return 0;
	if (!port->driver->returns_all && !goes_to_file(port))
		n += fm_port_tx_held(port);
	n = RTE_MIN(n * fm_engine.plan.port[port->peer].n_owners, FM_LARGE_BYTES_MAX / room);
	port->large = make_pool("large", port->id, RTE_MAX(n, (uint32_t)FM_LARGE_LEAST), 0, room,
				fm_engine_socket(port->socket), err, err_len);
	return port->large == NULL ? -ENOMEM : 0;
}

int fm_pools_make(char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		struct fm_port *port = &fm_engine.port[i];

		port->pool = make_pool("port", port->id, fm_engine.total_num_mbufs, config->mbcache, config->mbuf_size,
				       fm_engine_socket(port->socket), err, err_len);
		if (port->pool == NULL || make_large(port, err, err_len) != 0)
			return -ENOMEM;
	}
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		const unsigned int node = fm_numa_lcore_home(fm_engine.lcore[w]);

		if (fm_engine.header_pool[node] != NULL)
			continue;
		fm_engine.header_pool[node] =
			make_pool("headers", (int)node, FM_HEADERS_PER_WORKER * fm_engine_workers(), 0,
				  FM_HEADER_ROOM + RTE_PKTMBUF_HEADROOM, (int)node, err, err_len);
		if (fm_engine.header_pool[node] == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* What the drivers may have kept of a pool when they were closed. */
static uint32_t may_be_kept(uint16_t i)
{
	const struct fm_port *port = &fm_engine.port[i];
	const struct fm_budget_pool *p = &fm_engine.budget.pool[i];

	return (port->driver->returns_all ? 0 : p->rx_descriptors) +
	       (port->driver->returns_all && fm_engine.port[port->peer].driver->returns_all ? 0 : p->tx_descriptors);
}

static uint64_t free_pool(struct rte_mempool **pool, uint32_t kept)
{
	uint32_t missing;

	if (*pool == NULL)
		return 0;
	missing = rte_mempool_in_use_count(*pool);
	if (missing > kept)
		FM_LOG(WARNING, "%u mbufs of pool %s did not come back\n", missing - kept, (*pool)->name);
	rte_mempool_free(*pool);
	*pool = NULL;
	return missing > kept ? missing - kept : 0;
}

uint64_t fm_pools_free(void)
{
	uint64_t lost = 0;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		struct fm_port *port = &fm_engine.port[i];

		lost += free_pool(&port->pool, may_be_kept(i));
		lost += free_pool(&port->large, port->driver->returns_all ? 0 : UINT32_MAX);
	}
	for (unsigned int node = 0; node < RTE_MAX_NUMA_NODES; node++)
		lost += free_pool(&fm_engine.header_pool[node], UINT32_MAX);
	return lost;
}
