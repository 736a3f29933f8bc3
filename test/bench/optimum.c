/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What could be delivered at best: for a few senders and a small budget, the most datagrams of a stream that anybody
 * who knew it beforehand could complete. It puts the area bound, which no schedule may be able to reach, in its place.
 *
 * A schedule only decides which datagrams to begin: to begin one and give it up is never better than not to. So between
 * two fragments the set of senders whose present datagram is held says everything, and a value for each of the
 * 2^senders sets is enough (dynamic programming over the stream):
 *
 *	first fragment of i    value[S + i] = value[S], value[S] stays      begin it, or do not
 *	any but the last       value[S] = none if S holds more than the budget
 *	last fragment of i     value[S] = max(value[S], value[S + i] + weight[i])
 *
 * best    the most datagrams
 * fair    the most when all senders get the same (schedules may alternate): max-min, by multiplicative weights
 * mixed   the most of any mixture of the two whose Jain's index is 0.95
 * greedy  no foresight but the senders' pace: begin a datagram if, should all go on one fragment a turn, it will fit;
 *         when it does not fit after all (random order), the one with least progress goes
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "scenario.h"

enum { SENDERS_MAX = 16, ROUNDS = 300, COLUMNS = 5 };

#define JAIN 0.95

struct stream {
	struct fm_scenario_case spec;
	struct {
		uint8_t sender;
		bool first, last;
	} * step;
	uint64_t n;
	double offered; /* datagrams */
	double bound;   /* goodput */
};

struct plan {
	double value[1 << SENDERS_MAX]; /* negative: cannot be */
	uint16_t load[1 << SENDERS_MAX];
	uint16_t done[1 << SENDERS_MAX][SENDERS_MAX]; /* by the best schedule that ends in this set */
};

static struct plan plan;

static void __attribute__((noreturn)) usage(int status)
{
	fprintf(status == 0 ? stdout : stderr,
		"usage: optimum SENDERS FRAGMENTS BUDGET rr|random DATAGRAMS SEEDS\n"
		"  SENDERS    1 to %d\n"
		"  FRAGMENTS  of a datagram, 2 to 1000\n"
		"  BUDGET     mbufs, 1 to 10000\n"
		"  DATAGRAMS  that each sender sends, 2 to 10000\n"
		"  SEEDS      streams: seeds 1 to SEEDS, 1 to 1000; a line for each, and the mean\n"
		"Prints goodputs and their ratio to the area bound.\n",
		SENDERS_MAX);
	exit(status);
}

static void make_stream(struct stream *s, uint64_t seed)
{
	struct fm_scenario_traffic *traffic = fm_scenario_traffic_new(&s->spec, seed);
	struct fm_scenario_fragment f;
	struct fm_scenario_score score;

	for (s->n = 0; fm_scenario_next(traffic, &f); s->n++) {
		s->step[s->n].sender = (uint8_t)f.flow;
		s->step[s->n].first = f.number == 0;
		s->step[s->n].last = !f.more;
	}
	fm_scenario_score(traffic, 0, &score);
	s->offered = (double)score.offered;
	s->bound = score.bound;
	fm_scenario_traffic_free(traffic);
}

/* --- the optimum --- */

static void begin(uint32_t sets, uint32_t bit, uint32_t budget)
{
	for (uint32_t set = 0; set < sets; set++) {
		if ((set & bit) != 0)
			continue;
		plan.load[set | bit] = (uint16_t)(plan.load[set] + 1);
		plan.value[set | bit] = plan.load[set | bit] > budget ? -INFINITY : plan.value[set];
		memcpy(plan.done[set | bit], plan.done[set], sizeof(plan.done[set]));
	}
}

static void grow(uint32_t sets, uint32_t bit, uint32_t budget)
{
	for (uint32_t base = bit; base < sets; base += 2 * bit)
		for (uint32_t set = base; set < base + bit; set++) {
			plan.load[set]++;
			plan.value[set] = plan.load[set] > budget ? -INFINITY : plan.value[set];
		}
}

