/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources: who sends, and what became of it.
 *
 * A bounded table of records, eight to a set, the set chosen by the keyed hash of the address prefix. Nobody can crowd
 * a chosen victim's set, and a flood of new sources displaces new sources: a record that has seen datagrams complete is
 * given up last.
 */
#include <math.h>
#include <string.h>

#include "internal.h"
#include "source.h"

enum {
	SOURCES_MIN = 256,
	OUTCOMES_MAX = 15,
	STRANGERS_SHIFT = 6,	/* in what is known of strangers: 1/64 */
	GAP_SHIFT = 2,		/* a datagram's, in its source's gap */
	SIZE_SHIFT = 2,
	SIZES_SHIFT = 5,	/* in the size of all */
	SIZE_HOPED = 2,		/* mbufs, as long as nothing is known */
};

#define EXPLORE (1.0F / 16)	/* of those with a hole, to see whether it gets filled */
#define CHANCE_MIN 0.002F	/* no stranger is hopeless */
#define HEADLESS_MIN 0.02F	/* nor is who sends the last fragment first */

uint32_t fm_source_sets(uint32_t datagrams)
{
	return RTE_MAX((uint32_t)SOURCES_MIN, datagrams) / FM_SOURCE_WAYS;
}

static void learn(float *mean, float value, float share)
{
	*mean += (value - *mean) * share;
}

/* --- strangers --- */

/* Steps from `step` down have changed. */
static void update_reach(struct fm_sources *s, int step)
{
	for (; step >= 0; step--)
		s->reach[step] = s->go_on[step] * s->reach[step + 1];
}

/* Before anything is known: most datagrams complete, and half of the timeout is a long silence. */
void fm_sources_init(struct fm_reass *r)
{
	struct fm_sources *s = &r->sources;

	r->sources.record[0].check = 1;
	s->size_mbufs = SIZE_HOPED;
	s->headless = 0.5F;
	s->typical = 1;
	s->gappy = 0.9F;
	s->gap_deviation = (float)r->settings.timeout_tsc[FM_IPV4] / (2 * 16);
	for (int i = 0; i < FM_STEPS; i++)
		s->go_on[i] = i == 1 ? 0.9F : 1;
	s->reach[FM_STEPS] = 1;
	update_reach(s, FM_STEPS - 1);
}

static void strangers_got_to(struct fm_sources *s, uint8_t from, uint8_t to, float share)
{
	for (uint8_t step = from; step < to; step++)
		learn(&s->go_on[step], 1, share);
	update_reach(s, to - 1);
}

/* --- records --- */

void fm_prefix_cut(uint64_t prefix[2], unsigned int bits)
{
	const unsigned int whole = bits / 8;
	uint8_t *byte = (uint8_t *)prefix;

	if (whole >= 16)
		return;
	byte[whole] &= (uint8_t)(0xff00 >> bits % 8);
	memset(byte + whole + 1, 0, 15 - whole);
}

/*
 * Of a set's records the one to give up: a free one, then one that never delivered and holds nothing, then one that
 * never delivered; of each kind the one unused for longest.
 */
static bool gives_up_before(const struct fm_reass *r, const struct fm_source_slot *a, const struct fm_source_slot *b)
{
	if (a->tag == 0 || b->tag == 0)
		return a->tag == 0;
	if (a->delivered != b->delivered)
		return b->delivered;
	if (a->held != b->held && !a->delivered)
		return b->held;
	return ((r->sources.stamp - a->stamp) & FM_STAMP_MASK) > ((r->sources.stamp - b->stamp) & FM_STAMP_MASK);
}

const struct fm_source_slot *fm_source_victim(const struct fm_reass *r, const struct fm_source_slot *set)
{
	const struct fm_source_slot *victim = set;

	for (int i = 1; i < FM_SOURCE_WAYS; i++)
		if (gives_up_before(r, &set[i], victim))
			victim = &set[i];
	return victim;
}

