/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `show ... json`: it parses, and has the numbers of the door.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_door.h"
#include "json.h"
#include "shell.h"

static void has(struct shell_fixture *f, const char *path, const char *want)
{
	char value[512];

	if (!json_at(f->text, path, value, sizeof(value)))
		fail_msg("%s: not in %s", path, f->text);
	if (strcmp(value, want) != 0)
		fail_msg("%s: %s, not %s", path, value, want);
}

static void has_number(struct shell_fixture *f, const char *path, uint64_t want)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, want);
	has(f, path, text);
}

static void run(struct shell_fixture *f, const char *line)
{
	assert_int_equal(shell_run(f, line), 0);
	assert_true(json_valid(f->text));
	assert_int_equal(f->text[0], '{');
}

/* Another number in each counter of each worker, so large that it fits no double. */
static void number_all(void)
{
	uint64_t *member = (uint64_t *)fake_door.stats;

	for (size_t i = 0; i < 2 * sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		member[i] = (UINT64_C(1) << 57) + 1 + i * 3;
}

/* Every command that shows something has the form. */
static void every_show(void **state)
{
	struct shell_fixture *f = *state;
	unsigned int shows = 0;
	char line[128];

	number_all();
	fake_door.views[0] = fake_door.sources[0] = 1;
	for (unsigned int c = 0; c < fm_commands; c++) {
		const char *syntax = fm_command[c].syntax;

		if (strncmp(syntax, "show port ", 10) == 0)
			snprintf(line, sizeof(line), "show port link all json");
		else if (strncmp(syntax, "show ", 5) == 0 && strcmp(syntax, "show live") != 0)
			snprintf(line, sizeof(line), "%.*s json", (int)strcspn(syntax, "["), syntax);
		else
			continue;
		run(f, line);
		shows++;
	}
	assert_true(shows >= 10);
	run(f, "version json");
	has(f, "version", "\"" FM_VERSION "\"");
}

static void stats(void **state)
{
	struct shell_fixture *f = *state;
	const struct fm_worker_stats *one = &fake_door.stats[1], *zero = &fake_door.stats[0];
	uint64_t dropped = 0;

	number_all();
	run(f, "show reassembly stats lcore 2 json");
	has(f, "lcore", "2");
	has_number(f, "rx_frames", one->rx_frames);
	has_number(f, "tx_bytes", one->tx_bytes);
	has_number(f, "frames_in", one->reass.frames_in);
	has_number(f, "fragments_in", one->reass.fragments_in);
	has_number(f, "fragments_completed", one->reass.count[FM_COMPLETED]);
	has_number(f, "datagrams_completed", one->reass.datagrams_done);
	has_number(f, "datagrams_sent_whole", one->reass.count[FM_SENT_WHOLE]);
	has_number(f, "datagrams_sent_refragmented", one->reass.count[FM_SENT_REFRAGMENTED]);
	has_number(f, "polls", one->polls);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		if (fm_outcome_info[i].unit == FM_UNIT_FRAGMENT && fm_outcome_info[i].severity != FM_SEV_GOOD)
			dropped += one->reass.count[i];
	has_number(f, "fragments_dropped", dropped);
	has_number(f, "held.mbufs", one->reass.held_mbufs);
	has(f, "held.budget_mbufs", "2500");
	run(f, "show reassembly stats json");
	has_number(f, "rx_bytes", one->rx_bytes + zero->rx_bytes);
	has_number(f, "held.datagrams", one->reass.datagrams + zero->reass.datagrams);
	has(f, "held.max_datagrams", "2048");
	assert_null(strstr(f->text, "lcore"));
	/* No sample, no rates: that is not the same as 0. */
	assert_null(strstr(f->text, "per_s"));
	/* As the table: from the last clear. */
	assert_int_equal(shell_run(f, "clear reassembly stats"), 0);
	fake_door.stats[0].reass.fragments_in += 5;
	run(f, "show reassembly stats json");
	has(f, "fragments_in", "5");
	has(f, "rx_frames", "0");
	has_number(f, "held.fragments", one->reass.held_fragments + zero->reass.held_fragments);
}

/* Each of the table and no other, in its order. */
static void drops(void **state)
{
	struct shell_fixture *f = *state;
	const char *at;
	char path[64];

	number_all();
	run(f, "show reassembly drops json");
	at = f->text + 1;
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		const struct fm_outcome_info *info = &fm_outcome_info[i];
		char want[192];

		snprintf(want, sizeof(want), "\"%s\": {", info->name);
		assert_true(strncmp(at, want, strlen(want)) == 0);
		snprintf(path, sizeof(path), "%s.count", info->name);
		has_number(f, path, fake_door.stats[0].reass.count[i] + fake_door.stats[1].reass.count[i]);
		snprintf(path, sizeof(path), "%s.text", info->name);
		snprintf(want, sizeof(want), "\"%s\"", info->text);
		has(f, path, want);
		at = strchr(at, '}') + strlen("}, ");
	}
	assert_string_equal(at - strlen("}, "), "}}\n");
	has(f, "duplicate.unit", "\"fragment\"");
	has(f, "duplicate.severity", "\"drop\"");
	has(f, "passed.severity", "\"good\"");
	has(f, "tx_full.unit", "\"datagram\"");
	has(f, "tx_full.severity", "\"pressure\"");
}

