/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report as JSON.
 */
#include <inttypes.h>
#include <math.h>

#include "report.h"

#define REPLACEMENT "\xef\xbf\xbd"	/* U+FFFD */

/*
 * How many bytes make one character of UTF-8 (RFC 3629: neither longer than needed, nor surrogates, nor above
 * U+10FFFF).
 *
 * @return 0: they do not
 */
static unsigned int utf8_len(const unsigned char *at)
{
	/* What the second byte may be is where those three rules lie. */
	static const struct {
		unsigned char first, last, second_min, second_max;
		unsigned int len;
	} rows[] = {
		{ 0x00, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (at[0] < rows[i].first || at[0] > rows[i].last)
			continue;
		if (rows[i].len > 1 && (at[1] < rows[i].second_min || at[1] > rows[i].second_max))
			return 0;
		/* A NUL ends the text and is no such byte. */
		for (unsigned int b = 2; b < rows[i].len; b++)
			if ((at[b] & 0xc0) != 0x80)
				return 0;
		return rows[i].len;
	}
	return 0;
}

static void write_text(const char *text, FILE *out)
{
	const unsigned char *at = (const unsigned char *)text;

	fputc('"', out);
	while (*at != '\0') {
		const unsigned int len = utf8_len(at);

		if (len == 0)
			fputs(REPLACEMENT, out);
		else if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < ' ' || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, len, out);
		at += len == 0 ? 1 : len;
	}
	fputc('"', out);
}

/* JSON has no word for what is no number. */
static void write_double(double real, FILE *out)
{
	if (isfinite(real))
		fprintf(out, "%.15g", real);
	else
		fputs("null", out);
}

static void write_value(const struct fm_value *value, FILE *out)
{
	const bool object = value->kind == FM_VALUE_OBJECT;

	switch (value->kind) {
	case FM_VALUE_OBJECT:
	case FM_VALUE_LIST:
		fputc(object ? '{' : '[', out);
		for (const struct fm_value *in = value->in.first; in != NULL; in = in->next) {
			if (in != value->in.first)
				fputs(", ", out);
			if (object) {
				write_text(in->name, out);
				fputs(": ", out);
			}
			write_value(in, out);
		}
		fputc(object ? '}' : ']', out);
		break;
	case FM_VALUE_UINT:
		fprintf(out, "%" PRIu64, value->number);
		break;
	case FM_VALUE_INT:
		fprintf(out, "%" PRId64, value->integer);
		break;
	case FM_VALUE_DOUBLE:
		write_double(value->real, out);
		break;
	case FM_VALUE_TEXT:
		write_text(value->text, out);
		break;
	case FM_VALUE_BOOL:
		fputs(value->yes ? "true" : "false", out);
		break;
	}
}

void fm_report_json(struct fm_report *report, FILE *out)
{
	write_value(fm_report_root(report), out);
	fputc('\n', out);
}