static struct fm_source *replace(struct fm_reass *r, struct fm_source_slot *set, const struct fm_who *who)
{
	struct fm_source_slot *victim = &set[fm_source_victim(r, set) - set];
	struct fm_source *s;
	uint16_t check;

	*victim = (struct fm_source_slot){ .tag = fm_source_tag(who->hash), .stamp = r->sources.stamp & FM_STAMP_MASK };
	s = &r->sources.record[victim - r->sources.slot];
	check = s->check;
	*s = (struct fm_source){
		.prefix = { who->prefix[0], who->prefix[1] },
		.family = who->family & 15,
		/* 0 is that of datagrams that have no source yet. */
		.check = check == UINT16_MAX ? 1 : check + 1,
		.prefix_len = who->bits,
		/* It starts like others, neither with a debt nor with a claim. */
		.service = fm_plan_mean(r),
	};
	return s;
}

const struct fm_source *fm_source_peek(const struct fm_reass *r, const struct fm_key *key, enum fm_family_index family)
{
	struct fm_who who = {
		.family = family == FM_IPV4 ? 4 : 6,
		.bits = (uint8_t)fm_prefix_bits(r, family),
	};
	const struct fm_source_slot *set;

	fm_prefix_make(key, family, who.bits, who.prefix);
	who.hash = fm_source_hash(r, &who);
	set = fm_source_set(r, who.hash);
	for (int i = 0; i < FM_SOURCE_WAYS; i++) {
		const struct fm_source *s = &r->sources.record[&set[i] - r->sources.slot];

		if (set[i].tag == fm_source_tag(who.hash) && fm_source_is(s, &who))
			return s;
	}
	return NULL;
}

static struct fm_source *look_up(struct fm_reass *r, const struct fm_who *who)
{
	struct fm_source_slot *set = fm_source_set(r, who->hash);

	for (uint32_t match = fm_source_match(set, fm_source_tag(who->hash)); match != 0; match &= match - 1) {
		struct fm_source_slot *slot = &set[__builtin_ctz(match)];
		struct fm_source *s = &r->sources.record[slot - r->sources.slot];

		if (likely(fm_source_is(s, who))) {
			slot->stamp = r->sources.stamp & FM_STAMP_MASK;
			return s;
		}
	}
	return replace(r, set, who);
}

struct fm_source *fm_source_look_up(struct fm_reass *r, struct fm_who *who)
{
	struct fm_recent *recent;
	struct fm_source *s;
	uint32_t tag;

	r->sources.stamp++;
	if (who->record != FM_NO_RECORD)
		who->hash = fm_source_hash(r, who);
	s = look_up(r, who);
	recent = fm_recent_of(r, who, &tag);
	*recent = (struct fm_recent){ .tag = tag, .record = (uint32_t)(s - r->sources.record) };
	return s;
}

/* --- what is learned --- */

/* `value`: 1, it came; else what is left of the chance that it would have. */
static uint16_t learn_chance(uint16_t chance, uint8_t outcomes, float value)
{
	/* 1 / (outcomes + 2), but 1 / 16 at the least. */
	static const float share[OUTCOMES_MAX + 1] = {
		1.0F / 2, 1.0F / 3, 1.0F / 4, 1.0F / 5, 1.0F / 6, 1.0F / 7, 1.0F / 8, 1.0F / 9, 1.0F / 10,
		1.0F / 11, 1.0F / 12, 1.0F / 13, 1.0F / 14, 1.0F / 15, 1.0F / 16, 1.0F / 16,
	};
	const float now = (float)chance;

	return (uint16_t)(now + (value * FM_CHANCE_ONE - now) * share[outcomes]);
}

