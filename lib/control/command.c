/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "command.h"
#include "syntax.h"

#define BLANKS " \t\r\n"

enum { CANDIDATES_MAX = 64 };

/* Different words that can stand in one place, over all commands that came so far. */
struct candidates {
	unsigned int n;
	bool end;	/* some command may end here */
	struct candidate {
		struct fm_word word;
		const struct fm_command *command;	/* the first that has it */
		bool single;				/* leads to that command alone, without another choice */
	} at[CANDIDATES_MAX];
};

static void candidates_add(struct candidates *candidates, const struct fm_cursor *cursor)
{
	struct fm_word word;
	unsigned int c;
	bool single;

	candidates->end |= fm_cursor_at_end(cursor);
	for (unsigned int i = 0; fm_cursor_next(cursor, i, &word, &single); i++) {
		for (c = 0; c < candidates->n; c++)
			if (candidates->at[c].word.len == word.len &&
			    strncmp(candidates->at[c].word.text, word.text, word.len) == 0)
				break;
		if (c < candidates->n)
			candidates->at[c].single = false;
		else if (c < CANDIDATES_MAX)
			candidates->at[candidates->n++] =
				(struct candidate){ .word = word, .command = cursor->command, .single = single };
	}
}

/*
 * Cut a line into words, in place.
 *
 * @param comment  set to: the line ends in one
 * @return         how many words; FM_WORDS_MAX + 1: too many
 */
static unsigned int cut(char *line, const char *words[FM_WORDS_MAX], bool *comment)
{
	char *at = line + strspn(line, BLANKS);
	unsigned int n = 0;

	for (; *at != '\0' && *at != '#'; at += strspn(at, BLANKS)) {
		if (n == FM_WORDS_MAX)
			return FM_WORDS_MAX + 1;
		words[n++] = at;
		at += strcspn(at, BLANKS);
		if (*at != '\0')
			*at++ = '\0';
	}
	*comment = *at == '#';
	return n;
}

/* How many of the words the command takes; what they stand for goes to args. */
static unsigned int follow(struct fm_cursor *cursor, const struct fm_command *command, const char *const *words,
			   unsigned int n, struct fm_args *args)
{
	struct fm_word found;
	unsigned int i;

	fm_cursor_start(cursor, command);
	for (i = 0; i < n && fm_cursor_step(cursor, words[i], &found); i++)
		args->arg[i] = (struct fm_arg){ .slot = found.text, .slot_len = found.len, .text = words[i] };
	return i;
}

/* "all", or "PORT (0, 1)", or "MS (1..120000 ms)" */
static void add_candidate(const struct candidate *candidate, char *buf, size_t len)
{
	const struct fm_setting *setting = candidate->command->setting;
	const struct fm_word *word = &candidate->word;
	char range[256] = "";

	fm_text_add(buf, len, "%.*s", word->len, word->text);
	if (!fm_word_is_parameter(word))
		return;
	if (setting != NULL)
		fm_setting_range(setting, range, sizeof(range));
	else
		fm_parameter_range(fm_parameter_find(word->text, word->len), range, sizeof(range));
	if (range[0] != '\0')
		fm_text_add(buf, len, " (%s)", range);
}

static void list_candidates(const struct candidates *candidates, char *buf, size_t len)
{
	buf[0] = '\0';
	for (unsigned int i = 0; i < candidates->n; i++) {
		if (i > 0)
			fm_text_add(buf, len, i + 1 < candidates->n ? ", " : " or ");
		add_candidate(&candidates->at[i], buf, len);
	}
}

static void join(const char *const *words, unsigned int n, char *buf, size_t len)
{
	buf[0] = '\0';
	for (unsigned int i = 0; i < n; i++)
		fm_text_add(buf, len, "%s%s", i > 0 ? " " : "", words[i]);
}

