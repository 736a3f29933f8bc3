/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All orders of up to 6 fragments, the library against the model: as they are, with one missing, with an exact
 * duplicate of each, with one more fragment in each relation to each, and the last two with each piece missing; for
 * both families, 0 to 2 VLAN tags, each kind of mbuf, one burst, two cut at each place, or one for each frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm_packet.h"
#include "fm_twin.h"

enum {
	FRAMES_MAX = 6,
	FRAME_MAX = 192,
	NONE = FRAMES_MAX,
	TAGS = 3,
	FAMILIES = 2,
	MAX_DATAGRAMS = 4,
	BUDGET_MBUFS = 128,
	EVERY_STEP = 4,		/* up to so many frames: compare after each */
};

/*
 * Allen's relations between the additional fragment X and a held one, H, where they share bytes. Units of 8 bytes
 * that X starts later (earlier, if negative) and ends later than H.
 */
static const struct relation {
	const char *name;
	int start, end;
	bool other_bytes, flip_more;
} relations[] = {
	{"X encloses H", -1, 1, false, false},		/*  XXXXX  */
	{"X within H", 1, -1, false, false},		/*   .X.   */
	{"X overlaps H's head", -1, -1, false, false},	/*  XX..   */
	{"X overlaps H's tail", 1, 1, false, false},	/*   ..XX  */
	{"X starts H", 0, -1, false, false},		/*  XX.    */
	{"X finishes H", 1, 0, false, false},		/*   .XX   */
	{"X started by H", 0, 1, false, false},		/*  XXXX   */
	{"X finished by H", -1, 0, false, false},	/*  XXXX   */
	{"X equals H, other bytes", 0, 0, true, false},
	{"X equals H, other MF", 0, 0, false, true},
	{"X encloses H, other MF", -1, 1, false, true},
	{"X within H, other MF", 1, -1, false, true},
	{"X overlaps H's head, other MF", -1, -1, false, true},
	{"X overlaps H's tail, other MF", 1, 1, false, true},
	{"X is an exact duplicate of H", 0, 0, false, false},
};

enum { RELATIONS = sizeof(relations) / sizeof(relations[0]) };

enum bursts {
	BURST_EACH,	/* one for each frame */
	BURST_ONE,	/* one for all of them */
	BURST_TWO,	/* a part and the rest */
};

