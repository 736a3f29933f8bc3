/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "listen.h"

enum { BACKLOG = 16, LOCK_TRIES = 50, LOCK_PAUSE_MS = 20 };

static int fail(char *err, size_t err_len, int ret, const char *path, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static int fail(char *err, size_t err_len, int ret, const char *path, const char *format, ...)
{
	char why[256];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(err, err_len, "console socket %s: %s", path, why);
	return ret;
}

/*
 * Two programs that find a dead one's socket at the same time must not remove each other's new one. The lock is on the
 * folder, as a file for it would stay behind.
 */
static int lock_folder(const char *path, char *err, size_t err_len)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_MS * 1000000L };
	char copy[FM_SOCKET_PATH_MAX + 1];
	const char *folder;
	int fd, ret;

	snprintf(copy, sizeof(copy), "%s", path);
	folder = dirname(copy);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(err, err_len, -errno, path, "cannot open the folder %s: %s", folder, strerror(errno));
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&pause, NULL);
	}
	ret = -errno;
	close(fd);
	return fail(err, err_len, ret, path, "cannot lock the folder %s: %s", folder, strerror(-ret));
}

/* Is anybody behind that socket? @return 0: nobody; -errno: leave it alone, err says why */
static int check_dead(const struct sockaddr_un *address, char *err, size_t err_len)
{
	const char *path = address->sun_path;
	struct stat st;
	int fd, ret;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : fail(err, err_len, -errno, path, "%s", strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return fail(err, err_len, -EEXIST, path, "a file of that name is there, and it is no socket");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(err, err_len, -errno, path, "%s", strerror(errno));
	ret = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
	close(fd);
	if (ret == ECONNREFUSED)
		return 0;
	/* EAGAIN: it has more callers than it can take; EPROTOTYPE: a socket of another kind. */
	if (ret == 0 || ret == EAGAIN || ret == EPROTOTYPE)
		return fail(err, err_len, -EADDRINUSE, path, "another program that runs listens there");
	return fail(err, err_len, -ret, path, "it is there, and whether anybody listens cannot be told: %s",
		    strerror(ret));
}

static int bind_and_listen(int fd, const struct sockaddr_un *address, struct stat *made, char *err, size_t err_len)
{
	const char *path = address->sun_path;
	mode_t before;
	int ret = check_dead(address, err, err_len);

	if (ret != 0)
		return ret;
	unlink(path);
	/* The mode must be right when the name appears, not a moment later. */
	before = umask(0177);
	ret = bind(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : -errno;
	umask(before);
	if (ret != 0)
		return fail(err, err_len, ret, path, "%s", strerror(-ret));
	if (listen(fd, BACKLOG) == 0 && lstat(path, made) == 0)
		return 0;
	ret = fail(err, err_len, -errno, path, "%s", strerror(errno));
	unlink(path);
	return ret;
}

int fm_listen(const char *path, struct stat *made, char *err, size_t err_len)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const size_t len = strlen(path);
	int fd, lock, ret;

	if (len == 0 || len > FM_SOCKET_PATH_MAX)
		return fail(err, err_len, -ENAMETOOLONG, path, "its name must have 1..%d bytes, and has %zu",
			    FM_SOCKET_PATH_MAX, len);
	memcpy(address.sun_path, path, len);
	lock = lock_folder(path, err, err_len);
	if (lock < 0)
		return lock;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		ret = fail(err, err_len, -errno, path, "%s", strerror(errno));
	else
		ret = bind_and_listen(fd, &address, made, err, err_len);
	close(lock);
	if (ret == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return ret;
}

void fm_listen_remove(const char *path, const struct stat *made)
{
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == made->st_dev && st.st_ino == made->st_ino)
		unlink(path);
}
