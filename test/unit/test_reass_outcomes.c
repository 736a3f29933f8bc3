/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test raises every outcome of the table that the library can raise: each line of unit FRAGMENT has a function here
 * that makes it happen, and the loop at the end fails for a line that has none. So have the two lines of unit FRAME
 * that are the parser's. The others are the port layer's: elsewhere[] names the test program that raises each.
 */
#include <stdio.h>

#include "bed.h"

static void raise_passed(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, false);

	bed_send(bed, &frag);
}

/* Send a first fragment with one byte of its IPv4 header changed; the checksum is left as it was. */
static void send_patched(struct bed *bed, uint32_t at, uint8_t value, uint32_t cut)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
	uint8_t frame[200];
	const uint32_t len = fm_test_frame(&frag, frame);

	frame[14 + at] = value;
	bed_send_bytes(bed, frame, len - cut);
}

static void raise_passed_malformed(struct bed *bed)
{
	send_patched(bed, 0, 0x15, 0);
}

static void raise_completed(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	bed_send_pieces(bed, &frag, 100, 64, 0, 2);
}

static void raise_bad_ip_checksum(struct bed *bed)
{
	send_patched(bed, 8, 1, 0);
}

static void raise_bad_header(struct bed *bed)
{
	send_patched(bed, 0, 0x44, 0);
}

static void raise_bad_length(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 63, true);

	bed_send(bed, &frag);
}

static void raise_too_big(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 65528, 64, false);

	bed_send(bed, &frag);
}

static void raise_truncated(struct bed *bed)
{
	send_patched(bed, 0, 0x45, 1);
}

static void raise_bad_ext_header(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv6(1, 0, 64, true);
	uint8_t frame[200];

	fm_test_frame(&frag, frame);
	bed_send_bytes(bed, frame, 14 + 40 + 7);
}

static void raise_header_chain(struct bed *bed)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 8, true);

	frag.protocol = 6;
	bed_send(bed, &frag);
}

static void raise_nested(struct bed *bed)
{
	struct fm_test_frag frag = bed_ipv6(1, 0, 64, true);

	frag.protocol = 44;
	bed_send(bed, &frag);
}

static void raise_duplicate(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);

	bed_send(bed, &frag);
	bed_send(bed, &frag);
}

static void raise_overlap(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), overlap = bed_ipv4(1, 8, 64, true);

	bed_send(bed, &frag);
	bed_send(bed, &overlap);
}

static void raise_inconsistent_end(struct bed *bed)
{
	const struct fm_test_frag last = bed_ipv4(1, 64, 64, false), behind = bed_ipv4(1, 128, 64, true);

	bed_send(bed, &last);
	bed_send(bed, &behind);
}

static void raise_too_many_fragments(struct bed *bed)
{
	struct fm_reass_settings settings = bed->params.settings;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	settings.max_fragments = 2;
	bed_set(bed, &settings);
	bed_send_pieces(bed, &frag, 300, 64, 0, 3);
}

static void raise_ecn_mismatch(struct bed *bed)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true);
	struct fm_test_frag last = bed_ipv4(1, 64, 64, false);

	last.tos = 3;
	bed_send(bed, &first);
	bed_send(bed, &last);
}

static void raise_bad_l4_checksum(struct bed *bed)
{
	struct fm_reass_settings settings = bed->params.settings;

	settings.verify_l4 = true;
	bed_set(bed, &settings);
	raise_completed(bed);
}

static void raise_condemned(struct bed *bed)
{
	raise_overlap(bed);
	raise_overlap(bed);
}

static void raise_timeout(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);

	bed_send(bed, &frag);
	fm_reass_expire(bed->reass, bed->now + BED_TIMEOUT4, 1);
}

static void fill(struct bed *bed, uint32_t budget)
{
	struct fm_reass_settings settings = bed->params.settings;

	settings.budget_mbufs = budget;
	bed_set(bed, &settings);
	for (uint32_t i = 0; i < budget; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, true);

		bed_send(bed, &frag);
	}
}

static void raise_refused_budget(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1000, 0, 64, true);

	fill(bed, 8);
	bed_send(bed, &frag);
}

enum { OVERLOAD_PIECES = 8, OVERLOAD_SENDERS = 40, OVERLOAD_GREEDY = 32, OVERLOAD_STEPS = 100000 };

/* The next piece of what this sender sends; most of the senders are of one source. */
static struct fm_test_frag overload(uint32_t sender, uint32_t sent)
{
	const uint32_t piece = sent % OVERLOAD_PIECES;
	struct fm_test_frag frag = bed_ipv4(sent / OVERLOAD_PIECES, 64 * piece, 64, piece + 1 < OVERLOAD_PIECES);

	frag.source += sender < OVERLOAD_GREEDY ? 0 : sender;
	frag.destination += sender;
	return frag;
}

/* Many senders ask for more than there is, and one source asks for most of it. */
static void raise_refused_share(struct bed *bed)
{
	struct fm_reass_settings settings = bed->params.settings;
	uint32_t sent[OVERLOAD_SENDERS] = {0}, random = 1;

	settings.budget_mbufs = 64;
	bed_set(bed, &settings);
	for (uint32_t i = 0; i < OVERLOAD_STEPS && bed_count(bed, FM_REFUSED_SHARE) == 0; i++) {
		const uint32_t sender = (random >> 16) % OVERLOAD_SENDERS;
		const struct fm_test_frag frag = overload(sender, sent[sender]++);

		random = random * 1664525 + 1013904223;
		bed->now += i % 4 == 0;
		bed_send(bed, &frag);
		bed_clear(bed);
	}
}

