/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is known of drivers and cannot be asked: read in the sources of DPDK 22.11, and harmless where a later driver
 * can do more. A driver that is not in the table is taken at its word.
 */
#ifndef FM_DRIVER_H
#define FM_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

struct fm_driver {
	const char *name;		/* as in rte_eth_dev_info */
	uint32_t chain_max_bytes;	/* takes chains of so many bytes, whatever it advertises */
	uint32_t rx_held, tx_held;	/* mbufs that a queue keeps if that is more than its descriptors */
	uint32_t frame_overhead;	/* takes the kernel interface's MTU and so many bytes; 0: unknown */
	bool any_length;		/* without a kernel interface behind it: no frame is too long */
	bool mixed_hash;		/* what it offers as a hash over addresses takes transport ports in */
	bool all_queues;		/* its queues were asked for with the device, and each gets frames */
	bool own_tx_pool;		/* copies what it sends into mbufs of its own port's pool */
	bool frame_in_mbuf;		/* frames longer than an mbuf of its own port's pool corrupt memory */
	bool returns_all;		/* gives all mbufs back when closed */
	bool hears_all;			/* promiscuous without being asked */
	bool odd_length;		/* may deliver a packet length its segments do not have (see worker.c) */
	bool timestamps;		/* RX timestamps, microseconds */
	const char *warning;		/* a reason not to use it */
};

/* Never NULL. */
const struct fm_driver *fm_driver_find(const char *name);

#endif
