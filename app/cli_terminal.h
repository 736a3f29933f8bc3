/* SPDX-License-Identifier: BSD-3-Clause */
/* The client on a terminal. */
#ifndef FM_CLI_TERMINAL_H
#define FM_CLI_TERMINAL_H

#include <stdbool.h>

#include "cli_link.h"

/* Are stdin and stdout a terminal that can place its cursor? */
bool fm_terminal_able(void);

/* Signals that end things become something that a wait of `link` notices. Before any of the functions below. */
void fm_terminal_catch_signals(struct fm_cli_link *link);

/* Tell the program how large the terminal is. @return 0; -errno: the other end is gone */
int fm_terminal_tell_size(struct fm_cli_link *link);

/*
 * Show what fills the screen, pass on the keys, until it is left.
 *
 * @return 0: answer is how it ended; -errno
 */
int fm_terminal_screen(struct fm_cli_link *link, struct fm_answer *answer);

/*
 * A prompt with history and completion.
 *
 * @param run  runs a line; 0; 1: it ended the session; -errno: the other end is gone
 * @return     0: left; -errno: the other end is gone, and what it said last is still to be received; or a signal
 *             that ends (-EINTR)
 */
int fm_terminal_prompt(struct fm_cli_link *link, int (*run)(struct fm_cli_link *link, const char *text));

#endif
