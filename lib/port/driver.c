/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "driver.h"

enum {
	FM_PCAP_CHAIN_MAX = 16128,	/* its copy buffer: longer chains are cut, longer single segments are not */
	FM_XDP_RING = 2048,		/* fill ring, completion ring: of one size, whatever --rxd and --txd say */
	FM_RING_SLOTS = 1024,
	FM_TAP_OVERHEAD = 22,		/* Ethernet header, CRC and one tag; more is refused for ever */
	FM_LIVE_PCAP_OVERHEAD = 18,	/* AF_PACKET: Ethernet header and one tag */
};

static const struct fm_driver drivers[] = {
	{
		.name = "net_null",
		.chain_max_bytes = UINT32_MAX, .any_length = true, .returns_all = true, .hears_all = true,
	}, {
		.name = "net_ring",
		.chain_max_bytes = UINT32_MAX, .tx_held = FM_RING_SLOTS, .any_length = true, .all_queues = true,
		.hears_all = true,
	}, {
		.name = "net_pcap",
		.chain_max_bytes = FM_PCAP_CHAIN_MAX, .frame_overhead = FM_LIVE_PCAP_OVERHEAD, .any_length = true,
		.all_queues = true, .returns_all = true, .hears_all = true, .odd_length = true, .timestamps = true,
	}, {
		.name = "net_af_xdp",
		.rx_held = FM_XDP_RING, .tx_held = 2 * FM_XDP_RING, .all_queues = true, .own_tx_pool = true,
		.frame_in_mbuf = true,
	}, {
		.name = "net_tap",
		.frame_overhead = FM_TAP_OVERHEAD, .mixed_hash = true, .returns_all = true,
	}, {
		.name = "net_af_packet",
		.all_queues = true, .returns_all = true,
		.warning = "the kernel joins IPv4 fragments before this driver sees them (PACKET_FANOUT_FLAG_DEFRAG) "
			   "and cuts the result to a ring slot, so fragmented traffic is lost; use net_af_xdp",
	},
};

static const struct fm_driver unknown = { .name = "" };

const struct fm_driver *fm_driver_find(const char *name)
{
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (strcmp(drivers[i].name, name) == 0)
			return &drivers[i];
	return &unknown;
}
