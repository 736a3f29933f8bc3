/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at the sources, for display. */
#include <string.h>

#include "internal.h"

/* A record made under a longer prefix is shown under the one of now. */
static void cut(uint8_t prefix[16], uint8_t len)
{
	const unsigned int whole = len / 8;

	if (whole >= 16)
		return;
	prefix[whole] &= (uint8_t)(0xff00 >> len % 8);
	memset(prefix + whole + 1, 0, 15 - whole);
}

static void fill(const struct fm_reass *r, const struct fm_source *s, struct fm_source_view *v)
{
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
	memcpy(v->prefix, s->prefix, sizeof(v->prefix));
	cut(v->prefix, v->prefix_len);
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

uint32_t fm_reass_sources(const struct fm_reass *r, uint32_t first, uint32_t count, struct fm_source_view *views,
			  uint32_t max, uint32_t *n)
{
	const uint32_t records = (r->sources.set_mask + 1) * FM_SOURCE_WAYS;
	const uint32_t end = first < records && count < records - first ? first + count : records;

	for (uint32_t i = first; i < end; i++)
		if (r->sources.record[i].family != 0)
			keep(r, &r->sources.record[i], views, max, n);
	return end < records ? end : 0;
}
