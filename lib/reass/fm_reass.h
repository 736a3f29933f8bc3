/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fm_reass: IP fragment reassembly for DPDK programs.
 *
 * One table per thread: nothing in here takes a lock or an atomic read-modify-write, and one thread calls all functions
 * of one table unless a function says otherwise. Memory, time, secret and mbufs are passed in; nothing is allocated
 * after fm_reass_init(), nothing is logged, no EAL call is made.
 *
 *	void *memory = rte_malloc_socket("reass", fm_reass_memsize(&params), 64, socket);
 *	struct fm_reass *reass;
 *
 *	fm_reass_init(memory, &params, &reass, err, sizeof(err));
 *	for (;;) {
 *		n = rte_eth_rx_burst(port, queue, in, 32);
 *		fm_reass_burst(reass, in, n, port, rte_rdtsc(), &result);
 *		... send result.pass[0..n_pass) and result.done[0..n_done) ...
 *	}
 *
 * It follows RFC 791, 1122 3.3.2, 3168 5.3, 5722 (for both families), 6864, 6946, 7112 and 8200 4.5, except that it
 * sends no ICMP and that its timeouts are the caller's: it works in transit, where the receiver's own reassembly is the
 * one the RFCs speak of.
 */
#ifndef FM_REASS_H
#define FM_REASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fm_outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

struct rte_mbuf;
struct rte_mempool;
struct fm_reass;

enum {
	FM_BURST_MAX = 256,
	FM_FRAGMENTS_MIN = 2,
	FM_FRAGMENTS_MAX = 8192,	/* 65,535 bytes in pieces of 8 */
	FM_SECRET_LEN = 16,
};

enum fm_family_index { FM_IPV4, FM_IPV6, FM_FAMILIES };

/* What can be changed while the table runs: fm_reass_set(). */
struct fm_reass_settings {
	uint64_t timeout_tsc[FM_FAMILIES];	/* from the first fragment seen; 1..2^63-1 */
	uint32_t budget_mbufs;			/* mbufs (segments) held at most; 1..max_mbufs */
	uint16_t max_fragments;			/* per datagram; FM_FRAGMENTS_MIN..FM_FRAGMENTS_MAX */
	/*
	 * Addresses that agree in so many leading bits are one source: one record, one share of the budget.
	 * IPv4: 0..32, IPv6: 0..128; 0: the default of 32 and 64.
	 */
	uint8_t source_prefix[FM_FAMILIES];
	bool verify_l4;				/* drop joined datagrams with a wrong transport checksum */
	bool short_chain; /* accept first IPv6 fragments without the whole header chain (RFC 7112) */
};

struct fm_reass_params {
	struct fm_reass_settings settings;
	uint32_t max_datagrams;			/* concurrently held; 1..2^24 */
	uint32_t max_mbufs;			/* highest budget_mbufs ever set; 1..2^24 */
	uint8_t secret[FM_SECRET_LEN];		/* hash key: random bytes nobody else knows */
	/*
	 * For the few headers that cannot be rewritten in place (shared, external or indirect mbufs, headers split over
	 * segments). NULL: such datagrams are dropped, FM_NO_MBUF. Data room: FM_HEADER_ROOM (fm_split.h) behind the
	 * headroom, or more.
	 */
	struct rte_mempool *header_pool;
	/*
	 * Called for each fragment frame just before it is freed, whole and unchanged, except where it was joined; may
	 * be NULL. Must not keep or change the mbuf. For capture; see fm_reass_on_drop().
	 */
	void (*dropped)(void *arg, const struct rte_mbuf *m, enum fm_outcome why);
	void *dropped_arg;
};

/* A joined datagram: how it lies in its mbuf chain, and what is needed to fragment it again. Lengths in bytes. */
struct fm_whole {
	uint32_t id;		/* identification, host order */
	uint32_t ip_len;	/* IP header to end; up to 65,535 (IPv4) or 65,575 (IPv6) */
	uint16_t l2_len;	/* Ethernet header and VLAN tags */
	uint16_t l3_len;	/* IPv4 header with options; IPv6 headers before where the fragment header stood */
	uint16_t next_at;	/* IPv6: next-header field in front of the fragment header, from the IPv6 header */
	uint16_t largest;	/* IP length of the largest fragment received */
	uint16_t fragments;	/* received; 1 for an atomic fragment */
	uint8_t family;		/* 4 or 6 */
	bool dont_fragment;	/* IPv4 DF was set in the first fragment */
};

