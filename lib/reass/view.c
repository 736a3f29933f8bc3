/* SPDX-License-Identifier: BSD-3-Clause */
/* A look at what is held, for display. */
#include "internal.h"
#include "key.h"

static uint32_t missing_ranges(const struct fm_reass *r, const struct fm_datagram *d)
{
	uint32_t missing = 0, at = 0;

	for (uint32_t n = fm_extent_first_leaf(r, d); n != FM_NONE; n = r->node[n].leaf.next)
		for (uint32_t i = 0; i < r->node[n].leaf.count; i++) {
			const struct fm_extent *e = &r->node[n].leaf.extent[i];

			missing += e->offset != at;
			at = (uint32_t)e->offset + e->length;
		}
	/* Without the last fragment something is missing behind. */
	return missing + (d->end == FM_END_UNKNOWN || at != d->end);
}

static void fill(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc, struct fm_reass_view *v)
{
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
		.cold = fm_admit_cold(r, d, now_tsc),
		.chance_permille = (uint16_t)(fm_chance_now(r, d, now_tsc) * 1000 + 0.5F),
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
		next[oldest] = fm_entry(r, next[oldest])->link[FM_LINK_AGE].next;
	}
	return count;
}
