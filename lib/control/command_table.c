/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE table of commands, and the words in it.
 */
#include <inttypes.h>
#include <string.h>

#include <rte_common.h>

#include "command.h"
#include "door.h"
#include "handlers.h"
#include "word.h"

#define FM_PACKETS_MAX 1000000000000

const char *const fm_group_title[FM_GROUPS] = {
	[FM_GROUP_FORWARDING] = "Forwarding",
	[FM_GROUP_SHOW] = "State and statistics",
	[FM_GROUP_SET] = "Settings, in effect at once",
	[FM_GROUP_COUNTERS] = "Counters",
	[FM_GROUP_CAPTURE] = "Capture",
	[FM_GROUP_PROGRAM] = "Program",
};

#define SET(sym, nm, type, vals, un, lo, hi, init, txt, ...) \
	{ "set " nm " " vals, txt, fm_do_set, FM_GROUP_SET, &fm_setting[FM_SETTING_##sym] },

const struct fm_command fm_command[] = {
	{ "start", "Start forwarding.", fm_do_start, FM_GROUP_FORWARDING, NULL },
	{ "stop", "Stop forwarding; held fragments are freed.", fm_do_stop, FM_GROUP_FORWARDING, NULL },
	{ "flush reassembly", "Free all held fragments and forget condemned datagrams.", fm_do_flush,
	  FM_GROUP_FORWARDING, NULL },

	{ "show port info|stats|xstats|link all|PORT [json]",
	  "What a port is and can, what went through it, what its driver counts, or its link.", fm_do_show_port,
	  FM_GROUP_SHOW, NULL },
	{ "show config [json]", "Settings now, and what the program was started with.", fm_do_show_config,
	  FM_GROUP_SHOW, NULL },
	{ "show budget [json]", "Where the mbufs of each pool go, as a sum.", fm_do_show_budget, FM_GROUP_SHOW, NULL },
	{ "show lcores [json]", "Workers: lcore, NUMA node, load, queues, share of the budget.", fm_do_show_lcores,
	  FM_GROUP_SHOW, NULL },
	{ "show numa [json]",
	  "NUMA nodes with their distances, where ports, pools, tables and workers are, and what is remote.",
	  fm_do_show_numa, FM_GROUP_SHOW, NULL },
	{ "show reassembly stats [lcore LCORE] [json]",
	  "Fragments in, datagrams out, and what is held, for all workers or one.", fm_do_show_stats, FM_GROUP_SHOW,
	  NULL },
	{ "show reassembly drops [json]", "Every outcome of a frame, fragment or datagram, with count and rate.",
	  fm_do_show_drops, FM_GROUP_SHOW, NULL },
	{ "show reassembly datagrams [top N] [json]",
	  "Datagrams that wait for fragments, oldest first; 10 unless N is given.",
	  fm_do_show_datagrams, FM_GROUP_SHOW, NULL },
	{ "show reassembly sources [top N] [json]",
	  "Who sends fragments, and what became of them; those that hold most mbufs first, 10 unless N is given.",
	  fm_do_show_sources, FM_GROUP_SHOW, NULL },
	{ "show capture [json]", "The capture that runs, or the last one: how much is in its file, and what is not.",
	  fm_do_show_capture, FM_GROUP_SHOW, NULL },
	{ "show live", "A screen of rates, load, budget, sources and drops that redraws each second; q leaves it.",
	  fm_do_show_live, FM_GROUP_SHOW, NULL },
	{ "show check [json]", "The accounting identities, with numbers; fails if one is broken.", fm_do_show_check,
	  FM_GROUP_SHOW, NULL },

	FM_PUBLISHED_SETTINGS(SET)
	FM_LOCAL_SETTINGS(SET)

	{ "clear port stats|xstats all|PORT",
	  "Let the counters of a port start at 0; xstats: all that its driver counts.", fm_do_clear_port,
	  FM_GROUP_COUNTERS, NULL },
	{ "clear reassembly stats", "Let the counters of reassembly start at 0; the checks still see all.",
	  fm_do_clear_reassembly, FM_GROUP_COUNTERS, NULL },

	{ "capture start FILE [drops|all] [snaplen BYTES] [limit PACKETS] [rate RATE]",
	  "Write packets to a new pcapng file, those that are dropped with their outcome as comment.",
	  fm_do_capture_start, FM_GROUP_CAPTURE, NULL },
	{ "capture stop", "End the capture and close its file.", fm_do_capture_stop, FM_GROUP_CAPTURE, NULL },

	{ "help [TOPIC]", "List the commands, or explain those that have the word TOPIC.", fm_do_help, FM_GROUP_PROGRAM,
	  NULL },
	{ "load FILE", "Run the commands of a file; the first one that fails ends it.", fm_do_load, FM_GROUP_PROGRAM,
	  NULL },
	{ "save config FILE", "Write a command file that brings back the settings of now.", fm_do_save,
	  FM_GROUP_PROGRAM, NULL },
	{ "version [json]", "Print the versions of fragmend and DPDK.", fm_do_version, FM_GROUP_PROGRAM, NULL },
	{ "exit", "Leave this session of the console socket; anywhere else the same as quit.", fm_do_exit,
	  FM_GROUP_PROGRAM, NULL },
	{ "quit [program]", "Stop forwarding and end fragmend; on the console socket only if \"program\" is added.",
	  fm_do_quit, FM_GROUP_PROGRAM, NULL },
};

const unsigned int fm_commands = RTE_DIM(fm_command);

/* Words that stand in several commands or beside alternatives. */
static const struct {
	const char *word, *text;
	const char *first;	/* NULL, or the word with which the command must begin */
} keywords[] = {
	{ "show", "Print state and statistics.", NULL },
	{ "set", "Change a setting while traffic runs.", NULL },
	{ "clear", "Let counters start at 0.", NULL },
	{ "flush", "Free what is held.", NULL },
	{ "capture", "Write packets to a file.", NULL },
	{ "drops", "What is dropped; the default.", "capture" },
	{ "all", "What is dropped, and each frame that comes in or goes out.", "capture" },
	{ "snaplen", "Cut packets in the file to so many bytes; otherwise to 2048.", "capture" },
	{ "limit", "End when so many packets are in the file; otherwise by capture stop.", "capture" },
	{ "rate", "Capture no more than so many packets a second; otherwise 10000.", "capture" },
	{ "port", "Ethernet ports.", NULL },
	{ "reassembly", "The reassembly tables.", NULL },
	{ "info", "Driver, addresses, link, queues and limits.", "show" },
	{ "stats", "Counters and rates.", NULL },
	{ "xstats", "What the driver counts.", NULL },
	{ "link", "Link, speed and duplex.", NULL },
	{ "all", "Every port.", NULL },
	{ "lcore", "Only the worker on one lcore.", NULL },
	{ "json", "As one JSON object on one line, for scripts.", NULL },
	{ "top", "How many to list.", NULL },
	{ "program", "The program, not only the session.", "quit" },
	{ "on", "Switch it on.", NULL },
	{ "off", "Switch it off.", NULL },
	{ "whole-or-refragment", "Whole if it fits the egress MTU, else as clean fragments.", NULL },
	{ "whole-only", "Whole; what does not fit the egress MTU is dropped.", NULL },
	{ "refragment", "Always as clean fragments, in order and back to back.", NULL },
	{ "emergency", "The program cannot go on.", NULL },
	{ "alert", "Something must be done at once.", NULL },
	{ "critical", "Critical conditions.", NULL },
	{ "error", "Errors.", NULL },
	{ "warning", "Warnings.", NULL },
	{ "notice", "What is normal but worth to know.", NULL },
	{ "info", "What the program does.", "set" },
	{ "debug", "Details for those who look for a fault.", NULL },
};

static bool choose_port(unsigned int i, char *word, size_t word_len, char *text, size_t text_len)
{
	struct fm_port_view view;

	if (i >= fm_door_ports())
		return false;
	fm_door_port((uint16_t)i, &view);
	snprintf(word, word_len, "%u", view.id);
	snprintf(text, text_len, "%s", view.name);
	return true;
}

static bool choose_lcore(unsigned int i, char *word, size_t word_len, char *text, size_t text_len)
{
	struct fm_worker_view view;

	if (i >= fm_door_workers())
		return false;
	fm_door_worker((uint16_t)i, &view);
	snprintf(word, word_len, "%u", view.lcore);
	snprintf(text, text_len, "Worker %u, %u queue%s.", view.id, view.n_queues, view.n_queues == 1 ? "" : "s");
	return true;
}

/* The different words with which commands begin. */
static bool choose_topic(unsigned int i, char *word, size_t word_len, char *text, size_t text_len)
{
	struct fm_word first, before = { .text = "", .len = 0 };
	const char *about;

	for (unsigned int c = 0; c < fm_commands; c++) {
		const char *at = fm_command[c].syntax;

		fm_word_next(&at, " ", &first);
		if (first.len == before.len && strncmp(first.text, before.text, first.len) == 0)
			continue;
		before = first;
		if (i-- > 0)
			continue;
		snprintf(word, word_len, "%.*s", first.len, first.text);
		about = fm_keyword_text(&fm_command[c], first.text, first.len);
		snprintf(text, text_len, "%s", about != NULL ? about : fm_command[c].text);
		return true;
	}
	return false;
}

static const struct fm_parameter parameters[] = {
	{ "PORT", "Ethernet port number.", 0, 0, choose_port, false },
	{ "LCORE", "Lcore of a worker.", 0, 0, choose_lcore, false },
	{ "N", "How many.", 1, 1000, NULL, false },
	{ "BYTES", "Bytes of a packet.", FM_SNAPLEN_MIN, FM_SNAPLEN_MAX, NULL, false },
	{ "PACKETS", "How many packets.", 1, FM_PACKETS_MAX, NULL, false },
	{ "RATE", "Packets a second, all workers together.", 1, FM_CAPTURE_RATE_MAX, NULL, false },
	{ "FILE", "Name of a file, without blanks.", 0, 0, NULL, false },
	{ "TOPIC", "A word of a command, or the name of an outcome.", 0, 0, choose_topic, true },
};

const struct fm_parameter *fm_parameter_at(unsigned int i)
{
	return i < RTE_DIM(parameters) ? &parameters[i] : NULL;
}

const struct fm_parameter *fm_parameter_find(const char *name, int len)
{
	const struct fm_word word = { .text = name, .len = len };

	for (unsigned int i = 0; i < RTE_DIM(parameters); i++)
		if (fm_word_is(&word, parameters[i].name))
			return &parameters[i];
	return NULL;
}

void fm_parameter_range(const struct fm_parameter *parameter, char *buf, size_t len)
{
	char word[64], text[256];

	buf[0] = '\0';
	if (parameter->open)
		return;
	if (parameter->choice == NULL) {
		if (parameter->max > 0)
			snprintf(buf, len, "%" PRIu64 "..%" PRIu64, parameter->min, parameter->max);
		return;
	}
	for (unsigned int i = 0; parameter->choice(i, word, sizeof(word), text, sizeof(text)); i++)
		fm_text_add(buf, len, "%s%s", i > 0 ? ", " : "", word);
}

const char *fm_keyword_text(const struct fm_command *command, const char *word, int len)
{
	const struct fm_word wanted = { .text = word, .len = len };
	const char *at = command->syntax;
	struct fm_word first;

	fm_word_next(&at, " ", &first);
	for (unsigned int i = 0; i < RTE_DIM(keywords); i++)
		if (fm_word_is(&wanted, keywords[i].word) &&
		    (keywords[i].first == NULL || fm_word_is(&first, keywords[i].first)))
			return keywords[i].text;
	return NULL;
}
