/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "fake_door.h"
#include "syntax.h"

static int setup(void **state)
{
	(void)state;
	fake_door_reset();
	return 0;
}

/* A value that a word in capitals accepts. */
static const char *sample(const struct fm_command *command, const struct fm_word *word)
{
	static char number[FM_SETTING_TEXT_LEN];
	const struct fm_parameter *parameter;
	static char choice[64];
	char about[256];

	if (command->setting != NULL) {
		snprintf(number, sizeof(number), "%llu%s", (unsigned long long)command->setting->min,
			 memchr(word->text, '%', word->len) != NULL ? "%" : "");
		return number;
	}
	parameter = fm_parameter_find(word->text, word->len);
	assert_non_null(parameter);
	if (parameter->choice != NULL) {
		assert_true(parameter->choice(0, choice, sizeof(choice), about, sizeof(about)));
		return choice;
	}
	snprintf(number, sizeof(number), "%llu", (unsigned long long)parameter->max);
	return number;
}

/* Walk through all lines that a syntax allows, and look each one up. */
static void every_line(const struct fm_cursor *cursor, const char *line, unsigned int *lines)
{
	struct fm_args args;
	struct fm_word word;
	char err[FM_SENTENCE_LEN], longer[FM_LINE_MAX];
	bool single;

	if (fm_cursor_at_end(cursor)) {
		assert_int_equal(fm_command_parse(line, &args, err, sizeof(err)), 0);
		assert_ptr_equal(args.command, cursor->command);
		(*lines)++;
	}
	for (unsigned int i = 0; fm_cursor_next(cursor, i, &word, &single); i++) {
		struct fm_cursor next = *cursor;
		struct fm_word found;
		char text[80];

		snprintf(text, sizeof(text), "%.*s", word.len, word.text);
		if (fm_word_is_parameter(&word))
			snprintf(text, sizeof(text), "%s", sample(cursor->command, &word));
		assert_true(fm_cursor_step(&next, text, &found));
		snprintf(longer, sizeof(longer), "%s%s%s", line, *line != '\0' ? " " : "", text);
		every_line(&next, longer, lines);
	}
}

/* Every line that the table promises is understood, and as the command that promised it. */
static void table_is_sound(void **state)
{
	struct fm_cursor cursor;
	unsigned int lines;

	(void)state;
	for (unsigned int c = 0; c < fm_commands; c++) {
		lines = 0;
		fm_cursor_start(&cursor, &fm_command[c]);
		every_line(&cursor, "", &lines);
		assert_in_range(lines, 1, 50);
		assert_non_null(fm_command[c].run);
		assert_in_range(fm_command[c].group, 0, FM_GROUPS - 1);
		assert_int_equal(fm_command[c].text[strlen(fm_command[c].text) - 1], '.');
	}
}

/* Words that need it have help. */
static void words_have_help(void **state)
{
	(void)state;
	for (unsigned int c = 0; c < fm_commands; c++) {
		struct fm_word word;

		for (unsigned int i = 0; fm_syntax_explain(&fm_command[c], i, &word); i++)
			if (!fm_word_is_parameter(&word))
				assert_non_null(fm_keyword_text(&fm_command[c], word.text, word.len));
	}
}

static void arguments(void **state)
{
	struct fm_args args;
	char err[FM_SENTENCE_LEN];

	(void)state;
	assert_int_equal(fm_command_parse("\tshow  port stats 1 # the second", &args, err, sizeof(err)), 0);
	assert_true(fm_args_has(&args, "stats"));
	assert_false(fm_args_has(&args, "info"));
	assert_false(fm_args_has(&args, "all"));
	assert_int_equal(fm_args_number(&args, "PORT", 99), 1);
	assert_int_equal(fm_args_number(&args, "N", 99), 99);
	assert_int_equal(fm_command_parse("show reassembly datagrams top 1000", &args, err, sizeof(err)), 0);
	assert_int_equal(fm_args_number(&args, "N", 99), 1000);
	assert_int_equal(fm_command_parse("load /tmp/a#b\n", &args, err, sizeof(err)), 0);
	assert_string_equal(fm_args_text(&args, "FILE"), "/tmp/a#b");
	assert_null(fm_args_text(&args, "PORT"));
}

