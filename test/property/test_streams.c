/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random streams of operations (burst, tick, flush, change of settings) against the model. A failure prints the seed;
 * `test_streams SEED` runs that stream alone.
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
#include "plan.h"

enum {
	SEEDS = 300,
	OPERATIONS = 400,
	BURST_MAX = 12,
	BUDGET_MBUFS = 8192,
	MAX_DATAGRAMS = 512,
	COMPARE_EVERY = 4,
};

struct stream {
	struct fm_twin twin;
	struct random random;
	struct fm_reass_settings settings;
	struct plan plan[PLAN_KEYS];
};

static uint64_t seed_first = 1, seed_last = SEEDS;
static uint64_t seen[FM_OUTCOME_MAX];

static void burst(struct stream *stream)
{
	static uint8_t bytes[BURST_MAX][PLAN_FRAME_MAX];
	struct fm_twin_frame frames[BURST_MAX];
	const uint16_t n = (uint16_t)random_below(&stream->random, BURST_MAX + 1);

	for (uint16_t i = 0; i < n; i++) {
		const unsigned int key = random_below(&stream->random, PLAN_KEYS);

		frames[i].bytes = bytes[i];
		frames[i].len = plan_next(&stream->plan[key], key, &stream->random, bytes[i]);
	}
	fm_twin_burst(&stream->twin, frames, n, (uint16_t)(random_below(&stream->random, 20) == 0));
}

static void change_settings(struct stream *stream)
{
	struct random *random = &stream->random;

	stream->settings.timeout_tsc[FM_IPV4] = 1 + random_below(random, 4000);
	stream->settings.timeout_tsc[FM_IPV6] = 1 + random_below(random, 4000);
	stream->settings.max_fragments = (uint16_t)(2 + random_below(random, random_below(random, 2) ? 10 : 128));
	stream->settings.verify_l4 = random_below(random, 2);
	stream->settings.short_chain = random_below(random, 2);
	fm_twin_set(&stream->twin, &stream->settings);
}

static void change_mbufs(struct stream *stream)
{
	static const uint32_t segments[] = {0, 0, 20, 64, 100};

	stream->twin.kind = (enum fm_twin_kind)random_below(&stream->random, FM_TWIN_KINDS);
	stream->twin.segment = segments[random_below(&stream->random, 5)];
}

static void operate(struct stream *stream)
{
	const uint32_t what = random_below(&stream->random, 100);

	if (what < 75)
		burst(stream);
	else if (what < 90)
		stream->twin.now += random_below(&stream->random, what < 88 ? 300 : 4000);
	else if (what < 92)
		fm_twin_flush(&stream->twin);
	else if (what < 95)
		change_settings(stream);
	else
		change_mbufs(stream);
}

static void run(uint64_t seed)
{
	static struct stream stream;
	bool equal = true;

	stream = (struct stream){.random = {.state = seed * 0x9e3779b97f4a7c15}};
	stream.settings = fm_twin_settings(BUDGET_MBUFS);
	fm_twin_init(&stream.twin, &stream.settings, MAX_DATAGRAMS, PLAN_FRAME_MAX);
	for (unsigned int i = 0; equal && i < OPERATIONS; i++) {
		operate(&stream);
		if (i % COMPARE_EVERY == 0)
			equal = fm_twin_equal(&stream.twin);
		if (!equal)
			print_error("seed %llu, operation %u: %s\n", (unsigned long long)seed, i, stream.twin.err);
	}
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		seen[i] += stream.twin.model.count[i];
	if (!fm_twin_fini(&stream.twin) && equal) {
		print_error("seed %llu, at the end: %s\n", (unsigned long long)seed, stream.twin.err);
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

/* A stream that never raised an outcome of the model would have tested nothing about it. */
static void streams_raise_every_outcome_of_the_model(void **state)
{
	static const enum fm_outcome expected[] = {
		FM_PASSED, FM_PASSED_MALFORMED, FM_COMPLETED, FM_BAD_IP_CHECKSUM, FM_BAD_HEADER, FM_BAD_LENGTH,
		FM_TOO_BIG, FM_TRUNCATED, FM_BAD_EXT_HEADER, FM_HEADER_CHAIN, FM_NESTED, FM_DUPLICATE, FM_OVERLAP,
		FM_INCONSISTENT_END, FM_TOO_MANY_FRAGMENTS, FM_ECN_MISMATCH, FM_BAD_L4_CHECKSUM, FM_CONDEMNED,
		FM_TIMEOUT, FM_FLUSHED,
	};

	(void)state;
	if (seed_first == seed_last)
		skip();
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		print_message("%12llu %s\n", (unsigned long long)seen[expected[i]], fm_outcome_info[expected[i]].name);
		assert_int_not_equal(seen[expected[i]], 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams),
		cmocka_unit_test(streams_raise_every_outcome_of_the_model),
	};

	if (argc > 1)
		seed_first = seed_last = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
