/* SPDX-License-Identifier: BSD-3-Clause */
/* A pcapng file that grows at its end; one thread at a time. */
#ifndef FM_CAPTURE_FILE_H
#define FM_CAPTURE_FILE_H

#include <stdint.h>

struct rte_mbuf;
struct fm_capture_file;

/*
 * Make a file that must not be there yet, for its owner's eyes only, and nothing in it.
 *
 * @param file  set to it; freed by fm_capture_file_close()
 * @return      0; -EEXIST: it is there; -errno
 */
int fm_capture_file_create(struct fm_capture_file **file, const char *path);

/* The same, on an open descriptor, which is taken. */
int fm_capture_file_on(struct fm_capture_file **file, int fd);

/*
 * Write the header: who wrote it and the interfaces, by the numbers of the ports. Asks each port for its link, for
 * which some drivers wait seconds.
 *
 * @param comment  what is captured
 * @return         0 or -errno
 */
int fm_capture_file_begin(struct fm_capture_file *file, const char *comment);

/*
 * Write blocks of fm_pcapng_copy(); they stay the caller's. If it fails, the file ends behind the last call that did
 * not, so that it can be read.
 *
 * @return 0 or -errno
 */
int fm_capture_file_write(struct fm_capture_file *file, struct rte_mbuf **block, uint16_t n);

/* Bytes written so far, without what was cut off. */
uint64_t fm_capture_file_bytes(const struct fm_capture_file *file);

/* See to it that it is on the disk, close it and free `file`, which may be NULL. Returns 0 or -errno. */
int fm_capture_file_close(struct fm_capture_file *file);

#endif
