/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "session.h"
#include "stats.h"
#include "word.h"

enum { NS_PER_MS = 1000000, ITEMS_MAX = 160 };

static bool streams(const struct fm_session *session)
{
	return session->stream.frame != NULL;
}

/* What the loop is to wake the session for. */
static void set_events(struct fm_session *session)
{
	session->watch.events = 0;
	if (session->gone)
		return;
	if (session->out.len > 0)
		session->watch.events |= POLLOUT;
	/* Keys are read while a picture is on its way; requests are not while an answer is. */
	if (!session->ended && !session->leaving && !session->waiting && (streams(session) || session->out.len == 0))
		session->watch.events |= POLLIN;
}

static void drop(struct fm_session *session)
{
	session->gone = true;
	session->changed(session->arg);
}

static void flush_out(struct fm_session *session, uint64_t now_ns)
{
	const long sent = fm_queue_send(&session->out, session->watch.fd);

	if (sent < 0)
		drop(session);
	else if (sent > 0 || session->out.len == 0)
		session->sent_ns = now_ns;
	if (session->out.len > 0)
		return;
	if (session->leaving)
		drop(session);
	else if (session->waiting)
		session->changed(session->arg);
}

static void put(struct fm_session *session, const char *data, size_t len)
{
	if (!session->gone && fm_queue_add(&session->out, data, len, FM_SESSION_OUT_BYTES) != 0)
		drop(session);
}

static void end_stream(struct fm_session *session)
{
	const char *leave = session->stream.leave;

	session->stream.close(session->stream.arg);
	session->stream = (struct fm_stream){ .frame = NULL };
	put(session, leave, strlen(leave));
	put(session, "\0000\n", 3);
}

static void read_size(struct fm_session *session, const char *text)
{
	struct fm_word word;
	char number[8];
	uint64_t size[2] = { 0, 0 };

	for (int i = 0; i < 2 && fm_word_next(&text, " ", &word); i++) {
		snprintf(number, sizeof(number), "%.*s", word.len, word.text);
		if (fm_number_parse(number, &size[i]) != 0 || size[i] > UINT16_MAX)
			size[i] = 0;
	}
	session->columns = (unsigned int)size[0];
	session->rows = (unsigned int)size[1];
	session->shell.can_stream = size[0] > 0 && size[1] > 0;
	if (streams(session) && session->shell.can_stream)
		session->stream.size(session->stream.arg, session->columns, session->rows);
}

/* While a screen is shown, the only request is its size; all else are keys. */
static void take_key(struct fm_session *session, char c, uint64_t now_ns)
{
	char text[FM_LINE_MAX + 1];

	if (session->request.framed || c == FM_REQUEST_MARK) {
		if (fm_request_take(&session->request, c) &&
		    fm_request_get(&session->request, text) == FM_REQUEST_SIZE)
			read_size(session, text);
		return;
	}
	session->stream.key(session->stream.arg, c, now_ns);
	if (session->stream.left(session->stream.arg, now_ns))
		end_stream(session);
}

/* Look at what came, up to the end of a request. */
static void take_in(struct fm_session *session, uint64_t now_ns)
{
	while (!session->waiting && !session->gone && session->in_at < session->in_len) {
		const char c = session->in[session->in_at++];

		if (streams(session))
			take_key(session, c, now_ns);
		else
			session->waiting = fm_request_take(&session->request, c);
	}
	if (session->ended && !session->waiting && session->in_at == session->in_len) {
		/* The last line needs no end. */
		session->waiting = !streams(session) && fm_request_begun(&session->request);
		session->leaving = !session->waiting;
	}
	if (session->waiting)
		session->changed(session->arg);
}

