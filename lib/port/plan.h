/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue plan: which worker polls which RX queue, which ones own the fragments of a port, who has which TX queue.
 * Pure arithmetic, no EAL.
 *
 * All fragments of a datagram must reach one worker, because each worker has a table of its own. A port whose hash uses
 * addresses only keeps that promise itself, and so does a port that one worker polls: who polls a queue owns what comes
 * in by it. The fragments of any other port are steered: all workers own some, and who polls hands over what is not his
 * (steer.h). If it was asked for, so are those of each port that not all workers poll.
 *
 * Count the workers of a port from its first one: places 0 .. n_workers - 1 poll, 0 .. n_owners - 1 own, and the first
 * nb_txq places of its peer's senders have a TX queue each; others send through one of those (relay.h).
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
	uint16_t first_worker;	/* queue q is polled by worker (first_worker + q % n_workers) % plan->n_workers */
	uint16_t n_workers;	/* that poll */
	uint16_t n_owners;	/* that own fragments: those who poll, or all */
	bool steered;		/* in software */
};

struct fm_plan {
	uint16_t n_ports;	/* 1..FM_PORTS_MAX */
	uint16_t n_workers;	/* 1..FM_WORKERS_MAX */
	bool loop;		/* each port back to itself */
	bool steer;		/* each worker is to own a part of the fragments of each port */
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

/* Does `worker` own fragments that come in by `port`, and send what becomes of them? So does each one that polls. */
bool fm_plan_owns(const struct fm_plan *plan, uint16_t port, uint16_t worker);

/* The TX queue of the peer on which leaves what came in by `port`, for a worker that owns; who has the queue. */
uint16_t fm_plan_tx_queue(const struct fm_plan *plan, uint16_t port, uint16_t worker);
uint16_t fm_plan_tx_worker(const struct fm_plan *plan, uint16_t port, uint16_t worker);

/* Workers that own fragments of `port` and have no TX queue of its peer. */
uint16_t fm_plan_relayed(const struct fm_plan *plan, uint16_t port);

/* Workers that own fragments of any port. */
uint16_t fm_plan_tables(const struct fm_plan *plan);

/* RX queues of `port` that `worker` polls. */
uint16_t fm_plan_queues_of(const struct fm_plan *plan, uint16_t port, uint16_t worker);

#endif
