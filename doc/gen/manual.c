/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manual PAGE.scd [LIBRARY.md HEADER...]: print a manual page for scdoc. Of the page's lines, these are replaced:
 *
 *	@options@	the table of options
 *	@commands@	the table of commands, by group
 *	@outcomes@	the table of outcomes
 *	@synopsis@	what the headers declare
 *	@calls@		each function of the headers, with its comment
 *	@example@	the first C program in LIBRARY.md
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "manual.h"
#include "options.h"
#include "syntax.h"

static const char *library;
static char **headers;	/* up to a NULL */

void fm_manual_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len && text[i] != '\0'; i++)
		printf("%s%c", strchr("\\_*`#;|<>+[]{}", text[i]) != NULL ? "\\" : "", text[i]);
}

static void print_head(const char *text)
{
	printf("*");
	fm_manual_plain(text, strlen(text));
	printf("*");
}

static void print_body(const char *text)
{
	printf("\n\t");
	fm_manual_plain(text, strlen(text));
}

static int print_options(void)
{
	struct fm_option_view o;
	char head[128];

	for (unsigned int i = 0; fm_options_view(i, &o); i++) {
		if (o.letter != '\0') {
			snprintf(head, sizeof(head), "-%c", o.letter);
			print_head(head);
			printf(", ");
		}
		snprintf(head, sizeof(head), "--%s", o.name);
		print_head(head);
		if (o.arg != NULL) {
			printf(" ");
			fm_manual_plain(o.arg, strlen(o.arg));
		}
		print_body(o.text);
		printf("\n\n");
	}
	return 0;
}

/* What a word of the syntax stands for, as a sentence; "": the command's own sentence has said it. */
static void explain(const struct fm_command *command, const struct fm_word *word, char *text, size_t len)
{
	const bool parameter = fm_word_is_parameter(word);
	const struct fm_parameter *p = parameter ? fm_parameter_find(word->text, word->len) : NULL;
	const char *about = parameter ? p->text : fm_keyword_text(command, word->text, word->len);

	snprintf(text, len, "%s", about == NULL ? "" : about);
	if (p != NULL && p->max > 0)
		fm_text_add(text, len, " %" PRIu64 "..%" PRIu64 ".", p->min, p->max);
}

static void print_words(const struct fm_command *command)
{
	struct fm_word word;
	char text[320];

	for (unsigned int i = 0; fm_syntax_explain(command, i, &word); i++) {
		explain(command, &word, text, sizeof(text));
		printf("\t- ");
		fm_manual_plain(word.text, (size_t)word.len);
		if (text[0] != '\0')
			printf(": ");
		fm_manual_plain(text, sizeof(text));
		printf("\n");
	}
}

static void print_command(const struct fm_command *command)
{
	const struct fm_setting *setting = command->setting;
	struct fm_word word;
	char range[160];

	print_head(command->syntax);
	print_body(command->text);
	if (setting != NULL && (setting->kind == FM_KIND_NUMBER || setting->kind == FM_KIND_BUDGET)) {
		fm_setting_range(setting, range, sizeof(range));
		printf(" ");
		fm_manual_plain(range, sizeof(range));
		printf(".\n");
	} else if (fm_syntax_explain(command, 0, &word)) {
		printf("\n\n");
		print_words(command);
	} else {
		printf("\n");
	}
	printf("\n");
}

static int print_commands(void)
{
	for (unsigned int group = 0; group < FM_GROUPS; group++) {
		printf("## %s\n\n", fm_group_title[group]);
		for (unsigned int c = 0; c < fm_commands; c++)
			if (fm_command[c].group == group)
				print_command(&fm_command[c]);
	}
	return 0;
}

static int print_outcomes(void)
{
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		print_head(fm_outcome_info[i].name);
		print_body(fm_outcome_info[i].text);
		printf("\n\n");
	}
	return 0;
}

/* In a block as it is, a backslash still means something to scdoc, and a tab is wider than the page likes. */
static void print_code(const char *line)
{
	for (; *line != '\0'; line++) {
		if (*line == '\t')
			printf("    ");
		else
			printf("%s%c", *line == '\\' ? "\\" : "", *line);
	}
}

static int print_example(void)
{
	FILE *in = library == NULL ? NULL : fopen(library, "r");
	char line[1024];
	bool inside = false;

	if (in == NULL)
		return -1;
	while (fgets(line, sizeof(line), in) != NULL && !(inside && strncmp(line, "```", 3) == 0)) {
		if (inside) {
			print_code(line);
		} else if (strcmp(line, "```c\n") == 0) {
			printf("```\n");
			inside = true;
		}
	}
	fclose(in);
	printf("```\n");
	return inside ? 0 : -1;
}

/* Each header must have functions. */
static int print_headers(int (*print)(const char *header))
{
	for (char **header = headers; *header != NULL; header++)
		if (print(*header) <= 0)
			return -1;
	return 0;
}

static int print_synopsis(void)
{
	return print_headers(fm_manual_synopsis);
}

static int print_calls(void)
{
	return print_headers(fm_manual_calls);
}

static int print_line(const char *line)
{
	static const struct {
		const char *line;
		int (*print)(void);
	} parts[] = {
		{ "@options@\n", print_options },
		{ "@commands@\n", print_commands },
		{ "@outcomes@\n", print_outcomes },
		{ "@synopsis@\n", print_synopsis },
		{ "@calls@\n", print_calls },
		{ "@example@\n", print_example },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(line, parts[i].line) == 0)
			return parts[i].print();
	return fputs(line, stdout) < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	FILE *page = argc < 2 ? NULL : fopen(argv[1], "r");
	char line[1024];

	if (page == NULL) {
		fprintf(stderr, "usage: manual PAGE.scd [LIBRARY.md HEADER...]\n");
		return 2;
	}
	library = argv[2];
	headers = argc < 4 ? argv + argc : argv + 3;
	while (fgets(line, sizeof(line), page) != NULL) {
		if (print_line(line) != 0) {
			fprintf(stderr, "manual: %s: no text for %s", argv[1], line);
			return 1;
		}
	}
	fclose(page);
	return fflush(stdout) == 0 ? 0 : 1;
}