static void nothing_to_do(void **state)
{
	static const char *const lines[] = { "", " ", "\t \r\n", "# start", "  #start" };
	struct fm_args args;
	char err[FM_SENTENCE_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(fm_command_parse(lines[i], &args, err, sizeof(err)), -ENOENT);
}

/* Each sentence names the word that was wrong and what is possible in its place. */
static void sentences(void **state)
{
	static const struct {
		const char *line, *err;
	} cases[] = {
		{ "frobnicate now",
		  "unknown command \"frobnicate\", possible are start, stop, flush, show, set, clear, capture, help, "
		  "load, save, version, exit or quit" },
		{ "show prot info 0",
		  "\"prot\" cannot follow \"show\", possible are port, config, budget, lcores, numa, reassembly, "
		  "capture, live or check; did you mean \"port\"?" },
		{ "shwo config",
		  "unknown command \"shwo\", possible are start, stop, flush, show, set, clear, capture, help, load, "
		  "save, version, exit or quit; did you mean \"show\"?" },
		{ "show reass stats",
		  "\"reass\" cannot follow \"show\", possible are port, config, budget, lcores, numa, reassembly, "
		  "capture, live or check; did you mean \"reassembly\"?" },
		{ "set output whole-olny",
		  "output must be whole-or-refragment, whole-only or refragment, got \"whole-olny\"; did you mean "
		  "\"whole-only\"?" },
		{ "show reassembly stats lcroe 1",
		  "\"lcroe\" cannot follow \"show reassembly stats\", possible are lcore or json; did you mean "
		  "\"lcore\"?" },
		{ "show port", "\"show port\" is not complete, it goes on with info, stats, xstats or link" },
		{ "show port info", "\"show port info\" is not complete, it goes on with all or PORT (0, 1)" },
		{ "show port info 2", "\"2\" cannot follow \"show port info\", possible are all or PORT (0, 1)" },
		{ "show port info 0x1", "\"0x1\" cannot follow \"show port info\", possible are all or PORT (0, 1)" },
		{ "show config now", "\"now\" cannot follow \"show config\", possible is json" },
		{ "show config json now", "nothing can follow \"show config json\", got \"now\"" },
		{ "show reassembly stats 1",
		  "\"1\" cannot follow \"show reassembly stats\", possible are lcore or json" },
		{ "show reassembly stats lcore 3",
		  "\"3\" cannot follow \"show reassembly stats lcore\", possible is LCORE (1, 2)" },
		{ "show reassembly datagrams top 0",
		  "\"0\" cannot follow \"show reassembly datagrams top\", possible is N (1..1000)" },
		{ "show reassembly datagrams top",
		  "\"show reassembly datagrams top\" is not complete, it goes on with N (1..1000)" },
		{ "show reassembly sources top 1001",
		  "\"1001\" cannot follow \"show reassembly sources top\", possible is N (1..1000)" },
		{ "set source-prefix6 129", "source-prefix6 must be 1..128 bits, got \"129\"" },
		{ "set timeout4", "\"set timeout4\" is not complete, it goes on with MS (1..120000 ms)" },
		{ "set timeout4 120001", "timeout4 must be 1..120000 ms, got \"120001\"" },
		{ "set bypass maybe", "bypass must be on or off, got \"maybe\"" },
		{ "set bypass on off", "nothing can follow \"set bypass on\", got \"off\"" },
		{ "clear reassembly", "\"clear reassembly\" is not complete, it goes on with stats" },
		{ "capture start f snaplen 63",
		  "\"63\" cannot follow \"capture start f snaplen\", possible is BYTES (64..65000)" },
		{ "capture start f some",
		  "\"some\" cannot follow \"capture start f\", possible are drops, all, snaplen, limit or rate" },
		{ "capture start f rate 0",
		  "\"0\" cannot follow \"capture start f rate\", possible is RATE (1..1000000)" },
		{ "save", "\"save\" is not complete, it goes on with config" },
		{ "1 2 3 4 5 6 7 8 9 10 11 12 13", "line has more than 12 words" },
	};
	struct fm_args args;
	char err[FM_SENTENCE_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fm_command_parse(cases[i].line, &args, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, cases[i].err);
	}
}

static void slips(void **state)
{
	static const struct {
		const char *word, *text;
		unsigned int slips;
	} cases[] = {
		{ "port", "port", 0 }, { "port", "prot", 1 }, { "port", "pot", 1 }, { "port", "pport", 1 },
		{ "port", "porz", 1 }, { "port", "po", 1 }, { "port", "p", 3 }, { "on", "no", 3 }, { "on", "off", 3 },
		{ "reassembly", "reasembli", 2 }, { "reassembly", "raesembly", 2 }, { "reassembly", "assembly", 2 },
		{ "reassembly", "sembly", 3 }, { "reassembly", "reassemblyreassemblyreassemblyreassembly1", 3 },
		{ "max-fragments", "max-fargmetns", 2 }, { "timeout4", "timeout", 1 }, { "all", "", 3 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fm_word word = { .text = cases[i].word, .len = (int)strlen(cases[i].word) };

		assert_int_equal(fm_word_slips(&word, cases[i].text), cases[i].slips);
	}
}

static void long_lines(void **state)
{
	char line[2 * FM_LINE_MAX], err[FM_SENTENCE_LEN];
	struct fm_args args;

	(void)state;
	memset(line, 'x', sizeof(line));
	line[FM_LINE_MAX] = '\0';
	assert_int_equal(fm_command_parse(line, &args, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "line is longer than 511 characters");
	line[FM_LINE_MAX - 1] = '\0';
	assert_int_equal(fm_command_parse(line, &args, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "unknown command"));
	/* All of the line has room in the sentence; a smaller buffer cuts it. */
	assert_non_null(strstr(err, line));
	assert_int_equal(fm_command_parse(line, &args, err, 100), -EINVAL);
	assert_int_equal(strlen(err), 99);
	memset(line, ' ', 200);
	memcpy(line + 200, "load ", 5);
	assert_int_equal(fm_command_parse(line, &args, err, sizeof(err)), 0);
}

static void complete(const char *line, const char *expected)
{
	struct fm_completion items[32];
	unsigned int n = fm_command_complete(line, items, 32);
	char got[1024] = "";

	for (unsigned int i = 0; i < n; i++) {
		fm_text_add(got, sizeof(got), "%s%s%s", i > 0 ? " " : "", items[i].literal ? "" : "-", items[i].word);
		assert_true(items[i].text[0] != '\0');
	}
	assert_string_equal(got, expected);
}

/* '-': a line of help that cannot be typed. */
static void completion(void **state)
{
	(void)state;
	complete("", "start stop flush show set clear capture help load save version exit quit");
	complete("  s", "start stop show set save");
	complete("show", "show");
	complete("show ", "port config budget lcores numa reassembly capture live check");
	complete("show c", "config capture check");
	complete("capture start f ", "-<Enter> drops all snaplen limit rate");
	complete("show port info ", "all 0 1");
	complete("show port info 1", "1");
	complete("show port info 7", "");
	complete("show config ", "-<Enter> json");
	complete("show config x", "");
	complete("show reassembly stats ", "-<Enter> lcore json");
	complete("show reassembly stats lcore ", "1 2");
	complete("show reassembly datagrams top ", "-N");
	complete("show reassembly s", "stats sources");
	complete("show nothing ", "");
	complete("set ti", "timeout4 timeout6");
	complete("set timeout4 ", "-MS");
	complete("set bypass o", "on off");
	complete("set output whole", "whole-or-refragment whole-only");
	complete("set budget ", "-N -P%");
	complete("load ", "-FILE");
	complete("help c", "clear capture");
	complete("start # st", "");
}

/* What completion says beside a word fits where the word stands. */
static void completion_help(void **state)
{
	struct fm_completion items[32];

	(void)state;
	fm_command_complete("show con", items, 32);
	assert_string_equal(items[0].text, "Settings now, and what the program was started with.");
	fm_command_complete("sh", items, 32);
	assert_string_equal(items[0].text, "Print state and statistics.");
	fm_command_complete("show port i", items, 32);
	assert_string_equal(items[0].text, "Driver, addresses, link, queues and limits.");
	fm_command_complete("set log i", items, 32);
	assert_string_equal(items[0].text, "What the program does.");
	fm_command_complete("clear reassembly s", items, 32);
	assert_string_equal(items[0].text, "Let the counters of reassembly start at 0; the checks still see all.");
	fm_command_complete("set timeout4 ", items, 32);
	assert_non_null(strstr(items[0].text, "(1..120000 ms)"));
	fm_command_complete("show port info 1", items, 32);
	assert_string_equal(items[0].text, "net_fake1");
}

static void completion_is_cut(void **state)
{
	struct fm_completion items[4];

	(void)state;
	items[3].word[0] = 'x';
	assert_int_equal(fm_command_complete("", items, 3), 3);
	assert_int_equal(items[3].word[0], 'x');
	assert_int_equal(fm_command_complete("show port info ", items, 2), 2);
	assert_int_equal(fm_command_complete("show config ", items, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(table_is_sound, setup), cmocka_unit_test_setup(words_have_help, setup),
		cmocka_unit_test_setup(arguments, setup), cmocka_unit_test_setup(nothing_to_do, setup),
		cmocka_unit_test_setup(sentences, setup), cmocka_unit_test(slips),
		cmocka_unit_test_setup(long_lines, setup),
		cmocka_unit_test_setup(completion, setup), cmocka_unit_test_setup(completion_help, setup),
		cmocka_unit_test_setup(completion_is_cut, setup),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
