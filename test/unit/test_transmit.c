/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue to a port: order, all or nothing, one outcome each, whatever the port takes and when. */
#include "desk.h"

static void order_and_counters(void **state)
{
	struct desk *d = *state;

	for (uint8_t i = 0; i < 40; i++)
		desk_frame(d, i, 60 + i, 0, i % 2 == 0 ? FM_PASSED : FM_BYPASSED, 0);
	desk_assert_sent(d, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 40);
	for (uint8_t i = 0; i < 40; i++) {
		assert_int_equal(d->wire.len[i], 60 + i);
		assert_int_equal(d->wire.bytes[i][0], i);
	}
	assert_int_equal(d->counters.bytes, 40 * 60 + 39 * 40 / 2);
	/* The core counts what it passes. */
	assert_int_equal(desk_count(d, FM_PASSED), 0);
	assert_int_equal(desk_count(d, FM_BYPASSED), 20);
}

/* The ring wraps many times, and the port takes a few at a time. */
static void slow_port(void **state)
{
	struct desk *d = *state;
	uint8_t next = 0;

	for (uint32_t turn = 0; turn < 100; turn++) {
		desk_frame(d, next++, 100, 0, FM_BYPASSED, turn);
		if (turn % 3 == 0)
			desk_frame(d, next++, 100, 40, FM_BYPASSED, turn);
		d->wire.accepts = turn % 4 == 0 ? 5 : 0;
		fm_egress_flush(&d->e, turn);
		assert_int_equal(d->counters.backlog_mbufs, d->e.waiting_mbufs);
	}
	d->wire.accepts = UINT32_MAX;
	fm_egress_flush(&d->e, 100);
	desk_assert_sent(d, next);
	for (uint32_t i = 0; i < next; i++)
		assert_int_equal(d->wire.bytes[i][0], i);
	assert_int_equal(desk_count(d, FM_BYPASSED), next);
	assert_int_equal(d->counters.backlog_mbufs, 0);
}

static void full_backlog(void **state)
{
	struct desk *d = *state;

	d->wire.accepts = 0;
	for (uint32_t i = 0; i < ROOM + 3; i++)
		desk_frame(d, (uint8_t)i, 100, 0, FM_PASSED, 0);
	desk_frame(d, 0, 100, 0, FM_BYPASSED, 0);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), 4);
	/* Three of them were counted as passed before. */
	assert_int_equal(d->counters.passed_dropped, 3);
	d->wire.accepts = UINT32_MAX;
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, ROOM);
	assert_int_equal(desk_count(d, FM_BYPASSED), 0);
}

/* A full backlog is offered to the port before anything is dropped. */
static void room_is_made(void **state)
{
	struct desk *d = *state;

	for (uint32_t i = 0; i < 3 * ROOM; i++)
		desk_frame(d, (uint8_t)i, 100, 0, FM_PASSED, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 3 * ROOM);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), 0);
}

static void all_pieces_or_none(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	d->wire.accepts = 0;
	/* 64 less 55 leaves room for 9 pieces, and there are 10. */
	for (uint32_t i = 0; i < 55; i++)
		desk_frame(d, 0, 100, 0, FM_PASSED, 0);
	desk_datagram(d, &frag, 10000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	assert_int_equal(desk_count(d, FM_TX_FULL), 1);
	assert_int_equal(d->e.tail - d->e.head, 55);
	/* One of 9 fits. */
	desk_datagram(d, &frag, 9000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	assert_int_equal(d->e.tail - d->e.head, 64);
	/* Taken in two goes, it is sent when its last piece is. */
	d->wire.accepts = 60;
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 0);
	d->wire.accepts = UINT32_MAX;
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 1);
	desk_assert_sent(d, 64);
}

static void stuck_port(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	d->wire.accepts = 1;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	desk_frame(d, 7, 100, 0, FM_PASSED, 0);
	desk_frame(d, 8, 100, 0, FM_BYPASSED, 0);
	desk_frame(d, 9, 100, 0, FM_BYPASSED, 0);
	fm_egress_flush(&d->e, 10);
	/* So long it is only waited for ... */
	fm_egress_flush(&d->e, 10 + STUCK);
	assert_int_equal(d->e.tail - d->e.head, 4 + 3);
	/* ... then the rest of the datagram goes, in one piece, and counts once. */
	fm_egress_flush(&d->e, 11 + STUCK);
	assert_int_equal(d->e.tail - d->e.head, 3);
	assert_int_equal(desk_count(d, FM_TX_FULL), 1);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 0);
	fm_egress_flush(&d->e, 12 + STUCK);
	fm_egress_flush(&d->e, 13 + STUCK);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), 2);
	assert_int_equal(d->counters.passed_dropped, 1);
	/* What the port takes ends it. */
	d->wire.accepts = UINT32_MAX;
	fm_egress_flush(&d->e, 14 + STUCK);
	desk_assert_sent(d, 2);
	assert_int_equal(desk_count(d, FM_BYPASSED), 1);
	assert_int_equal(d->e.progress_tsc, 14 + STUCK);
}

/* A port that was idle for long is not stuck when the first frame has to wait. */
static void idle_is_not_stuck(void **state)
{
	struct desk *d = *state;

	d->wire.accepts = 0;
	desk_frame(d, 1, 100, 0, FM_PASSED, 100 * STUCK);
	fm_egress_flush(&d->e, 100 * STUCK + 1);
	assert_int_equal(d->e.tail - d->e.head, 1);
	d->wire.accepts = 1;
	fm_egress_flush(&d->e, 100 * STUCK + 2);
	desk_assert_sent(d, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(order_and_counters),
		DESK_TEST(slow_port),
		DESK_TEST(full_backlog),
		DESK_TEST(room_is_made),
		DESK_TEST(all_pieces_or_none),
		DESK_TEST(stuck_port),
		DESK_TEST(idle_is_not_stuck),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
