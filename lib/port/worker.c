/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_pause.h>

#include "counter.h"
#include "worker.h"

/*
 * Datagrams looked at for their timeout: a bounded share of a turn, but more than can have begun in it, so that what
 * has timed out cannot pile up.
 */
enum { FM_EXPIRE_DATAGRAMS = 32, FM_EXPIRE_PER_FRAME = 2 };

/* New settings: the table takes them before the next burst. They were checked when they were published. */
static void take_settings(struct fm_worker *w, const struct fm_snapshot *snapshot)
{
	w->generation = snapshot->generation;
	if (w->reass == NULL)
		return;
	if (fm_reass_set(w->reass, &snapshot->reass, w->now, NULL, 0) != 0)
		assert(!"published settings are in range");
	if (snapshot->settings.bypass)
		fm_reass_flush(w->reass);
}

static void bypass(struct fm_worker *w, const struct fm_queue *q, uint16_t n, const struct fm_burst_size *size,
		   uint64_t tsc)
{
	fm_count(&w->counters.bypass_frames, n);
	fm_egress_frames(q->egress, w->in, n, FM_BYPASSED, size, tsc);
}

/* `size`: of the `n` frames. */
static void reassemble(struct fm_worker *w, const struct fm_queue *q, struct rte_mbuf **in, uint16_t n,
		       const struct fm_burst_size *size, uint64_t tsc)
{
	const enum fm_output_mode mode = w->snapshot->settings.output;
	struct fm_result *r = &w->result;
	struct fm_burst_size rest;

	fm_reass_burst(w->reass, in, n, q->port, w->now, r);
	if (unlikely(r->n_pass != n)) {
		rest = fm_burst_size(r->pass, r->n_pass);
		size = &rest;
	}
	fm_egress_frames(q->egress, r->pass, r->n_pass, FM_PASSED, size, tsc);
	for (uint16_t i = 0; i < r->n_done; i++)
		fm_egress_datagram(q->egress, r->done[i], &r->whole[i], mode, tsc);
}

/* When the frame was captured, in microseconds; 0: it does not say. */
static uint64_t frame_time(const struct rte_mbuf *m)
{
	if ((m->ol_flags & fm_engine.timestamp_flag) == 0)
		return 0;
	return *RTE_MBUF_DYNFIELD(m, fm_engine.timestamp_offset, const rte_mbuf_timestamp_t *);
}

/*
 * Time comes with the frames and may jump within a burst, so they are worked one by one, and what has timed out in
 * between goes first. It never runs backwards, whatever the capture says.
 */
static void reassemble_by_frame_time(struct fm_worker *w, const struct fm_queue *q, uint16_t n, uint64_t tsc)
{
	struct fm_burst_size size;

	for (uint16_t i = 0; i < n; i++) {
		const uint64_t time_us = frame_time(w->in[i]);

		q->egress->frame_us = time_us;
		if (time_us > w->now)
			w->now = time_us;
		while (fm_reass_expire(w->reass, w->now, FM_EXPIRE_DATAGRAMS) == FM_EXPIRE_DATAGRAMS)
			;
		size = fm_burst_size(&w->in[i], 1);
		reassemble(w, q, &w->in[i], 1, &size, tsc);
	}
}

/*
 * net_pcap keeps a frame's length in 16 bits while it copies the bytes, but not in the mbuf: a captured frame of 65,536
 * bytes or more has fewer in its segments than its packet length says. What is there is all there is.
 */
static void mend_lengths(struct rte_mbuf **in, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		uint32_t len = 0;

		if (likely(in[i]->pkt_len <= UINT16_MAX))
			continue;
		for (const struct rte_mbuf *seg = in[i]; seg != NULL; seg = seg->next)
			len += seg->data_len;
		in[i]->pkt_len = len;
	}
}

