/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be asked for, as data: each of these puts its part of what the control door tells into a report. `show ...
 * json` and the telemetry endpoint of the same name have the same members, as both are made here.
 *
 * All of them are called by whoever has the control door (lock.h).
 */
#ifndef FM_DATA_H
#define FM_DATA_H

#include "command.h"
#include "report.h"
#include "stats.h"

/* What of it. */
struct fm_ask {
	bool given;		/* `number` counts; otherwise: all, or as many as usual */
	uint64_t number;	/* an lcore, an ethdev port id, or how many */
	bool since_start;	/* counters as they are, whatever `clear` was given */
	bool brief;		/* of each of many no more than what fits an answer of telemetry */
};

/*
 * Gather the data and put them into `root`, an empty object.
 *
 * @param err  receives one sentence on failure
 * @return     0 or -errno; -ENOENT: there is no such lcore or port
 */
int fm_put_stats(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_drops(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_sources(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_datagrams(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_config(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_budget(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_check(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_lcores(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_numa(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
/* Every port, or the one with that id: counters, what it is and can, its driver's counters, its link. */
int fm_put_ports(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_port_info(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_port_xstats(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
int fm_put_port_link(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);

/*
 * The worker on the lcore that was asked for, or FM_ALL_WORKERS.
 *
 * @return 0; -ENOENT, with a sentence
 */
int fm_ask_worker(const struct fm_ask *ask, uint16_t *worker, char *err, size_t err_len);

/* Counters with their rates, and what is held now, of one worker or of all. */
void fm_put_counters(struct fm_value *in, const struct fm_stats *stats);
void fm_put_held(struct fm_value *in, const struct fm_worker_stats *now, uint64_t budget_mbufs, uint64_t max_datagrams);

/* What came within the last `seconds`, as a rate; nothing if that time is not known. */
void fm_put_rate(struct fm_value *in, const char *name, uint64_t count, double seconds);

/* Print the JSON form. @return 0 or what `put` returned, with shell->err */
int fm_shell_json(struct fm_shell *shell, const struct fm_ask *ask,
		  int (*put)(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len));

#endif
