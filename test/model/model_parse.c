/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's own parser: semantics, sections 1 to 3. */
#include <string.h>

#include "model_internal.h"

enum {
	ETHER_LEN = 14,
	TAG_LEN = 4,
	NEXT_HOP_BY_HOP = 0,
	NEXT_TCP = 6,
	NEXT_UDP = 17,
	NEXT_DCCP = 33,
	NEXT_ROUTING = 43,
	NEXT_FRAGMENT = 44,
	NEXT_ESP = 50,
	NEXT_AH = 51,
	NEXT_IPV4 = 4,
	NEXT_IPV6 = 41,
	NEXT_GRE = 47,
	NEXT_ICMPV6 = 58,
	NEXT_DESTINATION = 60,
	NEXT_SCTP = 132,
	NEXT_MOBILITY = 135,
	NEXT_UDPLITE = 136,
	NEXT_HIP = 139,
	NEXT_SHIM6 = 140,
};

uint32_t model_get16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

uint32_t model_get32(const uint8_t *at)
{
	return model_get16(at) << 16 | model_get16(at + 2);
}

uint32_t model_ext_len(uint8_t type, const uint8_t *header)
{
	switch (type) {
	case NEXT_HOP_BY_HOP:
	case NEXT_ROUTING:
	case NEXT_DESTINATION:
	case NEXT_MOBILITY:
	case NEXT_HIP:
	case NEXT_SHIM6:
		return (header[1] + 1U) * 8;
	case NEXT_AH:
		/* RFC 4302 2.2: in words of 4 bytes, minus 2 */
		return (header[1] + 2U) * 4;
	default:
		return 0;
	}
}

static bool is_ext(uint8_t type)
{
	const uint8_t any[2] = {0, 0};

	return model_ext_len(type, any) != 0;
}

/* RFC 7112: how much of the upper-layer header has to be in the first fragment. */
static uint32_t upper_len(uint8_t type)
{
	switch (type) {
	case NEXT_TCP:
		return 20;
	case NEXT_UDP:
	case NEXT_UDPLITE:
	case NEXT_ESP:
		return 8;
	case NEXT_SCTP:
	case NEXT_DCCP:
		return 12;
	case NEXT_ICMPV6:
	case NEXT_GRE:
		return 4;
	case NEXT_IPV4:
		return 20;
	case NEXT_IPV6:
		return 40;
	default:
		return 0;
	}
}

/* Section 3, the rows that both families have. */
static enum fm_outcome check_length(const struct model_frag *frag, uint32_t headers)
{
	if (frag->length == 0 || (frag->more && frag->length % 8 != 0))
		return FM_BAD_LENGTH;
	if (headers + frag->offset + frag->length > 65535)
		return FM_TOO_BIG;
	return FM_MODEL_HELD;
}

static enum fm_outcome parse_ipv4(const uint8_t *ip, uint32_t len, struct model_frag *frag)
{
	uint32_t header_len, total_len;
	bool is_fragment, bad_header;

	/* Without the flags nothing can be proven. */
	if (len < 8 || ip[0] >> 4 != 4)
		return FM_PASSED_MALFORMED;
	header_len = (ip[0] & 15U) * 4;
	total_len = model_get16(ip + 2);
	is_fragment = (model_get16(ip + 6) & 0x3fff) != 0;
	bad_header = header_len < 20 || total_len < header_len;
	if (!is_fragment)
		return bad_header || len < total_len ? FM_PASSED_MALFORMED : FM_PASSED;
	if (bad_header)
		return FM_BAD_HEADER;
	if (len < total_len)
		return FM_TRUNCATED;
	if (model_sum16(0, ip, header_len) != 0xffff)
		return FM_BAD_IP_CHECKSUM;
	frag->family = 4;
	frag->ip_len = total_len;
	frag->header_len = header_len;
	frag->payload_at = frag->l2_len + header_len;
	frag->offset = (model_get16(ip + 6) & 0x1fff) * 8;
	frag->length = total_len - header_len;
	frag->more = (ip[6] & 0x20) != 0;
	frag->id = model_get16(ip + 4);
	frag->ecn = ip[1] & 3;
	/* Key: source, destination, identification, protocol. */
	memcpy(frag->key + 8, ip + 12, 8);
	memcpy(frag->key + 16, ip + 4, 2);
	frag->key[18] = ip[9];
	return check_length(frag, header_len);
}

/* Section 3: what follows the fragment header of a first (or atomic) fragment. */
static enum fm_outcome check_chain(const uint8_t *payload, const struct model_frag *frag, bool short_chain)
{
	const enum fm_outcome incomplete = frag->atomic || short_chain ? FM_MODEL_HELD : FM_HEADER_CHAIN;
	uint8_t type = frag->next_header, next;
	uint32_t at = 0;

