/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream on this program's own terminal. For the console, which reads the keys and owns the terminal's mode.
 */
#ifndef FM_STREAM_TERMINAL_H
#define FM_STREAM_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

enum { FM_STREAM_TURN_MS = 50, FM_STREAM_PATIENCE_MS = 1000 };

/* Are stdin and stdout a terminal that can place its cursor (TERM)? */
bool fm_stream_terminal_able(void);

/* Does nobody mind colours (NO_COLOR)? */
bool fm_stream_terminal_colour(void);

/* Keep what is on the terminal and begin. */
void fm_stream_terminal_enter(struct fm_stream *stream);

/*
 * Write a frame if one is due, in the size that the terminal has now, unless the terminal takes nothing. It never waits
 * for the terminal: what is not taken is left for the next turn. Call it every FM_STREAM_TURN_MS, and after keys.
 *
 * @return  false: the stream has been left, or cannot go on
 */
bool fm_stream_terminal_turn(struct fm_stream *stream, uint64_t now_ns);

/* Let the terminal be as it was, and close the stream: no frame() afterwards. Does nothing if there is none. */
void fm_stream_terminal_leave(struct fm_stream *stream);

/*
 * Write to the terminal on stdout, past stdio, but do not wait for one that takes nothing for FM_STREAM_PATIENCE_MS.
 *
 * @return  all was taken
 */
bool fm_stream_terminal_say(const char *text, size_t len);

#endif