static void complete(uint32_t sets, uint32_t bit, uint32_t sender, double weight)
{
	for (uint32_t set = 0; set < sets; set++) {
		if ((set & bit) != 0 || plan.value[set | bit] + weight <= plan.value[set])
			continue;
		plan.value[set] = plan.value[set | bit] + weight;
		memcpy(plan.done[set], plan.done[set | bit], sizeof(plan.done[set]));
		plan.done[set][sender]++;
	}
	for (uint32_t set = 0; set < sets; set++)
		if ((set & bit) != 0)
			plan.value[set] = -INFINITY;
}

/* The highest sum of weights; done[i]: datagrams of sender i in that schedule. */
static double optimum(const struct stream *s, const double *weight, uint16_t *done)
{
	const uint32_t senders = s->spec.group[0].senders, sets = 1U << senders;
	uint32_t best = 0;

	for (uint32_t set = 0; set < sets; set++) {
		plan.value[set] = set == 0 ? 0 : -INFINITY;
		plan.load[set] = 0;
	}
	memset(plan.done, 0, sizeof(plan.done));
	for (uint64_t i = 0; i < s->n; i++) {
		const uint32_t sender = s->step[i].sender, bit = 1U << sender;

		if (s->step[i].first)
			begin(sets, bit, s->spec.budget_mbufs);
		else if (s->step[i].last)
			complete(sets, bit, sender, weight[sender]);
		else
			grow(sets, bit, s->spec.budget_mbufs);
	}
	for (uint32_t set = 1; set < sets; set++)
		best = plan.value[set] > plan.value[best] ? set : best;
	memcpy(done, plan.done[best], sizeof(plan.done[best]));
	return plan.value[best];
}

/* All weights one, a value is the number of datagrams. Goodput; share[i] is sender i's. */
static double most(const struct stream *s, double *share)
{
	const uint32_t senders = s->spec.group[0].senders;
	uint16_t done[SENDERS_MAX];
	double weight[SENDERS_MAX], value;

	for (unsigned int i = 0; i < SENDERS_MAX; i++)
		weight[i] = 1;
	value = optimum(s, weight, done) / s->offered;
	for (uint32_t i = 0; i < senders; i++)
		share[i] = done[i] * senders / s->offered;
	return value;
}

/*
 * The goodput that every sender can have; share[i] is what sender i gets meanwhile: whoever got less so far weighs more
 * in the next schedule; the mean over the schedules tends to the best that alternating between schedules can do for the
 * one that gets least.
 */
static double fairest(const struct stream *s, double *share)
{
	const uint32_t senders = s->spec.group[0].senders;
	double total[SENDERS_MAX] = {0}, weight[SENDERS_MAX], least = INFINITY, each = s->offered / senders;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint16_t done[SENDERS_MAX];
		double sum = 0;

		for (uint32_t i = 0; i < senders; i++)
			sum += weight[i] = exp(-total[i] / each * sqrt(8 * log(senders + 1) / ROUNDS));
		for (uint32_t i = 0; i < senders; i++)
			weight[i] *= senders / sum;
		optimum(s, weight, done);
		for (uint32_t i = 0; i < senders; i++)
			total[i] += done[i];
	}
	for (uint32_t i = 0; i < senders; i++) {
		share[i] = total[i] / ROUNDS / each;
		least = fmin(least, share[i]);
	}
	return least;
}

/* The goodput of a mixture of two schedules, and its Jain's index. */
static double mixture(const double *a, const double *b, double part, uint32_t senders, double *jain)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < senders; i++) {
		const double share = a[i] * part + b[i] * (1 - part);

		sum += share;
		squares += share * share;
	}
	*jain = sum * sum / (senders * squares);
	return sum / senders;
}

static double mixed(const double *best, const double *fair, uint32_t senders)
{
	double highest = 0;

	for (int i = 0; i <= 100; i++) {
		double jain;
		const double goodput = mixture(best, fair, i / 100.0, senders, &jain);

		if (jain >= JAIN)
			highest = fmax(highest, goodput);
	}
	return highest;
}

/* --- greedy --- */

/* If every sender now holding something sends one fragment a turn, and `held` says how many they hold. */
static bool will_fit(const struct stream *s, const uint16_t *held)
{
	const uint32_t fragments = s->spec.group[0].fragments;

	for (uint32_t turn = 0; turn < fragments; turn++) {
		uint32_t sum = 0;

		for (uint32_t i = 0; i < s->spec.group[0].senders; i++)
			sum += held[i] > 0 && held[i] + turn < fragments ? held[i] + turn : 0;
		if (sum > s->spec.budget_mbufs)
			return false;
	}
	return true;
}

