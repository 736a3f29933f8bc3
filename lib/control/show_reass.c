/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly stats|drops
 */
#include <errno.h>
#include <inttypes.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"
#include "show.h"
#include "stats.h"

static void print_row(FILE *out, const char *name, uint64_t count, uint64_t recent, double recent_s)
{
	char rate[FM_RATE_LEN];

	fprintf(out, "%-36s %18" PRIu64, name, count);
	if (recent_s >= 0)
		fprintf(out, " %14s", fm_rate(recent, recent_s, rate));
	fputc('\n', out);
}

static void print_counters(FILE *out, const struct fm_stats *stats)
{
	const struct fm_reass_stats *all = &stats->shown.reass, *recent = &stats->recent.reass;
	struct fm_stats_sums sum, recent_sum;
	double s = stats->recent_s;

	fm_stats_sum(&stats->shown, &sum);
	fm_stats_sum(&stats->recent, &recent_sum);
	print_row(out, "frames in", all->frames_in, recent->frames_in, s);
	print_row(out, "fragments in", all->fragments_in, recent->fragments_in, s);
	print_row(out, "  of completed datagrams", all->count[FM_COMPLETED], recent->count[FM_COMPLETED], s);
	print_row(out, "  dropped", sum.fragments_dropped, recent_sum.fragments_dropped, s);
	print_row(out, "datagrams completed", all->datagrams_done, recent->datagrams_done, s);
	print_row(out, "  sent whole", all->count[FM_SENT_WHOLE], recent->count[FM_SENT_WHOLE], s);
	print_row(out, "  sent re-fragmented", all->count[FM_SENT_REFRAGMENTED], recent->count[FM_SENT_REFRAGMENTED],
		  s);
	print_row(out, "  dropped on their way out", sum.datagrams_dropped, recent_sum.datagrams_dropped, s);
}

static void print_held(FILE *out, const struct fm_reass_stats *now, uint64_t budget, uint64_t max_datagrams)
{
	fprintf(out, "\nheld now\n");
	fprintf(out, "%-36s %18" PRIu64 "\n", "  fragments", now->held_fragments);
	fprintf(out, "%-36s %18" PRIu64 " of %" PRIu64 "\n", "  mbufs, of the budget", now->held_mbufs, budget);
	fprintf(out, "%-36s %18" PRIu64 " of %" PRIu64 "\n", "  datagrams", now->datagrams, max_datagrams);
	fprintf(out, "%-36s %18" PRIu64 "\n", "  condemned datagrams, remembered", now->condemned);
}

/* The sums of one worker; it goes on counting while they are read, so a difference is told, not judged. */
static void print_identity(FILE *out, const struct fm_worker_stats *raw)
{
	struct fm_stats_sums sum;
	uint64_t known;

	fm_stats_sum(raw, &sum);
	known = sum.fragments + raw->reass.held_fragments;
	if (known == raw->reass.fragments_in)
		fprintf(out, "\naccounting: fragments OK\n");
	else
		fprintf(out, "\naccounting: fragments differ by %" PRId64 " (0 when traffic is quiet)\n",
			(int64_t)(raw->reass.fragments_in - known));
}

/* What one worker or all of them may hold. */
struct limits {
	uint64_t budget_mbufs, max_datagrams;
	uint16_t lcore;		/* of the one */
};

static void get_limits(uint16_t worker, struct limits *limits)
{
	struct fm_worker_view view;

	*limits = (struct limits){ .lcore = 0 };
	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		if (worker != FM_ALL_WORKERS && worker != w)
			continue;
		fm_door_worker(w, &view);
		limits->budget_mbufs += view.budget_mbufs;
		limits->max_datagrams += view.max_datagrams;
		limits->lcore = view.lcore;
	}
}

void fm_show_stats(FILE *out, uint16_t worker, const struct fm_stats *stats)
{
	struct limits limits;
	char title[64];

	get_limits(worker, &limits);
	if (worker == FM_ALL_WORKERS)
		snprintf(title, sizeof(title), "Reassembly, all workers");
	else
		snprintf(title, sizeof(title), "Reassembly, lcore %u", limits.lcore);
	fprintf(out, "%-36s %18s%s\n", title, "count", stats->recent_s < 0 ? "" : "          per s");
	print_counters(out, stats);
	print_held(out, &stats->raw.reass, limits.budget_mbufs, limits.max_datagrams);
}

