/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of the console socket whose other end is the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_door.h"
#include "session.h"
#include "stats.h"

enum { MS = 1000000 };

struct fixture {
	struct fm_loop loop;
	struct fm_session *session;
	int end;			/* of the client */
	unsigned int changes;
	char got[1 << 16];		/* by the client */
	/* A screen that the test fills. */
	const char *frame;
	unsigned int columns, rows, closed;
	char keys[32];
	bool left;
};

static void changed(void *arg)
{
	struct fixture *f = arg;

	f->changes++;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int ends[2];

	fake_door_reset();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	fm_loop_init(&f->loop, NULL);
	f->end = ends[0];
	f->session = fm_session_open(&f->loop, ends[1], fm_now_ns(), changed, f);
	assert_non_null(f->session);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fm_session_close(f->session, &f->loop);
	assert_int_equal(f->loop.n_watches, 0);
	assert_true(f->closed <= 1);
	if (f->end >= 0)
		close(f->end);
	free(f);
	return 0;
}

/* As the loop does when poll() says so. */
static void wake(struct fixture *f)
{
	struct pollfd fd = { .fd = f->session->watch.fd, .events = f->session->watch.events };

	if (fd.events != 0 && poll(&fd, 1, 0) > 0)
		f->session->watch.ready(f->session, fd.revents);
}

static void say(struct fixture *f, const char *data, size_t len)
{
	assert_int_equal(send(f->end, data, len, 0), len);
	wake(f);
}

#define SAY(f, text) say(f, text, sizeof(text) - 1)

/* Take every turn there is to be had, and read all that comes. */
static size_t serve(struct fixture *f)
{
	size_t len = 0;
	ssize_t n;

	for (;;) {
		wake(f);
		if (fm_session_ready(f->session))
			fm_session_run(f->session, fm_now_ns());
		n = recv(f->end, f->got + len, sizeof(f->got) - 1 - len, 0);
		if (n <= 0 && !fm_session_ready(f->session))
			break;
		len += n > 0 ? (size_t)n : 0;
	}
	f->got[len] = '\0';
	return len;
}

static void expect(struct fixture *f, const char *data, size_t len)
{
	assert_int_equal(serve(f), len);
	assert_memory_equal(f->got, data, len);
}

#define EXPECT(f, text) expect(f, text, sizeof(text) - 1)

static void answers(void **state)
{
	struct fixture *f = *state;

	SAY(f, "flush reassembly\nfrob\n\1r flush reassembly\n\1r set timeout4 0\n\1q\n\n\1s 80 24\n\1r\n");
	EXPECT(f, "17 fragments freed.\n"
		  "error: unknown command \"frob\", possible are start, stop, flush, show, set, clear, capture, help, "
		  "load, save, version, exit or quit\n"
		  "17 fragments freed.\n\0000\n"
		  "\00022 timeout4 must be 1..120000 ms, got \"0\"\n"
		  "\00022 there is no such request\n"
		  "\0000\n");
	assert_int_equal(f->session->columns, 80);
	assert_int_equal(f->session->rows, 24);
	SAY(f, "\1c set timeout\n");
	serve(f);
	assert_int_equal(strncmp(f->got, "Ltimeout4\t", 10), 0);
	assert_non_null(strstr(f->got, "\nLtimeout6\t"));
}

/* One turn is one request, however many have come. */
static void one_at_a_time(void **state)
{
	struct fixture *f = *state;

	SAY(f, "start\nstop\nstart\n");
	assert_true(f->changes > 0);
	assert_true(fm_session_ready(f->session));
	assert_false(fake_door.forwarding);
	fm_session_run(f->session, fm_now_ns());
	assert_true(fake_door.forwarding);
	assert_true(fm_session_ready(f->session));
	fm_session_run(f->session, fm_now_ns());
	assert_false(fake_door.forwarding);
	fm_session_run(f->session, fm_now_ns());
	assert_true(fake_door.forwarding);
	assert_false(fm_session_ready(f->session));
}

static void quit_is_deliberate(void **state)
{
	struct fixture *f = *state;

	SAY(f, "\1r quit\n");
	serve(f);
	assert_int_equal(strncmp(f->got + 1, "1 \"quit\" ends fragmend, not this session", 40), 0);
	assert_false(f->session->shell.quit);
	SAY(f, "\1r quit program\n");
	EXPECT(f, "\0000 left\n");
	assert_true(f->session->shell.quit);
	assert_true(f->session->gone);
}

static void exit_leaves(void **state)
{
	struct fixture *f = *state;

	SAY(f, "\1r exit\n\1r start\n");
	EXPECT(f, "\0000 left\n");
	assert_false(f->session->shell.quit);
	assert_true(f->session->gone);
	assert_false(fake_door.forwarding);
}

/* What came before it is answered, the last line without its end, too. */
static void end_of_input(void **state)
{
	struct fixture *f = *state;

	SAY(f, "flush reassembly\nstart");
	shutdown(f->end, SHUT_WR);
	EXPECT(f, "17 fragments freed.\n");
	assert_true(fake_door.forwarding);
	assert_true(f->session->gone);
}

/* Answers are not read: no other request is taken, and in the end the session is given up. */
static void who_does_not_read(void **state)
{
	struct fixture *f = *state;
	const uint64_t now_ns = fm_now_ns();
	int runs = 0;

	while (f->session->out.len == 0) {
		SAY(f, "help\n");
		assert_true(fm_session_ready(f->session));
		fm_session_run(f->session, now_ns);
		assert_true(++runs < 1000);
	}
	assert_int_equal(f->session->watch.events, POLLOUT);
	SAY(f, "help\n");
	assert_false(fm_session_ready(f->session));
	f->session->sent_ns = now_ns;
	fm_session_tick(f->session, now_ns + (uint64_t)FM_SESSION_STALL_MS * MS);
	assert_false(f->session->gone);
	fm_session_tick(f->session, now_ns + (uint64_t)FM_SESSION_STALL_MS * MS + 1);
	assert_true(f->session->gone);
	assert_int_equal(f->session->watch.events & POLLIN, 0);
}

