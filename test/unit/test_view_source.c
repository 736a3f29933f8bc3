/* SPDX-License-Identifier: BSD-3-Clause */
/* What is shown of sources: fm_reass_sources(), and the chance in fm_reass_views(). */
#include "bed.h"

enum { VIEWS_MAX = 64, STEP = 800, GAP = 10, MANY = 40 };

/* 10.0.NETWORK.HOST; IPv6 has it in the low half of an address of fd07::/64. */
static uint32_t address(uint32_t network, uint32_t host)
{
	return 0x0a000000 | network << 8 | host;
}

/* Send the first `sent` of `pieces` fragments of a new datagram. */
static void send_from(struct bed *bed, uint8_t family, uint32_t source, uint32_t pieces, uint32_t sent)
{
	static uint32_t id;
	struct fm_test_frag frag = family == 4 ? bed_ipv4(++id, 0, STEP, true) : bed_ipv6(++id, 0, STEP, true);

	frag.source = source;
	for (uint32_t i = 0; i < sent; i++) {
		bed_send_pieces(bed, &frag, pieces * STEP, STEP, i, i + 1);
		bed->now += GAP;
	}
	bed_clear(bed);
}

static void expire_all(struct bed *bed)
{
	bed->now += BED_TIMEOUT6;
	fm_reass_expire(bed->reass, bed->now, UINT32_MAX);
	assert_int_equal(bed_held(bed), 0);
}

/* All at once. */
static uint32_t look(const struct bed *bed, struct fm_source_view views[VIEWS_MAX])
{
	uint32_t n = 0;

	assert_int_equal(fm_reass_sources(bed->reass, 0, UINT32_MAX, views, VIEWS_MAX, &n), 0);
	return n;
}

static void assert_prefix(const struct fm_source_view *view, uint8_t family, const char *prefix, uint8_t prefix_len)
{
	uint8_t bytes[16] = { 0 };

	memcpy(bytes, prefix, family == 4 ? 4 : 16);
	assert_int_equal(view->family, family);
	assert_int_equal(view->prefix_len, prefix_len);
	assert_memory_equal(view->prefix, bytes, 16);
}

static void nobody(void **state)
{
	struct fm_source_view views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	assert_int_equal(look(&bed, views), 0);
	bed_fini(&bed);
}

