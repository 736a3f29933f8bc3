/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under a budget of a few mbufs: random streams of operations, and all interleavings of three small datagrams. After
 * each operation the test bed asserts that there is not one mbuf over the budget, that every invariant of the table
 * holds and that every fragment is accounted for; what comes out must be right byte for byte; and at the end no mbuf
 * may be missing. A stream that fails prints its seed; `test_pressure SEED` runs it alone.
 */
#include <stdio.h>

#include "bed.h"
#include "random.h"

enum {
	SEEDS = 200,
	OPERATIONS = 1200,
	BUDGET_MAX = 64,
	SENDERS = 12,
	BURST_MAX = 8,
	PIECES_MAX = 32,
	FLOOD_ID = 0x8000, /* and up: hostile */
	NETWORK = 0x0a000000,
	FLOOD_NETWORK = 0x0b000000,
};

/* One that sends a datagram at a time, in order or not; a piece is lost now and then. */
struct sender {
	uint32_t id;	   /* of the present datagram */
	uint32_t unsent;   /* bit per piece */
	uint32_t last_sent; /* piece */
	bool shuffled;
};

struct stream {
	struct bed bed;
	struct random random;
	struct sender sender[SENDERS];
	uint32_t flood;
};

static uint64_t seed_first = 1, seed_last = SEEDS;
static uint64_t seen[FM_OUTCOME_MAX];

/* All about a datagram follows from its identification, so what comes out can be compared. */
static uint32_t piece_length(uint32_t id)
{
	return 8 * (1 + id / SENDERS % 4);
}

static uint32_t total_length(uint32_t id)
{
	return piece_length(id) + 1 + id * 37 % (7 * (PIECES_MAX - 1));
}

static struct fm_test_frag frag_of(uint32_t id)
{
	struct fm_test_frag frag = id % 2 == 0 ? bed_ipv4(id, 0, 0, false) : bed_ipv6(id, 0, 0, false);

	frag.source = NETWORK + id % SENDERS;
	return frag;
}

static struct fm_test_frag piece_of(uint32_t id, uint32_t number)
{
	struct fm_test_frag frag = frag_of(id);
	const uint32_t total = total_length(id);

	frag.offset = number * piece_length(id);
	frag.more = frag.offset + piece_length(id) < total;
	frag.length = frag.more ? piece_length(id) : total - frag.offset;
	return frag;
}

static void begin(struct sender *sender, struct random *random)
{
	const uint32_t pieces = (total_length(sender->id + SENDERS) - 1) / piece_length(sender->id + SENDERS) + 1;

	sender->id += SENDERS;
	assert_in_range(pieces, 2, PIECES_MAX);
	sender->unsent = (uint32_t)((UINT64_C(1) << pieces) - 1);
	sender->shuffled = random_below(random, 2);
	if (random_below(random, 6) == 0)
		sender->unsent &= ~(1U << random_below(random, pieces));
}

static struct fm_test_frag next_piece(struct stream *s)
{
	struct sender *sender = &s->sender[random_below(&s->random, SENDERS)];
	uint32_t skip;

	if (sender->unsent == 0)
		begin(sender, &s->random);
	skip = sender->shuffled ? random_below(&s->random, (uint32_t)__builtin_popcount(sender->unsent)) : 0;
	for (uint32_t bits = sender->unsent;; bits &= bits - 1)
		if (skip-- == 0) {
			sender->last_sent = (uint32_t)__builtin_ctz(bits);
			break;
		}
	sender->unsent &= ~(1U << sender->last_sent);
	return piece_of(sender->id, sender->last_sent);
}

/* A first fragment of one that never sends another. */
static struct fm_test_frag hostile(struct stream *s)
{
	struct fm_test_frag frag = bed_ipv4(FLOOD_ID + s->flood, 0, 64, true);

	frag.source = FLOOD_NETWORK + (random_below(&s->random, 2) == 0 ? 0 : s->flood);
	s->flood++;
	return frag;
}

