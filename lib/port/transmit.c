/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "counter.h"
#include "fm_split.h"
#include "sink.h"
#include "tap.h"
#include "transmit.h"

enum { FM_DRAIN_STUCKS = 10 };	/* a port that is slow, but not stuck, has so many times FM_STUCK_MS at a stop */

size_t fm_egress_memsize(uint32_t room_mbufs)
{
	return (size_t)rte_align32pow2(RTE_MAX(room_mbufs, 1U)) *
	       (sizeof(struct rte_mbuf *) + sizeof(struct fm_tx_slot));
}

void fm_egress_init(struct fm_egress *e, void *memory, uint32_t room_mbufs, struct rte_mbuf **pieces)
{
	const uint32_t slots = rte_align32pow2(RTE_MAX(room_mbufs, 1U));

	e->ring = memory;
	e->slot = (struct fm_tx_slot *)(e->ring + slots);
	e->mask = slots - 1;
	e->room_mbufs = room_mbufs;
	e->stuck_tsc = rte_get_tsc_hz() / 1000 * FM_STUCK_MS;
	e->pieces = pieces;
}

static bool has_room(const struct fm_egress *e, uint32_t mbufs)
{
	return mbufs <= e->room_mbufs - e->waiting_mbufs;
}

/* The ring has a slot for each mbuf it may hold, so who has room has a slot. */
static void push(struct fm_egress *e, struct rte_mbuf *m, enum fm_outcome outcome, bool last, uint64_t tsc)
{
	const uint32_t at = e->tail & e->mask;

	/* Nothing has waited until now. */
	if (e->head == e->tail)
		e->progress_tsc = tsc;
	e->ring[at] = m;
	e->slot[at] = (struct fm_tx_slot){
		.bytes = m->pkt_len, .segs = m->nb_segs, .outcome = (uint8_t)outcome, .last = last,
	};
	e->tail++;
	e->waiting_mbufs += m->nb_segs;
}

/* Frame number `at` has left the ring. */
static void forget(struct fm_egress *e, uint32_t at)
{
	e->waiting_mbufs -= e->slot[at & e->mask].segs;
}

/* What left the ring for the port, counted once for all of it. */
struct sent {
	uint64_t frames, bytes;
	uint32_t segs;
	uint64_t ended;			/* frames and datagrams that ended as `outcome` since it last changed */
	enum fm_outcome outcome;
};

static void count_ended(struct fm_egress *e, struct sent *sent)
{
	/* The core has counted what it passed. */
	if (sent->ended != 0 && sent->outcome != FM_PASSED)
		fm_count(&e->counters->count[sent->outcome], sent->ended);
	sent->ended = 0;
}

static void add_sent(struct fm_egress *e, struct sent *sent, const struct fm_tx_slot *slot)
{
	if (slot->outcome != sent->outcome) {
		count_ended(e, sent);
		sent->outcome = slot->outcome;
	}
	sent->frames++;
	sent->bytes += slot->bytes;
	sent->segs += slot->segs;
	sent->ended += slot->last;
}

static void count_taken(struct fm_egress *e, uint64_t frames, uint64_t bytes)
{
	fm_count(&e->counters->frames, frames);
	fm_count(&e->counters->bytes, bytes);
}

static void count_frame_dropped(struct fm_egress *e, enum fm_outcome as, enum fm_outcome why)
{
	fm_count(&e->counters->count[why], 1);
	if (as == FM_PASSED)
		fm_count(&e->counters->passed_dropped, 1);
}

/* The datagram ends here, written or dropped. */
static void end_datagram(struct fm_egress *e, struct rte_mbuf *m, enum fm_outcome outcome)
{
	fm_count(&e->counters->count[outcome], 1);
	if (fm_outcome_info[outcome].severity != FM_SEV_GOOD)
		fm_tap_dropped_out(e->tap, m, e->port, e->queue, outcome);
	rte_pktmbuf_free(m);
}

