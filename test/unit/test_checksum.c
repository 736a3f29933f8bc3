/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checksum.h"
#include "fm_packet.h"

/* RFC 1071, section 3: 00 01 f2 03 f4 f5 f6 f7 sum up to ddf2. */
static void rfc1071_example(void **state)
{
	const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

	(void)state;
	assert_int_equal(fm_sum_fold(fm_sum(0, bytes, sizeof(bytes), 0)), 0xddf2);
}

static uint16_t slow_sum(const uint8_t *bytes, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i++) {
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return (uint16_t)sum;
}

/* A sum over any two parts, odd boundaries and alignments included, is the sum over the whole. */
static void parts_sum_up(void **state)
{
	enum { LEN = 77 };

	(void)state;
	for (uint32_t len = 0; len <= LEN; len++) {
		uint8_t *bytes = malloc(len + 1U);

		assert_non_null(bytes);
		for (uint32_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(0xff - fm_test_byte(i));
		for (uint32_t cut = 0; cut <= len; cut++) {
			uint64_t sum = fm_sum(0, bytes, cut, 0);

			sum = fm_sum(sum, bytes + cut, len - cut, (int)(cut & 1));
			assert_int_equal(fm_sum_fold(sum), slow_sum(bytes, len));
		}
		free(bytes);
	}
}

/* 65,535 bytes of ones: no carry may get lost. */
static void no_overflow(void **state)
{
	enum { LEN = 65534 };
	uint8_t *bytes = malloc(LEN);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0xff, LEN);
	assert_int_equal(fm_sum_fold(fm_sum(0xffffffff, bytes, LEN, 0)), 0xffff);
	free(bytes);
}

static void ipv4_header(void **state)
{
	const struct fm_test_frag frag = {.family = 4, .source = 0x0a000001, .destination = 0x0a000002, .length = 8};
	uint8_t frame[64];

	(void)state;
	fm_test_frame(&frag, frame);
	assert_int_equal(fm_ipv4_checksum(frame + 14, 20), 0);
	for (unsigned int bit = 0; bit < 160; bit++) {
		frame[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_not_equal(fm_ipv4_checksum(frame + 14, 20), 0);
		frame[14 + bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* The check value of CRC-32C in the catalogues, and running over parts. */
static void crc32c(void **state)
{
	const uint8_t digits[] = "123456789";

	(void)state;
	assert_int_equal(~fm_crc32c(0xffffffff, digits, 9), 0xe3069283);
	for (uint32_t cut = 0; cut <= 9; cut++)
		assert_int_equal(~fm_crc32c(fm_crc32c(0xffffffff, digits, cut), digits + cut, 9 - cut), 0xe3069283);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rfc1071_example),
		cmocka_unit_test(parts_sum_up),
		cmocka_unit_test(no_overflow),
		cmocka_unit_test(ipv4_header),
		cmocka_unit_test(crc32c),
	};

	return cmocka_run_group_tests_name("checksum", tests, NULL, NULL);
}
