/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of one piece of the table: they look inside, where the library's users cannot. */
#ifndef FM_TEST_INSIDE_H
#define FM_TEST_INSIDE_H

#include "bed.h"
#include "internal.h"
#include "promise.h"
#include "source.h"

/* The fragment as the parser sees it, and the record of its source, made if there is none. */
struct fm_frag inside_parse(const struct fm_test_frag *frag);
struct fm_source *inside_source_of(const struct bed *bed, const struct fm_frag *frag);
struct fm_source *inside_source(const struct bed *bed, const struct fm_test_frag *frag);
void inside_assert_sound(const struct bed *bed);

/* Piece number `piece` of `pieces` of 64 bytes, of an IPv4 datagram. */
struct fm_test_frag inside_frag(uint32_t source, uint32_t id, uint32_t piece, uint32_t pieces);
void inside_send(struct bed *bed, uint32_t source, uint32_t id, uint32_t piece, uint32_t pieces);
/* One datagram comes whole, its fragments `gap` apart. */
void inside_complete(struct bed *bed, uint32_t source, uint32_t id, uint32_t pieces, uint32_t gap);
/* One datagram of which no more than `pieces` come, and its time goes by. */
void inside_fail(struct bed *bed, uint32_t source, uint32_t id, uint32_t pieces);
/* A table of that budget; another budget for it. */
void inside_init_budget(struct bed *bed, uint32_t budget);
void inside_set_budget(struct bed *bed, uint32_t budget);
/* Pieces [from, to) of a datagram that never ends. */
void inside_send_parts(struct bed *bed, uint32_t source, uint32_t id, uint32_t from, uint32_t to);
/* The IPv4 datagram with this identification, one that is held; and the mbufs held of it, if any. */
const struct fm_datagram *inside_datagram(const struct bed *bed, uint32_t id);
uint32_t inside_held_of(const struct bed *bed, uint32_t id);
/* Fragments evicted for whatever reason. */
uint64_t inside_evicted(const struct bed *bed);
/* What the table knows of this source. */
struct fm_source inside_record(const struct bed *bed, uint32_t source);
/* The mean service of those who ask, if it were that. */
void inside_set_mean(struct bed *bed, uint32_t mean);
/* What it has learned of two sources is the same; service is no such thing. */
void inside_assert_learned_same(const struct fm_source *a, const struct fm_source *b);

#endif
