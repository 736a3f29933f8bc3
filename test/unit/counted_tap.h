/* SPDX-License-Identifier: BSD-3-Clause */
/* A tap that counts what it is shown: each drop by its outcome, and frames in and out. */
#ifndef FM_TEST_COUNTED_TAP_H
#define FM_TEST_COUNTED_TAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tap.h"

struct counted_tap {
	struct fm_tap tap;
	uint64_t dropped[FM_OUTCOME_MAX], in, out;
};

static inline void counted_tap_take(struct fm_tap *tap, const struct rte_mbuf *m, uint16_t port, uint16_t queue,
				    enum fm_tap_direction direction, enum fm_outcome why)
{
	struct counted_tap *t = (struct counted_tap *)tap;
	uint32_t len = 0;

	(void)port;
	(void)queue;
	/* It can be copied: the chain is as long as it says. */
	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next)
		len += seg->data_len;
	assert_int_equal(len, m->pkt_len);
	if (why == FM_TAP_NO_OUTCOME) {
		*(direction == FM_TAP_IN ? &t->in : &t->out) += 1;
		return;
	}
	t->dropped[why]++;
	/* A fragment is dropped as it came in, all else as it should have left. */
	assert_int_equal(direction, fm_outcome_info[why].unit == FM_UNIT_FRAGMENT ? FM_TAP_IN : FM_TAP_OUT);
}

static inline void counted_tap_init(struct counted_tap *t)
{
	*t = (struct counted_tap){ .tap = { .take = counted_tap_take, .all = true } };
}

#endif
