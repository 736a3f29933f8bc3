/* SPDX-License-Identifier: BSD-3-Clause */
#include <numa.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include <rte_lcore.h>

#include "fm_numa.h"
#include "state.h"

/* Pools are kept by node. */
_Static_assert(RTE_MAX_NUMA_NODES >= FM_NODES_MAX, "nodes that DPDK knows");

int fm_numa_lcore_node(unsigned int lcore)
{
	const rte_cpuset_t cpus = rte_lcore_cpuset(lcore);
	int node = -1;

	if (numa_available() < 0)
		return (int)rte_lcore_to_socket_id(lcore);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		if (node >= 0 && numa_node_of_cpu(cpu) != node)
			return -1;
		node = numa_node_of_cpu(cpu);
	}
	return node;
}

unsigned int fm_numa_lcore_home(unsigned int lcore)
{
	const int node = fm_engine_socket(fm_numa_lcore_node(lcore));

	return node < 0 || node >= FM_NODES_MAX ? 0 : (unsigned int)node;
}

int fm_numa_memory_node(const void *memory, int otherwise)
{
	void *page = (void *)(uintptr_t)memory;
	int node = -1;

	if (memory == NULL || numa_available() < 0 || numa_move_pages(0, 1, &page, NULL, &node, 0) != 0 || node < 0)
		return otherwise;
	return node;
}

/* "0-7 16-23". A list that is too long is cut behind a whole number. */
static void list_cpus(int node, char *list, size_t len)
{
	struct bitmask *cpus = numa_allocate_cpumask();
	size_t at = 0;

	list[0] = '\0';
	if (numa_node_to_cpus(node, cpus) != 0)
		numa_bitmask_clearall(cpus);
	for (unsigned long first = 0, last; first < cpus->size && at + 24 < len; first = last + 1) {
		last = first;
		if (!numa_bitmask_isbitset(cpus, (unsigned int)first))
			continue;
		while (numa_bitmask_isbitset(cpus, (unsigned int)last + 1))
			last++;
		at += (size_t)snprintf(list + at, len - at, "%s%lu", at == 0 ? "" : " ", first);
		if (last > first)
			at += (size_t)snprintf(list + at, len - at, "-%lu", last);
	}
	numa_free_cpumask(cpus);
}

static void find_nodes(struct fm_machine *machine)
{
	for (int n = 0; n <= numa_max_node() && machine->n_nodes < FM_NODES_MAX; n++) {
		struct fm_node *node = &machine->node[machine->n_nodes];

		if (!numa_bitmask_isbitset(numa_nodes_ptr, (unsigned int)n))
			continue;
		node->id = n;
		list_cpus(n, node->cpus, sizeof(node->cpus));
		machine->n_nodes++;
	}
	for (uint16_t i = 0; i < machine->n_nodes; i++)
		for (uint16_t j = 0; j < machine->n_nodes; j++)
			machine->distance[i][j] =
				(uint16_t)RTE_MAX(0, numa_distance(machine->node[i].id, machine->node[j].id));
}

void fm_numa_machine(struct fm_machine *machine)
{
	unsigned int lcore;

	memset(machine, 0, sizeof(*machine));
	machine->numa = numa_available() >= 0;
	machine->placed = fm_engine.config->numa;
	machine->main_node = fm_engine_socket(-1);
	if (machine->numa)
		find_nodes(machine);
	RTE_LCORE_FOREACH(lcore) {
		if (machine->n_lcores == FM_LCORES_MAX)
			break;
		machine->lcore[machine->n_lcores].id = (uint16_t)lcore;
		machine->lcore[machine->n_lcores++].node = fm_numa_lcore_node(lcore);
	}
	machine->n_ports = fm_engine_ports();
	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		machine->port[i].id = fm_engine.port[i].id;
		machine->port[i].node = fm_engine.port[i].socket;
	}
}

void fm_numa_seat(uint16_t worker, struct fm_seat *seat)
{
	*seat = (struct fm_seat){ .lcore = fm_engine.lcore[worker] };
	for (uint16_t p = 0; p < fm_engine_ports(); p++)
		if (fm_plan_owns(&fm_engine.plan, p, worker))
			seat->ports |= 1U << p;
}

void fm_numa_advise(void)
{
	struct fm_machine machine;
	struct fm_place place;
	struct fm_seat seat;

	fm_numa_machine(&machine);
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		fm_numa_seat(w, &seat);
		fm_place_judge(&machine, &seat, &place);
		if (place.verdict == FM_PLACED_REMOTE)
			FM_LOG(WARNING, "worker %u runs on lcore %u of NUMA node %d and %s\n", w, seat.lcore,
			       place.node, place.text);
	}
}
