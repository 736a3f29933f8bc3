/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a port spreads frames over queues so that each worker has a table of its own. Fragments keep nothing but their
 * addresses and the identification, so the hash takes addresses only; a hash over ports would part them. Arithmetic
 * only, nothing here touches a port; see rss_port.h. doc/design/0015-rss.md says why.
 */
#ifndef FM_RSS_H
#define FM_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

/* All types that hash addresses alone. */
#define FM_RSS_ADDRESSES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER | \
			  RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER | \
			  RTE_ETH_RSS_IPV6_EX)

enum {
	FM_RSS_RETA_MAX = 4096,		/* entries of the longest redirection table that is set */
	FM_RSS_GROUPS_MAX = FM_RSS_RETA_MAX / RTE_ETH_RETA_GROUP_SIZE,
};

/*
 * Can a port spread its frames by addresses?
 *
 * It takes the plain types of both families, which cover TCP and UDP; types for fragments alone would leave those on
 * queue 0. Where there is a plain type but none for fragments, fragments are hashed by it or all of them come on one
 * queue: either way those of one datagram come on one.
 *
 * @param offloads  flow_type_rss_offloads of the port
 */
static inline bool fm_rss_by_address(uint64_t offloads)
{
	const uint64_t plain = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6;

	return (offloads & plain) == plain;
}

/*
 * Why a port cannot spread frames by addresses.
 *
 * @param mixed  what it offers as a hash over addresses takes transport ports in
 * @return       the end of a sentence that begins with the port, a constant; NULL: it can
 */
const char *fm_rss_refusal(uint64_t offloads, bool mixed);

/* The types to ask for: all that it offers of those that hash addresses alone. */
uint64_t fm_rss_types(uint64_t offloads);

/*
 * What is wrong with the types that are set, now that the port has started.
 *
 * @param asked  what was asked for
 * @param set    what the driver says it does
 * @param bad    takes whether fragments of a datagram may part: it hashes more than addresses
 * @return       the end of a sentence that begins with the port, a constant; NULL: nothing
 */
const char *fm_rss_difference(uint64_t asked, uint64_t set, bool *bad);

/*
 * Make the hash key. It is one word of 32 bits over and over, so that a pair of addresses hashes alike in both
 * directions, whatever the family and wherever the addresses begin.
 *
 * @param len  bytes, any number: hash_key_size of the port
 */
void fm_rss_key(uint8_t *key, uint8_t len);

/*
 * Make the redirection table: entry after entry the next of the queues.
 *
 * @param reta      room for FM_RSS_GROUPS_MAX groups; entries beyond `size` are masked out
 * @param size      entries, 1..FM_RSS_RETA_MAX
 * @param n_queues  1..UINT16_MAX
 */
void fm_rss_reta(struct rte_eth_rss_reta_entry64 *reta, uint16_t size, uint16_t n_queues);

/* The queue in entry `index` of a redirection table. */
static inline uint16_t fm_rss_reta_queue(const struct rte_eth_rss_reta_entry64 *reta, uint32_t index)
{
	return reta[index / RTE_ETH_RETA_GROUP_SIZE].reta[index % RTE_ETH_RETA_GROUP_SIZE];
}

#endif
