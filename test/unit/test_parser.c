/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser: Ethernet and IPv4. Each row of sections 1 to 3 of doc/semantics.md that is about them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "checksum.h"
#include "parse.h"

enum { IP = 14, FRAME_MAX = 66000 };

static uint8_t frame[FRAME_MAX];

static struct fm_test_frag first(void)
{
	return (struct fm_test_frag){.family = 4, .id = 0x1234, .source = 0x0a000001, .destination = 0x0a000002,
				     .protocol = 17, .length = 64, .more = true};
}

/* Build, change one byte of the IP header, make the checksum right again. */
static uint32_t patched(const struct fm_test_frag *frag, uint32_t at, uint8_t value)
{
	const uint32_t len = fm_test_frame(frag, frame);
	uint16_t sum;

	frame[IP + at] = value;
	frame[IP + 10] = frame[IP + 11] = 0;
	sum = fm_ipv4_checksum(frame + IP, 20 + frag->options_len);
	frame[IP + 10] = (uint8_t)(sum >> 8);
	frame[IP + 11] = (uint8_t)sum;
	return len;
}

static void not_ip_passes(void **state)
{
	/* ARP, LLDP, LACP, MPLS, PPPoE, a length (STP), 802.1ah, IPv4 behind an unknown tag type */
	const uint16_t types[] = {0x0806, 0x88cc, 0x8809, 0x8847, 0x8864, 0x0026, 0x88e7, 0x9100};
	const struct fm_test_frag frag = first();
	const uint32_t len = fm_test_frame(&frag, frame);

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		frame[12] = (uint8_t)(types[i] >> 8);
		frame[13] = (uint8_t)types[i];
		assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_PASS);
	}
}

static void no_ethernet_header_passes(void **state)
{
	const struct fm_test_frag frag = first();

	(void)state;
	fm_test_frame(&frag, frame);
	for (uint32_t len = 0; len < IP; len++)
		assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_PASS);
}

static void not_a_fragment_passes(void **state)
{
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	frag.more = false;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
	frag.dont_fragment = frag.reserved = true;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
	frag.padding = 100;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
	/* No checksum work for it. */
	len = fm_test_frame(&frag, frame);
	frame[IP + 10] ^= 0x55;
	assert_int_equal(parse(frame, len, FM_PARSE_CHECKSUM_BAD).verdict, FM_VERDICT_PASS);
	/* Empty, but whole. */
	frag.length = 0;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
}

static void malformed_passes(void **state)
{
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	frag.more = false;
	/* version, IHL below 5, IHL beyond the total length, total length below the header, beyond the frame */
	assert_int_equal(parse(frame, patched(&frag, 0, 0x55), 0).verdict, FM_VERDICT_MALFORMED);
	assert_int_equal(parse(frame, patched(&frag, 0, 0x44), 0).verdict, FM_VERDICT_MALFORMED);
	len = patched(&frag, 3, 19);
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_MALFORMED);
	len = patched(&frag, 3, 85);
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_MALFORMED);
	frag.length = 2;
	assert_int_equal(parse(frame, patched(&frag, 0, 0x46), 0).verdict, FM_VERDICT_MALFORMED);
	/* Cut anywhere: IP header and payload. */
	frag = first();
	frag.more = false;
	len = fm_test_frame(&frag, frame);
	for (uint32_t cut = IP; cut < len; cut++)
		assert_int_equal(parse(frame, cut, 0).verdict, FM_VERDICT_MALFORMED);
}

/* A fragment is proven by its flags; before them nothing is, behind them all that is cut is dropped by name. */
static void truncated_at_every_byte(void **state)
{
	const struct fm_test_frag frag = first();
	const uint32_t len = fm_test_frame(&frag, frame);

	(void)state;
	for (uint32_t cut = IP; cut < IP + 8; cut++)
		assert_int_equal(parse(frame, cut, 0).verdict, FM_VERDICT_MALFORMED);
	for (uint32_t cut = IP + 8; cut < len; cut++)
		assert_dropped(parse(frame, cut, 0), FM_TRUNCATED);
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_FRAGMENT);
}

static void fields(void **state)
{
	struct fm_test_frag frag = first();
	struct parsed parsed;

	(void)state;
	frag.offset = 1480;
	frag.tos = 0xb9;
	parsed = parse_frag(&frag);
	assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(parsed.frag.family, 4);
	assert_int_equal(parsed.frag.id, 0x1234);
	assert_int_equal(parsed.frag.l2_len, 14);
	assert_int_equal(parsed.frag.l3_len, 20);
	assert_int_equal(parsed.frag.payload_at, 34);
	assert_int_equal(parsed.frag.offset, 1480);
	assert_int_equal(parsed.frag.length, 64);
	assert_int_equal(parsed.frag.ecn, 1);
	assert_true(parsed.frag.more);
	assert_false(parsed.frag.atomic);
	frag.more = false;
	frag.length = 13;
	parsed = parse_frag(&frag);
	assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(parsed.frag.length, 13);
	assert_false(parsed.frag.more);
}

