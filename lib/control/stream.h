/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a command leaves behind that goes on when it is done: a screen that is redrawn as time passes and gets keys in
 * place of lines. A handler may put one into shell->stream where shell->can_stream is set; who owns the shell shows it
 * until it is left, and closes it.
 */
#ifndef FM_STREAM_H
#define FM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fm_stream {
	void *arg;
	/*
	 * What is to be written now, in one piece, which stays valid until the next call.
	 *
	 * @return its length; 0: nothing, not due yet; -errno: it cannot go on
	 */
	int (*frame)(void *arg, uint64_t now_ns, const char **text);
	/* A typed byte. */
	void (*key)(void *arg, char c, uint64_t now_ns);
	/* Was it left? Asked after each key and several times a second. */
	bool (*left)(void *arg, uint64_t now_ns);
	/* The size of the terminal, in characters; told before the first frame and when it changes. */
	void (*size)(void *arg, unsigned int columns, unsigned int rows);
	/* Frees arg. */
	void (*close)(void *arg);
	/* What a terminal gets before the first frame and after the last one. */
	const char *enter, *leave;
	/* Of who shows it: what the terminal has not taken yet. */
	const char *rest;
	size_t rest_len;
};

#endif
