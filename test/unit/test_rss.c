/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where RSS takes frames: key, table and types are the product's, the hash is DPDK's rte_thash, and the NIC around them
 * is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rte_thash.h>

#include "rss.h"

enum { QUEUES_MAX = 16, PAIRS = 256, MANY = 1 << 14 };

static const uint16_t table_sizes[] = { 64, 128, 512 };
static const uint8_t key_lengths[] = { 40, 52 };

/* All that ethdev knows. */
static const uint64_t everything = RTE_ETH_RSS_PROTO_MASK;

/* What was set, and what kind of NIC it is. */
struct nic {
	uint64_t types;
	uint8_t key[UINT8_MAX];
	uint32_t key_words[(UINT8_MAX + 3) / 4];	/* as rte_softrss_be() wants it */
	struct rte_eth_rss_reta_entry64 table[FM_RSS_GROUPS_MAX];
	uint16_t table_size;
	bool sees_ports_first;	/* takes the first fragment for a whole packet */
};

struct packet {
	uint8_t family;
	uint8_t source[16], destination[16];
	uint16_t ports[2];
	bool first, later;	/* a fragment with ports, a fragment without; neither: a whole packet */
};

static void set_up(struct nic *nic, uint64_t offloads, uint8_t key_len, uint16_t table_size, uint16_t n_queues)
{
	memset(nic, 0, sizeof(*nic));
	nic->types = fm_rss_types(offloads);
	fm_rss_key(nic->key, key_len);
	rte_convert_rss_key((const uint32_t *)nic->key, nic->key_words, key_len);
	nic->table_size = table_size;
	fm_rss_reta(nic->table, table_size, n_queues);
}

