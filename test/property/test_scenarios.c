/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scenarios of the pressure bench, short, with a fixed seed: what must be delivered at least, of the area bound,
 * and how evenly. Counts only; what it costs is for the bench.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fnmatch.h>

#include <cmocka.h>

#include <rte_common.h>
#include <rte_hash_crc.h>

#include "fm_mbuf.h"
#include "scenario_run.h"

enum { SEED = 1 };

/* Of the rows whose name (parameters and class) matches; a row that nothing matches is not held to anything. */
static const struct floor {
	const char *scenario, *row;
	double ratio, jain;
} floors[] = {
	{"seed-warm", "N=1 *", 1, 1},
	{"seed-warm", "* rr", 0.48, 0.60},
	{"seed-warm", "* random", 0.48, 0.95},
	{"overload", "N=100 *", 1, 1},
	{"overload", "*", 0.77, 0.85},
	{"many-flows", "N=[13]000 *", 0.68, 0.72},
	{"flood-one", "N=16 K=45 *", 0.96, 0.99},
	{"flood-one", "N=16 K=3 *", 0.96, 0.99},
	{"flood-spoof", "N=16 K=45 *", 0.96, 0.99},
	{"flood-spoof", "N=16 K=3 *", 0.96, 0.99},
	{"flood-trickle", "N=16 K=45 B=4096 * one", 0.80, 0.95},
	{"flood-trickle", "N=16 K=45 B=4096 * spoofed", 0.80, 0.95},
	{"flood-trickle", "N=16 K=45 B=1024 rr x1 *", 0.75, 0.95},
	{"flood-trickle", "N=16 K=45 B=1024 rr x10 *", 0.25, 0.90},
	{"flood-tiny", "*", 0.95, 0.99},
	{"elephant-mice", "* mice", 0.95, 0.99},
	{"elephant-mice", "* elephant", 0.70, 1},
	{"loss", "N=100 *", 1, 1},
	{"loss", "N=1000 *", 1, 1},
	{"loss", "N=400 *", 0.75, 0.70},
	{"loss", "N=8192 *", 0.63, 0.75},
	{"reorder", "*", 1, 1},
	{"overload+flood", "*", 0.55, 0.55},
	{"recover", "* before", 1, 1},
	{"recover", "* flood", 0.88, 0.95},
	{"recover", "* after", 1, 1},
	{"collide-index", "*", 1, 1},
	{"collide-source", "*", 1, 1},
};

static void play(const struct fm_scenario_case *spec, const struct fm_peer *peer, uint64_t seed,
		 struct fm_scenario_result *result)
{
	struct fm_peer_params params;
	struct rte_mempool *pool;

	fm_scenario_peer_params(spec, seed, 0, &params);
	pool = fm_test_pool(fm_scenario_mbufs(peer, &params), FM_SCENARIO_DATA_ROOM);
	fm_scenario_run(spec, peer, &params, pool, result);
	fm_test_pool_free(pool);
}

static const struct fm_scenario_list *cases_of(const char *name)
{
	static struct fm_scenario_list list;

	list = (struct fm_scenario_list){.scale = FM_SCENARIO_SMOKE};
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL; s++)
		if (strcmp(s->name, name) == 0)
			s->fill(&list);
	assert_int_not_equal(list.n, 0);
	return &list;
}

static const struct fm_scenario_case *case_of(const char *name, const char *params)
{
	const struct fm_scenario_list *list = cases_of(name);

	for (unsigned int i = 0; i < list->n; i++)
		if (strcmp(list->item[i].params, params) == 0)
			return &list->item[i];
	fail_msg("%s has no case %s", name, params);
	return NULL;
}

static void row_name(const struct fm_scenario_case *spec, unsigned int class, char *name, size_t len)
{
	const char *suffix = spec->class[class].name;

	snprintf(name, len, "%s%s%s", spec->params, suffix != NULL ? " " : "", suffix != NULL ? suffix : "");
}

/* Bit per floor that holds for a row of this case. */
static uint32_t matching(const char *scenario, const struct fm_scenario_case *spec, unsigned int class)
{
	char name[2 * FM_SCENARIO_PARAMS_MAX];
	uint32_t match = 0;

	row_name(spec, class, name, sizeof(name));
	for (unsigned int i = 0; i < RTE_DIM(floors); i++)
		if (strcmp(floors[i].scenario, scenario) == 0 && fnmatch(floors[i].row, name, 0) == 0)
			match |= 1U << i;
	return match;
}

static void assert_floors(const char *scenario, const struct fm_scenario_case *spec, unsigned int class,
			  const struct fm_scenario_score *score)
{
	const uint32_t match = matching(scenario, spec, class);

	for (unsigned int i = 0; i < RTE_DIM(floors); i++)
		if ((match & 1U << i) != 0 && (score->ratio < floors[i].ratio || score->jain < floors[i].jain))
			fail_msg("%s %s: %llu of %llu datagrams, ratio %.3f (at least %.3f), Jain's index %.3f (%.3f)",
				 scenario, spec->params, (unsigned long long)score->completed,
				 (unsigned long long)score->offered, score->ratio, floors[i].ratio, score->jain,
				 floors[i].jain);
}