/* Once more what a sender sent last, or something that overlaps it. */
static struct fm_test_frag repeat(struct stream *s)
{
	const struct sender *sender = &s->sender[random_below(&s->random, SENDERS)];
	struct fm_test_frag frag = piece_of(sender->id, sender->last_sent);

	if (random_below(&s->random, 4) == 0) {
		frag.length += 8;
		frag.more = true;
		frag.length &= ~7U;
	}
	return frag;
}

static struct fm_test_frag any(struct stream *s)
{
	const uint32_t what = random_below(&s->random, 100);

	return what < 85 ? next_piece(s) : what < 96 ? hostile(s) : repeat(s);
}

static void burst(struct stream *s, uint16_t n)
{
	struct rte_mbuf *m[BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		const struct fm_test_frag frag = any(s);

		m[i] = bed_mbuf(&s->bed, &frag);
	}
	bed_send_mbufs(&s->bed, m, n, BED_PORT);
	for (uint16_t i = 0; i < s->bed.n_done; i++) {
		const uint32_t id = s->bed.whole[i].id;
		const struct fm_test_frag frag = frag_of(id);

		bed_assert_done(&s->bed, i, &frag, total_length(id));
	}
	bed_clear(&s->bed);
}

static void change_settings(struct stream *s)
{
	struct fm_reass_settings settings = s->bed.params.settings;

	settings.budget_mbufs = 1 + random_below(&s->random, BUDGET_MAX);
	settings.timeout_tsc[FM_IPV4] = 200 + random_below(&s->random, 4000);
	settings.source_prefix[FM_IPV4] = (uint8_t)(random_below(&s->random, 3) * 16);
	settings.source_prefix[FM_IPV6] = (uint8_t)(random_below(&s->random, 3) * 64);
	bed_set(&s->bed, &settings);
}

static void operate(struct stream *s)
{
	static const uint32_t segments[] = {0, 0, 0, 30, 100};
	const uint32_t what = random_below(&s->random, 1000);

	s->bed.now += random_below(&s->random, 4);
	if (what < 850)
		burst(s, 1);
	else if (what < 950)
		burst(s, (uint16_t)(2 + random_below(&s->random, BURST_MAX - 1)));
	else if (what < 965)
		s->bed.now += random_below(&s->random, 3000);
	else if (what < 980)
		s->bed.segment = segments[random_below(&s->random, RTE_DIM(segments))];
	else if (what < 990)
		change_settings(s);
	else if (what < 998)
		fm_reass_expire(s->bed.reass, s->bed.now, 1 + random_below(&s->random, 5));
	else
		fm_reass_flush(s->bed.reass);
}

