/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream on this program's own terminal. For the console, which reads the keys and owns the terminal's mode.
 */
#ifndef FM_STREAM_TERMINAL_H
#define FM_STREAM_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "stream.h"

enum { FM_STREAM_TURN_MS = 50 };

/* Are stdin and stdout a terminal that can place its cursor (TERM)? */
bool fm_stream_terminal_able(void);

/* Does nobody mind colours (NO_COLOR)? */
bool fm_stream_terminal_colour(void);

/* Keep what is on the terminal and begin. */
void fm_stream_terminal_enter(const struct fm_stream *stream);

/*
 * Write a frame if one is due, in the size that the terminal has now, unless the terminal takes nothing. Call it every
 * FM_STREAM_TURN_MS, and after keys.
 *
 * @param stop  as of the loop (loop.h), may be NULL: a frame that the terminal does not take is given up then
 * @return      false: the stream has been left, or cannot go on
 */
bool fm_stream_terminal_turn(const struct fm_stream *stream, uint64_t now_ns, const volatile sig_atomic_t *stop);

/* Let the terminal be as it was, and close the stream: no frame() afterwards. Does nothing if there is none. */
void fm_stream_terminal_leave(struct fm_stream *stream);

#endif
