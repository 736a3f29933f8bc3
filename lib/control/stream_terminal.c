/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stream_terminal.h"

bool fm_stream_terminal_able(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term != NULL && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

/* https://no-color.org: any text in it says no. */
bool fm_stream_terminal_colour(void)
{
	const char *no_color = getenv("NO_COLOR");

	return no_color == NULL || *no_color == '\0';
}

static void tell_size(const struct fm_stream *stream)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		stream->size(stream->arg, size.ws_col, size.ws_row);
}

void fm_stream_terminal_enter(const struct fm_stream *stream)
{
	fputs(stream->enter, stdout);
	fflush(stdout);
}

void fm_stream_terminal_leave(struct fm_stream *stream)
{
	if (stream->frame == NULL)
		return;
	fputs(stream->leave, stdout);
	fflush(stdout);
	stream->close(stream->arg);
	*stream = (struct fm_stream){ .frame = NULL };
}

/* Past stdio: the whole frame in one write, so that no half of it is ever seen. */
static void put(const char *text, size_t len, const volatile sig_atomic_t *stop)
{
	ssize_t n;

	while (len > 0 && (stop == NULL || *stop == 0)) {
		n = write(STDOUT_FILENO, text, len);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

bool fm_stream_terminal_turn(const struct fm_stream *stream, uint64_t now_ns, const volatile sig_atomic_t *stop)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	const char *text;
	int len;

	if (stream->left(stream->arg, now_ns))
		return false;
	tell_size(stream);
	/* One that was stopped (Ctrl-S), or whose other end does not read, gets the next frame. */
	if (poll(&out, 1, 0) <= 0)
		return true;
	len = stream->frame(stream->arg, now_ns, &text);
	if (len > 0)
		put(text, (size_t)len, stop);
	return len >= 0;
}
