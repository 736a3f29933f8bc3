/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of the live view: something to draw, and what was drawn, line by line.
 */
#ifndef FM_LIVE_SCENE_H
#define FM_LIVE_SCENE_H

#include "live.h"

extern struct fm_live live;
extern struct fm_live_look as;
extern char *text;	/* what was drawn last */

/* For cmocka: forwarding, but nothing else; and what was drawn is freed. */
int scene_setup(void **state);
int scene_teardown(void **state);

/* Two ports, two workers, two sources, three kinds of drops. */
void scene_small(void);

/* As much of everything as there can be, and every number the largest one. */
void scene_huge(void);

void scene_draw(unsigned int columns, unsigned int rows, enum fm_paint paint);

/* The i-th line, from 0; "": there is none. Valid until the next but three calls. */
const char *scene_line(unsigned int i);

/* The first line that begins so, behind blanks; -1: none. */
int scene_find(const char *word);

/* Was it drawn? */
void scene_has(const char *word);
void scene_has_not(const char *word);

#endif
