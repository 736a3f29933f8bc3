/* SPDX-License-Identifier: BSD-3-Clause */
/* What leaves: whole or in pieces, in one segment or several, by what the port and the driver carry; capture files. */
#include <pcap/pcap.h>
#include <unistd.h>

#include "desk.h"
#include "sink.h"

static void assert_whole(const struct desk *d, uint32_t i, const struct fm_test_frag *frag, uint32_t total)
{
	static uint8_t want[BED_FRAME_MAX];
	const uint32_t len = bed_expected(frag, total, want);

	assert_int_equal(d->wire.len[i], len);
	assert_memory_equal(d->wire.bytes[i], want, len);
}

static void chain_where_the_port_takes_one(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	d->e.limits.mtu = 65575;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	/* The port's limit of segments, at it and below. */
	d->e.limits.chain_max_segs = 5;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	d->e.limits.chain_max_segs = 4;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	/* The driver's limit of bytes: 5,034 are in the frame. */
	d->e.limits.chain_max_segs = UINT16_MAX;
	d->e.limits.chain_max_bytes = 5034;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	d->e.limits.chain_max_bytes = 5033;
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(d->wire.segs[i], i == 2 || i == 4 ? 1 : 5);
		assert_whole(d, i, &frag, 5000);
	}
	assert_int_equal(desk_count(d, FM_SENT_WHOLE), 5);
}

static void small_ones_need_no_large_buffer(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);

	d->e.limits.chain_max_segs = 1;
	fm_test_pool_limit(d->large, 0);
	desk_datagram(d, &frag, 1400, 496, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 1);
	assert_int_equal(d->wire.segs[0], 1);
	assert_whole(d, 0, &frag, 1400);
}

static void no_large_buffer_left(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	d->e.limits.mtu = 65575;
	d->e.limits.chain_max_segs = 1;
	fm_test_pool_limit(d->large, 0);
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	desk_frame(d, 1, 5000, 1000, FM_PASSED, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 0);
	assert_int_equal(desk_count(d, FM_TX_NO_MBUF), 1);
	assert_int_equal(desk_count(d, FM_TX_FULL_FRAME), 1);
	assert_int_equal(d->counters.passed_dropped, 1);
}

static void no_mbuf_for_pieces(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	/* Pieces that are no segment of the chain need mbufs of their own. */
	d->e.limits.mtu = 600;
	fm_test_pool_limit(d->pool, 3);
	desk_datagram(d, &frag, 5000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 0);
	assert_int_equal(desk_count(d, FM_TX_NO_MBUF), 1);
}

/* One segment ends at 65,535 bytes; the longest IPv6 datagram is a frame of 65,589. */
static void too_long_for_one_segment(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);

	d->e.limits.mtu = 65575;
	desk_datagram(d, &frag, 65535, 1448, FM_OUTPUT_WHOLE_ONLY, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 1);
	assert_whole(d, 0, &frag, 65535);
	d->e.limits.chain_max_segs = 1;
	desk_datagram(d, &frag, 65535, 1448, FM_OUTPUT_WHOLE_ONLY, 0);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FOR_EGRESS), 1);
	desk_datagram(d, &frag, 65535, 1448, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 1);
	desk_assert_sent(d, 1 + 46);
	/* Of 65,481 it is the longest that fits: 65,535 with headers. */
	desk_datagram(d, &frag, 65481, 1448, FM_OUTPUT_WHOLE_ONLY, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 48);
	assert_int_equal(d->wire.len[47], 65535);
	assert_int_equal(d->wire.segs[47], 1);
	assert_whole(d, 47, &frag, 65481);
}

static void modes(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	desk_datagram(d, &frag, 1480, 496, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	desk_datagram(d, &frag, 1481, 496, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	desk_datagram(d, &frag, 1480, 496, FM_OUTPUT_WHOLE_ONLY, 0);
	desk_datagram(d, &frag, 1481, 496, FM_OUTPUT_WHOLE_ONLY, 0);
	desk_datagram(d, &frag, 1480, 496, FM_OUTPUT_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_WHOLE), 2);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FOR_EGRESS), 1);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 2);
	desk_assert_sent(d, 2 + 3 + 3);
}

