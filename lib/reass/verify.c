/* SPDX-License-Identifier: BSD-3-Clause */
/* Transport checksums of a joined datagram: the last net under RFC 4963's wrapped identifications. */
#include "bytes.h"
#include "checksum.h"
#include "internal.h"

enum {
	PROTO_ICMP = 1,
	PROTO_TCP = 6,
	PROTO_UDP = 17,
	PROTO_ROUTING = 43,
	PROTO_ICMPV6 = 58,
	PROTO_DESTINATION = 60,
	PROTO_SCTP = 132,
	SCTP_CHECKSUM_AT = 8,
	OPTION_END = 0,
	OPTION_NOP = 1,
	OPTION_LSRR = 131,
	OPTION_SSRR = 137,
	OPTION6_PAD1 = 0,
	OPTION6_HOME_ADDRESS = 201,
	EXT_LEN_MAX = 2048,
};

/* Bytes of a chain that lie together. */
struct piece {
	const uint8_t *data;
	uint32_t len;
};

static bool next_piece(const struct rte_mbuf **m, uint32_t *at, uint32_t *len, struct piece *piece)
{
	while (*len > 0 && *m != NULL) {
		if (*at >= rte_pktmbuf_data_len(*m)) {
			*at -= rte_pktmbuf_data_len(*m);
			*m = (*m)->next;
			continue;
		}
		piece->data = rte_pktmbuf_mtod_offset(*m, const uint8_t *, *at);
		piece->len = RTE_MIN(*len, rte_pktmbuf_data_len(*m) - *at);
		*at += piece->len;
		*len -= piece->len;
		return true;
	}
	return false;
}

static uint64_t sum_chain(uint64_t sum, const struct rte_mbuf *m, uint32_t at, uint32_t len)
{
	struct piece p;
	int odd = 0;

	while (next_piece(&m, &at, &len, &p)) {
		sum = fm_sum(sum, p.data, p.len, odd);
		odd ^= p.len & 1;
	}
	return sum;
}

/* RFC 9260 6.8: the CRC counts its own field as zero, and is stored low byte first. */
static bool sctp_good(const struct rte_mbuf *m, uint32_t at, uint32_t len)
{
	static const uint8_t zero[4];
	uint8_t stored[4];
	const uint8_t *s = rte_pktmbuf_read(m, at + SCTP_CHECKSUM_AT, sizeof(stored), stored);
	uint32_t parts[2][2] = {
		{ at, SCTP_CHECKSUM_AT },
		{ at + SCTP_CHECKSUM_AT + 4, len - SCTP_CHECKSUM_AT - 4 },
	};
	uint32_t crc = UINT32_MAX, want;

	if (s == NULL)
		return false;
	want = s[0] | (uint32_t)s[1] << 8 | (uint32_t)s[2] << 16 | (uint32_t)s[3] << 24;
	for (int i = 0; i < 2; i++) {
		const struct rte_mbuf *seg = m;
		struct piece p;

		while (next_piece(&seg, &parts[i][0], &parts[i][1], &p))
			crc = fm_crc32c(crc, p.data, p.len);
		if (i == 0)
			crc = fm_crc32c(crc, zero, sizeof(zero));
	}
	return ~crc == want;
}

/* RFC 791 3.1: while a source route has hops left, the pseudo-header holds its last one, not the header's destination.
 */
static bool has_source_route(const struct rte_mbuf *m, const struct fm_whole *whole)
{
	uint8_t buf[40];
	const uint32_t len = whole->l3_len - FM_IPV4_MIN_LEN;
	const uint8_t *p = rte_pktmbuf_read(m, whole->l2_len + FM_IPV4_MIN_LEN, len, buf);

	for (uint32_t i = 0; i + 2 < len && p[i] != OPTION_END; i += p[i] == OPTION_NOP || p[i + 1] < 2 ? 1 : p[i + 1])
		if (p[i] == OPTION_LSRR || p[i] == OPTION_SSRR)
			return p[i + 2] <= p[i + 1];
	return false;
}

