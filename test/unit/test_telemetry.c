/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: parameters, and answers that fit. What goes over the socket is tested end to end.
 */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_door.h"
#include "stats.h"
#include "telemetry.h"

enum { DICT_MAX = 256, TEXT_MAX = FM_TELEMETRY_TEXT_MAX };	/* of rte_telemetry */

static int setup(void **state)
{
	(void)state;
	fake_door_reset();
	fm_stats_clear();
	return 0;
}

static const struct fm_endpoint *endpoint(const char *path)
{
	for (unsigned int i = 0; i < fm_endpoints; i++)
		if (strcmp(fm_endpoint[i].path, path) == 0)
			return &fm_endpoint[i];
	fail_msg("no %s", path);
	return NULL;
}

static void table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < fm_endpoints; i++) {
		const struct fm_endpoint *e = &fm_endpoint[i];
		struct fm_report *report = fm_report_new();
		const struct fm_ask ask = { .since_start = true, .brief = true };
		char err[FM_SENTENCE_LEN] = "";
		bool list = e->list == NULL;

		assert_ptr_equal(endpoint(e->path), e);
		assert_int_equal(strncmp(e->path, "/fragmend/", 10), 0);
		assert_int_equal(e->text[strlen(e->text) - 1], '.');
		/* The list that may be cut is there. */
		assert_int_equal(e->put(fm_report_root(report), &ask, err, sizeof(err)), 0);
		for (struct fm_value *in = fm_report_root(report)->in.first; in != NULL; in = in->next)
			list |= e->list != NULL && strcmp(in->name, e->list) == 0 && in->kind == FM_VALUE_LIST;
		assert_true(list);
		fm_report_free(report);
	}
}

static void good_parameters(void **state)
{
	static const struct {
		const char *path, *params;
		bool given;
		uint64_t number;
		uint32_t first;
	} good[] = {
		{ "/fragmend/stats", NULL, false, 0, 0 },
		{ "/fragmend/stats", "all", false, 0, 0 },
		{ "/fragmend/stats", "3", true, 3, 0 },
		{ "/fragmend/drops", NULL, false, 0, 0 },
		{ "/fragmend/sources", "1", true, 1, 0 },
		{ "/fragmend/sources", "200", true, 200, 0 },
		{ "/fragmend/datagrams", "200,4294967295", true, 200, UINT32_MAX },
		{ "/fragmend/ports", "all,7", false, 0, 7 },
		{ "/fragmend/lcores", "18446744073709551615", true, UINT64_MAX, 0 },
		{ "/fragmend/budget", "all,1", false, 0, 1 },
	};
	struct fm_telemetry_query query;
	char err[FM_SENTENCE_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct fm_endpoint *e = endpoint(good[i].path);

		assert_int_equal(fm_telemetry_parse(e, good[i].params, &query, err, sizeof(err)), 0);
		assert_int_equal(query.ask.given, good[i].given);
		assert_true(query.ask.number == good[i].number);
		assert_int_equal(query.first, good[i].first);
		assert_true(query.ask.since_start);
	}
}

