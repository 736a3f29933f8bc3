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

enum {
	SOURCES_MIN = 256,
	STAMP_MASK = (1 << 30) - 1,
	OUTCOMES_MAX = 15,
	RATE_SHIFT = 4,		/* an outcome's weight in a rate: 1/16, more while there are few */
	STRANGERS_SHIFT = 6,	/* in what is known of strangers: 1/64 */
	GAP_SHIFT = 2,		/* a datagram's, in its source's gap */
	DEVIATION_SHIFT = 4,	/* a fragment's, in the deviation from that */
	SIZE_SHIFT = 2,
	SIZES_SHIFT = 5,	/* in the size of all */
};

#define EXPLORE (1.0F / 16)	/* of those with a hole, to see whether it gets filled */
#define CHANCE_MIN 0.002F	/* no stranger is hopeless */
#define HEADLESS_MIN 0.02F	/* nor is who sends the last fragment first */

uint32_t fm_sources_count(uint32_t datagrams)
{
	uint32_t n = SOURCES_MIN;

	while (n < 2 * datagrams)
		n *= 2;
	return n;
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

static void make_prefix(const struct fm_frag *frag, unsigned int bits, uint8_t prefix[16])
{
	const bool ipv4 = frag->family == 4;
	const unsigned int whole = bits / 8;

	memset(prefix, 0, 16);
	memcpy(prefix, &frag->key.word[ipv4 ? 1 : 2], ipv4 ? 4 : 16);
	if (whole >= 16)
		return;
	prefix[whole] &= (uint8_t)(0xff00 >> bits % 8);
	memset(prefix + whole + 1, 0, 15 - whole);
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
	return ((r->sources.stamp - a->stamp) & STAMP_MASK) > ((r->sources.stamp - b->stamp) & STAMP_MASK);
}

static struct fm_source *replace(struct fm_reass *r, struct fm_source_slot *set, uint32_t tag, uint8_t family,
				 const uint8_t prefix[16], unsigned int bits)
{
	struct fm_source_slot *victim = set;
	struct fm_source *s;
	uint16_t check;

	for (int i = 1; i < FM_SOURCE_WAYS; i++)
		if (gives_up_before(r, &set[i], victim))
			victim = &set[i];
	*victim = (struct fm_source_slot){ .tag = tag, .stamp = r->sources.stamp & STAMP_MASK };
	s = &r->sources.record[victim - r->sources.slot];
	check = s->check;
	*s = (struct fm_source){
		.family = family & 15,
		.check = (uint16_t)(check + 1),
		.prefix_len = (uint8_t)bits,
		/* It starts like others, neither with a debt nor with a claim. */
		.service = fm_plan_mean(r),
	};
	memcpy(s->prefix, prefix, 16);
	return s;
}

struct fm_source *fm_source_find(struct fm_reass *r, const struct fm_frag *frag)
{
	const unsigned int bits = fm_prefix_bits(r, frag->family == 4 ? FM_IPV4 : FM_IPV6);
	struct fm_source_slot *set;
	uint64_t word[3], hash;
	uint8_t prefix[16];
	uint32_t tag;

	make_prefix(frag, bits, prefix);
	memcpy(word, prefix, 16);
	/* With the length: records of another length are found no more. */
	word[2] = frag->family | bits << 8;
	hash = fm_siphash13(&r->secret, word, 3);
	set = &r->sources.slot[(size_t)(hash & r->sources.set_mask) * FM_SOURCE_WAYS];
	tag = (uint32_t)(hash >> 32) | 1;
	r->sources.stamp++;
	for (int i = 0; i < FM_SOURCE_WAYS; i++) {
		struct fm_source *s = &r->sources.record[&set[i] - r->sources.slot];

		if (set[i].tag != tag || s->family != frag->family || memcmp(s->prefix, prefix, 16) != 0)
			continue;
		set[i].stamp = r->sources.stamp & STAMP_MASK;
		return s;
	}
	return replace(r, set, tag, frag->family, prefix, bits);
}

static struct fm_source_slot *slot_of(const struct fm_reass *r, const struct fm_source *s)
{
	return &r->sources.slot[s - r->sources.record];
}

/* --- what is learned --- */

/* `value`: 1, it came; else what is left of the chance that it would have. */
static uint16_t learn_chance(uint16_t chance, uint8_t outcomes, float value)
{
	const float few = 1.0F / (float)(outcomes + 2), now = (float)chance;

	return (uint16_t)(now + (value * FM_CHANCE_ONE - now) * fm_maxf(few, 1.0F / (1 << RATE_SHIFT)));
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
 * is the mean over a whole datagram; its deviation follows each fragment.
 */
static void learn_deviation(struct fm_source *s, float gap)
{
	if (s->gap > 0)
		learn(&s->gap_deviation, fabsf(gap - s->gap), 1.0F / (1 << DEVIATION_SHIFT));
}

static void learn_gap(struct fm_reass *r, struct fm_source *s, const struct fm_datagram *d, uint64_t now_tsc)
{
	const float mean = 1 + (float)fm_elapsed(d->first_seen_tsc, now_tsc) / (float)(d->fragments - 1);
	const float share = fm_minf(1, (float)d->mbufs_held / r->sources.size) / (1 << SIZES_SHIFT);

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

void fm_source_progress(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc)
{
	const uint8_t from = fm_step_of(d->mbufs_held), to = fm_step_of(d->mbufs_held + mbufs);
	struct fm_source *s = fm_source_of(r, d);

	if (s != NULL && s->held_mbufs == 0 && s->delivered == 0)
		slot_of(r, s)->held = 1;
	if (s != NULL)
		s->held_mbufs += mbufs;
	if (d->fragments == 0)
		return;
	if (s != NULL)
		learn_deviation(s, (float)fm_elapsed(d->last_seen_tsc, now_tsc));
	/* It was taken for dead: what it says now is worth more. */
	d->marks &= (uint8_t)~FM_MARK_TAUGHT;
	if (from != to && (d->marks & FM_MARK_STRANGER))
		strangers_got_to(&r->sources, from, to, 1.0F / (1 << STRANGERS_SHIFT));
	if (s != NULL && d->fragments == 1)
		learn_second(r, s, true, 1);
}

void fm_source_gappy(struct fm_reass *r, struct fm_datagram *d, bool gappy)
{
	if (!gappy) {
		d->marks &= (uint8_t)~FM_MARK_GAPPY;
		return;
	}
	d->marks |= FM_MARK_GAPPY;
	if (d->marks & FM_MARK_HOLED)
		return;
	d->marks |= FM_MARK_HOLED;
	if (fm_trial_allowed(r) && fm_plan_random(r) < EXPLORE)
		fm_mark_trial(r, d);
}

void fm_source_completed(struct fm_reass *r, struct fm_datagram *d, uint64_t now_tsc)
{
	const uint32_t mbufs = d->mbufs_held;
	const uint8_t step = fm_step_of(d->mbufs_held);
	struct fm_source *s = fm_source_of(r, d);

	/* Weighted by itself: who takes most of the memory counts most. */
	if (r->sources.size == 0)
		r->sources.size = (float)mbufs;
	learn(&r->sources.size, (float)mbufs, fm_minf(1, (float)mbufs / r->sources.size) / (1 << SIZES_SHIFT));
	if (d->fragments > 1)
		learn_gap(r, s, d, now_tsc);
	if (!(d->marks & FM_MARK_TAUGHT)) {
		if (d->marks & FM_MARK_HOLED)
			learn(&r->sources.gappy, 1, 1.0F / (1 << STRANGERS_SHIFT));
		if (d->marks & FM_MARK_HEADLESS)
			learn(&r->sources.headless, 1, 1.0F / (1 << STRANGERS_SHIFT));
		if (d->marks & FM_MARK_STRANGER)
			strangers_got_to(&r->sources, step, step + 1, 1.0F / (1 << STRANGERS_SHIFT));
	}
	if (s == NULL)
		return;
	learn(&r->sources.typical, fm_chance_new(r, s, false), 1.0F / (1 << STRANGERS_SHIFT));
	if (s->size == 0)
		learn(&r->sources.first_size, (float)mbufs, r->sources.first_size == 0 ? 1 : 1.0F / (1 << SIZE_SHIFT));
	learn(&s->size, (float)mbufs, s->size == 0 ? 1 : 1.0F / (1 << SIZE_SHIFT));
	if (s->delivered == 0)
		slot_of(r, s)->delivered = 1;
	s->delivered += d->fragments;
	if (d->marks & FM_MARK_TAUGHT)
		return;
	learn_rest(r, s, true, 1);
	d->marks |= FM_MARK_TAUGHT;
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

void fm_source_released(struct fm_reass *r, const struct fm_datagram *d, uint32_t fragments)
{
	struct fm_source *s = fm_source_of(r, d);

	if (s == NULL)
		return;
	s->held_mbufs -= d->mbufs_held;
	if (s->held_mbufs == 0 && s->delivered == 0)
		slot_of(r, s)->held = 0;
	s->wasted += fragments;
}
