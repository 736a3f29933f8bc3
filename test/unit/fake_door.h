/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control door without ports and workers behind it: what it shows is what the test puts here, and what was done
 * through it can be read here.
 */
#ifndef FM_FAKE_DOOR_H
#define FM_FAKE_DOOR_H

#include "door.h"

enum { FAKE_WORKERS_MAX = 4, FAKE_PORTS_MAX = 4, FAKE_VIEWS_MAX = 8 };

struct fake_door {
	uint16_t workers, ports;
	bool forwarding;
	struct fm_settings settings;
	struct fm_config config;
	uint64_t budget_max, budget_whole;
	struct fm_worker_stats stats[FAKE_WORKERS_MAX];
	struct fm_worker_view worker[FAKE_WORKERS_MAX];
	struct fm_port_view port[FAKE_PORTS_MAX];
	struct fm_port_more_view port_more[FAKE_PORTS_MAX];
	struct fm_xstat_view xstat[FAKE_PORTS_MAX][FAKE_VIEWS_MAX];
	uint32_t xstats[FAKE_PORTS_MAX];
	struct fm_budget_view budget[FAKE_PORTS_MAX];
	struct fm_reass_view view[FAKE_WORKERS_MAX][FAKE_VIEWS_MAX];
	uint32_t views[FAKE_WORKERS_MAX];
	struct fm_source_view source[FAKE_WORKERS_MAX][FAKE_VIEWS_MAX];
	uint32_t sources[FAKE_WORKERS_MAX];
	struct fm_numa_view numa;
	struct fm_port_place_view port_place[FAKE_PORTS_MAX];
	struct fm_worker_place_view worker_place[FAKE_WORKERS_MAX];
	struct fm_check_view check;
	struct fm_capture_view capture;
	unsigned int check_moves;	/* so many looks find the fragments on the move */
	/* What fails from now on, with which error; 0: nothing. */
	int publish_error, flush_error, datagrams_error, sources_error, clear_error, xstats_error, capture_error;
	/* How often. */
	unsigned int published, flushed, cleared[FAKE_PORTS_MAX], xstats_cleared[FAKE_PORTS_MAX];
	unsigned int asked_sources;	/* how many workers, in all */
};

extern struct fake_door fake_door;

/* Two workers on lcores 1 and 2, two ports with ids 0 and 1, settings at their defaults, all counters 0. */
void fake_door_reset(void);

#endif
