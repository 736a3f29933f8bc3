/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose turn it is at the control door: one main thread, and others that borrow.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "lock.h"

enum { BORROWERS = 8, TURNS = 2000 };

/* Not atomic: only the lock keeps it from being counted by two at a time. */
static unsigned long shared;
static volatile int inside;
static atomic_ulong borrowed[BORROWERS];
static atomic_bool over;
static atomic_uint clashes;

static void look(void)
{
	if (inside != 0)
		atomic_fetch_add(&clashes, 1);
	inside = 1;
	shared++;
	if (inside != 1)
		atomic_fetch_add(&clashes, 1);
	inside = 0;
}

static void *borrow(void *arg)
{
	atomic_ulong *count = arg;

	while (!atomic_load(&over)) {
		if (!fm_lock_borrow(10))
			continue;
		look();
		atomic_fetch_add(count, 1);
		fm_lock_give_back();
	}
	return NULL;
}

/* The main thread has it from the start. */
static void not_lent(void **state)
{
	(void)state;
	assert_false(fm_lock_borrow(0));
	assert_false(fm_lock_borrow(20));
	fm_lock_lend();
	assert_true(fm_lock_borrow(0));
	/* One at a time. */
	assert_false(fm_lock_borrow(0));
	fm_lock_give_back();
	assert_true(fm_lock_borrow(0));
	fm_lock_give_back();
	fm_lock_take_back();
	assert_false(fm_lock_borrow(0));
}

/* However many want it, the main thread gets it back each time, and is alone then. */
static void crowd(void **state)
{
	pthread_t thread[BORROWERS];
	unsigned long sum = TURNS;

	(void)state;
	for (unsigned int i = 0; i < BORROWERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, borrow, &borrowed[i]), 0);
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		look();
		fm_lock_lend();
		/* What is lent for no time at all may go to nobody. */
		if (turn % 16 == 0)
			sched_yield();
		fm_lock_take_back();
	}
	/* And all of them have their turn. */
	fm_lock_lend();
	for (unsigned int i = 0; i < BORROWERS; i++)
		while (atomic_load(&borrowed[i]) == 0)
			sched_yield();
	fm_lock_take_back();
	atomic_store(&over, true);
	for (unsigned int i = 0; i < BORROWERS; i++) {
		pthread_join(thread[i], NULL);
		sum += atomic_load(&borrowed[i]);
	}
	assert_int_equal(atomic_load(&clashes), 0);
	assert_int_equal(shared, sum);
}

static void *wait_long(void *arg)
{
	atomic_bool *got = arg;

	if (fm_lock_borrow(60000)) {
		atomic_store(got, true);
		fm_lock_give_back();
	}
	return NULL;
}

/* Who waits for it gets it once it is lent. */
static void waiting(void **state)
{
	atomic_bool got = false;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, wait_long, &got), 0);
	assert_false(atomic_load(&got));
	fm_lock_lend();
	pthread_join(thread, NULL);
	fm_lock_take_back();
	assert_true(atomic_load(&got));
}

static atomic_int stage;

static void *look_long(void *arg)
{
	const struct timespec while_looking = { .tv_nsec = 50000000 };

	(void)arg;
	while (!fm_lock_borrow(10))
		;
	atomic_store(&stage, 1);
	nanosleep(&while_looking, NULL);
	atomic_store(&stage, 2);
	fm_lock_give_back();
	return NULL;
}

/* Who looks is not disturbed: the main thread waits until it has been given back. */
static void looking(void **state)
{
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, look_long, NULL), 0);
	fm_lock_lend();
	while (atomic_load(&stage) == 0)
		sched_yield();
	fm_lock_take_back();
	assert_int_equal(atomic_load(&stage), 2);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_lent),
		cmocka_unit_test(crowd),
		cmocka_unit_test(waiting),
		cmocka_unit_test(looking),
	};

	return cmocka_run_group_tests_name("lock", tests, NULL, NULL);
}
