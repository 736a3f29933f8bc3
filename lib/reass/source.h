/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sent a fragment, and where its record lies: the part of source.c that each new datagram goes through. */
#ifndef FM_SOURCE_H
#define FM_SOURCE_H

#include <string.h>

#include "internal.h"

#define FM_NO_RECORD UINT32_MAX

enum {
	FM_DEVIATION_SHIFT = 4,		/* a fragment's share in the deviation of its source's gaps: 1/16 */
	FM_STEADY = FM_CHANCE_ONE * 63 / 64,
	FM_STEADY_EACH = 4,
	FM_STAMP_MASK = (1 << 30) - 1,
};

/* A fragment's source. */
struct fm_who {
	uint64_t prefix[2];	/* bytes as they lie in memory */
	uint64_t hash;		/* keyed; not set where `record` is */
	uint32_t record;	/* most likely its record; FM_NO_RECORD: ask the hash */
	uint8_t family;		/* 4 or 6 */
	uint8_t bits;		/* of the prefix */
};

static inline struct fm_source_slot *fm_source_set(const struct fm_reass *r, uint64_t hash)
{
	return &r->sources.slot[(size_t)fm_reduce((uint32_t)hash, r->sources.n_sets) * FM_SOURCE_WAYS];
}

static inline uint32_t fm_source_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

static inline void fm_prefix_make(const struct fm_key *key, enum fm_family_index family, unsigned int bits,
				  uint64_t prefix[2])
{
	if (family == FM_IPV4) {
		/* The first four bytes, in a register: what is written in halves is slow to read as a whole. */
		prefix[0] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint32_t)key->word[1] :
									key->word[1] & ~(uint64_t)UINT32_MAX;
		prefix[1] = 0;
		if (unlikely(bits != 32))
			fm_prefix_cut(prefix, bits);
		return;
	}
	prefix[0] = key->word[2];
	prefix[1] = bits == 64 ? 0 : key->word[3];
	if (unlikely(bits != 64))
		fm_prefix_cut(prefix, bits);
}

/*
 * Senders send more than one datagram: which record those seen last had. The place is no secret, as all that can be
 * done with it is to make others ask the keyed hash, which is what they would do without it.
 */
static inline struct fm_recent *fm_recent_of(struct fm_reass *r, const struct fm_who *who, uint32_t *tag)
{
	const uint64_t x = (who->prefix[0] ^ who->prefix[1] * UINT64_C(0xc2b2ae3d27d4eb4f)) *
			   UINT64_C(0x9e3779b97f4a7c15);

	*tag = (uint32_t)x | 1;
	return &r->sources.recent[x >> (64 - FM_RECENT_BITS)];
}

static inline uint64_t fm_source_hash(const struct fm_reass *r, const struct fm_who *who)
{
	/* With the length: records of another length are found no more. */
	const uint64_t kind = who->family | (uint64_t)who->bits << 8;

	if (who->family == 4)
		return fm_siphash13(&r->secret, (const uint64_t[]){ who->prefix[0], kind }, 2);
	return fm_siphash13(&r->secret, (const uint64_t[]){ who->prefix[0], who->prefix[1], kind }, 3);
}

/* Who is it? And ask for what fm_source_find() will look at first. */
static inline void fm_source_ask(struct fm_reass *r, const struct fm_key *key, enum fm_family_index family,
				 struct fm_who *who)
{
	const struct fm_recent *recent;
	uint32_t tag;

	who->family = family == FM_IPV4 ? 4 : 6;
	who->bits = (uint8_t)fm_prefix_bits(r, family);
	fm_prefix_make(key, family, who->bits, who->prefix);
	recent = fm_recent_of(r, who, &tag);
	if (likely(recent->tag == tag)) {
		who->record = recent->record;
		rte_prefetch0(&r->sources.record[who->record]);
		return;
	}
	who->record = FM_NO_RECORD;
	who->hash = fm_source_hash(r, who);
	rte_prefetch0(fm_source_set(r, who->hash));
}

/* Bit per slot with that tag. */
static inline uint32_t fm_source_match(const struct fm_source_slot set[FM_SOURCE_WAYS], uint32_t tag)
{
	uint32_t match = 0;

#ifdef __SSE2__
	/* Four slots are two registers; the tags of both are one. */
	for (int i = 0; i < FM_SOURCE_WAYS; i += 4) {
		const __m128 low = _mm_load_ps((const float *)&set[i]), high = _mm_load_ps((const float *)&set[i + 2]);
		const __m128i tags = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
		const __m128i same = _mm_cmpeq_epi32(tags, _mm_set1_epi32((int)tag));

		match |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same)) << i;
	}
