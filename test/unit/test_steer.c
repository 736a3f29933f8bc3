/* SPDX-License-Identifier: BSD-3-Clause */
/* Who owns a fragment, what is handed over and what stays, and what becomes of it when the pipe is full. */
#include "bed.h"
#include "frag.h"
#include "steer.h"

enum { WORKERS = 4, ROOM = 512, PORT = 3 };

/* One worker that steers; nobody takes what it hands over but the test. */
struct desk {
	struct bed bed;
	struct fm_steer steer;
	struct rte_mbuf *taken[FM_BURST_MAX];
};

static void connect(struct fm_steer *s, uint16_t self, uint16_t n_workers, uint32_t room)
{
	s->key = (struct fm_siphash_key){ 1, 2 };
	s->self = self;
	s->n_workers = n_workers;
	for (uint16_t w = 0; w < n_workers; w++) {
		void *box = NULL, *ring = NULL;

		if (w == self)
			continue;
		assert_int_equal(posix_memalign(&box, RTE_CACHE_LINE_SIZE, sizeof(*s->box[w])), 0);
		assert_int_equal(posix_memalign(&ring, RTE_CACHE_LINE_SIZE, fm_pipe_memsize(sizeof(void *), room)), 0);
		memset(ring, 0, fm_pipe_memsize(sizeof(void *), room));
		s->box[w] = memset(box, 0, sizeof(*s->box[w]));
		fm_pipe_init(&s->box[w]->pipe, ring, self, w, room);
	}
}

static int up(void **state)
{
	struct desk *d = calloc(1, sizeof(*d));

	assert_non_null(d);
	bed_init(&d->bed);
	connect(&d->steer, 0, WORKERS, ROOM);
	*state = d;
	return 0;
}

/* What waits for a worker; the test frees it. */
static uint16_t take(struct desk *d, uint16_t worker)
{
	struct fm_pipe *pipe = &d->steer.box[worker]->pipe;
	const uint16_t n = (uint16_t)rte_ring_sc_dequeue_burst(pipe->ring, (void **)d->taken, FM_BURST_MAX, NULL);
	uint32_t mbufs = 0;

	for (uint16_t i = 0; i < n; i++) {
		mbufs += d->taken[i]->nb_segs;
		assert_int_equal(d->taken[i]->port, PORT);
	}
	fm_pipe_count_taken(pipe, n, mbufs);
	return n;
}

static int down(void **state)
{
	struct desk *d = *state;
	uint16_t n;

	for (uint16_t w = 1; w < WORKERS; w++) {
		while ((n = take(d, w)) != 0)
			rte_pktmbuf_free_bulk(d->taken, n);
		free(d->steer.box[w]->pipe.ring);
		free(d->steer.box[w]);
	}
	bed_fini(&d->bed);
	free(d);
	return 0;
}

/* To whom a frame goes; it is freed. */
static uint16_t owner_of(struct desk *d, struct rte_mbuf *m)
{
	uint16_t owner = 0, found = 0;

	if (fm_steer_burst(&d->steer, &m, 1, PORT) == 1) {
		rte_pktmbuf_free(m);
		return 0;
	}
	for (uint16_t w = 1; w < WORKERS; w++)
		if (take(d, w) == 1) {
			rte_pktmbuf_free(d->taken[0]);
			owner = w;
			found++;
		}
	assert_int_equal(found, 1);
	return owner;
}

static struct fm_test_frag fragment(bool six, uint32_t id, uint32_t offset, uint32_t length, bool more)
{
	return six ? bed_ipv6(id, offset, length, more) : bed_ipv4(id, offset, length, more);
}

static void one_owner_for_a_datagram(void **state)
{
	static const uint32_t segments[] = { 0, 16, 50 };
	struct desk *d = *state;
	uint32_t seen[WORKERS] = { 0 };

	for (uint32_t i = 0; i < 400; i++) {
		struct fm_test_frag frag = fragment(i & 1, i, 0, 800, true);
		uint16_t owner;

		frag.vlans = i / 2 % 3;
		frag.tci[0] = frag.tci[1] = (uint16_t)(i % 7);
		d->bed.segment = 0;
		owner = owner_of(d, bed_mbuf(&d->bed, &frag));
		seen[owner]++;
		/* Whatever fragment it is, however it lies in its mbufs, whatever its priority and time to live. */
		for (size_t s = 0; s < RTE_DIM(segments); s++) {
			d->bed.segment = segments[s];
			frag.offset = 800 + 8 * (i % 100);
			frag.length = 8;
			frag.more = i % 3 == 0;
			frag.tci[0] |= 0xe000;
			frag.ttl = (uint8_t)(1 + i % 200);
			assert_int_equal(owner_of(d, bed_mbuf(&d->bed, &frag)), owner);
			frag.offset = 0;
			frag.length = 80;
			frag.more = true;
			assert_int_equal(owner_of(d, bed_mbuf(&d->bed, &frag)), owner);
		}
	}
	for (uint16_t w = 0; w < WORKERS; w++)
		assert_in_range(seen[w], 60, 140);
}

