/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "placement.h"

enum { TOLD_MAX = 4 };	/* things on other nodes, by name */

enum thing { PORT, POOL, TABLE };

/* What a worker uses, wherever it runs. */
struct uses {
	unsigned int n;
	struct { enum thing thing; uint16_t port; int node; } what[2 * FM_PORTS_MAX + 1];
};

__attribute__((format(printf, 2, 3)))
static void add(struct fm_place *place, const char *format, ...)
{
	const size_t at = strlen(place->text);
	va_list args;

	va_start(args, format);
	vsnprintf(place->text + at, sizeof(place->text) - at, format, args);
	va_end(args);
}

static int index_of(const struct fm_machine *machine, int node)
{
	for (uint16_t i = 0; i < machine->n_nodes; i++)
		if (machine->node[i].id == node)
			return i;
	return -1;
}

uint16_t fm_place_distance(const struct fm_machine *machine, int from, int to)
{
	const int i = index_of(machine, from), j = index_of(machine, to);

	if (i >= 0 && j >= 0 && machine->distance[i][j] != 0)
		return machine->distance[i][j];
	return from == to ? FM_DISTANCE_HERE : FM_DISTANCE_THERE;
}

int fm_place_memory(const struct fm_machine *machine, int node)
{
	return node >= 0 && machine->placed ? node : machine->main_node;
}

static int node_of_lcore(const struct fm_machine *machine, uint16_t lcore)
{
	for (uint16_t i = 0; i < machine->n_lcores; i++)
		if (machine->lcore[i].id == lcore)
			return machine->lcore[i].node;
	return -1;
}

static void use(struct uses *uses, enum thing thing, uint16_t port, int node)
{
	if (node < 0)
		return;
	uses->what[uses->n].thing = thing;
	uses->what[uses->n].port = port;
	uses->what[uses->n++].node = node;
}

static void find_uses(const struct fm_machine *machine, const struct fm_seat *seat, struct uses *uses)
{
	uses->n = 0;
	for (uint16_t i = 0; i < machine->n_ports; i++) {
		const int node = machine->port[i].node, pool = fm_place_memory(machine, node);

		if ((seat->ports & 1U << i) == 0)
			continue;
		use(uses, PORT, machine->port[i].id, node);
		if (pool != node)
			use(uses, POOL, machine->port[i].id, pool);
	}
	/* Otherwise it goes where the worker goes. */
	if (!machine->placed)
		use(uses, TABLE, 0, machine->main_node);
}

static uint32_t sum_of_distances(const struct fm_machine *machine, const struct uses *uses, int node)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < uses->n; i++)
		sum += fm_place_distance(machine, node, uses->what[i].node);
	return sum;
}

static void tell_remote(const struct fm_machine *machine, const struct uses *uses, struct fm_place *place)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < uses->n; i++) {
		const int node = uses->what[i].node;

		if (node == place->node || n++ >= TOLD_MAX)
			continue;
		add(place, "%s", place->text[0] == '\0' ? "uses " : ", ");
		if (uses->what[i].thing == TABLE)
			add(place, "a table");
		else
			add(place, "%sport %u", uses->what[i].thing == POOL ? "the pool of " : "", uses->what[i].port);
		add(place, " on node %d (distance %u)", node, fm_place_distance(machine, place->node, node));
	}
	if (n > TOLD_MAX)
		add(place, ", %u more", n - TOLD_MAX);
}

/* The lcores with the least sum, as a list; returns the sum. */
static uint32_t nearest_lcores(const struct fm_machine *machine, const struct uses *uses, char *list, size_t len)
{
	uint32_t least = UINT32_MAX, sum;

	list[0] = '\0';
	for (uint16_t i = 0; i < machine->n_lcores; i++) {
		size_t at = strlen(list);

		if (machine->lcore[i].node < 0)
			continue;
		sum = sum_of_distances(machine, uses, machine->lcore[i].node);
		if (sum > least)
			continue;
		if (sum < least)
			at = 0;
		least = sum;
		snprintf(list + at, len - at, "%s%u", at == 0 ? "" : ",", machine->lcore[i].id);
	}
	return least;
}

/* The node with CPUs that has the least sum, by index; -1: there is none below `limit`. */
static int nearest_node(const struct fm_machine *machine, const struct uses *uses, uint32_t limit, uint32_t *least)
{
	int best = -1;

	*least = limit;
	for (uint16_t i = 0; i < machine->n_nodes; i++) {
		const uint32_t sum = sum_of_distances(machine, uses, machine->node[i].id);

		if (machine->node[i].cpus[0] == '\0' || sum >= *least)
			continue;
		*least = sum;
		best = i;
	}
	return best;
}

static void advise(const struct fm_machine *machine, const struct uses *uses, struct fm_place *place)
{
	const uint32_t now = sum_of_distances(machine, uses, place->node);
	char list[FM_NODE_TEXT_LEN];
	const uint32_t then = nearest_lcores(machine, uses, list, sizeof(list));
	uint32_t least;
	const int node = nearest_node(machine, uses, now, &least);

	place->better = then < now || node >= 0;
	if (then < now)
		add(place, "; nearer lcores: %s (distance%s %u", list, uses->n > 1 ? "s in all" : "", then);
	else if (node >= 0)
		add(place, "; no lcore given is nearer, but CPUs %s of node %d are, see -l (distance%s %u",
		    machine->node[node].cpus, machine->node[node].id, uses->n > 1 ? "s in all" : "", least);
	else
		add(place, "; no CPU is nearer");
	if (place->better && uses->n > 1)
		add(place, ", now %u", now);
	if (place->better)
		add(place, ")");
}

void fm_place_judge(const struct fm_machine *machine, const struct fm_seat *seat, struct fm_place *place)
{
	struct uses uses;
	bool remote = false;

	*place = (struct fm_place){ .node = node_of_lcore(machine, seat->lcore) };
	if (seat->ports == 0) {
		place->verdict = FM_PLACED_IDLE;
		add(place, "polls no port");
		return;
	}
	if (place->node < 0) {
		place->verdict = FM_PLACED_UNKNOWN;
		add(place, "may run on CPUs of several nodes, see --lcores");
		return;
	}
	find_uses(machine, seat, &uses);
	for (unsigned int i = 0; i < uses.n; i++)
		remote |= uses.what[i].node != place->node;
	place->verdict = remote ? FM_PLACED_REMOTE : FM_PLACED_LOCAL;
	if (!remote) {
		add(place, "uses nothing of another node");
		return;
	}
	tell_remote(machine, &uses, place);
	advise(machine, &uses, place);
}
