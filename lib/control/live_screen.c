/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view as something that keys and time change.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "live.h"

enum { COLUMNS_UNKNOWN = 80, ROWS_UNKNOWN = 24 };

enum { ESCAPE = '\x1b', CTRL_C = 'C' - '@', CTRL_D = 'D' - '@', CTRL_L = 'L' - '@' };

#define NS_PER_MS 1000000ull

/* Alternate screen, so that what was there comes back; no cursor. And the other way round. */
static const char enter[] = "\x1b[?1049h\x1b[?25l\x1b[2J";
static const char leave[] = "\x1b[0m\x1b[?25h\x1b[?1049l";

static const unsigned int periods_s[] = { 1, 2, 5, 10, 30, 60 };
enum { PERIODS = sizeof(periods_s) / sizeof(periods_s[0]) };

/* What has come of an escape sequence. */
enum keys {
	KEYS_PLAIN,
	KEYS_ESCAPE,	/* the escape key, or the first byte of an arrow */
	KEYS_SEQUENCE,	/* behind "ESC [": until a letter or '~' */
	KEYS_LETTER,	/* behind "ESC O": one more */
};

struct fm_screen {
	unsigned int columns, rows, period;
	enum fm_live_sort sort;
	bool colour, paused, left;
	bool redraw;			/* what is known is to be drawn again, at once */
	bool clear;			/* and nothing that is on the screen can be relied on */
	enum keys keys;
	uint64_t escape_ns;		/* when the escape key came */
	uint64_t next_ns;		/* when it is time to look again */
	struct fm_live live;
	struct fm_live_past past;
	char *text;			/* the last frame */
	size_t len;
};

struct fm_screen *fm_screen_open(bool colour)
{
	struct fm_screen *screen = calloc(1, sizeof(*screen));

	if (screen == NULL)
		return NULL;
	screen->colour = colour;
	fm_screen_size(screen, 0, 0);
	return screen;
}

void fm_screen_close(struct fm_screen *screen)
{
	free(screen->text);
	free(screen);
}

void fm_screen_size(struct fm_screen *screen, unsigned int columns, unsigned int rows)
{
	if (columns == 0 || rows == 0) {
		columns = COLUMNS_UNKNOWN;
		rows = ROWS_UNKNOWN;
	}
	if (columns == screen->columns && rows == screen->rows)
		return;
	screen->columns = columns;
	screen->rows = rows;
	screen->redraw = screen->clear = true;
}

/* The next frame is as far away from the last one as the new period says. */
static void set_period(struct fm_screen *screen, unsigned int period)
{
	if (screen->next_ns != 0) {
		screen->next_ns += periods_s[period] * 1000 * NS_PER_MS;
		screen->next_ns -= periods_s[screen->period] * 1000 * NS_PER_MS;
	}
	screen->period = period;
}

static void press(struct fm_screen *screen, char c)
{
	screen->redraw = true;
	switch (c) {
	case 'q':
	case 'Q':
	case CTRL_C:
	case CTRL_D:
		screen->left = true;
		break;
	case ' ':
		screen->paused = !screen->paused;
		break;
	case 's':
	case 'S':
		screen->sort = (screen->sort + 1) % FM_LIVE_SORTS;
		break;
	case '+':
	case '=':
		if (screen->period + 1 < PERIODS)
			set_period(screen, screen->period + 1);
		break;
	case '-':
		if (screen->period > 0)
			set_period(screen, screen->period - 1);
		break;
	case CTRL_L:
		screen->clear = true;
		break;
	default:
		break;
	}
}

static bool waited(const struct fm_screen *screen, uint64_t now_ns)
{
	return screen->keys == KEYS_ESCAPE && now_ns - screen->escape_ns >= FM_LIVE_WAIT_MS * NS_PER_MS;
}

