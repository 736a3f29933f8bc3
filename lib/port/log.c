/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_log.h>

#include "log.h"
#include "state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fm_log_site *sites;	/* that have lines suppressed; under `lock` */
static bool with_prefix;		/* written before there are other threads */

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool fm_log_take(struct fm_log_site *site, uint64_t now)
{
	const uint64_t back = now > site->since_ms ? (now - site->since_ms) / FM_LOG_REFILL_MS : 0;

	if (back >= site->spent) {
		site->spent = 0;
		site->since_ms = now;
	} else {
		site->spent -= back;
		site->since_ms += back * FM_LOG_REFILL_MS;
	}
	if (site->spent == FM_LOG_BURST) {
		site->suppressed++;
		return false;
	}
	site->spent++;
	return true;
}

void fm_log_set_prefix(bool on)
{
	with_prefix = on;
}

/* One write() for a line: lines of several threads must not mix. */
static void put(uint32_t level, const char *text)
{
	char line[FM_LOG_LINE_LEN + 32];
	int len;

	if (with_prefix)
		len = snprintf(line, sizeof(line), "<%u>fragmend: %s\n", level - RTE_LOG_EMERG, text);
	else
		len = snprintf(line, sizeof(line), "fragmend: %s\n", text);
	/* Who cannot be told cannot be told that either. */
	if (write(STDERR_FILENO, line, RTE_MIN((size_t)len, sizeof(line) - 1)) < 0)
		return;
}

/* Without prefix a line goes where DPDK's own go: to stderr and to syslog, or to who has opened another stream. */
static void say(uint32_t level, const char *text)
{
	if (with_prefix)
		put(level, text);
	else
		rte_log(level, (uint32_t)fm_port_logtype, "fragmend: %s\n", text);
}

/* A line has no second line: that one would have no level. */
__attribute__((format(printf, 2, 0)))
static void compose(char text[FM_LOG_LINE_LEN], const char *format, va_list args)
{
	size_t len;

	vsnprintf(text, FM_LOG_LINE_LEN, format, args);
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	for (char *at = text; *at != '\0'; at++)
		if (*at == '\n')
			*at = ' ';
}

/* Is the line to be said? With `lock` held. */
static bool admit(struct fm_log_site *site, uint32_t level, const char *text)
{
	if (fm_log_take(site, now_ms())) {
		snprintf(site->last, sizeof(site->last), "%s", text);
		site->level = level;
		return true;
	}
	if (!site->listed) {
		site->listed = true;
		site->next = sites;
		sites = site;
	}
	return false;
}

void fm_log(struct fm_log_site *site, uint32_t level, const char *format, ...)
{
	char text[FM_LOG_LINE_LEN];
	va_list args;
	bool admitted;

	if (!rte_log_can_log((uint32_t)fm_port_logtype, level))
		return;
	va_start(args, format);
	compose(text, format, args);
	va_end(args);
	pthread_mutex_lock(&lock);
	admitted = admit(site, level, text);
	pthread_mutex_unlock(&lock);
	if (admitted)
		say(level, text);
}

void fm_log_always(uint32_t level, const char *format, ...)
{
	char text[FM_LOG_LINE_LEN];
	va_list args;

	va_start(args, format);
	compose(text, format, args);
	va_end(args);
	put(level, text);
}

void fm_log_tell_suppressed(void)
{
	char text[FM_LOG_LINE_LEN];
	struct fm_log_site **at = &sites;

	pthread_mutex_lock(&lock);
	while (*at != NULL) {
		struct fm_log_site *site = *at;
		const uint64_t suppressed = site->suppressed;

		if (!fm_log_take(site, now_ms())) {
			/* Asking is no line that was left out. */
			site->suppressed = suppressed;
			at = &site->next;
			continue;
		}
		snprintf(text, sizeof(text), "%" PRIu64 " more suppressed like: %s", suppressed, site->last);
		site->suppressed = 0;
		site->listed = false;
		*at = site->next;
		if (rte_log_can_log((uint32_t)fm_port_logtype, site->level))
			say(site->level, text);
	}
	pthread_mutex_unlock(&lock);
}
