/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets from the wire that must never again be treated wrongly. Each test says why it is here. */
#include "bed.h"

/*
 * The classic of fuzzers: lengths that are no multiple of 8, an empty fragment in the middle, an overlap, and a last
 * one that seems to close the gap. Nothing may be joined, and once the time is up nothing may be left.
 */
static void overlapping_and_empty_fragments_free_everything(void **state)
{
	const struct fm_test_frag frags[] = {bed_ipv4(1, 0, 100, true), bed_ipv4(1, 96, 100, true),
					     bed_ipv4(1, 200, 0, true), bed_ipv4(1, 200, 100, false)};
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < sizeof(frags) / sizeof(frags[0]); i++)
		bed_send(&bed, &frags[i]);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_BAD_LENGTH), 3);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT4, 10), 1);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 1);
	assert_int_equal(fm_test_pool_out(bed.pool), 0);
	bed_fini(&bed);
}

/* Zero is a value: tables that take an empty key for "no entry" lose this datagram. */
static void all_zero_key(void **state)
{
	struct fm_test_frag frag = bed_ipv4(0, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.source = frag.destination = 0;
	frag.protocol = 0;
	bed_send_pieces(&bed, &frag, 192, 64, 0, 3);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 192);
	/* IPv6 from :: to ::, identification 0. */
	for (uint32_t i = 0; i < 2; i++) {
		const struct fm_test_frag ipv6 = bed_ipv6(0, 64 * i, 64, i == 0);
		uint8_t frame[200];
		const uint32_t len = fm_test_frame(&ipv6, frame);

		memset(frame + 14 + 8, 0, 32);
		bed_send_bytes(&bed, frame, len);
	}
	assert_int_equal(bed.n_done, 2);
	bed_fini(&bed);
}

/* Raw bytes of an IPv4 and an IPv6 key may be the same words: one family must not find the other's datagram. */
static void families_never_join(void **state)
{
	struct fm_test_frag first = bed_ipv4(0, 0, 64, true), last = bed_ipv6(0, 64, 64, false);
	uint8_t frame[200];
	uint32_t len;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	first.protocol = 0;
	first.source = first.destination = 0;
	bed_send(&bed, &first);
	len = fm_test_frame(&last, frame);
	/* :: to ::, so that the whole key is zero as well. */
	memset(frame + 14 + 8, 0, 32);
	bed_send_bytes(&bed, frame, len);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 2);
	bed_fini(&bed);
}

/* 40 bytes of IP in a frame of 60: the 6 bytes behind belong to nobody. */
static void short_middle_fragment_with_padding(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 1480, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	frag.offset = 1480;
	frag.length = 16;
	frag.padding = 46 - 36;
	bed_send(&bed, &frag);
	frag.offset = 1496;
	frag.length = 504;
	frag.padding = 0;
	frag.more = false;
	bed_send(&bed, &frag);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 2000);
	bed_fini(&bed);
}

/* A way through filters that judge the first fragment by its ports. */
static void udp_head_and_icmp_tail_never_join(void **state)
{
	const struct fm_test_frag head = bed_ipv4(1, 0, 64, true);
	struct fm_test_frag tail = bed_ipv4(1, 64, 64, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	tail.protocol = 1;
	bed_send(&bed, &head);
	bed_send(&bed, &tail);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_held(&bed), 2);
	bed_fini(&bed);
}

/* The payload starts behind each fragment's own header, the datagram's header is the first one's. */
static void options_on_the_first_fragment_only_and_on_all(void **state)
{
	static const uint8_t options[12] = {7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct fm_test_frag with = bed_ipv4(1, 0, 0, false), without = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	with.options = options;
	with.options_len = sizeof(options);
	bed_send_pieces(&bed, &with, 192, 64, 0, 1);
	bed_send_pieces(&bed, &without, 192, 64, 1, 3);
	bed_send_pieces(&bed, &with, 192, 64, 0, 3);
	assert_int_equal(bed.n_done, 2);
	bed_assert_done(&bed, 0, &with, 192);
	bed_assert_done(&bed, 1, &with, 192);
	/* And on a later one only: they are not the datagram's. */
	bed_send_pieces(&bed, &without, 192, 64, 0, 1);
	bed_send_pieces(&bed, &with, 192, 64, 1, 3);
	assert_int_equal(bed.n_done, 3);
	bed_assert_done(&bed, 2, &without, 192);
	bed_fini(&bed);
}

/*
 * An entry that lingers after completion swallows the next datagram with its key (IPv4 identifications wrap in no
 * time).
 */
static void same_key_right_after_completion(void **state)
{
	static uint8_t other[192];
	struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
	struct rte_mbuf *in[6];
	uint8_t *bytes;
	uint32_t len;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < sizeof(other); i++)
		other[i] = (uint8_t)~fm_test_byte(i);
	/* All in one burst, so that nothing can be tidied up in between. */
	for (uint32_t i = 0; i < 6; i++) {
		frag.offset = 64 * (i % 3);
		frag.more = i % 3 < 2;
		frag.payload = i < 3 ? NULL : other + frag.offset;
		in[i] = bed_mbuf(&bed, &frag);
	}
	bed_send_mbufs(&bed, in, 6, BED_PORT);
	assert_int_equal(bed.n_done, 2);
	frag.payload = NULL;
	bed_assert_done(&bed, 0, &frag, 192);
	bytes = fm_test_bytes(bed.done[1], &len);
	assert_int_equal(len, 34 + 192);
	assert_memory_equal(bytes + 34, other, 192);
	free(bytes);
	bed_fini(&bed);
}

