/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

/* The words behind the header, one after the other. */
static uint64_t stream_of(const struct fm_wire_header *h)
{
	uint64_t state = h->seed ^ ((uint64_t)h->sender << 32 | h->sequence) * 0xd1342543de82ef95;

	return fm_wire_random(&state) ^ h->group;
}

void fm_wire_fill(uint8_t *payload, const struct fm_wire_header *h)
{
	uint64_t state = stream_of(h);

	memcpy(payload, h, sizeof(*h));
	for (size_t at = sizeof(*h); at < h->bytes; at += sizeof(uint64_t)) {
		const uint64_t word = fm_wire_random(&state);
		const size_t rest = h->bytes - at;

		memcpy(payload + at, &word, rest < sizeof(word) ? rest : sizeof(word));
	}
}

bool fm_wire_is_intact(const uint8_t *payload, size_t bytes, uint64_t seed, struct fm_wire_header *h)
{
	uint64_t state;

	if (bytes < sizeof(*h))
		return false;
	memcpy(h, payload, sizeof(*h));
	if (h->seed != seed || h->bytes != bytes || h->group >= FM_WIRE_GROUPS)
		return false;
	state = stream_of(h);
	for (size_t at = sizeof(*h); at < bytes; at += sizeof(uint64_t)) {
		const uint64_t word = fm_wire_random(&state);
		const size_t rest = bytes - at;

		if (memcmp(payload + at, &word, rest < sizeof(word) ? rest : sizeof(word)) != 0)
			return false;
	}
	return true;
}

double fm_wire_number(const char *option, const char *text, double min, double max)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (errno != 0 || end == text || *end != '\0' || !(value >= min && value <= max)) {
		fprintf(stderr, "%s %s: a number of %.15g to %.15g is wanted\n", option, text, min, max);
		exit(2);
	}
	return value;
}
