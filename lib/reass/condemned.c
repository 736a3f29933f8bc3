/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Condemned keys: datagrams of which nothing will be stored, remembered without buffers.
 *
 * Sets of four slots, a cache line each, chosen by the keyed hash; a slot holds 62 bits of it. With n keys condemned
 * another key is taken for one of them once in 2^62 / n lookups: with 131,072 of them once in 2^45. A full set gives up
 * what is unlikely first, then what would be forgotten soonest; unlikely ones displace their like only, so a flood
 * cannot wash out what is known of others.
 */
#include <string.h>

#include "internal.h"

enum {
	SETS_MIN = 256,
	SLOTS_EACH = 4,		/* for each datagram that may be live */
	LINGER_SHIFT = 10,	/* after its last fragment a refused one is remembered for 1/1024 of the timeout ... */
	LINGER = 2,		/* or so many times the patience with all, where that is longer */
};

uint32_t fm_condemned_sets(uint32_t datagrams)
{
	uint32_t n = SETS_MIN;

	while (n < datagrams / FM_CONDEMNED_WAYS * SLOTS_EACH)
		n *= 2;
	return n;
}

uint64_t fm_condemned_for_tsc(const struct fm_reass *r, enum fm_family_index family)
{
	const uint64_t timeout = r->settings.timeout_tsc[family];
	const uint64_t patience = LINGER * fm_patience_general_tsc(r);

	return RTE_MIN(timeout, RTE_MAX(timeout >> LINGER_SHIFT, patience));
}

static enum fm_doom doom_of(const struct fm_condemned *c)
{
	return (enum fm_doom)(c->mark & FM_DOOM_MASK);
}

static bool over(const struct fm_condemned *c, uint64_t now_tsc)
{
	return (int64_t)(now_tsc - c->until_tsc) >= 0;
}

static void forget(struct fm_reass *r, struct fm_condemned *c)
{
	c->mark = FM_DOOM_NONE;
	fm_count_sub(&r->stats.condemned, 1);
}

bool fm_condemned_find(struct fm_reass *r, uint64_t hash, enum fm_family_index family, uint64_t now_tsc)
{
	struct fm_condemned *set = fm_condemned_set(r, hash);

	if (r->stats.condemned == 0)
		return false;
	for (int i = 0; i < FM_CONDEMNED_WAYS; i++) {
		struct fm_condemned *c = &set[i];

		if (doom_of(c) == FM_DOOM_NONE || ((c->mark ^ hash) & ~(uint64_t)FM_DOOM_MASK) != 0)
			continue;
		if (over(c, now_tsc)) {
			forget(r, c);
			return false;
		}
		if (doom_of(c) != FM_DOOM_FAULTY)
			c->until_tsc = now_tsc + fm_condemned_for_tsc(r, family);
		return true;
	}
	return false;
}

/* The slot to be given up for `doom`; NULL: none is worth less. */
static struct fm_condemned *victim_for(struct fm_condemned *set, enum fm_doom doom, uint64_t now_tsc)
{
	struct fm_condemned *victim = NULL;

	for (int i = 0; i < FM_CONDEMNED_WAYS; i++) {
		struct fm_condemned *c = &set[i];

		if (doom_of(c) == FM_DOOM_NONE || over(c, now_tsc))
			return c;
		if (doom == FM_DOOM_UNLIKELY && doom_of(c) != FM_DOOM_UNLIKELY)
			continue;
		if (victim != NULL && (doom_of(victim) == FM_DOOM_UNLIKELY) != (doom_of(c) == FM_DOOM_UNLIKELY)) {
			if (doom_of(c) == FM_DOOM_UNLIKELY)
				victim = c;
			continue;
		}
		if (victim == NULL || (int64_t)(victim->until_tsc - c->until_tsc) > 0)
			victim = c;
	}
	return victim;
}

void fm_condemned_add(struct fm_reass *r, uint64_t hash, enum fm_doom doom, uint64_t now_tsc, uint64_t until_tsc)
{
	struct fm_condemned *c = victim_for(fm_condemned_set(r, hash), doom, now_tsc);

	if (c == NULL)
		return;
	if (doom_of(c) == FM_DOOM_NONE)
		fm_count_add(&r->stats.condemned, 1);
	*c = (struct fm_condemned){ .mark = (hash & ~(uint64_t)FM_DOOM_MASK) | doom, .until_tsc = until_tsc };
}

void fm_condemned_sweep(struct fm_reass *r, uint32_t sets, uint64_t now_tsc)
{
	if (sets > r->condemned_mask + 1)
		sets = r->condemned_mask + 1;
	for (; sets > 0 && r->stats.condemned > 0; sets--) {
		struct fm_condemned *set = &r->condemned[(size_t)r->sweep_next * FM_CONDEMNED_WAYS];

		for (int i = 0; i < FM_CONDEMNED_WAYS; i++)
			if (doom_of(&set[i]) != FM_DOOM_NONE && over(&set[i], now_tsc))
				forget(r, &set[i]);
		r->sweep_next = (r->sweep_next + 1) & r->condemned_mask;
	}
}

void fm_condemned_clear(struct fm_reass *r)
{
	memset(r->condemned, 0, ((size_t)r->condemned_mask + 1) * FM_CONDEMNED_WAYS * sizeof(r->condemned[0]));
	fm_count_sub(&r->stats.condemned, r->stats.condemned);
}
