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
