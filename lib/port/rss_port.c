/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define FM_DPDK_RSS
#include "fm_dpdk.h"

#include "fail.h"
#include "rss.h"
#include "rss_port.h"

/* The same for all ports, as much of it as each takes. Drivers keep the pointer and may look at start only. */
static uint8_t the_key[UINT8_MAX];

void fm_rss_ask(const struct fm_port *port, struct rte_eth_conf *conf)
{
	struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	rss->rss_hf = fm_rss_types(port->info.flow_type_rss_offloads);
	/* A key of any other length is refused since 23.11; who names no length takes none. */
	if (port->info.hash_key_size != 0) {
		fm_rss_key(the_key, sizeof(the_key));
		rss->rss_key = the_key;
		rss->rss_key_len = port->info.hash_key_size;
	}
	fm_dpdk_rss_function(rss, &port->info);
}

/* Both directions on one queue is no condition for anything; it is said where it is not so. */
static bool is_symmetric(const struct fm_port *port, const struct rte_eth_rss_conf *set)
{
	if (fm_dpdk_rss_is_symmetric(set))
		return true;
	return port->info.hash_key_size != 0 && memcmp(set->rss_key, the_key, port->info.hash_key_size) == 0;
}

static int check_hash(struct fm_port *port, bool steered, char *err, size_t err_len)
{
	uint8_t key[UINT8_MAX] = { 0 };
	struct rte_eth_rss_conf set = { .rss_key = key, .rss_key_len = port->info.hash_key_size };
	const int ret = rte_eth_dev_rss_hash_conf_get(port->id, &set);
	const char *difference;
	bool bad;

	port->symmetric = false;
	if (ret != 0) {
		FM_LOG(NOTICE, "port %u (%s): does not tell which hash it uses (%s); the one asked for is taken for "
		       "granted\n", port->id, port->name, strerror(-ret));
		return 0;
	}
	difference = fm_rss_difference(fm_rss_types(port->info.flow_type_rss_offloads), set.rss_hf, &bad);
	if (bad && !steered)
		return fm_fail(err, err_len, -EINVAL,
			       "port %u (%s): %s (RSS 0x%" PRIx64 "), so fragments of a datagram would reach several "
			       "workers; give --rxq 1", port->id, port->name, difference, set.rss_hf);
	if (difference != NULL && !bad)
		FM_LOG(WARNING, "port %u (%s): %s\n", port->id, port->name, difference);
	port->symmetric = is_symmetric(port, &set);
	if (!port->symmetric)
		FM_LOG(NOTICE, "port %u (%s): takes no symmetric hash key, so the two directions of a pair of "
		       "addresses may reach different workers\n", port->id, port->name);
	return 0;
}

/* The first entry that differs, or -1. */
static int32_t first_difference(const struct rte_eth_rss_reta_entry64 *a, const struct rte_eth_rss_reta_entry64 *b,
				uint16_t size)
{
	for (uint16_t i = 0; i < size; i++)
		if (fm_rss_reta_queue(a, i) != fm_rss_reta_queue(b, i))
			return i;
	return -1;
}

static void read_table_back(const struct fm_port *port, const struct rte_eth_rss_reta_entry64 *asked, uint16_t size)
{
	struct rte_eth_rss_reta_entry64 set[FM_RSS_GROUPS_MAX];
	int32_t i;

	memset(set, 0xff, sizeof(set));
	for (unsigned int g = 0; g < FM_RSS_GROUPS_MAX; g++)
		set[g].mask = asked[g].mask;
	if (rte_eth_dev_rss_reta_query(port->id, set, size) != 0)
		return;
	i = first_difference(asked, set, size);
	if (i >= 0)
		FM_LOG(WARNING, "port %u (%s): entry %d of its redirection table is queue %u instead of %u; load will "
		       "be uneven\n", port->id, port->name, i, fm_rss_reta_queue(set, (uint32_t)i),
		       fm_rss_reta_queue(asked, (uint32_t)i));
}

static void set_table(const struct fm_port *port, uint16_t n_queues)
{
	struct rte_eth_rss_reta_entry64 asked[FM_RSS_GROUPS_MAX];
	struct rte_eth_dev_info info;
	uint16_t size;
	int ret;

	/* Some drivers make the table as large as the number of queues wants it, so not what was probed. */
	size = rte_eth_dev_info_get(port->id, &info) == 0 ? info.reta_size : port->info.reta_size;
	if (size == 0 || size > FM_RSS_RETA_MAX) {
		FM_LOG(NOTICE, "port %u (%s): its redirection table has %u entries and stays as the driver made it\n",
		       port->id, port->name, size);
		return;
	}
	if (size < n_queues)
		FM_LOG(WARNING, "port %u (%s): %u entries in its redirection table leave some of %u RX queues without "
		       "frames; give --rxq %u\n", port->id, port->name, size, n_queues, size);
	fm_rss_reta(asked, size, n_queues);
	ret = rte_eth_dev_rss_reta_update(port->id, asked, size);
	if (ret != 0)
		FM_LOG(NOTICE, "port %u (%s): its redirection table of %u entries cannot be set (%s) and stays as the "
		       "driver made it\n", port->id, port->name, size, strerror(-ret));
	else
		read_table_back(port, asked, size);
}

int fm_rss_settle(struct fm_port *port, uint16_t n_queues, bool steered, char *err, size_t err_len)
{
	int ret = check_hash(port, steered, err, err_len);

	if (ret == 0)
		set_table(port, n_queues);
	return ret;
}
