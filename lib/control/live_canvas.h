/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A screen in memory: what is put beside it is cut off, so that nothing can be wider or longer than the terminal. One
 * cell holds one printable ASCII character and its look.
 */
#ifndef FM_LIVE_CANVAS_H
#define FM_LIVE_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	FM_CANVAS_COLUMNS_MAX = 512,
	FM_CANVAS_ROWS_MAX = 256,
	FM_NUMBER_LEN = 24,	/* bytes that hold any number as text */
};

enum fm_look {
	FM_LOOK_PLAIN,
	FM_LOOK_TITLE,		/* bold */
	FM_LOOK_GOOD,		/* green */
	FM_LOOK_WARN,		/* yellow; bold without colour */
	FM_LOOK_BAD,		/* bold and red; bold without colour */
};

/* How a canvas becomes text. */
enum fm_paint {
	FM_PAINT_TEXT,		/* lines, without blanks at their ends */
	FM_PAINT_SCREEN,	/* for a terminal, over what it showed before; bold, but no colour */
	FM_PAINT_COLOUR,
};

struct fm_canvas {
	unsigned int columns, rows;
	char *cell;		/* rows * columns */
	uint8_t *look;
};

/*
 * An empty one; 1..FM_CANVAS_COLUMNS_MAX by 1..FM_CANVAS_ROWS_MAX, other sizes are brought into that range.
 *
 * @return 0 or -ENOMEM
 */
int fm_canvas_open(struct fm_canvas *canvas, unsigned int columns, unsigned int rows);
void fm_canvas_close(struct fm_canvas *canvas);

/*
 * Put a text; places beside the canvas are cut off, characters that are not printable ASCII become '?'.
 *
 * @return the column behind it, as if nothing had been cut off
 */
int fm_canvas_put(struct fm_canvas *canvas, int row, int column, enum fm_look look, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Write it to `out`. */
void fm_canvas_paint(const struct fm_canvas *canvas, enum fm_paint paint, FILE *out);

/*
 * A number that is not negative for people, at most max(6, digits) characters: as it is up to so many digits, then four
 * digits and k, M, G, T, P, E, Z; one decimal below 10 if it is no whole one.
 *
 * @param value   negative: not known, "-"
 * @param digits  4..15
 * @return        buf
 */
const char *fm_number(double value, int digits, char buf[FM_NUMBER_LEN]);

/* The same for percent: one decimal, at most 5 characters and the sign; "-" if it is negative. */
const char *fm_percent(double value, char buf[FM_NUMBER_LEN]);

#endif