static uint32_t least_progress(const uint16_t *held, uint32_t senders)
{
	uint32_t least = SENDERS_MAX;

	for (uint32_t i = 0; i < senders; i++)
		if (held[i] > 0 && (least == SENDERS_MAX || held[i] < held[least]))
			least = i;
	return least;
}

static double greedy(const struct stream *s)
{
	uint16_t held[SENDERS_MAX] = {0};
	uint32_t sum = 0, done = 0;

	for (uint64_t i = 0; i < s->n; i++) {
		const uint32_t sender = s->step[i].sender;

		if (s->step[i].first) {
			held[sender] = 1;
			if (!will_fit(s, held))
				held[sender] = 0;
			sum += held[sender];
		} else if (held[sender] > 0 && s->step[i].last) {
			sum -= held[sender];
			held[sender] = 0;
			done++;
		} else if (held[sender] > 0) {
			held[sender]++;
			sum++;
		}
		while (sum > s->spec.budget_mbufs) {
			const uint32_t victim = least_progress(held, s->spec.group[0].senders);

			sum -= held[victim];
			held[victim] = 0;
		}
	}
	return done / s->offered;
}

static uint32_t number(const char *text, uint32_t min, uint32_t max)
{
	char *end;
	const unsigned long value = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || value < min || value > max) {
		fprintf(stderr, "optimum: %u to %u expected, got \"%s\"\n", min, max, text);
		usage(2);
	}
	return (uint32_t)value;
}

static void print_line(const char *name, const double value[COLUMNS])
{
	printf("%-5s", name);
	for (int i = 0; i < COLUMNS; i++)
		printf("  %7.3f", value[i]);
	for (int i = 1; i < COLUMNS; i++)
		printf("  %7.3f", value[i] / value[0]);
	printf("\n");
}

static void work(const struct stream *s, double value[COLUMNS])
{
	const uint32_t senders = s->spec.group[0].senders;
	double best[SENDERS_MAX], fair[SENDERS_MAX];

	value[0] = s->bound;
	value[1] = most(s, best);
	value[2] = fairest(s, fair);
	value[3] = mixed(best, fair, senders);
	value[4] = greedy(s);
}

int main(int argc, char **argv)
{
	struct stream s = {0};
	double sum[COLUMNS] = {0};
	uint32_t seeds;

	if (argc != 7 || (strcmp(argv[4], "rr") != 0 && strcmp(argv[4], "random") != 0))
		usage(argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : 2);
	s.spec = (struct fm_scenario_case){
		.group[0] = {.senders = number(argv[1], 1, SENDERS_MAX),
			     .flows = 1,
			     .fragments = (uint16_t)number(argv[2], 2, 1000),
			     .percent = 100},
		.n_groups = 1,
		.n_classes = 1,
		.order = strcmp(argv[4], "rr") == 0 ? FM_SCENARIO_ROUND_ROBIN : FM_SCENARIO_RANDOM,
		.budget_mbufs = number(argv[3], 1, 10000),
		.slot_ns = FM_SCENARIO_SLOT_NS,
	};
	s.spec.slots = (uint64_t)s.spec.group[0].senders * s.spec.group[0].fragments * number(argv[5], 2, 10000);
	seeds = number(argv[6], 1, 1000);
	s.step = calloc(s.spec.slots, sizeof(*s.step));
	if (s.step == NULL) {
		fprintf(stderr, "optimum: out of memory\n");
		return 1;
	}
	printf("         ---------------- goodput ----------------  ------- of the bound ---------\n"
	       "seed     bound     best     fair    mixed   greedy     best     fair    mixed   greedy\n");
	for (uint32_t seed = 1; seed <= seeds; seed++) {
		double value[COLUMNS];
		char name[12];

		make_stream(&s, seed);
		work(&s, value);
		snprintf(name, sizeof(name), "%u", seed);
		print_line(name, value);
		for (int i = 0; i < COLUMNS; i++)
			sum[i] += value[i] / seeds;
	}
	print_line("mean", sum);
	free(s.step);
	return 0;
}
