/* SPDX-License-Identifier: BSD-3-Clause */
#include "checksum.h"

#include "bytes.h"

uint64_t fm_sum(uint64_t sum, const uint8_t *data, uint32_t len, int odd)
{
	if (odd && len > 0) {
		sum += data[0];
		data++;
		len--;
	}
	for (; len >= 2; data += 2, len -= 2)
		sum += fm_get16(data);
	if (len > 0)
		sum += (uint32_t)data[0] << 8;
	return sum;
}

/*
 * Four bits at a time: the table fits one cache line, and this runs only for SCTP with verify-l4. 0x82f63b78 is the
 * Castagnoli polynomial, reflected.
 */
uint32_t fm_crc32c(uint32_t crc, const uint8_t *data, uint32_t len)
{
	static const uint32_t nibble[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
		0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	while (len-- > 0) {
		crc ^= *data++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return crc;
}