static uint64_t random64(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static void random_addresses(struct packet *p, uint64_t *state)
{
	for (unsigned int i = 0; i < 16; i += 8) {
		const uint64_t a = random64(state), b = random64(state);

		memcpy(&p->source[i], &a, 8);
		memcpy(&p->destination[i], &b, 8);
	}
	p->ports[0] = (uint16_t)random64(state);
	p->ports[1] = (uint16_t)random64(state);
}

/* The type by which a NIC with these types hashes the packet; 0: by none. */
static uint64_t type_of(const struct nic *nic, const struct packet *p)
{
	const bool v4 = p->family == 4;
	const bool whole = (!p->first && !p->later) || (p->first && nic->sees_ports_first);
	const uint64_t udp = v4 ? RTE_ETH_RSS_NONFRAG_IPV4_UDP : RTE_ETH_RSS_NONFRAG_IPV6_UDP;
	const uint64_t fragment = v4 ? RTE_ETH_RSS_FRAG_IPV4 : RTE_ETH_RSS_FRAG_IPV6;
	const uint64_t plain = v4 ? RTE_ETH_RSS_IPV4 : RTE_ETH_RSS_IPV6;
	const uint64_t special = whole ? udp : fragment;

	return (nic->types & special) != 0 ? special : nic->types & plain;
}

static uint32_t load(union rte_thash_tuple *tuple, const struct packet *p)
{
	struct rte_ipv6_hdr header;

	if (p->family == 4) {
		memcpy(&tuple->v4.src_addr, p->source, 4);
		memcpy(&tuple->v4.dst_addr, p->destination, 4);
		tuple->v4.src_addr = rte_be_to_cpu_32(tuple->v4.src_addr);
		tuple->v4.dst_addr = rte_be_to_cpu_32(tuple->v4.dst_addr);
		tuple->v4.sport = p->ports[0];
		tuple->v4.dport = p->ports[1];
		return RTE_THASH_V4_L3_LEN;
	}
	memcpy(&header.src_addr, p->source, 16);
	memcpy(&header.dst_addr, p->destination, 16);
	rte_thash_load_v6_addrs(&header, tuple);
	tuple->v6.sport = p->ports[0];
	tuple->v6.dport = p->ports[1];
	return RTE_THASH_V6_L3_LEN;
}

static uint32_t hash(const struct nic *nic, const struct packet *p)
{
	union rte_thash_tuple tuple;
	const uint64_t type = type_of(nic, p);
	uint32_t words = load(&tuple, p);
	uint32_t h;

	if (type == 0)
		return 0;
	if ((type & ~FM_RSS_ADDRESSES) != 0)
		words++;
	h = rte_softrss_be((uint32_t *)&tuple, words, (const uint8_t *)nic->key_words);
	assert_int_equal(h, rte_softrss((uint32_t *)&tuple, words, nic->key));
	return h;
}

static uint32_t entry_of(const struct nic *nic, const struct packet *p)
{
	return hash(nic, p) % nic->table_size;
}

static uint16_t queue_of(const struct nic *nic, const struct packet *p)
{
	return fm_rss_reta_queue(nic->table, entry_of(nic, p));
}

static struct packet backwards(const struct packet *p)
{
	struct packet back = *p;

	memcpy(back.source, p->destination, 16);
	memcpy(back.destination, p->source, 16);
	back.ports[0] = p->ports[1];
	back.ports[1] = p->ports[0];
	return back;
}

/* All fragments of a pair of addresses, both ways, and whole packets with them; returns the queue. */
static uint16_t assert_together(const struct nic *nic, struct packet p)
{
	const uint16_t queue = queue_of(nic, &p);
	struct packet back;

	for (unsigned int kind = 0; kind < 3; kind++) {
		p.first = kind == 1;
		p.later = kind == 2;
		back = backwards(&p);
		assert_int_equal(queue_of(nic, &p), queue);
		assert_int_equal(queue_of(nic, &back), queue);
	}
	return queue;
}

static void one_queue_for_all_of_a_datagram_and_both_directions(void **state)
{
	uint64_t random = 1;
	struct nic nic;

	(void)state;
	for (uint16_t queues = 1; queues <= QUEUES_MAX; queues++)
		for (unsigned int i = 0; i < RTE_DIM(table_sizes) * RTE_DIM(key_lengths) * 4; i++) {
			unsigned int used = 0;
			struct packet p = { .family = i & 1 ? 4 : 6 };

			set_up(&nic, everything, key_lengths[i / 4 % 2], table_sizes[i / 8], queues);
			nic.sees_ports_first = (i & 2) != 0;
			for (unsigned int pair = 0; pair < PAIRS; pair++) {
				random_addresses(&p, &random);
				used |= 1U << assert_together(&nic, p);
			}
			assert_int_equal(used, (1U << queues) - 1);
		}
}

/* Where the NIC knows no types for fragments, they go by the plain ones. */
static void one_queue_without_types_for_fragments(void **state)
{
	const uint64_t plain = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	uint64_t random = 2;
	struct nic nic;

	(void)state;
	set_up(&nic, plain, 40, 128, 16);
	for (unsigned int i = 0; i < 2 * PAIRS; i++) {
		struct packet p = { .family = i & 1 ? 4 : 6 };

		random_addresses(&p, &random);
		assert_together(&nic, p);
	}
}

/* The NIC of this test does part them when it is asked to hash ports: the tests above can fail. */
static void ports_would_part_them(void **state)
{
	struct packet p = { .family = 4 }, later;
	unsigned int parted = 0;
	uint64_t random = 3;
	struct nic nic;

	(void)state;
	set_up(&nic, everything, 40, 128, 16);
	nic.types = everything;
	nic.sees_ports_first = true;
	for (unsigned int i = 0; i < PAIRS; i++) {
		random_addresses(&p, &random);
		p.first = true;
		p.later = false;
		later = p;
		later.first = false;
		later.later = true;
		parted += queue_of(&nic, &p) != queue_of(&nic, &later);
	}
	assert_true(parted > PAIRS / 2);
}

/* Each queue has its share of the entries, no other queue has any, and nothing beyond the table is touched. */
static void table(void **state)
{
	struct rte_eth_rss_reta_entry64 reta[FM_RSS_GROUPS_MAX];

	(void)state;
	for (uint16_t size = 1; size <= FM_RSS_RETA_MAX; size += size < 600 ? 1 : 499)
		for (uint16_t queues = 1; queues <= 2 * QUEUES_MAX; queues++) {
			unsigned int entries[2 * QUEUES_MAX] = { 0 }, masked = 0;

			fm_rss_reta(reta, size, queues);
			for (uint16_t i = 0; i < size; i++) {
				assert_in_range(fm_rss_reta_queue(reta, i), 0, queues - 1);
				entries[fm_rss_reta_queue(reta, i)]++;
				assert_true((reta[i / 64].mask & RTE_BIT64(i % 64)) != 0);
			}
			for (unsigned int g = 0; g < FM_RSS_GROUPS_MAX; g++)
				masked += (unsigned int)__builtin_popcountll(reta[g].mask);
			assert_int_equal(masked, size);
			for (uint16_t q = 0; q < queues; q++)
				assert_in_range(entries[q], size / queues, size / queues + (size % queues != 0));
		}
}

/*
 * Pearson's test of random pairs against the table's shares. The seed is fixed, so it says the same each time; at six
 * standard deviations of the distribution, a fair hash would fail it for fewer than one seed in a million.
 */
static void random_addresses_spread_evenly(void **state)
{
	uint64_t random = 4;
	struct nic nic;

	(void)state;
	for (uint16_t queues = 2; queues <= QUEUES_MAX; queues++)
		for (unsigned int i = 0; i < RTE_DIM(table_sizes) * 2; i++) {
			struct packet p = { .family = i & 1 ? 4 : 6 };
			unsigned int count[QUEUES_MAX] = { 0 };
			double chi = 0, degrees = queues - 1;

			set_up(&nic, everything, 40, table_sizes[i / 2], queues);
			for (unsigned int pair = 0; pair < MANY; pair++) {
				random_addresses(&p, &random);
				count[queue_of(&nic, &p)]++;
			}
			for (uint16_t q = 0; q < queues; q++) {
				const unsigned int entries = nic.table_size / queues + (q < nic.table_size % queues);
				const double expected = (double)MANY * entries / nic.table_size;

				chi += (count[q] - expected) * (count[q] - expected) / expected;
			}
			/* (chi - degrees)^2 < 36 * its variance, and an allowance for the long tail of few degrees */
			chi -= degrees + 16;
			assert_true(chi < 0 || chi * chi < 36 * 2 * degrees);
		}
}

/* Neighbours: the 256 addresses that differ in one byte fill the table to the same height everywhere. */
static void neighbours_spread_evenly(void **state)
{
	uint64_t random = 5;
	struct nic nic;

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(table_sizes) * 2; i++) {
		struct packet p = { .family = i & 1 ? 4 : 6 };

		set_up(&nic, everything, 40, table_sizes[i / 2], QUEUES_MAX);
		for (unsigned int byte = 0; byte < (p.family == 4 ? 4 : 16); byte++) {
			unsigned int count[512] = { 0 };

			random_addresses(&p, &random);
			for (unsigned int value = 0; value < 256; value++) {
				p.source[byte] = (uint8_t)value;
				count[entry_of(&nic, &p)]++;
			}
			for (uint16_t e = 0; e < nic.table_size; e++)
				assert_in_range(count[e], 256 / nic.table_size,
						(256 + nic.table_size - 1) / nic.table_size);
		}
	}
}