static void budget(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.stats[0].reass.held_mbufs = 11;
	fake_door.stats[1].reass.held_mbufs = 22;
	run(f, "show budget json");
	has(f, "budget_mbufs", "5000");
	has(f, "budget_max_mbufs", "5550");
	has(f, "held_mbufs", "33");
	has(f, "pools.1.name", "\"fm_pool_1\"");
	has(f, "pools.1.port", "1");
	has(f, "pools.0.size_mbufs", "10000");
	has(f, "pools.0.available_mbufs", "7000");
	has(f, "pools.0.burst_reserve_mbufs", "128");
	has(f, "pools.0.spare_mbufs", "500");
	has(f, "tables.1.lcore", "2");
	has(f, "tables.1.bytes", "307200");
}

static void check(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.check.frames_in = UINT64_MAX;
	fake_door.check.fragments_in = 7;
	run(f, "show check json");
	has(f, "ok", "true");
	has(f, "frames.in", "18446744073709551615");
	has(f, "fragments.in", "7");
	fake_door.check.mbufs_ok = false;
	fake_door.check.mbufs_lost = 12;
	/* It fails as without json, and the numbers are there. */
	assert_int_equal(shell_run(f, "show check json"), -EBADMSG);
	assert_non_null(strstr(f->shell.err, "12 mbufs lost"));
	assert_true(json_valid(f->text));
	has(f, "ok", "false");
	has(f, "mbufs.ok", "false");
	has(f, "mbufs.lost", "12");
	has(f, "frames.ok", "true");
}

static void config(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "set timeout4 1234"), 0);
	assert_int_equal(shell_run(f, "set output whole-only"), 0);
	assert_int_equal(shell_run(f, "set bypass on"), 0);
	fake_door.config.burst = 32;
	fake_door.config.clock = FM_CLOCK_RX_TIMESTAMP;
	run(f, "show config json");
	has(f, "settings.timeout4", "1234");
	has(f, "settings.output", "\"whole-only\"");
	has(f, "settings.bypass", "true");
	has(f, "settings.verify_l4", "false");
	has(f, "settings.max_fragments", "128");
	has(f, "start.burst", "32");
	has(f, "start.clock", "\"rx-timestamp\"");
	has(f, "start.port_topology", "\"paired\"");
	has(f, "forwarding", "false");
	assert_int_equal(shell_run(f, "start"), 0);
	run(f, "show config json");
	has(f, "forwarding", "true");
}

static void lcores(void **state)
{
	struct shell_fixture *f = *state;

	number_all();
	run(f, "show lcores json");
	has(f, "lcores.1.lcore", "2");
	has_number(f, "lcores.1.polls", fake_door.stats[1].polls);
	has_number(f, "lcores.0.held_mbufs", fake_door.stats[0].reass.held_mbufs);
	has(f, "lcores.1.budget_mbufs", "2500");
	has(f, "lcores.1.queues.1.to_port", "0");
	has(f, "lcores.1.queues.1.sent_by_lcore", "1");
	has(f, "lcores.0.owned_ports", "[0, 1]");
	has(f, "lcores.0.pipes.0.of", "\"fragments\"");
	has(f, "lcores.1.pipes.1.to_port", "1");
	has(f, "lcores.1.pipes.1.frames", "5000000000000");
}

