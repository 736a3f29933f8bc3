/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making workers: their tables, queues, ways out, and the pipes between them. All of their memory is allocated here, on
 * the node of the lcore that works with it.
 */
#include <errno.h>
#include <sys/random.h>

#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "connect.h"
#include "fail.h"
#include "fm_numa.h"
#include "fm_split.h"
#include "sink.h"
#include "snapshot.h"
#include "worker.h"

/* A secret nobody else knows; or, for tests, the same one every time. */
static int make_secret(const struct fm_config *config, uint16_t id, uint8_t secret[FM_SECRET_LEN])
{
	uint64_t x = config->seed + id;

	if (!config->has_seed)
		return getrandom(secret, FM_SECRET_LEN, 0) == FM_SECRET_LEN ? 0 : -EIO;
	for (unsigned int i = 0; i < FM_SECRET_LEN; i++) {
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		secret[i] = (uint8_t)(x >> 56);
	}
	return 0;
}

int fm_worker_make_secret(char *err, size_t err_len)
{
	/* Not that of a table: what can be learned from who owns what tells nothing of what collides there. */
	if (make_secret(fm_engine.config, FM_WORKERS_MAX, fm_engine.steer_secret) != 0)
		return fm_fail(err, err_len, -EIO, "no random secret for steering");
	return 0;
}

static int no_memory(const struct fm_worker *w, size_t bytes, const char *what, char *err, size_t err_len)
{
	return fm_fail(err, err_len, -ENOMEM,
		       "no memory for the %s of worker %u (%zu bytes on node %u); give more (-m, hugepages), or lower "
		       "--budget or --max-datagrams", what, w->id, bytes, fm_numa_lcore_home(w->lcore));
}

static int make_table(struct fm_worker *w, int socket, char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;
	struct fm_reass_params params = { .settings = fm_engine.current->reass };

	params.max_mbufs = fm_engine.budget.share_max;
	params.max_datagrams = config->max_datagrams != 0 ? config->max_datagrams : fm_engine.budget.share_max;
	params.header_pool = fm_engine.header_pool[fm_numa_lcore_home(w->lcore)];
	if (make_secret(config, w->id, params.secret) != 0)
		return fm_fail(err, err_len, -EIO, "no random secret for the table of worker %u", w->id);
	w->max_datagrams = params.max_datagrams;
	w->table_bytes = fm_reass_memsize(&params);
	if (w->table_bytes == 0)
		return fm_fail(err, err_len, -EINVAL, "worker %u: %u datagrams in %u mbufs are out of range", w->id,
			       params.max_datagrams, params.max_mbufs);
	w->table = rte_zmalloc_socket("fm_table", w->table_bytes, RTE_CACHE_LINE_SIZE, socket);
	if (w->table == NULL)
		return no_memory(w, w->table_bytes, "table", err, err_len);
	return fm_reass_init(w->table, &params, &w->reass, err, err_len);
}

static uint32_t frame_room(const struct rte_mempool *pool, uint32_t headroom)
{
	return pool == NULL ? 0 : rte_pktmbuf_data_room_size((struct rte_mempool *)(uintptr_t)pool) - headroom;
}

int fm_worker_egress(struct fm_egress *e, const struct fm_worker *w, uint16_t ingress, uint16_t tx_queue,
		     struct fm_tx_counters *counters)
{
	const struct fm_port *from = &fm_engine.port[ingress];
	const struct fm_port *to = &fm_engine.port[from->peer];
	const uint32_t room = fm_engine.backlog_mbufs[ingress];
	void *memory = rte_zmalloc_socket("fm_backlog", fm_egress_memsize(room), RTE_CACHE_LINE_SIZE,
					  (int)fm_numa_lcore_home(w->lcore));

	if (memory == NULL)
		return -ENOMEM;
	e->port = to->id;
	e->queue = tx_queue;
	e->limits = to->limits;
	e->pool = from->pool;
	e->large = to->large;
	e->mbuf_room = frame_room(e->pool, RTE_PKTMBUF_HEADROOM);
	e->large_room = frame_room(e->large, 0);
	e->counters = counters;
	fm_egress_init(e, memory, room, w->pieces);
	return 0;
}

/* The TX queues that the worker has; the other ways out are made by fm_workers_connect(). */
static int make_ways(struct fm_worker *w, char *err, size_t err_len)
{
	const struct fm_plan *plan = &fm_engine.plan;

	for (uint16_t p = 0; p < plan->n_ports; p++) {
		struct fm_way *way = &w->way[fm_engine.port[p].id];

		if (!fm_plan_owns(plan, p, w->id))
			continue;
		way->tx_queue = fm_plan_tx_queue(plan, p, w->id);
		way->tx_worker = fm_plan_tx_worker(plan, p, w->id);
		if (way->tx_worker != w->id)
			continue;
		way->egress = &w->egress[w->n_egress];
		if (fm_worker_egress(way->egress, w, p, way->tx_queue, &w->tx) != 0)
			return no_memory(w, fm_egress_memsize(fm_engine.backlog_mbufs[p]), "transmit backlog", err,
					 err_len);
		w->n_egress++;
	}
	return 0;
}

static void make_queues(struct fm_worker *w)
{
	const struct fm_plan *plan = &fm_engine.plan;

	for (uint16_t p = 0; p < plan->n_ports; p++) {
		const struct fm_port *port = &fm_engine.port[p];

		for (uint16_t q = 0; q < plan->port[p].nb_rxq; q++) {
			struct fm_queue *to = &w->queue[w->n_queues];

			if (fm_plan_worker(plan, p, q) != w->id)
				continue;
			to->port = port->id;
			to->queue = q;
			to->peer = fm_engine.port[port->peer].id;
			to->odd_length = port->driver->odd_length;
			to->steered = plan->port[p].steered;
			to->way = &w->way[port->id];
			w->n_queues++;
		}
	}
}

int fm_worker_make(uint16_t id, char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;
	const uint16_t lcore = fm_engine.lcore[id];
	const int socket = (int)fm_numa_lcore_home(lcore);
	struct fm_worker *w = rte_zmalloc_socket("fm_worker", sizeof(*w), RTE_CACHE_LINE_SIZE, socket);
	int ret;

	if (w == NULL)
		return fm_fail(err, err_len, -ENOMEM, "no memory for worker %u", id);
	fm_engine.worker[id] = w;
	w->id = id;
	w->lcore = lcore;
	w->burst = config->burst;
	w->rx_clock = config->clock == FM_CLOCK_RX_TIMESTAMP;
	w->snapshot = fm_engine.current;
	w->generation = w->snapshot->generation;
	w->pieces = rte_zmalloc_socket("fm_pieces", FM_PIECES_MAX * sizeof(w->pieces[0]), 0, socket);
	if (w->pieces == NULL)
		return no_memory(w, FM_PIECES_MAX * sizeof(w->pieces[0]), "pieces", err, err_len);
	ret = make_ways(w, err, err_len);
	if (ret != 0)
		return ret;
	make_queues(w);
	for (uint16_t p = 0; p < fm_engine_ports(); p++)
		if (fm_plan_owns(&fm_engine.plan, p, id))
			return make_table(w, socket, err, err_len);
	return 0;
}

void fm_worker_free(uint16_t id)
{
	struct fm_worker *w = fm_engine.worker[id];

	if (w == NULL)
		return;
	fm_worker_disconnect(w);
	for (uint16_t i = 0; i < w->n_egress; i++)
		rte_free(w->egress[i].ring);
	rte_free(w->table);
	rte_free(w->pieces);
	rte_free(w);
	fm_engine.worker[id] = NULL;
}
