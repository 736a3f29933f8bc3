/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_check.h"

#include "fm_mbuf.h"
#include "fm_split.h"

static void count_dropped(void *arg, const struct rte_mbuf *m, enum fm_outcome why)
{
	struct fm_fuzz_table *t = arg;
	uint32_t len;

	FM_FUZZ_CHECK(why < FM_OUTCOME_MAX && fm_outcome_info[why].unit == FM_UNIT_FRAGMENT && why != FM_COMPLETED,
		      "dropped as %d", why);
	/* Reads all of it: what was freed already is seen by the sanitizer. */
	free(fm_test_bytes(m, &len));
	t->dropped[why]++;
}

void fm_fuzz_table_init(struct fm_fuzz_table *t, const struct fm_reass_params *params, bool header_pool)
{
	char err[256] = "";
	int ret;

	t->params = *params;
	t->owner.pool = fm_test_pool(FM_FUZZ_POOL_MBUFS, RTE_PKTMBUF_HEADROOM + FM_FUZZ_SEGMENT_MAX);
	t->headers = fm_test_pool(FM_FUZZ_HEADER_MBUFS, RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM);
	t->params.header_pool = header_pool ? t->headers : NULL;
	t->params.dropped = count_dropped;
	t->params.dropped_arg = t;
	FM_FUZZ_CHECK(posix_memalign(&t->memory, 64, fm_reass_memsize(&t->params)) == 0, "out of memory");
	ret = fm_reass_init(t->memory, &t->params, &t->reass, err, sizeof(err));
	FM_FUZZ_CHECK(ret == 0, "%s", err);
}

/* The callback is called for each dropped fragment; a datagram with a bad transport checksum is joined by then. */
static void check_callbacks(const struct fm_fuzz_table *t, const struct fm_reass_stats *stats, const char *operation)
{
	for (int i = 0; i < FM_OUTCOME_MAX; i++) {
		const bool drop = fm_outcome_info[i].unit == FM_UNIT_FRAGMENT && i != FM_COMPLETED;

		if (i != FM_BAD_L4_CHECKSUM)
			FM_FUZZ_CHECK(t->dropped[i] == (drop ? stats->count[i] : 0), "%s: %lu callbacks for %s",
				      operation, t->dropped[i], fm_outcome_info[i].name);
	}
}

void fm_fuzz_table_check(const struct fm_fuzz_table *t, uint64_t pending, const char *operation)
{
	const struct fm_reass_stats *stats = fm_reass_stats(t->reass);
	const uint32_t out = fm_test_pool_out(t->owner.pool) + fm_test_pool_out(t->headers);
	const uint64_t known = stats->held_mbufs + pending;
	uint64_t fragments = stats->held_fragments, frames = stats->fragments_in;
	char err[256] = "";

	for (int i = 0; i < FM_OUTCOME_MAX; i++) {
		fragments += fm_outcome_info[i].unit == FM_UNIT_FRAGMENT ? stats->count[i] : 0;
		frames += fm_outcome_info[i].unit == FM_UNIT_FRAME ? stats->count[i] : 0;
	}
	FM_FUZZ_CHECK(fragments == stats->fragments_in, "%s: %lu fragments", operation, fragments);
	FM_FUZZ_CHECK(frames == stats->frames_in, "%s: %lu frames", operation, frames);
	check_callbacks(t, stats, operation);
	FM_FUZZ_CHECK(stats->held_mbufs <= t->params.settings.budget_mbufs, "%s: %lu mbufs held", operation,
		      stats->held_mbufs);
	FM_FUZZ_CHECK(stats->held_fragments <= stats->held_mbufs, "%s: %lu fragments held", operation,
		      stats->held_fragments);
	FM_FUZZ_CHECK(stats->datagrams <= t->params.max_datagrams, "%s: %lu datagrams", operation, stats->datagrams);
	/* A segment that is shared is out once, whether it is also held or not. */
	FM_FUZZ_CHECK(out <= known + t->owner.n_kept && out + t->owner.n_kept >= known, "%s: %u mbufs out, %lu known",
		      operation, out, known);
	FM_FUZZ_CHECK(fm_reass_sound(t->reass, err, sizeof(err)), "%s: %s", operation, err);
}

void fm_fuzz_table_flush(struct fm_fuzz_table *t, uint64_t pending)
{
	const struct fm_reass_stats *stats = fm_reass_stats(t->reass);
	const uint64_t held = stats->held_fragments;
	const uint64_t freed = fm_reass_flush(t->reass);

	FM_FUZZ_CHECK(freed == held, "%lu freed, %lu held", freed, held);
	FM_FUZZ_CHECK(stats->held_mbufs == 0 && stats->datagrams == 0 && stats->condemned == 0, "not empty");
	fm_fuzz_table_check(t, pending, "flush");
}

void fm_fuzz_table_fini(struct fm_fuzz_table *t)
{
	fm_fuzz_release(&t->owner);
	FM_FUZZ_CHECK(fm_test_pool_out(t->owner.pool) == 0 && fm_test_pool_out(t->headers) == 0, "leaked");
	fm_test_pool_free(t->owner.pool);
	fm_test_pool_free(t->headers);
	free(t->memory);
}
