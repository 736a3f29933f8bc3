/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fm_mbuf.h"
#include "fm_split.h"
#include "fm_twin.h"

enum {
	POOL_SIZE = 1 << 20,
	EXPIRE_MAX = 1 << 20,
};

/* A frame as it went in, until its fate is known and was compared. */
struct fm_twin_fed {
	struct fm_twin_fed *next;
	size_t number;		/* of the frame in the model */
	uint8_t *bytes;
	uint32_t len;
};

/* What the table said of a frame it freed. */
struct fm_twin_report {
	struct fm_twin_report *next;
	enum fm_outcome why;
	uint8_t *bytes;
	uint32_t len;
};

__rte_format_printf(2, 3)
static bool differs(struct fm_twin *twin, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(twin->err, sizeof(twin->err), format, args);
	va_end(args);
	return false;
}

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void add(struct fm_model_list *list, const struct rte_mbuf *m, const struct fm_whole *whole)
{
	struct fm_model_output output = {.whole = *whole};

	output.bytes = fm_test_bytes(m, &output.len);
	list->output = must(realloc(list->output, (list->n + 1) * sizeof(*list->output)));
	list->output[list->n++] = output;
}

static void clear(struct fm_model_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->output[i].bytes);
	free(list->output);
	*list = (struct fm_model_list){0};
}

static void dropped(void *arg, const struct rte_mbuf *m, enum fm_outcome why)
{
	struct fm_twin *twin = arg;
	struct fm_twin_report *report = must(calloc(1, sizeof(*report)));

	report->why = why;
	report->bytes = fm_test_bytes(m, &report->len);
	report->next = twin->reports;
	twin->reports = report;
}

struct fm_reass_settings fm_twin_settings(uint32_t budget_mbufs)
{
	return (struct fm_reass_settings){
		.timeout_tsc = {[FM_IPV4] = 2000, [FM_IPV6] = 10000},
		.budget_mbufs = budget_mbufs,
		.max_fragments = 128,
	};
}

static struct fm_model_settings model_settings(const struct fm_reass_settings *settings)
{
	return (struct fm_model_settings){
		.timeout = {[FM_IPV4] = settings->timeout_tsc[FM_IPV4], [FM_IPV6] = settings->timeout_tsc[FM_IPV6]},
		.max_fragments = settings->max_fragments,
		.verify_l4 = settings->verify_l4,
		.short_chain = settings->short_chain,
	};
}

void fm_twin_init(struct fm_twin *twin, const struct fm_reass_settings *settings, uint32_t max_datagrams,
		  uint16_t frame_max)
{
	const struct fm_model_settings reference = model_settings(settings);
	struct fm_reass_params params = {
		.settings = *settings,
		.max_datagrams = max_datagrams,
		.max_mbufs = settings->budget_mbufs,
		.secret = "an open secret.",
		.dropped = dropped,
		.dropped_arg = twin,
	};
	size_t size;

	*twin = (struct fm_twin){.now = 1000000};
	fm_model_init(&twin->model, &reference);
	twin->pool = fm_test_pool(POOL_SIZE, frame_max);
	twin->header_pool = fm_test_pool(POOL_SIZE, RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM);
	params.header_pool = twin->header_pool;
	size = fm_reass_memsize(&params);
	if (size == 0 || posix_memalign(&twin->memory, RTE_CACHE_LINE_SIZE, size) != 0 ||
	    fm_reass_init(twin->memory, &params, &twin->reass, twin->err, sizeof(twin->err)) != 0) {
		fprintf(stderr, "a table for tests cannot be made: %s\n", twin->err);
		abort();
	}
}

void fm_twin_burst(struct fm_twin *twin, const struct fm_twin_frame *frames, uint16_t n, uint16_t port)
{
	static const struct fm_whole none;
	struct rte_mbuf *in[FM_BURST_MAX];
	struct fm_result result;

	for (uint16_t i = 0; i < n; i++) {
		struct fm_twin_fed *fed = must(calloc(1, sizeof(*fed)));

		in[i] = fm_twin_mbuf(twin, &frames[i]);
		fed->number = twin->model.frames;
		fed->len = frames[i].len;
		fed->bytes = must(malloc(frames[i].len + 1U));
		memcpy(fed->bytes, frames[i].bytes, frames[i].len);
		fed->next = twin->fed;
		twin->fed = fed;
		fm_model_frame(&twin->model, frames[i].bytes, frames[i].len, port, twin->now);
	}
	fm_reass_burst(twin->reass, in, n, port, twin->now, &result);
	for (uint16_t i = 0; i < result.n_pass; i++)
		add(&twin->pass, result.pass[i], &none);
	for (uint16_t i = 0; i < result.n_done; i++)
		add(&twin->done, result.done[i], &result.whole[i]);
	rte_pktmbuf_free_bulk(result.pass, result.n_pass);
	rte_pktmbuf_free_bulk(result.done, result.n_done);
	twin->done_total += result.n_done;
}

