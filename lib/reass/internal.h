/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/reass share. Everything here belongs to the one thread that owns the table. */
#ifndef FM_REASS_INTERNAL_H
#define FM_REASS_INTERNAL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "fm_reass.h"
#include "frag.h"
#include "siphash.h"

enum {
	FM_LINE = 64,
	FM_NONE = 0,			/* numbers of entries and nodes start at 1 */
	FM_NUMBER_MAX = 1 << 24,
	FM_SLOTS = 8,			/* of a bucket */
	FM_LEAF_EXTENTS = 3,
	FM_INNER_CHILDREN = 10,
	FM_HEIGHT_MAX = 8,		/* 8192 extents, at least 5 children a node: 6 and the root */
	FM_STEPS = 18,			/* progress classes: bit width of the mbufs held, up to 65,535 */
	FM_DEAD_MAX = 64,
	FM_SCRATCH_LEN = 66 * 1024,	/* longer than any IP packet with Ethernet header and tags */
	FM_SEGS_MAX = 65000,		/* of a joined chain: rte_mbuf counts them in 16 bits */
};

#define FM_END_UNKNOWN UINT32_MAX

/*
 * Index: a hash selects a bucket; what finds no slot there hangs in a chain off the bucket. With half the slots in use
 * that is one entry in fifty, and nobody without the secret can make it more.
 */
struct fm_bucket {
	uint16_t tag[FM_SLOTS];
	uint32_t entry[FM_SLOTS];
	uint32_t overflow;
	uint32_t unused[3];
};
static_assert(sizeof(struct fm_bucket) == FM_LINE, "a bucket is a cache line");

/* One stored fragment. The frame stays as it came until the datagram is joined. */
struct fm_extent {
	struct rte_mbuf *m;
	uint16_t offset, length;	/* bytes of the datagram's payload */
	uint16_t payload_at;		/* in the frame */
	bool more;
};
static_assert(sizeof(struct fm_extent) == 16, "three extents and a link fill a cache line");

/* Extents of a datagram: a B+ tree by offset that only grows, its leaves linked in order. */
struct fm_leaf {
	uint32_t next;			/* leaf to the right; next free node in the free list */
	uint32_t count;
	uint64_t unused;
	struct fm_extent extent[FM_LEAF_EXTENTS];
};

struct fm_inner {
	uint32_t count;
	uint16_t first[FM_INNER_CHILDREN]; /* lowest offset below the child; of child 0 it is not kept up to date */
	uint32_t child[FM_INNER_CHILDREN];
};

union fm_node {
	struct fm_leaf leaf;
	struct fm_inner inner;
};
static_assert(sizeof(union fm_node) == FM_LINE, "a node is a cache line");

enum fm_state {
	FM_STATE_FREE,
	FM_STATE_LIVE,		/* holds fragments; in an age list and a step list */
	FM_STATE_CONDEMNED,	/* remembered without fragments; in an age list and the list of condemned ones */
};

enum fm_link_kind { FM_LINK_AGE, FM_LINK_STEP, FM_LINKS };

struct fm_link {
	uint32_t prev, next;
};

struct fm_list {
	uint32_t head, tail;
};

struct fm_datagram {
	/* Line 0: what a lookup reads. */
	struct fm_key key;
	uint32_t hash;
	uint32_t chain;			/* next in the bucket's overflow chain; next free entry */
	uint16_t l3_len;		/* of the first fragment, once it has come; so are the next three */
	uint16_t next_at;
	uint8_t l2_len;
	uint8_t next_header;
	uint8_t state;			/* enum fm_state */
	uint8_t family;			/* enum fm_family_index */
	/* Line 1: what an insert writes. */
	uint64_t first_seen_tsc;
	uint64_t last_seen_tsc;
	struct fm_link link[FM_LINKS];
	uint32_t bytes_held;
	uint32_t end;			/* FM_END_UNKNOWN until the last fragment has come */
	uint32_t root, tail;		/* tree of extents; its rightmost leaf */
	uint32_t mbufs_held;
	uint16_t fragments;
	uint16_t largest;		/* IP length of the largest fragment, saturated */
	uint8_t height;			/* of the tree; 0: the root is a leaf */
	uint8_t step;			/* progress class */
	uint8_t ecn_seen;		/* bit per code point */
	uint8_t unused[5];
};
static_assert(sizeof(struct fm_datagram) == 2 * FM_LINE, "a datagram is two cache lines");