/*
 * RFC 6275 11.3.1: with a Home Address option in the packet, the pseudo-header holds that address, not the header's
 * source. The option need not be parsed to the last: a packet that has one is left alone.
 */
static bool has_home_address(const struct rte_mbuf *m, uint32_t at, uint32_t len)
{
	uint8_t buf[EXT_LEN_MAX];
	const uint8_t *p = len > sizeof(buf) ? NULL : rte_pktmbuf_read(m, at, len, buf);

	if (p == NULL)
		return false;
	for (uint32_t i = 2; i + 2 <= len; i += p[i] == OPTION6_PAD1 ? 1 : 2U + p[i + 1])
		if (p[i] == OPTION6_HOME_ADDRESS)
			return true;
	return false;
}

/* Where the upper layer begins and what it is; false: its pseudo-header is not in the headers. */
static bool find_upper(const struct rte_mbuf *m, const struct fm_whole *whole, uint8_t *proto, uint32_t *at)
{
	uint8_t buf[4], type;
	const uint32_t frame_end = (uint32_t)whole->l2_len + whole->ip_len;
	const uint8_t *p;
	uint32_t len;

	*at = whole->l2_len;
	if (whole->family == 4) {
		if (has_source_route(m, whole))
			return false;
		p = rte_pktmbuf_read(m, *at + 9, 1, buf);
		*proto = p[0];
		*at += whole->l3_len;
		return true;
	}
	p = rte_pktmbuf_read(m, *at + 6, 1, buf);
	type = p[0];
	*at += FM_IPV6_LEN;
	while (*at + 4 <= frame_end) {
		p = rte_pktmbuf_read(m, *at, 4, buf);
		/* RFC 8200 8.1: with segments left the pseudo-header holds a destination that is not in the header. */
		if (type == PROTO_ROUTING && p[3] != 0)
			return false;
		len = fm_ipv6_ext_len(type, p, proto);
		if (len == 0)
			break;
		if (type == PROTO_DESTINATION && has_home_address(m, *at, len))
			return false;
		type = *proto;
		*at += len;
	}
	*proto = type;
	return *at <= frame_end;
}

static uint64_t pseudo_sum(const struct rte_mbuf *m, const struct fm_whole *whole, uint8_t proto, uint32_t len)
{
	const bool ipv4 = whole->family == 4;

	return sum_chain((uint64_t)proto + (len >> 16) + (len & 0xffff), m, whole->l2_len + (ipv4 ? 12 : 8),
			 ipv4 ? 8 : 32);
}

bool fm_verify_l4(const struct rte_mbuf *m, const struct fm_whole *whole)
{
	uint32_t at, len;
	uint8_t proto, buf[8];
	const uint8_t *p;

	if (!find_upper(m, whole, &proto, &at))
		return true;
	len = whole->l2_len + whole->ip_len - at;
	switch (proto) {
	case PROTO_UDP:
		if (len < 8)
			return false;
		p = rte_pktmbuf_read(m, at, 8, buf);
		/* RFC 768: a checksum of zero says that there is none. RFC 6935 allows it to IPv6 tunnels as well. */
		if (fm_get16(p + 6) == 0)
			return true;
		/* The pseudo-header holds UDP's own length. */
		if (fm_get16(p + 4) < 8 || fm_get16(p + 4) > len)
			return false;
		len = fm_get16(p + 4);
		break;
	case PROTO_TCP:
		break;
	case PROTO_ICMPV6:
		/* Each ICMP belongs to its own family; under the other one it is just a number. */
		if (whole->family == 4)
			return true;
		break;
	case PROTO_ICMP:
		if (whole->family == 6)
			return true;
		return len >= 8 && fm_sum_fold(sum_chain(0, m, at, len)) == 0xffff;
	case PROTO_SCTP:
		return len >= 12 && sctp_good(m, at, len);
	default:
		return true;
	}
	return fm_sum_fold(sum_chain(pseudo_sum(m, whole, proto, len), m, at, len)) == 0xffff;
}