#else
	for (int i = 0; i < FM_SOURCE_WAYS; i++)
		match |= (uint32_t)(set[i].tag == tag) << i;
#endif
	return match;
}

/* The slots have come: ask for the record. */
static inline void fm_source_ask_record(const struct fm_reass *r, const struct fm_who *who)
{
	const struct fm_source_slot *set, *slot;
	uint32_t match;

	if (who->record != FM_NO_RECORD)
		return;
	set = fm_source_set(r, who->hash);
	match = fm_source_match(set, fm_source_tag(who->hash));
	slot = match != 0 ? &set[__builtin_ctz(match)] : fm_source_victim(r, set);
	rte_prefetch0(&r->sources.record[slot - r->sources.slot]);
}

static inline struct fm_source_slot *fm_source_slot(const struct fm_reass *r, const struct fm_source *s)
{
	return &r->sources.slot[s - r->sources.record];
}

static inline bool fm_source_is(const struct fm_source *s, const struct fm_who *who)
{
	return s->prefix[0] == who->prefix[0] && s->prefix[1] == who->prefix[1] &&
	       s->family == who->family && s->prefix_len == who->bits;
}

/* The record of a source, a new one if it has none. */
static inline struct fm_source *fm_source_find(struct fm_reass *r, struct fm_who *who)
{
	struct fm_source *s;

	if (unlikely(who->record == FM_NO_RECORD))
		return fm_source_look_up(r, who);
	s = &r->sources.record[who->record];
	if (unlikely(!fm_source_is(s, who)))
		return fm_source_look_up(r, who);
	fm_source_slot(r, s)->stamp = ++r->sources.stamp & FM_STAMP_MASK;
	return s;
}

/* Its datagrams complete, and are all of that size: there is little to be learned from another one. */
static inline bool fm_source_steady(const struct fm_source *s, uint32_t mbufs)
{
	return s->second >= FM_STEADY && s->rest >= FM_STEADY && s->size == (float)mbufs;
}

/* A datagram of it has completed, as ever: one in four counts for all of them. False: it is for fm_source_ended(). */
static inline bool fm_source_goes_on(struct fm_source *s, uint32_t mbufs, uint32_t fragments)
{
	if (unlikely(!fm_source_steady(s, mbufs)) || ++s->skipped % FM_STEADY_EACH == 0)
		return false;
	s->delivered += fragments;
	return true;
}

/* --- what each fragment touches --- */

static inline void fm_source_learn_deviation(struct fm_source *s, float gap)
{
	const float off = gap - s->gap;

	if (s->gap > 0)
		s->gap_deviation += ((off < 0 ? -off : off) - s->gap_deviation) * (1.0F / (1 << FM_DEVIATION_SHIFT));
}

/* A datagram of it has got a fragment of `mbufs`. */
static inline void fm_source_hold(const struct fm_reass *r, struct fm_source *s, uint32_t mbufs)
{
	if (unlikely(s->delivered == 0))
		fm_source_slot(r, s)->held = 1;
	s->held_mbufs += mbufs;
}

/* Before its datagram, which has some, gets another fragment of `mbufs`. */
static inline void fm_source_progress(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc)
{
	const uint8_t from = fm_step_of(d->mbufs_held), to = fm_step_of(d->mbufs_held + mbufs);
	struct fm_source *s = fm_source_of(r, d);

	/* It was taken for dead: what it says now is worth more. */
	d->marks &= (uint8_t)~FM_MARK_TAUGHT;
	if (from != to || d->fragments == 1)
		fm_source_step(r, d, s, from, to);
	if (unlikely(s == NULL))
		return;
	fm_source_hold(r, s, mbufs);
	fm_source_learn_deviation(s, (float)(int64_t)fm_elapsed(d->last_seen_tsc, now_tsc));
}

/* It has got a fragment: is anything missing in between? Returns whether that is news. */
static inline bool fm_source_gappy(struct fm_reass *r, struct fm_datagram *d)
{
	const bool gappy = d->bytes_held != d->held_end;

	if (likely(gappy == ((d->marks & FM_MARK_GAPPY) != 0)))
		return false;
	if (gappy)
		return fm_source_holed(r, d);
	d->marks &= (uint8_t)~FM_MARK_GAPPY;
	return true;
}

/* Its datagram has let go of its mbufs, `fragments` of which come to nothing. */
static inline void fm_source_released(struct fm_reass *r, const struct fm_datagram *d, uint32_t fragments)
{
	struct fm_source *s = fm_source_of(r, d);

	if (s == NULL)
		return;
	s->held_mbufs -= d->mbufs_held;
	if (unlikely(s->delivered == 0) && s->held_mbufs == 0)
		fm_source_slot(r, s)->held = 0;
	s->wasted += fragments;
}

#endif
