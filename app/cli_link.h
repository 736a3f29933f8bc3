/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's end of a console socket; what is said there is in lib/control/request.h. */
#ifndef FM_CLI_LINK_H
#define FM_CLI_LINK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "request.h"

struct fm_cli_link {
	int fd;
	/* Signals that are let in while it waits, and only then; NULL: as ever. */
	const sigset_t *waiting_mask;
	/* Set by those of them that end the wait; after others it goes on. NULL: none ends it. */
	const volatile sig_atomic_t *ended;
	size_t at, len;
	char data[4096];	/* received: data[at..at + len) */
};

struct fm_answer {
	int status;			/* 0, or an error number of the program's */
	bool left;			/* the session is over */
	bool screen;			/* bytes for the terminal follow, see fm_link_receive() */
	char sentence[FM_SENTENCE_LEN];	/* why it failed */
	char *text;			/* what came before the status, for the caller to free */
	size_t len;
};

/* @return 0; -errno */
int fm_link_open(struct fm_cli_link *link, const char *path);

/* @return 0; -errno: the other end is gone, and may have said why */
int fm_link_ask(struct fm_cli_link *link, enum fm_request_kind kind, const char *text);

/*
 * Receive an answer; wait for it.
 *
 * @return 0; -errno: it did not come, but answer->text may be set: the last that was said; -EINTR: a signal
 * that ends
 */
int fm_link_answer(struct fm_cli_link *link, struct fm_answer *answer);

/*
 * Receive some more if there is nothing left of what came.
 *
 * @return 0; -errno; -ECONNRESET: the end
 */
int fm_link_receive(struct fm_cli_link *link);

#endif
