/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What commands print, against a fake door.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "control.h"
#include "fake_door.h"
#include "shell.h"
#include "stats.h"

/* Two nodes; the second worker is on the one without ports. */
static void two_nodes(void)
{
	struct fm_numa_view *numa = &fake_door.numa;

	*numa = (struct fm_numa_view){ .numa = true, .placed = true, .n_nodes = 2,
		.distance = { { 10, 21 }, { 21, 10 } },
		.node = {
			{ .id = 0, .cpus = "0-7 16-23", .lcores = "0 1", .total_bytes = 64000ULL << 20,
			  .free_bytes = 1234ULL << 20, .heap_bytes = 1024ULL << 20, .heap_free_bytes = 512ULL << 20 },
			{ .id = 2, .cpus = "", .total_bytes = 1ULL << 50, .free_bytes = 1ULL << 50 },
		},
	};
	for (unsigned int i = 0; i < 2; i++) {
		fake_door.port_place[i] = (struct fm_port_place_view){ .id = (uint16_t)i, .name = "net_fake" };
		fake_door.worker_place[i] = (struct fm_worker_place_view){ .lcore = (uint16_t)(i + 1),
			.verdict = FM_PLACED_LOCAL, .text = "uses nothing of another node" };
	}
	fake_door.port_place[1].node = -1;
	fake_door.port_place[1].pool_wanted = 2;
	fake_door.worker_place[1] = (struct fm_worker_place_view){ .lcore = 2, .node = 2, .table_node = 2,
		.verdict = FM_PLACED_REMOTE,
		.text = "uses port 0 on node 0 (distance 21); nearer lcores: 0,1 (distance 10)" };
}

static void large_capture(void)
{
	fake_door.capture = (struct fm_capture_view){
		.state = FM_CAPTURE_FAILED, .path = "/var/tmp/drops.pcapng", .error = ENOSPC,
		.request = { .snaplen_bytes = FM_SNAPLEN_MAX, .rate_pps = FM_CAPTURE_RATE_MAX,
			     .limit_packets = 1000000000000 },
		.seconds = 31536000, .packets = 1000000000000, .bytes = 65000000000000000,
		.over_rate = 4000000000000, .no_room = 4000000000000,
	};
}

