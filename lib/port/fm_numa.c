/* SPDX-License-Identifier: BSD-3-Clause */
#include <numa.h>
#include <stdio.h>

#include <rte_lcore.h>

#include "fm_numa.h"
#include "state.h"

/* numa_distance() gives 10 for a node itself, more for others, 0 if it does not know. */
static int distance(unsigned int lcore, int node)
{
	const int from = (int)rte_lcore_to_socket_id(lcore);
	const int d = numa_available() < 0 ? 0 : numa_distance(from, node);

	if (d != 0)
		return d;
	return from == node ? 10 : 20;
}

/* The lcores of this process that are nearest to `node`, as a list; returns their distance. */
static int nearest(int node, char *list, size_t list_len)
{
	int least = INT32_MAX;
	size_t at = 0;
	unsigned int lcore;

	RTE_LCORE_FOREACH(lcore)
		least = RTE_MIN(least, distance(lcore, node));
	list[0] = '\0';
	RTE_LCORE_FOREACH(lcore) {
		if (distance(lcore, node) == least && at < list_len)
			at += (size_t)snprintf(list + at, list_len - at, "%s%u", at == 0 ? "" : ",", lcore);
	}
	return least;
}

static void advise(uint16_t worker, const struct fm_port *port)
{
	const unsigned int lcore = fm_engine.lcore[worker];
	const int node = (int)rte_lcore_to_socket_id(lcore);
	const int here = distance(lcore, port->socket);
	char list[128];
	const int there = nearest(port->socket, list, sizeof(list));

	if (there < here)
		FM_LOG(WARNING,
		       "worker %u runs on lcore %u of NUMA node %d and polls port %u of node %d (distance %d); "
		       "nearer lcores: %s (distance %d)\n",
		       worker, lcore, node, port->id, port->socket, here, list, there);
	else
		FM_LOG(WARNING,
		       "worker %u runs on lcore %u of NUMA node %d and polls port %u of node %d (distance %d); no "
		       "given lcore is nearer, see -l\n",
		       worker, lcore, node, port->id, port->socket, here);
}

void fm_numa_advise(void)
{
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		const int node = (int)rte_lcore_to_socket_id(fm_engine.lcore[w]);

		for (uint16_t p = 0; p < fm_engine_ports(); p++) {
			const struct fm_port *port = &fm_engine.port[p];

			if (port->socket >= 0 && port->socket != node && fm_plan_queues_of(&fm_engine.plan, p, w) != 0)
				advise(w, port);
		}
	}
}