static void run(uint64_t seed)
{
	static struct stream s;
	struct fm_reass_params params = bed_params();

	s = (struct stream){.random = {.state = seed * 0x9e3779b97f4a7c15}};
	params.max_mbufs = BUDGET_MAX;
	params.settings.budget_mbufs = 1 + random_below(&s.random, BUDGET_MAX);
	params.max_datagrams = random_below(&s.random, 4) == 0 ? 1 + random_below(&s.random, 8) : BUDGET_MAX;
	bed_init_params(&s.bed, &params);
	for (uint32_t i = 0; i < SENDERS; i++)
		s.sender[i].id = i;
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

/* A stream under which nothing ever gave way would have tested nothing. */
static void streams_raise_every_outcome_of_pressure(void **state)
{
	static const enum fm_outcome expected[] = {
		FM_COMPLETED, FM_DUPLICATE, FM_OVERLAP, FM_CONDEMNED, FM_TIMEOUT, FM_FLUSHED, FM_REFUSED_BUDGET,
		FM_REFUSED_SHARE, FM_REFUSED_TABLE, FM_EVICTED_COLD, FM_EVICTED_UNLIKELY, FM_EVICTED_PROGRESS,
	};

	(void)state;
	if (seed_first == seed_last)
		skip();
	for (size_t i = 0; i < RTE_DIM(expected); i++) {
		print_message("%12llu %s\n", (unsigned long long)seen[expected[i]], fm_outcome_info[expected[i]].name);
		assert_int_not_equal(seen[expected[i]], 0);
	}
}

enum { MIX = 3, MIX_PIECES_MAX = 3, MIX_STEP = 64, MIX_BUDGET_MAX = 9 };

/* Three datagrams, two of one source, and what has been sent of them. */
struct mix {
	struct bed bed;
	void *snapshot; /* of the table with what it has learned, holding nothing */
	size_t size;
	uint32_t pieces[MIX], budget, sent[MIX]; /* bit per piece */
	uint32_t enough, enough_for_one; /* a budget at which all of them complete, and one does */
	bool any_order; /* of the pieces of a datagram */
	uint32_t order[MIX * MIX_PIECES_MAX], n, total;
	uint64_t runs;
	uint64_t reported[FM_OUTCOME_MAX]; /* before this run */
};

static struct fm_test_frag mix_frag(uint32_t i)
{
	struct fm_test_frag frag = i < 2 ? bed_ipv4(i, 0, 0, false) : bed_ipv6(i, 0, 0, false);

	frag.source = NETWORK;
	return frag;
}

static void fail_mix(const struct mix *mix)
{
	for (uint32_t i = 0; i < mix->n; i++)
		print_error("datagram %u piece %u of %u\n", mix->order[i] / MIX_PIECES_MAX,
			    mix->order[i] % MIX_PIECES_MAX, mix->pieces[mix->order[i] / MIX_PIECES_MAX]);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		if (mix->bed.reported[i] != mix->reported[i])
			print_error("%s\n", fm_outcome_info[i].name);
	fail_msg("budget %u: %u datagrams came out", mix->budget, mix->bed.n_done);
}

static void assert_mix(struct mix *mix, uint64_t done_before)
{
	const uint64_t done = bed_count(&mix->bed, FM_COMPLETED) - done_before;
	uint32_t fragments = 0, came = 0;

	for (uint16_t i = 0; i < mix->bed.n_done; i++) {
		const uint32_t id = mix->bed.whole[i].id;
		const struct fm_test_frag frag = mix_frag(id);

		assert_int_equal(came & 1U << id, 0);
		came |= 1U << id;
		fragments += mix->pieces[id];
		bed_assert_done(&mix->bed, i, &frag, MIX_STEP * mix->pieces[id] - 1);
	}
	assert_int_equal(done, fragments);
	/* There was room for all that came, so all of it comes out; or for one of them, so one does. */
	if ((mix->budget >= mix->enough && mix->bed.n_done != MIX) ||
	    (mix->budget >= mix->enough_for_one && mix->bed.n_done == 0))
		fail_mix(mix);
	bed_clear(&mix->bed);
	fm_reass_flush(mix->bed.reass);
	assert_int_equal(fm_test_pool_out(mix->bed.pool), 0);
}

static void run_mix(struct mix *mix)
{
	struct fm_reass_settings settings = mix->bed.params.settings;
	uint64_t done_before;

	memcpy(mix->bed.memory, mix->snapshot, mix->size);
	settings.budget_mbufs = mix->budget;
	bed_set(&mix->bed, &settings);
	done_before = bed_count(&mix->bed, FM_COMPLETED);
	memcpy(mix->reported, mix->bed.reported, sizeof(mix->reported));
	for (uint32_t i = 0; i < mix->n; i++) {
		const uint32_t id = mix->order[i] / MIX_PIECES_MAX, piece = mix->order[i] % MIX_PIECES_MAX;
		const struct fm_test_frag frag = mix_frag(id);

		mix->bed.now++;
		bed_send_pieces(&mix->bed, &frag, MIX_STEP * mix->pieces[id] - 1, MIX_STEP, piece, piece + 1);
	}
	mix->bed.now -= mix->n;
	assert_mix(mix, done_before);
	mix->runs++;
}

/* Every way to go on from here. */
static void interleave(struct mix *mix)
{
	if (mix->n == mix->total) {
		run_mix(mix);
		return;
	}
	for (uint32_t i = 0; i < MIX * MIX_PIECES_MAX; i++) {
		const uint32_t id = i / MIX_PIECES_MAX, piece = i % MIX_PIECES_MAX;
		const bool next = mix->sent[id] == (1U << piece) - 1;

		if (piece >= mix->pieces[id] || (mix->sent[id] & 1U << piece) || (!mix->any_order && !next))
			continue;
		mix->sent[id] |= 1U << piece;
		mix->order[mix->n++] = i;
		interleave(mix);
		mix->n--;
		mix->sent[id] &= ~(1U << piece);
	}
}

static void all_budgets(struct mix *mix, uint32_t a, uint32_t b, uint32_t c, bool any_order)
{
	mix->pieces[0] = a;
	mix->pieces[1] = b;
	mix->pieces[2] = c;
	mix->total = a + b + c;
	mix->any_order = any_order;
	mix->enough = mix->total;
	/* The last fragment is never held. */
	mix->enough_for_one = RTE_MAX(a, RTE_MAX(b, c)) - 1;
	for (mix->budget = 1; mix->budget <= mix->enough; mix->budget++)
		interleave(mix);
}

/* What the table has lived through before. */
static void nothing(struct bed *bed)
{
	(void)bed;
}

static void completions(struct bed *bed)
{
	struct fm_test_frag frag = mix_frag(0);

	for (uint32_t i = 0; i < 10; i++) {
		frag.id = 100 + i;
		bed_send_pieces(bed, &frag, MIX_STEP * 3, MIX_STEP, 0, 3);
		bed->now++;
	}
	assert_int_equal(bed->n_done, 10);
	bed_clear(bed);
}

static void flood(struct bed *bed)
{
	for (uint32_t i = 0; i < 300; i++) {
		struct fm_test_frag frag = bed_ipv4(i, 0, MIX_STEP, true);

		frag.source = FLOOD_NETWORK + i;
		bed_send(bed, &frag);
		bed->now++;
	}
}

static void all_interleavings(void **state)
{
	static void (*const histories[])(struct bed *bed) = {nothing, completions, flood};

	(void)state;
	if (seed_first == seed_last)
		skip();
	for (size_t i = 0; i < RTE_DIM(histories); i++) {
		static struct mix mix;
		struct fm_reass_params params = bed_params();

		mix = (struct mix){0};
		params.max_mbufs = params.settings.budget_mbufs = MIX_BUDGET_MAX;
		bed_init_params(&mix.bed, &params);
		histories[i](&mix.bed);
		mix.bed.now += BED_TIMEOUT6;
		fm_reass_expire(mix.bed.reass, mix.bed.now, BED_ALL);
		assert_int_equal(fm_test_pool_out(mix.bed.pool), 0);
		mix.size = fm_reass_memsize(&mix.bed.params);
		mix.snapshot = malloc(mix.size);
		assert_non_null(mix.snapshot);
		memcpy(mix.snapshot, mix.bed.memory, mix.size);
		for (uint32_t sizes = 0; sizes < 8; sizes++)
			all_budgets(&mix, 2 + (sizes & 1), 2 + (sizes >> 1 & 1), 2 + (sizes >> 2), false);
		all_budgets(&mix, 2, 2, 2, true);
		all_budgets(&mix, 2, 2, 3, true);
		print_message("%llu runs\n", (unsigned long long)mix.runs);
		free(mix.snapshot);
		bed_fini(&mix.bed);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(streams, tell_seed),
		cmocka_unit_test(streams_raise_every_outcome_of_pressure),
		cmocka_unit_test(all_interleavings),
	};

	if (argc > 1)
		seed_first = seed_last = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("pressure", tests, NULL, NULL);
}
