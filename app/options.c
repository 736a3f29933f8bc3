/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_core.h>

#include "fail.h"
#include "fm_reass.h"
#include "listen.h"
#include "options.h"
#include "setting.h"
#include "word.h"

enum fm_option_kind {
	FM_OPTION_SWITCH,	/* `value` goes to the bool at `offset` */
	FM_OPTION_NUMBER,	/* min..max, to the unsigned integer of `size` bytes at `offset` */
	FM_OPTION_CHOICE,	/* one of `words`, its place to the enum at `offset` */
	FM_OPTION_TEXT,		/* min..max bytes (max 0: any), to the const char * at `offset` */
	FM_OPTION_PORT_NUMBER,	/* PORT=NUMBER, to an array of uint32_t by port; may be repeated */
	FM_OPTION_PORT_TEXT,	/* PORT=TEXT, to an array of const char * by port; may be repeated */
	FM_OPTION_SETTING,	/* a setting of the console that has the same name, range and sentence */
};

struct fm_option {
	const char *name;
	const char *arg;	/* its name in the help; NULL: takes none */
	enum fm_option_kind kind;
	int letter;		/* short form; 0: none */
	size_t offset, size;	/* in struct fm_options */
	uint64_t min, max;
	uint64_t initial;	/* of a number; 0: see the text */
	int value;
	const char *words[4];
	const char *text;
};

#define FM_AT(member) .offset = offsetof(struct fm_options, member), .size = sizeof(((struct fm_options *)0)->member)
#define FM_SWITCH(nm, member, val, txt) \
	{ .name = nm, .kind = FM_OPTION_SWITCH, FM_AT(member), .value = val, .text = txt }
#define FM_NUMBER(nm, a, member, lo, hi, txt) \
	FM_NUMBER_FROM(nm, a, member, lo, hi, 0, txt)
#define FM_NUMBER_FROM(nm, a, member, lo, hi, init, txt) \
	{ .name = nm, .arg = a, .kind = FM_OPTION_NUMBER, FM_AT(member), .min = lo, .max = hi, .initial = init, \
	  .text = txt }
#define FM_TEXT(nm, a, member, txt) { .name = nm, .arg = a, .kind = FM_OPTION_TEXT, FM_AT(member), .text = txt }
#define FM_SETTING(nm) { .name = nm, .kind = FM_OPTION_SETTING }

enum {
	FM_QUEUES_LIMIT = 1024,
	FM_DESCRIPTORS_LIMIT = UINT16_MAX,
	FM_MBUF_SIZE_MIN = 512,
	FM_MBUFS_LIMIT = (1 << 24) - 1,
	FM_FRAME_MIN = 64,
	FM_IDLE_MS_LIMIT = 3600000,
};

