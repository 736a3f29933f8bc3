/* SPDX-License-Identifier: BSD-3-Clause */
/* What connects the workers, made by the main lcore before they start. */
#ifndef FM_CONNECT_H
#define FM_CONNECT_H

#include <stddef.h>
#include <stdint.h>

#include "worker.h"

/* Once all workers are made: the pipes between them. 0, or -ENOMEM and one sentence in `err`. */
int fm_workers_connect(char *err, size_t err_len);

/* Free what fm_workers_connect() made for the worker to put into; nothing happens if it did not. */
void fm_worker_disconnect(struct fm_worker *w);

/*
 * Lay out an egress by which worker `w` sends what came in by port `ingress` (an index). 0 or -ENOMEM. (layout.c)
 *
 * @param counters  what becomes of it is counted there
 */
int fm_worker_egress(struct fm_egress *e, const struct fm_worker *w, uint16_t ingress, uint16_t tx_queue,
		     struct fm_tx_counters *counters);

#endif
