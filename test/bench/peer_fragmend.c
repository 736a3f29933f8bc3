/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

#include <rte_mbuf.h>

#include "fm_reass.h"
#include "peer.h"

enum { LARGE_PAGE = 2 << 20, EXPIRE_MAX = 32 };

struct fragmend {
	struct fm_reass *reass;
	struct fm_result result;
	uint32_t budget_mbufs;
	void *memory;
};

void *fm_peer_memory(uint64_t size)
{
	void *memory;

	if (posix_memalign(&memory, size < LARGE_PAGE ? RTE_CACHE_LINE_SIZE : LARGE_PAGE, size) != 0) {
		fprintf(stderr, "scenario: out of memory\n");
		exit(1);
	}
	/* Only a wish: without large pages it is slower, not wrong. */
	if (size >= LARGE_PAGE)
		madvise(memory, size, MADV_HUGEPAGE);
	memset(memory, 0, size);
	return memory;
}

static uint32_t mbufs(const struct fm_peer_params *params)
{
	return params->budget_mbufs;
}

static void *create(const struct fm_peer_params *params)
{
	struct fm_reass_params p = {
		.settings.timeout_tsc = {FM_PEER_TIMEOUT_NS, FM_PEER_TIMEOUT_NS},
		.settings.budget_mbufs = params->budget_mbufs,
		.settings.max_fragments = params->max_fragments,
		.max_datagrams = params->budget_mbufs,
		.max_mbufs = params->budget_mbufs,
	};
	struct fragmend *peer = fm_peer_memory(sizeof(*peer));
	char err[256];

	memcpy(p.secret, &params->seed, sizeof(params->seed));
	peer->budget_mbufs = params->budget_mbufs;
	peer->memory = fm_peer_memory(fm_reass_memsize(&p));
	if (fm_reass_init(peer->memory, &p, &peer->reass, err, sizeof(err)) != 0) {
		fprintf(stderr, "scenario: %s\n", err);
		exit(1);
	}
	return peer;
}

static uint32_t burst(void *arg, struct rte_mbuf **in, uint32_t n, uint64_t now_ns, struct rte_mbuf ***done)
{
	struct fragmend *peer = arg;

	fm_reass_burst(peer->reass, in, (uint16_t)n, 0, now_ns, &peer->result);
	fm_reass_expire(peer->reass, now_ns, EXPIRE_MAX);
	if (fm_reass_stats(peer->reass)->held_mbufs > peer->budget_mbufs) {
		fprintf(stderr, "scenario: fragmend holds more than its budget of %u mbufs\n", peer->budget_mbufs);
		exit(1);
	}
	*done = peer->result.done;
	return peer->result.n_done;
}

static void destroy(void *arg)
{
	struct fragmend *peer = arg;

	fm_reass_flush(peer->reass);
	free(peer->memory);
	free(peer);
}

const struct fm_peer fm_peer_fragmend = {
	.name = "fragmend",
	.mbufs = mbufs,
	.create = create,
	.burst = burst,
	.destroy = destroy,
};
