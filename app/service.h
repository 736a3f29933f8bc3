/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fragmend owes to a service manager (sd_notify(3)): that it is ready, how it is, that it is alive, that it ends.
 * Without one (no NOTIFY_SOCKET in the environment) only the log hears of a worker that stands still. Main lcore only.
 */
#ifndef FM_SERVICE_H
#define FM_SERVICE_H

#include <stdbool.h>
#include <stddef.h>

/* How lines on stderr begin: with a syslog level if that is asked for or if stderr is the journal (JOURNAL_STREAM). */
void fm_service_log(bool prefix);

/* A step of the start, the last one: how long without a sign of life is too long. Always 0. */
int fm_service_up(char *err, size_t err_len);
/* Undo it: say that the end has begun. Always 0. */
int fm_service_down(char *err, size_t err_len);

/*
 * To be called about every 100 ms. Says READY as soon as frames are forwarded; every few seconds, and when something
 * changes, the state in one line; and gives the watchdog its sign of life, but only while every worker turns.
 */
void fm_service_tick(void);

/* Why the program ends, for who looks at the state of the service. */
void fm_service_failed(const char *sentence);

#endif
