/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <time.h>

#include "mailbox.h"

enum { FM_LOOK_US = 50 };

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int fm_mailbox_ask(struct fm_mailbox *box, enum fm_request_kind kind, struct fm_look *look, uint64_t *result)
{
	const struct timespec pause = { .tv_nsec = FM_LOOK_US * 1000 };
	enum fm_mail sent = FM_MAIL_SENT;
	const uint64_t end_ms = now_ms() + FM_MAIL_TIMEOUT_MS;

	box->kind = kind;
	box->look = look;
	atomic_store_explicit(&box->state, FM_MAIL_SENT, memory_order_release);
	while (atomic_load_explicit(&box->state, memory_order_acquire) != FM_MAIL_DONE) {
		nanosleep(&pause, NULL);
		/* Take back what was not taken; what was will be answered. */
		if (now_ms() > end_ms &&
		    atomic_compare_exchange_strong(&box->state, &sent, FM_MAIL_EMPTY))
			return -ETIMEDOUT;
		sent = FM_MAIL_SENT;
	}
	if (result != NULL)
		*result = box->result;
	atomic_store_explicit(&box->state, FM_MAIL_EMPTY, memory_order_relaxed);
	return 0;
}
