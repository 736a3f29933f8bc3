/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random streams of bursts against the model: datagrams that are whole in a burst, in order and not, beside others that
 * are not; several of one key one after the other; interleaved ones; atomic fragments of the same key in between;
 * enough datagrams that the table looks ahead; and memory that is called scarce and ample in turns, so that datagrams
 * are begun young and enrolled, or judged at once. A failure prints the seed; `test_bursts SEED` runs that one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm_twin.h"
#include "internal.h"
#include "plan.h"

enum {
	SEEDS = 60,
	BURSTS = 150,
	BUDGET_MBUFS = 1 << 16,
	MAX_DATAGRAMS = 2048,
	KEYS_FEW = 4,
	KEYS_MANY = 600,
	LOOKS_AHEAD = 96,	/* datagrams, or more */
	COMPARE_EVERY = 4,
};

struct stream {
	struct fm_twin twin;
	struct random random;
	struct fm_reass_settings settings;
	unsigned int keys;
	struct plan plan[KEYS_MANY];
	/* The burst that is being put together. */
	struct fm_twin_frame frame[FM_BURST_MAX];
	uint8_t bytes[FM_BURST_MAX][PLAN_FRAME_MAX];
	uint16_t n;
};

static uint64_t seed_first = 1, seed_last = SEEDS;
static uint64_t seen[FM_OUTCOME_MAX], seen_young, seen_judged, seen_many, seen_at_once;

static bool full(const struct stream *s)
{
	return s->n == FM_BURST_MAX;
}

static void add(struct stream *s, const struct fm_test_frag *frag)
{
	if (full(s))
		return;
	s->frame[s->n].bytes = s->bytes[s->n];
	s->frame[s->n].len = fm_test_frame(frag, s->bytes[s->n]);
	s->n++;
}

static void add_next(struct stream *s, unsigned int key)
{
	if (full(s))
		return;
	s->frame[s->n].bytes = s->bytes[s->n];
	s->frame[s->n].len = plan_next(&s->plan[key], key, &s->random, s->bytes[s->n]);
	s->n++;
}

/* Another datagram with the key of the last frame's plan, in one fragment. */
static void add_atomic(struct stream *s, unsigned int key)
{
	struct fm_test_frag frag;

	if (s->plan[key].n == 0)
		return;
	frag = s->plan[key].frame[0];
	if (frag.family != 6)
		return;
	frag.offset = 0;
	frag.length = 8 + random_below(&s->random, 60);
	frag.more = false;
	frag.payload = s->plan[key].other;
	add(s, &frag);
}

/* All that is left of a datagram, in the order of its cuts, backwards, or in any; then perhaps the next of its key. */
static void add_whole(struct stream *s, unsigned int key)
{
	struct plan *plan = &s->plan[key];
	const uint32_t how = random_below(&s->random, 4);

	if (plan->n == 0 || random_below(&s->random, 2) == 0)
		plan_make(plan, key, &s->random);
	/* The identification of the one before: it has come to its end, or it has not. */
	if (random_below(&s->random, 2) == 0)
		for (unsigned int i = 0; i < plan->n; i++)
			plan->frame[i].id = 100;
	while (plan->n > 0 && !full(s)) {
		const unsigned int at = how < 2 ? 0 : how == 2 ? plan->n - 1 : random_below(&s->random, plan->n);

		add(s, &plan->frame[at]);
		plan->n--;
		memmove(&plan->frame[at], &plan->frame[at + 1], (plan->n - at) * sizeof(plan->frame[0]));
		if (random_below(&s->random, 24) == 0)
			add_atomic(s, key);
	}
}

static void add_interleaved(struct stream *s)
{
	const unsigned int first = random_below(&s->random, s->keys), among = 1 + random_below(&s->random, 6);

	for (uint32_t i = random_below(&s->random, 30); i > 0; i--)
		add_next(s, (first + random_below(&s->random, among)) % s->keys);
}

static void burst(struct stream *s)
{
	const uint32_t what = random_below(&s->random, 8);
	const uint32_t want = what == 0 ? FM_BURST_MAX : 1 + random_below(&s->random, what < 4 ? 128 : 32);
	const struct fm_reass *r = s->twin.reass;
	const uint64_t held = r->stats.held_fragments, done = r->stats.datagrams_done;

	s->n = 0;
	while (s->n < want) {
		const unsigned int key = random_below(&s->random, s->keys);

		if (what < 3)
			add_whole(s, key);
		else if (what < 5)
			add_interleaved(s);
		else
			add_next(s, key);
	}
	seen_many += r->stats.datagrams > LOOKS_AHEAD;
	fm_twin_burst(&s->twin, s->frame, s->n, 0);
	seen_at_once += r->stats.held_fragments == held && r->stats.datagrams_done > done;
	seen_young += r->n_young;
	seen_judged += r->stats.datagrams - r->n_young;
}

