/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL, and memory in large pages whether or not any have been set aside. */
#ifndef FM_BENCH_MEMORY_H
#define FM_BENCH_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Start EAL on the last CPU this process may use, with `mb` of memory. Ends the program where that fails. */
void fm_bench_eal(uint32_t mb);
/*
 * Give EAL so much more memory, in large pages if these are wanted and the kernel makes any on request
 * (transparent_hugepage). It is taken from the system as it is used. Ends the program where that fails.
 *
 * @return socket to allocate it from
 */
int fm_bench_memory(uint64_t bytes, bool large_pages);
/* What the memory came out as, after use: "large pages", or how much of it was not. */
const char *fm_bench_pages(void);

#endif