/* One that reads slowly gets everything. */
static void who_reads_late(void **state)
{
	struct fixture *f = *state;
	uint64_t now_ns = fm_now_ns();
	size_t help;

	SAY(f, "help\n");
	help = serve(f);
	assert_true(help > 1000);
	for (int i = 0; i < 300 && f->session->out.len == 0; i++) {
		SAY(f, "help\n");
		fm_session_run(f->session, now_ns);
	}
	assert_true(f->session->out.len > 0);
	SAY(f, "exit\n");
	for (int i = 0; i < 100 && !f->session->gone; i++) {
		/* Some progress in each while is enough. */
		fm_session_tick(f->session, fm_now_ns());
		assert_true(recv(f->end, f->got, help, 0) > 0 || f->session->out.len == 0);
		wake(f);
		if (fm_session_ready(f->session))
			fm_session_run(f->session, fm_now_ns());
	}
	assert_true(f->session->gone);
}

static void who_is_gone(void **state)
{
	struct fixture *f = *state;

	SAY(f, "help\n");
	close(f->end);
	f->end = -1;
	f->changes = 0;
	fm_session_run(f->session, fm_now_ns());
	assert_true(f->session->gone);
	assert_true(f->changes > 0);
	assert_int_equal(f->session->watch.events, 0);
}

static int screen_frame(void *arg, uint64_t now_ns, const char **text)
{
	struct fixture *f = arg;

	(void)now_ns;
	*text = f->frame;
	return f->frame != NULL ? (int)strlen(f->frame) : 0;
}

static void screen_key(void *arg, char c, uint64_t now_ns)
{
	struct fixture *f = arg;

	(void)now_ns;
	f->keys[strlen(f->keys)] = c;
	f->left = c == 'q';
}

static bool screen_left(void *arg, uint64_t now_ns)
{
	struct fixture *f = arg;

	(void)now_ns;
	return f->left;
}

static void screen_size(void *arg, unsigned int columns, unsigned int rows)
{
	struct fixture *f = arg;

	f->columns = columns;
	f->rows = rows;
}

static void screen_close(void *arg)
{
	struct fixture *f = arg;

	f->closed++;
}

/* As a command leaves it behind. */
static void begin_screen(struct fixture *f)
{
	SAY(f, "\1s 120 40\n");
	serve(f);
	assert_true(f->session->shell.can_stream);
	f->session->shell.stream = (struct fm_stream){
		.arg = f, .frame = screen_frame, .key = screen_key, .left = screen_left, .size = screen_size,
		.close = screen_close, .enter = "<", .leave = ">",
	};
	SAY(f, "\1r\n");
	EXPECT(f, "\0screen\n<");
	assert_int_equal(f->columns, 120);
	assert_int_equal(f->rows, 40);
}

static void screen(void **state)
{
	struct fixture *f = *state;

	begin_screen(f);
	f->frame = "one";
	fm_session_tick(f->session, fm_now_ns());
	EXPECT(f, "one");
	SAY(f, "ab\n\1s 80 24\nc");
	assert_string_equal(f->keys, "ab\nc");
	assert_int_equal(f->columns, 80);
	f->frame = "two";
	fm_session_tick(f->session, fm_now_ns());
	EXPECT(f, "two");
	/* What follows the key that leaves is a line again. */
	SAY(f, "q\1r flush reassembly\n");
	EXPECT(f, ">\0000\n17 fragments freed.\n\0000\n");
	assert_int_equal(f->closed, 1);
	fm_session_tick(f->session, fm_now_ns());
	EXPECT(f, "");
}

/* Pictures that nobody fetches are left out, and keys still count. */
static void screen_that_is_not_read(void **state)
{
	static char large[300000];
	struct fixture *f = *state;
	size_t waiting;

	memset(large, 'x', sizeof(large) - 1);
	begin_screen(f);
	f->frame = large;
	fm_session_tick(f->session, fm_now_ns());
	waiting = f->session->out.len;
	assert_true(waiting > 0);
	fm_session_tick(f->session, fm_now_ns());
	assert_true(f->session->out.len <= waiting);
	SAY(f, "q");
	assert_int_equal(f->closed, 1);
}

/* The terminal at the other end is left as it was. */
static void screen_when_the_program_ends(void **state)
{
	struct fixture *f = *state;
	const int end = dup(f->end);
	char got[8];

	begin_screen(f);
	teardown(state);
	assert_int_equal(recv(end, got, sizeof(got), 0), 1);
	assert_int_equal(got[0], '>');
	close(end);
	setup(state);
}

/* Without a terminal at the other end no command may fill it. */
static void no_screen(void **state)
{
	struct fixture *f = *state;

	assert_false(f->session->shell.can_stream);
	SAY(f, "\1s 120 40\n\1s 0 0\n");
	serve(f);
	assert_false(f->session->shell.can_stream);
	SAY(f, "\1s 99999999999999999999 1\n");
	serve(f);
	assert_false(f->session->shell.can_stream);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers),
		TEST(one_at_a_time),
		TEST(quit_is_deliberate),
		TEST(exit_leaves),
		TEST(end_of_input),
		TEST(who_does_not_read),
		TEST(who_reads_late),
		TEST(who_is_gone),
		TEST(screen),
		TEST(screen_that_is_not_read),
		TEST(screen_when_the_program_ends),
		TEST(no_screen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
