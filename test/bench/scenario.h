/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios: streams of fragments, made from a seed, that no table of the given size can hold; and the score of whoever
 * tried. Nothing in here knows a reassembler: the same stream is played to each.
 *
 * Time is virtual and in nanoseconds. It goes in slots, one fragment each: 10 us, so 100,000 fragments/s of honest and
 * hostile ones together, where a scenario does not say otherwise. In a slot that is nobody's turn time passes all the
 * same.
 */
#ifndef FM_SCENARIO_H
#define FM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_byteorder.h>

enum {
	FM_SCENARIO_SLOT_NS = 10000,
	FM_SCENARIO_PAYLOAD = 64, /* bytes of an honest fragment, the last included */
	FM_SCENARIO_PAYLOAD_TINY = 8,
	FM_SCENARIO_HEADERS = 14 + 20, /* of each frame */
	FM_SCENARIO_GROUPS = 2,
	FM_SCENARIO_CLASSES = 3,
	FM_SCENARIO_TARGETS = 4,
	FM_SCENARIO_CASES_MAX = 40,
	FM_SCENARIO_PARAMS_MAX = 64,
	FM_SCENARIO_SENDERS_MAX = 1 << 24,
};

enum fm_scenario_order {
	FM_SCENARIO_ROUND_ROBIN, /* one fragment of each in turn */
	FM_SCENARIO_RANDOM,
};

/* How sources are numbered. */
enum fm_scenario_address {
	FM_SCENARIO_ADDRESS_RANDOM,
	/* CRC-32C of source, destination and identification is the same for all, and so under any other seed. */
	FM_SCENARIO_ADDRESS_CRC_KEY,
	/* The low 16 bits of the source's CRC-32C are. */
	FM_SCENARIO_ADDRESS_CRC_SOURCE,
	/* The low 16 bits of the address are. */
	FM_SCENARIO_ADDRESS_STRIDE,
};

/* Honest senders of one kind. Each sends all the time. */
struct fm_scenario_group {
	uint32_t senders;
	uint32_t flows;     /* datagrams that a sender sends interleaved */
	uint16_t fragments; /* of a datagram */
	uint8_t percent;    /* of the honest slots; of all groups together: 100 */
};

enum fm_scenario_source {
	FM_SCENARIO_ONE,     /* one hostile source; its identifications count up, and wrap at 16 bits */
	FM_SCENARIO_EACH,    /* each of the live datagrams comes from a source of its own */
	FM_SCENARIO_SPOOFED, /* each new datagram has a random source and identification */
};

struct fm_scenario_hostile {
	uint32_t ratio; /* hostile fragments per honest one; 0: none */
	enum fm_scenario_source source;
	uint32_t live;    /* datagrams under way, served in turn */
	uint16_t length;  /* fragments sent of each */
	uint16_t payload; /* bytes of each fragment */
	bool completes;   /* the last of them is the last fragment; else one is always missing */
	bool shuffled;
	uint64_t from_ns, to_ns; /* when; to_ns 0: to the end */
};

/* What a row may be held to. */
enum fm_scenario_metric {
	FM_SCENARIO_NO_TARGET,
	FM_SCENARIO_GOODPUT,    /* at least */
	FM_SCENARIO_RATIO,      /* at least */
	FM_SCENARIO_JAIN,       /* at least */
	FM_SCENARIO_WORST,      /* at least */
	FM_SCENARIO_COMPLETED,  /* at least so many times that of the reference case */
	FM_SCENARIO_RATIO_FLAT, /* the same with the ratio */
	FM_SCENARIO_CYCLES,     /* at most so many times those of the reference case */
};

struct fm_scenario_target {
	enum fm_scenario_metric metric;
	double limit;
};

/*
 * A case's datagrams are counted in classes, a row of the table each: by group, or, where `phase_ns` says so, by the
 * time at which they began.
 */
struct fm_scenario_class {
	const char *name; /* NULL: the case has one only */
	struct fm_scenario_target target[FM_SCENARIO_TARGETS];
};

