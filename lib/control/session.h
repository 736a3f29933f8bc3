/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One client of the console socket. What it sends is taken in as it comes, but at most one request is waiting, and none
 * is taken while an answer is unread: a client that sends or reads too little or too much costs a few kilobytes and
 * nobody's time. Control thread only.
 */
#ifndef FM_SESSION_H
#define FM_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "command.h"
#include "loop.h"
#include "queue.h"
#include "request.h"
#include "stream.h"

enum {
	FM_SESSION_IN_BYTES = 4096,
	FM_SESSION_OUT_BYTES = 4 << 20,	/* an answer that is longer ends the session */
	FM_SESSION_STALL_MS = 10000,	/* so long a client may leave unread what was sent */
};

struct fm_session {
	struct fm_watch watch;
	struct fm_shell shell;
	struct fm_request request;
	struct fm_queue out;
	char in[FM_SESSION_IN_BYTES];
	size_t in_at, in_len;		/* what came and is not looked at: in[in_at..in_len) */
	bool waiting;			/* a request is complete */
	bool ended;			/* nothing will come any more */
	bool leaving;			/* to be closed when all is sent */
	bool gone;			/* to be closed */
	unsigned int columns, rows;	/* of the terminal at the other end; 0: none */
	struct fm_stream stream;	/* what fills the screen; no frame(): nothing does */
	uint64_t sent_ns;		/* when the queue was empty or got shorter last */
	void (*changed)(void *arg);	/* called when a request waits or the session is gone */
	void *arg;
};

/*
 * @param fd       connected, does not block; closed by fm_session_close()
 * @param changed  see above
 * @return         NULL: no memory, or the loop is full; fd is still the caller's
 */
struct fm_session *fm_session_open(struct fm_loop *loop, int fd, uint64_t now_ns, void (*changed)(void *arg),
				   void *arg);

/* Send what can be sent at once, and free it. */
void fm_session_close(struct fm_session *session, struct fm_loop *loop);

/* Is there a request, and room for its answer? */
bool fm_session_ready(const struct fm_session *session);

/* Run the request that waits. The session may be gone afterwards, or shell.quit be set. */
void fm_session_run(struct fm_session *session, uint64_t now_ns);

/* Every FM_TICK_MS: the next picture of a stream; a client that does not read is gone. */
void fm_session_tick(struct fm_session *session, uint64_t now_ns);

#endif
