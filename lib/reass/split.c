/* SPDX-License-Identifier: BSD-3-Clause */
#include "fm_split.h"

#include "bytes.h"
#include "checksum.h"
#include "internal.h"

enum { IPV4_MORE = 0x2000, IPV4_KEEP = 0xc000, IPV4_COPIED = 0x80, NEXT_FRAGMENT = 44 };
enum { OPTION_END = 0, OPTION_NOP = 1 };

/* How a datagram is cut. Header lengths count Ethernet, tags and all IP headers, the fragment header too. */
struct cut {
	uint32_t payload;		/* bytes in all */
	uint32_t first_head, rest_head;	/* of the first piece, of all others */
	uint32_t first_room, rest_room;	/* payload that fits behind them */
};

/* The headers of all pieces but their lengths, offsets and checksums. */
struct heads {
	uint16_t l2_len, l3_len;
	uint8_t first[FM_HEADER_ROOM], rest[FM_HEADER_ROOM];
};

/* A place in the chain. */
struct cursor {
	struct rte_mbuf *seg;
	uint32_t at;
};

/*
 * RFC 791 3.1: of the options only those with the copied flag go into every fragment. Returns the length of the options
 * in `to` (room for 40 bytes), padded to a multiple of 4.
 */
static uint32_t copy_options(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t n = 0, i = 0;

	while (i < len && from[i] != OPTION_END) {
		uint32_t option_len = 1;

		if (from[i] != OPTION_NOP) {
			option_len = i + 1 < len ? from[i + 1] : 0;
			if (option_len < 2 || i + option_len > len)
				break;
		}
		if (from[i] & IPV4_COPIED) {
			memcpy(to + n, from + i, option_len);
			n += option_len;
		}
		i += option_len;
	}
	for (; n % 4 != 0; n++)
		to[n] = OPTION_END;
	return n;
}

/* The datagram's own headers. */
static void read_heads(const struct rte_mbuf *m, const struct fm_whole *w, struct heads *h)
{
	const uint32_t len = (uint32_t)w->l2_len + w->l3_len;
	const void *from = rte_pktmbuf_read(m, 0, len, h->first);

	h->l2_len = w->l2_len;
	h->l3_len = w->l3_len;
	if (from != h->first)
		memcpy(h->first, from, len);
}

static uint32_t rest_options_len(const struct rte_mbuf *m, const struct fm_whole *w)
{
	uint8_t options[40], copied[40];
	const uint32_t len = w->l3_len - FM_IPV4_MIN_LEN;

	return copy_options(copied, rte_pktmbuf_read(m, w->l2_len + FM_IPV4_MIN_LEN, len, options), len);
}

static bool plan(const struct rte_mbuf *m, const struct fm_whole *w, uint32_t mtu, struct cut *cut)
{
	const uint32_t limit = mtu < w->largest ? mtu : w->largest;
	uint32_t first = w->l3_len, rest = w->l3_len;

	if (w->family == 6)
		first = rest = w->l3_len + FM_IPV6_FRAG_LEN;
	else if (w->l3_len > FM_IPV4_MIN_LEN)
		rest = FM_IPV4_MIN_LEN + rest_options_len(m, w);
	if (limit < first + 8)
		return false;
	cut->payload = w->ip_len - w->l3_len;
	cut->first_head = w->l2_len + first;
	cut->rest_head = w->l2_len + rest;
	cut->first_room = limit - first;
	cut->rest_room = limit - rest;
	return true;
}

/* Payload of the piece that starts at `offset`: all that is left, or a multiple of 8. */
static uint32_t take(const struct cut *cut, uint32_t offset)
{
	const uint32_t left = cut->payload - offset, room = offset == 0 ? cut->first_room : cut->rest_room;

	return left <= room ? left : room & ~7U;
}

static uint32_t count(const struct cut *cut)
{
	const uint32_t first = take(cut, 0), full = cut->rest_room & ~7U;
	uint32_t left = cut->payload - first;

	if (left == 0)
		return 1;
	if (left <= cut->rest_room)
		return 2;
	return 2 + (left - cut->rest_room + full - 1) / full;
}

