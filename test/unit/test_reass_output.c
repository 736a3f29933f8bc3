/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes out: section 5 of doc/semantics.md. */
#include "bed.h"
#include "checksum.h"

enum { ECN_NOT_ECT, ECN_ECT1, ECN_ECT0, ECN_CE, ECN_VALUES };

static void in_order_and_reversed(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

		frag.family = (uint8_t)family;
		bed_send_pieces(&bed, &frag, 1000, 400, 0, 3);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &frag, 1000);
		for (uint32_t i = 3; i > 0; i--)
			bed_send_pieces(&bed, &frag, 1000, 400, i - 1, i);
		assert_int_equal(bed.n_done, 2);
		bed_assert_done(&bed, 1, &frag, 1000);
		bed_clear(&bed);
	}
	assert_int_equal(bed_count(&bed, FM_COMPLETED), 12);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams_done, 4);
	bed_fini(&bed);
}

/* All but lengths, MF, offset, ECN and checksum is the first fragment's, whatever the others say. */
static void header_is_the_first_fragments(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 21, false);

		first.family = last.family = (uint8_t)family;
		first.tos = 0xb8;
		first.ttl = 17;
		first.dont_fragment = first.reserved = true;
		first.vlans = last.vlans = 2;
		first.tci[0] = 0xe005;
		first.tci[1] = 0x3006;
		last.tci[0] = 0x2005;
		last.tci[1] = 0x1006;
		last.tos = 0x28;
		last.ttl = 99;
		bed_send(&bed, &last);
		bed_send(&bed, &first);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &first, 85);
		assert_int_equal(bed.whole[0].dont_fragment, family == 4);
		bed_clear(&bed);
	}
	bed_fini(&bed);
}

static void description(void **state)
{
	const uint8_t nops[8] = {1, 1, 1, 1, 1, 1, 1, 1};
	struct fm_test_frag frag = bed_ipv4(0xbeef, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.options = nops;
	frag.options_len = 8;
	frag.vlans = 1;
	bed_send_pieces(&bed, &frag, 1000, 400, 0, 3);
	assert_int_equal(bed.whole[0].id, 0xbeef);
	assert_int_equal(bed.whole[0].ip_len, 1028);
	assert_int_equal(bed.whole[0].l2_len, 18);
	assert_int_equal(bed.whole[0].l3_len, 28);
	assert_int_equal(bed.whole[0].largest, 428);
	assert_int_equal(bed.whole[0].fragments, 3);
	assert_int_equal(bed.whole[0].family, 4);
	assert_false(bed.whole[0].dont_fragment);
	frag = bed_ipv6(0xdeadbeef, 0, 0, false);
	bed_send_pieces(&bed, &frag, 1000, 400, 0, 3);
	assert_int_equal(bed.whole[1].id, 0xdeadbeef);
	assert_int_equal(bed.whole[1].ip_len, 1040);
	assert_int_equal(bed.whole[1].l3_len, 40);
	assert_int_equal(bed.whole[1].next_at, 6);
	assert_int_equal(bed.whole[1].largest, 448);
	assert_int_equal(bed.whole[1].family, 6);
	bed_fini(&bed);
}

/*
 * RFC 3168 5.3, every pair: Not-ECT meets nothing but Not-ECT, CE wins over ECT, otherwise the first fragment's
 * stays.
 */
static void ecn_of_every_pair(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int i = 0; i < 2 * ECN_VALUES * ECN_VALUES; i++) {
		const uint8_t a = i % ECN_VALUES, b = i / ECN_VALUES % ECN_VALUES;
		struct fm_test_frag first = bed_ipv4(i, 0, 64, true), last = bed_ipv4(i, 64, 64, false);

		first.family = last.family = i < ECN_VALUES * ECN_VALUES ? 4 : 6;
		first.tos = 0x48 | a;
		last.tos = b;
		bed_send(&bed, &first);
		bed_send(&bed, &last);
		if ((a == ECN_NOT_ECT) != (b == ECN_NOT_ECT)) {
			assert_int_equal(bed.n_done, 0);
			continue;
		}
		first.tos = 0x48 | (a == ECN_CE || b == ECN_CE ? ECN_CE : a);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &first, 128);
		bed_clear(&bed);
	}
	assert_int_equal(bed_count(&bed, FM_ECN_MISMATCH), 2 * 6 * 2);
	/* Dropped, but not condemned: the resend with the same identification passes. */
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed_fini(&bed);
}

