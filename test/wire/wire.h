/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sender and receiver of the wire table agree on. Every byte of a datagram follows from its first ones and the
 * seed, so that the receiver can hold it to its word without having seen it before.
 */
#ifndef FM_WIRE_H
#define FM_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FM_WIRE_PORT = 7007,         /* UDP, of the receiver */
	FM_WIRE_PAYLOAD_MAX = 65507, /* bytes: the longest UDP payload over IPv4 */
	FM_WIRE_SENDERS_MAX = 1 << 20,
	FM_WIRE_SEQUENCE_MAX = 1 << 26,
};

/* What a datagram is counted as. */
enum fm_wire_group {
	FM_WIRE_STEADY, /* of a steady sender, begun before the burst, or in a run without one */
	FM_WIRE_AFTER,  /* of a steady sender, begun after the burst */
	FM_WIRE_BURST,  /* of the burst itself */
	FM_WIRE_GROUPS
};

/* The payload begins with it, in host order: both ends are one machine. */
struct fm_wire_header {
	uint64_t seed;
	uint32_t sender, sequence;
	uint32_t group, bytes; /* `bytes`: of the whole payload */
};

/* splitmix64: the whole state is one word, any seed is a good one. */
static inline uint64_t fm_wire_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Fill `payload` with h->bytes bytes, the header included; h->bytes is not less than the header. */
void fm_wire_fill(uint8_t *payload, const struct fm_wire_header *h);

/* Is it, byte for byte, what fm_wire_fill() makes of the header it begins with? `*h` becomes that header. */
bool fm_wire_is_intact(const uint8_t *payload, size_t bytes, uint64_t seed, struct fm_wire_header *h);

/* A decimal number of min..max; ends the program with a sentence that names `option` if it is none. */
double fm_wire_number(const char *option, const char *text, double min, double max);

#endif
