/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at the sources, for display. */
#include <string.h>

#include "internal.h"
#include "young.h"

static void fill(const struct fm_reass *r, const struct fm_source *s, struct fm_source_view *v)
{
	uint64_t prefix[2] = { s->prefix[0], s->prefix[1] };

	*v = (struct fm_source_view){
		.prefix_len = (uint8_t)RTE_MIN(s->prefix_len, fm_prefix_bits(r, s->family == 4 ? FM_IPV4 : FM_IPV6)),
		.family = s->family,
		.chance_permille = (uint16_t)(fm_chance_new(r, s, false) * 1000 + 0.5F),
		.held_mbufs = s->held_mbufs,
		.size_mbufs = (uint32_t)(s->size + 0.5F),
		.delivered = s->delivered,
		.wasted = s->wasted,
		.gap_tsc = s->gap > 1 ? (uint64_t)(s->gap - 0.5F) : 0,
	};
	/* A record made under a longer prefix is shown under the one of now. */
	fm_prefix_cut(prefix, v->prefix_len);
	memcpy(v->prefix, prefix, sizeof(v->prefix));
}

static bool before(const struct fm_source *s, const struct fm_source_view *v)
{
	if (s->held_mbufs != v->held_mbufs)
		return s->held_mbufs > v->held_mbufs;
	if (s->wasted != v->wasted)
		return s->wasted > v->wasted;
	return s->delivered > v->delivered;
}

static void keep(const struct fm_reass *r, const struct fm_source *s, struct fm_source_view *views, uint32_t max,
		 uint32_t *n)
{
	uint32_t at = *n;

	if (at == max && (max == 0 || !before(s, &views[max - 1])))
		return;
	if (at == max)
		at--;
	else
		++*n;
	for (; at > 0 && before(s, &views[at - 1]); at--)
		views[at] = views[at - 1];
	fill(r, s, &views[at]);
}

/* As many as there were when the look began: more may come as fast as these are enrolled. Returns what it took. */
static uint32_t enroll(struct fm_reass *r, uint32_t count)
{
	const uint32_t before = r->n_young;
	const uint32_t took = fm_young_enroll_some(r, RTE_MIN(count, r->walk.young), 0);

	r->walk.young = r->n_young == 0 ? 0 : r->walk.young - RTE_MIN(r->walk.young, before - r->n_young);
	return took;
}

uint32_t fm_reass_sources(struct fm_reass *r, uint32_t first, uint32_t count, struct fm_source_view *views,
			  uint32_t max, uint32_t *n)
{
	const uint32_t records = r->sources.n_sets * FM_SOURCE_WAYS, from = first > 0 ? first - 1 : 0;
	uint32_t end;

	if (first == 0)
		r->walk.young = r->n_young;
	/* What young ones hold is in nobody's record yet. */
	if (from == 0 && r->walk.young > 0) {
		count -= enroll(r, count);
		if (r->walk.young > 0)
			return 1;
	}
	end = from < records && count < records - from ? from + count : records;
	for (uint32_t i = from; i < end; i++)
		if (r->sources.record[i].family != 0)
			keep(r, &r->sources.record[i], views, max, n);
	return end < records ? end + 1 : 0;
}