/* No bit of the exclusive or of two addresses is without effect, nor are two of them alike. */
static void all_32_bits_of_a_pair_count(void **state)
{
	struct packet p = { .family = 4 };
	uint32_t rows[32];
	struct nic nic;

	(void)state;
	set_up(&nic, everything, 40, 128, 1);
	for (unsigned int bit = 0; bit < 32; bit++) {
		memset(p.source, 0, sizeof(p.source));
		p.source[bit / 8] = (uint8_t)(0x80 >> bit % 8);
		rows[bit] = hash(&nic, &p);
	}
	/* Gauss: each row leaves a leading bit that is gone from the others. */
	for (unsigned int i = 0; i < 32; i++) {
		assert_int_not_equal(rows[i], 0);
		for (unsigned int j = i + 1; j < 32; j++)
			if ((rows[j] & (rows[i] & -rows[i])) != 0)
				rows[j] ^= rows[i];
	}
}

static void which_ports_are_refused(void **state)
{
	const uint64_t v4 = RTE_ETH_RSS_IPV4, v6 = RTE_ETH_RSS_IPV6;
	const uint64_t fragments = RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_FRAG_IPV6;
	const uint64_t ports = RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV6_TCP;

	(void)state;
	assert_null(fm_rss_refusal(v4 | v6, false));
	assert_null(fm_rss_refusal(everything, false));
	assert_string_equal(fm_rss_refusal(0, false), "offers no RSS");
	assert_string_equal(fm_rss_refusal(0, true), "offers no RSS");
	assert_non_null(strstr(fm_rss_refusal(everything, true), "ports"));
	assert_non_null(strstr(fm_rss_refusal(v4 | fragments | ports, false), "not IPv6"));
	assert_non_null(strstr(fm_rss_refusal(v6 | fragments | ports, false), "not IPv4"));
	assert_non_null(strstr(fm_rss_refusal(fragments | ports, false), "no fragment"));
	assert_non_null(strstr(fm_rss_refusal(ports, false), "no hash over addresses"));
	for (unsigned int bit = 0; bit < 64; bit++)
		assert_int_equal(fm_rss_refusal(RTE_BIT64(bit) | v4 | v6, false) == NULL,
				 fm_rss_by_address(RTE_BIT64(bit) | v4 | v6));
}

