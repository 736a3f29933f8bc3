/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "syntax.h"

void fm_cursor_start(struct fm_cursor *cursor, const struct fm_command *command)
{
	unsigned int open = FM_WORDS_MAX;
	const char *at = command->syntax;
	struct fm_word word;

	memset(cursor, 0, sizeof(*cursor));
	cursor->command = command;
	while (fm_word_next(&at, " ", &word)) {
		struct fm_slot *slot = &cursor->slot[cursor->n_slots];

		assert(cursor->n_slots < FM_WORDS_MAX);
		if (*word.text == '[') {
			open = cursor->n_slots;
			word.text++;
			word.len--;
		}
		cursor->n_slots++;
		if (word.text[word.len - 1] == ']') {
			assert(open < FM_WORDS_MAX);
			word.len--;
			cursor->slot[open].skip = cursor->n_slots;
		}
		slot->words = word;
	}
}

bool fm_word_is_parameter(const struct fm_word *word)
{
	return isupper((unsigned char)*word->text);
}

static bool parameter_accepts(const struct fm_word *name, const char *text)
{
	const struct fm_parameter *parameter = fm_parameter_find(name->text, name->len);
	char word[64], about[256];
	uint64_t number;

	assert(parameter != NULL);
	if (parameter->choice != NULL && !parameter->open) {
		for (unsigned int i = 0; parameter->choice(i, word, sizeof(word), about, sizeof(about)); i++)
			if (strcmp(word, text) == 0)
				return true;
		return false;
	}
	if (parameter->max == 0)
		return true;
	return fm_number_parse(text, &number) == 0 && number >= parameter->min && number <= parameter->max;
}

static bool word_accepts(const struct fm_command *command, const struct fm_word *word, const char *text)
{
	struct fm_setting_value value;

	if (!fm_word_is_parameter(word))
		return fm_word_is(word, text);
	if (command->setting != NULL)
		return fm_setting_parse(command->setting, text, &value, NULL, 0) == 0;
	return parameter_accepts(word, text);
}

bool fm_cursor_step(struct fm_cursor *cursor, const char *text, struct fm_word *found)
{
	for (unsigned int s = cursor->at; s < cursor->n_slots; s = cursor->slot[s].skip) {
		const struct fm_slot *slot = &cursor->slot[s];
		const char *at = slot->words.text;
		const char *end = at + slot->words.len;

		while (at < end && fm_word_next(&at, "| ]", found)) {
			if (word_accepts(cursor->command, found, text)) {
				cursor->at = s + 1;
				return true;
			}
		}
		if (slot->skip == 0)
			break;
	}
	return false;
}

bool fm_cursor_at_end(const struct fm_cursor *cursor)
{
	unsigned int s = cursor->at;

	while (s < cursor->n_slots && cursor->slot[s].skip != 0)
		s = cursor->slot[s].skip;
	return s == cursor->n_slots;
}

bool fm_cursor_next(const struct fm_cursor *cursor, unsigned int i, struct fm_word *word, bool *single)
{
	for (unsigned int s = cursor->at; s < cursor->n_slots; s = cursor->slot[s].skip) {
		const struct fm_slot *slot = &cursor->slot[s];
		const char *at = slot->words.text;
		const char *end = at + slot->words.len;

		while (at < end && fm_word_next(&at, "| ]", word)) {
			if (i-- == 0) {
				*single = slot->skip == 0 && word->len == slot->words.len;
				return true;
			}
		}
		if (slot->skip == 0)
			break;
	}
	return false;
}

bool fm_syntax_explain(const struct fm_command *command, unsigned int i, struct fm_word *word)
{
	struct fm_cursor cursor;

	fm_cursor_start(&cursor, command);
	for (unsigned int s = 0; s < cursor.n_slots; s++) {
		const char *at = cursor.slot[s].words.text;
		const char *end = at + cursor.slot[s].words.len;
		bool choice = memchr(at, '|', end - at) != NULL || cursor.slot[s].skip != 0;

		while (at < end && fm_word_next(&at, "| ]", word))
			if ((choice || fm_word_is_parameter(word)) && i-- == 0)
				return true;
	}
	return false;
}
