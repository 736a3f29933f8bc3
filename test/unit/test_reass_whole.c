/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams that are whole in one burst: joined and never held, whatever there is room for. */
#include "bed.h"
#include "internal.h"

enum { PIECES = 4, STEP = 64, BURST_MAX = FM_BURST_MAX };

struct load {
	struct rte_mbuf *m[BURST_MAX];
	uint16_t n;
};

static void add(struct bed *bed, struct load *load, struct fm_test_frag frag)
{
	assert_true(load->n < BURST_MAX);
	load->m[load->n++] = bed_mbuf(bed, &frag);
}

static struct fm_test_frag piece(uint8_t family, uint32_t id, uint32_t number, uint32_t pieces)
{
	return family == 4 ? bed_ipv4(id, number * STEP, STEP, number + 1 < pieces) :
			     bed_ipv6(id, number * STEP, STEP, number + 1 < pieces);
}

/* Pieces [from, to) of `pieces`. */
static void add_pieces(struct bed *bed, struct load *load, uint8_t family, uint32_t id, uint32_t from, uint32_t to,
		       uint32_t pieces)
{
	for (uint32_t i = from; i < to; i++)
		add(bed, load, piece(family, id, i, pieces));
}

static void send(struct bed *bed, struct load *load)
{
	bed_send_mbufs(bed, load->m, load->n, BED_PORT);
	load->n = 0;
}

static void assert_done(const struct bed *bed, uint16_t i, uint8_t family, uint32_t id, uint32_t pieces)
{
	const struct fm_test_frag frag = piece(family, id, 0, pieces);

	assert_int_equal(bed->whole[i].fragments, pieces);
	assert_int_equal(bed->whole[i].id, id);
	bed_assert_done(bed, i, &frag, STEP * pieces);
}

static void init(struct bed *bed, uint32_t budget, uint32_t datagrams, uint16_t max_fragments, bool verify)
{
	struct fm_reass_params params = bed_params();

	params.max_mbufs = params.settings.budget_mbufs = budget;
	params.max_datagrams = datagrams;
	params.settings.max_fragments = max_fragments;
	params.settings.verify_l4 = verify;
	bed_init_params(bed, &params);
}

/* One mbuf and one datagram are all there is room for, and 64 of 4 come. */
static void they_need_no_room(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 1, 1, 128, false);
	for (uint32_t id = 0; id < BURST_MAX / PIECES; id++)
		add_pieces(&bed, &load, id % 2 == 0 ? 4 : 6, id, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, BURST_MAX / PIECES);
	for (uint16_t i = 0; i < bed.n_done; i++)
		assert_done(&bed, i, i % 2 == 0 ? 4 : 6, i, PIECES);
	assert_int_equal(bed_count(&bed, FM_COMPLETED), BURST_MAX);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* Nor do they take any from those that are held. */
static void they_take_none(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 2, 1, 128, false);
	add_pieces(&bed, &load, 4, 1000, 0, 2, PIECES);
	send(&bed, &load);
	assert_int_equal(bed_held(&bed), 2);
	for (uint32_t id = 0; id < 10; id++)
		add_pieces(&bed, &load, 4, id, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 10);
	assert_int_equal(bed_held(&bed), 2);
	bed_fini(&bed);
}

static void one_key_again_and_again(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, false);
	add_pieces(&bed, &load, 4, 7, 0, 3, 3);
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	add_pieces(&bed, &load, 4, 7, 0, 2, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 2);
	assert_done(&bed, 0, 4, 7, 3);
	assert_done(&bed, 1, 4, 7, PIECES);
	assert_int_equal(bed_held(&bed), 2);
	/* What is held goes before what is whole: the rest of it, then another. */
	add_pieces(&bed, &load, 4, 7, 2, PIECES, PIECES);
	add_pieces(&bed, &load, 4, 7, 0, 2, 2);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 4);
	assert_done(&bed, 2, 4, 7, PIECES);
	assert_done(&bed, 3, 4, 7, 2);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* An atomic one is a datagram of its own, wherever it stands. */
static void atomic_ones_stand_in_between(void **state)
{
	for (uint32_t at = 0; at <= PIECES; at++) {
		struct load load = {.n = 0};
		struct bed bed;
		uint16_t atomic;

		(void)state;
		init(&bed, 64, 8, 128, false);
		add_pieces(&bed, &load, 6, 7, 0, at, PIECES);
		add(&bed, &load, piece(6, 7, 0, 1));
		add_pieces(&bed, &load, 6, 7, at, PIECES, PIECES);
		send(&bed, &load);
		assert_int_equal(bed.n_done, 2);
		atomic = bed.whole[0].fragments == 1 ? 0 : 1;
		assert_int_equal(atomic, at == PIECES);
		assert_done(&bed, atomic, 6, 7, 1);
		assert_done(&bed, 1 - atomic, 6, 7, PIECES);
		bed_fini(&bed);
	}
}

static void none_of_a_condemned_key(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, false);
	add(&bed, &load, bed_ipv4(7, 0, 64, true));
	add(&bed, &load, bed_ipv4(7, 8, 64, true));
	send(&bed, &load);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), PIECES);
	bed.now += BED_TIMEOUT4;
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 1);
	bed_fini(&bed);
}

