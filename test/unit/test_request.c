/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the console socket stands on: requests put together from bytes, and bytes on their way out.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "queue.h"
#include "request.h"

static int take(struct fm_request *request, const char *data, size_t len, char text[FM_LINE_MAX + 1])
{
	for (size_t i = 0; i < len; i++)
		if (fm_request_take(request, data[i])) {
			assert_int_equal(i, len - 1);
			return fm_request_get(request, text);
		}
	return -1;
}

#define TAKE(request, data, text) take(request, data, sizeof(data) - 1, text)

static void requests(void **state)
{
	struct fm_request request = { .used = 0 };
	char text[FM_LINE_MAX + 1];

	(void)state;
	assert_int_equal(TAKE(&request, "show check\n", text), FM_REQUEST_LINE);
	assert_string_equal(text, "show check");
	assert_int_equal(TAKE(&request, "show check\r\n", text), FM_REQUEST_LINE);
	assert_string_equal(text, "show check");
	assert_int_equal(TAKE(&request, "\n", text), FM_REQUEST_LINE);
	assert_string_equal(text, "");
	assert_int_equal(TAKE(&request, "a\0b\n", text), FM_REQUEST_LINE);
	assert_string_equal(text, "a?b");
	assert_int_equal(TAKE(&request, "\1r show check\n", text), FM_REQUEST_RUN);
	assert_string_equal(text, "show check");
	assert_int_equal(TAKE(&request, "\1c  show \n", text), FM_REQUEST_COMPLETE);
	assert_string_equal(text, " show ");
	assert_int_equal(TAKE(&request, "quit prog\1r version\n", text), FM_REQUEST_RUN);
	assert_string_equal(text, "version");
	assert_int_equal(TAKE(&request, "\1r quit prog\1r version\n", text), FM_REQUEST_RUN);
	assert_string_equal(text, "version");
	assert_int_equal(TAKE(&request, "\1\n", text), '?');
	assert_string_equal(text, "");
	assert_int_equal(TAKE(&request, "\1\0 x\n", text), '?');
	assert_int_equal(TAKE(&request, "\1z\n", text), 'z');
	assert_int_equal(TAKE(&request, "\1", text), -1);
	assert_true(fm_request_begun(&request));
	assert_int_equal(TAKE(&request, "\n", text), '?');
	assert_false(fm_request_begun(&request));
}

/* Every length around the limit, both ways: a command that is too long never becomes one that is not. */
static void long_requests(void **state)
{
	struct fm_request request = { .used = 0 };
	char text[FM_LINE_MAX + 1];
	bool complete = false;

	(void)state;
	for (size_t len = FM_LINE_MAX - 3; len < FM_LINE_MAX + 4; len++) {
		for (int framed = 0; framed < 2; framed++) {
			for (const char *c = framed ? "\1r " : ""; *c != '\0'; c++)
				assert_false(fm_request_take(&request, *c));
			for (size_t i = 0; i < len; i++)
				assert_false(fm_request_take(&request, 'x'));
			complete = fm_request_take(&request, '\n');
			assert_true(complete);
			assert_int_equal(fm_request_get(&request, text), framed ? FM_REQUEST_RUN : FM_REQUEST_LINE);
			assert_int_equal(strlen(text), len < FM_LINE_MAX ? len : FM_LINE_MAX);
		}
	}
}

static void queue(void **state)
{
	static char data[1 << 20], got[1 << 20];
	struct fm_queue q = { .data = NULL };
	size_t received = 0;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7 + i / 256);
	assert_int_equal(fm_queue_send(&q, ends[0]), 0);
	assert_int_equal(fm_queue_add(&q, data, 0, 0), 0);
	assert_int_equal(fm_queue_add(&q, data, sizeof(data) / 2, sizeof(data)), 0);
	assert_int_equal(fm_queue_add(&q, data, sizeof(data) / 2 + 1, sizeof(data)), -ENOBUFS);
	assert_int_equal(fm_queue_add(&q, data, SIZE_MAX, sizeof(data)), -ENOBUFS);
	/* More behind what is half sent, in pieces that do not fit each other. */
	assert_true(fm_queue_send(&q, ends[0]) > 0);
	assert_true(q.at > 0 && q.len > 0);
	assert_int_equal(fm_queue_add(&q, data + sizeof(data) / 2, sizeof(data) / 2, sizeof(data)), 0);
	while (received < sizeof(data)) {
		const ssize_t n = recv(ends[1], got + received, 30011 < sizeof(got) - received ?
				       30011 : sizeof(got) - received, 0);

		assert_true(n > 0);
		received += (size_t)n;
		assert_true(fm_queue_send(&q, ends[0]) >= 0);
	}
	assert_memory_equal(got, data, sizeof(data));
	assert_null(q.data);
	close(ends[1]);
	assert_int_equal(fm_queue_add(&q, data, 1, 1), 0);
	assert_int_equal(fm_queue_send(&q, ends[0]), -EPIPE);
	fm_queue_free(&q);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(long_requests),
		cmocka_unit_test(queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
