/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters with one writer: no atomic read-modify-write, no tearing for who reads along. */
#ifndef FM_COUNTER_H
#define FM_COUNTER_H

#include <stdint.h>

/* The owner only. */
static inline void fm_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Any thread. */
static inline uint64_t fm_count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