/* THE table of options: names and meanings as testpmd has them where it has them. */
static const struct fm_option table[] = {
	{ .name = "interactive", .letter = 'i', .kind = FM_OPTION_SWITCH, FM_AT(interactive), .value = true,
	  .text = "Serve a console on the terminal." },
	FM_SWITCH("auto-start", auto_start, true, "Forward at once; without -i that is so anyway."),
	FM_SWITCH("live", live, true,
		  "Begin the console with the live view; q leads to the prompt. Implies -i, --auto-start."),
	FM_TEXT("cmdline-file", "FILE", cmdline_file, "Console commands to run before forwarding."),
	{ .name = "console-socket", .arg = "PATH", .kind = FM_OPTION_TEXT, FM_AT(console_socket), .min = 1,
	  .max = FM_SOCKET_PATH_MAX,
	  .text = "Serve the console on a unix socket for its owner alone, too (see fragmend-cli)." },
	{ .name = "port-topology", .arg = "TOPOLOGY", .kind = FM_OPTION_CHOICE, FM_AT(config.topology),
	  .words = { "paired", "loop" }, .text = "Ports 0 and 1, 2 and 3, ... face each other, or each port itself." },
	FM_NUMBER("rxq", "N", config.nb_rxq, 1, FM_QUEUES_LIMIT,
		  "RX queues of each port; default: as many as make sense."),
	FM_NUMBER("txq", "N", config.nb_txq, 1, FM_QUEUES_LIMIT,
		  "TX queues of each port; default: as many as are needed."),
	FM_NUMBER("rxd", "N", config.nb_rxd, 1, FM_DESCRIPTORS_LIMIT,
		  "Descriptors of each RX queue; default: the port's."),
	FM_NUMBER("txd", "N", config.nb_txd, 1, FM_DESCRIPTORS_LIMIT,
		  "Descriptors of each TX queue; default: the port's."),
	FM_NUMBER_FROM("burst", "N", config.burst, 1, FM_BURST_MAX, 32, "Frames received at a time."),
	FM_NUMBER_FROM("mbcache", "N", config.mbcache, 0, RTE_MEMPOOL_CACHE_MAX_SIZE, 250,
		       "Mbufs that each lcore keeps at hand of each pool."),
	FM_NUMBER_FROM("mbuf-size", "BYTES", config.mbuf_size, FM_MBUF_SIZE_MIN, UINT16_MAX, RTE_MBUF_DEFAULT_BUF_SIZE,
		       "Data room of an mbuf, headroom included."),
	FM_NUMBER("total-num-mbufs", "N", config.total_num_mbufs, 1, FM_MBUFS_LIMIT,
		  "Mbufs in the pool of each port, best 2^n - 1; default " RTE_STR(FM_MBUFS_DEFAULT)
		  ", fewer if --no-huge leaves no room."),
	FM_NUMBER("max-pkt-len", "BYTES", config.max_pkt_len, FM_FRAME_MIN, UINT16_MAX,
		  "Longest frame to receive; default: what the port is set to."),
	FM_SWITCH("numa", config.numa, true, "Memory on the port's or lcore's NUMA node (default)."),
	FM_SWITCH("no-numa", config.numa, false, "All memory on the main lcore's NUMA node."),
	{ .name = "mtu", .arg = "PORT=BYTES", .kind = FM_OPTION_PORT_NUMBER, FM_AT(config.mtu), .min = FM_MTU_MIN,
	  .max = FM_MTU_MAX,
	  .text = "Longest IP packet to send on a port; default: what the port reports (the kernel interface's where "
		  "there is one), the largest for capture files. May be repeated." },
	{ .name = "write", .arg = "PORT=FILE", .kind = FM_OPTION_PORT_TEXT, FM_AT(config.write_path),
	  .text = "Frames for a port go to a capture file instead, of any length; one worker only. May be repeated." },
	FM_NUMBER("nb-cores", "N", config.nb_cores, 1, FM_WORKERS_MAX,
		  "Workers; default: all lcores but the main one."),
	{ .name = "steer", .arg = "WHEN", .kind = FM_OPTION_CHOICE, FM_AT(config.steer), .words = { "auto", "on" },
	  .text = "Share out fragments in software: where several workers poll a port that does not spread by address, "
		  "or also where not all workers poll it." },
	FM_SETTING("budget"),
	FM_NUMBER("max-datagrams", "N", config.max_datagrams, 1, 1 << 24,
		  "Datagrams in flight per worker; default: as many as its mbufs."),
	FM_SETTING("max-fragments"),
	FM_SETTING("timeout4"),
	FM_SETTING("timeout6"),
	FM_SETTING("source-prefix4"),
	FM_SETTING("source-prefix6"),
	FM_SETTING("output"),
	FM_SETTING("verify-l4"),
	FM_SETTING("header-chain"),
	FM_SETTING("link-follow"),
	FM_NUMBER("stats-period", "S", stats_period_s, 0, FM_STATS_PERIOD_MAX_S,
		  "Print the status table every S seconds when not interactive; 0: never (default)."),
	{ .name = "clock", .arg = "CLOCK", .kind = FM_OPTION_CHOICE, FM_AT(config.clock),
	  .words = { "tsc", "rx-timestamp" },
	  .text = "Timeouts by the CPU's clock, or by the time frames were captured (net_pcap)." },
	FM_NUMBER("exit-on-idle", "MS", exit_on_idle_ms, 1, FM_IDLE_MS_LIMIT,
		  "Leave when no port has received anything for MS milliseconds."),
	{ .name = "seed", .arg = "N", .kind = FM_OPTION_NUMBER, FM_AT(config.seed), .max = UINT64_MAX,
	  .text = "Fixed hash secret, which makes the tables attackable: for tests only." },
	FM_SWITCH("log-prefix", log_prefix, true,
		  "Begin each line of the log with its syslog level, \"<4>\"; so anyway where stderr is the journal."),
	FM_SWITCH("pdump", pdump, true,
		  "Let dpdk-dumpcap attach, where memory can be shared; stop forwarding before it detaches."),
	FM_SWITCH("keep-privileges", keep_privileges, true,
		  "Drop no capabilities once the ports are up: to find out whether that is what goes wrong."),
	{ .name = "help", .letter = 'h', .kind = FM_OPTION_SWITCH, FM_AT(help), .value = true, .text = "Print this." },
	FM_SWITCH("version", version, true, "Print the version."),
};