/* What comes out of a burst. Every mbuf in it belongs to the caller. */
struct fm_result {
	uint16_t n_pass, n_done;
	struct rte_mbuf *pass[FM_BURST_MAX];	/* no fragments, untouched, in order of arrival */
	struct rte_mbuf *done[FM_BURST_MAX];	/* joined datagrams, chained */
	struct fm_whole whole[FM_BURST_MAX];	/* whole[i] describes done[i] */
};

/*
 * Written by the owner of the table, each field with one relaxed store; any thread may read it. At every quiet moment
 * fragments_in = sum of count[] over unit FRAGMENT + held_fragments, and frames_in = fragments_in + sum over unit
 * FRAME.
 */
struct fm_reass_stats {
	uint64_t frames_in;
	uint64_t fragments_in;
	uint64_t datagrams_done;	/* completed, atomic ones included */
	uint64_t count[FM_OUTCOME_MAX];	/* by enum fm_outcome */
	uint64_t held_fragments;
	uint64_t held_mbufs;
	uint64_t datagrams;		/* holding fragments now */
	uint64_t condemned;		/* remembered without fragments now */
};

/* One held datagram, for display. */
struct fm_reass_view {
	uint8_t source[16], destination[16];	/* IPv4 in the first 4 bytes; network order */
	uint64_t age_tsc, idle_tsc;
	uint32_t id;
	uint32_t held_bytes;
	uint32_t end_bytes;		/* 0: the last fragment has not come */
	uint32_t missing_ranges;
	uint32_t held_mbufs;
	uint16_t fragments;
	uint16_t port;
	uint16_t vlan[2];		/* 0xffff: no tag */
	uint8_t family;			/* 4 or 6 */
	uint8_t protocol;		/* IPv4; 0 for IPv6 */
	uint16_t chance_permille;	/* of completing: by its source's record, its progress and its silence */
	bool cold;			/* idle for longer than fragments are apart: first to be evicted */
};

/* One source and what became of its fragments, for display. */
struct fm_source_view {
	uint8_t prefix[16];		/* IPv4 in the first 4 bytes; network order; 0 behind prefix_len */
	uint8_t prefix_len;		/* bits, 1..32 or 1..128: as set now, or fewer if the record is older */
	uint8_t family;			/* 4 or 6 */
	uint16_t chance_permille;	/* that its next datagram completes */
	uint32_t held_mbufs;
	uint32_t size_mbufs;		/* of its datagrams that complete; 0: not known */
	uint64_t delivered;		/* fragments of completed datagrams, since the source has a record */
	uint64_t wasted;		/* fragments held for nothing, likewise */
	uint64_t gap_tsc;		/* from one fragment of a datagram to the next; 0: not known */
};

/*
 * Bytes fm_reass_init() needs for these parameters.
 *
 * @return 0 if a parameter is out of range
 */
size_t fm_reass_memsize(const struct fm_reass_params *params);

/*
 * Lay out a table in the caller's memory.
 *
 * @param memory   fm_reass_memsize() bytes, aligned to 64, on the owner's NUMA node; stays the caller's
 * @param reass    set to the table, which lies in `memory`
 * @param err      receives one sentence on failure; may be NULL
 * @return 0; -EINVAL: a parameter is out of range (named in err)
 */
int fm_reass_init(void *memory, const struct fm_reass_params *params, struct fm_reass **reass, char *err,
		  size_t err_len);

/*
 * Take new settings. The budget shrinks at once: cold datagrams go first, then unlikely ones, then those that have got
 * little while their source has got much. A new source_prefix counts for datagrams that begin from now on.
 *
 * @return 0; -EINVAL: a setting is out of range (named in err), nothing is changed
 */
int fm_reass_set(struct fm_reass *reass, const struct fm_reass_settings *settings, uint64_t now_tsc, char *err,
		 size_t err_len);

/*
 * Come down to a smaller budget in steps, one between two bursts each, so that none of them takes long. The same
 * datagrams go as with fm_reass_set(), but for what comes meanwhile.
 *
 * @param budget_mbufs  1..the one that is set; the rest of the settings stays
 * @param work          how much to do at most, 1 or more: mbufs to be let go of, or datagrams to be judged first, as
 *                      nobody is while memory is plenty
 * @return              true: the budget is set; false: there is more to be done
 */
bool fm_reass_shrink(struct fm_reass *reass, uint32_t budget_mbufs, uint32_t work, uint64_t now_tsc);

/*
 * Work a burst of received frames. Takes all mbufs; what is not in `result` is held or was freed and counted.
 *
 * @param n        0..FM_BURST_MAX
 * @param port     where they came from, 0..16383; part of the key
 * @param now_tsc  must never go back by more than a timeout; the same clock for all calls
 */
