/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings that change while workers run: whatever is set in whatever order, through the door, `show check` finds every
 * frame and every mbuf after each turn (team_turn()), budgets hold soon, and in the end all mbufs are back.
 */
#include "door.h"
#include "team.h"

enum { FRAMES = 1200, OPEN = 96, STEP = 400, SEEDS = 24, SHARE_MAX = 1024, SHRINK_TURNS = 3 * SHARE_MAX / 16 };

static uint64_t seen[FM_OUTCOME_MAX];	/* by all runs */

struct run {
	struct team *team;
	uint16_t workers, rxq;
	uint64_t random;
	uint32_t next_id;
	struct { uint32_t id; uint8_t pieces, sent; } open[OPEN];
};

static uint32_t below(struct run *run, uint32_t n)
{
	run->random = run->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((run->random >> 33) % n);
}

static void rcu_up(void)
{
	/* Nobody is online: all turns are taken by this thread, and none while it publishes. */
	assert_int_equal(posix_memalign((void **)&fm_engine.rcu, RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(1)), 0);
	assert_int_equal(rte_rcu_qsbr_init(fm_engine.rcu, 1), 0);
}

static struct run *run_up(struct run *run, uint64_t seed)
{
	*run = (struct run){ .workers = (uint16_t)(1 + seed % 4), .rxq = (uint16_t)(1 + seed / 4 % 3), .random = seed };
	run->team = team_up(run->workers, run->rxq, 1 + seed % 2);
	rcu_up();
	for (uint16_t p = 0; p < 2; p++)
		fm_engine.pieces_max[p] = FM_PIECES_MAX;
	return run;
}

static void run_down(struct run *run)
{
	void *rcu = fm_engine.rcu;

	for (unsigned int o = 0; o < FM_OUTCOME_MAX; o++)
		seen[o] += team_count((enum fm_outcome)o);
	team_down(run->team);
	free(rcu);
}

/* The next fragment of one of the datagrams under way; a few are lost, a few come twice, some datagrams never end. */
static void receive(struct run *run)
{
	const uint32_t at = below(run, OPEN), trick = below(run, 40);
	struct fm_test_frag frag;

	if (run->open[at].sent == run->open[at].pieces) {
		run->open[at].id = ++run->next_id;
		run->open[at].pieces = (uint8_t)(2 + below(run, 6));
		run->open[at].sent = 0;
	}
	frag = run->open[at].id % 3 == 0 ? bed_ipv6(run->open[at].id, 0, STEP, true) :
					   bed_ipv4(run->open[at].id, 0, STEP, true);
	frag.source += run->open[at].id % 7 << 8;
	frag.offset = run->open[at].sent * STEP;
	frag.more = run->open[at].sent + 1 < run->open[at].pieces;
	if (trick == 0)
		frag.length += 8;
	if (trick != 1)
		run->open[at].sent++;
	if (trick != 2)
		team_receive(run->team, 0, (uint16_t)below(run, run->rxq), &frag);
}

static void publish(struct run *run)
{
	static const uint32_t ms[] = { 1, 50, FM_TIMEOUT_MS_MAX };
	struct fm_settings s;
	char err[FM_SENTENCE_LEN] = "";

	fm_door_settings(&s);
	switch (below(run, 9)) {
	case 0: s.budget_mbufs = run->workers * (1 + below(run, 64)); break;
	case 1: s.budget_mbufs = run->workers * (1 + below(run, SHARE_MAX)); break;
	case 2: s.timeout_ms[below(run, FM_FAMILIES)] = ms[below(run, RTE_DIM(ms))]; break;
	case 3: s.max_fragments = (uint16_t)(FM_FRAGMENTS_MIN + below(run, 8)); break;
	case 4: s.output = (enum fm_output_mode)below(run, 3); break;
	case 5: s.verify_l4 = !s.verify_l4; break;
	case 6: s.source_prefix[FM_IPV4] = (uint8_t)(1 + below(run, 32)); break;
	case 7: s.source_prefix[FM_IPV6] = (uint8_t)(1 + below(run, 128)); break;
	default: s.bypass = !s.bypass; s.header_chain = below(run, 2) == 0; break;
	}
	if (fm_door_publish(&s, err, sizeof(err)) != 0)
		fail_msg("%s", err);
}

static uint64_t held_mbufs(uint16_t worker)
{
	struct fm_worker_stats stats;

	fm_door_worker_stats(worker, &stats);
	return stats.reass.held_mbufs;
}

/* Whatever is under way is let in, then every table is within its share. */
static void assert_budget(struct run *run)
{
	const uint64_t share = fm_engine.current->reass.budget_mbufs;

	for (unsigned int turn = 0; turn < SHRINK_TURNS; turn++)
		for (uint16_t w = 0; w < run->workers; w++)
			team_turn(run->team, w);
	for (uint16_t w = 0; w < run->workers; w++)
		assert_in_range(held_mbufs(w), 0, share);
}

static void anything_at_any_time(void **state)
{
	struct run run;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		run_up(&run, seed);
		for (uint32_t i = 0; i < FRAMES; i++) {
			receive(&run);
			if (below(&run, 8) == 0)
				team_turn(run.team, (uint16_t)below(&run, run.workers));
			if (below(&run, 24) == 0)
				publish(&run);
			if (below(&run, 400) == 0)
				assert_budget(&run);
		}
		team_settle(run.team);
		assert_budget(&run);
		run_down(&run);
	}
	/* The runs were about something. */
	assert_true(seen[FM_COMPLETED] > 0 && seen[FM_BYPASSED] > 0 && seen[FM_FLUSHED] > 0);
	assert_true(seen[FM_SENT_WHOLE] > 0 && seen[FM_SENT_REFRAGMENTED] > 0 && seen[FM_TOO_MANY_FRAGMENTS] > 0);
	assert_true(seen[FM_EVICTED_PROGRESS] + seen[FM_EVICTED_UNLIKELY] + seen[FM_EVICTED_COLD] > 0);
}

/* The same traffic with the budget down and up again, and nothing else: what is lost is named as evicted or refused. */
static void budget_down_and_up(void **state)
{
	struct run run;
	struct fm_settings s;

	(void)state;
	run_up(&run, 3);
	for (uint32_t i = 0; i < FRAMES; i++) {
		receive(&run);
		if (i % 8 == 0)
			team_turn(run.team, (uint16_t)(i / 8 % run.workers));
		if (i % 200 != 0)
			continue;
		fm_door_settings(&s);
		s.budget_mbufs = run.workers * (i % 400 == 0 ? 20 : SHARE_MAX);
		assert_int_equal(fm_door_publish(&s, NULL, 0), 0);
		assert_budget(&run);
	}
	team_settle(run.team);
	assert_int_equal(team_count(FM_TIMEOUT) + team_count(FM_FLUSHED) + team_count(FM_BYPASSED), 0);
	assert_true(team_count(FM_COMPLETED) > 0);
	run_down(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anything_at_any_time),
		cmocka_unit_test(budget_down_and_up),
	};

	return cmocka_run_group_tests_name("team_live", tests, NULL, NULL);
}
