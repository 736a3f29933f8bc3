/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view on a canvas: three lines that sum everything up, four tables that share the rows there are, and the
 * keys. What is not there for want of room is told: "+N more".
 */
#include <string.h>

#include "live.h"
#include "live_lists.h"
#include "live_table.h"

enum {
	ROWS_WITH_GAPS = 22,	/* from here on, blank lines part the tables */
	COLUMNS_WITH_MOST = 110,	/* from here on, the limit stands beside the datagrams in flight */
	EXACT_DIGITS = 7,	/* of the mbufs that are held */
};

/* The tables, in the order in which they stand on the screen. */
enum section { PORTS, WORKERS, SOURCES, DROPS, SECTIONS };

struct space {
	int row[SECTIONS];	/* of the titles; -1: the table is not there */
	int lines[SECTIONS];	/* below the titles */
};

static void draw_title(const struct fm_live *live, const struct fm_live_look *look, struct fm_canvas *canvas, int row)
{
	const bool good = live->forwarding && !live->bypass;
	const char *state = !live->forwarding ? "stopped" : live->bypass ? "BYPASS" : "forwarding";
	char right[64];
	int at, begin;

	at = fm_canvas_put(canvas, row, 0, FM_LOOK_TITLE, "fragmend ");
	at = fm_canvas_put(canvas, row, at, good ? FM_LOOK_TITLE : FM_LOOK_WARN, "%s", state);
	if (look->paused)
		at = fm_canvas_put(canvas, row, at, FM_LOOK_WARN, "  PAUSED");
	snprintf(right, sizeof(right), "every %u s  %s", look->period_s, live->clock);
	begin = (int)canvas->columns - (int)strlen(right);
	if (begin < at + 2) {
		snprintf(right, sizeof(right), "%s", live->clock);
		begin = (int)canvas->columns - (int)strlen(right);
	}
	if (begin < at + 2)
		return;
	fm_canvas_put(canvas, row, begin, FM_LOOK_PLAIN, "%s", right);
	if (at + 4 + (int)strlen(live->host) + 2 <= begin)
		fm_canvas_put(canvas, row, at, FM_LOOK_PLAIN, "  on %s", live->host);
}

static void draw_held(const struct fm_live *live, struct fm_canvas *canvas, int row)
{
	char held[FM_NUMBER_LEN], budget[FM_NUMBER_LEN], percent[FM_NUMBER_LEN], text[4 * FM_NUMBER_LEN];
	const double share = fm_live_percent(live->held_mbufs, live->budget_mbufs);
	const enum fm_look look = fm_live_full(share);
	int at = fm_canvas_put(canvas, row, 0, FM_LOOK_TITLE, "held ");
	int room = (int)canvas->columns - at;

	snprintf(text, sizeof(text), "%s of %s mbufs  %s", fm_number((double)live->held_mbufs, EXACT_DIGITS, held),
		 fm_number((double)live->budget_mbufs, EXACT_DIGITS, budget), fm_percent(share, percent));
	if ((int)strlen(text) > room)
		snprintf(text, sizeof(text), "%s", percent);
	room -= (int)strlen(text) + 1;
	fm_canvas_bar(canvas, row, at, room, share / 100, look);
	if (room > 0)
		at = (int)canvas->columns - (int)strlen(text);
	fm_canvas_put(canvas, row, at, look == FM_LOOK_GOOD ? FM_LOOK_PLAIN : look, "%s", text);
}

/* As many of these, whole, as the line holds; the most important ones first. */
static void draw_flow(const struct fm_live *live, struct fm_canvas *canvas, int row)
{
	char number[FM_NUMBER_LEN], most[FM_NUMBER_LEN], part[5][96];
	int at = 0;

	/* As wide as numbers get, so that they stay where they are. */
	snprintf(part[0], sizeof(part[0]), "delivered %6s/s", fm_number(live->delivered_per_s, 6, number));
	snprintf(part[1], sizeof(part[1]), "in flight %6s", fm_number((double)live->datagrams, 6, number));
	if (canvas->columns >= COLUMNS_WITH_MOST)
		snprintf(part[1], sizeof(part[1]), "in flight %6s of %s",
			 fm_number((double)live->datagrams, 6, number),
			 fm_number((double)live->max_datagrams, 6, most));
	snprintf(part[2], sizeof(part[2]), "dropped %6s/s", fm_number(live->dropped_per_s, 6, number));
	snprintf(part[3], sizeof(part[3]), "fragments %6s/s", fm_number(live->fragments_per_s, 6, number));
	snprintf(part[4], sizeof(part[4]), "frames %6s/s", fm_number(live->frames_per_s, 6, number));
	for (unsigned int i = 0; i < 5; i++) {
		const int begin = at == 0 ? 0 : at + 2;

		if (i > 0 && begin + (int)strlen(part[i]) > (int)canvas->columns)
			continue;
		at = fm_canvas_put(canvas, row, begin, FM_LOOK_PLAIN, "%s", part[i]);
	}
}

