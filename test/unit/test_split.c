/* SPDX-License-Identifier: BSD-3-Clause */
/* fm_split(): clean fragments of a joined datagram. */
#include <errno.h>

#include "bed.h"

enum { PIECES_MAX = FM_PIECES_MAX };

static struct rte_mbuf *pieces[PIECES_MAX];

/* Let the table join a datagram that comes in pieces of `step`, and take it out of the bed. */
static struct rte_mbuf *joined(struct bed *bed, const struct fm_test_frag *frag, uint32_t total, uint32_t step,
			       struct fm_whole *whole)
{
	bed_send_pieces(bed, frag, total, step, 0, UINT32_MAX);
	assert_int_equal(bed->n_done, 1);
	bed->n_done = 0;
	*whole = bed->whole[0];
	return bed->done[0];
}

static void init(struct bed *bed)
{
	struct fm_reass_params params = bed_params();

	params.max_mbufs = params.settings.budget_mbufs = 20000;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	bed_init_params(bed, &params);
}

static void assert_bytes(const struct rte_mbuf *m, const uint8_t *expected, uint32_t expected_len)
{
	uint32_t len;
	uint8_t *bytes = fm_test_bytes(m, &len);

	assert_int_equal(len, expected_len);
	assert_memory_equal(bytes, expected, len);
	free(bytes);
}

/* One piece: linear, and exactly the frame that `frag` describes. */
static void assert_piece(const struct rte_mbuf *m, const struct fm_test_frag *frag)
{
	uint8_t frame[BED_FRAME_MAX];
	const uint32_t len = fm_test_frame(frag, frame);

	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_bytes(m, frame, len);
}

/*
 * Split into pieces of `room` payload bytes (the last one shorter); compare each with the frame it must be, then join
 * them again and compare the whole.
 */
static void split_and_join(struct bed *bed, const struct fm_test_frag *frag, uint32_t total, uint32_t step,
			   uint32_t mtu, uint32_t room)
{
	struct fm_test_frag piece = *frag;
	struct fm_whole whole;
	struct rte_mbuf *m = joined(bed, frag, total, step, &whole);
	const uint32_t expected = (total + room - 1) / room;
	int n;

	assert_int_equal(fm_split_count(m, &whole, mtu), expected);
	n = fm_split(m, &whole, mtu, bed->pool, pieces, PIECES_MAX);
	assert_int_equal(n, expected);
	for (uint32_t i = 0; i < expected; i++) {
		piece.offset = i * room;
		piece.more = i + 1 < expected;
		piece.length = piece.more ? room : total - i * room;
		assert_piece(pieces[i], &piece);
	}
	if (n == 1 && frag->family == 4) {
		rte_pktmbuf_free(pieces[0]);
		return;
	}
	for (int i = 0; i < n; i++)
		bed_send_mbufs(bed, &pieces[i], 1, BED_PORT);
	assert_int_equal(bed->n_done, 1);
	bed_assert_done(bed, 0, frag, total);
	bed_clear(bed);
}

static void all_sizes(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed);
	for (uint32_t total = 130; total < 300; total++) {
		struct fm_test_frag frag = bed_ipv4(total, 0, 0, false);

		for (uint32_t room = 8; room <= 64; room += 8) {
			frag.family = 4;
			split_and_join(&bed, &frag, total, 64, 20 + room, room);
			frag.family = 6;
			split_and_join(&bed, &frag, total, 64, 48 + room, room);
		}
	}
	bed_fini(&bed);
}

/* An MTU that leaves room for no multiple of 8: the last piece may use what is over, the others not. */
static void room_is_rounded_down(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	for (uint32_t over = 0; over < 8; over++) {
		split_and_join(&bed, &frag, 1000, 504, 20 + 200 + over, 200);
		split_and_join(&bed, &frag, 1050, 504, 20 + 200 + over, 200);
	}
	bed_fini(&bed);
}

/* The last piece takes what fits although it is no multiple of 8: two pieces, not three. */
static void last_piece_fills_the_mtu(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct fm_whole whole;
	struct rte_mbuf *m;
	struct bed bed;

	(void)state;
	init(&bed);
	m = joined(&bed, &frag, 200 + 205, 208, &whole);
	assert_int_equal(whole.largest, 228);
	assert_int_equal(fm_split_count(m, &whole, 225), 2);
	assert_int_equal(fm_split(m, &whole, 225, bed.pool, pieces, PIECES_MAX), 2);
	assert_int_equal(pieces[0]->pkt_len, 14 + 20 + 200);
	assert_int_equal(pieces[1]->pkt_len, 14 + 20 + 205);
	rte_pktmbuf_free_bulk(pieces, 2);
	bed_fini(&bed);
}

/* No path MTU is invented: what never came larger than this never leaves larger. */
static void never_larger_than_the_largest_received(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	split_and_join(&bed, &frag, 5000, 552, 9000, 552);
	split_and_join(&bed, &frag, 5000, 1480, 1500, 1480);
	split_and_join(&bed, &frag, 5000, 1480, 1499, 1472);
	frag.family = 6;
	split_and_join(&bed, &frag, 5000, 1232, 9000, 1232);
	bed_fini(&bed);
}

