/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>
#include <time.h>

#include "stats.h"

/* Members of struct fm_worker_stats that only grow, beside reass.count[]; and those that say what is now. */
#define COUNTERS(X) \
	X(reass.frames_in) X(reass.fragments_in) X(reass.datagrams_done) X(rx_frames) X(rx_bytes) X(tx_frames) \
	X(tx_bytes) X(polls) X(busy_polls)
#define LEVELS(X) \
	X(reass.held_fragments) X(reass.held_mbufs) X(reass.datagrams) X(reass.condemned) X(tx_backlog_mbufs) \
	X(pipe_frames) X(pipe_mbufs)

enum { NS_PER_S = 1000000000, WINDOW_MIN_NS = NS_PER_S / 2 };

struct sample {
	uint64_t at_ns;			/* 0: none */
	struct fm_worker_stats worker[FM_WORKERS_MAX];
	struct {
		uint64_t at_ns;		/* later than that of the sample if the port was cleared since */
		uint64_t rx_packets, tx_packets, rx_bytes, tx_bytes;
	} port[FM_PORTS_MAX];
};

/* The newer one is the base of the rates until it is a second old and becomes the older one. */
static struct sample samples[2];
static unsigned int newer;

/* What the workers had counted at the last clear. */
static struct fm_worker_stats cleared[FM_WORKERS_MAX];

uint64_t fm_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void add(struct fm_worker_stats *to, const struct fm_worker_stats *from)
{
#define FM_ADD(member) to->member += from->member;
	COUNTERS(FM_ADD)
	LEVELS(FM_ADD)
#undef FM_ADD
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		to->reass.count[i] += from->reass.count[i];
}

/*
 * What was counted as passed on is taken back where a port does not take it after all, so an outcome may be less than
 * it was: then it is 0, not what is left of 2^64.
 */
static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* Levels stay: they have no past. */
static void subtract(struct fm_worker_stats *from, const struct fm_worker_stats *what)
{
#define FM_SUBTRACT(member) from->member -= what->member;
	COUNTERS(FM_SUBTRACT)
#undef FM_SUBTRACT
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		from->reass.count[i] = since(from->reass.count[i], what->reass.count[i]);
}

void fm_stats_sample(uint64_t now_ns)
{
	struct fm_port_view view;
	struct sample *next;

	if (samples[newer].at_ns != 0 && now_ns - samples[newer].at_ns < NS_PER_S)
		return;
	newer = !newer;
	next = &samples[newer];
	next->at_ns = now_ns;
	for (uint16_t w = 0; w < fm_door_workers(); w++)
		fm_door_worker_stats(w, &next->worker[w]);
	for (uint16_t p = 0; p < fm_door_ports(); p++) {
		fm_door_port(p, &view);
		next->port[p].at_ns = now_ns;
		next->port[p].rx_packets = view.rx_packets;
		next->port[p].tx_packets = view.tx_packets;
		next->port[p].rx_bytes = view.rx_bytes;
		next->port[p].tx_bytes = view.tx_bytes;
	}
}

/* What rates are reckoned from: the older sample, the newer one if there is no other; NULL: none that is old enough. */
static const struct sample *base(uint64_t now_ns)
{
	const struct sample *sample = samples[!newer].at_ns != 0 ? &samples[!newer] : &samples[newer];

	return sample->at_ns != 0 && now_ns - sample->at_ns >= WINDOW_MIN_NS ? sample : NULL;
}

static double age_s(uint64_t at_ns, uint64_t now_ns)
{
	return (double)(now_ns - at_ns) / NS_PER_S;
}

static void get_one(uint16_t worker, const struct sample *since, struct fm_stats *stats)
{
	fm_door_worker_stats(worker, &stats->raw);
	stats->shown = stats->raw;
	subtract(&stats->shown, &cleared[worker]);
	if (since == NULL)
		return;
	stats->recent = stats->raw;
	subtract(&stats->recent, &since->worker[worker]);
}

void fm_stats_get(uint16_t worker, uint64_t now_ns, struct fm_stats *stats)
{
	const struct sample *since = base(now_ns);
	struct fm_stats one;

	memset(stats, 0, sizeof(*stats));
	if (worker != FM_ALL_WORKERS) {
		get_one(worker, since, stats);
	} else {
		for (uint16_t w = 0; w < fm_door_workers(); w++) {
			memset(&one, 0, sizeof(one));
			get_one(w, since, &one);
			add(&stats->raw, &one.raw);
			add(&stats->shown, &one.shown);
			add(&stats->recent, &one.recent);
		}
	}
	if (since != NULL)
		stats->recent_s = age_s(since->at_ns, now_ns);
}

/* Counters of a port go back when something else resets them. */
static uint64_t growth(uint64_t now, uint64_t then)
{
	return now >= then ? now - then : now;
}

void fm_stats_port(uint16_t index, uint64_t now_ns, struct fm_port_stats *stats)
{
	const struct sample *since = base(now_ns);

	memset(stats, 0, sizeof(*stats));
	fm_door_port(index, &stats->view);
	if (since == NULL || now_ns - since->port[index].at_ns < WINDOW_MIN_NS)
		return;
	stats->recent_s = age_s(since->port[index].at_ns, now_ns);
	stats->recent_rx_packets = growth(stats->view.rx_packets, since->port[index].rx_packets);
	stats->recent_tx_packets = growth(stats->view.tx_packets, since->port[index].tx_packets);
	stats->recent_rx_bytes = growth(stats->view.rx_bytes, since->port[index].rx_bytes);
	stats->recent_tx_bytes = growth(stats->view.tx_bytes, since->port[index].tx_bytes);
}

void fm_stats_clear(void)
{
	for (uint16_t w = 0; w < fm_door_workers(); w++)
		fm_door_worker_stats(w, &cleared[w]);
}

void fm_stats_port_cleared(uint16_t index, uint64_t now_ns)
{
	for (unsigned int i = 0; i < 2; i++) {
		memset(&samples[i].port[index], 0, sizeof(samples[i].port[index]));
		samples[i].port[index].at_ns = now_ns;
	}
}

void fm_stats_sum(const struct fm_worker_stats *stats, struct fm_stats_sums *sums)
{
	memset(sums, 0, sizeof(*sums));
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		const struct fm_outcome_info *info = &fm_outcome_info[i];
		uint64_t count = stats->reass.count[i];
		bool good = info->severity == FM_SEV_GOOD;

		switch (info->unit) {
		case FM_UNIT_FRAME:
			sums->frames += count;
			sums->frames_dropped += good ? 0 : count;
			break;
		case FM_UNIT_FRAGMENT:
			sums->fragments += count;
			sums->fragments_dropped += good ? 0 : count;
			break;
		case FM_UNIT_DATAGRAM:
			*(good ? &sums->datagrams_sent : &sums->datagrams_dropped) += count;
			break;
		}
	}
}
