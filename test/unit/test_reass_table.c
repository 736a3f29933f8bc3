/* SPDX-License-Identifier: BSD-3-Clause */
/* The index: many datagrams at a time, keys that collide, and what it shows of them. */
#include "bed.h"
#include "internal.h"

enum { MANY = 20000, KEYS = 1 << 17, SAME_BUCKET = 40, BUCKET_BITS = 12 };

/* All first fragments, then all last ones, in another order. */
static void many_at_a_time(void **state)
{
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.max_datagrams = params.max_mbufs = params.settings.budget_mbufs = MANY;
	bed_init_params(&bed, &params);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < MANY; i += FM_BURST_MAX / 4) {
			struct rte_mbuf *in[FM_BURST_MAX / 4];
			struct fm_result result;
			uint16_t n = 0;

			for (; n < FM_BURST_MAX / 4 && i + n < MANY; n++) {
				const uint32_t id = pass == 0 ? i + n : (i + n) * 7919 % MANY;
				struct fm_test_frag frag = bed_ipv4(id & 0xffff, 64 * pass, 64, pass == 0);

				frag.source = id >> 4;
				in[n] = bed_mbuf(&bed, &frag);
			}
			fm_reass_burst(bed.reass, in, n, BED_PORT, bed.now, &result);
			assert_int_equal(result.n_done, pass == 0 ? 0 : n);
			rte_pktmbuf_free_bulk(result.done, result.n_done);
		}
		assert_int_equal(fm_reass_stats(bed.reass)->datagrams, pass == 0 ? MANY : 0);
	}
	assert_int_equal(bed_count(&bed, FM_COMPLETED), 2 * MANY);
	bed_fini(&bed);
}

/* A key and its hash, computed here from the parser's key with the table's published hash function. */
struct hashed {
	uint32_t hash;
	uint32_t number;
};

static struct fm_test_frag numbered(uint32_t number)
{
	struct fm_test_frag frag = bed_ipv4(number & 0xffff, 0, 64, true);

	frag.source = 0x0a000000 | number >> 16;
	return frag;
}

static uint32_t hash_of(const uint8_t secret[FM_SECRET_LEN], const struct fm_test_frag *frag)
{
	struct fm_siphash_key key;
	struct fm_frag parsed;
	enum fm_outcome why;
	uint8_t frame[200];
	const uint32_t len = fm_test_frame(frag, frame);

	assert_int_equal(fm_frame_parse(frame, len, len, BED_PORT, 0, &parsed, &why), FM_VERDICT_FRAGMENT);
	memcpy(&key, secret, sizeof(key));
	return (uint32_t)fm_siphash13(&key, parsed.key.word, 2) & ~1U;
}

static int by_hash(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static struct hashed *hash_keys(const uint8_t secret[FM_SECRET_LEN])
{
	struct hashed *keys = malloc(KEYS * sizeof(*keys));

	assert_non_null(keys);
	for (uint32_t i = 0; i < KEYS; i++) {
		const struct fm_test_frag frag = numbered(i);

		keys[i] = (struct hashed){.hash = hash_of(secret, &frag), .number = i};
	}
	qsort(keys, KEYS, sizeof(*keys), by_hash);
	return keys;
}

static void assert_pair_stays_apart(struct bed *bed, uint32_t a, uint32_t b)
{
	struct fm_test_frag one = numbered(a), two = numbered(b);

	bed_send_pieces(bed, &one, 200, 104, 0, 1);
	bed_send_pieces(bed, &two, 200, 104, 0, 1);
	assert_int_equal(bed_held(bed), 2);
	bed_send_pieces(bed, &one, 200, 104, 1, 2);
	bed_send_pieces(bed, &two, 200, 104, 1, 2);
	assert_int_equal(bed->n_done, 2);
	bed_assert_done(bed, 0, &one, 200);
	bed_assert_done(bed, 1, &two, 200);
	bed_clear(bed);
}

/*
 * Two keys with one and the same 32-bit hash are two datagrams: whole keys are compared. And keys that collide under
 * one secret do not under another, as they would with a CRC or Toeplitz hash whatever its seed.
 */
static void equal_hashes_are_different_keys(void **state)
{
	const struct fm_reass_params params = bed_params();
	uint8_t other_secret[FM_SECRET_LEN] = "not known here.";
	struct hashed *keys = hash_keys(params.secret);
	unsigned int collisions = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 1; i < KEYS; i++) {
		struct fm_test_frag a, b;

		if (keys[i].hash != keys[i - 1].hash)
			continue;
		collisions++;
		assert_pair_stays_apart(&bed, keys[i - 1].number, keys[i].number);
		a = numbered(keys[i - 1].number);
		b = numbered(keys[i].number);
		assert_int_not_equal(hash_of(other_secret, &a), hash_of(other_secret, &b));
	}
	/* 2^17 keys in 2^32 values: 2 expected; with this secret there are some. */
	assert_int_not_equal(collisions, 0);
	free(keys);
	bed_fini(&bed);
}

