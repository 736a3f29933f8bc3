/* SPDX-License-Identifier: BSD-3-Clause */
/* Who polls what and owns which fragments, and that a TX queue has one user. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "plan.h"
#include "rss.h"

static struct fm_plan ports(uint16_t n, uint16_t workers, uint16_t queues, bool by_address)
{
	struct fm_plan plan = { .n_ports = n, .n_workers = workers };

	for (uint16_t i = 0; i < n && i < FM_PORTS_MAX; i++)
		plan.port[i] = (struct fm_plan_port){ .id = i, .max_rxq = queues, .max_txq = queues,
						      .by_address = by_address };
	return plan;
}

/* Each TX queue has one user, and whoever has none sends through one who has. */
static void assert_ways_out(const struct fm_plan *plan, uint16_t p)
{
	const struct fm_plan_port *port = &plan->port[p];
	const struct fm_plan_port *peer = &plan->port[port->peer];
	uint16_t relayed = 0;
	int user[1024];

	memset(user, -1, sizeof(user));
	for (uint16_t w = 0; w < plan->n_workers; w++) {
		const uint16_t tx = fm_plan_tx_queue(plan, p, w), by = fm_plan_tx_worker(plan, p, w);

		if (!fm_plan_owns(plan, p, w))
			continue;
		assert_in_range(tx, 0, peer->nb_txq - 1);
		assert_true(fm_plan_owns(plan, p, by));
		assert_int_equal(fm_plan_tx_queue(plan, p, by), tx);
		assert_int_equal(fm_plan_tx_worker(plan, p, by), by);
		assert_true(user[tx] == -1 || user[tx] == by);
		user[tx] = by;
		relayed += by != w;
	}
	assert_int_equal(fm_plan_relayed(plan, p), relayed);
}

/* What holds for every plan that was made. */
static void assert_sound(const struct fm_plan *plan)
{
	for (uint16_t p = 0; p < plan->n_ports; p++) {
		const struct fm_plan_port *port = &plan->port[p];
		uint16_t owners = 0;

		assert_int_equal(plan->port[port->peer].peer, p);
		assert_in_range(port->nb_rxq, 1, port->max_rxq);
		assert_in_range(port->nb_txq, 1, port->max_txq);
		for (uint16_t w = 0; w < plan->n_workers; w++)
			owners += fm_plan_owns(plan, p, w);
		assert_int_equal(owners, port->n_owners);
		/* Without a hash over addresses any fragment may come on any queue: to whomever it belongs. */
		if (!port->by_address && port->n_workers > 1)
			assert_true(port->steered);
		if (plan->n_workers == 1)
			assert_false(port->steered);
		if (plan->steer)
			assert_int_equal(owners, plan->n_workers);
		else if (port->by_address)
			assert_false(port->steered);
		assert_int_equal(owners, port->steered ? plan->n_workers : port->n_workers);
		for (uint16_t q = 0; q < port->nb_rxq; q++)
			assert_true(fm_plan_owns(plan, p, fm_plan_worker(plan, p, q)));
		assert_ways_out(plan, p);
	}
}

static bool has_tx_queue(const struct fm_plan *plan, uint16_t port, uint16_t worker)
{
	return fm_plan_tx_worker(plan, port, worker) == worker;
}

static void refuse(struct fm_plan *plan, const char *word)
{
	char err[256] = "";

	assert_int_equal(fm_plan_make(plan, err, sizeof(err)), -EINVAL);
	if (strstr(err, word) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err, word);
}

static void one_worker(void **state)
{
	struct fm_plan plan = ports(2, 1, 1, false);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].peer, 1);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 0), 1);
	assert_int_equal(fm_plan_queues_of(&plan, 1, 0), 1);
}

static void loop(void **state)
{
	struct fm_plan plan = ports(3, 2, 1, false);

	(void)state;
	plan.loop = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[2].peer, 2);
}

/* Ports that cannot spread: no worker is idle while another one polls two of them. */
static void ports_go_round(void **state)
{
	struct fm_plan plan = ports(8, 3, 4, false);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	for (uint16_t p = 0; p < 8; p++)
		assert_int_equal(fm_plan_worker(&plan, p, 0), p % 3);
}

static void one_pair_two_workers(void **state)
{
	struct fm_plan plan = ports(2, 2, 1, false);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 0), 1);
	assert_int_equal(fm_plan_queues_of(&plan, 1, 1), 1);
	/* A direction each, and they have nothing to do with each other. */
	for (uint16_t p = 0; p < 2; p++) {
		assert_false(plan.port[p].steered);
		assert_int_equal(plan.port[p].n_owners, 1);
		assert_int_equal(fm_plan_relayed(&plan, p), 0);
	}
}

