/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of sources (source.c): whose is which, who keeps his, what each knows of what is held. */
#include "inside.h"

enum { VICTIM = 0x0a000000, STRANGERS = 0x0b000000 };

static uint8_t *address_of(struct fm_frag *frag)
{
	return (uint8_t *)&frag->key.word[frag->family == 4 ? 1 : 2];
}

/* Has this owner the record? One that is given to another changes its check. */
struct owner {
	struct fm_source *record;
	uint16_t check;
};

static struct owner owner_of(const struct bed *bed, const struct fm_frag *frag)
{
	struct fm_source *s = inside_source_of(bed, frag);

	return (struct owner){.record = s, .check = s->check};
}

static bool same(struct owner a, struct owner b)
{
	return a.record == b.record && a.check == b.check;
}

static void found_again(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint8_t family = 4; family <= 6; family += 2) {
		struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), other;
		struct owner first;

		frag.family = family;
		other = frag;
		first.record = inside_source(&bed, &frag);
		first.check = first.record->check;
		/* Nothing but the source makes a source. */
		other.id = 99;
		other.destination ^= 0xff;
		other.protocol = 253;
		other.vlans = 1;
		other.offset = 64;
		assert_ptr_equal(inside_source(&bed, &other), first.record);
		assert_int_equal(first.record->check, first.check);
		assert_int_equal(first.record->family, family);
	}
	bed_fini(&bed);
}

/* Each bit of the address, for each length of the prefix: it makes another source if it is one of the prefix. */
static void assert_prefix(struct bed *bed, struct fm_frag *frag, unsigned int bits, unsigned int effective)
{
	struct fm_reass_settings settings = bed->params.settings;
	const unsigned int all = frag->family == 4 ? 32 : 128;

	settings.source_prefix[frag->family == 4 ? FM_IPV4 : FM_IPV6] = (uint8_t)bits;
	bed_set(bed, &settings);
	for (unsigned int bit = 0; bit < all; bit++) {
		const uint8_t mask = (uint8_t)(0x80 >> bit % 8);
		struct owner base = owner_of(bed, frag), other;

		address_of(frag)[bit / 8] ^= mask;
		other = owner_of(bed, frag);
		address_of(frag)[bit / 8] ^= mask;
		if (same(base, other) != (bit >= effective))
			fail_msg("IPv%u, prefix %u: bit %u is wrong", frag->family, bits, bit);
	}
}

static void every_prefix_length(void **state)
{
	const struct fm_test_frag ipv4 = bed_ipv4(1, 0, 64, true), ipv6 = bed_ipv6(1, 0, 64, true);
	struct fm_frag frag4 = inside_parse(&ipv4), frag6 = inside_parse(&ipv6);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	/* No bit is like its neighbour everywhere. */
	for (unsigned int i = 0; i < 16; i++) {
		address_of(&frag6)[i] = (uint8_t)(0x5a + 37 * i);
		if (i < 4)
			address_of(&frag4)[i] = (uint8_t)(0xa5 + 73 * i);
	}
	assert_prefix(&bed, &frag4, 0, 32);
	for (unsigned int bits = 1; bits <= 32; bits++)
		assert_prefix(&bed, &frag4, bits, bits);
	assert_prefix(&bed, &frag6, 0, 64);
	for (unsigned int bits = 1; bits <= 128; bits++)
		assert_prefix(&bed, &frag6, bits, bits);
	bed_fini(&bed);
}

/* The same bits in front and nothing behind them, and yet not the same source. */
static void families_are_never_mixed(void **state)
{
	const struct fm_test_frag ipv4 = bed_ipv4(1, 0, 64, true), ipv6 = bed_ipv6(1, 0, 64, true);
	struct fm_frag frag4 = inside_parse(&ipv4), frag6 = inside_parse(&ipv6);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 1000; i++) {
		const uint32_t address = i * 0x9e3779b1;
		struct owner a, b;

		memset(address_of(&frag6), 0, 16);
		memcpy(address_of(&frag4), &address, 4);
		memcpy(address_of(&frag6), &address, 4);
		a = owner_of(&bed, &frag4);
		b = owner_of(&bed, &frag6);
		assert_false(same(a, b));
		assert_int_equal(a.record->family == 4 || a.record == b.record, true);
		assert_int_equal(b.record->family, 6);
	}
	bed_fini(&bed);
}

/* A record that has seen datagrams complete is not given up for strangers, however many. */
static void deliveries_outlive_a_flood(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_source before[3];
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 32;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < RTE_DIM(before); i++) {
		inside_complete(&bed, VICTIM + i, i, 3, 1);
		before[i] = inside_record(&bed, VICTIM + i);
		assert_int_equal(before[i].delivered, 3);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		bed.now += i % 4 == 0;
		if (i % 64 != 0) {
			const struct fm_test_frag frag = inside_frag(STRANGERS + i, i & 0xffff, 0, 2);

			inside_source(&bed, &frag);
			continue;
		}
		inside_send(&bed, STRANGERS + i, i & 0xffff, 0, 2);
	}
	for (uint32_t i = 0; i < RTE_DIM(before); i++) {
		const struct fm_source after = inside_record(&bed, VICTIM + i);

		inside_assert_learned_same(&before[i], &after);
		assert_int_equal(before[i].check, after.check);
	}
	bed_fini(&bed);
}

