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
	return (uint64_t)pool->rx_descriptors + pool->tx_descriptors + pool->tx_backlog + pool->caches +
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

uint32_t fm_budget_backlog(uint32_t pool_size, uint32_t tables, uint32_t pieces, uint32_t burst)
{
	const uint32_t least = pieces + burst;
	const uint32_t third = pool_size / 3 / tables;

	if (third <= least)
		return least;
	return third < FM_BACKLOG_MAX ? third : FM_BACKLOG_MAX;
}

static int refuse_pool(const struct fm_budget_pool *p, uint64_t needed, char *err, size_t err_len)
{
	return fm_fail(err, err_len, -EINVAL,
		       "--total-num-mbufs %" PRIu32 ": the pool of port %u needs %" PRIu64 " (RX descriptors %" PRIu32
		       ", TX descriptors %" PRIu32 ", transmit backlog %" PRIu32 ", lcore caches %" PRIu32
		       ", bursts %" PRIu32 ", tables at least %u); raise it, or lower --rxd, --txd, --mbcache, --burst "
		       "or --max-fragments",
		       p->size, p->port, needed, p->rx_descriptors, p->tx_descriptors, p->tx_backlog, p->caches,
		       p->burst_reserve, p->tables * FM_FRAGMENTS_MIN);
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
			return refuse_pool(p, needed, err, err_len);
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
				       "caches and bursts leaves %" PRIu64 "; lower it or raise --total-num-mbufs",
				       b->wanted_percent, wanted, b->max);
		return fm_fail(err, err_len, -EINVAL,
			       "--budget %" PRIu64 ": the reserve for rings, backlog, caches and bursts leaves %" PRIu64
			       " mbufs; lower it or raise --total-num-mbufs", wanted, b->max);
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
