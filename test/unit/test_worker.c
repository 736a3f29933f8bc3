/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop of a worker and what control says to it, turn by turn: the fake port ends the loop when it has been polled.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <rte_ethdev.h>

#include "bed.h"
#include "door.h"
#include "fm_numa.h"
#include "pool.h"
#include "port.h"
#include "snapshot.h"
#include "worker.h"

enum { PORT = 0, DATAGRAMS = 8192, BACKLOG = 64 };

/* What lib/port has beside the files under test. */
struct fm_engine fm_engine;

uint32_t fm_pools_pieces(uint32_t max_fragments, uint32_t egress_mtu)
{
	return fm_budget_pieces(max_fragments, egress_mtu);
}

bool fm_port_link_up(const struct fm_port *port)
{
	(void)port;
	return true;
}

int fm_numa_lcore_node(unsigned int lcore)
{
	(void)lcore;
	return 0;
}

struct hall {
	struct bed bed;
	struct fm_worker *worker;
	struct rte_mbuf *pieces[FM_PIECES_MAX];
	uint16_t n_rx;		/* first fragments of as many new datagrams come each turn */
	uint32_t next_id;
	void *clbk[1], *queues[1];
};

static uint16_t receive(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct hall *h = queue;

	assert_in_range(h->n_rx, 0, n);
	for (uint16_t i = 0; i < h->n_rx; i++) {
		const struct fm_test_frag frag = bed_ipv4(h->next_id++, 0, 800, true);

		m[i] = bed_mbuf(&h->bed, &frag);
	}
	atomic_store(&fm_engine.quit, true);
	return h->n_rx;
}

static struct fm_settings settings(void)
{
	return (struct fm_settings){ .budget_mbufs = DATAGRAMS, .timeout_ms = { BED_TIMEOUT4, BED_TIMEOUT6 },
				     .max_fragments = 128, .source_prefix = { 32, 64 }, .header_chain = true };
}

static struct fm_worker *make_worker(struct hall *h, uint16_t id)
{
	void *memory = NULL;
	struct fm_worker *w;

	assert_int_equal(posix_memalign(&memory, RTE_CACHE_LINE_SIZE, sizeof(*w)), 0);
	memset(memory, 0, sizeof(*w));
	w = memory;
	w->id = id;
	w->burst = FM_BURST_MAX;
	w->snapshot = fm_engine.current;
	w->generation = w->snapshot->generation;
	w->n_queues = w->n_egress = 1;
	w->way[PORT].egress = &w->egress[0];
	w->queue[0] = (struct fm_queue){ .port = PORT, .way = &w->way[PORT] };
	w->egress[0].counters = &w->tx;
	fm_egress_init(&w->egress[0], calloc(1, fm_egress_memsize(BACKLOG)), BACKLOG, h->pieces);
	fm_engine.worker[id] = w;
	return w;
}

static int up(void **state)
{
	const struct fm_settings start = settings();
	struct hall *h = calloc(1, sizeof(*h));
	struct fm_reass_params params = bed_params();

	assert_non_null(h);
	params.max_datagrams = params.max_mbufs = params.settings.budget_mbufs = DATAGRAMS;
	bed_init_params(&h->bed, &params);
	fm_engine = (struct fm_engine){ .plan.n_workers = 2, .clock_hz = 1000 };
	fm_engine.budget.n_tables = 1;
	fm_engine.budget.granted = fm_engine.budget.max = DATAGRAMS;
	fm_snapshot_start(&start);
	assert_int_equal(posix_memalign((void **)&fm_engine.rcu, RTE_CACHE_LINE_SIZE, rte_rcu_qsbr_get_memsize(2)), 0);
	assert_int_equal(rte_rcu_qsbr_init(fm_engine.rcu, 2), 0);
	for (uint16_t id = 0; id < 2; id++)
		assert_int_equal(rte_rcu_qsbr_thread_register(fm_engine.rcu, id), 0);
	h->worker = make_worker(h, 0);
	h->worker->reass = h->bed.reass;
	h->worker->forwarding = true;
	make_worker(h, 1);
	h->queues[0] = h;
	rte_eth_fp_ops[PORT].rx_pkt_burst = receive;
	rte_eth_fp_ops[PORT].rxq.data = h->queues;
	rte_eth_fp_ops[PORT].rxq.clbk = h->clbk;
	*state = h;
	return 0;
}

static int down(void **state)
{
	struct hall *h = *state;

	bed_fini(&h->bed);
	for (uint16_t id = 0; id < 2; id++) {
		free(fm_engine.worker[id]->egress[0].ring);
		free(fm_engine.worker[id]);
	}
	free(fm_engine.rcu);
	free(h);
	return 0;
}

static void one_turn(struct hall *h)
{
	atomic_store(&fm_engine.quit, false);
	assert_int_equal(fm_worker_main(h->worker), 0);
}

static void hold(struct hall *h, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct fm_test_frag frag = bed_ipv4(h->next_id++, 0, 800, true);

		bed_send(&h->bed, &frag);
	}
	assert_int_equal(bed_held(&h->bed), n);
	/* The test says what time it is. */
	h->worker->rx_clock = true;
	h->worker->now = h->bed.now;
}

