/* SPDX-License-Identifier: BSD-3-Clause */
/* The control door's view of nodes, and of what is where. */
#include <numa.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_mempool.h>

#include "door.h"
#include "fm_numa.h"
#include "state.h"
#include "worker.h"

static void list_lcores(const struct fm_machine *machine, int node, char *list, size_t len)
{
	size_t at = 0;

	list[0] = '\0';
	for (uint16_t i = 0; i < machine->n_lcores && at + 8 < len; i++)
		if (machine->lcore[i].node == node)
			at += (size_t)snprintf(list + at, len - at, "%s%u", at == 0 ? "" : " ", machine->lcore[i].id);
}

static void view_node(const struct fm_machine *machine, uint16_t i, struct fm_node_view *view)
{
	const struct fm_node *node = &machine->node[i];
	struct rte_malloc_socket_stats heap;
	long long size, unused = 0;

	*view = (struct fm_node_view){ .id = node->id };
	snprintf(view->cpus, sizeof(view->cpus), "%s", node->cpus);
	list_lcores(machine, node->id, view->lcores, sizeof(view->lcores));
	size = numa_node_size64(node->id, &unused);
	if (size > 0) {
		view->total_bytes = (uint64_t)size;
		view->free_bytes = (uint64_t)unused;
	}
	if (rte_malloc_get_socket_stats(node->id, &heap) == 0) {
		view->heap_bytes = heap.heap_totalsz_bytes;
		view->heap_free_bytes = heap.heap_freesz_bytes;
	}
}

void fm_door_numa(struct fm_numa_view *view)
{
	struct fm_machine machine;

	fm_numa_machine(&machine);
	memset(view, 0, sizeof(*view));
	view->numa = machine.numa;
	view->placed = machine.placed;
	view->n_nodes = machine.n_nodes;
	memcpy(view->distance, machine.distance, sizeof(view->distance));
	for (uint16_t i = 0; i < machine.n_nodes; i++)
		view_node(&machine, i, &view->node[i]);
}

/* Where the first of a pool's memory is; the rest was asked for in the same place. */
static int node_of_pool(const struct rte_mempool *pool)
{
	if (pool == NULL)
		return -1;
	return fm_numa_memory_node(STAILQ_FIRST(&pool->mem_list)->addr, pool->socket_id);
}

void fm_door_worker_place(uint16_t worker, struct fm_worker_place_view *view)
{
	const struct fm_worker *w = fm_engine.worker[worker];
	struct fm_machine machine;
	struct fm_place place;
	struct fm_seat seat;

	fm_numa_machine(&machine);
	fm_numa_seat(worker, &seat);
	fm_place_judge(&machine, &seat, &place);
	*view = (struct fm_worker_place_view){ .lcore = seat.lcore, .node = place.node, .verdict = place.verdict };
	view->table_node = fm_numa_memory_node(w->table, -1);
	snprintf(view->text, sizeof(view->text), "%s", place.text);
}

void fm_door_port_place(uint16_t index, struct fm_port_place_view *view)
{
	const struct fm_port *port = &fm_engine.port[index];

	*view = (struct fm_port_place_view){ .id = port->id, .node = port->socket };
	snprintf(view->name, sizeof(view->name), "%s", port->name);
	view->pool_node = node_of_pool(port->pool);
	view->pool_wanted = port->pool->socket_id;
}
