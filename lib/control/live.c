/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the live view shows: counters, which are read without asking anybody, and sources, for which workers are asked.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "show.h"
#include "stats.h"

enum {
	NS_PER_MS = 1000000,
	/* A little less than a second: a frame of each second may come a little early. */
	SOURCES_MS = 900,
	SOURCES_AGAIN_MS = 10000,	/* after a worker has not answered, which took its time */
};

/* What all screens have of the sources. */
static struct {
	uint64_t at_ns, again_ns;
	int n;				/* that there were; at most FM_LIVE_SOURCES of them are in `top` */
	struct fm_source_view top[FM_LIVE_SOURCES];
	char err[FM_SENTENCE_LEN];
} look;

/* Per second; negative: it is not known. Counters of a port go back when they are cleared. */
static double rate(uint64_t now, uint64_t then, double seconds)
{
	if (seconds <= 0 || now < then)
		return -1;
	return (double)(now - then) / seconds;
}

static double mbit(double bytes_per_s)
{
	return bytes_per_s < 0 ? -1 : bytes_per_s * 8 / 1e6;
}

static uint64_t lost(const struct fm_port_view *view)
{
	return view->rx_missed + view->rx_errors + view->rx_nombuf + view->tx_errors;
}

static void gather_port(struct fm_live_port *port, uint16_t index, struct fm_port_view *then, double seconds)
{
	struct fm_port_view now;

	fm_door_port(index, &now);
	port->id = now.id;
	memcpy(port->name, now.name, sizeof(port->name));
	port->link_up = now.link_up;
	port->rx_packets_per_s = rate(now.rx_packets, then->rx_packets, seconds);
	port->tx_packets_per_s = rate(now.tx_packets, then->tx_packets, seconds);
	port->rx_mbit_per_s = mbit(rate(now.rx_bytes, then->rx_bytes, seconds));
	port->tx_mbit_per_s = mbit(rate(now.tx_bytes, then->tx_bytes, seconds));
	port->drops_per_s = rate(lost(&now), lost(then), seconds);
	port->drops = lost(&now);
	*then = now;
}

static void gather_worker(struct fm_live *live, uint16_t index, const struct fm_worker_stats *now,
			  const struct fm_worker_stats *then, double seconds)
{
	struct fm_live_worker *worker = &live->worker[index];
	struct fm_worker_view view;

	fm_door_worker(index, &view);
	live->held_mbufs += now->reass.held_mbufs;
	live->budget_mbufs += view.budget_mbufs;
	live->datagrams += now->reass.datagrams;
	live->max_datagrams += view.max_datagrams;
	worker->lcore = view.lcore;
	worker->busy_percent = -1;
	if (seconds > 0 && now->polls > then->polls)
		worker->busy_percent = 100.0 * (double)(now->busy_polls - then->busy_polls) /
				       (double)(now->polls - then->polls);
	worker->frames_per_s = rate(now->rx_frames, then->rx_frames, seconds);
	worker->fragments_per_s = rate(now->reass.fragments_in, then->reass.fragments_in, seconds);
	worker->held_mbufs = now->reass.held_mbufs;
	worker->tx_backlog_mbufs = now->tx_backlog_mbufs;
}

/* What came between two looks at all workers. */
struct growth {
	uint64_t done, fragments, frames, count[FM_OUTCOME_MAX];
};

static void gather_workers(struct fm_live *live, struct fm_live_past *past, uint64_t now_ns, double seconds,
			   struct growth *sum)
{
	struct fm_stats stats;

	memset(sum, 0, sizeof(*sum));
	for (uint16_t w = 0; w < live->n_workers; w++) {
		struct fm_worker_stats *then = &past->worker[w];

		fm_stats_get(w, now_ns, &stats);
		gather_worker(live, w, &stats.raw, then, seconds);
		sum->done += stats.raw.reass.datagrams_done - then->reass.datagrams_done;
		sum->fragments += stats.raw.reass.fragments_in - then->reass.fragments_in;
		sum->frames += stats.raw.rx_frames - then->rx_frames;
		for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
			sum->count[i] += stats.raw.reass.count[i] - then->reass.count[i];
		*then = stats.raw;
	}
}

