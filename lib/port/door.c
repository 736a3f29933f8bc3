/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mempool.h>

#include "counter.h"
#include "door.h"
#include "fail.h"
#include "fm_numa.h"
#include "look.h"
#include "port.h"
#include "snapshot.h"
#include "state.h"
#include "worker.h"

uint16_t fm_door_workers(void)
{
	return fm_engine_workers();
}

uint16_t fm_door_ports(void)
{
	return fm_engine_ports();
}

static int ask(uint16_t worker, enum fm_request_kind kind, struct fm_look *look, uint64_t *result, char *err,
	       size_t err_len)
{
	int ret = fm_mailbox_ask(&fm_engine.worker[worker]->mailbox, kind, look, result);

	if (ret != 0)
		fm_fail(err, err_len, ret, "worker %u did not answer within %u ms", worker, FM_MAIL_TIMEOUT_MS);
	return ret;
}

/* Does a worker hand anything to another one? */
static bool are_connected(void)
{
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		if (fm_engine.worker[w]->n_steered + fm_engine.worker[w]->n_relayed != 0)
			return true;
	return false;
}

/* Ask each worker in turn; `*sum` adds up their answers. */
static int ask_all(enum fm_request_kind kind, uint64_t *sum, char *err, size_t err_len)
{
	int code = 0;

	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		uint64_t result = 0;
		int ret = ask(w, kind, NULL, &result, err, err_len);

		if (ret != 0)
			code = ret;
		if (sum != NULL)
			*sum += result;
	}
	return code;
}

/* Until all workers have answered it can be asked for again, and taken back. */
static int set_forwarding(bool on, char *err, size_t err_len)
{
	const unsigned int rounds = !on && are_connected() ? FM_STOP_ROUNDS : 1;
	int ret = 0;

	if (fm_engine.forwarding == on && !fm_engine.in_doubt)
		return fm_fail(err, err_len, -EALREADY, "forwarding is %s already", on ? "on" : "off");
	for (unsigned int i = 0; i < rounds && ret == 0; i++)
		ret = ask_all(on ? FM_REQUEST_START : FM_REQUEST_STOP, NULL, err, err_len);
	fm_engine.in_doubt = ret != 0;
	if (ret == 0)
		fm_engine.forwarding = on;
	return ret;
}

int fm_door_start(char *err, size_t err_len)
{
	return set_forwarding(true, err, err_len);
}

int fm_door_stop(char *err, size_t err_len)
{
	return set_forwarding(false, err, err_len);
}

bool fm_door_forwarding(void)
{
	return fm_engine.forwarding;
}

void fm_door_settings(struct fm_settings *settings)
{
	*settings = fm_engine.current->settings;
}

int fm_door_publish(const struct fm_settings *settings, char *err, size_t err_len)
{
	int ret = fm_snapshot_check(settings, err, err_len);

	if (ret == 0)
		fm_snapshot_publish(settings);
	return ret;
}

uint64_t fm_door_budget_max(void)
{
	return fm_engine.budget.max;
}

uint64_t fm_door_budget_whole(void)
{
	return fm_engine.budget.whole;
}

int fm_door_flush(uint64_t *freed, char *err, size_t err_len)
{
	*freed = 0;
	return ask_all(FM_REQUEST_FLUSH, freed, err, err_len);
}

int fm_door_datagrams(uint16_t worker, struct fm_reass_view *views, uint32_t max, char *err, size_t err_len)
{
	struct fm_look look = { .datagrams = views, .max = max, .count = FM_LOOK_RUNS };
	uint64_t more = 0;
	int ret;

	do {
		ret = ask(worker, FM_REQUEST_VIEWS, &look, &more, err, err_len);
		look.first = 1;
	} while (ret == 0 && more != 0);
	return ret != 0 ? ret : (int)look.n;
}

