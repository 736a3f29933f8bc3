/* SPDX-License-Identifier: BSD-3-Clause */
/* Condemned keys (condemned.c): how long each is remembered, who gives way in a full set, who is not taken for it. */
#include "inside.h"

enum { TIME = 1000000, SOME_SET = 5, ANOTHER_SET = 6 };

static const enum fm_doom dooms[] = {FM_DOOM_UNLIKELY, FM_DOOM_PRESSURE, FM_DOOM_FAULTY};

/* The hash of a key that belongs into this set; `number` tells keys apart. */
static uint64_t hash_in(uint32_t set, uint32_t number)
{
	/* The sets of a small table: by the upper eight bits. */
	return (uint64_t)set << 56 | (uint64_t)(number + 1) << 2;
}

static uint64_t condemned(const struct bed *bed)
{
	inside_assert_sound(bed);
	return fm_reass_stats(bed->reass)->condemned;
}

static bool find(const struct bed *bed, uint64_t hash, uint64_t now)
{
	return fm_condemned_find(bed->reass, hash, FM_IPV4, now);
}

static void add(const struct bed *bed, uint64_t hash, enum fm_doom doom, uint64_t until)
{
	fm_condemned_add(bed->reass, hash, doom, TIME, until);
}

static uint32_t sets(const struct bed *bed)
{
	return bed->reass->n_condemned_sets;
}

static void found_until_its_time(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < RTE_DIM(dooms); i++) {
		const uint64_t hash = hash_in(SOME_SET, (uint32_t)i);

		assert_false(find(&bed, hash, TIME));
		add(&bed, hash, dooms[i], TIME + 1);
		assert_int_equal(condemned(&bed), 1);
		assert_false(find(&bed, hash, TIME + 1));
		assert_int_equal(condemned(&bed), 0);
		add(&bed, hash, dooms[i], TIME + 1);
		assert_true(find(&bed, hash, TIME));
		fm_condemned_clear(bed.reass);
	}
	bed_fini(&bed);
}

/* A clock of 64 bits may pass its end. */
static void clock_may_wrap(void **state)
{
	const uint64_t hash = hash_in(SOME_SET, 0);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	fm_condemned_add(bed.reass, hash, FM_DOOM_FAULTY, UINT64_MAX - 5, 5);
	assert_true(find(&bed, hash, UINT64_MAX - 5));
	assert_true(find(&bed, hash, UINT64_MAX));
	assert_true(find(&bed, hash, 4));
	assert_false(find(&bed, hash, 5));
	assert_int_equal(condemned(&bed), 0);
	bed_fini(&bed);
}

/* RFC 5722: for the time its datagram would have had, and no longer. */
static void faulty_ones_are_not_prolonged(void **state)
{
	const uint64_t hash = hash_in(SOME_SET, 0);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	add(&bed, hash, FM_DOOM_FAULTY, TIME + 100);
	for (uint64_t now = TIME; now < TIME + 100; now++)
		assert_true(find(&bed, hash, now));
	assert_false(find(&bed, hash, TIME + 100));
	assert_int_equal(condemned(&bed), 0);
	bed_fini(&bed);
}

/* What is still being sent must not begin in the middle: each fragment prolongs the time. */
static void refused_ones_are_prolonged(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (int family = 0; family < FM_FAMILIES; family++)
		for (size_t i = 0; i < 2; i++) {
			const uint64_t hash = hash_in(SOME_SET, 2 * (uint32_t)family + (uint32_t)i);
			const uint64_t linger = fm_condemned_for_tsc(bed.reass, (enum fm_family_index)family);
			uint64_t now = TIME;

			assert_in_range(linger, 1, bed.params.settings.timeout_tsc[family]);
			fm_condemned_add(bed.reass, hash, dooms[i], now, now + linger);
			for (int n = 0; n < 200; n++) {
				now += linger - 1;
				assert_true(fm_condemned_find(bed.reass, hash, (enum fm_family_index)family, now));
			}
			now += linger;
			assert_false(fm_condemned_find(bed.reass, hash, (enum fm_family_index)family, now));
			assert_int_equal(condemned(&bed), 0);
		}
	bed_fini(&bed);
}

