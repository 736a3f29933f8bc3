/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What differs between releases of DPDK, as far as this tree uses it; for capture files, fm_pcapng.h. No other file
 * asks which release it is compiled with. Written for 22.11, 23.11, 24.11 and 25.11; doc/dpdk-releases.md says what was
 * compiled with which of them, and what differs besides and needs nothing here.
 */
#ifndef FM_DPDK_H
#define FM_DPDK_H

/*
 * The line editor, for the one file that asks for it, before it includes anything else: rdline_new(), rdline_free() and
 * rdline_get_opaque() are experimental in 22.11 and no longer in 24.11. Nothing else that is experimental is used, but
 * for rte_pcapng.
 */
#ifdef FM_DPDK_LINE_EDITOR
#define ALLOW_EXPERIMENTAL_API
#include <cmdline_rdline.h>
#endif

#include <rte_version.h>

/* What code is compiled for; a test sets it to see the other branches. */
#ifndef FM_DPDK_RELEASE
#define FM_DPDK_RELEASE RTE_VERSION
#endif

#ifdef FM_DPDK_RSS
#include <rte_ethdev.h>

/*
 * The hash function, since 23.11 a field of the configuration. Before, and where a driver offers no choice, it is what
 * the driver takes, which is Toeplitz wherever a key can be set.
 *
 * With a key of ours, plain Toeplitz: the symmetric function gives it the exclusive or of the addresses twice over,
 * which a symmetric key turns into 0 for every frame. Without one, the symmetric function.
 */
static inline void fm_dpdk_rss_function(struct rte_eth_rss_conf *conf, const struct rte_eth_dev_info *info)
{
#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(23, 11, 0, 0)
	const enum rte_eth_hash_function wanted = conf->rss_key != NULL ? RTE_ETH_HASH_FUNCTION_TOEPLITZ :
									 RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ;

	if ((info->rss_algo_capa & RTE_ETH_HASH_ALGO_TO_CAPA(wanted)) != 0)
		conf->algorithm = wanted;
#else
	(void)conf;
	(void)info;
#endif
}

/* Was a symmetric function asked for (or, of what a driver reports, is it in use)? */
static inline bool fm_dpdk_rss_is_symmetric(const struct rte_eth_rss_conf *conf)
{
#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(23, 11, 0, 0)
	return conf->algorithm == RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ;
#else
	(void)conf;
	return false;
#endif
}
#endif

#ifdef FM_DPDK_TELEMETRY
#include <stdint.h>

#include <rte_telemetry.h>

/* A whole number in a dictionary; 23.03 gave it another name, 25.11 has the old one no longer. 0 or -errno. */
static inline int fm_dpdk_tel_uint(struct rte_tel_data *to, const char *name, uint64_t number)
{
#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(23, 3, 0, 0)
	return rte_tel_data_add_dict_uint(to, name, number);
#else
	return rte_tel_data_add_dict_u64(to, name, number);
#endif
}
#endif

#endif
