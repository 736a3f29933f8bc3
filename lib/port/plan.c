/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "fail.h"
#include "plan.h"

static uint16_t min16(uint16_t a, uint16_t b)
{
	return a < b ? a : b;
}

uint16_t fm_plan_worker(const struct fm_plan *plan, uint16_t port, uint16_t queue)
{
	const struct fm_plan_port *p = &plan->port[port];

	return (p->first_worker + queue % p->n_workers) % plan->n_workers;
}

/* Counted from the port's first worker. */
static uint16_t place_of(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	return (worker + plan->n_workers - plan->port[port].first_worker) % plan->n_workers;
}

bool fm_plan_owns(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	return place_of(plan, port, worker) < plan->port[port].n_owners;
}

uint16_t fm_plan_tx_queue(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	return place_of(plan, port, worker) % plan->port[plan->port[port].peer].nb_txq;
}

uint16_t fm_plan_tx_worker(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	return (plan->port[port].first_worker + fm_plan_tx_queue(plan, port, worker)) % plan->n_workers;
}

uint16_t fm_plan_relayed(const struct fm_plan *plan, uint16_t port)
{
	const uint16_t nb_txq = plan->port[plan->port[port].peer].nb_txq;

	return plan->port[port].n_owners > nb_txq ? plan->port[port].n_owners - nb_txq : 0;
}

uint16_t fm_plan_tables(const struct fm_plan *plan)
{
	uint16_t n = 0;

	for (uint16_t w = 0; w < plan->n_workers; w++) {
		bool owns = false;

		for (uint16_t p = 0; p < plan->n_ports; p++)
			owns |= fm_plan_owns(plan, p, w);
		n += owns;
	}
	return n;
}

uint16_t fm_plan_queues_of(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	uint16_t n = 0;

	for (uint16_t q = 0; q < plan->port[port].nb_rxq; q++)
		n += fm_plan_worker(plan, port, q) == worker;
	return n;
}

static int check_ports(const struct fm_plan *plan, char *err, size_t err_len)
{
	if (plan->n_ports == 0)
		return fm_fail(err, err_len, -EINVAL,
			       "no port found: bind a device to a DPDK driver, or make one with --vdev");
	if (plan->n_ports > FM_PORTS_MAX)
		return fm_fail(err, err_len, -EINVAL, "%u ports found, at most %u can be used: choose with -a or -b",
			       plan->n_ports, FM_PORTS_MAX);
	if (!plan->loop && plan->n_ports % 2 != 0)
		return fm_fail(err, err_len, -EINVAL,
			       "%u port%s found, and --port-topology paired needs an even number: add one, or choose "
			       "--port-topology loop", plan->n_ports, plan->n_ports == 1 ? "" : "s");
	return 0;
}

/* The number of queues that we choose is such that who polls has a TX queue; what was asked for is all polled. */
static int plan_rx(struct fm_plan *plan, struct fm_plan_port *p, char *err, size_t err_len)
{
	const uint16_t peer_max_txq = plan->port[p->peer].max_txq;
	const uint16_t peer_txq = plan->nb_txq != 0 ? min16(plan->nb_txq, peer_max_txq) : peer_max_txq;

	if (p->max_rxq == 0 || peer_max_txq == 0)
		return fm_fail(err, err_len, -EINVAL, "port %u has no %s queue",
			       p->max_rxq == 0 ? p->id : plan->port[p->peer].id, p->max_rxq == 0 ? "RX" : "TX");
	if (plan->nb_rxq > p->max_rxq)
		return fm_fail(err, err_len, -EINVAL, "--rxq %u: port %u has at most %u RX queue%s", plan->nb_rxq,
			       p->id, p->max_rxq, p->max_rxq == 1 ? "" : "s");
	if (plan->nb_rxq != 0)
		p->nb_rxq = plan->nb_rxq;
	else if (p->all_queues)
		p->nb_rxq = p->max_rxq;
	else
		p->nb_rxq = p->by_address ? min16(plan->n_workers, min16(p->max_rxq, peer_txq)) : 1;
	p->n_workers = min16(plan->n_workers, p->nb_rxq);
	return 0;
}

