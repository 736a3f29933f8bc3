/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mbufs without EAL: a mempool whose every mbuf is an allocation of its own, exactly as large as its data room, so that
 * the sanitizers see every read past the end and every use after free, and so that a leak is counted.
 */
#ifndef FM_TEST_MBUF_H
#define FM_TEST_MBUF_H

#include <stdint.h>
#include <rte_mbuf.h>

/* A pool of at most `size` mbufs with `data_room` bytes each (headroom included). */
struct rte_mempool *fm_test_pool(uint32_t size, uint16_t data_room);
/* mbufs taken and not given back. */
uint32_t fm_test_pool_out(const struct rte_mempool *pool);
/* Let the pool hand out only `size` at a time from now on (may be less than are out): to raise "no mbuf". */
void fm_test_pool_limit(struct rte_mempool *pool, uint32_t size);
/* Asserts that nothing is out. */
void fm_test_pool_free(struct rte_mempool *pool);

/* A frame in one mbuf, or cut into segments of `segment` bytes (0: one). The pool's data room must be large enough. */
struct rte_mbuf *fm_test_mbuf(struct rte_mempool *pool, const void *frame, uint32_t len, uint32_t segment);
/* The bytes of a chain, in a malloc()ed buffer; asserts that pkt_len and nb_segs are true. */
uint8_t *fm_test_bytes(const struct rte_mbuf *m, uint32_t *len);

#endif
