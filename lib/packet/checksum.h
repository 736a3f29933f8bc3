/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071) over contiguous bytes, and CRC32c (RFC 9260) for SCTP. */
#ifndef FM_CHECKSUM_H
#define FM_CHECKSUM_H

#include <stdint.h>
#include <string.h>

#include "bytes.h"

/*
 * Add bytes to a running sum.
 *
 * @param odd  the bytes start at an odd place of the summed data
 * @return     the new sum, not folded; start with 0, fold with fm_sum_fold()
 */
uint64_t fm_sum(uint64_t sum, const uint8_t *data, uint32_t len, int odd);

/* Fold to 16 bits, network order as read by fm_get16(); 0xffff for data that holds its own correct checksum. */
static inline uint16_t fm_sum_fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

/* The same for a sum of 32-bit words. */
static inline uint16_t fm_sum_fold64(uint64_t sum)
{
	sum = (sum & UINT32_MAX) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return fm_sum_fold(sum);
}

/*
 * The header checksum of an IPv4 header whose checksum field counts as it stands: 0 if it is correct. RFC 1071: the sum
 * may be taken in memory's order, whatever that is, and put into the network's at the end.
 *
 * @param len  a multiple of 4
 */
static inline uint16_t fm_ipv4_checksum(const uint8_t *header, uint32_t len)
{
	uint64_t sum = 0;
	uint16_t folded;
	uint8_t bytes[2];

	for (uint32_t i = 0; i < len; i += 4)
		sum += fm_raw32(header + i);
	folded = fm_sum_fold64(sum);
	memcpy(bytes, &folded, sizeof(bytes));
	return (uint16_t)~fm_get16(bytes);
}

/* CRC32c, running: start with 0xffffffff, end with ~. */
uint32_t fm_crc32c(uint32_t crc, const uint8_t *data, uint32_t len);

#endif
