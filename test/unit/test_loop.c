/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop: turns, ends, and callbacks that change what the loop goes by.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loop.h"
#include "stats.h"

struct fixture {
	struct fm_loop loop;
	struct fm_watch watch[2];
	struct fm_timer timer[2];
	int pipe[2][2];
	unsigned int called[2], rang[2];
	unsigned int limit;	/* the loop ends at the limit-th call of any kind */
	int lent;
	volatile sig_atomic_t stop;
	void (*also)(struct fixture *f);
};

static struct fixture *now;	/* the callbacks around a wait get no argument */

static void count(struct fixture *f, unsigned int *counter)
{
	(*counter)++;
	if (f->also != NULL)
		f->also(f);
	if (f->called[0] + f->called[1] + f->rang[0] + f->rang[1] >= f->limit)
		fm_loop_end(&f->loop);
}

static void ready0(void *arg, short events)
{
	struct fixture *f = arg;

	assert_int_equal(f->lent, 0);
	assert_true(events & (POLLIN | POLLHUP));
	count(f, &f->called[0]);
}

static void ready1(void *arg, short events)
{
	struct fixture *f = arg;

	(void)events;
	count(f, &f->called[1]);
}

static void due0(void *arg, uint64_t now_ns)
{
	struct fixture *f = arg;

	assert_int_equal(f->lent, 0);
	assert_true(now_ns <= fm_now_ns());
	count(f, &f->rang[0]);
}

static void due1(void *arg, uint64_t now_ns)
{
	struct fixture *f = arg;

	(void)now_ns;
	count(f, &f->rang[1]);
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct fixture *f = &fixture;

	memset(f, 0, sizeof(*f));
	f->limit = 1;
	fm_loop_init(&f->loop, &f->stop);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(f->pipe[i]), 0);
		f->watch[i] = (struct fm_watch){ .fd = f->pipe[i][0], .events = POLLIN,
						 .ready = i == 0 ? ready0 : ready1, .arg = f };
		f->timer[i] = (struct fm_timer){ .due = i == 0 ? due0 : due1, .arg = f };
	}
	now = f;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++)
		close(f->pipe[i / 2][i % 2]);
	return 0;
}

static void fill(struct fixture *f, int i)
{
	assert_int_equal(write(f->pipe[i][1], "x", 1), 1);
}

static void ready_is_called_and_nobody_else(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fm_loop_add_watch(&f->loop, &f->watch[0]), 0);
	assert_int_equal(fm_loop_add_watch(&f->loop, &f->watch[1]), 0);
	fill(f, 0);
	f->limit = 3;
	assert_int_equal(fm_loop_run(&f->loop), 0);
	assert_int_equal(f->called[0], 3);
	assert_int_equal(f->called[1], 0);
}

/* Both are ready all the time, and a timer, too: each has every turn. */
static void turns_are_shared(void **state)
{
	struct fixture *f = *state;

	fm_loop_add_watch(&f->loop, &f->watch[0]);
	fm_loop_add_watch(&f->loop, &f->watch[1]);
	f->timer[0].period_ms = 1;
	fm_loop_add_timer(&f->loop, &f->timer[0]);
	fill(f, 0);
	fill(f, 1);
	f->limit = 1000;
	assert_int_equal(fm_loop_run(&f->loop), 0);
	assert_in_range(f->called[0], f->called[1], f->called[1] + 1);
	assert_true(f->rang[0] >= 1);
}

static void without_events_not_even_a_hangup(void **state)
{
	struct fixture *f = *state;

	close(f->pipe[0][1]);
	f->pipe[0][1] = -1;
	f->watch[0].events = 0;
	f->timer[0].period_ms = 1;
	fm_loop_add_watch(&f->loop, &f->watch[0]);
	fm_loop_add_timer(&f->loop, &f->timer[0]);
	f->limit = 3;
	fm_loop_run(&f->loop);
	assert_int_equal(f->called[0], 0);
	f->watch[0].events = POLLIN;
	f->loop.ended = false;
	fm_loop_remove_timer(&f->loop, &f->timer[0]);
	f->limit = 4;
	fm_loop_run(&f->loop);
	assert_int_equal(f->called[0], 1);
}

static void remove_both(struct fixture *f)
{
	fm_loop_remove_watch(&f->loop, &f->watch[0]);
	fm_loop_remove_watch(&f->loop, &f->watch[1]);
}

