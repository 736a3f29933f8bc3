/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "setting.h"
#include "word.h"

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t number;
	} cases[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e3", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t number = 0;

		assert_int_equal(fm_number_parse(cases[i].text, &number), cases[i].ret);
		assert_true(number == cases[i].number);
	}
}

static void find(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++)
		assert_ptr_equal(fm_setting_find(fm_setting[i].name), &fm_setting[i]);
	assert_null(fm_setting_find("timeout"));
	assert_null(fm_setting_find(""));
}

/* The documented defaults. */
static void defaults(void **state)
{
	struct fm_settings settings;

	(void)state;
	memset(&settings, 0xff, sizeof(settings));
	fm_settings_default(&settings);
	assert_int_equal(settings.budget_mbufs, 0);
	assert_int_equal(settings.timeout_ms[FM_IPV4], 2000);
	assert_int_equal(settings.timeout_ms[FM_IPV6], 10000);
	assert_int_equal(settings.max_fragments, 128);
	assert_int_equal(settings.source_prefix[FM_IPV4], 32);
	assert_int_equal(settings.source_prefix[FM_IPV6], 64);
	assert_int_equal(settings.output, FM_OUTPUT_WHOLE_OR_REFRAGMENT);
	assert_false(settings.verify_l4);
	assert_true(settings.header_chain);
	assert_false(settings.bypass);
	assert_false(settings.link_follow);
}

/* Each setting changes its own member and no other. */
static void members(void **state)
{
	struct fm_settings settings, other;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < FM_SETTING_IDS; i++) {
		if (fm_setting[i].local)
			continue;
		fm_settings_default(&settings);
		fm_setting[i].put(&settings, fm_setting[i].max);
		assert_true(fm_setting[i].get(&settings) == fm_setting[i].max);
		fm_settings_default(&other);
		for (k = 0; k < FM_SETTING_IDS; k++)
			if (k != i && !fm_setting[k].local)
				assert_true(fm_setting[k].get(&settings) == fm_setting[k].get(&other));
	}
}

/* Every value at a limit is read back from what it is shown as; the next one beyond is refused. */
static void limits(void **state)
{
	struct fm_setting_value value;
	char text[FM_SETTING_TEXT_LEN], err[200];

	(void)state;
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++) {
		const struct fm_setting *setting = &fm_setting[i];
		const uint64_t inside[] = { setting->min, setting->max, setting->max - 1 };
		const uint64_t outside[] = { setting->min - 1, setting->max + 1 };

		for (unsigned int k = 0; k < 3; k++) {
			fm_setting_format(setting, inside[k], text, sizeof(text));
			assert_int_equal(fm_setting_parse(setting, text, &value, NULL, 0), 0);
			assert_true(value.number == inside[k]);
			assert_false(value.percent);
		}
		for (unsigned int k = 0; k < 2; k++) {
			snprintf(text, sizeof(text), "%llu", (unsigned long long)outside[k]);
			assert_int_not_equal(fm_setting_parse(setting, text, &value, err, sizeof(err)), 0);
			assert_non_null(strstr(err, setting->name));
			assert_non_null(strstr(err, text));
		}
	}
}

static void budget(void **state)
{
	const struct fm_setting *setting = fm_setting_find("budget");
	static const char *const bad[] = { "0%", "101%", "%", "5%%", "-5%", "5 %", "%5", "99999999999999999999%",
					   "1234567890123456789012345678901234567890%" };
	struct fm_setting_value value;

	(void)state;
	assert_int_equal(fm_setting_parse(setting, "100%", &value, NULL, 0), 0);
	assert_true(value.percent);
	assert_int_equal(value.number, 100);
	assert_int_equal(fm_setting_parse(setting, "100", &value, NULL, 0), 0);
	assert_false(value.percent);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_not_equal(fm_setting_parse(setting, bad[i], &value, NULL, 0), 0);
}

static void sentences(void **state)
{
	static const struct {
		const char *name, *text, *err;
	} cases[] = {
		{ "timeout4", "0", "timeout4 must be 1..120000 ms, got \"0\"" },
		{ "timeout6", "2s", "timeout6 must be 1..120000 ms, got \"2s\"" },
		{ "max-fragments", "8193", "max-fragments must be 2..8192 fragments, got \"8193\"" },
		{ "source-prefix4", "0", "source-prefix4 must be 1..32 bits, got \"0\"" },
		{ "source-prefix4", "33", "source-prefix4 must be 1..32 bits, got \"33\"" },
		{ "source-prefix6", "129", "source-prefix6 must be 1..128 bits, got \"129\"" },
		{ "source-prefix6", "/64", "source-prefix6 must be 1..128 bits, got \"/64\"" },
		{ "bypass", "yes", "bypass must be on or off, got \"yes\"" },
		{ "output", "whole", "output must be whole-or-refragment, whole-only or refragment, got \"whole\"" },
		{ "budget", "101%", "budget must be 1..4294967295 mbufs or 1%..100%, got \"101%\"" },
		{ "stats-period", "3601", "stats-period must be 0..3600 s, got \"3601\"" },
	};
	struct fm_setting_value value;
	char err[200];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_not_equal(fm_setting_parse(fm_setting_find(cases[i].name), cases[i].text, &value, err,
						      sizeof(err)), 0);
		assert_string_equal(err, cases[i].err);
	}
}

static void words(void **state)
{
	const char *at = "  one|two  three|";
	struct fm_word word;
	char buf[16] = "";

	(void)state;
	assert_true(fm_word_next(&at, " |", &word));
	assert_true(fm_word_is(&word, "one"));
	assert_false(fm_word_is(&word, "on"));
	assert_false(fm_word_is(&word, "ones"));
	assert_true(fm_word_begins(&word, "on"));
	assert_true(fm_word_begins(&word, ""));
	assert_false(fm_word_begins(&word, "ones"));
	assert_true(fm_word_next(&at, " |", &word));
	assert_true(fm_word_next(&at, " |", &word));
	assert_true(fm_word_is(&word, "three"));
	assert_false(fm_word_next(&at, " |", &word));
	fm_text_add(buf, sizeof(buf), "%s", "0123456789");
	fm_text_add(buf, sizeof(buf), "%s", "0123456789");
	assert_string_equal(buf, "012345678901234");
	fm_word_list("a|b|c|d", "|", buf, sizeof(buf));
	assert_string_equal(buf, "a, b, c or d");
	fm_word_list("a|b", "|", buf, sizeof(buf));
	assert_string_equal(buf, "a or b");
	fm_word_list("a", "|", buf, sizeof(buf));
	assert_string_equal(buf, "a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(find),
		cmocka_unit_test(defaults),
		cmocka_unit_test(members),
		cmocka_unit_test(limits),
		cmocka_unit_test(budget),
		cmocka_unit_test(sentences),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests_name("setting", tests, NULL, NULL);
}
