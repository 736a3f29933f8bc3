/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The console on stdin and stdout.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "control.h"
#include "line.h"
#include "lock.h"
#include "show.h"
#include "stats.h"

enum { TICK_MS = 100 };

struct console {
	struct fm_shell shell;
	const volatile sig_atomic_t *stop;
	void (*tick)(void);
	uint64_t ticked_ns;
	struct fm_line *line;		/* NULL: not a terminal */
	size_t used;			/* of `text`; not a terminal */
	char text[FM_LINE_MAX + 1];	/* one character more than a line may have, so that it is refused */
};

static bool over(const struct console *console)
{
	return console->shell.quit || *console->stop != 0;
}

static bool run(void *arg, const char *text)
{
	struct console *console = arg;

	if (fm_command_run(&console->shell, text) != 0)
		fprintf(console->shell.out, "error: %s\n", console->shell.err);
	fflush(console->shell.out);
	return !over(console);
}

static void tick(struct console *console)
{
	uint64_t now_ns = fm_now_ns();

	if (now_ns - console->ticked_ns < TICK_MS * 1000000ull)
		return;
	console->ticked_ns = now_ns;
	fm_stats_sample(now_ns);
	if (fm_status_due(now_ns)) {
		if (console->line != NULL)
			fm_line_hide(console->line);
		fm_control_print_stats(console->shell.out);
		if (console->line != NULL)
			fm_line_show(console->line);
	}
	if (console->tick != NULL)
		console->tick();
}

/* A character from a pipe or file. */
static void take(struct console *console, char c)
{
	if (c != '\n') {
		if (console->used < FM_LINE_MAX)
			console->text[console->used++] = c != '\0' ? c : '?';
		return;
	}
	console->text[console->used] = '\0';
	console->used = 0;
	run(console, console->text);
	tick(console);
}

/*
 * Read what there is.
 *
 * @return 1; 0: the end of the input; -errno
 */
static int serve(struct console *console)
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
	for (ssize_t i = 0; i < n && !over(console); i++) {
		if (console->line == NULL)
			take(console, buf[i]);
		else if (!fm_line_type(console->line, buf[i]))
			return 0;
	}
	return n > 0;
}

static int loop(struct console *console)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int ready, ret = 1;

	while (ret > 0 && !over(console)) {
		fm_lock_lend();
		ready = poll(&input, 1, TICK_MS);
		fm_lock_take_back();
		if (ready > 0)
			ret = serve(console);
		tick(console);
	}
	return ret < 0 ? ret : 0;
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

static int on_terminal(struct console *console)
{
	struct termios before;
	int ret = raw(&before);

	if (ret != 0)
		return ret;
	console->line = fm_line_open(stdout, "fragmend> ", run, console);
	if (console->line != NULL) {
		ret = loop(console);
		fm_line_close(console->line);
	} else {
		ret = -ENOMEM;
	}
	fputc('\n', stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return ret;
}

int fm_control_interactive(const volatile sig_atomic_t *stop, void (*tick_app)(void))
{
	struct console console = { .shell.out = stdout, .stop = stop, .tick = tick_app };

	return isatty(STDIN_FILENO) ? on_terminal(&console) : loop(&console);
}
