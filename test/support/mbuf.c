/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mempool.h>

#include "fm_mbuf.h"

enum { FM_TEST_POISON = 0xa5 };

/* What pool_data of a test pool points to. Test pools are used by one thread at a time. */
struct fm_test_pool_state {
	uint32_t limit;
	uint32_t out;
};

/* What stands in front of an mbuf: DPDK finds the object's header by address. Keeps the mbuf on a cache line. */
struct fm_test_front {
	uint8_t unused[RTE_CACHE_LINE_SIZE - sizeof(struct rte_mempool_objhdr)];
	struct rte_mempool_objhdr header;
};

static void fail(const char *what, const struct rte_mempool *pool)
{
	const struct fm_test_pool_state *state = pool->pool_data;

	fprintf(stderr, "test pool %s: %s (%u out, at most %u)\n", pool->name, what, state->out, state->limit);
	abort();
}

static int ops_alloc(struct rte_mempool *pool)
{
	(void)pool;
	return -ENOTSUP;
}

static void ops_free(struct rte_mempool *pool)
{
	(void)pool;
}

static size_t object_size(const struct rte_mempool *pool)
{
	return sizeof(struct fm_test_front) + pool->elt_size;
}

static int ops_enqueue(struct rte_mempool *pool, void *const *objects, unsigned int n)
{
	struct fm_test_pool_state *state = pool->pool_data;

	for (unsigned int i = 0; i < n; i++) {
		struct fm_test_front *front = (struct fm_test_front *)objects[i] - 1;

		if (front->header.mp != pool)
			fail("an mbuf of another pool was put back", pool);
		if (state->out == 0)
			fail("more mbufs were put back than taken", pool);
		state->out--;
		/* Without a sanitizer a use after free reads this. */
		memset(front, FM_TEST_POISON, object_size(pool));
		free(front);
	}
	return 0;
}

static int ops_dequeue(struct rte_mempool *pool, void **objects, unsigned int n)
{
	struct fm_test_pool_state *state = pool->pool_data;

	if (state->out > state->limit || state->limit - state->out < n)
		return -ENOBUFS;
	for (unsigned int i = 0; i < n; i++) {
		struct fm_test_front *front;
		void *memory;

		if (posix_memalign(&memory, RTE_CACHE_LINE_SIZE, object_size(pool)) != 0)
			abort();
		/* Nothing may rely on what a fresh buffer holds. */
		memset(memory, FM_TEST_POISON, object_size(pool));
		front = memory;
		front->header = (struct rte_mempool_objhdr){.mp = pool};
		objects[i] = front + 1;
		rte_pktmbuf_init(pool, NULL, objects[i], 0);
		state->out++;
	}
	return 0;
}

static unsigned int ops_get_count(const struct rte_mempool *pool)
{
	const struct fm_test_pool_state *state = pool->pool_data;

	return state->out < state->limit ? state->limit - state->out : 0;
}

static const struct rte_mempool_ops fm_test_ops = {
	.name = "fm_test",
	.alloc = ops_alloc,
	.free = ops_free,
	.enqueue = ops_enqueue,
	.dequeue = ops_dequeue,
	.get_count = ops_get_count,
};

RTE_MEMPOOL_REGISTER_OPS(fm_test_ops)

struct rte_mempool *fm_test_pool(uint32_t size, uint16_t data_room)
{
	static unsigned int pools;
	const size_t memory_size = RTE_MEMPOOL_HEADER_SIZE((struct rte_mempool *)NULL, 0) +
				   sizeof(struct rte_pktmbuf_pool_private);
	struct fm_test_pool_state *state = calloc(1, sizeof(*state));
	struct rte_pktmbuf_pool_private *private;
	struct rte_mempool *pool;
	void *memory;

	if (state == NULL || posix_memalign(&memory, RTE_CACHE_LINE_SIZE, memory_size) != 0)
		abort();
	memset(memory, 0, memory_size);
	pool = memory;
	snprintf(pool->name, sizeof(pool->name), "fm_test%u", pools++);
	pool->size = size;
	pool->populated_size = size;
	pool->socket_id = SOCKET_ID_ANY;
	pool->header_size = sizeof(struct fm_test_front);
	pool->elt_size = sizeof(struct rte_mbuf) + data_room;
	pool->private_data_size = sizeof(*private);
	if (rte_mempool_set_ops_byname(pool, fm_test_ops.name, NULL) != 0)
		abort();
	state->limit = size;
	pool->pool_data = state;
	private = rte_mempool_get_priv(pool);
	private->mbuf_data_room_size = data_room;
	return pool;
}

uint32_t fm_test_pool_out(const struct rte_mempool *pool)
{
	const struct fm_test_pool_state *state = pool->pool_data;

	return state->out;
}

void fm_test_pool_limit(struct rte_mempool *pool, uint32_t size)
{
	struct fm_test_pool_state *state = pool->pool_data;

	state->limit = size;
}

void fm_test_pool_free(struct rte_mempool *pool)
{
	struct fm_test_pool_state *state = pool->pool_data;

	if (state->out != 0)
		fail("mbufs leaked", pool);
	free(state);
	free(pool);
}

static struct rte_mbuf *segment_alloc(struct rte_mempool *pool, const uint8_t *bytes, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (m == NULL)
		fail("empty, a test needs a larger one", pool);
	if (len > m->buf_len)
		fail("data room too small for a frame of a test", pool);
	/* The bytes end where the allocation ends, so that a sanitizer sees a read behind the frame. */
	m->data_off = (uint16_t)(m->buf_len - len);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	if (len > 0)
		memcpy(rte_pktmbuf_mtod(m, void *), bytes, len);
	return m;
}

struct rte_mbuf *fm_test_mbuf(struct rte_mempool *pool, const void *frame, uint32_t len, uint32_t segment)
{
	const uint8_t *bytes = frame;
	const uint32_t step = segment > 0 ? segment : len;
	struct rte_mbuf *head = segment_alloc(pool, bytes, RTE_MIN(step, len));
	struct rte_mbuf *tail = head;

	for (uint32_t at = step; at < len; at += step) {
		tail->next = segment_alloc(pool, bytes + at, RTE_MIN(step, len - at));
		tail = tail->next;
		head->nb_segs++;
	}
	head->pkt_len = len;
	return head;
}

/* A chain that lies about itself breaks drivers; no test may take one for good. */
static void bad_chain(const struct rte_mbuf *m, const char *what)
{
	fprintf(stderr, "chain with pkt_len %u and nb_segs %u: %s\n", m->pkt_len, m->nb_segs, what);
	abort();
}

uint8_t *fm_test_bytes(const struct rte_mbuf *m, uint32_t *len)
{
	/* One byte more, as malloc(0) may be NULL. */
	uint8_t *bytes = malloc((size_t)m->pkt_len + 1);
	const struct rte_mbuf *segment;
	uint32_t at = 0, segments = 0;

	if (bytes == NULL)
		abort();
	for (segment = m; segment != NULL; segment = segment->next) {
		if (segment->data_len > m->pkt_len - at)
			bad_chain(m, "holds more bytes than that");
		memcpy(bytes + at, rte_pktmbuf_mtod(segment, const void *), segment->data_len);
		at += segment->data_len;
		segments++;
	}
	if (at != m->pkt_len)
		bad_chain(m, "holds fewer bytes than that");
	if (segments != m->nb_segs)
		bad_chain(m, "has another number of segments");
	*len = at;
	return bytes;
}
