/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at what is held, for display. */
#include "internal.h"
#include "key.h"
#include "source.h"
#include "young.h"

static uint32_t missing_ranges(const struct fm_reass *r, const struct fm_datagram *d)
{
	uint32_t missing = 0, at = 0;

	for (struct fm_run run = fm_run_first(r, d); run.count > 0; fm_run_next(r, &run))
		for (uint32_t i = 0; i < run.count; i++) {
			missing += fm_extent_offset(&run.extent[i]) != at;
			at = fm_extent_end(&run.extent[i]);
		}
	/* Without the last fragment something is missing behind. */
	return missing + (d->end == FM_END_UNKNOWN || at != d->end);
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

static void fill(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc, struct fm_reass_view *v)
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
		.missing_ranges = missing_ranges(r, d),
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

uint32_t fm_reass_views(const struct fm_reass *r, uint64_t now_tsc, struct fm_reass_view *views, uint32_t max)
{
	uint32_t next[FM_FAMILIES], count = 0;

	for (int i = 0; i < FM_FAMILIES; i++)
		next[i] = r->age[i].head;
	while (count < max) {
		int oldest = -1;

		for (int i = 0; i < FM_FAMILIES; i++)
			if (next[i] != FM_NONE && (oldest < 0 || fm_entry(r, next[i])->first_seen_tsc <
									 fm_entry(r, next[oldest])->first_seen_tsc))
				oldest = i;
		if (oldest < 0)
			break;
		fill(r, fm_entry(r, next[oldest]), now_tsc, &views[count++]);
		next[oldest] = fm_age_next(r, next[oldest]);
	}
	return count;
}
