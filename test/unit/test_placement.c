/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts and advice on machines that there are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "placement.h"

/* Nodes 0 and 1, lcores 0 and 2 on the one, 1 and 3 on the other; port 0 on node 0, port 1 on node 1. */
static struct fm_machine two_nodes(void)
{
	return (struct fm_machine){
		.numa = true, .placed = true, .n_nodes = 2, .n_lcores = 4, .n_ports = 2,
		.node = { { 0, "0-7" }, { 1, "8-15" } },
		.distance = { { 10, 21 }, { 21, 10 } },
		.lcore = { { 0, 0 }, { 1, 1 }, { 2, 0 }, { 3, 1 } },
		.port = { { 0, 0 }, { 1, 1 } },
	};
}

/* A ring of four with its long way across, numbered with gaps; lcores 10, 12, 14 and 16 on one each. */
static struct fm_machine four_nodes(void)
{
	return (struct fm_machine){
		.numa = true, .placed = true, .n_nodes = 4, .n_lcores = 4, .n_ports = 1, .main_node = 0,
		.node = { { 0, "0-3" }, { 2, "4-7" }, { 4, "8-11" }, { 6, "12-15" } },
		.distance = { { 10, 16, 28, 17 }, { 16, 10, 17, 28 }, { 28, 17, 10, 16 }, { 17, 28, 16, 10 } },
		.lcore = { { 10, 0 }, { 12, 2 }, { 14, 4 }, { 16, 6 } },
		.port = { { 0, 4 } },
	};
}

static struct fm_place judge(const struct fm_machine *machine, uint16_t lcore, uint32_t ports)
{
	const struct fm_seat seat = { .lcore = lcore, .ports = ports };
	struct fm_place place;

	fm_place_judge(machine, &seat, &place);
	return place;
}

static void local(void **state)
{
	const struct fm_machine m = two_nodes();
	struct fm_place place;

	(void)state;
	place = judge(&m, 2, 1 << 0);
	assert_int_equal(place.verdict, FM_PLACED_LOCAL);
	assert_int_equal(place.node, 0);
	assert_string_equal(place.text, "uses nothing of another node");
	assert_int_equal(judge(&m, 3, 1 << 1).verdict, FM_PLACED_LOCAL);
	assert_int_equal(judge(&m, 3, 0).verdict, FM_PLACED_IDLE);
}

static void wrong_node(void **state)
{
	const struct fm_machine m = two_nodes();
	const struct fm_place place = judge(&m, 3, 1 << 0);

	(void)state;
	assert_int_equal(place.verdict, FM_PLACED_REMOTE);
	assert_int_equal(place.node, 1);
	assert_true(place.better);
	assert_string_equal(place.text, "uses port 0 on node 0 (distance 21); nearer lcores: 0,2 (distance 10)");
}

/* A pair whose ports are on different nodes has no better place than either. */
static void between_two(void **state)
{
	const struct fm_machine m = two_nodes();
	const struct fm_place place = judge(&m, 3, 1 << 0 | 1 << 1);

	(void)state;
	assert_int_equal(place.verdict, FM_PLACED_REMOTE);
	assert_false(place.better);
	assert_string_equal(place.text, "uses port 0 on node 0 (distance 21); no CPU is nearer");
}

static void by_distance(void **state)
{
	struct fm_machine m = four_nodes();

	(void)state;
	assert_int_equal(fm_place_distance(&m, 0, 4), 28);
	assert_int_equal(fm_place_distance(&m, 6, 4), 16);
	assert_string_equal(judge(&m, 10, 1).text,
			    "uses port 0 on node 4 (distance 28); nearer lcores: 14 (distance 10)");
	/* Without that one the neighbour with the shorter link is next ... */
	m.lcore[2].node = 0;
	assert_string_equal(judge(&m, 10, 1).text,
			    "uses port 0 on node 4 (distance 28); nearer lcores: 16 (distance 16)");
	/* ... and who is there already hears of the CPUs that were not given. */
	assert_string_equal(judge(&m, 16, 1).text, "uses port 0 on node 4 (distance 16); no lcore given is nearer, but "
			    "CPUs 8-11 of node 4 are, see -l (distance 10)");
	/* Two ports: the least sum. Node 2 has 17 + 16, the ends have 28 + 10. */
	m = four_nodes();
	m.n_ports = 2;
	m.port[1].id = 1;
	assert_string_equal(judge(&m, 10, 3).text, "uses port 0 on node 4 (distance 28); nearer lcores: 12,16 "
			    "(distances in all 33, now 38)");
}

static void memory_only_node(void **state)
{
	struct fm_machine m = two_nodes();

	(void)state;
	m.n_nodes = 3;
	m.node[2].id = 5;
	for (unsigned int i = 0; i < 3; i++)
		m.distance[i][2] = m.distance[2][i] = i == 0 ? 17 : i == 1 ? 28 : 10;
	m.port[0].node = 5;
	assert_string_equal(judge(&m, 1, 1).text,
			    "uses port 0 on node 5 (distance 28); nearer lcores: 0,2 (distance 17)");
	assert_string_equal(judge(&m, 0, 1).text, "uses port 0 on node 5 (distance 17); no CPU is nearer");
	assert_false(judge(&m, 0, 1).better);
}

