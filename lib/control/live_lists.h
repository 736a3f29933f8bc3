/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The four tables of the live view. Each puts its titles on `row` and its lines, `lines` of them at most (1 or more),
 * below. What does not fit is counted on the last line if there are two, and is what matters least.
 */
#ifndef FM_LIVE_LISTS_H
#define FM_LIVE_LISTS_H

#include "live.h"

void fm_live_ports(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines);
void fm_live_workers(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines);
void fm_live_sources(const struct fm_live *live, enum fm_live_sort sort, struct fm_canvas *canvas, int row, int lines);
void fm_live_drops(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines);

/* How a level looks that is so full. */
enum fm_look fm_live_full(double percent);

/* 0 if `whole` is. */
double fm_live_percent(uint64_t part, uint64_t whole);

#endif
