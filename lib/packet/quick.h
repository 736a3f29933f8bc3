/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser's quick way: plain frames, which nearly all are, without a call or a loop. Untagged; IPv4 without options,
 * IPv6 whose first header is the fragment header or none of an extension; nothing wrong with it. Whatever is not as
 * plain as that gets FM_VERDICT_MORE and has to go through fm_frame_parse(), which alone knows the reasons; where this
 * answers otherwise, the answer is that one's.
 */
#ifndef FM_QUICK_H
#define FM_QUICK_H

#include "bytes.h"
#include "checksum.h"
#include "frag.h"
#include "key.h"

enum {
	FM_QUICK_IPV4_LEN = FM_ETHER_LEN + FM_IPV4_MIN_LEN,
	FM_QUICK_IPV6_LEN = FM_ETHER_LEN + FM_IPV6_LEN + FM_IPV6_FRAG_LEN,
	FM_QUICK_TCP = 6,
	FM_QUICK_UDP = 17,
	FM_QUICK_UDP_LEN = 8,
	FM_QUICK_FRAGMENT = 44,
};

/* A field in network order is compared as it lies in memory. */
static inline uint16_t fm_quick_raw16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Total length, identification, offset field, TTL and protocol are one word, from byte 2 on. */
static inline enum fm_verdict fm_quick_ipv4(const uint8_t *ip, uint32_t frame_len, uint64_t port_word,
					    unsigned int flags, struct fm_frag *frag)
{
	const uint64_t word = fm_get64(ip + 2);
	const uint32_t total = (uint32_t)(word >> 48), field = (uint32_t)(word >> 16) & 0xffff;
	const uint32_t length = total - FM_IPV4_MIN_LEN, offset = (field & 0x1fff) * 8;
	const uint32_t more = field >> 13 & 1;

	/* With something in it, which a fragment must have. */
	if (ip[0] != 0x45 || total <= FM_IPV4_MIN_LEN || total > frame_len - FM_ETHER_LEN)
		return FM_VERDICT_MORE;
	if ((field & 0x3fff) == 0)
		return FM_VERDICT_PASS;
	if ((length & more * 7) != 0 || total + offset > FM_DATAGRAM_MAX)
		return FM_VERDICT_MORE;
	if ((flags & (FM_PARSE_CHECKSUM_GOOD | FM_PARSE_CHECKSUM_BAD)) != FM_PARSE_CHECKSUM_GOOD &&
	    (flags & FM_PARSE_CHECKSUM_BAD || fm_ipv4_checksum(ip, FM_IPV4_MIN_LEN) != 0))
		return FM_VERDICT_MORE;
	frag->key.word[0] = port_word | (word & 0xff) << FM_KEY_PROTOCOL_SHIFT | (word >> 32 & 0xffff);
	frag->key.word[1] = fm_raw64(ip + 12);
	for (unsigned int i = FM_KEY_IPV4_WORDS; i < FM_KEY_IPV6_WORDS; i++)
		frag->key.word[i] = 0;
	frag->id = (uint32_t)(word >> 32) & 0xffff;
	frag->offset = (uint16_t)offset;
	frag->length = (uint16_t)length;
	frag->ecn = ip[1] & 3;
	frag->more = more;
	frag->l2_len = FM_ETHER_LEN;
	frag->l3_len = FM_IPV4_MIN_LEN;
	frag->payload_at = FM_QUICK_IPV4_LEN;
	frag->next_at = 0;
	frag->next_header = 0;
	frag->family = 4;
	frag->atomic = false;
	return FM_VERDICT_FRAGMENT;
}

static inline enum fm_verdict fm_quick_ipv6(const uint8_t *ip, uint32_t frame_len, uint64_t port_word,
					    struct fm_frag *frag)
{
	const uint8_t *header = ip + FM_IPV6_LEN;
	const uint32_t payload = fm_get16(ip + 4), length = payload - FM_IPV6_FRAG_LEN;
	const uint32_t field = fm_get16(header + 2), offset = field & 0xfff8;
	const bool more = field & 1;

	if (ip[0] >> 4 != 6 || payload > frame_len - FM_ETHER_LEN - FM_IPV6_LEN)
		return FM_VERDICT_MORE;
	if (ip[6] == FM_QUICK_TCP || ip[6] == FM_QUICK_UDP)
		return FM_VERDICT_PASS;
	/* An atomic one is not plain, nor is a first one whose upper-layer header may be cut (RFC 7112). */
	if (ip[6] != FM_QUICK_FRAGMENT || payload <= FM_IPV6_FRAG_LEN || (more && length % 8 != 0) ||
	    offset + length > FM_DATAGRAM_MAX || (field & 0xfff9) == 0)
		return FM_VERDICT_MORE;
	if (offset == 0 ? header[0] != FM_QUICK_UDP || length < FM_QUICK_UDP_LEN : header[0] == FM_QUICK_FRAGMENT)
		return FM_VERDICT_MORE;
	frag->id = fm_get32(header + 4);
	frag->key.word[0] = port_word;
	frag->key.word[1] = frag->id;
	for (unsigned int i = 0; i < 4; i++)
		frag->key.word[2 + i] = fm_raw64(ip + 8 + 8 * i);
	frag->l2_len = FM_ETHER_LEN;
	frag->l3_len = FM_IPV6_LEN;
	frag->payload_at = FM_QUICK_IPV6_LEN;
	frag->offset = (uint16_t)offset;
	frag->length = (uint16_t)length;
	frag->next_at = 6;
	frag->next_header = header[0];
	frag->family = 6;
	frag->ecn = ip[1] >> 4 & 3;
	frag->more = more;
	frag->atomic = false;
	return FM_VERDICT_FRAGMENT;
}

/* Parameters as of fm_frame_parse(); `frag` is undefined but for FM_VERDICT_FRAGMENT. */
static inline enum fm_verdict fm_frame_quick(const uint8_t *data, uint32_t len, uint32_t frame_len, uint16_t port,
					     unsigned int flags, struct fm_frag *frag)
{
	static const uint8_t ipv4[2] = { 0x08, 0x00 }, ipv6[2] = { 0x86, 0xdd };
	const uint64_t port_word = (uint64_t)port << FM_KEY_PORT_SHIFT;
	const uint16_t type = len < FM_QUICK_IPV4_LEN ? 0 : fm_quick_raw16(data + 12);

	if (type == fm_quick_raw16(ipv4))
		return fm_quick_ipv4(data + FM_ETHER_LEN, frame_len, port_word, flags, frag);
	if (type == fm_quick_raw16(ipv6) && len >= FM_QUICK_IPV6_LEN)
		return fm_quick_ipv6(data + FM_ETHER_LEN, frame_len, port_word, frag);
	return FM_VERDICT_MORE;
}

#endif
