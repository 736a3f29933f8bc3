/* SPDX-License-Identifier: BSD-3-Clause */
/* Condemned keys are remembered in units of time that follow from the longest timeout, and in few bits of them. */
#include "inside.h"

enum { UNIT_BITS = 22, TIMEOUT_BITS = 20 };

static void init(struct bed *bed, uint64_t timeout4, uint64_t timeout6)
{
	struct fm_reass_params params = bed_params();

	params.settings.timeout_tsc[FM_IPV4] = timeout4;
	params.settings.timeout_tsc[FM_IPV6] = timeout6;
	bed_init_params(bed, &params);
}

static uint64_t unit(const struct bed *bed)
{
	return 1ULL << bed->reass->condemned_shift;
}

static bool find(const struct bed *bed, uint64_t hash, uint64_t now)
{
	return fm_condemned_find(bed->reass, hash, FM_IPV4, now);
}

static uint64_t condemned(const struct bed *bed)
{
	inside_assert_sound(bed);
	return fm_reass_stats(bed->reass)->condemned;
}

/* At least until its time, and not longer than one unit more: also where 22 bits of units, or 64 of ticks, wrap. */
static void remembered_until_its_time_and_a_unit(void **state)
{
	for (int bits = 1; bits <= 56; bits++) {
		const uint64_t timeout = (1ULL << bits) - 1;
		struct bed bed;

		(void)state;
		init(&bed, timeout, 1);
		assert_true(timeout / unit(&bed) < 1ULL << TIMEOUT_BITS);
		assert_true(unit(&bed) == 1 || timeout / unit(&bed) >= 1ULL << (TIMEOUT_BITS - 1));
		for (uint32_t i = 0; i < 9; i++) {
			/* A clock that starts at once, and ones about to wrap. */
			const uint64_t turn = unit(&bed) << UNIT_BITS;
			const uint64_t wrap = i % 3 == 0 ? 0 : i % 3 == 1 ? turn : 3 * turn;
			const uint64_t start = wrap - timeout / (1 + i), until = start + timeout;
			const uint64_t hash = 0x1234567890abcdefULL * (i + 1) & ~1ULL;

			fm_condemned_add(bed.reass, hash, FM_DOOM_FAULTY, start, until);
			assert_true(find(&bed, hash, start));
			assert_true(find(&bed, hash, start + timeout / 2));
			assert_true(find(&bed, hash, until - 1));
			assert_int_equal(condemned(&bed), 1);
			assert_false(find(&bed, hash, until + unit(&bed)));
			assert_int_equal(condemned(&bed), 0);
		}
		bed_fini(&bed);
	}
}

/* What is over stays over for as long as it may take until somebody sweeps: more than a timeout. */
static void over_stays_over(void **state)
{
	for (int bits = 4; bits <= 56; bits += 4) {
		const uint64_t timeout = (1ULL << bits) - 1, start = 12345;
		struct bed bed;

		(void)state;
		init(&bed, timeout, timeout);
		for (uint32_t i = 0; i < 16; i++) {
			const uint64_t hash = 0x1234567890abcdefULL * (i + 1) & ~1ULL;
			const uint64_t later = start + timeout + unit(&bed) + timeout / 16 * i;

			fm_condemned_add(bed.reass, hash, FM_DOOM_FAULTY, start, start + timeout);
			if (i % 2 == 0)
				assert_false(find(&bed, hash, later));
			else
				fm_condemned_sweep(bed.reass, UINT32_MAX, later);
			assert_int_equal(condemned(&bed), 0);
		}
		bed_fini(&bed);
	}
}

static void set_timeouts(struct bed *bed, uint64_t timeout4, uint64_t timeout6)
{
	struct fm_reass_settings settings = bed->params.settings;

	settings.timeout_tsc[FM_IPV4] = timeout4;
	settings.timeout_tsc[FM_IPV6] = timeout6;
	bed_set(bed, &settings);
}

/* Times in another unit would mean something else. */
static void another_unit_forgets_all(void **state)
{
	const uint64_t timeout = 3ULL << 30, hash = 0x1234567890abcdee, now = 1ULL << 40;
	struct bed bed;
	uint64_t was;

	(void)state;
	init(&bed, timeout, 1000);
	was = unit(&bed);
	fm_condemned_add(bed.reass, hash, FM_DOOM_FAULTY, now, now + timeout);
	/* The unit is that of the longest: neither of these changes it. */
	set_timeouts(&bed, timeout, timeout / 3);
	set_timeouts(&bed, timeout + 1, 5);
	set_timeouts(&bed, 5, timeout - 1);
	assert_int_equal(unit(&bed), was);
	assert_int_equal(condemned(&bed), 1);
	assert_true(find(&bed, hash, now + timeout - 1));
	set_timeouts(&bed, 5, timeout * 2);
	assert_int_equal(unit(&bed), 2 * was);
	assert_int_equal(condemned(&bed), 0);
	fm_condemned_add(bed.reass, hash, FM_DOOM_FAULTY, now, now + timeout);
	set_timeouts(&bed, 5, timeout / 8);
	assert_int_equal(unit(&bed), was / 8);
	assert_int_equal(condemned(&bed), 0);
	bed_fini(&bed);
}

/* With fragments, on a clock of seconds and nanoseconds. */
static void fragments_of_long_timeouts(void **state)
{
	const uint64_t second = 1000000000, timeout = 30 * second;
	struct fm_test_frag frag = bed_ipv4(7, 0, 64, true);
	struct bed bed;

	(void)state;
	init(&bed, timeout, 60 * second);
	bed.now = (unit(&bed) << UNIT_BITS) * 5 - timeout / 2;
	bed_send(&bed, &frag);
	frag.offset = 8;
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_OVERLAP), 2);
	bed.now += timeout - 1;
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	bed.now += 1 + unit(&bed);
	bed_send(&bed, &frag);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	assert_int_equal(bed_held(&bed), 1);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(remembered_until_its_time_and_a_unit),
		cmocka_unit_test(over_stays_over),
		cmocka_unit_test(another_unit_forgets_all),
		cmocka_unit_test(fragments_of_long_timeouts),
	};

	return cmocka_run_group_tests_name("condemned keys, units of time", tests, NULL, NULL);
}