/* Far more keys in one bucket than it has slots, in and out in different orders. */
static void one_bucket_overflows(void **state)
{
	const struct fm_reass_params params = bed_params();
	uint32_t numbers[SAME_BUCKET], n = 0;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; n < SAME_BUCKET; i++) {
		const struct fm_test_frag frag = numbered(i);

		if (hash_of(params.secret, &frag) >> (32 - BUCKET_BITS) == 5)
			numbers[n++] = i;
	}
	for (uint32_t round = 0; round < 4; round++) {
		for (uint32_t i = 0; i < SAME_BUCKET; i++) {
			const struct fm_test_frag frag = numbered(numbers[i]);

			bed_send_pieces(&bed, &frag, 200, 104, 0, 1);
		}
		assert_int_equal(bed_held(&bed), SAME_BUCKET);
		for (uint32_t i = 0; i < SAME_BUCKET; i++) {
			const uint32_t at[] = {i, SAME_BUCKET - 1 - i, i * 7 % SAME_BUCKET, i * 31 % SAME_BUCKET};
			const struct fm_test_frag frag = numbered(numbers[at[round]]);

			bed_send_pieces(&bed, &frag, 200, 104, 1, 2);
			assert_int_equal(bed.n_done, i + 1);
			bed_assert_done(&bed, (uint16_t)i, &frag, 200);
		}
		bed_clear(&bed);
	}
	bed_fini(&bed);
}

/* Tables of any size, not only powers of two: full, then emptied, in another order each time. */
static void every_size_works_when_full(void **state)
{
	static const uint32_t sizes[] = {1, 2, 3, 5, 7, 8, 1000, 4097};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(sizes); i++) {
		struct fm_reass_params params = bed_params();
		const uint32_t size = sizes[i];
		struct rte_mbuf *m[64];
		struct bed bed;
		uint16_t n = 0;

		params.max_datagrams = size;
		params.max_mbufs = params.settings.budget_mbufs = 2 * size;
		bed_init_params(&bed, &params);
		bed.reass->ease_mbufs = bed.reass->ease_datagrams = UINT32_MAX;
		/* First fragments, all of them held. */
		for (uint32_t id = 0; id < size; id++) {
			struct fm_test_frag frag = id % 2 == 0 ? bed_ipv4(id, 0, 64, true) : bed_ipv6(id, 0, 64, true);

			frag.source = id;
			m[n++] = bed_mbuf(&bed, &frag);
			if (n < RTE_DIM(m) && id + 1 < size)
				continue;
			bed_send_mbufs(&bed, m, n, BED_PORT);
			n = 0;
			bed_clear(&bed);
		}
		assert_int_equal(fm_reass_stats(bed.reass)->datagrams, size);
		/* The last ones, with a step that takes them all. */
		for (uint32_t k = 0; k < size; k++) {
			const uint32_t id = (uint32_t)((uint64_t)k * 1009 % size);
			struct fm_test_frag frag =
				id % 2 == 0 ? bed_ipv4(id, 64, 8, false) : bed_ipv6(id, 64, 8, false);

			frag.source = id;
			m[n++] = bed_mbuf(&bed, &frag);
			if (n < RTE_DIM(m) && k + 1 < size)
				continue;
			bed_send_mbufs(&bed, m, n, BED_PORT);
			assert_int_equal(bed.n_done, n);
			n = 0;
			bed_clear(&bed);
		}
		assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 0);
		assert_int_equal(bed_count(&bed, FM_COMPLETED), 2 * size);
		bed_fini(&bed);
	}
}

