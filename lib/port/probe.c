/* SPDX-License-Identifier: BSD-3-Clause */
/* What a port can do, and what is decided from it; nothing here changes a port. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_kvargs.h>

#include "fail.h"
#include "netdev.h"
#include "port.h"
#include "rss.h"

enum {
	FM_DESCRIPTORS = 512,
	FM_XDP_HEADROOM = 256,	/* the kernel keeps it free in front of a received frame */
};

/* Live net_pcap ports with separate interfaces name the one they send on, but report no interface index. */
static unsigned int pcap_tx_interface(const struct fm_port *port)
{
	const struct rte_devargs *devargs = port->info.device == NULL ? NULL : rte_dev_devargs(port->info.device);
	struct rte_kvargs *args;
	const char *name;
	unsigned int ifindex = 0;

	if (devargs == NULL || devargs->args == NULL || strcmp(port->driver->name, "net_pcap") != 0)
		return 0;
	args = rte_kvargs_parse(devargs->args, NULL);
	if (args == NULL)
		return 0;
	name = rte_kvargs_get(args, "tx_iface");
	if (name != NULL)
		ifindex = if_nametoindex(name);
	rte_kvargs_free(args);
	return ifindex;
}

int fm_port_probe(struct fm_port *port, uint16_t id, char *err, size_t err_len)
{
	int ret = rte_eth_dev_info_get(id, &port->info);

	if (ret != 0)
		return fm_fail(err, err_len, ret, "port %u: cannot be asked what it can do: %s", id, strerror(-ret));
	port->id = id;
	port->driver = fm_driver_find(port->info.driver_name);
	port->socket = rte_eth_dev_socket_id(id);
	if (rte_eth_dev_get_name_by_port(id, port->name) != 0)
		snprintf(port->name, sizeof(port->name), "port%u", id);
	port->kernel_ifindex = port->info.if_index != 0 ? port->info.if_index : pcap_tx_interface(port);
	if (port->kernel_ifindex != 0)
		port->kernel_mtu = fm_netdev_mtu(port->kernel_ifindex);
	port->no_rss = fm_rss_refusal(port->info.flow_type_rss_offloads, port->driver->mixed_hash);
	port->by_address = port->no_rss == NULL;
	if (port->driver->warning != NULL)
		FM_LOG(WARNING, "port %u (%s): %s\n", id, port->driver->name, port->driver->warning);
	return 0;
}

static int choose_descriptors(const struct fm_port *port, const char *option, uint16_t wanted, uint16_t preferred,
			      const struct rte_eth_desc_lim *lim, uint16_t *chosen, char *err, size_t err_len)
{
	const uint32_t align = lim->nb_align == 0 ? 1 : lim->nb_align;
	const uint32_t max = lim->nb_max == 0 ? UINT16_MAX : lim->nb_max;
	uint32_t n = wanted != 0 ? wanted : preferred != 0 ? preferred : FM_DESCRIPTORS;

	if (wanted != 0 && (n < lim->nb_min || n > max || n % align != 0))
		return fm_fail(err, err_len, -EINVAL, "%s %u: port %u takes %u..%u, in steps of %u", option, wanted,
			       port->id, lim->nb_min, max, align);
	n = RTE_MAX(n, (uint32_t)lim->nb_min);
	n = RTE_MIN(n, max);
	*chosen = (uint16_t)RTE_MAX(n / align * align, 1U);
	return 0;
}

/* Bytes of a frame around the MTU, by the driver's count. */
static uint32_t frame_overhead(const struct fm_port *port)
{
	if (port->info.max_mtu != UINT16_MAX && port->info.max_rx_pktlen > port->info.max_mtu)
		return port->info.max_rx_pktlen - port->info.max_mtu;
	return RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
}

static bool is_file_like(const struct fm_port *port)
{
	return port->driver->any_length && port->kernel_ifindex == 0;
}