/* In pieces: there may be millions of records, and the worker has frames to receive. */
int fm_door_sources(uint16_t worker, struct fm_source_view *views, uint32_t max, char *err, size_t err_len)
{
	struct fm_look look = { .sources = views, .max = max };
	uint64_t next = 0;
	int ret;

	do {
		look.count = fm_look_records(look.first, max);
		ret = ask(worker, FM_REQUEST_SOURCES, &look, &next, err, err_len);
		look.first = (uint32_t)next;
	} while (ret == 0 && next != 0);
	return ret != 0 ? ret : (int)look.n;
}

double fm_door_tsc_to_ms(uint64_t tsc)
{
	return (double)tsc * 1000.0 / (double)fm_engine.clock_hz;
}

const struct fm_config *fm_door_config(void)
{
	return fm_engine.config;
}

/*
 * The core counts a frame as passed when it hands it over; where the transmit side then dropped it, it counts there,
 * and only there. Which of the two kinds it was is not known by then, so the sum of both is exact and the split is not:
 * drops are taken from the common kind first.
 */
static void take_back_passed(struct fm_reass_stats *stats, uint64_t dropped)
{
	const uint64_t passed = dropped < stats->count[FM_PASSED] ? dropped : stats->count[FM_PASSED];

	stats->count[FM_PASSED] -= passed;
	stats->count[FM_PASSED_MALFORMED] -= dropped - passed;
}

static void add_tx(struct fm_worker_stats *stats, const struct fm_tx_counters *tx)
{
	for (unsigned int o = 0; o < FM_OUTCOME_MAX; o++)
		stats->reass.count[o] += fm_count_read(&tx->count[o]);
	stats->tx_frames += fm_count_read(&tx->frames);
	stats->tx_bytes += fm_count_read(&tx->bytes);
	stats->tx_backlog_mbufs += fm_count_read(&tx->backlog_mbufs);
}

/* By its own TX queues, and by those of others for it. */
static void add_all_tx(struct fm_worker_stats *stats, const struct fm_worker *w)
{
	uint64_t passed_dropped = fm_count_read(&w->tx.passed_dropped);

	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			passed_dropped += fm_count_read(&w->way[p].relay->sent.passed_dropped);
	take_back_passed(&stats->reass, passed_dropped);
	add_tx(stats, &w->tx);
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			add_tx(stats, &w->way[p].relay->sent);
}

/* What it handed over, or could not: such a fragment is in nobody's table. */
static void add_pipes(struct fm_worker_stats *stats, const struct fm_worker *w)
{
	const uint64_t full = w->steer == NULL ? 0 : fm_count_read(&w->steer->full_fragments);
	struct fm_pipe_level steered, relayed;

	stats->reass.frames_in += full;
	stats->reass.fragments_in += full;
	stats->reass.count[FM_STEER_FULL] += full;
	fm_worker_pipes(w, &steered, &relayed);
	stats->pipe_frames = steered.frames;
	stats->pipe_mbufs = steered.mbufs + relayed.mbufs;
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			stats->pipe_frames += fm_relay_uncounted(w->way[p].relay);
}

void fm_door_worker_stats(uint16_t worker, struct fm_worker_stats *stats)
{
	const struct fm_worker *w = fm_engine.worker[worker];
	const uint64_t *from = w->reass == NULL ? NULL : (const uint64_t *)fm_reass_stats(w->reass);
	uint64_t *to = (uint64_t *)&stats->reass;

	memset(stats, 0, sizeof(*stats));
	for (size_t i = 0; from != NULL && i < sizeof(stats->reass) / sizeof(*to); i++)
		to[i] = fm_count_read(&from[i]);
	add_all_tx(stats, w);
	add_pipes(stats, w);
	stats->reass.frames_in += fm_count_read(&w->counters.bypass_frames);
	stats->rx_frames = fm_count_read(&w->counters.rx_frames);
	stats->rx_bytes = fm_count_read(&w->counters.rx_bytes);
	stats->polls = fm_count_read(&w->counters.polls);
	stats->busy_polls = fm_count_read(&w->counters.busy_polls);
}