/* The port takes nothing: give up the first frame, or what is left of the first datagram. */
static void drop_head(struct fm_egress *e)
{
	const enum fm_outcome outcome = e->slot[e->head & e->mask].outcome;
	const bool frame = fm_outcome_info[outcome].unit == FM_UNIT_FRAME;
	bool last;

	/* Of several pieces the first one stands for the datagram, which is counted once. */
	fm_tap_dropped_out(e->tap, e->ring[e->head & e->mask], e->port, e->queue,
			   frame ? FM_TX_FULL_FRAME : FM_TX_FULL);
	do {
		last = e->slot[e->head & e->mask].last;
		rte_pktmbuf_free(e->ring[e->head & e->mask]);
		forget(e, e->head);
		e->head++;
	} while (!last);
	if (frame)
		count_frame_dropped(e, outcome, FM_TX_FULL_FRAME);
	else
		fm_count(&e->counters->count[FM_TX_FULL], 1);
}

/* The counter is the sum over all egresses of a worker. */
static void report_waiting(struct fm_egress *e)
{
	fm_count(&e->counters->backlog_mbufs, (uint64_t)e->waiting_mbufs - e->reported_mbufs);
	e->reported_mbufs = e->waiting_mbufs;
}

void fm_egress_flush(struct fm_egress *e, uint64_t tsc)
{
	struct sent all = { .outcome = FM_PASSED };

	while (e->head != e->tail) {
		const uint32_t at = e->head & e->mask;
		uint32_t n = RTE_MIN(e->tail - e->head, (uint32_t)FM_TX_BURST);
		uint16_t sent;

		n = RTE_MIN(n, e->mask + 1 - at);
		sent = rte_eth_tx_burst(e->port, e->queue, &e->ring[at], (uint16_t)n);
		for (uint32_t i = 0; i < sent; i++)
			add_sent(e, &all, &e->slot[at + i]);
		e->head += sent;
		if (sent != 0)
			e->progress_tsc = tsc;
		if (sent < n)
			break;
	}
	if (all.frames != 0) {
		count_ended(e, &all);
		count_taken(e, all.frames, all.bytes);
		e->waiting_mbufs -= all.segs;
	}
	if (e->head != e->tail && tsc - e->progress_tsc > e->stuck_tsc)
		drop_head(e);
	report_waiting(e);
}

void fm_egress_drain(struct fm_egress *e)
{
	const uint64_t end = rte_rdtsc() + FM_DRAIN_STUCKS * e->stuck_tsc;

	while (e->head != e->tail) {
		const uint64_t tsc = rte_rdtsc();

		fm_egress_flush(e, tsc);
		if (tsc > end && e->head != e->tail)
			drop_head(e);
	}
	report_waiting(e);
}

/* A mbuf with room for `len` bytes of frame in one segment, or NULL. */
static struct rte_mbuf *alloc_linear(struct fm_egress *e, uint32_t len)
{
	struct rte_mbuf *m;

	if (len <= e->mbuf_room)
		return rte_pktmbuf_alloc(e->pool);
	if (e->large == NULL)
		return NULL;
	m = rte_pktmbuf_alloc(e->large);
	/* What leaves needs no headroom. */
	if (m != NULL && len > rte_pktmbuf_tailroom(m))
		m->data_off = 0;
	return m;
}

/*
 * Make a frame such that the port takes it: in one segment, if the chain it lies in is too much for the driver.
 *
 * @return  the frame, maybe in a new mbuf; NULL: there is no mbuf for it, and `m` is as it was
 */
static struct rte_mbuf *shape(struct fm_egress *e, struct rte_mbuf *m)
{
	const uint32_t len = m->pkt_len;
	struct rte_mbuf *linear;
	uint8_t *to;

	if (m->nb_segs == 1 || (m->nb_segs <= e->limits.chain_max_segs && len <= e->limits.chain_max_bytes))
		return m;
	linear = alloc_linear(e, len);
	if (linear == NULL)
		return NULL;
	to = rte_pktmbuf_mtod(linear, uint8_t *);
	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next) {
		rte_memcpy(to, rte_pktmbuf_mtod(seg, const uint8_t *), seg->data_len);
		to += seg->data_len;
	}
	linear->data_len = (uint16_t)len;
	linear->pkt_len = len;
	rte_pktmbuf_free(m);
	return linear;
}

