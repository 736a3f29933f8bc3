/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters and settings: what is out of range is refused by name, nothing is clamped, nothing is changed. */
#include <errno.h>

#include "bed.h"

struct row {
	const char *name;			/* that the message must say */
	void (*spoil)(struct fm_reass_params *params);
	bool setting;				/* fm_reass_set() must refuse it too */
};

static void timeout4_zero(struct fm_reass_params *params)
{
	params->settings.timeout_tsc[FM_IPV4] = 0;
}

static void timeout6_zero(struct fm_reass_params *params)
{
	params->settings.timeout_tsc[FM_IPV6] = 0;
}

static void timeout_beyond_signed(struct fm_reass_params *params)
{
	params->settings.timeout_tsc[FM_IPV6] = UINT64_MAX;
}

static void budget_zero(struct fm_reass_params *params)
{
	params->settings.budget_mbufs = 0;
}

static void budget_above(struct fm_reass_params *params)
{
	params->settings.budget_mbufs = params->max_mbufs + 1;
}

static void fragments_one(struct fm_reass_params *params)
{
	params->settings.max_fragments = FM_FRAGMENTS_MIN - 1;
}

static void fragments_above(struct fm_reass_params *params)
{
	params->settings.max_fragments = FM_FRAGMENTS_MAX + 1;
}

static void datagrams_zero(struct fm_reass_params *params)
{
	params->max_datagrams = 0;
}

static void datagrams_above(struct fm_reass_params *params)
{
	params->max_datagrams = (1 << 24) + 1;
}

static void mbufs_zero(struct fm_reass_params *params)
{
	params->max_mbufs = 0;
}

static void mbufs_above(struct fm_reass_params *params)
{
	params->max_mbufs = (1 << 24) + 1;
}

static const struct row rows[] = {
	{"timeout_tsc", timeout4_zero, true},	 {"timeout_tsc", timeout6_zero, true},
	{"timeout_tsc", timeout_beyond_signed, true}, {"budget_mbufs", budget_zero, true},
	{"budget_mbufs", budget_above, true},	 {"max_fragments", fragments_one, true},
	{"max_fragments", fragments_above, true}, {"max_datagrams", datagrams_zero, false},
	{"max_datagrams", datagrams_above, false}, {"max_mbufs", mbufs_zero, false},
	{"max_mbufs", mbufs_above, false},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void out_of_range_is_refused_by_name(void **state)
{
	/* If init() wrote here in spite of bad parameters, the bytes would differ. */
	static uint8_t memory[4096] __rte_cache_aligned;
	static const uint8_t untouched[sizeof(memory)];

	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		struct fm_reass_params params = bed_params();
		struct fm_reass *reass = NULL;
		char err[200] = "";

		rows[i].spoil(&params);
		assert_int_equal(fm_reass_memsize(&params), 0);
		assert_int_equal(fm_reass_init(memory, &params, &reass, err, sizeof(err)), -EINVAL);
		assert_non_null(strstr(err, rows[i].name));
		assert_null(reass);
		/* The sentence is for those who want it. */
		assert_int_equal(fm_reass_init(memory, &params, &reass, NULL, 0), -EINVAL);
		assert_memory_equal(memory, untouched, sizeof(memory));
	}
}

/* A message that does not fit is cut, not written past its end. */
static void short_message_buffer(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_reass *reass;
	char *err = malloc(8);

	(void)state;
	assert_non_null(err);
	params.max_datagrams = 0;
	for (size_t len = 0; len <= 8; len++)
		assert_int_equal(fm_reass_init(NULL, &params, &reass, err, len), -EINVAL);
	assert_true(strlen(err) < 8);
	free(err);
}

static void memory_must_be_aligned(void **state)
{
	const struct fm_reass_params params = bed_params();
	struct fm_reass *reass = NULL;
	char err[200] = "";
	void *memory = NULL;

	(void)state;
	assert_int_equal(posix_memalign(&memory, 64, fm_reass_memsize(&params) + 64), 0);
	assert_int_equal(fm_reass_init((uint8_t *)memory + 8, &params, &reass, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "memory"));
	assert_int_equal(fm_reass_init(NULL, &params, &reass, NULL, 0), -EINVAL);
	assert_int_equal(fm_reass_init(memory, &params, &reass, err, sizeof(err)), 0);
	assert_true((uint8_t *)reass >= (uint8_t *)memory);
	free(memory);
}

