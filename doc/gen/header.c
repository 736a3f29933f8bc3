/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions out of a header of the library: what is declared at the start of a line, and the comment right above it.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "manual.h"

enum { TEXT_LEN = 4096, COLUMNS = 72 };

/* A function that was found. */
struct call {
	char declaration[TEXT_LEN];	/* in one line */
	char comment[TEXT_LEN];		/* its lines, without stars */
	char name[64];
};

static void add_part(char *to, const char *text, size_t len)
{
	const size_t at = strlen(to);

	snprintf(to + at, TEXT_LEN - at, "%.*s", (int)len, text);
}

static void add(char *to, const char *text)
{
	add_part(to, text, strlen(text));
}

/* Add a line of code, with single blanks. */
static void add_code(char *to, const char *line)
{
	char one[2] = "";

	for (; *line != '\0'; line++) {
		one[0] = isspace((unsigned char)*line) ? ' ' : *line;
		if (one[0] != ' ' || (*to != '\0' && to[strlen(to) - 1] != ' '))
			add(to, one);
	}
}

/* A line of a comment without what makes it one; false: the comment ends here. */
static bool add_comment(char *to, const char *line)
{
	const char *end = strstr(line, "*/");
	size_t from = strspn(line, " /*");

	if (strncmp(line, " *\t", 3) == 0)
		from = 2;
	if (end == NULL)
		add(to, line + from);
	else if (line + from < end)
		add_part(to, line + from, (size_t)(end - line) - from);
	return end == NULL;
}

/* The name of the function in front of the first bracket; false: none of the library. */
static bool find_name(struct call *call)
{
	const char *bracket = strchr(call->declaration, '(');
	const char *at = bracket;

	while (at != NULL && at > call->declaration && (isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		at--;
	if (at == NULL || strncmp(at, "fm_", 3) != 0)
		return false;
	snprintf(call->name, sizeof(call->name), "%.*s", (int)(bracket - at), at);
	return true;
}

/* The next function of the header; false: there are no more. */
static bool next_call(FILE *in, struct call *call)
{
	char line[1024];
	bool comment = false;

	memset(call, 0, sizeof(*call));
	while (fgets(line, sizeof(line), in) != NULL) {
		if (strncmp(line, "/*", 2) == 0) {
			call->comment[0] = '\0';
			comment = true;
		}
		if (comment) {
			comment = add_comment(call->comment, line);
		} else if (islower((unsigned char)line[0]) && strchr(line, '(') != NULL) {
			call->declaration[0] = '\0';
			add_code(call->declaration, line);
			while (strchr(line, ';') == NULL && fgets(line, sizeof(line), in) != NULL)
				add_code(call->declaration, line);
			if (find_name(call))
				return true;
		} else {
			call->comment[0] = '\0';
		}
	}
	return false;
}

/* In lines that are not too long, broken behind commas. */
static void print_declaration(const char *text)
{
	int column = 0;

	while (*text != '\0') {
		const char *comma = strchr(text, ',');
		const int len = comma == NULL ? (int)strcspn(text, ";") + 1 : (int)(comma - text) + 1;

		if (column > 0 && column + len > COLUMNS)
			column = printf("\n       ") - 1;
		column += printf("%.*s", len, text);
		text += len;
		if (comma == NULL)
			break;
	}
	printf("\n");
}

int fm_manual_synopsis(const char *header)
{
	FILE *in = fopen(header, "r");
	struct call call;
	int n = 0;

	if (in == NULL)
		return -1;
	for (; next_call(in, &call); n++)
		print_declaration(call.declaration);
	fclose(in);
	return n;
}

/* "@param name  text" and "@return  text" become items of a list. */
static const char *print_tag(const char *line, bool first)
{
	const bool parameter = strncmp(line, "@param ", 7) == 0;
	const char *text = line + (parameter ? 7 : strcspn(line, " "));
	const size_t name = parameter ? strcspn(text, " ") : 0;

	printf("%s\t- ", first ? "\n\n" : "\n");
	fm_manual_plain(text, name);
	printf("%s", parameter ? ": " : "returns ");
	return text + name + strspn(text + name, " ");
}

/* In one paragraph; code is left out. */
static void print_comment(char *comment)
{
	bool list = false, open = false;

	for (char *line = strtok(comment, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		const char *text = line;

		if (line[0] == '\t')
			continue;
		if (line[0] == '@') {
			text = print_tag(line, !list);
			list = true;
		} else {
			printf("%s", open ? " " : "\t");
		}
		fm_manual_plain(text, strlen(text));
		open = true;
	}
	printf("\n\n");
}

int fm_manual_calls(const char *header)
{
	FILE *in = fopen(header, "r");
	struct call call;
	int n = 0;

	if (in == NULL)
		return -1;
	for (; next_call(in, &call); n++) {
		printf("*");
		fm_manual_plain(call.name, sizeof(call.name));
		printf("*()\n");
		print_comment(call.comment);
	}
	fclose(in);
	return n;
}
