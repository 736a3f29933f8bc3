/* SPDX-License-Identifier: BSD-3-Clause */
/* Every invariant of a table, checked by walking all of it: for tests. */
#include <stdio.h>

#include "internal.h"

#define SOUND(condition)									\
	do {											\
		if (!(condition)) {								\
			if (err != NULL)							\
				snprintf(err, err_len, "%s:%d: %s", __FILE__, __LINE__, #condition);	\
			return false;								\
		}										\
	} while (0)

struct sums {
	uint64_t fragments, mbufs, live, nodes, listed;
	struct fm_plan plan;
};

/*
 * `spine`: the node lies on the rightmost path. Everywhere else nodes must be as full as the slab's size and the tree's
 * height rely on.
 */
static bool node_sound(const struct fm_reass *r, uint32_t n, uint8_t level, uint32_t low, uint32_t high, bool spine,
		       struct sums *sums, char *err, size_t err_len)
{
	const union fm_node *node = &r->node[n];

	SOUND(n != FM_NONE && n <= r->n_nodes);
	sums->nodes++;
	if (level == 0) {
		SOUND(node->leaf.count >= (spine ? 1 : 2) && node->leaf.count <= FM_LEAF_EXTENTS);
		for (uint32_t i = 0; i < node->leaf.count; i++)
			SOUND(node->leaf.extent[i].offset >= low && node->leaf.extent[i].offset < high);
		return true;
	}
	SOUND(node->inner.count >= (spine ? 1 : FM_INNER_CHILDREN / 2) && node->inner.count <= FM_INNER_CHILDREN);
	for (uint32_t i = 0; i < node->inner.count; i++) {
		const uint32_t from = i == 0 ? low : node->inner.first[i];
		const uint32_t to = i + 1 < node->inner.count ? node->inner.first[i + 1] : high;

		SOUND(from >= low && to <= high && from < to);
		if (!node_sound(r, node->inner.child[i], level - 1, from, to, spine && i + 1 == node->inner.count, sums,
				err, err_len))
			return false;
	}
	return true;
}

static bool extents_sound(const struct fm_reass *r, const struct fm_datagram *d, struct sums *sums, char *err,
			  size_t err_len)
{
	uint32_t end = 0, bytes = 0, fragments = 0, mbufs = 0, last = FM_NONE;

	SOUND(d->root != FM_NONE && d->height < FM_HEIGHT_MAX);
	if (!node_sound(r, d->root, d->height, 0, FM_DATAGRAM_MAX, true, sums, err, err_len))
		return false;
	for (uint32_t n = fm_extent_first_leaf(r, d); n != FM_NONE; n = r->node[n].leaf.next) {
		for (uint32_t i = 0; i < r->node[n].leaf.count; i++) {
			const struct fm_extent *e = &r->node[n].leaf.extent[i];

			SOUND(e->length > 0 && e->offset >= end);
			end = (uint32_t)e->offset + e->length;
			bytes += e->length;
			fragments++;
			mbufs += e->m->nb_segs;
		}
		last = n;
	}
	SOUND(last == d->tail && (d->end == FM_END_UNKNOWN || end <= d->end));
	SOUND(bytes == d->bytes_held && fragments == d->fragments && mbufs == d->mbufs_held);
	SOUND(fragments <= FM_FRAGMENTS_MAX && bytes != d->end);
	sums->fragments += fragments;
	sums->mbufs += mbufs;
	return true;
}

static bool family_sound(const struct fm_reass *r, int family, struct sums *sums, char *err, size_t err_len)
{
	uint32_t prev = FM_NONE;

	for (uint32_t n = r->age[family].head; n != FM_NONE; n = fm_entry(r, n)->link[FM_LINK_AGE].next) {
		const struct fm_datagram *d = fm_entry(r, n);

		SOUND(n <= r->n_entries && d->family == family && d->link[FM_LINK_AGE].prev == prev);
		SOUND((uint32_t)fm_key_hash(r, &d->key, d->family) == d->hash);
		SOUND(fm_index_find(r, &d->key, d->family, d->hash) == d);
		SOUND(d->state == FM_STATE_LIVE);
		if (!extents_sound(r, d, sums, err, err_len))
			return false;
		sums->live++;
		prev = n;
	}
	SOUND(r->age[family].tail == prev);
	return true;
}

/* What a datagram adds to the plan, added up anew. */
static void add_up(const struct fm_datagram *d, struct sums *sums)
{
	const int64_t wanted = (int64_t)d->mbufs_expected - d->mbufs_held - 1;

	if (d->bin == FM_NO_BIN)
		return;
	sums->plan.count[d->bin] += d->weight;
	sums->plan.held[d->bin] += (int64_t)d->weight * d->mbufs_held;
	sums->plan.wanted[d->bin] += d->weight * (wanted > 0 ? wanted : 0);
}

static bool list_sound(const struct fm_reass *r, uint32_t number, struct sums *sums, char *err, size_t err_len)
{
	const struct fm_list *list = &r->activity[number];
	const struct fm_datagram *before = NULL;
	uint32_t prev = FM_NONE;

	SOUND((list->head != FM_NONE) == (r->list_used >> number & 1));
	for (uint32_t n = list->head; n != FM_NONE; n = before->link[FM_LINK_ACTIVITY].next) {
		const struct fm_datagram *d = fm_entry(r, n);

		SOUND(d->state == FM_STATE_LIVE && d->list == number && d->link[FM_LINK_ACTIVITY].prev == prev);
		SOUND(number >= FM_LIST_SLOW || number % FM_STEPS == fm_step_of(d->mbufs_held));
		SOUND(number == FM_LIST_SLOW ||
		      (number >= FM_LIST_LIKELY && number < FM_LIST_SLOW) == (d->bin != FM_NO_BIN));
		add_up(d, sums);
		before = d;
		prev = n;
		sums->listed++;
	}
	SOUND(list->tail == prev);
	return true;
}

static bool plan_sound(const struct fm_reass *r, const struct sums *sums, char *err, size_t err_len)
{
	for (int bin = 0; bin < FM_BINS; bin++) {
		SOUND(r->plan.count[bin] == sums->plan.count[bin] && r->plan.held[bin] == sums->plan.held[bin]);
		SOUND(r->plan.wanted[bin] == sums->plan.wanted[bin]);
		SOUND(r->plan.count[bin] == 0 || (r->plan.used >> bin & 1));
	}
	return true;
}

/* Whoever has a record holds what its datagrams hold. */
static bool sources_sound(const struct fm_reass *r, char *err, size_t err_len)
{
	const size_t n_sources = ((size_t)r->sources.set_mask + 1) * FM_SOURCE_WAYS;
	uint64_t owned = 0, held = 0;

	for (int family = 0; family < FM_FAMILIES; family++)
		for (uint32_t n = r->age[family].head; n != FM_NONE; n = fm_entry(r, n)->link[FM_LINK_AGE].next) {
			SOUND(fm_entry(r, n)->source < n_sources);
			if (fm_source_of(r, fm_entry(r, n)) != NULL)
				owned += fm_entry(r, n)->mbufs_held;
		}
	for (size_t i = 0; i < n_sources; i++)
		held += r->sources.record[i].held_mbufs;
	SOUND(held == owned);
	return true;
}

static bool condemned_sound(const struct fm_reass *r, char *err, size_t err_len)
{
	const size_t slots = ((size_t)r->condemned_mask + 1) * FM_CONDEMNED_WAYS;
	uint64_t count = 0;

	for (size_t i = 0; i < slots; i++)
		count += (r->condemned[i].mark & FM_DOOM_MASK) != FM_DOOM_NONE;
	SOUND(count == r->stats.condemned);
	return true;
}

static bool free_sound(const struct fm_reass *r, const struct sums *sums, char *err, size_t err_len)
{
	uint64_t entries = 0, nodes = 0;

	for (uint32_t n = r->free_entry; n != FM_NONE; n = fm_entry(r, n)->chain) {
		SOUND(fm_entry(r, n)->state == FM_STATE_FREE && entries < r->n_entries);
		entries++;
	}
	for (uint32_t n = r->free_node; n != FM_NONE; n = r->node[n].leaf.next) {
		SOUND(nodes < r->n_nodes);
		nodes++;
	}
	SOUND(entries + sums->live == r->n_entries);
	SOUND(nodes + sums->nodes == r->n_nodes);
	return true;
}

static bool stats_sound(const struct fm_reass *r, const struct sums *sums, char *err, size_t err_len)
{
	const struct fm_reass_stats *s = &r->stats;
	uint64_t fragments = 0, frames = 0;

	for (int i = 0; i < FM_OUTCOME_MAX; i++) {
		fragments += fm_outcome_info[i].unit == FM_UNIT_FRAGMENT ? s->count[i] : 0;
		frames += fm_outcome_info[i].unit == FM_UNIT_FRAME ? s->count[i] : 0;
	}
	SOUND(s->held_fragments == sums->fragments && s->held_mbufs == sums->mbufs);
	SOUND(s->datagrams == sums->live);
	SOUND(s->datagrams <= r->max_datagrams && s->held_mbufs <= r->settings.budget_mbufs);
	SOUND(s->fragments_in == fragments + s->held_fragments);
	SOUND(s->frames_in == s->fragments_in + frames);
	return true;
}

bool fm_reass_sound(const struct fm_reass *r, char *err, size_t err_len)
{
	struct sums sums = { 0 };

	for (int family = 0; family < FM_FAMILIES; family++)
		if (!family_sound(r, family, &sums, err, err_len))
			return false;
	for (uint32_t list = 0; list < FM_LISTS; list++)
		if (!list_sound(r, list, &sums, err, err_len))
			return false;
	SOUND(sums.listed == sums.live && r->n_dead == 0);
	return plan_sound(r, &sums, err, err_len) && sources_sound(r, err, err_len) &&
	       condemned_sound(r, err, err_len) && free_sound(r, &sums, err, err_len) &&
	       stats_sound(r, &sums, err, err_len);
}