/*
 * Several pollers of a port that does not spread by address would part datagrams. So that is steered, whatever was
 * asked for; a port that leaves workers out is steered on request.
 */
static void plan_owners(struct fm_plan *plan)
{
	for (uint16_t i = 0; i < plan->n_ports; i++) {
		struct fm_plan_port *p = &plan->port[i];

		p->steered = (p->n_workers > 1 && !p->by_address) || (plan->steer && p->n_workers < plan->n_workers);
		p->n_owners = p->steered ? plan->n_workers : p->n_workers;
	}
}

static int plan_tx(struct fm_plan *plan, struct fm_plan_port *p, char *err, size_t err_len)
{
	if (plan->nb_txq > p->max_txq)
		return fm_fail(err, err_len, -EINVAL, "--txq %u: port %u has at most %u TX queue%s", plan->nb_txq,
			       p->id, p->max_txq, p->max_txq == 1 ? "" : "s");
	p->nb_txq = plan->nb_txq != 0 ? plan->nb_txq : min16(p->max_txq, plan->port[p->peer].n_owners);
	return 0;
}

static int check_workers(const struct fm_plan *plan, char *err, size_t err_len)
{
	for (uint16_t w = 0; w < plan->n_workers; w++) {
		uint32_t queues = 0;

		for (uint16_t p = 0; p < plan->n_ports; p++)
			queues += fm_plan_queues_of(plan, p, w);
		if (queues > FM_QUEUES_MAX)
			return fm_fail(err, err_len, -EINVAL, "worker %u would poll %u queues, at most %u can be: "
				       "lower --rxq or raise --nb-cores", w, queues, FM_QUEUES_MAX);
	}
	return 0;
}

/*
 * The two directions of a pair are polled by different workers where there are enough, else by the same ones. Tables
 * are keyed by port, so no datagram needs both. Returns the worker to begin with for the next pair.
 */
static uint16_t place_peer(const struct fm_plan *plan, const struct fm_plan_port *p, struct fm_plan_port *peer)
{
	const uint16_t both = p->n_workers + peer->n_workers;
	const uint16_t used = p->n_workers > peer->n_workers ? p->n_workers : peer->n_workers;
	const bool apart = p != peer && (both <= plan->n_workers || both == 2);

	peer->first_worker = (p->first_worker + (apart ? p->n_workers : 0)) % plan->n_workers;
	return (p->first_worker + (apart ? both : used)) % plan->n_workers;
}

int fm_plan_make(struct fm_plan *plan, char *err, size_t err_len)
{
	uint16_t next_worker = 0;
	int ret = check_ports(plan, err, err_len);

	if (ret != 0)
		return ret;
	if (plan->n_workers == 0 || plan->n_workers > FM_WORKERS_MAX)
		return fm_fail(err, err_len, -EINVAL, "%u workers: must be 1..%u", plan->n_workers, FM_WORKERS_MAX);
	for (uint16_t i = 0; i < plan->n_ports; i++) {
		plan->port[i].peer = plan->loop ? i : i ^ 1;
		ret = plan_rx(plan, &plan->port[i], err, err_len);
		if (ret != 0)
			return ret;
	}
	for (uint16_t i = 0; i < plan->n_ports; i++) {
		struct fm_plan_port *p = &plan->port[i];

		if (p->peer < i)
			continue;
		p->first_worker = next_worker;
		next_worker = place_peer(plan, p, &plan->port[p->peer]);
	}
	plan_owners(plan);
	for (uint16_t i = 0; i < plan->n_ports; i++) {
		ret = plan_tx(plan, &plan->port[i], err, err_len);
		if (ret != 0)
			return ret;
	}
	return check_workers(plan, err, err_len);
}