static void play_scenario(void **state)
{
	const char *scenario = *state;
	const struct fm_scenario_list *list = cases_of(scenario);

	for (unsigned int i = 0; i < list->n; i++) {
		struct fm_scenario_result result;

		/* Every case is played: the budget, the pool and what comes out are checked whatever is delivered. */
		play(&list->item[i], &fm_peer_fragmend, SEED, &result);
		for (unsigned int class = 0; class < list->item[i].n_classes; class++) {
			assert_int_not_equal(result.score[class].offered, 0);
			assert_floors(scenario, &list->item[i], class, &result.score[class]);
		}
	}
}

/* A floor that no row matches holds nothing up. */
static void every_floor_has_a_row(void **state)
{
	uint32_t match = 0;

	(void)state;
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL; s++) {
		const struct fm_scenario_list *list = cases_of(s->name);

		for (unsigned int i = 0; i < list->n; i++)
			for (unsigned int class = 0; class < list->item[i].n_classes; class++)
				match |= matching(s->name, &list->item[i], class);
	}
	assert_int_equal(match, (1U << RTE_DIM(floors)) - 1);
}

static void a_seed_repeats_itself(void **state)
{
	const struct fm_scenario_case *spec = case_of("overload", "N=200 K=45 B=4096 random");
	struct fm_scenario_result first, again, other;

	(void)state;
	play(spec, &fm_peer_fragmend, SEED, &first);
	play(spec, &fm_peer_fragmend, SEED, &again);
	play(spec, &fm_peer_fragmend, SEED + 1, &other);
	assert_memory_equal(first.score, again.score, sizeof(first.score));
	assert_memory_not_equal(first.score, other.score, sizeof(first.score));
}

/* What was measured of Linux (2012, and since): the last datagram that fits is the last one delivered. */
static void refuse_full_delivers_nothing_when_full(void **state)
{
	struct fm_scenario_result result;

	(void)state;
	play(case_of("seed-warm", "N=1 K=45 B=128 rr"), &fm_peer_refuse, SEED, &result);
	assert_int_equal(result.score[0].completed, result.score[0].offered);
	play(case_of("seed-warm", "N=8 K=45 B=128 rr"), &fm_peer_refuse, SEED, &result);
	assert_int_equal(result.score[0].completed, 0);
	play(case_of("overload", "N=400 K=45 B=4096 rr"), &fm_peer_refuse, SEED, &result);
	assert_int_equal(result.score[0].completed, 0);
}

static void lru_survives_a_flood_but_not_overload(void **state)
{
	struct fm_scenario_result result;

	(void)state;
	play(case_of("flood-one", "N=16 K=45 B=4096 rr x10"), &fm_peer_lru, SEED, &result);
	assert_int_equal(result.score[0].completed, result.score[0].offered);
	play(case_of("overload", "N=400 K=45 B=4096 rr"), &fm_peer_lru, SEED, &result);
	assert_true(result.score[0].ratio < 0.2);
}

static uint32_t crc(uint32_t seed, rte_be32_t source, rte_be32_t destination, uint32_t id)
{
	return rte_hash_crc_4byte(id, rte_hash_crc_4byte(destination, rte_hash_crc_4byte(source, seed)));
}

/* The addresses that are meant to collide do, under any seed, and are different ones. */
static void addresses_collide(void **state)
{
	enum { SENDERS = 1000, ID = 7, LOW = 0xffff };
	static const uint32_t seeds[] = {0, 0xeaad8405, 12345};
	rte_be32_t key[SENDERS], source[SENDERS];

	(void)state;
	for (uint32_t i = 0; i < SENDERS; i++) {
		const rte_be32_t destination = rte_cpu_to_be_32(i);

		key[i] = fm_scenario_source_address(FM_SCENARIO_ADDRESS_CRC_KEY, i, destination, ID);
		source[i] = fm_scenario_source_address(FM_SCENARIO_ADDRESS_CRC_SOURCE, i, destination, ID);
		for (unsigned int s = 0; s < RTE_DIM(seeds); s++) {
			assert_int_equal(crc(seeds[s], key[i], destination, ID), crc(seeds[s], key[0], 0, ID));
			assert_int_equal(rte_hash_crc_4byte(source[i], seeds[s]) & LOW,
					 rte_hash_crc_4byte(source[0], seeds[s]) & LOW);
		}
		for (uint32_t j = 0; j < i; j++) {
			assert_int_not_equal(key[i], key[j]);
			assert_int_not_equal(source[i], source[j]);
		}
	}
}

int main(void)
{
	enum { SCENARIOS_MAX = 32, OTHERS = 5 };
	struct CMUnitTest tests[SCENARIOS_MAX + OTHERS] = {
		cmocka_unit_test(every_floor_has_a_row),
		cmocka_unit_test(a_seed_repeats_itself),
		cmocka_unit_test(refuse_full_delivers_nothing_when_full),
		cmocka_unit_test(lru_survives_a_flood_but_not_overload),
		cmocka_unit_test(addresses_collide),
	};
	size_t n = OTHERS;

	/* A test for each scenario, by its name. */
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL && n < RTE_DIM(tests); s++)
		tests[n++] = (struct CMUnitTest){s->name, play_scenario, NULL, NULL, (void *)(uintptr_t)s->name};
	return _cmocka_run_group_tests("scenarios", tests, n, NULL, NULL);
}