/* DF on a fragment is odd but legal (path MTU discovery of some stacks). */
static void flags_do_not_matter(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	frag.dont_fragment = frag.reserved = true;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
}

static void options(void **state)
{
	uint8_t bytes[40];
	struct fm_test_frag frag = first();

	(void)state;
	memset(bytes, 1, sizeof(bytes));
	frag.options = bytes;
	for (frag.options_len = 0; frag.options_len <= 40; frag.options_len += 4) {
		const struct parsed parsed = parse_frag(&frag);

		assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(parsed.frag.l3_len, 20 + frag.options_len);
		assert_int_equal(parsed.frag.payload_at, IP + 20 + frag.options_len);
		assert_int_equal(parsed.frag.length, 64);
	}
}

/* Ethernet padding is not payload: last fragments are often padded to 60 bytes. */
static void padding_is_trimmed(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	frag.more = false;
	frag.offset = 64;
	frag.length = 3;
	for (frag.padding = 0; frag.padding < 50; frag.padding++) {
		const struct parsed parsed = parse_frag(&frag);

		assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(parsed.frag.length, 3);
	}
}

static void bad_header(void **state)
{
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	for (uint8_t ihl = 0; ihl < 5; ihl++)
		assert_dropped(parse(frame, patched(&frag, 0, 0x40 | ihl), 0), FM_BAD_HEADER);
	for (uint8_t total_len = 0; total_len < 20; total_len++) {
		len = patched(&frag, 3, total_len);
		assert_dropped(parse(frame, len, 0), FM_BAD_HEADER);
	}
	frag.length = 8;
	len = patched(&frag, 0, 0x48);
	assert_dropped(parse(frame, len, 0), FM_BAD_HEADER);
}

static void checksum(void **state)
{
	const struct fm_test_frag frag = first();
	const uint32_t len = fm_test_frame(&frag, frame);

	(void)state;
	assert_dropped(parse(frame, len, FM_PARSE_CHECKSUM_BAD), FM_BAD_IP_CHECKSUM);
	frame[IP + 11] ^= 1;
	assert_dropped(parse(frame, len, 0), FM_BAD_IP_CHECKSUM);
	/* What the port has verified is not verified again. */
	assert_int_equal(parse(frame, len, FM_PARSE_CHECKSUM_GOOD).verdict, FM_VERDICT_FRAGMENT);
}

static void bad_length(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	for (frag.length = 0; frag.length <= 64; frag.length++) {
		if (frag.length % 8 != 0 || frag.length == 0)
			assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
		else
			assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	}
	/* Empty in the middle and at the end, with padding that could be taken for payload. */
	frag.length = 0;
	frag.offset = 64;
	frag.padding = 26;
	assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
	frag.more = false;
	assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
}

/* The fragment's own header counts: 20 + 65,512 + 3 is the last byte there is. */
static void too_big(void **state)
{
	const uint8_t nops[4] = {1, 1, 1, 1};
	struct fm_test_frag frag = first();

	(void)state;
	frag.more = false;
	frag.offset = 65512;
	frag.length = 3;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.length = 4;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
	frag.offset = 65528;
	frag.length = 1480;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
	frag.more = true;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
	frag = first();
	frag.more = false;
	frag.offset = 65504;
	frag.options = nops;
	frag.options_len = 4;
	frag.length = 7;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.length = 8;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
}

/* With the IP header in reach there is nothing more to ask for. */
static void header_in_reach_is_enough(void **state)
{
	struct fm_test_frag frag = first();
	struct fm_frag parsed;
	enum fm_outcome why;
	uint32_t len;

	(void)state;
	frag.length = 1480;
	len = fm_test_frame(&frag, frame);
	assert_int_equal(fm_frame_parse(frame, IP + 20, len, 0, 0, &parsed, &why), FM_VERDICT_FRAGMENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(not_ip_passes),
		cmocka_unit_test(no_ethernet_header_passes),
		cmocka_unit_test(not_a_fragment_passes),
		cmocka_unit_test(malformed_passes),
		cmocka_unit_test(truncated_at_every_byte),
		cmocka_unit_test(fields),
		cmocka_unit_test(flags_do_not_matter),
		cmocka_unit_test(options),
		cmocka_unit_test(padding_is_trimmed),
		cmocka_unit_test(bad_header),
		cmocka_unit_test(checksum),
		cmocka_unit_test(bad_length),
		cmocka_unit_test(too_big),
		cmocka_unit_test(header_in_reach_is_enough),
	};

	return cmocka_run_group_tests_name("parser", tests, NULL, NULL);
}