struct fm_scenario_case {
	char params[FM_SCENARIO_PARAMS_MAX];
	struct fm_scenario_group group[FM_SCENARIO_GROUPS];
	struct fm_scenario_hostile hostile;
	enum fm_scenario_order order;
	enum fm_scenario_address address;
	bool even_phases; /* senders begin evenly spread over a datagram's time; else at random */
	uint8_t n_groups, n_classes;
	uint16_t loss_permille;
	uint16_t reorder;       /* window that is shuffled, fragments; 0: none */
	uint16_t max_fragments; /* setting of the table */
	uint32_t budget_mbufs;
	uint64_t slot_ns, slots;
	uint64_t phase_ns[FM_SCENARIO_CLASSES - 1]; /* [0] is 0: classes are groups */
	struct fm_scenario_class class[FM_SCENARIO_CLASSES];
	int reference; /* number of the case of this scenario to compare with; -1: none */
};

/* One fragment of the stream. */
struct fm_scenario_fragment {
	uint64_t at_ns;
	rte_be32_t source, destination;
	uint32_t flow;   /* number of an honest one; FM_SCENARIO_NO_FLOW: hostile */
	uint16_t number; /* in its datagram, by offset */
	uint16_t id, offset, length;
	uint8_t tos;
	bool more;
};
#define FM_SCENARIO_NO_FLOW UINT32_MAX

struct fm_scenario_score {
	uint64_t offered; /* datagrams whose every fragment came before the end */
	uint64_t completed;
	double goodput; /* completed of offered */
	/*
	 * The area bound, as a goodput: each datagram takes some mbufs for some time until its last fragment comes
	 * (which nobody has to hold); budget times the length of the run divided by that. Where classes compete, those
	 * whose datagrams need least are served first. What is doomed by loss takes its room, too, as if nobody could
	 * know; who smells it can do better.
	 */
	double bound;
	double ratio; /* goodput to bound */
	double jain;  /* index over the senders' shares; share: completed of offered */
	double worst; /* share */
};

struct fm_scenario_traffic;
struct rte_mbuf;

/* Cannot fail: ends the program when out of memory. `spec` must stay. */
struct fm_scenario_traffic *fm_scenario_traffic_new(const struct fm_scenario_case *spec, uint64_t seed);
void fm_scenario_traffic_free(struct fm_scenario_traffic *traffic);
/* The next fragment; false: the stream has ended. */
bool fm_scenario_next(struct fm_scenario_traffic *traffic, struct fm_scenario_fragment *fragment);
/* Write a fragment's headers, FM_SCENARIO_HEADERS bytes; its payload is whatever stands behind. */
void fm_scenario_headers(const struct fm_scenario_fragment *fragment, uint8_t *frame);
/* A datagram came out: `m` has the headers of one of its fragments and the length of all. */
void fm_scenario_completed(struct fm_scenario_traffic *traffic, const struct rte_mbuf *m);
void fm_scenario_score(const struct fm_scenario_traffic *traffic, unsigned int class, struct fm_scenario_score *score);

/* scenario_address.c: the address of sender number `sender`, whose fragments go to `destination` with `id`. */
rte_be32_t fm_scenario_source_address(enum fm_scenario_address address, uint32_t sender, rte_be32_t destination,
				      rte_be16_t id);

enum fm_scenario_scale { FM_SCENARIO_SMOKE, FM_SCENARIO_QUICK, FM_SCENARIO_FULL };

/* The cases of one scenario. */
struct fm_scenario_list {
	enum fm_scenario_scale scale;
	unsigned int n;
	struct fm_scenario_case item[FM_SCENARIO_CASES_MAX];
};

struct fm_scenario {
	const char *name;
	const char *text; /* one sentence */
	void (*fill)(struct fm_scenario_list *list);
};

/* Ends with a NULL name. */
extern const struct fm_scenario fm_scenario_table[];

#endif
