/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser: IPv6. Each row of sections 1 to 3 of doc/semantics.md that is about it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "parse.h"

enum {
	IP = 14,
	FRAME_MAX = 66000,
	HOP_BY_HOP = 0,
	TCP = 6,
	UDP = 17,
	DCCP = 33,
	ROUTING = 43,
	FRAGMENT = 44,
	ESP = 50,
	AH = 51,
	ICMPV6 = 58,
	NO_NEXT = 59,
	DESTINATION = 60,
	SCTP = 132,
	MOBILITY = 135,
	UDPLITE = 136,
	HIP = 139,
	SHIM6 = 140,
};

static uint8_t frame[FRAME_MAX];

static struct fm_test_frag first(void)
{
	return (struct fm_test_frag){.family = 6, .id = 0x12345678, .source = 1, .destination = 2, .protocol = UDP,
				     .length = 64, .more = true};
}

static struct fm_test_frag later(void)
{
	struct fm_test_frag frag = first();

	frag.offset = 64;
	return frag;
}

/* `n` destination options headers of `len` bytes each, the last one naming `next`. */
static uint32_t destination_headers(uint8_t *out, uint32_t n, uint32_t len, uint8_t next)
{
	memset(out, 0, n * len);
	for (uint32_t i = 0; i < n; i++) {
		out[i * len] = i + 1 < n ? DESTINATION : next;
		out[i * len + 1] = (uint8_t)(len / 8 - 1);
	}
	return n * len;
}

static void fields(void **state)
{
	struct fm_test_frag frag = later();
	struct parsed parsed;

	(void)state;
	frag.tos = 0x03;
	parsed = parse_frag(&frag);
	assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(parsed.frag.family, 6);
	assert_int_equal(parsed.frag.id, 0x12345678);
	assert_int_equal(parsed.frag.l2_len, 14);
	assert_int_equal(parsed.frag.l3_len, 40);
	assert_int_equal(parsed.frag.payload_at, 62);
	assert_int_equal(parsed.frag.offset, 64);
	assert_int_equal(parsed.frag.length, 64);
	assert_int_equal(parsed.frag.next_at, 6);
	assert_int_equal(parsed.frag.next_header, UDP);
	assert_int_equal(parsed.frag.ecn, 3);
	assert_true(parsed.frag.more);
	assert_false(parsed.frag.atomic);
}

/* RFC 6946. */
static void atomic(void **state)
{
	struct fm_test_frag frag = first();
	struct parsed parsed;

	(void)state;
	frag.more = false;
	frag.length = 13;
	parsed = parse_frag(&frag);
	assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
	assert_true(parsed.frag.atomic);
	frag.length = 0;
	assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
	/* The header chain may be cut: there is no other fragment to hide the rest in. */
	frag.length = 1;
	frag.protocol = TCP;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
}

static void not_a_fragment_passes(void **state)
{
	static const uint8_t types[] = {TCP, UDP, ICMPV6, ESP, NO_NEXT, SCTP, 4, 41, 255};
	struct fm_test_frag frag = first();
	uint8_t ext[80];
	uint32_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(types); i++) {
		len = fm_test_frame(&frag, frame);
		frame[IP + 6] = types[i];
		assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_PASS);
	}
	frag.first_ext = DESTINATION;
	frag.options = ext;
	/* However many headers: what is no fragment is nobody's business. */
	for (uint32_t n = 1; n <= 10; n++) {
		frag.options_len = destination_headers(ext, n, 8, TCP);
		assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
	}
}

static void malformed_passes(void **state)
{
	const uint8_t ext[16] = {TCP, 1};
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	frag.first_ext = DESTINATION;
	frag.options = ext;
	frag.options_len = sizeof(ext);
	len = fm_test_frame(&frag, frame);
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_PASS);
	/* Cut anywhere; a wrong version; an extension header beyond the payload length; a jumbogram. */
	for (uint32_t cut = IP; cut < len; cut++)
		assert_int_equal(parse(frame, cut, 0).verdict, FM_VERDICT_MALFORMED);
	frame[IP] = 0x40;
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_MALFORMED);
	frame[IP] = 0x60;
	frame[IP + 4] = 0;
	for (uint8_t payload_len = 0; payload_len < sizeof(ext); payload_len++) {
		frame[IP + 5] = payload_len;
		assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_MALFORMED);
	}
}