static void raise_refused_table(struct bed *bed)
{
	for (uint32_t i = 0; i <= bed->params.max_datagrams; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, true);

		bed_send(bed, &frag);
	}
}

static void raise_evicted_cold(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1000, 0, 64, true);

	fill(bed, 8);
	bed->now += BED_TIMEOUT4 - 1;
	bed_send(bed, &frag);
}

/* Silent for longer than fragments are apart: long before they are cold, a new one is likelier to complete. */
static void raise_evicted_unlikely(struct bed *bed)
{
	const struct fm_test_frag whole = bed_ipv4(7, 0, 0, false);

	for (uint32_t piece = 0; piece < 5; piece++) {
		bed_send_pieces(bed, &whole, 300, 64, piece, piece + 1);
		bed->now += BED_TIMEOUT4 / 50;
	}
	fill(bed, 8);
	for (uint32_t i = 0; i < 100 && bed_count(bed, FM_EVICTED_UNLIKELY) == 0; i++) {
		const struct fm_test_frag frag = bed_ipv4(1000 + i, 0, 64, true);

		bed->now += BED_TIMEOUT4 / 100;
		bed_send(bed, &frag);
	}
}

static void raise_evicted_progress(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(7, 64, 64, true);

	fill(bed, 8);
	bed_send(bed, &frag);
}

static void raise_no_mbuf(struct bed *bed)
{
	bed->segment = 20;
	fm_test_pool_limit(bed->header_pool, 0);
	raise_completed(bed);
}

static void raise_flushed(struct bed *bed)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);

	bed_send(bed, &frag);
	fm_reass_flush(bed->reass);
}

static void (*const raises[FM_OUTCOME_MAX])(struct bed *bed) = {
	[FM_PASSED] = raise_passed,
	[FM_PASSED_MALFORMED] = raise_passed_malformed,
	[FM_COMPLETED] = raise_completed,
	[FM_BAD_IP_CHECKSUM] = raise_bad_ip_checksum,
	[FM_BAD_HEADER] = raise_bad_header,
	[FM_BAD_LENGTH] = raise_bad_length,
	[FM_TOO_BIG] = raise_too_big,
	[FM_TRUNCATED] = raise_truncated,
	[FM_BAD_EXT_HEADER] = raise_bad_ext_header,
	[FM_HEADER_CHAIN] = raise_header_chain,
	[FM_NESTED] = raise_nested,
	[FM_DUPLICATE] = raise_duplicate,
	[FM_OVERLAP] = raise_overlap,
	[FM_INCONSISTENT_END] = raise_inconsistent_end,
	[FM_TOO_MANY_FRAGMENTS] = raise_too_many_fragments,
	[FM_ECN_MISMATCH] = raise_ecn_mismatch,
	[FM_BAD_L4_CHECKSUM] = raise_bad_l4_checksum,
	[FM_CONDEMNED] = raise_condemned,
	[FM_TIMEOUT] = raise_timeout,
	[FM_REFUSED_BUDGET] = raise_refused_budget,
	[FM_REFUSED_SHARE] = raise_refused_share,
	[FM_REFUSED_TABLE] = raise_refused_table,
	[FM_EVICTED_COLD] = raise_evicted_cold,
	[FM_EVICTED_UNLIKELY] = raise_evicted_unlikely,
	[FM_EVICTED_PROGRESS] = raise_evicted_progress,
	[FM_NO_MBUF] = raise_no_mbuf,
	[FM_FLUSHED] = raise_flushed,
};

static const char *const elsewhere[FM_OUTCOME_MAX] = {
	[FM_STEER_FULL] = "test_steer",
	[FM_BYPASSED] = "test_transmit",
	[FM_TX_FULL_FRAME] = "test_transmit",
	[FM_TOO_BIG_FRAME] = "test_egress",
	[FM_SENT_WHOLE] = "test_egress",
	[FM_SENT_REFRAGMENTED] = "test_transmit",
	[FM_TOO_BIG_FOR_EGRESS] = "test_egress",
	[FM_TX_FULL] = "test_transmit",
	[FM_TX_NO_MBUF] = "test_egress",
};

/* Severity decides where a fragment may go: what is not good was reported to the callback, every single one. */
static void raise_one(enum fm_outcome outcome)
{
	const struct fm_outcome_info *info = &fm_outcome_info[outcome];
	struct bed bed;

	bed_init(&bed);
	assert_int_equal(bed_count(&bed, outcome), 0);
	raises[outcome](&bed);
	if (bed_count(&bed, outcome) == 0)
		fail_msg("%s was not raised", info->name);
	if (info->severity != FM_SEV_GOOD)
		assert_int_not_equal(bed.reported[outcome], 0);
	else
		assert_int_equal(bed.reported[outcome], 0);
	bed_fini(&bed);
}

static void every_outcome_is_raised(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		if (raises[i] != NULL)
			raise_one((enum fm_outcome)i);
		else if (elsewhere[i] == NULL)
			fail_msg("nothing raises %s", fm_outcome_info[i].name);
	}
}

/* The table is what operators read: names are words of counters, sentences are sentences. */
static void table_is_well_formed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		const struct fm_outcome_info *info = &fm_outcome_info[i];

		assert_int_equal(strspn(info->name, "abcdefghijklmnopqrstuvwxyz0123456789_"), strlen(info->name));
		assert_true(strlen(info->name) > 0 && strlen(info->text) > 10);
		assert_int_equal(info->text[strlen(info->text) - 1], '.');
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(info->name, fm_outcome_info[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_outcome_is_raised),
		cmocka_unit_test(table_is_well_formed),
	};

	return cmocka_run_group_tests_name("reassembly: outcomes", tests, NULL, NULL);
}
