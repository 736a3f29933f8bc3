/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text for terminals of 80 columns.
 */
#ifndef FM_PRINT_H
#define FM_PRINT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	FM_COLUMNS = 80,
	FM_RATE_LEN = 24,	/* bytes that hold a rate as text */
};

/*
 * Print a text and a newline, broken between words.
 *
 * @param at      columns that are used on the current line
 * @param indent  where further lines begin
 */
void fm_print_wrapped(FILE *out, const char *text, int at, int indent);

/*
 * A rate as text: whole numbers, one decimal below 10.
 *
 * @param seconds  time in which `count` came; 0: not known, "-"; < 0: not wanted, ""
 * @return         buf
 */
const char *fm_rate(uint64_t count, double seconds, char buf[FM_RATE_LEN]);

/* The same for bytes, in Mbit/s. */
const char *fm_rate_mbit(uint64_t bytes, double seconds, char buf[FM_RATE_LEN]);

#endif
