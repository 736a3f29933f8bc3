/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FM_MODEL_INTERNAL_H
#define FM_MODEL_INTERNAL_H

#include "fm_model.h"

enum { MODEL_KEY_LEN = 48 };

/* What the parser of the model finds in a fragment. Places count from the start of the frame. */
struct model_frag {
	uint8_t key[MODEL_KEY_LEN];
	uint8_t family;			/* 4 or 6 */
	uint32_t l2_len;
	uint32_t ip_len;		/* IP packet, padding not in it */
	uint32_t header_len;		/* IPv4 header; IPv6: all headers before the fragment header */
	uint32_t payload_at;
	uint32_t offset, length;	/* of the payload */
	uint32_t id;
	uint32_t next_at;		/* IPv6: the field that says 44, from the IPv6 header */
	uint8_t next_header;		/* IPv6: from the fragment header */
	uint8_t ecn;
	bool more;
	bool atomic;
};

/* One held fragment, the frame as it came. */
struct model_held {
	struct model_held *next;
	struct model_frag frag;
	size_t number;			/* of the frame */
	uint8_t *frame;
	uint32_t len;
};

struct fm_model_datagram {
	struct fm_model_datagram *next;
	uint8_t key[MODEL_KEY_LEN];
	uint8_t family;
	uint64_t first_seen;
	uint64_t condemned_until;	/* if it is */
	bool condemned;
	bool end_known;
	uint32_t end;
	uint32_t n_held;
	struct model_held *held;
	uint32_t size;			/* of the two below: as far as data has been seen */
	uint8_t *bytes;
	bool *present;
};

/* PASSED, PASSED_MALFORMED, the reason to drop it at once, or FM_MODEL_HELD with *frag filled: go on. */
enum fm_outcome model_parse(const uint8_t *frame, uint32_t len, uint16_t port, bool short_chain,
			    struct model_frag *frag);

/* Length of an IPv6 extension header that may be skipped, 0 if `type` is none. Reads 2 bytes. */
uint32_t model_ext_len(uint8_t type, const uint8_t *header);
uint32_t model_get16(const uint8_t *at);
uint32_t model_get32(const uint8_t *at);

/* Build the frame of a datagram from its first fragment; COMPLETED, or why it has to be dropped. */
enum fm_outcome model_join(const struct fm_model_datagram *datagram, bool verify_l4, struct fm_model_output *output);
enum fm_outcome model_join_atomic(const struct model_frag *frag, const uint8_t *frame, struct fm_model_output *output);

/* Is the transport checksum right, or is there none? `ip` is a joined packet. */
bool model_l4_good(const uint8_t *ip, uint8_t family);
uint32_t model_sum16(uint32_t sum, const uint8_t *bytes, uint32_t len);

#endif