uint32_t fm_split_count(const struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu)
{
	struct cut cut;

	return plan(m, whole, mtu, &cut) ? count(&cut) : 0;
}

static void prepare_heads(const struct rte_mbuf *m, const struct fm_whole *w, struct heads *h)
{
	uint8_t *ip;
	uint32_t options;

	read_heads(m, w, h);
	ip = h->first + w->l2_len;
	if (w->family == 6) {
		uint8_t *frag = ip + w->l3_len;

		/* RFC 8200 4.5: the fragment header goes back to where it was. */
		frag[0] = ip[w->next_at];
		frag[1] = 0;
		fm_put32(frag + 4, w->id);
		ip[w->next_at] = NEXT_FRAGMENT;
		memcpy(h->rest, h->first, (size_t)w->l2_len + w->l3_len + FM_IPV6_FRAG_LEN);
		return;
	}
	memcpy(h->rest, h->first, (size_t)w->l2_len + FM_IPV4_MIN_LEN);
	options =
		copy_options(h->rest + w->l2_len + FM_IPV4_MIN_LEN, ip + FM_IPV4_MIN_LEN, w->l3_len - FM_IPV4_MIN_LEN);
	h->rest[w->l2_len] = (uint8_t)(0x40 | (FM_IPV4_MIN_LEN + options) / 4);
}

/* Write the header of the piece [offset, offset + len) to `to`. */
static void write_head(uint8_t *to, const struct heads *h, const struct fm_whole *w, const struct cut *cut,
		       uint32_t offset, uint32_t len)
{
	const uint32_t head = offset == 0 ? cut->first_head : cut->rest_head;
	const bool more = offset + len < cut->payload;
	uint8_t *ip = to + h->l2_len;

	memcpy(to, offset == 0 ? h->first : h->rest, head);
	if (w->family == 6) {
		fm_put16(ip + 4, (uint16_t)(head - h->l2_len - FM_IPV6_LEN + len));
		fm_put16(ip + h->l3_len + 2, (uint16_t)(offset | more));
		return;
	}
	fm_put16(ip + 2, (uint16_t)(head - h->l2_len + len));
	fm_put16(ip + 6, (uint16_t)((fm_get16(ip + 6) & IPV4_KEEP) | (more ? IPV4_MORE : 0) | offset / 8));
	fm_put16(ip + 10, 0);
	fm_put16(ip + 10, fm_ipv4_checksum(ip, head - h->l2_len));
}

static void skip_empty(struct cursor *c)
{
	while (c->at == rte_pktmbuf_data_len(c->seg) && c->seg->next != NULL) {
		c->seg = c->seg->next;
		c->at = 0;
	}
}

static void advance(struct cursor *c, uint32_t len)
{
	for (skip_empty(c); len > 0; skip_empty(c)) {
		const uint32_t n = RTE_MIN(len, rte_pktmbuf_data_len(c->seg) - c->at);

		c->at += n;
		len -= n;
	}
}

/*
 * Is the next piece exactly what is left of a segment that may be changed, with room for the header in front? `before`
 * is what may be overwritten in front of the payload besides the headroom: the datagram's own header in the first
 * segment.
 */
static bool reusable(const struct cursor *c, uint32_t len, uint32_t head, uint32_t before)
{
	return c->at == before && rte_pktmbuf_data_len(c->seg) == before + len && fm_chain_writable(c->seg, 0) &&
	       rte_pktmbuf_headroom(c->seg) + before >= head;
}

/* One turn of the walk over pieces: where it starts, how long it is, whether its segment serves. */
struct piece {
	uint32_t offset, len, head, before;
	bool reuse;
};

static bool next_piece(const struct cut *cut, struct cursor *c, uint32_t own_head, struct piece *p)
{
	p->offset += p->len;
	if (p->offset == cut->payload)
		return false;
	p->len = take(cut, p->offset);
	p->head = p->offset == 0 ? cut->first_head : cut->rest_head;
	p->before = p->offset == 0 ? own_head : 0;
	skip_empty(c);
	p->reuse = reusable(c, p->len, p->head, p->before);
	return true;
}

