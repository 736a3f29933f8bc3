/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries and nodes share cells, and there are hardly more of them than mbufs: no order in which fragments come may
 * need more. Orders that are bad for trees, one that looks for the leaf that is about to split, and random ones; and
 * tables that are filled to the last mbuf.
 */
#include "bed.h"
#include "internal.h"
#include "random.h"

enum {
	PLACES = 4096,		/* of 8 bytes each */
	MBUFS_MAX = 160,
	SEEDS = 40,
	TABLES = 150,
	DATAGRAMS_MAX = 24,
};

static uint32_t cells_used(const struct fm_reass *r)
{
	uint32_t left = 0;

	for (uint32_t n = r->free_cell; n != FM_NONE; n = fm_entry(r, n)->chain)
		left++;
	return r->n_cells - left;
}

/* What the table is laid out for, but for the few to spare. */
static uint32_t cells_allowed(uint32_t datagrams, uint32_t mbufs)
{
	return RTE_MIN(2 * datagrams + mbufs / 3, mbufs);
}

static void send_place(struct bed *bed, uint32_t id, uint32_t place)
{
	const struct fm_test_frag frag = bed_ipv4(id, 8 * place, 8, true);

	bed_send(bed, &frag);
}

/* Nobody is judged, so nothing but the budget keeps a fragment out. */
static void init(struct bed *bed, uint32_t mbufs, uint32_t datagrams)
{
	struct fm_reass_params params = bed_params();

	params.max_mbufs = params.settings.budget_mbufs = mbufs;
	params.max_datagrams = datagrams;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	bed_init_params(bed, &params);
	bed->reass->ease_mbufs = bed->reass->ease_datagrams = UINT32_MAX;
}

static uint32_t in_order(uint32_t i)
{
	return i;
}

static uint32_t backwards(uint32_t i)
{
	return PLACES - 1 - i;
}

static uint32_t from_both_ends(uint32_t i)
{
	return i % 2 == 0 ? i / 2 : PLACES - 1 - i / 2;
}

static uint32_t from_the_middle(uint32_t i)
{
	return i % 2 == 0 ? PLACES / 2 + i / 2 : PLACES / 2 - 1 - i / 2;
}

/* Each between two others, as far from both as can be. */
static uint32_t halves(uint32_t i)
{
	uint32_t place = 0;

	for (uint32_t bit = PLACES / 2; bit > 0; bit /= 2, i /= 2)
		place += i % 2 * bit;
	return place;
}

/* In runs, each run before the one that came last. */
static uint32_t runs_backwards(uint32_t i)
{
	enum { RUN = 6 };

	return PLACES - RUN * (1 + i / RUN) + i % RUN;
}

/* To the end in order, then the gaps from the front. */
static uint32_t even_then_odd(uint32_t i)
{
	return i < MBUFS_MAX / 2 ? 2 * i : 2 * (i - MBUFS_MAX / 2) + 1;
}

static void known_orders(void **state)
{
	static uint32_t (*const orders[])(uint32_t i) = {
		in_order, backwards, from_both_ends, from_the_middle, halves, runs_backwards, even_then_odd,
	};
	struct bed bed;

	(void)state;
	init(&bed, MBUFS_MAX, 1);
	for (size_t o = 0; o < RTE_DIM(orders); o++) {
		for (uint32_t i = 0; i < MBUFS_MAX; i++) {
			send_place(&bed, 1, orders[o](i));
			assert_int_equal(bed_held(&bed), i + 1);
			assert_true(cells_used(bed.reass) <= cells_allowed(1, i + 1));
		}
		fm_reass_flush(bed.reass);
		assert_int_equal(cells_used(bed.reass), 0);
	}
	bed_fini(&bed);
}

/* A place where there is nothing yet, beside the extents of the fullest leaf that has one. */
static uint32_t worst_place(const struct fm_reass *r, const struct fm_datagram *d, const bool taken[PLACES],
			    struct random *random)
{
	uint32_t best = random_below(random, PLACES), fullest = 0;

	for (struct fm_run run = fm_run_first(r, d); run.count > 0; fm_run_next(r, &run)) {
		const uint32_t first = fm_extent_offset(&run.extent[0]) / 8;
		const uint32_t last = fm_extent_offset(&run.extent[run.count - 1]) / 8;
		uint32_t place = first + random_below(random, last - first + 1);

		for (uint32_t i = 0; i <= last - first && taken[place]; i++)
			place = place == last ? first : place + 1;
		if (!taken[place] && (run.count > fullest || (run.count == fullest && random_below(random, 2) == 0))) {
			fullest = run.count;
			best = place;
		}
	}
	while (taken[best])
		best = (best + 1) % PLACES;
	return best;
}

static void orders_that_split(void **state)
{
	struct bed bed;

	(void)state;
	init(&bed, MBUFS_MAX, 1);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random random = {.state = seed * 0x9e3779b97f4a7c15};
		static bool taken[PLACES];

		memset(taken, 0, sizeof(taken));
		for (uint32_t i = 0; i < MBUFS_MAX; i++) {
			const struct fm_datagram *d = fm_entry(bed.reass, bed.reass->age[FM_IPV4].head);
			const uint32_t place = i == 0 || random_below(&random, 16) < seed % 8 ?
						       random_below(&random, PLACES) :
						       worst_place(bed.reass, d, taken, &random);

			if (!taken[place])
				send_place(&bed, 1, place);
			taken[place] = true;
			assert_true(cells_used(bed.reass) <= cells_allowed(1, (uint32_t)bed_held(&bed)));
		}
		assert_int_equal(bed_count(&bed, FM_EVICTED_PROGRESS), 0);
		fm_reass_flush(bed.reass);
	}
	bed_fini(&bed);
}

/* Any tables, filled: however many datagrams share the mbufs, and in whatever order the fragments come. */
static void every_mbuf_finds_its_cells(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= TABLES; seed++) {
		struct random random = {.state = seed * 0x9e3779b97f4a7c15};
		const uint32_t datagrams = 1 + random_below(&random, seed % 2 == 0 ? 4 : DATAGRAMS_MAX);
		const uint32_t mbufs = datagrams + random_below(&random, MBUFS_MAX);
		static bool taken[DATAGRAMS_MAX][PLACES];
		struct bed bed;

		memset(taken, 0, sizeof(taken));
		init(&bed, mbufs, datagrams);
		for (uint32_t n = 0; n < mbufs;) {
			const uint32_t id = n < datagrams ? n : random_below(&random, datagrams);
			const uint32_t place = seed % 3 == 0 ? PLACES - 1 - n : random_below(&random, PLACES);

			if (taken[id][place])
				continue;
			taken[id][place] = true;
			send_place(&bed, id, place);
			assert_int_equal(bed_held(&bed), ++n);
		}
		assert_true(cells_used(bed.reass) <= cells_allowed(datagrams, mbufs));
		bed_fini(&bed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_orders),
		cmocka_unit_test(orders_that_split),
		cmocka_unit_test(every_mbuf_finds_its_cells),
	};

	return cmocka_run_group_tests_name("cells", tests, NULL, NULL);
}
