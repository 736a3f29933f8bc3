/* SPDX-License-Identifier: BSD-3-Clause */
/* What wire_send is asked to send. */
#ifndef FM_WIRE_OPTIONS_H
#define FM_WIRE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct fm_wire_plan {
	const char *device;
	uint8_t mac[6];       /* the receiver's */
	uint32_t destination; /* the receiver's address, network order */
	uint32_t senders;     /* steady ones */
	uint32_t bytes;       /* of UDP payload in each datagram */
	double rate;          /* of the steady senders together, fragments per second */
	double seconds;       /* no datagram is begun later */
	uint64_t seed;
	double loss, duplicates; /* chance of each fragment */
	bool one_source;         /* all senders behind one address */
	bool staggered;          /* begin in turns 0, 1, ... of a datagram's, then 0 again; else all in 0 */
	double hostile_rate;     /* first fragments that never complete, per second; 0: none */
	bool hostile_random;     /* each from a random address, in place of all from one */
	uint32_t burst;          /* senders of one more datagram each; 0: none */
	double burst_at_s;
	bool each; /* print counts by sender */
};

/* Of the command line; ends the program where that makes no sense. */
void fm_wire_options(struct fm_wire_plan *plan, int argc, char **argv);

#endif
