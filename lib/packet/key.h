/* SPDX-License-Identifier: BSD-3-Clause */
/* How the fields of a key are packed; see struct fm_key for which words a family uses. */
#ifndef FM_KEY_H
#define FM_KEY_H

#include <stdbool.h>
#include <string.h>

#include "frag.h"

/*
 * word 0 of both families:
 *
 *   63        50 49  48 47       36 35       24 23      16 15            0
 *   +-----------+------+-----------+-----------+----------+---------------+
 *   | port      | tags | inner VID | outer VID | protocol | identification|   IPv4
 *   | port      | tags | inner VID | outer VID | 0        | 0             |   IPv6 (identification is word 1)
 *   +-----------+------+-----------+-----------+----------+---------------+
 *
 * RFC 791: source, destination, protocol, identification. RFC 8200 4.5: source, destination, identification.
 */
enum {
	FM_KEY_ID_BITS = 16,
	FM_KEY_PROTOCOL_SHIFT = 16,
	FM_KEY_OUTER_SHIFT = 24,
	FM_KEY_INNER_SHIFT = 36,
	FM_KEY_TAGS_SHIFT = 48,
	FM_KEY_PORT_SHIFT = 50,
	FM_KEY_PORT_MAX = (1 << 14) - 1,
	FM_KEY_IPV4_WORDS = 2,
	FM_KEY_IPV6_WORDS = 6,
};

static inline uint16_t fm_key_port(const struct fm_key *key)
{
	return (uint16_t)(key->word[0] >> FM_KEY_PORT_SHIFT);
}

static inline unsigned int fm_key_tags(const struct fm_key *key)
{
	return (unsigned int)(key->word[0] >> FM_KEY_TAGS_SHIFT) & 3;
}

static inline uint8_t fm_key_protocol(const struct fm_key *key)
{
	return (uint8_t)(key->word[0] >> FM_KEY_PROTOCOL_SHIFT);
}

static inline uint16_t fm_key_vlan(const struct fm_key *key, unsigned int tag)
{
	return (uint16_t)(key->word[0] >> (tag == 0 ? FM_KEY_OUTER_SHIFT : FM_KEY_INNER_SHIFT)) & 0xfff;
}

/* Whole keys are compared: equal hashes never merge two datagrams. The family is compared apart. */
static inline bool fm_key_equal(const struct fm_key *a, const struct fm_key *b)
{
	uint64_t differ = 0;

	for (unsigned int i = 0; i < FM_KEY_IPV6_WORDS; i++)
		differ |= a->word[i] ^ b->word[i];
	return differ == 0;
}

#endif
