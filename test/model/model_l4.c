/* SPDX-License-Identifier: BSD-3-Clause */
/* --verify-l4: is the transport checksum of a joined datagram right? */
#include "model_internal.h"

enum { L4_ICMP = 1, L4_TCP = 6, L4_UDP = 17, L4_ICMPV6 = 58, L4_SCTP = 132 };

/* Ones' complement sum, folded to 16 bits (RFC 1071); an odd last byte is the upper half of a word. */
uint32_t model_sum16(uint32_t sum, const uint8_t *bytes, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)bytes[i] << 8 : bytes[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

/* CRC-32C bit by bit (RFC 9260 appendix A), with the checksum field (bytes 8 to 11) taken as 0. */
static uint32_t sctp_crc(const uint8_t *bytes, uint32_t len)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len; i++) {
		crc ^= i >= 8 && i < 12 ? 0 : bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

/* Pseudo-header of RFC 768, 9293 and 8200 8.1. */
static uint32_t pseudo_sum(const uint8_t *ip, uint8_t family, uint8_t protocol, uint32_t len)
{
	const uint8_t tail[8] = {(uint8_t)(len >> 24), (uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len, 0, 0, 0,
				 protocol};
	const uint32_t sum = family == 4 ? model_sum16(0, ip + 12, 8) : model_sum16(0, ip + 8, 32);

	return model_sum16(sum, tail, sizeof(tail));
}

static bool sum_good(const uint8_t *ip, uint8_t family, uint8_t protocol, const uint8_t *l4, uint32_t len)
{
	return model_sum16(pseudo_sum(ip, family, protocol, len), l4, len) == 0xffff;
}

/* RFC 768: a length of its own, which the pseudo-header holds; a checksum of 0 is none (RFC 6935: in IPv6 too). */
static bool udp_good(const uint8_t *ip, uint8_t family, const uint8_t *l4, uint32_t len)
{
	if (len < 8)
		return false;
	if (model_get16(l4 + 6) == 0)
		return true;
	if (model_get16(l4 + 4) < 8 || model_get16(l4 + 4) > len)
		return false;
	return sum_good(ip, family, L4_UDP, l4, model_get16(l4 + 4));
}

/* A Home Address option (RFC 6275) takes the place of the source in the pseudo-header. */
static bool has_home_address(const uint8_t *ext, uint32_t len)
{
	uint32_t at = 2;

	while (at + 2 <= len) {
		if (ext[at] == 201)
			return true;
		at += ext[at] == 0 ? 1U : 2U + ext[at + 1];
	}
	return false;
}

/* What the chain of an IPv6 packet leads to, and where it starts; 59 (nothing) if that cannot be verified. */
static uint8_t ipv6_upper(const uint8_t *ip, uint32_t ip_len, uint32_t *at)
{
	uint8_t type = ip[6];

	*at = 40;
	while (*at + 2 <= ip_len && model_ext_len(type, ip + *at) != 0) {
		const uint8_t next = ip[*at];
		const uint32_t len = model_ext_len(type, ip + *at);

		if (type == 60 && *at + len <= ip_len && has_home_address(ip + *at, len))
			return 59;
		*at += len;
		type = next;
	}
	return type;
}

bool model_l4_good(const uint8_t *ip, uint8_t family)
{
	const uint32_t ip_len = family == 4 ? model_get16(ip + 2) : 40 + model_get16(ip + 4);
	uint32_t at = (ip[0] & 15U) * 4, len;
	uint8_t protocol = ip[9];
	const uint8_t *l4;

	if (family == 6)
		protocol = ipv6_upper(ip, ip_len, &at);
	if (at >= ip_len)
		return true;
	l4 = ip + at;
	len = ip_len - at;
	if (protocol == L4_TCP || (family == 6 && protocol == L4_ICMPV6))
		return sum_good(ip, family, protocol, l4, len);
	if (family == 4 && protocol == L4_ICMP)
		return len >= 8 && model_sum16(0, l4, len) == 0xffff;
	if (protocol == L4_UDP)
		return udp_good(ip, family, l4, len);
	/* The CRC goes onto the wire with its lowest byte first. */
	if (protocol == L4_SCTP)
		return len >= 12 && sctp_crc(l4, len) == __builtin_bswap32(model_get32(l4 + 8));
	return true;
}
