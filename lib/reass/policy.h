/* SPDX-License-Identifier: BSD-3-Clause */
/* The pressure policy: what it remembers, and what its files ask of each other. */
#ifndef FM_POLICY_H
#define FM_POLICY_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "fm_reass.h"

struct fm_datagram;
struct fm_frag;
struct fm_key;
struct fm_who;

enum {
	FM_STEPS = 17,			/* progress classes: bit width of the mbufs held, up to 65,535 */
	FM_BINS = 64,			/* of the plan, by mbufs wanted */
	FM_NO_BIN = FM_BINS,
	FM_WEIGHT_ONE = 255,
	FM_CHANCE_ONE = 65535,
	FM_CONDEMNED_WAYS = 4,
	FM_SOURCE_WAYS = 8,
};

/*
 * Activity lists: live datagrams in order of the last fragment, by progress, those unlikely to complete apart from the
 * others. Those whose fragments are much further apart than others' have a list of their own: at the head of another,
 * idle but alive, they would hide who is dead behind them. Who is moved because of its silence joins the end: the cold
 * ones are in the order in which they were found cold.
 */
enum {
	FM_LIST_UNLIKELY = 0,			/* + step */
	FM_LIST_LIKELY = FM_STEPS,		/* + step */
	FM_LIST_SLOW = 2 * FM_STEPS,
	FM_WARM_LISTS,
	FM_LIST_COLD = FM_WARM_LISTS,
	FM_LISTS,
	FM_LIST_YOUNG = FM_LISTS,		/* in none of them: young.h */
};

enum fm_mark {
	FM_MARK_TAUGHT = 1,	/* what became of it has been learned, or is not to be */
	FM_MARK_STRANGER = 2,	/* nothing was known of its source when it began */
	FM_MARK_HEADLESS = 4,	/* its first fragment did not come first */
	FM_MARK_GAPPY = 8,	/* something is missing between what it holds */
	FM_MARK_HOLED = 16,	/* it has been */
	FM_MARK_TRIAL = 32,	/* taken for likely, whatever is known of its source */
	FM_MARK_CHARGED = 64,	/* its source has been charged for what was expected of it */
};

/* A datagram of which nothing will be stored. */
enum fm_doom {
	FM_DOOM_NONE,		/* the slot is free */
	FM_DOOM_UNLIKELY,	/* refused or evicted, and unlikely to have completed */
	FM_DOOM_PRESSURE,	/* refused or evicted */
	FM_DOOM_FAULTY,		/* overlapping, contradicting, in too many pieces */
};

/*
 * 63                                      24 23               2 1    0
 * +-----------------------------------------+------------------+------+
 * | hash of the key: its lower bits         | until, in units  | doom |
 * +-----------------------------------------+------------------+------+
 * A unit is 1/2^20 of the longer timeout, or a tick where that is longer. The set is chosen by the upper bits.
 */
struct fm_condemned {
	uint64_t word;
};
#define FM_DOOM_MASK UINT64_C(3)
#define FM_CONDEMNED_UNTIL_SHIFT 2
#define FM_CONDEMNED_HASH_SHIFT 24

/* Who sends, and what became of it. */
struct fm_source {
	uint64_t prefix[2];	/* bytes as they lie in memory */
	uint16_t check;		/* changes with each owner of the record */
	uint8_t family : 4;	/* 4 or 6; 0: the record is free */
	uint8_t resting : 1;	/* it is far ahead of others and waits for them */
	uint8_t begun : 4, grown : 4; /* outcomes seen by `second` and `rest`, saturated */
	uint8_t prefix_len;	/* bits of `prefix`, when the record was made */
	uint8_t skipped;	/* datagrams of which nothing was learned, modulo 256 */
	uint8_t unused[2];
	uint16_t second;	/* chance that a second fragment comes, in FM_CHANCE_ONEths */
	uint16_t rest;		/* that a datagram with a second fragment completes */
	float size;		/* mbufs of a datagram that completes; 0: none has */
	float gap, gap_deviation; /* tsc between its fragments, and 1; 0: not known */
	uint32_t service;	/* admitted, mbufs at the mean gap, modulo 2^32: only the distance to the mean counts */
	uint32_t held_mbufs;
	uint64_t delivered, wasted; /* fragments */
};
static_assert(sizeof(struct fm_source) == 64, "a source is a cache line");

/* What finding a source, or a record for it, has to look at. */
struct fm_source_slot {
	uint32_t tag;		/* part of its hash; 0: the record is free */
	uint32_t stamp : 30;	/* when it was last asked for, counted in such events */
	uint32_t held : 1;	/* it holds mbufs; not kept up to date once it has delivered */
	uint32_t delivered : 1;	/* a datagram of it has completed */
};
static_assert(sizeof(struct fm_source_slot) * FM_SOURCE_WAYS == 64, "a set's slots are a cache line");

