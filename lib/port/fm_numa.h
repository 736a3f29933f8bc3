/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's NUMA nodes, as libnuma and EAL tell. Main lcore. */
#ifndef FM_NUMA_H
#define FM_NUMA_H

#include <stdint.h>

#include "placement.h"

/*
 * The node of the CPUs that an lcore may run on; -1: of several. EAL's own rte_lcore_to_socket_id() is that of the CPU
 * with the lcore's number, which `--lcores 2@9` does not run on.
 */
int fm_numa_lcore_node(unsigned int lcore);

/* The node for memory of an lcore, 0..FM_NODES_MAX-1. */
unsigned int fm_numa_lcore_home(unsigned int lcore);

/* The node on which memory lies, as the kernel says, now that it has been written to; `otherwise` if it does not. */
int fm_numa_memory_node(const void *memory, int otherwise);

/* Nodes, distances, and where lcores and ports are. Needs the plan. */
void fm_numa_machine(struct fm_machine *machine);

/* What worker `worker` polls, on which lcore. Needs the plan. */
void fm_numa_seat(uint16_t worker, struct fm_seat *seat);

/* Warn about each worker that uses what is on another node, and name better lcores. Needs the plan. */
void fm_numa_advise(void);

#endif
