/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fuzz targets share: reading the input as a stream, and a check that ends the run. */
#ifndef FM_FUZZ_H
#define FM_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the process, so that libFuzzer keeps the input; the arguments say what was seen. */
#define FM_FUZZ_CHECK(condition, ...)                                                                                  \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: not true: %s: ", __FILE__, __LINE__, #condition);                      \
			fprintf(stderr, __VA_ARGS__);                                                                  \
			fputc('\n', stderr);                                                                           \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* libFuzzer's entry; also called by replay.c. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, read from the front. At its end all reads give 0, so that a cut input is as good as a whole one. */
struct fm_fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t fm_fuzz_u8(struct fm_fuzz_input *in)
{
	if (in->left == 0)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint16_t fm_fuzz_u16(struct fm_fuzz_input *in)
{
	const uint16_t high = fm_fuzz_u8(in);

	return (uint16_t)(high << 8 | fm_fuzz_u8(in));
}

/* Up to `max` bytes: *bytes points into the input. */
static inline uint32_t fm_fuzz_bytes(struct fm_fuzz_input *in, uint32_t max, const uint8_t **bytes)
{
	const uint32_t n = in->left < max ? (uint32_t)in->left : max;

	*bytes = in->at;
	in->at += n;
	in->left -= n;
	return n;
}

#endif
