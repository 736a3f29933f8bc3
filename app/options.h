/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line behind `--`. Needs no EAL. */
#ifndef FM_OPTIONS_H
#define FM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config.h"

struct fm_options {
	struct fm_config config;
	bool interactive, auto_start;
	const char *cmdline_file;	/* NULL: none */
	const char *console_socket;	/* NULL: none */
	uint32_t stats_period_s;	/* 0: none */
	uint32_t exit_on_idle_ms;	/* 0: never */
	bool log_prefix, keep_privileges, pdump;
	bool live;			/* interactive and auto_start, too */
	bool help, version;
};

/*
 * Read the options.
 *
 * @param argc, argv  as main() gets them: argv[0] is skipped; strings must stay valid, their order may change
 * @param options     filled; defaults where nothing was said
 * @return            0; -EINVAL: `err` says in one sentence what is wrong, its range and what was given
 */
int fm_options_parse(int argc, char **argv, struct fm_options *options, char *err, size_t err_len);

/* An option, as help, manual page and completion show it. */
struct fm_option_view {
	const char *name;
	char letter;		/* short form; 0: none */
	const char *arg;	/* name of its argument; NULL: takes none */
	char values[160];	/* the words it takes, parted by '|'; "": others */
	char text[512];		/* what it does, its range, its default */
};

/* The i-th option of the table; false: there are no more. Any thread. */
bool fm_options_view(unsigned int i, struct fm_option_view *view);

/* Print what there is, made from the table of options. */
void fm_options_help(FILE *out);

#endif
