/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "siphash_lanes.h"

#define INLINE static inline __attribute__((always_inline))
#define ROTATE(x, bits) ((x) << (bits) | (x) >> (64 - (bits)))

/*
 * Vectors of the compiler, of as many bytes as the CPU has: it makes of a shift to the left and one to the right a
 * rotation, where there is one.
 */
#define ROUNDS(width)												\
	typedef uint64_t fm_vec##width __attribute__((vector_size(width), aligned(8)));				\
														\
	struct state##width {											\
		fm_vec##width v0, v1, v2, v3;									\
	};													\
														\
	INLINE void round##width(struct state##width *s)							\
	{													\
		s->v0 += s->v1;											\
		s->v2 += s->v3;											\
		s->v1 = ROTATE(s->v1, 13) ^ s->v0;								\
		s->v3 = ROTATE(s->v3, 16) ^ s->v2;								\
		s->v0 = ROTATE(s->v0, 32);									\
		s->v2 += s->v1;											\
		s->v0 += s->v3;											\
		s->v1 = ROTATE(s->v1, 17) ^ s->v2;								\
		s->v3 = ROTATE(s->v3, 21) ^ s->v0;								\
		s->v2 = ROTATE(s->v2, 32);									\
	}													\
														\
	INLINE void hash##width(const struct fm_siphash_key *key, const fm_lane_words *row,			\
				unsigned int words, uint32_t n, uint64_t *hash)					\
	{													\
		const fm_vec##width zero = { 0 };								\
														\
		for (uint32_t k = 0; k < n; k += width / 8) {							\
			struct state##width s = {								\
				.v0 = zero + (key->k0 ^ UINT64_C(0x736f6d6570736575)),				\
				.v1 = zero + (key->k1 ^ UINT64_C(0x646f72616e646f6d)),				\
				.v2 = zero + (key->k0 ^ UINT64_C(0x6c7967656e657261)),				\
				.v3 = zero + (key->k1 ^ UINT64_C(0x7465646279746573)),				\
			};											\
														\
			_Pragma("GCC unroll 6") for (unsigned int i = 0; i < words; i++)			\
			{											\
				const fm_vec##width m = *(const fm_vec##width *)&row[i][k];			\
														\
				s.v3 ^= m;									\
				round##width(&s);								\
				s.v0 ^= m;									\
			}											\
			s.v3 ^= (uint64_t)(words * 8) << 56;							\
			round##width(&s);									\
			s.v0 ^= (uint64_t)(words * 8) << 56;							\
			s.v2 ^= 0xff;										\
			round##width(&s);									\
			round##width(&s);									\
			round##width(&s);									\
			*(fm_vec##width *)&hash[k] = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;					\
		}												\
	}

/* The number of words is a constant in each: no loop over them is left. */
#define LANES(name, width, attribute)										\
	attribute static void name(const struct fm_siphash_key *key, const fm_lane_words *row,			\
				   unsigned int words, uint32_t n, uint64_t *hash)				\
	{													\
		if (words == 2)											\
			hash##width(key, row, 2, n, hash);							\
		else												\
			hash##width(key, row, 6, n, hash);							\
	}

static void lanes_one_by_one(const struct fm_siphash_key *key, const fm_lane_words *row, unsigned int words, uint32_t n,
			     uint64_t *hash)
{
	for (uint32_t k = 0; k < n; k++) {
		uint64_t word[6];

		for (unsigned int i = 0; i < words; i++)
			word[i] = row[i][k];
		hash[k] = fm_siphash13(key, word, words);
	}
}

#ifdef __x86_64__

ROUNDS(32)
ROUNDS(64)
LANES(lanes_avx2, 32, __attribute__((target("avx2"))))
LANES(lanes_avx512, 64, __attribute__((target("avx2,avx512f,avx512vl"))))

fm_siphash_lanes *fm_siphash_lanes_find(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return lanes_avx512;
	return __builtin_cpu_supports("avx2") ? lanes_avx2 : lanes_one_by_one;
}

#else

fm_siphash_lanes *fm_siphash_lanes_find(void)
{
	return lanes_one_by_one;
}

#endif
