/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One request at a time from the control thread to a worker, answered between two bursts. The worker never waits: it
 * looks at one word each turn. All that control wants of a worker's table goes this way.
 */
#ifndef FM_MAILBOX_H
#define FM_MAILBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm_reass.h"

enum fm_request_kind {
	FM_REQUEST_START,	/* poll the RX queues */
	FM_REQUEST_STOP,	/* stop polling, flush the table, send what waits; asked FM_STOP_ROUNDS times of all */
	FM_REQUEST_FLUSH,	/* free all held fragments; result: how many */
	FM_REQUEST_VIEWS,	/* describe some held datagrams; result: 0: there are no more, or no room for them */
	FM_REQUEST_SOURCES,	/* look at some records of sources; result: number of the one to go on with, 0: none */
	FM_REQUEST_TAP,		/* show frames to look->tap, or to none */
};

struct fm_tap;

/* What is to be looked at. The worker writes the arrays and `n`, control all else. */
struct fm_look {
	struct fm_reass_view *datagrams;
	struct fm_source_view *sources;
	uint32_t max;			/* room in the array */
	uint32_t first, count;		/* records of sources; datagrams: first 0: begin with the oldest one */
	uint32_t n;			/* views there are */
	struct fm_tap *tap;
};

enum fm_mail {
	FM_MAIL_EMPTY,		/* control may write the request */
	FM_MAIL_SENT,		/* the worker may take it, control may take it back */
	FM_MAIL_TAKEN,		/* the worker is at it */
	FM_MAIL_DONE,		/* control may read the result */
};

struct fm_mailbox {
	_Atomic enum fm_mail state;	/* who may touch the rest; see above */
	enum fm_request_kind kind;	/* written by control */
	struct fm_look *look;		/* written by control; NULL: nothing */
	uint64_t result;		/* written by the worker */
};

/*
 * Control: hand over `kind` (and what to look at, or NULL) and wait for the answer.
 *
 * @return 0, `*result` is set; -ETIMEDOUT: the worker did not take it within FM_MAIL_TIMEOUT_MS, and will not any more
 */
enum { FM_MAIL_TIMEOUT_MS = 3000 };
int fm_mailbox_ask(struct fm_mailbox *box, enum fm_request_kind kind, struct fm_look *look, uint64_t *result);

/* Worker: take the request if there is one; then fm_mailbox_answer() must follow. */
static inline bool fm_mailbox_take(struct fm_mailbox *box)
{
	enum fm_mail sent = FM_MAIL_SENT;

	if (atomic_load_explicit(&box->state, memory_order_relaxed) != FM_MAIL_SENT)
		return false;
	return atomic_compare_exchange_strong_explicit(&box->state, &sent, FM_MAIL_TAKEN, memory_order_acquire,
						       memory_order_relaxed);
}

static inline void fm_mailbox_answer(struct fm_mailbox *box, uint64_t result)
{
	box->result = result;
	atomic_store_explicit(&box->state, FM_MAIL_DONE, memory_order_release);
}

#endif
