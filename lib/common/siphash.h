/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash (Aumasson, Bernstein 2012) over whole 64-bit words: the keyed hash of the tables.
 *
 * A hash that is linear in its input (CRC, Toeplitz) can be collided offline whatever its seed; this one cannot be
 * without its key. The tables use the 1-3 variant: enough against a collision search that never sees a hash value.
 */
#ifndef FM_SIPHASH_H
#define FM_SIPHASH_H

#include <stdint.h>
#include <string.h>

struct fm_siphash_key {
	uint64_t k0, k1;
};

struct fm_sip_state {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t fm_rotl64(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void fm_sip_round(struct fm_sip_state *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = fm_rotl64(s->v1, 13) ^ s->v0;
	s->v3 = fm_rotl64(s->v3, 16) ^ s->v2;
	s->v0 = fm_rotl64(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = fm_rotl64(s->v1, 17) ^ s->v2;
	s->v3 = fm_rotl64(s->v3, 21) ^ s->v0;
	s->v2 = fm_rotl64(s->v2, 32);
}

static inline void fm_sip_word(struct fm_sip_state *s, uint64_t m, unsigned int rounds)
{
	s->v3 ^= m;
	for (unsigned int r = 0; r < rounds; r++)
		fm_sip_round(s);
	s->v0 ^= m;
}

/*
 * Hash `words` words.
 *
 * @param words         0..31
 * @param c_rounds      compression rounds per word: 1 (tables) or 2 (the published test vectors)
 * @param d_rounds      finalisation rounds: 3 or 4
 * @return              as the published function over the words' little-endian bytes
 */
static inline __attribute__((always_inline)) uint64_t
fm_siphash_words(const struct fm_siphash_key *key, const uint64_t *word, unsigned int words, unsigned int c_rounds,
		 unsigned int d_rounds)
{
	struct fm_sip_state s = {
		.v0 = key->k0 ^ 0x736f6d6570736575ULL,
		.v1 = key->k1 ^ 0x646f72616e646f6dULL,
		.v2 = key->k0 ^ 0x6c7967656e657261ULL,
		.v3 = key->k1 ^ 0x7465646279746573ULL,
	};

	/* Numbers of words and rounds are constants to the callers that matter: then no loop is left. */
#pragma GCC unroll 6
	for (unsigned int i = 0; i < words; i++)
		fm_sip_word(&s, word[i], c_rounds);
	fm_sip_word(&s, (uint64_t)(words * 8) << 56, c_rounds);
	s.v2 ^= 0xff;
#pragma GCC unroll 4
	for (unsigned int r = 0; r < d_rounds; r++)
		fm_sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

static inline uint64_t fm_siphash13(const struct fm_siphash_key *key, const uint64_t *word, unsigned int words)
{
	return fm_siphash_words(key, word, words, 1, 3);
}

#endif
