/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_frame.h"

#include "fm_mbuf.h"
#include "fm_packet.h"

/* Router alert (copied into each fragment), record route (not copied), end of list. */
static const uint8_t ipv4_options[] = {0x94, 4, 0, 0, 7, 7, 4, 0, 0, 0, 0, 0};
/* Destination options, then the fragment header. */
static const uint8_t ipv6_options[] = {44, 0, 1, 4, 0, 0, 0, 0};
/* Hop-by-hop options of 16 bytes, destination options, then the fragment header. */
static const uint8_t ipv6_options_two[] = {60, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 44, 0, 1, 4, 0, 0, 0, 0};

enum { PROTOCOL_UDP = 17, PROTOCOL_EXPERIMENT = 253, EXT_DESTINATION = 60, EXT_HOP_BY_HOP = 0 };

/* Bits of the byte that says how a piece differs from the plain one. */
enum {
	TWEAK_PADDING = 1 << 0,
	TWEAK_CE = 1 << 1,
	TWEAK_ECT = 1 << 2,
	TWEAK_OPTIONS = 1 << 3,
	TWEAK_TAGGED = 1 << 4,
	TWEAK_LENGTH = 1 << 5,
	TWEAK_OFFSET = 1 << 6,
	TWEAK_MORE = 1 << 7,
};

static void build(const struct fm_test_frag *frag, struct fm_fuzz_frame *frame)
{
	frame->len = fm_test_frame(frag, frame->bytes);
	frame->plain = true;
}

static void set_options(struct fm_test_frag *frag, bool two)
{
	if (frag->family == 4) {
		frag->options = ipv4_options;
		frag->options_len = sizeof(ipv4_options);
	} else {
		frag->options = two ? ipv6_options_two : ipv6_options;
		frag->options_len = two ? sizeof(ipv6_options_two) : sizeof(ipv6_options);
		frag->first_ext = two ? EXT_HOP_BY_HOP : EXT_DESTINATION;
	}
}

void fm_fuzz_piece(struct fm_fuzz_input *in, uint32_t generation, struct fm_fuzz_frame *frame)
{
	static const uint16_t lengths[] = {8, 24, 64, 512};
	const uint8_t plan = fm_fuzz_u8(in), number = fm_fuzz_u8(in), tweak = fm_fuzz_u8(in);
	const uint32_t pieces = 2 + (plan >> 4), piece = number % pieces;
	const uint32_t length = lengths[plan >> 2 & 3];
	struct fm_test_frag frag = {
		.family = plan & 1 ? 6 : 4,
		.id = generation * 256 + plan,
		.source = 1 + (plan >> 1 & 3),
		.destination = 9,
		.protocol = plan & 8 ? PROTOCOL_EXPERIMENT : PROTOCOL_UDP,
		.offset = piece * length,
		.length = piece == pieces - 1 ? 1 + plan % length : length,
		.more = piece != pieces - 1,
		.padding = tweak & TWEAK_PADDING ? 1 + number % 46 : 0,
		.tos = (tweak & TWEAK_CE ? 3 : 0) ^ (tweak & TWEAK_ECT ? 2 : 0),
		.dont_fragment = number & 64,
		.vlans = tweak & TWEAK_TAGGED ? 1 + number % 3 : 0,
		.tci = {0x2005, 0x0006, 0x0007},
	};

	if (tweak & TWEAK_OPTIONS)
		set_options(&frag, number & 128);
	if (tweak & TWEAK_LENGTH)
		frag.length += fm_fuzz_u8(in) - 128U;
	if (frag.length > UINT16_MAX)
		frag.length = 0;
	if (tweak & TWEAK_OFFSET)
		frag.offset += 8U * (uint32_t)(int8_t)fm_fuzz_u8(in);
	frag.offset &= 0xfff8;
	if (tweak & TWEAK_MORE)
		frag.more = !frag.more;
	build(&frag, frame);
}

void fm_fuzz_described(struct fm_fuzz_input *in, struct fm_fuzz_frame *frame)
{
	static uint8_t other[FM_FUZZ_FRAME_MAX];
	const uint8_t kind = fm_fuzz_u8(in), more = fm_fuzz_u8(in);
	struct fm_test_frag frag = {
		.family = kind & 1 ? 6 : 4,
		.id = kind & 2 ? 0 : fm_fuzz_u8(in) % 8,
		.source = kind & 2 ? 0 : fm_fuzz_u8(in) % 4,
		.protocol = fm_fuzz_u8(in),
		.offset = fm_fuzz_u16(in) & 0xfff8,
		.length = kind & 4 ? fm_fuzz_u16(in) : fm_fuzz_u8(in),
		.more = more & 1,
		.reserved = more & 2,
		.dont_fragment = more & 4,
		.vlans = more >> 3 & 3,
		.tos = kind & 8 ? fm_fuzz_u8(in) : 0,
		.ttl = kind & 8 ? fm_fuzz_u8(in) : 0,
		.tci = {more, kind, 7},
		.padding = kind & 16 ? fm_fuzz_u8(in) : 0,
	};

	if (kind & 32)
		set_options(&frag, more & 32);
	if (kind & 64)
		frag.payload = other;
	/* The length field holds no more. */
	if (frag.length + frag.options_len > UINT16_MAX - 20)
		frag.length = UINT16_MAX - 20 - frag.options_len;
	build(&frag, frame);
	frame->plain = !(kind & 64);
}

