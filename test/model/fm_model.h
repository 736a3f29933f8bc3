/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference reassembler: slow, obvious, written from the RFCs and doc/semantics.md and from nothing else, so that
 * it can be wrong only where the reading of those is wrong. It shares no code with the library. Memory has no end
 * here: outcomes of pressure (budget, table, mbufs) do not exist.
 *
 * A datagram is an array of bytes with a map of which of them are there; every question (overlap? complete?) is
 * answered by looking at each byte.
 */
#ifndef FM_MODEL_H
#define FM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm_reass.h"

/* The fate of a fragment that is still held. */
#define FM_MODEL_HELD FM_OUTCOME_MAX

struct fm_model_settings {
	uint64_t timeout[FM_FAMILIES];	/* in the unit of `now`; from the first fragment seen */
	uint32_t max_fragments;
	bool verify_l4;
	bool short_chain;		/* do not insist on RFC 7112 */
};

/* A frame that leaves. */
struct fm_model_output {
	uint8_t *bytes;
	uint32_t len;
	struct fm_whole whole;		/* joined datagrams only */
};

struct fm_model_list {
	struct fm_model_output *output;
	size_t n;
};

struct fm_model_datagram;

struct fm_model {
	struct fm_model_settings settings;
	struct fm_model_datagram *datagrams;
	struct fm_model_list pass, done;	/* since the last fm_model_clear() */
	uint16_t *fate;				/* of frame i: enum fm_outcome or FM_MODEL_HELD */
	size_t frames, fate_room;
	uint64_t count[FM_OUTCOME_MAX];
	uint64_t fragments_in, held;
};

void fm_model_init(struct fm_model *model, const struct fm_model_settings *settings);
/* One frame arrives. Its fate is model->fate[model->frames - 1]; what leaves is appended to pass or done. */
void fm_model_frame(struct fm_model *model, const uint8_t *frame, uint32_t len, uint16_t port, uint64_t now);
/* Free what has timed out. */
void fm_model_expire(struct fm_model *model, uint64_t now);
/* Free all held fragments, forget condemned datagrams. */
void fm_model_flush(struct fm_model *model);
/* Forget the outputs so far. */
void fm_model_clear(struct fm_model *model);
void fm_model_fini(struct fm_model *model);
/* How many datagrams are remembered: those that hold fragments, or those condemned. */
size_t fm_model_datagrams(const struct fm_model *model, bool condemned);

#endif