static void view_pipe(struct fm_worker_view *view, const struct fm_pipe *pipe, uint16_t port)
{
	struct fm_pipe_level level;

	fm_pipe_level(pipe, &level);
	view->pipe[view->n_pipes++] = (struct fm_pipe_view){
		.to_lcore = fm_engine.lcore[pipe->to], .port = port, .mbufs = (uint32_t)level.mbufs,
		.room_mbufs = pipe->room_mbufs, .frames = fm_count_read(&pipe->put_frames),
		.dropped = fm_count_read(&pipe->full_frames),
	};
}

static void view_pipes(const struct fm_worker *w, struct fm_worker_view *view)
{
	for (uint16_t t = 0; w->steer != NULL && t < w->steer->n_workers; t++)
		if (w->steer->box[t] != NULL)
			view_pipe(view, &w->steer->box[t]->pipe, UINT16_MAX);
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			view_pipe(view, &w->way[p].relay->pipe, w->way[p].relay->egress.port);
}

void fm_door_worker(uint16_t worker, struct fm_worker_view *view)
{
	const struct fm_worker *w = fm_engine.worker[worker];

	memset(view, 0, sizeof(*view));
	view->id = worker;
	view->lcore = w->lcore;
	view->socket = fm_numa_lcore_node(w->lcore);
	view->n_queues = w->n_queues;
	for (uint16_t i = 0; i < w->n_queues; i++) {
		view->queue[i].port = w->queue[i].port;
		view->queue[i].queue = w->queue[i].queue;
		view->queue[i].peer = w->queue[i].peer;
		view->queue[i].tx_queue = w->queue[i].way->tx_queue;
		view->queue[i].tx_lcore = fm_engine.lcore[w->queue[i].way->tx_worker];
	}
	for (uint16_t p = 0; p < fm_engine_ports(); p++)
		if (fm_engine.plan.port[p].steered)
			view->owned[view->n_owned++] = fm_engine.port[p].id;
	view_pipes(w, view);
	if (w->reass == NULL)
		return;
	view->budget_mbufs = fm_engine.current->reass.budget_mbufs;
	view->max_datagrams = w->max_datagrams;
	view->table_bytes = w->table_bytes;
}

static void view_link(const struct fm_port *port, struct fm_port_view *view)
{
	struct rte_eth_link link;

	view->link_up = fm_port_link_up(port);
	if (rte_eth_link_get_nowait(port->id, &link) != 0)
		return;
	view->link_speed_mbps = link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : link.link_speed;
}

static void view_stats(const struct fm_port *port, struct fm_port_view *view)
{
	struct rte_eth_stats stats;

	if (rte_eth_stats_get(port->id, &stats) != 0)
		return;
	view->rx_packets = stats.ipackets;
	view->tx_packets = stats.opackets;
	view->rx_bytes = stats.ibytes;
	view->tx_bytes = stats.obytes;
	view->rx_missed = stats.imissed;
	view->rx_errors = stats.ierrors;
	view->tx_errors = stats.oerrors;
	view->rx_nombuf = stats.rx_nombuf;
}

void fm_door_port(uint16_t index, struct fm_port_view *view)
{
	const struct fm_port *port = &fm_engine.port[index];
	const struct fm_plan_port *plan = &fm_engine.plan.port[index];
	struct rte_ether_addr mac;

	memset(view, 0, sizeof(*view));
	view->id = port->id;
	view->peer = fm_engine.port[port->peer].id;
	snprintf(view->name, sizeof(view->name), "%s", port->name);
	snprintf(view->driver, sizeof(view->driver), "%s", port->info.driver_name);
	if (rte_eth_macaddr_get(port->id, &mac) == 0)
		memcpy(view->mac, mac.addr_bytes, sizeof(view->mac));
	view->socket = port->socket;
	view->egress_mtu = port->limits.mtu;
	view->nb_rxq = plan->nb_rxq;
	view->nb_txq = plan->nb_txq;
	view->nb_rxd = port->nb_rxd;
	view->nb_txd = port->nb_txd;
	view->max_segs = port->limits.chain_max_segs;
	view->promiscuous = port->promiscuous;
	view->rss = plan->by_address && plan->n_workers > 1;
	view->rss_symmetric = port->symmetric;
	view->no_rss = port->no_rss;
	view->checksum_offload = port->checksum_offload;
	view->write_path = fm_engine.config->write_path[port->id];
	view_link(port, view);
	view_stats(port, view);
}

