/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes.h"
#include "frag.h"
#include "key.h"

enum { IPV6_NEXT_AT = 6 };

enum {
	NEXT_HOP_BY_HOP = 0,
	NEXT_IPV4 = 4,
	NEXT_TCP = 6,
	NEXT_UDP = 17,
	NEXT_DCCP = 33,
	NEXT_IPV6 = 41,
	NEXT_ROUTING = 43,
	NEXT_FRAGMENT = 44,
	NEXT_GRE = 47,
	NEXT_ESP = 50,
	NEXT_AH = 51,
	NEXT_ICMPV6 = 58,
	NEXT_DESTINATION = 60,
	NEXT_SCTP = 132,
	NEXT_MOBILITY = 135,
	NEXT_UDPLITE = 136,
	NEXT_HIP = 139,
	NEXT_SHIM6 = 140,
};

uint32_t fm_ipv6_ext_len(uint8_t type, const uint8_t *data, uint8_t *next)
{
	switch (type) {
	case NEXT_HOP_BY_HOP:
	case NEXT_ROUTING:
	case NEXT_DESTINATION:
	case NEXT_MOBILITY:
	case NEXT_HIP:
	case NEXT_SHIM6:
		*next = data[0];
		return (data[1] + 1) * 8;
	case NEXT_AH:
		/* RFC 4302 2.2: in words of 4 bytes, less 2. */
		*next = data[0];
		return (data[1] + 2) * 4;
	default:
		return 0;
	}
}

static bool is_extension(uint8_t type)
{
	uint8_t none[2] = { 0, 0 }, next;

	return fm_ipv6_ext_len(type, none, &next) != 0;
}

/* The part of an upper-layer header that RFC 7112 wants to see in the first fragment, in bytes. */
static uint32_t upper_len(uint8_t type)
{
	switch (type) {
	case NEXT_TCP:
		return 20;
	case NEXT_UDP:
	case NEXT_UDPLITE:
	case NEXT_ESP:
		return 8;
	case NEXT_DCCP:
	case NEXT_SCTP:
		return 12;
	case NEXT_ICMPV6:
	case NEXT_GRE:
		return 4;
	/* RFC 7112 3: a tunnelled packet's header counts as the upper-layer header. */
	case NEXT_IPV4:
		return FM_IPV4_MIN_LEN;
	case NEXT_IPV6:
		return FM_IPV6_LEN;
	default:
		return 0;
	}
}

static enum fm_verdict drop(enum fm_outcome *why, enum fm_outcome outcome)
{
	*why = outcome;
	return FM_VERDICT_DROP;
}

/* A place in a chain of extension headers; places count from the IPv6 header. */
struct chain {
	uint32_t at;		/* of the header that `type` names */
	uint32_t next_at;	/* of the next-header field that names it */
	uint32_t count;		/* headers passed */
	uint32_t last_start;	/* where the last of them began */
	uint8_t type;
};

enum chain_end {
	CHAIN_STOPS,	/* `type` is no extension header */
	CHAIN_CUT,	/* the packet ends within an extension header; `type` is what it names, if that can be read */
	CHAIN_MORE,	/* the bytes at hand do */
};

/* Walk extension headers up to `limit`, the end of the IP packet or of the frame. */
static enum chain_end walk(struct chain *chain, const uint8_t *data, uint32_t len, uint32_t limit)
{
	while (is_extension(chain->type)) {
		uint32_t ext_len;

		if (chain->at + 2 > len && len < limit)
			return CHAIN_MORE;
		if (chain->at + 2 > limit) {
			/* Half a header may still tell what would follow. */
			if (chain->at < limit)
				chain->type = data[chain->at];
			return CHAIN_CUT;
		}
		chain->next_at = chain->at;
		chain->last_start = chain->at;
		ext_len = fm_ipv6_ext_len(chain->type, data + chain->at, &chain->type);
		chain->at += ext_len;
		chain->count++;
		if (chain->at > limit)
			return CHAIN_CUT;
	}
	return CHAIN_STOPS;
}

/* The headers behind the fragment header of a first fragment that ends at `limit`. */
static enum fm_verdict check_chain(const uint8_t *data, uint32_t len, uint32_t limit, uint32_t at, unsigned int flags,
				   const struct fm_frag *frag, enum fm_outcome *why)
{
	struct chain chain = { .at = at, .type = frag->next_header };
	const enum chain_end end = walk(&chain, data, len, limit);

	if (end == CHAIN_MORE)
		return FM_VERDICT_MORE;
	if (end == CHAIN_STOPS && chain.type == NEXT_FRAGMENT)
		return drop(why, FM_NESTED);
	/* RFC 7112 5: a first fragment holds the whole chain, upper-layer header included. An atomic one is whole
	 * anyway. */
	if (!frag->atomic && !(flags & FM_PARSE_SHORT_CHAIN) &&
	    (end == CHAIN_CUT || chain.at + upper_len(chain.type) > limit))
		return drop(why, FM_HEADER_CHAIN);
	return FM_VERDICT_FRAGMENT;
}

