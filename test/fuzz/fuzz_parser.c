/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser on any bytes.
 *
 * Input: flags, high and low byte of the port, then the frame. Each call of the parser gets a copy of the frame in an
 * allocation exactly as large as the bytes it may read, so that the sanitizer sees one byte more.
 */
#include "fuzz.h"

#include "bytes.h"
#include "frag.h"
#include "key.h"
#include "quick.h"

enum {
	/* The input's flags: the low bits are enum fm_parse_flag, the others change the frame. */
	PARSE_FLAGS = FM_PARSE_CHECKSUM_GOOD | FM_PARSE_CHECKSUM_BAD | FM_PARSE_SHORT_CHAIN,
	FIX_IPV4 = 1 << 3,  /* write the right IPv4 length and checksum: gets past the first checks */
	CUT_SHORT = 1 << 4, /* the frame goes on behind the bytes at hand */

	FRAME_MAX = 4096,
	DENSE = 192, /* up to here each prefix is tried, behind it each SPARSE-th */
	SPARSE = 13,
	PADDING = 11,
};

struct parsed {
	enum fm_verdict verdict;
	enum fm_outcome why;
	struct fm_frag frag;
};

static int same_fragment(const struct fm_frag *a, const struct fm_frag *b)
{
	return fm_key_equal(&a->key, &b->key) && a->id == b->id && a->l2_len == b->l2_len && a->l3_len == b->l3_len &&
	       a->payload_at == b->payload_at && a->offset == b->offset && a->length == b->length &&
	       a->next_at == b->next_at && a->next_header == b->next_header && a->family == b->family &&
	       a->ecn == b->ecn && a->more == b->more && a->atomic == b->atomic;
}

/* The quick way answers what the parser answers, or nothing. */
static void check_quick(const uint8_t *exact, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
			const struct parsed *full)
{
	struct fm_frag quick;
	const enum fm_verdict verdict = fm_frame_quick(exact, len, frame_len, port, flags, &quick);

	if (verdict == FM_VERDICT_MORE)
		return;
	FM_FUZZ_CHECK(verdict == full->verdict, "quick (%u bytes): verdict %d, parser %d", len, verdict,
		      full->verdict);
	if (verdict == FM_VERDICT_FRAGMENT)
		FM_FUZZ_CHECK(same_fragment(&quick, &full->frag), "quick (%u bytes): other fields", len);
}

static struct parsed parse(const uint8_t *frame, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags)
{
	struct parsed parsed = {.why = FM_OUTCOME_MAX};
	uint8_t *exact = malloc(len > 0 ? len : 1);

	FM_FUZZ_CHECK(exact != NULL, "out of memory");
	memcpy(exact, frame, len);
	parsed.verdict =
		fm_frame_parse(len > 0 ? exact : exact + 1, len, frame_len, port, flags, &parsed.frag, &parsed.why);
	check_quick(len > 0 ? exact : exact + 1, len, frame_len, port, flags, &parsed);
	free(exact);
	FM_FUZZ_CHECK(parsed.verdict != FM_VERDICT_MORE || len < frame_len, "asked for more than the frame's %u bytes",
		      frame_len);
	return parsed;
}

static void check_same(const struct parsed *a, const struct parsed *b, const char *what, uint32_t len)
{
	FM_FUZZ_CHECK(a->verdict == b->verdict, "%s (%u bytes): verdict %d, before %d", what, len, a->verdict,
		      b->verdict);
	if (a->verdict == FM_VERDICT_DROP)
		FM_FUZZ_CHECK(a->why == b->why, "%s (%u bytes): drop %d, before %d", what, len, a->why, b->why);
	if (a->verdict == FM_VERDICT_FRAGMENT)
		FM_FUZZ_CHECK(same_fragment(&a->frag, &b->frag), "%s (%u bytes): other fields", what, len);
}

static void check_ipv4(const uint8_t *ip, const struct fm_frag *frag)
{
	const uint16_t field = fm_get16(ip + 6);

	FM_FUZZ_CHECK(frag->l3_len == (ip[0] & 15) * 4, "header length %u", frag->l3_len);
	FM_FUZZ_CHECK(frag->payload_at == frag->l2_len + frag->l3_len, "payload at %u", frag->payload_at);
	FM_FUZZ_CHECK(frag->offset == (field & 0x1fff) * 8, "offset %u", frag->offset);
	FM_FUZZ_CHECK(frag->more == !!(field & 0x2000), "more");
	FM_FUZZ_CHECK(frag->offset > 0 || frag->more, "not a fragment");
	FM_FUZZ_CHECK(!frag->atomic, "atomic");
	FM_FUZZ_CHECK(frag->id == fm_get16(ip + 4), "identification %u", frag->id);
	FM_FUZZ_CHECK(fm_key_protocol(&frag->key) == ip[9], "protocol %u", fm_key_protocol(&frag->key));
	FM_FUZZ_CHECK(frag->l3_len + frag->length == fm_get16(ip + 2), "length %u", frag->length);
	FM_FUZZ_CHECK(frag->ecn == (ip[1] & 3), "ecn %u", frag->ecn);
	FM_FUZZ_CHECK(frag->l3_len + frag->offset + frag->length <= FM_DATAGRAM_MAX, "too long");
}

