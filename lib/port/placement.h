/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which worker is far from what it uses, and which lcores would be nearer. Arithmetic only: the machine is an argument,
 * so it may be one that a test has made up. doc/design/0014-placement.md says what counts as near.
 */
#ifndef FM_PLACEMENT_H
#define FM_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

enum {
	FM_LCORES_MAX = 256,
	FM_DISTANCE_HERE = 10,		/* ACPI's distance of a node from itself ... */
	FM_DISTANCE_THERE = 20,		/* ... and from another one, where nothing is known */
};

/* Nodes have the kernel's numbers; -1: none, or unknown. */
struct fm_machine {
	bool numa;			/* the kernel tells nodes apart */
	bool placed;			/* memory goes to the nodes of ports and lcores; false: all to main_node */
	int main_node;			/* of the main lcore */
	uint16_t n_nodes, n_lcores, n_ports;
	struct fm_node {
		int id;
		char cpus[FM_NODE_TEXT_LEN];	/* "0-7 16-23"; "": it has memory only */
	} node[FM_NODES_MAX];
	uint16_t distance[FM_NODES_MAX][FM_NODES_MAX];	/* by index in `node`; 0: unknown */
	struct { uint16_t id; int node; } lcore[FM_LCORES_MAX];	/* of this process; -1: on CPUs of several nodes */
	struct { uint16_t id; int node; } port[FM_PORTS_MAX];
};

/* A worker: where it runs and what it polls. */
struct fm_seat {
	uint16_t lcore;
	uint32_t ports;			/* bit i: port[i] of the machine */
};

struct fm_place {
	enum fm_placed verdict;
	bool better;			/* some CPU would be nearer */
	int node;			/* of the lcore */
	char text[FM_PLACE_TEXT_LEN];	/* why, and what would be better: a clause whose subject is the worker */
};

/* The distance from one node to another. */
uint16_t fm_place_distance(const struct fm_machine *machine, int from, int to);

/* The node of memory that is for something on `node`. */
int fm_place_memory(const struct fm_machine *machine, int node);

/*
 * Judge a worker. Near is who has the least sum of distances to the ports it polls, their pools and its table; of
 * lcores on CPUs of several nodes nothing is known.
 */
void fm_place_judge(const struct fm_machine *machine, const struct fm_seat *seat, struct fm_place *place);

#endif
