/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a table is looked at in one turn of the worker's loop: less than what a burst of fragments takes,
 * whatever the table's size (doc/design/0020-looks.md).
 */
#ifndef FM_LOOK_H
#define FM_LOOK_H

#include <stdint.h>

enum {
	FM_LOOK_RUNS = 8,	/* of fragments, of datagrams; see fm_reass_views_some() */
	FM_LOOK_RECORDS = 64,	/* of sources, at most */
	FM_LOOK_MOVES = 512,	/* of views, for a record's place among them */
};

/*
 * Records for one look. Each may move all views that it stands before. But where a record lies is as good as random, so
 * the more have been seen, the less likely the next one is among the `max` first.
 *
 * @param seen  records looked at so far
 * @param max   room for views
 */
static inline uint32_t fm_look_records(uint32_t seen, uint32_t max)
{
	const uint64_t any = FM_LOOK_MOVES / ((uint64_t)max + 1) + 1;
	const uint64_t likely = 2ULL * FM_LOOK_MOVES * seen / ((uint64_t)max * max + 1);
	const uint64_t records = any > likely ? any : likely;

	return records < FM_LOOK_RECORDS ? (uint32_t)records : FM_LOOK_RECORDS;
}

#endif