static void bad_parameters(void **state)
{
	static const struct {
		const char *path, *params, *want;
	} bad[] = {
		{ "/fragmend/stats", "", "LCORE must be all or a number, got \"\"" },
		{ "/fragmend/stats", "x", "LCORE must be all or a number, got \"x\"" },
		{ "/fragmend/stats", "-1", "LCORE must be all or a number, got \"-1\"" },
		{ "/fragmend/stats", "1,2", "too many parameters: it is /fragmend/stats[,all|LCORE]" },
		{ "/fragmend/stats", "18446744073709551616",
		  "LCORE must be all or a number, got \"18446744073709551616\"" },
		{ "/fragmend/drops", "1", "too many parameters: it is /fragmend/drops" },
		{ "/fragmend/sources", "0", "N must be 1..200, got \"0\"" },
		{ "/fragmend/sources", "201", "N must be 1..200, got \"201\"" },
		{ "/fragmend/sources", "all", "N must be 1..200, got \"all\"" },
		{ "/fragmend/sources", "1 ", "N must be 1..200, got \"1 \"" },
		{ "/fragmend/sources", "5,", "FIRST must be 0..4294967295, got \"\"" },
		{ "/fragmend/sources", "5,4294967296", "FIRST must be 0..4294967295, got \"4294967296\"" },
		{ "/fragmend/sources", "5,1,1", "too many parameters: it is /fragmend/sources[,N[,FIRST]]" },
		{ "/fragmend/sources", "5,1,1,1,1", "too many parameters: it is /fragmend/sources[,N[,FIRST]]" },
		{ "/fragmend/ports", "port", "PORT must be all or a number, got \"port\"" },
		{ "/fragmend/budget", "1", "the parameter must be all, got \"1\"" },
		{ "/fragmend/sources", "11111111111111111111111111111111111111111111111111",
		  "N must be 1..200, got \"111111111111111111111111\"" },
	};
	struct fm_telemetry_query query;
	char err[FM_SENTENCE_LEN];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct fm_endpoint *e = endpoint(bad[i].path);

		assert_int_equal(fm_telemetry_parse(e, bad[i].params, &query, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, bad[i].want);
		/* An answer's texts have room for so much. */
		assert_true(strlen(err) <= TEXT_MAX);
	}
}

/* What rte_telemetry takes as a name, and how much of it. */
static void check_names(const struct fm_value *value)
{
	unsigned int n = 0;

	if (value->kind == FM_VALUE_TEXT)
		assert_true(strlen(value->text) <= TEXT_MAX);
	if (value->kind != FM_VALUE_OBJECT && value->kind != FM_VALUE_LIST)
		return;
	for (const struct fm_value *in = value->in.first; in != NULL; in = in->next) {
		n++;
		for (const char *at = in->name; at != NULL && *at != '\0'; at++)
			assert_true(isalnum((unsigned char)*at) || *at == '_');
		if (in->name != NULL)
			assert_in_range(strlen(in->name), 1, TEXT_MAX);
		check_names(in);
	}
	assert_true(n <= DICT_MAX);
}