/* Whether shape() can do it, mbufs granted. */
static bool can_shape(const struct fm_egress *e, const struct rte_mbuf *m)
{
	const uint32_t len = m->pkt_len;

	if (len > e->limits.frame_max)
		return false;
	if (m->nb_segs == 1 || (m->nb_segs <= e->limits.chain_max_segs && len <= e->limits.chain_max_bytes))
		return true;
	return len <= e->mbuf_room || len <= e->large_room;
}

/* Room in the ring, after a try to make some. */
static bool make_room(struct fm_egress *e, uint32_t mbufs, uint64_t tsc)
{
	if (!has_room(e, mbufs))
		fm_egress_flush(e, tsc);
	return has_room(e, mbufs);
}

static bool write_out(struct fm_egress *e, const struct rte_mbuf *m)
{
	if (!fm_sink_write(e->sink, m, e->frame_us))
		return false;
	count_taken(e, 1, m->pkt_len);
	return true;
}

static void drop_frame(struct fm_egress *e, struct rte_mbuf *m, enum fm_outcome as, enum fm_outcome why)
{
	count_frame_dropped(e, as, why);
	fm_tap_dropped_out(e->tap, m, e->port, e->queue, why);
	rte_pktmbuf_free(m);
}

void fm_egress_frame(struct fm_egress *e, struct rte_mbuf *m, enum fm_outcome as, uint64_t tsc)
{
	struct rte_mbuf *shaped;

	if (unlikely(e->sink != NULL)) {
		if (!write_out(e, m)) {
			drop_frame(e, m, as, FM_TX_FULL_FRAME);
			return;
		}
		if (as != FM_PASSED)
			fm_count(&e->counters->count[as], 1);
		rte_pktmbuf_free(m);
		return;
	}
	if (unlikely(!can_shape(e, m))) {
		drop_frame(e, m, as, FM_TOO_BIG_FRAME);
		return;
	}
	shaped = shape(e, m);
	if (unlikely(shaped == NULL || !make_room(e, shaped->nb_segs, tsc)))
		drop_frame(e, shaped == NULL ? m : shaped, as, FM_TX_FULL_FRAME);
	else
		push(e, shaped, as, true, tsc);
}

/*
 * Nothing waits and the port takes each of them as it is, so they go straight to it, and only what it leaves is queued.
 * Which counts for all of them at once: this is the way of nearly everything.
 */
static uint16_t send_straight(struct fm_egress *e, struct rte_mbuf **m, uint16_t n, enum fm_outcome as, uint64_t bytes)
{
	const uint16_t sent = rte_eth_tx_burst(e->port, e->queue, m, n);

	for (uint16_t i = sent; i < n; i++)
		bytes -= m[i]->pkt_len;
	count_taken(e, sent, bytes);
	if (as != FM_PASSED)
		fm_count(&e->counters->count[as], sent);
	return sent;
}

/* Whether the port takes each of them as it is. */
static bool as_they_are(const struct fm_egress *e, struct rte_mbuf *const *m, uint16_t n,
			const struct fm_burst_size *size)
{
	const struct fm_limits *l = &e->limits;
	uint32_t longest = size->len_bits;

	if (unlikely(longest > l->frame_max || size->segs_bits > 1)) {
		longest = 0;
		for (uint16_t i = 0; i < n; i++)
			longest = RTE_MAX(longest, m[i]->pkt_len);
	}
	return longest <= l->frame_max && (size->segs_bits <= 1 ||
					   (size->segs_bits <= l->chain_max_segs && longest <= l->chain_max_bytes));
}

void fm_egress_frames(struct fm_egress *e, struct rte_mbuf **m, uint16_t n, enum fm_outcome as,
		      const struct fm_burst_size *size, uint64_t tsc)
{
	uint16_t sent = 0;

	if (unlikely(e->tap != NULL))
		fm_tap_out(e->tap, m, n, e->port, e->queue);
	if (likely(n != 0 && e->head == e->tail && e->sink == NULL && as_they_are(e, m, n, size)))
		sent = send_straight(e, m, n, as, size->bytes);
	for (uint16_t i = sent; i < n; i++)
		fm_egress_frame(e, m[i], as, tsc);
}

