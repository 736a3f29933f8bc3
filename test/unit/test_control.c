/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What commands do and command files, against a fake door.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "control.h"
#include "fake_door.h"
#include "shell.h"

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void forwarding(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "start"), 0);
	assert_true(fake_door.forwarding);
	assert_int_equal(shell_run(f, "start"), -EALREADY);
	assert_int_equal(shell_run(f, "stop"), 0);
	assert_false(fake_door.forwarding);
	assert_int_equal(shell_run(f, "flush reassembly"), 0);
	assert_string_equal(f->text, "17 fragments freed.\n");
	fake_door.flush_error = -ETIMEDOUT;
	assert_int_equal(shell_run(f, "flush reassembly"), -ETIMEDOUT);
	assert_string_equal(f->text, "");
	assert_int_equal(shell_run(f, "quit"), 0);
	assert_true(f->shell.quit);
}

static void capture(void **state)
{
	struct shell_fixture *f = *state;
	const struct fm_capture_request *request = &fake_door.capture.request;

	assert_int_equal(shell_run(f, "show capture"), 0);
	assert_string_equal(f->text, "There was no capture yet.\n");
	assert_int_equal(shell_run(f, "capture stop"), -EALREADY);
	assert_int_equal(shell_run(f, "capture start a.pcapng"), 0);
	assert_string_equal(fake_door.capture.path, "a.pcapng");
	assert_false(request->all);
	assert_int_equal(request->snaplen_bytes, FM_SNAPLEN_DEFAULT);
	assert_int_equal(request->limit_packets, 0);
	assert_int_equal(request->rate_pps, FM_CAPTURE_RATE_DEFAULT);
	fake_door.capture.over_rate = 4;
	fake_door.capture.no_room = 2;
	fake_door.capture.unwritten = 1;
	assert_int_equal(shell_run(f, "capture stop"), 0);
	assert_non_null(strstr(f->text, "Capture to a.pcapng: stopped\n"));
	assert_non_null(strstr(f->text, "  not captured                7\n"));
	assert_int_equal(shell_run(f, "capture start drops all snaplen 64 limit 1000000000000 rate 1000000"), 0);
	assert_string_equal(fake_door.capture.path, "drops");
	assert_true(request->all);
	assert_int_equal(request->snaplen_bytes, 64);
	assert_int_equal(request->limit_packets, 1000000000000);
	assert_int_equal(request->rate_pps, 1000000);
	assert_int_equal(shell_run(f, "show capture"), 0);
	assert_non_null(strstr(f->text, "Capture to drops: running\n"));
	/* A capture that failed is no success. */
	fake_door.capture.error = ENOSPC;
	assert_int_equal(shell_run(f, "capture stop"), -ENOSPC);
	assert_string_equal(f->shell.err, "capture to drops has failed: No space left on device");
	assert_int_equal(shell_run(f, "show capture"), 0);
	assert_non_null(strstr(f->text, "Capture to drops: FAILED: No space left on device\n"));
	fake_door.capture_error = -EEXIST;
	assert_int_equal(shell_run(f, "capture start a.pcapng drops"), -EEXIST);
}

static void set(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "set timeout4 1"), 0);
	assert_int_equal(shell_run(f, "set timeout6 120000"), 0);
	assert_int_equal(shell_run(f, "set max-fragments 8192"), 0);
	assert_int_equal(shell_run(f, "set source-prefix4 24"), 0);
	assert_int_equal(shell_run(f, "set source-prefix6 48"), 0);
	assert_int_equal(shell_run(f, "set output refragment"), 0);
	assert_int_equal(shell_run(f, "set verify-l4 on"), 0);
	assert_int_equal(shell_run(f, "set bypass on"), 0);
	assert_int_equal(shell_run(f, "set link-follow on"), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 1);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV6], 120000);
	assert_int_equal(fake_door.settings.max_fragments, 8192);
	assert_int_equal(fake_door.settings.source_prefix[FM_IPV4], 24);
	assert_int_equal(fake_door.settings.source_prefix[FM_IPV6], 48);
	assert_int_equal(fake_door.settings.output, FM_OUTPUT_REFRAGMENT);
	assert_true(fake_door.settings.verify_l4 && fake_door.settings.bypass && fake_door.settings.link_follow);
	assert_int_equal(fake_door.published, 9);
	assert_int_equal(shell_run(f, "set source-prefix4 33"), -EINVAL);
	assert_string_equal(f->shell.err, "source-prefix4 must be 1..32 bits, got \"33\"");
	assert_int_equal(fake_door.published, 9);
	fake_door.publish_error = -EINVAL;
	assert_int_equal(shell_run(f, "set bypass off"), -EINVAL);
	assert_string_equal(f->shell.err, "the door says -22");
	assert_true(fake_door.settings.bypass);
}