static void receive(struct fm_session *session, uint64_t now_ns)
{
	const ssize_t n = recv(session->watch.fd, session->in, sizeof(session->in), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return;
	if (n < 0) {
		drop(session);
		return;
	}
	session->ended = n == 0;
	session->in_at = 0;
	session->in_len = (size_t)n;
	take_in(session, now_ns);
}

static void ready(void *arg, short events)
{
	struct fm_session *session = arg;
	const uint64_t now_ns = fm_now_ns();

	if (session->gone)
		return;
	if (events & (POLLERR | POLLNVAL)) {
		drop(session);
		return;
	}
	if ((events & (POLLIN | POLLHUP)) && (session->watch.events & POLLIN))
		receive(session, now_ns);
	if (!session->gone)
		flush_out(session, now_ns);
	set_events(session);
}

bool fm_session_ready(const struct fm_session *session)
{
	return session->waiting && !session->gone && session->out.len == 0;
}

static int complete(const char *text, FILE *out)
{
	struct fm_completion items[ITEMS_MAX];
	const unsigned int n = fm_command_complete(text, items, ITEMS_MAX);

	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%c%s\t%s\n", items[i].literal ? 'L' : 'P', items[i].word, items[i].text);
	return 0;
}

static void begin_stream(struct fm_session *session, FILE *out)
{
	session->stream = session->shell.stream;
	session->shell.stream = (struct fm_stream){ .frame = NULL };
	session->stream.size(session->stream.arg, session->columns, session->rows);
	fprintf(out, "%c" FM_ANSWER_SCREEN "\n%s", FM_ANSWER_MARK, session->stream.enter);
}

/* Print an answer. NUL is what its end is known by. */
static void answer(struct fm_session *session, int kind, const char *text, FILE *out)
{
	struct fm_shell *shell = &session->shell;
	int ret;

	shell->out = out;
	shell->err[0] = '\0';
	switch (kind) {
	case FM_REQUEST_LINE:
	case FM_REQUEST_RUN:
		ret = fm_command_run(shell, text);
		break;
	case FM_REQUEST_COMPLETE:
		ret = complete(text, out);
		break;
	default:
		ret = fm_shell_fail(shell, -EINVAL, "there is no such request");
		break;
	}
	if (ret == 0 && shell->stream.frame != NULL)
		begin_stream(session, out);
	else if (kind == FM_REQUEST_LINE && ret != 0)
		fprintf(out, "error: %s\n", shell->err);
	else if (kind != FM_REQUEST_LINE && ret != 0)
		fprintf(out, "%c%d %s\n", FM_ANSWER_MARK, -ret, shell->err);
	else if (kind != FM_REQUEST_LINE)
		fprintf(out, "%c%s\n", FM_ANSWER_MARK, shell->leave || shell->quit ? FM_ANSWER_LEFT : "0");
	session->leaving |= shell->leave || shell->quit;
}

void fm_session_run(struct fm_session *session, uint64_t now_ns)
{
	char text[FM_LINE_MAX + 1];
	char *data = NULL;
	size_t len = 0;
	FILE *out;
	int kind;

	kind = fm_request_get(&session->request, text);
	session->waiting = false;
	if (kind == FM_REQUEST_SIZE) {
		read_size(session, text);
	} else {
		out = open_memstream(&data, &len);
		if (out == NULL) {
			drop(session);
			return;
		}
		answer(session, kind, text, out);
		if (fclose(out) == 0)
			put(session, data, len);
		else
			drop(session);
		free(data);
	}
	if (!session->gone)
		take_in(session, now_ns);
	if (!session->gone)
		flush_out(session, now_ns);
	set_events(session);
}

static void next_frame(struct fm_session *session, uint64_t now_ns)
{
	const char *text;
	int len;

	if (session->stream.left(session->stream.arg, now_ns)) {
		end_stream(session);
		return;
	}
	/* A picture that cannot be sent is not missed. */
	if (session->out.len > 0)
		return;
	len = session->stream.frame(session->stream.arg, now_ns, &text);
	if (len > 0)
		put(session, text, (size_t)len);
	else if (len < 0)
		end_stream(session);
}

void fm_session_tick(struct fm_session *session, uint64_t now_ns)
{
	if (session->gone)
		return;
	if (streams(session) && !session->leaving) {
		next_frame(session, now_ns);
		flush_out(session, now_ns);
		take_in(session, now_ns);
		set_events(session);
	}
	if (session->out.len == 0)
		session->sent_ns = now_ns;
	else if (now_ns - session->sent_ns > (uint64_t)FM_SESSION_STALL_MS * NS_PER_MS)
		drop(session);
}

struct fm_session *fm_session_open(struct fm_loop *loop, int fd, uint64_t now_ns, void (*changed)(void *arg),
				   void *arg)
{
	struct fm_session *session = calloc(1, sizeof(*session));

	if (session == NULL)
		return NULL;
	session->watch = (struct fm_watch){ .fd = fd, .events = POLLIN, .ready = ready, .arg = session };
	session->shell.session = session->shell.serving = true;
	session->sent_ns = now_ns;
	session->changed = changed;
	session->arg = arg;
	if (fm_loop_add_watch(loop, &session->watch) == 0)
		return session;
	free(session);
	return NULL;
}

void fm_session_close(struct fm_session *session, struct fm_loop *loop)
{
	fm_loop_remove_watch(loop, &session->watch);
	session->changed = NULL;
	if (streams(session)) {
		session->stream.close(session->stream.arg);
		fm_queue_add(&session->out, session->stream.leave, strlen(session->stream.leave), FM_SESSION_OUT_BYTES);
	}
	fm_queue_send(&session->out, session->watch.fd);
	fm_queue_free(&session->out);
	close(session->watch.fd);
	free(session);
}
