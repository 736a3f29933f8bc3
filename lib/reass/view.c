/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at what is held, for display. */
#include "internal.h"
#include "key.h"
#include "source.h"
#include "young.h"

static struct fm_run run_from(const struct fm_reass *r, const struct fm_datagram *d, uint32_t offset)
{
	struct fm_run run = fm_run_first(r, d);
	struct fm_place place;

	if (offset == 0 || d->fragments < 2)
		return run;
	fm_extent_seek(r, d, offset, &place);
	run.extent = r->node[place.leaf].leaf.extent + place.at;
	run.count = fm_leaf_count(&r->node[place.leaf].leaf) - place.at;
	run.next = fm_leaf_next(&r->node[place.leaf].leaf);
	if (run.count == 0)
		fm_run_next(r, &run);
	return run;
}

/*
 * Count missing ranges, from where the walk is in the datagram. A leaf takes one from *work.
 *
 * @return false: there is no work left, and the walk knows how far it has come
 */
static bool count_missing(const struct fm_reass *r, const struct fm_datagram *d, struct fm_walk *walk, uint32_t *work)
{
	struct fm_run run = run_from(r, d, walk->at);

	for (; run.count > 0; fm_run_next(r, &run)) {
		if (*work == 0)
			return false;
		--*work;
		for (uint32_t i = 0; i < run.count; i++) {
			walk->missing += fm_extent_offset(&run.extent[i]) != walk->at;
			walk->at = fm_extent_end(&run.extent[i]);
		}
	}
	/* Without the last fragment something is missing behind. */
	walk->missing += d->end == FM_END_UNKNOWN || walk->at != d->end;
	return true;
}

/* A young one as it would be judged: by its source's record, if there is one. */
static struct fm_datagram judged(const struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_datagram copy = *d;
	const struct fm_source *s = fm_is_young(d) ? fm_source_peek(r, &d->key, (enum fm_family_index)d->family) : NULL;

	if (s != NULL) {
		copy.source = (uint32_t)(s - r->sources.record);
		copy.source_check = s->check;
		copy.mbufs_expected = (uint16_t)fm_expected_size(r, s);
	}
	return copy;
}

static void fill(const struct fm_reass *r, const struct fm_datagram *d, uint32_t missing, uint64_t now_tsc,
		 struct fm_reass_view *v)
{
	const struct fm_datagram as_judged = judged(r, d);
	const bool ipv4 = d->family == FM_IPV4;
	const uint8_t *address = (const uint8_t *)&d->key.word[ipv4 ? 1 : 2];
	const uint32_t len = ipv4 ? 4 : 16;

	*v = (struct fm_reass_view){
		.age_tsc = fm_elapsed(d->first_seen_tsc, now_tsc),
		.idle_tsc = fm_elapsed(d->last_seen_tsc, now_tsc),
		.id = ipv4 ? (uint16_t)d->key.word[0] : (uint32_t)d->key.word[1],
		.held_bytes = d->bytes_held,
		.end_bytes = d->end,
		.missing_ranges = missing,
		.held_mbufs = d->mbufs_held,
		.fragments = d->fragments,
		.port = fm_key_port(&d->key),
		.family = ipv4 ? 4 : 6,
		.protocol = fm_key_protocol(&d->key),
		.cold = fm_admit_cold(r, &as_judged, now_tsc),
		.chance_permille = (uint16_t)(fm_chance_now(r, &as_judged, now_tsc) * 1000 + 0.5F),
	};
	for (unsigned int tag = 0; tag < FM_VLAN_MAX; tag++)
		v->vlan[tag] = tag < fm_key_tags(&d->key) ? fm_key_vlan(&d->key, tag) : UINT16_MAX;
	memcpy(v->source, address, len);
	memcpy(v->destination, address + len, len);
}

static void begin(const struct fm_reass *r, struct fm_walk *walk)
{
	for (int i = 0; i < FM_FAMILIES; i++)
		walk->next[i] = r->age[i].head;
	walk->at = walk->missing = 0;
}

/* False: there are no more. */
static bool oldest(const struct fm_reass *r, const struct fm_walk *walk, int *family)
{
	*family = -1;
	for (int i = 0; i < FM_FAMILIES; i++)
		if (walk->next[i] != FM_NONE &&
		    (*family < 0 || fm_entry(r, walk->next[i])->first_seen_tsc <
					    fm_entry(r, walk->next[*family])->first_seen_tsc))
			*family = i;
	return *family >= 0;
}

/* False: there are no more, or no room for them. */
static bool go_on(const struct fm_reass *r, struct fm_walk *walk, uint32_t work, uint64_t now_tsc,
		  struct fm_reass_view *views, uint32_t max, uint32_t *n)
{
	int family;

	while (*n < max && oldest(r, walk, &family)) {
		const struct fm_datagram *d = fm_entry(r, walk->next[family]);

		if (work == 0)
			return true;
		if (!count_missing(r, d, walk, &work))
			return true;
		fill(r, d, walk->missing, now_tsc, &views[(*n)++]);
		walk->next[family] = fm_age_next(r, walk->next[family]);
		walk->at = walk->missing = 0;
	}
	return false;
}

uint32_t fm_reass_views(const struct fm_reass *r, uint64_t now_tsc, struct fm_reass_view *views, uint32_t max)
{
	struct fm_walk walk;
	uint32_t n = 0;

	begin(r, &walk);
	go_on(r, &walk, UINT32_MAX, now_tsc, views, max, &n);
	return n;
}

bool fm_reass_views_some(struct fm_reass *r, bool first, uint32_t work, uint64_t now_tsc, struct fm_reass_view *views,
			 uint32_t max, uint32_t *n)
{
	bool more;

	if (first)
		begin(r, &r->walk);
	more = go_on(r, &r->walk, work, now_tsc, views, max, n);
	if (!more)
		r->walk = (struct fm_walk){ .young = r->walk.young };
	return more;
}
