/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The extents of a datagram: a B+ tree by offset.
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
	const uint32_t n = r->free_node;

	r->free_node = r->node[n].leaf.next;
	return n;
}

static void node_put(struct fm_reass *r, uint32_t n)
{
	r->node[n].leaf.next = r->free_node;
	r->free_node = n;
}

/* Are there nodes for a split on every level and a new root? */
static bool nodes_left(const struct fm_reass *r, uint32_t want)
{
	for (uint32_t n = r->free_node; want > 0; want--, n = r->node[n].leaf.next)
		if (n == FM_NONE)
			return false;
	return true;
}

static uint32_t extent_end(const struct fm_extent *e)
{
	return (uint32_t)e->offset + e->length;
}

uint32_t fm_extent_first_leaf(const struct fm_reass *r, const struct fm_datagram *d)
{
	uint32_t n = d->root;

	for (uint8_t level = d->height; level > 0; level--)
		n = r->node[n].inner.child[0];
	return n;
}

uint32_t fm_extent_held_end(const struct fm_reass *r, const struct fm_datagram *d)
{
	const struct fm_leaf *leaf = &r->node[d->tail].leaf;

	return d->tail == FM_NONE ? 0 : extent_end(&leaf->extent[leaf->count - 1]);
}

/* From the root to the leaf that holds `offset` or would. */
static uint32_t descend(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place)
{
	uint32_t n = d->root;

	for (uint8_t level = d->height; level > 0; level--) {
		const struct fm_inner *inner = &r->node[n].inner;
		uint32_t i = inner->count - 1;

		while (i > 0 && inner->first[i] > offset)
			i--;
		place->path[level].node = n;
		place->path[level].child = i;
		n = inner->child[i];
	}
	return n;
}

void fm_extent_find(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset, struct fm_place *place)
{
	const struct fm_leaf *leaf;
	uint32_t at;

	place->before = place->after = NULL;
	place->leaf = d->tail;
	place->at = 0;
	place->append = true;
	if (d->tail == FM_NONE)
		return;
	leaf = &r->node[d->tail].leaf;
	if (offset >= extent_end(&leaf->extent[leaf->count - 1])) {
		place->at = leaf->count;
		place->before = &leaf->extent[leaf->count - 1];
		return;
	}
	place->append = false;
	place->leaf = descend(r, d, offset, place);
	leaf = &r->node[place->leaf].leaf;
	for (at = leaf->count; at > 0 && leaf->extent[at - 1].offset >= offset; at--)
		;
	place->at = at;
	if (at > 0)
		place->before = &leaf->extent[at - 1];
	if (at < leaf->count)
		place->after = &leaf->extent[at];
	else if (leaf->next != FM_NONE)
		place->after = &r->node[leaf->next].leaf.extent[0];
}

static void leaf_insert(struct fm_leaf *leaf, uint32_t at, const struct fm_extent *extent)
{
	memmove(&leaf->extent[at + 1], &leaf->extent[at], (leaf->count - at) * sizeof(leaf->extent[0]));
	leaf->extent[at] = *extent;
	leaf->count++;
}

static void inner_insert(struct fm_inner *inner, uint32_t at, uint16_t first, uint32_t child)
{
	memmove(&inner->first[at + 1], &inner->first[at], (inner->count - at) * sizeof(inner->first[0]));
	memmove(&inner->child[at + 1], &inner->child[at], (inner->count - at) * sizeof(inner->child[0]));
	inner->first[at] = first;
	inner->child[at] = child;
	inner->count++;
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

	right->count = FM_INNER_CHILDREN - keep;
	memcpy(right->first, &left->first[keep], right->count * sizeof(right->first[0]));
	memcpy(right->child, &left->child[keep], right->count * sizeof(right->child[0]));
	left->count = keep;
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
	const bool append = at == FM_LEAF_EXTENTS && left->next == FM_NONE;
	/* Three and the new one: two and two, but three and one where they come in order. */
	const uint32_t keep = append ? 3 : at < 2 ? 1 : 2;

	right->next = left->next;
	right->count = FM_LEAF_EXTENTS - keep;
	memcpy(right->extent, &left->extent[keep], right->count * sizeof(right->extent[0]));
	left->next = right_number;
	left->count = keep;
	if (keep == 1)
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

		if (r->node[n].inner.count < FM_INNER_CHILDREN) {
			inner_insert(&r->node[n].inner, at, first, child);
			return;
		}
		child = inner_split(r, n, at, &first, child, place->append);
	}
	assert(d->height + 1 < FM_HEIGHT_MAX);
	d->root = node_get(r);
	d->height++;
	root = &r->node[d->root].inner;
	root->count = 2;
	root->first[0] = 0;
	root->child[0] = old_root;
	root->first[1] = first;
	root->child[1] = child;
}

bool fm_extent_insert(struct fm_reass *r, struct fm_datagram *d, struct fm_place *place, const struct fm_extent *extent)
{
	struct fm_leaf *leaf;
	uint32_t right;

	if (place->leaf == FM_NONE) {
		if (!nodes_left(r, 1))
			return false;
		d->root = d->tail = node_get(r);
		leaf = &r->node[d->root].leaf;
		leaf->next = FM_NONE;
		leaf->count = 1;
		leaf->extent[0] = *extent;
		return true;
	}
	leaf = &r->node[place->leaf].leaf;
	if (leaf->count < FM_LEAF_EXTENTS) {
		leaf_insert(leaf, place->at, extent);
		return true;
	}
	if (!nodes_left(r, d->height + 2))
		return false;
	if (place->append)
		descend(r, d, extent->offset, place);
	right = leaf_split(r, place->leaf, place->at, extent);
	if (place->leaf == d->tail)
		d->tail = right;
	grow(r, d, place, r->node[right].leaf.extent[0].offset, right);
	return true;
}

static void clear_below(struct fm_reass *r, uint32_t n, uint8_t level)
{
	if (level > 0)
		for (uint32_t i = 0; i < r->node[n].inner.count; i++)
			clear_below(r, r->node[n].inner.child[i], level - 1);
	node_put(r, n);
}

void fm_extent_clear(struct fm_reass *r, struct fm_datagram *d)
{
	if (d->root != FM_NONE)
		clear_below(r, d->root, d->height);
	d->root = d->tail = FM_NONE;
	d->height = 0;
}