static void check_ipv6(const uint8_t *ip, const struct fm_frag *frag)
{
	const uint8_t *header = ip + frag->l3_len;

	FM_FUZZ_CHECK(frag->l3_len >= FM_IPV6_LEN, "headers of %u", frag->l3_len);
	FM_FUZZ_CHECK(frag->payload_at == frag->l2_len + frag->l3_len + FM_IPV6_FRAG_LEN, "payload at %u",
		      frag->payload_at);
	FM_FUZZ_CHECK(frag->next_at < frag->l3_len && ip[frag->next_at] == 44, "next header at %u", frag->next_at);
	FM_FUZZ_CHECK(frag->next_header == header[0] && header[0] != 44, "next header %u", frag->next_header);
	FM_FUZZ_CHECK(frag->offset == (fm_get16(header + 2) & 0xfff8), "offset %u", frag->offset);
	FM_FUZZ_CHECK(frag->more == (header[3] & 1), "more");
	FM_FUZZ_CHECK(frag->atomic == (frag->offset == 0 && !frag->more), "atomic");
	FM_FUZZ_CHECK(frag->id == fm_get32(header + 4), "identification %u", frag->id);
	FM_FUZZ_CHECK(frag->payload_at - frag->l2_len + frag->length == FM_IPV6_LEN + fm_get16(ip + 4), "length %u",
		      frag->length);
	FM_FUZZ_CHECK(frag->ecn == (ip[1] >> 4 & 3), "ecn %u", frag->ecn);
	FM_FUZZ_CHECK(frag->l3_len - FM_IPV6_LEN + frag->offset + frag->length <= FM_DATAGRAM_MAX, "too long");
}

/* The fields of a fragment against the bytes they came from. */
static void check_fields(const uint8_t *frame, uint32_t frame_len, uint16_t port, const struct fm_frag *frag)
{
	FM_FUZZ_CHECK(frag->l2_len == FM_ETHER_LEN + FM_VLAN_LEN * fm_key_tags(&frag->key), "l2_len %u", frag->l2_len);
	FM_FUZZ_CHECK(fm_key_tags(&frag->key) <= FM_VLAN_MAX, "%u tags", fm_key_tags(&frag->key));
	for (unsigned int i = 0; i < fm_key_tags(&frag->key); i++)
		FM_FUZZ_CHECK(fm_key_vlan(&frag->key, i) == (fm_get16(frame + FM_ETHER_LEN + FM_VLAN_LEN * i) & 0xfff),
			      "tag %u", i);
	FM_FUZZ_CHECK(fm_key_port(&frag->key) == port, "port %u", fm_key_port(&frag->key));
	FM_FUZZ_CHECK(frag->length > 0, "empty");
	FM_FUZZ_CHECK(!frag->more || frag->length % 8 == 0, "length %u", frag->length);
	FM_FUZZ_CHECK((uint32_t)frag->payload_at + frag->length <= frame_len, "payload ends behind the frame");
	FM_FUZZ_CHECK(frag->family == 4 || frag->family == 6, "family %u", frag->family);
	if (frag->family == 4)
		check_ipv4(frame + frag->l2_len, frag);
	else
		check_ipv6(frame + frag->l2_len, frag);
}

/* No other drops than those frag.h names. */
static void check_why(enum fm_outcome why)
{
	switch (why) {
	case FM_BAD_IP_CHECKSUM:
	case FM_BAD_HEADER:
	case FM_BAD_LENGTH:
	case FM_TOO_BIG:
	case FM_TRUNCATED:
	case FM_BAD_EXT_HEADER:
	case FM_HEADER_CHAIN:
	case FM_NESTED:
		return;
	default:
		FM_FUZZ_CHECK(0, "drop %d", why);
	}
}

