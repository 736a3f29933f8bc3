/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds frames for tests: one fragment, described by its fields, with a correct IPv4 header checksum. */
#ifndef FM_TEST_PACKET_H
#define FM_TEST_PACKET_H

#include <stdbool.h>
#include <stdint.h>

struct fm_test_frag {
	uint8_t family;			/* 4 or 6 */
	uint32_t id;
	uint32_t source, destination;	/* low 32 bits of the address; IPv6 puts fd07:: in front */
	uint8_t protocol;		/* IPv4 protocol, or next header of the fragment header */
	uint32_t offset, length;	/* payload, bytes; offset is rounded down to 8 by the format */
	bool more;
	uint8_t tos;			/* DSCP and ECN; traffic class */
	uint8_t ttl;			/* 0: 64 */
	bool dont_fragment, reserved;	/* IPv4 */
	uint8_t vlans;			/* 0..3 tags: 802.1ad outside, 802.1Q innermost (one tag: 802.1Q) */
	uint16_t tci[3];
	const uint8_t *options;		/* IPv4 options, a multiple of 4; or headers before IPv6's fragment header */
	uint32_t options_len;
	uint8_t first_ext;		/* IPv6: type of the first of those */
	const uint8_t *payload;		/* NULL: fm_test_byte(offset + i) */
	uint32_t padding;		/* bytes of Ethernet padding behind the IP packet */
};

/* The byte that belongs at place `at` of a test datagram. */
uint8_t fm_test_byte(uint32_t at);
/* Write the frame to `out` (room for 66,000 bytes); returns its length. */
uint32_t fm_test_frame(const struct fm_test_frag *frag, uint8_t *out);

#endif
