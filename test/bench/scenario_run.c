/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "scenario_run.h"

struct run {
	const struct fm_peer *peer;
	void *state;
	struct rte_mempool *pool;
	struct fm_scenario_traffic *traffic;
	uint32_t n; /* of the lap */
	struct rte_mbuf *m[FM_SCENARIO_LAP];
	uint64_t at_ns[FM_SCENARIO_LAP];
	double *cycles; /* a fragment, of each lap */
	uint32_t laps;
};

void fm_scenario_peer_params(const struct fm_scenario_case *spec, uint64_t seed, int socket,
			     struct fm_peer_params *params)
{
	*params = (struct fm_peer_params){
		.budget_mbufs = spec->budget_mbufs,
		.max_fragments = spec->max_fragments,
		.seed = seed,
		.socket = socket,
	};
	for (unsigned int g = 0; g < spec->n_groups; g++)
		params->fragments = RTE_MAX(params->fragments, spec->group[g].fragments);
}

uint32_t fm_scenario_mbufs(const struct fm_peer *peer, const struct fm_peer_params *params)
{
	return peer->mbufs(params) + FM_SCENARIO_LAP;
}

static void receive(struct rte_mbuf *m, const struct fm_scenario_fragment *f)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	fm_scenario_headers(f, frame);
	/* No two fragments are copies of each other, not even where identifications wrap. */
	memset(frame + FM_SCENARIO_HEADERS, 0, f->length);
	memcpy(frame + FM_SCENARIO_HEADERS, &f->at_ns, RTE_MIN(sizeof(f->at_ns), f->length));
	m->ol_flags |= RTE_MBUF_F_RX_IP_CKSUM_GOOD;
	m->data_len = (uint16_t)(FM_SCENARIO_HEADERS + f->length);
	m->pkt_len = m->data_len;
}

/* Make the next fragments; none: the stream has ended. */
static uint32_t prepare(struct run *run)
{
	struct fm_scenario_fragment f;

	for (run->n = 0; run->n < FM_SCENARIO_LAP && fm_scenario_next(run->traffic, &f); run->n++) {
		run->m[run->n] = rte_pktmbuf_alloc(run->pool);
		if (run->m[run->n] == NULL) {
			fprintf(stderr, "scenario: %s keeps more mbufs than it says\n", run->peer->name);
			exit(1);
		}
		receive(run->m[run->n], &f);
		run->at_ns[run->n] = f.at_ns;
	}
	return run->n;
}

static void play(struct run *run)
{
	uint64_t cycles = 0;

	for (uint32_t at = 0; at < run->n; at += FM_PEER_BURST) {
		const uint32_t n = RTE_MIN(run->n - at, (uint32_t)FM_PEER_BURST);
		const uint64_t start = rte_rdtsc();
		struct rte_mbuf **done;
		const uint32_t n_done = run->peer->burst(run->state, &run->m[at], n, run->at_ns[at + n - 1], &done);

		cycles += rte_rdtsc() - start;
		for (uint32_t i = 0; i < n_done; i++)
			fm_scenario_completed(run->traffic, done[i]);
		if (n_done > 0)
			rte_pktmbuf_free_bulk(done, n_done);
	}
	run->cycles[run->laps++] = (double)cycles / run->n;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void fm_scenario_run(const struct fm_scenario_case *spec, const struct fm_peer *peer,
		     const struct fm_peer_params *params, struct rte_mempool *pool, struct fm_scenario_result *result)
{
	const unsigned int free_mbufs = rte_mempool_avail_count(pool);
	struct run run = {
		.peer = peer,
		.state = peer->create(params),
		.pool = pool,
		.traffic = fm_scenario_traffic_new(spec, params->seed),
		.cycles = fm_peer_memory((spec->slots / FM_SCENARIO_LAP + 1) * sizeof(*run.cycles)),
	};

	while (prepare(&run) > 0)
		play(&run);
	peer->destroy(run.state);
	if (rte_mempool_avail_count(pool) != free_mbufs) {
		fprintf(stderr, "scenario: %s left mbufs outside the pool\n", peer->name);
		exit(1);
	}
	*result = (struct fm_scenario_result){0};
	for (unsigned int c = 0; c < spec->n_classes; c++)
		fm_scenario_score(run.traffic, c, &result->score[c]);
	fm_scenario_traffic_free(run.traffic);
	if (run.laps > 0) {
		qsort(run.cycles, run.laps, sizeof(*run.cycles), compare_doubles);
		result->cycles = run.cycles[run.laps / 2];
	}
	free(run.cycles);
}