/* The MTU that the port itself is to be set to. What has a kernel interface is set up with the kernel's tools. */
static int decide_rx(struct fm_port *port, const struct fm_config *config, char *err, size_t err_len)
{
	const uint32_t overhead = frame_overhead(port);
	const uint32_t room = config->mbuf_size - RTE_PKTMBUF_HEADROOM;
	uint16_t now = RTE_ETHER_MTU;
	uint32_t mtu;

	if (config->max_pkt_len != 0 && (config->max_pkt_len > port->info.max_rx_pktlen ||
					 config->max_pkt_len < overhead + port->info.min_mtu))
		return fm_fail(err, err_len, -EINVAL, "--max-pkt-len %u: port %u receives frames of %u..%u bytes",
			       config->max_pkt_len, port->id, overhead + port->info.min_mtu, port->info.max_rx_pktlen);
	if (config->max_pkt_len != 0 && (is_file_like(port) || port->kernel_mtu != 0))
		FM_LOG(NOTICE, "port %u (%s): --max-pkt-len has no effect on it\n", port->id, port->driver->name);
	if (is_file_like(port)) {
		port->rx_frame_max = UINT16_MAX;
		return 0;
	}
	if (port->driver->frame_in_mbuf && config->mbuf_size > port->info.max_rx_pktlen + RTE_PKTMBUF_HEADROOM +
	    FM_XDP_HEADROOM)
		return fm_fail(err, err_len, -EINVAL, "--mbuf-size %u: port %u (%s) takes at most %u",
			       config->mbuf_size, port->id, port->driver->name,
			       port->info.max_rx_pktlen + RTE_PKTMBUF_HEADROOM + FM_XDP_HEADROOM);
	if (port->kernel_mtu != 0) {
		port->rx_frame_max = port->kernel_mtu + FM_L2_MAX;
		if (port->driver->frame_in_mbuf && port->kernel_mtu + RTE_ETHER_HDR_LEN + FM_XDP_HEADROOM > room)
			FM_LOG(WARNING,
			       "port %u: its interface has MTU %u, but frames over %u bytes do not fit --mbuf-size "
			       "%u and will not be received\n",
			       port->id, port->kernel_mtu, room - FM_XDP_HEADROOM, config->mbuf_size);
		return 0;
	}
	rte_eth_dev_get_mtu(port->id, &now);
	mtu = config->max_pkt_len != 0 ? config->max_pkt_len - overhead : RTE_MAX((uint32_t)now, config->mtu[port->id]);
	if (mtu > port->info.max_mtu && config->max_pkt_len != 0)
		return fm_fail(err, err_len, -EINVAL, "--max-pkt-len %u: port %u takes frames of at most %u bytes",
			       config->max_pkt_len, port->id, port->info.max_mtu + overhead);
	if (mtu > port->info.max_mtu)
		return fm_fail(err, err_len, -EINVAL, "--mtu %u=%u: the port takes at most %u", port->id, mtu,
			       port->info.max_mtu);
	port->rx_mtu = (uint16_t)mtu;
	port->rx_frame_max = mtu + overhead;
	return 0;
}

