/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes that other reassemblers made, by name. Each test says what went wrong there. */
#include "bed.h"
#include "frag.h"
#include "siphash.h"

/* Was a datagram joined from these two, or from anything they did? */
static void assert_never_joined(struct bed *bed, const struct fm_test_frag *first, const struct fm_test_frag *last)
{
	bed_send(bed, first);
	bed_send(bed, last);
	assert_int_equal(bed->n_done, 0);
	assert_int_equal(bed_held(bed), 2);
	fm_reass_flush(bed->reass);
}

/*
 * A check that looks for the held fragment's edges inside the new one, or the other way round but not both, misses the
 * fragment that encloses a held one:
 *
 *	held          |------|
 *	new       |--------------|
 */
static void enclosing_overlap(void **state)
{
	const struct fm_test_frag held = bed_ipv4(1, 64, 64, true), enclosing = bed_ipv4(1, 0, 192, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &held);
	bed_send(&bed, &enclosing);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* offset + length in 16 bits: 65,528 + 16 becomes 8, and the fragment seems to end before it starts. */
static void end_offset_wraps_16_bits(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag first = bed_ipv4(1, 0, 64, true), beyond = bed_ipv4(1, 65528, 16, false);

		first.family = beyond.family = (uint8_t)family;
		bed_send(&bed, &first);
		bed_send(&bed, &beyond);
		beyond.more = true;
		bed_send(&bed, &beyond);
		assert_int_equal(bed.n_done, 0);
	}
	assert_int_equal(bed_count(&bed, FM_TOO_BIG), 4);
	/* Theirs is the fault, not the datagram's. */
	assert_int_equal(bed_held(&bed), 2);
	bed_fini(&bed);
}

/* Without the protocol in the key (RFC 791) a TCP and a UDP datagram with one identification are mixed. */
static void protocol_missing_from_the_key(void **state)
{
	struct fm_test_frag udp = bed_ipv4(1, 0, 0, false), tcp = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	tcp.protocol = 6;
	bed_send_pieces(&bed, &udp, 192, 64, 0, 2);
	bed_send_pieces(&bed, &tcp, 150, 64, 0, 3);
	bed_send_pieces(&bed, &udp, 192, 64, 2, 3);
	assert_int_equal(bed.n_done, 2);
	bed_assert_done(&bed, 0, &tcp, 150);
	bed_assert_done(&bed, 1, &udp, 192);
	bed_fini(&bed);
}

/* A timer that restarts with each fragment lets a slow drip hold memory for ever. */
static void timeout_refreshed_by_each_fragment(void **state)
{
	struct fm_test_frag drip = bed_ipv4(1, 0, 8, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 3; i++) {
		drip.offset = 8 * i;
		bed_send(&bed, &drip);
		/* A duplicate must not refresh it either. */
		bed_send(&bed, &drip);
		bed.now += BED_TIMEOUT4 / 3 + 1;
	}
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 10), 1);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 3);
	bed_fini(&bed);
}

/* RFC 5722 read to the letter: a network that duplicates a packet would lose the datagram. */
static void exact_duplicate_kills_the_datagram(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		frag.family = (uint8_t)family;
		for (uint32_t i = 0; i < 3; i++) {
			bed_send_pieces(&bed, &frag, 192, 64, i, i + 1);
			if (i < 2)
				bed_send_pieces(&bed, &frag, 192, 64, 0, i + 1);
		}
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &frag, 192);
		bed_clear(&bed);
	}
	assert_int_equal(bed_count(&bed, FM_DUPLICATE), 6);
	bed_fini(&bed);
}

/* A "reassembly failed" for everything tells an operator nothing: each cause moves its own counter and no other. */
static void one_counter_for_many_causes(void **state)
{
	/* What arrives while [64, 128) is held with more to come. */
	const struct fm_test_frag rows[] = {bed_ipv4(1, 0, 63, true), bed_ipv4(1, 65528, 64, true),
					    bed_ipv4(1, 72, 64, true), bed_ipv4(1, 8, 64, false),
					    bed_ipv4(1, 64, 64, true)};
	const enum fm_outcome expected[] = {FM_BAD_LENGTH, FM_TOO_BIG, FM_OVERLAP, FM_INCONSISTENT_END, FM_DUPLICATE};
	const struct fm_test_frag held = bed_ipv4(1, 64, 64, true);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bed bed;

		bed_init(&bed);
		bed_send(&bed, &held);
		bed_send(&bed, &rows[i]);
		for (unsigned int outcome = 0; outcome < FM_OUTCOME_MAX; outcome++)
			assert_int_equal(bed_count(&bed, outcome) > 0, outcome == expected[i]);
		bed_fini(&bed);
	}
}

