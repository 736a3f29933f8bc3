/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a stream, and the score of whoever joined them. */
#include <stdio.h>
#include <stdlib.h>

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "scenario_internal.h"

struct frame {
	struct rte_ether_hdr ether;
	struct rte_ipv4_hdr ip;
} __attribute__((__packed__)) __rte_aligned(2);
static_assert(sizeof(struct frame) == FM_SCENARIO_HEADERS, "the headers of a frame");

void fm_scenario_headers(const struct fm_scenario_fragment *f, uint8_t *bytes)
{
	struct frame *frame = (struct frame *)bytes;

	frame->ether = (struct rte_ether_hdr){.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4)};
	frame->ip = (struct rte_ipv4_hdr){
		.version_ihl = RTE_IPV4_VHL_DEF,
		.type_of_service = f->tos,
		.total_length = rte_cpu_to_be_16((uint16_t)(sizeof(frame->ip) + f->length)),
		.packet_id = rte_cpu_to_be_16(f->id),
		.fragment_offset = rte_cpu_to_be_16((uint16_t)(f->offset / 8 | (f->more ? RTE_IPV4_HDR_MF_FLAG : 0))),
		.time_to_live = 64,
		.next_proto_id = IPPROTO_UDP,
		.src_addr = f->source,
		.dst_addr = f->destination,
	};
	frame->ip.hdr_checksum = rte_ipv4_cksum(&frame->ip);
}

static void __attribute__((noreturn)) wrong(const struct fm_scenario_traffic *t, uint32_t sender, const char *what)
{
	fprintf(stderr, "scenario %s: a datagram of sender %u %s\n", t->spec->params, sender, what);
	exit(1);
}

void fm_scenario_completed(struct fm_scenario_traffic *t, const struct rte_mbuf *m)
{
	const struct frame *frame = rte_pktmbuf_mtod(m, const struct frame *);
	const uint32_t destination = rte_be_to_cpu_32(frame->ip.dst_addr);
	const unsigned int class = frame->ip.type_of_service >> FM_SCENARIO_CLASS_SHIFT;
	const uint32_t sender = destination - FM_SCENARIO_HONEST;
	struct fm_scenario_share *share;
	unsigned int g = 0;

	if (destination == FM_SCENARIO_VICTIM)
		return;
	if (sender >= t->n_senders || class >= t->spec->n_classes)
		wrong(t, sender, "came out that nobody sent");
	while (g + 1U < t->spec->n_groups && t->flow[t->first_flow[g + 1]].sender <= sender)
		g++;
	if (m->pkt_len != FM_SCENARIO_HEADERS + (uint32_t)t->spec->group[g].fragments * FM_SCENARIO_PAYLOAD)
		wrong(t, sender, "came out with another length");
	share = &t->class[class].share[sender];
	if (++share->completed > share->offered)
		wrong(t, sender, "came out before it was complete, or twice");
}

static double mean_area(const struct fm_scenario_tally *tally)
{
	return tally->sent > 0 ? tally->area / (double)tally->sent : 0;
}

/* What those classes need whose datagrams need less is taken from the room first. */
static double bound(const struct fm_scenario_traffic *t, unsigned int class)
{
	const struct fm_scenario_tally *own = &t->class[class];
	double room = (double)t->spec->budget_mbufs * (double)t->spec->slots * (double)t->spec->slot_ns;

	for (unsigned int c = 0; c < t->spec->n_classes; c++) {
		const double other = mean_area(&t->class[c]);

		if (other < mean_area(own) || (other == mean_area(own) && c < class))
			room -= t->class[c].area;
	}
	if (room <= 0)
		return 0;
	return room < own->area ? room / own->area : 1;
}

void fm_scenario_score(const struct fm_scenario_traffic *t, unsigned int class, struct fm_scenario_score *score)
{
	const struct fm_scenario_tally *tally = &t->class[class];
	double sum = 0, squares = 0;
	uint32_t n = 0;

	*score = (struct fm_scenario_score){.bound = bound(t, class), .worst = 1};
	for (uint32_t i = 0; i < t->n_senders; i++) {
		const struct fm_scenario_share *s = &tally->share[i];
		double share;

		if (s->offered == 0)
			continue;
		share = (double)s->completed / s->offered;
		score->offered += s->offered;
		score->completed += s->completed;
		score->worst = share < score->worst ? share : score->worst;
		sum += share;
		squares += share * share;
		n++;
	}
	if (n == 0)
		return;
	score->goodput = (double)score->completed / (double)score->offered;
	score->ratio = score->bound > 0 ? score->goodput / score->bound : 0;
	/* Where all get nothing it is fair, but nothing to be proud of. */
	score->jain = squares > 0 ? sum * sum / (n * squares) : 0;
}