/* The same from outside: a refused datagram that goes on being sent stays condemned beyond any timeout. */
static void refused_ones_are_prolonged_by_fragments(void **state)
{
	struct fm_reass_params params = bed_params();
	const struct fm_test_frag held = bed_ipv4(1, 0, 64, true), refused = bed_ipv4(2, 0, 64, true);
	uint32_t n;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 1;
	bed_init_params(&bed, &params);
	bed_send(&bed, &held);
	bed_send(&bed, &refused);
	assert_int_equal(bed_count(&bed, FM_REFUSED_BUDGET) + bed_count(&bed, FM_REFUSED_SHARE), 1);
	for (n = 0; bed.now < BED_START + 3 * BED_TIMEOUT4; n++) {
		bed.now += fm_condemned_for_tsc(bed.reass, FM_IPV4) - 1;
		bed_send(&bed, &refused);
		fm_reass_expire(bed.reass, bed.now, BED_ALL);
	}
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), n);
	assert_int_equal(bed_held(&bed), 0);
	bed.now += fm_condemned_for_tsc(bed.reass, FM_IPV4);
	bed_send(&bed, &refused);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), n);
	assert_int_equal(bed_held(&bed), 1);
	bed_fini(&bed);
}

/* Four slots and one more. `time` of a slot: the order in which they would be forgotten. */
struct full {
	enum fm_doom doom[FM_CONDEMNED_WAYS];
	uint32_t time[FM_CONDEMNED_WAYS];
};

/* Who has to go for `doom`; FM_CONDEMNED_WAYS: nobody, the new one is not remembered. */
static uint32_t expected_victim(const struct full *full, enum fm_doom doom)
{
	uint32_t victim = FM_CONDEMNED_WAYS;
	bool any_unlikely = doom == FM_DOOM_UNLIKELY;

	for (uint32_t i = 0; i < FM_CONDEMNED_WAYS; i++)
		any_unlikely |= full->doom[i] == FM_DOOM_UNLIKELY;
	for (uint32_t i = 0; i < FM_CONDEMNED_WAYS; i++) {
		if (any_unlikely && full->doom[i] != FM_DOOM_UNLIKELY)
			continue;
		if (victim == FM_CONDEMNED_WAYS || full->time[i] < full->time[victim])
			victim = i;
	}
	return victim;
}

static void assert_gives_way(struct bed *bed, const struct full *full, enum fm_doom doom)
{
	const uint32_t victim = expected_victim(full, doom);
	const uint64_t newcomer = hash_in(SOME_SET, FM_CONDEMNED_WAYS);

	for (uint32_t i = 0; i < FM_CONDEMNED_WAYS; i++)
		add(bed, hash_in(SOME_SET, i), full->doom[i], TIME + 100 + full->time[i]);
	add(bed, newcomer, doom, TIME + 100);
	assert_int_equal(condemned(bed), FM_CONDEMNED_WAYS);
	for (uint32_t i = 0; i < FM_CONDEMNED_WAYS; i++)
		assert_int_equal(find(bed, hash_in(SOME_SET, i), TIME), i != victim);
	assert_int_equal(find(bed, newcomer, TIME), victim != FM_CONDEMNED_WAYS);
	fm_condemned_clear(bed->reass);
}

/*
 * Every kind of set, in every order of time, for every kind of newcomer: the unlikely go before others whatever their
 * time and displace their like only; among equals the one that would be forgotten soonest goes.
 */
static void who_gives_way_in_a_full_set(void **state)
{
	struct bed bed;
	uint32_t cases = 0;

	(void)state;
	bed_init(&bed);
	for (uint32_t kinds = 0; kinds < 3 * 3 * 3 * 3; kinds++)
		for (uint32_t times = 0; times < 4 * 4 * 4 * 4; times++) {
			struct full full;
			uint32_t seen = 0, k = kinds, t = times;

			for (uint32_t i = 0; i < FM_CONDEMNED_WAYS; i++, k /= 3, t /= 4) {
				full.doom[i] = dooms[k % 3];
				full.time[i] = t % 4;
				seen |= 1U << t % 4;
			}
			/* Orders only: all four times. */
			if (seen != 0xf)
				continue;
			for (size_t i = 0; i < RTE_DIM(dooms); i++, cases++)
				assert_gives_way(&bed, &full, dooms[i]);
		}
	assert_int_equal(cases, 81 * 24 * 3);
	bed_fini(&bed);
}

