/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is delivered when there is more to hold than room: every scenario of scenario_table.c, played to fragmend and to
 * its peers, and held to its target. With a seed the same numbers come out again, but for the cycles.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "memory.h"
#include "pressure.h"
#include "scenario_run.h"

enum { EAL_MB = 64, POOL_CACHE = 256, QUICK_MB = 192, FULL_MB = 1536, ROUNDS = 3 };

static const struct fm_peer *const peers[] = {&fm_peer_fragmend, &fm_peer_ip_frag, &fm_peer_refuse, &fm_peer_lru};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: pressure [options] [SCENARIO...]\n"
		"  --tsv            tab-separated: scenario engine params offered completed goodput bound ratio jain\n"
		"                   worst cycles target met\n"
		"  --seed N         of the streams and of the table's secret, 0 to 2^64-1; default 1\n"
		"  --scale SCALE    quick (default); full: longer, and up to a million sources; smoke: what the\n"
		"                   tests play\n"
		"  --engine ENGINE  only this one\n"
		"engines:");
	for (unsigned int i = 0; i < RTE_DIM(peers); i++)
		fprintf(out, " %s", peers[i]->name);
	fprintf(out, "\nscenarios, all by default:\n");
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL; s++)
		fprintf(out, "  %-15s  %s\n", s->name, s->text);
	fprintf(out, "offered counts datagrams whose every fragment was sent before the end; bound is what the budget "
		     "could\n"
		     "hold at best (area of all offered ones); jain and worst are over the honest senders' shares. An "
		     "x in a\n"
		     "target: so many times what the row has that it is compared with (seed-warm: one sender fewer; "
		     "many-flows:\n"
		     "1000; flood-tiny: in order; collide: random).\n");
}

static void __attribute__((noreturn)) wrong(const char *what, const char *expected, const char *given)
{
	fprintf(stderr, "pressure: %s: %s expected, got \"%s\"\n", what, expected, given);
	exit(2);
}

struct choice {
	bool tsv;
	uint64_t seed;
	enum fm_scenario_scale scale;
	const struct fm_peer *only; /* NULL: all */
	char **scenario;
	int n_scenarios; /* 0: all */
};

static uint64_t seed_of(const char *text)
{
	char *end;
	unsigned long long seed;

	errno = 0;
	seed = strtoull(text, &end, 0);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0')
		wrong("--seed", "0 to 2^64-1", text);
	return seed;
}

static const struct fm_peer *peer_of(const char *text)
{
	for (unsigned int i = 0; i < RTE_DIM(peers); i++)
		if (strcmp(text, peers[i]->name) == 0)
			return peers[i];
	wrong("--engine", "fragmend, rte_ip_frag, refuse-full or lru", text);
}

static void check_scenario(const char *text)
{
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL; s++)
		if (strcmp(text, s->name) == 0)
			return;
	wrong("scenario", "one of those that --help lists", text);
}

static void read_options(int argc, char **argv, struct choice *choice)
{
	enum { TSV, SEED, SCALE, ENGINE, HELP };
	static const struct option known[] = {
		{"tsv", no_argument, NULL, TSV},           {"seed", required_argument, NULL, SEED},
		{"scale", required_argument, NULL, SCALE}, {"engine", required_argument, NULL, ENGINE},
		{"help", no_argument, NULL, HELP},         {0},
	};
	int option;

	*choice = (struct choice){.seed = 1, .scale = FM_SCENARIO_QUICK};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == TSV)
			choice->tsv = true;
		else if (option == SEED)
			choice->seed = seed_of(optarg);
		else if (option == SCALE && strcmp(optarg, "full") == 0)
			choice->scale = FM_SCENARIO_FULL;
		else if (option == SCALE && strcmp(optarg, "smoke") == 0)
			choice->scale = FM_SCENARIO_SMOKE;
		else if (option == SCALE && strcmp(optarg, "quick") != 0)
			wrong("--scale", "smoke, quick or full", optarg);
		else if (option == ENGINE)
			choice->only = peer_of(optarg);
		else if (option == HELP || option == '?') {
			usage(option == HELP ? stdout : stderr);
			exit(option == HELP ? 0 : 2);
		}
	}
	choice->scenario = argv + optind;
	choice->n_scenarios = argc - optind;
	for (int i = 0; i < choice->n_scenarios; i++)
		check_scenario(choice->scenario[i]);
}