static void fill(const uint8_t *data, const struct chain *chain, uint32_t ip_len, struct fm_frag *frag)
{
	const uint8_t *header = data + chain->at;
	const uint16_t field = fm_get16(header + 2);
	const uint32_t payload_at = chain->at + FM_IPV6_FRAG_LEN;

	frag->id = fm_get32(header + 4);
	frag->key.word[1] = frag->id;
	for (unsigned int i = 0; i < 4; i++)
		frag->key.word[2 + i] = fm_raw64(data + 8 + 8 * i);
	frag->l3_len = (uint16_t)chain->at;
	frag->payload_at = (uint16_t)(frag->l2_len + payload_at);
	frag->offset = field & 0xfff8;
	frag->length = (uint16_t)(ip_len - payload_at);
	frag->next_at = (uint16_t)chain->next_at;
	frag->next_header = header[0];
	frag->family = 6;
	frag->ecn = data[1] >> 4 & 3;
	frag->more = field & 1;
	frag->atomic = frag->offset == 0 && !frag->more;
}

static enum fm_verdict check_fragment(const uint8_t *data, uint32_t len, uint32_t ip_len, const struct chain *chain,
				      unsigned int flags, const struct fm_frag *frag, enum fm_outcome *why)
{
	/* RFC 8200 4.5: all but the last fragment are a multiple of 8. */
	if (frag->length == 0 || (frag->more && frag->length % 8 != 0))
		return drop(why, FM_BAD_LENGTH);
	/* RFC 8200 4.5: the payload length of the joined packet, extension headers included, is 65,535 at most. */
	if (chain->at - FM_IPV6_LEN + frag->offset + frag->length > FM_DATAGRAM_MAX)
		return drop(why, FM_TOO_BIG);
	if (frag->offset == 0)
		return check_chain(data, len, ip_len, chain->at + FM_IPV6_FRAG_LEN, flags, frag, why);
	/* Behind the first fragment only the fragment header itself can tell. */
	if (frag->next_header == NEXT_FRAGMENT)
		return drop(why, FM_NESTED);
	return FM_VERDICT_FRAGMENT;
}

enum fm_verdict fm_ipv6_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, unsigned int flags,
			      struct fm_frag *frag, enum fm_outcome *why)
{
	struct chain chain = { .at = FM_IPV6_LEN, .next_at = IPV6_NEXT_AT };
	uint32_t ip_len, limit;
	enum chain_end end;

	if (len < FM_IPV6_LEN && len < frame_len)
		return FM_VERDICT_MORE;
	if (len <= IPV6_NEXT_AT || data[0] >> 4 != 6)
		return FM_VERDICT_MALFORMED;
	chain.type = data[IPV6_NEXT_AT];
	if (len < FM_IPV6_LEN)
		return chain.type == NEXT_FRAGMENT ? drop(why, FM_BAD_EXT_HEADER) : FM_VERDICT_MALFORMED;
	ip_len = FM_IPV6_LEN + fm_get16(data + 4);
	limit = ip_len < frame_len ? ip_len : frame_len;
	end = walk(&chain, data, len, limit);
	if (end == CHAIN_MORE)
		return FM_VERDICT_MORE;
	if (chain.type != NEXT_FRAGMENT)
		return end == CHAIN_CUT || ip_len > frame_len ? FM_VERDICT_MALFORMED : FM_VERDICT_PASS;

	if (end == CHAIN_CUT || chain.at + FM_IPV6_FRAG_LEN > limit || chain.count > FM_EXT_HEADERS_MAX ||
	    (chain.count > 0 && chain.last_start - FM_IPV6_LEN >= FM_EXT_START_MAX))
		return drop(why, FM_BAD_EXT_HEADER);
	if (ip_len > frame_len)
		return drop(why, FM_TRUNCATED);
	if (chain.at + FM_IPV6_FRAG_LEN > len)
		return FM_VERDICT_MORE;
	fill(data, &chain, ip_len, frag);
	return check_fragment(data, len, ip_len, &chain, flags, frag, why);
}