enum { FM_RECENT_BITS = 10 };

/* Where the record of a source was found last. */
struct fm_recent {
	uint32_t tag;		/* 0: nothing */
	uint32_t record;
};

/* What is known of sources in general. */
struct fm_sources {
	struct fm_source *record;
	struct fm_source_slot *slot; /* of each record; those of a set share a cache line */
	uint32_t n_sets, stamp;
	uint32_t trials;	/* datagrams that are taken for likely, whatever is known */
	float go_on[FM_STEPS];	/* strangers: the chance to get from one step of progress to the next */
	float reach[FM_STEPS + 1]; /* and to the end: the product of those from here on */
	float headless;		/* factor on that where the first fragment did not come first */
	float gappy;		/* chance that what is missing in between still comes */
	float first_size;	/* of the first datagram of a source */
	float size, gap, gap_deviation;
	uint32_t size_mbufs;	/* `size`, rounded; as long as nothing has completed, what is hoped for */
	float typical;		/* chance of a new datagram, in the mean over those that complete */
	struct fm_recent recent[1 << FM_RECENT_BITS];
};

/* What is promised to those admitted. Weights are in 255ths; sums are whole numbers, so that they never drift. */
struct fm_plan {
	struct fm_bin { int64_t count, held, wanted; } bin[FM_BINS];
	int64_t promised;	/* held and wanted, of all bins */
	uint64_t used;		/* bit per bin that may be in use */
	uint64_t earned_tsc;	/* when `credit` was brought up to date */
	float credit;		/* mbufs x tsc that may be spent on newcomers */
	float denied;		/* share of those refused, of late, among those behind the mean */
	float pressed;		/* share of those refused, of late */
	bool pressing;		/* that is more than a few */
	float doubtful;		/* share of those unlikely to complete, of late */
	uint64_t mean_service;	/* of those who ask, modulo 2^32, in 65536ths */
	uint64_t random;
};

/* --- condemned.c: keys of which nothing will be stored --- */
/* Sets for so many datagrams that may be live: one each. */
uint32_t fm_condemned_sets(uint32_t datagrams);
/* After the timeouts have changed. */
void fm_condemned_set_unit(struct fm_reass *r);
/* Is the key condemned? If so, and because of pressure, its time is prolonged: it is alive. */
bool fm_condemned_find(struct fm_reass *r, uint64_t hash, enum fm_family_index family, uint64_t now_tsc);
void fm_condemned_add(struct fm_reass *r, uint64_t hash, enum fm_doom doom, uint64_t now_tsc, uint64_t until_tsc);
/* How long to remember one that was refused or evicted, from its last fragment. */
uint64_t fm_condemned_for_tsc(const struct fm_reass *r, enum fm_family_index family);
/* Forget those whose time is over, in the next so many sets. */
void fm_condemned_sweep(struct fm_reass *r, uint32_t sets, uint64_t now_tsc);
void fm_condemned_clear(struct fm_reass *r);

/* --- source.c: who sends, and what became of it --- */
/* Sets for so many datagrams that may be live: a record each, and no fewer than some. */
uint32_t fm_source_sets(uint32_t datagrams);
void fm_sources_init(struct fm_reass *r);
/* Zero all behind the first `bits` bits, 1..128. */
void fm_prefix_cut(uint64_t prefix[2], unsigned int bits);
/* Of a set's slots the one whose record is given up for a new source. */
const struct fm_source_slot *fm_source_victim(const struct fm_reass *r, const struct fm_source_slot *set);
/* The record of a source, a new one if it has none: fm_source_find() where that is not known. */
struct fm_source *fm_source_look_up(struct fm_reass *r, struct fm_who *who);
/* The record of a source if it has one, else NULL; nothing is changed. */
const struct fm_source *fm_source_peek(const struct fm_reass *r, const struct fm_key *key,
				       enum fm_family_index family);
/* Its datagram is about to get from one step of progress to another; `s` may be NULL. */
void fm_source_step(struct fm_reass *r, const struct fm_datagram *d, struct fm_source *s, uint8_t from, uint8_t to);
/* Something is missing between what it holds. Returns true: that is news. */
bool fm_source_holed(struct fm_reass *r, struct fm_datagram *d);
/* Its datagram, young until now, has been enrolled. */
void fm_source_enrolled(struct fm_reass *r, struct fm_datagram *d, struct fm_source *s);

/* A datagram that has completed, and whose source was not asked before. */
struct fm_end {
	uint32_t mbufs, fragments;
	uint32_t marks;			/* enum fm_mark */
	uint64_t took_tsc;		/* from the first fragment to the last */
	uint64_t gap_tsc;		/* from the one before the last */
};
/* Not for one that fm_source_goes_on() has taken. */
void fm_source_ended(struct fm_reass *r, struct fm_source *s, const struct fm_end *end);
void fm_source_completed(struct fm_reass *r, struct fm_datagram *d, uint64_t now_tsc);
/* It is not going to, but for a chance of `alive`: 0..1. */
void fm_source_failed(struct fm_reass *r, struct fm_datagram *d, float alive);