	for (;;) {
		if (type == NEXT_FRAGMENT)
			return FM_NESTED;
		if (!is_ext(type))
			break;
		if (at + 2 > frag->length || at + model_ext_len(type, payload + at) > frag->length)
			return incomplete;
		next = payload[at];
		at += model_ext_len(type, payload + at);
		type = next;
	}
	return at + upper_len(type) > frag->length ? incomplete : FM_MODEL_HELD;
}

/*
 * Section 3: find the fragment header. FM_MODEL_HELD: *at is its place, *next_at that of the field naming it. `len` is
 * what both the frame and the payload length hold.
 */
static enum fm_outcome find_fragment_header(const uint8_t *ip, uint32_t len, uint32_t *at, uint32_t *next_at)
{
	uint32_t headers = 0;
	bool too_far = false;

	*at = 40;
	*next_at = 6;
	while (ip[*next_at] != NEXT_FRAGMENT) {
		const uint8_t type = ip[*next_at];

		if (!is_ext(type))
			return FM_PASSED;
		if (*at >= len)
			return FM_PASSED_MALFORMED;
		headers++;
		too_far = too_far || *at - 40 >= 256;
		*next_at = *at;
		/* A cut header that names a fragment header is a fragment all the same. */
		if (*at + 2 > len || *at + model_ext_len(type, ip + *at) > len)
			return ip[*next_at] == NEXT_FRAGMENT ? FM_BAD_EXT_HEADER : FM_PASSED_MALFORMED;
		*at += model_ext_len(type, ip + *at);
	}
	if (headers > 8 || too_far || *at + 8 > len)
		return FM_BAD_EXT_HEADER;
	return FM_MODEL_HELD;
}

static enum fm_outcome parse_ipv6(const uint8_t *ip, uint32_t len, bool short_chain, struct model_frag *frag)
{
	uint32_t ip_len, at, next_at;
	enum fm_outcome outcome;

	if (len < 7 || ip[0] >> 4 != 6)
		return FM_PASSED_MALFORMED;
	if (len < 40)
		return ip[6] == NEXT_FRAGMENT ? FM_BAD_EXT_HEADER : FM_PASSED_MALFORMED;
	ip_len = 40 + model_get16(ip + 4);
	outcome = find_fragment_header(ip, len < ip_len ? len : ip_len, &at, &next_at);
	if (outcome == FM_PASSED && len < ip_len)
		return FM_PASSED_MALFORMED;
	if (outcome != FM_MODEL_HELD)
		return outcome;
	if (len < ip_len)
		return FM_TRUNCATED;
	frag->family = 6;
	frag->ip_len = ip_len;
	frag->header_len = at;
	frag->payload_at = frag->l2_len + at + 8;
	frag->offset = model_get16(ip + at + 2) & 0xfff8;
	frag->length = ip_len - at - 8;
	frag->more = (ip[at + 3] & 1) != 0;
	frag->atomic = frag->offset == 0 && !frag->more;
	frag->id = model_get32(ip + at + 4);
	frag->next_at = next_at;
	frag->next_header = ip[at];
	frag->ecn = ip[1] >> 4 & 3;
	/* Key: source, destination, identification; not the next header. */
	memcpy(frag->key + 8, ip + 8, 32);
	memcpy(frag->key + 40, ip + at + 4, 4);
	outcome = check_length(frag, at - 40);
	if (outcome != FM_MODEL_HELD)
		return outcome;
	if (frag->offset == 0)
		return check_chain(ip + at + 8, frag, short_chain);
	return frag->next_header == NEXT_FRAGMENT ? FM_NESTED : FM_MODEL_HELD;
}

enum fm_outcome model_parse(const uint8_t *frame, uint32_t len, uint16_t port, bool short_chain,
			    struct model_frag *frag)
{
	uint32_t at = ETHER_LEN, tags = 0, type;

	memset(frag, 0, sizeof(*frag));
	if (len < ETHER_LEN)
		return FM_PASSED;
	type = model_get16(frame + 12);
	while ((type == 0x8100 || type == 0x88a8) && tags < 2) {
		if (at + TAG_LEN > len)
			return FM_PASSED;
		/* Key: the VLAN id without priority; 1 more, so that no tag and id 0 differ. */
		frag->key[3 + 2 * tags] = (uint8_t)(((model_get16(frame + at) & 0xfff) + 1) >> 8);
		frag->key[4 + 2 * tags] = (uint8_t)((model_get16(frame + at) & 0xfff) + 1);
		type = model_get16(frame + at + 2);
		at += TAG_LEN;
		tags++;
	}
	frag->l2_len = at;
	frag->key[1] = (uint8_t)(port >> 8);
	frag->key[2] = (uint8_t)port;
	if (type == 0x0800) {
		frag->key[0] = 4;
		return parse_ipv4(frame + at, len - at, frag);
	}
	if (type == 0x86dd) {
		frag->key[0] = 6;
		return parse_ipv6(frame + at, len - at, short_chain, frag);
	}
	return FM_PASSED;
}