/*
 * A path that counts the drop and forgets the mbuf. Every drop of the parser, a hundred times; bed_fini() counts
 * mbufs.
 */
static void leak_on_an_error_path(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 100; i++) {
		struct fm_test_frag frag = i % 2 ? bed_ipv4(i, 0, 64, true) : bed_ipv6(i, 0, 64, true);
		uint8_t frame[200];
		uint32_t len = fm_test_frame(&frag, frame);

		for (uint32_t cut = len; cut > 0; cut--) {
			bed_send_bytes(&bed, frame, cut);
			bed_clear(&bed);
		}
		for (uint32_t at = 12; at < 70; at++) {
			frame[at] ^= 0xff;
			bed_send_bytes(&bed, frame, len);
			frame[at] ^= 0xff;
			bed_clear(&bed);
		}
		fm_reass_flush(bed.reass);
		assert_int_equal(fm_test_pool_out(bed.pool), 0);
	}
	bed_fini(&bed);
}

/* max-fragments of 100,000 that quietly becomes 8192, a timeout of 0 that becomes the default. */
static void setting_clamped_in_silence(void **state)
{
	struct fm_reass_settings settings;
	char err[200] = "";
	struct bed bed;

	(void)state;
	bed_init(&bed);
	settings = bed.params.settings;
	settings.max_fragments = UINT16_MAX;
	assert_true(fm_reass_set(bed.reass, &settings, bed.now, err, sizeof(err)) < 0);
	/* What is wrong, the range, and what was given. */
	assert_non_null(strstr(err, "max_fragments"));
	assert_non_null(strstr(err, "8192"));
	assert_non_null(strstr(err, "65535"));
	bed_fini(&bed);
}

/*
 * A CRC is linear: two keys whose difference is a multiple of the polynomial collide under each seed, so the seed keeps
 * nobody out (123 of 123 such pairs did). Here pairs that collide in 16 bits under one secret must part under another.
 */
static void colliding_keys_collide_under_another_seed(void **state)
{
	enum { KEYS = 4096 };
	const struct fm_siphash_key one = {.k0 = 1, .k1 = 2}, other = {.k0 = 3, .k1 = 4};
	static uint16_t hash[KEYS], other_hash[KEYS];
	unsigned int pairs = 0, still = 0;

	(void)state;
	for (uint32_t i = 0; i < KEYS; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, true);
		uint8_t frame[200];
		const uint32_t len = fm_test_frame(&frag, frame);
		struct fm_frag parsed;
		enum fm_outcome why;

		assert_int_equal(fm_frame_parse(frame, len, len, 0, 0, &parsed, &why), FM_VERDICT_FRAGMENT);
		hash[i] = (uint16_t)fm_siphash13(&one, parsed.key.word, 2);
		other_hash[i] = (uint16_t)fm_siphash13(&other, parsed.key.word, 2);
		for (uint32_t j = 0; j < i; j++) {
			pairs += hash[i] == hash[j];
			still += hash[i] == hash[j] && other_hash[i] == other_hash[j];
		}
	}
	/* About 4096^2 / 2 / 65536 pairs, of which chance leaves next to none. */
	assert_true(pairs > 64);
	assert_true(still <= 1);
}

/*
 * Each fragment fits alone, but the first one has options, or headers before the fragment header, and the whole would
 * need a length field of more than 16 bits: it wrapped to a few bytes.
 */
static void result_would_pass_65535(void **state)
{
	static const uint8_t nops[8] = {1, 1, 1, 1, 1, 1, 1, 1}, ext[8] = {44, 0, 1, 4, 0, 0, 0, 0};
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		const uint32_t fits = family == 4 ? 65507 : 65527;
		struct fm_test_frag first = bed_ipv4(1, 0, 1480, true), rest = bed_ipv4(1, 0, 0, false);

		first.family = rest.family = (uint8_t)family;
		first.options = family == 4 ? nops : ext;
		first.options_len = 8;
		first.first_ext = 60;
		bed_send(&bed, &first);
		bed_send_pieces(&bed, &rest, fits + 1, 1480, 1, UINT32_MAX);
		assert_int_equal(bed.n_done, 0);
		assert_int_equal(bed_held(&bed), 0);
		bed_send(&bed, &first);
		bed_send_pieces(&bed, &rest, fits, 1480, 1, UINT32_MAX);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &first, fits);
		bed_clear(&bed);
	}
	assert_int_equal(bed_count(&bed, FM_TOO_BIG), 2 * 45);
	bed_fini(&bed);
}

