/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hundreds of datagrams at a time and not enough memory, in bursts of up to 256: the table looks ahead at entries that
 * others of the same burst complete, evict, let expire and use again. Whether memory is scarce changes as often as it
 * can, so that datagrams are begun young, enrolled, and judged in every mixture. After each operation the test bed
 * asserts the budget, every invariant and the accounts; what comes out must be right byte for byte. A stream that fails
 * prints its seed; `test_crowd SEED` runs it alone.
 */
#include <stdio.h>

#include "bed.h"
#include "internal.h"
#include "random.h"

enum {
	SEEDS = 60,
	OPERATIONS = 220,
	SLOTS = 500,
	SOURCES = 40,
	PIECES_MAX = 30,
	MBUFS_MAX = 700,
	LOOKS_AHEAD = 96,
	NETWORK = 0x0a000000,
};

/* One datagram after the other. */
struct slot {
	uint32_t id;		/* of the present one */
	uint32_t unsent;	/* bit per piece */
	bool shuffled;
};

struct stream {
	struct bed bed;
	struct random random;
	struct slot slot[SLOTS];
	uint32_t next_slot, slots;
};

static uint64_t seed_first = 1, seed_last = SEEDS;
static uint64_t seen[FM_OUTCOME_MAX], seen_ahead, seen_young_evicted;

/* All about a datagram follows from its identification. */
static uint32_t pieces_of(uint32_t id)
{
	static const uint32_t pieces[] = {2, 2, 2, 3, 2, 4, 5, 3, 2, 9, 2, 6, 2, PIECES_MAX, 3, 2};

	return pieces[id * 7 / SLOTS % RTE_DIM(pieces)];
}

static uint32_t step_of(uint32_t id)
{
	return 8 * (1 + id % 5);
}

static uint32_t total_of(uint32_t id)
{
	return step_of(id) * (pieces_of(id) - 1) + 1 + id % step_of(id);
}

static struct fm_test_frag frag_of(uint32_t id)
{
	struct fm_test_frag frag = id % 3 == 0 ? bed_ipv6(id, 0, 0, false) : bed_ipv4(id, 0, 0, false);

	frag.source = NETWORK + id % SLOTS % SOURCES;
	frag.vlans = id % 11 == 0;
	return frag;
}

static void begin(struct stream *s, struct slot *slot)
{
	slot->id += SLOTS;
	slot->unsent = (uint32_t)((UINT64_C(1) << pieces_of(slot->id)) - 1);
	slot->shuffled = random_below(&s->random, 3) == 0;
	if (random_below(&s->random, 4) == 0)
		slot->unsent &= ~(1U << random_below(&s->random, pieces_of(slot->id)));
}

static struct fm_test_frag next_piece(struct stream *s, struct slot *slot)
{
	struct fm_test_frag frag;
	uint32_t skip, number;

	if (slot->unsent == 0)
		begin(s, slot);
	skip = slot->shuffled ? random_below(&s->random, (uint32_t)__builtin_popcount(slot->unsent)) : 0;
	for (number = 0; !(slot->unsent >> number & 1) || skip-- > 0; number++)
		;
	slot->unsent &= ~(1U << number);
	frag = frag_of(slot->id);
	frag.offset = number * step_of(slot->id);
	frag.more = frag.offset + step_of(slot->id) < total_of(slot->id);
	frag.length = frag.more ? step_of(slot->id) : total_of(slot->id) - frag.offset;
	/* Now and then one that overlaps what there is, and some once more. */
	if (number > 0 && frag.more && random_below(&s->random, 60) == 0)
		frag.offset -= 8;
	if (random_below(&s->random, 60) == 0)
		slot->unsent |= 1U << number;
	return frag;
}

/* In turn, so that as many as can be are there at a time; the next piece of the same one now and then. */
static struct slot *next_slot(struct stream *s)
{
	const uint32_t what = random_below(&s->random, 8);

	if (what == 0)
		return &s->slot[random_below(&s->random, s->slots)];
	if (what < 6)
		s->next_slot = (s->next_slot + 1) % s->slots;
	return &s->slot[s->next_slot];
}

static uint64_t evicted(const struct stream *s)
{
	return bed_count(&s->bed, FM_EVICTED_COLD) + bed_count(&s->bed, FM_EVICTED_UNLIKELY) +
	       bed_count(&s->bed, FM_EVICTED_PROGRESS);
}

static void burst(struct stream *s, uint16_t n)
{
	const uint64_t before = evicted(s), young = s->bed.reass->n_young;
	struct rte_mbuf *m[FM_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const struct fm_test_frag frag = next_piece(s, next_slot(s));

		m[i] = bed_mbuf(&s->bed, &frag);
	}
	seen_ahead += fm_reass_stats(s->bed.reass)->datagrams > LOOKS_AHEAD;
	bed_send_mbufs(&s->bed, m, n, BED_PORT);
	/* Nobody gives way while there is one that has not been judged. */
	if (n == 1 && evicted(s) > before)
		assert_int_equal(s->bed.reass->n_young, 0);
	seen_young_evicted += young > 0 && evicted(s) > before;
	for (uint16_t i = 0; i < s->bed.n_done; i++) {
		const uint32_t id = s->bed.whole[i].id;
		const struct fm_test_frag frag = frag_of(id);

		bed_assert_done(&s->bed, i, &frag, total_of(id));
	}
	bed_clear(&s->bed);
}

