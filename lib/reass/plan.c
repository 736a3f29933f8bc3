/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is promised already, and who may have what is left.
 *
 * The forecast. Live datagrams are sorted into bins by the mbufs they still want; a bin knows their number, what they
 * hold and what they want, each weighted by the chance of completing. From this the highest need in a newcomer's
 * lifetime is foretold.
 *
 * The pace. Datagrams admitted together also grow together, and memory is half empty and then overfull; admitted one
 * after the other, twice as many fit. So under pressure a datagram costs the memory it takes times the time it takes it
 * (its area), and the budget earns as much as it has to give in that time. What waits to be spent is bounded, so that
 * no crowd is let in.
 *
 * The share. A source that has been admitted more than the mean of those who ask needs more credit to be waiting, one
 * that has been admitted less needs none: then those that are behind find room, and nobody has to keep a list of them.
 */
#include "internal.h"
#include "promise.h"

enum { MEAN_SHIFT = 16 };

#define SLOWEST 4.0F		/* times the gap of all, or more */
#define FASTEST 64.0F

#define SIZE_UNKNOWN 2.0F	/* nothing has completed yet: hope for small ones, rather than refuse what would fit */
#define CREDIT 8.0F		/* datagrams ahead of the mean that close the door as far as it goes */
#define CREDIT_MAX 64.0F	/* nobody is further ahead, or behind */
#define ASKED_SHARE (1.0F / 256)
#define ASKED_SHARE_FEW (1.0F / 32)

#define EASY 0.5F		/* of the budget: foretold need below this is no pressure */
#define OVER 1.1F		/* of the budget: the forecast of many is not to be taken to the letter */
#define RESERVE 0.08F		/* of the budget, for strangers under a flood */

#define PRESSED 0.03F		/* share of those refused, of late, from which on admissions are paced */
#define PRESS_SHARE (1.0F / 64)
#define EARNED 0.92F		/* of the budget: the rest is lost to chance and to those evicted */
#define LOST_SIZE 0.5F		/* of a datagram: of whole ones a little never fits */
#define SAVED 0.05F		/* of the time of a datagram: credit of all memory for so long is kept */
#define SAVED_FEW 1.5F		/* but at least for so many datagrams */
#define DEBT_MAX 4.0F		/* of that: what begins while nothing is paced is paid for too, but not for ever */
#define DEBT_BEHIND 0.4F	/* of that: who is CREDIT behind may have so much that is not there */
#define KEPT_AHEAD 0.7F		/* of that: who is CREDIT ahead leaves so much to others */

#define TRIAL 2.0F		/* datagrams behind the mean */
#define TRIALS_SHARE 16.0F	/* all trials at a time take no more than this part of the budget */
#define DENIED 0.1F		/* share of those refused, of late, among those behind: others have to rest */
#define DENIED_SHARE (1.0F / 32)
#define REST_FROM 12.0F		/* datagrams ahead of the mean, and up to so many more, by lot */
#define REST_SPREAD 16.0F
#define REST_TO 4.0F

void fm_plan_init(struct fm_reass *r)
{
	r->plan.random = fm_siphash13(&r->secret, &(uint64_t){ 0 }, 1) | 1;
}

/* --- what is promised --- */

/* Somebody asks for room. */
struct ask {
	struct fm_source *source;
	float chance;
	float wants;		/* mbufs */
	float speed;		/* at which it grows, in that of all */
	float size;		/* of a datagram, mbufs */
	float budget;		/* mbufs, without what is reserved */
	float need;		/* foretold, mbufs */
	float cost, most;	/* credit: its price, and the most that is kept; mbufs x tsc */
	float ahead;		/* datagrams */
	bool few;		/* there is room for a few datagrams only: each is a lump */
};

/* When so many datagrams that hold so many mbufs now have grown by `growth` each, and the newcomer in its own way. */
static float need_at(int64_t number, int64_t held, float growth, const struct ask *ask)
{
	return ((float)held + (float)number * growth) / FM_WEIGHT_ONE + ask->chance * ask->speed * growth;
}

/*
 * The highest need in the lifetime of a newcomer: when the datagrams of a bin are about to complete, those of the bins
 * below have gone, and the others have grown by as much. What comes after its own completion is none
 * of its business.
 */
static float foretell(struct fm_plan *p, const struct ask *ask)
{
	const float lifetime = ask->wants / ask->speed;
	int64_t number = 0, held = 0;
	float highest = 0;
	bool own = false;

	for (uint64_t bins = p->used; bins != 0;) {
		const int bin = 63 - __builtin_clzll(bins);
		float each;

		bins &= ~(1ULL << bin);
		if (p->bin[bin].count == 0) {
			p->used &= ~(1ULL << bin);
			continue;
		}
		each = (float)p->bin[bin].wanted / (float)p->bin[bin].count;
		if (each <= lifetime && !own) {
			highest = need_at(number, held, lifetime, ask);
			own = true;
		}
		number += p->bin[bin].count;
		held += p->bin[bin].held;
		if (own)
			highest = fm_maxf(highest, need_at(number, held, each, ask));
	}
	return own ? highest : need_at(number, held, lifetime, ask);
}