static void ports(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.port[1].rx_packets = UINT64_MAX;
	fake_door.port[1].rx_nombuf = 42;
	fake_door.port[1].link_up = false;
	fake_door.port[0].write_path = "a \"b\".pcap";
	fake_door.port[0].link_speed_mbps = UINT32_MAX;
	run(f, "show port stats all json");
	has(f, "ports.1.id", "1");
	has(f, "ports.1.rx_packets", "18446744073709551615");
	has(f, "ports.1.rx_no_mbuf", "42");
	has(f, "ports.1.link_up", "false");
	run(f, "show port stats 1 json");
	has(f, "ports.0.id", "1");
	run(f, "show port info 0 json");
	has(f, "ports.0.mac_address", "\"02:00:00:00:00:00\"");
	has(f, "ports.0.output_file", "\"a \\\"b\\\".pcap\"");
	has(f, "ports.0.firmware", "\"22.31\"");
	has(f, "ports.0.rx.queues", "2");
	has(f, "ports.0.rx.queues_max", "16");
	has(f, "ports.0.tx.descriptors", "512");
	has(f, "ports.0.mtu_max_bytes", "9600");
	has(f, "ports.0.link_speed_mbps", "0");
	fake_door.port_more[1].link_held_down = true;
	run(f, "show port link all json");
	has(f, "ports.0.full_duplex", "true");
	has(f, "ports.0.held_down_by_link_follow", "false");
	has(f, "ports.1.held_down_by_link_follow", "true");
	assert_int_equal(shell_run(f, "show port link all"), 0);
	assert_string_equal(f->text,
			    "Port 0: link up, unknown Mbit/s, full duplex, autonegotiation on\n"
			    "Port 1: link down, unknown Mbit/s, full duplex, autonegotiation on,\n"
			    "  taken down by link-follow\n");
}

static void xstats(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.xstats[0] = 2;
	fake_door.xstat[0][0] = (struct fm_xstat_view){ "rx_good_packets", UINT64_MAX };
	fake_door.xstat[0][1] = (struct fm_xstat_view){ "tx \"odd\".name", 3 };
	run(f, "show port xstats all json");
	has(f, "ports.0.xstats.rx_good_packets", "18446744073709551615");
	assert_non_null(strstr(f->text, "\"tx \\\"odd\\\".name\": 3"));
	has(f, "ports.1.xstats", "{}");
	assert_int_equal(shell_run(f, "show port xstats all"), 0);
	assert_non_null(strstr(f->text, "Port 0: as its driver counts\n"
			       "  rx_good_packets                                      18446744073709551615\n"));
	assert_non_null(strstr(f->text, "\nPort 1: its driver counts nothing\n"));
	fake_door.xstats_error = -EIO;
	assert_int_equal(shell_run(f, "show port xstats 0"), -EIO);
	assert_int_equal(shell_run(f, "show port xstats 0 json"), -EIO);
	assert_string_equal(f->text, "");
	/* Its counters are another thing than ethdev's, and one port another one. */
	assert_int_equal(shell_run(f, "clear port xstats 1"), 0);
	assert_int_equal(fake_door.xstats_cleared[0], 0);
	assert_int_equal(fake_door.xstats_cleared[1], 1);
	assert_int_equal(fake_door.cleared[1], 0);
	assert_int_equal(shell_run(f, "clear port xstats all"), 0);
	assert_int_equal(fake_door.xstats_cleared[0], 1);
	assert_int_equal(shell_run(f, "clear port stats all"), 0);
	assert_int_equal(fake_door.xstats_cleared[0], 1);
	assert_int_equal(fake_door.cleared[0], 1);
}

