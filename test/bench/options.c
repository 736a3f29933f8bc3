/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_eal.h>

#include "options.h"

enum {
	REPEAT = 7,
	BURST_DEFAULT = 32,
	LAP_MAX = 1 << 24,
	MEMORY_MB = 1024,
	MEMORY_MB_MAX = 1 << 20,
	LARGE = 262144,
	DATAGRAMS_MAX = 1 << 20,
	FRAGMENTS_MAX = 1023 /* of 64 bytes: more would not fit a datagram */
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: core [options] [COLUMN=VALUE[,VALUE...]]...\n"
		"  --tsv                tab-separated: engine family fragments order datagrams cycles floor peer,\n"
		"                       the last two being the row's cycles over those of the floor and of "
		"rte_ip_frag\n"
		"  --repeat N           repetitions, 1 to %d, of which the median is shown; default %d\n"
		"  --memory MB          for EAL; default %d\n"
		"  --burst N            frames, 1 to %d; default %d\n"
		"  --lap N              prepare N frames at a time; 1024: they come from a near cache. Default: all of the\n"
		"                       datagrams under way, so that they come from as far away as these make it\n"
		"  --software-checksum  let the engine verify the IPv4 header checksum, as if the port had not\n"
		"  --large              %d datagrams too; wants --memory 8192\n"
		"columns and their values by default:\n"
		"  family=4,6 fragments=2,4,8,45 datagrams=1,64,1024,16384\n"
		"  order=in-order,round-robin,shuffled,reverse\n",
		FM_BENCH_REPEAT_MAX, REPEAT, MEMORY_MB, FM_BENCH_BURST_MAX, BURST_DEFAULT, LARGE);
}

static void __attribute__((noreturn)) wrong(const char *what, const char *range, const char *given)
{
	fprintf(stderr, "core: %s: %s expected, got \"%s\"\n", what, range, given);
	exit(2);
}

static uint32_t number(const char *what, const char *text, uint32_t min, uint32_t max)
{
	char range[64], *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || value < min || value > max) {
		snprintf(range, sizeof(range), "%u to %u", min, max);
		wrong(what, range, text);
	}
	return (uint32_t)value;
}

static uint32_t one_value(const char *column, const char *text, const char *const order_name[FM_BENCH_ORDER_MAX])
{
	uint32_t value;

	if (strcmp(column, "fragments") == 0)
		return number(column, text, 2, FRAGMENTS_MAX);
	if (strcmp(column, "datagrams") == 0)
		return number(column, text, 1, DATAGRAMS_MAX);
	if (strcmp(column, "family") == 0) {
		value = number(column, text, 4, 6);
		if (value == 5)
			wrong(column, "4 or 6", text);
		return value;
	}
	for (value = 0; value < FM_BENCH_ORDER_MAX; value++)
		if (strcmp(text, order_name[value]) == 0)
			return value;
	wrong(column, "in-order, round-robin, shuffled or reverse", text);
}

static void filter(char *argument, const char *const order_name[FM_BENCH_ORDER_MAX], struct fm_bench_options *options)
{
	const struct {
		const char *name;
		struct fm_bench_values *values;
	} columns[] = {
		{"family", &options->family},
		{"fragments", &options->fragments},
		{"order", &options->order},
		{"datagrams", &options->datagrams},
	};
	char *text = strchr(argument, '='), *rest = NULL;

	if (text != NULL)
		*text++ = '\0';
	for (unsigned int i = 0; text != NULL && i < RTE_DIM(columns); i++) {
		struct fm_bench_values *values = columns[i].values;

		if (strcmp(argument, columns[i].name) != 0)
			continue;
		values->n = 0;
		for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
			if (values->n == FM_BENCH_VALUES_MAX)
				wrong(argument, "at most 8 values", word);
			values->value[values->n++] = one_value(argument, word, order_name);
		}
		if (values->n == 0)
			wrong(argument, "a value", "");
		return;
	}
	wrong("argument", "family=, fragments=, order= or datagrams=", argument);
}

