/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large datagrams, up to and beyond the last byte there may be, cut at random, shuffled, with duplicates and
 * sometimes an overlap, against the model. What comes out is cut again with fm_split() at a random MTU, and the model
 * joins the pieces: the bytes must be the same again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fm_mbuf.h"
#include "fm_packet.h"
#include "fm_split.h"
#include "fm_twin.h"
#include "model_internal.h"
#include "random.h"

enum {
	SEEDS = 120,
	FRAMES_MAX = 9000,
	FRAME_MAX = 1700,
	BURST = 64,
	BUDGET_MBUFS = 20000,
	MAX_DATAGRAMS = 4,
	ROOM = RTE_PKTMBUF_HEADROOM + FRAME_MAX,
	CLOSE_TO_THE_LIMIT = 16,
};

static const uint8_t ipv4_options[12] = {131, 7, 4, 10, 0, 0, 1, 7, 3, 4, 0, 0};
static const uint8_t ipv6_options[16] = {60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4};

/* Frames in the order in which they are sent. */
struct load {
	struct fm_test_frag frag[FRAMES_MAX];
	unsigned int n;
};

static struct fm_test_frag base_frag(struct random *random)
{
	struct fm_test_frag frag = {.family = random_below(random, 2) ? 4 : 6, .id = random_next(random), .source = 1,
				    .destination = 2, .protocol = 17, .vlans = (uint8_t)random_below(random, 3),
				    .tci = {0x0123, 0xe456}, .tos = 2};

	if (random_below(random, 2)) {
		frag.options = frag.family == 4 ? ipv4_options : ipv6_options;
		frag.options_len = frag.family == 4 ? sizeof(ipv4_options) : sizeof(ipv6_options);
	}
	return frag;
}

static void cut(struct load *load, struct random *random)
{
	struct fm_test_frag frag = base_frag(random);
	const uint32_t limit = frag.family == 4 ? 65535 - 20 - frag.options_len : 65535 - frag.options_len;
	const uint32_t total = random_below(random, 3) ? 1000 + random_below(random, 64000)
						       : limit - CLOSE_TO_THE_LIMIT + random_below(random, 32);
	const uint32_t step = 1 + random_below(random, random_below(random, 3) ? 180 : 8);

	load->n = 0;
	for (uint32_t at = 0; at < total; at += frag.length) {
		frag.offset = at;
		frag.length = 8 * (1 + random_below(random, step));
		if (at == 0 && frag.length < 16)
			frag.length = 16;
		frag.more = at + frag.length < total;
		if (!frag.more)
			frag.length = total - at;
		load->frag[load->n++] = frag;
	}
}

static void shuffle(struct load *load, struct random *random)
{
	const unsigned int window = 1 + random_below(random, random_below(random, 2) ? load->n : 8);

	for (unsigned int i = 0; i + 1 < load->n; i++) {
		const unsigned int left = load->n - i, j = i + random_below(random, left < window ? left : window);
		const struct fm_test_frag was = load->frag[i];

		load->frag[i] = load->frag[j];
		load->frag[j] = was;
	}
}

/* Some sent twice, and rarely one that does not belong. */
static void spoil(struct load *load, struct random *random)
{
	for (uint32_t i = random_below(random, 4); i > 0 && load->n < FRAMES_MAX; i--) {
		load->frag[load->n] = load->frag[random_below(random, load->n)];
		load->frag[load->n].offset += random_below(random, 12) == 0 ? 8 : 0;
		load->n++;
	}
}

static void send_all(struct fm_twin *twin, const struct load *load)
{
	static uint8_t bytes[BURST][FRAME_MAX];
	struct fm_twin_frame frames[BURST];

	for (unsigned int i = 0; i < load->n; i += BURST) {
		uint16_t n = 0;

		for (; n < BURST && i + n < load->n; n++) {
			frames[n].bytes = bytes[n];
			frames[n].len = fm_test_frame(&load->frag[i + n], bytes[n]);
		}
		fm_twin_burst(twin, frames, n, 0);
	}
}

