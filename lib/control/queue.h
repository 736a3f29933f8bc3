/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes on their way out through a socket that takes them when it likes. All zero is an empty queue. Allocates; one
 * thread.
 */
#ifndef FM_QUEUE_H
#define FM_QUEUE_H

#include <stddef.h>

struct fm_queue {
	char *data;
	size_t at, len, size;	/* data[at..at + len) is still to be sent */
};

/*
 * @param limit  bytes that may wait, these included
 * @return       0; -ENOBUFS: more than that; -ENOMEM. The queue is as it was unless 0.
 */
int fm_queue_add(struct fm_queue *queue, const char *data, size_t len, size_t limit);

/*
 * Send what the socket takes now.
 *
 * @return bytes that were taken; 0: none now, or the queue is empty; -errno: the other end is gone
 */
long fm_queue_send(struct fm_queue *queue, int fd);

/* It is empty afterwards. */
void fm_queue_free(struct fm_queue *queue);

#endif
