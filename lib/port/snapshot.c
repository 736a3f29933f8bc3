/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>

#include "fail.h"
#include "pool.h"
#include "snapshot.h"
#include "state.h"

enum { FM_MS_PER_S = 1000 };

static void fill(struct fm_snapshot *snapshot, const struct fm_settings *settings)
{
	snapshot->settings = *settings;
	snapshot->reass = (struct fm_reass_settings){
		.budget_mbufs = (uint32_t)(settings->budget_mbufs / fm_engine.budget.n_tables),
		.max_fragments = settings->max_fragments,
		.verify_l4 = settings->verify_l4,
		.short_chain = !settings->header_chain,
	};
	for (unsigned int f = 0; f < FM_FAMILIES; f++) {
		snapshot->reass.timeout_tsc[f] = settings->timeout_ms[f] * fm_engine.clock_hz / FM_MS_PER_S;
		snapshot->reass.source_prefix[f] = settings->source_prefix[f];
	}
}

void fm_snapshot_start(const struct fm_settings *settings)
{
	struct fm_settings granted = *settings;

	granted.budget_mbufs = fm_engine.budget.granted;
	fill(&fm_engine.snapshot[0], &granted);
	fm_engine.current = &fm_engine.snapshot[0];
}

static int check_max_fragments(uint16_t max_fragments, char *err, size_t err_len)
{
	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		const struct fm_port *port = &fm_engine.port[i];
		const uint32_t needs = fm_pools_pieces(max_fragments, fm_engine.port[port->peer].limits.mtu);

		if (fm_engine.backlog_mbufs[i] != 0 && needs > fm_engine.pieces_max[i])
			return fm_fail(err, err_len, -EINVAL,
				       "max-fragments %u: needs a transmit backlog of %" PRIu32
				       " mbufs for port %u, and %" PRIu32
				       " were provided for at start; start with --max-fragments %u",
				       max_fragments, needs, fm_engine.port[port->peer].id, fm_engine.pieces_max[i],
				       max_fragments);
	}
	return 0;
}

static int check_family(const struct fm_settings *s, enum fm_family_index f, char *err, size_t err_len)
{
	const char digit = f == FM_IPV4 ? '4' : '6';
	const unsigned int bits = f == FM_IPV4 ? 32 : 128;

	if (s->timeout_ms[f] < 1 || s->timeout_ms[f] > FM_TIMEOUT_MS_MAX)
		return fm_fail(err, err_len, -EINVAL, "timeout%c %" PRIu32 ": must be 1..%u ms", digit,
			       s->timeout_ms[f], FM_TIMEOUT_MS_MAX);
	if (s->source_prefix[f] < 1 || s->source_prefix[f] > bits)
		return fm_fail(err, err_len, -EINVAL, "source-prefix%c %u: must be 1..%u bits", digit,
			       s->source_prefix[f], bits);
	return 0;
}

int fm_snapshot_check(const struct fm_settings *s, char *err, size_t err_len)
{
	for (enum fm_family_index f = 0; f < FM_FAMILIES; f++) {
		const int ret = check_family(s, f, err, err_len);

		if (ret != 0)
			return ret;
	}
	if (s->max_fragments < FM_FRAGMENTS_MIN || s->max_fragments > FM_FRAGMENTS_MAX)
		return fm_fail(err, err_len, -EINVAL, "max-fragments %u: must be %u..%u", s->max_fragments,
			       FM_FRAGMENTS_MIN, FM_FRAGMENTS_MAX);
	if ((unsigned int)s->output > FM_OUTPUT_REFRAGMENT)
		return fm_fail(err, err_len, -EINVAL, "output %u: no such mode", s->output);
	if (s->budget_mbufs < fm_engine.budget.n_tables || s->budget_mbufs > fm_engine.budget.max)
		return fm_fail(err, err_len, -EINVAL, "budget %" PRIu64 ": must be %u..%" PRIu64
			       " mbufs, which is what the reserve of the pools leaves", s->budget_mbufs,
			       fm_engine.budget.n_tables, fm_engine.budget.max);
	return check_max_fragments(s->max_fragments, err, err_len);
}

void fm_snapshot_publish(const struct fm_settings *settings)
{
	struct fm_snapshot *next = &fm_engine.snapshot[fm_engine.current == &fm_engine.snapshot[0]];

	next->generation = fm_engine.current->generation + 1;
	fill(next, settings);
	__atomic_store_n(&fm_engine.current, next, __ATOMIC_RELEASE);
	rte_rcu_qsbr_synchronize(fm_engine.rcu, RTE_QSBR_THRID_INVALID);
}
