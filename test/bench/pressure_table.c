/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "pressure.h"

static const struct {
	const char *name;
	bool at_most, relative;
} metric_info[] = {
	[FM_SCENARIO_GOODPUT] = {.name = "goodput"},
	[FM_SCENARIO_RATIO] = {.name = "ratio"},
	[FM_SCENARIO_JAIN] = {.name = "jain"},
	[FM_SCENARIO_WORST] = {.name = "worst"},
	[FM_SCENARIO_COMPLETED] = {.name = "completed", .relative = true},
	[FM_SCENARIO_RATIO_FLAT] = {.name = "ratio", .relative = true},
	[FM_SCENARIO_CYCLES] = {.name = "cycles", .at_most = true, .relative = true},
};

static double value_of(const struct fm_scenario_result *result, unsigned int class, enum fm_scenario_metric metric)
{
	const struct fm_scenario_score *score = &result->score[class];

	switch (metric) {
	case FM_SCENARIO_GOODPUT:
		return score->goodput;
	case FM_SCENARIO_JAIN:
		return score->jain;
	case FM_SCENARIO_WORST:
		return score->worst;
	case FM_SCENARIO_COMPLETED:
		return (double)score->completed;
	case FM_SCENARIO_CYCLES:
		return result->cycles;
	default:
		return score->ratio;
	}
}

static bool target_met(const struct fm_scenario_target *target, int reference, unsigned int class,
		       const struct fm_scenario_result *result, const struct fm_scenario_result *all)
{
	const double value = value_of(result, class, target->metric);
	double limit = target->limit;

	if (metric_info[target->metric].relative)
		limit *= value_of(&all[reference], class, target->metric);
	return metric_info[target->metric].at_most ? value <= limit : value >= limit;
}

bool fm_pressure_met(const struct fm_scenario_case *spec, unsigned int class, const struct fm_scenario_result *result,
		     const struct fm_scenario_result *all)
{
	const struct fm_scenario_target *target = spec->class[class].target;

	for (unsigned int i = 0; i < FM_SCENARIO_TARGETS && target[i].metric != FM_SCENARIO_NO_TARGET; i++)
		if (!target_met(&target[i], spec->reference, class, result, all))
			return false;
	return true;
}

/* "ratio>=0.65 jain>=0.95" and, if asked for, what of it is missed. An x: so many times what the reference row has. */
static void describe_targets(const struct fm_scenario_case *spec, unsigned int class,
			     const struct fm_scenario_result *result, const struct fm_scenario_result *all, bool missed,
			     char *text, size_t len)
{
	const struct fm_scenario_target *target = spec->class[class].target;
	const char *between = "";
	size_t at = 0;

	for (unsigned int i = 0; i < FM_SCENARIO_TARGETS && target[i].metric != FM_SCENARIO_NO_TARGET; i++) {
		at += (size_t)snprintf(text + at, len - at, "%s%s%s%.3g%s", between, metric_info[target[i].metric].name,
				       metric_info[target[i].metric].at_most ? "<=" : ">=", target[i].limit,
				       metric_info[target[i].metric].relative ? "x" : "");
		between = " ";
	}
	between = "  missed: ";
	for (unsigned int i = 0; missed && i < FM_SCENARIO_TARGETS && target[i].metric != FM_SCENARIO_NO_TARGET; i++)
		if (!target_met(&target[i], spec->reference, class, result, all)) {
			at += (size_t)snprintf(text + at, len - at, "%s%s", between,
					       metric_info[target[i].metric].name);
			between = ", ";
		}
}

void fm_pressure_head(const struct fm_pressure_table *table)
{
	if (table->tsv)
		printf("scenario\tengine\tparams\toffered\tcompleted\tgoodput\tbound\tratio\tjain\tworst\tcycles\ttarge"
		       "t\tmet\n");
	else
		printf("%-14s  %-11s  %-40s  %8s  %9s  %7s  %5s  %5s  %5s  %5s  %6s  %-3s  %s\n", "scenario", "engine",
		       "params", "offered", "completed", "goodput", "bound", "ratio", "jain", "worst", "cycles", "met",
		       "target");
}

static void print_row(struct fm_pressure_table *table, const char *scenario, const char *engine,
		      const struct fm_scenario_case *spec, unsigned int class, const struct fm_scenario_result *result,
		      const struct fm_scenario_result *all)
{
	const struct fm_scenario_score *s = &result->score[class];
	const char *name = spec->class[class].name, *verdict = "-";
	char params[FM_SCENARIO_PARAMS_MAX + 16], target[160] = "-";

	snprintf(params, sizeof(params), "%s%s%s", spec->params, name != NULL ? " " : "", name != NULL ? name : "");
	if (all != NULL && spec->class[class].target[0].metric != FM_SCENARIO_NO_TARGET) {
		const bool met = fm_pressure_met(spec, class, result, all);

		describe_targets(spec, class, result, all, !table->tsv, target, sizeof(target));
		verdict = met ? "yes" : table->tsv ? "no" : "NO";
		table->targets++;
		table->met += met;
	}
	if (table->tsv)
		printf("%s\t%s\t%s\t%lu\t%lu\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.0f\t%s\t%s\n", scenario, engine, params,
		       s->offered, s->completed, s->goodput, s->bound, s->ratio, s->jain, s->worst, result->cycles,
		       target, verdict);
	else
		printf("%-14s  %-11s  %-40s  %8lu  %9lu  %7.3f  %5.3f  %5.3f  %5.3f  %5.3f  %6.0f  %-3s  %s\n",
		       scenario, engine, params, s->offered, s->completed, s->goodput, s->bound, s->ratio, s->jain,
		       s->worst, result->cycles, verdict, target);
}

void fm_pressure_rows(struct fm_pressure_table *table, const char *scenario, const char *engine,
		      const struct fm_scenario_case *spec, const struct fm_scenario_result *result,
		      const struct fm_scenario_result *all)
{
	for (unsigned int class = 0; class < spec->n_classes; class ++)
		print_row(table, scenario, engine, spec, class, result, all);
	fflush(stdout);
}

void fm_pressure_foot(const struct fm_pressure_table *table)
{
	if (!table->tsv)
		printf("targets met: %u of %u\n", table->met, table->targets);
}