static void one_pair_two_workers_steered(void **state)
{
	struct fm_plan plan = ports(2, 2, 1, false);

	(void)state;
	plan.steer = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 0), 1);
	assert_int_equal(fm_plan_queues_of(&plan, 1, 1), 1);
	/* Both own fragments of both ports; one sends through the other, because there is one TX queue. */
	for (uint16_t p = 0; p < 2; p++) {
		assert_true(plan.port[p].steered);
		assert_int_equal(plan.port[p].n_owners, 2);
		assert_int_equal(plan.port[p].nb_txq, 1);
		assert_true(has_tx_queue(&plan, p, p));
		assert_false(has_tx_queue(&plan, p, 1 - p));
	}
}

/* Fragments alone are not enough: all else would stay on queue 0. */
static void which_hashes_spread_by_address(void **state)
{
	const uint64_t fragments = RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6;
	const uint64_t ports = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
			       RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP;

	(void)state;
	assert_false(fm_rss_by_address(0));
	assert_false(fm_rss_by_address(ports));
	assert_false(fm_rss_by_address(fragments));
	assert_false(fm_rss_by_address(fragments | ports));
	assert_false(fm_rss_by_address(fragments | RTE_ETH_RSS_IPV4));
	assert_false(fm_rss_by_address(fragments | RTE_ETH_RSS_IPV6));
	assert_true(fm_rss_by_address(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6));
	assert_true(fm_rss_by_address(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | fragments | ports));
	/* None of what is asked for has ports in it. */
	assert_true((FM_RSS_ADDRESSES & ports) == 0);
	assert_true((FM_RSS_ADDRESSES & fragments) == fragments);
}

static void queue_for_each_worker(void **state)
{
	struct fm_plan plan = ports(2, 4, 16, true);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].nb_rxq, 4);
	assert_int_equal(plan.port[0].nb_txq, 4);
	for (uint16_t q = 0; q < 4; q++)
		assert_int_equal(fm_plan_worker(&plan, 0, q), q);
	assert_false(plan.port[0].steered);
	assert_int_equal(fm_plan_relayed(&plan, 0), 0);
}

static void fewer_queues_than_workers(void **state)
{
	struct fm_plan plan = ports(4, 4, 2, true);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	/* The two directions go to different workers, and so all have two queues. */
	assert_int_equal(fm_plan_worker(&plan, 0, 1), 1);
	assert_int_equal(fm_plan_worker(&plan, 1, 0), 2);
	assert_int_equal(fm_plan_worker(&plan, 2, 0), 0);
	assert_int_equal(fm_plan_worker(&plan, 3, 1), 3);
	/* Nobody is left without work, so the cards do it all. */
	assert_false(plan.port[0].steered);
	assert_int_equal(fm_plan_tables(&plan), 4);
}

/* With one pair two of the workers would have nothing to do. */
static void idle_workers_get_fragments(void **state)
{
	struct fm_plan plan = ports(2, 6, 2, true);

	(void)state;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(fm_plan_tables(&plan), 4);
	plan.steer = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_true(plan.port[0].steered);
	assert_int_equal(plan.port[0].n_workers, 2);
	assert_int_equal(plan.port[0].n_owners, 6);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 4) + fm_plan_queues_of(&plan, 1, 4), 0);
	assert_int_equal(fm_plan_tables(&plan), 6);
	/* Who polls has a TX queue; the others send through those, two each. */
	assert_int_equal(plan.port[1].nb_txq, 2);
	assert_int_equal(fm_plan_relayed(&plan, 0), 4);
	for (uint16_t w = 0; w < 6; w++)
		assert_int_equal(fm_plan_tx_worker(&plan, 0, w), w % 2);
}

static void peer_with_few_tx_queues(void **state)
{
	struct fm_plan plan = ports(2, 4, 8, true);

	(void)state;
	plan.port[1].max_txq = 2;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].nb_rxq, 2);
	assert_int_equal(plan.port[1].nb_rxq, 4);
}

static void unlike_ports(void **state)
{
	struct fm_plan plan = ports(2, 4, 8, true);

	(void)state;
	plan.port[1].by_address = false;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].n_workers, 4);
	assert_false(plan.port[0].steered);
	assert_int_equal(plan.port[1].n_workers, 1);
	assert_false(plan.port[1].steered);
	assert_int_equal(plan.port[0].nb_txq, 1);
	assert_int_equal(plan.port[1].nb_txq, 4);
	plan.steer = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_false(plan.port[0].steered);
	assert_true(plan.port[1].steered);
	assert_int_equal(plan.port[0].nb_txq, 4);
	assert_int_equal(plan.port[1].nb_txq, 4);
}

/* Queues that were asked for with the device may all get frames. */
static void all_queues(void **state)
{
	struct fm_plan plan = ports(2, 2, 4, false);

	(void)state;
	plan.port[0].all_queues = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].nb_rxq, 4);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 0), 2);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 1), 2);
	assert_true(plan.port[0].steered);
	assert_false(plan.port[1].steered);
	assert_int_equal(plan.port[1].nb_txq, 2);
	assert_int_equal(plan.port[0].nb_txq, 1);
}

