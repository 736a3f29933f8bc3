/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "memory.h"
#include "report.h"

void fm_bench_report_head(const struct fm_bench_report *report)
{
	if (report->tsv)
		printf("group\tcase\tfamily\tdatagrams\tvalue\tunit\tfloor\tratio\ttarget\tmet\n");
	else
		printf("%-8s  %-40s  %6s  %9s  %8s  %-8s  %6s  %6s  %6s  %s\n", "group", "case", "family", "datagrams",
		       "value", "unit", "floor", "ratio", "target", "met");
}

static void optional(char text[16], const char *format, double value)
{
	if (value > 0)
		snprintf(text, 16, format, value);
	else
		snprintf(text, 16, "-");
}

void fm_bench_report_row(struct fm_bench_report *report, const struct fm_bench_row *row)
{
	char family[16], datagrams[16], floor[16], ratio[16], target[16];
	const char *verdict = "-";

	if (row->target > 0) {
		const bool met = (row->ratio > 0 ? row->ratio : row->value) <= row->target;

		report->targets++;
		report->met += met;
		verdict = met ? "yes" : report->tsv ? "no" : "NO";
	}
	optional(family, "%.0f", row->family);
	optional(datagrams, "%.0f", row->datagrams);
	optional(floor, "%.2f", row->floor);
	optional(ratio, "%.2f", row->ratio);
	optional(target, "%.1f", row->target);
	printf(report->tsv ? "%s\t%s\t%s\t%s\t%.1f\t%s\t%s\t%s\t%s\t%s\n"
			   : "%-8s  %-40s  %6s  %9s  %8.1f  %-8s  %6s  %6s  %6s  %s\n",
	       row->group, row->what, family, datagrams, row->value, row->unit, floor, ratio, target, verdict);
	fflush(stdout);
}

void fm_bench_report_foot(const struct fm_bench_report *report)
{
	FILE *out = report->tsv ? stderr : stdout;

	if (report->targets > 0)
		fprintf(out, "targets met: %u of %u; ", report->met, report->targets);
	fprintf(out, "%s\n", fm_bench_pages());
}
