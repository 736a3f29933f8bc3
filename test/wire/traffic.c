/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

enum {
	MTU = 1500,
	IP_HEADER = 20,
	UDP_HEADER = 8,
	ROOM = (MTU - IP_HEADER) & ~7, /* IP payload of a fragment, bytes */
	TTL = 64,
	FIRST_PORT = 20000,
	PORTS = 32768,
	HOSTILE_PROTOCOL = 100, /* where one source's identifications begin anew: see below */
};

static const uint32_t first_address = 0x0a400001;   /* 10.64.0.1 */
static const uint32_t hostile_address = 0x0afa0001; /* 10.250.0.1 */
static const uint32_t random_network = 0x0b000000;  /* 11.0.0.0/8 */

/* RFC 1071, not yet folded; in host order, as the sum does not mind. */
static uint64_t sum(const void *data, size_t bytes, uint64_t total)
{
	const uint8_t *at = data;
	uint32_t word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		total += word;
	}
	word = 0;
	memcpy(&word, at, bytes);
	return total + word;
}

static uint16_t fold(uint64_t total)
{
	while (total > UINT16_MAX)
		total = (total & UINT16_MAX) + (total >> 16);
	return (uint16_t)~total;
}

static bool happens(uint64_t *state, double chance)
{
	return chance > 0 && (double)(fm_wire_random(state) >> 11) * 0x1p-53 < chance;
}

static uint64_t random_from(uint64_t seed, uint64_t place)
{
	uint64_t state = seed;

	return fm_wire_random(&state) + place * 0xd1342543de82ef95;
}

/* fm_wire_line.on_unsent; a datagram is incomplete once, however many of its fragments are missing. */
static void *the_traffic;

static void miss(void *owner, uint32_t sequence)
{
	struct fm_wire_traffic *t = the_traffic;
	struct fm_wire_sender *s = owner;

	if (sequence < s->incomplete_below)
		return;
	s->incomplete_below = sequence + 1;
	s->incomplete++;
	t->incomplete[s->group]++;
}

static void open_sender(struct fm_wire_traffic *t, uint32_t number)
{
	const struct fm_wire_plan *plan = t->plan;
	struct fm_wire_sender *s = &t->sender[number];

	s->number = number;
	s->address = first_address + (plan->one_source ? 0 : number);
	s->port = (uint16_t)(FIRST_PORT + number % PORTS);
	s->ident = (uint16_t)random_from(plan->seed, number + 1);
	s->wait = plan->staggered ? (uint16_t)(number % t->fragments) : 0;
	s->udp = malloc(UDP_HEADER + plan->bytes);
	s->copy = plan->duplicates > 0 ? malloc(FM_WIRE_FRAME_MAX) : NULL;
	if (s->udp == NULL || (plan->duplicates > 0 && s->copy == NULL)) {
		perror("malloc");
		exit(1);
	}
}

void fm_wire_traffic_open(struct fm_wire_traffic *t, const struct fm_wire_plan *plan)
{
	const uint32_t n = plan->senders + plan->burst;

	t->plan = plan;
	t->fragments = (UDP_HEADER + plan->bytes + ROOM - 1) / ROOM;
	t->ident = (uint16_t)random_from(plan->seed, 0);
	t->burst_left = plan->burst;
	t->hostile_random = random_from(plan->seed, UINT32_MAX);
	t->loss_random = random_from(plan->seed, UINT32_MAX - 1);
	t->copy_random = random_from(plan->seed, UINT32_MAX - 2);
	t->sender = calloc(n, sizeof(*t->sender));
	if (t->sender == NULL) {
		perror("calloc");
		exit(1);
	}
	for (uint32_t i = 0; i < n; i++)
		open_sender(t, i);
	the_traffic = t;
	t->line.on_unsent = miss;
	fm_wire_line_open(&t->line, plan->device);
}

static void begin(struct fm_wire_traffic *t, struct fm_wire_sender *s, enum fm_wire_group group)
{
	const struct fm_wire_plan *plan = t->plan;
	const uint16_t bytes = (uint16_t)(UDP_HEADER + plan->bytes);
	const struct fm_wire_header h = {
		.seed = plan->seed, .sender = s->number, .sequence = s->begun, .group = group, .bytes = plan->bytes};
	struct udphdr header = {.source = htons(s->port), .dest = htons(FM_WIRE_PORT), .len = htons(bytes)};
	const struct {
		uint32_t source, destination;
		uint16_t protocol, bytes;
	} pseudo = {htonl(s->address), plan->destination, htons(IPPROTO_UDP), htons(bytes)};

	fm_wire_fill(s->udp + UDP_HEADER, &h);
	memcpy(s->udp, &header, sizeof(header));
	header.check = fold(sum(s->udp, bytes, sum(&pseudo, sizeof(pseudo), 0)));
	if (header.check == 0)
		header.check = UINT16_MAX;
	memcpy(s->udp, &header, sizeof(header));
	s->ident = plan->one_source ? t->ident++ : (uint16_t)(s->ident + 1);
	s->group = (uint8_t)group;
	s->begun++;
	t->begun[group]++;
	t->under_way++;
}

