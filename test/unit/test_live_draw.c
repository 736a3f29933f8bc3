/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the live view shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live_scene.h"

static void is(unsigned int i, const char *want)
{
	assert_string_equal(scene_line(i), want);
}

/* The screen most people have, line by line. */
static void eighty_by_twenty_four(void **state)
{
	(void)state;
	scene_small();
	scene_draw(80, 24, FM_PAINT_TEXT);
	is(0, "fragmend forwarding  on box                                  every 1 s  12:34:56");
	is(1, "held [###################################..........] 50100 of 64000 mbufs  78.3%");
	is(2, "delivered 333333/s  in flight  20000  dropped   4324/s  fragments 2.000M/s");
	is(4, " port link rx pkt/s  Mbit/s tx pkt/s  Mbit/s drops/s  drops name");
	is(5, "    0   up   1.235M    9871   400000    9800       0      0 net_af_xdp0");
	is(6, "    1 down   1.235M    9871   400000    9800       1     17 net_af_xdp0");
	is(8, "lcore   busy                                frames/s fragments/s    held tx wait");
	is(9, "    1  42.5% [############................]   1.235M      1.000M   12345       0");
	is(12, "source                                   held budget chance delivered/s wasted/s");
	is(13, "fd09:0:0:1::/64                         50000  78.1%   1.5%           0    54321");
	is(16, "dropped               per s    count");
	is(18, "timeout                 2.5        5 Datagram was not complete in time.");
	is(23, "q leave   space pause   s sources by held   + slower   - faster");
}

static void narrow_and_short(void **state)
{
	(void)state;
	scene_small();
	scene_draw(40, 10, FM_PAINT_TEXT);
	scene_has("forwarding");
	scene_has("78.3%");
	scene_has("delivered 333333/s");
	assert_true(scene_find("port") > 0);
	assert_true(scene_find("refused_share") > scene_find("port"));
	scene_has("q leave");
	scene_has("4321");
	scene_draw(40, 1, FM_PAINT_TEXT);
	scene_has("78.3%");
	scene_draw(10, 2, FM_PAINT_TEXT);
	scene_has("78.3%");
}

/* How many of a list are there and how many are told of: from the line behind its titles to the one with "more". */
static int counted(const char *title, const char *next)
{
	int at = scene_find(title) + 1, n = 0, more = 0;

	assert_true(at > 0);
	for (; scene_line(at)[0] != '\0' && strncmp(scene_line(at), next, strlen(next)) != 0; at++, n++) {
		if (sscanf(scene_line(at), " +%d more", &more) == 1) {
			const char *behind = scene_line(at + 1);

			assert_true(*behind == '\0' || strncmp(behind, next, strlen(next)) == 0);
			return n + more;
		}
	}
	return n;
}

static void more_is_counted(void **state)
{
	(void)state;
	scene_huge();
	for (unsigned int rows = 22; rows <= 256; rows += 13) {
		scene_draw(80, rows, FM_PAINT_TEXT);
		assert_int_equal(counted("port", "lcore"), FM_PORTS_MAX);
		assert_int_equal(counted("lcore", "source"), FM_WORKERS_MAX);
		assert_int_equal(counted("source", "dropped"), FM_LIVE_SOURCES + 1000);
		assert_int_equal(counted("dropped  ", "q leave"), FM_OUTCOME_MAX);
	}
}

/* Where there is room for all, nothing is said of more. */
static void all_is_there(void **state)
{
	/* Three lines above, the keys below, and each table has a blank line and its titles. */
	const unsigned int rows = 3 + 1 + 4 * 2 + FM_PORTS_MAX + 100 + FM_LIVE_SOURCES + FM_OUTCOME_MAX;

	(void)state;
	scene_huge();
	live.more_sources = 0;
	live.n_workers = 100;
	scene_draw(100, rows, FM_PAINT_TEXT);
	scene_has_not("\n  +");
	scene_draw(100, rows - 1, FM_PAINT_TEXT);
	scene_has("\n  +2 more");
}

