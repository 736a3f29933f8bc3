/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash of many keys side by side, one in each lane of a vector register: a burst's keys are hashed in little more
 * time than some of them. The results are those of fm_siphash13().
 */
#ifndef FM_SIPHASH_LANES_H
#define FM_SIPHASH_LANES_H

#include <stdint.h>

#include "siphash.h"

enum {
	FM_LANES = 8,		/* keys are hashed in steps of so many */
	FM_LANE_KEYS = 256,	/* at most, a multiple of FM_LANES */
};

/* Keys of some words each, word by word: row w, column k is word w of key k. */
typedef uint64_t fm_lane_words[FM_LANE_KEYS];

/*
 * Hash keys 0 to n - 1 and, where n is no multiple of FM_LANES, the columns behind them as well, whatever is there.
 *
 * @param row    `words` rows
 * @param words  of each key, 2 or 6
 * @param n      1..FM_LANE_KEYS
 * @param hash   of each column; n of them, rounded up to a multiple of FM_LANES
 */
typedef void fm_siphash_lanes(const struct fm_siphash_key *key, const fm_lane_words *row, unsigned int words,
			      uint32_t n, uint64_t *hash);

/* The way for this CPU; there is always one. */
fm_siphash_lanes *fm_siphash_lanes_find(void);

#endif