/* RFC 791: what came with DF may be cut, but not smaller than it came. */
static void dont_fragment(void **state)
{
	struct desk *d = *state;
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);

	/* The longest fragments are of 1,020 bytes, IP header included. */
	frag.dont_fragment = true;
	d->e.limits.mtu = 1020;
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 1);
	desk_assert_sent(d, 3);
	d->e.limits.mtu = 1019;
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_REFRAGMENT, 0);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FOR_EGRESS), 2);
	/* So does a driver that carries less than the MTU. */
	d->e.limits.mtu = 1500;
	d->e.limits.frame_max = 14 + 1019;
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_REFRAGMENT, 0);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FOR_EGRESS), 3);
	/* Without DF it is cut. */
	frag.dont_fragment = false;
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 2);
	desk_assert_sent(d, 3 + 4);
}

/* There is nothing to cut in an atomic fragment (RFC 6946). */
static void atomic_stays_whole(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv6(1, 0, 600, false);

	bed_send(&d->bed, &frag);
	assert_int_equal(d->bed.n_done, 1);
	d->bed.n_done = 0;
	fm_egress_datagram(&d->e, d->bed.done[0], &d->bed.whole[0], FM_OUTPUT_REFRAGMENT, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 1);
	assert_whole(d, 0, &frag, 600);
	assert_int_equal(desk_count(d, FM_SENT_WHOLE), 1);
}

static void frames_the_port_cannot_carry(void **state)
{
	struct desk *d = *state;

	d->e.limits.frame_max = 1518;
	desk_frame(d, 1, 1518, 0, FM_PASSED, 0);
	desk_frame(d, 2, 1519, 0, FM_PASSED, 0);
	desk_frame(d, 3, 1519, 0, FM_BYPASSED, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 1);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FRAME), 2);
	assert_int_equal(d->counters.passed_dropped, 1);
	/* In several segments and longer than one can be. */
	d->e.limits.frame_max = UINT32_MAX;
	d->e.limits.chain_max_segs = 1;
	desk_frame(d, 4, 65535, 2000, FM_PASSED, 0);
	desk_frame(d, 5, 65536, 2000, FM_PASSED, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 2);
	assert_int_equal(d->wire.len[1], 65535);
	assert_int_equal(d->wire.segs[1], 1);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FRAME), 3);
}

/* One frame of a burst that the port does not take as it is, in each place: the others go as they are, in order. */
static void odd_one_in_a_burst(void **state)
{
	struct desk *d = *state;
	enum { N = 5 };
	static const struct { uint32_t len, segment; bool sent; } odd[] = {
		{ 1519, 0, false },	/* longer than the port carries */
		{ 900, 200, true },	/* more segments than it takes */
		{ 802, 401, true },	/* more bytes than it takes in a chain */
		{ 600, 300, true },	/* a chain it takes */
	};
	uint32_t sent = 0, too_big = 0;

	d->e.limits.frame_max = 1518;
	d->e.limits.chain_max_segs = 2;
	d->e.limits.chain_max_bytes = 800;
	for (uint32_t k = 0; k < RTE_DIM(odd); k++) {
		for (uint32_t place = 0; place < N; place++) {
			struct desk_frame frames[N];

			for (uint32_t i = 0; i < N; i++)
				frames[i] = (struct desk_frame){ .number = (uint8_t)i, .len = 60 };
			frames[place].len = odd[k].len;
			frames[place].segment = odd[k].segment;
			desk_frames(d, frames, N, FM_PASSED, 0);
			fm_egress_flush(&d->e, 0);
			for (uint32_t i = 0; i < N; i++) {
				if (i == place && !odd[k].sent)
					continue;
				assert_int_equal(d->wire.bytes[sent][0], i);
				assert_int_equal(d->wire.len[sent], frames[i].len);
				assert_int_equal(d->wire.segs[sent], frames[i].len == 600 ? 2 : 1);
				sent++;
			}
			too_big += !odd[k].sent;
			desk_assert_sent(d, sent);
			assert_int_equal(desk_count(d, FM_TOO_BIG_FRAME), too_big);
			assert_int_equal(d->counters.passed_dropped, too_big);
		}
	}
}

/* The bound that comes with a burst is above the port's limits, but no frame is: they do not have to wait. */
static void limits_count_for_each_frame(void **state)
{
	struct desk *d = *state;
	static const struct desk_frame frames[] = { { 0, 1024, 512 }, { 1, 1023, 512 }, { 2, 1026, 0 } };

	d->e.limits.frame_max = 1026;
	d->e.limits.chain_max_segs = 3;
	d->e.limits.chain_max_bytes = 1026;
	desk_frames(d, frames, RTE_DIM(frames), FM_PASSED, 0);
	desk_assert_sent(d, RTE_DIM(frames));
	for (uint32_t i = 0; i < RTE_DIM(frames); i++) {
		assert_int_equal(d->wire.len[i], frames[i].len);
		assert_int_equal(d->wire.segs[i], frames[i].segment == 0 ? 1 : 2);
	}
	/* The first of them is a chain too long by a byte. */
	d->e.limits.chain_max_bytes = 1023;
	desk_frames(d, frames, RTE_DIM(frames), FM_PASSED, 0);
	fm_egress_flush(&d->e, 0);
	desk_assert_sent(d, 2 * RTE_DIM(frames));
	assert_int_equal(d->wire.segs[3], 1);
	assert_int_equal(d->wire.segs[4], 2);
	assert_int_equal(d->wire.segs[5], 1);
}