struct fm_reass {
	struct fm_reass_settings settings;
	struct fm_siphash_key secret;
	uint32_t bucket_mask;
	uint32_t max_datagrams, max_mbufs;
	uint32_t n_entries, n_nodes;
	uint32_t free_entry, free_node;
	struct fm_bucket *bucket;
	struct fm_datagram *entry;	/* [0] is not used */
	union fm_node *node;		/* likewise */
	uint8_t *scratch;		/* FM_SCRATCH_LEN: headers that are split over segments */
	struct rte_mempool *header_pool;
	void (*dropped)(void *arg, const struct rte_mbuf *m, enum fm_outcome why);
	void *dropped_arg;

	struct fm_list age[FM_FAMILIES];	/* by first_seen_tsc: timeouts are constant, so a FIFO is the timer */
	struct fm_list step[FM_STEPS];		/* live ones of equal progress, by last_seen_tsc */
	struct fm_list condemned;		/* in order of their condemnation */
	int expire_first;			/* family that fm_reass_expire() serves first */
	uint64_t gap_tsc, gap_deviation_tsc;	/* learned: time between the fragments of a datagram */

	struct rte_mbuf *dead[FM_DEAD_MAX];	/* counted, waiting to be freed together */
	uint32_t n_dead;

	struct fm_reass_stats stats __rte_aligned(FM_LINE);	/* written here, read by any thread */
};

/* --- small tools --- */

static inline struct fm_datagram *fm_entry(const struct fm_reass *r, uint32_t number)
{
	return &r->entry[number];
}

static inline uint32_t fm_number(const struct fm_reass *r, const struct fm_datagram *d)
{
	return (uint32_t)(d - r->entry);
}

/* The owner is the only writer; a reader in another thread sees the old or the new value. */
static inline void fm_count_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void fm_count_sub(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter - n, __ATOMIC_RELAXED);
}

static inline void fm_list_add_tail(struct fm_reass *r, struct fm_list *list, enum fm_link_kind kind,
				    struct fm_datagram *d)
{
	const uint32_t number = fm_number(r, d);

	d->link[kind] = (struct fm_link){ .prev = list->tail, .next = FM_NONE };
	if (list->tail != FM_NONE)
		fm_entry(r, list->tail)->link[kind].next = number;
	else
		list->head = number;
	list->tail = number;
}

static inline void fm_list_remove(struct fm_reass *r, struct fm_list *list, enum fm_link_kind kind,
				  struct fm_datagram *d)
{
	const struct fm_link link = d->link[kind];

	if (link.prev != FM_NONE)
		fm_entry(r, link.prev)->link[kind].next = link.next;
	else
		list->head = link.next;
	if (link.next != FM_NONE)
		fm_entry(r, link.next)->link[kind].prev = link.prev;
	else
		list->tail = link.prev;
}

static inline uint8_t fm_step_of(uint32_t mbufs_held)
{
	return mbufs_held == 0 ? 0 : (uint8_t)(32 - __builtin_clz(mbufs_held));
}

/* Age and idle time; a clock that went back a little is no time at all. */
static inline uint64_t fm_elapsed(uint64_t since_tsc, uint64_t now_tsc)
{
	return (int64_t)(now_tsc - since_tsc) > 0 ? now_tsc - since_tsc : 0;
}

static inline bool fm_expired(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc)
{
	return fm_elapsed(d->first_seen_tsc, now_tsc) >= r->settings.timeout_tsc[d->family];
}

/* --- table.c: the index --- */
uint32_t fm_key_hash(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family);
struct fm_datagram *fm_index_find(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family,
				  uint32_t hash);
void fm_index_add(struct fm_reass *r, struct fm_datagram *d);
void fm_index_remove(struct fm_reass *r, struct fm_datagram *d);

static inline const struct fm_bucket *fm_index_bucket(const struct fm_reass *r, uint32_t hash)
{
	return &r->bucket[hash & r->bucket_mask];
}

/* --- extent.c: the tree --- */

