/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ethdev.h>

#include "desk.h"

static uint16_t take(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct wire *wire = queue;
	uint16_t i;

	for (i = 0; i < n && wire->accepts > 0; i++) {
		assert_in_range(wire->n, 0, SENT_MAX - 1);
		wire->segs[wire->n] = m[i]->nb_segs;
		wire->bytes[wire->n] = fm_test_bytes(m[i], &wire->len[wire->n]);
		wire->n++;
		wire->accepts--;
		rte_pktmbuf_free(m[i]);
	}
	return i;
}

int desk_up(void **state)
{
	struct desk *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	bed_init(&d->bed);
	d->pool = fm_test_pool(1024, MBUF_ROOM + RTE_PKTMBUF_HEADROOM);
	d->large = fm_test_pool(16, LARGE_ROOM);
	d->wire.accepts = UINT32_MAX;
	d->queues[0] = &d->wire;
	rte_eth_fp_ops[PORT].tx_pkt_burst = take;
	rte_eth_fp_ops[PORT].txq.data = d->queues;
	rte_eth_fp_ops[PORT].txq.clbk = d->clbk;
	d->memory = calloc(1, fm_egress_memsize(ROOM));
	d->e = (struct fm_egress){
		.port = PORT,
		.limits = { .mtu = MTU, .frame_max = UINT32_MAX, .chain_max_bytes = UINT32_MAX,
			    .chain_max_segs = UINT16_MAX },
		.pool = d->pool, .large = d->large, .mbuf_room = MBUF_ROOM, .large_room = LARGE_ROOM,
		.counters = &d->counters,
	};
	fm_egress_init(&d->e, d->memory, ROOM, d->pieces);
	d->e.stuck_tsc = STUCK;
	counted_tap_init(&d->tap);
	d->e.tap = &d->tap.tap;
	*state = d;
	return 0;
}

int desk_down(void **state)
{
	struct desk *d = *state;

	assert_int_equal(d->e.head, d->e.tail);
	assert_int_equal(d->e.waiting_mbufs, 0);
	for (unsigned int o = 0; o < FM_OUTCOME_MAX; o++)
		assert_int_equal(d->tap.dropped[o], fm_outcome_info[o].severity == FM_SEV_GOOD ? 0 :
							    desk_count(d, (enum fm_outcome)o));
	assert_int_equal(d->tap.in, 0);
	for (uint32_t i = 0; i < d->wire.n; i++)
		free(d->wire.bytes[i]);
	bed_fini(&d->bed);
	fm_test_pool_free(d->pool);
	fm_test_pool_free(d->large);
	free(d->memory);
	free(d);
	return 0;
}

void desk_frame(struct desk *d, uint8_t number, uint32_t len, uint32_t segment, enum fm_outcome as, uint64_t now)
{
	static uint8_t frame[BED_FRAME_MAX];

	memset(frame, number, len);
	fm_egress_frame(&d->e, fm_test_mbuf(d->bed.pool, frame, len, segment), as, now);
}

void desk_frames(struct desk *d, const struct desk_frame *frames, uint16_t n, enum fm_outcome as, uint64_t now)
{
	static uint8_t bytes[BED_FRAME_MAX];
	struct rte_mbuf *m[FM_BURST_MAX];
	struct fm_burst_size size;

	for (uint16_t i = 0; i < n; i++) {
		memset(bytes, frames[i].number, frames[i].len);
		m[i] = fm_test_mbuf(d->bed.pool, bytes, frames[i].len, frames[i].segment);
	}
	size = fm_burst_size(m, n);
	fm_egress_frames(&d->e, m, n, as, &size, now);
}

void desk_datagram(struct desk *d, const struct fm_test_frag *frag, uint32_t total, uint32_t step,
		   enum fm_output_mode mode, uint64_t now)
{
	bed_send_pieces(&d->bed, frag, total, step, 0, (total + step - 1) / step);
	assert_int_equal(d->bed.n_done, 1);
	d->bed.n_done = 0;
	fm_egress_datagram(&d->e, d->bed.done[0], &d->bed.whole[0], mode, now);
}

uint64_t desk_count(const struct desk *d, enum fm_outcome outcome)
{
	return d->counters.count[outcome];
}

void desk_assert_sent(const struct desk *d, uint32_t n)
{
	assert_int_equal(d->wire.n, n);
	assert_int_equal(d->counters.frames, n);
}