/* Every table fits a terminal of 80 columns, with numbers as large as they may get in a year at 100 Gbit/s. */
static void width(void **state)
{
	static const char *const lines[] = {
		"help", "help show", "help set", "help reassembly", "help overlap", "version", "show port info all",
		"show port stats all", "show config", "show budget", "show lcores", "show reassembly stats",
		"show reassembly stats lcore 2", "show reassembly drops", "show reassembly datagrams",
		"show reassembly sources", "show check", "show numa", "show port xstats all", "show port link all",
		"show capture",
	};
	struct shell_fixture *f = *state;
	uint64_t *member = (uint64_t *)fake_door.stats;
	const char *at;

	for (size_t i = 0; i < 2 * sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		member[i] = 400000000000;
	for (unsigned int w = 0; w < 2; w++) {
		fake_door.worker[w].max_datagrams = 1 << 24;
		fake_door.worker[w].table_bytes = (uint64_t)1 << 36;
		fake_door.stats[w].reass.held_mbufs = 1 << 24;
		fake_door.stats[w].tx_backlog_mbufs = 1 << 24;
		fake_door.worker[w].budget_mbufs = 1 << 24;
	}
	two_nodes();
	fake_door.numa.n_nodes = FM_NODES_MAX;
	for (unsigned int i = 0; i < FM_NODES_MAX; i++) {
		fake_door.numa.node[i] = fake_door.numa.node[1];
		for (unsigned int c = 0; c + 8 < FM_NODE_TEXT_LEN; c += 7)
			strcat(fake_door.numa.node[i].cpus, " 64-660");
		for (unsigned int j = 0; j < FM_NODES_MAX; j++)
			fake_door.numa.distance[i][j] = 255;
	}
	fake_door.port[1].no_rss = "hashes fragments by addresses alone, but not what is no fragment";
	fake_door.port[0].rx_packets = 4000000000000;
	fake_door.xstats[0] = 1;
	memset(fake_door.xstat[0][0].name, 'x', sizeof(fake_door.xstat[0][0].name) - 1);
	fake_door.xstat[0][0].value = UINT64_MAX;
	for (unsigned int i = 0; i < 2; i++) {
		struct fm_port_more_view *more = &fake_door.port_more[i];

		memset(more->firmware, 'v', 40);
		more->link_held_down = true;
		more->rx_frame_max = more->tx_frame_max = UINT32_MAX - 1;
		more->rxq_max = more->txq_max = more->rxd_min = more->rxd_max = more->txd_min = more->txd_max = 65535;
		more->reta_size = 65535;
		more->hash_key_bytes = 255;
	}
	fake_door.port[0].rx_bytes = 400000000000000000;
	fake_door.views[0] = 1;
	memset(&fake_door.view[0][0], 0xff, sizeof(fake_door.view[0][0]));
	fake_door.view[0][0].cold = true;
	fake_door.view[0][0].held_bytes = 65535;
	fake_door.view[0][0].end_bytes = 65535;
	fake_door.view[0][0].held_mbufs = 1 << 24;
	fake_door.view[0][0].missing_ranges = 8191;
	fake_door.view[0][0].age_tsc = 120000000;
	fake_door.view[0][0].idle_tsc = 120000000;
	fake_door.view[0][0].chance_permille = 1000;
	for (unsigned int w = 0; w < 2; w++) {
		fake_door.sources[w] = 1;
		memset(fake_door.source[w][0].prefix, 0xfd, 16);
		fake_door.source[w][0].prefix_len = 128;
		fake_door.source[w][0].family = 6;
		fake_door.source[w][0].chance_permille = 1000;
		fake_door.source[w][0].held_mbufs = 1U << 31;
		fake_door.source[w][0].delivered = fake_door.source[w][0].wasted = 2000000000000;
	}
	/* No sum: four thousand million mbufs are more than there can be. */
	fake_door.source[1][0].prefix[15] = 1;
	large_capture();
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(shell_run(f, lines[i]), 0);
		assert_true(f->text[0] != '\0');
		for (at = f->text; *at != '\0'; at += strcspn(at, "\n") + 1) {
			if (strcspn(at, "\n") > 80)
				print_error("%s: %.*s\n", lines[i], (int)strcspn(at, "\n"), at);
			assert_true(strcspn(at, "\n") <= 80);
			assert_true(at[strcspn(at, "\n")] == '\n');
		}
	}
}

/* What a concurrent datagram costs besides its mbufs. */
static void table_bytes(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.worker[1].max_datagrams = 1000;
	fake_door.worker[1].table_bytes = 255999;
	assert_int_equal(shell_run(f, "show budget"), 0);
	assert_non_null(strstr(f->text, "\n  lcore 1: 300 bytes for each of 1024 datagrams\n"));
	assert_non_null(strstr(f->text, "\n  lcore 2: 255 bytes for each of 1000 datagrams\n"));
}

static void help(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "help"), 0);
	for (unsigned int c = 0; c < fm_commands; c++)
		assert_non_null(strstr(f->text, fm_command[c].syntax));
	assert_int_equal(shell_run(f, "help timeout4"), 0);
	assert_non_null(strstr(f->text, "1..120000 ms"));
	assert_null(strstr(f->text, "timeout6"));
	assert_int_equal(shell_run(f, "help duplicate"), 0);
	assert_non_null(strstr(f->text, "Exact copy of a fragment already held"));
	assert_int_equal(shell_run(f, "help nonsense"), -ENOENT);
	assert_non_null(strstr(f->shell.err, "\"nonsense\""));
}

static void outcomes(void **state)
{
	struct shell_fixture *f = *state;
	char expected[80];

	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		fake_door.stats[0].reass.count[i] = 1000 + i;
		fake_door.stats[1].reass.count[i] = 100000;
	}
	assert_int_equal(shell_run(f, "show reassembly drops"), 0);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		snprintf(expected, sizeof(expected), " %-19s%13u ", fm_outcome_info[i].name, 101000 + i);
		assert_non_null(strstr(f->text, expected));
	}
	memset(fake_door.stats, 0, sizeof(fake_door.stats));
	/* On the way out everything since start is printed, cleared or not. */
	fake_door.stats[1].reass.count[FM_NESTED] = 3;
	fm_stats_clear();
	rewind(f->shell.out);
	fm_control_print_final(f->shell.out);
	fputc('\0', f->shell.out);
	fflush(f->shell.out);
	assert_non_null(strstr(f->text, "- nested                         3  "));
	assert_null(strstr(f->text, "duplicate"));
	assert_non_null(strstr(f->text, "accounting: frames OK, fragments OK, mbufs OK\n"));
}