static void set_refuses_and_changes_nothing(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	for (size_t i = 0; i < ROWS; i++) {
		struct fm_reass_params params = bed.params;
		const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true);
		char err[200] = "";

		if (!rows[i].setting)
			continue;
		/* If it took anything of this, the fragment would expire early. */
		params.settings.timeout_tsc[FM_IPV4] = 1;
		rows[i].spoil(&params);
		bed_send(&bed, &frag);
		assert_int_equal(fm_reass_set(bed.reass, &params.settings, bed.now, err, sizeof(err)), -EINVAL);
		assert_non_null(strstr(err, rows[i].name));
		assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT4 - 1, 10), 0);
		assert_int_equal(fm_reass_expire(bed.reass, bed.now + BED_TIMEOUT4, 10), 1);
	}
	bed_fini(&bed);
}

/* The limits themselves are accepted. */
static void limits(void **state)
{
	struct fm_reass_params params = bed_params();
	struct bed bed;

	(void)state;
	params.max_datagrams = params.max_mbufs = 1 << 24;
	params.settings.budget_mbufs = 1 << 24;
	params.settings.max_fragments = FM_FRAGMENTS_MAX;
	assert_true(fm_reass_memsize(&params) > (size_t)1 << 24);
	params.max_datagrams = params.max_mbufs = 1;
	params.settings.budget_mbufs = 1;
	params.settings.max_fragments = FM_FRAGMENTS_MIN;
	params.settings.timeout_tsc[FM_IPV4] = 1;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < 3; i++) {
		struct fm_test_frag frag = bed_ipv4(i, 0, 0, false);

		bed_send_pieces(&bed, &frag, 100, 64, 0, 2);
	}
	assert_int_equal(bed.n_done, 3);
	bed_fini(&bed);
}

static void max_fragments(void **state)
{
	struct fm_reass_params params = bed_params();
	struct fm_reass_settings settings;
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	struct bed bed;

	(void)state;
	params.settings.max_fragments = 4;
	bed_init_params(&bed, &params);
	bed_send_pieces(&bed, &frag, 256, 64, 0, 4);
	assert_int_equal(bed.n_done, 1);
	/* The fifth is one too many, even though it would complete the datagram. */
	bed_send_pieces(&bed, &frag, 320, 64, 0, 5);
	assert_int_equal(bed.n_done, 1);
	assert_int_equal(bed_count(&bed, FM_TOO_MANY_FRAGMENTS), 5);
	bed_send_pieces(&bed, &frag, 320, 64, 0, 1);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	/* A duplicate is not stored, so it does not count. */
	frag.id = 2;
	bed_send_pieces(&bed, &frag, 256, 64, 0, 3);
	bed_send_pieces(&bed, &frag, 256, 64, 0, 3);
	bed_send_pieces(&bed, &frag, 256, 64, 3, 4);
	assert_int_equal(bed.n_done, 2);
	/* Changed below what is held already. */
	frag.id = 3;
	bed_send_pieces(&bed, &frag, 256, 64, 0, 3);
	settings = bed.params.settings;
	settings.max_fragments = 2;
	bed_set(&bed, &settings);
	assert_int_equal(bed_held(&bed), 3);
	bed_send_pieces(&bed, &frag, 256, 64, 3, 4);
	assert_int_equal(bed_count(&bed, FM_TOO_MANY_FRAGMENTS), 9);
	bed_fini(&bed);
}

static void short_chain(void **state)
{
	const struct fm_test_frag first = bed_ipv6(1, 0, 8, true), last = bed_ipv6(1, 8, 8, false);
	struct fm_test_frag tcp = first;
	struct fm_reass_settings settings;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	tcp.protocol = 6;
	bed_send(&bed, &tcp);
	assert_int_equal(bed_count(&bed, FM_HEADER_CHAIN), 1);
	settings = bed.params.settings;
	settings.short_chain = true;
	bed_set(&bed, &settings);
	bed_send(&bed, &tcp);
	bed_send(&bed, &last);
	assert_int_equal(bed.n_done, 1);
	assert_int_equal(bed_count(&bed, FM_HEADER_CHAIN), 1);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(out_of_range_is_refused_by_name),
		cmocka_unit_test(short_message_buffer),
		cmocka_unit_test(memory_must_be_aligned),
		cmocka_unit_test(set_refuses_and_changes_nothing),
		cmocka_unit_test(limits),
		cmocka_unit_test(max_fragments),
		cmocka_unit_test(short_chain),
	};

	return cmocka_run_group_tests_name("reassembly: settings", tests, NULL, NULL);
}
