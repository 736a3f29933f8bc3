/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FM_NUMA_H
#define FM_NUMA_H

/* Warn about each worker that is on another NUMA node than a port it polls, and name better lcores. Main lcore. */
void fm_numa_advise(void);

#endif
