/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of outcomes: everything that can become of a frame, a fragment or a datagram.
 *
 * The enum, the counters, the console, the reference page and the test that raises each of them are made from this
 * one list. Add a line here and it exists everywhere.
 */
#ifndef FM_OUTCOME_H
#define FM_OUTCOME_H

#include <stdint.h>

/* What a counter counts. */
enum fm_unit {
	FM_UNIT_FRAME,		/* frames that are no fragments */
	FM_UNIT_FRAGMENT,	/* fragments; these sum up to the fragments received */
	FM_UNIT_DATAGRAM,	/* reassembled datagrams, on their way out */
};

/* What it means to an operator. */
enum fm_severity {
	FM_SEV_GOOD,		/* forwarded or delivered */
	FM_SEV_DROP,		/* dropped for what the packet is */
	FM_SEV_PRESSURE,	/* dropped for want of memory, time or room on the wire */
};

/*
 * X(SYMBOL, name, severity, unit, sentence)
 *
 * Accounting: every received frame is counted in exactly one line of unit FRAME or, if it is a fragment, in exactly one
 * line of unit FRAGMENT once it is no longer held. Lines of unit DATAGRAM say what became of joined datagrams.
 */
#define FM_OUTCOMES(X) \
	X(PASSED, passed, GOOD, FRAME, \
	  "Not a fragment (or not IP): forwarded byte for byte.") \
	X(PASSED_MALFORMED, passed_malformed, GOOD, FRAME, \
	  "IP header that cannot be parsed and is not provably a fragment: forwarded byte for byte.") \
	X(BYPASSED, bypassed, GOOD, FRAME, \
	  "Forwarded byte for byte, unparsed, while bypass was on.") \
	X(TX_FULL_FRAME, tx_full_frame, PRESSURE, FRAME, \
	  "Frame that is no fragment, dropped because the transmit queue, or the way to it, stayed full.") \
	X(TOO_BIG_FRAME, too_big_frame, DROP, FRAME, \
	  "Frame that is no fragment, longer than the paired port can carry.") \
	X(COMPLETED, completed, GOOD, FRAGMENT, \
	  "Fragment of a datagram that was completed.") \
	X(BAD_IP_CHECKSUM, bad_ip_checksum, DROP, FRAGMENT, \
	  "IPv4 header checksum is wrong.") \
	X(BAD_HEADER, bad_header, DROP, FRAGMENT, \
	  "IPv4 fragment with a header length below 20 or a total length shorter than its header.") \
	X(BAD_LENGTH, bad_length, DROP, FRAGMENT, \
	  "Empty fragment, or one that is not the last and whose payload is not a multiple of 8.") \
	X(TOO_BIG, too_big, DROP, FRAGMENT, \
	  "Datagram would be longer than 65,535 bytes (ping of death).") \
	X(TRUNCATED, truncated, DROP, FRAGMENT, \
	  "Frame is shorter than the IP length it announces.") \
	X(BAD_EXT_HEADER, bad_ext_header, DROP, FRAGMENT, \
	  "IPv6 fragment header outside the packet, or behind too many or too long extension headers.") \
	X(HEADER_CHAIN, header_chain, DROP, FRAGMENT, \
	  "First IPv6 fragment that does not hold the whole header chain (RFC 7112).") \
	X(NESTED, nested, DROP, FRAGMENT, \
	  "Second IPv6 fragment header behind the first.") \
	X(DUPLICATE, duplicate, DROP, FRAGMENT, \
	  "Exact copy of a fragment already held; its datagram goes on.") \
	X(OVERLAP, overlap, DROP, FRAGMENT, \
	  "Fragments overlap or repeat with other bytes; the whole datagram is dropped (RFC 5722).") \
	X(INCONSISTENT_END, inconsistent_end, DROP, FRAGMENT, \
	  "Fragments disagree on where the datagram ends; the whole datagram is dropped.") \
	X(TOO_MANY_FRAGMENTS, too_many_fragments, DROP, FRAGMENT, \
	  "Datagram has more fragments than max-fragments; the whole datagram is dropped.") \
	X(ECN_MISMATCH, ecn_mismatch, DROP, FRAGMENT, \
	  "Fragments of one datagram marked Not-ECT and ECT or CE (RFC 3168 5.3).") \
	X(BAD_L4_CHECKSUM, bad_l4_checksum, DROP, FRAGMENT, \
	  "Transport checksum of the joined datagram is wrong (verify-l4).") \
	X(CONDEMNED, condemned, DROP, FRAGMENT, \
	  "Later fragment of a datagram that was already dropped, refused or evicted.") \
	X(TIMEOUT, timeout, PRESSURE, FRAGMENT, \
	  "Datagram was not complete in time.") \
	X(REFUSED_BUDGET, refused_budget, PRESSURE, FRAGMENT, \
	  "New datagram refused: those under way will need the mbuf budget to complete, or its turn has not come.") \
	X(REFUSED_SHARE, refused_share, PRESSURE, FRAGMENT, \
	  "New datagram refused: its source has had more of the budget than others that ask for it.") \
	X(REFUSED_TABLE, refused_table, PRESSURE, FRAGMENT, \
	  "New datagram refused: max-datagrams are in flight, and none is cold or much less likely to complete.") \
	X(EVICTED_COLD, evicted_cold, PRESSURE, FRAGMENT, \
	  "Datagram idle for much longer than its source's fragments are apart, evicted to make room.") \
	X(EVICTED_UNLIKELY, evicted_unlikely, PRESSURE, FRAGMENT, \
	  "Datagram unlikely to complete, evicted for a likelier one.") \
	X(EVICTED_PROGRESS, evicted_progress, PRESSURE, FRAGMENT, \
	  "Datagram that had got little while its source had got much, evicted to let others complete.") \
	X(STEER_FULL, steer_full, PRESSURE, FRAGMENT, \
	  "Fragment dropped because the worker that owns its datagram did not keep up with what it was handed.") \
	X(NO_MBUF, no_mbuf, PRESSURE, FRAGMENT, \
	  "No mbuf for the copy of a header or of a shared buffer.") \
	X(FLUSHED, flushed, PRESSURE, FRAGMENT, \
	  "Held fragment freed by stop, flush, bypass or exit.") \
	X(SENT_WHOLE, sent_whole, GOOD, DATAGRAM, \
	  "Datagram sent whole, as one frame.") \
	X(SENT_REFRAGMENTED, sent_refragmented, GOOD, DATAGRAM, \
	  "Datagram sent as clean fragments, in order and back to back.") \
	X(TOO_BIG_FOR_EGRESS, too_big_for_egress, DROP, DATAGRAM, \
	  "Datagram does not fit the egress and may not or cannot be fragmented again.") \
	X(TX_FULL, tx_full, PRESSURE, DATAGRAM, \
	  "Datagram dropped whole because the transmit queue, or the way to it, had no room for all of it.") \
	X(TX_NO_MBUF, tx_no_mbuf, PRESSURE, DATAGRAM, \
	  "No mbufs to linearise or fragment the datagram for the egress port.")

enum fm_outcome {
#define FM_OUTCOME_ENUM(sym, name, sev, unit, text) FM_##sym,
	FM_OUTCOMES(FM_OUTCOME_ENUM)
#undef FM_OUTCOME_ENUM
	FM_OUTCOME_MAX,
};

struct fm_outcome_info {
	const char *name;
	const char *text;
	enum fm_severity severity;
	enum fm_unit unit;
};

/* Indexed by enum fm_outcome. */
extern const struct fm_outcome_info fm_outcome_info[FM_OUTCOME_MAX];

#endif
