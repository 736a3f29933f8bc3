/* SPDX-License-Identifier: BSD-3-Clause */
/* mbuf pools of the ports. Main lcore only. */
#ifndef FM_POOL_H
#define FM_POOL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Fill in fm_engine.budget from ports, plan and configuration, and check it.
 *
 * @return 0; -EINVAL: does not fit, and `err` says what to change
 */
int fm_pools_budget(char *err, size_t err_len);

/*
 * See what the drivers of open ports keep of the pools and, if it is more than was reckoned with, make the budget anew.
 * Before anything is received.
 *
 * @return 0; -EINVAL: what was asked for does not fit any more, and `err` says so
 */
int fm_pools_recount(char *err, size_t err_len);

/* mbufs that one datagram can have on its way out; see fm_budget_pieces(). */
uint32_t fm_pools_pieces(uint32_t max_fragments, uint32_t egress_mtu);

/* Make all pools; -ENOMEM: no memory, and `err` says how to give more. */
int fm_pools_make(char *err, size_t err_len);

/*
 * Free all pools; the ports must be closed.
 *
 * @return mbufs that did not come back and that no driver is known to keep
 */
uint64_t fm_pools_free(void);

#endif
