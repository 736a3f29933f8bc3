/* SPDX-License-Identifier: BSD-3-Clause */
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "connect.h"
#include "door.h"
#include "fm_numa.h"
#include "pool.h"
#include "port.h"
#include "snapshot.h"
#include "team.h"

enum { POOL = 16384, SHARE = 1024, BACKLOG = 256, STEER = 128, STUCK = 1 << 30 };

/* What lib/port has beside the files under test; memory comes from libc. */
struct fm_engine fm_engine;

void *rte_zmalloc_socket(const char *type, size_t size, unsigned int align, int socket)
{
	void *memory = NULL;

	(void)type;
	(void)socket;
	if (posix_memalign(&memory, align != 0 ? align : RTE_CACHE_LINE_SIZE, size) != 0)
		return NULL;
	return memset(memory, 0, size);
}

void rte_free(void *memory)
{
	free(memory);
}

int fm_engine_socket(int socket)
{
	return socket;
}

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

unsigned int fm_numa_lcore_home(unsigned int lcore)
{
	(void)lcore;
	return 0;
}

static uint16_t receive(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct team_queue *q = queue;
	uint16_t i;

	for (i = 0; i < n && q->head != q->tail; i++)
		m[i] = q->m[q->head++];
	return i;
}

static uint16_t transmit(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct team_wire *wire = queue;

	if (wire->stuck)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		assert_in_range(wire->n, 0, TEAM_FRAMES_MAX - 1);
		wire->bytes[wire->n] = fm_test_bytes(m[i], &wire->len[wire->n]);
		wire->n++;
		rte_pktmbuf_free(m[i]);
	}
	return n;
}

static void make_port(struct team *t, uint16_t p, uint16_t rxq, uint16_t txq)
{
	static const struct fm_driver driver = { .name = "net_test" };
	struct fm_port *port = &fm_engine.port[p];

	*port = (struct fm_port){
		.id = p, .peer = p ^ 1, .driver = &driver, .pool = t->pool,
		.limits = { .mtu = 1500, .frame_max = UINT32_MAX, .chain_max_bytes = UINT32_MAX,
			    .chain_max_segs = UINT16_MAX },
	};
	fm_engine.plan.port[p] = (struct fm_plan_port){
		.id = p, .max_rxq = rxq, .max_txq = txq, .all_queues = true,
	};
	fm_engine.backlog_mbufs[p] = BACKLOG;
	/* Both ports have one pool here: it is looked at once. */
	fm_engine.budget.pool[p].size = p == 0 ? POOL : 0;
	for (uint16_t q = 0; q < TEAM_QUEUES; q++) {
		t->rx_data[p][q] = &t->rx[p][q];
		t->tx_data[p][q] = &t->tx[p];
	}
	rte_eth_fp_ops[p].rx_pkt_burst = receive;
	rte_eth_fp_ops[p].rxq.data = t->rx_data[p];
	rte_eth_fp_ops[p].rxq.clbk = t->clbk[p];
	rte_eth_fp_ops[p].tx_pkt_burst = transmit;
	rte_eth_fp_ops[p].txq.data = t->tx_data[p];
	rte_eth_fp_ops[p].txq.clbk = t->clbk[p];
}

/* No clock without EAL: ports that take nothing are stuck only after very long. */
static void be_patient(struct fm_worker *w)
{
	for (uint16_t e = 0; e < w->n_egress; e++)
		w->egress[e].stuck_tsc = STUCK;
	for (uint16_t p = 0; p < FM_PORTS_MAX; p++)
		if (w->way[p].relay != NULL)
			w->way[p].relay->egress.stuck_tsc = STUCK;
}

static void make_engine(struct team *t, uint16_t workers)
{
	t->config = (struct fm_config){
		.burst = TEAM_BURST, .has_seed = true, .seed = 1,
		.settings = { .timeout_ms = { FM_TIMEOUT_MS_MAX, FM_TIMEOUT_MS_MAX }, .max_fragments = 128,
			      .source_prefix = { 32, 64 }, .header_chain = true,
			      .budget_mbufs = SHARE * workers },
	};
	fm_engine = (struct fm_engine){ .config = &t->config, .plan.n_workers = workers, .plan.n_ports = 2,
					.plan.steer = true, .clock_hz = 1000000000, .steer_mbufs = STEER };
	fm_engine.budget.n_tables = workers;
	fm_engine.budget.share = fm_engine.budget.share_max = SHARE;
	fm_engine.budget.granted = fm_engine.budget.max = t->config.settings.budget_mbufs;
	fm_engine.header_pool[0] = t->header_pool;
}

struct team *team_up(uint16_t workers, uint16_t rxq, uint16_t txq)
{
	struct team *t = calloc(1, sizeof(*t));
	char err[FM_SENTENCE_LEN] = "";

