/* SPDX-License-Identifier: BSD-3-Clause */
/* Every invariant of a table, checked by walking all of it: for tests. */
#include <stdio.h>

#include "internal.h"
#include "young.h"

#define SOUND(condition)									\
	do {											\
		if (!(condition)) {								\
			if (err != NULL)							\
				snprintf(err, err_len, "%s:%d: %s", __FILE__, __LINE__, #condition);	\
			return false;								\
		}										\
	} while (0)

struct sums {
	uint64_t fragments, mbufs, live, young, nodes, listed;
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

	SOUND(n != FM_NONE && n <= r->n_cells && fm_entry(r, n)->key.word[0] >= FM_NODE);
	sums->nodes++;
	if (level == 0) {
		SOUND(fm_leaf_count(&node->leaf) >= (spine ? 1 : FM_LEAF_EXTENTS / 2));
		SOUND(fm_leaf_count(&node->leaf) <= FM_LEAF_EXTENTS);
		for (uint32_t i = 0; i < fm_leaf_count(&node->leaf); i++)
			SOUND(fm_extent_offset(&node->leaf.extent[i]) >= low &&
			      fm_extent_offset(&node->leaf.extent[i]) < high);
		return true;
	}
	SOUND(fm_inner_count(&node->inner) >= (spine ? 1 : FM_INNER_CHILDREN / 2));
	SOUND(fm_inner_count(&node->inner) <= FM_INNER_CHILDREN);
	for (uint32_t i = 0; i < fm_inner_count(&node->inner); i++) {
		const uint32_t from = i == 0 ? low : node->inner.first[i];
		const uint32_t to = i + 1 < fm_inner_count(&node->inner) ? node->inner.first[i + 1] : high;

		SOUND(from >= low && to <= high && from < to);
		if (!node_sound(r, node->inner.child[i], level - 1, from, to,
				spine && i + 1 == fm_inner_count(&node->inner), sums, err, err_len))
			return false;
	}
	return true;
}

static bool extents_sound(const struct fm_reass *r, const struct fm_datagram *d, struct sums *sums, char *err,
			  size_t err_len)
{
	uint32_t end = 0, bytes = 0, fragments = 0, mbufs = 0;
	const struct fm_extent *last = NULL;

	SOUND(d->fragments >= 1);
	if (d->fragments > 1) {
		SOUND(d->root != FM_NONE && d->height < FM_HEIGHT_MAX);
		if (!node_sound(r, d->root, d->height, 0, FM_DATAGRAM_MAX, true, sums, err, err_len))
			return false;
		last = &r->node[d->tail].leaf.extent[fm_leaf_count(&r->node[d->tail].leaf) - 1];
	}
	for (struct fm_run run = fm_run_first(r, d); run.count > 0; fm_run_next(r, &run)) {
		for (uint32_t i = 0; i < run.count; i++) {
			const struct fm_extent *e = &run.extent[i];

			SOUND(e->length > 0 && fm_extent_offset(e) >= end);
			end = fm_extent_end(e);
			bytes += e->length;
			fragments++;
			mbufs += fm_extent_mbuf(e)->nb_segs;
		}
		SOUND(run.next != FM_NONE || last == NULL || last == &run.extent[run.count - 1]);
	}
	SOUND(end == d->held_end && (d->end == FM_END_UNKNOWN || end <= d->end));
	SOUND(bytes == d->bytes_held && fragments == d->fragments && mbufs == d->mbufs_held);
	SOUND(fragments <= FM_FRAGMENTS_MAX && bytes != d->end);
	sums->fragments += fragments;
	sums->mbufs += mbufs;
	return true;
}

static bool family_sound(const struct fm_reass *r, int family, struct sums *sums, char *err, size_t err_len)
{
	uint32_t prev = FM_NONE;
	bool past = false;

	for (uint32_t n = r->age[family].head; n != FM_NONE; n = fm_age_next(r, n)) {
		const struct fm_datagram *d = fm_entry(r, n);

		/* A young one is in no list, has no source, and no young one comes before the first of them. */
		past |= n == r->young[family];
		SOUND(!fm_is_young(d) || (past && d->source_check == 0 && d->bin == FM_NO_BIN));
		sums->young += fm_is_young(d);
		SOUND(n <= r->n_cells && d->family == family && r->age_link[n].prev == prev);
		SOUND((uint32_t)fm_key_hash(r, &d->key, d->family) == d->hash);
		SOUND(fm_index_find(r, &d->key, d->hash) == d);
		if (!extents_sound(r, d, sums, err, err_len))
			return false;
		sums->live++;
		prev = n;
	}
	SOUND(r->age[family].tail == prev && past == (r->young[family] != FM_NONE));
	return true;
}

/* What a datagram adds to the plan, added up anew. */
static void add_up(const struct fm_datagram *d, struct sums *sums)
{
	const int64_t wanted = (int64_t)d->mbufs_expected - d->mbufs_held - 1;

	if (d->bin == FM_NO_BIN)
		return;
	sums->plan.bin[d->bin].count += d->weight;
	sums->plan.bin[d->bin].held += (int64_t)d->weight * d->mbufs_held;
	sums->plan.bin[d->bin].wanted += d->weight * (wanted > 0 ? wanted : 0);
}

static bool list_sound(const struct fm_reass *r, uint32_t number, struct sums *sums, char *err, size_t err_len)
{
	const struct fm_list *list = &r->activity[number];
	const struct fm_datagram *before = NULL;
	uint32_t prev = FM_NONE;

	SOUND((list->head != FM_NONE) == (r->list_used >> number & 1));
	for (uint32_t n = list->head; n != FM_NONE; n = before->activity.next) {
		const struct fm_datagram *d = fm_entry(r, n);

		SOUND(d->list == number && d->activity.prev == prev);
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
	int64_t promised = 0;

	for (int i = 0; i < FM_BINS; i++) {
		const struct fm_bin *bin = &r->plan.bin[i], *sum = &sums->plan.bin[i];

		SOUND(bin->count == sum->count && bin->held == sum->held && bin->wanted == sum->wanted);
		SOUND(bin->count == 0 || (r->plan.used >> i & 1));
		promised += bin->held + bin->wanted;
	}
	SOUND(r->plan.promised == promised);
	return true;
}

/* Whoever has a record holds what its datagrams hold. */
static bool sources_sound(const struct fm_reass *r, char *err, size_t err_len)
{
	const size_t n_sources = (size_t)r->sources.n_sets * FM_SOURCE_WAYS;
	uint64_t owned = 0, held = 0;

	for (int family = 0; family < FM_FAMILIES; family++)
		for (uint32_t n = r->age[family].head; n != FM_NONE; n = fm_age_next(r, n)) {
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
	const size_t slots = (size_t)r->n_condemned_sets * FM_CONDEMNED_WAYS;
	uint64_t count = 0;

	for (size_t i = 0; i < slots; i++)
		count += (r->condemned[i].word & FM_DOOM_MASK) != FM_DOOM_NONE;
	SOUND(count == r->stats.condemned);
	return true;
}

static bool free_sound(const struct fm_reass *r, const struct sums *sums, char *err, size_t err_len)
{
	uint64_t cells = 0;

	for (uint32_t n = r->free_cell; n != FM_NONE; n = fm_entry(r, n)->chain) {
		SOUND(fm_entry(r, n)->key.word[0] == FM_KEY_NONE && cells < r->n_cells);
		cells++;
	}
	SOUND(cells + sums->live + sums->nodes == r->n_cells);
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
	SOUND(sums.young == r->n_young && sums.listed + sums.young == sums.live && r->n_dead == 0);
	return plan_sound(r, &sums, err, err_len) && sources_sound(r, err, err_len) &&
	       condemned_sound(r, err, err_len) && free_sound(r, &sums, err, err_len) &&
	       stats_sound(r, &sums, err, err_len);
}