enum { FM_OPTIONS = sizeof(table) / sizeof(table[0]) };

/* What a setting has of an option: its argument's name. A switch that is off takes none, and turns it on. */
static const char *argument(const struct fm_option *o)
{
	const struct fm_setting *setting;

	if (o->kind != FM_OPTION_SETTING)
		return o->arg;
	setting = fm_setting_find(o->name);
	return setting->kind == FM_KIND_SWITCH && setting->initial == 0 ? NULL : setting->values;
}

static void put_number(void *to, size_t size, uint64_t value)
{
	switch (size) {
	case sizeof(uint16_t):
		*(uint16_t *)to = (uint16_t)value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)to = (uint32_t)value;
		break;
	default:
		*(uint64_t *)to = value;
		break;
	}
}

static int read_number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *number, char *err,
		       size_t err_len)
{
	*number = 0;
	if (fm_number_parse(text, number) != 0 || *number < min || *number > max)
		return fm_fail(err, err_len, -EINVAL, "--%s must be %" PRIu64 "..%" PRIu64 ", got \"%s\"", name, min,
			       max, text);
	return 0;
}

static int read_choice(const struct fm_option *o, const char *text, int *choice, char *err, size_t err_len)
{
	for (int i = 0; o->words[i] != NULL; i++) {
		if (strcmp(o->words[i], text) == 0) {
			*choice = i;
			return 0;
		}
	}
	return fm_fail(err, err_len, -EINVAL, "--%s must be %s or %s, got \"%s\"", o->name, o->words[0], o->words[1],
		       text);
}

static int check_length(const struct fm_option *o, const char *text, char *err, size_t err_len)
{
	const size_t len = strlen(text);

	if (o->max == 0 || (len >= o->min && len <= o->max))
		return 0;
	return fm_fail(err, err_len, -EINVAL, "--%s must have %" PRIu64 "..%" PRIu64 " bytes, got %zu: \"%s\"",
		       o->name, o->min, o->max, len, text);
}

/* "PORT=VALUE": the port, and where the value starts. */
static int read_port(const struct fm_option *o, const char *text, uint16_t *port, const char **value, char *err,
		     size_t err_len)
{
	const char *equals = strchr(text, '=');
	char digits[8];
	uint64_t number;

	*port = 0;
	*value = text;
	if (equals != NULL && (size_t)(equals - text) < sizeof(digits)) {
		memcpy(digits, text, (size_t)(equals - text));
		digits[equals - text] = '\0';
		if (fm_number_parse(digits, &number) == 0 && number < FM_PORTS_MAX && equals[1] != '\0') {
			*port = (uint16_t)number;
			*value = equals + 1;
			return 0;
		}
	}
	return fm_fail(err, err_len, -EINVAL, "--%s must be %s with a port of 0..%u, got \"%s\"", o->name, o->arg,
		       FM_PORTS_MAX - 1, text);
}

static int take_port_value(const struct fm_option *o, const char *text, void *to, char *err, size_t err_len)
{
	uint16_t port;
	const char *value;
	uint64_t number;
	char name[32];
	int ret = read_port(o, text, &port, &value, err, err_len);

	if (ret != 0)
		return ret;
	snprintf(name, sizeof(name), "%s %u", o->name, port);
	if (o->kind == FM_OPTION_PORT_TEXT) {
		const char **path = (const char **)to + port;

		if (*path != NULL)
			return fm_fail(err, err_len, -EINVAL, "--%s is given twice", name);
		*path = value;
		return 0;
	}
	if (((uint32_t *)to)[port] != 0)
		return fm_fail(err, err_len, -EINVAL, "--%s is given twice", name);
	snprintf(name, sizeof(name), "%s %u=BYTES", o->name, port);
	ret = read_number(name, value, o->min, o->max, &number, err, err_len);
	if (ret == 0)
		((uint32_t *)to)[port] = (uint32_t)number;
	return ret;
}

