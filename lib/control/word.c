/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "word.h"

bool fm_word_next(const char **at, const char *separators, struct fm_word *word)
{
	word->text = *at + strspn(*at, separators);
	word->len = (int)strcspn(word->text, separators);
	*at = word->text + word->len;
	return word->len > 0;
}

bool fm_word_is(const struct fm_word *word, const char *text)
{
	return strncmp(word->text, text, word->len) == 0 && text[word->len] == '\0';
}

bool fm_word_begins(const struct fm_word *word, const char *text)
{
	size_t len = strlen(text);

	return len <= (size_t)word->len && strncmp(word->text, text, len) == 0;
}

enum { COMPARED_MAX = 40 };	/* longer words are not looked at */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Edits from one to the other, neighbours that changed places being one; `len` is COMPARED_MAX at most. */
static unsigned int distance(const char *a, int a_len, const char *b, int b_len)
{
	unsigned int row[3][COMPARED_MAX + 1];	/* of i - 2, i - 1 and i, in turn */

	for (int j = 0; j <= b_len; j++)
		row[0][j] = (unsigned int)j;
	for (int i = 1; i <= a_len; i++) {
		unsigned int *now = row[i % 3], *before = row[(i + 2) % 3];

		now[0] = (unsigned int)i;
		for (int j = 1; j <= b_len; j++) {
			now[j] = least(before[j - 1] + (a[i - 1] != b[j - 1]), least(before[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
		}
	}
	return row[a_len % 3][b_len];
}

unsigned int fm_word_slips(const struct fm_word *word, const char *text)
{
	const size_t len = strlen(text);
	unsigned int slips;

	if (len > COMPARED_MAX || word->len > COMPARED_MAX)
		return FM_SLIPS_MAX + 1;
	if (len > 1 && len < (size_t)word->len && fm_word_begins(word, text))
		return 1;
	slips = distance(text, (int)len, word->text, word->len);
	/* Of a short word little is left then. */
	return slips > FM_SLIPS_MAX || (slips > 0 && (size_t)slips * 3 > len) ? FM_SLIPS_MAX + 1 : slips;
}

void fm_text_add(char *buf, size_t len, const char *format, ...)
{
	size_t used = strnlen(buf, len);
	va_list args;

	if (used >= len)
		return;
	va_start(args, format);
	vsnprintf(buf + used, len - used, format, args);
	va_end(args);
}

void fm_word_list(const char *list, const char *separators, char *buf, size_t len)
{
	struct fm_word word, next;
	const char *glue = "";

	buf[0] = '\0';
	for (bool more = fm_word_next(&list, separators, &word); more; word = next) {
		fm_text_add(buf, len, "%s%.*s", glue, word.len, word.text);
		more = fm_word_next(&list, separators, &next);
		glue = list[strspn(list, separators)] != '\0' ? ", " : " or ";
	}
}
