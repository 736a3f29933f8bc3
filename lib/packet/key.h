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

/* Word 0 of no key: three tags are too many. */
#define FM_KEY_NONE UINT64_MAX

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

/* Two words: all that IPv4 has. */
static inline bool fm_key_starts_equal(const struct fm_key *a, const struct fm_key *b)
{
	return ((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1])) == 0;
}

/* The others. */
static inline bool fm_key_goes_on_equal(const struct fm_key *a, const struct fm_key *b)
{
	return ((a->word[2] ^ b->word[2]) | (a->word[3] ^ b->word[3]) | (a->word[4] ^ b->word[4]) |
		(a->word[5] ^ b->word[5])) == 0;
}

/* Whole keys are compared: equal hashes never merge two datagrams. The family is compared apart. */
static inline bool fm_key_equal(const struct fm_key *a, const struct fm_key *b)
{
	return fm_key_starts_equal(a, b) && fm_key_goes_on_equal(a, b);
}

#endif
