/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words in text: cutting lines and syntax strings apart, putting lists together. No state.
 */
#ifndef FM_WORD_H
#define FM_WORD_H

#include <stdbool.h>
#include <stddef.h>

struct fm_word {
	const char *text;	/* not terminated */
	int len;
};

/*
 * The next word of *at, which moves behind it. Words are parted by any number of the characters in `separators`.
 *
 * @return false: there is none
 */
bool fm_word_next(const char **at, const char *separators, struct fm_word *word);

bool fm_word_is(const struct fm_word *word, const char *text);
bool fm_word_begins(const struct fm_word *word, const char *text);

/*
 * Could somebody who typed `text` have meant this word? It begins so, or a letter or two are wrong, missing, too many
 * or in the place of their neighbour.
 *
 * @return the number of slips, 1..FM_SLIPS_MAX; 0: the word itself; FM_SLIPS_MAX + 1: hardly
 */
enum { FM_SLIPS_MAX = 2 };
unsigned int fm_word_slips(const struct fm_word *word, const char *text);

/*
 * Append to a terminated string in `buf`, as far as there is room.
 */
void fm_text_add(char *buf, size_t len, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Write the words of `list` as people say them: "a, b or c". */
void fm_word_list(const char *list, const char *separators, char *buf, size_t len);

#endif
