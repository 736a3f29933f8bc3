/* SPDX-License-Identifier: BSD-3-Clause */
/* Endless streams of fragments with a fixed number of datagrams under way, and their frames. */
#ifndef FM_BENCH_TRAFFIC_H
#define FM_BENCH_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum { FM_BENCH_PAYLOAD = 64 }; /* bytes of a fragment where nothing else is asked for */

/*
 * X(SYMBOL, name, what it is): how the fragments of D datagrams come.
 *
 * With D datagrams under way all the time, "in order" cannot mean that a datagram's fragments come all together, so
 * there the one that completes it comes D datagrams later.
 */
#define FM_BENCH_ORDERS(X) \
	X(IN_ORDER, "in-order", "first to last back to back, only the last one D datagrams later") \
	X(ROUND_ROBIN, "round-robin", "the first of each of D datagrams, then the second of each, ...") \
	X(SHUFFLED, "shuffled", "all fragments of D datagrams in random order") \
	X(REVERSE, "reverse", "last to first back to back, only the first one D datagrams later")

enum fm_bench_order {
#define FM_BENCH_ORDER_ENUM(sym, name, text) FM_BENCH_##sym,
	FM_BENCH_ORDERS(FM_BENCH_ORDER_ENUM)
#undef FM_BENCH_ORDER_ENUM
	FM_BENCH_ORDER_MAX,
};

/* One line of the table. */
struct fm_bench_cell {
	uint32_t family;    /* 4 or 6 */
	uint32_t fragments; /* of a datagram, 2.. */
	enum fm_bench_order order;
	uint32_t datagrams; /* under way */
	uint32_t payload;   /* bytes of a fragment, a multiple of 8; the last one has less where IP allows no more */
	uint32_t network;   /* 0..255: streams of different networks never meet */
};

struct fm_bench_traffic {
	struct fm_bench_cell cell;
	uint64_t position; /* in the stream */
	uint32_t *shuffle; /* FM_BENCH_SHUFFLED: permutation of one block; else NULL */
};

/* A block: the positions in which as many datagrams end as are under way. */
static inline uint64_t fm_bench_block(const struct fm_bench_cell *cell)
{
	return (uint64_t)cell->datagrams * cell->fragments;
}

/* Cannot fail: ends the program when out of memory. */
void fm_bench_traffic_init(struct fm_bench_traffic *traffic, const struct fm_bench_cell *cell);
void fm_bench_traffic_fini(struct fm_bench_traffic *traffic);
/* Bytes of each frame; the last fragment's may be padded. */
uint32_t fm_bench_frame_len(const struct fm_bench_cell *cell);
/*
 * Go on by one position and write that frame's headers; the payload is left as it is.
 *
 * @return false: nothing comes here, as the datagram that would end began before the stream did
 */
bool fm_bench_next(struct fm_bench_traffic *traffic, uint8_t *frame);
/* Datagrams that are complete once the first `positions` have come, whole blocks. */
uint64_t fm_bench_complete(const struct fm_bench_cell *cell, uint64_t positions);

/* xorshift64*: the same numbers in every run. */
static inline uint64_t fm_bench_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif
