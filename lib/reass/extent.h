/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a datagram holds: its extents, by offset. One lies in the datagram's entry, more of them in a B+ tree whose
 * leaves are linked in order; doc/design/0001-extents.md has the reasons.
 */
#ifndef FM_EXTENT_H
#define FM_EXTENT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	FM_LEAF_EXTENTS = 10,
	FM_INNER_CHILDREN = 20,
	FM_HEIGHT_MAX = 8,		/* 8192 extents, at least 5 a leaf and 10 children a node: 4 and the root */
};

struct rte_mbuf;

/*
 * One stored fragment. The frame stays as it came until the datagram is joined. Twelve bytes: an mbuf lies on a cache
 * line and its address has 48 bits at most, which leaves room for the fragment offset field as it is in the header.
 */
struct fm_extent {
	uint64_t place;			/* address of the mbuf << 16 | FM_EXTENT_MORE | offset / 8 */
	uint16_t length;		/* bytes of the datagram's payload */
	uint16_t payload_at;		/* in the frame */
} __attribute__((packed, aligned(4)));
static_assert(sizeof(struct fm_extent) == 12, "ten extents and a link fill two cache lines");

#define FM_EXTENT_OFFSET UINT64_C(0x1fff)
#define FM_EXTENT_MORE UINT64_C(0x2000)
#define FM_EXTENT_ADDRESS (~UINT64_C(63))

/*
 * Nodes lie among the entries of datagrams, in cells of one size: a datagram that holds one mbuf has an entry and no
 * node, one that holds more has a node or more, and all of them never more cells than mbufs. The head of a node, where
 * an entry has the first word of its key, is that of no key.
 */
#define FM_NODE (UINT64_MAX << 48)

struct fm_leaf {
	uint64_t head;			/* FM_NODE | number of the leaf to the right << 8 | count */
	struct fm_extent extent[FM_LEAF_EXTENTS];
};

struct fm_inner {
	uint64_t head;			/* FM_NODE | count */
	uint16_t first[FM_INNER_CHILDREN]; /* lowest offset below the child; of child 0 it is not kept up to date */
	uint32_t child[FM_INNER_CHILDREN];
};

union fm_node {
	struct fm_leaf leaf;
	struct fm_inner inner;
};
static_assert(sizeof(union fm_node) == 128, "a node is two cache lines, as is an entry");

/* Where a fragment belongs. */
struct fm_place {
	uint32_t leaf;				/* not used with fewer than two extents */
	uint32_t at;				/* in the leaf: before this extent */
	const struct fm_extent *before, *after;	/* neighbours; NULL: none, or not looked for (append) */
	struct { uint32_t node, child; } path[FM_HEIGHT_MAX];	/* [level]; level 1 is above the leaves */
	bool append;				/* behind all others; the path is not filled */
};

/* Extents that lie side by side. */
struct fm_run {
	const struct fm_extent *extent;
	uint32_t count;				/* 0: there are no more */
	uint32_t next;				/* leaf */
};

static inline uint32_t fm_leaf_next(const struct fm_leaf *leaf)
{
	return (uint32_t)(leaf->head >> 8);
}

static inline uint32_t fm_leaf_count(const struct fm_leaf *leaf)
{
	return leaf->head & 0xff;
}

static inline void fm_leaf_set(struct fm_leaf *leaf, uint32_t next, uint32_t count)
{
	leaf->head = FM_NODE | (uint64_t)next << 8 | count;
}

static inline uint32_t fm_inner_count(const struct fm_inner *inner)
{
	return inner->head & 0xff;
}

static inline struct fm_extent fm_extent_make(struct rte_mbuf *m, uint32_t offset, uint16_t length, uint16_t payload_at,
					      bool more)
{
	return (struct fm_extent){
		.place = (uint64_t)(uintptr_t)m << 16 | (more ? FM_EXTENT_MORE : 0) | offset / 8,
		.length = length,
		.payload_at = payload_at,
	};
}

static inline struct rte_mbuf *fm_extent_mbuf(const struct fm_extent *e)
{
	return (struct rte_mbuf *)(uintptr_t)(e->place >> 16 & FM_EXTENT_ADDRESS);
}

static inline uint32_t fm_extent_offset(const struct fm_extent *e)
{
	return (uint32_t)(e->place & FM_EXTENT_OFFSET) * 8;
}

static inline uint32_t fm_extent_end(const struct fm_extent *e)
{
	return fm_extent_offset(e) + e->length;
}

static inline bool fm_extent_more(const struct fm_extent *e)
{
	return e->place & FM_EXTENT_MORE;
}

#endif