/* Of many workers the busiest are shown, and a limit is told for the others. */
static void busiest_workers(void **state)
{
	(void)state;
	scene_small();
	live.n_workers = 100;
	for (uint16_t i = 0; i < 100; i++)
		live.worker[i] = (struct fm_live_worker){ .lcore = i, .busy_percent = (i * 37) % 100 };
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("99.0%");
	scene_has("98.0%");
	assert_int_equal(counted("lcore", "source"), 100);
	scene_has(" at most 9");
	live.n_workers = 2;
	scene_draw(80, 24, FM_PAINT_TEXT);
	assert_true(scene_find("0   0.0%") > 0);
	assert_true(scene_find("0   0.0%") < scene_find("1  37.0%"));	/* by lcore */
}

/* Ports that lose frames must not hide behind "more". */
static void lossy_ports(void **state)
{
	(void)state;
	scene_small();
	live.n_ports = 32;
	for (uint16_t i = 2; i < 32; i++)
		live.port[i] = (struct fm_live_port){ .id = i, .link_up = true, .rx_packets_per_s = 1000 };
	live.port[29].drops_per_s = 77777;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("77777");
	assert_int_equal(counted("port", "lcore"), 32);
}

static void sorted_sources(void **state)
{
	(void)state;
	scene_small();
	scene_draw(80, 24, FM_PAINT_TEXT);
	assert_true(scene_find("fd09:") < scene_find("10.7.0.1/32"));
	scene_has("sources by held");
	as.sort = FM_LIVE_BY_WASTED;
	scene_draw(80, 24, FM_PAINT_TEXT);
	assert_true(scene_find("fd09:") < scene_find("10.7.0.1/32"));
	scene_has("sources by wasted");
	as.sort = FM_LIVE_BY_DELIVERED;
	scene_draw(80, 24, FM_PAINT_TEXT);
	assert_true(scene_find("fd09:") > scene_find("10.7.0.1/32"));
	assert_true(scene_find("10.7.0.1/32") > 0);
	scene_has("sources by delivered");
}

static void drops_by_rate(void **state)
{
	(void)state;
	scene_small();
	scene_draw(80, 30, FM_PAINT_TEXT);
	assert_true(scene_find("refused_share") > 0);
	assert_true(scene_find("refused_share") < scene_find("timeout"));
	assert_true(scene_find("timeout") < scene_find("overlap"));
	assert_non_null(strstr(scene_line(scene_find("refused_share")), " New datagram refused"));
	assert_int_equal(scene_line(scene_find("refused_share"))[79], '~');	/* the sentence goes on */
	live.n_drops = 0;
	scene_draw(80, 24, FM_PAINT_TEXT);
	is(scene_find("dropped  ") + 1, "  nothing");
}

static void states(void **state)
{
	(void)state;
	scene_small();
	as.paused = true;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("fragmend forwarding  PAUSED");
	scene_has("space go on");
	live.bypass = true;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("fragmend BYPASS");
	live.forwarding = false;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("fragmend stopped");
	strcpy(live.sources_err, "worker 1 did not answer within 3000 ms");
	live.n_sources = 0;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("  worker 1 did not answer within 3000 ms");
	scene_has_not("no source");
	live.sources_err[0] = '\0';
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("no source");
	as.paused = false;
	strcpy(live.host, "b\x1bx\xc3\xa4");
	scene_draw(80, 24, FM_PAINT_COLOUR);
	scene_has("on b?x??");
}

/* Before anything is known. */
static void unknown_rates(void **state)
{
	(void)state;
	scene_small();
	live.delivered_per_s = live.port[0].rx_packets_per_s = live.worker[0].busy_percent = -1;
	scene_draw(80, 24, FM_PAINT_TEXT);
	scene_has("delivered      -/s");
	assert_non_null(strstr(scene_line(5), "   up        - "));
	assert_non_null(strstr(scene_line(9), "    1      - [............................]"));
}

static void colours(void **state)
{
	(void)state;
	scene_small();
	scene_draw(80, 24, FM_PAINT_COLOUR);
	scene_has("\x1b[1;31mdown ");
	scene_has("\x1b[33m###");
	live.held_mbufs = 64000;
	scene_draw(80, 24, FM_PAINT_COLOUR);
	scene_has("\x1b[1;31m###");
	scene_draw(80, 24, FM_PAINT_SCREEN);
	scene_has_not("\x1b[1;31m");
	scene_has_not("\x1b[33m");
	scene_has_not("\x1b[32m");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(eighty_by_twenty_four, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(narrow_and_short, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(more_is_counted, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(all_is_there, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(busiest_workers, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(lossy_ports, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(sorted_sources, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(drops_by_rate, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(states, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(unknown_rates, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(colours, scene_setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