/* Ways to hand a frame over. */
static const struct way {
	enum fm_twin_kind kind;
	uint32_t segment;
	enum bursts bursts;
} ways[] = {
	{FM_TWIN_PLAIN, 0, BURST_EACH}, {FM_TWIN_PLAIN, 0, BURST_ONE}, {FM_TWIN_PLAIN, 0, BURST_TWO},
	{FM_TWIN_PLAIN, 10, BURST_EACH}, {FM_TWIN_PLAIN, 37, BURST_ONE}, {FM_TWIN_SHARED, 0, BURST_ONE},
	{FM_TWIN_SHARED, 37, BURST_EACH}, {FM_TWIN_INDIRECT, 0, BURST_EACH}, {FM_TWIN_INDIRECT, 10, BURST_ONE},
	{FM_TWIN_EXTERNAL, 0, BURST_ONE}, {FM_TWIN_EXTERNAL, 37, BURST_TWO},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Frames of one case, and how to say which. */
struct set {
	struct fm_twin_frame frame[FRAMES_MAX];
	uint8_t bytes[FRAMES_MAX][FRAME_MAX];
	uint16_t n;
	char name[128];
};

static uint64_t runs;

/* `cut`: frames of the first burst of two; 0: all of them. */
static void run(struct fm_twin *twin, const struct set *set, const uint8_t order[], const struct way *way,
		uint16_t cut)
{
	struct fm_twin_frame ordered[FRAMES_MAX];
	bool equal = true;

	for (uint16_t i = 0; i < set->n; i++)
		ordered[i] = set->frame[order[i]];
	twin->kind = way->kind;
	twin->segment = way->segment;
	for (uint16_t i = 0, n; equal && i < set->n; i += n) {
		n = way->bursts == BURST_EACH ? 1 : i == 0 && cut > 0 ? cut : set->n - i;
		fm_twin_burst(twin, &ordered[i], n, 0);
		/* What a longer order holds on its way, a shorter one holds in the end. */
		equal = set->n > EVERY_STEP || fm_twin_equal(twin);
	}
	equal = equal && fm_twin_equal(twin);
	if (equal) {
		fm_twin_flush(twin);
		equal = fm_twin_equal(twin);
		fm_twin_guards_free(twin);
	}
	runs++;
	if (equal)
		return;
	print_error("%s; mbufs of kind %d in segments of %u, %s (cut at %u); order", set->name, way->kind,
		    way->segment, way->bursts == BURST_EACH ? "bursts of one" : "a burst", cut);
	for (uint16_t i = 0; i < set->n; i++)
		print_error(" %u", order[i]);
	print_error(": %s\n", twin->err);
	fail();
}

static void swap(uint8_t order[], unsigned int i, unsigned int j)
{
	const uint8_t was = order[i];

	order[i] = order[j];
	order[j] = was;
}

/* The next order in lexicographic sequence; false after the last. */
static bool next_order(uint8_t order[], unsigned int n)
{
	unsigned int i = n - 1, j = n - 1;

	while (i > 0 && order[i - 1] >= order[i])
		i--;
	if (i == 0)
		return false;
	while (order[j] <= order[i - 1])
		j--;
	swap(order, i - 1, j);
	for (unsigned int k = n - 1; i < k; i++, k--)
		swap(order, i, k);
	return true;
}

static void each_cut(struct fm_twin *twin, const struct set *set, const uint8_t order[], const struct way *way)
{
	if (way->bursts != BURST_TWO) {
		run(twin, set, order, way, 0);
		return;
	}
	for (uint16_t cut = 1; cut < set->n; cut++)
		run(twin, set, order, way, cut);
}

/* All orders; up to 4 frames in all ways, more than that in one way after the other. */
static void all_orders(struct fm_twin *twin, const struct set *set)
{
	static unsigned int turn;
	uint8_t order[FRAMES_MAX];

	for (uint8_t i = 0; i < set->n; i++)
		order[i] = i;
	do {
		if (set->n > EVERY_STEP) {
			const struct way *way = &ways[turn++ % WAYS];

			run(twin, set, order, way, way->bursts == BURST_TWO ? 1 + turn / WAYS % (set->n - 1U) : 0);
			continue;
		}
		for (unsigned int i = 0; i < WAYS; i++)
			each_cut(twin, set, order, &ways[i]);
	} while (next_order(order, set->n));
}

static struct fm_test_frag piece(unsigned int n, unsigned int i, uint8_t family, uint8_t vlans)
{
	static const uint32_t lengths[FRAMES_MAX] = {24, 32, 24, 40, 24, 24};
	struct fm_test_frag frag = {.family = family, .id = 77, .source = 1, .destination = 2, .protocol = 17,
				    .more = i + 1 < n, .length = lengths[i], .vlans = vlans, .tci = {0x2003, 0x4004}};

	for (unsigned int j = 0; j < i; j++)
		frag.offset += lengths[j];
	/* A last piece that is no multiple of 8, short enough for Ethernet to pad it. */
	if (!frag.more) {
		frag.length = 21;
		frag.padding = 5;
	}
	return frag;
}

static void add(struct set *set, const struct fm_test_frag *frag)
{
	set->frame[set->n].bytes = set->bytes[set->n];
	set->frame[set->n].len = fm_test_frame(frag, set->bytes[set->n]);
	set->n++;
}

/* The additional fragment; false if it cannot exist, as it would start before the datagram or hold nothing. */
static bool relate(struct fm_test_frag *frag, const struct relation *relation)
{
	static const uint8_t other[64] = "these bytes are not those of the fragment held, byte for byte..";
	const int start = (int)frag->offset + 8 * relation->start;
	const int end = (int)(frag->offset + frag->length) + 8 * relation->end;

	if (start < 0 || end <= start)
		return false;
	frag->offset = (uint32_t)start;
	frag->length = (uint32_t)(end - start);
	frag->more ^= relation->flip_more;
	/* A last fragment that must not be the last now: cut to what the format allows. */
	if (frag->more)
		frag->length = frag->length / 8 * 8;
	if (relation->other_bytes)
		frag->payload = other;
	return frag->length > 0;
}

/* n pieces without `missing`, and if there is a relation, the additional fragment that has it to piece `held`. */
static void one_case(struct fm_twin *twin, unsigned int n, uint8_t family, uint8_t vlans, unsigned int missing,
		     const struct relation *relation, unsigned int held)
{
	struct set set = {.n = 0};
	struct fm_test_frag frag;

	for (unsigned int i = 0; i < n; i++) {
		frag = piece(n, i, family, vlans);
		if (i != missing)
			add(&set, &frag);
	}
	if (relation != NULL) {
		frag = piece(n, held, family, vlans);
		if (!relate(&frag, relation))
			return;
		add(&set, &frag);
	}
	snprintf(set.name, sizeof(set.name), "IPv%u, %u tags, %u pieces, missing %u, %s (piece %u)", family, vlans, n,
		 missing, relation != NULL ? relation->name : "nothing more", held);
	all_orders(twin, &set);
}

static void each_family_and_tags(void (*body)(struct fm_twin *twin, uint8_t family, uint8_t vlans))
{
	const struct fm_reass_settings settings = fm_twin_settings(BUDGET_MBUFS);

	for (uint8_t i = 0; i < FAMILIES * TAGS; i++) {
		struct fm_twin twin;

		fm_twin_init(&twin, &settings, MAX_DATAGRAMS, FRAME_MAX);
		body(&twin, i % FAMILIES == 0 ? 4 : 6, i / FAMILIES);
		if (!fm_twin_fini(&twin))
			fail_msg("%s", twin.err);
	}
}

static void plain_body(struct fm_twin *twin, uint8_t family, uint8_t vlans)
{
	for (unsigned int n = 2; n <= FRAMES_MAX; n++) {
		one_case(twin, n, family, vlans, NONE, NULL, 0);
		for (unsigned int missing = 0; missing < n; missing++)
			one_case(twin, n, family, vlans, missing, NULL, 0);
	}
}

static void plain_and_missing(void **state)
{
	(void)state;
	each_family_and_tags(plain_body);
}

static void relations_body(struct fm_twin *twin, uint8_t family, uint8_t vlans)
{
	for (unsigned int n = 2; n < FRAMES_MAX; n++) {
		for (unsigned int held = 0; held < n; held++) {
			for (unsigned int r = 0; r < RELATIONS; r++)
				one_case(twin, n, family, vlans, NONE, &relations[r], held);
		}
	}
}

static void duplicates_and_overlaps(void **state)
{
	(void)state;
	each_family_and_tags(relations_body);
}

static void missing_body(struct fm_twin *twin, uint8_t family, uint8_t vlans)
{
	for (unsigned int n = 2; n < FRAMES_MAX; n++) {
		for (unsigned int held = 0; held < n * RELATIONS; held++) {
			for (unsigned int missing = 0; missing < n; missing++)
				one_case(twin, n, family, vlans, missing, &relations[held % RELATIONS],
					 held / RELATIONS);
		}
	}
}

static void duplicates_and_overlaps_with_one_missing(void **state)
{
	(void)state;
	each_family_and_tags(missing_body);
}

static int count_runs(void **state)
{
	(void)state;
	print_message("%llu runs so far\n", (unsigned long long)runs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(plain_and_missing, count_runs),
		cmocka_unit_test_teardown(duplicates_and_overlaps, count_runs),
		cmocka_unit_test_teardown(duplicates_and_overlaps_with_one_missing, count_runs),
	};

	return cmocka_run_group_tests_name("all orders", tests, NULL, NULL);
}
