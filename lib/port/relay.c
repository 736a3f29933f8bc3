/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "relay.h"
#include "tap.h"

static struct fm_parcel *add(struct fm_relay *r)
{
	if (unlikely(r->n == FM_BURST_MAX))
		fm_relay_flush(r);
	return &r->parcel[r->n++];
}

void fm_relay_frames(struct fm_relay *r, struct rte_mbuf **m, uint16_t n, enum fm_outcome as)
{
	for (uint16_t i = 0; i < n; i++) {
		struct fm_parcel *parcel = add(r);

		parcel->m = m[i];
		parcel->as = as;
	}
}

void fm_relay_datagram(struct fm_relay *r, struct rte_mbuf *m, const struct fm_whole *whole)
{
	*add(r) = (struct fm_parcel){ .m = m, .whole = *whole, .as = FM_COMPLETED };
}

/* Count as the egress would, had its queue been full. */
static void drop(struct fm_relay *r, const struct fm_parcel *parcel)
{
	const enum fm_outcome why = parcel->as == FM_COMPLETED ? FM_TX_FULL : FM_TX_FULL_FRAME;

	fm_count(&r->counters->count[why], 1);
	if (parcel->as == FM_PASSED)
		fm_count(&r->counters->passed_dropped, 1);
	fm_count(&r->pipe.full_frames, 1);
	fm_tap_dropped_out(r->tap, parcel->m, r->egress.port, r->egress.queue, why);
	rte_pktmbuf_free(parcel->m);
}

void fm_relay_flush(struct fm_relay *r)
{
	const uint32_t room = fm_pipe_room(&r->pipe);
	uint32_t mbufs = 0, bypassed = 0, n = 0;

	while (n < r->n && mbufs + r->parcel[n].m->nb_segs <= room) {
		bypassed += r->parcel[n].as == FM_BYPASSED;
		mbufs += r->parcel[n++].m->nb_segs;
	}
	for (uint32_t i = n; i < r->n; i++)
		drop(r, &r->parcel[i]);
	r->n = 0;
	if (n == 0)
		return;
	fm_count(&r->put_bypassed, bypassed);
	fm_pipe_count_put(&r->pipe, n, mbufs);
	if (rte_ring_sp_enqueue_bulk_elem(r->pipe.ring, r->parcel, sizeof(r->parcel[0]), n, NULL) != n)
		assert(!"a slot for each mbuf there is room for");
}

/* Send the frames at the front that are of one kind, as one burst. Returns how many, 1 or more. */
static uint32_t send_frames(struct fm_egress *e, const struct fm_parcel *parcel, uint32_t n, uint64_t tsc)
{
	struct rte_mbuf *frame[FM_RELAY_BURST];
	struct fm_burst_size size;
	uint16_t alike = 0;

	while (alike < n && parcel[alike].as == parcel[0].as) {
		frame[alike] = parcel[alike].m;
		alike++;
	}
	size = fm_burst_size(frame, alike);
	fm_egress_frames(e, frame, alike, (enum fm_outcome)parcel[0].as, &size, tsc);
	return alike;
}

static void send_parcels(struct fm_egress *e, const struct fm_parcel *parcel, uint32_t n, enum fm_output_mode mode,
			 uint64_t tsc)
{
	uint32_t i = 0;

	while (i < n) {
		if (parcel[i].as == FM_COMPLETED) {
			fm_egress_datagram(e, parcel[i].m, &parcel[i].whole, mode, tsc);
			i++;
		} else {
			i += send_frames(e, &parcel[i], n - i, tsc);
		}
	}
	if (e->head != e->tail)
		fm_egress_flush(e, tsc);
}

uint32_t fm_relay_take(struct fm_relay *r, enum fm_output_mode mode, uint64_t tsc)
{
	struct fm_parcel parcel[FM_RELAY_BURST];
	uint32_t mbufs = 0, bypassed = 0, n;

	if (r->egress.head != r->egress.tail)
		fm_egress_flush(&r->egress, tsc);
	if (r->egress.head != r->egress.tail)
		return 0;
	n = rte_ring_sc_dequeue_burst_elem(r->pipe.ring, parcel, sizeof(parcel[0]), FM_RELAY_BURST, NULL);
	if (n == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(parcel[i].m);
	for (uint32_t i = 0; i < n; i++) {
		mbufs += parcel[i].m->nb_segs;
		bypassed += parcel[i].as == FM_BYPASSED;
	}
	send_parcels(&r->egress, parcel, n, mode, tsc);
	fm_count(&r->taken_bypassed, bypassed);
	fm_pipe_count_taken(&r->pipe, n, mbufs);
	return n;
}

void fm_relay_drain(struct fm_relay *r, enum fm_output_mode mode)
{
	uint32_t left = rte_ring_count(r->pipe.ring);

	do {
		fm_egress_drain(&r->egress);
		left -= RTE_MIN(left, fm_relay_take(r, mode, rte_rdtsc()));
	} while (left != 0);
	fm_egress_drain(&r->egress);
}
