/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli_link.h"

int fm_link_open(struct fm_cli_link *link, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ret;

	memset(link, 0, sizeof(*link));
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link->fd < 0)
		return -errno;
	if (connect(link->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	ret = -errno;
	close(link->fd);
	return ret;
}

int fm_link_ask(struct fm_cli_link *link, enum fm_request_kind kind, const char *text)
{
	char line[FM_LINE_MAX + 8];
	size_t sent = 0;
	int len = snprintf(line, sizeof(line), "%c%c %s\n", FM_REQUEST_MARK, kind, text);

	/* One that is too long stays too long for the program to accept when it is cut here. */
	if (len >= (int)sizeof(line)) {
		len = sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	for (int i = 1; i < len - 1; i++)
		if (line[i] == FM_REQUEST_MARK || line[i] == '\n')
			line[i] = '?';
	while (sent < (size_t)len) {
		const ssize_t n = send(link->fd, line + sent, (size_t)len - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return -errno;
		sent += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* @return 0; -errno; -EINTR: a signal that ends */
static int wait_for_input(const struct fm_cli_link *link)
{
	struct pollfd input = { .fd = link->fd, .events = POLLIN };

	while (ppoll(&input, 1, NULL, link->waiting_mask) < 0)
		if (errno != EINTR || (link->ended != NULL && *link->ended))
			return -errno;
	return 0;
}

int fm_link_receive(struct fm_cli_link *link)
{
	ssize_t n;
	int ret;

	if (link->len > 0)
		return 0;
	ret = wait_for_input(link);
	if (ret != 0)
		return ret;
	n = recv(link->fd, link->data, sizeof(link->data), 0);
	if (n <= 0)
		return n < 0 ? -errno : -ECONNRESET;
	link->at = 0;
	link->len = (size_t)n;
	return 0;
}

/* Up to `end`, which is taken, too. */
static int receive_until(struct fm_cli_link *link, char end, FILE *to)
{
	const char *from, *found;
	size_t len;
	int ret;

	do {
		ret = fm_link_receive(link);
		if (ret != 0)
			return ret;
		from = link->data + link->at;
		found = memchr(from, end, link->len);
		len = found != NULL ? (size_t)(found - from) : link->len;
		fwrite(from, 1, len, to);
		len += found != NULL;
		link->at += len;
		link->len -= len;
	} while (found == NULL);
	return 0;
}

static int receive_status(struct fm_cli_link *link, struct fm_answer *answer)
{
	char *line = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&line, &len);
	const char *blank;
	int ret;

	if (to == NULL)
		return -ENOMEM;
	ret = receive_until(link, '\n', to);
	if (fclose(to) != 0 && ret == 0)
		ret = -ENOMEM;
	if (ret == 0) {
		answer->screen = strcmp(line, FM_ANSWER_SCREEN) == 0;
		answer->left = strcmp(line, FM_ANSWER_LEFT) == 0;
		blank = strchr(line, ' ');
		answer->status = answer->screen ? 0 : atoi(line);
		if (answer->status != 0 && blank != NULL)
			snprintf(answer->sentence, sizeof(answer->sentence), "%s", blank + 1);
	}
	free(line);
	return ret;
}

int fm_link_answer(struct fm_cli_link *link, struct fm_answer *answer)
{
	FILE *to;
	int ret;

	memset(answer, 0, sizeof(*answer));
	to = open_memstream(&answer->text, &answer->len);
	if (to == NULL)
		return -ENOMEM;
	ret = receive_until(link, FM_ANSWER_MARK, to);
	if (fclose(to) != 0 && ret == 0)
		ret = -ENOMEM;
	return ret == 0 ? receive_status(link, answer) : ret;
}
