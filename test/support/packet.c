/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "fm_packet.h"

static const uint8_t mac_destination[6] = {0x02, 0, 0, 0, 0, 0x02};
static const uint8_t mac_source[6] = {0x02, 0, 0, 0, 0, 0x01};

enum { ETHERTYPE_VLAN = 0x8100, ETHERTYPE_QINQ = 0x88a8, ETHERTYPE_IPV4 = 0x0800, ETHERTYPE_IPV6 = 0x86dd };

static uint8_t *put16(uint8_t *out, uint32_t value)
{
	*out++ = (uint8_t)(value >> 8);
	*out++ = (uint8_t)value;
	return out;
}

static uint8_t *put32(uint8_t *out, uint32_t value)
{
	return put16(put16(out, value >> 16), value);
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, uint32_t len)
{
	if (len > 0)
		memcpy(out, bytes, len);
	return out + len;
}

uint8_t fm_test_byte(uint32_t at)
{
	/* Differs between neighbours, between multiples of 8 and of 256, so that a misplaced piece shows. */
	return (uint8_t)(at * 7 + (at >> 3) * 11 + (at >> 8) * 13 + (at >> 16));
}

static uint8_t *put_ether(uint8_t *out, const struct fm_test_frag *frag)
{
	out = put_bytes(out, mac_destination, sizeof(mac_destination));
	out = put_bytes(out, mac_source, sizeof(mac_source));
	for (unsigned int i = 0; i < frag->vlans; i++) {
		out = put16(out, i == 0 && frag->vlans > 1 ? ETHERTYPE_QINQ : ETHERTYPE_VLAN);
		out = put16(out, frag->tci[i]);
	}
	return put16(out, frag->family == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6);
}

static uint32_t ipv4_checksum(const uint8_t *header, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < len; i += 2)
		sum += (uint32_t)header[i] << 8 | header[i + 1];
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	return ~sum & 0xffff;
}

static uint8_t *put_ipv4(uint8_t *out, const struct fm_test_frag *frag)
{
	const uint32_t header_len = 20 + frag->options_len;
	uint8_t *header = out;

	*out++ = (uint8_t)(0x40 | header_len / 4);
	*out++ = frag->tos;
	out = put16(out, header_len + frag->length);
	out = put16(out, frag->id);
	out = put16(out, (uint32_t)frag->reserved << 15 | (uint32_t)frag->dont_fragment << 14 |
			 (uint32_t)frag->more << 13 | (frag->offset / 8 & 0x1fff));
	*out++ = frag->ttl != 0 ? frag->ttl : 64;
	*out++ = frag->protocol;
	out = put16(out, 0);
	out = put32(out, frag->source);
	out = put32(out, frag->destination);
	out = put_bytes(out, frag->options, frag->options_len);
	put16(header + 10, ipv4_checksum(header, header_len));
	return out;
}

static uint8_t *put_ipv6_address(uint8_t *out, uint32_t low)
{
	out = put16(out, 0xfd07);
	memset(out, 0, 10);
	return put32(out + 10, low);
}

static uint8_t *put_ipv6(uint8_t *out, const struct fm_test_frag *frag)
{
	out = put32(out, 0x60000000U | (uint32_t)frag->tos << 20);
	out = put16(out, frag->options_len + 8 + frag->length);
	*out++ = frag->options_len > 0 ? frag->first_ext : 44;
	*out++ = frag->ttl != 0 ? frag->ttl : 64;
	out = put_ipv6_address(out, frag->source);
	out = put_ipv6_address(out, frag->destination);
	out = put_bytes(out, frag->options, frag->options_len);
	*out++ = frag->protocol;
	*out++ = 0;
	out = put16(out, (frag->offset & 0xfff8) | frag->more);
	return put32(out, frag->id);
}

uint32_t fm_test_frame(const struct fm_test_frag *frag, uint8_t *out)
{
	uint8_t *at = put_ether(out, frag);

	at = frag->family == 4 ? put_ipv4(at, frag) : put_ipv6(at, frag);
	if (frag->payload != NULL) {
		at = put_bytes(at, frag->payload, frag->length);
	} else {
		for (uint32_t i = 0; i < frag->length; i++)
			*at++ = fm_test_byte((frag->offset & ~7U) + i);
	}
	memset(at, 0, frag->padding);
	return (uint32_t)(at + frag->padding - out);
}
