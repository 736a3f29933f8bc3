/* SPDX-License-Identifier: BSD-3-Clause */
#include "bed.h"
#include "internal.h"

enum { POOL_SIZE = 1 << 17, DATA_ROOM = 2048 + RTE_PKTMBUF_HEADROOM };

static void dropped(void *arg, const struct rte_mbuf *m, enum fm_outcome why)
{
	struct bed *bed = arg;

	assert_true(m->pkt_len > 0);
	bed->reported[why]++;
}

struct fm_reass_params bed_params(void)
{
	return (struct fm_reass_params){
		.settings = {
			.timeout_tsc = {[FM_IPV4] = BED_TIMEOUT4, [FM_IPV6] = BED_TIMEOUT6},
			.budget_mbufs = 1024,
			.max_fragments = 128,
		},
		.max_datagrams = 64,
		.max_mbufs = 1024,
		.secret = "an open secret.",
	};
}

bool bed_judges_all;

static void judge_all(struct bed *bed)
{
	if (bed_judges_all)
		bed->reass->ease_mbufs = 0;
}

void bed_init_params(struct bed *bed, const struct fm_reass_params *params)
{
	char err[200] = "";
	size_t size;

	*bed = (struct bed){.params = *params, .now = BED_START};
	bed->pool = fm_test_pool(POOL_SIZE, DATA_ROOM);
	bed->header_pool = fm_test_pool(POOL_SIZE, RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM);
	bed->params.header_pool = bed->header_pool;
	bed->params.dropped = dropped;
	bed->params.dropped_arg = bed;
	size = fm_reass_memsize(&bed->params);
	assert_int_not_equal(size, 0);
	assert_int_equal(posix_memalign(&bed->memory, RTE_CACHE_LINE_SIZE, size), 0);
	/* Nothing may rely on zeroed memory. */
	memset(bed->memory, 0xa5, size);
	if (fm_reass_init(bed->memory, &bed->params, &bed->reass, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	judge_all(bed);
}

void bed_init(struct bed *bed)
{
	const struct fm_reass_params params = bed_params();

	bed_init_params(bed, &params);
}

static void assert_accounts(const struct bed *bed)
{
	const struct fm_reass_stats *stats = fm_reass_stats(bed->reass);
	uint64_t fragments = stats->held_fragments, frames = stats->fragments_in;
	char err[200] = "";

	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		fragments += fm_outcome_info[i].unit == FM_UNIT_FRAGMENT ? stats->count[i] : 0;
		frames += fm_outcome_info[i].unit == FM_UNIT_FRAME ? stats->count[i] : 0;
	}
	assert_int_equal(fragments, stats->fragments_in);
	assert_int_equal(frames, stats->frames_in);
	assert_true(stats->held_mbufs <= bed->params.settings.budget_mbufs);
	if (!fm_reass_sound(bed->reass, err, sizeof(err)))
		fail_msg("not sound: %s", err);
}

void bed_fini(struct bed *bed)
{
	assert_accounts(bed);
	fm_reass_flush(bed->reass);
	assert_accounts(bed);
	assert_int_equal(fm_reass_stats(bed->reass)->held_fragments, 0);
	assert_int_equal(fm_reass_stats(bed->reass)->held_mbufs, 0);
	assert_int_equal(fm_reass_stats(bed->reass)->datagrams, 0);
	assert_int_equal(fm_reass_stats(bed->reass)->condemned, 0);
	bed_clear(bed);
	assert_int_equal(fm_test_pool_out(bed->pool), 0);
	assert_int_equal(fm_test_pool_out(bed->header_pool), 0);
	fm_test_pool_free(bed->pool);
	fm_test_pool_free(bed->header_pool);
	free(bed->memory);
}

struct rte_mbuf *bed_mbuf(struct bed *bed, const struct fm_test_frag *frag)
{
	uint8_t frame[BED_FRAME_MAX];
	const uint32_t len = fm_test_frame(frag, frame);

	return fm_test_mbuf(bed->pool, frame, len, bed->segment);
}

void bed_send_mbufs(struct bed *bed, struct rte_mbuf *const *in, uint16_t n, uint16_t port)
{
	struct fm_result result;

	fm_reass_burst(bed->reass, in, n, port, bed->now, &result);
	for (uint16_t i = 0; i < result.n_pass; i++) {
		assert_true(bed->n_pass < BED_DONE_MAX);
		bed->pass[bed->n_pass++] = result.pass[i];
	}
	for (uint16_t i = 0; i < result.n_done; i++) {
		assert_true(bed->n_done < BED_DONE_MAX);
		bed->whole[bed->n_done] = result.whole[i];
		bed->done[bed->n_done++] = result.done[i];
	}
	assert_accounts(bed);
}

void bed_send_bytes(struct bed *bed, const uint8_t *frame, uint32_t len)
{
	struct rte_mbuf *m = fm_test_mbuf(bed->pool, frame, len, bed->segment);

	bed_send_mbufs(bed, &m, 1, BED_PORT);
}

void bed_send(struct bed *bed, const struct fm_test_frag *frag)
{
	struct rte_mbuf *m = bed_mbuf(bed, frag);

	bed_send_mbufs(bed, &m, 1, BED_PORT);
}

void bed_send_pieces(struct bed *bed, const struct fm_test_frag *frag, uint32_t total, uint32_t step, uint32_t from,
		     uint32_t to)
{
	struct fm_test_frag piece = *frag;

	for (uint32_t i = from; i < to && i * step < total; i++) {
		piece.offset = i * step;
		piece.more = (i + 1) * step < total;
		piece.length = piece.more ? step : total - i * step;
		bed_send(bed, &piece);
	}
}

void bed_clear(struct bed *bed)
{
	rte_pktmbuf_free_bulk(bed->done, bed->n_done);
	rte_pktmbuf_free_bulk(bed->pass, bed->n_pass);
	bed->n_done = 0;
	bed->n_pass = 0;
}

void bed_set(struct bed *bed, const struct fm_reass_settings *settings)
{
	char err[200] = "";

	if (fm_reass_set(bed->reass, settings, bed->now, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	bed->params.settings = *settings;
	judge_all(bed);
	assert_accounts(bed);
}

uint64_t bed_count(const struct bed *bed, enum fm_outcome outcome)
{
	return fm_reass_stats(bed->reass)->count[outcome];
}

uint64_t bed_held(const struct bed *bed)
{
	return fm_reass_stats(bed->reass)->held_fragments;
}

uint32_t bed_expected(const struct fm_test_frag *frag, uint32_t total, uint8_t *out)
{
	struct fm_test_frag whole = *frag;
	uint32_t len, ip = 14 + 4U * frag->vlans, at, next_at;

	whole.offset = 0;
	whole.length = total;
	whole.more = false;
	whole.padding = 0;
	len = fm_test_frame(&whole, out);
	if (frag->family == 4)
		return len;
	/* Take the fragment header out again: the field that names it, and the payload length. */
	at = ip + 40 + frag->options_len;
	next_at = ip + 6;
	for (uint32_t i = ip + 40; i < at; i += (out[i + 1] + 1U) * 8)
		next_at = i;
	out[next_at] = frag->protocol;
	out[ip + 4] = (uint8_t)((frag->options_len + total) >> 8);
	out[ip + 5] = (uint8_t)(frag->options_len + total);
	memmove(out + at, out + at + 8, total);
	return len - 8;
}

void bed_assert_done(const struct bed *bed, uint16_t i, const struct fm_test_frag *frag, uint32_t total)
{
	uint8_t *expected = malloc(BED_FRAME_MAX + 100), *bytes;
	uint32_t expected_len, len;

	assert_non_null(expected);
	assert_true(i < bed->n_done);
	expected_len = bed_expected(frag, total, expected);
	bytes = fm_test_bytes(bed->done[i], &len);
	assert_int_equal(len, expected_len);
	assert_memory_equal(bytes, expected, len);
	assert_int_equal(bed->whole[i].ip_len, len - bed->whole[i].l2_len);
	free(bytes);
	free(expected);
}

struct fm_test_frag bed_ipv4(uint32_t id, uint32_t offset, uint32_t length, bool more)
{
	return (struct fm_test_frag){.family = 4, .id = id, .source = 0x0a000001, .destination = 0x0a000002,
				     .protocol = 17, .offset = offset, .length = length, .more = more};
}

struct fm_test_frag bed_ipv6(uint32_t id, uint32_t offset, uint32_t length, bool more)
{
	struct fm_test_frag frag = bed_ipv4(id, offset, length, more);

	frag.family = 6;
	return frag;
}
