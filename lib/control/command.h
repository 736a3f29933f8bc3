/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands: the table, and what is made from it: the parser, completion, help and the reference page.
 *
 * A command is described by one syntax line, in the form in which people read it:
 *
 *	show port info|stats all|PORT
 *	show reassembly datagrams [top N]
 *
 * Words in small letters stand for themselves, words in capitals are parameters (see fm_parameter_find()), '|' parts
 * alternatives, and brackets hold what may be left out. Brackets hold whole words and do not nest.
 */
#ifndef FM_COMMAND_H
#define FM_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "setting.h"
#include "stream.h"

enum {
	FM_LINE_MAX = 512,	/* bytes of a command line, what rte_cmdline's line editor holds */
	FM_WORDS_MAX = 12,	/* words of a command */
};

enum fm_group {
	FM_GROUP_FORWARDING,
	FM_GROUP_SHOW,
	FM_GROUP_SET,
	FM_GROUP_COUNTERS,
	FM_GROUP_CAPTURE,
	FM_GROUP_PROGRAM,
	FM_GROUPS,
};

/* Where commands come from and where their output goes. */
struct fm_shell {
	FILE *out;
	char err[FM_SENTENCE_LEN];	/* why the last command failed */
	bool quit;			/* the program is to end */
	bool session;			/* it is one of the console socket */
	bool leave;			/* that session is to end */
	bool serving;			/* others wait while a command runs, so it may wait for nobody */
	bool can_stream;		/* `out` ends on a screen that a command may fill for longer, by `stream` */
	bool colour;			/* which may be coloured */
	struct fm_stream stream;
	unsigned int depth;		/* command files that are open now */
};

/* A parsed command line. */
struct fm_args {
	const struct fm_command *command;
	unsigned int n;
	struct fm_arg {
		const char *slot;	/* the keyword or the parameter's name, as in the syntax line; not terminated */
		int slot_len;
		const char *text;	/* what was typed, in `line` */
	} arg[FM_WORDS_MAX];
	char line[FM_LINE_MAX];
};

struct fm_command {
	const char *syntax;
	const char *text;			/* one sentence */
	/* 0 or -errno with a sentence in shell->err. */
	int (*run)(struct fm_shell *shell, const struct fm_args *args);
	enum fm_group group;
	const struct fm_setting *setting;	/* NULL, or what the last word is a value of */
};

/* What may stand in the place of a word in capitals. */
struct fm_parameter {
	const char *name;
	const char *text;	/* one sentence */
	uint64_t min, max;	/* a number, unless max is 0 */
	/* If not NULL: write the i-th of the possible values and what it is; false: there are no more. */
	bool (*choice)(unsigned int i, char *word, size_t word_len, char *text, size_t text_len);
	bool open;		/* other values than those are accepted, too, and left to the command */
};

/* One line of what may come next. */
struct fm_completion {
	char word[64];		/* to be completed, or what stands for it in a syntax line */
	char text[256];		/* help */
	bool literal;		/* `word` can be typed as it is */
};

extern const struct fm_command fm_command[];
extern const unsigned int fm_commands;
extern const char *const fm_group_title[FM_GROUPS];

/* The parameter of that name, or NULL. */
const struct fm_parameter *fm_parameter_find(const char *name, int len);
/* The i-th parameter, or NULL. */
const struct fm_parameter *fm_parameter_at(unsigned int i);
/* What its values may be, for people: "1..1000", "0, 1", or "" for any text. */
void fm_parameter_range(const struct fm_parameter *parameter, char *buf, size_t len);

/* Help for a keyword of `command` that stands in several commands or as an alternative; NULL: there is none. */
const char *fm_keyword_text(const struct fm_command *command, const char *word, int len);

/*
 * Parse a line. What follows a '#' at the start of a word is a comment.
 *
 * @return 0; -ENOENT: nothing but blanks and comment; -EINVAL: not a command, `err` holds one sentence
 */
int fm_command_parse(const char *line, struct fm_args *args, char *err, size_t err_len);

/*
 * Parse and run a line.
 *
 * @return 0 (also for an empty line); -errno: shell->err says why
 */
int fm_command_run(struct fm_shell *shell, const char *line);

/*
 * What can come next, where a line is cut off: words that complete its last one or, behind a blank, those that follow.
 *
 * @return how many were written to `items`
 */
unsigned int fm_command_complete(const char *line, struct fm_completion *items, unsigned int max);

/* Was that keyword given? */
bool fm_args_has(const struct fm_args *args, const char *keyword);
/* The text given for a parameter, or NULL. */
const char *fm_args_text(const struct fm_args *args, const char *parameter);
/* The number given for a parameter, or `otherwise`. */
uint64_t fm_args_number(const struct fm_args *args, const char *parameter, uint64_t otherwise);

/* Set shell->err; returns `ret`, so that a handler can end with it. */
int fm_shell_fail(struct fm_shell *shell, int ret, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * Run the lines of a file; shell->err gets "file:line: sentence".
 *
 * @return 0, also after `quit` (see shell->quit); -ELOOP: too many files open in each other; -errno
 */
int fm_script_run(struct fm_shell *shell, const char *path);

#endif