/* Where a fragment belongs. */
struct fm_place {
	uint32_t leaf;				/* FM_NONE: the tree is empty */
	uint32_t at;				/* in the leaf: before this extent */
	const struct fm_extent *before, *after;	/* neighbours; NULL: none */
	struct { uint32_t node, child; } path[FM_HEIGHT_MAX];	/* [level]; level 1 is above the leaves */
	bool append;				/* behind all others; the path is not filled */
};

void fm_extent_find(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place);
/* False: no node left, nothing changed. */
bool fm_extent_insert(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place,
		      const struct fm_extent *extent);
uint32_t fm_extent_first_leaf(const struct fm_reass *r, const struct fm_datagram *d);
/* End of the data held furthest behind; 0 if nothing is held. */
uint32_t fm_extent_held_end(const struct fm_reass *r, const struct fm_datagram *d);
/* Give all nodes back; the mbufs are not touched. */
void fm_extent_clear(struct fm_reass *r, struct fm_datagram *d);

/* --- datagram.c: states of an entry --- */
struct fm_datagram *fm_datagram_new(struct fm_reass *r, const struct fm_frag *frag, uint32_t hash, enum fm_state state,
				    uint64_t now_tsc);
/* Count and free what it holds, and remember it as condemned. */
void fm_datagram_condemn(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why);
/* Count and free what it holds, and forget it. */
void fm_datagram_drop(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why);
/* Forget it; what it held has gone elsewhere. */
void fm_datagram_forget(struct fm_reass *r, struct fm_datagram *d);
void fm_datagram_expire(struct fm_reass *r, struct fm_datagram *d);
/* It holds `mbufs` more now: its place in the progress lists. */
void fm_datagram_touch(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc);

/* Count a fragment's outcome and free it, soon. */
void fm_drop(struct fm_reass *r, struct rte_mbuf *m, enum fm_outcome why);
void fm_drop_flush(struct fm_reass *r);

/* --- admit.c: the pressure policy. Whether and for whom room is made is decided here and nowhere else. --- */
enum fm_admission { FM_ADMIT, FM_REFUSE };

/* A datagram not seen before wants to hold `mbufs`. On FM_REFUSE *why is set. */
enum fm_admission fm_admit_new(struct fm_reass *r, uint32_t mbufs, uint64_t now_tsc, enum fm_outcome *why);
/* A live datagram wants to hold `mbufs` more. On FM_REFUSE it is the one to give way, *why is set. */
enum fm_admission fm_admit_more(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc,
				enum fm_outcome *why);
/* Evict until the budget holds. */
void fm_admit_shrink(struct fm_reass *r, uint64_t now_tsc);
void fm_admit_learn_gap(struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc);
bool fm_admit_cold(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc);

/* --- chain.c: segments --- */
bool fm_chain_shared(const struct rte_mbuf *m);
/* Can `len` bytes at the front be rewritten in place? */
bool fm_chain_writable(const struct rte_mbuf *m, uint32_t len);
/* Cut the chain to its first `len` bytes, 1..pkt_len. */
void fm_chain_trim(struct rte_mbuf *m, uint32_t len);
/* Drop `len` bytes at the front, 0..pkt_len-1; segments that become empty are freed. Returns the new first segment. */
struct rte_mbuf *fm_chain_strip(struct rte_mbuf *m, uint32_t len);
bool fm_chain_equal(const struct rte_mbuf *a, uint32_t a_at, const struct rte_mbuf *b, uint32_t b_at, uint32_t len);
/* What the driver said about the packet, from one first segment to another. */
void fm_chain_copy_meta(struct rte_mbuf *to, const struct rte_mbuf *from);

/* --- join.c, verify.c --- */

/*
 * Join a complete datagram; on success it holds nothing any more. On failure it still holds everything, *why is set.
 */
struct rte_mbuf *fm_join(struct fm_reass *r, struct fm_datagram *d, struct fm_whole *whole, enum fm_outcome *why);
/* The same for an atomic fragment (RFC 6946). On failure `m` is untouched. */
struct rte_mbuf *fm_join_atomic(struct fm_reass *r, struct rte_mbuf *m, const struct fm_frag *frag,
				struct fm_whole *whole, enum fm_outcome *why);
bool fm_verify_l4(const struct rte_mbuf *m, const struct fm_whole *whole);

#endif