void fm_twin_set(struct fm_twin *twin, const struct fm_reass_settings *settings)
{
	if (fm_reass_set(twin->reass, settings, twin->now, twin->err, sizeof(twin->err)) != 0) {
		fprintf(stderr, "settings of a test were refused: %s\n", twin->err);
		abort();
	}
	twin->model.settings = model_settings(settings);
}

void fm_twin_flush(struct fm_twin *twin)
{
	fm_reass_flush(twin->reass);
	fm_model_flush(&twin->model);
}

static bool whole_same(const struct fm_whole *a, const struct fm_whole *b)
{
	return a->id == b->id && a->ip_len == b->ip_len && a->l2_len == b->l2_len && a->l3_len == b->l3_len &&
	       (a->family == 4 || a->next_at == b->next_at) && a->largest == b->largest &&
	       a->fragments == b->fragments && a->family == b->family && a->dont_fragment == b->dont_fragment;
}

static bool output_same(const struct fm_model_output *a, const struct fm_model_output *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static bool same_pass(struct fm_twin *twin)
{
	const struct fm_model_list *model = &twin->model.pass;

	if (twin->pass.n != model->n)
		return differs(twin, "%zu frames passed, expected %zu", twin->pass.n, model->n);
	for (size_t i = 0; i < model->n; i++) {
		if (!output_same(&twin->pass.output[i], &model->output[i]))
			return differs(twin, "passed frame %zu was changed or is out of order", i);
	}
	return true;
}

/* As multisets: a burst may complete datagrams in any order. */
static bool same_done(struct fm_twin *twin)
{
	const struct fm_model_list *model = &twin->model.done;

	if (twin->done.n != model->n)
		return differs(twin, "%zu datagrams came out, expected %zu", twin->done.n, model->n);
	for (size_t i = 0; i < model->n; i++) {
		size_t j = i;

		while (j < model->n && !output_same(&twin->done.output[j], &model->output[i]))
			j++;
		if (j == model->n)
			return differs(twin, "expected datagram %zu (%u bytes) did not come out", i,
				       model->output[i].len);
		if (!whole_same(&twin->done.output[j].whole, &model->output[i].whole))
			return differs(twin, "datagram %zu came out with a wrong description", i);
		RTE_SWAP(twin->done.output[i], twin->done.output[j]);
	}
	return true;
}

static bool same_counters(struct fm_twin *twin)
{
	const struct fm_reass_stats *stats = fm_reass_stats(twin->reass);
	const struct fm_model *model = &twin->model;
	uint64_t fragments = stats->held_fragments, frames = stats->fragments_in;

	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++) {
		if (stats->count[i] != model->count[i])
			return differs(twin, "%s is %" PRIu64 ", expected %" PRIu64, fm_outcome_info[i].name,
				       stats->count[i], model->count[i]);
		fragments += fm_outcome_info[i].unit == FM_UNIT_FRAGMENT ? stats->count[i] : 0;
		frames += fm_outcome_info[i].unit == FM_UNIT_FRAME ? stats->count[i] : 0;
	}
	if (fragments != stats->fragments_in || frames != stats->frames_in)
		return differs(twin, "%" PRIu64 " fragments and %" PRIu64 " frames are accounted for, %" PRIu64 " and %"
			       PRIu64 " came in", fragments, frames, stats->fragments_in, stats->frames_in);
	if (stats->frames_in != model->frames || stats->fragments_in != model->fragments_in)
		return differs(twin, "frames_in or fragments_in is wrong");
	if (stats->held_fragments != model->held || stats->datagrams_done != twin->done_total ||
	    stats->datagrams != fm_model_datagrams(model, false) ||
	    stats->condemned != fm_model_datagrams(model, true))
		return differs(twin, "held %" PRIu64 " fragments of %" PRIu64 " datagrams, %" PRIu64
			       " condemned; expected %" PRIu64 ", %zu, %zu", stats->held_fragments, stats->datagrams,
			       stats->condemned, model->held, fm_model_datagrams(model, false),
			       fm_model_datagrams(model, true));
	if ((stats->held_mbufs == 0) != (stats->held_fragments == 0))
		return differs(twin, "holds %" PRIu64 " mbufs for %" PRIu64 " fragments", stats->held_mbufs,
			       stats->held_fragments);
	return true;
}

