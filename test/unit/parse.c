/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parse.h"
#include "quick.h"

enum { FRAME_MAX = 66000, PORT = 3 };

/* What the quick way answers is what the parser answers, to the last field. */
static void assert_quick_same(const struct fm_frag *quick, const struct fm_frag *full)
{
	assert_memory_equal(&quick->key, &full->key, sizeof(full->key));
	assert_int_equal(quick->id, full->id);
	assert_int_equal(quick->l2_len, full->l2_len);
	assert_int_equal(quick->l3_len, full->l3_len);
	assert_int_equal(quick->payload_at, full->payload_at);
	assert_int_equal(quick->offset, full->offset);
	assert_int_equal(quick->length, full->length);
	assert_int_equal(quick->family, full->family);
	assert_int_equal(quick->ecn, full->ecn);
	assert_int_equal(quick->more, full->more);
	assert_int_equal(quick->atomic, full->atomic);
	/* IPv4 fragments have none. */
	if (full->family == 6) {
		assert_int_equal(quick->next_at, full->next_at);
		assert_int_equal(quick->next_header, full->next_header);
	}
}

void assert_quick(const uint8_t *exact, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
		  const struct parsed *full)
{
	struct fm_frag quick;
	const enum fm_verdict verdict = fm_frame_quick(exact, len, frame_len, port, flags, &quick);

	if (verdict == FM_VERDICT_MORE)
		return;
	assert_int_equal(verdict, full->verdict);
	if (verdict == FM_VERDICT_FRAGMENT)
		assert_quick_same(&quick, &full->frag);
}

static struct parsed parse_prefix(const uint8_t *frame, uint32_t len, uint32_t frame_len, unsigned int flags)
{
	uint8_t *exact = malloc(len + (len == 0));
	struct parsed parsed = {.why = FM_OUTCOME_MAX};

	assert_non_null(exact);
	memcpy(exact, frame, len);
	parsed.verdict = fm_frame_parse(exact, len, frame_len, PORT, flags, &parsed.frag, &parsed.why);
	assert_quick(exact, len, frame_len, PORT, flags, &parsed);
	free(exact);
	return parsed;
}

static void assert_same(const struct parsed *a, const struct parsed *b)
{
	assert_int_equal(a->verdict, b->verdict);
	if (a->verdict == FM_VERDICT_DROP)
		assert_int_equal(a->why, b->why);
	if (a->verdict != FM_VERDICT_FRAGMENT)
		return;
	assert_memory_equal(&a->frag.key, &b->frag.key, sizeof(a->frag.key));
	assert_int_equal(a->frag.payload_at, b->frag.payload_at);
	assert_int_equal(a->frag.offset, b->frag.offset);
	assert_int_equal(a->frag.length, b->frag.length);
	assert_int_equal(a->frag.more, b->frag.more);
}

struct parsed parse(const uint8_t *frame, uint32_t len, unsigned int flags)
{
	const struct parsed whole = parse_prefix(frame, len, len, flags);

	assert_int_not_equal(whole.verdict, FM_VERDICT_MORE);
	if (whole.verdict == FM_VERDICT_FRAGMENT) {
		assert_true((uint32_t)whole.frag.payload_at + whole.frag.length <= len);
		assert_true(whole.frag.length > 0);
		assert_true(whole.frag.l2_len + whole.frag.l3_len <= whole.frag.payload_at);
	}
	for (uint32_t reach = 0; reach < len; reach++) {
		const struct parsed part = parse_prefix(frame, reach, len, flags);

		if (part.verdict != FM_VERDICT_MORE)
			assert_same(&part, &whole);
	}
	return whole;
}

struct parsed parse_frag(const struct fm_test_frag *frag)
{
	static uint8_t frame[FRAME_MAX];

	return parse(frame, fm_test_frame(frag, frame), 0);
}

void assert_dropped(struct parsed parsed, enum fm_outcome why)
{
	assert_int_equal(parsed.verdict, FM_VERDICT_DROP);
	assert_int_equal(parsed.why, why);
}
