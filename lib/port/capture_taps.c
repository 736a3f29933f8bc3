/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include "capture_taps.h"
#include "counter.h"
#include "door.h"
#include "fail.h"
#include "fm_numa.h"
#include "state.h"
#include "worker.h"

enum {
	FM_TAPS_BYTES = 16 << 20,	/* of packets that wait to be written, all workers together */
	FM_TAP_MBUFS_MIN = 64,
	FM_TAP_MBUFS_MAX = 8191,
	FM_TAP_ROOM = 128,		/* of a block behind the data: more than FM_EPB_TAIL */
	FM_NS_PER_S = 1000000000,
};

static bool has_work(const struct fm_worker *w)
{
	return w->reass != NULL || w->n_queues != 0 || w->n_relayed != 0;
}

static uint32_t room_of(uint32_t snaplen)
{
	return RTE_PKTMBUF_HEADROOM + snaplen + FM_TAP_ROOM;
}

/* How many packets of one worker may wait. */
static uint32_t mbufs_of(uint32_t snaplen, uint32_t workers)
{
	const uint32_t n = FM_TAPS_BYTES / workers / (room_of(snaplen) + (uint32_t)sizeof(struct rte_mbuf));

	return RTE_MIN(RTE_MAX(n, (uint32_t)FM_TAP_MBUFS_MIN), (uint32_t)FM_TAP_MBUFS_MAX);
}

static int make_memory(struct fm_tap *tap, uint16_t worker, uint32_t mbufs, int socket)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "fm_capture_%u", worker);
	/* No cache: who gets and who puts are two threads, and one of them is no lcore. */
	tap->pool = rte_pktmbuf_pool_create(name, mbufs, 0, 0, (uint16_t)room_of(tap->snaplen_bytes), socket);
	tap->ring = rte_ring_create(name, rte_align32pow2(mbufs + 1), socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	return tap->pool == NULL || tap->ring == NULL ? -ENOMEM : 0;
}

static void free_tap(struct fm_tap *tap)
{
	unsigned int missing;

	if (tap == NULL)
		return;
	missing = tap->pool == NULL ? 0 : rte_mempool_in_use_count(tap->pool);
	if (missing != 0)
		FM_LOG(WARNING, "%u mbufs of pool %s did not come back\n", missing, tap->pool->name);
	rte_ring_free(tap->ring);
	rte_mempool_free(tap->pool);
	rte_free(tap);
}

static void set_clock(struct fm_tap *tap)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	tap->base_tsc = rte_rdtsc();
	tap->base_ns = (uint64_t)now.tv_sec * FM_NS_PER_S + (uint64_t)now.tv_nsec;
	tap->hz = rte_get_tsc_hz();
}

static int make_tap(struct fm_taps *taps, uint16_t t, const struct fm_capture_request *request,
		    const atomic_bool *closed)
{
	const struct fm_worker *w = fm_engine.worker[taps->worker[t]];
	const int socket = (int)fm_numa_lcore_home(w->lcore);
	struct fm_tap *tap = rte_zmalloc_socket("fm_tap", sizeof(*tap), RTE_CACHE_LINE_SIZE, socket);

	taps->tap[t] = tap;
	if (tap == NULL)
		return -ENOMEM;
	tap->take = fm_tap_take;
	tap->all = request->all;
	tap->port = w->n_queues != 0 ? w->queue[0].port : fm_engine.port[0].id;
	tap->snaplen_bytes = request->snaplen_bytes;
	tap->closed = closed;
	set_clock(tap);
	tap->now_tsc = tap->base_tsc;
	fm_bucket_init(&tap->bucket, request->rate_pps, taps->n, tap->hz, tap->base_tsc);
	return make_memory(tap, w->id, mbufs_of(request->snaplen_bytes, taps->n), socket);
}

int fm_taps_make(struct fm_taps *taps, const struct fm_capture_request *request, const atomic_bool *closed, char *err,
		 size_t err_len)
{
	memset(taps, 0, sizeof(*taps));
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		if (has_work(fm_engine.worker[w]))
			taps->worker[taps->n++] = w;
	for (uint16_t t = 0; t < taps->n; t++)
		if (make_tap(taps, t, request, closed) != 0)
			return fm_fail(err, err_len, -ENOMEM,
				       "capture: no memory for %u packets of %u bytes for each of %u workers; give "
				       "more (-m, hugepages), lower snaplen or --total-num-mbufs",
				       mbufs_of(request->snaplen_bytes, taps->n), request->snaplen_bytes, taps->n);
	return 0;
}

static int give(struct fm_taps *taps, bool on, char *err, size_t err_len)
{
	int code = 0;

	for (uint16_t t = 0; t < taps->n; t++) {
		struct fm_look look = { .tap = on ? taps->tap[t] : NULL };
		int ret;

		if (taps->on[t] == on)
			continue;
		ret = fm_mailbox_ask(&fm_engine.worker[taps->worker[t]]->mailbox, FM_REQUEST_TAP, &look, NULL);
		if (ret == 0)
			taps->on[t] = on;
		else
			code = fm_fail(err, err_len, ret, "capture: worker %u did not answer within %u ms",
				       taps->worker[t], FM_MAIL_TIMEOUT_MS);
	}
	return code;
}

int fm_taps_on(struct fm_taps *taps, char *err, size_t err_len)
{
	return give(taps, true, err, err_len);
}

int fm_taps_off(struct fm_taps *taps, char *err, size_t err_len)
{
	return give(taps, false, err, err_len);
}

void fm_taps_take(struct fm_taps *taps)
{
	for (uint16_t t = 0; t < taps->n; t++) {
		fm_worker_tap(fm_engine.worker[taps->worker[t]], NULL);
		taps->on[t] = false;
	}
}

void fm_taps_counts(const struct fm_taps *taps, uint64_t *over_rate, uint64_t *no_room)
{
	*over_rate = *no_room = 0;
	for (uint16_t t = 0; t < taps->n; t++) {
		*over_rate += fm_count_read(&taps->tap[t]->over_rate);
		*no_room += fm_count_read(&taps->tap[t]->no_room);
	}
}

void fm_taps_free(struct fm_taps *taps)
{
	for (uint16_t t = 0; t < taps->n; t++)
		free_tap(taps->tap[t]);
	memset(taps, 0, sizeof(*taps));
}