/* --- who may begin --- */

static float mean_size(const struct fm_reass *r)
{
	return r->sources.size > 0 ? fm_maxf(r->sources.size, 2) : SIZE_UNKNOWN;
}

float fm_plan_random(struct fm_reass *r)
{
	struct fm_plan *p = &r->plan;

	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (float)(p->random >> 40) * (1.0F / (1 << 24));
}

/* The time between fragments, in that of all. */
static float slowness(const struct fm_reass *r, const struct fm_source *s)
{
	if (s->gap == 0)
		return 1;
	return fm_minf(SLOWEST, fm_maxf(1.0F / FASTEST, s->gap / (r->sources.gap + 1)));
}

/* Memory times time that a datagram takes which comes to hold so many, in mbufs x tsc. */
static float area_of(const struct fm_reass *r, const struct fm_source *s, float mbufs)
{
	return mbufs * (mbufs + 1) / 2 * slowness(r, s) * (r->sources.gap + 1);
}

static void press(struct fm_plan *p, float refused, float chance)
{
	p->pressed += (refused - p->pressed) * PRESS_SHARE * chance;
	p->pressing = p->pressed >= PRESSED;
}

uint32_t fm_plan_mean(const struct fm_reass *r)
{
	return (uint32_t)(r->plan.mean_service >> MEAN_SHIFT);
}

static int32_t ahead_of_mean(const struct fm_reass *r, const struct fm_source *s)
{
	return (int32_t)(s->service - fm_plan_mean(r));
}

float fm_plan_ahead(const struct fm_reass *r, const struct fm_datagram *d)
{
	const struct fm_source *s = fm_source_of(r, d);
	const float ahead = s == NULL ? 0 : (float)ahead_of_mean(r, s) / (CREDIT * mean_size(r));

	return fm_maxf(-1, fm_minf(1, ahead));
}

static void earn(struct fm_reass *r, const struct ask *ask, uint64_t now_tsc)
{
	struct fm_plan *p = &r->plan;
	const float budget = fm_maxf(ask->budget / 2, ask->budget - LOST_SIZE * ask->size);

	p->credit = fm_minf(ask->most, p->credit + budget * EARNED * (float)fm_elapsed(p->earned_tsc, now_tsc));
	p->earned_tsc = now_tsc;
}

static void spend(struct fm_plan *p, const struct ask *ask)
{
	p->credit = fm_maxf(-DEBT_MAX * ask->most, p->credit - ask->cost);
}

/* How much credit has to be waiting, in parts of the most there can be. */
static float least_credit(const struct ask *ask)
{
	const float least = fm_minf(1, ask->cost / ask->most);

	if (ask->ahead < 0)
		return least + (least + DEBT_BEHIND) * ask->ahead / CREDIT;
	return least + fm_maxf(0, KEPT_AHEAD - least) * fm_minf(1, ask->ahead / CREDIT);
}

/*
 * Where a few datagrams make the memory full, whose turn it is follows from the rhythm in which they come, and the same
 * ones win for ever. So who is far ahead rests until others have caught up: for many datagrams, as each change of turns
 * costs room; and from a point that is drawn by lot, lest all rest together.
 */
static bool rests(struct fm_reass *r, const struct ask *ask)
{
	if (!ask->few || r->plan.denied < DENIED)
		return false;
	if (ask->ahead > REST_FROM + REST_SPREAD * fm_plan_random(r))
		ask->source->resting = 1;
	else if (ask->ahead <= REST_TO)
		ask->source->resting = 0;
	return ask->source->resting;
}

/* It fits, but is it its turn? */
static bool paced(struct fm_reass *r, const struct ask *ask)
{
	if (ask->need <= ask->budget * EASY || r->plan.pressed < PRESSED)
		return true;
	return r->plan.credit >= ask->most * least_credit(ask) && !rests(r, ask);
}

static bool accepts(struct fm_reass *r, const struct ask *ask, uint64_t now_tsc, enum fm_outcome *why)
{
	struct fm_plan *p = &r->plan;
	bool yes;

	earn(r, ask, now_tsc);
	if (ask->need > ask->budget * (ask->few ? 1 : OVER)) {
		*why = FM_REFUSED_BUDGET;
		yes = false;
		/* Or a crowd would be let in when there is room again. */
		p->credit = fm_minf(p->credit, ask->cost);
	} else {
		*why = ask->ahead > 0 ? FM_REFUSED_SHARE : FM_REFUSED_BUDGET;
		yes = paced(r, ask);
	}
	if (ask->ahead < 0)
		p->denied += ((yes ? 0 : 1) - p->denied) * DENIED_SHARE;
	press(p, yes ? 0 : 1, ask->chance);
	if (yes)
		spend(p, ask);
	return yes;
}

