/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of the pools: what fits, what is refused and with which words. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "budget.h"
#include "fm_split.h"

/* Two ports, one worker that polls both; the reserve of each pool is 2,768 of 10,768: 8,000 are left. */
static struct fm_budget pair(void)
{
	struct fm_budget b = { .n_pools = 2, .n_tables = 1 };

	for (uint16_t i = 0; i < 2; i++)
		b.pool[i] = (struct fm_budget_pool){
			.port = i, .tables = 1, .size = 10768, .rx_descriptors = 512, .tx_descriptors = 512,
			.tx_backlog = 1000, .caches = 712, .burst_reserve = 32,
		};
	return b;
}

static void assert_says(const char *err, const char *word)
{
	if (strstr(err, word) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err, word);
}

/* What semantics promises: nothing is promised twice. */
static void assert_sums(const struct fm_budget *b)
{
	for (uint16_t i = 0; i < b->n_pools; i++)
		assert_int_equal(fm_budget_reserve(&b->pool[i]) + b->pool[i].budget + b->pool[i].spare,
				 b->pool[i].size);
}

static void all_that_is_left(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	/* One table could hold mbufs of one pool only, so the two pools do not add up. */
	assert_int_equal(b.max, 8000);
	assert_int_equal(b.granted, 8000);
	assert_int_equal(b.whole, 10768);
	assert_int_equal(b.pool[0].budget, 8000);
	assert_int_equal(b.pool[0].spare, 0);
	assert_sums(&b);
}

static void smallest_pool_decides(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	b.pool[1].size = 3768;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	assert_int_equal(b.share, 1000);
	assert_int_equal(b.pool[0].spare, 7000);
	assert_sums(&b);
}

static void tables_share_a_pool(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	b.n_tables = b.pool[0].tables = b.pool[1].tables = 3;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	/* 8,000 by three, and two mbufs over. */
	assert_int_equal(b.share, 2666);
	assert_int_equal(b.granted, 7998);
	assert_int_equal(b.pool[0].spare, 2);
	assert_sums(&b);
}

static void tables_with_pools_of_their_own(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	b.n_tables = 2;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	assert_int_equal(b.share, 8000);
	assert_int_equal(b.granted, 16000);
	assert_sums(&b);
}

static void number(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	b.wanted = 4096;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	assert_int_equal(b.granted, 4096);
	assert_int_equal(b.max, 8000);
	assert_int_equal(b.pool[0].spare, 8000 - 4096);
	assert_sums(&b);
}

static void number_at_the_edge(void **state)
{
	struct fm_budget b = pair();
	char err[512] = "";

	(void)state;
	b.wanted = 8000;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), 0);
	assert_int_equal(b.pool[0].spare, 0);
	b.wanted = 8001;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "--budget 8001");
	assert_says(err, "leaves 8000");
	assert_says(err, "--total-num-mbufs");
}

static void percent(void **state)
{
	struct fm_budget b = pair();
	char err[512] = "";

	(void)state;
	b.wanted_percent = 50;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), 0);
	assert_int_equal(b.granted, 5384);
	b.wanted_percent = 75;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "--budget 75%");
	assert_says(err, "8076");
	assert_says(err, "leaves 8000");
}

static void less_than_one_each(void **state)
{
	struct fm_budget b = pair();
	char err[512] = "";

	(void)state;
	b.n_tables = b.pool[0].tables = b.pool[1].tables = 4;
	b.wanted = 3;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "3 mbufs");
	assert_says(err, "4 workers");
}

/* The reserve and two mbufs for a table are the least. */
static void pool_too_small(void **state)
{
	struct fm_budget b = pair();
	char err[512] = "";

	(void)state;
	b.pool[1].size = 2770;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), 0);
	b.pool[1].size = 2769;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "--total-num-mbufs 2769");
	assert_says(err, "port 1");
	assert_says(err, "too few for port 1");
}

/* A backlog that grows with the pool, as it is at start. */
static bool fits(void *arg, uint32_t size)
{
	struct fm_budget *b = arg;

	for (uint16_t i = 0; i < b->n_pools; i++) {
		b->pool[i].size = size;
		b->pool[i].tx_backlog = fm_budget_backlog(size, 1, 129, 32);
	}
	return fm_budget_make(b, NULL, 0) == 0;
}

