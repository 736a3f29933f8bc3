/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of the library and the reference model, fed with the same frames. After each step everything that can be seen
 * of the two must be equal: what leaves, byte for byte, the fate of each frame, every counter; and the table must be
 * sound, no shared buffer changed, and in the end no mbuf out of its pool.
 */
#ifndef FM_TWIN_H
#define FM_TWIN_H

#include "fm_model.h"
#include "fm_reass.h"

struct rte_mbuf;
struct rte_mempool;

/* How a frame lies in mbufs. Apart from `segment`: a frame may be cut in any of these. */
enum fm_twin_kind {
	FM_TWIN_PLAIN,		/* its own, writable */
	FM_TWIN_SHARED,		/* somebody else holds a reference to the same mbuf */
	FM_TWIN_INDIRECT,	/* a clone; somebody else holds the mbuf with the bytes */
	FM_TWIN_EXTERNAL,	/* bytes outside of any mbuf */
	FM_TWIN_KINDS,
};

struct fm_twin_frame {
	const uint8_t *bytes;
	uint32_t len;
};

struct fm_twin_guard;
struct fm_twin_fed;
struct fm_twin_report;

struct fm_twin {
	struct fm_model model;
	struct fm_reass *reass;
	void *memory;
	struct rte_mempool *pool;		/* frames */
	struct rte_mempool *header_pool;
	uint64_t now;
	enum fm_twin_kind kind;			/* of the frames to come */
	uint32_t segment;			/* of the frames to come, bytes; 0: one mbuf per frame */
	struct fm_model_list pass, done;	/* of the table, since the last comparison */
	uint64_t done_total;
	struct fm_twin_guard *guards;
	struct fm_twin_fed *fed;
	struct fm_twin_report *reports;
	char err[256];				/* what differs */
};

/*
 * Usual settings with a budget of so many mbufs, which must be more than a test can fill: the model knows no
 * pressure.
 */
struct fm_reass_settings fm_twin_settings(uint32_t budget_mbufs);
/*
 * A table of that budget, for frames of up to `frame_max` bytes. Each comparison walks all of the table, and each
 * mbuf is an allocation: small ones make quick tests.
 */
void fm_twin_init(struct fm_twin *twin, const struct fm_reass_settings *settings, uint32_t max_datagrams,
		  uint16_t frame_max);
/* A burst of up to FM_BURST_MAX frames arrives at twin->now. */
void fm_twin_burst(struct fm_twin *twin, const struct fm_twin_frame *frames, uint16_t n, uint16_t port);
void fm_twin_set(struct fm_twin *twin, const struct fm_reass_settings *settings);
void fm_twin_flush(struct fm_twin *twin);
/* Let both expire what is due at twin->now, compare, forget the outputs. False: twin->err says what differs. */
bool fm_twin_equal(struct fm_twin *twin);
/* Flush, compare, and see that all mbufs came back. Frees everything in any case. */
bool fm_twin_fini(struct fm_twin *twin);

/* The mbufs of a frame in the way twin->kind and ->segment say; its bytes are guarded until fm_twin_fini(). */
struct rte_mbuf *fm_twin_mbuf(struct fm_twin *twin, const struct fm_twin_frame *frame);
/* Was a guarded mbuf or buffer changed? */
bool fm_twin_guards_hold(struct fm_twin *twin);
void fm_twin_guards_free(struct fm_twin *twin);

#endif
