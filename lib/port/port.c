/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "fail.h"
#include "netdev.h"
#include "port.h"
#include "rss_port.h"

static int configure(struct fm_port *port, const struct fm_plan_port *plan, char *err, size_t err_len)
{
	struct rte_eth_conf conf = { 0 };
	int ret;

	conf.rxmode.mtu = port->rx_mtu;
	if (port->checksum_offload)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	if (port->scatter)
		conf.rxmode.offloads |= RTE_ETH_RX_OFFLOAD_SCATTER;
	if (fm_engine.timestamp_offset >= 0)
		conf.rxmode.offloads |= port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	conf.txmode.offloads = port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (plan->by_address && plan->n_workers > 1)
		fm_rss_ask(port, &conf);
	ret = rte_eth_dev_configure(port->id, plan->nb_rxq, plan->nb_txq, &conf);
	if (ret != 0)
		return fm_fail(err, err_len, ret, "port %u (%s): cannot be configured with %u RX and %u TX queues: %s",
			       port->id, port->name, plan->nb_rxq, plan->nb_txq, strerror(-ret));
	return 0;
}

static int set_up_queues(struct fm_port *port, const struct fm_plan_port *plan, char *err, size_t err_len)
{
	const unsigned int socket = (unsigned int)fm_engine_socket(port->socket);
	int ret;

	for (uint16_t q = 0; q < plan->nb_rxq; q++) {
		ret = rte_eth_rx_queue_setup(port->id, q, port->nb_rxd, socket, NULL, port->pool);
		if (ret != 0)
			return fm_fail(err, err_len, ret, "port %u (%s): RX queue %u with %u descriptors: %s", port->id,
				       port->name, q, port->nb_rxd, strerror(-ret));
	}
	for (uint16_t q = 0; q < plan->nb_txq; q++) {
		ret = rte_eth_tx_queue_setup(port->id, q, port->nb_txd, socket, NULL);
		if (ret != 0)
			return fm_fail(err, err_len, ret, "port %u (%s): TX queue %u with %u descriptors: %s", port->id,
				       port->name, q, port->nb_txd, strerror(-ret));
	}
	return 0;
}

static void go_promiscuous(struct fm_port *port, bool was)
{
	int ret = rte_eth_promiscuous_enable(port->id);

	port->set_promiscuous = ret == 0 && !was;
	port->promiscuous = ret == 0 || port->driver->hears_all;
	if (!port->promiscuous)
		FM_LOG(WARNING, "port %u (%s): cannot be set promiscuous (%s): frames to other addresses will not be "
		       "forwarded\n", port->id, port->name, strerror(-ret));
}

int fm_port_open(struct fm_port *port, const struct fm_plan_port *plan, char *err, size_t err_len)
{
	/* Before the start, in which ethdev switches it off. */
	const bool was = port->kernel_ifindex == 0 || fm_netdev_promiscuous(port->kernel_ifindex);
	int ret;

	port->opened = true;
	ret = configure(port, plan, err, err_len);
	if (ret == 0)
		ret = set_up_queues(port, plan, err, err_len);
	if (ret != 0)
		return ret;
	ret = rte_eth_dev_start(port->id);
	if (ret != 0)
		return fm_fail(err, err_len, ret, "port %u (%s): cannot be started: %s", port->id, port->name,
			       strerror(-ret));
	port->started = true;
	go_promiscuous(port, was);
	if (!plan->by_address || plan->n_workers == 1)
		return 0;
	return fm_rss_settle(port, plan->nb_rxq, plan->steered, err, err_len);
}

void fm_port_close(struct fm_port *port)
{
	int ret;

	fm_port_release_link(port);
	if (port->set_promiscuous) {
		ret = rte_eth_promiscuous_disable(port->id);
		if (ret != 0)
			FM_LOG(WARNING, "port %u (%s): stays promiscuous: %s\n", port->id, port->name, strerror(-ret));
	}
	port->set_promiscuous = false;
	if (port->started) {
		ret = rte_eth_dev_stop(port->id);
		if (ret != 0)
			FM_LOG(WARNING, "port %u (%s): cannot be stopped: %s\n", port->id, port->name, strerror(-ret));
	}
	if (port->opened) {
		ret = rte_eth_dev_close(port->id);
		if (ret != 0)
			FM_LOG(WARNING, "port %u (%s): cannot be closed: %s\n", port->id, port->name, strerror(-ret));
	}
	port->started = false;
	port->opened = false;
}