/* Does the report show this frame? Ethernet padding (zeros) may be gone. */
static bool shows(const struct fm_twin_report *report, const struct fm_twin_fed *fed)
{
	if (report->len > fed->len || memcmp(report->bytes, fed->bytes, report->len) != 0)
		return false;
	for (uint32_t i = report->len; i < fed->len; i++) {
		if (fed->bytes[i] != 0)
			return false;
	}
	return true;
}

static bool take_report(struct fm_twin *twin, const struct fm_twin_fed *fed, enum fm_outcome why)
{
	for (struct fm_twin_report **link = &twin->reports; *link != NULL; link = &(*link)->next) {
		struct fm_twin_report *report = *link;

		if (report->why != why || !shows(report, fed))
			continue;
		*link = report->next;
		free(report->bytes);
		free(report);
		return true;
	}
	return false;
}

/* Was it judged after it had been joined? Then there is no frame left to report. */
static bool judged_joined(enum fm_outcome why)
{
	return why == FM_ECN_MISMATCH || why == FM_BAD_L4_CHECKSUM || why == FM_TOO_BIG;
}

static bool same_fates(struct fm_twin *twin)
{
	struct fm_twin_fed **link = &twin->fed;

	while (*link != NULL) {
		struct fm_twin_fed *fed = *link;
		const enum fm_outcome fate = twin->model.fate[fed->number];
		bool reported;

		if (fate == FM_MODEL_HELD) {
			link = &fed->next;
			continue;
		}
		reported = take_report(twin, fed, fate);
		if (!reported && fm_outcome_info[fate].severity != FM_SEV_GOOD && !judged_joined(fate))
			return differs(twin, "frame %zu was not reported as %s", fed->number,
				       fm_outcome_info[fate].name);
		*link = fed->next;
		free(fed->bytes);
		free(fed);
	}
	for (const struct fm_twin_report *report = twin->reports; report != NULL; report = report->next) {
		if (!judged_joined(report->why))
			return differs(twin, "a frame was reported as %s and should not",
				       fm_outcome_info[report->why].name);
	}
	return true;
}

bool fm_twin_equal(struct fm_twin *twin)
{
	char err[sizeof(twin->err) - 32];
	bool equal;

	fm_reass_expire(twin->reass, twin->now, EXPIRE_MAX);
	fm_model_expire(&twin->model, twin->now);
	equal = same_pass(twin) && same_done(twin) && same_counters(twin) && same_fates(twin) &&
		fm_twin_guards_hold(twin);
	if (equal && !fm_reass_sound(twin->reass, err, sizeof(err)))
		equal = differs(twin, "not sound: %s", err);
	clear(&twin->pass);
	clear(&twin->done);
	fm_model_clear(&twin->model);
	return equal;
}

static void free_lists(struct fm_twin *twin)
{
	while (twin->fed != NULL) {
		struct fm_twin_fed *fed = twin->fed;

		twin->fed = fed->next;
		free(fed->bytes);
		free(fed);
	}
	while (twin->reports != NULL) {
		struct fm_twin_report *report = twin->reports;

		twin->reports = report->next;
		free(report->bytes);
		free(report);
	}
}

bool fm_twin_fini(struct fm_twin *twin)
{
	bool equal;

	fm_twin_flush(twin);
	equal = fm_twin_equal(twin);
	fm_twin_guards_free(twin);
	if (equal && fm_test_pool_out(twin->pool) + fm_test_pool_out(twin->header_pool) != 0)
		equal = differs(twin, "%u frame mbufs and %u header mbufs leaked", fm_test_pool_out(twin->pool),
				fm_test_pool_out(twin->header_pool));
	if (equal) {
		fm_test_pool_free(twin->pool);
		fm_test_pool_free(twin->header_pool);
	}
	free_lists(twin);
	fm_model_fini(&twin->model);
	free(twin->memory);
	return equal;
}
