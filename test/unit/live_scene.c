/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live_scene.h"

struct fm_live live;
struct fm_live_look as;
char *text;

int scene_setup(void **state)
{
	(void)state;
	memset(&live, 0, sizeof(live));
	as = (struct fm_live_look){ .period_s = 1 };
	live.forwarding = true;
	strcpy(live.clock, "12:34:56");
	strcpy(live.host, "box");
	return 0;
}

int scene_teardown(void **state)
{
	(void)state;
	free(text);
	text = NULL;
	return 0;
}

void scene_draw(unsigned int columns, unsigned int rows, enum fm_paint paint)
{
	struct fm_canvas canvas;
	size_t len;
	FILE *out;

	free(text);
	out = open_memstream(&text, &len);
	assert_non_null(out);
	assert_int_equal(fm_canvas_open(&canvas, columns, rows), 0);
	fm_live_draw(&live, &as, &canvas);
	fm_canvas_paint(&canvas, paint, out);
	fm_canvas_close(&canvas);
	fclose(out);
}

const char *scene_line(unsigned int i)
{
	static char kept[4][FM_CANVAS_COLUMNS_MAX + 1];
	static unsigned int next;
	char *to = kept[next++ % 4];
	const char *at = text;

	while (i-- > 0 && at != NULL)
		at = strchr(at, '\n') != NULL ? strchr(at, '\n') + 1 : NULL;
	snprintf(to, FM_CANVAS_COLUMNS_MAX + 1, "%.*s", at == NULL ? 0 : (int)strcspn(at, "\n"), at == NULL ? "" : at);
	return to;
}

int scene_find(const char *word)
{
	for (int i = 0; i < FM_CANVAS_ROWS_MAX; i++) {
		const char *line = scene_line(i);

		if (strncmp(line + strspn(line, " "), word, strlen(word)) == 0)
			return i;
	}
	return -1;
}

void scene_has(const char *word)
{
	if (strstr(text, word) == NULL)
		fail_msg("no \"%s\" in\n%s", word, text);
}

void scene_has_not(const char *word)
{
	if (strstr(text, word) != NULL)
		fail_msg("\"%s\" in\n%s", word, text);
}

void scene_small(void)
{
	live.n_ports = live.n_workers = live.n_sources = 2;
	for (uint16_t i = 0; i < 2; i++) {
		live.port[i] = (struct fm_live_port){
			.id = i, .name = "net_af_xdp0", .link_up = i == 0, .rx_packets_per_s = 1234567,
			.tx_packets_per_s = 400000, .rx_mbit_per_s = 9871.2, .tx_mbit_per_s = 9800.4, .drops_per_s = i,
			.drops = 17u * i,
		};
		live.worker[i] = (struct fm_live_worker){ .lcore = i + 1, .busy_percent = 42.5 + 50 * i,
			.frames_per_s = 1234567, .fragments_per_s = 1000000, .held_mbufs = 12345 };
	}
	live.source[0] = (struct fm_live_source){
		.view = { .prefix = { 10, 7, 0, 1 }, .prefix_len = 32, .family = 4, .chance_permille = 998,
			  .held_mbufs = 100 }, .delivered_per_s = 1000, .wasted_per_s = 1.5 };
	live.source[1] = (struct fm_live_source){
		.view = { .prefix = { 0xfd, 9, [7] = 1 }, .prefix_len = 64, .family = 6, .chance_permille = 15,
			  .held_mbufs = 50000 }, .delivered_per_s = 0, .wasted_per_s = 54321 };
	live.n_drops = 3;
	live.drop[0] = (struct fm_live_drop){ .outcome = FM_OVERLAP, .count = 900, .per_s = 0 };
	live.drop[1] = (struct fm_live_drop){ .outcome = FM_TIMEOUT, .count = 5, .per_s = 2.5 };
	live.drop[2] = (struct fm_live_drop){ .outcome = FM_REFUSED_SHARE, .count = 123456, .per_s = 4321 };
	live.held_mbufs = 50100;
	live.budget_mbufs = 64000;
	live.datagrams = 20000;
	live.max_datagrams = 65536;
	live.delivered_per_s = 333333;
	live.fragments_per_s = 2000000;
	live.frames_per_s = 2469134;
	live.dropped_per_s = 4323.6;
}

void scene_huge(void)
{
	const double most = (double)UINT64_MAX;

	live = (struct fm_live){ .forwarding = true, .clock = "12:34:56", .n_ports = FM_PORTS_MAX,
		.n_workers = FM_WORKERS_MAX, .n_sources = FM_LIVE_SOURCES, .n_drops = FM_OUTCOME_MAX,
		.more_sources = 1000, .held_mbufs = UINT64_MAX, .budget_mbufs = UINT64_MAX, .datagrams = UINT64_MAX,
		.max_datagrams = UINT64_MAX, .delivered_per_s = most, .fragments_per_s = most, .frames_per_s = most,
		.dropped_per_s = most };
	memset(live.host, 'h', sizeof(live.host) - 1);
	for (uint16_t i = 0; i < FM_PORTS_MAX; i++) {
		live.port[i] = (struct fm_live_port){ .id = (uint16_t)(UINT16_MAX - i), .rx_packets_per_s = most,
			.tx_packets_per_s = most, .rx_mbit_per_s = most, .tx_mbit_per_s = most, .drops_per_s = most,
			.drops = UINT64_MAX };
		memset(live.port[i].name, 'n', sizeof(live.port[i].name) - 1);
	}
	for (uint16_t i = 0; i < FM_WORKERS_MAX; i++)
		live.worker[i] = (struct fm_live_worker){ .lcore = (uint16_t)(UINT16_MAX - i), .busy_percent = 100,
			.frames_per_s = most, .fragments_per_s = most, .held_mbufs = UINT64_MAX,
			.tx_backlog_mbufs = UINT64_MAX };
	for (uint16_t i = 0; i < FM_LIVE_SOURCES; i++) {
		live.source[i] = (struct fm_live_source){ .view = { .prefix_len = 128, .family = 6,
			.chance_permille = 1000, .held_mbufs = UINT32_MAX }, .delivered_per_s = most,
			.wasted_per_s = most };
		memset(live.source[i].view.prefix, 0xfd, 16);
	}
	for (uint16_t i = 0; i < FM_OUTCOME_MAX; i++)
		live.drop[i] = (struct fm_live_drop){ .outcome = i, .count = UINT64_MAX, .per_s = most };
}
