/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "live_canvas.h"

static unsigned int within(unsigned int value, unsigned int max)
{
	if (value < 1)
		return 1;
	return value < max ? value : max;
}

int fm_canvas_open(struct fm_canvas *canvas, unsigned int columns, unsigned int rows)
{
	canvas->columns = within(columns, FM_CANVAS_COLUMNS_MAX);
	canvas->rows = within(rows, FM_CANVAS_ROWS_MAX);
	canvas->cell = malloc((size_t)canvas->columns * canvas->rows);
	canvas->look = calloc(canvas->columns, canvas->rows);
	if (canvas->cell == NULL || canvas->look == NULL) {
		fm_canvas_close(canvas);
		return -ENOMEM;
	}
	memset(canvas->cell, ' ', (size_t)canvas->columns * canvas->rows);
	return 0;
}

void fm_canvas_close(struct fm_canvas *canvas)
{
	free(canvas->cell);
	free(canvas->look);
	canvas->cell = NULL;
	canvas->look = NULL;
}

int fm_canvas_put(struct fm_canvas *canvas, int row, int column, enum fm_look look, const char *format, ...)
{
	char text[FM_CANVAS_COLUMNS_MAX + 1];
	va_list args;
	size_t at;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (const char *c = text; *c != '\0'; c++, column++) {
		if (row < 0 || (unsigned int)row >= canvas->rows || column < 0 ||
		    (unsigned int)column >= canvas->columns)
			continue;
		at = (size_t)row * canvas->columns + (size_t)column;
		canvas->cell[at] = *c >= ' ' && *c <= '~' ? *c : '?';
		canvas->look[at] = (uint8_t)look;
	}
	return column;
}

/* Up to the last cell that is not blank. */
static unsigned int length(const struct fm_canvas *canvas, unsigned int row)
{
	const char *cells = canvas->cell + (size_t)row * canvas->columns;
	unsigned int len = canvas->columns;

	while (len > 0 && cells[len - 1] == ' ')
		len--;
	return len;
}

static void paint_row(const struct fm_canvas *canvas, unsigned int row, unsigned int len, bool colour, FILE *out)
{
	static const char *const sequence[2][FM_LOOK_BAD + 1] = {
		{ "", "\x1b[1m", "", "\x1b[1m", "\x1b[1m" },
		{ "", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m" },
	};
	const size_t first = (size_t)row * canvas->columns;
	const char *last = "";

	for (unsigned int column = 0; column < len; column++) {
		const char *now = sequence[colour][canvas->look[first + column]];

		/* A blank looks the same in all of them. */
		if (canvas->cell[first + column] != ' ' && strcmp(now, last) != 0) {
			fprintf(out, "%s%s", *last != '\0' ? "\x1b[0m" : "", now);
			last = now;
		}
		putc(canvas->cell[first + column], out);
	}
	if (*last != '\0')
		fputs("\x1b[0m", out);
}

void fm_canvas_paint(const struct fm_canvas *canvas, enum fm_paint paint, FILE *out)
{
	for (unsigned int row = 0; row < canvas->rows; row++) {
		const unsigned int len = length(canvas, row);

		if (paint == FM_PAINT_TEXT) {
			fprintf(out, "%.*s\n", (int)len, canvas->cell + (size_t)row * canvas->columns);
			continue;
		}
		/* Each row goes to its place, so that neither a terminal's wrapping nor its tabs and ends matter. */
		fprintf(out, "\x1b[%u;1H", row + 1);
		paint_row(canvas, row, len, paint == FM_PAINT_COLOUR, out);
		/* Behind a full row the cursor still stands on its last character, which this would erase. */
		if (len < canvas->columns)
			fputs("\x1b[K", out);
	}
}

const char *fm_number(double value, int digits, char buf[FM_NUMBER_LEN])
{
	static const char prefix[] = "kMGTPEZ";
	double limit = 1;
	int i = -1;

	for (int d = 0; d < digits; d++)
		limit *= 10;
	if (!(value >= 0)) {
		snprintf(buf, FM_NUMBER_LEN, "-");
	} else if (value < limit - 0.5) {
		snprintf(buf, FM_NUMBER_LEN, value < 9.95 && value != floor(value) ? "%.1f" : "%.0f", value);
	} else {
		/* Up to what would be rounded to a thousand. */
		while (value >= 999.95 && i < (int)sizeof(prefix) - 2) {
			value /= 1000;
			i++;
		}
		if (value >= 999.95)
			snprintf(buf, FM_NUMBER_LEN, ">999%c", prefix[i]);
		else
			snprintf(buf, FM_NUMBER_LEN, "%.*f%c", value < 9.9995 ? 3 : value < 99.995 ? 2 : 1, value,
				 prefix[i]);
	}
	return buf;
}

const char *fm_percent(double value, char buf[FM_NUMBER_LEN])
{
	if (!(value >= 0))
		snprintf(buf, FM_NUMBER_LEN, "-");
	else if (value > 999.9)
		snprintf(buf, FM_NUMBER_LEN, ">999%%");
	else
		snprintf(buf, FM_NUMBER_LEN, "%.1f%%", value);
	return buf;
}
