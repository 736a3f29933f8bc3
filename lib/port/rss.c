/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "rss.h"

/*
 * With this word the low 8 (16) bits of a hash take all values as one byte (two neighbouring ones) of an address does,
 * and all 32 as the exclusive or of both addresses does: addresses that differ in one byte spread as evenly as there
 * are entries in the table. The usual 0x6d5a6d5a keeps 16 bits of 32, and 6 of some bytes.
 */
enum { FM_RSS_WORD = 0x6d5a024a };

const char *fm_rss_refusal(uint64_t offloads, bool mixed)
{
	const bool v4 = (offloads & RTE_ETH_RSS_IPV4) != 0;
	const bool v6 = (offloads & RTE_ETH_RSS_IPV6) != 0;

	if (offloads == 0)
		return "offers no RSS";
	if (mixed)
		return "takes transport ports into its hash over addresses";
	if (v4 && v6)
		return NULL;
	if (v4)
		return "hashes IPv4 by addresses alone, but not IPv6";
	if (v6)
		return "hashes IPv6 by addresses alone, but not IPv4";
	if ((offloads & FM_RSS_ADDRESSES) != 0)
		return "hashes fragments by addresses alone, but not what is no fragment";
	return "offers no hash over addresses alone";
}

uint64_t fm_rss_types(uint64_t offloads)
{
	return offloads & FM_RSS_ADDRESSES;
}

const char *fm_rss_difference(uint64_t asked, uint64_t set, bool *bad)
{
	const uint64_t lost = asked & ~set;

	*bad = (set & ~FM_RSS_ADDRESSES) != 0;
	if (*bad)
		return "hashes more than addresses";
	if ((lost & RTE_ETH_RSS_IPV4) != 0 && (lost & RTE_ETH_RSS_IPV6) != 0)
		return "did not take the hash over addresses: all frames come by one queue";
	if ((lost & RTE_ETH_RSS_IPV4) != 0)
		return "did not take the hash over IPv4 addresses: those frames come by one queue";
	if ((lost & RTE_ETH_RSS_IPV6) != 0)
		return "did not take the hash over IPv6 addresses: those frames come by one queue";
	if ((lost & (RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6)) != 0)
		return "did not take the hash over the addresses of fragments: they may all come by one queue";
	return NULL;
}

void fm_rss_key(uint8_t *key, uint8_t len)
{
	for (unsigned int i = 0; i < len; i++)
		key[i] = (uint8_t)((uint32_t)FM_RSS_WORD >> (24 - i % 4 * 8));
}

void fm_rss_reta(struct rte_eth_rss_reta_entry64 *reta, uint16_t size, uint16_t n_queues)
{
	memset(reta, 0, FM_RSS_GROUPS_MAX * sizeof(*reta));
	for (uint16_t i = 0; i < size; i++) {
		struct rte_eth_rss_reta_entry64 *group = &reta[i / RTE_ETH_RETA_GROUP_SIZE];

		group->mask |= RTE_BIT64(i % RTE_ETH_RETA_GROUP_SIZE);
		group->reta[i % RTE_ETH_RETA_GROUP_SIZE] = i % n_queues;
	}
}
