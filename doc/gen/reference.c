/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reference outcomes|commands|settings|telemetry: print a reference page, in Markdown, from the table of that name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "syntax.h"
#include "telemetry.h"
#include "telemetry_fields.h"

static void print_head(const char *title, const char *table)
{
	printf("# %s\n\n", title);
	printf("Made from the table in `%s` by `ninja update-reference`; do not edit.\n", table);
}

/* Text for a cell of a table, where a bar would end the cell. */
static void print_cell(const char *text)
{
	for (; *text != '\0'; text++)
		printf("%s%c", *text == '|' ? "\\" : "", *text);
}

static void print_outcomes(void)
{
	static const char *const title[] = {
		[FM_UNIT_FRAME] = "Frames that are no fragments",
		[FM_UNIT_FRAGMENT] = "Fragments",
		[FM_UNIT_DATAGRAM] = "Datagrams, on their way out",
	};
	static const char *const severity[] = {
		[FM_SEV_GOOD] = "good", [FM_SEV_DROP] = "drop", [FM_SEV_PRESSURE] = "pressure",
	};

	print_head("Outcomes", "lib/common/fm_outcome.h");
	printf("\nEverything that can become of what arrives, as `show reassembly drops` counts it. Every frame is\n"
	       "counted in one line of the first table or, if it is a fragment, in one line of the second once it is\n"
	       "no longer held. The third table says what became of joined datagrams.\n\n"
	       "*good*: forwarded or delivered. *drop*: dropped for what it is. *pressure*: dropped for want of\n"
	       "memory, time or room on the wire.\n");
	for (unsigned int unit = FM_UNIT_FRAME; unit <= FM_UNIT_DATAGRAM; unit++) {
		printf("\n## %s\n\n| outcome | severity | meaning |\n| --- | --- | --- |\n", title[unit]);
		for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
			if (fm_outcome_info[i].unit == unit)
				printf("| `%s` | %s | %s |\n", fm_outcome_info[i].name,
				       severity[fm_outcome_info[i].severity], fm_outcome_info[i].text);
	}
}

static void print_word(const struct fm_command *command, const struct fm_word *word)
{
	const struct fm_parameter *parameter;
	const char *text;

	if (!fm_word_is_parameter(word)) {
		text = fm_keyword_text(command, word->text, word->len);
		printf("- `%.*s`: %s\n", word->len, word->text, text);
		return;
	}
	parameter = fm_parameter_find(word->text, word->len);
	printf("- `%s`: %s", parameter->name, parameter->text);
	if (parameter->max > 0)
		printf(" %" PRIu64 "..%" PRIu64 ".", parameter->min, parameter->max);
	printf("\n");
}

static void print_command(const struct fm_command *command)
{
	const struct fm_setting *setting = command->setting;
	struct fm_word word;
	char range[160];

	printf("\n### `%s`\n\n%s\n", command->syntax, command->text);
	if (setting != NULL && (setting->kind == FM_KIND_NUMBER || setting->kind == FM_KIND_BUDGET)) {
		fm_setting_range(setting, range, sizeof(range));
		printf("\n- `%s`: %s\n", setting->values, range);
		return;
	}
	for (unsigned int i = 0; fm_syntax_explain(command, i, &word); i++) {
		if (i == 0)
			printf("\n");
		print_word(command, &word);
	}
}

static void print_commands(void)
{
	print_head("Commands", "lib/control/command_table.c");
	printf("\nThe same commands serve the console (`--interactive`, `--console-socket`), command files\n"
	       "(`--cmdline-file`, `load`) and pipes. Words in capitals stand for values, `|` parts alternatives,\n"
	       "what stands in brackets may be left out. What follows a `#` at the start of a word is a comment.\n"
	       "A line has up to %d characters and %d words.\n", FM_LINE_MAX - 1, FM_WORDS_MAX);
	for (unsigned int group = 0; group < FM_GROUPS; group++) {
		printf("\n## %s\n", fm_group_title[group]);
		for (unsigned int c = 0; c < fm_commands; c++)
			if (fm_command[c].group == group)
				print_command(&fm_command[c]);
	}
}

