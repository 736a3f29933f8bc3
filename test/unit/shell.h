/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of commands: a fake door, a shell that prints to memory, and an empty directory.
 */
#ifndef FM_TEST_SHELL_H
#define FM_TEST_SHELL_H

#include <stddef.h>

#include "command.h"

struct shell_fixture {
	char dir[32], file[64], other[64];	/* the files need not exist, and are removed at the end */
	char *text;				/* what the last command printed */
	size_t len;
	struct fm_shell shell;
};

/* For cmocka: *state becomes a struct shell_fixture. The end fails if a file was left in the directory. */
int shell_setup(void **state);
int shell_teardown(void **state);

/* Run a line. Checks that there is a sentence if, and only if, it failed. */
int shell_run(struct shell_fixture *f, const char *line);

#endif
