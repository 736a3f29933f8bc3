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

enum { BURST = 9 };

/* A burst of BURST frames, numbered from `first` and each of another length. Returns their bytes. */
static uint64_t send_burst(struct desk *d, uint8_t first, enum fm_outcome as)
{
	struct desk_frame frames[BURST];
	uint64_t bytes = 0;

	for (uint8_t i = 0; i < BURST; i++) {
		frames[i] = (struct desk_frame){ .number = first + i, .len = 60U + i };
		bytes += frames[i].len;
	}
	desk_frames(d, frames, BURST, as, 0);
	return bytes;
}

static void assert_in_order(const struct desk *d, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		assert_int_equal(d->wire.bytes[i][0], (uint8_t)i);
		assert_int_equal(d->wire.len[i], 60 + i % BURST);
	}
}

/* Nothing waits: a burst is with the port at once, and what the port leaves of it waits, wherever it stops. */
static void burst_taken_in_part(void **state)
{
	struct desk *d = *state;
	const enum fm_outcome as[] = { FM_PASSED, FM_BYPASSED };
	uint64_t bytes = 0, bypassed = 0;
	uint32_t n = 0;

	for (uint32_t takes = 0; takes <= BURST; takes++) {
		for (uint32_t i = 0; i < 2; i++) {
			d->wire.accepts = takes;
			bytes += send_burst(d, (uint8_t)n, as[i]);
			desk_assert_sent(d, n + takes);
			assert_int_equal(d->e.tail - d->e.head, BURST - takes);
			assert_int_equal(d->e.waiting_mbufs, BURST - takes);
			bypassed += as[i] == FM_BYPASSED ? takes : 0;
			assert_int_equal(desk_count(d, FM_BYPASSED), bypassed);
			d->wire.accepts = UINT32_MAX;
			fm_egress_flush(&d->e, 0);
			bypassed += as[i] == FM_BYPASSED ? BURST - takes : 0;
			n += BURST;
			desk_assert_sent(d, n);
			assert_int_equal(d->counters.bytes, bytes);
			assert_int_equal(desk_count(d, FM_BYPASSED), bypassed);
		}
	}
	assert_in_order(d, 0, n);
	assert_int_equal(desk_count(d, FM_PASSED), 0);
	assert_int_equal(d->counters.passed_dropped, 0);
}

/* A burst does not overtake what waits. */
static void burst_behind_others(void **state)
{
	struct desk *d = *state;

	d->wire.accepts = 4;
	send_burst(d, 0, FM_PASSED);
	d->wire.accepts = 3;
	send_burst(d, BURST, FM_PASSED);
	desk_assert_sent(d, 4);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 7);
	d->wire.accepts = UINT32_MAX;
	send_burst(d, 2 * BURST, FM_PASSED);
	desk_assert_sent(d, 7);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 3 * BURST);
	assert_in_order(d, 0, 3 * BURST);
}

static void empty_burst(void **state)
{
	struct desk *d = *state;

	desk_frames(d, NULL, 0, FM_BYPASSED, 0);
	desk_assert_sent(d, 0);
	assert_int_equal(desk_count(d, FM_BYPASSED), 0);
}

/* The port takes some, the backlog as many as it has room for, and the rest is dropped and counted. */
static void burst_beyond_the_backlog(void **state)
{
	struct desk *d = *state;
	struct desk_frame frames[FM_BURST_MAX];

	for (uint32_t i = 0; i < FM_BURST_MAX; i++)
		frames[i] = (struct desk_frame){ .number = (uint8_t)i, .len = 60 };
	d->wire.accepts = 10;
	desk_frames(d, frames, FM_BURST_MAX, FM_PASSED, 0);
	desk_assert_sent(d, 10);
	assert_int_equal(d->e.tail - d->e.head, ROOM);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), FM_BURST_MAX - 10 - ROOM);
	assert_int_equal(d->counters.passed_dropped, FM_BURST_MAX - 10 - ROOM);
	d->wire.accepts = UINT32_MAX;
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 10 + ROOM);
	for (uint32_t i = 0; i < 10 + ROOM; i++)
		assert_int_equal(d->wire.bytes[i][0], i);
}

/* What a port leaves for too long is given up, also of a burst; its clock starts when that began to wait. */
static void burst_gets_stuck(void **state)
{
	struct desk *d = *state;

	d->wire.accepts = BURST - 2;
	send_burst(d, 0, FM_PASSED);
	fm_egress_flush(&d->e, STUCK);
	assert_int_equal(d->e.tail - d->e.head, 2);
	fm_egress_flush(&d->e, STUCK + 1);
	fm_egress_flush(&d->e, STUCK + 2);
	assert_int_equal(d->e.tail - d->e.head, 0);
	desk_assert_sent(d, BURST - 2);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), 2);
	assert_int_equal(d->counters.passed_dropped, 2);
}

/* Frames and datagrams of all kinds wait, and the port stops at each place: what it has is counted, and no more. */
static void every_stop(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	enum { FRAMES = 8 };
	/* By frames out: bypassed, whole, refragmented. The datagram of 3 pieces counts with the last of them. */
	static const uint8_t want[FRAMES + 1][3] = {
		{ 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 0 }, { 1, 1, 0 }, { 1, 1, 1 }, { 2, 1, 1 },
		{ 2, 2, 1 },
	};
	uint64_t bypassed = 0, whole = 0, cut = 0;

	for (uint32_t stop = 0; stop <= FRAMES; stop++) {
		d->wire.accepts = 0;
		desk_frame(d, 1, 60, 0, FM_BYPASSED, 0);
		desk_frame(d, 2, 60, 0, FM_PASSED, 0);
		desk_datagram(d, &frag, 1400, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
		desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
		desk_frame(d, 3, 60, 0, FM_BYPASSED, 0);
		desk_datagram(d, &frag, 1400, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
		d->wire.accepts = stop;
		fm_egress_flush(&d->e, 0);
		assert_int_equal(d->e.tail - d->e.head, FRAMES - stop);
		desk_assert_sent(d, stop * FRAMES + stop);
		assert_int_equal(desk_count(d, FM_BYPASSED), bypassed + want[stop][0]);
		assert_int_equal(desk_count(d, FM_SENT_WHOLE), whole + want[stop][1]);
		assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), cut + want[stop][2]);
		d->wire.accepts = UINT32_MAX;
		fm_egress_flush(&d->e, 0);
		bypassed += 2, whole += 2, cut += 1;
		desk_assert_sent(d, (stop + 1) * FRAMES);
		assert_int_equal(desk_count(d, FM_BYPASSED), bypassed);
		assert_int_equal(desk_count(d, FM_SENT_WHOLE), whole);
		assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), cut);
		assert_int_equal(desk_count(d, FM_PASSED), 0);
		assert_int_equal(d->e.waiting_mbufs, 0);
		assert_int_equal(d->counters.backlog_mbufs, 0);
	}
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
		DESK_TEST(burst_taken_in_part),
		DESK_TEST(burst_behind_others),
		DESK_TEST(empty_burst),
		DESK_TEST(burst_beyond_the_backlog),
		DESK_TEST(burst_gets_stuck),
		DESK_TEST(every_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
