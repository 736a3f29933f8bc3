/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of lib/reass share. Everything here belongs to the one thread that owns the table. */
#ifndef FM_REASS_INTERNAL_H
#define FM_REASS_INTERNAL_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include "extent.h"
#include "fm_reass.h"
#include "frag.h"
#include "index.h"
#include "key.h"
#include "policy.h"
#include "siphash.h"
#include "siphash_lanes.h"

enum {
	FM_LINE = 64,
	FM_NONE = 0,			/* numbers of entries and nodes start at 1 */
	FM_NUMBER_MAX = 1 << 24,
	FM_DEAD_MAX = 64,
	FM_SCRATCH_LEN = 66 * 1024,	/* longer than any IP packet with Ethernet header and tags */
	FM_SEGS_MAX = 65000,		/* of a joined chain: rte_mbuf counts them in 16 bits */
};

#define FM_END_UNKNOWN 0

struct fm_link {
	uint32_t prev, next;
};

struct fm_list {
	uint32_t head, tail;
};

struct fm_datagram {
	/* Line 0: what a lookup reads. */
	struct fm_key key;		/* FM_KEY_NONE: the entry is free */
	uint32_t hash;
	uint32_t chain;			/* next in the bucket's overflow chain; next free entry */
	uint64_t first_seen_tsc;
	/* Line 1: what an insert writes. */
	uint64_t last_seen_tsc;
	struct fm_link activity;
	uint64_t unused;
	union {
		struct fm_extent only;	/* if it holds one fragment */
		struct {		/* if it holds more */
			uint32_t root, tail;	/* tree of extents; its rightmost leaf */
			uint8_t height;		/* of the tree; 0: the root is a leaf */
		};
	};
	uint32_t source;		/* number of its source's record, if that is still its own: source_check */
	uint16_t bytes_held;
	uint16_t held_end;		/* end of the data held furthest behind */
	uint16_t end;			/* FM_END_UNKNOWN until the last fragment has come */
	uint16_t mbufs_held;
	uint16_t mbufs_expected;	/* of the whole; grows when it is outgrown, while it is likely */
	uint16_t fragments;
	uint16_t largest;		/* IP length of the largest fragment, saturated */
	uint16_t source_check;
	uint8_t family;			/* enum fm_family_index */
	uint8_t ecn_seen;		/* bit per code point */
	uint8_t list;			/* of activity */
	uint8_t bin;			/* of the plan; FM_NO_BIN: not in it */
	uint8_t weight;			/* chance of completing as it was counted last, in 255ths */
	uint8_t marks;			/* enum fm_mark */
};
static_assert(sizeof(struct fm_datagram) == 2 * FM_LINE, "a datagram is two cache lines");

/* A look at the held datagrams that takes several calls. What leaves meanwhile moves it on: fm_young_leave(). */
struct fm_walk {
	uint32_t next[FM_FAMILIES];	/* to be described next */
	uint32_t at;			/* so much of that one has been looked at, bytes; 0: nothing */
	uint32_t missing;		/* ranges in there */
	uint32_t young;			/* of a look at the sources: so many are still to be enrolled */
};

struct fm_reass {
	struct fm_reass_settings settings;
	struct fm_siphash_key secret;
	fm_siphash_lanes *lanes;
	uint32_t n_buckets;
	uint32_t max_datagrams, max_mbufs;
	uint32_t n_cells;		/* of entries and nodes */
	uint32_t free_cell;
	struct fm_bucket *bucket;
	struct fm_datagram *entry;	/* [0] is not used */
	struct fm_link *age_link;	/* of each entry; [0] is written to and not read */
	union fm_node *node;		/* the same cells */
	uint8_t *scratch;		/* FM_SCRATCH_LEN: headers that are split over segments */
	struct rte_mempool *header_pool;
	void (*dropped)(void *arg, const struct rte_mbuf *m, enum fm_outcome why);
	void *dropped_arg;

