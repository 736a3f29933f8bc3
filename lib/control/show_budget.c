/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show budget
 */
#include <inttypes.h>

#include "data.h"
#include "door.h"
#include "handlers.h"

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

static void put_pool(struct fm_value *in, const struct fm_budget_view *pool)
{
	fm_put_text(in, "name", pool->name);
	fm_put_uint(in, "port", pool->port);
	fm_put_int(in, "numa_node", pool->socket);
	fm_put_uint(in, "size_mbufs", pool->size);
	fm_put_uint(in, "available_mbufs", pool->available);
	fm_put_uint(in, "rx_descriptors", pool->rx_descriptors);
	fm_put_uint(in, "tx_descriptors", pool->tx_descriptors);
	fm_put_uint(in, "tx_backlog_mbufs", pool->tx_backlog);
	fm_put_uint(in, "between_workers_mbufs", pool->pipes);
	fm_put_uint(in, "cache_mbufs", pool->caches);
	fm_put_uint(in, "burst_reserve_mbufs", pool->burst_reserve);
	fm_put_uint(in, "budget_mbufs", pool->budget);
	fm_put_uint(in, "spare_mbufs", pool->spare);
}

static void put_tables(struct fm_value *list)
{
	struct fm_worker_view view;
	struct fm_value *in;

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker(w, &view);
		if (view.max_datagrams == 0)
			continue;
		in = fm_put_object(list, NULL);
		fm_put_uint(in, "lcore", view.lcore);
		fm_put_uint(in, "max_datagrams", view.max_datagrams);
		fm_put_uint(in, "bytes", view.table_bytes);
	}
}

int fm_put_budget(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_budget_view pool;
	struct fm_settings settings;
	struct fm_value *pools;
	struct fm_stats all;

	(void)ask;
	(void)err;
	(void)err_len;
	fm_door_settings(&settings);
	fm_stats_get(FM_ALL_WORKERS, fm_now_ns(), &all);
	fm_put_uint(root, "budget_mbufs", settings.budget_mbufs);
	fm_put_uint(root, "budget_max_mbufs", fm_door_budget_max());
	fm_put_uint(root, "held_mbufs", all.raw.reass.held_mbufs);
	pools = fm_put_list(root, "pools");
	for (uint16_t i = 0; i < fm_door_ports(); i++) {
		fm_door_budget(i, &pool);
		put_pool(fm_put_object(pools, NULL), &pool);
	}
	put_tables(fm_put_list(root, "tables"));
	return 0;
}

int fm_do_show_budget(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = false };
	struct fm_budget_view pool;
	struct fm_settings settings;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_budget);
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
