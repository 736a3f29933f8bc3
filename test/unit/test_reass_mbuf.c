/* SPDX-License-Identifier: BSD-3-Clause */
/* Mbufs that are not the table's alone, mbufs that run out, and who is told of what is freed. */
#include "bed.h"

/* Take another reference, as a tap or a mirror port does. */
static struct rte_mbuf *shared(struct bed *bed, const struct fm_test_frag *frag)
{
	struct rte_mbuf *m = bed_mbuf(bed, frag);

	rte_mbuf_refcnt_update(m, 1);
	return m;
}

/* Of two fragments, the `which`th is shared; nothing of it may change, lengths and links included. */
static void assert_shared_is_left_alone(struct bed *bed, unsigned int which)
{
	const struct fm_test_frag frags[2] = {bed_ipv4(1, 0, 64, true), bed_ipv4(1, 64, 21, false)};
	uint8_t before[200], *after;
	uint32_t len, after_len;
	struct rte_mbuf *m, image;

	len = fm_test_frame(&frags[which], before);
	m = shared(bed, &frags[which]);
	image = *m;
	for (unsigned int i = 0; i < 2; i++) {
		if (i == which)
			bed_send_mbufs(bed, &m, 1, BED_PORT);
		else
			bed_send(bed, &frags[i]);
	}
	assert_int_equal(bed->n_done, 1);
	bed_assert_done(bed, 0, &frags[0], 85);
	assert_int_equal(m->data_off, image.data_off);
	assert_int_equal(m->data_len, image.data_len);
	assert_int_equal(m->nb_segs, image.nb_segs);
	assert_ptr_equal(m->next, image.next);
	bed_clear(bed);
	after = fm_test_bytes(m, &after_len);
	assert_int_equal(after_len, len);
	assert_memory_equal(after, before, len);
	free(after);
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	rte_pktmbuf_free(m);
}

static void shared_mbufs_are_left_alone(void **state)
{
	struct bed bed;

	(void)state;
	bed_init(&bed);
	assert_shared_is_left_alone(&bed, 0);
	assert_shared_is_left_alone(&bed, 1);
	bed_fini(&bed);
}

/* The bytes of an indirect mbuf belong to another one. */
static void indirect_mbuf(void **state)
{
	const struct fm_test_frag first = bed_ipv6(1, 0, 64, true), last = bed_ipv6(1, 64, 21, false);
	uint8_t before[200];
	struct rte_mbuf *m, *clone;
	uint32_t len;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	m = bed_mbuf(&bed, &first);
	clone = rte_pktmbuf_clone(m, bed.pool);
	assert_non_null(clone);
	bed_send_mbufs(&bed, &clone, 1, BED_PORT);
	bed_send(&bed, &last);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &first, 85);
	len = fm_test_frame(&first, before);
	assert_int_equal(m->data_len, len);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), before, len);
	rte_pktmbuf_free(m);
	bed_fini(&bed);
}

/* No mbuf for the copy of a header: the datagram goes, by name, and nothing leaks. */
static void no_mbuf_for_a_header(void **state)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 64, false);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	fm_test_pool_limit(bed.header_pool, 0);
	bed.segment = 30;
	bed_send(&bed, &first);
	bed_send(&bed, &last);
	assert_int_equal(bed.n_done, 0);
	assert_int_equal(bed_count(&bed, FM_NO_MBUF), 2);
	assert_int_equal(bed.reported[FM_NO_MBUF], 2);
	assert_int_equal(fm_test_pool_out(bed.pool), 0);
	/* With mbufs again it works again. */
	fm_test_pool_limit(bed.header_pool, 1);
	bed_send(&bed, &first);
	bed_send(&bed, &last);
	assert_int_equal(bed.n_done, 1);
	bed_assert_done(&bed, 0, &first, 128);
	bed_fini(&bed);
}

static void no_mbuf_for_a_shared_or_atomic_one(void **state)
{
	const struct fm_test_frag frag = bed_ipv4(1, 0, 64, true), atomic = bed_ipv6(1, 0, 64, false);
	struct rte_mbuf *m;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	fm_test_pool_limit(bed.header_pool, 0);
	m = shared(&bed, &frag);
	bed_send_mbufs(&bed, &m, 1, BED_PORT);
	assert_int_equal(bed_count(&bed, FM_NO_MBUF), 1);
	rte_pktmbuf_free(m);
	bed.segment = 30;
	bed_send(&bed, &atomic);
	assert_int_equal(bed_count(&bed, FM_NO_MBUF), 2);
	bed_fini(&bed);
}

/* Frames in one writable mbuf each, the usual case, need no header pool at all. */
static void without_a_header_pool(void **state)
{
	struct fm_reass_params params = bed_params();
	const struct fm_test_frag first = bed_ipv6(1, 0, 64, true), last = bed_ipv6(1, 64, 64, false);
	struct fm_reass *reass;
	struct fm_result result;
	struct rte_mempool *pool = fm_test_pool(16, 2048);
	struct bed bed = {.pool = pool};
	struct rte_mbuf *in[4];
	void *memory = NULL;

	(void)state;
	assert_int_equal(posix_memalign(&memory, RTE_CACHE_LINE_SIZE, fm_reass_memsize(&params)), 0);
	assert_int_equal(fm_reass_init(memory, &params, &reass, NULL, 0), 0);
	in[0] = bed_mbuf(&bed, &first);
	in[1] = bed_mbuf(&bed, &last);
	bed.segment = 30;
	in[2] = bed_mbuf(&bed, &first);
	in[3] = bed_mbuf(&bed, &last);
	fm_reass_burst(reass, in, 4, 0, 1000, &result);
	assert_int_equal(result.n_done, 1);
	assert_int_equal(fm_reass_stats(reass)->count[FM_NO_MBUF], 2);
	rte_pktmbuf_free_bulk(result.done, result.n_done);
	fm_test_pool_free(pool);
	free(memory);
}