static void header_fields_go_into_every_piece(void **state)
{
	struct fm_test_frag frag = bed_ipv4(0xffff, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	frag.tos = 0xba;
	frag.ttl = 7;
	frag.dont_fragment = frag.reserved = true;
	frag.vlans = 2;
	frag.tci[0] = 0xe123;
	frag.tci[1] = 0x3456;
	split_and_join(&bed, &frag, 777, 256, 120, 96);
	frag.family = 6;
	frag.id = 0xfedcba98;
	split_and_join(&bed, &frag, 777, 256, 148, 96);
	bed_fini(&bed);
}

static void extension_headers_and_the_fragment_header_come_back(void **state)
{
	static const uint8_t ext[24] = {60, 0, 1, 4, 0, 0, 0, 0, 44, 1, 1, 12};
	struct fm_test_frag frag = bed_ipv6(5, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	frag.options = ext;
	frag.options_len = sizeof(ext);
	frag.first_ext = 0;
	split_and_join(&bed, &frag, 777, 256, 72 + 100, 96);
	bed_fini(&bed);
}

/* RFC 791 3.1: security (130) and LSRR (131) are copied, timestamp (68) and record route (7) are not; no-ops go. */
static void options_with_the_copy_bit(void **state)
{
	static const uint8_t all[28] = {1, 68, 8, 5, 0, 0, 0, 0, 0, 130, 4, 9, 9, 1, 7, 7, 4, 0, 0, 0, 0, 131, 3, 4, 0};
	static const uint8_t copied[8] = {130, 4, 9, 9, 131, 3, 4, 0};
	struct fm_test_frag frag = bed_ipv4(5, 0, 0, false), piece;
	struct fm_whole whole;
	struct rte_mbuf *m;
	struct bed bed;
	uint32_t at = 0;
	int n;

	(void)state;
	init(&bed);
	frag.options = all;
	frag.options_len = sizeof(all);
	m = joined(&bed, &frag, 500, 200, &whole);
	assert_int_equal(fm_split_count(m, &whole, 48 + 64), 7);
	n = fm_split(m, &whole, 48 + 64, bed.pool, pieces, PIECES_MAX);
	assert_int_equal(n, 7);
	for (int i = 0; i < n; i++) {
		piece = frag;
		piece.options = i == 0 ? all : copied;
		piece.options_len = i == 0 ? sizeof(all) : sizeof(copied);
		piece.offset = at;
		/* The shorter header leaves room for more: 112 - 28 = 84, so 80. */
		piece.length = i == 0 ? 64 : 80;
		if (at + piece.length > 500)
			piece.length = 500 - at;
		at += piece.length;
		piece.more = at < 500;
		assert_piece(pieces[i], &piece);
		bed_send_mbufs(&bed, &pieces[i], 1, BED_PORT);
	}
	assert_int_equal(at, 500);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 500);
	bed_fini(&bed);
}

/* Options that lie about their length must not lead anywhere. */
static void broken_options(void **state)
{
	static const uint8_t rows[][8] = {
		{130, 0, 0, 0, 0, 0, 0, 0}, {130, 1, 0, 0, 0, 0, 0, 0}, {130, 9, 0, 0, 0, 0, 0, 0},
		{1, 1, 1, 1, 1, 1, 1, 130}, {130, 255, 1, 1, 1, 1, 1, 1}, {0, 130, 4, 1, 1, 0, 0, 0},
	};
	struct bed bed;

	(void)state;
	init(&bed);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fm_test_frag frag = bed_ipv4(5, 0, 0, false), later;
		struct fm_whole whole;
		struct rte_mbuf *m;
		int n;

		frag.options = rows[i];
		frag.options_len = 8;
		m = joined(&bed, &frag, 200, 104, &whole);
		n = fm_split(m, &whole, 28 + 104, bed.pool, pieces, PIECES_MAX);
		assert_int_equal(n, 2);
		later = bed_ipv4(5, 104, 96, false);
		assert_piece(pieces[1], &later);
		rte_pktmbuf_free_bulk(pieces, 2);
	}
	bed_fini(&bed);
}

/* Pieces that leave as they came need no mbuf: their segments are used again. */
static void segments_are_reused(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
		const uint32_t mtu = family == 4 ? 220 : 248;
		struct fm_whole whole;
		struct rte_mbuf *m;

		frag.family = (uint8_t)family;
		m = joined(&bed, &frag, 1000, 200, &whole);
		assert_int_equal(fm_test_pool_out(bed.pool), 5);
		assert_int_equal(fm_split(m, &whole, mtu, NULL, pieces, PIECES_MAX), 5);
		for (uint32_t i = 0; i < 5; i++) {
			frag.offset = 200 * i;
			frag.length = 200;
			frag.more = i < 4;
			assert_piece(pieces[i], &frag);
		}
		assert_int_equal(fm_test_pool_out(bed.pool), 5);
		rte_pktmbuf_free_bulk(pieces, 5);
	}
	bed_fini(&bed);
}