static int decide_scatter(struct fm_port *port, const struct fm_config *config, char *err, size_t err_len)
{
	if (port->rx_frame_max + RTE_PKTMBUF_HEADROOM <= config->mbuf_size)
		return 0;
	port->scatter = (port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	if (!port->scatter && !port->driver->any_length && port->kernel_mtu == 0)
		return fm_fail(err, err_len, -EINVAL,
			       "port %u: frames of up to %u bytes do not fit --mbuf-size %u, and it cannot spread them "
			       "over several mbufs; lower --max-pkt-len or --mtu, or raise --mbuf-size to %u",
			       port->id, port->rx_frame_max, config->mbuf_size,
			       port->rx_frame_max + RTE_PKTMBUF_HEADROOM);
	return 0;
}

static int decide_mtu(struct fm_port *port, const struct fm_config *config, char *err, size_t err_len)
{
	const uint32_t asked = config->mtu[port->id];
	uint32_t most = FM_MTU_MAX;
	uint16_t mtu = RTE_ETHER_MTU;

	if (config->write_path[port->id] == NULL && !is_file_like(port)) {
		if (port->kernel_mtu != 0)
			most = port->kernel_mtu;
		else if (port->rx_mtu != 0)
			most = port->rx_mtu;
		else if (rte_eth_dev_get_mtu(port->id, &mtu) == 0)
			most = mtu;
	}
	if (port->limits.frame_max != UINT32_MAX && most + FM_L2_MAX > port->limits.frame_max &&
	    port->driver->frame_in_mbuf) {
		most = port->limits.frame_max - FM_L2_MAX;
		FM_LOG(NOTICE, "port %u: egress MTU is %u, as much as --mbuf-size %u takes\n", port->id, most,
		       config->mbuf_size);
	}
	if (asked > most)
		return fm_fail(err, err_len, -EINVAL, "--mtu %u=%u: the port carries at most %u", port->id, asked,
			       most);
	port->limits.mtu = asked != 0 ? asked : most;
	return 0;
}

/* How many segments of what length, how long a frame. */
static void decide_chains(struct fm_port *port, const struct fm_config *config)
{
	struct fm_limits *l = &port->limits;
	const uint16_t segs = port->info.tx_desc_lim.nb_mtu_seg_max;

	*l = (struct fm_limits){ .frame_max = UINT32_MAX, .chain_max_bytes = UINT32_MAX, .chain_max_segs = UINT16_MAX };
	if (config->write_path[port->id] != NULL)
		return;
	if (port->driver->chain_max_bytes != 0)
		l->chain_max_bytes = port->driver->chain_max_bytes;
	else if ((port->info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0)
		l->chain_max_segs = segs != 0 ? segs : UINT16_MAX;
	else
		l->chain_max_segs = 1;
	if (port->driver->frame_in_mbuf)
		l->frame_max = RTE_MIN((uint32_t)config->mbuf_size - RTE_PKTMBUF_HEADROOM, port->info.max_rx_pktlen);
	else if (port->driver->frame_overhead != 0 && port->kernel_mtu != 0)
		l->frame_max = port->kernel_mtu + port->driver->frame_overhead;
}

int fm_port_decide(struct fm_port *port, const struct fm_config *config, char *err, size_t err_len)
{
	int ret;

	ret = choose_descriptors(port, "--rxd", config->nb_rxd, port->info.default_rxportconf.ring_size,
				 &port->info.rx_desc_lim, &port->nb_rxd, err, err_len);
	if (ret == 0)
		ret = choose_descriptors(port, "--txd", config->nb_txd, port->info.default_txportconf.ring_size,
					 &port->info.tx_desc_lim, &port->nb_txd, err, err_len);
	if (ret == 0)
		ret = decide_rx(port, config, err, err_len);
	if (ret == 0)
		ret = decide_scatter(port, config, err, err_len);
	if (ret != 0)
		return ret;
	port->checksum_offload = (port->info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM) != 0;
	decide_chains(port, config);
	return decide_mtu(port, config, err, err_len);
}

uint32_t fm_port_rx_held(const struct fm_port *port)
{
	return RTE_MAX((uint32_t)port->nb_rxd, port->driver->rx_held);
}

uint32_t fm_port_tx_held(const struct fm_port *port)
{
	return RTE_MAX((uint32_t)port->nb_txd, port->driver->tx_held);
}

bool fm_port_link_up(const struct fm_port *port)
{
	struct rte_eth_link link;

	/* Drivers over a kernel interface report "up" whatever its carrier is. Who cannot say is taken to be up. */
	if (port->kernel_ifindex != 0 && !fm_netdev_running(port->kernel_ifindex))
		return false;
	return rte_eth_link_get_nowait(port->id, &link) != 0 || link.link_status == RTE_ETH_LINK_UP;
}

int fm_port_set_link(const struct fm_port *port, bool up)
{
	int ret = up ? rte_eth_dev_set_link_up(port->id) : rte_eth_dev_set_link_down(port->id);

	if (ret == -ENOTSUP && port->kernel_ifindex != 0)
		ret = fm_netdev_set_up(port->kernel_ifindex, up);
	return ret;
}