static void what_drivers_make_of_it(void **state)
{
	const uint64_t asked = FM_RSS_ADDRESSES;
	bool bad;

	(void)state;
	assert_null(fm_rss_difference(asked, asked, &bad));
	assert_false(bad);
	assert_null(fm_rss_difference(RTE_ETH_RSS_IPV4, asked, &bad));
	assert_non_null(fm_rss_difference(asked, asked | RTE_ETH_RSS_NONFRAG_IPV4_UDP, &bad));
	assert_true(bad);
	assert_non_null(strstr(fm_rss_difference(asked, 0, &bad), "all frames"));
	assert_false(bad);
	assert_non_null(strstr(fm_rss_difference(asked, asked & ~RTE_ETH_RSS_IPV4, &bad), "IPv4"));
	assert_non_null(strstr(fm_rss_difference(asked, asked & ~RTE_ETH_RSS_IPV6, &bad), "IPv6"));
	assert_non_null(strstr(fm_rss_difference(asked, asked & ~RTE_ETH_RSS_FRAG_IPV6, &bad), "fragments"));
	assert_null(fm_rss_difference(asked, asked & ~RTE_ETH_RSS_IPV6_EX, &bad));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_queue_for_all_of_a_datagram_and_both_directions),
		cmocka_unit_test(one_queue_without_types_for_fragments),
		cmocka_unit_test(ports_would_part_them),
		cmocka_unit_test(table),
		cmocka_unit_test(random_addresses_spread_evenly),
		cmocka_unit_test(neighbours_spread_evenly),
		cmocka_unit_test(all_32_bits_of_a_pair_count),
		cmocka_unit_test(which_ports_are_refused),
		cmocka_unit_test(what_drivers_make_of_it),
	};

	return cmocka_run_group_tests_name("rss", tests, NULL, NULL);
}
