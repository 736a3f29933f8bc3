/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fm_split: a joined datagram as clean fragments: in order, contiguous, not overlapping (RFC 791 3.2, RFC 8200 4.5).
 * Stateless; any thread may call it on mbufs that are its own.
 */
#ifndef FM_SPLIT_H
#define FM_SPLIT_H

#include <stdint.h>

#include "fm_reass.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
	/* Data room that a header mbuf needs: Ethernet, two tags, IPv6, the longest header chain the parser lets
	   through. */
	FM_HEADER_ROOM = 22 + 40 + 256 + 2048 + 8,
	FM_PIECES_MAX = 8192 + 1,
};

/*
 * How many pieces fm_split() would make.
 *
 * @param m     the datagram (IPv4 options decide how long the headers are)
 * @param whole as fm_reass_burst() described it
 * @param mtu   largest IP packet the egress takes, 0..2^32-1 bytes; pieces are never longer than whole->largest either
 * @return      1..FM_PIECES_MAX; 0 if the headers leave no room for 8 bytes of payload
 */
uint32_t fm_split_count(const struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu);

/*
 * Cut a datagram into pieces. Each piece is one linear mbuf; where a piece is exactly one segment of the chain that can
 * be written to, that segment is reused, otherwise bytes are copied into a new one.
 *
 * @param m       the datagram, as fm_reass_burst() gave it; on success it is consumed, on failure it is untouched
 * @param mtu     as above
 * @param pool    for new mbufs; NULL: -ENOMEM if one is needed. Its data room behind the headroom must hold a piece of
 *                l2_len + min(mtu, whole->largest) bytes
 * @param pieces  receives the pieces in order
 * @param max     room in `pieces`; FM_PIECES_MAX is always enough
 * @return        pieces made; -ENOSPC: max is too small; -EMSGSIZE: headers leave no room, or the pool's data room is
 * too small; -ENOMEM: pool empty
 */
int fm_split(struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu, struct rte_mempool *pool,
	     struct rte_mbuf **pieces, uint32_t max);

#ifdef __cplusplus
}
#endif

#endif
