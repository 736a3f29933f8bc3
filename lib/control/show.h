/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables that more than one command prints.
 */
#ifndef FM_SHOW_H
#define FM_SHOW_H

#include <stdbool.h>
#include <stdio.h>

#include "stats.h"

/* Counters and held datagrams. @param worker  that of `stats`, or FM_ALL_WORKERS */
void fm_show_stats(FILE *out, uint16_t worker, const struct fm_stats *stats);

/* The outcome table with counts; @param with_zero  those that never happened, too */
void fm_show_outcomes(FILE *out, const struct fm_stats *stats, bool with_zero);

/* Do all identities of the check hold? */
bool fm_check_ok(const struct fm_check_view *check);

/* One line: the verdict of the accounting check. */
void fm_show_verdict(FILE *out, const struct fm_check_view *check);

/*
 * The accounting check. While traffic runs, counters move as they are read: it looks again for up to 100 ms before it
 * calls an identity broken.
 */
void fm_check_get(struct fm_check_view *check);

/* The accounting check with all its numbers. */
void fm_show_check(FILE *out, const struct fm_check_view *check);

/*
 * The sources of all workers, summed up over workers, those that hold most mbufs first. Asks each worker.
 *
 * @param views  room for max of each worker
 * @return       how many there are; -errno, err says why
 */
int fm_sources_gather(struct fm_source_view *views, uint32_t max, char *err, size_t err_len);

/* Is it time for the status table? True once a period of `set stats-period`. */
bool fm_status_due(uint64_t now_ns);

#endif
