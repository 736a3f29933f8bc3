/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "stream_terminal.h"

enum { FM_TRIES_MAX = 3 };	/* to write where there seems to be room */

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

/*
 * Write what there is room for. That there is some (POLLOUT) does not mean enough: without O_NONBLOCK, write() waits
 * until all of it is read. It is set for the moment only, as the shell has the same open file.
 *
 * @return how much was taken
 */
static size_t write_some(const char *text, size_t len)
{
	const int flags = fcntl(STDOUT_FILENO, F_GETFL);
	ssize_t n;

	if (flags < 0 || fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK) < 0)
		return 0;
	n = write(STDOUT_FILENO, text, len);
	fcntl(STDOUT_FILENO, F_SETFL, flags);
	return n > 0 ? (size_t)n : 0;
}

bool fm_stream_terminal_say(const char *text, size_t len)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	unsigned int tries = 0;
	size_t n;

	while (len > 0) {
		n = write_some(text, len);
		text += n;
		len -= n;
		tries = n > 0 ? 0 : tries + 1;
		/* poll() also tells of room that is too small for a newline, and of a terminal that is gone. */
		if (n == 0 && (tries > FM_TRIES_MAX || poll(&out, 1, FM_STREAM_PATIENCE_MS) <= 0))
			return false;
	}
	return true;
}

/* Past stdio: a frame in one write where there is room, so that no half of it is seen. @return all was taken */
static bool put_rest(struct fm_stream *stream)
{
	const size_t n = write_some(stream->rest, stream->rest_len);

	stream->rest += n;
	stream->rest_len -= n;
	return stream->rest_len == 0;
}

void fm_stream_terminal_enter(struct fm_stream *stream)
{
	stream->rest = stream->enter;
	stream->rest_len = strlen(stream->enter);
	put_rest(stream);
}

void fm_stream_terminal_leave(struct fm_stream *stream)
{
	if (stream->frame == NULL)
		return;
	/* Nobody reads: what waits to be read is frames, and takes the room that the prompt needs. */
	if (!fm_stream_terminal_say(stream->rest, stream->rest_len) ||
	    !fm_stream_terminal_say(stream->leave, strlen(stream->leave))) {
		tcflush(STDOUT_FILENO, TCOFLUSH);
		fm_stream_terminal_say(stream->leave, strlen(stream->leave));
	}
	stream->close(stream->arg);
	*stream = (struct fm_stream){ .frame = NULL };
}

bool fm_stream_terminal_turn(struct fm_stream *stream, uint64_t now_ns)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	int len;

	if (stream->left(stream->arg, now_ns))
		return false;
	tell_size(stream);
	/* One that was stopped (Ctrl-S), or whose other end does not read, gets the next frame. */
	if (poll(&out, 1, 0) <= 0 || !put_rest(stream))
		return true;
	len = stream->frame(stream->arg, now_ns, &stream->rest);
	if (len > 0) {
		stream->rest_len = (size_t)len;
		put_rest(stream);
	}
	return len >= 0;
}
