/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live view: what is gathered, how it is drawn, and the screen that keys and time change.
 *
 * Called by the control thread only. Nothing here reads or writes a terminal: whoever has one (the console, a session
 * of the console socket) asks for frames and passes on the keys.
 */
#ifndef FM_LIVE_H
#define FM_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "door.h"
#include "live_canvas.h"

enum {
	FM_LIVE_SOURCES = 64,		/* kept of those that hold most */
	FM_LIVE_WAIT_MS = 50,		/* an escape key alone is one when nothing has followed for that long */
};

/* Rates are per second and negative as long as they are not known. */
struct fm_live_port {
	uint16_t id;
	char name[64];
	bool link_up;
	double rx_packets_per_s, tx_packets_per_s, rx_mbit_per_s, tx_mbit_per_s;
	double drops_per_s;
	uint64_t drops;			/* missed, no mbuf, errors of both directions; since start or the last clear */
};

struct fm_live_worker {
	uint16_t lcore;
	double busy_percent;		/* of its polls found frames; negative: not known */
	double frames_per_s, fragments_per_s;
	uint64_t held_mbufs, tx_backlog_mbufs;
};

struct fm_live_source {
	struct fm_source_view view;
	double delivered_per_s, wasted_per_s;
};

struct fm_live_drop {
	enum fm_outcome outcome;
	uint64_t count;			/* since the last clear; not 0 */
	double per_s;
};

struct fm_live {
	char clock[16];			/* local time */
	char host[64];
	bool forwarding, bypass;
	uint16_t n_ports, n_workers, n_sources, n_drops;
	struct fm_live_port port[FM_PORTS_MAX];
	struct fm_live_worker worker[FM_WORKERS_MAX];
	struct fm_live_source source[FM_LIVE_SOURCES];
	struct fm_live_drop drop[FM_OUTCOME_MAX];
	uint32_t more_sources;		/* that are known of beside those */
	char sources_err[FM_SENTENCE_LEN];	/* why there are none; "": there may be some */
	uint64_t held_mbufs, budget_mbufs;
	uint64_t datagrams, max_datagrams;	/* in flight */
	double delivered_per_s;		/* datagrams */
	double fragments_per_s, frames_per_s, dropped_per_s;	/* received; of all units */
};

/* What the rates are reckoned from: the counters as they were when gathered last. All zero: never. */
struct fm_live_past {
	uint64_t at_ns, sources_ns;
	struct fm_port_view port[FM_PORTS_MAX];
	struct fm_worker_stats worker[FM_WORKERS_MAX];
	uint16_t n_sources;
	struct fm_source_view source[FM_LIVE_SOURCES];
};

/*
 * Look at everything, and reckon rates since `past`, which becomes what is now. Workers are asked for their sources at
 * most once a second, whoever calls it how often; if one of them does not answer, not again for ten seconds.
 *
 * @param now_ns  fm_now_ns()
 */
void fm_live_gather(struct fm_live *live, struct fm_live_past *past, uint64_t now_ns);

enum fm_live_sort { FM_LIVE_BY_HELD, FM_LIVE_BY_WASTED, FM_LIVE_BY_DELIVERED, FM_LIVE_SORTS };

struct fm_live_look {
	unsigned int period_s;
	bool paused;
	enum fm_live_sort sort;		/* of sources */
};

/* Fill an empty canvas of any size. Depends on nothing but its arguments. */
void fm_live_draw(const struct fm_live *live, const struct fm_live_look *look, struct fm_canvas *canvas);

struct fm_screen;	/* a stream (stream.h), once `show live` has made it */

/* @return NULL: no memory */
struct fm_screen *fm_screen_open(bool colour);
void fm_screen_close(struct fm_screen *screen);

/* The size of the terminal, in characters; 0: not known, as 80 by 24. Another one is drawn with the next frame. */
void fm_screen_size(struct fm_screen *screen, unsigned int columns, unsigned int rows);

/* A typed byte. */
void fm_screen_key(struct fm_screen *screen, char c, uint64_t now_ns);

/* Was it left? Ask when a key has come, and again FM_LIVE_WAIT_MS later: that tells an escape key from an arrow. */
bool fm_screen_left(const struct fm_screen *screen, uint64_t now_ns);

/*
 * What is to be written now, in one piece.
 *
 * @param text   set to it; valid until the next call
 * @return       its length; 0: nothing, not due yet; -ENOMEM
 */
int fm_screen_frame(struct fm_screen *screen, uint64_t now_ns, const char **text);

#endif
