/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which RSS types serve a table for each worker. Fragments keep nothing but their addresses and the identification; a
 * hash over ports would part them.
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

#endif
