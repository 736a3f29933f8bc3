/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FM_MANUAL_H
#define FM_MANUAL_H

#include <stddef.h>

/* Print text in which nothing means anything to scdoc. */
void fm_manual_plain(const char *text, size_t len);

/* Print what a header declares, as a synopsis. Returns how many functions that were, or -1: it cannot be read. */
int fm_manual_synopsis(const char *header);

/* Print each function of a header with the comment above it. Returns how many, or -1: it cannot be read. */
int fm_manual_calls(const char *header);

#endif
