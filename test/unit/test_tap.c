/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a frame to a block in a capture file, byte by byte; tokens; what happens when there is no room. With EAL, whose
 * clock the library of DPDK reads, and two ports that it asks for their names.
 */
#include "fm_pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <rte_eal.h>
#include <rte_log.h>
#include <rte_ring.h>

#include "capture_file.h"
#include "fm_mbuf.h"
#include "tap.h"

enum { SNAPLEN = 100, ROOM = RTE_PKTMBUF_HEADROOM + SNAPLEN + FM_EPB_TAIL, MBUFS = 8, HZ = 1000 };

struct bench {
	struct rte_mempool *frames;
	struct fm_tap tap;
	atomic_bool closed;
	char path[64];
};

static int up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->frames = fm_test_pool(64, 2048);
	b->tap = (struct fm_tap){ .take = fm_tap_take, .port = 1, .snaplen_bytes = SNAPLEN, .closed = &b->closed,
				  .pool = fm_test_pool(MBUFS, ROOM), .base_tsc = rte_rdtsc(), .hz = rte_get_tsc_hz(),
				  .base_ns = 1700000000123456789 };
	b->tap.ring = rte_ring_create("test_tap", 16, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(b->tap.ring);
	fm_bucket_init(&b->tap.bucket, FM_TAP_BURST, 1, rte_get_tsc_hz(), 0);
	snprintf(b->path, sizeof(b->path), "/tmp/fragmend-test-tap-%d", (int)getpid());
	*state = b;
	return 0;
}

static int down(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *block;

	while (rte_ring_sc_dequeue(b->tap.ring, (void **)&block) == 0)
		rte_pktmbuf_free(block);
	rte_ring_free(b->tap.ring);
	/* Asserts that all came back. */
	fm_test_pool_free(b->tap.pool);
	fm_test_pool_free(b->frames);
	unlink(b->path);
	free(b);
	return 0;
}

/* Show a frame of `len` bytes in segments of `segment`. */
static void show(struct bench *b, uint32_t len, uint32_t segment, uint16_t port, enum fm_tap_direction direction,
		 enum fm_outcome why)
{
	uint8_t frame[2000];
	struct rte_mbuf *m;

	for (uint32_t i = 0; i < len; i++)
		frame[i] = (uint8_t)i;
	m = fm_test_mbuf(b->frames, frame, len, segment);
	b->tap.take(&b->tap, m, port, 3, direction, why);
	/* It is as it was, and ours. */
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(rte_pktmbuf_pkt_len(m), len);
	rte_pktmbuf_free(m);
}

