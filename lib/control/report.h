/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data with names: what `show ... json` prints and what telemetry answers are made from one tree of values.
 *
 * A report has one root object. Objects have members with names, lists have elements without. Names are small letters,
 * digits and '_', as telemetry takes no others, except where a list of names comes from a driver.
 *
 * No error has to be looked at while a report is made: once memory is out nothing more is added, and fm_report_ok()
 * says so. One thread at a time uses a report.
 */
#ifndef FM_REPORT_H
#define FM_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum fm_value_kind {
	FM_VALUE_OBJECT,
	FM_VALUE_LIST,
	FM_VALUE_UINT,
	FM_VALUE_INT,
	FM_VALUE_DOUBLE,
	FM_VALUE_TEXT,
	FM_VALUE_BOOL,
};

struct fm_value {
	struct fm_report *report;
	struct fm_value *next;		/* beside it, in the order in which they were put */
	const char *name;		/* NULL: an element of a list, or the root */
	enum fm_value_kind kind;
	union {
		struct { struct fm_value *first, *last; } in;	/* objects and lists */
		uint64_t number;
		int64_t integer;
		double real;
		const char *text;	/* any bytes; UTF-8 comes out as it is */
		bool yes;
	};
};

/* @return NULL: no memory */
struct fm_report *fm_report_new(void);
void fm_report_free(struct fm_report *report);
struct fm_value *fm_report_root(struct fm_report *report);
/* Has everything that was put found memory? */
bool fm_report_ok(const struct fm_report *report);

/*
 * Put a value at the end of an object or list.
 *
 * @param in    an object or list of a report
 * @param name  of the member, copied; NULL where `in` is a list
 * @return      of the first two: what goes on taking values; never NULL
 */
struct fm_value *fm_put_object(struct fm_value *in, const char *name);
struct fm_value *fm_put_list(struct fm_value *in, const char *name);
void fm_put_uint(struct fm_value *in, const char *name, uint64_t number);
void fm_put_int(struct fm_value *in, const char *name, int64_t integer);
void fm_put_double(struct fm_value *in, const char *name, double real);
void fm_put_bool(struct fm_value *in, const char *name, bool yes);
/* @param text  copied */
void fm_put_text(struct fm_value *in, const char *name, const char *text);

/*
 * Write the report as one JSON object (RFC 8259) on one line, with its newline. Whole numbers have all their digits;
 * what is not UTF-8 becomes U+FFFD.
 */
void fm_report_json(struct fm_report *report, FILE *out);

#endif
