/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line editor of the console: rte_cmdline's, with completion by a function of the caller.
 *
 * rte_cmdline's own parser is not used: it lists a word once for each command that has it, and says "Bad arguments" to
 * everything else. What rte_cmdline marks as experimental is used in line.c and nowhere else.
 */
#ifndef FM_LINE_H
#define FM_LINE_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

struct fm_line;

/*
 * @param entered  called with each line, without its end; false: there is to be no other
 * @param find     completes, as fm_command_complete()
 * @return         NULL: no memory
 */
struct fm_line *fm_line_open(FILE *out, const char *prompt, bool (*entered)(void *arg, const char *text),
			     unsigned int (*find)(void *arg, const char *text, struct fm_completion *items,
						      unsigned int max),
			     void *arg);

/* One typed character. @return false: the end, by `entered` or by Ctrl-D on an empty line */
bool fm_line_type(struct fm_line *line, char c);

/* Take the prompt and what is typed off the screen, and put it back, for output in between. */
void fm_line_hide(struct fm_line *line);
void fm_line_show(struct fm_line *line);

void fm_line_close(struct fm_line *line);

#endif