/* The model joins the pieces; all frames it gives out together must be the one frame `expected`. */
static void assert_joined_again(struct rte_mbuf **pieces, int n, const struct fm_model_output *expected, uint32_t limit)
{
	const struct fm_model_settings settings = {.timeout = {1, 1}, .max_fragments = FM_FRAGMENTS_MAX};
	const struct fm_model_output *whole;
	struct fm_model model;
	uint32_t at = 0;

	fm_model_init(&model, &settings);
	for (int i = 0; i < n; i++) {
		struct model_frag frag;
		uint32_t len;
		uint8_t *bytes = fm_test_bytes(pieces[i], &len);

		assert_int_equal(pieces[i]->nb_segs, 1);
		assert_true(len - expected->whole.l2_len <= limit);
		/* In order, back to back. */
		if (n > 1) {
			assert_int_equal(model_parse(bytes, len, 0, true, &frag), FM_MODEL_HELD);
			assert_int_equal(frag.offset, at);
			at += frag.length;
		}
		fm_model_frame(&model, bytes, len, 0, 0);
		free(bytes);
	}
	assert_int_equal(model.pass.n + model.done.n, 1);
	whole = model.pass.n == 1 ? model.pass.output : model.done.output;
	assert_int_equal(whole->len, expected->len);
	assert_memory_equal(whole->bytes, expected->bytes, expected->len);
	fm_model_fini(&model);
}

static void split_again(const struct fm_model_output *output, struct random *random)
{
	static struct rte_mbuf *pieces[FM_PIECES_MAX];
	struct rte_mempool *pool = fm_test_pool(2 * FM_PIECES_MAX, ROOM);
	const uint32_t mtu = 80 + random_below(random, random_below(random, 2) ? 100 : 1500);
	const uint32_t limit = mtu < output->whole.largest ? mtu : output->whole.largest;
	struct rte_mbuf *m = fm_test_mbuf(pool, output->bytes, output->len, 16 + random_below(random, 1500));
	const uint32_t count = fm_split_count(m, &output->whole, mtu);
	int n;

	n = fm_split(m, &output->whole, mtu, pool, pieces, FM_PIECES_MAX);
	if (n < 0) {
		/* Headers may leave no room where the fragments were tiny: then nothing was done. */
		assert_int_equal(count, 0);
		rte_pktmbuf_free(m);
	} else {
		assert_int_equal(n, count);
		assert_joined_again(pieces, n, output, limit);
		rte_pktmbuf_free_bulk(pieces, (unsigned int)n);
	}
	fm_test_pool_free(pool);
}

static bool run(struct fm_twin *twin, struct random *random)
{
	static struct load load;

	cut(&load, random);
	spoil(&load, random);
	shuffle(&load, random);
	twin->kind = random_below(random, 3) ? FM_TWIN_PLAIN : (enum fm_twin_kind)random_below(random, FM_TWIN_KINDS);
	twin->segment = random_below(random, 3) || load.n > 100 ? 0 : 100;
	send_all(twin, &load);
	for (size_t i = 0; i < twin->model.done.n; i++)
		split_again(&twin->model.done.output[i], random);
	fm_twin_flush(twin);
	return fm_twin_equal(twin);
}

static void large_datagrams(void **state)
{
	struct fm_reass_settings settings = fm_twin_settings(BUDGET_MBUFS);

	(void)state;
	settings.max_fragments = FM_FRAGMENTS_MAX;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random random = {.state = seed * 0x9e3779b97f4a7c15};
		struct fm_twin twin;
		bool equal;

		fm_twin_init(&twin, &settings, MAX_DATAGRAMS, FRAME_MAX);
		equal = run(&twin, &random);
		if (!equal)
			print_error("seed %llu: %s\n", (unsigned long long)seed, twin.err);
		assert_true(equal && fm_twin_fini(&twin));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_datagrams),
	};

	return cmocka_run_group_tests_name("large datagrams", tests, NULL, NULL);
}
