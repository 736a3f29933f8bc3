/* SPDX-License-Identifier: BSD-3-Clause */
/* Who plays the scenarios: fragmend, and what else there is, behind one interface. */
#ifndef FM_PEER_H
#define FM_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct rte_mbuf;

enum { FM_PEER_BURST = 32 };

struct fm_peer_params {
	uint32_t budget_mbufs;
	uint16_t fragments;     /* of an honest datagram, at most */
	uint16_t max_fragments; /* setting, where there is one */
	uint64_t seed;
	int socket; /* for memory from EAL */
};

struct fm_peer {
	const char *name;
	uint16_t fragments_max; /* of a datagram; 0: no limit */
	/* Mbufs that it may come to hold. */
	uint32_t (*mbufs)(const struct fm_peer_params *params);
	/* An empty table; ends the program where there is no memory for it. */
	void *(*create)(const struct fm_peer_params *params);
	/*
	 * Take a burst of fragments, 1..FM_PEER_BURST, and let what is too old go. This is what is timed.
	 *
	 * @param done  set to the datagrams completed, which are the caller's now
	 * @return      how many
	 */
	uint32_t (*burst)(void *peer, struct rte_mbuf **in, uint32_t n, uint64_t now_ns, struct rte_mbuf ***done);
	/* Free the table and what it holds. */
	void (*destroy)(void *peer);
};

extern const struct fm_peer fm_peer_fragmend, fm_peer_ip_frag, fm_peer_refuse, fm_peer_lru;

/* What all but Linux wait for a datagram's last fragment. */
#define FM_PEER_TIMEOUT_NS UINT64_C(2000000000)

/* Zeroed memory in large pages where the kernel has them; ends the program where there is none. Free with free(). */
void *fm_peer_memory(uint64_t size);

#endif