void fm_bench_options(int argc, char **argv, const char *const order_name[FM_BENCH_ORDER_MAX],
		      struct fm_bench_options *options)
{
	enum { TSV, REPEATS, MEMORY, CHECKSUM, LARGE_TOO, LAP, BURST, HELP };
	static const struct option known[] = {
		{"tsv", no_argument, NULL, TSV},
		{"repeat", required_argument, NULL, REPEATS},
		{"memory", required_argument, NULL, MEMORY},
		{"software-checksum", no_argument, NULL, CHECKSUM},
		{"large", no_argument, NULL, LARGE_TOO},
		{"lap", required_argument, NULL, LAP},
		{"burst", required_argument, NULL, BURST},
		{"help", no_argument, NULL, HELP},
		{0},
	};
	int option;

	*options = (struct fm_bench_options){
		.family = {{4, 6}, 2},
		.fragments = {{2, 4, 8, 45}, 4},
		.order = {{FM_BENCH_IN_ORDER, FM_BENCH_ROUND_ROBIN, FM_BENCH_SHUFFLED, FM_BENCH_REVERSE}, 4},
		.datagrams = {{1, 64, 1024, 16384}, 4},
		.how.burst = BURST_DEFAULT,
		.repeat = REPEAT,
		.memory_mb = MEMORY_MB,
	};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (option) {
		case TSV:
			options->tsv = true;
			break;
		case REPEATS:
			options->repeat = number("--repeat", optarg, 1, FM_BENCH_REPEAT_MAX);
			break;
		case MEMORY:
			options->memory_mb = number("--memory", optarg, 64, MEMORY_MB_MAX);
			break;
		case CHECKSUM:
			options->how.software_checksum = true;
			break;
		case LARGE_TOO:
			options->datagrams.value[options->datagrams.n++] = LARGE;
			break;
		case LAP:
			options->how.lap = number("--lap", optarg, 1, LAP_MAX);
			break;
		case BURST:
			options->how.burst = number("--burst", optarg, 1, FM_BENCH_BURST_MAX);
			break;
		case HELP:
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	for (int i = optind; i < argc; i++)
		filter(argv[i], order_name, options);
}

static uint32_t pick(const struct fm_bench_values *values, uint64_t *i)
{
	const uint32_t value = values->value[*i % values->n];

	*i /= values->n;
	return value;
}

bool fm_bench_cell(const struct fm_bench_options *options, uint64_t i, struct fm_bench_cell *cell)
{
	/* The last column changes first. */
	cell->datagrams = pick(&options->datagrams, &i);
	cell->order = (enum fm_bench_order)pick(&options->order, &i);
	cell->fragments = pick(&options->fragments, &i);
	cell->family = pick(&options->family, &i);
	return i == 0;
}

/* 2 MB pages that nobody uses, in MB. */
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

void fm_bench_start_eal(const struct fm_bench_options *options)
{
	/* EAL wants words that it may change. */
	char word[][24] = {"core", "--no-pci", "--no-telemetry", "--log-level", "*:error", "--lcores", "",
			   "-m",   "",         "--no-huge",      "--no-shconf"};
	char *argv[RTE_DIM(word) + 1] = {NULL};
	int argc = RTE_DIM(word);

	snprintf(word[6], sizeof(word[6]), "0@%d", last_cpu());
	snprintf(word[8], sizeof(word[8]), "%u", options->memory_mb);
	if (free_hugepages_mb() >= options->memory_mb) {
		strcpy(word[9], "--in-memory");
		argc--;
	}
	for (int i = 0; i < argc; i++)
		argv[i] = word[i];
	if (rte_eal_init(argc, argv) < 0) {
		fprintf(stderr, "%s: EAL does not start with %u MB of memory\n", program_invocation_short_name,
			options->memory_mb);
		exit(1);
	}
}