void fm_fuzz_raw(struct fm_fuzz_input *in, struct fm_fuzz_frame *frame)
{
	const uint8_t *bytes;

	frame->len = fm_fuzz_bytes(in, 1 + fm_fuzz_u8(in), &bytes);
	/* A frame of no bytes is nothing that a port delivers. */
	if (frame->len > 0)
		memcpy(frame->bytes, bytes, frame->len);
	else
		frame->bytes[frame->len++] = 0;
	frame->plain = false;
}

static void keep(struct fm_fuzz_owner *owner, struct rte_mbuf *m)
{
	struct fm_fuzz_kept *kept = &owner->kept[owner->n_kept++];

	kept->m = m;
	kept->next = m->next;
	kept->pkt_len = m->pkt_len;
	kept->data_off = m->data_off;
	kept->data_len = m->data_len;
	kept->nb_segs = m->nb_segs;
	kept->bytes = malloc(m->data_len + 1U);
	FM_FUZZ_CHECK(kept->bytes != NULL, "out of memory");
	memcpy(kept->bytes, rte_pktmbuf_mtod(m, const void *), m->data_len);
}

/* An external buffer, the mbuf library's description of it, and what it must still hold when it is freed. */
struct external {
	struct rte_mbuf_ext_shared_info shared;
	struct fm_fuzz_owner *owner;
	uint8_t *bytes;
	uint16_t len;
};

static void external_free(void *addr, void *arg)
{
	struct external *external = arg;

	FM_FUZZ_CHECK(memcmp(addr, external->bytes, external->len) == 0, "an external buffer was changed");
	external->owner->external--;
	free(external->bytes);
	free(addr);
	free(external);
}

static struct rte_mbuf *external_mbuf(struct fm_fuzz_owner *owner, const struct fm_fuzz_frame *frame)
{
	struct external *external = calloc(1, sizeof(*external));
	struct rte_mbuf *m = rte_pktmbuf_alloc(owner->pool);
	uint8_t *buffer = malloc(frame->len);

	FM_FUZZ_CHECK(external != NULL && m != NULL && buffer != NULL, "out of memory");
	memcpy(buffer, frame->bytes, frame->len);
	external->owner = owner;
	external->len = (uint16_t)frame->len;
	external->bytes = malloc(frame->len);
	FM_FUZZ_CHECK(external->bytes != NULL, "out of memory");
	memcpy(external->bytes, buffer, frame->len);
	external->shared.free_cb = external_free;
	external->shared.fcb_opaque = external;
	rte_mbuf_ext_refcnt_set(&external->shared, 1);
	rte_pktmbuf_attach_extbuf(m, buffer, RTE_BAD_IOVA, (uint16_t)frame->len, &external->shared);
	m->data_len = (uint16_t)frame->len;
	m->pkt_len = frame->len;
	owner->external++;
	return m;
}

struct rte_mbuf *fm_fuzz_mbuf(struct fm_fuzz_input *in, struct fm_fuzz_owner *owner, const struct fm_fuzz_frame *frame)
{
	enum { SHARED = 13, CLONE = 14, EXTERNAL = 15 };
	const uint8_t how = fm_fuzz_u8(in);
	uint32_t segment = how & 0x10 ? 1U + fm_fuzz_u8(in) : 0;
	struct rte_mbuf *m, *given;

	if ((how & 0xf) == EXTERNAL && frame->len <= FM_FUZZ_SEGMENT_MAX)
		return external_mbuf(owner, frame);
	if (segment == 0 || frame->len / segment >= FM_FUZZ_SEGMENTS_MAX)
		segment = FM_FUZZ_SEGMENT_MAX;
	m = fm_test_mbuf(owner->pool, frame->bytes, frame->len, segment);
	if ((how & 0xf) < SHARED || (how & 0xf) == EXTERNAL || owner->n_kept + m->nb_segs > FM_FUZZ_KEPT_MAX)
		return m;
	given = (how & 0xf) == CLONE ? rte_pktmbuf_clone(m, owner->pool) : m;
	FM_FUZZ_CHECK(given != NULL, "the pool has no mbuf for a clone");
	for (struct rte_mbuf *seg = m; seg != NULL; seg = seg->next) {
		if (given == m)
			rte_mbuf_refcnt_update(seg, 1);
		keep(owner, seg);
	}
	return given;
}

void fm_fuzz_release(struct fm_fuzz_owner *owner)
{
	for (uint32_t i = 0; i < owner->n_kept; i++) {
		const struct fm_fuzz_kept *kept = &owner->kept[i];
		const struct rte_mbuf *m = kept->m;

		FM_FUZZ_CHECK(m->next == kept->next && m->nb_segs == kept->nb_segs && m->pkt_len == kept->pkt_len &&
				      m->data_off == kept->data_off && m->data_len == kept->data_len,
			      "a shared mbuf was changed");
		FM_FUZZ_CHECK(memcmp(rte_pktmbuf_mtod(m, const void *), kept->bytes, kept->data_len) == 0,
			      "a shared buffer was changed");
	}
	/* One by one: what is linked to it may be gone already. */
	for (uint32_t i = 0; i < owner->n_kept; i++) {
		rte_pktmbuf_free_seg(owner->kept[i].m);
		free(owner->kept[i].bytes);
	}
	owner->n_kept = 0;
	FM_FUZZ_CHECK(owner->external == 0, "%u external buffers leaked", owner->external);
}
