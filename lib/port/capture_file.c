/* SPDX-License-Identifier: BSD-3-Clause */
#include "fm_pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_errno.h>

#include "capture_file.h"

struct fm_capture_file {
	int fd;
	rte_pcapng_t *pcapng;		/* NULL: not begun */
	uint64_t bytes;			/* of whole blocks */
};

int fm_capture_file_on(struct fm_capture_file **file, int fd)
{
	*file = calloc(1, sizeof(**file));
	if (*file == NULL) {
		close(fd);
		return -ENOMEM;
	}
	(*file)->fd = fd;
	return 0;
}

int fm_capture_file_create(struct fm_capture_file **file, const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

	*file = NULL;
	return fd < 0 ? -errno : fm_capture_file_on(file, fd);
}

/* What rte_pcapng left: it keeps the reason in one of the two, or in none. */
static int reason(void)
{
	return errno != 0 ? -errno : rte_errno != 0 ? -rte_errno : -EIO;
}

/* Cut off what was not written as a whole. What is no regular file cannot be cut, and need not be. */
static int give_up(struct fm_capture_file *file, int code)
{
	if (ftruncate(file->fd, (off_t)file->bytes) == 0)
		lseek(file->fd, 0, SEEK_END);
	return code;
}

int fm_capture_file_begin(struct fm_capture_file *file, const char *comment)
{
	const int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
	off_t at;

	if (fd < 0)
		return -errno;
	errno = rte_errno = 0;
	file->pcapng = fm_pcapng_open(fd, "fragmend " FM_VERSION, comment);
	if (file->pcapng == NULL)
		return give_up(file, reason());
	at = lseek(file->fd, 0, SEEK_CUR);
	if (at > 0)
		file->bytes = (uint64_t)at;
	return 0;
}

int fm_capture_file_write(struct fm_capture_file *file, struct rte_mbuf **block, uint16_t n)
{
	uint64_t bytes = 0;
	ssize_t written;

	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		bytes += rte_pktmbuf_pkt_len(block[i]);
	errno = rte_errno = 0;
	written = rte_pcapng_write_packets(file->pcapng, block, n);
	if (written < 0)
		return give_up(file, reason());
	/* Less than all: there is no room for more. */
	if ((uint64_t)written != bytes)
		return give_up(file, -ENOSPC);
	file->bytes += bytes;
	return 0;
}

uint64_t fm_capture_file_bytes(const struct fm_capture_file *file)
{
	return file->bytes;
}

int fm_capture_file_close(struct fm_capture_file *file)
{
	int code = 0;

	if (file == NULL)
		return 0;
	/* EINVAL: what it is has no disk. */
	if (fsync(file->fd) != 0 && errno != EINVAL)
		code = -errno;
	if (file->pcapng != NULL)
		rte_pcapng_close(file->pcapng);
	if (close(file->fd) != 0 && code == 0)
		code = -errno;
	free(file);
	return code;
}
