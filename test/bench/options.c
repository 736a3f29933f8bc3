/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "options.h"

enum {
	REPEAT = 7,
	QUICK_REPEAT = 3,
	BURST = 32,
	LAP_MAX = 1 << 24,
	MEMORY_MB_MAX = 1 << 20,
	DATAGRAMS_MAX = 1 << 20,
	FRAGMENTS_MAX = 1023 /* of 64 bytes: more would not fit a datagram */
};

const char *const fm_bench_order_name[FM_BENCH_ORDER_MAX] = {
#define ORDER_NAME(sym, name, text) name,
	FM_BENCH_ORDERS(ORDER_NAME)
#undef ORDER_NAME
};

/* The lines by default: one that is for each number of fragments, and each order where it is worst. */
static const struct {
	uint32_t fragments;
	enum fm_bench_order order;
} usual[] = {
	{2, FM_BENCH_IN_ORDER},    {2, FM_BENCH_ROUND_ROBIN}, {4, FM_BENCH_ROUND_ROBIN},
	{8, FM_BENCH_ROUND_ROBIN}, {8, FM_BENCH_SHUFFLED},
};

static void usage(FILE *out)
{
	fprintf(out,
		"usage: core [options] [COLUMN=VALUE[,VALUE...]]...\n"
		"  --tsv                tab-separated: engine family fragments order datagrams cycles floor peer,\n"
		"                       floor and peer are the row's cycles over those of the floor and rte_ip_frag\n"
		"  --quick              1 and 1,024 datagrams, %d repetitions: some seconds\n"
		"  --repeat N           repetitions, 1 to %d, of which the median is shown; default %d\n"
		"  --own                fragmend and the floor only\n"
		"  --strict             exit code 1 where a target is missed\n"
		"  --burst N            frames, 1 to %d; default %d\n"
		"  --lap N              prepare N frames at a time; 1024: they come from a near cache. Default:\n"
		"                       all of those under way, so they come from as far as these make it\n"
		"  --memory MB          to have at most; default: what the largest line needs\n"
		"  --small-pages        4 KB pages, not large ones\n"
		"  --software-checksum  let the engine verify the IPv4 header checksum, as if the port had not\n"
		"columns and their values by default:\n"
		"  family=4,6 datagrams=1,64,1024,16384,262144\n"
		"  fragments and order: 2 in-order, 2, 4 and 8 round-robin, 8 shuffled; if one of the two columns is\n"
		"  given, all values with all: fragments=2,4,8 order=in-order,round-robin,shuffled (there is also "
		"reverse)\n",
		QUICK_REPEAT, FM_BENCH_REPEAT_MAX, REPEAT, FM_BENCH_BURST_MAX, BURST);
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

static uint32_t one_value(const char *column, const char *text)
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
		if (strcmp(text, fm_bench_order_name[value]) == 0)
			return value;
	wrong(column, "in-order, round-robin, shuffled or reverse", text);
}

static void filter(char *argument, struct fm_bench_options *options)
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
			values->value[values->n++] = one_value(argument, word);
		}
		if (values->n == 0)
			wrong(argument, "a value", "");
		return;
	}
	wrong("argument", "family=, fragments=, order= or datagrams=", argument);
}

/* Where one of fragments and order was given, the other has all its usual values. */
static void complete(struct fm_bench_options *options)
{
	if (options->fragments.n > 0 && options->order.n == 0)
		options->order =
			(struct fm_bench_values){{FM_BENCH_IN_ORDER, FM_BENCH_ROUND_ROBIN, FM_BENCH_SHUFFLED}, 3};
	if (options->order.n > 0 && options->fragments.n == 0)
		options->fragments = (struct fm_bench_values){{2, 4, 8}, 3};
}

static void quick(struct fm_bench_options *options)
{
	options->repeat = QUICK_REPEAT;
	options->datagrams = (struct fm_bench_values){{1, FM_BENCH_SOME}, 2};
}

static void take(int option, struct fm_bench_options *options)
{
	switch (option) {
	case 't':
		options->tsv = true;
		break;
	case 'q':
		quick(options);
		break;
	case 'r':
		options->repeat = number("--repeat", optarg, 1, FM_BENCH_REPEAT_MAX);
		break;
	case 'o':
		options->own = true;
		break;
	case 's':
		options->strict = true;
		break;
	case 'b':
		options->how.burst = number("--burst", optarg, 1, FM_BENCH_BURST_MAX);
		break;
	case 'l':
		options->how.lap = number("--lap", optarg, 1, LAP_MAX);
		break;
	case 'm':
		options->memory_mb = number("--memory", optarg, 64, MEMORY_MB_MAX);
		break;
	case 'p':
		options->small_pages = true;
		break;
	case 'c':
		options->how.software_checksum = true;
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

void fm_bench_options(int argc, char **argv, struct fm_bench_options *options)
{
	static const struct option known[] = {
		{"tsv", no_argument, NULL, 't'},          {"quick", no_argument, NULL, 'q'},
		{"repeat", required_argument, NULL, 'r'}, {"own", no_argument, NULL, 'o'},
		{"strict", no_argument, NULL, 's'},       {"burst", required_argument, NULL, 'b'},
		{"lap", required_argument, NULL, 'l'},    {"memory", required_argument, NULL, 'm'},
		{"small-pages", no_argument, NULL, 'p'},  {"software-checksum", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	int option;

	*options = (struct fm_bench_options){
		.family = {{4, 6}, 2},
		.datagrams = {{1, FM_BENCH_FEW, FM_BENCH_SOME, FM_BENCH_MANY, FM_BENCH_MOST}, 5},
		.how.burst = BURST,
		.repeat = REPEAT,
	};
	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
		take(option, options);
	for (int i = optind; i < argc; i++)
		filter(argv[i], options);
	complete(options);
}

static uint32_t add_lines(const struct fm_bench_options *options, uint32_t family, uint32_t fragments,
			  enum fm_bench_order order, struct fm_bench_cell *cell)
{
	for (uint32_t i = 0; i < options->datagrams.n; i++)
		cell[i] = (struct fm_bench_cell){
			.family = family,
			.fragments = fragments,
			.order = order,
			.datagrams = options->datagrams.value[i],
			.payload = FM_BENCH_PAYLOAD,
		};
	return options->datagrams.n;
}

uint32_t fm_bench_lines(const struct fm_bench_options *options, struct fm_bench_cell *cell)
{
	const struct fm_bench_values *fragments = &options->fragments, *order = &options->order;
	uint32_t n = 0;

	for (uint32_t f = 0; f < options->family.n; f++) {
		for (uint32_t i = 0; fragments->n == 0 && i < RTE_DIM(usual); i++)
			n += add_lines(options, options->family.value[f], usual[i].fragments, usual[i].order, cell + n);
		for (uint32_t i = 0; i < fragments->n; i++)
			for (uint32_t o = 0; o < order->n; o++)
				n += add_lines(options, options->family.value[f], fragments->value[i],
					       (enum fm_bench_order)order->value[o], cell + n);
	}
	return n;
}
