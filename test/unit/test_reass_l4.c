/* SPDX-License-Identifier: BSD-3-Clause */
/* verify-l4: transport checksums of joined datagrams, RFC 4963's last net. */
#include "bed.h"

enum { ICMP = 1, TCP = 6, UDP = 17, ROUTING = 43, ICMPV6 = 58, DESTINATION = 60, SCTP = 132, LENGTH = 117, CUT = 64 };

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t sum(uint32_t sum, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* Bit by bit, RFC 9260 appendix A; the result goes low byte first. */
static void put_crc32c(uint8_t *at, const uint8_t *bytes, uint32_t len)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1) * 0x82f63b78;
	}
	for (unsigned int i = 0; i < 4; i++)
		at[i] = (uint8_t)(~crc >> 8 * i);
}

/* Addresses of bed_ipv4() and bed_ipv6(), as a sum. */
static uint32_t address_sum(uint8_t family)
{
	return (family == 6 ? 2 * 0xfd07U : 0) + 0x0a00 + 0x0001 + 0x0a00 + 0x0002;
}

/* A transport packet of `len` bytes with a correct checksum. */
static void make(uint8_t *l4, uint32_t len, uint8_t family, uint8_t protocol)
{
	const uint32_t at = protocol == TCP ? 16 : protocol == UDP ? 6 : 2;

	for (uint32_t i = 0; i < len; i++)
		l4[i] = fm_test_byte(1000 + i);
	if (protocol == UDP)
		put16(l4 + 4, len);
	if (protocol == SCTP) {
		memset(l4 + 8, 0, 4);
		put_crc32c(l4 + 8, l4, len);
		return;
	}
	put16(l4 + at, 0);
	put16(l4 + at, ~sum(protocol == ICMP ? 0 : address_sum(family) + protocol + len, l4, len));
}

/* Send `len` bytes as two fragments; was it delivered? */
static bool delivered(struct bed *bed, struct fm_test_frag frag, const uint8_t *payload, uint32_t len)
{
	static uint32_t id;
	bool done;

	frag.id = id++;
	frag.offset = 0;
	frag.length = CUT;
	frag.more = true;
	frag.payload = payload;
	bed_send(bed, &frag);
	frag.offset = CUT;
	frag.length = len - CUT;
	frag.more = false;
	frag.payload = payload + CUT;
	bed_send(bed, &frag);
	done = bed->n_done == 1;
	bed_clear(bed);
	assert_int_equal(bed_held(bed), 0);
	return done;
}

static void init(struct bed *bed)
{
	struct fm_reass_params params = bed_params();

	params.settings.verify_l4 = true;
	bed_init_params(bed, &params);
}

/* The right checksum passes; any one bit turned over does not. Segments end at odd places. */
static void every_protocol_every_bit(void **state)
{
	static const struct {
		uint8_t family, protocol;
	} rows[] = {{4, UDP}, {4, TCP}, {4, ICMP}, {4, SCTP}, {6, UDP}, {6, TCP}, {6, ICMPV6}, {6, SCTP}};
	struct bed bed;
	uint64_t bad = 0;

	(void)state;
	init(&bed);
	bed.segment = 33;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
		uint8_t l4[LENGTH];

		frag.family = rows[i].family;
		frag.protocol = rows[i].protocol;
		make(l4, LENGTH, frag.family, frag.protocol);
		assert_true(delivered(&bed, frag, l4, LENGTH));
		for (unsigned int bit = 0; bit < LENGTH * 8; bit++) {
			l4[bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_false(delivered(&bed, frag, l4, LENGTH));
			l4[bit / 8] ^= (uint8_t)(1 << bit % 8);
			bad += 2;
		}
	}
	assert_int_equal(bed_count(&bed, FM_BAD_L4_CHECKSUM), bad);
	/* Dropped and forgotten: the resend has a chance. */
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed_fini(&bed);
}

static void addresses_are_verified(void **state)
{
	struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		frag.family = (uint8_t)family;
		make(l4, LENGTH, frag.family, UDP);
		frag.source ^= 0x100;
		assert_false(delivered(&bed, frag, l4, LENGTH));
		frag.source ^= 0x100;
		assert_true(delivered(&bed, frag, l4, LENGTH));
	}
	bed_fini(&bed);
}

static void off_by_default(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	make(l4, LENGTH, 4, UDP);
	l4[20] ^= 1;
	assert_true(delivered(&bed, frag, l4, LENGTH));
	bed_fini(&bed);
}