	struct fm_list age[FM_FAMILIES];	/* by first_seen_tsc: timeouts are constant, so a FIFO is the timer */
	uint32_t young[FM_FAMILIES];		/* no young datagram comes before this one in the age list */
	struct fm_walk walk;
	uint64_t random;			/* for who has to go when the budget is made smaller */
	uint32_t n_young;
	uint32_t ease_mbufs, ease_datagrams;	/* so much, held or expected: memory is scarce */
	bool at_ease;				/* fm_at_ease(), when it was last asked */
	struct fm_list activity[FM_LISTS];	/* live ones: policy.h */
	uint64_t list_used;			/* bit per activity list that is not empty */
	uint64_t cool_at_tsc;			/* when to look again for those silent for too long */
	int expire_first;			/* family that fm_reass_expire() serves first */
	struct fm_condemned *condemned;
	uint32_t n_condemned_sets;
	uint32_t condemned_shift;		/* of a tick to their unit of time */
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

static inline void fm_cell_put(struct fm_reass *r, struct fm_datagram *d)
{
	d->key.word[0] = FM_KEY_NONE;
	d->chain = r->free_cell;
	r->free_cell = fm_number(r, d);
}

/* The links of an age list lie apart from the entries, eight to a cache line: neighbours in age are mostly there. */
static inline void fm_age_add(struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_list *list = &r->age[d->family];
	const uint32_t number = fm_number(r, d);

	r->age_link[number] = (struct fm_link){ .prev = list->tail, .next = FM_NONE };
	/* That of number 0 is written to where there is no other. */
	r->age_link[list->tail].next = number;
	if (list->tail == FM_NONE)
		list->head = number;
	list->tail = number;
}

static inline void fm_age_remove(struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_list *list = &r->age[d->family];
	const struct fm_link link = r->age_link[fm_number(r, d)];

	r->age_link[link.prev].next = link.next;
	r->age_link[link.next].prev = link.prev;
	if (link.prev == FM_NONE)
		list->head = link.next;
	if (link.next == FM_NONE)
		list->tail = link.prev;
}

/* The next younger one. */
static inline uint32_t fm_age_next(const struct fm_reass *r, uint32_t number)
{
	return r->age_link[number].next;
}

static inline void fm_list_add_tail(struct fm_reass *r, struct fm_list *list, struct fm_datagram *d)
{
	const uint32_t number = fm_number(r, d);

	d->activity = (struct fm_link){ .prev = list->tail, .next = FM_NONE };
	if (list->tail != FM_NONE)
		fm_entry(r, list->tail)->activity.next = number;
	else
		list->head = number;
	list->tail = number;
}

static inline void fm_list_remove(struct fm_reass *r, struct fm_list *list, const struct fm_datagram *d)
{
	const struct fm_link link = d->activity;

	if (link.prev != FM_NONE)
		fm_entry(r, link.prev)->activity.next = link.next;
	else
		list->head = link.next;
	if (link.next != FM_NONE)
		fm_entry(r, link.next)->activity.prev = link.prev;
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

/* Is there room for so many mbufs more? */
static inline bool fm_fits(const struct fm_reass *r, uint32_t mbufs)
{
	return r->stats.held_mbufs + mbufs <= r->settings.budget_mbufs;
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
	return &r->condemned[(size_t)fm_reduce((uint32_t)(hash >> 32), r->n_condemned_sets) * FM_CONDEMNED_WAYS];
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
void fm_index_add(struct fm_reass *r, struct fm_datagram *d);
void fm_index_remove(struct fm_reass *r, struct fm_datagram *d);
/* One that hangs in a bucket's overflow chain. */
struct fm_datagram *fm_index_find_overflow(const struct fm_reass *r, const struct fm_key *key, uint32_t hash,
					   uint32_t number);

static inline uint64_t fm_key_hash(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family)
{
	if (family == FM_IPV4)
		return fm_siphash13(&r->secret, key->word, FM_KEY_IPV4_WORDS) & ~FM_HASH_IPV6;
	return fm_siphash13(&r->secret, key->word, FM_KEY_IPV6_WORDS) | FM_HASH_IPV6;
}

static inline struct fm_bucket *fm_index_bucket(const struct fm_reass *r, uint32_t hash)
{
	return &r->bucket[fm_reduce(hash, r->n_buckets)];
}

/* Equal hashes say equal families, and an IPv4 key has two words only. Never true for a free entry. */
static inline bool fm_datagram_is(const struct fm_datagram *d, const struct fm_key *key, uint32_t hash)
{
	return d->hash == hash && fm_key_starts_equal(&d->key, key) &&
	       (!(hash & FM_HASH_IPV6) || fm_key_goes_on_equal(&d->key, key));
}

static inline struct fm_datagram *fm_index_find(const struct fm_reass *r, const struct fm_key *key, uint32_t hash)
{
	const struct fm_bucket *b = fm_index_bucket(r, hash);

	for (uint32_t match = fm_bucket_match(b, fm_tag_of(hash)); match != 0; match &= match - 1) {
		struct fm_datagram *d = fm_entry(r, b->entry[__builtin_ctz(match)]);

		if (likely(fm_datagram_is(d, key, hash)))
			return d;
	}
	return likely(b->overflow == FM_NONE) ? NULL : fm_index_find_overflow(r, key, hash, b->overflow);
}

/* The entry to be prefetched: most likely it is the right one. FM_NONE: most likely there is none. */
static inline uint32_t fm_index_guess(const struct fm_reass *r, uint32_t hash)
{
	const struct fm_bucket *b = fm_index_bucket(r, hash);
	const uint32_t match = fm_bucket_match(b, fm_tag_of(hash));

	return match == 0 ? FM_NONE : b->entry[__builtin_ctz(match)];
}

/* --- extent.c --- */

/* Where does a fragment belong that does not lie behind all others? */
void fm_extent_seek(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place);
/* Put it there, into a datagram that holds something. False: no node left, nothing changed. */
bool fm_extent_insert(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place, struct fm_extent extent);
bool fm_extent_insert_second(struct fm_reass *r, struct fm_datagram *d, bool behind, struct fm_extent extent);
bool fm_extent_append_full(struct fm_reass *r, struct fm_datagram *d, struct fm_extent extent);
/* Give all nodes back; the mbufs are not touched. */
void fm_extent_clear_tree(struct fm_reass *r, struct fm_datagram *d);

static inline void fm_run_next(const struct fm_reass *r, struct fm_run *run)
{
	const struct fm_leaf *leaf = &r->node[run->next].leaf;

	run->count = run->next == FM_NONE ? 0 : fm_leaf_count(leaf);
	run->extent = leaf->extent;
	run->next = fm_leaf_next(leaf);
}

static inline struct fm_run fm_run_first(const struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_run run = { .extent = &d->only, .count = d->fragments, .next = FM_NONE };

	if (d->fragments > 1) {
		run.next = d->root;
		for (uint8_t level = d->height; level > 0; level--)
			run.next = r->node[run.next].inner.child[0];
		fm_run_next(r, &run);
	}
	return run;
}

/* Behind all others. False: no node left, nothing changed. */
static inline bool fm_extent_append(struct fm_reass *r, struct fm_datagram *d, struct fm_extent extent)
{
	struct fm_leaf *leaf;

	if (d->fragments == 1)
		return fm_extent_insert_second(r, d, true, extent);
	leaf = &r->node[d->tail].leaf;
	if (unlikely(fm_leaf_count(leaf) == FM_LEAF_EXTENTS))
		return fm_extent_append_full(r, d, extent);
	leaf->extent[fm_leaf_count(leaf)] = extent;
	leaf->head++;
	return true;
}

static inline void fm_extent_clear(struct fm_reass *r, struct fm_datagram *d)
{
	if (d->fragments > 1)
		fm_extent_clear_tree(r, d);
}

/* --- datagram.c: states of an entry --- */

/* An entry for a datagram that is about to hold its first `mbufs`: in the index and the age list, and nowhere else. */
struct fm_datagram *fm_datagram_new(struct fm_reass *r, const struct fm_frag *frag, uint32_t hash, uint32_t mbufs,
				    uint64_t now_tsc);
/* Count and free what it holds, and remember its key as condemned. */
void fm_datagram_condemn(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why, enum fm_doom doom,
			 uint64_t now_tsc);
/* Count and free what it holds, and forget it. */
void fm_datagram_drop(struct fm_reass *r, struct fm_datagram *d, enum fm_outcome why);
void fm_datagram_expire(struct fm_reass *r, struct fm_datagram *d);
/* The entry becomes free; what it held has gone elsewhere. Only for young ones: others are to be forgotten. */
void fm_datagram_leave(struct fm_reass *r, struct fm_datagram *d);
/* Forget it; what it held has gone elsewhere, `wasted` fragments of it to no good. */
void fm_datagram_forget(struct fm_reass *r, struct fm_datagram *d, uint32_t wasted);
/* Its place in the activity lists and in the plan. */
void fm_datagram_enlist(struct fm_reass *r, struct fm_datagram *d, float chance);
/* It has got another one, of `mbufs`, and what is known of its chance has changed. */
void fm_datagram_move(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc);
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
static inline bool fm_chain_writable(const struct rte_mbuf *m, uint32_t len)
{
	return rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m) && rte_pktmbuf_data_len(m) >= len;
}

/* Cut the chain to its first `len` bytes, 1..pkt_len. */
void fm_chain_trim(struct rte_mbuf *m, uint32_t len);
/* Drop `len` bytes at the front, 0..pkt_len-1; segments that become empty are freed. Returns the new first segment. */
struct rte_mbuf *fm_chain_strip(struct rte_mbuf *m, uint32_t len);
bool fm_chain_equal(const struct rte_mbuf *a, uint32_t a_at, const struct rte_mbuf *b, uint32_t b_at, uint32_t len);
/* What the driver said about the packet, from one first segment to another. */
void fm_chain_copy_meta(struct rte_mbuf *to, const struct rte_mbuf *from);

/* --- join.h, verify.c --- */

/* All there is of a datagram. */
struct fm_joint {
	const struct fm_key *key;
	struct fm_run run;		/* its extents, in order and without a gap; the frames are as they came */
	uint16_t end;			/* bytes of payload */
	uint16_t largest;		/* IP length of the largest fragment, saturated */
	uint16_t fragments;
	uint8_t family;			/* enum fm_family_index */
	uint8_t ecn_seen;		/* bit per code point */
};

bool fm_verify_l4(const struct rte_mbuf *m, const struct fm_whole *whole);

#endif