static uint32_t new_mbufs(const struct cut *cut, struct rte_mbuf *m, uint32_t own_head)
{
	struct cursor c = { .seg = m };
	struct piece p = { 0 };
	uint32_t n = 0;

	advance(&c, own_head);
	while (next_piece(cut, &c, own_head, &p)) {
		n += !p.reuse;
		advance(&c, p.len);
	}
	return n;
}

static void copy_payload(struct cursor *c, uint8_t *to, uint32_t len)
{
	for (skip_empty(c); len > 0; skip_empty(c)) {
		const uint32_t n = RTE_MIN(len, rte_pktmbuf_data_len(c->seg) - c->at);

		memcpy(to, rte_pktmbuf_mtod_offset(c->seg, uint8_t *, c->at), n);
		to += n;
		c->at += n;
		len -= n;
	}
}

/* Segments up to `end` have given all they had. */
static struct rte_mbuf *free_until(struct rte_mbuf *m, const struct rte_mbuf *end)
{
	while (m != end) {
		struct rte_mbuf *next = m->next;

		rte_pktmbuf_free_seg(m);
		m = next;
	}
	return m;
}

static void build(struct rte_mbuf *m, const struct fm_whole *w, const struct cut *cut, struct rte_mbuf **fresh,
		  struct rte_mbuf **pieces)
{
	const uint32_t own_head = (uint32_t)w->l2_len + w->l3_len;
	struct rte_mbuf *front = m;	/* what is left of the chain */
	const uint16_t port = m->port;
	struct cursor c = { .seg = m };
	struct piece p = { 0 };
	struct heads heads;

	prepare_heads(m, w, &heads);
	advance(&c, own_head);
	while (next_piece(cut, &c, own_head, &p)) {
		struct rte_mbuf *to;

		if (p.reuse) {
			front = free_until(front, c.seg);
			to = front;
			front = c.seg = to->next;
			c.at = 0;
			to->next = NULL;
			to->data_off = (uint16_t)(to->data_off + p.before - p.head);
			to->data_len = (uint16_t)(p.head + p.len);
		} else {
			to = *fresh++;
			to->data_len = (uint16_t)(p.head + p.len);
			copy_payload(&c, rte_pktmbuf_mtod_offset(to, uint8_t *, p.head), p.len);
		}
		to->nb_segs = 1;
		to->pkt_len = to->data_len;
		to->port = port;
		to->ol_flags = 0;
		write_head(rte_pktmbuf_mtod(to, uint8_t *), &heads, w, cut, p.offset, p.len);
		*pieces++ = to;
		if (front == NULL)
			break;
	}
	free_until(front, NULL);
}

int fm_split(struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu, struct rte_mempool *pool,
	     struct rte_mbuf **pieces, uint32_t max)
{
	const uint32_t own_head = (uint32_t)whole->l2_len + whole->l3_len;
	uint32_t total, fresh;
	struct cut cut;

	if (!plan(m, whole, mtu, &cut))
		return -EMSGSIZE;
	total = count(&cut);
	if (total > max)
		return -ENOSPC;
	fresh = new_mbufs(&cut, m, own_head);
	/* New mbufs wait at the end of the array: the place of the next piece never runs into them. */
	if (fresh > 0) {
		const uint32_t longest =
			RTE_MAX(cut.first_head + take(&cut, 0), cut.rest_head + (total > 1 ? cut.rest_room : 0));

		if (pool == NULL)
			return -ENOMEM;
		if (rte_pktmbuf_data_room_size(pool) < RTE_PKTMBUF_HEADROOM + longest)
			return -EMSGSIZE;
		if (rte_pktmbuf_alloc_bulk(pool, &pieces[total - fresh], fresh) != 0)
			return -ENOMEM;
	}
	build(m, whole, &cut, &pieces[total - fresh], pieces);
	return (int)total;
}