static bool chosen(const struct choice *choice, const char *name)
{
	for (int i = 0; i < choice->n_scenarios; i++)
		if (strcmp(choice->scenario[i], name) == 0)
			return true;
	return choice->n_scenarios == 0;
}

static void run(const struct fm_scenario_case *spec, const struct fm_peer *peer, uint64_t seed, int socket,
		struct fm_scenario_result *result)
{
	struct fm_peer_params params;
	struct rte_mempool *pool;

	fm_scenario_peer_params(spec, seed, socket, &params);
	pool = rte_pktmbuf_pool_create("pressure", fm_scenario_mbufs(peer, &params) + POOL_CACHE * 2, POOL_CACHE, 0,
				       FM_SCENARIO_DATA_ROOM, socket);
	if (pool == NULL) {
		fprintf(stderr, "pressure: no memory for the mbufs of %s\n", peer->name);
		exit(1);
	}
	fm_scenario_run(spec, peer, &params, pool, result);
	rte_mempool_free(pool);
}

static bool asks_for_cycles(const struct fm_scenario_list *list)
{
	for (unsigned int i = 0; i < list->n; i++)
		for (unsigned int t = 0; t < FM_SCENARIO_TARGETS; t++)
			if (list->item[i].class[0].target[t].metric == FM_SCENARIO_CYCLES)
				return true;
	return false;
}

/*
 * Play all cases to fragmend. Where cycles of one are compared with those of another, in several rounds of which each
 * case's fastest counts, so that a slow moment of the machine is not one case's.
 */
static void run_own(const struct fm_scenario_list *list, uint64_t seed, int socket, struct fm_scenario_result *own)
{
	const unsigned int rounds = asks_for_cycles(list) ? ROUNDS : 1;

	for (unsigned int round = 0; round < rounds; round++)
		for (unsigned int i = 0; i < list->n; i++) {
			const double before = own[i].cycles;

			run(&list->item[i], &fm_peer_fragmend, seed, socket, &own[i]);
			if (round > 0)
				own[i].cycles = RTE_MIN(own[i].cycles, before);
		}
}

static bool takes(const struct fm_peer *peer, const struct fm_scenario_case *spec)
{
	struct fm_peer_params params;

	fm_scenario_peer_params(spec, 0, 0, &params);
	return peer->fragments_max == 0 || params.fragments <= peer->fragments_max;
}

static void run_scenario(const struct fm_scenario *scenario, const struct choice *choice, int socket,
			 struct fm_pressure_table *table)
{
	static struct fm_scenario_list list;
	static struct fm_scenario_result own[FM_SCENARIO_CASES_MAX], other;

	list = (struct fm_scenario_list){.scale = choice->scale};
	scenario->fill(&list);
	if (choice->only == NULL || choice->only == &fm_peer_fragmend)
		run_own(&list, choice->seed, socket, own);
	for (unsigned int i = 0; i < list.n; i++) {
		const struct fm_scenario_case *spec = &list.item[i];

		for (unsigned int p = 0; p < RTE_DIM(peers); p++) {
			if ((choice->only != NULL && choice->only != peers[p]) || !takes(peers[p], spec))
				continue;
			if (peers[p] == &fm_peer_fragmend) {
				fm_pressure_rows(table, scenario->name, peers[p]->name, spec, &own[i], own);
				continue;
			}
			run(spec, peers[p], choice->seed, socket, &other);
			fm_pressure_rows(table, scenario->name, peers[p]->name, spec, &other, NULL);
		}
	}
}

int main(int argc, char **argv)
{
	struct fm_pressure_table table = {0};
	struct choice choice;
	int socket;

	read_options(argc, argv, &choice);
	fm_bench_eal(EAL_MB);
	socket = fm_bench_memory((uint64_t)(choice.scale == FM_SCENARIO_FULL ? FULL_MB : QUICK_MB) << 20, true);
	table.tsv = choice.tsv;
	fm_pressure_head(&table);
	for (const struct fm_scenario *s = fm_scenario_table; s->name != NULL; s++)
		if (chosen(&choice, s->name))
			run_scenario(s, &choice, socket, &table);
	fm_pressure_foot(&table);
	rte_eal_cleanup();
	return 0;
}
