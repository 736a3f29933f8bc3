/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "lock.h"

enum { MS_PER_S = 1000, NS_PER_MS = 1000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Under the mutex, which is never held for longer than it takes to look at these. */
static bool lent;	/* by the main thread, which has not asked for it back */
static bool borrowed;	/* somebody looks */

void fm_lock_lend(void)
{
	pthread_mutex_lock(&mutex);
	assert(!lent);
	lent = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}

void fm_lock_take_back(void)
{
	pthread_mutex_lock(&mutex);
	assert(lent);
	/* From here on nobody else gets it. */
	lent = false;
	while (borrowed)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
}

bool fm_lock_borrow(unsigned int wait_ms)
{
	struct timespec end;
	bool granted;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += wait_ms / MS_PER_S;
	end.tv_nsec += (long)(wait_ms % MS_PER_S) * NS_PER_MS;
	if (end.tv_nsec >= (long)MS_PER_S * NS_PER_MS) {
		end.tv_nsec -= (long)MS_PER_S * NS_PER_MS;
		end.tv_sec++;
	}
	pthread_mutex_lock(&mutex);
	while ((!lent || borrowed) && ret == 0)
		ret = pthread_cond_clockwait(&changed, &mutex, CLOCK_MONOTONIC, &end);
	granted = lent && !borrowed;
	if (granted)
		borrowed = true;
	pthread_mutex_unlock(&mutex);
	return granted;
}

void fm_lock_give_back(void)
{
	pthread_mutex_lock(&mutex);
	assert(borrowed);
	borrowed = false;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&mutex);
}