/* Memory is scarce from now on, or there is enough: as the table sees it, there is always room. */
static void change_ease(struct stream *s)
{
	struct fm_reass *r = s->twin.reass;

	r->ease_mbufs = random_below(&s->random, 2) == 0 ? r->settings.budget_mbufs / 2 :
							   random_below(&s->random, 400);
}

static void change_settings(struct stream *s)
{
	struct random *random = &s->random;

	s->settings.timeout_tsc[FM_IPV4] = 1000 + random_below(random, 4000);
	s->settings.timeout_tsc[FM_IPV6] = 1000 + random_below(random, 4000);
	s->settings.max_fragments = (uint16_t)(2 + random_below(random, random_below(random, 2) ? 6 : 128));
	s->settings.verify_l4 = random_below(random, 2);
	s->settings.source_prefix[FM_IPV4] = (uint8_t)(32 - random_below(random, 2) * 12);
	s->settings.source_prefix[FM_IPV6] = (uint8_t)(64 - random_below(random, 2) * 32);
	fm_twin_set(&s->twin, &s->settings);
}

static void change_mbufs(struct stream *s)
{
	static const uint32_t segments[] = {0, 0, 20, 64, 100};

	s->twin.kind = random_below(&s->random, 2) == 0 ? FM_TWIN_PLAIN :
							  (enum fm_twin_kind)random_below(&s->random, FM_TWIN_KINDS);
	s->twin.segment = segments[random_below(&s->random, 5)];
}

/* Counting what sources hold enrolls young ones: any number of them, at any time. */
static void look_at_sources(struct stream *s)
{
	const uint32_t first = random_below(&s->random, 3), count = 1 + random_below(&s->random, 40);
	struct fm_source_view views[4];
	uint32_t n = 0;

	fm_reass_sources(s->twin.reass, first, count, views, 4, &n);
}

static void change(struct stream *s)
{
	const uint32_t what = random_below(&s->random, 32);

	s->twin.now += random_below(&s->random, 30);
	if (what < 8)
		change_ease(s);
	else if (what < 12)
		change_mbufs(s);
	else if (what < 14)
		look_at_sources(s);
	else if (what < 16)
		s->twin.now += random_below(&s->random, 5000);
	else if (what == 16)
		change_settings(s);
	else if (what == 17)
		fm_twin_flush(&s->twin);
}

static void run(uint64_t seed)
{
	static struct stream s;
	bool equal = true;

	s = (struct stream){.random = {.state = seed * 0x9e3779b97f4a7c15}};
	s.settings = fm_twin_settings(BUDGET_MBUFS);
	s.keys = seed % 2 == 0 ? KEYS_FEW << random_below(&s.random, 4) : KEYS_MANY;
	fm_twin_init(&s.twin, &s.settings, MAX_DATAGRAMS, PLAN_FRAME_MAX);
	for (unsigned int i = 0; equal && i < BURSTS; i++) {
		change(&s);
		burst(&s);
		if (i % COMPARE_EVERY == 0)
			equal = fm_twin_equal(&s.twin);
		if (!equal)
			print_error("seed %llu, burst %u: %s\n", (unsigned long long)seed, i, s.twin.err);
	}
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		seen[i] += s.twin.model.count[i];
	if (!fm_twin_fini(&s.twin) && equal) {
		print_error("seed %llu, at the end: %s\n", (unsigned long long)seed, s.twin.err);
		equal = false;
	}
	assert_true(equal);
}

static void streams(void **state)
{
	(void)state;
	for (uint64_t seed = seed_first; seed <= seed_last; seed++)
		run(seed);
}

static void streams_go_every_way(void **state)
{
	static const enum fm_outcome expected[] = {
		FM_COMPLETED, FM_TOO_BIG, FM_DUPLICATE, FM_OVERLAP, FM_INCONSISTENT_END, FM_TOO_MANY_FRAGMENTS,
		FM_ECN_MISMATCH, FM_BAD_L4_CHECKSUM, FM_CONDEMNED, FM_TIMEOUT, FM_FLUSHED,
	};

	(void)state;
	if (seed_first == seed_last)
		skip();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		print_message("%12llu %s\n", (unsigned long long)seen[expected[i]], fm_outcome_info[expected[i]].name);
		assert_int_not_equal(seen[expected[i]], 0);
	}
	print_message("%llu young and %llu judged after a burst, %llu bursts looked ahead, %llu held nothing more\n",
		      (unsigned long long)seen_young, (unsigned long long)seen_judged, (unsigned long long)seen_many,
		      (unsigned long long)seen_at_once);
	assert_int_not_equal(seen_young, 0);
	assert_int_not_equal(seen_judged, 0);
	assert_int_not_equal(seen_many, 0);
	assert_int_not_equal(seen_at_once, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams),
		cmocka_unit_test(streams_go_every_way),
	};

	if (argc > 1)
		seed_first = seed_last = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("bursts", tests, NULL, NULL);
}
