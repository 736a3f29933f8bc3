/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of the pace: a table whose memory is neither nearly empty nor too full, and who asks for some of it. */
#ifndef FM_TEST_PACE_H
#define FM_TEST_PACE_H

#include "inside.h"

enum {
	PACE_BUDGET = 1000,
	PACE_SIZE = 10,
	PACE_GAP = 1000,
	PACE_LIFETIME = PACE_SIZE * PACE_GAP,
	PACE_OTHERS = 80,		/* hold four fifths of the budget: neither easy nor too much */
	PACE_SOURCE = 0x0a000001,
	PACE_FURTHEST = 8,		/* datagrams ahead of the mean, or behind: further makes no difference */
	PACE_FOREVER = 1000 * PACE_LIFETIME,
};

struct pace {
	struct bed bed;
	struct fm_reass *r;
	struct fm_datagram others[PACE_OTHERS];
};

/* Memory times time of a datagram that comes to hold `n`: one mbuf for one gap, then two, ... */
double pace_area(uint32_t n);
/* Others hold `held` each and are about to complete; the table knows what sizes and gaps are usual. */
void pace_begin(struct pace *p, uint32_t held);
void pace_end(struct pace *p);
struct fm_source *pace_source(const struct pace *p, uint32_t number);
bool pace_ask(struct pace *p, struct fm_source *s, enum fm_outcome *why);
/* One that is so many mbufs ahead of the mean asks after so long, when there is so much credit, under pressure. */
bool pace_ask_as(struct pace *p, int32_t ahead, float credit, uint64_t later, enum fm_outcome *why);
/* The time it takes from no credit at all until it may begin. */
uint64_t pace_waits(struct pace *p, int32_t ahead);

#endif
