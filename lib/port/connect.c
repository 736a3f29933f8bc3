/* SPDX-License-Identifier: BSD-3-Clause */
/* Making the pipes between workers. Each belongs to the worker that puts into it, and lies near the one that takes. */
#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "connect.h"
#include "fail.h"
#include "fm_numa.h"
#include "state.h"

static void *zalloc(size_t bytes, const struct fm_worker *near)
{
	return rte_zmalloc_socket("fm_connect", bytes, RTE_CACHE_LINE_SIZE,
				  (int)fm_numa_lcore_home(near->lcore));
}

static int no_memory(const struct fm_worker *w, char *err, size_t err_len)
{
	return fm_fail(err, err_len, -ENOMEM,
		       "no memory for what connects worker %u with the others; give more (-m, hugepages), or lower "
		       "--nb-cores", w->id);
}

static int make_pipe(struct fm_pipe *pipe, const struct fm_worker *from, const struct fm_worker *to,
		     uint32_t elem_bytes, uint32_t room_mbufs)
{
	void *memory = zalloc(fm_pipe_memsize(elem_bytes, room_mbufs), to);

	if (memory == NULL)
		return -ENOMEM;
	fm_pipe_init(pipe, memory, from->id, to->id, room_mbufs);
	return 0;
}

/* Room for all that can end at a worker. */
static int make_ends(struct fm_worker *w)
{
	const size_t relays = (size_t)fm_engine_workers() * fm_engine_ports();

	w->steered = zalloc(fm_engine_workers() * sizeof(w->steered[0]), w);
	w->relayed = zalloc(relays * sizeof(w->relayed[0]), w);
	return w->steered == NULL || w->relayed == NULL ? -ENOMEM : 0;
}

static int make_steer(struct fm_worker *w)
{
	struct fm_steer *s = zalloc(sizeof(*s), w);

	w->steer = s;
	if (s == NULL)
		return -ENOMEM;
	s->self = w->id;
	s->n_workers = fm_engine_workers();
	memcpy(&s->key, fm_engine.steer_secret, sizeof(s->key));
	for (uint16_t t = 0; t < s->n_workers; t++) {
		struct fm_worker *to = fm_engine.worker[t];

		if (t == w->id)
			continue;
		s->box[t] = zalloc(sizeof(*s->box[t]), w);
		if (s->box[t] == NULL ||
		    make_pipe(&s->box[t]->pipe, w, to, sizeof(void *), fm_engine.steer_mbufs) != 0)
			return -ENOMEM;
		to->steered[to->n_steered++] = &s->box[t]->pipe;
	}
	return 0;
}

static int make_relay(struct fm_worker *w, uint16_t port)
{
	struct fm_way *way = &w->way[fm_engine.port[port].id];
	struct fm_worker *to = fm_engine.worker[way->tx_worker];
	struct fm_relay *r = zalloc(sizeof(*r), to);

	if (r == NULL)
		return -ENOMEM;
	way->relay = r;
	r->counters = &w->tx;
	if (make_pipe(&r->pipe, w, to, sizeof(struct fm_parcel), fm_engine.backlog_mbufs[port]) != 0 ||
	    fm_worker_egress(&r->egress, to, port, way->tx_queue, &r->sent) != 0)
		return -ENOMEM;
	to->relayed[to->n_relayed++] = r;
	return 0;
}

static bool steers(const struct fm_worker *w)
{
	for (uint16_t q = 0; q < w->n_queues; q++)
		if (w->queue[q].steered)
			return true;
	return false;
}

static int connect_one(struct fm_worker *w)
{
	if (steers(w) && make_steer(w) != 0)
		return -ENOMEM;
	for (uint16_t p = 0; p < fm_engine_ports(); p++)
		if (fm_plan_owns(&fm_engine.plan, p, w->id) && w->way[fm_engine.port[p].id].egress == NULL &&
		    make_relay(w, p) != 0)
			return -ENOMEM;
	return 0;
}

int fm_workers_connect(char *err, size_t err_len)
{
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		if (make_ends(fm_engine.worker[w]) != 0)
			return no_memory(fm_engine.worker[w], err, err_len);
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		if (connect_one(fm_engine.worker[w]) != 0)
			return no_memory(fm_engine.worker[w], err, err_len);
	return 0;
}

void fm_worker_disconnect(struct fm_worker *w)
{
	for (uint16_t t = 0; w->steer != NULL && t < w->steer->n_workers; t++) {
		if (w->steer->box[t] != NULL)
			rte_free(w->steer->box[t]->pipe.ring);
		rte_free(w->steer->box[t]);
	}
	rte_free(w->steer);
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++) {
		if (w->way[p].relay == NULL)
			continue;
		rte_free(w->way[p].relay->pipe.ring);
		rte_free(w->way[p].relay->egress.ring);
		rte_free(w->way[p].relay);
	}
	rte_free(w->steered);
	rte_free(w->relayed);
}