/* What is over is free: no other has to go, and the unlikely may have it. */
static void what_is_over_gives_way_to_all(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t at = 0; at < FM_CONDEMNED_WAYS; at++)
		for (size_t i = 0; i < RTE_DIM(dooms); i++) {
			for (uint32_t n = 0; n < FM_CONDEMNED_WAYS; n++)
				add(&bed, hash_in(SOME_SET, n), n == at ? FM_DOOM_FAULTY : FM_DOOM_UNLIKELY,
				    n == at ? TIME + 1 : TIME + 2);
			fm_condemned_add(bed.reass, hash_in(SOME_SET, 9), dooms[i], TIME + 1, TIME + 2);
			assert_int_equal(condemned(&bed), FM_CONDEMNED_WAYS);
			for (uint32_t n = 0; n < FM_CONDEMNED_WAYS; n++)
				assert_int_equal(find(&bed, hash_in(SOME_SET, n), TIME + 1), n != at);
			assert_true(find(&bed, hash_in(SOME_SET, 9), TIME + 1));
			fm_condemned_clear(bed.reass);
		}
	bed_fini(&bed);
}

/* A full set takes nothing from its neighbours. */
static void sets_are_apart(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t n = 0; n < FM_CONDEMNED_WAYS; n++)
		add(&bed, hash_in(ANOTHER_SET, n), FM_DOOM_UNLIKELY, TIME + 1);
	for (uint32_t n = 0; n < 100; n++)
		add(&bed, hash_in(SOME_SET, n), FM_DOOM_FAULTY, TIME + 2);
	assert_int_equal(condemned(&bed), 2 * FM_CONDEMNED_WAYS);
	for (uint32_t n = 0; n < FM_CONDEMNED_WAYS; n++)
		assert_true(find(&bed, hash_in(ANOTHER_SET, n), TIME));
	bed_fini(&bed);
}

/* As many sets as it is told, each in its turn; what is not over stays. */
static void sweep_takes_sets_in_turn(void **state)
{
	struct bed bed;
	uint64_t left;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < sets(&bed); i++) {
		add(&bed, hash_in(i, 0), FM_DOOM_FAULTY, TIME + 1);
		add(&bed, hash_in(i, 1), FM_DOOM_PRESSURE, TIME + 2);
		add(&bed, hash_in(i, 2), FM_DOOM_UNLIKELY, TIME + 3);
	}
	fm_condemned_sweep(bed.reass, UINT32_MAX, TIME);
	assert_int_equal(condemned(&bed), 3 * sets(&bed));
	left = 3 * sets(&bed);
	for (uint32_t i = 0; i < sets(&bed); i++) {
		fm_condemned_sweep(bed.reass, 1, TIME + 1);
		assert_int_equal(condemned(&bed), --left);
	}
	fm_condemned_sweep(bed.reass, UINT32_MAX, TIME + 1);
	assert_int_equal(condemned(&bed), left);
	fm_condemned_sweep(bed.reass, 0, TIME + 9);
	assert_int_equal(condemned(&bed), left);
	fm_condemned_sweep(bed.reass, 10, TIME + 2);
	assert_int_equal(condemned(&bed), left - 10);
	/* The rest of the round. */
	fm_condemned_sweep(bed.reass, sets(&bed) - 10, TIME + 2);
	assert_int_equal(condemned(&bed), sets(&bed));
	fm_condemned_sweep(bed.reass, sets(&bed), TIME + 3);
	assert_int_equal(condemned(&bed), 0);
	bed_fini(&bed);
}

/* What fm_reass_expire() is told is also the number of sets it sweeps. */
static void expire_sweeps(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < sets(&bed); i++)
		add(&bed, hash_in(i, 0), FM_DOOM_FAULTY, TIME + 1);
	assert_int_equal(fm_reass_expire(bed.reass, TIME + 1, 3), 0);
	assert_int_equal(condemned(&bed), sets(&bed) - 3);
	assert_int_equal(fm_reass_expire(bed.reass, TIME + 1, BED_ALL), 0);
	assert_int_equal(condemned(&bed), 0);
	bed_fini(&bed);
}

static void flush_clears(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < sets(&bed); i++)
		add(&bed, hash_in(i, i), dooms[i % 3], TIME + 1000);
	assert_int_equal(fm_reass_flush(bed.reass), 0);
	assert_int_equal(condemned(&bed), 0);
	for (uint32_t i = 0; i < sets(&bed); i++)
		assert_false(find(&bed, hash_in(i, i), TIME));
	/* And can be used again. */
	add(&bed, hash_in(0, 0), FM_DOOM_FAULTY, TIME + 1000);
	assert_true(find(&bed, hash_in(0, 0), TIME));
	bed_fini(&bed);
}