static void check(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "show check"), 0);
	assert_null(strstr(f->text, "BROKEN"));
	fake_door.check.mbufs_ok = false;
	fake_door.check.mbufs_lost = 12;
	assert_int_equal(shell_run(f, "show check"), -EBADMSG);
	assert_non_null(strstr(f->text, "BROKEN"));
	assert_string_equal(f->shell.err, "accounting is broken: frames OK, fragments OK, 12 mbufs lost");
	assert_int_equal(shell_run(f, "show reassembly stats"), 0);
	assert_non_null(strstr(f->text, "accounting: frames OK, fragments OK, mbufs BROKEN\n"));
}

/* Counters that move as they are read are no broken account; once traffic has stopped, they are. */
static void check_while_traffic_runs(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "start"), 0);
	fake_door.check_moves = 3;
	assert_int_equal(shell_run(f, "show check"), 0);
	assert_int_equal(shell_run(f, "stop"), 0);
	fake_door.check_moves = 3;
	assert_int_equal(shell_run(f, "show check"), -EBADMSG);
	assert_int_equal(fake_door.check_moves, 2);
}

static struct fm_reass_view *hold(uint16_t worker, uint8_t family, uint64_t age_tsc)
{
	struct fm_reass_view *view = &fake_door.view[worker][fake_door.views[worker]++];

	*view = (struct fm_reass_view){
		.source = { 10, 0, 0, 1 }, .destination = { 10, 0, 0, (uint8_t)age_tsc }, .age_tsc = age_tsc * 1000,
		.idle_tsc = 500, .id = 0x1234, .held_bytes = 2960, .missing_ranges = 1, .held_mbufs = 2, .fragments = 2,
		.vlan = { UINT16_MAX, UINT16_MAX }, .family = family, .protocol = family == 4 ? 17 : 0,
		.chance_permille = 904,
	};
	fake_door.stats[worker].reass.datagrams++;
	return view;
}

/* Those of all workers, the oldest first. */
static void datagrams(void **state)
{
	struct shell_fixture *f = *state;
	struct fm_reass_view *view;
	const char *at;

	assert_int_equal(shell_run(f, "show reassembly datagrams"), 0);
	assert_string_equal(f->text, "0 of 0 held datagrams, oldest first\n");
	hold(0, 4, 9);
	hold(0, 4, 5);
	view = hold(1, 4, 7);
	view->end_bytes = 65507;
	view->vlan[0] = 100;
	view->vlan[1] = 0;
	view->cold = true;
	view->chance_permille = 5;
	hold(1, 6, 3)->fragments = 1;
	fake_door.view[1][1].held_mbufs = 1;
	assert_int_equal(shell_run(f, "show reassembly datagrams top 3"), 0);
	assert_non_null(at = strstr(f->text, "10.0.0.1 > 10.0.0.9\n"));
	assert_non_null(strstr(at, "age 9.0 ms, idle 0.5 ms, chance 90.4%\n"));
	assert_non_null(at = strstr(at, "10.0.0.1 > 10.0.0.7\n"));
	assert_non_null(strstr(at, "id 0x1234, protocol 17, port 0, vlan 100, vlan 0\n"));
	assert_non_null(strstr(at, "age 7.0 ms, idle 0.5 ms, chance 0.5%, cold\n"));
	assert_non_null(strstr(at, "2 fragments, 2 mbufs, 2960 of 65507 bytes, 1 missing range\n"));
	assert_non_null(at = strstr(at, "10.0.0.1 > 10.0.0.5\n"));
	assert_non_null(strstr(at, "2960 bytes, end not seen, 1 missing range\n"));
	assert_non_null(strstr(at, "\n3 of 4 held datagrams, oldest first\n"));
	assert_int_equal(shell_run(f, "show reassembly datagrams"), 0);
	assert_non_null(strstr(f->text, "a00:1:: > a00:3::\n    id 0x00001234, port 0\n"));
	assert_non_null(strstr(f->text, "\n    1 fragment, 1 mbuf, 2960 bytes"));
	fake_door.datagrams_error = -ETIMEDOUT;
	assert_int_equal(shell_run(f, "show reassembly datagrams"), -ETIMEDOUT);
}