/* Neither the idle nor those who had all for themselves stay far from the others. */
static void limit_service(const struct fm_reass *r, struct fm_source *s)
{
	const int32_t limit = (int32_t)(CREDIT_MAX * mean_size(r)), ahead = ahead_of_mean(r, s);

	if (ahead < -limit)
		s->service = fm_plan_mean(r) - (uint32_t)limit;
	else if (ahead > limit)
		s->service = fm_plan_mean(r) + (uint32_t)limit;
}

/* Of fewer datagrams at a time fewer sources ask: the mean of so many must follow all the faster. */
static void learn_mean(struct fm_reass *r, const struct fm_source *s, float chance)
{
	const float few = mean_size(r) / (3 * (float)r->settings.budget_mbufs);
	const float share = fm_maxf(ASKED_SHARE, fm_minf(ASKED_SHARE_FEW, few));

	r->plan.mean_service += (uint64_t)(int64_t)((float)ahead_of_mean(r, s) * chance * share * (1 << MEAN_SHIFT));
}

static void make_ask(struct fm_reass *r, struct fm_source *s, float chance, uint32_t mbufs, struct ask *ask)
{
	const float size = mean_size(r), budget = (float)r->settings.budget_mbufs;

	*ask = (struct ask){
		.source = s,
		.chance = chance,
		.wants = fm_minf((float)mbufs - 1, budget),
		.speed = 1 / slowness(r, s),
		.size = size,
		/* Strangers under a flood need a little room to show what they are. */
		.budget = budget * (1 - RESERVE * fm_minf(1, 4 * r->plan.doubtful)),
		.ahead = (float)ahead_of_mean(r, s) / size,
		.few = budget * SAVED < SAVED_FEW * size / 2,
	};
	ask->need = foretell(&r->plan, ask);
	ask->cost = chance * area_of(r, s, ask->wants);
	ask->most = fm_maxf(ask->budget * size * SAVED, SAVED_FEW * size * size / 2) * (r->sources.gap + 1);
}

bool fm_plan_accepts(struct fm_reass *r, struct fm_source *s, float chance, uint32_t mbufs, uint64_t now_tsc,
		     enum fm_outcome *why)
{
	struct fm_plan *p = &r->plan;
	struct ask ask;
	const bool doubtful = chance < fm_unlikely(r);

	p->doubtful += ((doubtful ? 1.0F : 0.0F) - p->doubtful) * PRESS_SHARE;
	/* Less likely ones take what nobody else wants. */
	if (doubtful)
		return true;
	learn_mean(r, s, chance);
	limit_service(r, s);
	/* Who sent large ones may send a small one: what nobody holds may be tried by anybody. */
	if (r->stats.held_mbufs == 0)
		return true;
	make_ask(r, s, chance, mbufs, &ask);
	return accepts(r, &ask, now_tsc, why);
}

void fm_plan_no_room(struct fm_reass *r, float chance)
{
	press(&r->plan, 1, chance);
}

bool fm_trial_allowed(const struct fm_reass *r)
{
	return (float)r->sources.trials * mean_size(r) * TRIALS_SHARE <= (float)r->settings.budget_mbufs;
}

void fm_plan_charge(struct fm_reass *r, struct fm_source *s, uint32_t mbufs)
{
	/* Memory is taken for a time: who is done at once takes next to none of it. */
	s->service += (uint32_t)fm_maxf(1, (float)mbufs * slowness(r, s));
}

bool fm_plan_trial(const struct fm_reass *r, const struct fm_source *s)
{
	const int32_t ahead = ahead_of_mean(r, s);

	return ahead < 0 && s->held_mbufs == 0 && fm_source_known(s) && (float)ahead < -TRIAL * mean_size(r) &&
	       fm_trial_allowed(r);
}

void fm_plan_refund(struct fm_reass *r, const struct fm_datagram *d)
{
	struct fm_source *s = fm_source_of(r, d);
	float unused;

	if (s == NULL || d->bin == FM_NO_BIN || !(d->marks & FM_MARK_CHARGED))
		return;
	unused = area_of(r, s, (float)(d->mbufs_held + fm_plan_wanted(d))) - area_of(r, s, d->mbufs_held);
	r->plan.credit += (float)d->weight / FM_WEIGHT_ONE * unused;
	s->service -= (uint32_t)((float)fm_plan_wanted(d) * slowness(r, s));
}
