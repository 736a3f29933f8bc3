/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "model_internal.h"
#include "plan.h"

enum { ICMP = 1, TCP = 6, UDP = 17, ICMPV6 = 58, SCTP = 132, LENGTH_MIN = 40 };

static const uint8_t ipv4_options[12] = {0x94, 4, 0, 0, 7, 7, 4, 0, 0, 0, 0, 0};
static const uint8_t ipv6_options[16] = {60, 0, 1, 4, 0, 0, 0, 0, 44, 0, 1, 4};

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint32_t crc32c(const uint8_t *bytes, uint32_t len)
{
	uint32_t crc = 0xffffffff;

	for (uint32_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1) * 0x82f63b78;
	}
	return ~crc;
}

/* Make the transport checksum of the payload right. */
static void fill_checksum(uint8_t *payload, uint32_t len, const struct fm_test_frag *frag)
{
	const uint32_t pseudo = (frag->family == 6 ? 2 * 0xfd07U : 0) + (frag->source >> 16) + (frag->source & 0xffff) +
				(frag->destination >> 16) + (frag->destination & 0xffff) + frag->protocol + len;
	const uint32_t at = frag->protocol == TCP ? 16 : frag->protocol == UDP ? 6 : 2;
	uint32_t crc, sum;

	if (frag->protocol == UDP)
		put16(payload + 4, len);
	if (frag->protocol == SCTP) {
		memset(payload + 8, 0, 4);
		crc = crc32c(payload, len);
		for (unsigned int i = 0; i < 4; i++)
			payload[8 + i] = (uint8_t)(crc >> 8 * i);
		return;
	}
	put16(payload + at, 0);
	sum = ~model_sum16(frag->protocol == ICMP ? 0 : pseudo, payload, len) & 0xffff;
	put16(payload + at, sum == 0 && frag->protocol == UDP ? 0xffff : sum);
}

static struct fm_test_frag base_frag(unsigned int key, struct random *random)
{
	static const uint8_t protocols[2][4] = {{UDP, TCP, ICMP, SCTP}, {UDP, TCP, ICMPV6, SCTP}};
	const bool ipv6 = key & 1;
	struct fm_test_frag frag = {
		.family = ipv6 ? 6 : 4,
		.id = 100 + random_below(random, 8),
		.source = 0x0a000001 + (key >> 2),
		.destination = 0x0a0000fe,
		.protocol = protocols[ipv6][key / 2 % 4],
		.vlans = (uint8_t)(key % 3),
		.tci = {0x2064, 0x00c8},
		.dont_fragment = random_below(random, 4) == 0,
		.reserved = random_below(random, 8) == 0,
		.tos = (uint8_t)(random_next(random) & 0xfc),
	};

	if (random_below(random, 3) == 0) {
		frag.options = ipv6 ? ipv6_options : ipv4_options;
		frag.options_len = ipv6 ? sizeof(ipv6_options) : sizeof(ipv4_options);
	}
	return frag;
}

/* What lies at an offset; of one beyond the payload nothing is read. */
static const uint8_t *bytes_at(const uint8_t *payload, uint32_t offset)
{
	return payload + (offset <= PLAN_PAYLOAD_MAX ? offset : 0);
}

/* One piece more or less like the last one: what a network, a broken stack or an attacker adds. */
static void spoil(struct plan *plan, struct random *random)
{
	struct fm_test_frag extra = plan->frame[random_below(random, plan->n)];
	const uint32_t what = random_below(random, 12);

	if (what == 0 && plan->n > 1) {
		plan->frame[random_below(random, plan->n)] = plan->frame[plan->n - 1];
		plan->n--;
		return;
	}
	/* Changes the numbers but not the bytes that belong there. */
	if (what >= 3) {
		extra.offset += 8 * random_below(random, 3);
		extra.length = extra.length > 8 && random_below(random, 2) ? extra.length - 8 : extra.length;
		extra.payload = bytes_at(plan->payload, extra.offset);
	}
	if (what == 4)
		extra.payload = bytes_at(plan->other, extra.offset);
	if (what == 5)
		extra.more = !extra.more;
	if (what == 6)
		extra.length = random_below(random, 20);
	if (what == 7 && extra.offset > 0) {
		extra.offset = 65536 - 8 * (1 + random_below(random, 8));
		extra.payload = plan->other;
	}
	if (what == 7 || extra.offset + extra.length <= PLAN_PAYLOAD_MAX)
		plan->frame[plan->n++] = extra;
}

void plan_make(struct plan *plan, unsigned int key, struct random *random)
{
	static const uint8_t ecns[][3] = {{0, 0, 0}, {2, 2, 2}, {2, 1, 2}, {2, 3, 2}, {3, 3, 3},
					  {0, 0, 3}, {0, 2, 0}, {0, 0, 0}, {2, 1, 1}};
	const uint32_t len = LENGTH_MIN + random_below(random, PLAN_PAYLOAD_MAX - LENGTH_MIN);
	struct fm_test_frag frag = base_frag(key, random);
	const uint8_t *ecn = ecns[random_below(random, sizeof(ecns) / sizeof(ecns[0]))];
	const uint32_t step = 40 + 8 * random_below(random, 20);

	for (uint32_t i = 0; i < sizeof(plan->payload); i++) {
		plan->payload[i] = (uint8_t)random_next(random);
		plan->other[i] = (uint8_t)random_next(random);
	}
	if (random_below(random, 4) != 0)
		fill_checksum(plan->payload, len, &frag);
	plan->n = 0;
	for (uint32_t at = 0; at < len; at += frag.length) {
		frag.offset = at;
		frag.length = at == 0 ? step : 8 + 8 * random_below(random, step / 4);
		frag.more = at + frag.length < len && plan->n < PLAN_FRAMES_MAX / 2;
		if (!frag.more)
			frag.length = len - at;
		frag.payload = plan->payload + at;
		frag.padding = random_below(random, 3) == 0 ? random_below(random, 30) : 0;
		frag.tos = (uint8_t)((frag.tos & 0xfc) | ecn[random_below(random, 3)]);
		frag.ttl = (uint8_t)(1 + random_below(random, 255));
		plan->frame[plan->n++] = frag;
		/* Options of the first fragment only, now and then. */
		if (at == 0 && random_below(random, 2) == 0)
			frag.options_len = 0;
	}
	for (uint32_t i = random_below(random, 3); i > 0 && plan->n < PLAN_FRAMES_MAX; i--) {
		if (random_below(random, 2) == 0)
			spoil(plan, random);
	}
}

/* Change a byte or two of the headers, and sometimes cut the frame. */
static uint32_t mutate(uint8_t *frame, uint32_t len, struct random *random)
{
	for (uint32_t i = 1 + random_below(random, 2); i > 0; i--)
		frame[12 + random_below(random, 60) % (len - 12)] ^= (uint8_t)(1U << random_below(random, 8));
	return random_below(random, 3) == 0 ? random_below(random, len + 1) : len;
}

uint32_t plan_next(struct plan *plan, unsigned int key, struct random *random, uint8_t *frame)
{
	uint32_t len, at;

	if (plan->n == 0)
		plan_make(plan, key, random);
	/* Any order; half of the time the order they were cut in. */
	at = random_below(random, 2) == 0 ? random_below(random, plan->n) : 0;
	len = fm_test_frame(&plan->frame[at], frame);
	plan->n--;
	memmove(&plan->frame[at], &plan->frame[at + 1], (plan->n - at) * sizeof(plan->frame[0]));
	return random_below(random, 32) == 0 ? mutate(frame, len, random) : len;
}
