/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include "traffic.h"

enum {
	MORE = 0x2000,
	IPV4_ROOM = 65535 - 20, /* bytes that a datagram may carry */
	IPV6_ROOM = 65535,
};

struct ipv4_frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
} __attribute__((__packed__)) __rte_aligned(2);

struct ipv6_frame {
	struct rte_ether_hdr ether;
	struct rte_ipv6_hdr ip;
	struct {
		uint8_t next_header, reserved;
		rte_be16_t field;
		rte_be32_t id;
	} fragment;
} __attribute__((__packed__)) __rte_aligned(2);

static bool is_train(enum fm_bench_order order)
{
	return order == FM_BENCH_IN_ORDER || order == FM_BENCH_REVERSE;
}

void fm_bench_traffic_init(struct fm_bench_traffic *traffic, const struct fm_bench_cell *cell)
{
	const uint64_t block = fm_bench_block(cell);
	uint64_t random = 791;

	*traffic = (struct fm_bench_traffic){.cell = *cell};
	if (cell->order != FM_BENCH_SHUFFLED)
		return;
	traffic->shuffle = malloc(block * sizeof(*traffic->shuffle));
	if (traffic->shuffle == NULL) {
		fprintf(stderr, "bench: out of memory\n");
		exit(1);
	}
	for (uint32_t i = 0; i < block; i++) {
		const uint32_t j = (uint32_t)(fm_bench_random(&random) % (i + 1));

		traffic->shuffle[i] = traffic->shuffle[j];
		traffic->shuffle[j] = i;
	}
}

void fm_bench_traffic_fini(struct fm_bench_traffic *traffic)
{
	free(traffic->shuffle);
	traffic->shuffle = NULL;
}

uint32_t fm_bench_frame_len(const struct fm_bench_cell *cell)
{
	return cell->payload + (uint32_t)(cell->family == 4 ? sizeof(struct ipv4_frame) : sizeof(struct ipv6_frame));
}

uint64_t fm_bench_complete(const struct fm_bench_cell *cell, uint64_t positions)
{
	/* Of a train's datagrams the youngest still wait for their last fragment. */
	return positions / cell->fragments - (is_train(cell->order) ? cell->datagrams - 1 : 0);
}

/* Which datagram, and which of its fragments, stands at the next position. false: none. */
static bool step(struct fm_bench_traffic *traffic, uint64_t *datagram, uint32_t *number)
{
	const struct fm_bench_cell *cell = &traffic->cell;
	const uint64_t block = fm_bench_block(cell), at = traffic->position % block;
	const uint64_t first = traffic->position / block * cell->datagrams;
	bool any = true;

	switch (cell->order) {
	case FM_BENCH_IN_ORDER:
	case FM_BENCH_REVERSE:
		*datagram = traffic->position / cell->fragments;
		*number = (uint32_t)(traffic->position % cell->fragments);
		if (*number == cell->fragments - 1) {
			any = *datagram >= cell->datagrams - 1;
			*datagram -= cell->datagrams - 1;
		}
		if (cell->order == FM_BENCH_REVERSE)
			*number = cell->fragments - 1 - *number;
		break;
	case FM_BENCH_SHUFFLED:
		*datagram = first + traffic->shuffle[at] / cell->fragments;
		*number = traffic->shuffle[at] % cell->fragments;
		break;
	default:
		*datagram = first + at % cell->datagrams;
		*number = (uint32_t)(at / cell->datagrams);
	}
	traffic->position++;
	return any;
}

static uint32_t payload_of(const struct fm_bench_cell *cell, uint32_t number)
{
	const uint32_t room = cell->family == 4 ? IPV4_ROOM : IPV6_ROOM;

	return RTE_MIN(cell->payload, room - number * cell->payload);
}

/*
 * Each datagram under way has a source of its own, and an identification that counts up at that source. The sources
 * look random: rte_ip_frag's CRC sends neighbouring addresses to few buckets, and loses what does not fit there.
 */
static uint32_t source_of(const struct fm_bench_cell *cell, uint64_t datagram)
{
	uint32_t x = (uint32_t)(datagram % cell->datagrams);

	/* The finaliser of MurmurHash3: no two are the same. */
	x = (x ^ x >> 16) * 0x85ebca6b;
	x = (x ^ x >> 13) * 0xc2b2ae35;
	return x ^ x >> 16;
}

static void write_ipv4(const struct fm_bench_cell *cell, uint64_t datagram, uint32_t number, struct ipv4_frame *frame)
{
	const uint32_t field = (number < cell->fragments - 1 ? MORE : 0) | number * cell->payload / 8;

	frame->ether = (struct rte_ether_hdr){.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)};
	frame->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(frame->ip) + payload_of(cell, number))),
		.packet_id = rte_cpu_to_be_16((uint16_t)(datagram / cell->datagrams)),
		.fragment_offset = rte_cpu_to_be_16((uint16_t)field),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = rte_cpu_to_be_32(source_of(cell, datagram)),
		.dst_addr = rte_cpu_to_be_32(RTE_IPV4(198U, 18, cell->network, 1)),
	};
	frame->ip.hdr_checksum = rte_ipv4_cksum(&frame->ip);
}

static void write_ipv6(const struct fm_bench_cell *cell, uint64_t datagram, uint32_t number, struct ipv6_frame *frame)
{
	const rte_be32_t source = rte_cpu_to_be_32(source_of(cell, datagram));
	const uint32_t field = number * cell->payload | (number < cell->fragments - 1 ? 1 : 0);

	memset(frame, 0, sizeof(*frame));
	frame->ether.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV6);
	frame->ip.vtc_flow = RTE_BE32(6U << 28);
	frame->ip.payload_len = rte_cpu_to_be_16((uint16_t)(sizeof(frame->fragment) + payload_of(cell, number)));
	frame->ip.proto = IPPROTO_FRAGMENT;
	frame->ip.hop_limits = 64;
	/* Unique local addresses; each source is in a network of its own, as a source is a /64 to fragmend. */
	((uint8_t *)&frame->ip.src_addr)[0] = 0xfd;
	memcpy((uint8_t *)&frame->ip.src_addr + 4, &source, sizeof(source));
	((uint8_t *)&frame->ip.src_addr)[15] = 1;
	((uint8_t *)&frame->ip.dst_addr)[0] = 0xfd;
	((uint8_t *)&frame->ip.dst_addr)[14] = (uint8_t)cell->network;
	((uint8_t *)&frame->ip.dst_addr)[15] = 0xfe;
	frame->fragment.next_header = IPPROTO_UDP;
	frame->fragment.field = rte_cpu_to_be_16((uint16_t)field);
	frame->fragment.id = rte_cpu_to_be_32((uint32_t)(datagram / cell->datagrams));
}

bool fm_bench_next(struct fm_bench_traffic *traffic, uint8_t *frame)
{
	const struct fm_bench_cell *cell = &traffic->cell;
	uint64_t datagram;
	uint32_t number;

	if (!step(traffic, &datagram, &number))
		return false;
	if (cell->family == 4)
		write_ipv4(cell, datagram, number, (struct ipv4_frame *)frame);
	else
		write_ipv6(cell, datagram, number, (struct ipv6_frame *)frame);
	return true;
}
