/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_pause.h>

#include "counter.h"
#include "tap.h"
#include "worker.h"

/*
 * Datagrams looked at for their timeout: a bounded share of a turn, but more than can have begun in it, so that what
 * has timed out cannot pile up.
 */
enum { FM_EXPIRE_DATAGRAMS = 32, FM_EXPIRE_PER_FRAME = 2 };

/* To be let go of in one turn, for a smaller budget or bypass. */
enum { FM_SHRINK_MBUFS = 64 };

/*
 * New settings: the table takes them before the next burst. They were checked when they were published. What has to be
 * let go of for them goes in steps, one each turn; they count as new until it is done.
 */
static void take_settings(struct fm_worker *w, const struct fm_snapshot *snapshot)
{
	struct fm_reass_settings next = snapshot->reass;

	if (w->reass == NULL) {
		w->generation = snapshot->generation;
		return;
	}
	next.budget_mbufs = RTE_MAX(next.budget_mbufs, (uint32_t)fm_reass_stats(w->reass)->held_mbufs);
	if (fm_reass_set(w->reass, &next, w->now, NULL, 0) != 0)
		assert(!"published settings are in range");
	if (snapshot->settings.bypass && !fm_reass_flush_some(w->reass, FM_SHRINK_MBUFS))
		return;
	if (fm_reass_shrink(w->reass, snapshot->reass.budget_mbufs, FM_SHRINK_MBUFS, w->now))
		w->generation = snapshot->generation;
}

static void bypass(struct fm_worker *w, const struct fm_way *way, struct rte_mbuf **in, uint16_t n,
		   const struct fm_burst_size *size, uint64_t tsc)
{
	fm_count(&w->counters.bypass_frames, n);
	fm_way_frames(way, in, n, FM_BYPASSED, size, tsc);
}