static void send_whole(struct fm_egress *e, struct rte_mbuf *m, uint64_t tsc)
{
	struct rte_mbuf *shaped;

	if (unlikely(e->tap != NULL))
		fm_tap_out(e->tap, &m, 1, e->port, e->queue);
	if (e->sink != NULL) {
		end_datagram(e, m, write_out(e, m) ? FM_SENT_WHOLE : FM_TX_FULL);
		return;
	}
	shaped = shape(e, m);
	if (shaped == NULL)
		end_datagram(e, m, FM_TX_NO_MBUF);
	else if (!make_room(e, shaped->nb_segs, tsc))
		end_datagram(e, shaped, FM_TX_FULL);
	else
		push(e, shaped, FM_SENT_WHOLE, true, tsc);
}

/* All pieces are in e->pieces and there is room for them. */
static void send_pieces(struct fm_egress *e, uint32_t n, uint64_t tsc)
{
	bool written = true;

	if (unlikely(e->tap != NULL))
		fm_tap_out(e->tap, e->pieces, n, e->port, e->queue);
	if (e->sink == NULL) {
		for (uint32_t i = 0; i < n; i++)
			push(e, e->pieces[i], FM_SENT_REFRAGMENTED, i == n - 1, tsc);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (written && !write_out(e, e->pieces[i])) {
			written = false;
			fm_tap_dropped_out(e->tap, e->pieces[i], e->port, e->queue, FM_TX_FULL);
		}
		rte_pktmbuf_free(e->pieces[i]);
	}
	fm_count(&e->counters->count[written ? FM_SENT_REFRAGMENTED : FM_TX_FULL], 1);
}

static void send_refragmented(struct fm_egress *e, struct rte_mbuf *m, const struct fm_whole *whole, uint64_t tsc)
{
	const uint32_t mtu = RTE_MIN(e->limits.mtu, e->limits.frame_max - whole->l2_len);
	const uint32_t pieces = fm_split_count(m, whole, mtu);
	const uint32_t longest = whole->l2_len + RTE_MIN(mtu, (uint32_t)whole->largest);
	struct rte_mempool *pool = longest <= e->mbuf_room || e->large == NULL ? e->pool : e->large;
	int n;

	/* RFC 791: with DF set it may not be cut smaller than it came. */
	if (pieces == 0 || (whole->dont_fragment && mtu < whole->largest)) {
		end_datagram(e, m, FM_TOO_BIG_FOR_EGRESS);
		return;
	}
	if (e->sink == NULL && !make_room(e, pieces, tsc)) {
		end_datagram(e, m, FM_TX_FULL);
		return;
	}
	n = fm_split(m, whole, mtu, pool, e->pieces, FM_PIECES_MAX);
	if (n > 0)
		send_pieces(e, (uint32_t)n, tsc);
	else
		end_datagram(e, m, n == -ENOMEM ? FM_TX_NO_MBUF : FM_TOO_BIG_FOR_EGRESS);
}

void fm_egress_datagram(struct fm_egress *e, struct rte_mbuf *m, const struct fm_whole *whole, enum fm_output_mode mode,
			uint64_t tsc)
{
	const bool fits = whole->ip_len <= e->limits.mtu && (e->sink != NULL || can_shape(e, m));
	/* An atomic fragment is whole as it came: there is nothing to cut (RFC 6946). */
	const bool whole_wanted = mode != FM_OUTPUT_REFRAGMENT || whole->fragments == 1;

	if (fits && whole_wanted)
		send_whole(e, m, tsc);
	else if (mode != FM_OUTPUT_WHOLE_ONLY)
		send_refragmented(e, m, whole, tsc);
	else
		end_datagram(e, m, FM_TOO_BIG_FOR_EGRESS);
}