static void draw_keys(const struct fm_live_look *look, struct fm_canvas *canvas, int row)
{
	static const char *const sorted[] = { [FM_LIVE_BY_HELD] = "held", [FM_LIVE_BY_WASTED] = "wasted",
					      [FM_LIVE_BY_DELIVERED] = "delivered" };
	char part[5][64];
	int at = 0;

	snprintf(part[0], sizeof(part[0]), "q leave");
	snprintf(part[1], sizeof(part[1]), "space %s", look->paused ? "go on" : "pause");
	snprintf(part[2], sizeof(part[2]), "s sources by %s", sorted[look->sort]);
	snprintf(part[3], sizeof(part[3]), "+ slower");
	snprintf(part[4], sizeof(part[4]), "- faster");
	for (unsigned int i = 0; i < 5; i++) {
		const int begin = at == 0 ? 0 : at + 3, key = (int)strcspn(part[i], " ");

		if (i > 0 && begin + (int)strlen(part[i]) > (int)canvas->columns)
			continue;
		at = fm_canvas_put(canvas, row, begin, FM_LOOK_TITLE, "%.*s", key, part[i]);
		at = fm_canvas_put(canvas, row, at, FM_LOOK_PLAIN, "%s", part[i] + key);
	}
}

/*
 * Who gets which rows. Each table that is there has room for two lines if it has as many, the others are left out, the
 * least telling one first; what is left goes round.
 */
static void share_out(const struct fm_live *live, int first, int last, struct space *space)
{
	static const enum section keep[SECTIONS] = { PORTS, DROPS, SOURCES, WORKERS };
	const int wanted[SECTIONS] = {
		[PORTS] = live->n_ports, [WORKERS] = live->n_workers,
		[SOURCES] = live->n_sources + (live->more_sources > 0),	/* its last line tells of them */
		[DROPS] = live->n_drops,
	};
	int left = last - first + 1;
	const int gap = left + first >= ROWS_WITH_GAPS - 1;
	bool given = true;

	for (int i = 0; i < SECTIONS; i++) {
		const enum section s = keep[i];
		const int least = wanted[s] > 1 ? 2 : 1;

		space->lines[s] = left >= gap + 1 + least ? least : 0;
		left -= space->lines[s] == 0 ? 0 : gap + 1 + least;
	}
	while (left > 0 && given) {
		given = false;
		for (int s = 0; s < SECTIONS; s++) {
			if (left == 0 || space->lines[s] == 0 || space->lines[s] >= wanted[s])
				continue;
			space->lines[s]++;
			left--;
			given = true;
		}
	}
	for (int s = 0; s < SECTIONS; s++) {
		space->row[s] = space->lines[s] == 0 ? -1 : first + gap;
		first += space->lines[s] == 0 ? 0 : gap + 1 + space->lines[s];
	}
}

void fm_live_draw(const struct fm_live *live, const struct fm_live_look *look, struct fm_canvas *canvas)
{
	const int rows = (int)canvas->rows;
	struct space space;
	int row = 0;

	if (rows >= 3)
		draw_title(live, look, canvas, row++);
	draw_held(live, canvas, row++);
	if (rows >= 2)
		draw_flow(live, canvas, row++);
	if (rows >= 4)
		draw_keys(look, canvas, rows - 1);
	share_out(live, row, rows - (rows >= 4 ? 2 : 1), &space);
	if (space.row[PORTS] >= 0)
		fm_live_ports(live, canvas, space.row[PORTS], space.lines[PORTS]);
	if (space.row[WORKERS] >= 0)
		fm_live_workers(live, canvas, space.row[WORKERS], space.lines[WORKERS]);
	if (space.row[SOURCES] >= 0)
		fm_live_sources(live, look->sort, canvas, space.row[SOURCES], space.lines[SOURCES]);
	if (space.row[DROPS] >= 0)
		fm_live_drops(live, canvas, space.row[DROPS], space.lines[DROPS]);
}