static void set_budget(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "set budget 5550"), 0);
	assert_int_equal(fake_door.settings.budget_mbufs, 5550);
	assert_int_equal(shell_run(f, "set budget 5551"), -ERANGE);
	assert_string_equal(f->shell.err,
			    "budget must be 1..5550 mbufs, what the pools leave (see show budget), got \"5551\"");
	assert_int_equal(shell_run(f, "set budget 50%"), 0);
	assert_int_equal(fake_door.settings.budget_mbufs, 5000);
	assert_int_equal(shell_run(f, "set budget 100%"), -ERANGE);
	assert_string_equal(f->shell.err,
			    "budget must be 1..5550 mbufs, what the pools leave (see show budget), got \"100%\", which "
			    "is 10000");
	assert_int_equal(fake_door.settings.budget_mbufs, 5000);
}

/* Settings of the control layer itself are not published to the workers. */
static void set_local(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "set stats-period 5"), 0);
	assert_int_equal(fm_setting[FM_SETTING_STATS_PERIOD].get(NULL), 5);
	fm_control_set_stats_period(0);
	assert_int_equal(fm_setting[FM_SETTING_STATS_PERIOD].get(NULL), 0);
	assert_int_equal(shell_run(f, "set log warning"), 0);
	assert_int_equal(shell_run(f, "show config"), 0);
	assert_non_null(strstr(f->text, "  log              warning "));
	assert_int_equal(shell_run(f, "set log notice"), 0);
	assert_int_equal(fake_door.published, 0);
}

static void clear(void **state)
{
	struct shell_fixture *f = *state;

	assert_int_equal(shell_run(f, "clear port stats 1"), 0);
	assert_int_equal(fake_door.cleared[0], 0);
	assert_int_equal(fake_door.cleared[1], 1);
	assert_int_equal(shell_run(f, "clear port stats all"), 0);
	assert_int_equal(fake_door.cleared[0], 1);
	assert_int_equal(fake_door.cleared[1], 2);
	fake_door.clear_error = -ENOTSUP;
	assert_int_equal(shell_run(f, "clear port stats 0"), -ENOTSUP);
	fake_door.stats[0].reass.fragments_in = 1234567;
	assert_int_equal(shell_run(f, "show reassembly stats"), 0);
	assert_non_null(strstr(f->text, "1234567"));
	assert_int_equal(shell_run(f, "clear reassembly stats"), 0);
	assert_int_equal(shell_run(f, "show reassembly stats"), 0);
	assert_null(strstr(f->text, "1234567"));
}

/* A saved file brings back every setting, also over other ones. */
static void save_and_load(void **state)
{
	static const char *const changes[] = {
		"set budget 77", "set timeout4 11", "set timeout6 12", "set max-fragments 13", "set source-prefix4 15",
		"set source-prefix6 16", "set output whole-only", "set header-chain off",
		"set verify-l4 on", "set bypass on", "set link-follow on", "set log debug", "set stats-period 14",
	};
	struct shell_fixture *f = *state;
	struct fm_settings saved;
	char line[128], config[4096];

	assert_int_equal(sizeof(changes) / sizeof(changes[0]), FM_SETTING_IDS);
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		assert_int_equal(shell_run(f, changes[i]), 0);
	saved = fake_door.settings;
	assert_int_equal(shell_run(f, "show config"), 0);
	snprintf(config, sizeof(config), "%s", f->text);
	snprintf(line, sizeof(line), "save config %s", f->file);
	assert_int_equal(shell_run(f, line), 0);
	fm_settings_default(&fake_door.settings);
	assert_int_equal(shell_run(f, "set log notice"), 0);
	assert_int_equal(shell_run(f, "set stats-period 0"), 0);
	snprintf(line, sizeof(line), "load %s", f->file);
	assert_int_equal(shell_run(f, line), 0);
	assert_memory_equal(&fake_door.settings, &saved, sizeof(saved));
	assert_int_equal(shell_run(f, "show config"), 0);
	assert_string_equal(f->text, config);
	assert_int_equal(shell_run(f, "set log notice"), 0);
	assert_int_equal(shell_run(f, "set stats-period 0"), 0);
}

