/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop of the control thread: everything that happens in it after the start hangs on one of these.
 *
 * A watch waits for a file descriptor, a timer for a time. Both are the caller's, who must leave them where they are
 * until they are taken out again. Callbacks run one after the other in the thread that runs the loop, so they need no
 * locks among each other; none of them may wait for a client, a file or a timer, as all others would wait with it.
 * What is asked of workers takes milliseconds, and seconds at most when one does not answer. A callback may add and
 * remove watches and timers, its own included, and change the fields that are said to be the caller's.
 *
 * Within one turn every watch that is ready is called once, then every timer that is due: nobody can keep the others
 * from their turn by being ready all the time, as long as a callback does a bounded piece of work.
 *
 * All functions: one thread, the one that runs the loop.
 */
#ifndef FM_LOOP_H
#define FM_LOOP_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	FM_TICK_MS = 100,		/* between two looks at what has no file descriptor: links, status table */
	FM_LOOP_WATCHES_MAX = 64,
	FM_LOOP_TIMERS_MAX = 32,
};

#define FM_NEVER UINT64_MAX	/* due_ns of a timer that sleeps */

struct fm_watch {
	int fd;
	/* POLLIN, POLLOUT, or 0: not looked at, not even for errors. The caller may change it at any time. */
	short events;
	/* @param events  as from poll(2): POLLERR and POLLHUP come unasked, and last until somebody acts on them */
	void (*ready)(void *arg, short events);
	void *arg;
};

struct fm_timer {
	uint32_t period_ms;	/* 0: runs once, then sleeps until due_ns is set again */
	/*
	 * When it runs next, on the clock of fm_now_ns() (stats.h); in the past: in the next turn; FM_NEVER: it sleeps.
	 * The caller may change it at any time. The loop adds the period before it calls; turns that were missed are
	 * not made up for.
	 */
	uint64_t due_ns;
	void (*due)(void *arg, uint64_t now_ns);
	void *arg;
};

struct fm_loop {
	const volatile sig_atomic_t *stop;
	void (*lend)(void);
	void (*take_back)(void);
	bool ended;
	unsigned int n_watches, n_timers;
	struct fm_watch *watch[FM_LOOP_WATCHES_MAX];
	struct fm_timer *timer[FM_LOOP_TIMERS_MAX];
	struct fm_watch *polled[FM_LOOP_WATCHES_MAX];	/* of this turn; NULL: removed since */
};

/* @param stop  set by a signal handler to end the loop; looked at every FM_TICK_MS at the latest; may be NULL */
void fm_loop_init(struct fm_loop *loop, const volatile sig_atomic_t *stop);

/*
 * What other threads may do only while this one waits (to ask the control door) is let in by `lend`, called before each
 * wait, and shut out by `take_back`, called after it. Default: none.
 */
void fm_loop_around_wait(struct fm_loop *loop, void (*lend)(void), void (*take_back)(void));

/* @return 0; -ENOSPC: there are FM_LOOP_WATCHES_MAX */
int fm_loop_add_watch(struct fm_loop *loop, struct fm_watch *watch);
/* Does nothing if it is not there. */
void fm_loop_remove_watch(struct fm_loop *loop, const struct fm_watch *watch);

/* @return 0; -ENOSPC: there are FM_LOOP_TIMERS_MAX */
int fm_loop_add_timer(struct fm_loop *loop, struct fm_timer *timer);
/* Does nothing if it is not there. */
void fm_loop_remove_timer(struct fm_loop *loop, const struct fm_timer *timer);

/*
 * Run until fm_loop_end() or *stop.
 *
 * @return 0, or -errno if it is impossible to wait
 */
int fm_loop_run(struct fm_loop *loop);

/* fm_loop_run() returns after the callback that calls this. */
void fm_loop_end(struct fm_loop *loop);

#endif