/* Most held first, then most wasted, then most delivered. */
static void order(void **state)
{
	struct fm_source_view views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	send_from(&bed, 4, address(0, 1), 2, 2);
	send_from(&bed, 4, address(0, 2), 3, 3);
	send_from(&bed, 4, address(0, 3), 3, 1);
	send_from(&bed, 6, address(0, 4), 3, 2);
	expire_all(&bed);
	send_from(&bed, 4, address(0, 5), 3, 1);
	send_from(&bed, 4, address(0, 6), 4, 3);
	assert_int_equal(look(&bed, views), 6);
	assert_prefix(&views[0], 4, "\x0a\0\0\6", 32);
	assert_prefix(&views[1], 4, "\x0a\0\0\5", 32);
	assert_prefix(&views[2], 6, "\xfd\7\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 64);
	assert_prefix(&views[3], 4, "\x0a\0\0\3", 32);
	assert_prefix(&views[4], 4, "\x0a\0\0\2", 32);
	assert_prefix(&views[5], 4, "\x0a\0\0\1", 32);
	for (uint32_t i = 0; i < 6; i++) {
		static const uint8_t held[] = { 3, 1, 0, 0, 0, 0 }, wasted[] = { 0, 0, 2, 1, 0, 0 };
		static const uint8_t delivered[] = { 0, 0, 0, 0, 3, 2 };

		assert_int_equal(views[i].held_mbufs, held[i]);
		assert_int_equal(views[i].wasted, wasted[i]);
		assert_int_equal(views[i].delivered, delivered[i]);
	}
	bed_fini(&bed);
}

/* The fragments of all sources are those of the table; mbufs are counted by segments. */
static void sums(void **state)
{
	struct fm_source_view views[VIEWS_MAX];
	uint64_t held = 0, delivered = 0, wasted = 0;
	struct bed bed;
	uint32_t n;

	(void)state;
	bed_init(&bed);
	bed.segment = 300;
	for (uint32_t i = 0; i < 12; i++) {
		send_from(&bed, i % 3 == 0 ? 6 : 4, address(0, i), 2 + i % 3, 2 + i % 3);
		send_from(&bed, 4, address(0, i), 5, 1 + i % 4);
	}
	expire_all(&bed);
	for (uint32_t i = 0; i < 12; i++)
		send_from(&bed, 4, address(0, i), 5, 1 + i % 4);
	n = look(&bed, views);
	/* Four of them sent IPv6 as well, from one prefix. */
	assert_int_equal(n, 13);
	for (uint32_t i = 0; i < n; i++) {
		held += views[i].held_mbufs;
		delivered += views[i].delivered;
		wasted += views[i].wasted;
	}
	assert_true(held > bed_held(&bed));
	assert_int_equal(held, fm_reass_stats(bed.reass)->held_mbufs);
	assert_int_equal(delivered, bed_count(&bed, FM_COMPLETED));
	assert_int_equal(wasted, bed_count(&bed, FM_TIMEOUT));
	assert_int_equal(wasted, 3 * (1 + 2 + 3 + 4));
	bed_fini(&bed);
}

/* Not as bytes: there may be a gap between the members. */
static void assert_same(const struct fm_source_view *a, const struct fm_source_view *b)
{
	assert_memory_equal(a->prefix, b->prefix, sizeof(a->prefix));
	assert_int_equal(a->prefix_len, b->prefix_len);
	assert_int_equal(a->family, b->family);
	assert_int_equal(a->chance_permille, b->chance_permille);
	assert_int_equal(a->held_mbufs, b->held_mbufs);
	assert_int_equal(a->size_mbufs, b->size_mbufs);
	assert_int_equal(a->delivered, b->delivered);
	assert_int_equal(a->wasted, b->wasted);
	assert_int_equal(a->gap_tsc, b->gap_tsc);
}

/* In pieces of whatever size the same is seen as at once, and a piece is never larger than was asked for. */
static void piece_by_piece(void **state)
{
	static const uint32_t counts[] = { 1, 3, 64, 255, 1000000 }, maxima[] = { 1, 7, MANY, VIEWS_MAX };
	struct fm_source_view all[VIEWS_MAX], views[VIEWS_MAX + 1], untouched;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < MANY; i++)
		send_from(&bed, 4, address(i, i), 9, 1 + i * 7 % 8);
	assert_int_equal(look(&bed, all), MANY);
	memset(&untouched, 0xa5, sizeof(untouched));
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (size_t m = 0; m < sizeof(maxima) / sizeof(maxima[0]); m++) {
			const uint32_t expected = maxima[m] < MANY ? maxima[m] : MANY;
			uint32_t n = 0, at = 0, next;

			memset(views, 0xa5, sizeof(views));
			do {
				next = fm_reass_sources(bed.reass, at, counts[c], views, maxima[m], &n);
				assert_true(next == 0 || next == RTE_MAX(at, 1U) + counts[c]);
				assert_true(n <= maxima[m]);
				at = next;
			} while (at != 0);
			assert_int_equal(n, expected);
			for (uint32_t i = 0; i < expected; i++)
				assert_same(&views[i], &all[i]);
			assert_memory_equal(&views[expected], &untouched, sizeof(untouched));
		}
	bed_fini(&bed);
}

