/* SPDX-License-Identifier: BSD-3-Clause */
/* Mbufs that the table may read but not change, and the proof that it did not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fm_mbuf.h"
#include "fm_twin.h"

/* One segment (or external buffer) as it was when it was handed out. */
struct fm_twin_guard {
	struct fm_twin_guard *next;
	struct rte_mbuf *segment;	/* we hold a reference; NULL for an external buffer */
	struct rte_mbuf image;
	uint8_t *bytes;			/* what is guarded */
	uint8_t *copy;
	uint32_t len;
	struct rte_mbuf_ext_shared_info shared;
	uint32_t users;			/* of an external buffer */
};

static struct fm_twin_guard *guard_new(struct fm_twin *twin, uint8_t *bytes, uint32_t len)
{
	struct fm_twin_guard *guard = calloc(1, sizeof(*guard));

	if (guard == NULL)
		abort();
	guard->bytes = bytes;
	guard->len = len;
	guard->copy = malloc(len + 1U);
	if (guard->copy == NULL)
		abort();
	memcpy(guard->copy, bytes, len);
	guard->next = twin->guards;
	twin->guards = guard;
	return guard;
}

static void guard_chain(struct fm_twin *twin, struct rte_mbuf *m)
{
	for (struct rte_mbuf *segment = m; segment != NULL; segment = segment->next) {
		struct fm_twin_guard *guard = guard_new(twin, rte_pktmbuf_mtod(segment, uint8_t *), segment->data_len);

		guard->segment = segment;
		guard->image = *segment;
	}
}

static void external_freed(void *addr, void *opaque)
{
	struct fm_twin_guard *guard = opaque;

	(void)addr;
	guard->users--;
}

static struct rte_mbuf *external(struct fm_twin *twin, struct rte_mbuf *m)
{
	/* Replace the buffer of each segment with one of malloc(). */
	for (struct rte_mbuf *segment = m; segment != NULL; segment = segment->next) {
		const uint16_t len = segment->data_len;
		uint8_t *bytes = malloc(len + 1U);
		struct fm_twin_guard *guard;

		if (bytes == NULL)
			abort();
		memcpy(bytes, rte_pktmbuf_mtod(segment, void *), len);
		guard = guard_new(twin, bytes, len);
		guard->shared.free_cb = external_freed;
		guard->shared.fcb_opaque = guard;
		guard->users = 1;
		rte_mbuf_ext_refcnt_set(&guard->shared, 1);
		rte_pktmbuf_attach_extbuf(segment, bytes, 0, len, &guard->shared);
		segment->data_off = 0;
		segment->data_len = len;
	}
	return m;
}

struct rte_mbuf *fm_twin_mbuf(struct fm_twin *twin, const struct fm_twin_frame *frame)
{
	struct rte_mbuf *m = fm_test_mbuf(twin->pool, frame->bytes, frame->len, twin->segment);
	struct rte_mbuf *clone;

	switch (twin->kind) {
	case FM_TWIN_SHARED:
		for (struct rte_mbuf *segment = m; segment != NULL; segment = segment->next)
			rte_mbuf_refcnt_update(segment, 1);
		guard_chain(twin, m);
		return m;
	case FM_TWIN_INDIRECT:
		clone = rte_pktmbuf_clone(m, twin->pool);
		if (clone == NULL)
			abort();
		guard_chain(twin, m);
		return clone;
	case FM_TWIN_EXTERNAL:
		return external(twin, m);
	default:
		return m;
	}
}

static bool segment_same(const struct rte_mbuf *a, const struct rte_mbuf *b)
{
	return a->buf_addr == b->buf_addr && a->data_off == b->data_off && a->data_len == b->data_len &&
	       a->pkt_len == b->pkt_len && a->nb_segs == b->nb_segs && a->next == b->next &&
	       a->ol_flags == b->ol_flags;
}

bool fm_twin_guards_hold(struct fm_twin *twin)
{
	for (const struct fm_twin_guard *guard = twin->guards; guard != NULL; guard = guard->next) {
		if (memcmp(guard->bytes, guard->copy, guard->len) != 0) {
			snprintf(twin->err, sizeof(twin->err), "bytes that are not the table's were changed");
			return false;
		}
		if (guard->segment != NULL && !segment_same(guard->segment, &guard->image)) {
			snprintf(twin->err, sizeof(twin->err), "an mbuf with a second reference was changed");
			return false;
		}
	}
	return true;
}

void fm_twin_guards_free(struct fm_twin *twin)
{
	while (twin->guards != NULL) {
		struct fm_twin_guard *guard = twin->guards;

		twin->guards = guard->next;
		if (guard->segment != NULL)
			rte_pktmbuf_free_seg(guard->segment);
		else
			free(guard->bytes);
		if (guard->users != 0) {
			fprintf(stderr, "an external buffer was never given back\n");
			abort();
		}
		free(guard->copy);
		free(guard);
	}
}