/* RFC 768: zero is no checksum; a length of its own, which may leave bytes behind it out. */
static void udp(void **state)
{
	struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		frag.family = (uint8_t)family;
		make(l4, LENGTH, frag.family, UDP);
		put16(l4 + 6, 0);
		assert_true(delivered(&bed, frag, l4, LENGTH));
		make(l4, LENGTH - 9, frag.family, UDP);
		assert_true(delivered(&bed, frag, l4, LENGTH));
		for (uint32_t len = 0; len < 8; len++) {
			make(l4, LENGTH, frag.family, UDP);
			put16(l4 + 4, len);
			assert_false(delivered(&bed, frag, l4, LENGTH));
		}
		make(l4, LENGTH, frag.family, UDP);
		put16(l4 + 4, LENGTH + 1);
		assert_false(delivered(&bed, frag, l4, LENGTH));
	}
	bed_fini(&bed);
}

/* What has no checksum we know is not judged. */
static void other_protocols(void **state)
{
	static const uint8_t protocols[] = {2, 4, 41, 47, 50, 89, 115, 253};
	struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	init(&bed);
	make(l4, LENGTH, 4, UDP);
	for (size_t i = 0; i < sizeof(protocols); i++) {
		frag.protocol = protocols[i];
		frag.family = 4;
		assert_true(delivered(&bed, frag, l4, LENGTH));
		frag.family = 6;
		assert_true(delivered(&bed, frag, l4, LENGTH));
	}
	bed_fini(&bed);
}

/* The transport header stands behind extension headers, before or behind where the fragment header stood. */
static void behind_extension_headers(void **state)
{
	static const uint8_t before[8] = {44, 0, 1, 4, 0, 0, 0, 0};
	struct fm_test_frag frag = bed_ipv6(0, 0, 0, false);
	uint8_t payload[16 + LENGTH] = {UDP, 1, 1, 12};
	struct bed bed;

	(void)state;
	init(&bed);
	make(payload + 16, LENGTH, 6, UDP);
	frag.options = before;
	frag.options_len = sizeof(before);
	frag.first_ext = DESTINATION;
	frag.protocol = DESTINATION;
	assert_true(delivered(&bed, frag, payload, sizeof(payload)));
	payload[90] ^= 1;
	assert_false(delivered(&bed, frag, payload, sizeof(payload)));
	bed_fini(&bed);
}

/* With hops left in a source route the pseudo-header's destination is elsewhere: such a datagram is not judged. */
static void source_routes_are_not_judged(void **state)
{
	const uint8_t lsrr[8] = {131, 7, 4, 10, 0, 0, 9, 0}, arrived[8] = {131, 7, 8, 10, 0, 0, 9, 0};
	uint8_t routing[24] = {44, 2, 0, 1};
	struct fm_test_frag ipv4 = bed_ipv4(0, 0, 0, false), ipv6 = bed_ipv6(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	init(&bed);
	make(l4, LENGTH, 4, UDP);
	l4[20] ^= 1;
	ipv4.options_len = 8;
	ipv4.options = lsrr;
	assert_true(delivered(&bed, ipv4, l4, LENGTH));
	ipv4.options = arrived;
	assert_false(delivered(&bed, ipv4, l4, LENGTH));
	ipv6.options = routing;
	ipv6.options_len = sizeof(routing);
	ipv6.first_ext = ROUTING;
	assert_true(delivered(&bed, ipv6, l4, LENGTH));
	routing[3] = 0;
	assert_false(delivered(&bed, ipv6, l4, LENGTH));
	bed_fini(&bed);
}

/* RFC 6275 11.3.1: with a Home Address option the pseudo-header's source is not in the header. */
static void home_addresses_are_not_judged(void **state)
{
	/* Destination options: next header, length, PadN of 2, Home Address of 16 bytes. */
	uint8_t home[24] = {44, 2, 1, 0, 201, 16, 0xfd};
	struct fm_test_frag ipv6 = bed_ipv6(0, 0, 0, false);
	uint8_t l4[LENGTH];
	struct bed bed;

	(void)state;
	init(&bed);
	make(l4, LENGTH, 6, UDP);
	l4[20] ^= 1;
	ipv6.options = home;
	ipv6.options_len = sizeof(home);
	ipv6.first_ext = DESTINATION;
	assert_true(delivered(&bed, ipv6, l4, LENGTH));
	/* The same bytes as another option say nothing about addresses. */
	home[4] = 202;
	assert_false(delivered(&bed, ipv6, l4, LENGTH));
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_protocol_every_bit),
		cmocka_unit_test(addresses_are_verified),
		cmocka_unit_test(off_by_default),
		cmocka_unit_test(udp),
		cmocka_unit_test(other_protocols),
		cmocka_unit_test(behind_extension_headers),
		cmocka_unit_test(source_routes_are_not_judged),
		cmocka_unit_test(home_addresses_are_not_judged),
	};

	return cmocka_run_group_tests_name("reassembly: transport checksums", tests, NULL, NULL);
}
