/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show numa
 */
#include <inttypes.h>
#include <string.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"

static const char *const verdicts[] = {
	[FM_PLACED_IDLE] = "idle", [FM_PLACED_UNKNOWN] = "unknown", [FM_PLACED_LOCAL] = "local",
	[FM_PLACED_REMOTE] = "REMOTE",
};

static uint64_t mib(uint64_t bytes)
{
	return bytes >> 20;
}

static void print_nodes(FILE *out, const struct fm_numa_view *view)
{
	fprintf(out, "%-10s %12s %12s %14s %12s\n", "node", "memory MiB", "free", "of DPDK MiB", "free");
	for (uint16_t i = 0; i < view->n_nodes; i++) {
		const struct fm_node_view *node = &view->node[i];

		fprintf(out, "%-10d %12" PRIu64 " %12" PRIu64 " %14" PRIu64 " %12" PRIu64 "\n", node->id,
			mib(node->total_bytes), mib(node->free_bytes), mib(node->heap_bytes),
			mib(node->heap_free_bytes));
		fprintf(out, "  CPUs     ");
		fm_print_wrapped(out, node->cpus[0] != '\0' ? node->cpus : "none", 11, 11);
		fprintf(out, "  lcores   ");
		fm_print_wrapped(out, node->lcores[0] != '\0' ? node->lcores : "none", 11, 11);
	}
}

/* Of node `i` to each node, in the order in which they are listed; 10: to itself. */
static void print_distances(FILE *out, const struct fm_numa_view *view)
{
	char text[FM_NODES_MAX * 8];

	fprintf(out, "\nDistances, to each node as listed above (10: to itself)\n");
	for (uint16_t i = 0; i < view->n_nodes; i++) {
		size_t at = 0;

		for (uint16_t j = 0; j < view->n_nodes; j++)
			at += view->distance[i][j] == 0 ? (size_t)snprintf(text + at, sizeof(text) - at, " ?") :
			      (size_t)snprintf(text + at, sizeof(text) - at, " %u", view->distance[i][j]);
		fprintf(out, "  from %-4d", view->node[i].id);
		fm_print_wrapped(out, text, 11, 11);
	}
}

static const char *node_text(int node, char buf[24])
{
	if (node < 0)
		return "no node";
	snprintf(buf, 24, "node %d", node);
	return buf;
}

static void print_port(FILE *out, uint16_t index)
{
	struct fm_port_place_view view;
	char node[24], pool[24], wanted[24];

	fm_door_port_place(index, &view);
	fprintf(out, "Port %u: %s\n", view.id, view.name);
	fprintf(out, "  port on %s, its pool on %s", node_text(view.node, node), node_text(view.pool_node, pool));
	if (view.pool_wanted >= 0 && view.pool_wanted != view.pool_node)
		fprintf(out, ", which was asked for on %s", node_text(view.pool_wanted, wanted));
	fputc('\n', out);
}

static void print_worker(FILE *out, uint16_t worker)
{
	struct fm_worker_place_view view;
	char node[24];

	fm_door_worker_place(worker, &view);
	fprintf(out, "Worker %u: lcore %u, %s", worker, view.lcore,
		view.node >= 0 ? node_text(view.node, node) : "of several nodes");
	if (view.table_node >= 0)
		fprintf(out, "; table on %s", node_text(view.table_node, node));
	fprintf(out, "\n  %-8s ", verdicts[view.verdict]);
	fm_print_wrapped(out, view.text, 11, 11);
}

static void put_nodes(struct fm_value *list, const struct fm_numa_view *view)
{
	for (uint16_t i = 0; i < view->n_nodes; i++) {
		const struct fm_node_view *node = &view->node[i];
		struct fm_value *in = fm_put_object(list, NULL), *distances;

		fm_put_int(in, "node", node->id);
		fm_put_text(in, "cpus", node->cpus);
		fm_put_text(in, "lcores", node->lcores);
		fm_put_uint(in, "memory_bytes", node->total_bytes);
		fm_put_uint(in, "memory_free_bytes", node->free_bytes);
		fm_put_uint(in, "dpdk_bytes", node->heap_bytes);
		fm_put_uint(in, "dpdk_free_bytes", node->heap_free_bytes);
		distances = fm_put_list(in, "distances");
		for (uint16_t j = 0; j < view->n_nodes; j++)
			fm_put_uint(distances, NULL, view->distance[i][j]);
	}
}

static void put_places(struct fm_value *root)
{
	struct fm_value *list = fm_put_list(root, "ports"), *in;
	struct fm_port_place_view port;
	struct fm_worker_place_view worker;

	for (uint16_t i = 0; i < fm_door_ports(); i++) {
		fm_door_port_place(i, &port);
		in = fm_put_object(list, NULL);
		fm_put_uint(in, "id", port.id);
		fm_put_text(in, "name", port.name);
		fm_put_int(in, "node", port.node);
		fm_put_int(in, "pool_node", port.pool_node);
		fm_put_int(in, "pool_wanted_node", port.pool_wanted);
	}
	list = fm_put_list(root, "workers");
	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker_place(w, &worker);
		in = fm_put_object(list, NULL);
		fm_put_uint(in, "worker", w);
		fm_put_uint(in, "lcore", worker.lcore);
		fm_put_int(in, "node", worker.node);
		fm_put_int(in, "table_node", worker.table_node);
		fm_put_text(in, "verdict", worker.verdict == FM_PLACED_REMOTE ? "remote" : verdicts[worker.verdict]);
		fm_put_text(in, "text", worker.text);
	}
}

int fm_put_numa(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_numa_view view;

	(void)ask;
	(void)err;
	(void)err_len;
	fm_door_numa(&view);
	fm_put_bool(root, "numa", view.numa);
	fm_put_bool(root, "memory_placed", view.placed);
	put_nodes(fm_put_list(root, "nodes"), &view);
	put_places(root);
	return 0;
}

int fm_do_show_numa(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = false };
	struct fm_numa_view view;
	FILE *out = shell->out;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_numa);
	fm_door_numa(&view);
	if (view.numa) {
		print_nodes(out, &view);
		print_distances(out, &view);
	} else {
		fprintf(out, "The kernel has no NUMA, or does not tell: nodes are what DPDK takes them to be.\n");
	}
	fprintf(out, "\nMemory goes to %s.\n\n", view.placed ? "the nodes of ports and lcores" :
		"the main lcore's node (--no-numa)");
	for (uint16_t i = 0; i < fm_door_ports(); i++)
		print_port(out, i);
	fputc('\n', out);
	for (uint16_t w = 0; w < fm_door_workers(); w++)
		print_worker(out, w);
	return 0;
}
