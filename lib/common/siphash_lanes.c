/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "siphash_lanes.h"

#ifdef __x86_64__

/* Vectors of the compiler: it makes of a shift to the left and one to the right a rotation, where the CPU has that. */
typedef uint64_t fm_lanes __attribute__((vector_size(8 * FM_LANES)));

struct state {
	fm_lanes v0, v1, v2, v3;
};

#define ROTATE(x, bits) ((x) << (bits) | (x) >> (64 - (bits)))
#define INLINE static inline __attribute__((always_inline))

INLINE void round_lanes(struct state *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = ROTATE(s->v1, 13) ^ s->v0;
	s->v3 = ROTATE(s->v3, 16) ^ s->v2;
	s->v0 = ROTATE(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = ROTATE(s->v1, 17) ^ s->v2;
	s->v3 = ROTATE(s->v3, 21) ^ s->v0;
	s->v2 = ROTATE(s->v2, 32);
}

INLINE void hash_lanes(const struct fm_siphash_key *key, const uint64_t *const word[FM_LANES], unsigned int words,
		       uint64_t hash[FM_LANES])
{
	const fm_lanes k0 = { key->k0, key->k0, key->k0, key->k0 }, k1 = { key->k1, key->k1, key->k1, key->k1 };
	struct state s = {
		.v0 = k0 ^ 0x736f6d6570736575ULL,
		.v1 = k1 ^ 0x646f72616e646f6dULL,
		.v2 = k0 ^ 0x6c7967656e657261ULL,
		.v3 = k1 ^ 0x7465646279746573ULL,
	};
	fm_lanes all;

#pragma GCC unroll 6
	for (unsigned int i = 0; i < words; i++) {
		const fm_lanes m = { word[0][i], word[1][i], word[2][i], word[3][i] };

		s.v3 ^= m;
		round_lanes(&s);
		s.v0 ^= m;
	}
	s.v3 ^= (uint64_t)(words * 8) << 56;
	round_lanes(&s);
	s.v0 ^= (uint64_t)(words * 8) << 56;
	s.v2 ^= 0xff;
	round_lanes(&s);
	round_lanes(&s);
	round_lanes(&s);
	all = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
	memcpy(hash, &all, sizeof(all));
}

/* The number of words is a constant in each: no loop is left. */
#define LANES(name, isa)											\
	__attribute__((target(isa))) static void name(const struct fm_siphash_key *key,				\
						      const uint64_t *const word[FM_LANES], unsigned int words,	\
						      uint64_t hash[FM_LANES])					\
	{													\
		if (words == 2)											\
			hash_lanes(key, word, 2, hash);								\
		else												\
			hash_lanes(key, word, 6, hash);								\
	}

LANES(lanes_avx2, "avx2")
LANES(lanes_avx512, "avx2,avx512f,avx512vl")

fm_siphash_lanes *fm_siphash_lanes_find(void)
{
	__builtin_cpu_init();
	/* With 256 bits of the 512: no CPU slows its clock down for that. */
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		return lanes_avx512;
	return __builtin_cpu_supports("avx2") ? lanes_avx2 : NULL;
}

#else

fm_siphash_lanes *fm_siphash_lanes_find(void)
{
	return NULL;
}

#endif
