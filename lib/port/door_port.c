/* SPDX-License-Identifier: BSD-3-Clause */
/* The control door's view of what a port is and can, and of what its driver counts. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "fail.h"
#include "state.h"

static void view_link(const struct fm_port *port, struct fm_port_more_view *view)
{
	struct rte_eth_link link;

	view->link_held_down = port->follow.held_down;
	view->link_interrupt = (*port->info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	if (rte_eth_link_get_nowait(port->id, &link) != 0)
		return;
	view->full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	view->autoneg = link.link_autoneg == RTE_ETH_LINK_AUTONEG;
}

static void view_limits(const struct rte_eth_dev_info *info, struct fm_port_more_view *view)
{
	view->rxq_max = info->max_rx_queues;
	view->txq_max = info->max_tx_queues;
	view->rxd_min = info->rx_desc_lim.nb_min;
	view->rxd_max = info->rx_desc_lim.nb_max;
	view->txd_min = info->tx_desc_lim.nb_min;
	view->txd_max = info->tx_desc_lim.nb_max;
	view->mtu_min = info->min_mtu;
	view->mtu_max = info->max_mtu;
	view->reta_size = info->reta_size;
	view->hash_key_bytes = info->hash_key_size;
}

void fm_door_port_more(uint16_t index, struct fm_port_more_view *view)
{
	const struct fm_port *port = &fm_engine.port[index];
	char name[IF_NAMESIZE];

	memset(view, 0, sizeof(*view));
	if (port->kernel_ifindex != 0 && if_indextoname(port->kernel_ifindex, name) != NULL)
		snprintf(view->interface, sizeof(view->interface), "%s", name);
	/* More than there is room for is cut; some drivers say nothing. */
	if (rte_eth_dev_fw_version_get(port->id, view->firmware, sizeof(view->firmware)) < 0)
		view->firmware[0] = '\0';
	view->firmware[sizeof(view->firmware) - 1] = '\0';
	view->allmulticast = rte_eth_allmulticast_get(port->id) == 1;
	if (rte_eth_dev_get_mtu(port->id, &view->mtu) != 0)
		view->mtu = 0;
	view->rx_frame_max = port->rx_frame_max;
	view->tx_frame_max = port->limits.frame_max;
	view->scatter = port->scatter;
	view_link(port, view);
	view_limits(&port->info, view);
}

static int no_xstats(uint16_t id, int ret, char *err, size_t err_len)
{
	return fm_fail(err, err_len, ret, "port %u: its driver's statistics cannot be read: %s", id, strerror(-ret));
}

/* Values come by the number of their name. */
static int read_xstats(uint16_t id, struct fm_xstat_view *views, uint32_t max, struct rte_eth_xstat_name *names,
		       struct rte_eth_xstat *values)
{
	const int n_names = rte_eth_xstats_get_names(id, names, max);
	const int n = n_names < 0 ? n_names : rte_eth_xstats_get(id, values, max);

	/* More than there is room for: a driver that counts something new. */
	if (n > (int)max || n_names > (int)max)
		return -EAGAIN;
	for (int i = 0; i < n; i++) {
		if (values[i].id >= (uint64_t)n_names)
			return -EIO;
		snprintf(views[i].name, sizeof(views[i].name), "%s", names[values[i].id].name);
		views[i].value = values[i].value;
	}
	return n;
}

int fm_door_xstats(uint16_t index, struct fm_xstat_view *views, uint32_t max, char *err, size_t err_len)
{
	const uint16_t id = fm_engine.port[index].id;
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int ret;

	if (max == 0) {
		ret = rte_eth_xstats_get_names(id, NULL, 0);
		return ret < 0 ? no_xstats(id, ret, err, err_len) : ret;
	}
	names = calloc(max, sizeof(*names));
	values = calloc(max, sizeof(*values));
	ret = names == NULL || values == NULL ? -ENOMEM : read_xstats(id, views, max, names, values);
	free(names);
	free(values);
	return ret < 0 ? no_xstats(id, ret, err, err_len) : ret;
}

int fm_door_clear_xstats(uint16_t index, char *err, size_t err_len)
{
	const uint16_t id = fm_engine.port[index].id;
	const int ret = rte_eth_xstats_reset(id);

	if (ret != 0)
		return fm_fail(err, err_len, ret, "port %u: its driver's statistics cannot be cleared: %s", id,
			       strerror(-ret));
	return 0;
}
