/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fragmend says about itself on stderr. Any thread but a worker's in its loop.
 *
 * Each place in the source that logs has a bucket of tokens, so that none of them can fill a disk: FM_LOG_BURST lines
 * at once, then one each FM_LOG_REFILL_MS. What was left out is counted and said.
 */
#ifndef FM_LOG_H
#define FM_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FM_LOG_BURST = 64,		/* twice the most ports there are: each may say something at start */
	FM_LOG_REFILL_MS = 1000,
	FM_LOG_LINE_LEN = 512,		/* bytes of a line; longer ones are cut */
};

/* Of one place that logs: static, all zero. Protected by the lock of log.c. */
struct fm_log_site {
	uint64_t spent;			/* tokens */
	uint64_t since_ms;		/* when `spent` was right, on any clock that runs on */
	uint64_t suppressed;		/* lines, and not said yet */
	char last[80];			/* the beginning of the line that got through last */
	struct fm_log_site *next;	/* of those that have lines suppressed */
	bool listed;
	uint32_t level;			/* of the line that got through last */
};

/* Take a token at `now_ms`. False: there is none, and the line is counted as suppressed. */
bool fm_log_take(struct fm_log_site *site, uint64_t now_ms);

/*
 * Begin each line with "<N>", N being its syslog level, as a service manager reads it. Default: do not. To be called
 * before there are other threads.
 */
void fm_log_set_prefix(bool on);

/*
 * Say something, if `set log` and EAL's --log-level let this level through and its place has a token.
 *
 * @param level   RTE_LOG_EMERG..RTE_LOG_DEBUG
 * @param format  one line; a newline at its end is not needed
 */
__attribute__((format(printf, 3, 4)))
void fm_log(struct fm_log_site *site, uint32_t level, const char *format, ...);

/* The last word of a program that ends: whatever the level is, and without limit. */
__attribute__((format(printf, 2, 3)))
void fm_log_always(uint32_t level, const char *format, ...);

/* Say how many lines were suppressed, of places that have a token again; to be called about every 100 ms. */
void fm_log_tell_suppressed(void);

#define FM_LOG(level, ...) \
	do { \
		static struct fm_log_site fm_log_site_here; \
		fm_log(&fm_log_site_here, RTE_LOG_##level, __VA_ARGS__); \
	} while (0)

#endif