/* A record's check is never that of the owner before. */
static void check_changes_with_the_owner(void **state)
{
	struct bed bed;
	uint32_t owners = 0;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct fm_test_frag frag = inside_frag(STRANGERS + i, 1, 0, 2);
		static struct fm_source seen[1 << 16];
		const struct fm_source *s = inside_source(&bed, &frag);
		const size_t at = (size_t)(s - bed.reass->sources.record);

		assert_true(at < RTE_DIM(seen));
		if (seen[at].family != 0) {
			assert_int_not_equal(seen[at].check, s->check);
			owners++;
		}
		assert_int_equal(s->held_mbufs + s->begun + s->grown + s->delivered + s->wasted, 0);
		seen[at] = *s;
	}
	assert_int_not_equal(owners, 0);
	bed_fini(&bed);
}

/* Sources whose records lie in the set of this one. */
static void find_neighbours(const struct bed *bed, uint32_t source, uint32_t *neighbour, uint32_t n)
{
	const struct fm_test_frag frag = inside_frag(source, 1, 0, 2);
	const ptrdiff_t set = (inside_source(bed, &frag) - bed->reass->sources.record) / FM_SOURCE_WAYS;

	for (uint32_t i = 0, found = 0; found < n; i++) {
		const struct fm_test_frag other = inside_frag(STRANGERS + i, 1, 0, 2);

		if ((inside_source(bed, &other) - bed->reass->sources.record) / FM_SOURCE_WAYS == set)
			neighbour[found++] = STRANGERS + i;
	}
}

/* What a datagram holds is never counted for another source, and its record is not taken for its own. */
static void an_owner_long_gone_is_nobody(void **state)
{
	const struct fm_datagram *d;
	uint32_t neighbour[FM_SOURCE_WAYS + 2];
	struct fm_source *record;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	find_neighbours(&bed, VICTIM, neighbour, RTE_DIM(neighbour));
	/* All of the set hold something, the victim since before the others: it has to go for the next. */
	inside_send(&bed, VICTIM, 1, 0, 2);
	d = fm_entry(bed.reass, bed.reass->age[FM_IPV4].head);
	record = fm_source_of(bed.reass, d);
	assert_non_null(record);
	for (uint32_t i = 0; i < FM_SOURCE_WAYS - 1; i++)
		inside_send(&bed, neighbour[i], 1, 0, 2);
	assert_ptr_equal(fm_source_of(bed.reass, d), record);
	/* Two take it from each other, as often as a check of 16 bits, of which none is 0, can tell. */
	for (uint32_t i = 0; i < UINT16_MAX - 1; i++) {
		const struct fm_test_frag frag = inside_frag(neighbour[FM_SOURCE_WAYS + i % 2], 1, 0, 2);

		assert_ptr_equal(inside_source(&bed, &frag), record);
		if (fm_source_of(bed.reass, d) != NULL)
			fail_msg("after %u others a datagram takes another's record for its own", i);
		if (i % 1000 == 0)
			inside_assert_sound(&bed);
	}
	bed_fini(&bed);
}

/* A record in a set: what it is worth, and in which order it was last asked for. */
struct worth {
	bool delivered[FM_SOURCE_WAYS], holds[FM_SOURCE_WAYS];
	uint32_t order[FM_SOURCE_WAYS];
};

/*
 * Who never delivered and holds nothing goes first, then who never delivered, then the others; of each kind who was not
 * asked for longest.
 */
static uint32_t expected_victim(const struct worth *w)
{
	uint32_t victim = 0, least = UINT32_MAX;

	for (uint32_t i = 0; i < FM_SOURCE_WAYS; i++) {
		const uint32_t kind = w->delivered[i] ? 2 : w->holds[i];

		if (kind * 100 + w->order[i] < least) {
			victim = i;
			least = kind * 100 + w->order[i];
		}
	}
	return victim;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)random_state * n >> 32);
}

static struct worth random_worth(void)
{
	const uint32_t delivering = random_below(4), holding = random_below(4);
	struct worth w;

	for (uint32_t i = 0; i < FM_SOURCE_WAYS; i++) {
		const uint32_t at = random_below(i + 1);

		w.delivered[i] = random_below(3) < delivering;
		w.holds[i] = random_below(3) < holding;
		w.order[i] = w.order[at];
		w.order[at] = i;
	}
	return w;
}

