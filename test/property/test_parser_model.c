/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser against the model's parser: each truncation, each value of each header byte, and random mutations. Each
 * frame is parsed from an allocation of exactly its length, whole and from a shorter reach; and each time the parser's
 * quick way has to answer the same, or nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm_packet.h"
#include "frag.h"
#include "model_internal.h"
#include "parse.h"
#include "quick.h"
#include "random.h"

enum { FRAME_MAX = 512, PORT = 7, HEADERS = 110, MUTATIONS = 300000 };

static const uint8_t ipv4_options[8] = {0x94, 4, 0, 0, 1, 1, 1, 0};
/* Hop-by-hop, then destination options, then the fragment header. */
static const uint8_t ipv6_options[24] = {60, 0, 1, 4, 0, 0, 0, 0, 44, 1, 1, 12};
static const uint8_t chain[48] = {60, 0, 1, 4, 0, 0, 0, 0, 17, 0, 1, 4, 0, 0, 0, 0, 0, 1, 0, 2, 0, 32};

static const struct fm_test_frag bases[] = {
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 48, .more = true},
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 6, .length = 29, .offset = 48, .padding = 9},
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 6, .length = 29},
	{.family = 4, .id = 1, .protocol = 1, .length = 8, .offset = 65504, .options = ipv4_options, .options_len = 8,
	 .more = true, .vlans = 1, .tci = {0x2001}},
	{.family = 6, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 48, .more = true},
	{.family = 6, .id = 1, .source = 2, .destination = 3, .protocol = 60, .length = 48, .payload = chain,
	 .more = true},
	{.family = 6, .id = 1, .protocol = 6, .length = 48, .offset = 1480, .vlans = 2, .tci = {1, 2}},
	{.family = 6, .id = 1, .protocol = 60, .length = 48, .payload = chain, .vlans = 3},
	{.family = 6, .id = 1, .protocol = 58, .length = 8, .first_ext = 0, .options = ipv6_options,
	 .options_len = sizeof(ipv6_options), .more = true, .padding = 4},
	{.family = 6, .id = 1, .protocol = 6, .length = 7, .offset = 65504, .first_ext = 0, .options = ipv6_options,
	 .options_len = sizeof(ipv6_options)},
};

enum { BASES = sizeof(bases) / sizeof(bases[0]) };

/* What was made of changed plain frames, by verdict. */
static uint64_t plain_seen[FM_VERDICT_MORE + 1];

static enum fm_verdict parse_exact(const uint8_t *frame, uint32_t reach, uint32_t len, unsigned int flags,
				   struct fm_frag *frag, enum fm_outcome *why)
{
	uint8_t *exact = malloc(reach + (reach == 0));
	struct parsed parsed = {.why = *why};

	assert_non_null(exact);
	memcpy(exact, frame, reach);
	parsed.verdict = fm_frame_parse(exact, reach, len, PORT, flags, &parsed.frag, &parsed.why);
	assert_quick(exact, reach, len, PORT, flags, &parsed);
	free(exact);
	*frag = parsed.frag;
	*why = parsed.why;
	return parsed.verdict;
}

static void compare_frag(const struct model_frag *model, const struct fm_frag *frag)
{
	assert_int_equal(frag->family, model->family);
	assert_int_equal(frag->id, model->id);
	assert_int_equal(frag->l2_len, model->l2_len);
	assert_int_equal(frag->l3_len, model->header_len);
	assert_int_equal(frag->payload_at, model->payload_at);
	assert_int_equal(frag->offset, model->offset);
	assert_int_equal(frag->length, model->length);
	assert_int_equal(frag->more, model->more);
	assert_int_equal(frag->atomic, model->atomic);
	assert_int_equal(frag->ecn, model->ecn);
	if (model->family == 4)
		return;
	assert_int_equal(frag->next_at, model->next_at);
	assert_int_equal(frag->next_header, model->next_header);
}

