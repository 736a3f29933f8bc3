/* SPDX-License-Identifier: BSD-3-Clause */
/* The index, and how a table lies in the memory it is given. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "fm_split.h"
#include "internal.h"
#include "key.h"
#include "young.h"

static int fail(char *err, size_t err_len, const char *format, ...)
{
	va_list args;

	if (err != NULL && err_len > 0) {
		va_start(args, format);
		vsnprintf(err, err_len, format, args);
		va_end(args);
	}
	return -EINVAL;
}

static int check_settings(const struct fm_reass_settings *s, uint32_t max_mbufs, char *err, size_t err_len)
{
	for (int i = 0; i < FM_FAMILIES; i++)
		if (s->timeout_tsc[i] == 0 || s->timeout_tsc[i] > INT64_MAX)
			return fail(err, err_len, "timeout_tsc: 1 to 2^63-1 expected, got %llu",
				    (unsigned long long)s->timeout_tsc[i]);
	if (s->budget_mbufs == 0 || s->budget_mbufs > max_mbufs)
		return fail(err, err_len, "budget_mbufs: 1 to %u (max_mbufs) expected, got %u", max_mbufs,
			    s->budget_mbufs);
	if (s->max_fragments < FM_FRAGMENTS_MIN || s->max_fragments > FM_FRAGMENTS_MAX)
		return fail(err, err_len, "max_fragments: %d to %d expected, got %u", FM_FRAGMENTS_MIN,
			    FM_FRAGMENTS_MAX, s->max_fragments);
	if (s->source_prefix[FM_IPV4] > 32)
		return fail(err, err_len, "source_prefix[FM_IPV4]: 0 to 32 expected, got %u",
			    s->source_prefix[FM_IPV4]);
	if (s->source_prefix[FM_IPV6] > 128)
		return fail(err, err_len, "source_prefix[FM_IPV6]: 0 to 128 expected, got %u",
			    s->source_prefix[FM_IPV6]);
	return 0;
}

static int check_params(const struct fm_reass_params *p, char *err, size_t err_len)
{
	if (p->max_datagrams == 0 || p->max_datagrams > FM_NUMBER_MAX)
		return fail(err, err_len, "max_datagrams: 1 to %d expected, got %u", FM_NUMBER_MAX, p->max_datagrams);
	if (p->header_pool != NULL &&
	    rte_pktmbuf_data_room_size(p->header_pool) < RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM)
		return fail(err, err_len, "header_pool: data room of %d expected, got %u",
			    RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM, rte_pktmbuf_data_room_size(p->header_pool));
	if (p->max_mbufs == 0 || p->max_mbufs > FM_NUMBER_MAX)
		return fail(err, err_len, "max_mbufs: 1 to %d expected, got %u", FM_NUMBER_MAX, p->max_mbufs);
	return check_settings(&p->settings, p->max_mbufs, err, err_len);
}

/* The parts of a table's memory, as offsets from its start; each on a cache line. */
struct layout {
	uint32_t n_buckets, n_cells, n_condemned_sets, n_source_sets;
	size_t buckets, cells, age_links, condemned, sources, slots, scratch, size;
};

enum { ENTRIES_EACH = 5 };	/* of a bucket's eight slots so many are in use at most, on average */

static void lay_out(const struct fm_reass_params *p, struct layout *l)
{
	/* A datagram holds an mbuf or more, so there are never more of them than mbufs. */
	const uint32_t live = p->max_datagrams < p->max_mbufs ? p->max_datagrams : p->max_mbufs;
	const uint64_t few = 2 * (uint64_t)live + p->max_mbufs / 3;

	/*
	 * Cells. A datagram has an entry; up to ten extents take one node besides, one alone none. Of more extents a
	 * node holds five or more, but for the last one, and there are inner nodes: each extent behind the first takes
	 * less than a third of a node, so that an mbuf never takes more than a cell. One fragment may be in hand beyond
	 * the budget, and an insert can split each level once before it fails.
	 */
	l->n_cells = (uint32_t)RTE_MIN(few, (uint64_t)p->max_mbufs) + 1 + FM_HEIGHT_MAX;
	l->n_condemned_sets = fm_condemned_sets(live);
	l->n_source_sets = fm_source_sets(live);
	l->n_buckets = live / ENTRIES_EACH + 1;

	l->buckets = fm_align(sizeof(struct fm_reass), FM_LINE);
	l->cells = l->buckets + (size_t)l->n_buckets * sizeof(struct fm_bucket);
	l->age_links = l->cells + ((size_t)l->n_cells + 1) * sizeof(struct fm_datagram);
	l->condemned = fm_align(l->age_links + ((size_t)l->n_cells + 1) * sizeof(struct fm_link), FM_LINE);
	l->sources = l->condemned + (size_t)l->n_condemned_sets * FM_CONDEMNED_WAYS * sizeof(struct fm_condemned);
	l->slots = l->sources + (size_t)l->n_source_sets * FM_SOURCE_WAYS * sizeof(struct fm_source);
	l->scratch = l->slots + (size_t)l->n_source_sets * FM_SOURCE_WAYS * sizeof(struct fm_source_slot);
	l->size = l->scratch + FM_SCRATCH_LEN;
}

static void apply_settings(struct fm_reass *r, const struct fm_reass_settings *settings)
{
	r->settings = *settings;
	fm_condemned_set_unit(r);
	r->ease_mbufs = settings->budget_mbufs / 2;
	r->ease_datagrams = r->max_datagrams - r->max_datagrams / 4;
}