static void mtu_without_room_for_payload(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);

	d->e.limits.mtu = 48;
	desk_datagram(d, &frag, 3000, 1000, FM_OUTPUT_WHOLE_OR_REFRAGMENT, 0);
	assert_int_equal(desk_count(d, FM_TOO_BIG_FOR_EGRESS), 1);
}

static void capture_file(void **state)
{
	struct desk *d = *state;
	const struct fm_test_frag frag = bed_ipv6(1, 0, 0, false);
	char path[] = "/tmp/fragmend-test-XXXXXX", err[256] = "";
	static uint8_t want[BED_FRAME_MAX];
	struct pcap_pkthdr *header;
	const u_char *bytes;
	const int fd = mkstemp(path);
	pcap_t *pcap;

	assert_in_range(fd, 0, INT32_MAX);
	close(fd);
	assert_int_equal(fm_sink_open(&d->e.sink, path, err, sizeof(err)), 0);
	d->e.limits.mtu = 65575;
	d->e.frame_us = 1234567890123456;
	desk_frames(d, &(struct desk_frame){ 5, 60, 0 }, 1, FM_BYPASSED, 0);
	desk_datagram(d, &frag, 65535, 1448, FM_OUTPUT_WHOLE_ONLY, 0);
	desk_datagram(d, &frag, 2000, 1000, FM_OUTPUT_REFRAGMENT, 0);
	assert_int_equal(d->counters.frames, 4);
	assert_int_equal(desk_count(d, FM_BYPASSED), 1);
	assert_int_equal(desk_count(d, FM_SENT_WHOLE), 1);
	assert_int_equal(desk_count(d, FM_SENT_REFRAGMENTED), 1);
	assert_int_equal(fm_sink_close(d->e.sink, err, sizeof(err)), 0);
	pcap = pcap_open_offline(path, err);
	unlink(path);
	assert_non_null(pcap);
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
	assert_int_equal(header->ts.tv_sec, 1234567890);
	assert_int_equal(header->ts.tv_usec, 123456);
	assert_int_equal(header->len, 60);
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
	assert_int_equal(header->caplen, bed_expected(&frag, 65535, want));
	assert_memory_equal(bytes, want, header->caplen);
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), 1);
	assert_int_equal(pcap_next_ex(pcap, &header, &bytes), PCAP_ERROR_BREAK);
	pcap_close(pcap);
}

static void full_disk(void **state)
{
	struct desk *d = *state;
	char err[256] = "";

	assert_int_equal(fm_sink_open(&d->e.sink, "/nowhere/file", err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "/nowhere/file"));
	assert_int_equal(fm_sink_open(&d->e.sink, "/dev/full", err, sizeof(err)), 0);
	for (uint32_t i = 0; i < 100; i++)
		desk_frame(d, 1, 1500, 0, FM_PASSED, 0);
	/* Written through a buffer, so some got that far. */
	assert_in_range(desk_count(d, FM_TX_FULL_FRAME), 1, 99);
	assert_int_equal(d->counters.frames + desk_count(d, FM_TX_FULL_FRAME), 100);
	assert_int_equal(fm_sink_close(d->e.sink, err, sizeof(err)), -ENOSPC);
	assert_non_null(strstr(err, "/dev/full: No space left"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DESK_TEST(chain_where_the_port_takes_one),
		DESK_TEST(small_ones_need_no_large_buffer),
		DESK_TEST(no_large_buffer_left),
		DESK_TEST(no_mbuf_for_pieces),
		DESK_TEST(too_long_for_one_segment),
		DESK_TEST(modes),
		DESK_TEST(dont_fragment),
		DESK_TEST(atomic_stays_whole),
		DESK_TEST(frames_the_port_cannot_carry),
		DESK_TEST(odd_one_in_a_burst),
		DESK_TEST(limits_count_for_each_frame),
		DESK_TEST(mtu_without_room_for_payload),
		DESK_TEST(capture_file),
		DESK_TEST(full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
