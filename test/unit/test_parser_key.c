/* SPDX-License-Identifier: BSD-3-Clause */
/* The parser: VLAN tags, and what tells datagrams apart (section 2 of doc/semantics.md). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "key.h"
#include "parse.h"

enum { FRAME_MAX = 66000 };

static uint8_t frame[FRAME_MAX];

static struct fm_test_frag first(void)
{
	return (struct fm_test_frag){.family = 4, .id = 0x1234, .source = 0x0a000001, .destination = 0x0a000002,
				     .protocol = 17, .length = 64, .more = true};
}

static struct fm_test_frag later_ipv6(void)
{
	return (struct fm_test_frag){.family = 6, .id = 0x12345678, .source = 1, .destination = 2, .protocol = 17,
				     .offset = 64, .length = 64, .more = true};
}

static void vlan_tags(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	frag.tci[0] = 0x2005;
	frag.tci[1] = 0xf006;
	for (frag.vlans = 0; frag.vlans <= 2; frag.vlans++) {
		const struct parsed parsed = parse_frag(&frag);

		assert_int_equal(parsed.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(parsed.frag.l2_len, 14 + 4 * frag.vlans);
		assert_int_equal(parsed.frag.payload_at, 34 + 4 * frag.vlans);
		assert_int_equal(fm_key_tags(&parsed.frag.key), frag.vlans);
		if (frag.vlans > 0)
			assert_int_equal(fm_key_vlan(&parsed.frag.key, 0), 5);
		if (frag.vlans > 1)
			assert_int_equal(fm_key_vlan(&parsed.frag.key, 1), 6);
	}
	frag.vlans = 3;
	assert_int_equal(parse_frag(&frag).verdict, FM_VERDICT_PASS);
}

static void vlan_tag_cut(void **state)
{
	struct fm_test_frag frag = first();

	(void)state;
	for (frag.vlans = 1; frag.vlans <= 2; frag.vlans++) {
		fm_test_frame(&frag, frame);
		for (uint32_t len = 14; len < 14U + 4 * frag.vlans; len++)
			assert_int_equal(parse(frame, len, 0).verdict, FM_VERDICT_PASS);
	}
}

static void assert_key_differs(const struct fm_test_frag *other, bool expected)
{
	struct fm_test_frag frag = first();
	struct parsed a, b;

	frag.vlans = 2;
	frag.tci[0] = 1;
	frag.tci[1] = 2;
	a = parse_frag(&frag);
	b = parse_frag(other);
	assert_int_equal(a.verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(b.verdict, FM_VERDICT_FRAGMENT);
	assert_int_equal(!fm_key_equal(&a.frag.key, &b.frag.key), expected);
}

/* Section 2: what tells datagrams apart, and what does not. */
static void ipv4_key(void **state)
{
	struct fm_test_frag base = first(), other;

	(void)state;
	base.vlans = 2;
	base.tci[0] = 1;
	base.tci[1] = 2;
#define CHANGED(field, value, differs) \
	do { \
		other = base; \
		other.field = value; \
		assert_key_differs(&other, differs); \
	} while (0)
	CHANGED(source, 0x0a000003, true);
	CHANGED(destination, 0x0a000003, true);
	CHANGED(protocol, 1, true);
	CHANGED(id, 0x1235, true);
	CHANGED(tci[0], 3, true);
	CHANGED(tci[1], 3, true);
	CHANGED(vlans, 1, true);
	CHANGED(vlans, 0, true);
	/* Priority and drop eligibility may differ between the fragments of one datagram; so may all below. */
	CHANGED(tci[0], 0xf001, false);
	CHANGED(tci[1], 0x3002, false);
	CHANGED(offset, 8, false);
	CHANGED(tos, 0xff, false);
	CHANGED(ttl, 3, false);
	CHANGED(dont_fragment, true, false);
	CHANGED(length, 8, false);
	/* A swapped direction, and swapped tags. */
	other = base;
	other.source = base.destination;
	other.destination = base.source;
	assert_key_differs(&other, true);
	other = base;
	other.tci[0] = 2;
	other.tci[1] = 1;
	assert_key_differs(&other, true);
#undef CHANGED
}

static void port_is_part_of_the_key(void **state)
{
	const struct fm_test_frag frag = first();
	const uint32_t len = fm_test_frame(&frag, frame);
	struct fm_frag a, b;
	enum fm_outcome why;

	(void)state;
	assert_int_equal(fm_frame_parse(frame, len, len, 0, 0, &a, &why), FM_VERDICT_FRAGMENT);
	assert_int_equal(fm_frame_parse(frame, len, len, FM_KEY_PORT_MAX, 0, &b, &why), FM_VERDICT_FRAGMENT);
	assert_false(fm_key_equal(&a.key, &b.key));
	assert_int_equal(fm_key_port(&a.key), 0);
	assert_int_equal(fm_key_port(&b.key), FM_KEY_PORT_MAX);
	assert_int_equal(fm_key_protocol(&a.key), 17);
}

static void ipv6_key(void **state)
{
	const struct fm_test_frag base = later_ipv6();
	struct fm_test_frag other;
	const struct parsed a = parse_frag(&base);

	(void)state;
	/* RFC 8200 4.5: only the first fragment's next header counts, so it is not in the key. */
	static const struct {
		const char *what;
		bool differs;
	} rows[] = {{"source", true}, {"destination", true}, {"id", true}, {"id high", true}, {"vlan", true},
		    {"next header", false}, {"traffic class", false}, {"hop limit", false}, {"offset", false}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct parsed b;

		other = base;
		other.source += i == 0;
		other.destination += i == 1;
		other.id += i == 2;
		other.id += i == 3 ? 0x10000 : 0;
		other.vlans = i == 4;
		other.protocol = i == 5 ? 6 : 17;
		other.tos = i == 6 ? 0xfc : 0;
		other.ttl = i == 7 ? 9 : 0;
		other.offset += i == 8 ? 64 : 0;
		b = parse_frag(&other);
		assert_int_equal(b.verdict, FM_VERDICT_FRAGMENT);
		assert_int_equal(!fm_key_equal(&a.frag.key, &b.frag.key), rows[i].differs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vlan_tags),
		cmocka_unit_test(vlan_tag_cut),
		cmocka_unit_test(ipv4_key),
		cmocka_unit_test(port_is_part_of_the_key),
		cmocka_unit_test(ipv6_key),
	};

	return cmocka_run_group_tests_name("parser: keys", tests, NULL, NULL);
}
