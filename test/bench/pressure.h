/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of results: targets judged, rows printed. */
#ifndef FM_PRESSURE_H
#define FM_PRESSURE_H

#include "scenario_run.h"

struct fm_pressure_table {
	bool tsv;
	uint32_t targets, met; /* rows that have a target, and those that meet it */
};

/* Does a result meet all targets of its class? `all` are the results of its scenario so far, by case. */
bool fm_pressure_met(const struct fm_scenario_case *spec, unsigned int class, const struct fm_scenario_result *result,
		     const struct fm_scenario_result *all);
void fm_pressure_head(const struct fm_pressure_table *table);
/* A row for each class; `all` is NULL where the targets are not meant for this engine. */
void fm_pressure_rows(struct fm_pressure_table *table, const char *scenario, const char *engine,
		      const struct fm_scenario_case *spec, const struct fm_scenario_result *result,
		      const struct fm_scenario_result *all);
void fm_pressure_foot(const struct fm_pressure_table *table);

#endif
