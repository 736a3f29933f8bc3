/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table with its pools, for tests of the library without EAL. bed_fini() asserts in each test that the table is
 * sound, that every fragment is accounted for, and that no mbuf leaked.
 */
#ifndef FM_TEST_BED_H
#define FM_TEST_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <rte_mbuf.h>

#include "fm_mbuf.h"
#include "fm_packet.h"
#include "fm_reass.h"
#include "fm_split.h"

enum {
	BED_TIMEOUT4 = 2000,
	BED_TIMEOUT6 = 10000,
	BED_START = 1000000,
	BED_FRAME_MAX = 66000,
	BED_DONE_MAX = 512,
	BED_PORT = 0,
};

/* For fm_reass_expire(): every datagram, every set of condemned keys. */
#define BED_ALL UINT32_MAX


struct bed {
	struct rte_mempool *pool, *header_pool;
	struct fm_reass_params params;
	struct fm_reass *reass;
	void *memory;
	uint64_t now;
	uint32_t segment;			/* of frames to come; 0: one mbuf each */
	uint16_t n_done, n_pass;		/* that came out and are kept */
	struct rte_mbuf *done[BED_DONE_MAX], *pass[BED_DONE_MAX];
	struct fm_whole whole[BED_DONE_MAX];
	uint64_t reported[FM_OUTCOME_MAX];	/* by the dropped callback */
};

/* 1024 mbufs, 64 datagrams, 128 fragments each. */
struct fm_reass_params bed_params(void);
/*
 * Set before main() by programs that test how datagrams are judged: every table is short of memory from the first
 * datagram on. Otherwise they are young and unjudged while the budget is less than half used.
 */
extern bool bed_judges_all;

void bed_init(struct bed *bed);
void bed_init_params(struct bed *bed, const struct fm_reass_params *params);
void bed_fini(struct bed *bed);

/* The mbufs of a frame, not sent yet. */
struct rte_mbuf *bed_mbuf(struct bed *bed, const struct fm_test_frag *frag);
void bed_send_mbufs(struct bed *bed, struct rte_mbuf *const *in, uint16_t n, uint16_t port);
void bed_send_bytes(struct bed *bed, const uint8_t *frame, uint32_t len);
void bed_send(struct bed *bed, const struct fm_test_frag *frag);
/* Cut [0, total) of the test bytes into pieces of `step` and send those numbered [from, to); frag says all the rest. */
void bed_send_pieces(struct bed *bed, const struct fm_test_frag *frag, uint32_t total, uint32_t step, uint32_t from,
		     uint32_t to);
/* Free what came out. */
void bed_clear(struct bed *bed);
void bed_set(struct bed *bed, const struct fm_reass_settings *settings);

uint64_t bed_count(const struct bed *bed, enum fm_outcome outcome);
uint64_t bed_held(const struct bed *bed);
/* The frame that `frag` as an unfragmented datagram of `total` bytes is; returns its length. */
uint32_t bed_expected(const struct fm_test_frag *frag, uint32_t total, uint8_t *out);
/* Datagram `i` that came out is that, byte for byte. */
void bed_assert_done(const struct bed *bed, uint16_t i, const struct fm_test_frag *frag, uint32_t total);
/* An IPv4 fragment of UDP with a number as identification, an IPv6 one. */
struct fm_test_frag bed_ipv4(uint32_t id, uint32_t offset, uint32_t length, bool more);
struct fm_test_frag bed_ipv6(uint32_t id, uint32_t offset, uint32_t length, bool more);

#endif