/* Returns frames received. */
static uint16_t poll_queue(struct fm_worker *w, const struct fm_queue *q, uint64_t tsc)
{
	const uint16_t n = rte_eth_rx_burst(q->port, q->queue, w->in, w->burst);
	struct fm_burst_size size;

	if (n == 0)
		return 0;
	size = fm_burst_size(w->in, n);
	if (unlikely(size.len_bits > UINT16_MAX && q->odd_length)) {
		mend_lengths(w->in, n);
		size = fm_burst_size(w->in, n);
	}
	if (unlikely(w->snapshot->settings.bypass))
		bypass(w, q, n, &size, tsc);
	else if (unlikely(w->rx_clock))
		reassemble_by_frame_time(w, q, n, tsc);
	else
		reassemble(w, q, w->in, n, &size, tsc);
	if (q->egress->head != q->egress->tail)
		fm_egress_flush(q->egress, tsc);
	fm_count(&w->counters.rx_bytes, size.bytes);
	fm_count(&w->counters.rx_frames, n);
	return n;
}

static void stop(struct fm_worker *w)
{
	w->forwarding = false;
	if (w->reass != NULL)
		fm_reass_flush(w->reass);
	for (uint16_t i = 0; i < w->n_egress; i++)
		fm_egress_drain(&w->egress[i]);
}

static void answer(struct fm_worker *w)
{
	struct fm_look *look = w->mailbox.look;
	uint64_t result = 0;

	switch (w->mailbox.kind) {
	case FM_REQUEST_START:
		w->forwarding = true;
		break;
	case FM_REQUEST_STOP:
		stop(w);
		break;
	case FM_REQUEST_FLUSH:
		if (w->reass != NULL)
			result = fm_reass_flush(w->reass);
		break;
	case FM_REQUEST_VIEWS:
		if (w->reass != NULL)
			result = fm_reass_views(w->reass, w->now, look->datagrams, look->max);
		break;
	case FM_REQUEST_SOURCES:
		if (w->reass != NULL)
			result = fm_reass_sources(w->reass, look->first, look->count, look->sources, look->max,
						  &look->n);
		break;
	}
	fm_mailbox_answer(&w->mailbox, result);
}

/* Returns frames received. */
static uint32_t poll_all(struct fm_worker *w, uint64_t tsc)
{
	uint32_t frames = 0;

	for (uint16_t i = 0; i < w->n_queues; i++)
		frames += poll_queue(w, &w->queue[i], tsc);
	fm_count(&w->counters.polls, 1);
	if (frames != 0)
		fm_count(&w->counters.busy_polls, 1);
	return frames;
}

/* One turn: settings, bursts, what waits to be sent, timeouts, requests. */
static void turn(struct fm_worker *w)
{
	const struct fm_snapshot *snapshot = __atomic_load_n(&fm_engine.current, __ATOMIC_ACQUIRE);
	const uint64_t tsc = rte_rdtsc();
	uint32_t frames = 0;

	if (!w->rx_clock)
		w->now = tsc;
	w->snapshot = snapshot;
	if (unlikely(snapshot->generation != w->generation))
		take_settings(w, snapshot);
	if (likely(w->forwarding))
		frames = poll_all(w, tsc);
	else
		rte_pause();
	for (uint16_t i = 0; i < w->n_egress; i++)
		if (unlikely(w->egress[i].head != w->egress[i].tail))
			fm_egress_flush(&w->egress[i], tsc);
	if (likely(w->reass != NULL))
		fm_reass_expire(w->reass, w->now, FM_EXPIRE_DATAGRAMS + FM_EXPIRE_PER_FRAME * frames);
	if (unlikely(fm_mailbox_take(&w->mailbox)))
		answer(w);
}

int fm_worker_main(void *arg)
{
	struct fm_worker *w = arg;

	rte_rcu_qsbr_thread_online(fm_engine.rcu, w->id);
	while (!atomic_load_explicit(&fm_engine.quit, memory_order_relaxed)) {
		turn(w);
		rte_rcu_qsbr_quiescent(fm_engine.rcu, w->id);
	}
	rte_rcu_qsbr_thread_offline(fm_engine.rcu, w->id);
	return 0;
}