/* The same members as counts and as rates. */
static void put_counts(struct fm_value *in, const struct fm_worker_stats *stats, double seconds,
		       void (*put)(struct fm_value *in, const char *name, uint64_t count, double seconds))
{
	const struct fm_reass_stats *reass = &stats->reass;
	struct fm_stats_sums sum;

	fm_stats_sum(stats, &sum);
	put(in, "rx_frames", stats->rx_frames, seconds);
	put(in, "rx_bytes", stats->rx_bytes, seconds);
	put(in, "tx_frames", stats->tx_frames, seconds);
	put(in, "tx_bytes", stats->tx_bytes, seconds);
	put(in, "frames_in", reass->frames_in, seconds);
	put(in, "frames_dropped", sum.frames_dropped, seconds);
	put(in, "fragments_in", reass->fragments_in, seconds);
	put(in, "fragments_completed", reass->count[FM_COMPLETED], seconds);
	put(in, "fragments_dropped", sum.fragments_dropped, seconds);
	put(in, "datagrams_completed", reass->datagrams_done, seconds);
	put(in, "datagrams_sent_whole", reass->count[FM_SENT_WHOLE], seconds);
	put(in, "datagrams_sent_refragmented", reass->count[FM_SENT_REFRAGMENTED], seconds);
	put(in, "datagrams_dropped", sum.datagrams_dropped, seconds);
	put(in, "polls", stats->polls, seconds);
	put(in, "busy_polls", stats->busy_polls, seconds);
}

static void put_count(struct fm_value *in, const char *name, uint64_t count, double seconds)
{
	(void)seconds;
	fm_put_uint(in, name, count);
}

void fm_put_counters(struct fm_value *in, const struct fm_stats *stats)
{
	put_counts(in, &stats->shown, 0, put_count);
	/* Where the rates are not known yet there are none, which is not the same as 0. */
	if (stats->recent_s > 0)
		put_counts(fm_put_object(in, "per_s"), &stats->recent, stats->recent_s, fm_put_rate);
}

void fm_put_held(struct fm_value *in, const struct fm_worker_stats *now, uint64_t budget_mbufs, uint64_t max_datagrams)
{
	struct fm_value *held = fm_put_object(in, "held");

	fm_put_uint(held, "fragments", now->reass.held_fragments);
	fm_put_uint(held, "mbufs", now->reass.held_mbufs);
	fm_put_uint(held, "budget_mbufs", budget_mbufs);
	fm_put_uint(held, "datagrams", now->reass.datagrams);
	fm_put_uint(held, "max_datagrams", max_datagrams);
	fm_put_uint(held, "condemned", now->reass.condemned);
	fm_put_uint(held, "tx_backlog_mbufs", now->tx_backlog_mbufs);
	fm_put_uint(held, "between_workers_mbufs", now->pipe_mbufs);
}

int fm_ask_worker(const struct fm_ask *ask, uint16_t *worker, char *err, size_t err_len)
{
	struct fm_worker_view view;

	*worker = FM_ALL_WORKERS;
	for (uint16_t w = 0; ask->given && w < fm_door_workers(); w++) {
		fm_door_worker(w, &view);
		if (view.lcore == ask->number)
			*worker = w;
	}
	if (!ask->given || *worker != FM_ALL_WORKERS)
		return 0;
	snprintf(err, err_len, "no worker is on lcore %" PRIu64 " (see /fragmend/lcores or show lcores)", ask->number);
	return -ENOENT;
}

int fm_put_stats(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct limits limits;
	struct fm_stats stats;
	uint16_t worker;
	int ret = fm_ask_worker(ask, &worker, err, err_len);

	if (ret != 0)
		return ret;
	get_limits(worker, &limits);
	fm_stats_get(worker, fm_now_ns(), &stats);
	if (ask->since_start)
		stats.shown = stats.raw;
	if (worker != FM_ALL_WORKERS)
		fm_put_uint(root, "lcore", limits.lcore);
	fm_put_counters(root, &stats);
	fm_put_held(root, &stats.raw, limits.budget_mbufs, limits.max_datagrams);
	return 0;
}

