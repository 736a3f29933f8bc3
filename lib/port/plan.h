/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue plan: which worker polls which RX queue and owns which TX queue. Pure arithmetic, no EAL.
 *
 * All fragments of a datagram must reach one worker, because each worker has a table of its own. A port whose hash uses
 * addresses only keeps that promise itself and may have a queue for each worker. Any other port (no hash, or one with
 * transport ports in it, which later fragments do not have) is polled by one worker, all of its queues; two of them
 * that face each other by one worker each.
 */
#ifndef FM_PLAN_H
#define FM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

struct fm_plan_port {
	/* Given. */
	uint16_t id;		/* for messages */
	uint16_t max_rxq, max_txq;
	bool by_address;	/* spreads over its RX queues by addresses only */
	bool all_queues;	/* its queues were asked for when the device was made: poll them all */
	/* Made. */
	uint16_t peer;		/* index of the port its frames leave by */
	uint16_t nb_rxq, nb_txq;
	uint16_t first_worker;	/* queue q is polled by worker (first_worker + q % n_workers) % plan->n_workers ... */
	uint16_t n_workers;	/* ... who sends on TX queue q % n_workers of the peer */
};

struct fm_plan {
	uint16_t n_ports;	/* 1..FM_PORTS_MAX */
	uint16_t n_workers;	/* 1..FM_WORKERS_MAX */
	bool loop;		/* each port back to itself */
	uint16_t nb_rxq, nb_txq;	/* asked for, per port; 0: chosen */
	struct fm_plan_port port[FM_PORTS_MAX];
};

/*
 * Fill in what is to be made.
 *
 * @return 0; -EINVAL: cannot be, and `err` says why in one sentence
 */
int fm_plan_make(struct fm_plan *plan, char *err, size_t err_len);

/* The worker that polls RX queue `queue` of port `port` (an index). */
uint16_t fm_plan_worker(const struct fm_plan *plan, uint16_t port, uint16_t queue);

/* The TX queue of the peer on which what came from that queue leaves. */
uint16_t fm_plan_tx_queue(const struct fm_plan *plan, uint16_t port, uint16_t queue);

/* RX queues of `port` that `worker` polls. */
uint16_t fm_plan_queues_of(const struct fm_plan *plan, uint16_t port, uint16_t worker);

#endif
