/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>

#include "counter.h"
#include "door.h"
#include "engine.h"
#include "fail.h"
#include "fm_numa.h"
#include "pool.h"
#include "port.h"
#include "sink.h"
#include "snapshot.h"
#include "state.h"
#include "worker.h"

RTE_LOG_REGISTER(fm_port_logtype, fragmend.port, NOTICE)

enum {
	FM_US_PER_S = 1000000,
	FM_IDLE_TURNS = 16,	/* turns in which a worker must have found nothing */
};

struct fm_engine fm_engine = { .timestamp_offset = -1 };

int fm_engine_port_index(uint16_t id)
{
	for (uint16_t i = 0; i < fm_engine_ports(); i++)
		if (fm_engine.port[i].id == id)
			return i;
	return -1;
}

int fm_engine_socket(int socket)
{
	/* Ports without a node of their own, and all of them with --no-numa: where the main lcore is. */
	if (socket < 0 || !fm_engine.config->numa)
		return (int)rte_socket_id();
	return socket;
}

static int find_workers(struct fm_plan *plan, char *err, size_t err_len)
{
	const uint16_t wanted = fm_engine.config->nb_cores;
	const unsigned int there = rte_lcore_count() - 1;
	unsigned int lcore;

	if (there == 0)
		return fm_fail(err, err_len, -EINVAL,
			       "one lcore is not enough: the main one serves the console, and at least one more forwards; give "
			       "-l 0,1, or --lcores '0@0,1@0' on one CPU");
	if (wanted > there)
		return fm_fail(err, err_len, -EINVAL, "--nb-cores %u: EAL has %u lcore%s beside the main one, see -l", wanted,
			       there, there == 1 ? "" : "s");
	RTE_LCORE_FOREACH_WORKER(lcore) {
		if (plan->n_workers == (wanted != 0 ? wanted : RTE_MIN(there, (unsigned int)FM_WORKERS_MAX)))
			break;
		fm_engine.lcore[plan->n_workers++] = (uint16_t)lcore;
	}
	return 0;
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
			.id = id, .max_rxq = port->info.max_rx_queues, .max_txq = port->info.max_tx_queues,
			.by_address = port->by_address, .all_queues = port->driver->all_queues,
		};
		plan->n_ports++;
	}
	return 0;
}

/*
 * EAL says only in its log that it could not make a device of a --vdev, and goes on. Forwarding between what is left is not
 * what was asked for.
 */
static int check_devices(char *err, size_t err_len)
{
	struct rte_devargs *args;

	RTE_EAL_DEVARGS_FOREACH("vdev", args) {
		bool found = strncmp(args->name, "net_", 4) != 0;

		for (uint16_t i = 0; i < fm_engine_ports(); i++)
			found |= strcmp(rte_dev_name(fm_engine.port[i].info.device), args->name) == 0;
		if (!found)
			return fm_fail(err, err_len, -ENODEV, "--vdev %s%s%s: no port could be made of it, the driver's message "
				       "says why", args->name, args->args == NULL || args->args[0] == '\0' ? "" : ",",
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
			return fm_fail(err, err_len, -EINVAL, "--mtu %u=%u: there is no port %u", id, config->mtu[id], id);
		if (config->write_path[id] != NULL)
			return fm_fail(err, err_len, -EINVAL, "--write %u=%s: there is no port %u", id,
				       config->write_path[id], id);
	}
	for (uint16_t a = 0; a < FM_PORTS_MAX; a++)
		for (uint16_t b = 0; b < a; b++)
			if (config->write_path[a] != NULL && config->write_path[b] != NULL &&
			    strcmp(config->write_path[a], config->write_path[b]) == 0)
				return fm_fail(err, err_len, -EINVAL, "--write: ports %u and %u cannot both write to %s", b, a,
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
			       "--clock rx-timestamp: no port marks frames with the time of their capture; it takes a net_pcap "
			       "port with rx_pcap=FILE");
	if (fm_engine_workers() > 1)
		return fm_fail(err, err_len, -EINVAL, "--clock rx-timestamp: one worker only, not %u; give --nb-cores 1",
			       fm_engine_workers());
	fm_engine.timestamp_flag = RTE_BIT64(rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL));
	fm_engine.clock_hz = FM_US_PER_S;
	return 0;
}

/* What is not obvious to who reads the log. */
static void tell_plan(void)
{
	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		const struct fm_plan_port *p = &fm_engine.plan.port[i];

		if (fm_engine_workers() > 1 && p->n_workers == 1)
			FM_LOG(NOTICE, "port %u (%s): cannot spread frames by address over queues, so worker %u polls all of "
			       "it (%u RX queue%s)\n", p->id, fm_engine.port[i].name, fm_plan_worker(&fm_engine.plan, i, 0),
			       p->nb_rxq, p->nb_rxq == 1 ? "" : "s");
	}
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
				  .nb_txq = config->nb_txq };
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
		ret = fm_fail(err, err_len, -EINVAL, "--write: one worker only, not %u; give --nb-cores 1", plan->n_workers);
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