static int take_setting(const struct fm_option *o, const char *text, struct fm_options *options, char *err,
			size_t err_len)
{
	const struct fm_setting *setting = fm_setting_find(o->name);
	struct fm_setting_value value = { .number = 1 };
	char why[256];

	if (text != NULL && fm_setting_parse(setting, text, &value, why, sizeof(why)) != 0)
		return fm_fail(err, err_len, -EINVAL, "--%s", why);
	if (value.percent)
		options->config.budget_percent = (uint32_t)value.number;
	else
		setting->put(&options->config.settings, value.number);
	return 0;
}

static int take(const struct fm_option *o, const char *text, struct fm_options *options, char *err, size_t err_len)
{
	void *to = (char *)options + o->offset;
	uint64_t number = 0;
	int choice = 0;
	int ret = 0;

	switch (o->kind) {
	case FM_OPTION_SWITCH:
		*(bool *)to = o->value;
		break;
	case FM_OPTION_NUMBER:
		ret = read_number(o->name, text, o->min, o->max, &number, err, err_len);
		put_number(to, o->size, number);
		break;
	case FM_OPTION_CHOICE:
		ret = read_choice(o, text, &choice, err, err_len);
		put_number(to, o->size, (uint64_t)choice);
		break;
	case FM_OPTION_TEXT:
		ret = check_length(o, text, err, err_len);
		*(const char **)to = text;
		break;
	case FM_OPTION_PORT_NUMBER:
	case FM_OPTION_PORT_TEXT:
		ret = take_port_value(o, text, to, err, err_len);
		break;
	case FM_OPTION_SETTING:
		ret = take_setting(o, text, options, err, err_len);
		break;
	}
	return ret;
}

static void set_defaults(struct fm_options *options)
{
	memset(options, 0, sizeof(*options));
	for (int i = 0; i < FM_OPTIONS; i++)
		if (table[i].kind == FM_OPTION_NUMBER)
			put_number((char *)options + table[i].offset, table[i].size, table[i].initial);
	options->config.numa = true;
	fm_settings_default(&options->config.settings);
}

/* For getopt_long(): what the table says, an index into it as the value. */
static void fill_getopt(struct option longs[FM_OPTIONS + 1], char shorts[2 * FM_OPTIONS + 4])
{
	/* '+': stop at the first word that is no option; ':': leave the complaints to the caller. */
	char *at = stpcpy(shorts, "+:");

	for (int i = 0; i < FM_OPTIONS; i++) {
		longs[i] = (struct option){ .name = table[i].name, .val = 256 + i,
					    .has_arg = argument(&table[i]) == NULL ? no_argument : required_argument };
		if (table[i].letter != 0)
			*at++ = (char)table[i].letter;
	}
	longs[FM_OPTIONS] = (struct option){ 0 };
	*at = '\0';
}

/* getopt_long() takes beginnings of names. Here a name is written out, so that no new option changes an old line. */
static bool is_whole_name(const char *word, const struct fm_option *o)
{
	const size_t len = strlen(o->name);

	if (strncmp(word, "--", 2) != 0)
		return true;
	return strncmp(word + 2, o->name, len) == 0 && (word[2 + len] == '\0' || word[2 + len] == '=');
}

static const struct fm_option *find(int got)
{
	for (int i = 0; i < FM_OPTIONS; i++)
		if (got == 256 + i || (table[i].letter != 0 && got == table[i].letter))
			return &table[i];
	return NULL;
}

