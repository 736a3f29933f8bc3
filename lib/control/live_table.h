/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table on a canvas, whose less important columns give way where there is no room for all of them. Numbers are never
 * cut: a column is there in its whole width, or not at all.
 */
#ifndef FM_LIVE_TABLE_H
#define FM_LIVE_TABLE_H

#include "live_canvas.h"

enum { FM_TABLE_COLUMNS_MAX = 10 };

struct fm_table_column {
	const char *title;
	uint8_t rank;		/* 0: always there; the highest goes first */
	uint8_t width;
	uint8_t width_max;	/* up to which it takes what is left; 0: none of it. One column of a table at most */
	bool left;		/* text, which is cut and gets a '~' if it is too long */
};

struct fm_table {
	struct fm_canvas *canvas;
	const struct fm_table_column *column;
	unsigned int n;
	int row;				/* on which the cells go; who draws counts it up */
	int at[FM_TABLE_COLUMNS_MAX];		/* where each column begins; -1: it is not there */
	int width[FM_TABLE_COLUMNS_MAX];
};

/* Choose the columns and put their titles on `row`; `table->row` is the next one. @param n  1..FM_TABLE_COLUMNS_MAX */
void fm_table_start(struct fm_table *table, struct fm_canvas *canvas, int row, const struct fm_table_column *column,
		    unsigned int n);

/* Put a text into a column if it is there. */
void fm_table_text(const struct fm_table *table, unsigned int column, enum fm_look look, const char *text);

/* The same for a number, see fm_number(). */
void fm_table_number(const struct fm_table *table, unsigned int column, enum fm_look look, double value);

/* "[####....]", or nothing if it is too narrow. @param share  0..1, others are brought into that range; NaN is 0 */
void fm_canvas_bar(struct fm_canvas *canvas, int row, int column, int width, double share, enum fm_look look);

#endif