/* --- chance.c: how likely is a datagram to complete? 0..1 --- */
float fm_chance_new(const struct fm_reass *r, const struct fm_source *s, bool headless);
/* The same for whole and orderly ones; NULL: a stranger. */
float fm_chance_of(const struct fm_reass *r, const struct fm_source *s);
/* For one that has just got a fragment, and holds so much now. */
float fm_chance_with(const struct fm_reass *r, const struct fm_datagram *d, uint32_t mbufs, uint32_t fragments);
/* With what it holds, after its present silence. */
float fm_chance_now(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc);
/* That it lives after its present silence, relative to what it was when its last fragment came. */
float fm_chance_alive(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc);
/* Chance below which datagrams are told apart. */
float fm_unlikely(const struct fm_reass *r);
/* Are its fragments much further apart than others'? */
bool fm_slow(const struct fm_reass *r, const struct fm_datagram *d);
/* Silence after which it is cold. */
uint64_t fm_patience_tsc(const struct fm_reass *r, const struct fm_datagram *d);
/* For all and any, without the floor. */
uint64_t fm_patience_general_tsc(const struct fm_reass *r);

/* --- plan.c: what is promised --- */
void fm_plan_init(struct fm_reass *r);
/* The mean service of those who ask, which a source begins with. */
uint32_t fm_plan_mean(const struct fm_reass *r);
/* May a new datagram of so many mbufs be begun? On false *why is set. */
bool fm_plan_accepts(struct fm_reass *r, struct fm_source *s, float chance, uint32_t mbufs, uint64_t now_tsc,
		     enum fm_outcome *why);
/* It has been admitted: its source has had so much. */
void fm_plan_charge(struct fm_reass *r, struct fm_source *s, uint32_t mbufs);
/* What was accepted did not fit after all. */
void fm_plan_no_room(struct fm_reass *r, float chance);
/* It is evicted though it was promised room: what it has not used is given back to its source, and to all. */
void fm_plan_refund(struct fm_reass *r, const struct fm_datagram *d);
/*
 * Is its next datagram a trial? Of a source with a record that holds nothing and is far behind the mean: taken for
 * likely whatever the record says, so that one that has changed can show it.
 */
bool fm_plan_trial(const struct fm_reass *r, const struct fm_source *s);
/* May one more be tried? */
bool fm_trial_allowed(const struct fm_reass *r);
/* How far its source is ahead of the mean: -1..1 */
float fm_plan_ahead(const struct fm_reass *r, const struct fm_datagram *d);
/* 0..1 */
float fm_plan_random(struct fm_reass *r);

/* --- admit.c: the pressure policy. Whether and for whom room is made is decided here and nowhere else. --- */
enum fm_admission { FM_ADMIT, FM_REFUSE };

/* A new datagram. */
struct fm_ask {
	/* Given. */
	struct fm_source *source;
	bool headless;			/* its first fragment does not come first */
	bool trial;			/* fm_plan_trial() */
	/* Decided. */
	bool charged;			/* its source has been */
	float chance;			/* of completing */
	uint32_t expected_mbufs;	/* of the whole */
};

/* A datagram not seen before wants to hold `mbufs`. On FM_REFUSE *why is set. */
enum fm_admission fm_admit_new(struct fm_reass *r, struct fm_ask *ask, uint32_t mbufs, uint64_t now_tsc,
			       enum fm_outcome *why);
/* Mbufs of a whole datagram of that source. */
uint32_t fm_expected_size(const struct fm_reass *r, const struct fm_source *s);
/* Write into an admitted one what was decided on. */
void fm_admit_note(struct fm_reass *r, struct fm_datagram *d, const struct fm_ask *ask);
/* A live datagram wants to hold `mbufs` more. On FM_REFUSE it is the one to give way, *why is set. */
enum fm_admission fm_admit_more(struct fm_reass *r, struct fm_datagram *d, uint32_t mbufs, uint64_t now_tsc,
				enum fm_outcome *why);
/* Evict until the budget holds. */
void fm_admit_shrink(struct fm_reass *r, uint64_t now_tsc);
/*
 * Move what has been silent for too long to the unlikely and to the cold ones: a look now and then, bounded by the
 * `fragments` that have come since the last one.
 */
void fm_admit_cool(struct fm_reass *r, uint32_t fragments, uint64_t now_tsc);
bool fm_admit_cold(const struct fm_reass *r, const struct fm_datagram *d, uint64_t now_tsc);

#endif