static void print_settings(void)
{
	char initial[FM_SETTING_TEXT_LEN], range[160];

	print_head("Settings", "lib/control/setting.h");
	printf("\nWhat can be changed while traffic runs: `set NAME VALUE`. `show config` prints all of them, `save\n"
	       "config FILE` writes a command file that brings them back.\n\n"
	       "| setting | values | default | meaning |\n| --- | --- | --- | --- |\n");
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++) {
		const struct fm_setting *setting = &fm_setting[i];

		fm_setting_range(setting, range, sizeof(range));
		if (setting->initial < setting->min)
			snprintf(initial, sizeof(initial), "the most");
		else
			fm_setting_format(setting, setting->initial, initial, sizeof(initial));
		printf("| `%s` | ", setting->name);
		print_cell(range);
		printf(" | %s | ", initial);
		print_cell(setting->text);
		printf(" |\n");
	}
}

static const struct {
	const char *endpoint, *path, *text;
} fields[] = {
#define FM_FIELD(endpoint, path, text) { endpoint, path, text },
	FM_TELEMETRY_FIELDS(FM_FIELD)
#undef FM_FIELD
#define FM_FIELD(name) { "stats", "per_s." name, "" },
	FM_TELEMETRY_RATES(FM_FIELD)
#undef FM_FIELD
};

static void print_endpoint(const struct fm_endpoint *endpoint)
{
	const char *name = strrchr(endpoint->path, '/') + 1;

	printf("\n## `%s%s`\n\n%s\n\n| member | what it is |\n| --- | --- |\n", endpoint->path, endpoint->params,
	       endpoint->text);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strcmp(fields[i].endpoint, name) == 0)
			printf("| `%s` | %s |\n", fields[i].path, fields[i].text);
	if (endpoint->list != NULL)
		printf("| `next` | Only if `%s` goes on: FIRST for the rest of it. |\n", endpoint->list);
}

static void print_telemetry(void)
{
	print_head("Telemetry", "lib/control/telemetry.c");
	printf("\nfragmend answers through DPDK's rte_telemetry, on the socket `dpdk_telemetry.v2` in EAL's runtime\n"
	       "directory (`/var/run/dpdk/PREFIX/` for root), beside DPDK's own endpoints. Ask with\n"
	       "`dpdk-telemetry.py -f PREFIX` or any client that reads JSON from such a socket. With the EAL option\n"
	       "`--no-telemetry` there is none. The socket is open to whom its directory is open: nothing can be\n"
	       "changed through it, but who asks sees addresses.\n\n"
	       "Parameters follow the name, parted by commas: `/fragmend/sources,20`. What cannot be answered has one\n"
	       "member, `error`, with a sentence. While the console runs a long command (one that waits for a worker\n"
	       "that stands still), at the start and at the end of the program, that is \"busy\", after %d seconds.\n\n"
	       "The same data come from the console by `show ... json`, with these differences. Counters here count\n"
	       "from the start, whatever `clear` was given. Truth is 0 or 1, rates are whole numbers, and a list is\n"
	       "an object whose names are 0, 1, 2, ...: rte_telemetry has neither. Texts are cut at %d characters,\n"
	       "and `?` stands for what is not ASCII. Rates are of the last one or two seconds, and left out while\n"
	       "they are not known.\n\n"
	       "An answer has room for 16 KiB. Of a list that is longer a part comes, and `next` says which FIRST\n"
	       "brings the next part; of datagrams and sources, which come and go meanwhile, each part is of its own\n"
	       "moment. Ten clients can be connected at a time; each waits for the one whose turn it is.\n",
	       FM_TELEMETRY_WAIT_MS / 1000, FM_TELEMETRY_TEXT_MAX);
	for (unsigned int i = 0; i < fm_endpoints; i++)
		print_endpoint(&fm_endpoint[i]);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} pages[] = {
		{ "outcomes", print_outcomes },
		{ "commands", print_commands },
		{ "settings", print_settings },
		{ "telemetry", print_telemetry },
	};

	for (unsigned int i = 0; argc == 2 && i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (strcmp(argv[1], pages[i].name) != 0)
			continue;
		pages[i].print();
		return fflush(stdout) == 0 ? 0 : 1;
	}
	fprintf(stderr, "usage: reference outcomes|commands|settings|telemetry\n");
	return 2;
}
