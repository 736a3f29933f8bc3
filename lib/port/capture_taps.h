/* SPDX-License-Identifier: BSD-3-Clause */
/* The taps of all workers, for one capture. The control thread. */
#ifndef FM_CAPTURE_TAPS_H
#define FM_CAPTURE_TAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "tap.h"

struct fm_capture_request;

struct fm_taps {
	uint16_t n;
	uint16_t worker[FM_WORKERS_MAX];
	struct fm_tap *tap[FM_WORKERS_MAX];
	bool on[FM_WORKERS_MAX];	/* the worker has it */
};

/*
 * Make one for each worker that has something to do, with its part of the rate and of the memory.
 *
 * @param closed  see struct fm_tap
 * @return        0; -ENOMEM, and fm_taps_free() is to be called
 */
int fm_taps_make(struct fm_taps *taps, const struct fm_capture_request *request, const atomic_bool *closed, char *err,
		 size_t err_len);

/* Give them to the workers. -ETIMEDOUT: one did not answer; those that did have theirs. */
int fm_taps_on(struct fm_taps *taps, char *err, size_t err_len);
/* Take them back. 0: no worker will touch its tap any more; -ETIMEDOUT: one did not answer, call it again. */
int fm_taps_off(struct fm_taps *taps, char *err, size_t err_len);
/* Take them from workers that have ended. */
void fm_taps_take(struct fm_taps *taps);

/* Packets not captured, added up. */
void fm_taps_counts(const struct fm_taps *taps, uint64_t *over_rate, uint64_t *no_room);

/* Free them; their rings are empty, and no worker has one. */
void fm_taps_free(struct fm_taps *taps);

#endif
