/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show config|budget|lcores
 */
#include <inttypes.h>

#include "door.h"
#include "handlers.h"
#include "print.h"
#include "stats.h"

static void print_settings(FILE *out)
{
	char text[FM_SETTING_TEXT_LEN], range[160];
	struct fm_settings settings;

	fm_door_settings(&settings);
	fprintf(out, "Settings\n");
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++) {
		const struct fm_setting *setting = &fm_setting[i];

		fm_setting_format(setting, setting->get(&settings), text, sizeof(text));
		fm_setting_range(setting, range, sizeof(range));
		fprintf(out, "  %-16s %-22s ", setting->name, text);
		fm_print_wrapped(out, range, 42, 42);
	}
}

static void print_number(FILE *out, const char *name, uint64_t value, const char *unit, const char *if_zero)
{
	if (value == 0 && if_zero != NULL)
		fprintf(out, "  %-16s %s\n", name, if_zero);
	else
		fprintf(out, "  %-16s %" PRIu64 "%s%s\n", name, value, *unit != '\0' ? " " : "", unit);
}

static void print_start(FILE *out, const struct fm_config *config)
{
	fprintf(out, "\nAs started\n");
	fprintf(out, "  %-16s %s\n", "port-topology", config->topology == FM_TOPOLOGY_LOOP ? "loop" : "paired");
	print_number(out, "nb-cores", config->nb_cores, "", "all but the main lcore");
	fprintf(out, "  %-16s %s\n", "steer", config->steer == FM_STEERING_ON ? "on" : "auto");
	print_number(out, "rxq", config->nb_rxq, "", "chosen for each port");
	print_number(out, "txq", config->nb_txq, "", "chosen for each port");
	print_number(out, "rxd", config->nb_rxd, "", "chosen for each port");
	print_number(out, "txd", config->nb_txd, "", "chosen for each port");
	print_number(out, "burst", config->burst, "frames", NULL);
	print_number(out, "mbcache", config->mbcache, "mbufs", NULL);
	print_number(out, "mbuf-size", config->mbuf_size, "bytes", NULL);
	print_number(out, "total-num-mbufs", config->total_num_mbufs, "", "chosen");
	print_number(out, "max-pkt-len", config->max_pkt_len, "bytes", "what the port takes");
	print_number(out, "max-datagrams", config->max_datagrams, "", "chosen from the budget");
	fprintf(out, "  %-16s %s\n", "numa", config->numa ? "on" : "off");
	fprintf(out, "  %-16s %s\n", "clock", config->clock == FM_CLOCK_TSC ? "tsc" : "rx-timestamp");
	if (config->has_seed)
		fprintf(out, "  %-16s fixed: anyone can make keys collide\n", "seed");
}

int fm_do_show_config(struct fm_shell *shell, const struct fm_args *args)
{
	(void)args;
	print_settings(shell->out);
	print_start(shell->out, fm_door_config());
	fprintf(shell->out, "\nForwarding is %s.\n", fm_door_forwarding() ? "on" : "stopped");
	return 0;
}

static void print_part(FILE *out, const char *sign, const char *name, uint64_t mbufs)
{
	fprintf(out, "  %s %-40s %12" PRIu64 "\n", sign, name, mbufs);
}

static void print_pool(FILE *out, const struct fm_budget_view *pool)
{
	char title[80];

	snprintf(title, sizeof(title), "Pool %s of port %u, NUMA node %d", pool->name, pool->port, pool->socket);
	fprintf(out, "%-44s %12s\n", title, "mbufs");
	print_part(out, " ", "size", pool->size);
	print_part(out, "-", "RX descriptors", pool->rx_descriptors);
	print_part(out, "-", "TX descriptors", pool->tx_descriptors);
	print_part(out, "-", "waiting for room in TX queues, at most", pool->tx_backlog);
	print_part(out, "-", "between workers, at most", pool->pipes);
	print_part(out, "-", "caches of lcores", pool->caches);
	print_part(out, "-", "reserve for bursts", pool->burst_reserve);
	print_part(out, "-", "budget: held fragments, at most", pool->budget);
	print_part(out, "=", "spare", pool->spare);
	print_part(out, " ", "free now, caches included", pool->available);
}

/* What concurrent datagrams cost besides the mbufs of their fragments. */
static void print_tables(FILE *out)
{
	struct fm_worker_view view;

	fprintf(out, "Tables (index, extents, sources, condemned keys):\n");
	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker(w, &view);
		if (view.max_datagrams == 0)
			continue;
		fprintf(out, "  lcore %u: %" PRIu64 " bytes for each of %u datagrams\n", view.lcore,
			view.table_bytes / view.max_datagrams, view.max_datagrams);
	}
	fputc('\n', out);
}

int fm_do_show_budget(struct fm_shell *shell, const struct fm_args *args)
{
	struct fm_budget_view pool;
	struct fm_settings settings;

	(void)args;
	for (uint16_t i = 0; i < fm_door_ports(); i++) {
		fm_door_budget(i, &pool);
		print_pool(shell->out, &pool);
		fputc('\n', shell->out);
	}
	print_tables(shell->out);
	fm_door_settings(&settings);
	fprintf(shell->out, "The budget is %" PRIu64 " mbufs in all; it can be set up to %" PRIu64 ".\n",
		settings.budget_mbufs, fm_door_budget_max());
	return 0;
}

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

int fm_do_show_lcores(struct fm_shell *shell, const struct fm_args *args)
{
	uint64_t now_ns = fm_now_ns();

	(void)args;
	fprintf(shell->out, "%5s %4s %7s %12s %12s %10s %10s %9s\n", "lcore", "node", "busy", "frames/s",
		"fragments/s", "held", "budget", "tx wait");
	for (uint16_t w = 0; w < fm_door_workers(); w++)
		print_worker(shell->out, w, now_ns);
	fprintf(shell->out, "\nbusy: polls that found frames; held, budget, tx wait, waiting: mbufs\n");
	return 0;
}