static void gather_drops(struct fm_live *live, uint64_t now_ns, double seconds, const struct growth *sum)
{
	struct fm_stats stats;
	uint64_t dropped = 0;

	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		if (fm_outcome_info[i].severity == FM_SEV_GOOD)
			continue;
		dropped += sum->count[i];
		if (stats.shown.reass.count[i] == 0)
			continue;
		live->drop[live->n_drops++] = (struct fm_live_drop){
			.outcome = (enum fm_outcome)i, .count = stats.shown.reass.count[i],
			.per_s = rate(sum->count[i], 0, seconds),
		};
	}
	live->dropped_per_s = rate(dropped, 0, seconds);
	live->delivered_per_s = rate(sum->done, 0, seconds);
	live->fragments_per_s = rate(sum->fragments, 0, seconds);
	live->frames_per_s = rate(sum->frames, 0, seconds);
}

/* Ask the workers, unless that was done just now. */
static void look_at_sources(uint64_t now_ns)
{
	const uint16_t workers = fm_door_workers();
	struct fm_source_view *views;

	if (look.again_ns != 0 && now_ns < look.again_ns)
		return;
	look.again_ns = now_ns + (uint64_t)SOURCES_MS * NS_PER_MS;
	look.at_ns = now_ns;
	look.n = 0;
	look.err[0] = '\0';
	views = calloc((size_t)FM_LIVE_SOURCES * workers + 1, sizeof(*views));
	if (views == NULL) {
		snprintf(look.err, sizeof(look.err), "no memory for the sources of %u workers", workers);
		return;
	}
	look.n = fm_sources_gather(views, FM_LIVE_SOURCES, look.err, sizeof(look.err));
	if (look.n < 0) {
		look.n = 0;
		look.again_ns = now_ns + (uint64_t)SOURCES_AGAIN_MS * NS_PER_MS;
	}
	memcpy(look.top, views, (look.n < FM_LIVE_SOURCES ? look.n : FM_LIVE_SOURCES) * sizeof(*views));
	free(views);
}

static const struct fm_source_view *find(const struct fm_live_past *past, const struct fm_source_view *view)
{
	for (uint16_t i = 0; i < past->n_sources; i++) {
		const struct fm_source_view *then = &past->source[i];

		if (then->family == view->family && then->prefix_len == view->prefix_len &&
		    memcmp(then->prefix, view->prefix, sizeof(view->prefix)) == 0)
			return then;
	}
	return NULL;
}

static void gather_sources(struct fm_live *live, struct fm_live_past *past, uint64_t now_ns)
{
	double seconds = 0;

	look_at_sources(now_ns);
	memcpy(live->sources_err, look.err, sizeof(live->sources_err));
	live->n_sources = (uint16_t)(look.n < FM_LIVE_SOURCES ? look.n : FM_LIVE_SOURCES);
	live->more_sources = (uint32_t)look.n - live->n_sources;
	if (past->sources_ns != 0)
		seconds = (double)(look.at_ns - past->sources_ns) / 1e9;
	for (uint16_t i = 0; i < live->n_sources; i++) {
		struct fm_live_source *source = &live->source[i];
		const struct fm_source_view *then = find(past, &look.top[i]);

		source->view = look.top[i];
		source->delivered_per_s = then == NULL ? -1 : rate(source->view.delivered, then->delivered, seconds);
		source->wasted_per_s = then == NULL ? -1 : rate(source->view.wasted, then->wasted, seconds);
	}
	past->sources_ns = look.at_ns;
	past->n_sources = live->n_sources;
	memcpy(past->source, look.top, past->n_sources * sizeof(past->source[0]));
}

static void gather_state(struct fm_live *live)
{
	const time_t now = time(NULL);
	struct fm_settings settings;
	struct tm tm;

	strftime(live->clock, sizeof(live->clock), "%H:%M:%S", localtime_r(&now, &tm));
	if (gethostname(live->host, sizeof(live->host) - 1) != 0)
		live->host[0] = '\0';
	fm_door_settings(&settings);
	live->forwarding = fm_door_forwarding();
	live->bypass = settings.bypass;
}

void fm_live_gather(struct fm_live *live, struct fm_live_past *past, uint64_t now_ns)
{
	const double seconds = past->at_ns == 0 ? 0 : (double)(now_ns - past->at_ns) / 1e9;
	struct growth sum;

	memset(live, 0, sizeof(*live));
	live->n_ports = fm_door_ports();
	live->n_workers = fm_door_workers();
	gather_state(live);
	for (uint16_t p = 0; p < live->n_ports; p++)
		gather_port(&live->port[p], p, &past->port[p], seconds);
	gather_workers(live, past, now_ns, seconds, &sum);
	gather_drops(live, now_ns, seconds, &sum);
	gather_sources(live, past, now_ns);
	past->at_ns = now_ns;
}
