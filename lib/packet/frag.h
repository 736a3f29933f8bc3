/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet parser: bytes in, a description of one fragment out. No mbuf, no state, no allocation; any number of
 * threads may call it.
 */
#ifndef FM_FRAG_H
#define FM_FRAG_H

#include <stdbool.h>
#include <stdint.h>

#include "fm_outcome.h"

enum {
	FM_ETHER_LEN = 14,
	FM_VLAN_LEN = 4,
	FM_VLAN_MAX = 2,
	FM_IPV4_MIN_LEN = 20,
	FM_IPV6_LEN = 40,
	FM_IPV6_FRAG_LEN = 8,
	FM_DATAGRAM_MAX = 65535,	/* RFC 791 total length, RFC 8200 payload length */
	FM_EXT_HEADERS_MAX = 8,		/* before the fragment header */
	FM_EXT_START_MAX = 256,		/* each of them starts within the first so many bytes behind the IPv6 header */
};

/*
 * What the fragments of one datagram have in common; compared whole, so what a family does not use is 0.
 *
 *            word 0                                      word 1             words 2 to 5
 *   IPv4     port, VLANs, protocol, identification       source, dest.      0
 *   IPv6     port, VLANs                                 identification     source, destination
 *
 * key.h draws the bits.
 */
struct fm_key {
	uint64_t word[6];
};

/* One fragment, as the parser saw it. All lengths in bytes. */
struct fm_frag {
	struct fm_key key;
	uint32_t id;		/* identification, host order */
	uint16_t offset;	/* of the payload in the datagram: the fragment offset field times 8 */
	uint16_t length;	/* of the payload; Ethernet padding is not in it */
	bool more;		/* MF / M */
	uint8_t ecn;		/* two bits, RFC 3168 */
	/* What is the same in nearly all frames lies together, so that it is written at once. */
	uint8_t next_header;	/* IPv6: from the fragment header */
	uint8_t family;		/* 4 or 6 */
	uint16_t l2_len;	/* Ethernet header and VLAN tags */
	uint16_t l3_len;	/* IPv4: header with options; IPv6: headers before the fragment header */
	uint16_t payload_at;	/* first byte of payload, from the start of the frame */
	uint16_t next_at;	/* IPv6: next-header field that names the fragment header, from the IPv6 header */
	bool atomic;		/* RFC 6946: offset 0 and no more fragments (IPv6 only) */
};

enum fm_verdict {
	FM_VERDICT_PASS,	/* not a fragment, or not IP */
	FM_VERDICT_MALFORMED,	/* cannot be parsed and is not provably a fragment: pass it on */
	FM_VERDICT_FRAGMENT,	/* *frag is filled */
	FM_VERDICT_DROP,	/* *why says which outcome */
	FM_VERDICT_MORE,	/* headers go on beyond `len`: call again with more bytes of the frame */
};

enum fm_parse_flag {
	FM_PARSE_CHECKSUM_GOOD = 1 << 0,	/* the port has verified the IPv4 header checksum */
	FM_PARSE_CHECKSUM_BAD = 1 << 1,		/* the port has found it wrong */
	FM_PARSE_SHORT_CHAIN = 1 << 2,		/* do not insist on RFC 7112 */
};

/*
 * Parse one Ethernet frame.
 *
 * @param data       first byte of the frame
 * @param len        bytes that can be read at `data`, 0..frame_len
 * @param frame_len  length of the whole frame, 0..2^32-1
 * @param port       ingress port, 0..16383; part of the key
 * @param flags      enum fm_parse_flag
 * @param frag       filled on FM_VERDICT_FRAGMENT, otherwise undefined
 * @param why        set on FM_VERDICT_DROP: BAD_IP_CHECKSUM, BAD_HEADER, BAD_LENGTH, TOO_BIG, TRUNCATED,
 *                   BAD_EXT_HEADER, HEADER_CHAIN or NESTED
 * @return           what to do; FM_VERDICT_MORE only when len < frame_len
 */
enum fm_verdict fm_frame_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
			       struct fm_frag *frag, enum fm_outcome *why);

/*
 * The two families behind fm_frame_parse(): `data`, `len` and `frame_len` count from the IP header; frag->l2_len and
 * the upper half of key.word[0] (port and VLANs) are set, the rest of the key is 0.
 */
enum fm_verdict fm_ipv4_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, unsigned int flags,
			      struct fm_frag *frag, enum fm_outcome *why);
enum fm_verdict fm_ipv6_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, unsigned int flags,
			      struct fm_frag *frag, enum fm_outcome *why);

/*
 * Where does an IPv6 extension header end and what follows it?
 *
 * @param type   its number; one of hop-by-hop, routing, destination options, AH, mobility, HIP, shim6
 * @param data   the header; at least 2 bytes
 * @param next   set to the type of what follows
 * @return       length in bytes, 8..2048; 0 if `type` is no extension header that can be skipped
 */
uint32_t fm_ipv6_ext_len(uint8_t type, const uint8_t *data, uint8_t *next);

#endif