/* The lower 40 bits tell keys apart, in the same set too; so do as many of the upper ones as the sets take. */
static void every_bit_of_the_hash_counts(void **state)
{
	const uint64_t hash = 0x0123456789abcdef;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < RTE_DIM(dooms); i++) {
		add(&bed, hash, dooms[i], TIME + 1000);
		assert_true(find(&bed, hash, TIME));
		for (unsigned int bit = 0; bit < 64; bit = bit == 39 ? 56 : bit + 1)
			assert_false(find(&bed, hash ^ 1ULL << bit, TIME));
		fm_condemned_clear(bed.reass);
	}
	/* Slots that are empty are no key. */
	assert_false(find(&bed, 0, TIME));
	add(&bed, hash, FM_DOOM_FAULTY, TIME + 1000);
	assert_false(find(&bed, hash & ~0xffffffffULL, TIME));
	bed_fini(&bed);
}

static void send_on(struct bed *bed, const struct fm_test_frag *frag, uint16_t port)
{
	struct rte_mbuf *m = bed_mbuf(bed, frag);

	bed_send_mbufs(bed, &m, 1, port);
}

/* Whatever of the key differs: it is another datagram, and is not condemned. */
static void keys_that_differ_in_anything(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct fm_test_frag base = bed_ipv4(0x1234, 0, 64, true), overlap, other[8];
		const uint64_t before = bed_count(&bed, FM_CONDEMNED);
		uint32_t n = 0;

		base.family = family;
		base.vlans = 1;
		base.tci[0] = 0x0005;
		overlap = base;
		overlap.offset = 8;
		for (size_t i = 0; i < RTE_DIM(other); i++)
			other[i] = base;
		other[n++].id ^= 0x0001;
		other[n++].id ^= family == 4 ? 0x8000 : 0x80000000;
		other[n++].source ^= 0x80000000;
		other[n++].destination ^= 1;
		other[n++].tci[0] ^= 0x0800;
		other[n++].vlans = 0;
		other[n++].vlans = 2;
		/* Of IPv4 the protocol; of IPv6 it is no part of the key, the family is. */
		other[n].family = 10 - family;
		other[n++].protocol = family == 4 ? 253 : 17;
		assert_int_equal(n, RTE_DIM(other));
		send_on(&bed, &base, BED_PORT);
		send_on(&bed, &overlap, BED_PORT);
		assert_int_equal(condemned(&bed), 1);
		for (uint32_t i = 0; i < n; i++)
			send_on(&bed, &other[i], BED_PORT);
		send_on(&bed, &base, BED_PORT + 1);
		assert_int_equal(bed_count(&bed, FM_CONDEMNED), before);
		assert_int_equal(bed_held(&bed), n + 1);
		send_on(&bed, &base, BED_PORT);
		assert_int_equal(bed_count(&bed, FM_CONDEMNED), before + 1);
		fm_reass_flush(bed.reass);
	}
	bed_fini(&bed);
}

/* A slot or more for each datagram that may be live, and never none. */
static void as_many_as_the_table_needs(void **state)
{
	(void)state;
	for (uint32_t n = 1; n <= 1 << 24; n *= 2) {
		const uint32_t count = fm_condemned_sets(n);

		assert_true(count > 0);
		assert_true((uint64_t)count * FM_CONDEMNED_WAYS >= n);
		assert_true(fm_condemned_sets(n + n / 2) >= count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_until_its_time),
		cmocka_unit_test(clock_may_wrap),
		cmocka_unit_test(faulty_ones_are_not_prolonged),
		cmocka_unit_test(refused_ones_are_prolonged),
		cmocka_unit_test(refused_ones_are_prolonged_by_fragments),
		cmocka_unit_test(who_gives_way_in_a_full_set),
		cmocka_unit_test(what_is_over_gives_way_to_all),
		cmocka_unit_test(sets_are_apart),
		cmocka_unit_test(sweep_takes_sets_in_turn),
		cmocka_unit_test(expire_sweeps),
		cmocka_unit_test(flush_clears),
		cmocka_unit_test(every_bit_of_the_hash_counts),
		cmocka_unit_test(keys_that_differ_in_anything),
		cmocka_unit_test(as_many_as_the_table_needs),
	};

	return cmocka_run_group_tests_name("reassembly: condemned keys", tests, NULL, NULL);
}