int fm_do_show_stats(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = {
		.given = fm_args_has(args, "LCORE"), .number = fm_args_number(args, "LCORE", 0),
	};
	struct fm_check_view check;
	struct fm_stats stats;
	uint16_t worker;
	int ret;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_stats);
	ret = fm_ask_worker(&ask, &worker, shell->err, sizeof(shell->err));
	if (ret != 0)
		return ret;
	fm_stats_get(worker, fm_now_ns(), &stats);
	fm_show_stats(shell->out, worker, &stats);
	if (worker != FM_ALL_WORKERS) {
		print_identity(shell->out, &stats.raw);
		return 0;
	}
	fm_check_get(&check);
	fputc('\n', shell->out);
	fm_show_verdict(shell->out, &check);
	return 0;
}

/* Widths of the columns of `show reassembly drops`; the sentence has the rest. */
enum { SIGN_WIDTH = 2, NAME_WIDTH = 19, COUNT_WIDTH = 13, RATE_WIDTH = 10 };

static const char sign[] = { [FM_SEV_GOOD] = ' ', [FM_SEV_DROP] = '-', [FM_SEV_PRESSURE] = '!' };

static void print_outcome(FILE *out, enum fm_outcome outcome, const struct fm_stats *stats)
{
	const struct fm_outcome_info *info = &fm_outcome_info[outcome];
	char rate[FM_RATE_LEN];
	int at;

	at = fprintf(out, "%c %-*s%*" PRIu64, sign[info->severity], NAME_WIDTH, info->name, COUNT_WIDTH,
		     stats->shown.reass.count[outcome]);
	if (stats->recent_s >= 0)
		at += fprintf(out, "%*s", RATE_WIDTH,
			      fm_rate(stats->recent.reass.count[outcome], stats->recent_s, rate));
	at += fprintf(out, "  ");
	fm_print_wrapped(out, info->text, at, at);
}

static void print_unit_title(FILE *out, enum fm_unit unit, bool with_rate)
{
	static const char *const title[] = {
		[FM_UNIT_FRAME] = "Frames that are no fragments",
		[FM_UNIT_FRAGMENT] = "Fragments",
		[FM_UNIT_DATAGRAM] = "Datagrams, on their way out",
	};
	int at = fprintf(out, "%s", title[unit]);

	fprintf(out, "%*s", SIGN_WIDTH + NAME_WIDTH + COUNT_WIDTH - at, "count");
	if (with_rate)
		fprintf(out, "%*s", RATE_WIDTH, "per s");
	fputc('\n', out);
}

void fm_show_outcomes(FILE *out, const struct fm_stats *stats, bool with_zero)
{
	bool any = false, bad = false, titled;

	for (unsigned int unit = FM_UNIT_FRAME; unit <= FM_UNIT_DATAGRAM; unit++) {
		titled = false;
		for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
			if (fm_outcome_info[i].unit != unit || (!with_zero && stats->shown.reass.count[i] == 0))
				continue;
			if (!titled) {
				fputs(any ? "\n" : "", out);
				print_unit_title(out, unit, stats->recent_s >= 0);
			}
			titled = any = true;
			bad |= fm_outcome_info[i].severity != FM_SEV_GOOD;
			print_outcome(out, i, stats);
		}
	}
	if (bad)
		fprintf(out, "\n-: dropped for what it is   !: dropped for want of memory, time or room\n");
}

int fm_put_drops(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	static const char *const severity[] = {
		[FM_SEV_GOOD] = "good", [FM_SEV_DROP] = "drop", [FM_SEV_PRESSURE] = "pressure",
	};
	static const char *const unit[] = {
		[FM_UNIT_FRAME] = "frame", [FM_UNIT_FRAGMENT] = "fragment", [FM_UNIT_DATAGRAM] = "datagram",
	};
	struct fm_stats stats;

	(void)err;
	(void)err_len;
	fm_stats_get(FM_ALL_WORKERS, fm_now_ns(), &stats);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		const struct fm_outcome_info *info = &fm_outcome_info[i];
		struct fm_value *in = fm_put_object(root, info->name);

		fm_put_uint(in, "count", (ask->since_start ? &stats.raw : &stats.shown)->reass.count[i]);
		fm_put_rate(in, "per_s", stats.recent.reass.count[i], stats.recent_s);
		fm_put_text(in, "severity", severity[info->severity]);
		fm_put_text(in, "unit", unit[info->unit]);
		fm_put_text(in, "text", info->text);
	}
	return 0;
}

int fm_do_show_drops(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = false };
	struct fm_stats stats;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_drops);
	fm_stats_get(FM_ALL_WORKERS, fm_now_ns(), &stats);
	fm_show_outcomes(shell->out, &stats, true);
	return 0;
}