/* Two switches of one thing exclude each other. */
static int check_again(const struct fm_option *o, bool seen[FM_OPTIONS], char *err, size_t err_len)
{
	if (o->kind == FM_OPTION_PORT_NUMBER || o->kind == FM_OPTION_PORT_TEXT)
		return 0;
	if (seen[o - table])
		return fm_fail(err, err_len, -EINVAL, "--%s is given twice", o->name);
	seen[o - table] = true;
	for (int i = 0; i < FM_OPTIONS; i++)
		if (seen[i] && &table[i] != o && o->kind == FM_OPTION_SWITCH && table[i].kind == FM_OPTION_SWITCH &&
		    table[i].offset == o->offset)
			return fm_fail(err, err_len, -EINVAL, "--%s and --%s exclude each other", table[i].name,
				       o->name);
	return 0;
}

int fm_options_parse(int argc, char **argv, struct fm_options *options, char *err, size_t err_len)
{
	struct option longs[FM_OPTIONS + 1];
	char shorts[2 * FM_OPTIONS + 4];
	bool seen[FM_OPTIONS] = { false };

	set_defaults(options);
	fill_getopt(longs, shorts);
	opterr = 0;
	optind = 0;	/* glibc: start afresh */
	for (;;) {
		const int at = optind == 0 ? 1 : optind;
		const int got = getopt_long(argc, argv, shorts, longs, NULL);
		const struct fm_option *o = find(got);
		int ret;

		if (got == -1)
			break;
		if (got == ':')
			return fm_fail(err, err_len, -EINVAL, "%s needs a value", argv[at]);
		if (o == NULL || !is_whole_name(argv[at], o))
			return fm_fail(err, err_len, -EINVAL,
				       "%s is no option of fragmend, or takes no value; see --help", argv[at]);
		ret = check_again(o, seen, err, err_len);
		if (ret == 0)
			ret = take(o, optarg, options, err, err_len);
		if (ret != 0)
			return ret;
		if (options->live)
			options->interactive = options->auto_start = true;
		options->config.has_seed |= strcmp(o->name, "seed") == 0;
	}
	if (optind < argc)
		return fm_fail(err, err_len, -EINVAL, "\"%s\" is no option of fragmend; see --help", argv[optind]);
	return 0;
}

static void add_numbers(struct fm_option_view *view, const struct fm_option *o)
{
	fm_text_add(view->text, sizeof(view->text), " %" PRIu64 "..%" PRIu64, o->min, o->max);
	if (o->initial != 0)
		fm_text_add(view->text, sizeof(view->text), ", default %" PRIu64, o->initial);
	fm_text_add(view->text, sizeof(view->text), ".");
}

static void add_setting(struct fm_option_view *view, const struct fm_setting *setting)
{
	char range[160], initial[FM_SETTING_TEXT_LEN];

	if (setting->kind == FM_KIND_CHOICE || setting->kind == FM_KIND_SWITCH)
		fm_text_add(view->values, sizeof(view->values), "%s", setting->values);
	if (setting->kind != FM_KIND_NUMBER && setting->kind != FM_KIND_SWITCH)
		return;
	fm_setting_range(setting, range, sizeof(range));
	fm_setting_format(setting, setting->initial, initial, sizeof(initial));
	fm_text_add(view->text, sizeof(view->text), " %s, default %s.", range, initial);
}

bool fm_options_view(unsigned int i, struct fm_option_view *view)
{
	const struct fm_option *o;

	if (i >= FM_OPTIONS)
		return false;
	o = &table[i];
	memset(view, 0, sizeof(*view));
	view->name = o->name;
	view->letter = (char)o->letter;
	view->arg = argument(o);
	fm_text_add(view->text, sizeof(view->text), "%s",
		    o->kind == FM_OPTION_SETTING ? fm_setting_find(o->name)->text : o->text);
	if (o->kind == FM_OPTION_NUMBER || o->kind == FM_OPTION_PORT_NUMBER)
		add_numbers(view, o);
	else if (o->kind == FM_OPTION_SETTING && view->arg != NULL)
		add_setting(view, fm_setting_find(o->name));
	for (int w = 0; o->kind == FM_OPTION_CHOICE && o->words[w] != NULL; w++)
		fm_text_add(view->values, sizeof(view->values), "%s%s", w > 0 ? "|" : "", o->words[w]);
	if (o->kind == FM_OPTION_CHOICE)
		fm_text_add(view->text, sizeof(view->text), " %s (default) or %s.", o->words[0], o->words[1]);
	return true;
}
