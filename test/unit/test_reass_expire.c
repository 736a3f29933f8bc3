/* SPDX-License-Identifier: BSD-3-Clause */
/* Timeouts: section 4 of doc/semantics.md. Time is a parameter, so nothing here waits. */
#include "bed.h"

static void expires_at_the_timeout_without_traffic(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (unsigned int family = 4; family <= 6; family += 2) {
		const uint64_t timeout = family == 4 ? BED_TIMEOUT4 : BED_TIMEOUT6;
		struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);

		frag.family = (uint8_t)family;
		bed_send(&bed, &frag);
		assert_int_equal(fm_reass_expire(bed.reass, bed.now + timeout - 1, 100), 0);
		assert_int_equal(bed_held(&bed), 1);
		assert_int_equal(fm_reass_expire(bed.reass, bed.now + timeout, 100), 1);
		assert_int_equal(bed_held(&bed), 0);
		assert_int_equal(fm_test_pool_out(bed.pool), 0);
	}
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 2);
	assert_int_equal(bed.reported[FM_TIMEOUT], 2);
	bed_fini(&bed);
}

/* RFC 8200 4.5: from the first fragment that came. A drip of fragments must not keep a datagram alive. */
static void fragments_do_not_refresh(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 8, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 10; i++) {
		frag.offset = 8 * i;
		bed_send(&bed, &frag);
		bed.now += BED_TIMEOUT4 / 10;
	}
	assert_int_equal(fm_reass_expire(bed.reass, bed.now - 1, 100), 0);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 100), 1);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 10);
	bed_fini(&bed);
}

/* First seen, not offset 0. */
static void first_seen_may_be_the_last_fragment(void **state)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 128, 64, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &last);
	bed.now += BED_TIMEOUT4 - 1;
	bed_send(&bed, &first);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + 1, 100), 1);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 2);
	bed_fini(&bed);
}

/* A fragment that comes too late, before the timer ran, begins a new datagram. */
static void late_fragment_begins_anew(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	bed.now += BED_TIMEOUT4;
	bed_send_pieces(&bed, &frag, 192, 64, 2, 3);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 2);
	assert_int_equal(bed_held(&bed), 1);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &frag, 192);
	bed_fini(&bed);
}

static void completes_one_tick_before(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	bed.now += BED_TIMEOUT4 - 1;
	fm_reass_expire(bed.reass, bed.now, 100);
	bed_send_pieces(&bed, &frag, 192, 64, 2, 3);
	assert_int_equal(bed.n_done, 1);
	bed_fini(&bed);
}

static void families_do_not_wait_for_each_other(void **state)
{
	const struct fm_test_frag ipv6 = bed_ipv6(1, 0, 64, true), ipv4 = bed_ipv4(1, 0, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &ipv6);
	bed.now += 10;
	bed_send(&bed, &ipv4);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT4, 100), 1);
	assert_int_equal(fm_reass_stats(bed.reass)->datagrams, 1);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT6, 100), 1);
	bed_fini(&bed);
}

/*
 * The key of a faulty one is remembered until the timeout of the datagram it belonged to, then silently forgotten: it
 * is no datagram that expires, and what still comes for it does not prolong its time.
 */
static void condemned_expires_too(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), overlap = bed_ipv4(1, 8, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	bed.now += 100;
	bed_send(&bed, &overlap);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 1);
	bed.now += BED_TIMEOUT4 - 101;
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, BED_ALL), 0);
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 1);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + 1, BED_ALL), 0);
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed.now += 1;
	bed_send(&bed, &frag);
	assert_int_equal(bed_held(&bed), 1);
	assert_int_equal(bed_count(&bed, FM_TIMEOUT), 0);
	bed_fini(&bed);
}

/* Whether the sweep has come by or not: a key whose time is over is not condemned. */
static void condemned_is_over_without_a_sweep(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), overlap = bed_ipv4(1, 8, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	bed_send(&bed, &overlap);
	bed.now += BED_TIMEOUT4;
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 0);
	assert_int_equal(bed_held(&bed), 1);
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed_fini(&bed);
}

static void no_more_than_asked_for(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 10; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, true);

		bed_send(&bed, &frag);
	}
	bed.now += BED_TIMEOUT4;
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 0), 0);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 4), 4);
	assert_int_equal(bed_held(&bed), 6);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 6), 6);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 6), 0);
	bed_fini(&bed);
}

/* A new timeout counts for what is held already, from when it was first seen. */
static void timeout_changes_at_run_time(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
	struct fm_reass_settings settings;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	settings = bed.params.settings;
	settings.timeout_tsc[FM_IPV4] = 50;
	bed_set(&bed, &settings);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + 49, 100), 0);
	settings.timeout_tsc[FM_IPV4] = 5000;
	bed_set(&bed, &settings);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + 4999, 100), 0);
	assert_int_equal(fm_reass_expire(bed.reass, bed.now + 5000, 100), 1);
	bed_fini(&bed);
}

/* Clocks of two cores may differ a little: that is not the end of time. */
static void clock_may_go_back_a_little(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 128, 64, 0, 1);
	bed.now -= 10;
	assert_int_equal(fm_reass_expire(bed.reass, bed.now, 100), 0);
	bed_send_pieces(&bed, &frag, 128, 64, 1, 2);
	assert_int_equal(bed.n_done, 1);
	bed_fini(&bed);
}

static void flush_frees_and_forgets(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), other = bed_ipv6(1, 0, 64, true);
	const struct fm_test_frag overlap = bed_ipv4(1, 8, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &frag);
	bed_send(&bed, &overlap);
	bed_send(&bed, &other);
	assert_int_equal(fm_reass_flush(bed.reass), 1);
	assert_int_equal(bed_count(&bed, FM_FLUSHED), 1);
	assert_int_equal(fm_reass_stats(bed.reass)->condemned, 0);
	bed_send(&bed, &frag);
	assert_int_equal(bed_held(&bed), 1);
	assert_int_equal(fm_reass_flush(bed.reass), 1);
	assert_int_equal(fm_reass_flush(bed.reass), 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expires_at_the_timeout_without_traffic),
		cmocka_unit_test(fragments_do_not_refresh),
		cmocka_unit_test(first_seen_may_be_the_last_fragment),
		cmocka_unit_test(late_fragment_begins_anew),
		cmocka_unit_test(completes_one_tick_before),
		cmocka_unit_test(families_do_not_wait_for_each_other),
		cmocka_unit_test(condemned_expires_too),
		cmocka_unit_test(condemned_is_over_without_a_sweep),
		cmocka_unit_test(no_more_than_asked_for),
		cmocka_unit_test(timeout_changes_at_run_time),
		cmocka_unit_test(clock_may_go_back_a_little),
		cmocka_unit_test(flush_frees_and_forgets),
	};

	return cmocka_run_group_tests_name("reassembly: time", tests, NULL, NULL);
}