/* What was meant, if one of the words that are possible is much like the one that was typed. */
static void guess(const struct candidates *candidates, const char *text, char *buf, size_t len)
{
	unsigned int fewest = FM_SLIPS_MAX + 1, slips;
	const struct fm_word *nearest = NULL;

	for (unsigned int i = 0; i < candidates->n; i++) {
		if (fm_word_is_parameter(&candidates->at[i].word))
			continue;
		slips = fm_word_slips(&candidates->at[i].word, text);
		if (slips >= fewest)
			continue;
		fewest = slips;
		nearest = &candidates->at[i].word;
	}
	if (nearest != NULL)
		fm_text_add(buf, len, "; did you mean \"%.*s\"?", nearest->len, nearest->text);
}

/* One sentence about a line of which only the first `good` words can be understood. */
static void explain(const struct candidates *candidates, const char *const *words, unsigned int n, unsigned int good,
		    char *err, size_t err_len)
{
	const struct candidate *only = &candidates->at[0];
	char before[FM_LINE_MAX], possible[FM_LINE_MAX];
	struct fm_setting_value value;

	join(words, good, before, sizeof(before));
	list_candidates(candidates, possible, sizeof(possible));
	if (good == n)
		snprintf(err, err_len, "\"%s\" is not complete, it goes on with %s", before, possible);
	else if (candidates->n == 0)
		snprintf(err, err_len, "nothing can follow \"%s\", got \"%s\"", before, words[good]);
	else if (good == 0)
		snprintf(err, err_len, "unknown command \"%s\", possible are %s", words[0], possible);
	else if (only->command->setting != NULL && good == 2)
		fm_setting_parse(only->command->setting, words[good], &value, err, err_len);
	else
		snprintf(err, err_len, "\"%s\" cannot follow \"%s\", possible %s %s", words[good], before,
			 candidates->n == 1 ? "is" : "are", possible);
	if (good < n)
		guess(candidates, words[good], err, err_len);
}

int fm_command_parse(const char *line, struct fm_args *args, char *err, size_t err_len)
{
	struct candidates candidates = { .n = 0 };
	const char *words[FM_WORDS_MAX];
	unsigned int n, good = 0, took;
	struct fm_cursor cursor;
	bool comment;

	memset(args, 0, sizeof(*args));
	if (strlen(line) >= sizeof(args->line)) {
		snprintf(err, err_len, "line is longer than %zu characters", sizeof(args->line) - 1);
		return -EINVAL;
	}
	strcpy(args->line, line);
	n = cut(args->line, words, &comment);
	if (n == 0)
		return -ENOENT;
	if (n > FM_WORDS_MAX) {
		snprintf(err, err_len, "line has more than %d words", FM_WORDS_MAX);
		return -EINVAL;
	}
	for (unsigned int c = 0; c < fm_commands; c++) {
		took = follow(&cursor, &fm_command[c], words, n, args);
		if (took == n && fm_cursor_at_end(&cursor)) {
			args->command = &fm_command[c];
			args->n = n;
			return 0;
		}
		if (took > good)
			candidates.n = 0;
		if (took >= good) {
			good = took;
			candidates_add(&candidates, &cursor);
		}
	}
	explain(&candidates, words, n, good, err, err_len);
	return -EINVAL;
}

