/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The console socket: who is let in, and whose turn it is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "listen.h"
#include "session.h"
#include "stats.h"

enum {
	/*
	 * After a request all sessions rest so many times as long as it took. A command may ask workers for what they
	 * hold, which costs them something: so it is at most a quarter of the time, however many clients ask at once.
	 * But nobody waits for long because somebody else had much to ask.
	 */
	REST_FACTOR = 3,
	REST_MAX_NS = 1000000000,
	ACCEPTS_AT_ONCE = 4,
};

struct fm_server {
	struct fm_loop *loop;
	struct fm_watch callers;
	struct fm_timer turn, tick;
	uint64_t rested_ns;	/* no request before that */
	unsigned int next;	/* whose turn it is */
	struct fm_session *session[FM_SESSIONS_MAX];
	char path[FM_SOCKET_PATH_MAX + 1];
	struct stat made;
};

static void changed(void *arg)
{
	struct fm_server *server = arg;

	server->turn.due_ns = server->rested_ns;
}

static void refuse(int fd)
{
	char text[80];
	const int len = snprintf(text, sizeof(text), "error: %d sessions are open, and there can be no more\n",
				 FM_SESSIONS_MAX);

	send(fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
}

static void let_in(struct fm_server *server, int fd)
{
	for (unsigned int i = 0; i < FM_SESSIONS_MAX; i++) {
		if (server->session[i] != NULL)
			continue;
		server->session[i] = fm_session_open(server->loop, fd, fm_now_ns(), changed, server);
		if (server->session[i] == NULL)
			close(fd);
		return;
	}
	refuse(fd);
}

static void answer_callers(void *arg, short events)
{
	struct fm_server *server = arg;

	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		const int fd = accept4(server->callers.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			let_in(server, fd);
			continue;
		}
		/* No descriptor, no memory: the caller stays at the door, and must not keep the loop awake. */
		if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR && errno != ECONNABORTED)
			server->callers.events = 0;
		return;
	}
}

static void sweep(struct fm_server *server)
{
	for (unsigned int i = 0; i < FM_SESSIONS_MAX; i++) {
		if (server->session[i] == NULL || !server->session[i]->gone)
			continue;
		fm_session_close(server->session[i], server->loop);
		server->session[i] = NULL;
	}
}

/* The first that waits, beginning with the one whose turn it is; FM_SESSIONS_MAX: none does. */
static unsigned int find_ready(const struct fm_server *server)
{
	for (unsigned int n = 0; n < FM_SESSIONS_MAX; n++) {
		const unsigned int i = (server->next + n) % FM_SESSIONS_MAX;

		if (server->session[i] != NULL && fm_session_ready(server->session[i]))
			return i;
	}
	return FM_SESSIONS_MAX;
}

/* One request of one session. */
static void take_turn(void *arg, uint64_t now_ns)
{
	struct fm_server *server = arg;
	unsigned int i;
	uint64_t end_ns, rest_ns;

	sweep(server);
	i = find_ready(server);
	if (i == FM_SESSIONS_MAX)
		return;
	server->next = (i + 1) % FM_SESSIONS_MAX;
	now_ns = fm_now_ns();
	fm_session_run(server->session[i], now_ns);
	end_ns = fm_now_ns();
	rest_ns = REST_FACTOR * (end_ns - now_ns);
	server->rested_ns = end_ns + (rest_ns < REST_MAX_NS ? rest_ns : REST_MAX_NS);
	if (server->session[i]->shell.quit)
		fm_loop_end(server->loop);
	/* Also for what this one has behind that request, or if it is gone. */
	server->turn.due_ns = server->rested_ns;
}

static void tick(void *arg, uint64_t now_ns)
{
	struct fm_server *server = arg;

	for (unsigned int i = 0; i < FM_SESSIONS_MAX; i++)
		if (server->session[i] != NULL)
			fm_session_tick(server->session[i], now_ns);
	sweep(server);
	server->callers.events = POLLIN;
}

int fm_control_socket_open(struct fm_loop *loop, const char *path, struct fm_server **opened, char *err, size_t err_len)
{
	struct fm_server *server = calloc(1, sizeof(*server));
	int fd, ret;

	*opened = NULL;
	if (server == NULL) {
		snprintf(err, err_len, "console socket %s: no memory", path);
		return -ENOMEM;
	}
	fd = fm_listen(path, &server->made, err, err_len);
	if (fd < 0) {
		free(server);
		return fd;
	}
	server->loop = loop;
	snprintf(server->path, sizeof(server->path), "%s", path);
	server->callers = (struct fm_watch){ .fd = fd, .events = POLLIN, .ready = answer_callers, .arg = server };
	server->turn = (struct fm_timer){ .due_ns = FM_NEVER, .due = take_turn, .arg = server };
	server->tick = (struct fm_timer){ .period_ms = FM_TICK_MS, .due = tick, .arg = server };
	ret = fm_loop_add_watch(loop, &server->callers);
	if (ret == 0)
		ret = fm_loop_add_timer(loop, &server->turn);
	if (ret == 0)
		ret = fm_loop_add_timer(loop, &server->tick);
	if (ret == 0) {
		*opened = server;
		return 0;
	}
	fm_control_socket_close(server);
	snprintf(err, err_len, "console socket %s: the event loop is full", path);
	return ret;
}

void fm_control_socket_close(struct fm_server *server)
{
	if (server == NULL)
		return;
	for (unsigned int i = 0; i < FM_SESSIONS_MAX; i++)
		if (server->session[i] != NULL)
			fm_session_close(server->session[i], server->loop);
	fm_loop_remove_watch(server->loop, &server->callers);
	fm_loop_remove_timer(server->loop, &server->turn);
	fm_loop_remove_timer(server->loop, &server->tick);
	fm_listen_remove(server->path, &server->made);
	close(server->callers.fd);
	free(server);
}