static void truncated_at_every_byte(void **state)
{
	struct fm_test_frag frag = first();
	const uint8_t ext[8] = {FRAGMENT};
	uint32_t len;

	(void)state;
	len = fm_test_frame(&frag, frame);
	for (uint32_t cut = IP; cut < IP + 7; cut++)
		assert_int_equal(parse(frame, cut, 0).verdict, FM_VERDICT_MALFORMED);
	for (uint32_t cut = IP + 7; cut < IP + 48; cut++)
		assert_dropped(parse(frame, cut, 0), FM_BAD_EXT_HEADER);
	for (uint32_t cut = IP + 48; cut < len; cut++)
		assert_dropped(parse(frame, cut, 0), FM_TRUNCATED);
	/* With a header before it: proven by that header's first byte. */
	frag.first_ext = HOP_BY_HOP;
	frag.options = ext;
	frag.options_len = sizeof(ext);
	len = fm_test_frame(&frag, frame);
	for (uint32_t cut = IP; cut < IP + 41; cut++)
		assert_int_equal(parse(frame, cut, 0).verdict, FM_VERDICT_MALFORMED);
	for (uint32_t cut = IP + 41; cut < IP + 56; cut++)
		assert_dropped(parse(frame, cut, 0), FM_BAD_EXT_HEADER);
	for (uint32_t cut = IP + 56; cut < len; cut++)
		assert_dropped(parse(frame, cut, 0), FM_TRUNCATED);
}

/* The fragment header is in the frame, but behind the payload length. */
static void fragment_header_outside(void **state)
{
	const struct fm_test_frag frag = first();
	const uint32_t len = fm_test_frame(&frag, frame);

	(void)state;
	for (uint8_t payload_len = 0; payload_len < 8; payload_len++) {
		frame[IP + 5] = payload_len;
		assert_dropped(parse(frame, len, 0), FM_BAD_EXT_HEADER);
	}
	frame[IP + 5] = 8;
	assert_dropped(parse(frame, len, 0), FM_BAD_LENGTH);
	frame[IP + 5] = 16;
	assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_FRAGMENT);
}

static void extension_headers_before(void **state)
{
	static const uint8_t types[] = {HOP_BY_HOP, ROUTING, DESTINATION, MOBILITY, HIP, SHIM6, AH};
	struct fm_test_frag frag = first();
	uint8_t ext[16 * 8];
	struct parsed parsed;

	(void)state;
	frag.options = ext;
	for (size_t i = 0; i < sizeof(types); i++) {
		memset(ext, 0, sizeof(ext));
		ext[0] = FRAGMENT;
		/* AH counts words of 4 bytes and leaves 2 out. */
		ext[1] = types[i] == AH ? 4 : 2;
		frag.options_len = 24;
		frag.first_ext = types[i];
		parsed = parse_frag(&frag);
		assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(parsed.frag.l3_len, 64);
		assert_int_equal(parsed.frag.next_at, 40);
		assert_int_equal(parsed.frag.payload_at, IP + 72);
	}
	frag.first_ext = DESTINATION;
	for (uint32_t n = 1; n <= 8; n++) {
		frag.options_len = destination_headers(ext, n, 16, FRAGMENT);
		parsed = parse_frag(&frag);
		assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(parsed.frag.l3_len, 40 + 16 * n);
		assert_int_equal(parsed.frag.next_at, 40 + 16 * (n - 1));
	}
}

/* No more than 8 headers, each starting in the first 256 bytes behind the IPv6 header. */
static void too_many_extension_headers(void **state)
{
	struct fm_test_frag frag = first();
	uint8_t ext[4096];

	(void)state;
	frag.options = ext;
	frag.first_ext = DESTINATION;
	frag.options_len = destination_headers(ext, 8, 8, FRAGMENT);
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.options_len = destination_headers(ext, 9, 8, FRAGMENT);
	assert_dropped(parse_frag(&frag), FM_BAD_EXT_HEADER);
	frag.options_len = destination_headers(ext, 1, 264, FRAGMENT);
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.options_len = destination_headers(ext, 1, 2048, FRAGMENT);
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.options_len = destination_headers(ext, 2, 248, FRAGMENT);
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.options_len = destination_headers(ext, 2, 256, FRAGMENT);
	assert_dropped(parse_frag(&frag), FM_BAD_EXT_HEADER);
}

static void bad_length(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	for (frag.length = 8; frag.length <= 64; frag.length++) {
		if (frag.length % 8 != 0)
			assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
		else
			assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	}
	frag = later();
	frag.length = 0;
	frag.padding = 10;
	assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
	frag.more = false;
	assert_dropped(parse_frag(&frag), FM_BAD_LENGTH);
	frag.length = 3;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(parse_frag(&frag).frag.length, 3);
}

