/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "cli_terminal.h"
#include "line.h"

struct prompt {
	struct fm_cli_link *link;
	int (*run)(struct fm_cli_link *link, const char *text);
	int ret;
};

static volatile sig_atomic_t ended, resized;
static sigset_t before_mask;
static struct termios before, keys;

static void on_end(int number)
{
	(void)number;
	ended = 1;
}

static void on_resize(int number)
{
	(void)number;
	resized = 1;
}

bool fm_terminal_able(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term != NULL && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

void fm_terminal_catch_signals(struct fm_cli_link *link)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_end };
	sigset_t caught;

	sigemptyset(&action.sa_mask);
	sigemptyset(&caught);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		sigaction(ends[i], &action, NULL);
		sigaddset(&caught, ends[i]);
	}
	action.sa_handler = on_resize;
	sigaction(SIGWINCH, &action, NULL);
	sigaddset(&caught, SIGWINCH);
	/* They come while waiting only, so none is missed between a look and the wait. */
	sigprocmask(SIG_BLOCK, &caught, &before_mask);
	link->waiting_mask = &before_mask;
	link->ended = &ended;
}

/* Keys one by one and unechoed. @param signals  Ctrl-C is no key, but ends the wait for an answer */
static void set_keys(bool signals)
{
	keys = before;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	if (!signals)
		keys.c_lflag &= ~(tcflag_t)ISIG;
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
}

int fm_terminal_tell_size(struct fm_cli_link *link)
{
	struct winsize size = { .ws_col = 0 };
	char text[32];

	resized = 0;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	if (size.ws_col == 0 || size.ws_row == 0)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	snprintf(text, sizeof(text), "%u %u", size.ws_col, size.ws_row);
	return fm_link_ask(link, FM_REQUEST_SIZE, text);
}

/*
 * Wait for one of both.
 *
 * @return 0; -EINTR: a signal that ends
 */
static int wait_for(const struct fm_cli_link *link, bool *typed, bool *came)
{
	struct pollfd inputs[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = link->fd, .events = POLLIN } };

	*typed = *came = false;
	if (ppoll(inputs, 2, NULL, link->waiting_mask) < 0)
		return errno != EINTR || ended ? -errno : 0;
	*typed = inputs[0].revents != 0;
	*came = inputs[1].revents != 0;
	return ended ? -EINTR : 0;
}

/* Write what has come. @return 1: up to the end of the screen */
static int show(struct fm_cli_link *link)
{
	const char *from = link->data + link->at;
	const char *mark = memchr(from, FM_ANSWER_MARK, link->len);
	const size_t len = mark != NULL ? (size_t)(mark - from) : link->len;

	fwrite(from, 1, len, stdout);
	fflush(stdout);
	link->at += len;
	link->len -= len;
	return mark != NULL;
}

static int pass_on_keys(const struct fm_cli_link *link)
{
	char typed[64];
	const ssize_t n = read(STDIN_FILENO, typed, sizeof(typed));

	if (n <= 0)
		return n < 0 && errno == EINTR ? 0 : -EPIPE;
	return send(link->fd, typed, (size_t)n, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int serve_screen(struct fm_cli_link *link)
{
	bool typed, came;
	int ret;

	for (;;) {
		if (link->len > 0 && show(link))
			return 0;
		ret = wait_for(link, &typed, &came);
		if (ret == 0 && resized)
			ret = fm_terminal_tell_size(link);
		if (ret == 0 && typed)
			ret = pass_on_keys(link);
		if (ret == 0 && came)
			ret = fm_link_receive(link);
		if (ret != 0)
			return ret;
	}
}

int fm_terminal_screen(struct fm_cli_link *link, struct fm_answer *answer)
{
	struct termios lines;
	int ret;

	if (tcgetattr(STDIN_FILENO, &lines) != 0)
		return -errno;
	before = lines;
	set_keys(false);
	ret = serve_screen(link);
	if (ret == 0)
		ret = fm_link_answer(link, answer);
	/* Whoever drew could not clean up: the main screen, a cursor, plain letters. */
	if (ret != 0)
		fputs("\033[0m\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &lines);
	return ret;
}

static bool entered(void *arg, const char *text)
{
	struct prompt *prompt = arg;

	set_keys(true);
	prompt->ret = prompt->run(prompt->link, text);
	set_keys(false);
	return prompt->ret == 0;
}

/* "Lword\thelp" for each item. */
static unsigned int read_items(char *text, struct fm_completion *items, unsigned int max)
{
	unsigned int n = 0;
	char *tab;

	for (char *line = strsep(&text, "\n"); line != NULL && n < max; line = strsep(&text, "\n")) {
		tab = strchr(line, '\t');
		if (*line == '\0' || tab == NULL)
			continue;
		*tab = '\0';
		items[n].literal = *line == 'L';
		snprintf(items[n].word, sizeof(items[n].word), "%s", line + 1);
		snprintf(items[n].text, sizeof(items[n].text), "%s", tab + 1);
		n++;
	}
	return n;
}

static unsigned int complete(void *arg, const char *text, struct fm_completion *items, unsigned int max)
{
	struct prompt *prompt = arg;
	struct fm_answer answer = { .text = NULL };
	unsigned int n = 0;

	set_keys(true);
	prompt->ret = fm_link_ask(prompt->link, FM_REQUEST_COMPLETE, text);
	if (prompt->ret == 0)
		prompt->ret = fm_link_answer(prompt->link, &answer);
	set_keys(false);
	if (prompt->ret == 0 && answer.text != NULL)
		n = read_items(answer.text, items, max);
	free(answer.text);
	return n;
}

/* @return 0: Ctrl-D or the end of the terminal; 1: go on; -errno */
static int take_keys(struct prompt *prompt, struct fm_line *line)
{
	char typed[64];
	const ssize_t n = read(STDIN_FILENO, typed, sizeof(typed));

	if (n < 0 && errno == EINTR)
		return 1;
	for (ssize_t i = 0; i < n; i++) {
		if (!fm_line_type(line, typed[i]))
			return prompt->ret < 0 ? prompt->ret : 0;
		if (prompt->ret < 0)
			return prompt->ret;
	}
	return n > 0;
}

static int serve_prompt(struct prompt *prompt, struct fm_line *line)
{
	bool typed, came;
	int ret;

	for (;;) {
		ret = wait_for(prompt->link, &typed, &came);
		/* If it cannot be told, the end comes, too. */
		if (ret == 0 && resized && fm_terminal_able())
			fm_terminal_tell_size(prompt->link);
		/* Nothing was asked for, so what comes is the end. It may say why, which is left to the caller. */
		if (ret == 0 && came)
			ret = -ECONNRESET;
		if (ret != 0)
			return ret;
		if (typed) {
			ret = take_keys(prompt, line);
			if (ret <= 0)
				return ret;
		}
	}
}

int fm_terminal_prompt(struct fm_cli_link *link, int (*run)(struct fm_cli_link *link, const char *text))
{
	struct prompt prompt = { .link = link, .run = run };
	struct termios lines;
	struct fm_line *line;
	int ret;

	if (tcgetattr(STDIN_FILENO, &lines) != 0)
		return -errno;
	before = lines;
	set_keys(false);
	line = fm_line_open(stdout, "fragmend> ", entered, complete, &prompt);
	ret = line != NULL ? serve_prompt(&prompt, line) : -ENOMEM;
	if (line != NULL)
		fm_line_close(line);
	fputc('\n', stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &lines);
	return ret;
}
