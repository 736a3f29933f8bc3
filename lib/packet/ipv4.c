/* SPDX-License-Identifier: BSD-3-Clause */
#include "bytes.h"
#include "checksum.h"
#include "frag.h"
#include "key.h"

enum { IPV4_MORE = 0x2000, IPV4_OFFSET = 0x1fff, IPV4_FLAGS_END = 8 };

static enum fm_verdict drop(enum fm_outcome *why, enum fm_outcome outcome)
{
	*why = outcome;
	return FM_VERDICT_DROP;
}

/* A header that no reassembly can use: dropped if it says that it is a fragment, else none of our business. */
static enum fm_verdict unusable(bool fragment, enum fm_outcome *why, enum fm_outcome outcome)
{
	return fragment ? drop(why, outcome) : FM_VERDICT_MALFORMED;
}

static void fill(const uint8_t *data, uint16_t ihl, uint16_t total, uint16_t field, struct fm_frag *frag)
{
	frag->id = fm_get16(data + 4);
	frag->key.word[0] |= (uint64_t)data[9] << FM_KEY_PROTOCOL_SHIFT | frag->id;
	frag->key.word[1] = fm_raw64(data + 12);
	frag->l3_len = ihl;
	frag->payload_at = (uint16_t)(frag->l2_len + ihl);
	frag->offset = (uint16_t)((field & IPV4_OFFSET) * 8);
	frag->length = (uint16_t)(total - ihl);
	frag->family = 4;
	frag->ecn = data[1] & 3;
	frag->more = field & IPV4_MORE;
}

enum fm_verdict fm_ipv4_parse(const uint8_t *data, uint32_t len, uint32_t frame_len, unsigned int flags,
			      struct fm_frag *frag, enum fm_outcome *why)
{
	uint16_t ihl, total, field;
	bool fragment;

	if (len < FM_IPV4_MIN_LEN && len < frame_len)
		return FM_VERDICT_MORE;
	/* The flags are enough to prove a fragment, even where the rest of the header was cut off. */
	if (len < IPV4_FLAGS_END || data[0] >> 4 != 4)
		return FM_VERDICT_MALFORMED;
	ihl = (data[0] & 15) * 4;
	total = fm_get16(data + 2);
	field = fm_get16(data + 6);
	fragment = field & (IPV4_MORE | IPV4_OFFSET);

	/* RFC 791 3.1: a header of five words or more, and a total length that covers it. */
	if (ihl < FM_IPV4_MIN_LEN || total < ihl)
		return unusable(fragment, why, FM_BAD_HEADER);
	if (total > frame_len)
		return unusable(fragment, why, FM_TRUNCATED);
	if (!fragment)
		return FM_VERDICT_PASS;
	if (len < ihl)
		return FM_VERDICT_MORE;

	/* RFC 1122 3.2.1.2: verify the checksum, drop silently (counted here) if it is wrong. */
	if (flags & FM_PARSE_CHECKSUM_BAD ||
	    (!(flags & FM_PARSE_CHECKSUM_GOOD) && fm_ipv4_checksum(data, ihl) != 0))
		return drop(why, FM_BAD_IP_CHECKSUM);
	fill(data, ihl, total, field, frag);
	/* RFC 791 3.2: all but the last fragment are a multiple of 8; an empty one carries nothing but mischief. */
	if (frag->length == 0 || (frag->more && frag->length % 8 != 0))
		return drop(why, FM_BAD_LENGTH);
	if ((uint32_t)ihl + frag->offset + frag->length > FM_DATAGRAM_MAX)
		return drop(why, FM_TOO_BIG);
	return FM_VERDICT_FRAGMENT;
}
