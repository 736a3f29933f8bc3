/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev ports: what they can do, how they are set up. Main lcore only. */
#ifndef FM_PORT_H
#define FM_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "state.h"

/* Ask ethdev and the kernel about port `id`. Changes nothing. */
int fm_port_probe(struct fm_port *port, uint16_t id, char *err, size_t err_len);

/* Decide on descriptors, frame lengths and what can leave by the port; needs fm_port_probe(). */
int fm_port_decide(struct fm_port *port, const struct fm_config *config, char *err, size_t err_len);

/* Configure the port and its queues, and start it; needs its pool. */
int fm_port_open(struct fm_port *port, const struct fm_plan_port *plan, char *err, size_t err_len);

/* Stop and close it; nothing happens if it is not open. */
void fm_port_close(struct fm_port *port);

/* mbufs that one RX or TX queue can keep. */
uint32_t fm_port_rx_held(const struct fm_port *port);
uint32_t fm_port_tx_held(const struct fm_port *port);

/* Link state as seen from outside; taking the link down and up. 0 or -errno. */
bool fm_port_link_up(const struct fm_port *port);
int fm_port_set_link(const struct fm_port *port, bool up);

/* Let it up again if link-follow holds it down: a kernel interface outlives the program. */
void fm_port_release_link(struct fm_port *port);

#endif
