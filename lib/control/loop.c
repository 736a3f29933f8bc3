/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "loop.h"
#include "stats.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

void fm_loop_init(struct fm_loop *loop, const volatile sig_atomic_t *stop)
{
	memset(loop, 0, sizeof(*loop));
	loop->stop = stop;
}

void fm_loop_around_wait(struct fm_loop *loop, void (*lend)(void), void (*take_back)(void))
{
	loop->lend = lend;
	loop->take_back = take_back;
}

int fm_loop_add_watch(struct fm_loop *loop, struct fm_watch *watch)
{
	if (loop->n_watches == FM_LOOP_WATCHES_MAX)
		return -ENOSPC;
	loop->watch[loop->n_watches++] = watch;
	return 0;
}

void fm_loop_remove_watch(struct fm_loop *loop, const struct fm_watch *watch)
{
	for (unsigned int i = 0; i < FM_LOOP_WATCHES_MAX; i++)
		if (loop->polled[i] == watch)
			loop->polled[i] = NULL;
	for (unsigned int i = 0; i < loop->n_watches; i++) {
		if (loop->watch[i] != watch)
			continue;
		loop->watch[i] = loop->watch[--loop->n_watches];
		return;
	}
}

int fm_loop_add_timer(struct fm_loop *loop, struct fm_timer *timer)
{
	if (loop->n_timers == FM_LOOP_TIMERS_MAX)
		return -ENOSPC;
	loop->timer[loop->n_timers++] = timer;
	return 0;
}

void fm_loop_remove_timer(struct fm_loop *loop, const struct fm_timer *timer)
{
	for (unsigned int i = 0; i < loop->n_timers; i++) {
		if (loop->timer[i] != timer)
			continue;
		loop->timer[i] = loop->timer[--loop->n_timers];
		return;
	}
}

void fm_loop_end(struct fm_loop *loop)
{
	loop->ended = true;
}

static bool over(const struct fm_loop *loop)
{
	return loop->ended || (loop->stop != NULL && *loop->stop != 0);
}

/* Until the first timer, but no longer than until the next look at `stop`. */
static uint64_t time_left_ns(const struct fm_loop *loop)
{
	const uint64_t now_ns = fm_now_ns();
	uint64_t left_ns = (uint64_t)FM_TICK_MS * NS_PER_MS;

	for (unsigned int i = 0; i < loop->n_timers; i++) {
		if (loop->timer[i]->due_ns <= now_ns)
			return 0;
		if (loop->timer[i]->due_ns - now_ns < left_ns)
			left_ns = loop->timer[i]->due_ns - now_ns;
	}
	return left_ns;
}

static int wait_for_any(struct fm_loop *loop, struct pollfd polls[FM_LOOP_WATCHES_MAX])
{
	const uint64_t left_ns = time_left_ns(loop);
	const struct timespec left = { .tv_sec = (time_t)(left_ns / NS_PER_S), .tv_nsec = (long)(left_ns % NS_PER_S) };
	const unsigned int n = loop->n_watches;
	int ret;

	for (unsigned int i = 0; i < n; i++) {
		const struct fm_watch *watch = loop->watch[i];

		loop->polled[i] = loop->watch[i];
		polls[i] = (struct pollfd){ .fd = watch->events != 0 ? watch->fd : -1, .events = watch->events };
	}
	if (loop->lend != NULL)
		loop->lend();
	ret = ppoll(polls, n, &left, NULL) < 0 ? -errno : 0;
	if (loop->take_back != NULL)
		loop->take_back();
	if (ret == -EINTR)
		for (unsigned int i = 0; i < n; i++)
			polls[i].revents = 0;
	return ret == -EINTR ? 0 : ret;
}

static void call_watches(struct fm_loop *loop, unsigned int n, const struct pollfd *polls)
{
	for (unsigned int i = 0; i < n && !over(loop); i++)
		if (loop->polled[i] != NULL && polls[i].revents != 0)
			loop->polled[i]->ready(loop->polled[i]->arg, polls[i].revents);
	memset(loop->polled, 0, sizeof(loop->polled));
}

static bool holds(const struct fm_loop *loop, const struct fm_timer *timer)
{
	for (unsigned int i = 0; i < loop->n_timers; i++)
		if (loop->timer[i] == timer)
			return true;
	return false;
}

static void call_timers(struct fm_loop *loop)
{
	struct fm_timer *turn[FM_LOOP_TIMERS_MAX];
	const unsigned int n = loop->n_timers;
	const uint64_t now_ns = fm_now_ns();

	/* From a copy, as callbacks add and remove; each is called once a turn, even if it makes itself due again. */
	memcpy(turn, loop->timer, n * sizeof(turn[0]));
	for (unsigned int i = 0; i < n && !over(loop); i++) {
		struct fm_timer *timer = turn[i];

		if (!holds(loop, timer) || timer->due_ns > now_ns)
			continue;
		timer->due_ns = timer->period_ms == 0 ? FM_NEVER : now_ns + (uint64_t)timer->period_ms * NS_PER_MS;
		timer->due(timer->arg, now_ns);
	}
}

int fm_loop_run(struct fm_loop *loop)
{
	struct pollfd polls[FM_LOOP_WATCHES_MAX];
	unsigned int n;
	int ret = 0;

	while (ret == 0 && !over(loop)) {
		n = loop->n_watches;
		ret = wait_for_any(loop, polls);
		if (ret == 0)
			call_watches(loop, n, polls);
		if (ret == 0)
			call_timers(loop);
	}
	return ret;
}
