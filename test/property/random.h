/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that a seed makes again: xorshift64* (Vigna, 2016). */
#ifndef FM_TEST_RANDOM_H
#define FM_TEST_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;		/* not 0 */
};

static inline uint32_t random_next(struct random *random)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (uint32_t)(random->state * 0x2545f4914f6cdd1d >> 32);
}

/* 0..n - 1 */
static inline uint32_t random_below(struct random *random, uint32_t n)
{
	return (uint32_t)((uint64_t)random_next(random) * n >> 32);
}

#endif