static void compare(const uint8_t *frame, uint32_t len, uint32_t reach, bool short_chain)
{
	const unsigned int flags = short_chain ? FM_PARSE_SHORT_CHAIN : 0;
	struct model_frag expected;
	const enum fm_outcome outcome = model_parse(frame, len, PORT, short_chain, &expected);
	struct fm_frag frag, part;
	enum fm_outcome why = FM_OUTCOME_MAX, part_why = FM_OUTCOME_MAX;
	const enum fm_verdict verdict = parse_exact(frame, len, len, flags, &frag, &why);
	const enum fm_verdict part_verdict = parse_exact(frame, reach, len, flags, &part, &part_why);

	switch (outcome) {
	case FM_PASSED:
		assert_int_equal(verdict, FM_VERDICT_PASS);
		break;
	case FM_PASSED_MALFORMED:
		assert_int_equal(verdict, FM_VERDICT_MALFORMED);
		break;
	case (enum fm_outcome)FM_MODEL_HELD:
		assert_int_equal(verdict, FM_VERDICT_FRAGMENT);
		compare_frag(&expected, &frag);
		break;
	default:
		assert_int_equal(verdict, FM_VERDICT_DROP);
		assert_int_equal(why, outcome);
	}
	if (part_verdict == FM_VERDICT_MORE) {
		assert_true(reach < len);
		return;
	}
	assert_int_equal(part_verdict, verdict);
	assert_int_equal(part_why, why);
	if (verdict == FM_VERDICT_FRAGMENT)
		compare_frag(&expected, &part);
}

static void each_truncation(void **state)
{
	uint8_t frame[FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < BASES; i++) {
		const uint32_t len = fm_test_frame(&bases[i], frame);

		for (uint32_t cut = 0; cut <= len; cut++) {
			for (uint32_t reach = 0; reach <= cut; reach++)
				compare(frame, cut, reach, false);
		}
	}
}

static void each_value_of_each_header_byte(void **state)
{
	uint8_t frame[FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < BASES; i++) {
		const uint32_t len = fm_test_frame(&bases[i], frame);

		for (uint32_t at = 12; at < len && at < HEADERS; at++) {
			const uint8_t was = frame[at];

			for (unsigned int value = 0; value < 256; value++) {
				frame[at] = (uint8_t)value;
				compare(frame, len, at, value & 1);
			}
			frame[at] = was;
		}
	}
}

/* Make the IPv4 header checksum right again, or nothing would be tested behind that check. */
static void repair(uint8_t *frame, uint32_t len)
{
	uint32_t at = 12, header_len, sum;

	while (at + 6 < len && (model_get16(frame + at) == 0x8100 || model_get16(frame + at) == 0x88a8))
		at += 4;
	at += 2;
	if (at + 20 > len || frame[at] >> 4 != 4)
		return;
	header_len = (frame[at] & 15U) * 4;
	if (header_len < 20 || at + header_len > len)
		return;
	frame[at + 10] = frame[at + 11] = 0;
	sum = ~model_sum16(0, frame + at, header_len);
	frame[at + 10] = (uint8_t)(sum >> 8);
	frame[at + 11] = (uint8_t)sum;
}

static void mutations(void **state)
{
	struct random random = {.state = 20221109};
	uint8_t frame[FRAME_MAX];

	(void)state;
	for (unsigned int i = 0; i < MUTATIONS; i++) {
		const struct fm_test_frag *base = &bases[random_below(&random, BASES)];
		uint32_t len = fm_test_frame(base, frame);
		/* Numbers that mean something where headers are. */
		static const uint8_t values[] = {0, 1, 2, 6, 17, 43, 44, 51, 60, 132, 135, 139, 0x20, 0x45, 0xff};

		for (uint32_t n = random_below(&random, 6); n > 0; n--)
			frame[12 + random_below(&random, len - 12)] =
				random_below(&random, 2) ? (uint8_t)random_next(&random)
							 : values[random_below(&random, sizeof(values))];
		if (random_below(&random, 3) == 0)
			len = random_below(&random, len + 1);
		if (random_below(&random, 8) != 0)
			repair(frame, len);
		compare(frame, len, random_below(&random, len + 1), random_below(&random, 2));
	}
}

/* Plain fragments and plain frames that are none, as nearly all are. */
static const struct fm_test_frag plain[] = {
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 48, .more = true},
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 16, .offset = 48, .padding = 5},
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 24},
	{.family = 4, .id = 1, .source = 2, .destination = 3, .protocol = 6, .length = 24, .dont_fragment = true},
	{.family = 6, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 48, .more = true},
	{.family = 6, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 16, .offset = 48, .padding = 5},
	{.family = 6, .id = 1, .source = 2, .destination = 3, .protocol = 17, .length = 24},
};

enum { PLAIN = sizeof(plain) / sizeof(plain[0]), FLAGS = 8 };

