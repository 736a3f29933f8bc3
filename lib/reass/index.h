/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index: a hash selects a bucket of one cache line; what finds no slot there hangs in a chain off the bucket. When
 * the table is full that is one entry in forty, and nobody without the secret can make it more.
 */
#ifndef FM_INDEX_H
#define FM_INDEX_H

#include <assert.h>
#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FM_SLOTS = 8 };			/* of a bucket */

struct fm_bucket {
	uint16_t tag[FM_SLOTS];		/* part of the hash; 0: the slot is free */
	uint32_t entry[FM_SLOTS];
	uint32_t overflow;
	uint32_t unused[3];
} __attribute__((aligned(64)));
static_assert(sizeof(struct fm_bucket) == 64, "a bucket is a cache line");

/* The family is in the hash, and with it in the tag: keys of two families are never compared. */
#define FM_HASH_IPV6 UINT64_C(1)

static inline uint16_t fm_tag_of(uint32_t hash)
{
	return (uint16_t)(hash | 0x8000);
}

/* Of `n` places, any number, the one for a hash: by its upper bits, where a tag is of the lower ones. */
static inline uint32_t fm_reduce(uint32_t hash, uint32_t n)
{
	return (uint32_t)((uint64_t)hash * n >> 32);
}

/* Bit per slot with that tag. */
static inline uint32_t fm_bucket_match(const struct fm_bucket *b, uint16_t tag)
{
#ifdef __SSE2__
	const __m128i tags = _mm_load_si128((const __m128i *)b->tag);
	const __m128i same = _mm_cmpeq_epi16(tags, _mm_set1_epi16((short)tag));

	return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(same, _mm_setzero_si128()));
#else
	uint32_t match = 0;

	for (uint32_t i = 0; i < FM_SLOTS; i++)
		match |= (uint32_t)(b->tag[i] == tag) << i;
	return match;
#endif
}

#endif
