/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that share ports: whoever receives what, each datagram completes, and what cannot be handed over is named. */
#include <pthread.h>
#include <sched.h>

#include "door.h"
#include "team.h"

enum { DATAGRAMS = 96, PIECES = 4, STEP = 400, PLAIN = 200 };

/* An open generator: the same orders in every run. */
static uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)((*state >> 33) % n);
}

static struct fm_test_frag piece(uint32_t datagram, uint32_t i)
{
	struct fm_test_frag frag = datagram & 1 ? bed_ipv6(datagram, i * STEP, STEP, i + 1 < PIECES) :
				   bed_ipv4(datagram, i * STEP, STEP, i + 1 < PIECES);

	frag.source += datagram % 5;
	return frag;
}

static struct fm_test_frag plain(uint32_t number)
{
	struct fm_test_frag frag = bed_ipv4(number, 0, 64, false);

	frag.tos = 0xfc;
	return frag;
}

/* Fragments of all datagrams in random order, each on a random queue, and numbered frames between them. */
static void feed(struct team *t, uint16_t port, uint16_t queues, uint64_t seed)
{
	uint32_t order[DATAGRAMS * PIECES], next = 0;

	for (uint32_t i = 0; i < DATAGRAMS * PIECES; i++)
		order[i] = i;
	for (uint32_t i = DATAGRAMS * PIECES - 1; i > 0; i--) {
		const uint32_t j = random_below(&seed, i + 1), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
	for (uint32_t i = 0; i < DATAGRAMS * PIECES; i++) {
		const struct fm_test_frag frag = piece(order[i] / PIECES, order[i] % PIECES);

		team_receive(t, port, (uint16_t)random_below(&seed, queues), &frag);
		if (next < PLAIN && random_below(&seed, 2) == 0) {
			const struct fm_test_frag other = plain(next);

			/* A flow comes in by one queue. */
			team_receive(t, port, (uint16_t)(next++ % queues), &other);
		}
	}
}

static bool is_plain(const struct team_wire *wire, uint32_t i)
{
	return wire->len[i] >= 16 && wire->bytes[i][12] == 8 && wire->bytes[i][15] == 0xfc;
}

static uint32_t number_of(const struct team_wire *wire, uint32_t i)
{
	return (uint32_t)wire->bytes[i][18] << 8 | wire->bytes[i][19];
}

/* Numbered frames of each queue left in the order in which they came, all of them, unchanged. */
static void assert_order(const struct team_wire *wire, uint16_t queues)
{
	uint32_t next[TEAM_QUEUES] = { 0, 1, 2, 3 }, n = 0;
	static uint8_t want[BED_FRAME_MAX];

	for (uint32_t i = 0; i < wire->n; i++) {
		const uint32_t number = is_plain(wire, i) ? number_of(wire, i) : 0;
		const struct fm_test_frag frag = plain(number);

		if (!is_plain(wire, i))
			continue;
		assert_int_equal(number, next[number % queues]);
		next[number % queues] += queues;
		assert_int_equal(wire->len[i], fm_test_frame(&frag, want));
		assert_memory_equal(wire->bytes[i], want, wire->len[i]);
		n++;
	}
	assert_in_range(n, 100, PLAIN);
}

/* Each datagram left once, in clean fragments. The egress takes 1500 bytes, so one of 1600 does not leave whole. */
static void assert_datagrams(const struct team_wire *wire)
{
	uint32_t seen[DATAGRAMS][PIECES] = { 0 };
	static uint8_t want[BED_FRAME_MAX];

	for (uint32_t i = 0; i < wire->n; i++) {
		bool found = false;

		if (is_plain(wire, i))
			continue;
		for (uint32_t d = 0; d < DATAGRAMS && !found; d++)
			for (uint32_t p = 0; p < PIECES && !found; p++) {
				const struct fm_test_frag frag = piece(d, p);

				found = fm_test_frame(&frag, want) == wire->len[i] &&
					memcmp(want, wire->bytes[i], wire->len[i]) == 0;
				seen[d][p] += found;
			}
		assert_true(found);
	}
	for (uint32_t d = 0; d < DATAGRAMS; d++)
		for (uint32_t p = 0; p < PIECES; p++)
			assert_int_equal(seen[d][p], 1);
}

static void share_the_work(uint16_t workers, uint16_t rxq, uint16_t txq)
{
	struct team *t = team_up(workers, rxq, txq);

	feed(t, 0, rxq, 100U * workers + 10U * rxq + txq);
	team_settle(t);
	assert_int_equal(team_count(FM_COMPLETED), DATAGRAMS * PIECES);
	assert_int_equal(team_count(FM_SENT_REFRAGMENTED), DATAGRAMS);
	assert_datagrams(&t->tx[1]);
	assert_order(&t->tx[1], rxq);
	/* Nobody did it alone. */
	for (uint16_t w = 0; w < workers; w++) {
		struct fm_worker_stats stats;

		fm_door_worker_stats(w, &stats);
		assert_in_range(stats.reass.count[FM_COMPLETED], 1, workers > 1 ? DATAGRAMS * PIECES - 1 : UINT32_MAX);
		assert_int_equal(stats.reass.count[FM_SENT_REFRAGMENTED], stats.reass.datagrams_done);
	}
	team_down(t);
}

static void every_datagram_completes(void **state)
{
	(void)state;
	for (uint16_t workers = 1; workers <= 5; workers++)
		for (uint16_t rxq = 1; rxq <= TEAM_QUEUES; rxq++)
			for (uint16_t txq = 1; txq <= TEAM_QUEUES; txq++)
				share_the_work(workers, rxq, txq);
}

/* Both ports of a pair end at the same workers: a burst out of a pipe may hold fragments of both. */
static void both_ways(void **state)
{
	struct team *t = team_up(3, 2, 1);

	(void)state;
	feed(t, 0, 2, 1);
	feed(t, 1, 1, 2);
	team_settle(t);
	for (uint16_t p = 0; p < 2; p++) {
		assert_datagrams(&t->tx[p]);
		assert_order(&t->tx[p], p == 1 ? 2 : 1);
	}
	team_down(t);
}

/* Halves that came in by two ports make no datagram, whoever holds them. */
static void ports_do_not_mix(void **state)
{
	struct team *t = team_up(2, 1, 1);

	(void)state;
	for (uint32_t d = 0; d < 16; d++)
		for (uint32_t i = 0; i < PIECES; i++) {
			const struct fm_test_frag frag = piece(d, i);

			team_receive(t, i & 1, 0, &frag);
		}
	team_settle(t);
	assert_int_equal(team_count(FM_COMPLETED), 0);
	assert_int_equal(t->tx[0].n + t->tx[1].n, 0);
	team_down(t);
}

/* Its pipe fills, what follows is dropped by name; no other traffic suffers, and it goes on when the worker does. */
static void worker_that_sleeps(void **state)
{
	struct team *t = team_up(2, 1, 2);
	uint64_t full;
	uint32_t room;

	(void)state;
	for (uint32_t d = 0; d < 600; d++) {
		const struct fm_test_frag frag = piece(d, 0), other = plain(d % PLAIN);

		team_receive(t, 0, 0, &frag);
		if (d < PLAIN)
			team_receive(t, 0, 0, &other);
	}
	for (uint32_t i = 0; i < 100; i++)
		team_turn(t, 0);
	full = team_count(FM_STEER_FULL);
	room = fm_engine.worker[0]->steer->box[1]->pipe.room_mbufs;
	assert_int_equal(team_between().mbufs, room);
	assert_in_range(full, 100, 600 - room);
	assert_order(&t->tx[1], 1);
	assert_int_equal(team_count(FM_PASSED), PLAIN);
	team_settle(t);
	assert_int_equal(team_between().mbufs, 0);
	assert_int_equal(team_count(FM_STEER_FULL), full);
	team_down(t);
	/* The engine's counters are gone with it, but every mbuf came back, or team_down() would have said so. */
}

/* Who sends for others sleeps: what they have for him is dropped whole, and counted with whom it was. */
static void sender_that_sleeps(void **state)
{
	struct team *t = team_up(2, 2, 1);
	struct fm_worker_stats stats;
	uint64_t done;

	(void)state;
	for (uint32_t d = 0; d < 1000; d++) {
		const struct fm_test_frag frag = plain(d);

		team_receive(t, 0, 1, &frag);
	}
	for (uint32_t d = 0; d < 200; d++)
		for (uint32_t i = 0; i < PIECES; i++) {
			const struct fm_test_frag frag = piece(d, i);

			team_receive(t, 0, 1, &frag);
		}
	for (uint32_t i = 0; i < 100; i++)
		team_turn(t, 1);
	fm_door_worker_stats(1, &stats);
	done = stats.reass.datagrams_done;
	assert_int_equal(t->tx[1].n, 0);
	assert_in_range(stats.reass.count[FM_TX_FULL_FRAME], 500, 1000);
	assert_int_equal(stats.reass.count[FM_TX_FULL_FRAME] + stats.reass.count[FM_PASSED], 1000);
	assert_in_range(stats.reass.count[FM_TX_FULL], 1, done);
	team_settle(t);
	fm_door_worker_stats(1, &stats);
	assert_int_equal(stats.reass.count[FM_SENT_REFRAGMENTED] + stats.reass.count[FM_TX_FULL],
			 stats.reass.datagrams_done);
	/* All or nothing: four pieces of each, none of the others. */
	assert_int_equal(t->tx[1].n, stats.reass.count[FM_PASSED] + PIECES * team_count(FM_SENT_REFRAGMENTED));
	team_down(t);
}

/* A port that takes nothing fills first the backlog, then the pipe; nothing that waits is lost once it takes again. */
static void port_that_stands_still(void **state)
{
	struct team *t = team_up(2, 2, 1);

	(void)state;
	t->tx[1].stuck = true;
	for (uint32_t d = 0; d < 400; d++) {
		const struct fm_test_frag frag = plain(d);

		team_receive(t, 0, 1, &frag);
	}
	for (uint32_t i = 0; i < 60; i++)
		for (uint16_t w = 0; w < 2; w++)
			team_turn(t, w);
	assert_int_equal(team_count(FM_TX_FULL_FRAME) + team_count(FM_PASSED), 400);
	assert_in_range(team_between().mbufs, 1, 400);
	t->tx[1].stuck = false;
	team_settle(t);
	assert_int_equal(t->tx[1].n, team_count(FM_PASSED));
	team_down(t);
}

static void stop_all(uint16_t workers)
{
	for (uint16_t w = 0; w < workers; w++)
		fm_worker_stop(fm_engine.worker[w]);
}

/* Everything is on its way somewhere when it is stopped: after three rounds nothing is, and nothing was lost. */
static void stopped_midway(void **state)
{
	(void)state;
	for (uint32_t turns = 1; turns < 12; turns++) {
		struct team *t = team_up(3, 2, 1);
		uint64_t ends;

		feed(t, 0, 2, turns);
		for (uint32_t i = 0; i < turns; i++)
			team_turn(t, (uint16_t)(i % 2));
		assert_int_not_equal(team_between().mbufs, 0);
		/* The ports keep what they have: nobody receives any more. */
		for (unsigned int round = 0; round < FM_STOP_ROUNDS; round++)
			stop_all(3);
		assert_int_equal(team_between().mbufs, 0);
		ends = team_count(FM_COMPLETED) + team_count(FM_FLUSHED);
		for (uint16_t w = 0; w < 3; w++) {
			struct fm_worker_stats stats;

			fm_door_worker_stats(w, &stats);
			assert_int_equal(stats.reass.held_fragments + stats.tx_backlog_mbufs, 0);
			ends -= stats.reass.fragments_in;
		}
		assert_int_equal(ends, 0);
		for (uint16_t w = 0; w < 3; w++)
			fm_engine.worker[w]->forwarding = true;
		team_settle(t);
		team_down(t);
	}
}

/* Worker 2 receives for the last time what 1 owns when 1 has stopped, and 1 sends through 0, who has done so twice. */
static void third_round(void **state)
{
	struct team *t = team_up(4, 3, 1);

	(void)state;
	for (uint32_t d = 0; d < 8; d++)
		for (uint32_t i = 0; i < PIECES; i++) {
			const struct fm_test_frag frag = piece(d, i);

			team_receive(t, 0, 2, &frag);
		}
	fm_worker_stop(fm_engine.worker[0]);
	fm_worker_stop(fm_engine.worker[1]);
	team_turn(t, 2);
	fm_worker_stop(fm_engine.worker[2]);
	fm_worker_stop(fm_engine.worker[3]);
	assert_int_not_equal(team_between().mbufs, 0);
	stop_all(4);
	assert_int_not_equal(team_between().mbufs, 0);
	stop_all(4);
	assert_int_equal(team_between().mbufs, 0);
	assert_int_equal(team_count(FM_SENT_REFRAGMENTED), 8);
	team_down(t);
}

/* What was handed over before bypass came is forwarded as it came, by its owner. */
static void bypass_meets_full_pipes(void **state)
{
	struct team *t = team_up(2, 1, 1);
	struct fm_settings settings = fm_engine.current->settings;
	uint64_t between;

	(void)state;
	for (uint32_t d = 0; d < 64; d++) {
		const struct fm_test_frag frag = piece(d, 0);

		team_receive(t, 0, 0, &frag);
	}
	for (uint32_t i = 0; i < 2; i++)
		team_turn(t, 0);
	between = team_between().frames;
	assert_in_range(between, 10, 54);
	settings.bypass = true;
	team_set(t, &settings);
	team_settle(t);
	assert_int_equal(team_count(FM_BYPASSED), between);
	assert_int_equal(team_count(FM_FLUSHED), 64 - between);
	assert_int_equal(t->tx[1].n, between);
	team_down(t);
}

/* Stands for the workers; counts how often each was told to stop. */
struct answering {
	unsigned int stops;
	uint16_t last;
	atomic_bool quit;
};

static void *answer(void *arg)
{
	struct answering *a = arg;

	while (!atomic_load(&a->quit)) {
		for (uint16_t w = 0; w < fm_engine_workers(); w++)
			if (fm_mailbox_take(&fm_engine.worker[w]->mailbox)) {
				a->stops += fm_engine.worker[w]->mailbox.kind == FM_REQUEST_STOP;
				fm_mailbox_answer(&fm_engine.worker[w]->mailbox, 0);
			}
		sched_yield();
	}
	return NULL;
}

static void told_to_stop(uint16_t workers, unsigned int stops)
{
	struct answering a = { .stops = 0 };
	struct team *t = team_up(workers, 1, 1);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, answer, &a), 0);
	assert_int_equal(fm_door_start(NULL, 0), 0);
	assert_int_equal(fm_door_stop(NULL, 0), 0);
	atomic_store(&a.quit, true);
	pthread_join(thread, NULL);
	assert_int_equal(a.stops, stops);
	team_down(t);
}

static void rounds_of_stop(void **state)
{
	(void)state;
	told_to_stop(1, 1);
	told_to_stop(3, 3 * FM_STOP_ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_datagram_completes),
		cmocka_unit_test(both_ways),
		cmocka_unit_test(ports_do_not_mix),
		cmocka_unit_test(worker_that_sleeps),
		cmocka_unit_test(sender_that_sleeps),
		cmocka_unit_test(port_that_stands_still),
		cmocka_unit_test(stopped_midway),
		cmocka_unit_test(third_round),
		cmocka_unit_test(bypass_meets_full_pipes),
		cmocka_unit_test(rounds_of_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
