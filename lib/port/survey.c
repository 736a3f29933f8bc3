/* SPDX-License-Identifier: BSD-3-Clause */
/* Before anything is allocated: what lcores and ports there are, who polls what, and whether the budget fits. */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_lcore.h>
#include <rte_mbuf_dyn.h>

#include "engine.h"
#include "fail.h"
#include "fm_numa.h"
#include "pool.h"
#include "port.h"
#include "snapshot.h"
#include "state.h"

enum { FM_US_PER_S = 1000000 };

static int find_workers(struct fm_plan *plan, char *err, size_t err_len)
{
	const uint16_t wanted = fm_engine.config->nb_cores;
	const unsigned int there = rte_lcore_count() - 1;
	unsigned int lcore;

	if (there == 0)
		return fm_fail(err, err_len, -EINVAL,
			       "one lcore is not enough: the main one serves the console, and one more forwards; give "
			       "-l 0,1, or --lcores '0@0,1@0' on one CPU");
	if (wanted > there)
		return fm_fail(err, err_len, -EINVAL, "--nb-cores %u: EAL has %u lcore%s beside the main one, see -l",
			       wanted, there, there == 1 ? "" : "s");
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (plan->n_workers == (wanted != 0 ? wanted : RTE_MIN(there, (unsigned int)FM_WORKERS_MAX)))
			break;
		fm_engine.lcore[plan->n_workers++] = (uint16_t)lcore;
	}
	return 0;
}

/* Sockets of net_af_xdp are made with RX queues; a TX queue without one is not there. */
static uint16_t max_txq(const struct fm_port *port)
{
	const uint16_t nb_rxq = fm_engine.config->nb_rxq;

	if (port->driver->own_tx_pool && nb_rxq != 0)
		return RTE_MIN(nb_rxq, port->info.max_tx_queues);
	return port->info.max_tx_queues;
}

static int find_ports(struct fm_plan *plan, char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;
	uint16_t id;
	int ret;

	RTE_ETH_FOREACH_DEV(id) {
		struct fm_port *port = &fm_engine.port[plan->n_ports];
		struct fm_plan_port *planned = &plan->port[plan->n_ports];

		if (plan->n_ports == FM_PORTS_MAX || id >= FM_PORTS_MAX)
			return fm_fail(err, err_len, -EINVAL, "more than %u ports: choose with -a or -b", FM_PORTS_MAX);
		ret = fm_port_probe(port, id, err, err_len);
		if (ret == 0)
			ret = fm_port_decide(port, config, err, err_len);
		if (ret != 0)
			return ret;
		*planned = (struct fm_plan_port){
			.id = id, .max_rxq = port->info.max_rx_queues, .max_txq = max_txq(port),
			.by_address = port->by_address, .all_queues = port->driver->all_queues,
		};
		plan->n_ports++;
	}
	return 0;
}

/*
 * EAL says only in its log that it could not make a device of a --vdev, and goes on. Forwarding between what is left
 * is not what was asked for.
 */
static int check_devices(char *err, size_t err_len)
{
	struct rte_devargs *args;

	RTE_EAL_DEVARGS_FOREACH("vdev", args) {
		bool found = strncmp(args->name, "net_", 4) != 0;

		for (uint16_t i = 0; i < fm_engine_ports(); i++)
			found |= strcmp(rte_dev_name(fm_engine.port[i].info.device), args->name) == 0;
		if (!found)
			return fm_fail(err, err_len, -ENODEV,
				       "--vdev %s%s%s: no port could be made of it, the driver's message says why",
				       args->name, args->args == NULL || args->args[0] == '\0' ? "" : ",",
				       args->args == NULL ? "" : args->args);
	}
	return 0;
}

/* Options that name a port must name one that is there. */
static int check_port_options(char *err, size_t err_len)
{
	const struct fm_config *config = fm_engine.config;

	for (uint16_t id = 0; id < FM_PORTS_MAX; id++) {
		if (fm_engine_port_index(id) >= 0)
			continue;
		if (config->mtu[id] != 0)
			return fm_fail(err, err_len, -EINVAL, "--mtu %u=%u: there is no port %u", id, config->mtu[id],
				       id);
		if (config->write_path[id] != NULL)
			return fm_fail(err, err_len, -EINVAL, "--write %u=%s: there is no port %u", id,
				       config->write_path[id], id);
	}
	for (uint16_t a = 0; a < FM_PORTS_MAX; a++)
		for (uint16_t b = 0; b < a; b++)
			if (config->write_path[a] != NULL && config->write_path[b] != NULL &&
			    strcmp(config->write_path[a], config->write_path[b]) == 0)
				return fm_fail(err, err_len, -EINVAL,
					       "--write: ports %u and %u cannot both write to %s", b, a,
					       config->write_path[a]);
	return 0;
}

static bool any_sink(void)
{
	for (uint16_t id = 0; id < FM_PORTS_MAX; id++)
		if (fm_engine.config->write_path[id] != NULL)
			return true;
	return false;
}

