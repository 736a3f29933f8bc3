/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/ether.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "wire.h"

static void usage(FILE *out)
{
	fputs("usage: wire_send --device DEV --mac MAC --to ADDRESS --senders N --bytes N --rate N --seconds S ...\n"
	      "  --device DEV       interface to send on\n"
	      "  --mac MAC          the receiver's link address\n"
	      "  --to ADDRESS       the receiver's IPv4 address\n"
	      "  --senders N        senders that take turns, one fragment a turn\n"
	      "  --bytes N          UDP payload of a datagram; cut for an MTU of 1500\n"
	      "  --rate N           fragments per second, all senders together\n"
	      "  --seconds S        datagrams are begun for so long, and those begun are finished\n"
	      "  --seed N           of payloads, identifications, loss and duplicates (1)\n"
	      "  --loss P           chance of a fragment not to be sent, 0..1\n"
	      "  --duplicates P     chance of a fragment to be sent again, behind its sender's next one\n"
	      "  --one-source       all senders behind one address, with one counter of identifications\n"
	      "  --staggered        each sender begins a turn later than the one before, and so on from\n"
	      "                     the start after a datagram's turns; otherwise all begin in the first turn\n"
	      "  --hostile N        besides, first fragments per second that never complete, from one address\n"
	      "  --hostile-random   each of them from a random address\n"
	      "  --burst N          besides, N senders of one datagram each, interleaved, at the rate of the others\n"
	      "  --burst-at S       when; from there on the others' datagrams are counted apart\n"
	      "  --each             count by sender, too\n",
	      out);
}

static void refuse(const char *sentence)
{
	fprintf(stderr, "wire_send: %s\n", sentence);
	exit(2);
}

static void set_address(struct fm_wire_plan *plan, const char *text)
{
	if (inet_pton(AF_INET, text, &plan->destination) != 1)
		refuse("--to: an IPv4 address is wanted");
}

static void set_mac(struct fm_wire_plan *plan, const char *text)
{
	struct ether_addr address;

	if (ether_aton_r(text, &address) == NULL)
		refuse("--mac: a link address is wanted");
	memcpy(plan->mac, address.ether_addr_octet, sizeof(plan->mac));
}

static void check(const struct fm_wire_plan *plan)
{
	if (plan->device == NULL || plan->destination == 0 || plan->senders == 0 || plan->bytes == 0 ||
	    plan->rate == 0 || plan->seconds == 0) {
		usage(stderr);
		exit(2);
	}
	if (plan->hostile_random && plan->hostile_rate == 0)
		refuse("--hostile-random without --hostile");
	if (plan->burst != 0 && !(plan->burst_at_s > 0 && plan->burst_at_s < plan->seconds))
		refuse("--burst needs --burst-at, within --seconds");
}

static void set(struct fm_wire_plan *plan, int letter, const char *text)
{
	switch (letter) {
	case 'd':
		plan->device = text;
		break;
	case 'm':
		set_mac(plan, text);
		break;
	case 't':
		set_address(plan, text);
		break;
	case 'n':
		plan->senders = (uint32_t)fm_wire_number("--senders", text, 1, FM_WIRE_SENDERS_MAX / 2);
		break;
	case 'b':
		plan->bytes =
			(uint32_t)fm_wire_number("--bytes", text, sizeof(struct fm_wire_header), FM_WIRE_PAYLOAD_MAX);
		break;
	case 'r':
		plan->rate = fm_wire_number("--rate", text, 1, 1e7);
		break;
	case 's':
		plan->seconds = fm_wire_number("--seconds", text, 0.01, 3600);
		break;
	case 'x':
		plan->seed = (uint64_t)fm_wire_number("--seed", text, 0, UINT32_MAX);
		break;
	case 'l':
		plan->loss = fm_wire_number("--loss", text, 0, 1);
		break;
	case 'u':
		plan->duplicates = fm_wire_number("--duplicates", text, 0, 1);
		break;
	case 'f':
		plan->hostile_rate = fm_wire_number("--hostile", text, 1, 1e7);
		break;
	case 'w':
		plan->burst = (uint32_t)fm_wire_number("--burst", text, 1, FM_WIRE_SENDERS_MAX / 2);
		break;
	case 'a':
		plan->burst_at_s = fm_wire_number("--burst-at", text, 0, 3600);
		break;
	case 'h':
		usage(stdout);
		exit(0);
	default:
		usage(stderr);
		exit(2);
	}
}

void fm_wire_options(struct fm_wire_plan *plan, int argc, char **argv)
{
	int one_source = 0, staggered = 0, random = 0, each = 0, letter;
	const struct option options[] = {
		{"device", required_argument, NULL, 'd'},
		{"mac", required_argument, NULL, 'm'},
		{"to", required_argument, NULL, 't'},
		{"senders", required_argument, NULL, 'n'},
		{"bytes", required_argument, NULL, 'b'},
		{"rate", required_argument, NULL, 'r'},
		{"seconds", required_argument, NULL, 's'},
		{"seed", required_argument, NULL, 'x'},
		{"loss", required_argument, NULL, 'l'},
		{"duplicates", required_argument, NULL, 'u'},
		{"hostile", required_argument, NULL, 'f'},
		{"burst", required_argument, NULL, 'w'},
		{"burst-at", required_argument, NULL, 'a'},
		{"one-source", no_argument, &one_source, 1},
		{"staggered", no_argument, &staggered, 1},
		{"hostile-random", no_argument, &random, 1},
		{"each", no_argument, &each, 1},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};

	*plan = (struct fm_wire_plan){.seed = 1};
	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (letter != 0)
			set(plan, letter, optarg);
	if (optind != argc)
		refuse("an argument that is no option");
	plan->one_source = one_source;
	plan->staggered = staggered;
	plan->hostile_random = random;
	plan->each = each;
	check(plan);
}
