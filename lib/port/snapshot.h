/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings as the workers see them: an immutable snapshot behind one pointer. There are two; the one that is not in
 * use is written, the pointer is turned to it, and the other is free once every worker has passed a quiescent state.
 * A worker can sleep through two turns of the pointer and find it where it was: it goes by the generation. Main lcore.
 */
#ifndef FM_SNAPSHOT_H
#define FM_SNAPSHOT_H

#include <stddef.h>

#include "config.h"

/* The settings at start, with the budget that was granted. */
void fm_snapshot_start(const struct fm_settings *settings);

/* Check a new set of settings; -EINVAL: out of range or more than was provided for at start, `err` says which. */
int fm_snapshot_check(const struct fm_settings *settings, char *err, size_t err_len);

/* Put a checked set in place of the running one; waits until no worker uses the old one any more. */
void fm_snapshot_publish(const struct fm_settings *settings);

#endif