static void datagrams(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.views[0] = 1;
	fake_door.view[0][0] = (struct fm_reass_view){ .source = { 10, 0, 0, 1 }, .destination = { 10, 0, 0, 2 },
		.age_tsc = 9000, .idle_tsc = 500, .id = 0x1234, .held_bytes = 2960, .held_mbufs = 2, .fragments = 2,
		.vlan = { 100, UINT16_MAX }, .family = 4, .protocol = 17, .chance_permille = 904, .cold = true };
	fake_door.views[1] = 1;
	fake_door.view[1][0] = (struct fm_reass_view){ .source = { 0xfd }, .family = 6, .end_bytes = 9, .age_tsc = 1,
		.vlan = { UINT16_MAX, UINT16_MAX } };
	fake_door.stats[1].reass.datagrams = 77;
	run(f, "show reassembly datagrams top 5 json");
	has(f, "held", "77");
	has(f, "datagrams.0.source", "\"10.0.0.1\"");
	has(f, "datagrams.0.age_us", "9000");
	has(f, "datagrams.0.id", "4660");
	has(f, "datagrams.0.vlan", "[100]");
	has(f, "datagrams.0.cold", "true");
	/* The end of the first one was not seen. */
	assert_true(strstr(f->text, "end_bytes") > strstr(f->text, "fd00::"));
	has(f, "datagrams.1.source", "\"fd00::\"");
	has(f, "datagrams.1.end_bytes", "9");
	has(f, "datagrams.1.vlan", "[]");
	fake_door.datagrams_error = -ETIMEDOUT;
	assert_int_equal(shell_run(f, "show reassembly datagrams json"), -ETIMEDOUT);
	assert_string_equal(f->text, "");
}

static void sources(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.sources[0] = 1;
	fake_door.source[0][0] = (struct fm_source_view){ .prefix = { 10, 1 }, .prefix_len = 16, .family = 4,
		.held_mbufs = 25, .chance_permille = 900, .delivered = UINT64_MAX, .wasted = 6 };
	fake_door.stats[0].reass.held_mbufs = 100;
	run(f, "show reassembly sources json");
	has(f, "held_mbufs", "100");
	has(f, "sources.0.source", "\"10.1.0.0/16\"");
	has(f, "sources.0.held_mbufs", "25");
	has(f, "sources.0.share_permille", "250");
	has(f, "sources.0.delivered_fragments", "18446744073709551615");
	fake_door.sources_error = -ETIMEDOUT;
	assert_int_equal(shell_run(f, "show reassembly sources json"), -ETIMEDOUT);
	assert_string_equal(f->text, "");
}

static void numa(void **state)
{
	struct shell_fixture *f = *state;

	fake_door.numa = (struct fm_numa_view){ .numa = true, .n_nodes = 2, .distance = { { 10, 21 }, { 21, 10 } },
		.node = { { .id = 0, .cpus = "0-7" }, { .id = 2, .total_bytes = UINT64_C(1) << 50 } } };
	fake_door.worker_place[1] = (struct fm_worker_place_view){ .lcore = 2, .verdict = FM_PLACED_REMOTE,
		.node = -1 };
	run(f, "show numa json");
	has(f, "nodes.1.node", "2");
	has(f, "nodes.1.distances", "[21, 10]");
	has(f, "nodes.1.memory_bytes", "1125899906842624");
	has(f, "nodes.0.cpus", "\"0-7\"");
	has(f, "workers.1.verdict", "\"remote\"");
	has(f, "workers.1.node", "-1");
}

static void capture(void **state)
{
	struct shell_fixture *f = *state;

	run(f, "show capture json");
	has(f, "state", "\"none\"");
	assert_int_equal(shell_run(f, "capture start a\\b.pcapng all snaplen 100 limit 7"), 0);
	fake_door.capture.packets = UINT64_MAX;
	fake_door.capture.no_room = 3;
	run(f, "show capture json");
	has(f, "state", "\"running\"");
	has(f, "file", "\"a\\\\b.pcapng\"");
	has(f, "all", "true");
	has(f, "snaplen_bytes", "100");
	has(f, "limit_packets", "7");
	has(f, "packets", "18446744073709551615");
	has(f, "no_room", "3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_show, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(stats, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(drops, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(budget, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(check, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(config, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(lcores, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(ports, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(xstats, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(datagrams, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(sources, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(numa, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(capture, shell_setup, shell_teardown),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