static void change_settings(struct stream *s)
{
	struct fm_reass_settings settings = s->bed.params.settings;
	const uint64_t before = evicted(s);

	settings.budget_mbufs = 1 + random_below(&s->random, s->bed.params.max_mbufs);
	settings.timeout_tsc[FM_IPV4] = 100 + random_below(&s->random, 2000);
	settings.timeout_tsc[FM_IPV6] = 100 + random_below(&s->random, 2000);
	settings.source_prefix[FM_IPV4] = (uint8_t)(random_below(&s->random, 3) * 14);
	bed_set(&s->bed, &settings);
	if (evicted(s) > before)
		assert_int_equal(s->bed.reass->n_young, 0);
}

static void look(struct stream *s)
{
	struct fm_reass *r = s->bed.reass;
	struct fm_source_view sources[8];
	struct fm_reass_view views[64];
	uint64_t held = 0;
	uint32_t n = 0, at = 0;

	do
		at = fm_reass_sources(r, at, 1 + random_below(&s->random, 300), sources, RTE_DIM(sources), &n);
	while (at != 0);
	assert_int_equal(r->n_young, 0);
	for (uint32_t i = 0; i < n; i++)
		held += sources[i].held_mbufs;
	assert_true(held <= fm_reass_stats(r)->held_mbufs);
	n = fm_reass_views(r, s->bed.now, views, RTE_DIM(views));
	assert_int_equal(n, RTE_MIN(fm_reass_stats(r)->datagrams, RTE_DIM(views)));
	for (uint32_t i = 0; i < n; i++)
		assert_true(views[i].chance_permille <= 1000);
}

static void operate(struct stream *s)
{
	static const uint32_t segments[] = {0, 0, 0, 0, 30};
	const uint32_t what = random_below(&s->random, 100);

	s->bed.now += random_below(&s->random, 4);
	if (what < 30)
		for (uint32_t i = random_below(&s->random, 40); i > 0; i--)
			burst(s, 1);
	else if (what < 75)
		burst(s, (uint16_t)(1 + random_below(&s->random, random_below(&s->random, 4) == 0 ? FM_BURST_MAX :
												    64)));
	else if (what < 80)
		s->bed.now += random_below(&s->random, 1200);
	else if (what < 83)
		s->bed.segment = segments[random_below(&s->random, RTE_DIM(segments))];
	else if (what < 86)
		change_settings(s);
	else if (what < 95)
		/* Memory is scarce from now on, or it is not. */
		s->bed.reass->ease_mbufs = s->bed.params.settings.budget_mbufs / (1 + random_below(&s->random, 4));
	else if (what < 97)
		look(s);
	else if (what < 99)
		fm_reass_expire(s->bed.reass, s->bed.now, 1 + random_below(&s->random, 50));
	else
		fm_reass_flush(s->bed.reass);
}

static void run(uint64_t seed)
{
	static struct stream s;
	struct fm_reass_params params = bed_params();

	s = (struct stream){.random = {.state = seed * 0x9e3779b97f4a7c15}};
	params.max_mbufs = 150 + random_below(&s.random, MBUFS_MAX - 150);
	params.settings.budget_mbufs = params.max_mbufs;
	params.max_datagrams = 120 + random_below(&s.random, MBUFS_MAX);
	params.settings.max_fragments = random_below(&s.random, 4) == 0 ? 5 : 128;
	s.slots = 30 + random_below(&s.random, SLOTS - 30);
	bed_init_params(&s.bed, &params);
	for (uint32_t i = 0; i < SLOTS; i++)
		s.slot[i].id = i;
	for (unsigned int i = 0; i < OPERATIONS; i++)
		operate(&s);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		seen[i] += bed_count(&s.bed, (enum fm_outcome)i);
	bed_fini(&s.bed);
}

static uint64_t running;

static void streams(void **state)
{
	(void)state;
	for (running = seed_first; running <= seed_last; running++)
		run(running);
}

static int tell_seed(void **state)
{
	(void)state;
	if (running <= seed_last)
		print_error("seed %llu failed\n", (unsigned long long)running);
	return 0;
}

static void streams_go_every_way(void **state)
{
	static const enum fm_outcome expected[] = {
		FM_COMPLETED, FM_DUPLICATE, FM_OVERLAP, FM_TOO_MANY_FRAGMENTS, FM_CONDEMNED, FM_TIMEOUT, FM_FLUSHED,
		FM_REFUSED_BUDGET, FM_REFUSED_SHARE, FM_EVICTED_COLD, FM_EVICTED_UNLIKELY, FM_EVICTED_PROGRESS,
	};

	(void)state;
	if (seed_first == seed_last)
		skip();
	for (size_t i = 0; i < RTE_DIM(expected); i++) {
		print_message("%12llu %s\n", (unsigned long long)seen[expected[i]], fm_outcome_info[expected[i]].name);
		assert_int_not_equal(seen[expected[i]], 0);
	}
	print_message("%llu bursts looked ahead; %llu bursts had others evicted while there were young ones\n",
		      (unsigned long long)seen_ahead, (unsigned long long)seen_young_evicted);
	assert_int_not_equal(seen_ahead, 0);
	assert_int_not_equal(seen_young_evicted, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(streams, tell_seed),
		cmocka_unit_test(streams_go_every_way),
	};

	if (argc > 1)
		seed_first = seed_last = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("crowd", tests, NULL, NULL);
}