/* Both are ready in one turn; the first takes both out, and the second must not be called any more. */
static void removed_in_a_turn(void **state)
{
	struct fixture *f = *state;

	fm_loop_add_watch(&f->loop, &f->watch[0]);
	fm_loop_add_watch(&f->loop, &f->watch[1]);
	f->timer[0].due_ns = fm_now_ns() + 20000000;
	fm_loop_add_timer(&f->loop, &f->timer[0]);
	fill(f, 0);
	fill(f, 1);
	f->also = remove_both;
	f->limit = 2;
	fm_loop_run(&f->loop);
	assert_int_equal(f->called[0] + f->called[1], 1);
	assert_int_equal(f->rang[0], 1);
	assert_int_equal(f->loop.n_watches, 0);
}

static void remove_timers(struct fixture *f)
{
	fm_loop_remove_timer(&f->loop, &f->timer[0]);
	fm_loop_remove_timer(&f->loop, &f->timer[1]);
	f->stop = 1;
}

static void timer_removed_in_a_turn(void **state)
{
	struct fixture *f = *state;

	fm_loop_add_timer(&f->loop, &f->timer[0]);
	fm_loop_add_timer(&f->loop, &f->timer[1]);
	f->also = remove_timers;
	f->limit = 2;
	fm_loop_run(&f->loop);
	assert_int_equal(f->rang[0] + f->rang[1], 1);
}

static void again(struct fixture *f)
{
	if (f->rang[0] < 3)
		f->timer[0].due_ns = 0;
}

/* Once, unless the callback sets the time again; the other goes on. */
static void timer_of_one_shot(void **state)
{
	struct fixture *f = *state;

	f->timer[1].period_ms = 1;
	fm_loop_add_timer(&f->loop, &f->timer[0]);
	fm_loop_add_timer(&f->loop, &f->timer[1]);
	f->also = again;
	f->limit = 10;
	fm_loop_run(&f->loop);
	assert_int_equal(f->rang[0], 3);
	assert_int_equal(f->rang[1], 7);
	assert_true(f->timer[0].due_ns == FM_NEVER);
}

static void lend(void)
{
	assert_int_equal(now->lent++, 0);
}

static void take_back(void)
{
	assert_int_equal(--now->lent, 0);
}

static void lent_while_waiting_only(void **state)
{
	struct fixture *f = *state;

	fm_loop_around_wait(&f->loop, lend, take_back);
	fm_loop_add_watch(&f->loop, &f->watch[0]);
	fm_loop_add_timer(&f->loop, &f->timer[0]);
	fill(f, 0);
	f->limit = 5;
	fm_loop_run(&f->loop);
	assert_int_equal(f->lent, 0);
	assert_int_equal(f->called[0] + f->rang[0], 5);
}

static void a_signal_ends_it(void **state)
{
	struct fixture *f = *state;

	fm_loop_add_watch(&f->loop, &f->watch[0]);
	fill(f, 0);
	f->stop = 1;
	assert_int_equal(fm_loop_run(&f->loop), 0);
	assert_int_equal(f->called[0], 0);
}

static void no_more_than_fit(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < FM_LOOP_WATCHES_MAX; i++)
		assert_int_equal(fm_loop_add_watch(&f->loop, &f->watch[0]), 0);
	assert_int_equal(fm_loop_add_watch(&f->loop, &f->watch[1]), -ENOSPC);
	for (unsigned int i = 0; i < FM_LOOP_TIMERS_MAX; i++)
		assert_int_equal(fm_loop_add_timer(&f->loop, &f->timer[0]), 0);
	assert_int_equal(fm_loop_add_timer(&f->loop, &f->timer[1]), -ENOSPC);
	fm_loop_remove_watch(&f->loop, &f->watch[1]);
	fm_loop_remove_timer(&f->loop, &f->timer[1]);
	assert_int_equal(f->loop.n_watches, FM_LOOP_WATCHES_MAX);
	assert_int_equal(f->loop.n_timers, FM_LOOP_TIMERS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ready_is_called_and_nobody_else),
		TEST(turns_are_shared),
		TEST(without_events_not_even_a_hangup),
		TEST(removed_in_a_turn),
		TEST(timer_removed_in_a_turn),
		TEST(timer_of_one_shot),
		TEST(lent_while_waiting_only),
		TEST(a_signal_ends_it),
		TEST(no_more_than_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