/* 10.0.NUMBER.0/24, or the same as an IPv6 prefix. */
static struct fm_source_view *source(uint16_t worker, uint8_t family, uint8_t number, uint32_t held_mbufs)
{
	struct fm_source_view *view = &fake_door.source[worker][fake_door.sources[worker]++];

	*view = (struct fm_source_view){
		.prefix = { 10, 0, number }, .prefix_len = family == 4 ? 24 : 64, .family = family,
		.held_mbufs = held_mbufs, .chance_permille = 900,
	};
	fake_door.stats[worker].reass.held_mbufs += held_mbufs;
	return view;
}

/* Of all workers, one line for a source, the one first that holds most. */
static void sources(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "show reassembly sources"), 0);
	assert_string_equal(f->text, "0 sources, most mbufs held first; delivered and wasted: fragments\n");
	source(0, 4, 1, 40);
	source(0, 4, 2, 30)->delivered = 97;
	fake_door.source[0][1].wasted = 2;
	source(0, 4, 3, 0)->wasted = 7;
	source(0, 4, 5, 0)->delivered = 1000;
	/* Its worker has seen 520 fragments of it, the other one 130. */
	source(1, 4, 2, 20)->delivered = 490;
	fake_door.source[1][0].wasted = 9;
	fake_door.source[1][0].chance_permille = 400;
	source(1, 6, 1, 10);
	assert_int_equal(shell_run(f, "show reassembly sources"), 0);
	assert_string_equal(f->text,
			    "source                   held mbufs   share  chance     delivered        wasted\n"
			    "10.0.2.0/24                      50   50.0%   50.0%           587            11\n"
			    "10.0.1.0/24                      40   40.0%   90.0%             0             0\n"
			    "a00:100::/64                     10   10.0%   90.0%             0             0\n"
			    "10.0.3.0/24                       0    0.0%   90.0%             0             7\n"
			    "10.0.5.0/24                       0    0.0%   90.0%          1000             0\n"
			    "\n5 sources, most mbufs held first; delivered and wasted: fragments\n");
	assert_int_equal(shell_run(f, "show reassembly sources top 1"), 0);
	assert_non_null(strstr(f->text, "10.0.2.0/24 "));
	assert_null(strstr(f->text, "10.0.1.0/24 "));
	assert_non_null(strstr(f->text, "\nthe first 1 source, most mbufs held first"));
	fake_door.sources_error = -ETIMEDOUT;
	assert_int_equal(shell_run(f, "show reassembly sources"), -ETIMEDOUT);
	assert_string_equal(f->text, "");
}

/* An address of 128 bits is wider than its column; more held by one than by all was another moment. */
static void source_of_a_single_address(void **state)
{
	struct shell_fixture *f = *state;

	memset(source(0, 6, 0, 10)->prefix, 0xfd, 16);
	fake_door.source[0][0].prefix_len = 128;
	fake_door.stats[0].reass.held_mbufs = 5;
	assert_int_equal(shell_run(f, "show reassembly sources"), 0);
	assert_non_null(strstr(f->text,
			       "\nfdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd/128\n"
			       "                                 10  100.0%   90.0%             0             0\n"));
}

static void ports(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.port[1].link_up = false;
	fake_door.port[1].rx_nombuf = 42;
	assert_int_equal(shell_run(f, "show port info all"), 0);
	assert_non_null(strstr(f->text, "Port 0: net_fake0\n"));
	assert_non_null(strstr(f->text, "up, 10000 Mbit/s, full duplex\n"));
	assert_non_null(strstr(f->text, "Port 1: net_fake1\n"));
	assert_non_null(strstr(f->text, "down\n"));
	assert_int_equal(shell_run(f, "show port stats 1"), 0);
	assert_null(strstr(f->text, "Port 0"));
	assert_non_null(strstr(f->text, "rx no mbuf 42,"));
}