/* A record that knows nothing begins with what is known of strangers. */
static void learn_second(const struct fm_reass *r, struct fm_source *s, bool comes, float alive)
{
	if (s->begun == 0)
		s->second = (uint16_t)(r->sources.go_on[1] * FM_CHANCE_ONE);
	s->second = learn_chance(s->second, s->begun, comes ? 1 : alive * (float)s->second / FM_CHANCE_ONE);
	s->begun += s->begun < OUTCOMES_MAX;
}

static void learn_rest(const struct fm_reass *r, struct fm_source *s, bool completes, float alive)
{
	if (s->grown == 0)
		s->rest = (uint16_t)(r->sources.reach[2] * FM_CHANCE_ONE);
	s->rest = learn_chance(s->rest, s->grown, completes ? 1 : alive * (float)s->rest / FM_CHANCE_ONE);
	s->grown += s->grown < OUTCOMES_MAX;
}

/*
 * Gaps are learned from datagrams that complete, and from nothing else: what a flood does is no rhythm. A source's gap
 * is the mean over a whole datagram; its deviation follows each fragment (source.h).
 */
static void learn_gap(struct fm_reass *r, struct fm_source *s, uint32_t fragments, uint64_t took_tsc, float share)
{
	const float all = (float)(int64_t)took_tsc;
	const float mean = 1 + (fragments == 2 ? all : all / (float)(fragments - 1));

	if (r->sources.gap == 0) {
		r->sources.gap = mean;
		r->sources.gap_deviation = mean;
	}
	learn(&r->sources.gap, mean, share);
	if (s == NULL)
		return;
	if (s->gap == 0) {
		s->gap = mean;
		s->gap_deviation = fm_maxf(mean, r->sources.gap_deviation);
	}
	learn(&s->gap, mean, 1.0F / (1 << GAP_SHIFT));
	learn(&r->sources.gap_deviation, s->gap_deviation + fabsf(s->gap - r->sources.gap), share);
}

void fm_source_step(struct fm_reass *r, const struct fm_datagram *d, struct fm_source *s, uint8_t from, uint8_t to)
{
	if (from != to && (d->marks & FM_MARK_STRANGER))
		strangers_got_to(&r->sources, from, to, 1.0F / (1 << STRANGERS_SHIFT));
	if (s != NULL && d->fragments == 1)
		learn_second(r, s, true, 1);
}

bool fm_source_holed(struct fm_reass *r, struct fm_datagram *d)
{
	d->marks |= FM_MARK_GAPPY;
	if (d->marks & FM_MARK_HOLED)
		return true;
	d->marks |= FM_MARK_HOLED;
	if (fm_trial_allowed(r) && fm_plan_random(r) < EXPLORE)
		fm_mark_trial(r, d);
	return true;
}

/* What a datagram that completes says about its source, and about all; `taught`: it was taken for dead before. */
static void completed(struct fm_reass *r, struct fm_source *s, uint32_t mbufs, uint32_t fragments, uint64_t took_tsc,
		      bool taught, float times)
{
	struct fm_sources *all = &r->sources;
	float share;

	/* Weighted by itself: who takes most of the memory counts most. */
	if (unlikely(all->size == 0))
		all->size = (float)mbufs;
	share = (float)mbufs < all->size ? (float)mbufs / all->size : 1;
	share *= times / (1 << SIZES_SHIFT);
	learn(&all->size, (float)mbufs, share);
	all->size_mbufs = (uint32_t)(all->size + 0.5F);
	if (fragments > 1)
		learn_gap(r, s, fragments, took_tsc, share);
	if (s == NULL)
		return;
	learn(&all->typical, fm_chance_new(r, s, false), times / (1 << STRANGERS_SHIFT));
	if (unlikely(s->size == 0)) {
		learn(&all->first_size, (float)mbufs, all->first_size == 0 ? 1 : 1.0F / (1 << SIZE_SHIFT));
		s->size = (float)mbufs;
	}
	learn(&s->size, (float)mbufs, 1.0F / (1 << SIZE_SHIFT));
	if (unlikely(s->delivered == 0))
		fm_source_slot(r, s)->delivered = 1;
	s->delivered += fragments;
	if (!taught)
		learn_rest(r, s, true, 1);
}

