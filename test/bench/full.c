/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "fm_reass.h"
#include "full.h"

enum {
	ROOM = 65536,         /* datagrams and mbufs */
	HONEST = 256,         /* datagrams under way that will complete, of two fragments */
	PERIOD = 3,           /* fragments of the mixed stream until it repeats: two honest ones, one that is not */
	WARM_ROOMS = 2,       /* times the unfinished datagrams that come could fill the table before it is measured */
	TIMED = 4 * ROOM,     /* fragments */
	LAP = 63 * 1024,      /* a multiple of PERIOD and of FM_BENCH_SLICE */
	UNFINISHED = 1 << 20, /* different sources; more than a run has */
	POOL_CACHE_ROOM = 1024,
	FRAGMENTS_PER_S = 1000000,
	TIMEOUT_S = 3600,
};

/* Time is virtual: the same number of fragments comes in it, however fast the machine is. */
struct pressed {
	struct fm_reass *reass;
	void *memory;
	struct fm_result result;
	uint64_t now_tsc, tick_tsc;
};

static struct fm_reass_params params_of(const struct fm_bench_full *spec)
{
	const uint64_t tick_tsc = rte_get_tsc_hz() / FRAGMENTS_PER_S;
	const uint32_t period = spec->stream == FM_BENCH_MIXED ? PERIOD : 1;
	const uint64_t timeout_tsc = spec->full ? TIMEOUT_S * rte_get_tsc_hz() : (uint64_t)ROOM / 2 * period * tick_tsc;

	return (struct fm_reass_params){
		.settings.timeout_tsc = {timeout_tsc, timeout_tsc},
		.settings.budget_mbufs = ROOM,
		.settings.max_fragments = 45,
		.max_datagrams = ROOM,
		.max_mbufs = ROOM,
		.secret = "a fixed secret 1",
	};
}

uint64_t fm_bench_full_bytes(void)
{
	const struct fm_bench_full spec = {0};
	const struct fm_reass_params params = params_of(&spec);

	return fm_reass_memsize(&params) + fm_bench_pool_bytes(ROOM + LAP + POOL_CACHE_ROOM) + (32 << 20);
}

static void pressed_init(struct pressed *state, const struct fm_bench_full *spec, int socket)
{
	const struct fm_reass_params params = params_of(spec);
	char err[256];

	*state = (struct pressed){.tick_tsc = rte_get_tsc_hz() / FRAGMENTS_PER_S, .now_tsc = 1};
	state->memory = rte_zmalloc_socket("table", fm_reass_memsize(&params), RTE_CACHE_LINE_SIZE, socket);
	fm_bench_must(state->memory != NULL, "fragmend's table");
	if (fm_reass_init(state->memory, &params, &state->reass, err, sizeof(err)) != 0) {
		fprintf(stderr, "bench: %s\n", err);
		exit(1);
	}
}

/* Both tables look for what has timed out: what is compared is one that finds some and one that evicts. */
static uint32_t pressed_burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_tsc)
{
	struct pressed *state = arg;

	(void)now_tsc;
	state->now_tsc += n * state->tick_tsc;
	fm_reass_burst(state->reass, in, (uint16_t)n, 0, state->now_tsc, &state->result);
	if (state->result.n_done > 0)
		rte_pktmbuf_free_bulk(state->result.done, state->result.n_done);
	fm_reass_expire(state->reass, state->now_tsc, 2 * n);
	return state->result.n_done;
}

static const struct fm_bench_engine pressed = {.name = "fragmend", .burst = pressed_burst};

struct streams {
	enum fm_bench_stream kind;
	struct fm_bench_traffic honest, unfinished;
};

static void prepare(struct fm_bench_lap *lap, struct rte_mempool *pool, struct streams *streams, uint32_t n)
{
	lap->n = 0;
	if (streams->kind == FM_BENCH_FLOOD) {
		fm_bench_prepare(lap, pool, &streams->unfinished, n);
		return;
	}
	while (lap->n < n) {
		fm_bench_prepare(lap, pool, &streams->honest, PERIOD - 1);
		fm_bench_prepare(lap, pool, &streams->unfinished, 1);
	}
}

static void score(const struct fm_bench_full *spec, const struct fm_reass_stats *before,
		  const struct fm_reass_stats *after, uint64_t frames, struct fm_bench_full_result *result)
{
	static const enum fm_outcome evicted[] = {FM_EVICTED_COLD, FM_EVICTED_UNLIKELY, FM_EVICTED_PROGRESS};
	static const enum fm_outcome refused[] = {FM_REFUSED_BUDGET, FM_REFUSED_SHARE, FM_REFUSED_TABLE};
	const double honest = spec->stream == FM_BENCH_MIXED ? (double)frames / PERIOD : 0;

	for (unsigned int i = 0; i < RTE_DIM(evicted); i++)
		result->evicted += (double)(after->count[evicted[i]] - before->count[evicted[i]]) / (double)frames;
	for (unsigned int i = 0; i < RTE_DIM(refused); i++)
		result->refused += (double)(after->count[refused[i]] - before->count[refused[i]]) / (double)frames;
	result->timed_out = (double)(after->count[FM_TIMEOUT] - before->count[FM_TIMEOUT]) / (double)frames;
	result->completed = honest > 0 ? (double)(after->datagrams_done - before->datagrams_done) / honest : 0;
	result->held = (double)after->held_mbufs / ROOM;
}

static uint64_t play(struct pressed *state, struct streams *streams, struct fm_bench_lap *lap, struct rte_mempool *pool,
		     uint64_t at_least, struct fm_bench_result *timed)
{
	uint64_t frames;

	*timed = (struct fm_bench_result){0};
	for (frames = 0; frames < at_least; frames += lap->n) {
		prepare(lap, pool, streams, LAP);
		fm_bench_run_lap(lap, &pressed, state, timed);
	}
	return frames;
}

void fm_bench_full_run(const struct fm_bench_full *spec, const struct fm_bench_how *how,
		       struct fm_bench_full_result *result)
{
	const uint32_t period = spec->stream == FM_BENCH_MIXED ? PERIOD : 1;
	struct fm_bench_cell honest = {.family = spec->family,
				       .fragments = 2,
				       .order = FM_BENCH_ROUND_ROBIN,
				       .datagrams = HONEST,
				       .payload = FM_BENCH_PAYLOAD},
			     unfinished = honest;
	struct rte_mempool *pool = fm_bench_pool(ROOM + LAP + POOL_CACHE_ROOM, how->socket);
	struct streams streams = {.kind = spec->stream};
	struct fm_bench_result timed;
	struct fm_reass_stats before;
	struct fm_bench_lap lap;
	struct pressed state;
	uint64_t frames;

	unfinished.datagrams = UNFINISHED; /* the stream ends before the first of them would get its second fragment */
	unfinished.network = 1;
	*result = (struct fm_bench_full_result){0};
	pressed_init(&state, spec, how->socket);
	fm_bench_lap_init(&lap, &honest, how, LAP);
	fm_bench_traffic_init(&streams.honest, &honest);
	fm_bench_traffic_init(&streams.unfinished, &unfinished);
	play(&state, &streams, &lap, pool, (uint64_t)WARM_ROOMS * ROOM * period, &timed);
	before = *fm_reass_stats(state.reass);
	frames = play(&state, &streams, &lap, pool, TIMED, &timed);
	score(spec, &before, fm_reass_stats(state.reass), frames, result);
	result->cycles = fm_bench_cycles(&timed);
	fm_reass_flush(state.reass);
	rte_free(state.memory);
	fm_bench_lap_fini(&lap);
	fm_bench_pool_free(pool, pressed.name);
}
