/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a record was found last is remembered: what is found that way is what the hash would find. */
#include "inside.h"
#include "random.h"

enum { SOURCES = 3000, STEPS = 60000 };

/* Asked in any order, of both families, far more than there are places or records; prefixes change meanwhile. */
static void the_record_is_the_sources_own(void **state)
{
	struct random random = {.state = 20221109};
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (uint32_t i = 0; i < STEPS; i++) {
		/* Few of them often, the others now and then. */
		const uint32_t number = random_below(&random, random_below(&random, 3) == 0 ? SOURCES : 20);
		struct fm_test_frag frag = number % 2 == 0 ? bed_ipv4(1, 0, 64, true) : bed_ipv6(1, 0, 64, true);
		struct fm_frag parsed;
		struct fm_source *s, *again;
		struct fm_who who;

		frag.source = number * 0x01000193;
		parsed = inside_parse(&frag);
		if (random_below(&random, 500) == 0) {
			struct fm_reass_settings settings = bed.params.settings;

			settings.source_prefix[FM_IPV4] = (uint8_t)random_below(&random, 33);
			settings.source_prefix[FM_IPV6] = (uint8_t)random_below(&random, 129);
			bed_set(&bed, &settings);
		}
		s = inside_source_of(&bed, &parsed);
		fm_source_ask(bed.reass, &parsed.key, frag.family == 4 ? FM_IPV4 : FM_IPV6, &who);
		assert_true(fm_source_is(s, &who));
		assert_int_equal(s->family, frag.family);
		assert_int_equal(fm_source_slot(bed.reass, s)->tag, fm_source_tag(fm_source_hash(bed.reass, &who)));
		/* By the hash alone: the same, and no second record of it. */
		who.record = FM_NO_RECORD;
		who.hash = fm_source_hash(bed.reass, &who);
		again = fm_source_find(bed.reass, &who);
		assert_ptr_equal(again, s);
	}
	bed_fini(&bed);
}

/* One that was asked for, and whose record goes to another before it is found. */
static void another_may_take_the_record_meanwhile(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
	const struct fm_frag parsed = inside_parse(&frag);
	struct fm_source *s, *found;
	struct fm_who who;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	s = inside_source_of(&bed, &parsed);
	s->delivered = 7;
	fm_source_ask(bed.reass, &parsed.key, FM_IPV4, &who);
	assert_int_equal(who.record, s - bed.reass->sources.record);
	/* Neighbours in its set, until it has gone. */
	for (uint32_t i = 0; fm_source_is(s, &who); i++) {
		struct fm_test_frag other = frag;

		assert_in_range(i, 0, 1000000);
		other.source = 0x0b000000 + i;
		inside_source(&bed, &other);
	}
	found = fm_source_find(bed.reass, &who);
	assert_true(fm_source_is(found, &who));
	assert_int_equal(found->delivered, 0);
	/* And from then on the place that is remembered is the new one. */
	fm_source_ask(bed.reass, &parsed.key, FM_IPV4, &who);
	assert_int_equal(who.record, found - bed.reass->sources.record);
	assert_ptr_equal(fm_source_find(bed.reass, &who), found);
	bed_fini(&bed);
}

/* The bytes of a prefix may be those of the other family's, and the lengths differ. */
static void families_and_lengths_are_told_apart(void **state)
{
	struct bed bed;
	struct fm_who a = {.family = 4, .bits = 32, .record = FM_NO_RECORD}, b = {.family = 6, .bits = 64};
	struct fm_source *four, *six;

	(void)state;
	bed_init(&bed);
	a.prefix[0] = b.prefix[0] = 0x0100007f;
	a.hash = fm_source_hash(bed.reass, &a);
	four = fm_source_find(bed.reass, &a);
	/* As if it had been remembered for the other. */
	b.record = (uint32_t)(four - bed.reass->sources.record);
	six = fm_source_find(bed.reass, &b);
	assert_ptr_not_equal(four, six);
	assert_int_equal(six->family, 6);
	a.bits = 24;
	a.record = (uint32_t)(four - bed.reass->sources.record);
	assert_ptr_not_equal(fm_source_find(bed.reass, &a), four);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_record_is_the_sources_own),
		cmocka_unit_test(another_may_take_the_record_meanwhile),
		cmocka_unit_test(families_and_lengths_are_told_apart),
	};

	return cmocka_run_group_tests_name("sources found again", tests, NULL, NULL);
}
