/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

#include "budget.h"
#include "fail.h"
#include "fm_reass.h"
#include "fm_split.h"

enum { FM_HEADERS_TYPICAL = 60 };	/* IPv4 with all options; IPv6 with a fragment header and 12 bytes more */

uint64_t fm_budget_reserve(const struct fm_budget_pool *pool)
{
	return (uint64_t)pool->rx_descriptors + pool->tx_descriptors + pool->tx_backlog + pool->pipes + pool->caches +
	       pool->burst_reserve;
}

uint32_t fm_budget_pieces(uint32_t max_fragments, uint32_t egress_mtu)
{
	const uint32_t room = egress_mtu > FM_HEADERS_TYPICAL + 8 ? (egress_mtu - FM_HEADERS_TYPICAL) & ~7U : 8;
	const uint32_t by_mtu = 65535 / room + 1;
	/*
	 * Pieces are as long as the longest fragment, but cut to a multiple of 8, which a last fragment need not be:
	 * one more than came in.
	 */
	const uint32_t by_fragments = max_fragments + 1;
	const uint32_t pieces = by_mtu > by_fragments ? by_mtu : by_fragments;

	return pieces < FM_PIECES_MAX ? pieces : FM_PIECES_MAX;
}

uint32_t fm_budget_backlog(uint32_t pool_size, uint32_t backlogs, uint32_t pieces, uint32_t burst)
{
	const uint32_t least = pieces + burst;
	const uint32_t third = pool_size / 3 / backlogs;

	if (third <= least)
		return least;
	return third < FM_BACKLOG_MAX ? third : FM_BACKLOG_MAX;
}

uint32_t fm_budget_steer(uint32_t pool_size, uint32_t pipes, uint32_t burst, uint32_t segs)
{
	const uint32_t least = burst > segs ? burst : segs;
	uint32_t eighth;

	if (pipes == 0)
		return 0;
	eighth = pool_size / 8 / pipes;
	if (eighth <= least)
		return least;
	return eighth < FM_STEER_MAX ? eighth : FM_STEER_MAX;
}

uint32_t fm_budget_enough(uint32_t from, uint32_t to, bool (*fits)(void *arg, uint32_t size), void *arg)
{
	uint32_t little = from, enough = from;

	while (!fits(arg, enough)) {
		if (enough >= to)
			return 0;
		little = enough;
		enough = enough < to / 2 ? 2 * enough + 1 : to;
	}
	while (enough - little > 1) {
		const uint32_t middle = little + (enough - little) / 2;

		if (fits(arg, middle))
			enough = middle;
		else
			little = middle;
	}
	return enough;
}

/* "raise --total-num-mbufs to N", or what stands in the way of it. */
static const char *larger_pool(const struct fm_budget *b, char *buf, size_t len)
{
	int at = 0;

	if (b->by_memory)
		at = snprintf(buf, len, "give more memory (-m): there is room for only %" PRIu32 " per port, and ",
			      b->pool[0].size);
	if (b->enough == 0)
		snprintf(buf + at, len - (size_t)at, b->by_memory ? "more are needed" : "raise --total-num-mbufs");
	else if (b->by_memory)
		snprintf(buf + at, len - (size_t)at, "%" PRIu32 " would do", b->enough);
	else
		snprintf(buf, len, "raise --total-num-mbufs to %" PRIu32, b->enough);
	return buf;
}

static int refuse_pool(const struct fm_budget *b, const struct fm_budget_pool *p, char *err, size_t err_len)
{
	char remedy[128];

	return fm_fail(err, err_len, -EINVAL,
		       "%s %" PRIu32 ": too few for port %u (RX descriptors %" PRIu32 ", TX descriptors %" PRIu32
		       ", transmit backlog %" PRIu32 ", between workers %" PRIu32 ", lcore caches %" PRIu32
		       ", bursts %" PRIu32 ", tables at least %u); %s, or lower --nb-cores, --rxd, --txd, --mbcache, "
		       "--burst or --max-fragments",
		       b->by_memory ? "mbufs per port" : "--total-num-mbufs", p->size, p->port, p->rx_descriptors,
		       p->tx_descriptors, p->tx_backlog, p->pipes, p->caches, p->burst_reserve,
		       p->tables * FM_FRAGMENTS_MIN, larger_pool(b, remedy, sizeof(remedy)));
}

/* The largest share that every pool can give to each table that draws on it. */
static int find_share_max(struct fm_budget *b, char *err, size_t err_len)
{
	uint32_t whole = UINT32_MAX;

	b->share_max = UINT32_MAX;
	for (uint16_t i = 0; i < b->n_pools; i++) {
		const struct fm_budget_pool *p = &b->pool[i];
		const uint64_t reserve = fm_budget_reserve(p);
		const uint64_t needed = reserve + (uint64_t)p->tables * FM_FRAGMENTS_MIN;

		if (needed > p->size)
			return refuse_pool(b, p, err, err_len);
		if (p->tables == 0)
			continue;
		if ((p->size - reserve) / p->tables < b->share_max)
			b->share_max = (uint32_t)((p->size - reserve) / p->tables);
		if (p->size / p->tables < whole)
			whole = p->size / p->tables;
	}
	b->whole = (uint64_t)whole * b->n_tables;
	b->max = (uint64_t)b->share_max * b->n_tables;
	return 0;
}

int fm_budget_make(struct fm_budget *b, char *err, size_t err_len)
{
	const bool percent = b->wanted == 0 && b->wanted_percent != 0;
	char remedy[128];
	uint64_t wanted;
	int ret = find_share_max(b, err, err_len);

	if (ret != 0)
		return ret;
	wanted = percent ? b->whole * b->wanted_percent / 100 : b->wanted;
	if (wanted == 0 && !percent)
		wanted = b->max;
	if (wanted > b->max) {
		if (percent)
			return fm_fail(err, err_len, -EINVAL,
				       "--budget %" PRIu32 "%%: that is %" PRIu64
				       " mbufs, and the reserve for rings, backlog, "
				       "caches and bursts leaves %" PRIu64 "; lower it or %s",
				       b->wanted_percent, wanted, b->max, larger_pool(b, remedy, sizeof(remedy)));
		return fm_fail(err, err_len, -EINVAL,
			       "--budget %" PRIu64 ": the reserve for rings, backlog, caches and bursts leaves %" PRIu64
			       " mbufs; lower it or %s", wanted, b->max, larger_pool(b, remedy, sizeof(remedy)));
	}
	if (wanted < b->n_tables)
		return fm_fail(err, err_len, -EINVAL, "--budget: %" PRIu64 " mbufs cannot be shared by %u workers",
			       wanted, b->n_tables);
	b->share = (uint32_t)(wanted / b->n_tables);
	b->granted = (uint64_t)b->share * b->n_tables;
	for (uint16_t i = 0; i < b->n_pools; i++) {
		struct fm_budget_pool *p = &b->pool[i];

		p->budget = p->tables * b->share;
		p->spare = (uint32_t)(p->size - fm_budget_reserve(p) - p->budget);
	}
	return 0;
}