size_t fm_reass_memsize(const struct fm_reass_params *params)
{
	struct layout l;

	if (check_params(params, NULL, 0) < 0)
		return 0;
	lay_out(params, &l);
	return l.size;
}

int fm_reass_init(void *memory, const struct fm_reass_params *params, struct fm_reass **reass, char *err,
		  size_t err_len)
{
	struct fm_reass *r = memory;
	struct layout l;
	int rc = check_params(params, err, err_len);

	if (rc < 0)
		return rc;
	if (memory == NULL || (uintptr_t)memory % FM_LINE != 0)
		return fail(err, err_len, "memory: a block aligned to %d bytes expected", FM_LINE);
	lay_out(params, &l);
	memset(memory, 0, l.size);
	memcpy(&r->secret, params->secret, sizeof(r->secret));
	r->lanes = fm_siphash_lanes_find();
	r->n_buckets = l.n_buckets;
	r->max_datagrams = params->max_datagrams;
	r->max_mbufs = params->max_mbufs;
	r->n_cells = l.n_cells;
	r->bucket = (void *)((uint8_t *)memory + l.buckets);
	r->entry = (void *)((uint8_t *)memory + l.cells);
	r->age_link = (void *)((uint8_t *)memory + l.age_links);
	r->node = (void *)r->entry;
	r->condemned = (void *)((uint8_t *)memory + l.condemned);
	r->n_condemned_sets = l.n_condemned_sets;
	r->sources.record = (void *)((uint8_t *)memory + l.sources);
	r->sources.slot = (void *)((uint8_t *)memory + l.slots);
	r->sources.n_sets = l.n_source_sets;
	r->scratch = (uint8_t *)memory + l.scratch;
	r->header_pool = params->header_pool;
	r->dropped = params->dropped;
	r->dropped_arg = params->dropped_arg;
	r->entry[FM_NONE].key.word[0] = FM_KEY_NONE;
	for (uint32_t i = l.n_cells; i > 0; i--)
		fm_cell_put(r, fm_entry(r, i));
	apply_settings(r, &params->settings);
	fm_sources_init(r);
	fm_plan_init(r);
	*reass = r;
	return 0;
}

int fm_reass_set(struct fm_reass *r, const struct fm_reass_settings *settings, uint64_t now_tsc, char *err,
		 size_t err_len)
{
	int rc = check_settings(settings, r->max_mbufs, err, err_len);

	if (rc < 0)
		return rc;
	apply_settings(r, settings);
	fm_admit_shrink(r, now_tsc);
	fm_drop_flush(r);
	return 0;
}

bool fm_reass_shrink(struct fm_reass *r, uint32_t budget_mbufs, uint32_t work, uint64_t now_tsc)
{
	struct fm_reass_settings next = r->settings;

	/* From now on nobody begins unjudged, so those who are not yet judged become fewer. */
	r->ease_mbufs = 0;
	if (r->stats.held_mbufs > budget_mbufs && r->n_young > 0) {
		work -= fm_young_enroll_some(r, work, now_tsc);
		if (work == 0)
			return false;
	}
	next.budget_mbufs = budget_mbufs;
	if (r->stats.held_mbufs > (uint64_t)budget_mbufs + work)
		next.budget_mbufs = (uint32_t)r->stats.held_mbufs - work;
	if (next.budget_mbufs == budget_mbufs)
		apply_settings(r, &next);
	else
		r->settings.budget_mbufs = next.budget_mbufs;
	fm_admit_shrink(r, now_tsc);
	fm_drop_flush(r);
	return next.budget_mbufs == budget_mbufs;
}

struct fm_datagram *fm_index_find_overflow(const struct fm_reass *r, const struct fm_key *key, uint32_t hash,
					   uint32_t number)
{
	for (; number != FM_NONE; number = fm_entry(r, number)->chain)
		if (fm_datagram_is(fm_entry(r, number), key, hash))
			return fm_entry(r, number);
	return NULL;
}

void fm_index_add(struct fm_reass *r, struct fm_datagram *d)
{
	struct fm_bucket *b = fm_index_bucket(r, d->hash);
	const uint32_t free = fm_bucket_match(b, 0), number = fm_number(r, d);

	if (likely(free != 0)) {
		b->tag[__builtin_ctz(free)] = fm_tag_of(d->hash);
		b->entry[__builtin_ctz(free)] = number;
		return;
	}
	d->chain = b->overflow;
	b->overflow = number;
}

/* A slot that becomes free takes the first of the overflow chain. */
static void refill(struct fm_reass *r, struct fm_bucket *b, uint32_t slot)
{
	const struct fm_datagram *d = fm_entry(r, b->overflow);

	if (likely(b->overflow == FM_NONE)) {
		b->tag[slot] = 0;
		return;
	}
	b->entry[slot] = b->overflow;
	b->tag[slot] = fm_tag_of(d->hash);
	b->overflow = d->chain;
}

void fm_index_remove(struct fm_reass *r, struct fm_datagram *d)
{
	struct fm_bucket *b = fm_index_bucket(r, d->hash);
	const uint32_t number = fm_number(r, d);
	uint32_t *link = &b->overflow;

	for (uint32_t match = fm_bucket_match(b, fm_tag_of(d->hash)); match != 0; match &= match - 1) {
		const uint32_t slot = (uint32_t)__builtin_ctz(match);

		if (likely(b->entry[slot] == number)) {
			refill(r, b, slot);
			return;
		}
	}
	while (*link != number)
		link = &fm_entry(r, *link)->chain;
	*link = d->chain;
}
