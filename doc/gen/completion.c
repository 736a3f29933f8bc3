/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion FUNCTIONS.bash: print what bash needs to complete fragmend, fragmend-pcap and fragmend-cli: the options,
 * the commands and the topics of `help` from their tables, then FUNCTIONS.bash, which works on them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "options.h"
#include "syntax.h"

/* The options for which `wanted` says so, as a list. */
static void print_names(const char *list, bool (*wanted)(const struct fm_option_view *o))
{
	struct fm_option_view o;

	printf("_fragmend_%s='", list);
	for (unsigned int i = 0; fm_options_view(i, &o); i++)
		if (wanted(&o))
			printf(" --%s", o.name);
	printf(" '\n");
}

static bool any(const struct fm_option_view *o)
{
	return o != NULL;
}

static bool takes_value(const struct fm_option_view *o)
{
	return o->arg != NULL;
}

static bool takes_file(const struct fm_option_view *o)
{
	return o->arg != NULL && (strstr(o->arg, "FILE") != NULL || strstr(o->arg, "PATH") != NULL);
}

static bool for_each_port(const struct fm_option_view *o)
{
	return o->arg != NULL && strncmp(o->arg, "PORT=", 5) == 0;
}

static void print_values(void)
{
	struct fm_option_view o;

	printf("_fragmend_values=(\n");
	for (unsigned int i = 0; fm_options_view(i, &o); i++)
		if (o.values[0] != '\0')
			printf("\t[--%s]='%s'\n", o.name, o.values);
	printf(")\n");
}

/* From slot `s` on: once without each pair of brackets, once with what is in it. Brackets do not nest. */
static void print_variants(const struct fm_cursor *cursor, unsigned int s, const char *before)
{
	unsigned int end;
	char line[FM_LINE_MAX];

	if (s == cursor->n_slots) {
		printf("\t'%s'\n", before);
		return;
	}
	end = s + 1;
	if (cursor->slot[s].skip != 0) {
		end = cursor->slot[s].skip;
		print_variants(cursor, end, before);
	}
	snprintf(line, sizeof(line), "%s", before);
	for (; s < end; s++)
		fm_text_add(line, sizeof(line), "%s%.*s", line[0] == '\0' ? "" : " ", cursor->slot[s].words.len,
			    cursor->slot[s].words.text);
	print_variants(cursor, end, line);
}

static void print_commands(void)
{
	struct fm_cursor cursor;

	printf("_fragmend_commands=(\n");
	for (unsigned int c = 0; c < fm_commands; c++) {
		fm_cursor_start(&cursor, &fm_command[c]);
		print_variants(&cursor, 0, "");
	}
	printf(")\n");
}

/* Words of commands, and names of outcomes. */
static void print_topics(void)
{
	struct fm_word word;

	printf("_fragmend_topics='");
	for (unsigned int c = 0; c < fm_commands; c++) {
		const char *at = fm_command[c].syntax;

		while (fm_word_next(&at, " |[]", &word))
			if (!fm_word_is_parameter(&word))
				printf(" %.*s", word.len, word.text);
	}
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		printf(" %s", fm_outcome_info[i].name);
	printf(" '\n");
}

int main(int argc, char **argv)
{
	FILE *functions = argc != 2 ? NULL : fopen(argv[1], "r");
	char line[512];

	if (functions == NULL) {
		fprintf(stderr, "usage: completion FUNCTIONS.bash\n");
		return 2;
	}
	printf("# Made from the tables of options, commands and outcomes; do not edit.\n"
	       "declare -gA _fragmend_values\n");
	print_names("options", any);
	print_names("with_value", takes_value);
	print_names("with_file", takes_file);
	print_names("by_port", for_each_port);
	print_values();
	print_commands();
	print_topics();
	while (fgets(line, sizeof(line), functions) != NULL)
		fputs(line, stdout);
	fclose(functions);
	return fflush(stdout) == 0 ? 0 : 1;
}
