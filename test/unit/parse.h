/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the parser share: each frame is parsed from an allocation of exactly its length. */
#ifndef FM_TEST_PARSE_H
#define FM_TEST_PARSE_H

#include "fm_packet.h"
#include "frag.h"

struct parsed {
	enum fm_verdict verdict;
	enum fm_outcome why;	/* of FM_VERDICT_DROP */
	struct fm_frag frag;	/* of FM_VERDICT_FRAGMENT */
};

/*
 * Parse a frame, whole; and with each shorter prefix in reach, which must give the same or ask for more. Asserts that
 * the description of a fragment lies within the frame.
 */
struct parsed parse(const uint8_t *frame, uint32_t len, unsigned int flags);
/* The same for a frame described by its fields. */
struct parsed parse_frag(const struct fm_test_frag *frag);

/*
 * What fm_frame_quick() answers, unless it asks for the parser, is what the parser has answered to the same. parse()
 * asserts that of all it parses.
 */
void assert_quick(const uint8_t *exact, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
		  const struct parsed *full);

void assert_dropped(struct parsed parsed, enum fm_outcome why);

#endif
