/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extents of a datagram: a B+ tree by offset, once there are two of them.
 *
 * It only grows, until all of it is given back, so there is no deletion. In-order arrival appends to the rightmost leaf
 * without a descent; any other order costs one cache line a level, and 8192 extents make 6 levels at most.
 *
 * Invariants: extents do not overlap; a child's offsets are >= first[] of its place, for every place but 0, which takes
 * whatever is lower; leaves are linked in order. From these: the extent before a place is in the same leaf.
 */
#include <string.h>

#include "internal.h"

static uint32_t node_get(struct fm_reass *r)
{
	const uint32_t n = r->free_cell;

	r->free_cell = fm_entry(r, n)->chain;
	/* The next one is taken from there. */
	rte_prefetch0(fm_entry(r, r->free_cell));
	return n;
}

static void node_put(struct fm_reass *r, uint32_t n)
{
	fm_cell_put(r, fm_entry(r, n));
}

/* Are there nodes for a split on every level and a new root? */
static bool nodes_left(const struct fm_reass *r, uint32_t want)
{
	for (uint32_t n = r->free_cell; want > 0; want--, n = fm_entry(r, n)->chain)
		if (n == FM_NONE)
			return false;
	return true;
}

/* From the root to the leaf that holds `offset` or would. */
static uint32_t descend(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place)
{
	uint32_t n = d->root;

	for (uint8_t level = d->height; level > 0; level--) {
		const struct fm_inner *inner = &r->node[n].inner;
		uint32_t i = fm_inner_count(inner) - 1;

		while (i > 0 && inner->first[i] > offset)
			i--;
		place->path[level].node = n;
		place->path[level].child = i;
		n = inner->child[i];
	}
	return n;
}

void fm_extent_seek(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place)
{
	const struct fm_extent *extent = &d->only;
	uint32_t at = d->fragments, next = FM_NONE;

	if (d->fragments > 1) {
		const struct fm_leaf *leaf;

		place->leaf = descend(r, d, offset, place);
		leaf = &r->node[place->leaf].leaf;
		extent = leaf->extent;
		at = fm_leaf_count(leaf);
		next = fm_leaf_next(leaf);
	}
	if (at > 0)
		place->after = next == FM_NONE ? NULL : &r->node[next].leaf.extent[0];
	for (; at > 0 && fm_extent_offset(&extent[at - 1]) >= offset; at--)
		place->after = &extent[at - 1];
	place->at = at;
	if (at > 0)
		place->before = &extent[at - 1];
}

static void leaf_insert(struct fm_leaf *leaf, uint32_t at, const struct fm_extent *extent)
{
	for (uint32_t i = fm_leaf_count(leaf); i > at; i--)
		leaf->extent[i] = leaf->extent[i - 1];
	leaf->extent[at] = *extent;
	leaf->head++;
}

static void inner_insert(struct fm_inner *inner, uint32_t at, uint16_t first, uint32_t child)
{
	memmove(&inner->first[at + 1], &inner->first[at], (fm_inner_count(inner) - at) * sizeof(inner->first[0]));
	memmove(&inner->child[at + 1], &inner->child[at], (fm_inner_count(inner) - at) * sizeof(inner->child[0]));
	inner->first[at] = first;
	inner->child[at] = child;
	inner->head++;
}

/*
 * Insert into a full inner node; returns the new right half, *first its lowest offset. Only behind all others may the
 * right half stay nearly empty: anywhere else somebody could choose an order that makes a tree of such halves.
 */
static uint32_t inner_split(struct fm_reass *r, uint32_t left_number, uint32_t at, uint16_t *first, uint32_t child,
			    bool append)
{
	const uint32_t right_number = node_get(r);
	struct fm_inner *left = &r->node[left_number].inner, *right = &r->node[right_number].inner;
	/* Appending leaves the left one full: in-order arrival fills nodes to the brim. */
	const uint32_t keep = append ? FM_INNER_CHILDREN : FM_INNER_CHILDREN / 2;

	right->head = FM_NODE | (FM_INNER_CHILDREN - keep);
	memcpy(right->first, &left->first[keep], fm_inner_count(right) * sizeof(right->first[0]));
	memcpy(right->child, &left->child[keep], fm_inner_count(right) * sizeof(right->child[0]));
	left->head = FM_NODE | keep;
	if (at <= keep && !append)
		inner_insert(left, at, *first, child);
	else
		inner_insert(right, at - keep, *first, child);
	*first = right->first[0];
	return right_number;
}