static void save_fails(void **state)
{
	struct shell_fixture *f = *state;
	struct stat target;
	char line[128];

	snprintf(line, sizeof(line), "save config %s/none/file", f->dir);
	assert_int_equal(shell_run(f, line), -ENOENT);
	assert_non_null(strstr(f->shell.err, "none/file"));
	/* What is no regular file stays what it is, and nothing is left beside it. */
	snprintf(line, sizeof(line), "save config %s", f->dir);
	assert_int_equal(shell_run(f, line), -EINVAL);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	snprintf(line, sizeof(line), "save config %s", f->file);
	assert_int_equal(shell_run(f, line), -EINVAL);
	assert_int_equal(stat(f->file, &target), 0);
	assert_true(S_ISFIFO(target.st_mode));
	snprintf(line, sizeof(line), "%s.part", f->dir);
	assert_int_equal(access(line, F_OK), -1);
}

/* The old file stays if the new one cannot take its place. */
static void save_is_all_or_nothing(void **state)
{
	struct shell_fixture *f = *state;
	char line[128], part[128];
	struct rlimit limit, none;
	struct stat st;
	int ret;

	write_file(f->file, "set timeout4 9\n");
	/* A file that only looks like one of ours stays, and who may read the old one may read the new one. */
	snprintf(part, sizeof(part), "%s.part", f->file);
	write_file(part, "mine");
	assert_int_equal(chmod(f->file, 0640), 0);
	snprintf(line, sizeof(line), "save config %s", f->file);
	assert_int_equal(shell_run(f, line), 0);
	assert_int_equal(stat(f->file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(unlink(part), 0);
	write_file(f->file, "set timeout4 9\n");
	/* A full device in place of a disk. */
	getrlimit(RLIMIT_FSIZE, &limit);
	none = limit;
	none.rlim_cur = 0;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	ret = shell_run(f, line);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(ret, -EFBIG);
	assert_non_null(strstr(f->shell.err, f->file));
	snprintf(line, sizeof(line), "load %s", f->file);
	assert_int_equal(shell_run(f, line), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 9);
}

/* A symbolic link goes on to point to the file. */
static void save_through_a_link(void **state)
{
	struct shell_fixture *f = *state;
	struct stat target;
	char line[128];

	write_file(f->file, "set timeout4 9\n");
	assert_int_equal(symlink(f->file, f->other), 0);
	snprintf(line, sizeof(line), "save config %s", f->other);
	assert_int_equal(shell_run(f, line), 0);
	assert_int_equal(lstat(f->other, &target), 0);
	assert_true(S_ISLNK(target.st_mode));
	snprintf(line, sizeof(line), "load %s", f->file);
	assert_int_equal(shell_run(f, line), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 2000);
	/* One to nothing is nobody's file, so it is left alone. */
	assert_int_equal(unlink(f->file), 0);
	snprintf(line, sizeof(line), "save config %s", f->other);
	assert_int_equal(shell_run(f, line), -ENOENT);
	assert_int_equal(lstat(f->other, &target), 0);
	assert_true(S_ISLNK(target.st_mode));
}

static int run_file(struct shell_fixture *f, const char *text, char *err)
{
	write_file(f->file, text);
	err[0] = '\0';
	return fm_control_run_file(f->file, f->shell.out, err, FM_SENTENCE_LEN);
}

static void files(void **state)
{
	struct shell_fixture *f = *state;
	char err[FM_SENTENCE_LEN], expected[FM_SENTENCE_LEN];

	assert_int_equal(run_file(f, "", err), 0);
	assert_int_equal(run_file(f, "# nothing\n\n  \n", err), 0);
	assert_int_equal(run_file(f, "set timeout4 5 # ms\r\nset timeout6 6", err), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 5);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV6], 6);
	assert_int_equal(run_file(f, "set timeout4 7\n\nset timeout4 0\nset timeout6 8\n", err), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:3: timeout4 must be 1..120000 ms, got \"0\"", f->file);
	assert_string_equal(err, expected);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 7);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV6], 6);
	assert_int_equal(run_file(f, "quit\nset timeout4 9\n", err), 1);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 7);
	fake_door.flush_error = -ETIMEDOUT;
	assert_int_equal(run_file(f, "flush reassembly\n", err), -ETIMEDOUT);
	snprintf(expected, sizeof(expected), "%s:1: the door says %d", f->file, -ETIMEDOUT);
	assert_string_equal(err, expected);
}

