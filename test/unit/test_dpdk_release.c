/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The branches of fm_dpdk.h for later releases. Compiled with an older one, ethdev's structures are those below, which
 * have what the release notes of 23.11 say: that shows what the header does with them, not that DPDK's are like this;
 * tools/check-dpdk compiles it with the real ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <rte_ethdev.h>
#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(23, 11, 0, 0)
struct later_rss_conf {
	uint8_t *rss_key;
	uint8_t rss_key_len;
	uint64_t rss_hf;
	enum rte_eth_hash_function algorithm;
};
struct later_dev_info {
	uint32_t rss_algo_capa;
};
#define rte_eth_rss_conf later_rss_conf
#define rte_eth_dev_info later_dev_info
#define RTE_ETH_HASH_ALGO_TO_CAPA(x) RTE_BIT32(x)
#define FM_DPDK_RELEASE RTE_VERSION_NUM(23, 11, 0, 99)
#endif
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#include <rte_telemetry.h>

static uint64_t later_number;

static int rte_tel_data_add_dict_uint(struct rte_tel_data *to, const char *name, uint64_t number)
{
	(void)to;
	later_number = number;
	return name[0] == 'f' ? -EINVAL : 0;
}
#endif
#define FM_DPDK_RSS
#define FM_DPDK_TELEMETRY
#include "fm_dpdk.h"

static enum rte_eth_hash_function chosen(uint32_t offered, uint8_t *key)
{
	const struct rte_eth_dev_info info = { .rss_algo_capa = offered };
	struct rte_eth_rss_conf conf = { .rss_key = key };

	fm_dpdk_rss_function(&conf, &info);
	assert_int_equal(fm_dpdk_rss_is_symmetric(&conf),
			 conf.algorithm == RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ);
	/* ethdev refuses what is not offered. */
	assert_true(conf.algorithm == RTE_ETH_HASH_FUNCTION_DEFAULT ||
		    (offered & RTE_ETH_HASH_ALGO_TO_CAPA(conf.algorithm)) != 0);
	return conf.algorithm;
}

static void hash_function(void **state)
{
	const uint32_t standard = RTE_ETH_HASH_ALGO_TO_CAPA(RTE_ETH_HASH_FUNCTION_DEFAULT);
	const uint32_t plain = RTE_ETH_HASH_ALGO_TO_CAPA(RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	const uint32_t symmetric = RTE_ETH_HASH_ALGO_TO_CAPA(RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ);
	uint8_t key[40];

	(void)state;
	/* A symmetric key in the symmetric function gives 0 for every frame: never both. */
	for (uint32_t offered = 0; offered < 64; offered++)
		assert_int_not_equal(chosen(offered, key), RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ);
	assert_int_equal(chosen(standard | plain | symmetric, key), RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	assert_int_equal(chosen(standard | symmetric, key), RTE_ETH_HASH_FUNCTION_DEFAULT);
	assert_int_equal(chosen(standard | plain | symmetric, NULL), RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ);
	assert_int_equal(chosen(standard | plain, NULL), RTE_ETH_HASH_FUNCTION_DEFAULT);
	assert_int_equal(chosen(0, NULL), RTE_ETH_HASH_FUNCTION_DEFAULT);
}

/* Whole numbers reach telemetry by their name of 23.03, and its answer comes back. */
static void telemetry_numbers(void **state)
{
	(void)state;
#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
	assert_int_equal(fm_dpdk_tel_uint(NULL, "number", UINT64_MAX), 0);
	assert_true(later_number == UINT64_MAX);
	assert_int_equal(fm_dpdk_tel_uint(NULL, "full", 1), -EINVAL);
#else
	skip();		/* the real one needs rte_telemetry's own data */
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hash_function),
		cmocka_unit_test(telemetry_numbers),
	};

	return cmocka_run_group_tests_name("dpdk_release", tests, NULL, NULL);
}