static uint32_t word(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t half(const uint8_t *at)
{
	return word(at) & UINT16_MAX;
}

/*
 * Check an enhanced packet block by its definition, and that it has the first bytes of a frame that show() made.
 *
 * @return its length
 */
static uint32_t check_block(const uint8_t *at, uint32_t interface, uint32_t caplen, uint32_t len, uint32_t flags,
			    const char *comment)
{
	const uint32_t total = word(at + 4);
	const uint8_t *end = at + total - 4, *option = at + 28 + RTE_ALIGN_CEIL(caplen, 4);
	bool flagged = false, commented = false;

	assert_int_equal(word(at), 6);
	assert_int_equal(total % 4, 0);
	assert_int_equal(word(end), total);
	assert_int_equal(word(at + 8), interface);
	assert_int_equal(word(at + 20), caplen);
	assert_int_equal(word(at + 24), len);
	for (uint32_t i = 0; i < caplen; i++)
		assert_int_equal(at[28 + i], (uint8_t)i);
	for (uint32_t i = caplen; i < RTE_ALIGN_CEIL(caplen, 4); i++)
		assert_int_equal(at[28 + i], 0);
	while (option < end && half(option) != 0) {
		const uint32_t n = half(option + 2);

		if (half(option) == 1) {
			assert_false(commented);
			commented = true;
			assert_non_null(comment);
			assert_int_equal(n, strlen(comment));
			assert_memory_equal(option + 4, comment, n);
			for (uint32_t i = n; i % 4 != 0; i++)
				assert_int_equal(option[4 + i], 0);
		} else if (half(option) == 2) {
			flagged = true;
			assert_int_equal(n, 4);
			assert_int_equal(word(option + 4), flags);
		}
		option += 4 + RTE_ALIGN_CEIL(n, 4);
	}
	/* The end of the options stands behind the last of them and nothing behind it, or the block ends. */
	if (option < end) {
		assert_int_equal(word(option), 0);
		option += 4;
	}
	assert_ptr_equal(option, end);
	assert_true(flagged);
	assert_int_equal(commented, comment != NULL);
	return total;
}

static uint8_t *read_file(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes = calloc(1, 65536);

	assert_non_null(file);
	assert_non_null(bytes);
	*len = fread(bytes, 1, 65536, file);
	fclose(file);
	return bytes;
}

/* Write all that is in the ring. */
static int write_ring(struct bench *b, struct fm_capture_file *file)
{
	struct rte_mbuf *block[MBUFS];
	const unsigned int n = rte_ring_sc_dequeue_burst(b->tap.ring, (void **)block, MBUFS, NULL);
	const int ret = fm_capture_file_write(file, block, (uint16_t)n);

	rte_pktmbuf_free_bulk(block, n);
	return ret;
}

/* A name of every length modulo 4, frames of every length, cut and in segments, both directions. */
static void blocks(void **state)
{
	struct bench *b = *state;
	struct fm_capture_file *file;
	struct stat status;
	const uint8_t *at;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(fm_capture_file_create(&file, b->path), 0);
	assert_int_equal(fm_capture_file_begin(file, "test"), 0);
	show(b, 60, 0, 0, FM_TAP_IN, FM_OVERLAP);
	show(b, 61, 0, 1, FM_TAP_OUT, FM_TX_FULL);
	show(b, 62, 20, 0, FM_TAP_IN, FM_TOO_BIG);
	show(b, 63, 0, 0, FM_TAP_IN, FM_TOO_MANY_FRAGMENTS);
	show(b, SNAPLEN, 0, 0, FM_TAP_IN, FM_TAP_NO_OUTCOME);
	show(b, SNAPLEN + 1, 0, 1, FM_TAP_OUT, FM_TAP_NO_OUTCOME);
	show(b, 1500, 99, 0, FM_TAP_IN, FM_STEER_FULL);
	/* The driver does not say where it came in. */
	show(b, 60, 0, RTE_MBUF_PORT_INVALID, FM_TAP_IN, FM_TIMEOUT);
	assert_int_equal(b->tap.copied, 8);
	assert_int_equal(write_ring(b, file), 0);
	len = fm_capture_file_bytes(file);
	assert_int_equal(fm_capture_file_close(file), 0);
	assert_int_equal(stat(b->path, &status), 0);
	assert_int_equal(status.st_size, len);
	assert_int_equal(status.st_mode & 0777, 0600);
	at = bytes = read_file(b->path, &len);
	/* A section and two interfaces. */
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(word(at), i == 0 ? 0x0a0d0d0a : 1);
		assert_int_equal(word(at + word(at + 4) - 4), word(at + 4));
		at += word(at + 4);
	}
	at += check_block(at, 0, 60, 60, 1, "fragmend: overlap");
	at += check_block(at, 1, 61, 61, 2, "fragmend: tx_full");
	at += check_block(at, 0, 62, 62, 1, "fragmend: too_big");
	at += check_block(at, 0, 63, 63, 1, "fragmend: too_many_fragments");
	at += check_block(at, 0, SNAPLEN, SNAPLEN, 1, NULL);
	at += check_block(at, 1, SNAPLEN, SNAPLEN + 1, 2, NULL);
	at += check_block(at, 0, SNAPLEN, 1500, 1, "fragmend: steer_full");
	at += check_block(at, 1, 60, 60, 1, "fragmend: timeout");
	assert_ptr_equal(at, bytes + len);
	free(bytes);
}

static void comment_has_room_or_not(void **state)
{
	struct rte_mempool *pool = fm_test_pool(1, 64);
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	const uint32_t block[3] = { 6, 12, 12 };

	(void)state;
	m->data_off = 0;
	memcpy(rte_pktmbuf_append(m, sizeof(block)), block, sizeof(block));
	/* 12 bytes, and 8 around the comment, which is padded: 45 are too many for 64 bytes of room. */
	assert_false(fm_epb_add_comment(m, "123456789.123456789.123456789.123456789.12345"));
	assert_int_equal(rte_pktmbuf_data_len(m), sizeof(block));
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), block, sizeof(block));
	assert_true(fm_epb_add_comment(m, "123456789.123456789.123456789.123456789.1234"));
	assert_int_equal(rte_pktmbuf_data_len(m), 64);
	assert_int_equal(word(rte_pktmbuf_mtod_offset(m, uint8_t *, 4)), 64);
	assert_int_equal(word(rte_pktmbuf_mtod_offset(m, uint8_t *, 60)), 64);
	rte_pktmbuf_free(m);
	fm_test_pool_free(pool);
}

static void no_room(void **state)
{
	struct bench *b = *state;
	struct rte_mbuf *block = NULL;

	for (unsigned int i = 0; i < MBUFS + 3; i++)
		show(b, 1500, 100, 0, FM_TAP_IN, FM_OVERLAP);
	assert_int_equal(b->tap.copied, MBUFS);
	assert_int_equal(b->tap.no_room, 3);
	/* One comes back, one more goes. */
	assert_int_equal(rte_ring_sc_dequeue(b->tap.ring, (void **)&block), 0);
	rte_pktmbuf_free(block);
	show(b, 60, 0, 0, FM_TAP_IN, FM_OVERLAP);
	assert_int_equal(b->tap.copied, MBUFS + 1);
	/* Nothing more is wanted. */
	atomic_store(&b->closed, true);
	show(b, 60, 0, 0, FM_TAP_IN, FM_OVERLAP);
	assert_int_equal(b->tap.copied + b->tap.no_room + b->tap.over_rate, MBUFS + 1 + 3);
}

