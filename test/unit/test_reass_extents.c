/* SPDX-License-Identifier: BSD-3-Clause */
/* Thousands of fragments of one datagram in any order, and a table full to the last mbuf. */
#include "bed.h"

enum { PIECE = 8, PIECES = 8190, TOTAL = PIECE * (PIECES - 1) + 3, BUDGET = 4096, CHECK_EVERY = 701 };

enum order {
	IN_ORDER, REVERSED, EVENS_THEN_ODDS, OUTSIDE_IN, INSIDE_OUT, STRIDE, SHUFFLED,
	/* These insert at the end of nodes that are not the last: where each split leaves a nearly empty node, the tree
	 * grows without bound in height, and past its slab. */
	LAST_FIRST, BLOCKS_BACKWARDS, BLOCKS_IN_BLOCKS_BACKWARDS,
	ORDERS
};

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Blocks from the last to the first, each in ascending order. */
static uint32_t backwards(uint32_t i, uint32_t n, uint32_t block)
{
	const uint32_t blocks = (n + block - 1) / block, short_by = blocks * block - n;
	const uint32_t at = i + (i >= block - short_by ? short_by : 0);

	/* The last block is the short one, and comes first. */
	return (blocks - 1 - at / block) * block + (i < block - short_by ? i : at % block);
}

static void fill_order(uint32_t *order, uint32_t n, enum order how)
{
	uint32_t random = 99, swap;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t inside = i % 2 == 0 ? i / 2 : n - 1 - i / 2;
		const uint32_t by_order[] = {
			[IN_ORDER] = i,
			[REVERSED] = n - 1 - i,
			[EVENS_THEN_ODDS] = i < (n + 1) / 2 ? 2 * i : 2 * (i - (n + 1) / 2) + 1,
			[OUTSIDE_IN] = inside,
			[STRIDE] = (uint32_t)((uint64_t)i * 4099 % n),
			[SHUFFLED] = i,
			[LAST_FIRST] = i == 0 ? n - 1 : i - 1,
			[BLOCKS_BACKWARDS] = backwards(i, n, 90),
			[BLOCKS_IN_BLOCKS_BACKWARDS] = backwards(backwards(i, n, 600), n, 30),
		};

		if (how == INSIDE_OUT)
			order[n - 1 - i] = inside;
		else
			order[i] = by_order[how];
	}
	for (uint32_t i = n; how == SHUFFLED && i > 1; i--) {
		const uint32_t j = next_random(&random) % i;

		swap = order[i - 1];
		order[i - 1] = order[j];
		order[j] = swap;
	}
}

/* As bed_send() without its checks, which walk the whole table. */
static void send_quick(struct bed *bed, const struct fm_test_frag *frag)
{
	struct rte_mbuf *m = bed_mbuf(bed, frag);
	struct fm_result result;

	fm_reass_burst(bed->reass, &m, 1, BED_PORT, bed->now, &result);
	if (result.n_done > 0) {
		bed->done[bed->n_done] = result.done[0];
		bed->whole[bed->n_done++] = result.whole[0];
	}
}

static void piece_of(struct fm_test_frag *frag, uint32_t i)
{
	frag->offset = PIECE * i;
	frag->more = i < PIECES - 1;
	frag->length = frag->more ? PIECE : TOTAL - PIECE * (PIECES - 1);
}

static void every_order(void **state)
{
	struct fm_reass_params params = bed_params();
	static uint32_t order[PIECES];
	char err[200];
	struct bed bed;

	(void)state;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	/* Room for what is held before the last one comes, and not for one mbuf more. */
	params.max_mbufs = params.settings.budget_mbufs = PIECES - 1;
	bed_init_params(&bed, &params);
	for (unsigned int how = 0; how < ORDERS; how++) {
		struct fm_test_frag frag = bed_ipv6(how, 0, 0, false);

		fill_order(order, PIECES, (enum order)how);
		for (uint32_t i = 0; i < PIECES; i++) {
			piece_of(&frag, order[i]);
			send_quick(&bed, &frag);
			if (i % CHECK_EVERY == 0 && !fm_reass_sound(bed.reass, err, sizeof(err)))
				fail_msg("order %u, fragment %u: %s", how, i, err);
		}
		assert_int_equal(bed.n_done, 1);
		bed_assert_done(&bed, 0, &frag, TOTAL);
		bed_clear(&bed);
	}
	assert_int_equal(bed_count(&bed, FM_COMPLETED), ORDERS * PIECES);
	bed_fini(&bed);
}

/* A duplicate or overlap of each piece is found wherever it lies among thousands. */
static void found_among_thousands(void **state)
{
	struct fm_reass_params params = bed_params();
	static uint32_t order[PIECES];
	struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	struct bed bed;

	(void)state;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	params.max_mbufs = params.settings.budget_mbufs = PIECES;
	bed_init_params(&bed, &params);
	fill_order(order, PIECES, SHUFFLED);
	for (uint32_t i = 0; i < PIECES - 1; i++) {
		piece_of(&frag, order[i]);
		send_quick(&bed, &frag);
		piece_of(&frag, order[i / 2]);
		send_quick(&bed, &frag);
	}
	assert_int_equal(bed_count(&bed, FM_DUPLICATE), PIECES - 1);
	assert_int_equal(bed_held(&bed), PIECES - 1);
	piece_of(&frag, order[PIECES / 3]);
	frag.payload = (const uint8_t *)"otherwise";
	send_quick(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), PIECES);
	assert_int_equal(bed_held(&bed), 0);
	bed_fini(&bed);
}

/* The budget can be used to its last mbuf, however the fragments are spread over datagrams and in whatever order. */
static void full_to_the_last_mbuf(void **state)
{
	struct fm_reass_params params = bed_params();
	static uint32_t order[BUDGET];
	char err[200];
	struct bed bed;

	(void)state;
	params.max_datagrams = params.max_mbufs = params.settings.budget_mbufs = BUDGET;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	bed_init_params(&bed, &params);
	for (uint32_t each = 1; each <= BUDGET; each = each * 2 + 1) {
		for (unsigned int how = 0; how < ORDERS; how++) {
			fill_order(order, each, (enum order)how);
			for (uint32_t i = 0; i < BUDGET; i++) {
				const struct fm_test_frag frag =
					bed_ipv4(i / each, PIECE * order[i % each], PIECE, true);

				send_quick(&bed, &frag);
			}
			assert_int_equal(fm_reass_stats(bed.reass)->held_mbufs, BUDGET);
			if (!fm_reass_sound(bed.reass, err, sizeof(err)))
				fail_msg("%u fragments each, order %u: %s", each, how, err);
			assert_int_equal(fm_reass_flush(bed.reass), BUDGET);
		}
	}
	assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 0);
	assert_int_equal(bed_count(&bed, FM_REFUSED_BUDGET), 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order),
		cmocka_unit_test(found_among_thousands),
		cmocka_unit_test(full_to_the_last_mbuf),
	};

	return cmocka_run_group_tests_name("reassembly: extents", tests, NULL, NULL);
}
