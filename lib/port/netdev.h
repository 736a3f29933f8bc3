/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's interface behind a port (net_af_xdp, net_tap, net_pcap iface=...), of which the driver tells little. */
#ifndef FM_NETDEV_H
#define FM_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

/* MTU in bytes; 0: there is no such interface. */
uint32_t fm_netdev_mtu(unsigned int ifindex);

/* Has it a carrier? One that cannot be asked is taken to have one. */
bool fm_netdev_running(unsigned int ifindex);

/* Has somebody set it up? One that cannot be asked is taken to be up. */
bool fm_netdev_up(unsigned int ifindex);

/* Is it promiscuous because somebody set it so? One that cannot be asked is taken to be. */
bool fm_netdev_promiscuous(unsigned int ifindex);

/* Set it up or down; returns 0 or -errno. */
int fm_netdev_set_up(unsigned int ifindex, bool up);

#endif