void fm_reass_burst(struct fm_reass *reass, struct rte_mbuf *const *in, uint16_t n, uint16_t port, uint64_t now_tsc,
		    struct fm_result *result);

/*
 * Free what has timed out (RFC 8200 4.5: counted from the first fragment that came). Call it between bursts, with
 * traffic or without, often enough and with a limit high enough to keep up: no more datagrams time out than fragments
 * come in.
 *
 * @param max_datagrams  free no more than so many; the families take turns at being first. As many sets of
 *                       four condemned keys are looked through: no huge number between bursts
 * @return               how many expired; == max_datagrams: there may be more
 */
uint32_t fm_reass_expire(struct fm_reass *reass, uint64_t now_tsc, uint32_t max_datagrams);

/*
 * Free all held fragments (FM_FLUSHED) and forget condemned datagrams. What is known of sources stays.
 *
 * @return fragments freed
 */
uint64_t fm_reass_flush(struct fm_reass *reass);

/*
 * Call `dropped` from now on, see struct fm_reass_params; NULL: nothing. The owner of the table, between bursts.
 */
void fm_reass_on_drop(struct fm_reass *reass, void (*dropped)(void *arg, const struct rte_mbuf *m, enum fm_outcome why),
		      void *arg);

/*
 * Free some of the held fragments (FM_FLUSHED), for a thread that polls. Condemned datagrams are not forgotten.
 *
 * @param fragments  so many at most, and the rest of the datagram that the last one belongs to; 1 or more
 * @return           true: none is held any more
 */
bool fm_reass_flush_some(struct fm_reass *reass, uint32_t fragments);

/* Counters of this table; any thread may read them at any time. */
const struct fm_reass_stats *fm_reass_stats(const struct fm_reass *reass);

/*
 * Describe up to `max` held datagrams, oldest first.
 *
 * @return how many were written to `views`
 */
uint32_t fm_reass_views(const struct fm_reass *reass, uint64_t now_tsc, struct fm_reass_view *views, uint32_t max);

/*
 * The same in pieces, for a thread that polls: a datagram can have thousands of fragments.
 *
 *	for (n = 0, more = true, first = true; more; first = false) {
 *		more = fm_reass_views_some(reass, first, 8, now_tsc, views, max, &n);
 *		... a burst ...
 *	}
 *
 * A datagram that is held from the first call to the last one is described once or, if `max` older ones are, not at
 * all; one that begins or ends meanwhile is described or not. There is one such walk at a time.
 *
 * @param first  true: begin with the oldest one; false: go on
 * @param work   how much to do at most, 1 or more: runs of up to ten fragments, of which each datagram has one or more.
 *               Each takes a few cache misses
 * @param views  room for max; the first *n have been described so far
 * @param n      0..max
 * @return       true: there are more, and there is room for them
 */
bool fm_reass_views_some(struct fm_reass *reass, bool first, uint32_t work, uint64_t now_tsc,
			 struct fm_reass_view *views, uint32_t max, uint32_t *n);

/*
 * Look at some of the records of sources, and keep the `max` of all looked at so far that hold most mbufs; of equal
 * ones those that wasted most, then those that were delivered most. There can be millions of records: a thread that
 * polls looks at a few of them between two bursts.
 *
 *	for (n = 0, at = 0;;) {
 *		at = fm_reass_sources(reass, at, 1024, views, max, &n);
 *		if (at == 0)
 *			break;
 *		... a burst ...
 *	}
 *
 * Between two calls sources come and go, and each is described as it was when it was looked at. For a while after
 * `source_prefix` was changed there can be several views of one prefix: add them up.
 *
 * @param first  0 to begin with, then what the last call returned
 * @param count  how much to do, 1 or more: records to look at, each one of which is put into its place in `views` if it
 *               belongs there, and before them datagrams to be counted with their sources. It takes a few times as many
 *               cache misses
 * @param views  room for max; the first *n are those kept so far
 * @param n      0..max
 * @return       where to go on; 0: all have been looked at
 */
uint32_t fm_reass_sources(struct fm_reass *reass, uint32_t first, uint32_t count, struct fm_source_view *views,
			  uint32_t max, uint32_t *n);

/*
 * Check every invariant of the table by walking it; for tests, far too slow for traffic.
 *
 * @return true if sound; otherwise `err` says what is not
 */
bool fm_reass_sound(const struct fm_reass *reass, char *err, size_t err_len);

#ifdef __cplusplus
}
#endif

#endif