static void rss(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.port[0].rss_symmetric = true;
	assert_int_equal(shell_run(f, "show port info all"), 0);
	assert_non_null(strstr(f->text, "  RSS on addresses   on, both directions by one queue\n"));
	assert_non_null(strstr(f->text, "  RSS on addresses   on, each direction by a queue of its own\n"));
	fake_door.port[0].rss = false;
	fake_door.port[1].no_rss = "offers no RSS";
	assert_int_equal(shell_run(f, "show port info all"), 0);
	assert_non_null(strstr(f->text, "  RSS on addresses   not in use\n"));
	assert_non_null(strstr(f->text, "  RSS on addresses   off: the port offers no RSS\n"));
}

static void numa(void **state)
{
	struct shell_fixture *f = *state;

	two_nodes();
	assert_int_equal(shell_run(f, "show numa"), 0);
	assert_string_equal(f->text,
		"node         memory MiB         free    of DPDK MiB         free\n"
		"0                 64000         1234           1024          512\n"
		"  CPUs     0-7 16-23\n"
		"  lcores   0 1\n"
		"2            1073741824   1073741824              0            0\n"
		"  CPUs     none\n"
		"  lcores   none\n"
		"\nDistances, to each node as listed above (10: to itself)\n"
		"  from 0   10 21\n"
		"  from 2   21 10\n"
		"\nMemory goes to the nodes of ports and lcores.\n\n"
		"Port 0: net_fake\n"
		"  port on node 0, its pool on node 0\n"
		"Port 1: net_fake\n"
		"  port on no node, its pool on node 0, which was asked for on node 2\n\n"
		"Worker 0: lcore 1, node 0; table on node 0\n"
		"  local    uses nothing of another node\n"
		"Worker 1: lcore 2, node 2; table on node 2\n"
		"  REMOTE   uses port 0 on node 0 (distance 21); nearer lcores: 0,1 (distance\n"
		"           10)\n");
	fake_door.numa.distance[0][1] = 0;
	fake_door.numa.placed = false;
	fake_door.worker_place[0].verdict = FM_PLACED_UNKNOWN;
	fake_door.worker_place[0].node = fake_door.worker_place[0].table_node = -1;
	assert_int_equal(shell_run(f, "show numa"), 0);
	assert_non_null(strstr(f->text, "  from 0   10 ?\n"));
	assert_non_null(strstr(f->text, "the main lcore's node (--no-numa).\n"));
	assert_non_null(strstr(f->text, "Worker 0: lcore 1, of several nodes\n  unknown  "));
	fake_door.numa.numa = false;
	assert_int_equal(shell_run(f, "show numa"), 0);
	assert_non_null(strstr(f->text, "The kernel has no NUMA"));
	assert_null(strstr(f->text, "Distances"));
	assert_non_null(strstr(f->text, "Worker 1: lcore 2, node 2;"));
}

static void worker(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.stats[0].reass.fragments_in = 10;
	fake_door.stats[0].reass.count[FM_COMPLETED] = 7;
	fake_door.stats[0].reass.held_fragments = 3;
	fake_door.stats[1].reass.fragments_in = 5;
	assert_int_equal(shell_run(f, "show reassembly stats lcore 1"), 0);
	assert_non_null(strstr(f->text, "Reassembly, lcore 1 "));
	assert_non_null(strstr(f->text, "accounting: fragments OK\n"));
	assert_int_equal(shell_run(f, "show reassembly stats lcore 2"), 0);
	assert_non_null(strstr(f->text, "accounting: fragments differ by 5 "));
	assert_int_equal(shell_run(f, "show lcores"), 0);
	assert_non_null(strstr(f->text, "port 1 queue 0 to port 0 queue 0\n"));
	assert_non_null(strstr(f->text, "port 1 queue 1 to port 0 queue 0, sent by lcore 1\n"));
	assert_non_null(strstr(f->text, "its part of the fragments of ports 0, 1\n"));
	assert_non_null(strstr(f->text, "fragments to lcore 2: 1000000, dropped 4, waiting 3 of 1024\n"));
	assert_non_null(strstr(f->text, "port 1 by lcore 1: 5000000000000, dropped 7, waiting 8000 of 8704\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(width, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(table_bytes, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(help, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(outcomes, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(check, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(check_while_traffic_runs, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(datagrams, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(sources, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(source_of_a_single_address, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(ports, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(rss, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(numa, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(worker, shell_setup, shell_teardown),
	};

	return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
