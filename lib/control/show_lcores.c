/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show lcores
 */
#include <inttypes.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"
#include "stats.h"

static void print_owned(FILE *out, const struct fm_worker_view *view)
{
	if (view->n_owned == 0)
		return;
	fputs("           its part of the fragments of ", out);
	/* More would not fit the line. */
	if (view->n_owned > 8) {
		fprintf(out, "%u ports\n", view->n_owned);
		return;
	}
	fprintf(out, "port%s", view->n_owned == 1 ? "" : "s");
	for (uint16_t p = 0; p < view->n_owned; p++)
		fprintf(out, "%s %u", p == 0 ? "" : ",", view->owned[p]);
	fputc('\n', out);
}

/* What the worker polls, what it gets of what others poll, and what it hands to them. */
static void print_work(FILE *out, const struct fm_worker_view *view)
{
	for (uint16_t q = 0; q < view->n_queues; q++) {
		fprintf(out, "           port %u queue %u to port %u queue %u", view->queue[q].port,
			view->queue[q].queue, view->queue[q].peer, view->queue[q].tx_queue);
		if (view->queue[q].tx_lcore != view->lcore)
			fprintf(out, ", sent by lcore %u", view->queue[q].tx_lcore);
		fputc('\n', out);
	}
	print_owned(out, view);
	for (uint16_t i = 0; i < view->n_pipes; i++) {
		const struct fm_pipe_view *pipe = &view->pipe[i];

		if (pipe->port == UINT16_MAX)
			fprintf(out, "           fragments to lcore %u", pipe->to_lcore);
		else
			fprintf(out, "           port %u by lcore %u", pipe->port, pipe->to_lcore);
		fprintf(out, ": %" PRIu64 ", dropped %" PRIu64 ", waiting %u of %u\n", pipe->frames, pipe->dropped,
			pipe->mbufs, pipe->room_mbufs);
	}
}

static void print_worker(FILE *out, uint16_t worker, uint64_t now_ns)
{
	char frames[FM_RATE_LEN], fragments[FM_RATE_LEN], node[12], load[12] = "-";
	struct fm_worker_view view;
	struct fm_stats stats;

	fm_door_worker(worker, &view);
	fm_stats_get(worker, now_ns, &stats);
	if (view.socket >= 0)
		snprintf(node, sizeof(node), "%d", view.socket);
	else
		snprintf(node, sizeof(node), "-");
	if (stats.recent.polls > 0)
		snprintf(load, sizeof(load), "%.1f%%", 100.0 * stats.recent.busy_polls / stats.recent.polls);
	fprintf(out, "%5u %4s %7s %12s %12s %10" PRIu64 " %10u %9" PRIu64 "\n", view.lcore, node, load,
		fm_rate(stats.recent.rx_frames, stats.recent_s, frames),
		fm_rate(stats.recent.reass.fragments_in, stats.recent_s, fragments), stats.raw.reass.held_mbufs,
		view.budget_mbufs, stats.raw.tx_backlog_mbufs);
	fprintf(out, "           table of %" PRIu64 " KiB for %u datagrams\n", view.table_bytes / 1024,
		view.max_datagrams);
	print_work(out, &view);
}

static void put_queues(struct fm_value *in, const struct fm_worker_view *view)
{
	struct fm_value *list = fm_put_list(in, "queues"), *queue;

	for (uint16_t q = 0; q < view->n_queues; q++) {
		queue = fm_put_object(list, NULL);
		fm_put_uint(queue, "port", view->queue[q].port);
		fm_put_uint(queue, "queue", view->queue[q].queue);
		fm_put_uint(queue, "to_port", view->queue[q].peer);
		fm_put_uint(queue, "to_queue", view->queue[q].tx_queue);
		fm_put_uint(queue, "sent_by_lcore", view->queue[q].tx_lcore);
	}
	list = fm_put_list(in, "owned_ports");
	for (uint16_t p = 0; p < view->n_owned; p++)
		fm_put_uint(list, NULL, view->owned[p]);
}

static void put_pipes(struct fm_value *in, const struct fm_worker_view *view)
{
	struct fm_value *list = fm_put_list(in, "pipes"), *pipe;

	for (uint16_t i = 0; i < view->n_pipes; i++) {
		pipe = fm_put_object(list, NULL);
		fm_put_uint(pipe, "to_lcore", view->pipe[i].to_lcore);
		if (view->pipe[i].port == UINT16_MAX)
			fm_put_text(pipe, "of", "fragments");
		else
			fm_put_uint(pipe, "to_port", view->pipe[i].port);
		fm_put_uint(pipe, "frames", view->pipe[i].frames);
		fm_put_uint(pipe, "dropped", view->pipe[i].dropped);
		fm_put_uint(pipe, "mbufs", view->pipe[i].mbufs);
		fm_put_uint(pipe, "room_mbufs", view->pipe[i].room_mbufs);
	}
}

static void put_worker(struct fm_value *in, uint16_t worker, uint64_t now_ns, bool brief)
{
	struct fm_worker_view view;
	struct fm_stats stats;

	fm_door_worker(worker, &view);
	fm_stats_get(worker, now_ns, &stats);
	fm_put_uint(in, "lcore", view.lcore);
	fm_put_uint(in, "worker", view.id);
	fm_put_int(in, "numa_node", view.socket);
	fm_put_uint(in, "polls", stats.raw.polls);
	fm_put_uint(in, "busy_polls", stats.raw.busy_polls);
	if (stats.recent.polls > 0)
		fm_put_uint(in, "busy_permille", 1000 * stats.recent.busy_polls / stats.recent.polls);
	fm_put_uint(in, "rx_frames", stats.raw.rx_frames);
	fm_put_rate(in, "rx_frames_per_s", stats.recent.rx_frames, stats.recent_s);
	fm_put_uint(in, "fragments_in", stats.raw.reass.fragments_in);
	fm_put_rate(in, "fragments_in_per_s", stats.recent.reass.fragments_in, stats.recent_s);
	fm_put_uint(in, "held_mbufs", stats.raw.reass.held_mbufs);
	fm_put_uint(in, "budget_mbufs", view.budget_mbufs);
	fm_put_uint(in, "datagrams", stats.raw.reass.datagrams);
	fm_put_uint(in, "max_datagrams", view.max_datagrams);
	fm_put_uint(in, "tx_backlog_mbufs", stats.raw.tx_backlog_mbufs);
	fm_put_uint(in, "table_bytes", view.table_bytes);
	if (brief)
		return;
	put_queues(in, &view);
	put_pipes(in, &view);
}

int fm_put_lcores(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_value *list = fm_put_list(root, "lcores");
	const uint64_t now_ns = fm_now_ns();
	uint16_t only;
	int ret = fm_ask_worker(ask, &only, err, err_len);

	for (uint16_t w = 0; w < fm_door_workers() && ret == 0; w++)
		if (only == FM_ALL_WORKERS || only == w)
			put_worker(fm_put_object(list, NULL), w, now_ns, ask->brief && !ask->given);
	return ret;
}

int fm_do_show_lcores(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = false };
	uint64_t now_ns = fm_now_ns();

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_lcores);
	fprintf(shell->out, "%5s %4s %7s %12s %12s %10s %10s %9s\n", "lcore", "node", "busy", "frames/s",
		"fragments/s", "held", "budget", "tx wait");
	for (uint16_t w = 0; w < fm_door_workers(); w++)
		print_worker(shell->out, w, now_ns);
	fprintf(shell->out, "\nbusy: polls that found frames; held, budget, tx wait, waiting: mbufs\n");
	return 0;
}