static void settings_arrive(void **state)
{
	struct hall *h = *state;
	struct fm_settings other = settings();

	hold(h, 3);
	one_turn(h);
	assert_int_equal(bed_held(&h->bed), 3);
	other.bypass = true;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	one_turn(h);
	assert_int_equal(bed_held(&h->bed), 0);
	assert_int_equal(bed_count(&h->bed, FM_FLUSHED), 3);
}

/* There are two snapshots: after two publications the worker finds the one that it has seen, with other settings. */
static void two_sets_in_one_turn(void **state)
{
	struct hall *h = *state;
	struct fm_settings other = settings();

	hold(h, 3);
	one_turn(h);
	other.timeout_ms[0]++;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	other.bypass = true;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	one_turn(h);
	assert_int_equal(bed_held(&h->bed), 0);
}

static void header_chain(void **state)
{
	struct hall *h = *state;
	/* A hop-by-hop header of 16 bytes cut after 8. */
	struct fm_test_frag frag = bed_ipv6(1, 0, 8, true);
	const uint8_t cut[8] = { 17, 1 };
	struct fm_settings other = settings();

	frag.protocol = 0;
	frag.payload = cut;
	h->worker->rx_clock = true;
	h->worker->now = h->bed.now;
	one_turn(h);
	assert_false(fm_engine.current->reass.short_chain);
	bed_send(&h->bed, &frag);
	assert_int_equal(bed_count(&h->bed, FM_HEADER_CHAIN), 1);
	other.header_chain = false;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	one_turn(h);
	frag.id = 2;
	bed_send(&h->bed, &frag);
	assert_int_equal(bed_count(&h->bed, FM_HEADER_CHAIN), 1);
	assert_int_equal(bed_held(&h->bed), 1);
}

/* A bounded share of a turn, and each turn. */
static void expiry_without_traffic(void **state)
{
	struct hall *h = *state;

	hold(h, 200);
	h->worker->now += BED_TIMEOUT4 + 1;
	one_turn(h);
	assert_in_range(bed_count(&h->bed, FM_TIMEOUT), 1, 199);
	for (uint32_t i = 1; i < 7; i++)
		one_turn(h);
	assert_int_equal(bed_count(&h->bed, FM_TIMEOUT), 200);
}

/* As fast as first fragments can come: what has timed out does not pile up. */
static void expiry_keeps_up(void **state)
{
	struct hall *h = *state;
	struct fm_settings other = settings();

	/* A tick: over from one turn to the next. */
	fm_engine.clock_hz = 1000;
	other.timeout_ms[0] = 1;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	h->n_rx = FM_BURST_MAX;
	for (uint32_t i = 1; i <= 20; i++) {
		one_turn(h);
		assert_in_range(bed_held(&h->bed), 0, FM_BURST_MAX);
		assert_int_equal(bed_held(&h->bed) + bed_count(&h->bed, FM_TIMEOUT), i * FM_BURST_MAX);
	}
}

