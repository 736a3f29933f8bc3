/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_door.h"
#include "print.h"
#include "stats.h"

static const uint64_t second_ns = 1000000000;

/* Moves on with each test: samples outlive it. */
static uint64_t now_ns = 1000000000;

static int setup(void **state)
{
	(void)state;
	fake_door_reset();
	fm_stats_clear();
	return 0;
}

/* Every member takes part in the sum. All of them are 64 bits wide, so that none can be forgotten. */
static void all_workers_are_summed(void **state)
{
	uint64_t *member = (uint64_t *)&fake_door.stats[0];
	struct fm_stats stats;

	(void)state;
	_Static_assert(sizeof(struct fm_worker_stats) % sizeof(uint64_t) == 0, "only numbers of 64 bits");
	for (size_t i = 0; i < 2 * sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		member[i] = i + 1;
	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	for (size_t i = 0; i < sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		assert_int_equal(((uint64_t *)&stats.raw)[i],
				 2 * (i + 1) + sizeof(struct fm_worker_stats) / sizeof(uint64_t));
	assert_memory_equal(&stats.raw, &stats.shown, sizeof(stats.raw));
	fm_stats_get(1, now_ns, &stats);
	assert_memory_equal(&stats.raw, &fake_door.stats[1], sizeof(stats.raw));
}

/* After a clear counters start at 0 and levels stay, in every member. */
static void clear(void **state)
{
	uint64_t *member = (uint64_t *)&fake_door.stats[0];
	struct fm_stats stats;

	(void)state;
	for (size_t i = 0; i < sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		member[i] = 100 + i;
	fm_stats_clear();
	fake_door.stats[0].reass.fragments_in += 7;
	fake_door.stats[0].reass.count[FM_TIMEOUT] += 3;
	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	assert_memory_equal(&stats.raw, &fake_door.stats[0], sizeof(stats.raw));
	assert_int_equal(stats.shown.reass.fragments_in, 7);
	assert_int_equal(stats.shown.reass.count[FM_TIMEOUT], 3);
	assert_int_equal(stats.shown.reass.held_mbufs, fake_door.stats[0].reass.held_mbufs);
	assert_int_equal(stats.shown.reass.held_fragments, fake_door.stats[0].reass.held_fragments);
	assert_int_equal(stats.shown.reass.datagrams, fake_door.stats[0].reass.datagrams);
	assert_int_equal(stats.shown.reass.condemned, fake_door.stats[0].reass.condemned);
	assert_int_equal(stats.shown.tx_backlog_mbufs, fake_door.stats[0].tx_backlog_mbufs);
	assert_int_equal(stats.shown.pipe_frames, fake_door.stats[0].pipe_frames);
	assert_int_equal(stats.shown.pipe_mbufs, fake_door.stats[0].pipe_mbufs);
	stats.shown.reass.fragments_in -= 7;
	stats.shown.reass.count[FM_TIMEOUT] -= 3;
	stats.shown.reass.held_mbufs = 0;
	stats.shown.reass.held_fragments = 0;
	stats.shown.reass.datagrams = 0;
	stats.shown.reass.condemned = 0;
	stats.shown.tx_backlog_mbufs = 0;
	stats.shown.pipe_frames = stats.shown.pipe_mbufs = 0;
	member = (uint64_t *)&stats.shown;
	for (size_t i = 0; i < sizeof(struct fm_worker_stats) / sizeof(uint64_t); i++)
		assert_int_equal(member[i], 0);
}

/* The first test that takes samples. */
/* Passed on, it was counted; then the port did not take it. */
static void less_than_it_was(void **state)
{
	struct fm_stats stats;

	(void)state;
	fake_door.stats[0].reass.count[FM_PASSED] = 10;
	fm_stats_clear();
	fake_door.stats[0].reass.count[FM_PASSED] = 8;
	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	assert_int_equal(stats.shown.reass.count[FM_PASSED], 0);
	assert_int_equal(stats.raw.reass.count[FM_PASSED], 8);
}

static void rates(void **state)
{
	struct fm_stats stats;

	(void)state;
	fake_door.stats[0].reass.fragments_in = 1000;
	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	assert_true(stats.recent_s == 0);
	assert_int_equal(stats.recent.reass.fragments_in, 0);

	fm_stats_sample(now_ns);		/* 1000 */
	fake_door.stats[0].reass.fragments_in = 1500;
	fm_stats_get(FM_ALL_WORKERS, now_ns + second_ns / 4, &stats);
	assert_true(stats.recent_s == 0);
	fm_stats_get(FM_ALL_WORKERS, now_ns + second_ns / 2, &stats);
	assert_true(stats.recent_s == 0.5);
	assert_int_equal(stats.recent.reass.fragments_in, 500);

	fm_stats_sample(now_ns + second_ns / 2);	/* too early, not taken */
	fm_stats_sample(now_ns + second_ns);		/* 1500 */
	fake_door.stats[1].reass.fragments_in = 100;
	fm_stats_get(FM_ALL_WORKERS, now_ns + 3 * second_ns / 2, &stats);
	assert_true(stats.recent_s == 1.5);
	assert_int_equal(stats.recent.reass.fragments_in, 600);

	fm_stats_sample(now_ns + 2 * second_ns);	/* 1600: the base is that of 1500 now */
	fm_stats_get(FM_ALL_WORKERS, now_ns + 2 * second_ns, &stats);
	assert_true(stats.recent_s == 1);
	assert_int_equal(stats.recent.reass.fragments_in, 100);
	now_ns += 10 * second_ns;
}

static void port_rates(void **state)
{
	struct fm_port_stats stats;

	(void)state;
	fake_door.port[1].rx_packets = 100;
	fake_door.port[1].tx_bytes = 5000;
	fm_stats_sample(now_ns);
	fm_stats_sample(now_ns + second_ns);
	fake_door.port[1].rx_packets = 300;
	fake_door.port[1].tx_bytes = 400;	/* went back: reset behind our back */
	fm_stats_port(1, now_ns + 2 * second_ns, &stats);
	assert_true(stats.recent_s == 2);
	assert_int_equal(stats.recent_rx_packets, 200);
	assert_int_equal(stats.recent_tx_bytes, 400);
	now_ns += 10 * second_ns;
}

/* The rates of a port that was cleared begin there; those of the other port go on. */
static void cleared_port(void **state)
{
	struct fm_port_stats stats;

	(void)state;
	fake_door.port[0].rx_packets = 100;
	fake_door.port[1].rx_packets = 100;
	fm_stats_sample(now_ns);
	fm_stats_sample(now_ns + second_ns);
	fake_door.port[0].rx_packets = 0;
	fm_stats_port_cleared(0, now_ns + second_ns);
	fm_stats_port(0, now_ns + second_ns, &stats);
	assert_true(stats.recent_s == 0);
	fake_door.port[0].rx_packets = 7;
	fake_door.port[1].rx_packets = 109;
	fm_stats_port(0, now_ns + 2 * second_ns, &stats);
	assert_true(stats.recent_s == 1);
	assert_int_equal(stats.recent_rx_packets, 7);
	fm_stats_port(1, now_ns + 2 * second_ns, &stats);
	assert_true(stats.recent_s == 2);
	assert_int_equal(stats.recent_rx_packets, 9);
	now_ns += 10 * second_ns;
}

/* Every outcome is in exactly one sum of its unit. */
static void sums(void **state)
{
	struct fm_worker_stats stats;
	struct fm_stats_sums sum;

	(void)state;
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		const struct fm_outcome_info *info = &fm_outcome_info[i];
		bool good = info->severity == FM_SEV_GOOD;

		memset(&stats, 0, sizeof(stats));
		stats.reass.count[i] = 5;
		fm_stats_sum(&stats, &sum);
		assert_int_equal(sum.frames, info->unit == FM_UNIT_FRAME ? 5 : 0);
		assert_int_equal(sum.frames_dropped, info->unit == FM_UNIT_FRAME && !good ? 5 : 0);
		assert_int_equal(sum.fragments, info->unit == FM_UNIT_FRAGMENT ? 5 : 0);
		assert_int_equal(sum.fragments_dropped, info->unit == FM_UNIT_FRAGMENT && !good ? 5 : 0);
		assert_int_equal(sum.datagrams_sent, info->unit == FM_UNIT_DATAGRAM && good ? 5 : 0);
		assert_int_equal(sum.datagrams_dropped, info->unit == FM_UNIT_DATAGRAM && !good ? 5 : 0);
	}
}

static void rate_texts(void **state)
{
	char buf[FM_RATE_LEN];

	(void)state;
	assert_string_equal(fm_rate(0, 1, buf), "0");
	assert_string_equal(fm_rate(1, 2, buf), "0.5");
	assert_string_equal(fm_rate(99, 10, buf), "9.9");
	assert_string_equal(fm_rate(100, 10, buf), "10");
	assert_string_equal(fm_rate(123456789, 1, buf), "123456789");
	assert_string_equal(fm_rate(5, 0, buf), "-");
	assert_string_equal(fm_rate(5, -1, buf), "");
	assert_string_equal(fm_rate_mbit(125000000, 1, buf), "1000");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_workers_are_summed, setup), cmocka_unit_test_setup(clear, setup),
		cmocka_unit_test_setup(less_than_it_was, setup),
		cmocka_unit_test_setup(rates, setup), cmocka_unit_test_setup(port_rates, setup),
		cmocka_unit_test_setup(cleared_port, setup), cmocka_unit_test_setup(sums, setup),
		cmocka_unit_test(rate_texts),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
