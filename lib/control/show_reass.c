/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly stats|drops
 */
#include <inttypes.h>
#include <string.h>

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

void fm_show_stats(FILE *out, uint16_t worker, const struct fm_stats *stats)
{
	uint64_t budget = 0, max_datagrams = 0;
	struct fm_worker_view view;
	uint16_t lcore = 0;
	char title[64];

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		if (worker != FM_ALL_WORKERS && worker != w)
			continue;
		fm_door_worker(w, &view);
		budget += view.budget_mbufs;
		max_datagrams += view.max_datagrams;
		lcore = view.lcore;
	}
	if (worker == FM_ALL_WORKERS)
		snprintf(title, sizeof(title), "Reassembly, all workers");
	else
		snprintf(title, sizeof(title), "Reassembly, lcore %u", lcore);
	fprintf(out, "%-36s %18s%s\n", title, "count", stats->recent_s < 0 ? "" : "          per s");
	print_counters(out, stats);
	print_held(out, &stats->raw.reass, budget, max_datagrams);
}

int fm_do_show_stats(struct fm_shell *shell, const struct fm_args *args)
{
	uint64_t lcore = fm_args_number(args, "LCORE", UINT64_MAX);
	uint16_t worker = FM_ALL_WORKERS;
	struct fm_worker_view view;
	struct fm_check_view check;
	struct fm_stats stats;

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker(w, &view);
		if (view.lcore == lcore)
			worker = w;
	}
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

int fm_do_show_drops(struct fm_shell *shell, const struct fm_args *args)
{
	struct fm_stats stats;

	(void)args;
	fm_stats_get(FM_ALL_WORKERS, fm_now_ns(), &stats);
	fm_show_outcomes(shell->out, &stats, true);
	return 0;
}
