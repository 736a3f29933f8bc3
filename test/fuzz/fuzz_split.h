/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FM_FUZZ_SPLIT_H
#define FM_FUZZ_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "fm_split.h"

/*
 * Cut a datagram into pieces for `mtu`, check each of them, join them again in a table of their own and compare.
 * Consumes the datagram. `starve`: first with too few mbufs and too little room, which must change nothing.
 */
void fm_fuzz_split(struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu, bool starve);

#endif
