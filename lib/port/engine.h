/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of ports and workers, step by step, for the program's main function. All functions are called by the main
 * lcore, in this order; each may be undone by the function named as its counterpart, also after it has failed half way.
 * Functions that can fail return 0 or -errno and put one sentence into `err`.
 */
#ifndef FM_ENGINE_H
#define FM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config.h"

/*
 * Look at the ports, decide who polls what and add up the budget. Allocates nothing, touches no port; nothing to undo.
 *
 * @param config  must stay valid and unchanged until the end
 */
int fm_engine_plan(const struct fm_config *config, char *err, size_t err_len);

/* Pools, tables, backlogs. */
int fm_engine_allocate(char *err, size_t err_len);
/*
 * Undo it. The ports must be closed.
 *
 * @return mbufs that did not come back
 */
uint64_t fm_engine_free(void);

/* Configure and start the ports, create capture files. */
int fm_engine_open(char *err, size_t err_len);
/*
 * Close ports and capture files.
 *
 * @return 0; -errno: a capture file could not be written, named in `err`
 */
int fm_engine_close(char *err, size_t err_len);

/* What open ports still need of the kernel, beside what they have open. */
enum fm_need {
	FM_NEED_INTERFACE = 1 << 0,	/* to change and give back interfaces of the kernel */
	FM_NEED_PINNED = 1 << 1,	/* to pin more memory: a driver of hardware may map what is allocated later */
	FM_NEED_RAW = 1 << 2,		/* to make raw queues beside the kernel's own (verbs) */
};

/* Of all ports together: a set of enum fm_need. */
unsigned int fm_engine_needs(void);

/* Start the workers; they do not forward before fm_door_start(). */
int fm_engine_launch(char *err, size_t err_len);
/*
 * Stop forwarding and wait for the workers to end; nothing is left between them. Their counters and tables can still be
 * read.
 */
void fm_engine_halt(void);

/*
 * Let processes like dpdk-dumpcap attach to the ports, where EAL shares its memory with others. A start goes on without
 * if that fails, so this returns 0; what is wrong is logged. Costs 4 MiB of hugepages, and no time while
 * nobody is attached. After EAL is up.
 */
int fm_pdump_up(char *err, size_t err_len);
int fm_pdump_down(char *err, size_t err_len);

/* See to a capture that has come to its end by itself; to be called about every 100 ms. */
void fm_capture_tick(void);
/* End the capture if there is one, and wait until its file is closed. The workers have ended. */
void fm_capture_end(void);

/* Let loss of link go over to the paired port where the settings ask for it; to be called about every 100 ms. */
void fm_engine_link_follow(void);

/*
 * Has no port received anything for `idle_ms`, while every worker looked often enough to know? Counts from the first
 * call; to be called every few milliseconds.
 */
bool fm_engine_idle(uint32_t idle_ms);

/*
 * Does every worker still go round its loop, forwarding or not? To be called again and again, as one turn can take a
 * while.
 *
 * @return  -1: each has turned since this last returned -1, and from now on they are looked at afresh; otherwise the
 *          first worker that has not turned since then
 */
int fm_engine_standing(void);

#endif
