/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses for senders: random-looking ones, and ones that an attacker would compute against a CRC. */
#include "scenario.h"

enum { NETWORK = 20 << 24 };

#define CRC32C_POLYNOMIAL UINT32_C(0x82f63b78)
/* Any value does: whatever collides under one seed of a CRC does so under all. */
#define CRC_SEED UINT32_C(0xeaad8405)

/* The CRC register before four bytes were shifted through it. */

static uint32_t crc_back(uint32_t reg)
{
	for (int i = 0; i < 32; i++)
		reg = (reg & UINT32_C(1) << 31) != 0 ? (reg ^ CRC32C_POLYNOMIAL) << 1 | 1 : reg << 1;
	return reg;
}

/* The finaliser of MurmurHash3, for 24 bits: no two are the same. */
static uint32_t mix24(uint32_t x)
{
	const uint32_t mask = FM_SCENARIO_SENDERS_MAX - 1;

	x = ((x ^ x >> 12) * 0x85ebca6b) & mask;
	x = ((x ^ x >> 10) * 0xc2b2ae35) & mask;
	return x ^ x >> 12;
}

/* The source with which CRC(source, destination, id) is 0. All words as they lie in memory. */
static uint32_t crc_key_source(uint32_t destination, uint32_t id)
{
	return crc_back(crc_back(crc_back(0) ^ id) ^ destination) ^ CRC_SEED;
}

rte_be32_t fm_scenario_source_address(enum fm_scenario_address address, uint32_t sender, rte_be32_t destination,
				      rte_be16_t id)
{
	switch (address) {
	case FM_SCENARIO_ADDRESS_CRC_KEY:
		return crc_key_source(destination, id);
	case FM_SCENARIO_ADDRESS_CRC_SOURCE:
		return crc_back(sender << 16) ^ CRC_SEED;
	case FM_SCENARIO_ADDRESS_STRIDE:
		return rte_cpu_to_be_32(sender << 16 | 1);
	default:
		return rte_cpu_to_be_32(NETWORK | mix24(sender));
	}
}