static void views_of_nothing(void **state)
{
	struct fm_reass_view view;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	assert_int_equal(fm_reass_views(bed.reass, bed.now, &view, 1), 0);
	bed_fini(&bed);
}

/* Oldest first, each field, condemned ones not among them. */
static void views(void **state)
{
	static const uint8_t source4[4] = {10, 0, 0, 1}, destination4[4] = {10, 0, 0, 2};
	static const uint8_t source6[16] = {0xfd, 7, [12] = 10, 0, 0, 1};
	struct fm_test_frag ipv4 = bed_ipv4(0x1234, 64, 64, true), ipv6 = bed_ipv6(0x89abcdef, 200, 40, false);
	const struct fm_test_frag condemned = bed_ipv4(7, 0, 64, true), overlap = bed_ipv4(7, 8, 64, true);
	struct fm_reass_view view[8];
	struct rte_mbuf *m;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	ipv6.vlans = 2;
	ipv6.tci[0] = 0x2005;
	ipv6.tci[1] = 6;
	m = bed_mbuf(&bed, &ipv6);
	bed_send_mbufs(&bed, &m, 1, 3);
	bed.now += 100;
	bed_send(&bed, &ipv4);
	bed_send(&bed, &condemned);
	bed_send(&bed, &overlap);
	bed.now += 20;
	ipv4.offset = 192;
	bed_send(&bed, &ipv4);
	bed.now += 3;
	assert_int_equal(fm_reass_views(bed.reass, bed.now, view, 8), 2);
	assert_int_equal(view[0].family, 6);
	assert_int_equal(view[0].id, 0x89abcdef);
	assert_int_equal(view[0].age_tsc, 123);
	assert_int_equal(view[0].idle_tsc, 123);
	assert_int_equal(view[0].held_bytes, 40);
	assert_int_equal(view[0].end_bytes, 240);
	assert_int_equal(view[0].missing_ranges, 1);
	assert_int_equal(view[0].port, 3);
	assert_int_equal(view[0].vlan[0], 5);
	assert_int_equal(view[0].vlan[1], 6);
	assert_int_equal(view[0].protocol, 0);
	assert_memory_equal(view[0].source, source6, 16);
	assert_int_equal(view[1].family, 4);
	assert_int_equal(view[1].id, 0x1234);
	assert_int_equal(view[1].age_tsc, 23);
	assert_int_equal(view[1].idle_tsc, 3);
	assert_int_equal(view[1].held_bytes, 128);
	assert_int_equal(view[1].end_bytes, 0);
	assert_int_equal(view[1].fragments, 2);
	assert_int_equal(view[1].held_mbufs, 2);
	/* Before, between and behind: the last one has not come. */
	assert_int_equal(view[1].missing_ranges, 3);
	assert_int_equal(view[1].vlan[0], 0xffff);
	assert_int_equal(view[1].protocol, 17);
	assert_memory_equal(view[1].source, source4, 4);
	assert_memory_equal(view[1].destination, destination4, 4);
	assert_false(view[1].cold);
	/* No more than asked for; and cold in the end. */
	memset(view, 0, sizeof(view));
	assert_int_equal(fm_reass_views(bed.reass, bed.now + BED_TIMEOUT4 - 124, view, 1), 1);
	assert_int_equal(view[0].family, 6);
	assert_true(view[0].cold);
	assert_int_equal(view[1].family, 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_at_a_time),
		cmocka_unit_test(equal_hashes_are_different_keys),
		cmocka_unit_test(one_bucket_overflows),
		cmocka_unit_test(every_size_works_when_full),
		cmocka_unit_test(views_of_nothing),
		cmocka_unit_test(views),
	};

	return cmocka_run_group_tests_name("reassembly: table", tests, NULL, NULL);
}