static void source_prefixes(void **state)
{
	static const struct { uint8_t prefix[2]; const char *err; } wrong[] = {
		{ { 0, 64 }, "source-prefix4 0: must be 1..32 bits" },
		{ { 33, 64 }, "source-prefix4 33: must be 1..32 bits" },
		{ { 32, 0 }, "source-prefix6 0: must be 1..128 bits" },
		{ { 32, 129 }, "source-prefix6 129: must be 1..128 bits" },
	};
	struct hall *h = *state;
	struct fm_settings other = settings();
	struct fm_source_view view;
	uint32_t n = 0;
	char err[256];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(other.source_prefix, wrong[i].prefix, sizeof(other.source_prefix));
		assert_int_equal(fm_door_publish(&other, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, wrong[i].err);
	}
	other.source_prefix[0] = 24;
	other.source_prefix[1] = 48;
	assert_int_equal(fm_door_publish(&other, err, sizeof(err)), 0);
	one_turn(h);
	hold(h, 1);
	assert_int_equal(fm_reass_sources(h->bed.reass, 0, UINT32_MAX, &view, 1, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(view.prefix_len, 24);
	assert_memory_equal(view.prefix, ((uint8_t[16]){ 10 }), 16);
}

/* A smaller budget takes a bounded share of each turn, and holds in the end, under traffic, too. */
static void budget_shrinks_in_steps(void **state)
{
	enum { HELD = 4000, LESS = 100, STEP = 64, COMES = 8 };
	struct hall *h = *state;
	struct fm_settings other = settings();
	uint64_t before = HELD, held = HELD;
	unsigned int turns = 0;

	hold(h, HELD);
	h->n_rx = COMES;
	other.budget_mbufs = LESS;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	while (held > LESS) {
		one_turn(h);
		held = bed_held(&h->bed);
		assert_in_range(held, before > STEP + LESS ? before - STEP : 0, before + COMES);
		before = held;
		assert_in_range(++turns, HELD / STEP * (held <= LESS), 10 * HELD / STEP);
	}
	for (unsigned int i = 0; i < 10; i++) {
		one_turn(h);
		assert_in_range(bed_held(&h->bed), 1, LESS);
	}
}

/* Bypass frees what is held, little in each turn. */
static void bypass_frees_in_steps(void **state)
{
	enum { HELD = 1000, STEP = 64 };
	struct hall *h = *state;
	struct fm_settings other = settings();

	hold(h, HELD);
	other.bypass = true;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	for (uint64_t held = HELD; held > 0; held -= RTE_MIN(held, (uint64_t)STEP)) {
		assert_int_equal(bed_held(&h->bed), held);
		one_turn(h);
	}
	assert_int_equal(bed_count(&h->bed, FM_FLUSHED), HELD);
}

/* What is set while a budget is still being come down to counts at once; a larger budget ends it. */
static void settings_while_budget_shrinks(void **state)
{
	struct hall *h = *state;
	struct fm_settings other = settings();
	uint64_t held;

	hold(h, 1000);
	other.budget_mbufs = 1;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	for (unsigned int i = 0; i < 20; i++)
		one_turn(h);
	held = bed_held(&h->bed);
	assert_in_range(held, 100, 999);
	other.budget_mbufs = held;
	other.source_prefix[0] = 8;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	one_turn(h);
	one_turn(h);
	assert_int_equal(bed_held(&h->bed), held);
	other.budget_mbufs = 1;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	one_turn(h);
	other.bypass = true;
	assert_int_equal(fm_door_publish(&other, NULL, 0), 0);
	for (unsigned int i = 0; i < 20; i++)
		one_turn(h);
	assert_int_equal(bed_held(&h->bed), 0);
}

struct asking {
	struct fm_source_view view[4];
	int ret;
	atomic_bool done;
};

static void *ask_for_sources(void *arg)
{
	struct asking *a = arg;

	a->ret = fm_door_sources(0, a->view, 4, NULL, 0);
	atomic_store(&a->done, true);
	return NULL;
}

/* However many records there are, a turn of the loop looks at no more than 64 of them. */
static void sources_piece_by_piece(void **state)
{
	struct hall *h = *state;
	struct asking a = { .ret = -1 };
	uint32_t answers = 0, most = 0;
	pthread_t thread;

	hold(h, 3);
	assert_int_equal(pthread_create(&thread, NULL, ask_for_sources, &a), 0);
	while (!atomic_load(&a.done)) {
		if (atomic_load(&h->worker->mailbox.state) == FM_MAIL_SENT) {
			most = RTE_MAX(most, h->worker->mailbox.look->count);
			one_turn(h);
			answers++;
		}
		sched_yield();
	}
	pthread_join(thread, NULL);
	assert_int_equal(a.ret, 1);
	assert_int_equal(a.view[0].held_mbufs, 3);
	assert_int_equal(a.view[0].prefix_len, 32);
	assert_in_range(most, 1, 64);
	assert_in_range(answers, DATAGRAMS / 64, DATAGRAMS);
}

/* Stands for the workers: answers those below `n`, until `quit`. */
struct answering {
	atomic_uint n;
	atomic_bool quit;
};

static void *answer(void *arg)
{
	struct answering *a = arg;

	while (!atomic_load(&a->quit)) {
		for (unsigned int w = 0; w < atomic_load(&a->n); w++)
			if (fm_mailbox_take(&fm_engine.worker[w]->mailbox))
				fm_mailbox_answer(&fm_engine.worker[w]->mailbox, 0);
		sched_yield();
	}
	return NULL;
}

/* Not all answered: neither on nor off for certain, so both can be asked for. */
static void worker_that_does_not_answer(void **state)
{
	struct answering a = { .n = 1 };
	char err[256] = "";
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, answer, &a), 0);
	assert_int_equal(fm_door_start(err, sizeof(err)), -ETIMEDOUT);
	assert_string_equal(err, "worker 1 did not answer within 3000 ms");
	assert_false(fm_door_forwarding());
	assert_int_equal(fm_engine.worker[1]->mailbox.state, FM_MAIL_EMPTY);
	atomic_store(&a.n, 2);
	assert_int_equal(fm_door_stop(err, sizeof(err)), 0);
	assert_int_equal(fm_door_stop(err, sizeof(err)), -EALREADY);
	assert_int_equal(fm_door_start(err, sizeof(err)), 0);
	assert_true(fm_door_forwarding());
	assert_int_equal(fm_door_start(err, sizeof(err)), -EALREADY);
	atomic_store(&a.quit, true);
	pthread_join(thread, NULL);
}

#define HALL_TEST(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HALL_TEST(settings_arrive),
		HALL_TEST(two_sets_in_one_turn),
		HALL_TEST(header_chain),
		HALL_TEST(expiry_without_traffic),
		HALL_TEST(expiry_keeps_up),
		HALL_TEST(source_prefixes),
		HALL_TEST(budget_shrinks_in_steps),
		HALL_TEST(settings_while_budget_shrinks),
		HALL_TEST(bypass_frees_in_steps),
		HALL_TEST(sources_piece_by_piece),
		HALL_TEST(worker_that_does_not_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
