/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view at every size, with nothing and with everything in it; numbers and bars.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "live_scene.h"

static const unsigned int widths[] = { 1, 2, 3, 5, 8, 13, 20, 31, 39, 40, 41, 60, 79, 80, 81, 100, 109, 110, 119, 120,
				       121, 200, 511, 512 };
static const unsigned int heights[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 21, 22, 23, 24, 25, 40, 60, 255,
					256 };

/* One line for each row, none wider than the terminal. */
static void fits(unsigned int columns, unsigned int rows)
{
	unsigned int lines = 0;

	scene_draw(columns, rows, FM_PAINT_TEXT);
	for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1, lines++)
		assert_true(strcspn(at, "\n") <= columns);
	assert_int_equal(lines, rows);
}

/* What a terminal makes of it: the same characters in the same places, and no cell beside the screen is touched. */
static void paints(unsigned int columns, unsigned int rows, enum fm_paint paint)
{
	static char screen[FM_CANVAS_ROWS_MAX][FM_CANVAS_COLUMNS_MAX];
	unsigned int row = 0, column = 0;
	char *plain;

	scene_draw(columns, rows, FM_PAINT_TEXT);
	plain = text;
	text = NULL;
	scene_draw(columns, rows, paint);
	memset(screen, '!', sizeof(screen));	/* left over from what was there before */
	for (char *at = text; *at != '\0';) {
		char *end = at + 1;

		if (*at != '\x1b') {
			assert_true(row < rows && column < columns);
			screen[row][column++] = *at++;
			continue;
		}
		assert_int_equal(*end++, '[');
		end += strspn(end, "0123456789;");
		if (*end == 'H') {
			assert_int_equal(sscanf(at, "\x1b[%u;%uH", &row, &column), 2);
			row--;
			column--;
		} else if (*end == 'K') {
			assert_true(column < columns);	/* behind the last one the terminal would erase that */
			memset(&screen[row][column], ' ', columns - column);
		} else {
			assert_int_equal(*end, 'm');
			assert_true(paint == FM_PAINT_COLOUR || strncmp(at, "\x1b[1m", 4) == 0 ||
				    strncmp(at, "\x1b[0m", 4) == 0);
		}
		at = end + 1;
	}
	free(text);
	text = plain;
	for (unsigned int r = 0; r < rows; r++) {
		const char *want = scene_line(r);

		for (unsigned int c = 0; c < columns; c++)
			assert_int_equal(screen[r][c], c < strlen(want) ? want[c] : ' ');
	}
}

/* A number may be left out, but what is there is all of it. */
static void whole_numbers(void)
{
	for (const char *at = text; (at = strstr(at, "18.4")) != NULL; at++)
		assert_int_equal(strncmp(at, "18.45E", 6), 0);
	for (const char *at = text; (at = strstr(at, "4.29")) != NULL; at++)
		assert_int_equal(strncmp(at, "4.295G", 6), 0);
	assert_null(strstr(text, "+0 more"));
}

static void any_size(void **state)
{
	void (*const fill[])(void) = { NULL, scene_small, scene_huge };

	(void)state;
	for (unsigned int f = 0; f < 3; f++) {
		scene_setup(NULL);
		if (fill[f] != NULL)
			fill[f]();
		for (unsigned int w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
			for (unsigned int h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
				fits(widths[w], heights[h]);
				if (widths[w] >= 20)
					whole_numbers();
			}
			paints(widths[w], 24, FM_PAINT_COLOUR);
			paints(widths[w], 7, FM_PAINT_SCREEN);
		}
	}
}

static void sizes_out_of_range(void **state)
{
	struct fm_canvas canvas;

	(void)state;
	assert_int_equal(fm_canvas_open(&canvas, 0, 0), 0);
	assert_int_equal(canvas.columns * canvas.rows, 1);
	fm_canvas_close(&canvas);
	assert_int_equal(fm_canvas_open(&canvas, 100000, 100000), 0);
	assert_int_equal(canvas.columns, FM_CANVAS_COLUMNS_MAX);
	assert_int_equal(canvas.rows, FM_CANVAS_ROWS_MAX);
	fm_canvas_close(&canvas);
}

static void numbers(void **state)
{
	static const struct { double value; int digits; const char *want; } cases[] = {
		{ 0, 4, "0" }, { 0.04, 4, "0.0" }, { 1, 4, "1" }, { 1.5, 4, "1.5" }, { 9.94, 4, "9.9" },
		{ 9.96, 4, "10" }, { 9999, 4, "9999" }, { 9999.4, 4, "9999" }, { 9999.6, 4, "10.00k" },
		{ 10000, 4, "10.00k" }, { 10000, 6, "10000" }, { 99999.6, 4, "100.0k" }, { 999949, 4, "999.9k" },
		{ 999951, 4, "1.000M" }, { 999999, 6, "999999" }, { 1000000, 6, "1.000M" }, { 12345678, 6, "12.35M" },
		{ 1e9, 6, "1.000G" }, { 1e12, 6, "1.000T" }, { 1e15, 6, "1.000P" }, { 1e18, 6, "1.000E" },
		{ (double)UINT64_MAX, 6, "18.45E" }, { 1e21, 6, "1.000Z" }, { 1e24, 6, ">999Z" },
		{ 1e300, 6, ">999Z" }, { INFINITY, 6, ">999Z" }, { -1, 6, "-" }, { NAN, 6, "-" },
		{ 1234567, 7, "1234567" }, { 9999999.4, 7, "9999999" }, { 9999999.6, 7, "10.00M" },
	};
	char buf[FM_NUMBER_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(fm_number(cases[i].value, cases[i].digits, buf), cases[i].want);
	for (double value = 0.001; value < 1e30; value *= 1.37)
		for (int digits = 4; digits < 9; digits++)
			assert_true((int)strlen(fm_number(value, digits, buf)) <= (digits > 6 ? digits : 6));
	assert_string_equal(fm_percent(0, buf), "0.0%");
	assert_string_equal(fm_percent(100, buf), "100.0%");
	assert_string_equal(fm_percent(12345, buf), ">999%");
	assert_string_equal(fm_percent(NAN, buf), "-");
}

/* Nearly nothing is something, nearly full is not full. */
static void bars(void **state)
{
	static const struct { uint64_t held; const char *want; } cases[] = {
		{ 0, "[....................]" }, { 1, "[#...................]" }, { 50000, "[##########..........]" },
		{ 99999, "[###################.]" }, { 100000, "[####################]" },
		{ 200000, "[####################]" },
	};

	(void)state;
	live.budget_mbufs = 100000;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char mbufs[80];

		live.held_mbufs = cases[i].held;
		/* As wide as makes a bar of twenty. */
		snprintf(mbufs, sizeof(mbufs), "%llu of 100000 mbufs  %.1f%%", (unsigned long long)cases[i].held,
			 (double)cases[i].held / 1000);
		scene_draw(5 + 22 + 1 + (unsigned int)strlen(mbufs), 1, FM_PAINT_TEXT);
		scene_has(cases[i].want);
		scene_has(mbufs);
	}
	live.budget_mbufs = 0;
	scene_draw(80, 1, FM_PAINT_TEXT);
	scene_has("0.0%");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(any_size, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(sizes_out_of_range, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(numbers, scene_setup, scene_teardown),
		cmocka_unit_test_setup_teardown(bars, scene_setup, scene_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
