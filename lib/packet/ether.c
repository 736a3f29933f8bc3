/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes.h"
#include "frag.h"
#include "key.h"

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_8021Q = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_8021AD = 0x88a8,
};

enum fm_verdict fm_frame_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
			       struct fm_frag *frag, enum fm_outcome *why)
{
	uint32_t at = FM_ETHER_LEN;
	uint64_t word = (uint64_t)port << FM_KEY_PORT_SHIFT;
	unsigned int tags = 0;
	uint16_t type;

	if (len < at)
		return len < frame_len ? FM_VERDICT_MORE : FM_VERDICT_PASS;
	type = fm_get16(data + 12);
	while (type == ETHERTYPE_8021Q || type == ETHERTYPE_8021AD) {
		if (tags == FM_VLAN_MAX)
			return FM_VERDICT_PASS;
		if (len < at + FM_VLAN_LEN)
			return len < frame_len ? FM_VERDICT_MORE : FM_VERDICT_PASS;
		/* Priority and DEI do not tell datagrams apart. */
		word |= (uint64_t)(fm_get16(data + at) & 0xfff)
			<< (tags == 0 ? FM_KEY_OUTER_SHIFT : FM_KEY_INNER_SHIFT);
		type = fm_get16(data + at + 2);
		at += FM_VLAN_LEN;
		tags++;
	}
	if (type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6)
		return FM_VERDICT_PASS;
	*frag = (struct fm_frag){
		.key.word[0] = word | (uint64_t)tags << FM_KEY_TAGS_SHIFT,
		.l2_len = (uint16_t)at,
	};
	if (type == ETHERTYPE_IPV4)
		return fm_ipv4_parse(data + at, len - at, frame_len - at, flags, frag, why);
	return fm_ipv6_parse(data + at, len - at, frame_len - at, flags, frag, why);
}