/* Who follows the advice once has done enough, and not more than was needed. */
static void advice(void **state)
{
	const struct {
		uint32_t size, mbufs, percent;
	} row[] = {
		{ 1, 0, 0 }, { 512, 0, 0 }, { 2000, 0, 0 }, { 8192, 8000, 0 }, { 2047, 60000, 0 }, { 8192, 0, 75 },
	};
	struct fm_budget b = pair();
	char err[512] = "", said[64];

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		b.wanted = row[i].mbufs;
		b.wanted_percent = row[i].percent;
		assert_false(fits(&b, row[i].size));
		b.enough = fm_budget_enough(row[i].size, UINT32_MAX, fits, &b);
		assert_in_range(b.enough, row[i].size + 1, UINT32_MAX - 1);
		assert_true(fits(&b, b.enough));
		assert_false(fits(&b, b.enough - 1));
		assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
		snprintf(said, sizeof(said), "raise --total-num-mbufs to %u", b.enough);
		assert_says(err, said);
		b.by_memory = true;
		assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
		assert_says(err, "more memory (-m)");
		b.by_memory = false;
	}
	assert_int_equal(fm_budget_enough(8192, 8192, fits, &b), 0);
	b.wanted_percent = 100;
	assert_int_equal(fm_budget_enough(8192, UINT32_MAX, fits, &b), 0);
}

static void sums_do_not_wrap(void **state)
{
	struct fm_budget b = pair();
	char err[512] = "";

	(void)state;
	b.pool[0].rx_descriptors = b.pool[0].tx_descriptors = UINT32_MAX;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "port 0");
}

static void port_nobody_polls(void **state)
{
	struct fm_budget b = pair();

	(void)state;
	b.pool[1].tables = 0;
	b.pool[1].size = 2768;
	assert_int_equal(fm_budget_make(&b, NULL, 0), 0);
	assert_int_equal(b.share, 8000);
	assert_int_equal(b.pool[1].budget, 0);
	assert_sums(&b);
}

static void pieces(void **state)
{
	(void)state;
	/* As many as came in, and one more for a last one that is not a multiple of 8. */
	assert_int_equal(fm_budget_pieces(128, 65575), 129);
	assert_int_equal(fm_budget_pieces(8192, 65575), FM_PIECES_MAX);
	/* 1,440 bytes in each of 1,500: 45 and a rest, fewer than came in. */
	assert_int_equal(fm_budget_pieces(2, 1500), 46);
	assert_int_equal(fm_budget_pieces(128, 1500), 129);
	/* 8 bytes in each: all there can be. */
	assert_int_equal(fm_budget_pieces(2, 68), 8192);
}

static void backlog(void **state)
{
	(void)state;
	/* A third of the pool, shared by those who poll it ... */
	assert_int_equal(fm_budget_backlog(6000, 1, 129, 32), 2000);
	assert_int_equal(fm_budget_backlog(6000, 2, 129, 32), 1000);
	/* ... but never less than one datagram and a burst, nor more than is of use. */
	assert_int_equal(fm_budget_backlog(300, 1, 129, 32), 161);
	assert_int_equal(fm_budget_backlog(24576, 1, FM_PIECES_MAX, 32), FM_PIECES_MAX + 32);
	assert_int_equal(fm_budget_backlog(1 << 20, 1, 129, 32), FM_BACKLOG_MAX);
}

/* What waits between workers is no budget. */
static void pipes(void **state)
{
	struct fm_budget b = pair();
	char err[FM_SENTENCE_LEN] = "";

	(void)state;
	b.pool[1].pipes = 3000;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), 0);
	assert_sums(&b);
	assert_int_equal(b.max, 5000);
	b.pool[1].pipes = 8000;
	assert_int_equal(fm_budget_make(&b, err, sizeof(err)), -EINVAL);
	assert_says(err, "between workers 8000");
	assert_says(err, "--nb-cores");
}

static void room_of_pipes(void **state)
{
	(void)state;
	assert_int_equal(fm_budget_steer(32767, 0, 32, 1), 0);
	/* An eighth of the pool, shared by all ... */
	assert_int_equal(fm_budget_steer(8000, 1, 32, 1), 1000);
	assert_int_equal(fm_budget_steer(8000, 4, 32, 1), 250);
	/* ... but never less than a burst or a frame, nor more than is of use. */
	assert_int_equal(fm_budget_steer(1000, 10, 32, 1), 32);
	assert_int_equal(fm_budget_steer(1000, 10, 32, 35), 35);
	assert_int_equal(fm_budget_steer(1 << 20, 1, 32, 1), FM_STEER_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_left),
		cmocka_unit_test(smallest_pool_decides),
		cmocka_unit_test(tables_share_a_pool),
		cmocka_unit_test(tables_with_pools_of_their_own),
		cmocka_unit_test(number),
		cmocka_unit_test(number_at_the_edge),
		cmocka_unit_test(percent),
		cmocka_unit_test(less_than_one_each),
		cmocka_unit_test(pool_too_small),
		cmocka_unit_test(advice),
		cmocka_unit_test(sums_do_not_wrap),
		cmocka_unit_test(port_nobody_polls),
		cmocka_unit_test(pieces),
		cmocka_unit_test(backlog),
		cmocka_unit_test(pipes),
		cmocka_unit_test(room_of_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