static int make_rcu(char *err, size_t err_len)
{
	const size_t size = rte_rcu_qsbr_get_memsize(fm_engine_workers());

	fm_engine.rcu = rte_zmalloc("fm_rcu", size, RTE_CACHE_LINE_SIZE);
	if (fm_engine.rcu == NULL || rte_rcu_qsbr_init(fm_engine.rcu, fm_engine_workers()) != 0)
		return fm_fail(err, err_len, -ENOMEM, "no memory for the settings of %u workers", fm_engine_workers());
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		rte_rcu_qsbr_thread_register(fm_engine.rcu, w);
	return 0;
}

int fm_engine_allocate(char *err, size_t err_len)
{
	int ret = make_rcu(err, err_len);

	if (ret == 0)
		ret = fm_pools_make(err, err_len);
	for (uint16_t w = 0; w < fm_engine_workers() && ret == 0; w++)
		ret = fm_worker_make(w, err, err_len);
	return ret;
}

uint64_t fm_engine_free(void)
{
	const uint64_t lost = fm_pools_free();

	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		fm_worker_free(w);
	rte_free(fm_engine.rcu);
	fm_engine.rcu = NULL;
	return lost;
}

/* A port's capture file becomes the way out of those workers that send on it. */
static int open_sink(uint16_t i, char *err, size_t err_len)
{
	struct fm_port *port = &fm_engine.port[i];
	int ret = fm_sink_open(&port->sink, fm_engine.config->write_path[port->id], err, err_len);

	for (uint16_t w = 0; w < fm_engine_workers() && ret == 0; w++)
		for (uint16_t e = 0; e < fm_engine.worker[w]->n_egress; e++)
			if (fm_engine.worker[w]->egress[e].port == port->id)
				fm_engine.worker[w]->egress[e].sink = port->sink;
	return ret;
}

int fm_engine_open(char *err, size_t err_len)
{
	int ret = 0;

	for (uint16_t i = 0; i < fm_engine_ports() && ret == 0; i++)
		ret = fm_port_open(&fm_engine.port[i], &fm_engine.plan.port[i], err, err_len);
	/* Last, so that a start that fails leaves an old file alone. */
	for (uint16_t i = 0; i < fm_engine_ports() && ret == 0; i++)
		if (fm_engine.config->write_path[fm_engine.port[i].id] != NULL)
			ret = open_sink(i, err, err_len);
	return ret;
}

int fm_engine_close(char *err, size_t err_len)
{
	int code = 0;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		struct fm_port *port = &fm_engine.port[i];
		int ret = fm_sink_close(port->sink, code == 0 ? err : NULL, err_len);

		port->sink = NULL;
		if (code == 0)
			code = ret;
	}
	for (uint16_t i = 0; i < fm_engine_ports(); i++)
		fm_port_close(&fm_engine.port[i]);
	return code;
}

int fm_engine_launch(char *err, size_t err_len)
{
	fm_engine.launched = true;
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		int ret = rte_eal_remote_launch(fm_worker_main, fm_engine.worker[w], fm_engine.lcore[w]);

		if (ret != 0)
			return fm_fail(err, err_len, ret, "worker %u cannot be started on lcore %u: %s", w,
				       fm_engine.lcore[w], strerror(-ret));
	}
	return 0;
}

void fm_engine_halt(void)
{
	if (!fm_engine.launched)
		return;
	if (fm_door_forwarding())
		fm_door_stop(NULL, 0);
	atomic_store(&fm_engine.quit, true);
	rte_eal_mp_wait_lcore();
	fm_engine.launched = false;
}

bool fm_engine_idle(uint32_t idle_ms)
{
	/* The main lcore's memory of the last frame: how many there were, when, and where each worker's turns stood. */
	static uint64_t frames = UINT64_MAX, since_tsc, polls[FM_WORKERS_MAX];
	const uint64_t now = rte_rdtsc();
	uint64_t sum = 0;
	bool looked = true;

	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		const struct fm_worker_counters *c = &fm_engine.worker[w]->counters;

		sum += fm_count_read(&c->rx_frames);
		looked &= fm_engine.worker[w]->n_queues == 0 || fm_count_read(&c->polls) - polls[w] >= FM_IDLE_TURNS;
	}
	if (sum != frames) {
		frames = sum;
		since_tsc = now;
		for (uint16_t w = 0; w < fm_engine_workers(); w++)
			polls[w] = fm_count_read(&fm_engine.worker[w]->counters.polls);
		return false;
	}
	/* A worker that got no CPU has not found its port idle. */
	return looked && now - since_tsc >= idle_ms * (rte_get_tsc_hz() / 1000);
}