/* No room for views, and a number behind the last record: nothing is written. */
static void nothing_to_do(void **state)
{
	struct fm_source_view view;
	struct bed bed;
	uint32_t n = 0;

	(void)state;
	bed_init(&bed);
	send_from(&bed, 4, address(0, 1), 3, 1);
	assert_int_equal(fm_reass_sources(bed.reass, 0, UINT32_MAX, NULL, 0, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(fm_reass_sources(bed.reass, UINT32_MAX, 1, &view, 1, &n), 0);
	assert_int_equal(n, 0);
	bed_fini(&bed);
}

static void prefixes(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_source_view views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	params.settings.source_prefix[FM_IPV4] = 20;
	params.settings.source_prefix[FM_IPV6] = 121;
	bed_init_params(&bed, &params);
	/* Two of one prefix are one source, their neighbour is another. */
	send_from(&bed, 4, address(0x10, 1), 9, 4);
	send_from(&bed, 4, address(0x1f, 2), 9, 4);
	send_from(&bed, 4, address(0x20, 1), 9, 7);
	send_from(&bed, 6, address(0, 0x80), 9, 2);
	send_from(&bed, 6, address(0, 0xff), 9, 3);
	send_from(&bed, 6, address(0, 0x7f), 9, 1);
	assert_int_equal(look(&bed, views), 4);
	assert_prefix(&views[0], 4, "\x0a\0\x10\0", 20);
	assert_int_equal(views[0].held_mbufs, 8);
	assert_prefix(&views[1], 4, "\x0a\0\x20\0", 20);
	assert_int_equal(views[1].held_mbufs, 7);
	assert_prefix(&views[2], 6, "\xfd\7\0\0\0\0\0\0\0\0\0\0\x0a\0\0\x80", 121);
	assert_int_equal(views[2].held_mbufs, 5);
	assert_prefix(&views[3], 6, "\xfd\7\0\0\0\0\0\0\0\0\0\0\x0a\0\0\0", 121);
	assert_int_equal(views[3].held_mbufs, 1);
	bed_fini(&bed);
}

/* The longest and the shortest. */
static void whole_addresses(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_source_view views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	params.settings.source_prefix[FM_IPV4] = 1;
	params.settings.source_prefix[FM_IPV6] = 128;
	bed_init_params(&bed, &params);
	send_from(&bed, 6, 0x0a0000fe, 9, 2);
	send_from(&bed, 6, 0x0a0000ff, 9, 1);
	send_from(&bed, 4, 0xffffffff, 9, 3);
	send_from(&bed, 4, 0x80000000, 9, 1);
	assert_int_equal(look(&bed, views), 3);
	assert_prefix(&views[0], 4, "\x80\0\0\0", 1);
	assert_int_equal(views[0].held_mbufs, 4);
	assert_prefix(&views[1], 6, "\xfd\7\0\0\0\0\0\0\0\0\0\0\x0a\0\0\xfe", 128);
	assert_prefix(&views[2], 6, "\xfd\7\0\0\0\0\0\0\0\0\0\0\x0a\0\0\xff", 128);
	bed_fini(&bed);
}

/* Whatever there was before: it is shown under the prefix of now, and nothing that is held is missing in the sum. */
static void prefix_is_changed(void **state)
{
	struct fm_source_view views[VIEWS_MAX];
	struct fm_reass_settings settings;
	uint32_t n, held = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	send_from(&bed, 4, address(7, 1), 9, 2);
	send_from(&bed, 4, address(7, 2), 9, 3);
	assert_int_equal(look(&bed, views), 2);
	settings = bed.params.settings;
	settings.source_prefix[FM_IPV4] = 24;
	bed_set(&bed, &settings);
	send_from(&bed, 4, address(7, 1), 9, 4);
	send_from(&bed, 4, address(7, 3), 9, 4);
	n = look(&bed, views);
	assert_in_range(n, 1, 3);
	assert_true(views[0].held_mbufs >= 8);
	for (uint32_t i = 0; i < n; i++) {
		assert_prefix(&views[i], 4, "\x0a\0\7\0", 24);
		held += views[i].held_mbufs;
	}
	assert_in_range(held, 8, 13);
	bed_fini(&bed);
}

/* Who has always delivered, and who never has. */
static void what_is_known(void **state)
{
	struct fm_source_view views[VIEWS_MAX];
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (int i = 0; i < 20; i++)
		send_from(&bed, 4, address(0, 1), 5, 5);
	for (int i = 0; i < 20; i++) {
		send_from(&bed, 4, address(0, 2), 5, 3);
		expire_all(&bed);
	}
	assert_int_equal(look(&bed, views), 2);
	assert_prefix(&views[0], 4, "\x0a\0\0\2", 32);
	assert_int_equal(views[0].size_mbufs, 0);
	assert_prefix(&views[1], 4, "\x0a\0\0\1", 32);
	assert_int_equal(views[1].size_mbufs, 5);
	assert_int_equal(views[1].gap_tsc, GAP);
	assert_in_range(views[1].chance_permille, 900, 1000);
	assert_in_range(views[0].chance_permille, 0, 500);
	bed_fini(&bed);
}

/* A held datagram is less likely to complete the longer it is silent. */
static void chance_of_a_datagram(void **state)
{
	struct fm_reass_view fresh, silent;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (int i = 0; i < 20; i++)
		send_from(&bed, 4, address(0, 1), 5, 5);
	send_from(&bed, 4, address(0, 1), 5, 3);
	assert_int_equal(fm_reass_views(bed.reass, bed.now - GAP, &fresh, 1), 1);
	assert_int_equal(fm_reass_views(bed.reass, bed.now + BED_TIMEOUT4 / 2, &silent, 1), 1);
	assert_in_range(fresh.chance_permille, 900, 1000);
	assert_in_range(silent.chance_permille, 0, fresh.chance_permille - 1);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody),
		cmocka_unit_test(order),
		cmocka_unit_test(sums),
		cmocka_unit_test(piece_by_piece),
		cmocka_unit_test(nothing_to_do),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(whole_addresses),
		cmocka_unit_test(prefix_is_changed),
		cmocka_unit_test(what_is_known),
		cmocka_unit_test(chance_of_a_datagram),
	};

	return cmocka_run_group_tests_name("view_source", tests, NULL, NULL);
}