static void files_that_cannot_be_read(void **state)
{
	struct shell_fixture *f = *state;
	char err[FM_SENTENCE_LEN], expected[FM_SENTENCE_LEN];
	char line[2 * FM_LINE_MAX];
	FILE *file;

	assert_int_equal(fm_control_run_file("/nonexistent/file", f->shell.out, err, sizeof(err)), -ENOENT);
	assert_string_equal(err, "cannot read /nonexistent/file: No such file or directory");
	assert_int_equal(fm_control_run_file(f->dir, f->shell.out, err, sizeof(err)), -EISDIR);
	assert_non_null(strstr(err, f->dir));
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	assert_int_equal(run_file(f, line, err), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:1: line is longer than 511 characters", f->file);
	assert_string_equal(err, expected);
	/* It has no end. */
	assert_int_equal(fm_control_run_file("/dev/zero", f->shell.out, err, sizeof(err)), -EINVAL);
	assert_string_equal(err, "cannot read /dev/zero: neither a regular file nor a pipe");
	assert_int_equal(run_file(f, "set \x1b[2J\x9b\n", err), -EINVAL);
	assert_non_null(strstr(err, "\"?[2J?\""));
	file = fopen(f->file, "w");
	assert_non_null(file);
	assert_int_equal(fwrite("start\nst\0op\n", 1, 12, file), 12);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(fm_control_run_file(f->file, f->shell.out, err, sizeof(err)), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:2: line has a NUL character", f->file);
	assert_string_equal(err, expected);
}

/* `stop` is looked at between two lines, in files that files load, too. */
static void files_that_are_stopped(void **state)
{
	static const volatile sig_atomic_t yes = 1;
	struct shell_fixture *f = *state;
	char err[FM_SENTENCE_LEN];

	assert_int_equal(run_file(f, "set timeout4 7\n", err), 0);
	fm_control_set_stop(&yes);
	assert_int_equal(run_file(f, "set timeout4 8\nnonsense\n", err), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 7);
	fm_control_set_stop(NULL);
	assert_int_equal(run_file(f, "set timeout4 8\n", err), 0);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 8);
}

static void files_in_files(void **state)
{
	struct shell_fixture *f = *state;
	char err[FM_SENTENCE_LEN], expected[FM_SENTENCE_LEN], text[128];

	write_file(f->other, "set timeout4 3\nset bypass 1\n");
	snprintf(text, sizeof(text), "\nload %s\n", f->other);
	assert_int_equal(run_file(f, text, err), -EINVAL);
	snprintf(expected, sizeof(expected), "%s:2: %s:2: bypass must be on or off, got \"1\"", f->file, f->other);
	assert_string_equal(err, expected);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 3);
	write_file(f->other, "quit\n");
	snprintf(text, sizeof(text), "load %s\nset timeout4 4\n", f->other);
	assert_int_equal(run_file(f, text, err), 1);
	assert_int_equal(fake_door.settings.timeout_ms[FM_IPV4], 3);
	/* One after the other there may be any number. */
	write_file(f->other, "set timeout4 4\n");
	snprintf(text, sizeof(text), "load %s\n", f->other);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(shell_run(f, text), 0);
	snprintf(text, sizeof(text), "load %s\n", f->file);
	assert_int_equal(run_file(f, text, err), -ELOOP);
	assert_non_null(strstr(err, "8 command files are open already"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(forwarding, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(capture, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(set, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(set_budget, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(set_local, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(clear, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(save_and_load, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(save_fails, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(save_is_all_or_nothing, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(save_through_a_link, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(files, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(files_that_cannot_be_read, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(files_that_are_stopped, shell_setup, shell_teardown),
		cmocka_unit_test_setup_teardown(files_in_files, shell_setup, shell_teardown),
	};

	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