/* Ethernet pads frames to 60 bytes: taken for payload, the padding lands in the middle of the datagram. */
static void padding_kept_inside_a_short_fragment(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 24, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.padding = 2;
	bed_send(&bed, &frag);
	frag.offset = 24;
	frag.length = 8;
	frag.padding = 18;
	bed_send(&bed, &frag);
	frag.offset = 32;
	frag.length = 1;
	frag.padding = 25;
	frag.more = false;
	bed_send(&bed, &frag);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 33);
	bed_fini(&bed);
}

/*
 * The header of the datagram is more than the 40 bytes of IPv6: what stands before the fragment header belongs to
 * it.
 */
static void extension_headers_before_the_fragment_header_lost(void **state)
{
	static const uint8_t ext[24] = {60, 0, 5, 2, 0, 0, 0, 0, 44, 1, 1, 12};
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.options = ext;
	frag.options_len = sizeof(ext);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 3);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 192);
	bed_fini(&bed);
}

/*
 * Expiry only when the next fragment comes: after a flood of first fragments all memory stays taken while it is
 * quiet.
 */
static void first_only_flood_frees_nothing(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 64; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, true);

		bed_send(&bed, &frag);
	}
	assert_int_equal(fm_test_pool_out(bed.pool), 64);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT4, 1000), 64);
	assert_int_equal(fm_test_pool_out(bed.pool), 0);
	bed_fini(&bed);
}

/* RFC 6946: an atomic fragment with the identification of a held datagram was taken for a piece of it. */
static void atomic_fragment_joined_to_a_held_one(void **state)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false), atomic = bed_ipv6(1, 0, 64, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 192, 64, 1, 3);
	bed_send(&bed, &atomic);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &atomic, 64);
	assert_int_equal(bed_held(&bed), 2);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 1);
	assert_int_equal(bed.n_done, 2);
	bed_assert_done(&bed, 1, &frag, 192);
	bed_fini(&bed);
}

/* Identifications are unique for one source, destination and protocol, and a box sees many of each, on many VLANs. */
static void same_identification_from_elsewhere(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 64, false), other;

		first.family = last.family = (uint8_t)family;
		first.vlans = last.vlans = 1;
		first.tci[0] = last.tci[0] = 5;
		other = last;
		other.source++;
		assert_never_joined(&bed, &first, &other);
		other = last;
		other.destination++;
		assert_never_joined(&bed, &first, &other);
		other = last;
		other.tci[0] = 6;
		assert_never_joined(&bed, &first, &other);
		other = last;
		other.vlans = 0;
		assert_never_joined(&bed, &first, &other);
		other = last;
		other.vlans = 2;
		other.tci[1] = 5;
		assert_never_joined(&bed, &first, &other);
		other = last;
		other.source = last.destination;
		other.destination = last.source;
		assert_never_joined(&bed, &first, &other);
	}
	bed_fini(&bed);
}

/* The two directions arrive on two ports; so may two customers with the same addresses. */
static void same_identification_on_another_port(void **state)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 64, false);
	struct rte_mbuf *m;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	m = bed_mbuf(&bed, &first);
	bed_send_mbufs(&bed, &m, 1, 0);
	m = bed_mbuf(&bed, &last);
	bed_send_mbufs(&bed, &m, 1, 1);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 2);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enclosing_overlap),
		cmocka_unit_test(end_offset_wraps_16_bits),
		cmocka_unit_test(protocol_missing_from_the_key),
		cmocka_unit_test(timeout_refreshed_by_each_fragment),
		cmocka_unit_test(exact_duplicate_kills_the_datagram),
		cmocka_unit_test(one_counter_for_many_causes),
		cmocka_unit_test(leak_on_an_error_path),
		cmocka_unit_test(setting_clamped_in_silence),
		cmocka_unit_test(colliding_keys_collide_under_another_seed),
		cmocka_unit_test(result_would_pass_65535),
		cmocka_unit_test(padding_kept_inside_a_short_fragment),
		cmocka_unit_test(extension_headers_before_the_fragment_header_lost),
		cmocka_unit_test(first_only_flood_frees_nothing),
		cmocka_unit_test(atomic_fragment_joined_to_a_held_one),
		cmocka_unit_test(same_identification_from_elsewhere),
		cmocka_unit_test(same_identification_on_another_port),
	};

	return cmocka_run_group_tests_name("regressions", tests, NULL, NULL);
}
