/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * help and version
 */
#include <errno.h>
#include <string.h>

#include <rte_version.h>

#include "handlers.h"
#include "print.h"
#include "syntax.h"

enum { INDENT = 2, HELP_COLUMN = 36, WORD_COLUMN = 26 };

/* Left text, then the sentence in its column; on a line of its own if the left text is too long. */
static void print_pair(FILE *out, int indent, int column, const char *left, int left_len, const char *text)
{
	int at = fprintf(out, "%*s%.*s", indent, "", left_len, left);

	if (at + 2 > column)
		fprintf(out, "\n%*s", column, "");
	else
		fprintf(out, "%*s", column - at, "");
	fm_print_wrapped(out, text, column, column);
}

static void print_all(FILE *out)
{
	for (unsigned int group = 0; group < FM_GROUPS; group++) {
		fprintf(out, "%s%s\n", group > 0 ? "\n" : "", fm_group_title[group]);
		for (unsigned int c = 0; c < fm_commands; c++)
			if (fm_command[c].group == group)
				print_pair(out, INDENT, HELP_COLUMN, fm_command[c].syntax, FM_LINE_MAX,
					   fm_command[c].text);
	}
}

/* One word of a syntax line that needs to be explained. */
static void print_word(FILE *out, const struct fm_command *command, const struct fm_word *word)
{
	const struct fm_parameter *parameter;
	char range[256], text[512];
	const char *about;

	if (fm_word_is_parameter(word)) {
		parameter = fm_parameter_find(word->text, word->len);
		fm_parameter_range(parameter, range, sizeof(range));
		snprintf(text, sizeof(text), "%s%s%s%s", parameter->text, *range ? " (" : "", range, *range ? ")" : "");
		about = text;
	} else {
		about = fm_keyword_text(command, word->text, word->len);
	}
	if (about != NULL)
		print_pair(out, 2 * INDENT, WORD_COLUMN, word->text, word->len, about);
}

static void print_command(FILE *out, const struct fm_command *command)
{
	const struct fm_setting *setting = command->setting;
	struct fm_word word;
	char range[160];

	fprintf(out, "%s\n%*s", command->syntax, INDENT, "");
	fm_print_wrapped(out, command->text, INDENT, INDENT);
	if (setting != NULL && setting->kind != FM_KIND_CHOICE && setting->kind != FM_KIND_SWITCH) {
		fm_setting_range(setting, range, sizeof(range));
		print_pair(out, 2 * INDENT, WORD_COLUMN, setting->values, FM_LINE_MAX, range);
		return;
	}
	for (unsigned int i = 0; fm_syntax_explain(command, i, &word); i++)
		print_word(out, command, &word);
}

static bool has_word(const struct fm_command *command, const char *topic)
{
	const char *at = command->syntax;
	struct fm_word word;

	while (fm_word_next(&at, " |[]", &word))
		if (fm_word_is(&word, topic))
			return true;
	return false;
}

int fm_do_help(struct fm_shell *shell, const struct fm_args *args)
{
	const char *topic = fm_args_text(args, "TOPIC");
	bool found = false;

	if (topic == NULL) {
		print_all(shell->out);
		return 0;
	}
	for (unsigned int c = 0; c < fm_commands; c++) {
		if (!has_word(&fm_command[c], topic))
			continue;
		if (found)
			fputc('\n', shell->out);
		print_command(shell->out, &fm_command[c]);
		found = true;
	}
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		if (strcmp(fm_outcome_info[i].name, topic) != 0)
			continue;
		fprintf(shell->out, "%s%s\n%*s", found ? "\n" : "", topic, INDENT, "");
		fm_print_wrapped(shell->out, fm_outcome_info[i].text, INDENT, INDENT);
		found = true;
	}
	if (found)
		return 0;
	return fm_shell_fail(shell, -ENOENT, "no command has the word \"%s\", and no outcome that name (see help)",
			     topic);
}

int fm_do_version(struct fm_shell *shell, const struct fm_args *args)
{
	if (fm_args_has(args, "json"))
		fprintf(shell->out, "{\"version\": \"%s\", \"dpdk\": \"%s\"}\n", FM_VERSION, rte_version());
	else
		fprintf(shell->out, "fragmend %s, %s\n", FM_VERSION, rte_version());
	return 0;
}
