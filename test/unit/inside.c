/* SPDX-License-Identifier: BSD-3-Clause */
#include "inside.h"

struct fm_frag inside_parse(const struct fm_test_frag *frag)
{
	static uint8_t frame[BED_FRAME_MAX];
	const uint32_t len = fm_test_frame(frag, frame);
	struct fm_frag parsed;
	enum fm_outcome why;

	assert_int_equal(fm_frame_parse(frame, len, len, BED_PORT, 0, &parsed, &why), FM_VERDICT_FRAGMENT);
	return parsed;
}

__attribute__((constructor)) static void judge_all(void)
{
	bed_judges_all = true;
}

struct fm_source *inside_source_of(const struct bed *bed, const struct fm_frag *frag)
{
	struct fm_who who;

	fm_source_ask(bed->reass, &frag->key, frag->family == 4 ? FM_IPV4 : FM_IPV6, &who);
	return fm_source_find(bed->reass, &who);
}

struct fm_source *inside_source(const struct bed *bed, const struct fm_test_frag *frag)
{
	const struct fm_frag parsed = inside_parse(frag);

	return inside_source_of(bed, &parsed);
}

void inside_assert_sound(const struct bed *bed)
{
	char err[200] = "";

	if (!fm_reass_sound(bed->reass, err, sizeof(err)))
		fail_msg("not sound: %s", err);
}

struct fm_test_frag inside_frag(uint32_t source, uint32_t id, uint32_t piece, uint32_t pieces)
{
	struct fm_test_frag frag = bed_ipv4(id, 64 * piece, 64, piece + 1 < pieces);

	frag.source = source;
	return frag;
}

void inside_send(struct bed *bed, uint32_t source, uint32_t id, uint32_t piece, uint32_t pieces)
{
	const struct fm_test_frag frag = inside_frag(source, id, piece, pieces);

	bed_send(bed, &frag);
}

void inside_complete(struct bed *bed, uint32_t source, uint32_t id, uint32_t pieces, uint32_t gap)
{
	const uint64_t before = fm_reass_stats(bed->reass)->datagrams_done;

	for (uint32_t piece = 0; piece < pieces; piece++) {
		bed->now += gap;
		inside_send(bed, source, id, piece, pieces);
	}
	assert_int_equal(fm_reass_stats(bed->reass)->datagrams_done, before + 1);
	bed_clear(bed);
}

void inside_fail(struct bed *bed, uint32_t source, uint32_t id, uint32_t pieces)
{
	for (uint32_t piece = 0; piece < pieces; piece++)
		inside_send(bed, source, id, piece, UINT32_MAX);
	bed->now += BED_TIMEOUT4;
	fm_reass_expire(bed->reass, bed->now, BED_ALL);
	assert_int_equal(bed_held(bed), 0);
}

void inside_init_budget(struct bed *bed, uint32_t budget)
{
	struct fm_reass_params params = bed_params();

	params.settings.budget_mbufs = budget;
	bed_init_params(bed, &params);
}

void inside_set_budget(struct bed *bed, uint32_t budget)
{
	struct fm_reass_settings settings = bed->params.settings;

	settings.budget_mbufs = budget;
	bed_set(bed, &settings);
}

void inside_send_parts(struct bed *bed, uint32_t source, uint32_t id, uint32_t from, uint32_t to)
{
	for (uint32_t piece = from; piece < to; piece++)
		inside_send(bed, source, id, piece, UINT32_MAX);
}

static const struct fm_datagram *find(const struct bed *bed, uint32_t id)
{
	const struct fm_reass *r = bed->reass;

	for (uint32_t n = r->age[FM_IPV4].head; n != FM_NONE; n = fm_age_next(r, n))
		if ((uint16_t)fm_entry(r, n)->key.word[0] == id)
			return fm_entry(r, n);
	return NULL;
}

const struct fm_datagram *inside_datagram(const struct bed *bed, uint32_t id)
{
	const struct fm_datagram *d = find(bed, id);

	if (d == NULL)
		fail_msg("no datagram %u", id);
	return d;
}

uint32_t inside_held_of(const struct bed *bed, uint32_t id)
{
	const struct fm_datagram *d = find(bed, id);

	return d == NULL ? 0 : d->mbufs_held;
}

uint64_t inside_evicted(const struct bed *bed)
{
	return bed_count(bed, FM_EVICTED_COLD) + bed_count(bed, FM_EVICTED_UNLIKELY) +
	       bed_count(bed, FM_EVICTED_PROGRESS);
}

struct fm_source inside_record(const struct bed *bed, uint32_t source)
{
	const struct fm_test_frag frag = inside_frag(source, 0, 0, 2);

	return *inside_source(bed, &frag);
}

void inside_set_mean(struct bed *bed, uint32_t mean)
{
	bed->reass->plan.mean_service = (uint64_t)mean << 16;
	assert_int_equal(fm_plan_mean(bed->reass), mean);
}

void inside_assert_learned_same(const struct fm_source *a, const struct fm_source *b)
{
	assert_int_equal(a->begun, b->begun);
	assert_int_equal(a->grown, b->grown);
	assert_int_equal(a->second, b->second);
	assert_int_equal(a->rest, b->rest);
	assert_int_equal(a->delivered, b->delivered);
	assert_true(a->size == b->size);
}