/* `size`: of the `n` frames, which have come in by `port`. */
static void reassemble(struct fm_worker *w, const struct fm_way *way, uint16_t port, struct rte_mbuf **in, uint16_t n,
		       const struct fm_burst_size *size, uint64_t tsc)
{
	const enum fm_output_mode mode = w->snapshot->settings.output;
	struct fm_result *r = &w->result;
	struct fm_burst_size rest;

	fm_reass_burst(w->reass, in, n, port, w->now, r);
	if (unlikely(r->n_pass != n)) {
		rest = fm_burst_size(r->pass, r->n_pass);
		size = &rest;
	}
	fm_way_frames(way, r->pass, r->n_pass, FM_PASSED, size, tsc);
	for (uint16_t i = 0; i < r->n_done; i++)
		fm_way_datagram(way, r->done[i], &r->whole[i], mode, tsc);
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
 * between goes first. It never runs backwards, whatever the capture says. There is one worker then: several would each
 * have a clock that runs by what they happen to get.
 */
static void reassemble_by_frame_time(struct fm_worker *w, const struct fm_queue *q, uint16_t n, uint64_t tsc)
{
	struct fm_burst_size size;

	for (uint16_t i = 0; i < n; i++) {
		const uint64_t time_us = frame_time(w->in[i]);

		q->way->egress->frame_us = time_us;
		if (time_us > w->now)
			w->now = time_us;
		while (fm_reass_expire(w->reass, w->now, FM_EXPIRE_DATAGRAMS) == FM_EXPIRE_DATAGRAMS)
			;
		size = fm_burst_size(&w->in[i], 1);
		reassemble(w, q->way, q->port, &w->in[i], 1, &size, tsc);
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

/* Hand over what others own, and work the rest. `size`: of the `n` frames. */
static void steer(struct fm_worker *w, const struct fm_queue *q, uint16_t n, const struct fm_burst_size *size,
		  uint64_t tsc)
{
	const uint16_t stay = fm_steer_burst(w->steer, w->in, n, q->port);
	struct fm_burst_size rest;

	if (stay == 0)
		return;
	if (stay != n) {
		rest = fm_burst_size(w->in, stay);
		size = &rest;
	}
	reassemble(w, q->way, q->port, w->in, stay, size, tsc);
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
	if (unlikely(w->tap != NULL))
		fm_tap_in(w->tap, w->in, n, q->port, q->queue);
	if (unlikely(w->snapshot->settings.bypass))
		bypass(w, q->way, w->in, n, &size, tsc);
	else if (unlikely(w->rx_clock))
		reassemble_by_frame_time(w, q, n, tsc);
	else if (q->steered)
		steer(w, q, n, &size, tsc);
	else
		reassemble(w, q->way, q->port, w->in, n, &size, tsc);
	fm_way_flush(q->way, tsc);
	fm_count(&w->counters.rx_bytes, size.bytes);
	fm_count(&w->counters.rx_frames, n);
	return n;
}

/* Fragments of one port, as somebody else has received them. */
static void take_in(struct fm_worker *w, struct rte_mbuf **in, uint16_t n, uint64_t tsc)
{
	const uint16_t port = in[0]->port;
	const struct fm_way *way = &w->way[port];
	const struct fm_burst_size size = fm_burst_size(in, n);

	if (unlikely(w->snapshot->settings.bypass))
		bypass(w, way, in, n, &size, tsc);
	else
		reassemble(w, way, port, in, n, &size, tsc);
	fm_way_flush(way, tsc);
}

/* Returns fragments taken. */
static uint16_t take_steered(struct fm_worker *w, struct fm_pipe *pipe, uint64_t tsc)
{
	const uint16_t n = (uint16_t)rte_ring_sc_dequeue_burst(pipe->ring, (void **)w->in, w->burst, NULL);
	uint32_t mbufs = 0;
	uint16_t run = 0;

	if (n == 0)
		return 0;
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(w->in[i]);
	for (uint16_t i = 0; i < n; i++)
		mbufs += w->in[i]->nb_segs;
	for (uint16_t i = 1; i <= n; i++) {
		if (i < n && w->in[i]->port == w->in[run]->port)
			continue;
		take_in(w, &w->in[run], i - run, tsc);
		run = i;
	}
	fm_pipe_count_taken(pipe, n, mbufs);
	return n;
}

/* What comes from other workers. Returns fragments taken. */
static uint32_t take_pipes(struct fm_worker *w, uint64_t tsc)
{
	uint32_t fragments = 0;

	for (uint16_t i = 0; i < w->n_steered; i++)
		fragments += take_steered(w, w->steered[i], tsc);
	for (uint16_t i = 0; i < w->n_relayed; i++)
		fm_relay_take(w->relayed[i], w->snapshot->settings.output, tsc);
	return fragments;
}

/* What is in the pipes now. More may come meanwhile, but then others still receive, and there will be another round. */
static void drain_steered(struct fm_worker *w)
{
	for (uint16_t i = 0; i < w->n_steered; i++) {
		uint32_t left = rte_ring_count(w->steered[i]->ring);

		while (left != 0)
			left -= RTE_MIN(left, (uint32_t)take_steered(w, w->steered[i], rte_rdtsc()));
	}
}

void fm_worker_pipes(const struct fm_worker *w, struct fm_pipe_level *steered, struct fm_pipe_level *relayed)
{
	struct fm_pipe_level level;

	*steered = *relayed = (struct fm_pipe_level){ 0 };
	for (uint16_t t = 0; w->steer != NULL && t < w->steer->n_workers; t++) {
		if (w->steer->box[t] == NULL)
			continue;
		fm_pipe_level(&w->steer->box[t]->pipe, &level);
		steered->frames += level.frames;
		steered->mbufs += level.mbufs;
	}
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++) {
		if (w->way[p].relay == NULL)
			continue;
		fm_pipe_level(&w->way[p].relay->pipe, &level);
		relayed->frames += level.frames;
		relayed->mbufs += level.mbufs;
	}
}

static uint64_t flush(struct fm_worker *w)
{
	if (w->reass == NULL)
		return 0;
	drain_steered(w);
	return fm_reass_flush(w->reass);
}

void fm_worker_stop(struct fm_worker *w)
{
	w->forwarding = false;
	flush(w);
	for (uint16_t i = 0; i < w->n_relayed; i++)
		fm_relay_drain(w->relayed[i], w->snapshot->settings.output);
	for (uint16_t i = 0; i < w->n_egress; i++)
		fm_egress_drain(&w->egress[i]);
}

static void table_dropped(void *tap, const struct rte_mbuf *m, enum fm_outcome why)
{
	fm_tap_dropped_in(tap, m, why);
}

void fm_worker_tap(struct fm_worker *w, struct fm_tap *tap)
{
	w->tap = tap;
	if (w->reass != NULL)
		fm_reass_on_drop(w->reass, tap == NULL ? NULL : table_dropped, tap);
	if (w->steer != NULL)
		w->steer->tap = tap;
	for (uint16_t i = 0; i < w->n_egress; i++)
		w->egress[i].tap = tap;
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			w->way[p].relay->tap = tap;
	for (uint16_t i = 0; i < w->n_relayed; i++)
		w->relayed[i]->egress.tap = tap;
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
		fm_worker_stop(w);
		break;
	case FM_REQUEST_FLUSH:
		result = flush(w);
		break;
	case FM_REQUEST_VIEWS:
		if (w->reass != NULL)
			result = fm_reass_views_some(w->reass, look->first == 0, look->count, w->now, look->datagrams,
						     look->max, &look->n);
		break;
	case FM_REQUEST_SOURCES:
		if (w->reass != NULL)
			result = fm_reass_sources(w->reass, look->first, look->count, look->sources, look->max,
						  &look->n);
		break;
	case FM_REQUEST_TAP:
		fm_worker_tap(w, look->tap);
		break;
	}
	fm_mailbox_answer(&w->mailbox, result);
}

/* Returns frames received, and fragments from others. */
static uint32_t poll_all(struct fm_worker *w, uint64_t tsc)
{
	uint32_t frames = 0;

	for (uint16_t i = 0; i < w->n_queues; i++)
		frames += poll_queue(w, &w->queue[i], tsc);
	frames += take_pipes(w, tsc);
	fm_count(&w->counters.polls, 1);
	if (frames != 0)
		fm_count(&w->counters.busy_polls, 1);
	return frames;
}

/* One turn: settings, bursts, pipes, what waits to be sent, timeouts, requests. */
void fm_worker_turn(struct fm_worker *w)
{
	const struct fm_snapshot *snapshot = __atomic_load_n(&fm_engine.current, __ATOMIC_ACQUIRE);
	const uint64_t tsc = rte_rdtsc();
	uint32_t frames = 0;

	if (!w->rx_clock)
		w->now = tsc;
	w->snapshot = snapshot;
	if (unlikely(w->tap != NULL))
		w->tap->now_tsc = tsc;
	if (unlikely(snapshot->generation != w->generation))
		take_settings(w, snapshot);
	if (likely(w->forwarding)) {
		frames = poll_all(w, tsc);
	} else {
		rte_pause();
		fm_count(&w->counters.waits, 1);
		frames = take_pipes(w, tsc);
	}
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
		fm_worker_turn(w);
		rte_rcu_qsbr_quiescent(fm_engine.rcu, w->id);
	}
	rte_rcu_qsbr_thread_offline(fm_engine.rcu, w->id);
	return 0;
}