/* The headers before the fragment header count, the 40 bytes of the IPv6 header do not. */
static void too_big(void **state)
{
	struct fm_test_frag frag = first();
	uint8_t ext[8];

	(void)state;
	frag.more = false;
	frag.offset = 65528;
	frag.length = 7;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.length = 8;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
	frag.options = ext;
	frag.first_ext = HOP_BY_HOP;
	frag.options_len = destination_headers(ext, 1, 8, FRAGMENT);
	frag.length = 1;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
	frag.offset = 65520;
	frag.length = 7;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.length = 8;
	assert_dropped(parse_frag(&frag), FM_TOO_BIG);
}

/* RFC 7112: lengths of upper-layer headers, each one 8-byte unit too short, then long enough. */
static void header_chain(void **state)
{
	static const struct {
		uint8_t type;
		uint32_t enough;
	} upper[] = {{TCP, 24}, {UDP, 8}, {UDPLITE, 8}, {SCTP, 16}, {DCCP, 16}, {ICMPV6, 8}, {ESP, 8}, {NO_NEXT, 8},
		     {253, 8}};
	uint8_t payload[64];
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	frag.payload = payload;
	for (size_t i = 0; i < sizeof(upper) / sizeof(upper[0]); i++) {
		frag.protocol = upper[i].type;
		for (frag.length = 8; frag.length <= 32; frag.length += 8) {
			memset(payload, 0, sizeof(payload));
			if (frag.length < upper[i].enough)
				assert_dropped(parse_frag(&frag), FM_HEADER_CHAIN);
			else
				assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
		}
	}
	/* Behind a destination options header; that header itself cut; none of the upper layer. */
	destination_headers(payload, 1, 16, UDP);
	frag.protocol = DESTINATION;
	frag.length = 24;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
	frag.length = 16;
	assert_dropped(parse_frag(&frag), FM_HEADER_CHAIN);
	frag.length = 8;
	assert_dropped(parse_frag(&frag), FM_HEADER_CHAIN);
	/* It can be switched off, and is no matter for later fragments. */
	len = fm_test_frame(&frag, frame);
	assert_int_equal(parse(frame, len, FM_PARSE_SHORT_CHAIN).verdict, FM_VERDICT_FRAGMENT);
	frag.offset = 8;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
}

static void nested(void **state)
{
	uint8_t payload[64];
	struct fm_test_frag frag = first();
	uint32_t len;

	(void)state;
	frag.payload = payload;
	frag.protocol = FRAGMENT;
	memset(payload, 0, sizeof(payload));
	assert_dropped(parse_frag(&frag), FM_NESTED);
	frag.more = false;
	assert_dropped(parse_frag(&frag), FM_NESTED);
	frag.offset = 64;
	assert_dropped(parse_frag(&frag), FM_NESTED);
	/* Behind a header that is behind the first fragment header. */
	frag = first();
	frag.payload = payload;
	frag.protocol = DESTINATION;
	destination_headers(payload, 2, 8, FRAGMENT);
	assert_dropped(parse_frag(&frag), FM_NESTED);
	len = fm_test_frame(&frag, frame);
	assert_dropped(parse(frame, len, FM_PARSE_SHORT_CHAIN), FM_NESTED);
	frag.more = false;
	assert_dropped(parse_frag(&frag), FM_NESTED);
	/* In a later fragment those bytes are data. */
	frag.offset = 64;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_FRAGMENT);
}

static void extension_header_lengths(void **state)
{
	const uint8_t longest[2] = {TCP, 255};
	uint8_t next = 0;

	(void)state;
	assert_int_equal(fm_ipv6_ext_len(DESTINATION, longest, &next), 2048);
	assert_int_equal(next, TCP);
	assert_int_equal(fm_ipv6_ext_len(AH, longest, &next), 1028);
	assert_int_equal(fm_ipv6_ext_len(UDP, longest, &next), 0);
	assert_int_equal(fm_ipv6_ext_len(FRAGMENT, longest, &next), 0);
	assert_int_equal(fm_ipv6_ext_len(ESP, longest, &next), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields),
		cmocka_unit_test(atomic),
		cmocka_unit_test(not_a_fragment_passes),
		cmocka_unit_test(malformed_passes),
		cmocka_unit_test(truncated_at_every_byte),
		cmocka_unit_test(fragment_header_outside),
		cmocka_unit_test(extension_headers_before),
		cmocka_unit_test(too_many_extension_headers),
		cmocka_unit_test(bad_length),
		cmocka_unit_test(too_big),
		cmocka_unit_test(header_chain),
		cmocka_unit_test(nested),
		cmocka_unit_test(extension_header_lengths),
	};

	return cmocka_run_group_tests_name("parser IPv6", tests, NULL, NULL);
}