static int find_clock(char *err, size_t err_len)
{
	bool timestamps = false;

	fm_engine.clock_hz = rte_get_tsc_hz();
	if (fm_engine.config->clock != FM_CLOCK_RX_TIMESTAMP)
		return 0;
	for (uint16_t i = 0; i < fm_engine_ports(); i++)
		timestamps |= fm_engine.port[i].driver->timestamps;
	fm_engine.timestamp_offset = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);
	if (!timestamps || fm_engine.timestamp_offset < 0)
		return fm_fail(err, err_len, -ENOTSUP,
			       "--clock rx-timestamp: no port marks frames with the time of their capture; it takes a "
			       "net_pcap port with rx_pcap=FILE");
	if (fm_engine_workers() > 1)
		return fm_fail(err, err_len, -EINVAL,
			       "--clock rx-timestamp: one worker only, not %u; give --nb-cores 1", fm_engine_workers());
	fm_engine.timestamp_flag = RTE_BIT64(rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL));
	fm_engine.clock_hz = FM_US_PER_S;
	return 0;
}

/* How the frames of a port get to several workers, or to one, and why so. */
static void tell_spread(uint16_t i)
{
	const struct fm_plan_port *p = &fm_engine.plan.port[i];
	const char *no_rss = fm_engine.port[i].no_rss, *name = fm_engine.port[i].name, *s = p->nb_rxq == 1 ? "" : "s";

	if (p->steered)
		FM_LOG(NOTICE,
		       "port %u (%s): %s, so its fragments are steered in software; %u worker%s %u RX queue%s, and "
		       "each of %u workers gets its part of the fragments\n",
		       p->id, name, no_rss != NULL ? no_rss : "has fewer queues than there are workers", p->n_workers,
		       p->n_workers == 1 ? " polls" : "s poll", p->nb_rxq, s, fm_engine_workers());
	else if (p->n_workers > 1)
		FM_LOG(NOTICE, "port %u (%s): spread by the port, RSS on addresses; %u workers poll %u RX queue%s\n",
		       p->id, name, p->n_workers, p->nb_rxq, s);
	else
		FM_LOG(NOTICE, "port %u (%s): %s, so worker %u polls all of it (%u RX queue%s)\n", p->id, name,
		       no_rss != NULL ? no_rss : "uses one RX queue", fm_plan_worker(&fm_engine.plan, i, 0), p->nb_rxq,
		       s);
	if (fm_plan_relayed(&fm_engine.plan, i) != 0)
		FM_LOG(NOTICE, "port %u (%s): %u TX queue%s for %u workers, so %u of them send through others\n",
		       fm_engine.port[p->peer].id, fm_engine.port[p->peer].name, fm_engine.plan.port[p->peer].nb_txq,
		       fm_engine.plan.port[p->peer].nb_txq == 1 ? "" : "s", p->n_owners,
		       fm_plan_relayed(&fm_engine.plan, i));
}

/* What is not obvious to who reads the log. */
static void tell_plan(void)
{
	const uint16_t idle = fm_engine_workers() - fm_plan_tables(&fm_engine.plan);

	for (uint16_t i = 0; i < fm_engine_ports() && fm_engine_workers() > 1; i++)
		tell_spread(i);
	if (idle != 0)
		FM_LOG(NOTICE, "%u of %u workers get nothing to do, as no port has a queue for them; --steer on gives "
		       "them a part of the fragments\n", idle, fm_engine_workers());
	if (fm_engine.budget.share < fm_engine.config->settings.max_fragments)
		FM_LOG(WARNING, "budget: %u mbufs per worker cannot hold one datagram of %u fragments\n",
		       fm_engine.budget.share, fm_engine.config->settings.max_fragments);
}

int fm_engine_plan(const struct fm_config *config, char *err, size_t err_len)
{
	struct fm_plan *plan = &fm_engine.plan;
	int ret;

	fm_engine.config = config;
	*plan = (struct fm_plan){ .loop = config->topology == FM_TOPOLOGY_LOOP, .nb_rxq = config->nb_rxq,
				  .nb_txq = config->nb_txq, .steer = config->steer == FM_STEERING_ON };
	ret = find_workers(plan, err, err_len);
	if (ret == 0)
		ret = find_ports(plan, err, err_len);
	if (ret == 0)
		ret = check_devices(err, err_len);
	if (ret == 0)
		ret = check_port_options(err, err_len);
	if (ret == 0)
		ret = find_clock(err, err_len);
	if (ret == 0 && any_sink() && plan->n_workers > 1)
		ret = fm_fail(err, err_len, -EINVAL, "--write: one worker only, not %u; give --nb-cores 1",
			      plan->n_workers);
	if (ret == 0)
		ret = fm_plan_make(plan, err, err_len);
	if (ret != 0)
		return ret;
	for (uint16_t i = 0; i < plan->n_ports; i++)
		fm_engine.port[i].peer = plan->port[i].peer;
	ret = fm_pools_budget(err, err_len);
	if (ret != 0)
		return ret;
	fm_snapshot_start(&config->settings);
	tell_plan();
	fm_numa_advise();
	return 0;
}