/* Ethernet and IPv4 headers before `bytes` bytes of payload; returns the length of the frame. */
static uint32_t put_headers(const struct fm_wire_traffic *t, uint8_t *frame, struct iphdr *ip, uint32_t bytes)
{
	struct ether_header ether = {.ether_type = htons(ETHERTYPE_IP)};

	memcpy(ether.ether_dhost, t->plan->mac, sizeof(ether.ether_dhost));
	memcpy(ether.ether_shost, t->line.mac, sizeof(ether.ether_shost));
	ip->version = 4;
	ip->ihl = IP_HEADER / 4;
	ip->ttl = TTL;
	ip->daddr = t->plan->destination;
	ip->tot_len = htons((uint16_t)(IP_HEADER + bytes));
	ip->check = 0;
	ip->check = fold(sum(ip, sizeof(*ip), 0));
	memcpy(frame, &ether, sizeof(ether));
	memcpy(frame + sizeof(ether), ip, sizeof(*ip));
	return (uint32_t)(sizeof(ether) + sizeof(*ip)) + bytes;
}

static void put_copy(struct fm_wire_traffic *t, struct fm_wire_sender *s)
{
	memcpy(fm_wire_line_room(&t->line), s->copy, s->copy_bytes);
	fm_wire_line_add(&t->line, s->copy_bytes, NULL, 0);
	t->copies++;
	s->copy_bytes = 0;
}

static void put_fragment(struct fm_wire_traffic *t, struct fm_wire_sender *s)
{
	const uint32_t offset = (uint32_t)s->at * ROOM, rest = UDP_HEADER + t->plan->bytes - offset;
	const uint32_t bytes = rest < ROOM ? rest : ROOM;
	struct iphdr ip = {
		.id = htons(s->ident),
		.frag_off = htons((uint16_t)(offset / 8 | (rest > ROOM ? IP_MF : 0))),
		.protocol = IPPROTO_UDP,
		.saddr = htonl(s->address),
	};
	uint8_t *frame = fm_wire_line_room(&t->line);
	const uint32_t length = put_headers(t, frame, &ip, bytes);

	memcpy(frame + length - bytes, s->udp + offset, bytes);
	fm_wire_line_add(&t->line, length, s, s->begun - 1);
	if (s->copy_bytes != 0)
		put_copy(t, s);
	if (happens(&t->copy_random, t->plan->duplicates)) {
		memcpy(s->copy, frame, length);
		s->copy_bytes = (uint16_t)length;
	}
}

/* One fragment of a sender whose datagram is under way. */
static void advance(struct fm_wire_traffic *t, struct fm_wire_sender *s)
{
	if (happens(&t->loss_random, t->plan->loss)) {
		t->lost++;
		miss(s, s->begun - 1);
	} else {
		put_fragment(t, s);
	}
	if (++s->at == t->fragments) {
		s->at = 0;
		t->under_way--;
	}
}

bool fm_wire_steady_turn(struct fm_wire_traffic *t, bool may_begin, enum fm_wire_group group)
{
	struct fm_wire_sender *s = &t->sender[t->turn];

	t->turn = t->turn + 1 < t->plan->senders ? t->turn + 1 : 0;
	if (s->wait != 0) {
		s->wait--;
	} else if (s->at != 0 || may_begin) {
		if (s->at == 0)
			begin(t, s, group);
		advance(t, s);
	} else if (s->copy_bytes != 0) {
		put_copy(t, s);
	}
	return may_begin || t->under_way != 0;
}

bool fm_wire_burst_turn(struct fm_wire_traffic *t)
{
	struct fm_wire_sender *s = &t->sender[t->plan->senders + t->burst_turn];

	t->burst_turn = t->burst_turn + 1 < t->plan->burst ? t->burst_turn + 1 : 0;
	if (s->at == 0)
		begin(t, s, FM_WIRE_BURST);
	advance(t, s);
	if (s->at == 0)
		t->burst_left--;
	return t->burst_left != 0;
}

void fm_wire_hostile_turn(struct fm_wire_traffic *t)
{
	const uint64_t number = t->hostile++, round = number >> 16, any = fm_wire_random(&t->hostile_random);
	const bool random = t->plan->hostile_random;
	uint8_t *frame = fm_wire_line_room(&t->line);
	/* One source has 65,536 identifications; with another protocol each is another datagram's again. */
	struct iphdr ip = {
		.id = htons((uint16_t)(random ? any : number)),
		.frag_off = htons(IP_MF),
		.protocol = random || round == 0 ? IPPROTO_UDP : (uint8_t)(HOSTILE_PROTOCOL + round % 100),
		.saddr = htonl(random ? random_network | (uint32_t)(any >> 40) : hostile_address),
	};
	const struct udphdr udp = {
		.source = htons(FIRST_PORT), .dest = htons(FM_WIRE_PORT), .len = htons(UDP_HEADER + 4000)};
	const uint32_t length = put_headers(t, frame, &ip, ROOM);

	memset(frame + length - ROOM, 0, ROOM);
	memcpy(frame + length - ROOM, &udp, sizeof(udp));
	fm_wire_line_add(&t->line, length, NULL, 0);
}
