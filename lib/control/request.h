/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What clients of the console socket and the program say to each other; doc/design/0018-console-socket.md tells why.
 *
 * A line is a command, and its answer is what the terminal would show: good for people with socat. A line that begins
 * with FM_REQUEST_MARK is a framed request: a letter, a blank, and a text. Its answer is text, then FM_ANSWER_MARK,
 * then one line: "0"; FM_ANSWER_LEFT if it ends the session; or an error number, a blank and a sentence. Text never has
 * FM_ANSWER_MARK in it. FM_REQUEST_MARK begins a request wherever it comes, and what stood before it in its line is
 * dropped.
 *
 * r COMMAND       run it. If it fills a screen, the line behind FM_ANSWER_MARK is FM_ANSWER_SCREEN first: up to the
 *                 next FM_ANSWER_MARK come bytes for the terminal, and bytes other than framed requests are keys.
 * c BEGINNING     complete it: one line for each item, 'L' (it can be typed as it is) or 'P' (it stands for something),
 *                 the word, a TAB, the help.
 * s COLUMNS ROWS  the size of the terminal, 0 0 for none; the only request without an answer.
 */
#ifndef FM_REQUEST_H
#define FM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "command.h"

#define FM_REQUEST_MARK '\001'
#define FM_ANSWER_MARK '\0'
#define FM_ANSWER_SCREEN "screen"
#define FM_ANSWER_LEFT "0 left"

enum fm_request_kind {
	FM_REQUEST_LINE,	/* not framed */
	FM_REQUEST_RUN = 'r',
	FM_REQUEST_COMPLETE = 'c',
	FM_REQUEST_SIZE = 's',
};

/* Puts lines together. All zero: nothing has come. */
struct fm_request {
	size_t used;
	bool framed;
	/* A framed request has its letter and a blank in front. One more than a command may have, so it is refused. */
	char text[2 + FM_LINE_MAX + 1];
};

/* A character that came. What is too long is cut, and a NUL becomes '?'. @return the line is complete */
bool fm_request_take(struct fm_request *request, char c);

/* Is there anything, complete or not? */
bool fm_request_begun(const struct fm_request *request);

/*
 * Of a line that is complete. The next one can be taken in afterwards.
 *
 * @param text  FM_LINE_MAX + 1 bytes, set to what is behind the letter
 * @return      an fm_request_kind; other letters as they came
 */
int fm_request_get(struct fm_request *request, char text[FM_LINE_MAX + 1]);

#endif
