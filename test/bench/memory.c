/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "memory.h"

enum { LARGE_PAGE = 2 << 20 };

/* 2 MB pages that were set aside and that nobody uses, in MB. */
static uint32_t free_hugepages_mb(void)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned int n = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%u", &n) != 1)
		n = 0;
	fclose(file);
	return n * 2;
}

static int last_cpu(void)
{
	cpu_set_t set;
	int last = 0;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			last = cpu;
	return last;
}

void fm_bench_eal(uint32_t mb)
{
	/* EAL wants words that it may change. */
	char word[][24] = {"bench", "--no-pci", "--no-telemetry", "--log-level", "*:error", "--lcores", "",
			   "-m",    "",         "--no-huge",      "--no-shconf"};
	char *argv[RTE_DIM(word) + 1] = {NULL};
	int argc = RTE_DIM(word);

	snprintf(word[6], sizeof(word[6]), "0@%d", last_cpu());
	snprintf(word[8], sizeof(word[8]), "%u", mb);
	if (free_hugepages_mb() >= mb) {
		strcpy(word[9], "--in-memory");
		argc--;
	}
	for (int i = 0; i < argc; i++)
		argv[i] = word[i];
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "%s: EAL does not start with %u MB of memory\n", program_invocation_short_name, mb);
		exit(1);
	}
}

int fm_bench_memory(uint64_t bytes, bool large_pages)
{
	const size_t size = RTE_ALIGN_CEIL(bytes, LARGE_PAGE);
	void *memory = mmap(NULL, size + LARGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory != MAP_FAILED) {
		memory = RTE_PTR_ALIGN_CEIL(memory, LARGE_PAGE);
		madvise(memory, size, large_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	}
	if (memory == MAP_FAILED || rte_malloc_heap_create("bench") != 0 ||
	    rte_malloc_heap_memory_add("bench", memory, size, NULL, (unsigned int)(size / LARGE_PAGE), LARGE_PAGE) !=
		    0) {
		fprintf(stderr, "%s: %zu MB of memory are needed\n", program_invocation_short_name, size >> 20);
		exit(1);
	}
	return rte_malloc_heap_get_socket("bench");
}

const char *fm_bench_pages(void)
{
	static char text[64];
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	unsigned long anonymous_kb = 0, large_kb = 0;
	char line[128];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		sscanf(line, "Anonymous: %lu", &anonymous_kb);
		sscanf(line, "AnonHugePages: %lu", &large_kb);
	}
	if (file != NULL)
		fclose(file);
	/* The program's own few megabytes are always in small ones. */
	snprintf(text, sizeof(text), "%lu of %lu MB in large pages", large_kb >> 10, anonymous_kb >> 10);
	return text;
}
