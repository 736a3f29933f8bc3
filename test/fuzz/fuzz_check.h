/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FM_FUZZ_CHECK_H
#define FM_FUZZ_CHECK_H

#include "fm_reass.h"
#include "fuzz_frame.h"

/* A table under test, and all that has to do with its mbufs. */
struct fm_fuzz_table {
	struct fm_reass_params params; /* with the settings as they are now */
	struct fm_reass *reass;
	void *memory;
	struct fm_fuzz_owner owner;
	struct rte_mempool *headers;
	uint64_t dropped[FM_OUTCOME_MAX]; /* callbacks */
};

enum { FM_FUZZ_POOL_MBUFS = 1 << 20, FM_FUZZ_HEADER_MBUFS = 1 << 16 };

/* Pools, and a table with these parameters; `header_pool`: it gets one. The callback is set here. */
void fm_fuzz_table_init(struct fm_fuzz_table *t, const struct fm_reass_params *params, bool header_pool);
/*
 * After each operation: accounting, callbacks, budget, limits, fm_reass_sound(), and no mbuf but those that are held or
 * `pending`, which the table has not been given.
 */
void fm_fuzz_table_check(const struct fm_fuzz_table *t, uint64_t pending, const char *operation);
/* Flush: nothing is held, nothing condemned, everything counted. */
void fm_fuzz_table_flush(struct fm_fuzz_table *t, uint64_t pending);
/* After a flush: nothing shared was changed, no mbuf is missing. */
void fm_fuzz_table_fini(struct fm_fuzz_table *t);

#endif
