/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports: values in, JSON out.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "json.h"
#include "report.h"

struct fixture {
	struct fm_report *report;
	struct fm_value *root;
	char *text;
	size_t len;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->report = fm_report_new();
	f->root = fm_report_root(f->report);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fm_report_free(f->report);
	free(f->text);
	free(f);
	return 0;
}

static void print(struct fixture *f)
{
	FILE *out = open_memstream(&f->text, &f->len);

	fm_report_json(f->report, out);
	fclose(out);
}

static const char *written(struct fixture *f)
{
	print(f);
	assert_true(fm_report_ok(f->report));
	assert_true(json_valid(f->text));
	/* One line. */
	assert_ptr_equal(strchr(f->text, '\n'), f->text + f->len - 1);
	return f->text;
}

static void empty(void **state)
{
	assert_string_equal(written(*state), "{}\n");
}

static void kinds(void **state)
{
	struct fixture *f = *state;
	struct fm_value *list = fm_put_list(f->root, "list"), *in;

	fm_put_uint(list, NULL, UINT64_MAX);
	fm_put_int(list, NULL, INT64_MIN);
	fm_put_double(list, NULL, 0.5);
	fm_put_double(list, NULL, 123456789.0);
	fm_put_bool(list, NULL, true);
	fm_put_text(list, NULL, "");
	in = fm_put_object(list, NULL);
	fm_put_list(in, "nothing");
	fm_put_object(in, "none");
	fm_put_bool(f->root, "last", false);
	assert_string_equal(written(f), "{\"list\": [18446744073709551615, -9223372036854775808, 0.5, 123456789, true, "
			    "\"\", {\"nothing\": [], \"none\": {}}], \"last\": false}\n");
}

/* A script must not stumble over a rate that was divided by nothing. */
static void no_numbers(void **state)
{
	struct fixture *f = *state;

	fm_put_double(f->root, "nan", NAN);
	fm_put_double(f->root, "inf", INFINITY);
	fm_put_double(f->root, "large", 1e300);
	fm_put_double(f->root, "small", 1e-300);
	assert_string_equal(written(f), "{\"nan\": null, \"inf\": null, \"large\": 1e+300, \"small\": 1e-300}\n");
}

static void texts(void **state)
{
	static const struct {
		const char *given, *want;
	} rows[] = {
		{ "plain", "plain" },
		{ "say \"it\" \\ /", "say \\\"it\\\" \\\\ /" },
		{ "\n\t\x01\x7f", "\\u000a\\u0009\\u0001\\u007f" },
		/* Each length of a character, the first and the last that there is. */
		{ "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
		{ "\xe0\xa0\x80\xed\x9f\xbf", "\xe0\xa0\x80\xed\x9f\xbf" },
		{ "\xee\x80\x80\xef\xbf\xbf", "\xee\x80\x80\xef\xbf\xbf" },
		{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
		/* Alone, cut off, too long, a surrogate, beyond the last. */
		{ "a\x80z", "a\xef\xbf\xbdz" },
		{ "a\xc3", "a\xef\xbf\xbd" },
		{ "a\xe2\x82", "a\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xff", "\xef\xbf\xbd" },
	};
	struct fixture *f = *state;
	char value[256], name[8];

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		snprintf(name, sizeof(name), "t%u", i);
		fm_put_text(f->root, name, rows[i].given);
	}
	written(f);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char want[256];

		snprintf(name, sizeof(name), "t%u", i);
		snprintf(want, sizeof(want), "\"%s\"", rows[i].want);
		assert_true(json_at(f->text, name, value, sizeof(value)));
		assert_string_equal(value, want);
	}
}

/* Names and texts are the report's own, also those longer than what it takes at a time. */
static void copies(void **state)
{
	struct fixture *f = *state;
	char name[16], *large = malloc(100001), value[16];

	memset(large, 'x', 100000);
	large[100000] = '\0';
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		fm_put_text(i % 500 == 0 ? fm_put_object(f->root, name) : f->root, i % 500 == 0 ? "in" : name,
			    i == 1000 ? large : name);
	}
	strcpy(name, "gone");
	memset(large, 'y', 100000);
	print(f);
	assert_null(strchr(f->text, 'y'));
	assert_true(f->len > 100000);
	assert_true(json_at(f->text, "name4999", value, sizeof(value)));
	assert_string_equal(value, "\"name4999\"");
	assert_true(json_at(f->text, "name500.in", value, sizeof(value)));
	assert_string_equal(value, "\"name500\"");
	free(large);
}

/* The reader that the other tests trust. */
static void reader(void **state)
{
	static const char *const bad[] = {
		"", "{", "{}}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1,]", "[1 2]", "01", "1.", ".5", "+1",
		"1e", "nul", "\"", "\"\t\"", "\"\\x\"", "\"\\u12g4\"", "\"\x80\"", "\"\xc0\xaf\"", "{\"a\":1,\"a\":2}",
		"{} {}", "NaN", "-", "{\"a\":1}\n\n", "\"\xed\xa0\x80\"",
	};
	static const char *const good[] = {
		"{}", "[]", "0", "-0.5e+10", "{\"a\":[1,{\"b\":null}]}\n", "[ 1 , 2 ]", "\"\\u00e4\xc3\xa4\"", "true",
	};
	char value[16];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(json_valid(bad[i]));
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(json_valid(good[i]));
	assert_true(json_at("{\"a\": [1, {\"b\": 22}]}", "a.1.b", value, sizeof(value)));
	assert_string_equal(value, "22");
	assert_false(json_at("{\"a\": [1, {\"b\": 22}]}", "a.2", value, sizeof(value)));
	assert_false(json_at("{\"a\": 1}", "b", value, sizeof(value)));
	assert_false(json_at("{\"a\": 1}", "a.b", value, sizeof(value)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reader),
		cmocka_unit_test_setup_teardown(empty, setup, teardown),
		cmocka_unit_test_setup_teardown(kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(no_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(texts, setup, teardown),
		cmocka_unit_test_setup_teardown(copies, setup, teardown),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