/* Segments with a second owner are read, not written. */
static void shared_segments_are_not_written(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct fm_whole whole;
	struct rte_mbuf *m, *clone;
	struct bed bed;

	(void)state;
	init(&bed);
	m = joined(&bed, &frag, 1000, 200, &whole);
	clone = rte_pktmbuf_clone(m, bed.pool);
	assert_non_null(clone);
	assert_int_equal(fm_split(clone, &whole, 220, bed.pool, pieces, PIECES_MAX), 5);
	bed.done[0] = m;
	bed.n_done = 1;
	bed_assert_done(&bed, 0, &frag, 1000);
	rte_pktmbuf_free_bulk(pieces, 5);
	bed_fini(&bed);
}

static void most_pieces(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	split_and_join(&bed, &frag, 65515, 1480, 28, 8);
	frag.family = 6;
	split_and_join(&bed, &frag, 65535, 1440, 56, 8);
	bed_fini(&bed);
}

/* It fits, and splitting is wanted all the same (refragment mode): IPv4 loses nothing, IPv6 gets an atomic fragment. */
static void one_piece(void **state)
{
	const struct fm_test_frag atomic = bed_ipv6(9, 0, 100, false);
	struct fm_whole whole;
	struct bed bed;

	(void)state;
	init(&bed);
	bed_send(&bed, &atomic);
	assert_int_equal(bed.n_done, 1);
	whole = bed.whole[0];
	bed.n_done = 0;
	assert_int_equal(fm_split_count(bed.done[0], &whole, 1500), 1);
	assert_int_equal(fm_split(bed.done[0], &whole, 1500, bed.pool, pieces, 1), 1);
	assert_piece(pieces[0], &atomic);
	rte_pktmbuf_free(pieces[0]);
	bed_fini(&bed);
}

/* Whatever fails, the datagram is what it was and no mbuf is gone. */
static void failures_leave_the_datagram_untouched(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct rte_mempool *small = fm_test_pool(100, RTE_PKTMBUF_HEADROOM + 60);
	struct fm_whole whole;
	struct rte_mbuf *m;
	struct bed bed;
	uint32_t out;

	(void)state;
	init(&bed);
	frag.vlans = 1;
	m = joined(&bed, &frag, 1000, 200, &whole);
	out = fm_test_pool_out(bed.pool);
	assert_int_equal(fm_split_count(m, &whole, 27), 0);
	assert_int_equal(fm_split(m, &whole, 27, bed.pool, pieces, PIECES_MAX), -EMSGSIZE);
	assert_int_equal(fm_split(m, &whole, 0, bed.pool, pieces, PIECES_MAX), -EMSGSIZE);
	assert_int_equal(fm_split(m, &whole, 120, small, pieces, PIECES_MAX), -EMSGSIZE);
	assert_int_equal(fm_split_count(m, &whole, 120), 11);
	assert_int_equal(fm_split(m, &whole, 120, bed.pool, pieces, 10), -ENOSPC);
	fm_test_pool_limit(bed.pool, out + 10);
	assert_int_equal(fm_split(m, &whole, 120, bed.pool, pieces, PIECES_MAX), -ENOMEM);
	fm_test_pool_limit(bed.pool, 0);
	assert_int_equal(fm_split(m, &whole, 120, bed.pool, pieces, PIECES_MAX), -ENOMEM);
	assert_int_equal(fm_test_pool_out(bed.pool), out);
	assert_int_equal(fm_test_pool_out(small), 0);
	bed.done[0] = m;
	bed.n_done = 1;
	bed_assert_done(&bed, 0, &frag, 1000);
	bed.n_done = 0;
	fm_test_pool_limit(bed.pool, out + 11);
	assert_int_equal(fm_split(m, &whole, 120, bed.pool, pieces, 11), 11);
	rte_pktmbuf_free_bulk(pieces, 11);
	fm_test_pool_free(small);
	bed_fini(&bed);
}

/* However the joined bytes lie in segments. */
static void any_segments(void **state)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	struct bed bed;

	(void)state;
	init(&bed);
	for (bed.segment = 1; bed.segment < 200; bed.segment += 7) {
		split_and_join(&bed, &frag, 333, 112, 48 + 40, 40);
		frag.family = 10 - frag.family;
		split_and_join(&bed, &frag, 333, 112, (frag.family == 4 ? 20 : 48) + 56, 56);
		frag.family = 6;
	}
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(room_is_rounded_down),
		cmocka_unit_test(last_piece_fills_the_mtu),
		cmocka_unit_test(never_larger_than_the_largest_received),
		cmocka_unit_test(header_fields_go_into_every_piece),
		cmocka_unit_test(extension_headers_and_the_fragment_header_come_back),
		cmocka_unit_test(options_with_the_copy_bit),
		cmocka_unit_test(broken_options),
		cmocka_unit_test(segments_are_reused),
		cmocka_unit_test(shared_segments_are_not_written),
		cmocka_unit_test(most_pieces),
		cmocka_unit_test(one_piece),
		cmocka_unit_test(failures_leave_the_datagram_untouched),
		cmocka_unit_test(any_segments),
	};

	return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
