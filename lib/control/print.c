/* SPDX-License-Identifier: BSD-3-Clause */
#include "print.h"
#include "word.h"

void fm_print_wrapped(FILE *out, const char *text, int at, int indent)
{
	struct fm_word word;
	const char *gap = "";

	while (fm_word_next(&text, " ", &word)) {
		if (*gap != '\0' && at + 1 + word.len >= FM_COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			at = indent;
			gap = "";
		}
		at += fprintf(out, "%s%.*s", gap, word.len, word.text);
		gap = " ";
	}
	fputc('\n', out);
}

static const char *rate(double count, double seconds, char buf[FM_RATE_LEN])
{
	double per_s;

	if (seconds <= 0) {
		snprintf(buf, FM_RATE_LEN, "%s", seconds < 0 ? "" : "-");
		return buf;
	}
	per_s = count / seconds;
	snprintf(buf, FM_RATE_LEN, per_s > 0 && per_s < 9.95 ? "%.1f" : "%.0f", per_s);
	return buf;
}

const char *fm_rate(uint64_t count, double seconds, char buf[FM_RATE_LEN])
{
	return rate((double)count, seconds, buf);
}

const char *fm_rate_mbit(uint64_t bytes, double seconds, char buf[FM_RATE_LEN])
{
	return rate((double)bytes * 8 / 1e6, seconds, buf);
}
