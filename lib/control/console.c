/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The console on stdin and stdout.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "control.h"
#include "line.h"
#include "loop.h"
#include "show.h"
#include "stats.h"
#include "stream_terminal.h"

struct fm_console {
	struct fm_loop *loop;
	struct fm_watch input;
	struct fm_timer tick;
	struct fm_shell shell;
	int error;			/* -errno: why the input could not be read */
	bool terminal;
	struct termios before;		/* of the terminal */
	struct fm_line *line;		/* NULL: not a terminal */
	struct fm_timer stream_turn;	/* sleeps unless shell.stream is shown */
	size_t used;			/* of `text`; not a terminal */
	char text[FM_LINE_MAX + 1];	/* one character more than a line may have, so that it is refused */
};

static bool run(void *arg, const char *text)
{
	struct fm_console *console = arg;

	if (fm_command_run(&console->shell, text) != 0)
		fprintf(console->shell.out, "error: %s\n", console->shell.err);
	fflush(console->shell.out);
	return !console->shell.quit;
}

static unsigned int complete(void *arg, const char *text, struct fm_completion *items, unsigned int max)
{
	(void)arg;
	return fm_command_complete(text, items, max);
}

static void tick(void *arg, uint64_t now_ns)
{
	struct fm_console *console = arg;

	if (!fm_status_due(now_ns) || console->shell.stream.frame != NULL)
		return;
	if (console->line != NULL)
		fm_line_hide(console->line);
	fm_control_print_stats(console->shell.out);
	if (console->line != NULL)
		fm_line_show(console->line);
}

/* A character from a pipe or file. */
static void take(struct fm_console *console, char c)
{
	if (c != '\n') {
		if (console->used < FM_LINE_MAX)
			console->text[console->used++] = c != '\0' ? c : '?';
		return;
	}
	console->text[console->used] = '\0';
	console->used = 0;
	run(console, console->text);
}

static void leave_stream(struct fm_console *console)
{
	fm_stream_terminal_leave(&console->shell.stream);
	console->stream_turn.due_ns = FM_NEVER;
}

static void stream_turn(void *arg, uint64_t now_ns)
{
	struct fm_console *console = arg;

	if (!fm_stream_terminal_turn(&console->shell.stream, now_ns))
		leave_stream(console);
}

/* If a command has left one. */
static void enter_stream(struct fm_console *console)
{
	if (console->shell.stream.frame == NULL)
		return;
	fm_stream_terminal_enter(&console->shell.stream);
	console->stream_turn.due_ns = 0;
}

/* A character from the keyboard, for the prompt or for the screen that a stream fills. @return false: the end */
static bool type(struct fm_console *console, char c)
{
	const struct fm_stream *stream = &console->shell.stream;

	if (stream->frame == NULL) {
		const bool more = fm_line_type(console->line, c);

		/* What was typed ahead is meant for the stream already. */
		enter_stream(console);
		return more;
	}
	stream->key(stream->arg, c, fm_now_ns());
	if (stream->left(stream->arg, fm_now_ns()))
		leave_stream(console);
	else
		console->stream_turn.due_ns = 0;
	return true;
}

/*
 * Read what there is.
 *
 * @return 1; 0: the end of the input; -errno
 */
static int serve(struct fm_console *console)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	/* EIO: the terminal is gone. */
	if (n < 0 && errno == EIO && console->line != NULL)
		return 0;
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 1 : -errno;
	if (n == 0 && console->line == NULL && console->used > 0)
		take(console, '\n');
	for (ssize_t i = 0; i < n && !console->shell.quit; i++) {
		if (console->line == NULL)
			take(console, buf[i]);
		else if (!type(console, buf[i]))
			return 0;
	}
	return n > 0 && !console->shell.quit;
}

static void ready(void *arg, short events)
{
	struct fm_console *console = arg;
	int ret = serve(console);

	(void)events;
	if (ret > 0)
		return;
	console->error = ret;
	fm_loop_end(console->loop);
}

/* Keys come one by one and unechoed; Ctrl-C is a key, too. */
static int raw(struct termios *before)
{
	struct termios keys;

	if (tcgetattr(STDIN_FILENO, before) != 0)
		return -errno;
	keys = *before;
	keys.c_lflag &= ~(ICANON | ECHO | ISIG);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	return tcsetattr(STDIN_FILENO, TCSAFLUSH, &keys) == 0 ? 0 : -errno;
}

static int open_terminal(struct fm_console *console)
{
	int ret = raw(&console->before);

	if (ret != 0)
		return ret;
	console->terminal = true;
	console->shell.can_stream = fm_control_can_live();
	console->shell.colour = fm_stream_terminal_colour();
	console->line = fm_line_open(stdout, "fragmend> ", run, complete, console);
	return console->line != NULL ? 0 : -ENOMEM;
}

int fm_control_console_open(struct fm_loop *loop, struct fm_console **opened)
{
	struct fm_console *console = calloc(1, sizeof(*console));
	int ret = 0;

	*opened = NULL;
	if (console == NULL)
		return -ENOMEM;
	console->loop = loop;
	console->shell.out = stdout;
	console->shell.serving = true;
	console->input = (struct fm_watch){ .fd = STDIN_FILENO, .events = POLLIN, .ready = ready, .arg = console };
	console->tick = (struct fm_timer){ .period_ms = FM_TICK_MS, .due = tick, .arg = console };
	console->stream_turn = (struct fm_timer){ .period_ms = FM_STREAM_TURN_MS, .due_ns = FM_NEVER,
						  .due = stream_turn, .arg = console };
	if (isatty(STDIN_FILENO))
		ret = open_terminal(console);
	if (ret == 0)
		ret = fm_loop_add_watch(loop, &console->input);
	if (ret == 0)
		ret = fm_loop_add_timer(loop, &console->tick);
	if (ret == 0)
		ret = fm_loop_add_timer(loop, &console->stream_turn);
	if (ret == 0)
		*opened = console;
	else
		fm_control_console_close(console);
	return ret;
}

bool fm_control_can_live(void)
{
	return fm_stream_terminal_able();
}

void fm_control_console_live(struct fm_console *console)
{
	run(console, "show live");
	enter_stream(console);
}

int fm_control_console_close(struct fm_console *console)
{
	int error;

	if (console == NULL)
		return 0;
	fm_loop_remove_watch(console->loop, &console->input);
	fm_loop_remove_timer(console->loop, &console->tick);
	fm_loop_remove_timer(console->loop, &console->stream_turn);
	fm_stream_terminal_leave(&console->shell.stream);
	if (console->line != NULL)
		fm_line_close(console->line);
	if (console->terminal) {
		fm_stream_terminal_say("\n", 1);
		/* Not TCSADRAIN, which waits for a terminal that takes nothing. */
		tcsetattr(STDIN_FILENO, TCSANOW, &console->before);
	}
	error = console->error;
	free(console);
	return error;
}