static void largest_datagrams(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	params.settings.budget_mbufs = params.max_mbufs = 10000;
	bed_init_params(&bed, &params);
	bed_send_pieces(&bed, &frag, 65515, 1480, 0, UINT32_MAX);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 65515);
	frag.family = 6;
	bed_send_pieces(&bed, &frag, 65535, 1448, 0, UINT32_MAX);
	assert_int_equal(bed.n_done, 2);
	bed_assert_done(&bed, 1, &frag, 65535);
	bed_clear(&bed);
	/* The most fragments there can be: 8 bytes each. */
	bed_send_pieces(&bed, &frag, 65535, 8, 0, UINT32_MAX);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 65535);
	assert_int_equal(bed.whole[0].fragments, 8192);
	bed_fini(&bed);
}

static uint32_t extension_headers(uint8_t *out)
{
	static const uint8_t hop_by_hop[8] = {60, 0, 1, 4, 0, 0, 0, 0};
	static const uint8_t destination[16] = {44, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

	memcpy(out, hop_by_hop, sizeof(hop_by_hop));
	memcpy(out + sizeof(hop_by_hop), destination, sizeof(destination));
	return sizeof(hop_by_hop) + sizeof(destination);
}

static void extension_headers_stay(void **state)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	uint8_t ext[24];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	frag.options = ext;
	frag.options_len = extension_headers(ext);
	frag.first_ext = 0;
	bed_send_pieces(&bed, &frag, 300, 104, 0, 3);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 300);
	assert_int_equal(bed.whole[0].l3_len, 64);
	assert_int_equal(bed.whole[0].next_at, 48);
	bed_fini(&bed);
}

/* RFC 6946: at once, whatever is held with the same key, and that stays as it is. */
static void atomic(void **state)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 64, true), alone = bed_ipv6(1, 0, 77, false);
	uint8_t ext[24];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	alone.padding = 3;
	bed_send(&bed, &alone);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &alone, 77);
	assert_int_equal(bed.whole[0].fragments, 1);
	assert_int_equal(bed_held(&bed), 1);
	bed_send_pieces(&bed, &frag, 100, 64, 1, 2);
	assert_int_equal(bed.n_done, 2);
	bed_assert_done(&bed, 1, &frag, 100);
	alone.options = ext;
	alone.options_len = extension_headers(ext);
	bed_send(&bed, &alone);
	bed_assert_done(&bed, 2, &alone, 77);
	bed_fini(&bed);
}

/* No byte of payload is copied: the segments that came in go out. */
static void zero_copy(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 800, true);
		struct rte_mbuf *in[3];

		frag.family = (uint8_t)family;
		for (unsigned int i = 0; i < 3; i++) {
			frag.offset = 800 * i;
			frag.more = i < 2;
			in[i] = bed_mbuf(&bed, &frag);
		}
		bed_send_mbufs(&bed, in, 3, BED_PORT);
		assert_int_equal(bed.n_done, 1);
		assert_ptr_equal(bed.done[0], in[0]);
		assert_ptr_equal(bed.done[0]->next, in[1]);
		assert_ptr_equal(bed.done[0]->next->next, in[2]);
		assert_int_equal(bed.done[0]->nb_segs, 3);
		assert_int_equal(fm_test_pool_out(bed.header_pool), 0);
		bed_clear(&bed);
	}
	bed_fini(&bed);
}