/* A port without a node: its pool is on the main lcore's. */
static void port_without_node(void **state)
{
	struct fm_machine m = two_nodes();

	(void)state;
	m.port[0].node = -1;
	assert_int_equal(fm_place_memory(&m, -1), 0);
	assert_int_equal(judge(&m, 2, 1).verdict, FM_PLACED_LOCAL);
	assert_string_equal(judge(&m, 1, 1).text,
			    "uses the pool of port 0 on node 0 (distance 21); nearer lcores: 0,2 (distance 10)");
	m.main_node = -1;
	assert_int_equal(judge(&m, 1, 1).verdict, FM_PLACED_LOCAL);
}

static void lcore_of_several_nodes(void **state)
{
	struct fm_machine m = two_nodes();

	(void)state;
	m.lcore[1].node = -1;
	assert_int_equal(judge(&m, 1, 1).verdict, FM_PLACED_UNKNOWN);
	assert_int_equal(judge(&m, 77, 1).verdict, FM_PLACED_UNKNOWN);
	/* It is no advice, either. */
	m.lcore[0].node = -1;
	assert_string_equal(judge(&m, 3, 1).text,
			    "uses port 0 on node 0 (distance 21); nearer lcores: 2 (distance 10)");
}

/* --no-numa: the port stays where it is, its pool and the tables go to the main lcore's node. */
static void no_numa(void **state)
{
	struct fm_machine m = two_nodes();

	(void)state;
	m.placed = false;
	assert_int_equal(fm_place_memory(&m, 1), 0);
	assert_int_equal(judge(&m, 2, 1 << 0).verdict, FM_PLACED_LOCAL);
	assert_string_equal(judge(&m, 3, 1 << 1).text,
			    "uses the pool of port 1 on node 0 (distance 21), a table on node 0 (distance 21); nearer "
			    "lcores: 0,2 (distances in all 41, now 52)");
	assert_string_equal(judge(&m, 2, 1 << 1).text, "uses port 1 on node 1 (distance 21); no CPU is nearer");
}

/* Nodes that the kernel lists nowhere, and distances it does not tell. */
static void unknown_distances(void **state)
{
	struct fm_machine m = two_nodes();

	(void)state;
	m.distance[1][0] = 0;
	assert_int_equal(fm_place_distance(&m, 1, 0), FM_DISTANCE_THERE);
	assert_int_equal(fm_place_distance(&m, 9, 9), FM_DISTANCE_HERE);
	m.port[0].node = 9;
	assert_string_equal(judge(&m, 0, 1).text, "uses port 0 on node 9 (distance 20); no CPU is nearer");
	m.numa = false;
	m.n_nodes = 0;
	assert_int_equal(judge(&m, 3, 1 << 1).verdict, FM_PLACED_LOCAL);
	assert_string_equal(judge(&m, 0, 1 << 1).text,
			    "uses port 1 on node 1 (distance 20); nearer lcores: 1,3 (distance 10)");
}

/* Everything at once is cut, not spilt. */
static void long_texts(void **state)
{
	static struct fm_machine m;
	struct fm_place place;

	(void)state;
	m.n_nodes = FM_NODES_MAX;
	m.n_lcores = FM_LCORES_MAX;
	m.n_ports = FM_PORTS_MAX;
	m.placed = true;
	for (int i = 0; i < FM_NODES_MAX; i++) {
		m.node[i].id = i;
		memset(m.node[i].cpus, '8', sizeof(m.node[i].cpus) - 1);
		for (int j = 0; j < FM_NODES_MAX; j++)
			m.distance[i][j] = i == j ? 10 : UINT16_MAX;
	}
	for (int i = 0; i < FM_LCORES_MAX; i++) {
		m.lcore[i].id = (uint16_t)(60000 + i);
		m.lcore[i].node = i == 0 ? 30 : 31;
	}
	for (int i = 0; i < FM_PORTS_MAX; i++) {
		m.port[i].id = (uint16_t)(60000 + i);
		m.port[i].node = i;
	}
	place = judge(&m, 60000, UINT32_MAX);
	assert_int_equal(place.verdict, FM_PLACED_REMOTE);
	assert_non_null(strstr(place.text, "port 60003 on node 3 (distance 65535), "));
	assert_null(strstr(place.text, "port 60004"));
	/* 32 ports but the one that is here; from node 31 it is as far. */
	assert_non_null(strstr(place.text, "), 27 more; no CPU is nearer"));
	assert_in_range(strlen(place.text), 0, FM_PLACE_TEXT_LEN - 1);
	/* As many lcores as a list holds. */
	place = judge(&m, 60000, 1U << 31);
	assert_non_null(strstr(place.text, "; nearer lcores: 60001,60002,"));
	assert_in_range(strlen(place.text), 0, FM_PLACE_TEXT_LEN - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local),
		cmocka_unit_test(wrong_node),
		cmocka_unit_test(between_two),
		cmocka_unit_test(by_distance),
		cmocka_unit_test(memory_only_node),
		cmocka_unit_test(port_without_node),
		cmocka_unit_test(lcore_of_several_nodes),
		cmocka_unit_test(no_numa),
		cmocka_unit_test(unknown_distances),
		cmocka_unit_test(long_texts),
	};

	return cmocka_run_group_tests_name("placement", tests, NULL, NULL);
}
