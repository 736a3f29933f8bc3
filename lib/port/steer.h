/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: which worker owns a fragment, and handing it over.
 *
 * All fragments of a datagram must reach one table. Where the port does not see to it, the worker that polls its queue
 * does: a keyed hash over the whole reassembly key names the owner. Whoever does not know the secret cannot choose it.
 * All else stays with the poller in the order in which it came: frames that are no fragments, atomic fragments, which
 * are whole already, and what the parser rejects. The owner parses again and judges: the poller asks the parser only
 * for the key, so it does not verify the checksum of a header, for one.
 *
 * Owner of struct fm_steer: the worker that polls; no other thread touches it.
 */
#ifndef FM_STEER_H
#define FM_STEER_H

#include <stdint.h>

#include "config.h"
#include "fm_reass.h"
#include "pipe.h"
#include "siphash.h"

struct rte_mbuf;
struct fm_frag;

enum {
	/* Headers that go on in another segment are parsed in a copy. A fragment header lies within so many bytes. */
	FM_STEER_SCRATCH = 4096,
};

/* Fragments of this burst for another worker. */
struct fm_outbox {
	struct fm_pipe pipe;		/* mbufs; their `port` says where they came in */
	uint16_t n;
	struct rte_mbuf *m[FM_BURST_MAX];
};

struct fm_steer {
	struct fm_siphash_key key;	/* the same for all workers */
	uint16_t self, n_workers;
	uint64_t full_fragments;	/* dropped because a pipe was full; control reads */
	struct fm_tap *tap;		/* NULL: nothing is captured */
	struct fm_outbox *box[FM_WORKERS_MAX];	/* by worker; NULL: self */
	uint8_t scratch[FM_STEER_SCRATCH];
};

/*
 * The worker that owns a fragment.
 *
 * @return 0..n_workers-1
 */
uint16_t fm_steer_owner(const struct fm_siphash_key *key, const struct fm_frag *frag, uint16_t n_workers);

/*
 * Hand over those fragments of a received burst that belong to others. What does not fit their pipe is freed.
 *
 * @param in    the burst; what stays is moved to the front, in order
 * @param n     0..FM_BURST_MAX
 * @param port  where they came in, ethdev port id
 * @return      how many stay
 */
uint16_t fm_steer_burst(struct fm_steer *s, struct rte_mbuf **in, uint16_t n, uint16_t port);

#endif
