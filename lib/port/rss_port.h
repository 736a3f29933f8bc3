/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting a port up to spread frames by addresses, and seeing whether it does. Main lcore only. */
#ifndef FM_RSS_PORT_H
#define FM_RSS_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "state.h"

/* Ask for it in the configuration of a port that can (port->by_address). Before rte_eth_dev_configure(). */
void fm_rss_ask(const struct fm_port *port, struct rte_eth_conf *conf);

/*
 * Set the redirection table of a started port and read back what it does. What spreads less well than asked for is
 * logged; fragments of one datagram stay together all the same. Sets port->symmetric.
 *
 * @param n_queues  RX queues
 * @param steered   fragments are steered in software, so they may part
 * @return          0; -EINVAL: fragments of a datagram would part, and `err` says so
 */
int fm_rss_settle(struct fm_port *port, uint16_t n_queues, bool steered, char *err, size_t err_len);

#endif