static void all_at_their_largest(void)
{
	uint64_t *member = (uint64_t *)fake_door.stats;

	for (size_t i = 0; i < 2 * sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		member[i] = UINT64_MAX / 4;
	for (unsigned int w = 0; w < 2; w++) {
		fake_door.views[w] = fake_door.sources[w] = FAKE_VIEWS_MAX;
		memset(fake_door.source[w], 0xff, sizeof(fake_door.source[w]));
		for (unsigned int i = 0; i < FAKE_VIEWS_MAX; i++) {
			memset(fake_door.view[w][i].source, 0xff, 32);
			fake_door.view[w][i].family = 6;
			fake_door.view[w][i].age_tsc = UINT32_MAX;
			fake_door.view[w][i].id = UINT32_MAX;
			/* So that none adds up with another one. */
			fake_door.source[w][i].prefix[15] = (uint8_t)(16 * w + i);
		}
		memset(fake_door.port[w].name, 'n', sizeof(fake_door.port[w].name) - 1);
		fake_door.port[w].rx_packets = UINT64_MAX;
		fake_door.worker[w].n_queues = FM_QUEUES_MAX;
		fake_door.worker[w].n_pipes = FM_PIPES_MAX;
	}
}

/* Numbers at their largest: what is no list fits whole, texts included; of a list there is always something. */
static void fits(void **state)
{
	struct fm_ask ask = { .since_start = true, .brief = true };
	char err[FM_SENTENCE_LEN] = "";

	(void)state;
	all_at_their_largest();
	/* Rates, too. */
	fm_stats_sample(1);
	for (unsigned int i = 0; i < fm_endpoints; i++) {
		struct fm_report *report = fm_report_new();
		struct fm_value *root = fm_report_root(report);

		ask.given = fm_endpoint[i].param == FM_ENDPOINT_COUNT;
		ask.number = FM_TELEMETRY_LIST_MAX;
		assert_int_equal(fm_endpoint[i].put(root, &ask, err, sizeof(err)), 0);
		check_names(root);
		assert_int_equal(fm_telemetry_fit(root, fm_endpoint[i].list, 0), 0);
		assert_true(fm_telemetry_bytes(root) <= FM_TELEMETRY_BYTES);
		assert_true(fm_report_ok(report));
		fm_report_free(report);
	}
}

/* A list of `n` elements of `len` characters, made to fit from element `first` on. */
static int fit(struct fm_report *report, unsigned int n, size_t len, uint32_t first)
{
	struct fm_value *root = fm_report_root(report), *list;
	char text[128];

	fm_put_uint(root, "before", 1);
	list = fm_put_list(root, "list");
	memset(text, 'x', len);
	text[len] = '\0';
	for (unsigned int i = 0; i < n; i++) {
		struct fm_value *in = fm_put_object(list, NULL);

		fm_put_uint(in, "number", i);
		fm_put_text(in, "text", text);
	}
	fm_put_uint(root, "behind", 2);
	return fm_telemetry_fit(root, "list", first);
}

static struct fm_value *member(struct fm_report *report, const char *name)
{
	for (struct fm_value *in = fm_report_root(report)->in.first; in != NULL; in = in->next)
		if (strcmp(in->name, name) == 0)
			return in;
	return NULL;
}

/* However long the list is, who follows "next" gets each element once, in order. */
static void pages(void **state)
{
	static const unsigned int lengths[] = { 0, 1, 7, 50, 120 };

	(void)state;
	for (unsigned int l = 0; l < 5; l++) {
		unsigned int seen = 0, answers = 0;
		uint32_t first = 0;
		bool more = true;

		while (more) {
			struct fm_report *report = fm_report_new();
			const struct fm_value *next;
			unsigned int n = 0;

			assert_int_equal(fit(report, 700, lengths[l], first), 0);
			for (struct fm_value *in = member(report, "list")->in.first; in != NULL; in = in->next, n++)
				assert_true(in->in.first->number == seen++);
			assert_in_range(n, 1, DICT_MAX);
			assert_true(fm_telemetry_bytes(fm_report_root(report)) <= FM_TELEMETRY_BYTES + 32);
			assert_non_null(member(report, "behind"));
			next = member(report, "next");
			more = next != NULL;
			if (more)
				first = (uint32_t)next->number;
			assert_true(!more || first == seen);
			fm_report_free(report);
			answers++;
		}
		assert_int_equal(seen, 700);
		assert_true(answers >= 3);
	}
}

static void beyond(void **state)
{
	struct fm_report *report = fm_report_new();
	struct fm_value *root;
	char name[16];

	(void)state;
	/* Behind the end there is nothing, and nothing to go on with. */
	assert_int_equal(fit(report, 3, 5, 3), 0);
	assert_null(member(report, "list")->in.first);
	assert_null(member(report, "next"));
	fm_put_uint(member(report, "list"), NULL, 1);
	assert_non_null(member(report, "list")->in.first);
	fm_report_free(report);
	report = fm_report_new();
	assert_int_equal(fit(report, 3, 5, UINT32_MAX), 0);
	assert_null(member(report, "list")->in.first);
	fm_report_free(report);
	/* What is not in the list must fit. */
	report = fm_report_new();
	root = fm_report_root(report);
	for (unsigned int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		fm_put_uint(root, name, i);
	}
	assert_int_equal(fm_telemetry_fit(root, NULL, 0), -E2BIG);
	assert_int_equal(fit(report, 3, 5, 0), -E2BIG);
	fm_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(table, setup),
		cmocka_unit_test_setup(good_parameters, setup),
		cmocka_unit_test_setup(bad_parameters, setup),
		cmocka_unit_test_setup(fits, setup),
		cmocka_unit_test_setup(pages, setup),
		cmocka_unit_test_setup(beyond, setup),
	};

	return cmocka_run_group_tests_name("telemetry", tests, NULL, NULL);
}