int fm_door_clear_port(uint16_t index, char *err, size_t err_len)
{
	const uint16_t id = fm_engine.port[index].id;
	int ret = rte_eth_stats_reset(id);

	if (ret != 0)
		return fm_fail(err, err_len, ret, "port %u: statistics cannot be cleared: %s", id, strerror(-ret));
	return 0;
}

void fm_door_budget(uint16_t index, struct fm_budget_view *view)
{
	const struct fm_port *port = &fm_engine.port[index];
	const struct fm_budget_pool *p = &fm_engine.budget.pool[index];

	memset(view, 0, sizeof(*view));
	snprintf(view->name, sizeof(view->name), "%s", port->pool->name);
	view->port = port->id;
	view->socket = port->socket;
	view->size = p->size;
	view->available = rte_mempool_avail_count(port->pool);
	view->rx_descriptors = p->rx_descriptors;
	view->tx_descriptors = p->tx_descriptors;
	view->tx_backlog = p->tx_backlog;
	view->pipes = p->pipes;
	view->caches = p->caches;
	view->burst_reserve = p->burst_reserve;
	view->budget = p->tables * fm_engine.current->reass.budget_mbufs;
	view->spare = (uint32_t)(p->size - fm_budget_reserve(p) - view->budget);
}

static void check_counters(struct fm_check_view *check, uint64_t *rings_max)
{
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		struct fm_worker_stats s;

		fm_door_worker_stats(w, &s);
		check->frames_in += s.rx_frames;
		check->frames_out += s.reass.fragments_in;
		check->frames_between += s.pipe_frames;
		check->fragments_in += s.reass.fragments_in;
		check->held += s.reass.held_fragments;
		check->mbufs_held += s.reass.held_mbufs;
		*rings_max += s.tx_backlog_mbufs + s.pipe_mbufs;
		for (unsigned int o = 0; o < FM_OUTCOME_MAX; o++) {
			if (fm_outcome_info[o].unit == FM_UNIT_FRAME)
				check->frames_out += s.reass.count[o];
			else if (o == FM_COMPLETED)
				check->completed += s.reass.count[o];
			else if (fm_outcome_info[o].unit == FM_UNIT_FRAGMENT)
				check->dropped += s.reass.count[o];
		}
	}
}

void fm_door_check(struct fm_check_view *check)
{
	uint64_t rings_max = 0;

	memset(check, 0, sizeof(*check));
	check_counters(check, &rings_max);
	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		const struct fm_budget_pool *p = &fm_engine.budget.pool[i];

		check->mbufs_size += p->size;
		check->mbufs_free += rte_mempool_avail_count(fm_engine.port[i].pool);
		rings_max += p->rx_descriptors + p->tx_descriptors;
	}
	check->mbufs_elsewhere = check->mbufs_size - check->mbufs_free - check->mbufs_held;
	/* More than all of it is free: a pool was counted while its mbufs moved. */
	if ((int64_t)check->mbufs_elsewhere < 0)
		check->mbufs_elsewhere = 0;
	if (check->mbufs_elsewhere > rings_max)
		check->mbufs_lost = check->mbufs_elsewhere - rings_max;
	check->fragments_ok = check->fragments_in == check->completed + check->dropped + check->held;
	check->frames_ok = check->frames_in == check->frames_out + check->frames_between;
	check->mbufs_ok = check->mbufs_lost == 0;
}