static uint64_t take_all(struct fm_bucket *bucket, uint64_t now)
{
	uint64_t n = 0;

	while (fm_bucket_take(bucket, now))
		n++;
	return n;
}

static void tokens(void **state)
{
	struct fm_bucket b;
	uint64_t n = 0;

	(void)state;
	/* One hundredth of a second, or 64, or one second if that is less. */
	fm_bucket_init(&b, 10000, 1, 1000000000, 5);
	assert_int_equal(take_all(&b, 5), 100);
	fm_bucket_init(&b, 1000, 1, 1000000000, 5);
	assert_int_equal(take_all(&b, 5), 64);
	fm_bucket_init(&b, 10, 1, 1000000000, 5);
	assert_int_equal(take_all(&b, 5), 10);
	/* By time: one a tick of HZ, never more than the rate for long. */
	fm_bucket_init(&b, HZ, 1, HZ, 0);
	assert_int_equal(take_all(&b, 0), 64);
	assert_int_equal(take_all(&b, 0), 0);
	for (uint64_t now = 1; now <= 10 * HZ; now++)
		n += take_all(&b, now);
	assert_int_equal(n, 10 * HZ);
	/* After a pause it is full, not fuller. */
	assert_int_equal(take_all(&b, 1000 * HZ), 64);
	/* Three workers share one a second: each has one in three seconds. */
	fm_bucket_init(&b, 1, 3, HZ, 0);
	assert_int_equal(take_all(&b, 0), 1);
	assert_int_equal(take_all(&b, 3 * HZ - 1), 0);
	assert_int_equal(take_all(&b, 3 * HZ), 1);
	/* More tokens than ticks: one a tick. */
	fm_bucket_init(&b, 1000000, 1, HZ, 0);
	take_all(&b, 0);
	assert_int_equal(take_all(&b, 1), 1);
}

static void over_the_rate(void **state)
{
	struct bench *b = *state;

	/* Two tokens in an hour. */
	fm_bucket_init(&b->tap.bucket, 2, 1, rte_get_tsc_hz() * 3600, 0);
	for (unsigned int i = 0; i < 5; i++)
		show(b, 60, 0, 0, FM_TAP_IN, FM_OVERLAP);
	assert_int_equal(b->tap.copied, 2);
	assert_int_equal(b->tap.over_rate, 3);
	assert_int_equal(b->tap.no_room, 0);
}

static void clock_of_the_file(void **state)
{
	struct bench *b = *state;
	uint64_t later;

	b->tap.hz = 3000000007;
	later = b->tap.base_tsc + b->tap.hz * 31536000 + b->tap.hz / 2;
	assert_int_equal(fm_tap_time_ns(&b->tap, b->tap.base_tsc), b->tap.base_ns);
	assert_int_equal(fm_tap_time_ns(&b->tap, b->tap.base_tsc + b->tap.hz), b->tap.base_ns + 1000000000);
	/* A year and half a second. */
	assert_int_equal(fm_tap_time_ns(&b->tap, later) - b->tap.base_ns, 31536000499999999);
}

static void file_that_is_there(void **state)
{
	struct bench *b = *state;
	struct fm_capture_file *file = NULL;

	assert_int_equal(fm_capture_file_create(&file, b->path), 0);
	assert_int_equal(fm_capture_file_close(file), 0);
	assert_int_equal(fm_capture_file_create(&file, b->path), -EEXIST);
	assert_null(file);
	assert_int_equal(fm_capture_file_create(&file, "/nowhere/at/all"), -ENOENT);
	assert_int_equal(fm_capture_file_close(NULL), 0);
}

static void full_disk(void **state)
{
	struct fm_capture_file *file;

	(void)state;
	assert_int_equal(fm_capture_file_on(&file, open("/dev/full", O_WRONLY)), 0);
	assert_int_equal(fm_capture_file_begin(file, "test"), -ENOSPC);
	assert_int_equal(fm_capture_file_bytes(file), 0);
	assert_int_equal(fm_capture_file_close(file), 0);
}

#define TAP_TEST(f) cmocka_unit_test_setup_teardown(f, up, down)

int main(void)
{
	static char word[][24] = { "test_tap", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "-m", "32",
				   "-l", "0", "--log-level", "error", "--vdev", "net_null0", "--vdev", "net_null1" };
	const struct CMUnitTest tests[] = {
		TAP_TEST(blocks),
		TAP_TEST(comment_has_room_or_not),
		TAP_TEST(no_room),
		TAP_TEST(tokens),
		TAP_TEST(over_the_rate),
		TAP_TEST(clock_of_the_file),
		TAP_TEST(file_that_is_there),
		TAP_TEST(full_disk),
	};
	char *argv[RTE_DIM(word)];
	int failed;

	for (unsigned int i = 0; i < RTE_DIM(word); i++)
		argv[i] = word[i];
	if (rte_eal_init(RTE_DIM(argv), argv) < 0)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rte_eal_cleanup();
	return failed;
}