/* What was typed or read is quoted, and must not move a terminal's cursor. */
static void make_printable(char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

int fm_command_run(struct fm_shell *shell, const char *line)
{
	struct fm_args args;
	int ret;

	shell->err[0] = '\0';
	ret = fm_command_parse(line, &args, shell->err, sizeof(shell->err));
	if (ret == -ENOENT)
		return 0;
	if (ret == 0)
		ret = args.command->run(shell, &args);
	if (ret != 0)
		make_printable(shell->err);
	return ret;
}

static bool slot_is(const struct fm_arg *arg, const char *name)
{
	return strncmp(arg->slot, name, arg->slot_len) == 0 && name[arg->slot_len] == '\0';
}

bool fm_args_has(const struct fm_args *args, const char *keyword)
{
	return fm_args_text(args, keyword) != NULL;
}

const char *fm_args_text(const struct fm_args *args, const char *parameter)
{
	for (unsigned int i = 0; i < args->n; i++)
		if (slot_is(&args->arg[i], parameter))
			return args->arg[i].text;
	return NULL;
}

uint64_t fm_args_number(const struct fm_args *args, const char *parameter, uint64_t otherwise)
{
	const char *text = fm_args_text(args, parameter);
	uint64_t number;

	return text != NULL && fm_number_parse(text, &number) == 0 ? number : otherwise;
}

int fm_shell_fail(struct fm_shell *shell, int ret, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(shell->err, sizeof(shell->err), format, args);
	va_end(args);
	return ret;
}

static void help_on(const struct candidate *candidate, char *buf, size_t len)
{
	const struct fm_parameter *parameter;
	const struct fm_word *word = &candidate->word;
	const char *text = NULL;
	char range[160];

	buf[0] = '\0';
	if (fm_word_is_parameter(word) && candidate->command->setting != NULL) {
		fm_setting_range(candidate->command->setting, range, sizeof(range));
		fm_text_add(buf, len, "%s (%s)", candidate->command->setting->text, range);
		return;
	}
	if (fm_word_is_parameter(word)) {
		parameter = fm_parameter_find(word->text, word->len);
		fm_parameter_range(parameter, range, sizeof(range));
		fm_text_add(buf, len, "%s", parameter->text);
		if (range[0] != '\0')
			fm_text_add(buf, len, " (%s)", range);
		return;
	}
	if (!candidate->single)
		text = fm_keyword_text(candidate->command, word->text, word->len);
	fm_text_add(buf, len, "%s", text != NULL ? text : candidate->command->text);
}

/* The values of a parameter that can be listed, or a line that stands for them. */
static unsigned int complete_parameter(const struct candidate *candidate, const char *partial,
				       struct fm_completion *items, unsigned int max)
{
	const struct fm_parameter *parameter = NULL;
	unsigned int n = 0;

	if (candidate->command->setting == NULL)
		parameter = fm_parameter_find(candidate->word.text, candidate->word.len);
	if (parameter == NULL || parameter->choice == NULL) {
		snprintf(items->word, sizeof(items->word), "%.*s", candidate->word.len, candidate->word.text);
		help_on(candidate, items->text, sizeof(items->text));
		items->literal = false;
		return 1;
	}
	for (unsigned int i = 0; n < max; i++) {
		struct fm_completion *item = &items[n];

		if (!parameter->choice(i, item->word, sizeof(item->word), item->text, sizeof(item->text)))
			break;
		item->literal = true;
		if (strncmp(item->word, partial, strlen(partial)) == 0)
			n++;
	}
	return n;
}

static unsigned int complete_candidates(const struct candidates *candidates, const char *partial,
					struct fm_completion *items, unsigned int max)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < candidates->n && n < max; i++) {
		const struct candidate *candidate = &candidates->at[i];

		if (fm_word_is_parameter(&candidate->word)) {
			n += complete_parameter(candidate, partial, &items[n], max - n);
			continue;
		}
		if (!fm_word_begins(&candidate->word, partial))
			continue;
		snprintf(items[n].word, sizeof(items[n].word), "%.*s", candidate->word.len, candidate->word.text);
		help_on(candidate, items[n].text, sizeof(items[n].text));
		items[n++].literal = true;
	}
	return n;
}

unsigned int fm_command_complete(const char *line, struct fm_completion *items, unsigned int max)
{
	struct candidates candidates = { .n = 0 };
	const char *words[FM_WORDS_MAX];
	const char *partial = "";
	size_t len = strlen(line);
	struct fm_cursor cursor;
	struct fm_args args;
	unsigned int n;
	bool comment;

	if (len >= sizeof(args.line))
		return 0;
	strcpy(args.line, line);
	n = cut(args.line, words, &comment);
	if (n > FM_WORDS_MAX || comment)
		return 0;
	if (n > 0 && strchr(BLANKS, line[len - 1]) == NULL)
		partial = words[--n];
	for (unsigned int c = 0; c < fm_commands; c++)
		if (follow(&cursor, &fm_command[c], words, n, &args) == n)
			candidates_add(&candidates, &cursor);
	if (candidates.end && n > 0 && *partial == '\0' && max > 0) {
		*items = (struct fm_completion){ .word = "<Enter>", .text = "Run the command.", .literal = false };
		return 1 + complete_candidates(&candidates, partial, items + 1, max - 1);
	}
	return complete_candidates(&candidates, partial, items, max);
}
