/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>
#include <rte_log.h>

#include "control.h"
#include "setting.h"
#include "word.h"

/* Getters and setters of what struct fm_settings holds. */
#define FM_SETTING_ACCESS(sym, nm, type, vals, un, lo, hi, init, txt, member) \
	static uint64_t get_##sym(const struct fm_settings *settings) \
	{ \
		return settings->member; \
	} \
	static void put_##sym(struct fm_settings *settings, uint64_t value) \
	{ \
		settings->member = value; \
	}
FM_PUBLISHED_SETTINGS(FM_SETTING_ACCESS)
#undef FM_SETTING_ACCESS

/* The log types of fragmend all have names that begin so; this one tells the level, whoever has set it. */
#define LOG_PATTERN "fragmend*"
RTE_LOG_REGISTER(log_control, fragmend.control, NOTICE)

static uint64_t stats_period_s;

static uint64_t get_LOG(const struct fm_settings *settings)
{
	RTE_SET_USED(settings);
	return rte_log_get_level(log_control);
}

static void put_LOG(struct fm_settings *settings, uint64_t value)
{
	RTE_SET_USED(settings);
	rte_log_set_level_pattern(LOG_PATTERN, (uint32_t)value);
}

static uint64_t get_STATS_PERIOD(const struct fm_settings *settings)
{
	RTE_SET_USED(settings);
	return stats_period_s;
}

static void put_STATS_PERIOD(struct fm_settings *settings, uint64_t value)
{
	RTE_SET_USED(settings);
	stats_period_s = value;
}

const struct fm_setting fm_setting[FM_SETTING_IDS] = {
#define FM_SETTING_ROW(sym, nm, type, vals, un, lo, hi, init, txt) \
	.name = nm, .values = vals, .unit = un, .text = txt, .kind = FM_KIND_##type, .min = lo, .max = hi, \
	.initial = init, .get = get_##sym, .put = put_##sym
#define FM_SETTING_PUBLISHED_ROW(sym, nm, type, vals, un, lo, hi, init, txt, member) \
	[FM_SETTING_##sym] = { FM_SETTING_ROW(sym, nm, type, vals, un, lo, hi, init, txt), .local = false },
#define FM_SETTING_LOCAL_ROW(sym, nm, type, vals, un, lo, hi, init, txt) \
	[FM_SETTING_##sym] = { FM_SETTING_ROW(sym, nm, type, vals, un, lo, hi, init, txt), .local = true },
	FM_PUBLISHED_SETTINGS(FM_SETTING_PUBLISHED_ROW)
	FM_LOCAL_SETTINGS(FM_SETTING_LOCAL_ROW)
#undef FM_SETTING_ROW
#undef FM_SETTING_PUBLISHED_ROW
#undef FM_SETTING_LOCAL_ROW
};

const struct fm_setting *fm_setting_find(const char *name)
{
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++)
		if (strcmp(fm_setting[i].name, name) == 0)
			return &fm_setting[i];
	return NULL;
}

void fm_settings_default(struct fm_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++)
		if (!fm_setting[i].local)
			fm_setting[i].put(settings, fm_setting[i].initial);
}

int fm_number_parse(const char *text, uint64_t *number)
{
	uint64_t value = 0;

	if (*text == '\0')
		return -EINVAL;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *text - '0', &value))
			return -ERANGE;
	}
	*number = value;
	return 0;
}

static int parse_number(const struct fm_setting *setting, const char *text, struct fm_setting_value *value)
{
	int ret = fm_number_parse(text, &value->number);

	if (ret == 0 && (value->number < setting->min || value->number > setting->max))
		ret = -ERANGE;
	return ret;
}

static int parse_budget(const struct fm_setting *setting, const char *text, struct fm_setting_value *value)
{
	size_t len = strlen(text);
	char digits[FM_SETTING_TEXT_LEN];
	int ret;

	if (len == 0 || text[len - 1] != '%')
		return parse_number(setting, text, value);
	if (len > sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len - 1);
	digits[len - 1] = '\0';
	value->percent = true;
	ret = fm_number_parse(digits, &value->number);
	if (ret == 0 && (value->number < 1 || value->number > 100))
		ret = -ERANGE;
	return ret;
}

static int parse_choice(const struct fm_setting *setting, const char *text, struct fm_setting_value *value)
{
	unsigned int index = 0;
	struct fm_word word;

	for (const char *at = setting->values; fm_word_next(&at, "|", &word); index++) {
		if (!fm_word_is(&word, text))
			continue;
		value->number = setting->kind == FM_KIND_SWITCH ? index == 0 : setting->min + index;
		return 0;
	}
	return -EINVAL;
}

int fm_setting_parse(const struct fm_setting *setting, const char *text, struct fm_setting_value *value, char *err,
		     size_t err_len)
{
	char range[160];
	int ret;

	value->percent = false;
	switch (setting->kind) {
	case FM_KIND_NUMBER:
		ret = parse_number(setting, text, value);
		break;
	case FM_KIND_BUDGET:
		ret = parse_budget(setting, text, value);
		break;
	default:
		ret = parse_choice(setting, text, value);
		break;
	}
	if (ret != 0 && err != NULL) {
		fm_setting_range(setting, range, sizeof(range));
		snprintf(err, err_len, "%s must be %s, got \"%s\"", setting->name, range, text);
	}
	return ret;
}

void fm_setting_format(const struct fm_setting *setting, uint64_t number, char *buf, size_t len)
{
	uint64_t index = 0, wanted;
	struct fm_word word;

	if (setting->kind == FM_KIND_NUMBER || setting->kind == FM_KIND_BUDGET) {
		snprintf(buf, len, "%" PRIu64, number);
		return;
	}
	wanted = setting->kind == FM_KIND_SWITCH ? number == 0 : number - setting->min;
	for (const char *at = setting->values; fm_word_next(&at, "|", &word); index++) {
		if (index == wanted) {
			snprintf(buf, len, "%.*s", word.len, word.text);
			return;
		}
	}
	snprintf(buf, len, "?");
}

void fm_setting_range(const struct fm_setting *setting, char *buf, size_t len)
{
	const char *blank = setting->unit[0] == '\0' ? "" : " ";

	switch (setting->kind) {
	case FM_KIND_NUMBER:
		snprintf(buf, len, "%" PRIu64 "..%" PRIu64 "%s%s", setting->min, setting->max, blank, setting->unit);
		break;
	case FM_KIND_BUDGET:
		snprintf(buf, len, "%" PRIu64 "..%" PRIu64 "%s%s or 1%%..100%%", setting->min, setting->max, blank,
			 setting->unit);
		break;
	default:
		fm_word_list(setting->values, "|", buf, len);
		break;
	}
}

void fm_control_set_stats_period(uint32_t seconds)
{
	put_STATS_PERIOD(NULL, seconds);
}
