/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "siphash.h"

/* The file itself, so that what another CPU would choose is tested, too. */
#define fm_siphash_lanes_find lanes_of_this_cpu
#include "siphash_lanes.c"
#undef fm_siphash_lanes_find

enum { WORDS_MAX = 31 };

/*
 * SipHash-c-d over bytes, as section 2 of the paper ("SipHash: a fast short-input PRF", 2012) words it, state in an
 * array: the reference for the library's version over words.
 */
static void reference_round(uint64_t v[4])
{
#define ROTL(x, b) (uint64_t)((x) << (b) | (x) >> (64 - (b)))
	v[0] += v[1];
	v[1] = ROTL(v[1], 13);
	v[1] ^= v[0];
	v[0] = ROTL(v[0], 32);
	v[2] += v[3];
	v[3] = ROTL(v[3], 16);
	v[3] ^= v[2];
	v[0] += v[3];
	v[3] = ROTL(v[3], 21);
	v[3] ^= v[0];
	v[2] += v[1];
	v[1] = ROTL(v[1], 17);
	v[1] ^= v[2];
	v[2] = ROTL(v[2], 32);
#undef ROTL
}

static uint64_t little_endian(const uint8_t *bytes, size_t len)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

static uint64_t reference(const uint8_t key[16], const uint8_t *bytes, size_t len, int c, int d)
{
	const uint64_t k0 = little_endian(key, 8), k1 = little_endian(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			 k1 ^ 0x7465646279746573};

	for (size_t at = 0;; at += 8) {
		const size_t left = len - at;
		const uint64_t m = left >= 8 ? little_endian(bytes + at, 8)
					     : little_endian(bytes + at, left) | (uint64_t)(len & 0xff) << 56;

		v[3] ^= m;
		for (int i = 0; i < c; i++)
			reference_round(v);
		v[0] ^= m;
		if (left < 8)
			break;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < d; i++)
		reference_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static void counting_bytes(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)i;
}

static struct fm_siphash_key published_key(void)
{
	return (struct fm_siphash_key){.k0 = 0x0706050403020100, .k1 = 0x0f0e0d0c0b0a0908};
}

/* Appendix A of the paper, and the authors' vectors for inputs 00, 01, 02, ... that are whole words. */
static void published_vectors(void **state)
{
	const struct fm_siphash_key key = published_key();
	const uint64_t words[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	uint8_t bytes[16];

	(void)state;
	counting_bytes(bytes, sizeof(bytes));
	assert_int_equal(reference(bytes, bytes, 15, 2, 4), 0xa129ca6149be45e5);
	assert_int_equal(fm_siphash_words(&key, words, 0, 2, 4), 0x726fdb47dd0e0e31);
	assert_int_equal(fm_siphash_words(&key, words, 1, 2, 4), 0x93f5f5799a932462);
	assert_int_equal(fm_siphash_words(&key, words, 2, 2, 4), 0x3f2acc7f57c29bdb);
}

static void every_length_as_the_reference(void **state)
{
	const struct fm_siphash_key key = published_key();
	uint64_t words[WORDS_MAX];
	uint8_t bytes[WORDS_MAX * 8], key_bytes[16];

	(void)state;
	counting_bytes(bytes, sizeof(bytes));
	counting_bytes(key_bytes, sizeof(key_bytes));
	for (size_t i = 0; i < WORDS_MAX; i++)
		words[i] = little_endian(bytes + 8 * i, 8);
	for (unsigned int n = 0; n <= WORDS_MAX; n++) {
		assert_int_equal(fm_siphash_words(&key, words, n, 2, 4), reference(key_bytes, bytes, n * 8, 2, 4));
		assert_int_equal(fm_siphash_words(&key, words, n, 1, 3), reference(key_bytes, bytes, n * 8, 1, 3));
		assert_int_equal(fm_siphash13(&key, words, n), reference(key_bytes, bytes, n * 8, 1, 3));
	}
}

/*
 * What a CRC or Toeplitz hash fails: inputs that collide under one seed collide under each, because
 * hash(a) ^ hash(b) depends on a ^ b alone. Here the difference of the hashes must change with the key.
 */
static void not_linear(void **state)
{
	const uint64_t a[2] = {0x1234, 0x5678}, b[2] = {0x1234 ^ 0x40, 0x5678 ^ 0x80};
	uint64_t seen[64];

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		const struct fm_siphash_key key = {.k0 = i, .k1 = 7};

		seen[i] = fm_siphash13(&key, a, 2) ^ fm_siphash13(&key, b, 2);
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
	}
}

static uint64_t next_word(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static fm_lane_words row[6];

static void fill_rows(uint64_t *state, unsigned int i)
{
	for (unsigned int w = 0; w < 6; w++)
		for (unsigned int k = 0; k < FM_LANE_KEYS; k++)
			/* Also keys that are alike but for one word, and words of all zeros and ones. */
			row[w][k] = i % 7 == 0 ? (w == k % 6 ? UINT64_MAX : 0) : next_word(state);
}

/* Any number of keys; the hashes behind the last step are left alone. */
static void assert_lanes(fm_siphash_lanes *lanes)
{
	uint64_t state = 20221109;

	for (unsigned int n = 1; n <= FM_LANE_KEYS; n++)
		for (unsigned int words = 2; words <= 6; words += 4) {
			const struct fm_siphash_key key = {.k0 = next_word(&state), .k1 = next_word(&state)};
			uint64_t hash[FM_LANE_KEYS + FM_LANES];

			fill_rows(&state, n);
			memset(hash, 0x5a, sizeof(hash));
			lanes(&key, row, words, n, hash);
			for (unsigned int k = 0; k < n; k++) {
				uint64_t word[6];

				for (unsigned int w = 0; w < words; w++)
					word[w] = row[w][k];
				assert_int_equal(hash[k], fm_siphash13(&key, word, words));
			}
			assert_int_equal(hash[(n + FM_LANES - 1) / FM_LANES * FM_LANES], UINT64_C(0x5a5a5a5a5a5a5a5a));
		}
}

/* Whatever this CPU can do, not only what is best on it. */
static void side_by_side_as_one_by_one(void **state)
{
	fm_siphash_lanes *best = lanes_of_this_cpu();

	(void)state;
	assert_lanes(best);
	assert_lanes(lanes_one_by_one);
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		assert_lanes(lanes_avx2);
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
		assert_lanes(lanes_avx512);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(every_length_as_the_reference),
		cmocka_unit_test(not_linear),
		cmocka_unit_test(side_by_side_as_one_by_one),
	};

	return cmocka_run_group_tests_name("siphash", tests, NULL, NULL);
}