/* Queues that were asked for are polled by as many workers as there are, whoever has to send for them. */
static void poller_without_tx_queue(void **state)
{
	struct fm_plan plan = ports(2, 2, 2, false);

	(void)state;
	plan.port[0].all_queues = true;
	plan.port[1].max_txq = 1;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(plan.port[0].n_workers, 2);
	assert_true(has_tx_queue(&plan, 0, fm_plan_worker(&plan, 0, 0)));
	assert_false(has_tx_queue(&plan, 0, fm_plan_worker(&plan, 0, 1)));
}

static void few_tx_queues_asked_for(void **state)
{
	struct fm_plan plan = ports(2, 3, 4, true);

	(void)state;
	plan.nb_txq = 2;
	plan.steer = true;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	/* No more RX queues than workers that can send, and the third one gets fragments. */
	assert_int_equal(plan.port[0].nb_rxq, 2);
	assert_int_equal(plan.port[0].nb_txq, 2);
	assert_int_equal(fm_plan_relayed(&plan, 0), 1);
}

static void more_queues_than_workers(void **state)
{
	struct fm_plan plan = ports(2, 2, 8, true);

	(void)state;
	plan.nb_rxq = 8;
	assert_int_equal(fm_plan_make(&plan, NULL, 0), 0);
	assert_sound(&plan);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 0), 4);
	assert_int_equal(fm_plan_queues_of(&plan, 0, 1), 4);
	assert_int_equal(plan.port[1].nb_txq, 2);
}

static void queues_that_are_not_there(void **state)
{
	struct fm_plan plan = ports(2, 1, 4, true);

	(void)state;
	plan.nb_rxq = 5;
	refuse(&plan, "--rxq 5: port 0 has at most 4");
	plan = ports(2, 1, 4, true);
	plan.nb_txq = 5;
	refuse(&plan, "--txq 5: port 0 has at most 4");
	plan = ports(2, 1, 0, true);
	refuse(&plan, "port 0 has no RX queue");
	plan = ports(2, 1, 4, true);
	plan.port[1].max_txq = 0;
	refuse(&plan, "port 1 has no TX queue");
}

static void ports_that_do_not_pair(void **state)
{
	struct fm_plan plan = ports(0, 1, 1, false);

	(void)state;
	refuse(&plan, "no port");
	plan = ports(1, 1, 1, false);
	refuse(&plan, "1 port found");
	plan = ports(5, 1, 1, false);
	refuse(&plan, "5 ports found");
	plan = ports(FM_PORTS_MAX + 2, 1, 1, false);
	refuse(&plan, "at most 32");
}

static void workers_out_of_range(void **state)
{
	struct fm_plan plan = ports(2, 0, 1, false);

	(void)state;
	refuse(&plan, "0 workers: must be 1..128");
	plan = ports(2, FM_WORKERS_MAX + 1, 1, false);
	refuse(&plan, "129 workers");
	/* 32 ports with 8 queues each are more than one worker's list holds. */
	plan = ports(FM_PORTS_MAX, 1, 8, false);
	plan.nb_rxq = 8;
	refuse(&plan, "worker 0 would poll 256 queues");
}

/* All shapes there are, up to a size. */
static void every_plan_is_sound(void **state)
{
	unsigned int made = 0;

	(void)state;
	for (uint16_t n = 1; n <= 6; n++)
		for (uint16_t workers = 1; workers <= 5; workers++)
			for (uint16_t shape = 0; shape < 512; shape++) {
				struct fm_plan plan = ports(n, workers, 1 + (shape & 3), (shape & 4) != 0);

				plan.steer = (shape & 256) != 0;
				plan.loop = (shape & 8) != 0;
				plan.nb_rxq = (shape >> 4) & 3;
				plan.port[0].max_rxq = 1 + (shape >> 6 & 3);
				plan.port[n - 1].by_address = (shape & 32) != 0;
				if (fm_plan_make(&plan, NULL, 0) != 0)
					continue;
				made++;
				assert_sound(&plan);
			}
	assert_in_range(made, 4000, 6 * 5 * 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_worker),
		cmocka_unit_test(loop),
		cmocka_unit_test(ports_go_round),
		cmocka_unit_test(one_pair_two_workers),
		cmocka_unit_test(one_pair_two_workers_steered),
		cmocka_unit_test(which_hashes_spread_by_address),
		cmocka_unit_test(queue_for_each_worker),
		cmocka_unit_test(fewer_queues_than_workers),
		cmocka_unit_test(idle_workers_get_fragments),
		cmocka_unit_test(peer_with_few_tx_queues),
		cmocka_unit_test(unlike_ports),
		cmocka_unit_test(all_queues),
		cmocka_unit_test(poller_without_tx_queue),
		cmocka_unit_test(few_tx_queues_asked_for),
		cmocka_unit_test(more_queues_than_workers),
		cmocka_unit_test(queues_that_are_not_there),
		cmocka_unit_test(ports_that_do_not_pair),
		cmocka_unit_test(workers_out_of_range),
		cmocka_unit_test(every_plan_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