void fm_screen_key(struct fm_screen *screen, char c, uint64_t now_ns)
{
	if (screen->left)
		return;
	/* The escape key alone, or twice, leaves, even if nobody has asked in between. */
	if (waited(screen, now_ns) || (screen->keys == KEYS_ESCAPE && c == ESCAPE)) {
		screen->left = true;
		return;
	}
	switch (screen->keys) {
	case KEYS_PLAIN:
		if (c != ESCAPE) {
			press(screen, c);
			return;
		}
		screen->keys = KEYS_ESCAPE;
		screen->escape_ns = now_ns;
		break;
	case KEYS_ESCAPE:
		screen->keys = c == '[' ? KEYS_SEQUENCE : c == 'O' ? KEYS_LETTER : KEYS_PLAIN;
		break;
	case KEYS_SEQUENCE:
		/* ECMA-48: parameters and intermediates, then a final byte. A control character breaks it off. */
		if (c < ' ' || c >= '@')
			screen->keys = KEYS_PLAIN;
		if (c == CTRL_C)
			screen->left = true;
		break;
	case KEYS_LETTER:
		screen->keys = KEYS_PLAIN;
		break;
	}
}

bool fm_screen_left(const struct fm_screen *screen, uint64_t now_ns)
{
	return screen->left || waited(screen, now_ns);
}

static bool look(struct fm_screen *screen, uint64_t now_ns)
{
	const bool first = screen->past.at_ns == 0;

	if (!first && (screen->paused || now_ns < screen->next_ns))
		return false;
	fm_live_gather(&screen->live, &screen->past, now_ns);
	screen->next_ns = now_ns + periods_s[screen->period] * 1000 * NS_PER_MS;
	return true;
}

static int draw(struct fm_screen *screen)
{
	const struct fm_live_look as = { .period_s = periods_s[screen->period], .paused = screen->paused,
					 .sort = screen->sort };
	struct fm_canvas canvas;
	FILE *out;
	int ret;

	free(screen->text);
	screen->text = NULL;
	screen->len = 0;
	if (fm_canvas_open(&canvas, screen->columns, screen->rows) != 0)
		return -ENOMEM;
	fm_live_draw(&screen->live, &as, &canvas);
	out = open_memstream(&screen->text, &screen->len);
	if (out != NULL) {
		fputs(screen->clear ? "\x1b[0m\x1b[2J" : "", out);
		fm_canvas_paint(&canvas, screen->colour ? FM_PAINT_COLOUR : FM_PAINT_SCREEN, out);
	}
	ret = out != NULL && fclose(out) == 0 ? 0 : -ENOMEM;
	fm_canvas_close(&canvas);
	return ret;
}

int fm_screen_frame(struct fm_screen *screen, uint64_t now_ns, const char **text)
{
	*text = "";
	if (!look(screen, now_ns) && !screen->redraw)
		return 0;
	if (draw(screen) != 0)
		return -ENOMEM;
	screen->redraw = screen->clear = false;
	*text = screen->text;
	return (int)screen->len;
}

static int stream_frame(void *arg, uint64_t now_ns, const char **text)
{
	return fm_screen_frame(arg, now_ns, text);
}

static void stream_key(void *arg, char c, uint64_t now_ns)
{
	fm_screen_key(arg, c, now_ns);
}

static bool stream_left(void *arg, uint64_t now_ns)
{
	return fm_screen_left(arg, now_ns);
}

static void stream_size(void *arg, unsigned int columns, unsigned int rows)
{
	fm_screen_size(arg, columns, rows);
}

static void stream_close(void *arg)
{
	fm_screen_close(arg);
}

int fm_do_show_live(struct fm_shell *shell, const struct fm_args *args)
{
	struct fm_screen *screen;

	(void)args;
	if (!shell->can_stream || shell->depth > 0)
		return fm_shell_fail(shell, -ENOTTY, "show live needs a terminal that can place its cursor; show port "
				     "stats, show lcores and show reassembly have its figures once");
	screen = fm_screen_open(shell->colour);
	if (screen == NULL)
		return fm_shell_fail(shell, -ENOMEM, "no memory for the live view");
	shell->stream = (struct fm_stream){ .arg = screen, .frame = stream_frame, .key = stream_key,
		.left = stream_left, .size = stream_size, .close = stream_close, .enter = enter, .leave = leave };
	return 0;
}