/* Bytes in front of the fragment header do not matter, as far as they go. */
static void extension_headers(void **state)
{
	struct desk *d = *state;
	uint8_t options[256] = { 60, 15 };
	struct fm_test_frag frag = bed_ipv6(77, 0, 160, true);
	uint16_t owner = owner_of(d, bed_mbuf(&d->bed, &frag));

	/* A hop-by-hop header of 128 bytes and a destination one. */
	options[128] = 44;
	options[129] = 15;
	options[2] = options[130] = 1;
	options[3] = options[131] = 124;
	frag.options = options;
	frag.options_len = sizeof(options);
	for (uint32_t segment = 0; segment <= 200; segment += 40) {
		d->bed.segment = segment;
		frag.offset = 0;
		frag.more = true;
		assert_int_equal(owner_of(d, bed_mbuf(&d->bed, &frag)), owner);
		frag.offset = 160;
		frag.more = false;
		assert_int_equal(owner_of(d, bed_mbuf(&d->bed, &frag)), owner);
	}
}

/* Without the secret nobody knows who owns what: with another one it is another worker as often as chance has it. */
static void secret(void **state)
{
	struct fm_frag frag = { .family = 4 };
	uint32_t same = 0;

	(void)state;
	for (uint32_t i = 0; i < 4000; i++) {
		frag.key.word[0] = i;
		same += fm_steer_owner(&(struct fm_siphash_key){ 1, 2 }, &frag, WORKERS) ==
			fm_steer_owner(&(struct fm_siphash_key){ 1, 3 }, &frag, WORKERS);
	}
	assert_in_range(same, 900, 1100);
}

/* All in one burst, and what stays keeps its order. */
static void what_stays(void **state)
{
	struct desk *d = *state;
	struct rte_mbuf *in[FM_BURST_MAX], *all[FM_BURST_MAX];
	uint16_t n = 0, stay, handed = 0, next = 0;

	for (uint32_t i = 0; i < 50; i++) {
		struct fm_test_frag frags[] = {
			fragment(i & 1, i, 0, 100, false),	/* no fragment; an atomic one */
			bed_ipv4(i, 0, 99, true),		/* bad_length */
			bed_ipv4(i, 65528, 800, false),		/* too_big */
			fragment(i & 1, 1000 + i, 8, 80, true),
		};

		for (uint32_t f = 0; f < RTE_DIM(frags); f++) {
			all[n] = in[n] = bed_mbuf(&d->bed, &frags[f]);
			n++;
		}
	}
	stay = fm_steer_burst(&d->steer, in, n, PORT);
	/* Of four frames the first three, and the fourth one if it is its own. */
	for (uint16_t i = 0; i < n; i++)
		if (next < stay && in[next] == all[i])
			next++;
		else
			assert_int_equal(i % 4, 3);
	assert_int_equal(next, stay);
	for (uint16_t w = 1; w < WORKERS; w++) {
		const uint16_t got = take(d, w);

		handed += got;
		rte_pktmbuf_free_bulk(d->taken, got);
	}
	assert_int_equal(stay + handed, n);
	assert_in_range(handed, 1, 50);
	rte_pktmbuf_free_bulk(in, stay);
}

/* The owner judges the checksum: the poller has looked at the key alone. */
static void wrong_checksum(void **state)
{
	struct desk *d = *state;
	uint32_t handed = 0;

	for (uint32_t id = 0; id < 40; id++) {
		struct fm_test_frag frag = bed_ipv4(id, 0, 80, true);
		struct rte_mbuf *m = bed_mbuf(&d->bed, &frag);
		const uint16_t owner = owner_of(d, bed_mbuf(&d->bed, &frag));

		rte_pktmbuf_mtod(m, uint8_t *)[24] ^= 0xff;
		assert_int_equal(owner_of(d, m), owner);
		handed += owner != 0;
	}
	assert_in_range(handed, 1, 40);
}

/* The pipe is limited by mbufs; what does not fit is freed and counted, once, and all else goes through. */
static void full_pipe(void **state)
{
	struct desk *d = *state;
	uint64_t handed = 0, full = 0;
	uint32_t id = 0, kept = 0;

	/* Two mbufs each. */
	d->bed.segment = 100;
	for (uint32_t burst = 0; burst < 60; burst++) {
		struct rte_mbuf *in[32];
		uint16_t stay;

		for (uint32_t i = 0; i < RTE_DIM(in); i++) {
			const struct fm_test_frag frag = bed_ipv4(id++, 0, 120, true);

			in[i] = bed_mbuf(&d->bed, &frag);
			assert_int_equal(in[i]->nb_segs, 2);
		}
		stay = fm_steer_burst(&d->steer, in, RTE_DIM(in), PORT);
		rte_pktmbuf_free_bulk(in, stay);
		kept += stay;
	}
	for (uint16_t w = 1; w < WORKERS; w++) {
		const struct fm_pipe *pipe = &d->steer.box[w]->pipe;
		struct fm_pipe_level level;

		fm_pipe_level(pipe, &level);
		assert_int_equal(level.mbufs, ROOM);
		assert_int_equal(level.frames, ROOM / 2);
		assert_int_equal(fm_pipe_room(pipe), 0);
		handed += pipe->put_frames;
		full += pipe->full_frames;
	}
	assert_int_equal(d->steer.full_fragments, full);
	assert_int_equal(kept + handed + full, id);
	assert_in_range(full, 1, id);
	assert_int_equal(fm_test_pool_out(d->bed.pool), 2 * handed);
	/* Whoever is quick enough again gets all again. */
	while ((kept = take(d, 1)) != 0)
		rte_pktmbuf_free_bulk(d->taken, kept);
	assert_int_equal(fm_pipe_room(&d->steer.box[1]->pipe), ROOM);
}

#define STEER_TEST(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		STEER_TEST(one_owner_for_a_datagram),
		STEER_TEST(extension_headers),
		STEER_TEST(secret),
		STEER_TEST(what_stays),
		STEER_TEST(wrong_checksum),
		STEER_TEST(full_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
