/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "queue.h"

int fm_queue_add(struct fm_queue *queue, const char *data, size_t len, size_t limit)
{
	char *larger;

	if (len > limit || queue->len > limit - len)
		return -ENOBUFS;
	if (queue->at > 0) {
		memmove(queue->data, queue->data + queue->at, queue->len);
		queue->at = 0;
	}
	if (queue->len + len > queue->size) {
		larger = realloc(queue->data, queue->len + len);
		if (larger == NULL)
			return -ENOMEM;
		queue->data = larger;
		queue->size = queue->len + len;
	}
	if (len > 0)
		memcpy(queue->data + queue->len, data, len);
	queue->len += len;
	return 0;
}

long fm_queue_send(struct fm_queue *queue, int fd)
{
	long sent = 0;

	while (queue->len > 0) {
		const ssize_t n = send(fd, queue->data + queue->at, queue->len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? sent : -errno;
		queue->at += (size_t)n;
		queue->len -= (size_t)n;
		sent += n;
	}
	/* An idle session is to cost nothing. */
	fm_queue_free(queue);
	return sent;
}

void fm_queue_free(struct fm_queue *queue)
{
	free(queue->data);
	*queue = (struct fm_queue){ .data = NULL };
}