/* RFC 8200 4.5: the next header of the first fragment counts; others may say something else. */
static void next_header_of_a_later_fragment_differs(void **state)
{
	struct fm_test_frag first = bed_ipv6(1, 0, 64, true), last = bed_ipv6(1, 64, 64, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	last.protocol = 6;
	for (unsigned int i = 0; i < 2; i++) {
		bed_send(&bed, i == 0 ? &first : &last);
		bed_send(&bed, i == 0 ? &last : &first);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &first, 128);
		bed_clear(&bed);
	}
	bed_fini(&bed);
}

/* A fragment of a fragment: filters that look behind one fragment header see the second one as payload. */
static void two_fragment_headers(void **state)
{
	static const uint8_t second[64] = {17, 0, 0, 1, 0, 0, 0, 9};
	struct fm_test_frag frag = bed_ipv6(1, 0, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.protocol = 44;
	frag.payload = second;
	bed_send(&bed, &frag);
	frag.more = false;
	bed_send(&bed, &frag);
	frag.offset = 64;
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_NESTED), 3);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* Both kinds, in the datagram and in each piece it is cut into again. */
static void hop_by_hop_and_destination_options_survive(void **state)
{
	static const uint8_t ext[16] = {60, 0, 5, 2, 0, 0, 1, 0, 44, 0, 1, 4, 0, 0, 0, 0};
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	struct rte_mbuf *pieces[8];
	struct bed bed;
	int n;

	(void)state;
	bed_init(&bed);
	frag.options = ext;
	frag.options_len = sizeof(ext);
	bed_send_pieces(&bed, &frag, 300, 104, 0, 3);
	bed_assert_done(&bed, 0, &frag, 300);
	n = fm_split(bed.done[0], &bed.whole[0], 64 + 80, bed.pool, pieces, 8);
	bed.n_done = 0;
	assert_int_equal(n, 4);
	for (int i = 0; i < n; i++) {
		uint8_t expected[300], *bytes;
		uint32_t len;

		frag.offset = 80 * (uint32_t)i;
		frag.more = i < 3;
		frag.length = frag.more ? 80 : 60;
		bytes = fm_test_bytes(pieces[i], &len);
		assert_int_equal(len, fm_test_frame(&frag, expected));
		assert_memory_equal(bytes, expected, len);
		free(bytes);
	}
	rte_pktmbuf_free_bulk(pieces, (unsigned int)n);
	bed_fini(&bed);
}

/* The bytes that the IP length promises are not there: taken at its word, memory behind the frame leaves the box. */
static void frame_shorter_than_its_ip_length(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
		uint8_t frame[200];
		uint32_t len;

		frag.family = (uint8_t)family;
		len = fm_test_frame(&frag, frame);
		for (uint32_t cut = 1; cut <= 64; cut++)
			bed_send_bytes(&bed, frame, len - cut);
	}
	assert_int_equal(bed_count(&bed, FM_TRUNCATED), 128);
	bed_fini(&bed);
}

/* The last byte that may be, and the first that may not. */
static void end_at_65535_and_65536(void **state)
{
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = params.max_mbufs = 200;
	bed_init_params(&bed, &params);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
		const uint32_t most = family == 4 ? 65515 : 65535;

		frag.family = (uint8_t)family;
		bed_send_pieces(&bed, &frag, most, 1400, 0, UINT32_MAX);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &frag, most);
		bed_clear(&bed);
		bed_send_pieces(&bed, &frag, most + 1, 1400, 0, UINT32_MAX);
		assert_int_equal(bed.n_done, 0);
	}
	assert_int_equal(bed_count(&bed, FM_TOO_BIG), 2);
	bed_fini(&bed);
}

