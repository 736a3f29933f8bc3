/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Condemned keys: datagrams of which nothing will be stored, remembered without buffers.
 *
 * Sets of four slots of eight bytes, chosen by the keyed hash; a slot holds 40 other bits of it. With n of N slots
 * taken another key is taken for one of them once in N / n * 2^38 lookups, however many there are. A full set gives up
 * what is unlikely first, then what would be forgotten soonest; unlikely ones displace their like only, so a flood
 * cannot wash out what is known of others.
 */
#include <string.h>

#include "internal.h"

enum {
	SETS_MIN = 256,
	TIMEOUT_BITS = 20,	/* of a timeout, in units of time */
	UNITS_MASK = (1 << 22) - 1,
	LINGER_SHIFT = 10,	/* after its last fragment a refused one is remembered for 1/1024 of the timeout ... */
	LINGER = 2,		/* or so many times the patience with all, where that is longer */
};

uint32_t fm_condemned_sets(uint32_t datagrams)
{
	return RTE_MAX((uint32_t)SETS_MIN, datagrams);
}

uint64_t fm_condemned_for_tsc(const struct fm_reass *r, enum fm_family_index family)
{
	const uint64_t timeout = r->settings.timeout_tsc[family];
	const uint64_t patience = LINGER * fm_patience_general_tsc(r);

	return RTE_MIN(timeout, RTE_MAX(timeout >> LINGER_SHIFT, patience));
}

void fm_condemned_set_unit(struct fm_reass *r)
{
	const uint64_t longest = RTE_MAX(r->settings.timeout_tsc[FM_IPV4], r->settings.timeout_tsc[FM_IPV6]);
	const int bits = 64 - __builtin_clzll(longest);
	const uint32_t shift = bits > TIMEOUT_BITS ? (uint32_t)(bits - TIMEOUT_BITS) : 0;

	/* The times that are remembered would mean something else. */
	if (shift != r->condemned_shift)
		fm_condemned_clear(r);
	r->condemned_shift = shift;
}

static enum fm_doom doom_of(const struct fm_condemned *c)
{
	return (enum fm_doom)(c->word & FM_DOOM_MASK);
}

/* The first unit at which `tsc` is over. */
static uint32_t to_units(const struct fm_reass *r, uint64_t tsc)
{
	return (uint32_t)((tsc + (1ULL << r->condemned_shift) - 1) >> r->condemned_shift) & UNITS_MASK;
}

static uint32_t until_of(const struct fm_condemned *c)
{
	return (uint32_t)(c->word >> FM_CONDEMNED_UNTIL_SHIFT) & UNITS_MASK;
}

/* Is `a` before `b`? No two times that are remembered are half of all units apart. */
static bool before(uint32_t a, uint32_t b)
{
	return ((a - b) & UNITS_MASK) > UNITS_MASK / 2;
}

static bool over(const struct fm_reass *r, const struct fm_condemned *c, uint64_t now_tsc)
{
	return !before((uint32_t)(now_tsc >> r->condemned_shift) & UNITS_MASK, until_of(c));
}

static uint64_t make_word(const struct fm_reass *r, uint64_t hash, enum fm_doom doom, uint64_t until_tsc)
{
	return hash << FM_CONDEMNED_HASH_SHIFT | (uint64_t)to_units(r, until_tsc) << FM_CONDEMNED_UNTIL_SHIFT | doom;
}

static void forget(struct fm_reass *r, struct fm_condemned *c)
{
	c->word = FM_DOOM_NONE;
	fm_count_sub(&r->stats.condemned, 1);
}

bool fm_condemned_find(struct fm_reass *r, uint64_t hash, enum fm_family_index family, uint64_t now_tsc)
{
	struct fm_condemned *set = fm_condemned_set(r, hash);

	if (r->stats.condemned == 0)
		return false;
	for (int i = 0; i < FM_CONDEMNED_WAYS; i++) {
		struct fm_condemned *c = &set[i];

		if (doom_of(c) == FM_DOOM_NONE ||
		    c->word >> FM_CONDEMNED_HASH_SHIFT != hash << FM_CONDEMNED_HASH_SHIFT >> FM_CONDEMNED_HASH_SHIFT)
			continue;
		if (over(r, c, now_tsc)) {
			forget(r, c);
			return false;
		}
		if (doom_of(c) != FM_DOOM_FAULTY)
			c->word = make_word(r, hash, doom_of(c), now_tsc + fm_condemned_for_tsc(r, family));
		return true;
	}
	return false;
}

/* The slot to be given up for `doom`; NULL: none is worth less. */
static struct fm_condemned *victim_for(const struct fm_reass *r, struct fm_condemned *set, enum fm_doom doom,
				       uint64_t now_tsc)
{
	struct fm_condemned *victim = NULL;

	for (int i = 0; i < FM_CONDEMNED_WAYS; i++) {
		struct fm_condemned *c = &set[i];

		if (doom_of(c) == FM_DOOM_NONE || over(r, c, now_tsc))
			return c;
		if (doom == FM_DOOM_UNLIKELY && doom_of(c) != FM_DOOM_UNLIKELY)
			continue;
		if (victim != NULL && (doom_of(victim) == FM_DOOM_UNLIKELY) != (doom_of(c) == FM_DOOM_UNLIKELY)) {
			if (doom_of(c) == FM_DOOM_UNLIKELY)
				victim = c;
			continue;
		}
		if (victim == NULL || before(until_of(c), until_of(victim)))
			victim = c;
	}
	return victim;
}

void fm_condemned_add(struct fm_reass *r, uint64_t hash, enum fm_doom doom, uint64_t now_tsc, uint64_t until_tsc)
{
	struct fm_condemned *c = victim_for(r, fm_condemned_set(r, hash), doom, now_tsc);

	if (c == NULL)
		return;
	if (doom_of(c) == FM_DOOM_NONE)
		fm_count_add(&r->stats.condemned, 1);
	c->word = make_word(r, hash, doom, until_tsc);
}

void fm_condemned_sweep(struct fm_reass *r, uint32_t sets, uint64_t now_tsc)
{
	if (sets > r->n_condemned_sets)
		sets = r->n_condemned_sets;
	for (; sets > 0 && r->stats.condemned > 0; sets--) {
		struct fm_condemned *set = &r->condemned[(size_t)r->sweep_next * FM_CONDEMNED_WAYS];

		for (int i = 0; i < FM_CONDEMNED_WAYS; i++)
			if (doom_of(&set[i]) != FM_DOOM_NONE && over(r, &set[i], now_tsc))
				forget(r, &set[i]);
		r->sweep_next = r->sweep_next + 1 < r->n_condemned_sets ? r->sweep_next + 1 : 0;
	}
}

void fm_condemned_clear(struct fm_reass *r)
{
	memset(r->condemned, 0, (size_t)r->n_condemned_sets * FM_CONDEMNED_WAYS * sizeof(r->condemned[0]));
	fm_count_sub(&r->stats.condemned, r->stats.condemned);
}
