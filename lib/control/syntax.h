/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Syntax lines, cut into slots, and how far some words have gone through one.
 */
#ifndef FM_SYNTAX_H
#define FM_SYNTAX_H

#include "command.h"
#include "word.h"

/* One place in a syntax line. */
struct fm_slot {
	struct fm_word words;	/* with alternatives */
	unsigned int skip;	/* 0, or the slot behind the brackets that begin here */
};

/* How far a command has been matched. */
struct fm_cursor {
	const struct fm_command *command;
	unsigned int n_slots;
	unsigned int at;	/* next slot; n_slots: nothing may follow */
	struct fm_slot slot[FM_WORDS_MAX];
};

void fm_cursor_start(struct fm_cursor *cursor, const struct fm_command *command);

/*
 * Match one typed word and step on.
 *
 * @param found  set to the alternative that it matched
 * @return       false: it does not match; *cursor is unchanged
 */
bool fm_cursor_step(struct fm_cursor *cursor, const char *text, struct fm_word *found);

/* May the command end here? */
bool fm_cursor_at_end(const struct fm_cursor *cursor);

/*
 * The i-th alternative that can stand here, those behind brackets included.
 *
 * @param single  set to: it is the only keyword of its slot, and the slot is not in brackets
 */
bool fm_cursor_next(const struct fm_cursor *cursor, unsigned int i, struct fm_word *word, bool *single);

/*
 * The i-th word of a syntax line that needs to be explained: a parameter, or a keyword that is one of several or can be
 * left out. False: there are no more.
 */
bool fm_syntax_explain(const struct fm_command *command, unsigned int i, struct fm_word *word);

/* Is it a word in capitals? Those of a command with a setting stand for values of the setting. */
bool fm_word_is_parameter(const struct fm_word *word);

#endif