/* A header that stands in pieces comes out in one, as drivers want it. */
static void headers_come_out_contiguous(void **state)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (bed.segment = 1; bed.segment < 80; bed.segment++) {
		bed_send_pieces(&bed, &frag, 100, 64, 0, 2);
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &frag, 100);
		assert_true(bed.done[0]->data_len >= 54);
		bed_clear(&bed);
	}
	bed_fini(&bed);
}

/* What the port found out about a fragment's checksums must not be said of the datagram. */
static void checksum_flags(void **state)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 64, false);
	struct rte_mbuf *in[2], *bad;
	struct fm_test_frag other = bed_ipv4(2, 0, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	in[0] = bed_mbuf(&bed, &first);
	in[1] = bed_mbuf(&bed, &last);
	in[0]->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_BAD | RTE_MBUF_F_RX_RSS_HASH;
	in[0]->port = 3;
	bed_send_mbufs(&bed, in, 2, BED_PORT);
	assert_int_equal(bed.n_done, 1);
	assert_int_equal(bed.done[0]->ol_flags & (RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK), 0);
	assert_int_equal(bed.done[0]->ol_flags & RTE_MBUF_F_RX_RSS_HASH, RTE_MBUF_F_RX_RSS_HASH);
	assert_int_equal(bed.done[0]->port, 3);
	bad = bed_mbuf(&bed, &other);
	bad->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_BAD;
	bed_send_mbufs(&bed, &bad, 1, BED_PORT);
	assert_int_equal(bed_count(&bed, FM_BAD_IP_CHECKSUM), 1);
	/* The port's word is taken: the wrong checksum in the bytes is not looked at. */
	bad = bed_mbuf(&bed, &other);
	rte_pktmbuf_mtod(bad, uint8_t *)[14 + 10] ^= 1;
	bad->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	bed_send_mbufs(&bed, &bad, 1, BED_PORT);
	assert_int_equal(bed_count(&bed, FM_BAD_IP_CHECKSUM), 1);
	assert_int_equal(bed_held(&bed), 1);
	bed_fini(&bed);
}

static void passed_frames_are_untouched_and_in_order(void **state)
{
	struct fm_test_frag frag = bed_ipv4(0, 0, 64, false);
	struct rte_mbuf *in[16];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 16; i++) {
		frag.id = i;
		frag.more = i % 4 == 0;
		frag.padding = i;
		in[i] = bed_mbuf(&bed, &frag);
	}
	bed_send_mbufs(&bed, in, 16, BED_PORT);
	assert_int_equal(bed.n_pass, 12);
	for (uint32_t i = 0, n = 0; i < 16; i++) {
		uint8_t frame[200], *bytes;
		uint32_t len, out_len;

		if (i % 4 == 0)
			continue;
		frag.id = i;
		frag.more = false;
		frag.padding = i;
		len = fm_test_frame(&frag, frame);
		assert_ptr_equal(bed.pass[n], in[i]);
		bytes = fm_test_bytes(bed.pass[n++], &out_len);
		assert_int_equal(out_len, len);
		assert_memory_equal(bytes, frame, len);
		free(bytes);
	}
	assert_int_equal(bed_count(&bed, FM_PASSED), 12);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_reversed),
		cmocka_unit_test(header_is_the_first_fragments),
		cmocka_unit_test(description),
		cmocka_unit_test(ecn_of_every_pair),
		cmocka_unit_test(largest_datagrams),
		cmocka_unit_test(extension_headers_stay),
		cmocka_unit_test(atomic),
		cmocka_unit_test(zero_copy),
		cmocka_unit_test(headers_come_out_contiguous),
		cmocka_unit_test(checksum_flags),
		cmocka_unit_test(passed_frames_are_untouched_and_in_order),
	};

	return cmocka_run_group_tests_name("reassembly: output", tests, NULL, NULL);
}