static void assert_gives_up(const struct bed *bed, uint32_t set, const struct worth *w, uint32_t stamp)
{
	const struct fm_test_frag frag = inside_frag(VICTIM, 1, 0, 2);
	const struct fm_source *s;

	for (uint32_t i = 0; i < FM_SOURCE_WAYS; i++) {
		bed->reass->sources.record[set + i] = (struct fm_source){.family = 4, .delivered = w->delivered[i]};
		bed->reass->sources.slot[set + i] = (struct fm_source_slot){
			.tag = 2 * i + 2,	/* no hash has an even one */
			.stamp = (stamp - FM_SOURCE_WAYS + w->order[i]) & 0x3fffffff,
			.delivered = w->delivered[i],
			.held = w->holds[i],
		};
	}
	bed->reass->sources.stamp = stamp;
	s = inside_source(bed, &frag);
	assert_int_equal(s - bed->reass->sources.record - set, expected_victim(w));
	assert_int_equal(s->held_mbufs + s->delivered, 0);
}

/* Every kind of set, and wherever the count of events stands. */
static void who_is_given_up(void **state)
{
	static const uint32_t stamps[] = {1000, 5, UINT32_MAX, 1U << 30, (1U << 30) + 3, 0};
	const struct fm_test_frag frag = inside_frag(VICTIM, 1, 0, 2);
	uint32_t set;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	set = (uint32_t)(inside_source(&bed, &frag) - bed.reass->sources.record) / FM_SOURCE_WAYS * FM_SOURCE_WAYS;
	for (uint32_t n = 0; n < 50000; n++) {
		const struct worth w = random_worth();

		assert_gives_up(&bed, set, &w, stamps[n % RTE_DIM(stamps)]);
	}
	memset(&bed.reass->sources.record[set], 0, FM_SOURCE_WAYS * sizeof(struct fm_source));
	memset(&bed.reass->sources.slot[set], 0, FM_SOURCE_WAYS * sizeof(struct fm_source_slot));
	bed_fini(&bed);
}

/* What a slot says of its record is so: it holds, until it has delivered; it has delivered. */
static void slots_follow_their_records(void **state)
{
	enum { SOURCES = 6 };
	uint32_t random = 3;
	struct bed bed;

	(void)state;
	inside_init_budget(&bed, 24);
	for (uint32_t i = 0; i < 5000; i++) {
		random = random * 1664525 + 1013904223;
		bed.now += random >> 28;
		inside_send(&bed, VICTIM + (random >> 8) % SOURCES, (random >> 12) % 4, (random >> 16) % 8, 8);
		bed_clear(&bed);
		if (i % 50 == 0)
			fm_reass_expire(bed.reass, bed.now, BED_ALL);
		for (uint32_t n = 0; n <= (bed.reass->sources.n_sets - 1) * FM_SOURCE_WAYS; n++) {
			const struct fm_source *s = &bed.reass->sources.record[n];
			const struct fm_source_slot *slot = &bed.reass->sources.slot[n];

			assert_int_equal(slot->tag != 0, s->family != 0);
			assert_int_equal(slot->delivered, s->delivered != 0);
			assert_true(slot->delivered || slot->held == (s->held_mbufs != 0));
		}
	}
	assert_int_not_equal(bed_count(&bed, FM_COMPLETED), 0);
	bed_fini(&bed);
}

/* Under pressure, with evictions and completions: each record holds what its datagrams hold. */
static void held_mbufs_are_those_of_its_datagrams(void **state)
{
	enum { SOURCES = 6 };
	struct fm_reass_params params = bed_params();
	uint32_t random = 7;
	struct bed bed;

	(void)state;
	params.settings.budget_mbufs = 24;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 5000; i++) {
		uint32_t held[SOURCES] = {0}, n;
		struct fm_reass_view views[64];

		random = random * 1664525 + 1013904223;
		bed.segment = random >> 30 == 0 ? 40 : 0;
		bed.now += random >> 28;
		inside_send(&bed, VICTIM + (random >> 8) % SOURCES, (random >> 12) % 4, (random >> 16) % 6, 6);
		bed_clear(&bed);
		n = fm_reass_views(bed.reass, bed.now, views, RTE_DIM(views));
		for (uint32_t v = 0; v < n; v++)
			held[views[v].source[3]] += views[v].held_mbufs;
		for (uint32_t s = 0; s < SOURCES; s++)
			assert_int_equal(inside_record(&bed, VICTIM + s).held_mbufs, held[s]);
	}
	assert_int_not_equal(bed_count(&bed, FM_COMPLETED), 0);
	assert_int_not_equal(bed_count(&bed, FM_EVICTED_COLD) + bed_count(&bed, FM_EVICTED_PROGRESS) +
			     bed_count(&bed, FM_EVICTED_UNLIKELY), 0);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_again),
		cmocka_unit_test(every_prefix_length),
		cmocka_unit_test(families_are_never_mixed),
		cmocka_unit_test(deliveries_outlive_a_flood),
		cmocka_unit_test(check_changes_with_the_owner),
		cmocka_unit_test(an_owner_long_gone_is_nobody),
		cmocka_unit_test(who_is_given_up),
		cmocka_unit_test(slots_follow_their_records),
		cmocka_unit_test(held_mbufs_are_those_of_its_datagrams),
	};

	return cmocka_run_group_tests_name("reassembly: records of sources", tests, NULL, NULL);
}