/* A prefix asks for more or says what the whole frame says, and once it has said so does not ask again. */
static void check_prefixes(const uint8_t *frame, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
			   const struct parsed *whole)
{
	int decided = 0;

	for (uint32_t prefix = 0; prefix < len; prefix += prefix < DENSE ? 1 : SPARSE) {
		const struct parsed parsed = parse(frame, prefix, frame_len, port, flags);

		if (parsed.verdict == FM_VERDICT_MORE) {
			FM_FUZZ_CHECK(!decided, "asked for more than %u bytes after a verdict on fewer", prefix);
			continue;
		}
		decided = 1;
		check_same(&parsed, whole, "prefix", prefix);
	}
	FM_FUZZ_CHECK(!decided || whole->verdict != FM_VERDICT_MORE, "asked for more after a verdict on fewer bytes");
}

/* What changes of the call do to the verdict. */
static void check_related(const uint8_t *frame, uint32_t len, uint32_t frame_len, uint16_t port, unsigned int flags,
			  const struct parsed *whole)
{
	struct parsed other;

	if (whole->verdict != FM_VERDICT_DROP || whole->why != FM_BAD_IP_CHECKSUM) {
		other = parse(frame, len, frame_len, port, flags | FM_PARSE_CHECKSUM_GOOD);
		check_same(&other, whole, "checksum known to be good", len);
	}
	if (whole->verdict == FM_VERDICT_FRAGMENT) {
		other = parse(frame, len, frame_len, port, flags | FM_PARSE_SHORT_CHAIN);
		check_same(&other, whole, "short chain", len);
		/* Ethernet padding is no part of it. */
		other = parse(frame, len, frame_len + PADDING, port, flags);
		check_same(&other, whole, "padded", len);
		other = parse(frame, len, frame_len, port ^ 1, flags);
		FM_FUZZ_CHECK(other.verdict == FM_VERDICT_FRAGMENT && !fm_key_equal(&other.frag.key, &whole->frag.key),
			      "port is not in the key");
	}
}

static void check_ext_len(const uint8_t *data)
{
	uint8_t *exact = malloc(2);
	uint8_t next = 0;
	uint32_t len;

	FM_FUZZ_CHECK(exact != NULL, "out of memory");
	memcpy(exact, data + 1, 2);
	len = fm_ipv6_ext_len(data[0], exact, &next);
	FM_FUZZ_CHECK(len == 0 || (len >= 8 && len <= 2048 && len % 4 == 0 && next == exact[0]), "type %u: length %u",
		      data[0], len);
	free(exact);
}

static void fix_ipv4(uint8_t *frame, uint32_t len)
{
	uint32_t at = FM_ETHER_LEN, sum = 0, ihl;

	while (at + FM_IPV4_MIN_LEN < len && at < FM_ETHER_LEN + FM_VLAN_MAX * FM_VLAN_LEN && frame[at - 2] != 8)
		at += FM_VLAN_LEN;
	if (at + FM_IPV4_MIN_LEN > len)
		return;
	ihl = (frame[at] & 15) * 4;
	if (ihl < FM_IPV4_MIN_LEN || at + ihl > len)
		return;
	fm_put16(frame + at + 2, (uint16_t)(len - at));
	fm_put16(frame + at + 10, 0);
	for (uint32_t i = 0; i < ihl; i += 2)
		sum += fm_get16(frame + at + i);
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	fm_put16(frame + at + 10, (uint16_t)~sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[FRAME_MAX];
	struct fm_fuzz_input in = {data, size};
	const uint8_t flags = fm_fuzz_u8(&in);
	const uint16_t port = fm_fuzz_u16(&in) & FM_KEY_PORT_MAX;
	uint32_t len, frame_len;
	struct parsed whole;
	const uint8_t *bytes;

	len = fm_fuzz_bytes(&in, FRAME_MAX, &bytes);
	if (len > 0)
		memcpy(frame, bytes, len);
	if (flags & FIX_IPV4)
		fix_ipv4(frame, len);
	frame_len = flags & CUT_SHORT ? len + 1 + port % 2048 : len;

	if (len >= 3)
		check_ext_len(frame);
	whole = parse(frame, len, frame_len, port, flags & PARSE_FLAGS);
	if (whole.verdict == FM_VERDICT_DROP)
		check_why(whole.why);
	if (whole.verdict == FM_VERDICT_FRAGMENT)
		check_fields(frame, frame_len, port, &whole.frag);
	check_prefixes(frame, len, frame_len, port, flags & PARSE_FLAGS, &whole);
	if (whole.verdict != FM_VERDICT_MORE)
		check_related(frame, len, frame_len, port, flags & PARSE_FLAGS, &whole);
	return 0;
}
