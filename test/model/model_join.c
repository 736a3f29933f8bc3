/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes out: section 5 of the semantics. */
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

enum { ECN_NOT_ECT = 0, ECN_CE = 3 };

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static const struct model_held *first_of(const struct fm_model_datagram *datagram)
{
	const struct model_held *held = datagram->held;

	while (held->frag.offset != 0)
		held = held->next;
	return held;
}

/*
 * RFC 3168 5.3: sets *ecn; false if the datagram must be dropped. Not-ECT with any other code point is no datagram of
 * one sender: ECT is set on all of its fragments or on none.
 */
static bool join_ecn(const struct fm_model_datagram *datagram, uint8_t *ecn)
{
	bool not_ect = false, ect = false, ce = false;

	for (const struct model_held *held = datagram->held; held != NULL; held = held->next) {
		not_ect = not_ect || held->frag.ecn == ECN_NOT_ECT;
		ect = ect || held->frag.ecn != ECN_NOT_ECT;
		ce = ce || held->frag.ecn == ECN_CE;
	}
	*ecn = ce ? ECN_CE : first_of(datagram)->frag.ecn;
	return !(not_ect && ect);
}

static uint32_t largest_of(const struct fm_model_datagram *datagram)
{
	uint32_t largest = 0;

	for (const struct model_held *held = datagram->held; held != NULL; held = held->next)
		largest = held->frag.ip_len > largest ? held->frag.ip_len : largest;
	return largest;
}

/* The IPv4 header: the first fragment's, but for length, MF, offset, ECN and checksum. */
static void make_ipv4(uint8_t *ip, uint32_t header_len, uint32_t ip_len, uint8_t ecn)
{
	uint32_t sum;

	ip[1] = (uint8_t)((ip[1] & 0xfc) | ecn);
	put16(ip + 2, ip_len);
	put16(ip + 6, model_get16(ip + 6) & 0xc000);
	put16(ip + 10, 0);
	sum = model_sum16(0, ip, header_len);
	put16(ip + 10, ~sum & 0xffff);
}

/* RFC 8200 4.5: the headers before the fragment header, with its next header in place of 44. */
static void make_ipv6(uint8_t *ip, const struct model_frag *first, uint32_t ip_len, uint8_t ecn)
{
	ip[1] = (uint8_t)((ip[1] & 0xcf) | ecn << 4);
	put16(ip + 4, ip_len - 40);
	ip[first->next_at] = first->next_header;
}

/* Frame = everything before the payload of the first fragment (but the fragment header) + the payload. */
static void make_frame(const struct model_frag *first, const uint8_t *frame, const uint8_t *payload, uint32_t end,
		       uint8_t ecn, struct fm_model_output *output)
{
	const uint32_t headers_len = first->l2_len + first->header_len;
	const uint32_t ip_len = first->header_len + end;

	output->len = headers_len + end;
	output->bytes = malloc(output->len);
	if (output->bytes == NULL)
		abort();
	memcpy(output->bytes, frame, headers_len);
	memcpy(output->bytes + headers_len, payload, end);
	output->whole = (struct fm_whole){
		.id = first->id,
		.ip_len = ip_len,
		.l2_len = (uint16_t)first->l2_len,
		.l3_len = (uint16_t)first->header_len,
		.next_at = (uint16_t)first->next_at,
		.family = first->family,
		.dont_fragment = first->family == 4 && (frame[first->l2_len + 6] & 0x40) != 0,
	};
	if (first->family == 4)
		make_ipv4(output->bytes + first->l2_len, first->header_len, ip_len, ecn);
	else
		make_ipv6(output->bytes + first->l2_len, first, ip_len, ecn);
}

enum fm_outcome model_join(const struct fm_model_datagram *datagram, bool verify_l4, struct fm_model_output *output)
{
	const struct model_held *first = first_of(datagram);
	/* RFC 791 total length counts the header, RFC 8200 payload length all but the first 40 bytes. */
	const uint32_t counted = first->frag.header_len - (datagram->family == 4 ? 0 : 40);
	uint8_t ecn;

	if (!join_ecn(datagram, &ecn))
		return FM_ECN_MISMATCH;
	if (counted + datagram->end > 65535)
		return FM_TOO_BIG;
	make_frame(&first->frag, first->frame, datagram->bytes, datagram->end, ecn, output);
	output->whole.fragments = (uint16_t)datagram->n_held;
	output->whole.largest = (uint16_t)largest_of(datagram);
	if (verify_l4 && !model_l4_good(output->bytes + first->frag.l2_len, datagram->family)) {
		free(output->bytes);
		return FM_BAD_L4_CHECKSUM;
	}
	return FM_COMPLETED;
}

enum fm_outcome model_join_atomic(const struct model_frag *frag, const uint8_t *frame, struct fm_model_output *output)
{
	make_frame(frag, frame, frame + frag->payload_at, frag->length, frag->ecn, output);
	output->whole.fragments = 1;
	output->whole.largest = (uint16_t)frag->ip_len;
	return FM_COMPLETED;
}