void fm_source_completed(struct fm_reass *r, struct fm_datagram *d, uint64_t now_tsc)
{
	const float share = 1.0F / (1 << STRANGERS_SHIFT);
	const uint8_t step = fm_step_of(d->mbufs_held);
	const bool taught = d->marks & FM_MARK_TAUGHT;

	completed(r, fm_source_of(r, d), d->mbufs_held, d->fragments, fm_elapsed(d->first_seen_tsc, now_tsc), taught,
		  1);
	if (unlikely(d->marks & (FM_MARK_HOLED | FM_MARK_HEADLESS | FM_MARK_STRANGER)) && !taught) {
		if (d->marks & FM_MARK_HOLED)
			learn(&r->sources.gappy, 1, share);
		if (d->marks & FM_MARK_HEADLESS)
			learn(&r->sources.headless, 1, share);
		if (d->marks & FM_MARK_STRANGER)
			strangers_got_to(&r->sources, step, step + 1, share);
	}
	d->marks |= FM_MARK_TAUGHT;
}

void fm_source_enrolled(struct fm_reass *r, struct fm_datagram *d, struct fm_source *s)
{
	if (d->fragments > 1) {
		if (d->marks & FM_MARK_STRANGER)
			strangers_got_to(&r->sources, 1, fm_step_of(d->mbufs_held), 1.0F / (1 << STRANGERS_SHIFT));
		learn_second(r, s, true, 1);
	}
	fm_source_hold(r, s, d->mbufs_held);
}

void fm_source_ended(struct fm_reass *r, struct fm_source *s, const struct fm_end *end)
{
	const bool steady = fm_source_steady(s, end->mbufs);
	const float share = 1.0F / (1 << STRANGERS_SHIFT);

	if (unlikely(!fm_source_known(s)))
		strangers_got_to(&r->sources, 1, fm_step_of(end->mbufs) + 1, share);
	if (unlikely(end->marks & FM_MARK_HOLED))
		learn(&r->sources.gappy, 1, share);
	if (unlikely(end->marks & FM_MARK_HEADLESS))
		learn(&r->sources.headless, 1, share);
	learn_second(r, s, true, 1);
	fm_source_learn_deviation(s, (float)(int64_t)end->gap_tsc);
	completed(r, s, end->mbufs, end->fragments, end->took_tsc, false, steady ? FM_STEADY_EACH : 1);
}

void fm_source_failed(struct fm_reass *r, struct fm_datagram *d, float alive)
{
	const float share = 1.0F / (1 << STRANGERS_SHIFT);
	const uint8_t step = fm_step_of(d->mbufs_held);
	struct fm_source *s = fm_source_of(r, d);

	if (d->marks & FM_MARK_TAUGHT)
		return;
	d->marks |= FM_MARK_TAUGHT;
	/* A hole is to blame as far as it would have completed without one. */
	if (d->marks & FM_MARK_HOLED)
		learn(&r->sources.gappy, fm_maxf(CHANCE_MIN, r->sources.gappy * alive), share * fm_chance_of(r, s));
	if (d->marks & FM_MARK_HEADLESS) {
		/* Its head may have been refused, which is no fault of its source. */
		learn(&r->sources.headless, fm_maxf(HEADLESS_MIN, r->sources.headless * alive), share);
		return;
	}
	if (d->marks & FM_MARK_STRANGER) {
		learn(&r->sources.go_on[step], fm_maxf(CHANCE_MIN, r->sources.go_on[step] * alive), share);
		update_reach(&r->sources, step);
	}
	if (s != NULL && d->fragments <= 1)
		learn_second(r, s, false, alive);
	else if (s != NULL)
		learn_rest(r, s, false, alive);
}
