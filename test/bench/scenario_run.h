/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a scenario's stream to a peer. Needs no EAL. */
#ifndef FM_SCENARIO_RUN_H
#define FM_SCENARIO_RUN_H

#include "peer.h"
#include "scenario.h"

struct rte_mempool;

enum {
	FM_SCENARIO_LAP = 1024, /* fragments that are made before they are played */
	FM_SCENARIO_DATA_ROOM = 128 + FM_SCENARIO_HEADERS + FM_SCENARIO_PAYLOAD, /* headroom and a frame */
};

struct fm_scenario_result {
	struct fm_scenario_score score[FM_SCENARIO_CLASSES];
	double cycles; /* TSC, a fragment, in the peer: of the median lap, as others use the machine, too */
};

void fm_scenario_peer_params(const struct fm_scenario_case *spec, uint64_t seed, int socket,
			     struct fm_peer_params *params);
/* Mbufs that a run can have out at a time. */
uint32_t fm_scenario_mbufs(const struct fm_peer *peer, const struct fm_peer_params *params);
/*
 * Play the whole stream.
 *
 * @param pool  fm_scenario_mbufs() or more free ones of FM_SCENARIO_DATA_ROOM bytes; whose all come back
 */
void fm_scenario_run(const struct fm_scenario_case *spec, const struct fm_peer *peer,
		     const struct fm_peer_params *params, struct rte_mempool *pool, struct fm_scenario_result *result);

#endif
