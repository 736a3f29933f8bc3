/* SPDX-License-Identifier: BSD-3-Clause */
/* The index, and how a table lies in the memory it is given. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "fm_split.h"
#include "internal.h"
#include "key.h"

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
	uint32_t n_buckets, n_entries, n_nodes, n_condemned_sets, n_sources;
	size_t buckets, entries, nodes, condemned, sources, slots, scratch, size;
};

static void lay_out(const struct fm_reass_params *p, struct layout *l)
{
	/* A datagram holds an mbuf or more, so there are never more of them than mbufs. */
	const uint32_t live = p->max_datagrams < p->max_mbufs ? p->max_datagrams : p->max_mbufs;

	l->n_entries = live;
	l->n_condemned_sets = fm_condemned_sets(live);
	l->n_sources = fm_sources_count(live);
	l->n_buckets = 1;
	while (l->n_buckets < l->n_entries / (FM_SLOTS / 2))
		l->n_buckets *= 2;
	/*
	 * Up to three extents lie in one leaf. More of them take at most three nodes for four extents: leaves but the
	 * last are at least two thirds full, inner nodes but the rightmost half full. One fragment may be in hand
	 * beyond the budget, and an insert can split each level once before it fails.
	 */
	l->n_nodes = p->max_mbufs + 1 + FM_HEIGHT_MAX;

	l->buckets = fm_align(sizeof(struct fm_reass), FM_LINE);
	l->entries = l->buckets + (size_t)l->n_buckets * sizeof(struct fm_bucket);
	l->nodes = l->entries + ((size_t)l->n_entries + 1) * sizeof(struct fm_datagram);
	l->condemned = l->nodes + ((size_t)l->n_nodes + 1) * sizeof(union fm_node);
	l->sources = l->condemned + (size_t)l->n_condemned_sets * FM_CONDEMNED_WAYS * sizeof(struct fm_condemned);
	l->slots = l->sources + (size_t)l->n_sources * sizeof(struct fm_source);
	l->scratch = l->slots + (size_t)l->n_sources * sizeof(struct fm_source_slot);
	l->size = l->scratch + FM_SCRATCH_LEN;
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
	r->settings = params->settings;
	memcpy(&r->secret, params->secret, sizeof(r->secret));
	r->bucket_mask = l.n_buckets - 1;
	r->max_datagrams = params->max_datagrams;
	r->max_mbufs = params->max_mbufs;
	r->n_entries = l.n_entries;
	r->n_nodes = l.n_nodes;
	r->bucket = (void *)((uint8_t *)memory + l.buckets);
	r->entry = (void *)((uint8_t *)memory + l.entries);
	r->node = (void *)((uint8_t *)memory + l.nodes);
	r->condemned = (void *)((uint8_t *)memory + l.condemned);
	r->condemned_mask = l.n_condemned_sets - 1;
	r->sources.record = (void *)((uint8_t *)memory + l.sources);
	r->sources.slot = (void *)((uint8_t *)memory + l.slots);
	r->sources.set_mask = l.n_sources / FM_SOURCE_WAYS - 1;
	r->scratch = (uint8_t *)memory + l.scratch;
	r->header_pool = params->header_pool;
	r->dropped = params->dropped;
	r->dropped_arg = params->dropped_arg;
	for (uint32_t i = l.n_entries; i > 0; i--) {
		r->entry[i].chain = r->free_entry;
		r->free_entry = i;
	}
	for (uint32_t i = l.n_nodes; i > 0; i--) {
		r->node[i].leaf.next = r->free_node;
		r->free_node = i;
	}
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
	r->settings = *settings;
	fm_admit_shrink(r, now_tsc);
	fm_drop_flush(r);
	return 0;
}

uint64_t fm_key_hash(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family)
{
	return fm_siphash13(&r->secret, key->word, family == FM_IPV4 ? FM_KEY_IPV4_WORDS : FM_KEY_IPV6_WORDS);
}

static uint16_t tag_of(uint32_t hash)
{
	return (uint16_t)(hash >> 16);
}

static bool same(const struct fm_datagram *d, const struct fm_key *key, enum fm_family_index family, uint32_t hash)
{
	return d->hash == hash && d->family == family && fm_key_equal(&d->key, key);
}

struct fm_datagram *fm_index_find(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family,
				  uint32_t hash)
{
	const struct fm_bucket *b = fm_index_bucket(r, hash);
	const uint16_t tag = tag_of(hash);

	for (int i = 0; i < FM_SLOTS; i++)
		if (b->tag[i] == tag && b->entry[i] != FM_NONE && same(fm_entry(r, b->entry[i]), key, family, hash))
			return fm_entry(r, b->entry[i]);
	for (uint32_t n = b->overflow; n != FM_NONE; n = fm_entry(r, n)->chain)
		if (same(fm_entry(r, n), key, family, hash))
			return fm_entry(r, n);
	return NULL;
}

uint32_t fm_index_guess(const struct fm_reass *r, uint32_t hash)
{
	const struct fm_bucket *b = fm_index_bucket(r, hash);
	const uint16_t tag = tag_of(hash);

	for (int i = 0; i < FM_SLOTS; i++)
		if (b->tag[i] == tag && b->entry[i] != FM_NONE)
			return b->entry[i];
	return FM_NONE;
}

void fm_index_add(struct fm_reass *r, struct fm_datagram *d)
{
	struct fm_bucket *b = &r->bucket[d->hash & r->bucket_mask];

	for (int i = 0; i < FM_SLOTS; i++)
		if (b->entry[i] == FM_NONE) {
			b->tag[i] = tag_of(d->hash);
			b->entry[i] = fm_number(r, d);
			return;
		}
	d->chain = b->overflow;
	b->overflow = fm_number(r, d);
}

/* A slot that becomes free takes the first of the overflow chain. */
static void refill(struct fm_reass *r, struct fm_bucket *b, int slot)
{
	const uint32_t n = b->overflow;

	b->entry[slot] = n;
	if (n == FM_NONE)
		return;
	b->tag[slot] = tag_of(fm_entry(r, n)->hash);
	b->overflow = fm_entry(r, n)->chain;
}

void fm_index_remove(struct fm_reass *r, struct fm_datagram *d)
{
	struct fm_bucket *b = &r->bucket[d->hash & r->bucket_mask];
	const uint32_t number = fm_number(r, d);
	uint32_t *link = &b->overflow;

	for (int i = 0; i < FM_SLOTS; i++)
		if (b->entry[i] == number) {
			refill(r, b, i);
			return;
		}
	while (*link != number)
		link = &fm_entry(r, *link)->chain;
	*link = d->chain;
}
