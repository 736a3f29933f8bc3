/* SPDX-License-Identifier: BSD-3-Clause */
#include "fm_pcapng.h"

#include <rte_ring.h>

#include "counter.h"
#include "tap.h"

enum { FM_NS_PER_S = 1000000000 };

/* By outcome. That of FM_TAP_NO_OUTCOME is NULL. */
static const char *const comment[FM_OUTCOME_MAX + 1] = {
#define FM_TAP_COMMENT(sym, name, sev, unit, text) [FM_##sym] = "fragmend: " #name,
	FM_OUTCOMES(FM_TAP_COMMENT)
#undef FM_TAP_COMMENT
};

void fm_bucket_init(struct fm_bucket *bucket, uint64_t rate, uint32_t share, uint64_t hz, uint64_t now_tsc)
{
	const uint64_t each = RTE_MAX(rate / share, 1U);
	const uint64_t depth = RTE_MIN(each, RTE_MAX((uint64_t)FM_TAP_BURST, each / FM_TAP_BURSTS_PER_S));

	bucket->cost_tsc = RTE_MAX(hz * share / rate, 1U);
	bucket->depth_tsc = depth * bucket->cost_tsc;
	bucket->full_tsc = now_tsc;
}

uint64_t fm_tap_time_ns(const struct fm_tap *tap, uint64_t tsc)
{
	const uint64_t passed = tsc - tap->base_tsc;

	/* In two parts: all of it times 10^9 is more than 64 bits after a few seconds. */
	return tap->base_ns + passed / tap->hz * FM_NS_PER_S + passed % tap->hz * FM_NS_PER_S / tap->hz;
}

void fm_tap_take(struct fm_tap *tap, const struct rte_mbuf *m, uint16_t port, uint16_t queue,
		 enum fm_tap_direction direction, enum fm_outcome why)
{
	struct rte_mbuf *block;

	if (atomic_load_explicit(tap->closed, memory_order_relaxed))
		return;
	if (!fm_bucket_take(&tap->bucket, tap->now_tsc)) {
		fm_count(&tap->over_rate, 1);
		return;
	}
	block = fm_pcapng_copy(rte_eth_dev_is_valid_port(port) ? port : tap->port, queue, m, tap->pool,
			       tap->snaplen_bytes, fm_tap_time_ns(tap, rte_rdtsc()),
			       direction == FM_TAP_IN ? RTE_PCAPNG_DIRECTION_IN : RTE_PCAPNG_DIRECTION_OUT,
			       comment[why]);
	if (block == NULL || rte_ring_sp_enqueue(tap->ring, block) != 0) {
		rte_pktmbuf_free(block);
		fm_count(&tap->no_room, 1);
		return;
	}
	fm_count(&tap->copied, 1);
}