	assert_non_null(t);
	t->pool = fm_test_pool(POOL, 2048 + RTE_PKTMBUF_HEADROOM);
	t->header_pool = fm_test_pool(POOL, RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM);
	make_engine(t, workers);
	make_port(t, 0, rxq, 1);
	make_port(t, 1, 1, txq);
	assert_int_equal(fm_plan_make(&fm_engine.plan, err, sizeof(err)), 0);
	fm_snapshot_start(&t->config.settings);
	for (uint16_t w = 0; w < workers; w++) {
		fm_engine.lcore[w] = w + 1;
		assert_int_equal(fm_worker_make(w, err, sizeof(err)), 0);
		fm_engine.worker[w]->forwarding = true;
	}
	assert_int_equal(fm_worker_make_secret(err, sizeof(err)), 0);
	assert_int_equal(fm_workers_connect(err, sizeof(err)), 0);
	for (uint16_t w = 0; w < workers; w++)
		be_patient(fm_engine.worker[w]);
	counted_tap_init(&t->tap);
	for (uint16_t w = 0; w < workers; w++)
		fm_worker_tap(fm_engine.worker[w], &t->tap.tap);
	return t;
}

static void assert_accounts(void)
{
	struct fm_check_view check;

	fm_door_check(&check);
	if (!check.frames_ok)
		fail_msg("frames: %lu in, %lu out, %lu between", check.frames_in, check.frames_out,
			 check.frames_between);
	assert_true(check.fragments_ok);
	assert_int_equal(check.mbufs_lost, 0);
}

struct fm_pipe_level team_between(void)
{
	struct fm_pipe_level sum = { 0 }, steered, relayed;

	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		fm_worker_pipes(fm_engine.worker[w], &steered, &relayed);
		sum.frames += steered.frames + relayed.frames;
		sum.mbufs += steered.mbufs + relayed.mbufs;
	}
	return sum;
}

void team_down(struct team *t)
{
	for (unsigned int round = 0; round < FM_STOP_ROUNDS; round++)
		for (uint16_t w = 0; w < fm_engine_workers(); w++)
			fm_worker_stop(fm_engine.worker[w]);
	assert_int_equal(team_between().mbufs, 0);
	assert_int_equal(fm_test_pool_out(t->pool), 0);
	assert_accounts();
	for (unsigned int o = 0; o < FM_OUTCOME_MAX; o++) {
		const bool good = fm_outcome_info[o].severity == FM_SEV_GOOD;
		const uint64_t dropped = good ? 0 : team_count((enum fm_outcome)o);

		/* Of these all fragments are counted, and the tap sees them joined. */
		if (o == FM_BAD_L4_CHECKSUM)
			assert_in_range(t->tap.dropped[o], dropped > 0, dropped);
		else
			assert_int_equal(t->tap.dropped[o], dropped);
	}
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		fm_worker_free(w);
	fm_test_pool_free(t->pool);
	fm_test_pool_free(t->header_pool);
	for (uint16_t p = 0; p < 2; p++)
		for (uint32_t i = 0; i < t->tx[p].n; i++)
			free(t->tx[p].bytes[i]);
	free(t);
}

void team_set(struct team *t, const struct fm_settings *settings)
{
	struct fm_snapshot *next = &fm_engine.snapshot[fm_engine.current == &fm_engine.snapshot[0]];

	(void)t;
	*next = *fm_engine.current;
	next->generation++;
	next->settings = *settings;
	fm_engine.current = next;
}

void team_receive(struct team *t, uint16_t port, uint16_t queue, const struct fm_test_frag *frag)
{
	struct team_queue *q = &t->rx[port][queue];
	uint8_t frame[BED_FRAME_MAX];
	const uint32_t len = fm_test_frame(frag, frame);

	assert_in_range(q->tail, 0, TEAM_FRAMES_MAX - 1);
	q->m[q->tail++] = fm_test_mbuf(t->pool, frame, len, 0);
}

/* Frames that no worker has received yet are with the port. */
static uint32_t with_ports(const struct team *t)
{
	uint32_t n = 0;

	for (uint16_t p = 0; p < 2; p++)
		for (uint16_t q = 0; q < TEAM_QUEUES; q++)
			n += t->rx[p][q].tail - t->rx[p][q].head;
	return n;
}

void team_turn(struct team *t, uint16_t worker)
{
	fm_worker_turn(fm_engine.worker[worker]);
	fm_engine.budget.pool[0].rx_descriptors = with_ports(t);
	assert_accounts();
}

void team_settle(struct team *t)
{
	unsigned int turns = 0;

	do
		for (uint16_t w = 0; w < fm_engine_workers(); w++)
			team_turn(t, w);
	while ((with_ports(t) != 0 || team_between().frames != 0) && turns++ < 1000);
	assert_in_range(turns, 0, 999);
}

uint64_t team_count(enum fm_outcome outcome)
{
	struct fm_worker_stats stats;
	uint64_t n = 0;

	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		fm_door_worker_stats(w, &stats);
		n += stats.reass.count[outcome];
	}
	return n;
}