/* The fragment header of an atomic fragment taken out: UDP or TCP over IPv6 and nothing else. */
static uint32_t without_header(uint8_t *frame, uint32_t len, uint8_t protocol)
{
	memmove(frame + 54, frame + 62, len - 62);
	frame[20] = protocol;
	frame[19] -= 8;
	return len - 8;
}

static void quick_and_full(const uint8_t *frame, uint32_t reach, uint32_t len, unsigned int flags)
{
	struct fm_frag frag;
	enum fm_outcome why = FM_OUTCOME_MAX;

	plain_seen[parse_exact(frame, reach, len, flags, &frag, &why)]++;
}

/* Each length, at hand and in all, with each of the flags. */
static void quick_at_each_length(const uint8_t *frame, uint32_t len)
{
	for (unsigned int flags = 0; flags < FLAGS; flags++) {
		for (uint32_t cut = 0; cut <= len; cut++) {
			for (uint32_t reach = 0; reach <= cut; reach++)
				quick_and_full(frame, reach, cut, flags);
		}
	}
}

/* Each value of each header byte with each of the flags, as it is and with the checksum made right. */
static void quick_at_each_value(uint8_t *frame, uint32_t len)
{
	for (uint32_t at = 0; at < len && at < HEADERS; at++) {
		const uint8_t was = frame[at];

		for (unsigned int value = 0; value < 256 * 2; value++) {
			uint8_t repaired[FRAME_MAX];

			frame[at] = (uint8_t)value;
			memcpy(repaired, frame, len);
			if (value >= 256)
				repair(repaired, len);
			for (unsigned int flags = 0; flags < FLAGS; flags++)
				quick_and_full(repaired, len, len, flags);
			/* What is longer than what is there, too. */
			quick_and_full(repaired, len, len + 300, 0);
		}
		frame[at] = was;
	}
}

/* Pairs of bytes that mean a number together: lengths, and where the fragment belongs. */
static void quick_at_each_number(uint8_t *frame, uint32_t len)
{
	static const uint32_t places[2][2] = {{16, 20}, {18, 56}};
	const bool ipv6 = frame[14] >> 4 == 6;

	for (unsigned int i = 0; i < 2; i++) {
		uint8_t *at = &frame[places[ipv6][i]], was[2] = {at[0], at[1]};

		for (uint32_t value = 0; value < 65536; value++) {
			at[0] = (uint8_t)(value >> 8);
			at[1] = (uint8_t)value;
			repair(frame, len);
			quick_and_full(frame, len, i == 0 ? len : 66000, 0);
		}
		at[0] = was[0];
		at[1] = was[1];
		repair(frame, len);
	}
}

static void the_quick_way_says_what_the_parser_says(void **state)
{
	uint8_t frame[FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < PLAIN + 2; i++) {
		uint32_t len = fm_test_frame(&plain[i < PLAIN ? i : PLAIN - 1], frame);

		if (i >= PLAIN)
			len = without_header(frame, len, i == PLAIN ? 17 : 6);
		quick_at_each_length(frame, len);
		quick_at_each_value(frame, len);
		quick_at_each_number(frame, len);
	}
	for (unsigned int i = 0; i <= FM_VERDICT_MORE; i++)
		assert_int_not_equal(plain_seen[i], 0);
}

/* The plain ones are not sent the long way: or the tests above would have compared nothing. */
static void the_quick_way_takes_plain_frames(void **state)
{
	uint8_t frame[FRAME_MAX];
	struct fm_frag frag;

	(void)state;
	for (size_t i = 0; i < PLAIN + 2; i++) {
		uint32_t len = fm_test_frame(&plain[i < PLAIN ? i : PLAIN - 1], frame);
		const bool fragment = i < PLAIN && (plain[i].more || plain[i].offset > 0);

		if (i >= PLAIN)
			len = without_header(frame, len, i == PLAIN ? 17 : 6);
		else if (plain[i].family == 6 && !fragment)
			continue; /* atomic */
		assert_int_equal(fm_frame_quick(frame, len, len, PORT, 0, &frag),
				 fragment ? FM_VERDICT_FRAGMENT : FM_VERDICT_PASS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_truncation),
		cmocka_unit_test(each_value_of_each_header_byte),
		cmocka_unit_test(mutations),
		cmocka_unit_test(the_quick_way_says_what_the_parser_says),
		cmocka_unit_test(the_quick_way_takes_plain_frames),
	};

	return cmocka_run_group_tests_name("parser and model", tests, NULL, NULL);
}