static uint32_t leaf_split(struct fm_reass *r, uint32_t left_number, uint32_t at, const struct fm_extent *extent)
{
	const uint32_t right_number = node_get(r);
	struct fm_leaf *left = &r->node[left_number].leaf, *right = &r->node[right_number].leaf;
	const bool append = at == FM_LEAF_EXTENTS && fm_leaf_next(left) == FM_NONE;
	/* As many to the left as to the right, but all but one where they come in order. */
	const uint32_t half = (FM_LEAF_EXTENTS + 1) / 2, keep = append ? FM_LEAF_EXTENTS : at < half ? half - 1 : half;

	fm_leaf_set(right, fm_leaf_next(left), FM_LEAF_EXTENTS - keep);
	for (uint32_t i = keep; i < FM_LEAF_EXTENTS; i++)
		right->extent[i - keep] = left->extent[i];
	fm_leaf_set(left, right_number, keep);
	if (keep == half - 1)
		leaf_insert(left, at, extent);
	else
		leaf_insert(right, at - keep, extent);
	return right_number;
}

/* Tell the levels above of a new node to the right of the path. */
static void grow(struct fm_reass *r, struct fm_datagram *d, const struct fm_place *place, uint16_t first,
		 uint32_t child)
{
	struct fm_inner *root;
	uint32_t old_root = d->root;

	for (uint8_t level = 1; level <= d->height; level++) {
		const uint32_t n = place->path[level].node, at = place->path[level].child + 1;

		if (fm_inner_count(&r->node[n].inner) < FM_INNER_CHILDREN) {
			inner_insert(&r->node[n].inner, at, first, child);
			return;
		}
		child = inner_split(r, n, at, &first, child, place->append);
	}
	assert(d->height + 1 < FM_HEIGHT_MAX);
	d->root = node_get(r);
	d->height++;
	root = &r->node[d->root].inner;
	root->head = FM_NODE | 2;
	root->first[0] = 0;
	root->child[0] = old_root;
	root->first[1] = first;
	root->child[1] = child;
}

bool fm_extent_insert_second(struct fm_reass *r, struct fm_datagram *d, bool behind, struct fm_extent extent)
{
	const struct fm_extent first = d->only;
	struct fm_leaf *leaf;

	if (!nodes_left(r, 1))
		return false;
	d->root = d->tail = node_get(r);
	d->height = 0;
	leaf = &r->node[d->root].leaf;
	fm_leaf_set(leaf, FM_NONE, 2);
	leaf->extent[behind ? 0 : 1] = first;
	leaf->extent[behind ? 1 : 0] = extent;
	return true;
}

/* Into a leaf that is full. */
static bool insert_full(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place,
			const struct fm_extent *extent)
{
	uint32_t right;

	if (!nodes_left(r, d->height + 2))
		return false;
	right = leaf_split(r, place->leaf, place->at, extent);
	if (place->leaf == d->tail)
		d->tail = right;
	grow(r, d, place, (uint16_t)fm_extent_offset(&r->node[right].leaf.extent[0]), right);
	return true;
}

bool fm_extent_append_full(struct fm_reass *r, struct fm_datagram *d, struct fm_extent extent)
{
	struct fm_place place;

	place.leaf = d->tail;
	place.at = FM_LEAF_EXTENTS;
	place.append = true;
	descend(r, d, fm_extent_offset(&extent), &place);
	return insert_full(r, d, &place, &extent);
}

bool fm_extent_insert(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place, struct fm_extent extent)
{
	struct fm_leaf *leaf;

	if (d->fragments == 1)
		return fm_extent_insert_second(r, d, place->at > 0, extent);
	leaf = &r->node[place->leaf].leaf;
	if (fm_leaf_count(leaf) == FM_LEAF_EXTENTS)
		return insert_full(r, d, place, &extent);
	leaf_insert(leaf, place->at, &extent);
	return true;
}

static void clear_below(struct fm_reass *r, uint32_t n, uint8_t level)
{
	if (level > 0)
		for (uint32_t i = 0; i < fm_inner_count(&r->node[n].inner); i++)
			clear_below(r, r->node[n].inner.child[i], level - 1);
	node_put(r, n);
}

void fm_extent_clear_tree(struct fm_reass *r, struct fm_datagram *d)
{
	clear_below(r, d->root, d->height);
}