/* In the burst itself, too: what makes it condemned stands before what would be whole. */
static void none_behind_what_condemned_it(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, false);
	add(&bed, &load, bed_ipv4(7, 8, 64, true));
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), PIECES - 1);
	bed_fini(&bed);
}

static void the_one_before_has_expired(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, false);
	add_pieces(&bed, &load, 4, 7, 1, 3, PIECES);
	send(&bed, &load);
	bed.now += BED_TIMEOUT4;
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 2);
	assert_int_equal(bed.n_done, 1);
	assert_done(&bed, 0, 4, 7, PIECES);
	bed_fini(&bed);
}

static void as_many_fragments_as_may_be(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, PIECES, false);
	add_pieces(&bed, &load, 4, 1, 0, PIECES, PIECES);
	add_pieces(&bed, &load, 4, 2, 0, PIECES + 1, PIECES + 1);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 1);
	assert_done(&bed, 0, 4, 1, PIECES);
	assert_int_equal(bed_count(&bed, FM_TOO_MANY_FRAGMENTS), PIECES + 1);
	bed_fini(&bed);
}

static void what_is_wrong_with_the_whole(void **state)
{
	struct load load = {.n = 0};
	struct fm_test_frag frag;
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, true);
	/* Not-ECT and CE. */
	for (uint32_t i = 0; i < PIECES; i++) {
		frag = piece(4, 1, i, PIECES);
		frag.tos = i == 2 ? 3 : 0;
		add(&bed, &load, frag);
	}
	/* The test bytes are no UDP datagram. */
	add_pieces(&bed, &load, 4, 2, 0, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_ECN_MISMATCH), PIECES);
	assert_int_equal(bed_count(&bed, FM_BAD_L4_CHECKSUM), PIECES);
	assert_int_equal(bed_held(&bed), 0);
	/* Neither of them has condemned its key. */
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed_fini(&bed);
}

/* Somebody else holds one of them: it cannot be changed, and without a pool there is nothing to copy it to. */
static void one_of_them_is_shared(void **state)
{
	for (int pool = 0; pool < 2; pool++) {
		struct load load = {.n = 0};
		struct rte_mbuf *shared;
		struct bed bed;

		(void)state;
		init(&bed, 64, 8, 128, false);
		if (!pool)
			fm_test_pool_limit(bed.header_pool, 0);
		add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
		shared = load.m[1];
		rte_mbuf_refcnt_update(shared, 1);
		send(&bed, &load);
		assert_int_equal(bed.n_done, pool);
		assert_int_equal(bed_count(&bed, FM_COMPLETED), pool ? PIECES : 0);
		assert_int_equal(bed_count(&bed, FM_NO_MBUF), pool ? 0 : 2);
		assert_int_equal(bed_count(&bed, FM_CONDEMNED), pool ? 0 : PIECES - 2);
		bed_clear(&bed);
		rte_pktmbuf_free(shared);
		bed_fini(&bed);
	}
}

/* A datagram in as many fragments as a burst has frames. */
static void a_burst_of_one(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 1, 1, FM_FRAGMENTS_MAX, false);
	for (uint32_t i = 0; i < BURST_MAX; i++)
		add(&bed, &load, piece(4, 7, i * 101 % BURST_MAX, BURST_MAX));
	send(&bed, &load);
	assert_int_equal(bed.n_done, 1);
	assert_done(&bed, 0, 4, 7, BURST_MAX);
	bed_fini(&bed);
}

/* Of two that are whole one after the other the second needs no more than the first. */
static void what_comes_behind_it_begins_another(void **state)
{
	struct load load = {.n = 0};
	struct bed bed;

	(void)state;
	init(&bed, 64, 8, 128, false);
	add_pieces(&bed, &load, 4, 7, 0, PIECES, PIECES);
	/* Late duplicates: nothing is known of what was joined. */
	add_pieces(&bed, &load, 4, 7, 1, PIECES, PIECES);
	send(&bed, &load);
	assert_int_equal(bed.n_done, 1);
	assert_int_equal(bed_held(&bed), PIECES - 1);
	assert_int_equal(bed_count(&bed, FM_DUPLICATE), 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_need_no_room),
		cmocka_unit_test(they_take_none),
		cmocka_unit_test(one_key_again_and_again),
		cmocka_unit_test(atomic_ones_stand_in_between),
		cmocka_unit_test(none_of_a_condemned_key),
		cmocka_unit_test(none_behind_what_condemned_it),
		cmocka_unit_test(the_one_before_has_expired),
		cmocka_unit_test(as_many_fragments_as_may_be),
		cmocka_unit_test(what_is_wrong_with_the_whole),
		cmocka_unit_test(one_of_them_is_shared),
		cmocka_unit_test(a_burst_of_one),
		cmocka_unit_test(what_comes_behind_it_begins_another),
	};

	return cmocka_run_group_tests_name("whole in a burst", tests, NULL, NULL);
}
