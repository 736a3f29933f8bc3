/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SipHash of several keys side by side, one in each lane of a vector register: a burst's keys are hashed in little more
 * time than one of them. The results are those of fm_siphash13().
 */
#ifndef FM_SIPHASH_LANES_H
#define FM_SIPHASH_LANES_H

#include <stdint.h>

#include "siphash.h"

enum { FM_LANES = 4 };

/*
 * Hash the first `words` words of each of FM_LANES keys, 2 or 6.
 *
 * @param word  where each key lies
 * @param hash  set to the hash of each
 */
typedef void fm_siphash_lanes(const struct fm_siphash_key *key, const uint64_t *const word[FM_LANES],
			      unsigned int words, uint64_t hash[FM_LANES]);

/* The way for this CPU; NULL: hash them one by one, which is as fast. */
fm_siphash_lanes *fm_siphash_lanes_find(void);

#endif
