/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file in place of a TX queue: takes frames of any length in any number of segments, which the net_pcap
 * driver does not. For offline runs with one worker only: it is the exception to "no system call in the loop".
 */
#ifndef FM_SINK_H
#define FM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_mbuf;
struct fm_sink;

enum { FM_SINK_FRAME_MAX = 262144 };

/*
 * Create `path`, or cut it to nothing.
 *
 * @param path  must stay valid
 * @return      0 or -errno
 */
int fm_sink_open(struct fm_sink **sink, const char *path, char *err, size_t err_len);

/*
 * Write one frame; the mbuf stays the caller's.
 *
 * @param time_us  when, since 1970; 0: now
 * @return         false: not written, and nothing will be from now on; fm_sink_close() says why
 */
bool fm_sink_write(struct fm_sink *sink, const struct rte_mbuf *m, uint64_t time_us);

/* Write out and free; `sink` may be NULL. Returns 0, or -errno if something could not be written. */
int fm_sink_close(struct fm_sink *sink, char *err, size_t err_len);

#endif
