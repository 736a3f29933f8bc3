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
#include "policy.h"
#include "siphash.h"

enum {
	FM_LINE = 64,
	FM_NONE = 0,			/* numbers of entries and nodes start at 1 */
	FM_NUMBER_MAX = 1 << 24,
	FM_SLOTS = 8,			/* of a bucket */
	FM_LEAF_EXTENTS = 3,
	FM_INNER_CHILDREN = 10,
	FM_HEIGHT_MAX = 8,		/* 8192 extents, at least 5 children a node: 6 and the root */
	FM_DEAD_MAX = 64,
	FM_SCRATCH_LEN = 66 * 1024,	/* longer than any IP packet with Ethernet header and tags */
	FM_SEGS_MAX = 65000,		/* of a joined chain: rte_mbuf counts them in 16 bits */
};

#define FM_END_UNKNOWN 0

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
	FM_STATE_LIVE,		/* holds fragments; in an age list and an activity list */
};

enum fm_link_kind { FM_LINK_AGE, FM_LINK_ACTIVITY, FM_LINKS };

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
	uint32_t root, tail;		/* tree of extents; its rightmost leaf */
	uint32_t source;		/* number of its source's record, if that is still its own: source_check */
	uint16_t bytes_held;
	uint16_t end;			/* FM_END_UNKNOWN until the last fragment has come */
	uint16_t mbufs_held;
	uint16_t mbufs_expected;	/* of the whole; grows when it is outgrown, while it is likely */
	uint16_t fragments;
	uint16_t largest;		/* IP length of the largest fragment, saturated */
	uint8_t height;			/* of the tree; 0: the root is a leaf */
	uint8_t ecn_seen;		/* bit per code point */
	uint8_t list;			/* of activity */
	uint8_t bin;			/* of the plan; FM_NO_BIN: not in it */
	uint8_t weight;			/* chance of completing as of its last fragment, in 255ths */
	uint8_t marks;			/* enum fm_mark */
	uint16_t source_check;
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
	struct fm_list activity[FM_LISTS];	/* live ones: policy.h */
	uint64_t list_used;			/* bit per activity list that is not empty */
	uint64_t cool_at_tsc;			/* when to look again for those silent for too long */
	int expire_first;			/* family that fm_reass_expire() serves first */
	struct fm_condemned *condemned;
	uint32_t condemned_mask;		/* of sets */
	uint32_t sweep_next;			/* set to look at next for what can be forgotten */
	struct fm_sources sources;
	struct fm_plan plan;

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

/* fminf() and fmaxf() are calls where the compiler has to mind what they do with NaN; there is none here. */
static inline float fm_minf(float a, float b)
{
	return a < b ? a : b;
}

static inline float fm_maxf(float a, float b)
{
	return a > b ? a : b;
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

static inline struct fm_condemned *fm_condemned_set(const struct fm_reass *r, uint64_t hash)
{
	return &r->condemned[(size_t)(hash >> 32 & r->condemned_mask) * FM_CONDEMNED_WAYS];
}

static inline unsigned int fm_prefix_bits(const struct fm_reass *r, enum fm_family_index family)
{
	const unsigned int set = r->settings.source_prefix[family];

	return set != 0 ? set : family == FM_IPV4 ? 32 : 64;
}

/* NULL: the record has been given to another. */
static inline struct fm_source *fm_source_of(const struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_source *s = &r->sources.record[d->source];

	return s->check == d->source_check ? s : NULL;
}

static inline bool fm_source_known(const struct fm_source *s)
{
	return s->begun > 0;
}

static inline void fm_mark_trial(struct fm_reass *r, struct fm_datagram *d)
{
	r->sources.trials += !(d->marks & FM_MARK_TRIAL);
	d->marks |= FM_MARK_TRIAL;
}

/* --- table.c: the index --- */
uint64_t fm_key_hash(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family);
struct fm_datagram *fm_index_find(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family,
				  uint32_t hash);
/* The entry to be prefetched: most likely it is the right one. FM_NONE: most likely there is none. */
uint32_t fm_index_guess(const struct fm_reass *r, uint32_t hash);
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

/* An entry for a datagram that holds nothing yet. */
struct fm_datagram *fm_datagram_new(struct fm_reass *r, const struct fm_frag *frag, uint32_t hash, uint64_t now_tsc);
/* Count and free what it holds, and remember its key as condemned. */
void fm_datagram_condemn(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why, enum fm_doom doom,
			 uint64_t now_tsc);
/* Count and free what it holds, and forget it. */
void fm_datagram_drop(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why);
void fm_datagram_expire(struct fm_reass *r, struct fm_datagram *d);
/* Forget it; what it held has gone elsewhere, `wasted` fragments of it to no good. */
void fm_datagram_forget(struct fm_reass *r, struct fm_datagram *d, uint32_t wasted);
/* It holds `mbufs` more now: its place in the activity lists and in the plan. */
void fm_datagram_touch(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc);
/* It has been silent for too long: out of the likely ones. */
void fm_datagram_doubt(struct fm_reass *r, struct fm_datagram *d);
/* Out of the warm ones. */
void fm_datagram_cool(struct fm_reass *r, struct fm_datagram *d);

/* Count a fragment's outcome and free it, soon. */
void fm_drop(struct fm_reass *r, struct rte_mbuf *m, enum fm_outcome why);
void fm_drop_flush(struct fm_reass *r);

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
