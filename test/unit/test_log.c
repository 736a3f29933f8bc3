/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on stderr, read back through a pipe in its place, and the buckets that keep a place in the source from filling
 * a disk.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rte_log.h>

#include "log.h"

int fm_port_logtype;

enum { START_MS = 1000000, TEXT_LEN = 32768 };

struct ear {
	int before, pipe[2];
	char text[TEXT_LEN];
};

static void listen_to(struct ear *ear)
{
	fflush(stderr);
	ear->before = dup(STDERR_FILENO);
	assert_int_equal(pipe2(ear->pipe, O_NONBLOCK), 0);
	assert_int_equal(dup2(ear->pipe[1], STDERR_FILENO), STDERR_FILENO);
}

static const char *heard(struct ear *ear)
{
	ssize_t n;

	fflush(stderr);
	dup2(ear->before, STDERR_FILENO);
	n = read(ear->pipe[0], ear->text, sizeof(ear->text) - 1);
	ear->text[n < 0 ? 0 : n] = '\0';
	close(ear->before);
	close(ear->pipe[0]);
	close(ear->pipe[1]);
	return ear->text;
}

static unsigned int lines(const char *text)
{
	unsigned int n = 0;

	for (; (text = strchr(text, '\n')) != NULL; text++)
		n++;
	return n;
}

static int take(struct fm_log_site *site, unsigned int tries, uint64_t now_ms)
{
	int got = 0;

	while (tries-- > 0)
		got += fm_log_take(site, now_ms);
	return got;
}

static void a_burst_then_one_a_second(void **state)
{
	struct fm_log_site site = { 0 };

	(void)state;
	assert_int_equal(take(&site, FM_LOG_BURST + 10, START_MS), FM_LOG_BURST);
	assert_int_equal(site.suppressed, 10);
	assert_int_equal(take(&site, 1, START_MS + FM_LOG_REFILL_MS - 1), 0);
	assert_int_equal(take(&site, 5, START_MS + FM_LOG_REFILL_MS), 1);
	/* What is left of a second counts for the next token. */
	assert_int_equal(take(&site, 5, START_MS + 5 * FM_LOG_REFILL_MS / 2), 1);
	assert_int_equal(take(&site, 5, START_MS + 3 * FM_LOG_REFILL_MS), 1);
	assert_int_equal(site.suppressed, 10 + 1 + 4 + 4 + 4);
	/* No more than the burst, however long it was quiet. */
	assert_int_equal(take(&site, 2 * FM_LOG_BURST, START_MS + 100000 * FM_LOG_REFILL_MS), FM_LOG_BURST);
}

static void two_places_two_buckets(void **state)
{
	struct fm_log_site site = { 0 }, other = { 0 };

	(void)state;
	take(&site, 2 * FM_LOG_BURST, START_MS);
	assert_int_equal(take(&other, 1, START_MS), 1);
}

static void with_level(void **state)
{
	struct ear ear;
	const char *text;

	(void)state;
	listen_to(&ear);
	fm_log_set_prefix(true);
	FM_LOG(ERR, "port %u: gone\n", 3);
	FM_LOG(NOTICE, "two\nlines");
	FM_LOG(INFO, "not at this level");
	fm_log_always(RTE_LOG_CRIT, "the end");
	fm_log_set_prefix(false);
	text = heard(&ear);
	assert_string_equal(text, "<3>fragmend: port 3: gone\n<5>fragmend: two lines\n<2>fragmend: the end\n");
}

static void without_level(void **state)
{
	struct ear ear;

	(void)state;
	listen_to(&ear);
	FM_LOG(WARNING, "port %u: odd\n", 3);
	fm_log_always(RTE_LOG_DEBUG, "%s", "the end");
	assert_string_equal(heard(&ear), "fragmend: port 3: odd\nfragmend: the end\n");
}

static void long_lines_are_cut(void **state)
{
	char name[2 * FM_LOG_LINE_LEN];
	struct ear ear;
	const char *text;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	listen_to(&ear);
	fm_log_set_prefix(true);
	FM_LOG(ERR, "%s", name);
	fm_log_set_prefix(false);
	text = heard(&ear);
	assert_int_equal(lines(text), 1);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_int_equal(strlen(text), strlen("<3>fragmend: ") + FM_LOG_LINE_LEN - 1 + strlen("\n"));
}

/* The clock is the real one here, so the bucket is put ahead of it: nothing comes back meanwhile. */
static void what_was_suppressed_is_told_once(void **state)
{
	static struct fm_log_site site;
	struct ear ear;
	const char *text;

	(void)state;
	listen_to(&ear);
	fm_log_set_prefix(true);
	for (int i = 0; i < FM_LOG_BURST; i++)
		fm_log(&site, RTE_LOG_ERR, "line %d", i);
	site.since_ms += FM_LOG_REFILL_MS * 1000 / 2;
	text = heard(&ear);
	/* A token may have come back while the lines were said; the last one counts as spent in any case. */
	assert_int_equal(lines(text), FM_LOG_BURST);
	site.spent = FM_LOG_BURST;

	listen_to(&ear);
	for (int i = 0; i < 7; i++)
		fm_log(&site, RTE_LOG_ERR, "more %d", i);
	fm_log_tell_suppressed();
	text = heard(&ear);
	assert_string_equal(text, "");

	listen_to(&ear);
	site.since_ms = 0;
	fm_log_tell_suppressed();
	fm_log_tell_suppressed();
	fm_log(&site, RTE_LOG_ERR, "again");
	fm_log_set_prefix(false);
	text = heard(&ear);
	assert_string_equal(text, "<3>fragmend: 7 more suppressed like: line 63\n<3>fragmend: again\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_then_one_a_second),
		cmocka_unit_test(two_places_two_buckets),
		cmocka_unit_test(with_level),
		cmocka_unit_test(without_level),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(what_was_suppressed_is_told_once),
	};

	fm_port_logtype = rte_log_register("test.log");
	rte_log_set_level((uint32_t)fm_port_logtype, RTE_LOG_NOTICE);
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