/* A pool whose mbufs are too small for the longest header is refused at once, by name. */
static void header_pool_with_too_little_room(void **state)
{
	static const uint16_t least = RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM;
	struct fm_reass_params params = bed_params();
	struct fm_reass *reass = NULL;
	void *memory = NULL;
	char err[200] = "";

	(void)state;
	assert_int_equal(posix_memalign(&memory, RTE_CACHE_LINE_SIZE, fm_reass_memsize(&params)), 0);
	params.header_pool = fm_test_pool(16, least - 1);
	assert_int_equal(fm_reass_init(memory, &params, &reass, err, sizeof(err)), -EINVAL);
	assert_non_null(strstr(err, "header_pool"));
	assert_int_equal(fm_reass_memsize(&params), 0);
	assert_null(reass);
	fm_test_pool_free(params.header_pool);
	params.header_pool = fm_test_pool(16, least);
	assert_int_equal(fm_reass_init(memory, &params, &reass, err, sizeof(err)), 0);
	fm_test_pool_free(params.header_pool);
	free(memory);
}

/* A fragment that cannot be stored for want of an mbuf takes its datagram with it, and only its own. */
static void no_mbuf_condemns(void **state)
{
	const struct fm_test_frag first = bed_ipv4(1, 0, 64, true), last = bed_ipv4(1, 64, 64, false);
	const struct fm_test_frag other = bed_ipv4(2, 0, 64, true);
	struct rte_mbuf *m;
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send(&bed, &first);
	bed_send(&bed, &other);
	m = shared(&bed, &last);
	fm_test_pool_limit(bed.header_pool, 0);
	bed_send_mbufs(&bed, &m, 1, BED_PORT);
	assert_int_equal(bed_count(&bed, FM_NO_MBUF), 2);
	bed_send(&bed, &last);
	assert_int_equal(bed_count(&bed, FM_CONDEMNED), 1);
	assert_int_equal(bed_held(&bed), 1);
	rte_pktmbuf_free(m);
	bed_fini(&bed);
}

/* The callback sees each dropped fragment once, with its reason; what is delivered it never sees. */
static void every_drop_is_reported(void **state)
{
	struct fm_test_frag frag = bed_ipv4(1, 0, 0, false);
	const struct fm_test_frag overlap = bed_ipv4(2, 8, 64, true);
	struct bed bed;

	(void)state;
	bed_init(&bed);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 3);
	assert_int_equal(bed.n_done, 1);
	frag.id = 2;
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	bed_send_pieces(&bed, &frag, 192, 64, 0, 1);
	bed_send(&bed, &overlap);
	bed_send(&bed, &overlap);
	frag.id = 3;
	bed_send_pieces(&bed, &frag, 192, 64, 0, 2);
	fm_reass_flush(bed.reass);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		assert_int_equal(bed.reported[i], i == FM_COMPLETED ? 0 : bed_count(&bed, i));
	assert_int_equal(bed.reported[FM_OVERLAP], 3);
	assert_int_equal(bed.reported[FM_DUPLICATE], 1);
	assert_int_equal(bed.reported[FM_CONDEMNED], 1);
	assert_int_equal(bed.reported[FM_FLUSHED], 2);
	bed_fini(&bed);
}

static void empty_burst(void **state)
{
	struct fm_result result = {.n_pass = 7, .n_done = 7};
	struct bed bed;

	(void)state;
	bed_init(&bed);
	fm_reass_burst(bed.reass, NULL, 0, 0, bed.now, &result);
	assert_int_equal(result.n_pass, 0);
	assert_int_equal(result.n_done, 0);
	bed_fini(&bed);
}

/* Datagrams and frames in one burst of the largest size. */
static void largest_burst(void **state)
{
	struct fm_reass_params params = bed_params();
	struct rte_mbuf *in[FM_BURST_MAX];
	struct bed bed;

	(void)state;
	params.max_datagrams = FM_BURST_MAX;
	bed_init_params(&bed, &params);
	for (uint32_t i = 0; i < FM_BURST_MAX; i++) {
		const struct fm_test_frag frag = bed_ipv4(i / 2, 64 * (i % 2), 64, i % 2 == 0);

		in[i] = bed_mbuf(&bed, &frag);
	}
	bed_send_mbufs(&bed, in, FM_BURST_MAX, BED_PORT);
	assert_int_equal(bed.n_done, FM_BURST_MAX / 2);
	bed_clear(&bed);
	for (uint32_t i = 0; i < FM_BURST_MAX; i++) {
		const struct fm_test_frag frag = bed_ipv4(i, 0, 64, false);

		in[i] = bed_mbuf(&bed, &frag);
	}
	bed_send_mbufs(&bed, in, FM_BURST_MAX, BED_PORT);
	assert_int_equal(bed.n_pass, FM_BURST_MAX);
	bed_fini(&bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_mbufs_are_left_alone),
		cmocka_unit_test(indirect_mbuf),
		cmocka_unit_test(no_mbuf_for_a_header),
		cmocka_unit_test(no_mbuf_for_a_shared_or_atomic_one),
		cmocka_unit_test(without_a_header_pool),
		cmocka_unit_test(header_pool_with_too_little_room),
		cmocka_unit_test(no_mbuf_condemns),
		cmocka_unit_test(every_drop_is_reported),
		cmocka_unit_test(empty_burst),
		cmocka_unit_test(largest_burst),
	};

	return cmocka_run_group_tests_name("reassembly: mbufs", tests, NULL, NULL);
}
