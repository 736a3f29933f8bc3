/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: every option, every range, and what is said of a wrong word. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "options.h"

enum { FM_WORDS_MAX = 16 };

/* Split at blanks; the words stay until the next call. */
static int parse(const char *line, struct fm_options *options, char *err, size_t err_len)
{
	static char copy[512];
	char *argv[FM_WORDS_MAX + 1] = { (char[]){ "fragmend" } };
	int argc = 1;

	assert_in_range(strlen(line), 0, sizeof(copy) - 1);
	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
		assert_in_range(argc, 1, FM_WORDS_MAX - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	return fm_options_parse(argc, argv, options, err, err_len);
}

static struct fm_options accept_line(const char *line)
{
	struct fm_options options;
	char err[256] = "";

	if (parse(line, &options, err, sizeof(err)) != 0)
		fail_msg("\"%s\": %s", line, err);
	return options;
}

static void defaults(void **state)
{
	const struct fm_options o = accept_line("");

	(void)state;
	assert_false(o.interactive || o.auto_start || o.live || o.help || o.version || o.config.has_seed);
	assert_null(o.cmdline_file);
	assert_int_equal(o.config.burst, 32);
	assert_int_equal(o.config.mbcache, 250);
	assert_int_equal(o.config.mbuf_size, 2176);
	assert_true(o.config.numa);
	assert_int_equal(o.config.topology, FM_TOPOLOGY_PAIRED);
	assert_int_equal(o.config.steer, FM_STEERING_AUTO);
	assert_int_equal(o.config.clock, FM_CLOCK_TSC);
	assert_int_equal(o.config.settings.timeout_ms[0], 2000);
	assert_int_equal(o.config.settings.timeout_ms[1], 10000);
	assert_int_equal(o.config.settings.max_fragments, 128);
	assert_int_equal(o.config.settings.source_prefix[0], 32);
	assert_int_equal(o.config.settings.source_prefix[1], 64);
	assert_int_equal(o.config.settings.output, FM_OUTPUT_WHOLE_OR_REFRAGMENT);
	assert_int_equal(o.config.settings.budget_mbufs, 0);
	assert_int_equal(o.config.budget_percent, 0);
	assert_int_equal(o.config.total_num_mbufs, 0);
	assert_true(o.config.settings.header_chain);
	assert_false(o.config.settings.verify_l4);
}

/* A switch that is on by itself takes a word. */
static void header_chain(void **state)
{
	(void)state;
	assert_false(accept_line("--header-chain off").config.settings.header_chain);
	assert_true(accept_line("--header-chain on").config.settings.header_chain);
}

/* The live view is left for a prompt, and shows what is forwarded. */
static void live_view(void **state)
{
	const struct fm_options o = accept_line("--live --burst 64");

	(void)state;
	assert_true(o.live && o.interactive && o.auto_start);
}

static void everything(void **state)
{
	struct fm_options o =
		accept_line("-i --auto-start --cmdline-file f.cmd --port-topology loop --rxq 2 --txq=3 --burst 64"
			    " --steer on --console-socket /run/c");

	(void)state;
	assert_true(o.interactive && o.auto_start);
	assert_false(o.live);
	assert_string_equal(o.cmdline_file, "f.cmd");
	assert_string_equal(o.console_socket, "/run/c");
	assert_int_equal(o.config.topology, FM_TOPOLOGY_LOOP);
	assert_int_equal(o.config.steer, FM_STEERING_ON);
	assert_int_equal(o.config.nb_rxq, 2);
	assert_int_equal(o.config.nb_txq, 3);
	assert_int_equal(o.config.burst, 64);
	o = accept_line(
		"--rxd 1024 --txd 2048 --mbcache 0 --mbuf-size 4096 --total-num-mbufs 100000 --max-pkt-len 9018");
	assert_int_equal(o.config.nb_rxd, 1024);
	assert_int_equal(o.config.nb_txd, 2048);
	assert_int_equal(o.config.mbcache, 0);
	assert_int_equal(o.config.mbuf_size, 4096);
	assert_int_equal(o.config.total_num_mbufs, 100000);
	assert_int_equal(o.config.max_pkt_len, 9018);
	o = accept_line(
		"--no-numa --nb-cores 4 --budget 5000 --max-datagrams 16777216 --max-fragments 8192 --timeout4 1");
	assert_false(o.config.numa);
	assert_int_equal(o.config.nb_cores, 4);
	assert_int_equal(o.config.settings.budget_mbufs, 5000);
	assert_int_equal(o.config.max_datagrams, 1 << 24);
	assert_int_equal(o.config.settings.max_fragments, 8192);
	assert_int_equal(o.config.settings.timeout_ms[0], 1);
	o = accept_line(
		"--timeout6 120000 --output refragment --verify-l4 --link-follow --stats-period 5 --exit-on-idle 7");
	assert_int_equal(o.config.settings.timeout_ms[1], 120000);
	assert_int_equal(o.config.settings.output, FM_OUTPUT_REFRAGMENT);
	assert_true(o.config.settings.verify_l4 && o.config.settings.link_follow);
	assert_int_equal(o.stats_period_s, 5);
	assert_int_equal(o.exit_on_idle_ms, 7);
	o = accept_line("--source-prefix4 24 --source-prefix6=48");
	assert_int_equal(o.config.settings.source_prefix[0], 24);
	assert_int_equal(o.config.settings.source_prefix[1], 48);
	o = accept_line("--source-prefix4 1 --source-prefix6 128");
	assert_int_equal(o.config.settings.source_prefix[0], 1);
	assert_int_equal(o.config.settings.source_prefix[1], 128);
	o = accept_line("--clock rx-timestamp --seed 18446744073709551615 --interactive --numa --help --version");
	assert_int_equal(o.config.clock, FM_CLOCK_RX_TIMESTAMP);
	assert_true(o.config.has_seed && o.interactive && o.config.numa && o.help && o.version);
	assert_true(o.config.seed == UINT64_MAX);
}

static void seed_of_zero_is_a_seed(void **state)
{
	(void)state;
	assert_true(accept_line("--seed 0").config.has_seed);
}

static void budget_in_percent(void **state)
{
	const struct fm_options o = accept_line("--budget 40%");

	(void)state;
	assert_int_equal(o.config.budget_percent, 40);
	assert_int_equal(o.config.settings.budget_mbufs, 0);
}

static void by_port(void **state)
{
	const struct fm_options o = accept_line("--mtu 0=1500 --mtu 31=65575 --write 1=a=b,c --write 0=/x");

	(void)state;
	assert_int_equal(o.config.mtu[0], 1500);
	assert_int_equal(o.config.mtu[31], 65575);
	assert_int_equal(o.config.mtu[1], 0);
	assert_string_equal(o.config.write_path[1], "a=b,c");
	assert_string_equal(o.config.write_path[0], "/x");
	assert_null(o.config.write_path[2]);
}

struct refusal {
	const char *line;
	const char *sentence;
};

static const struct refusal refusals[] = {
	{ "--frob", "--frob is no option of fragmend, or takes no value; see --help" },
	{ "-x", "-x is no option of fragmend, or takes no value; see --help" },
	{ "word", "\"word\" is no option of fragmend; see --help" },
	{ "--burst 3 word", "\"word\" is no option of fragmend; see --help" },
	/* Not even the beginning of a name. */
	{ "--burs 3", "--burs is no option of fragmend, or takes no value; see --help" },
	{ "--max 3", "--max is no option of fragmend, or takes no value; see --help" },
	{ "--interactive=1", "--interactive=1 is no option of fragmend, or takes no value; see --help" },
	{ "--burst", "--burst needs a value" },
	{ "--burst 0", "--burst must be 1..256, got \"0\"" },
	{ "--burst 257", "--burst must be 1..256, got \"257\"" },
	{ "--burst=", "--burst must be 1..256, got \"\"" },
	{ "--burst 0x10", "--burst must be 1..256, got \"0x10\"" },
	{ "--burst +5", "--burst must be 1..256, got \"+5\"" },
	{ "--burst -5", "--burst must be 1..256, got \"-5\"" },
	{ "--burst 18446744073709551617", "--burst must be 1..256, got \"18446744073709551617\"" },
	{ "--seed 18446744073709551616", "--seed must be 0..18446744073709551615, got \"18446744073709551616\"" },
	{ "--rxd 65536", "--rxd must be 1..65535, got \"65536\"" },
	{ "--burst 1 --burst 1", "--burst is given twice" },
	{ "-i --interactive", "--interactive is given twice" },
	{ "--numa --no-numa", "--numa and --no-numa exclude each other" },
	{ "--no-numa --numa", "--no-numa and --numa exclude each other" },
	{ "--timeout4 5 --timeout4 6", "--timeout4 is given twice" },
	{ "--timeout4 0", "--timeout4 must be 1..120000 ms, got \"0\"" },
	{ "--timeout6 120001", "--timeout6 must be 1..120000 ms, got \"120001\"" },
	{ "--max-fragments 1", "--max-fragments must be 2..8192 fragments, got \"1\"" },
	{ "--source-prefix4 0", "--source-prefix4 must be 1..32 bits, got \"0\"" },
	{ "--source-prefix4 33", "--source-prefix4 must be 1..32 bits, got \"33\"" },
	{ "--source-prefix6 0", "--source-prefix6 must be 1..128 bits, got \"0\"" },
	{ "--source-prefix6 129", "--source-prefix6 must be 1..128 bits, got \"129\"" },
	{ "--source-prefix4", "--source-prefix4 needs a value" },
	{ "--verify-l4=on", "--verify-l4=on is no option of fragmend, or takes no value; see --help" },
	{ "--header-chain", "--header-chain needs a value" },
	{ "--header-chain no", "--header-chain must be on or off, got \"no\"" },
	{ "--console-socket=", "--console-socket must have 1..107 bytes, got 0: \"\"" },
	{ "--clock sun", "--clock must be tsc or rx-timestamp, got \"sun\"" },
	{ "--steer off", "--steer must be auto or on, got \"off\"" },
	{ "--port-topology ring", "--port-topology must be paired or loop, got \"ring\"" },
	{ "--output jumbo", "--output must be whole-or-refragment, whole-only or refragment, got \"jumbo\"" },
	{ "--mtu 1500", "--mtu must be PORT=BYTES with a port of 0..31, got \"1500\"" },
	{ "--mtu 32=1500", "--mtu must be PORT=BYTES with a port of 0..31, got \"32=1500\"" },
	{ "--mtu =1500", "--mtu must be PORT=BYTES with a port of 0..31, got \"=1500\"" },
	{ "--mtu 1=", "--mtu must be PORT=BYTES with a port of 0..31, got \"1=\"" },
	{ "--mtu 123456789=1500", "--mtu must be PORT=BYTES with a port of 0..31, got \"123456789=1500\"" },
	{ "--mtu 1=67", "--mtu 1=BYTES must be 68..65575, got \"67\"" },
	{ "--mtu 1=65576", "--mtu 1=BYTES must be 68..65575, got \"65576\"" },
	{ "--mtu 1=1500 --mtu 1=1500", "--mtu 1 is given twice" },
	{ "--write file", "--write must be PORT=FILE with a port of 0..31, got \"file\"" },
	{ "--write 1=a --write 1=b", "--write 1 is given twice" },
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct fm_options options;
		char err[256] = "";

		assert_int_equal(parse(refusals[i].line, &options, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, refusals[i].sentence);
	}
}

static void budget_refused(void **state)
{
	static const char *const wrong[] = { "0", "0%", "101%", "%", "x", "-1", "4294967296" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct fm_options options;
		char line[64], err[256] = "";

		snprintf(line, sizeof(line), "--budget %s", wrong[i]);
		assert_int_equal(parse(line, &options, err, sizeof(err)), -EINVAL);
		assert_int_equal(strncmp(err, "--budget must be 1..", 20), 0);
	}
}

static void help_names_every_option(void **state)
{
	static const char *const some[] = { "-i, --interactive", "--mtu PORT=BYTES", "--budget N|P%", "--verify-l4\n",
					    "1..120000 ms, default 2000.", "--output whole-or-refragment|",
					    "1..256, default 32.", "0..512, default 250.", "default 2176.",
					    "default 32767, fewer", "--header-chain on|off\n",
					    "on or off, default on.", "--source-prefix4 N\n", "1..32 bits, default 32.",
					    "1..128 bits, default 64." };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_non_null(out);
	fm_options_help(out);
	fclose(out);
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		if (strstr(text, some[i]) == NULL)
			fail_msg("the help does not say \"%s\"", some[i]);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(everything),
		cmocka_unit_test(live_view),
		cmocka_unit_test(header_chain),
		cmocka_unit_test(seed_of_zero_is_a_seed),
		cmocka_unit_test(budget_in_percent),
		cmocka_unit_test(by_port),
		cmocka_unit_test(refused),
		cmocka_unit_test(budget_refused),
		cmocka_unit_test(help_names_every_option),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
