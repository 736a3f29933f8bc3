/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "live_table.h"

enum { GAP_MAX = 3, BAR_WIDTH_MIN = 5 };

/* Which columns are there; returns how many columns of the canvas are left. */
static int choose(struct fm_table *table, unsigned int *chosen)
{
	int left = (int)table->canvas->columns + 1;	/* the first one has no gap before it */

	*chosen = 0;
	for (unsigned int rank = 0; rank < FM_TABLE_COLUMNS_MAX; rank++) {
		for (unsigned int i = 0; i < table->n; i++) {
			const int needs = 1 + table->column[i].width;

			if (table->column[i].rank != rank || (rank > 0 && needs > left))
				continue;
			table->width[i] = table->column[i].width;
			table->at[i] = 0;
			left -= needs;
			(*chosen)++;
		}
	}
	return left;
}

static int stretch(struct fm_table *table, int left)
{
	for (unsigned int i = 0; i < table->n; i++) {
		const int more = table->column[i].width_max - table->width[i];

		if (table->at[i] < 0 || more <= 0 || left <= 0)
			continue;
		table->width[i] += more < left ? more : left;
		left -= more < left ? more : left;
	}
	return left;
}

void fm_table_start(struct fm_table *table, struct fm_canvas *canvas, int row, const struct fm_table_column *column,
		    unsigned int n)
{
	unsigned int chosen;
	int left, gap = 1, at = 0;

	*table = (struct fm_table){ .canvas = canvas, .column = column, .n = n, .row = row };
	for (unsigned int i = 0; i < n; i++)
		table->at[i] = -1;
	left = stretch(table, choose(table, &chosen));
	if (chosen > 1 && left > 0)
		gap += left / (int)(chosen - 1) < GAP_MAX - 1 ? left / (int)(chosen - 1) : GAP_MAX - 1;
	for (unsigned int i = 0; i < n; i++) {
		if (table->at[i] < 0)
			continue;
		table->at[i] = at;
		at += table->width[i] + gap;
		fm_table_text(table, i, FM_LOOK_TITLE, column[i].title);
	}
	table->row++;
}

void fm_table_text(const struct fm_table *table, unsigned int column, enum fm_look look, const char *text)
{
	const int len = (int)strlen(text), width = table->width[column];
	int at = table->at[column];

	if (at < 0)
		return;
	if (!table->column[column].left)
		at += width - len;
	if (len <= width)
		fm_canvas_put(table->canvas, table->row, at, look, "%s", text);
	else
		fm_canvas_put(table->canvas, table->row, table->at[column], look, "%.*s~", width - 1, text);
}

void fm_table_number(const struct fm_table *table, unsigned int column, enum fm_look look, double value)
{
	char text[FM_NUMBER_LEN];

	fm_table_text(table, column, look, fm_number(value, 6, text));
}

void fm_canvas_bar(struct fm_canvas *canvas, int row, int column, int width, double share, enum fm_look look)
{
	const int inside = width - 2;
	int full;

	if (width < BAR_WIDTH_MIN)
		return;
	if (!(share > 0))
		share = 0;
	full = (int)((share < 1 ? share : 1) * inside + 0.5);
	/* A little is not nothing, and almost full is not full. */
	if (full == 0 && share > 0)
		full = 1;
	if (full == inside && share < 1)
		full = inside - 1;
	column = fm_canvas_put(canvas, row, column, FM_LOOK_PLAIN, "[");
	for (int i = 0; i < inside; i++)
		column = fm_canvas_put(canvas, row, column, i < full ? look : FM_LOOK_PLAIN, "%c",
				       i < full ? '#' : '.');
	fm_canvas_put(canvas, row, column, FM_LOOK_PLAIN, "]");
}