/* 1001 bytes: the odd one at the end must neither be lost, nor padded, nor doubled. */
static void refragmented_payload_not_divisible_by_8(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct rte_mbuf *pieces[16];
	struct bed bed;
	int n;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 1001, 400, 0, 3);
	n = fm_split(bed.done[0], &bed.whole[0], 20 + 200, bed.pool, pieces, 16);
	bed.n_done = 0;
	assert_int_equal(n, 6);
	assert_int_equal(pieces[5]->pkt_len, 14 + 20 + 1);
	bed_send_mbufs(&bed, pieces, (uint16_t)n, BED_PORT);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 1001);
	bed_fini(&bed);
}

/* RFC 791 3.1: a source route that is missing in the second piece sends it another way. */
static void options_with_the_copy_bit_go_into_every_piece(void **state)
{
	static const uint8_t options[12] = {7, 3, 4, 131, 7, 4, 10, 1, 2, 3, 1, 0};
	static const uint8_t copied[8] = {131, 7, 4, 10, 1, 2, 3, 0};
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct rte_mbuf *pieces[16];
	struct bed bed;
	int n;

	(void)state;
	bed_init(&bed);
	frag.options = options;
	frag.options_len = sizeof(options);
	bed_send_pieces(&bed, &frag, 1000, 400, 0, 3);
	n = fm_split(bed.done[0], &bed.whole[0], 32 + 200, bed.pool, pieces, 16);
	bed.n_done = 0;
	assert_int_equal(n, 5);
	for (int i = 0; i < n; i++) {
		const uint8_t *ip = rte_pktmbuf_mtod_offset(pieces[i], const uint8_t *, 14);

		assert_int_equal(ip[0], i == 0 ? 0x48 : 0x47);
		assert_memory_equal(ip + 20, i == 0 ? options : copied, i == 0 ? sizeof(options) : sizeof(copied));
	}
	bed_send_mbufs(&bed, pieces, (uint16_t)n, BED_PORT);
	bed_assert_done(&bed, 0, &frag, 1000);
	bed_fini(&bed);
}

#define FRAG(frag) (&(struct fm_test_frag[]){ frag }[0])

/*
 * What is asked for ahead of time is found by a guess that others of the burst can make wrong: here an overlap frees
 * the entry of one datagram, the extents of another one take its place, and a last fragment of the first follows. A
 * guess that is not looked up again takes an extent for a pointer.
 */
static void guess_whose_place_was_taken(void **state)
{
	enum { CROWD = 200, FIRST = 1001, SECOND, OTHERS = 2000, PIECES = 8, ROOM = 1000 };
	struct fm_reass_params params = bed_params();
	struct rte_mbuf *m[64];
	struct bed bed;
	uint16_t n = 0;

	(void)state;
	params.settings.budget_mbufs = params.max_mbufs = params.max_datagrams = ROOM;
	bed_init_params(&bed, &params);
	/* As many as it takes for anything to be asked for. */
	for (uint32_t i = 0; i < CROWD; i++)
		bed_send(&bed, FRAG(bed_ipv4(i, 0, 64, true)));
	bed_send(&bed, FRAG(bed_ipv4(FIRST, 0, 64, true)));
	bed_send(&bed, FRAG(bed_ipv4(SECOND, 0, 64, true)));
	m[n++] = bed_mbuf(&bed, FRAG(bed_ipv4(FIRST, 0, 128, true)));
	for (uint32_t i = 1; i < PIECES; i++)
		m[n++] = bed_mbuf(&bed, FRAG(bed_ipv4(SECOND, i * 64, 64, true)));
	for (uint32_t i = 0; i < 16; i++)
		m[n++] = bed_mbuf(&bed, FRAG(bed_ipv4(OTHERS + i, 0, 64, true)));
	m[n++] = bed_mbuf(&bed, FRAG(bed_ipv4(FIRST, 64, 64, false)));
	bed_send_mbufs(&bed, m, n, BED_PORT);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	assert_int_equal(bed_held(&bed), CROWD + PIECES + 16);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlapping_and_empty_fragments_free_everything),
		cmocka_unit_test(all_zero_key),
		cmocka_unit_test(families_never_join),
		cmocka_unit_test(short_middle_fragment_with_padding),
		cmocka_unit_test(udp_head_and_icmp_tail_never_join),
		cmocka_unit_test(options_on_the_first_fragment_only_and_on_all),
		cmocka_unit_test(same_key_right_after_completion),
		cmocka_unit_test(next_header_of_a_later_fragment_differs),
		cmocka_unit_test(two_fragment_headers),
		cmocka_unit_test(hop_by_hop_and_destination_options_survive),
		cmocka_unit_test(frame_shorter_than_its_ip_length),
		cmocka_unit_test(end_at_65535_and_65536),
		cmocka_unit_test(refragmented_payload_not_divisible_by_8),
		cmocka_unit_test(options_with_the_copy_bit_go_into_every_piece),
		cmocka_unit_test(guess_whose_place_was_taken),
	};

	return cmocka_run_group_tests_name("regressions: wire", tests, NULL, NULL);
}
