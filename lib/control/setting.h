/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of settings: everything that can be changed while traffic runs.
 *
 * `set`, `show config`, `save config`, the ranges of the command line options of the same names and the reference page
 * are made from this one list. Nothing here blocks; the control thread calls all of it.
 */
#ifndef FM_SETTING_H
#define FM_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "fm_reass.h"

enum fm_setting_kind {
	FM_KIND_NUMBER,	/* min..max */
	FM_KIND_SWITCH,	/* off: 0, on: 1 */
	FM_KIND_CHOICE,	/* one word of `values`; the first one is `min` */
	FM_KIND_BUDGET,	/* min..max, or 1..100 percent of what the tables could hold of the pools */
};

enum {
	FM_STATS_PERIOD_MAX_S = 3600,
	FM_SETTING_TEXT_LEN = 32,	/* bytes that hold any value as text */
};

/*
 * X(SYMBOL, name, kind, values, unit, min, max, default, sentence, member of struct fm_settings)
 *
 * `values` is what stands in a syntax line; `unit` is "" where a number counts for itself.
 */
#define FM_PUBLISHED_SETTINGS(X) \
	X(BUDGET, "budget", BUDGET, "N|P%", "mbufs", 1, UINT32_MAX, 0, \
	  "Mbufs that held fragments may take in all, or percent of the pools; default: all that the reserve leaves.", \
	  budget_mbufs) \
	X(TIMEOUT4, "timeout4", NUMBER, "MS", "ms", 1, FM_TIMEOUT_MS_MAX, 2000, \
	  "Time an IPv4 datagram has to become complete, from its first fragment seen.", timeout_ms[FM_IPV4]) \
	X(TIMEOUT6, "timeout6", NUMBER, "MS", "ms", 1, FM_TIMEOUT_MS_MAX, 10000, \
	  "Time an IPv6 datagram has to become complete, from its first fragment seen.", timeout_ms[FM_IPV6]) \
	X(MAX_FRAGMENTS, "max-fragments", NUMBER, "N", "fragments", FM_FRAGMENTS_MIN, FM_FRAGMENTS_MAX, 128, \
	  "Most fragments a datagram may have; one with more is dropped whole.", max_fragments) \
	X(SOURCE_PREFIX4, "source-prefix4", NUMBER, "N", "bits", 1, 32, 32, \
	  "Leading bits of an IPv4 address that make a source: addresses that share them share one record and one " \
	  "part of the budget.", source_prefix[FM_IPV4]) \
	X(SOURCE_PREFIX6, "source-prefix6", NUMBER, "N", "bits", 1, 128, 64, \
	  "Leading bits of an IPv6 address that make a source: addresses that share them share one record and one " \
	  "part of the budget.", source_prefix[FM_IPV6]) \
	X(OUTPUT, "output", CHOICE, "whole-or-refragment|whole-only|refragment", "", FM_OUTPUT_WHOLE_OR_REFRAGMENT, \
	  FM_OUTPUT_REFRAGMENT, FM_OUTPUT_WHOLE_OR_REFRAGMENT, \
	  "Datagrams leave whole if they fit the egress MTU, else as clean fragments; or whole only; or always as " \
	  "clean fragments.", output) \
	X(VERIFY_L4, "verify-l4", SWITCH, "on|off", "", 0, 1, 0, \
	  "Drop reassembled datagrams whose transport checksum is wrong.", verify_l4) \
	X(HEADER_CHAIN, "header-chain", SWITCH, "on|off", "", 0, 1, 1, \
	  "Drop first IPv6 fragments that do not hold the whole header chain (RFC 7112).", header_chain) \
	X(BYPASS, "bypass", SWITCH, "on|off", "", 0, 1, 0, \
	  "Forward every frame untouched, fragments too; held fragments are freed.", bypass) \
	X(LINK_FOLLOW, "link-follow", SWITCH, "on|off", "", 0, 1, 0, \
	  "Loss of link on one port takes the paired port down, and back.", link_follow)

/* As above, without a member: kept by the control layer itself, in effect at once, no business of the workers. */
#define FM_LOCAL_SETTINGS(X) \
	X(LOG, "log", CHOICE, "emergency|alert|critical|error|warning|notice|info|debug", "", 1, 8, 6, \
	  "Least important messages of fragmend that are still logged.") \
	X(STATS_PERIOD, "stats-period", NUMBER, "S", "s", 0, FM_STATS_PERIOD_MAX_S, 0, \
	  "Time between two status tables; 0: none.")

enum fm_setting_id {
#define FM_SETTING_ENUM(sym, ...) FM_SETTING_##sym,
	FM_PUBLISHED_SETTINGS(FM_SETTING_ENUM)
	FM_LOCAL_SETTINGS(FM_SETTING_ENUM)
#undef FM_SETTING_ENUM
	FM_SETTING_IDS,
};

struct fm_setting {
	const char *name;
	const char *values;
	const char *unit;
	const char *text;	/* one sentence */
	enum fm_setting_kind kind;
	uint64_t min, max, initial;
	bool local;		/* no member of struct fm_settings: get() and put() ignore their first argument */
	uint64_t (*get)(const struct fm_settings *settings);
	void (*put)(struct fm_settings *settings, uint64_t value);
};

struct fm_setting_value {
	uint64_t number;
	bool percent;		/* FM_SETTING_BUDGET: `number` is percent */
};

/* Indexed by enum fm_setting_id. */
extern const struct fm_setting fm_setting[FM_SETTING_IDS];

/* The setting of that name, or NULL. */
const struct fm_setting *fm_setting_find(const char *name);

/*
 * Read a value: decimal digits, or a word of the setting. Nothing is clamped.
 *
 * @param err  receives one sentence on failure: name, range, what was given; may be NULL
 * @return     0; -EINVAL: not a value of this setting; -ERANGE: a number out of its range
 */
int fm_setting_parse(const struct fm_setting *setting, const char *text, struct fm_setting_value *value, char *err,
		     size_t err_len);

/* The value as fm_setting_parse() reads it. `buf`: FM_SETTING_TEXT_LEN bytes hold it. */
void fm_setting_format(const struct fm_setting *setting, uint64_t number, char *buf, size_t len);

/* What the values may be, for people: "1..120000 ms", "on or off". */
void fm_setting_range(const struct fm_setting *setting, char *buf, size_t len);

/* Put the default of every published setting into *settings. */
void fm_settings_default(struct fm_settings *settings);

/*
 * Read a decimal number: digits only, no sign, no blanks.
 *
 * @return 0; -EINVAL: something else than digits, or nothing; -ERANGE: more than 64 bits
 */
int fm_number_parse(const char *text, uint64_t *number);

#endif
