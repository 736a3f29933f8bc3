/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core under a stream of operations: frames, bursts, time, expiry, flush, changed settings, an empty header pool.
 *
 * Input: eight bytes of parameters, then operations of a byte each with their arguments. After each call of the core
 * the accounting must add up, the budget must hold and fm_reass_sound() must find nothing. With the parameter COMPARE
 * set memory has no end, and what comes out must be what the reference model says.
 */
#include "fuzz_check.h"
#include "fuzz_split.h"

#include "fm_mbuf.h"
#include "fm_model.h"
#include "fm_packet.h"
#include "internal.h"

/* The input's first byte. */
enum {
	COMPARE = 1 << 0,
	NO_HEADER_POOL = 1 << 1,
	VERIFY_L4 = 1 << 2,
	SHORT_CHAIN = 1 << 3,
	STARVE_SPLIT = 1 << 4,
};

enum {
	OPERATIONS_MAX = 300,
	PENDING_MAX = FM_BURST_MAX,
	COMPARE_MBUFS = 2048, /* given in all, so that the budget presses nothing */
	VIEWS_MAX = 8,
	PORTS = 2,
};

struct run {
	struct fm_fuzz_input in;
	uint8_t flags;
	struct fm_fuzz_table table;
	uint64_t now;
	uint32_t generation;
	bool plain; /* all payload so far is fm_test_byte() of its place */
	struct rte_mbuf *pending[PENDING_MAX];
	uint8_t *bytes[PENDING_MAX]; /* of pending */
	uint32_t len[PENDING_MAX];
	uint16_t n_pending;
	uint32_t given_mbufs;
	struct fm_model model;
};

static void read_settings(struct run *run, struct fm_reass_settings *settings)
{
	const uint16_t budget = fm_fuzz_u16(&run->in);

	settings->timeout_tsc[FM_IPV4] = 1 + fm_fuzz_u8(&run->in);
	settings->timeout_tsc[FM_IPV6] = 1 + fm_fuzz_u8(&run->in);
	settings->max_fragments = FM_FRAGMENTS_MIN + fm_fuzz_u8(&run->in) % 64;
	settings->budget_mbufs = run->flags & COMPARE ? COMPARE_MBUFS : 1 + budget % run->table.params.max_mbufs;
	settings->verify_l4 = run->flags & VERIFY_L4;
	settings->short_chain = run->flags & SHORT_CHAIN;
}

static void set_model(struct run *run)
{
	const struct fm_reass_settings *settings = &run->table.params.settings;
	struct fm_model_settings *model = &run->model.settings;

	memcpy(model->timeout, settings->timeout_tsc, sizeof(model->timeout));
	model->max_fragments = settings->max_fragments;
	model->verify_l4 = settings->verify_l4;
	model->short_chain = settings->short_chain;
}

static void start(struct run *run)
{
	struct fm_reass_params params = {.max_datagrams = OPERATIONS_MAX * 2, .max_mbufs = COMPARE_MBUFS};
	struct fm_model_settings unset = {.max_fragments = FM_FRAGMENTS_MIN};

	run->flags = fm_fuzz_u8(&run->in);
	if (run->flags & COMPARE) {
		fm_fuzz_u16(&run->in);
	} else {
		params.max_datagrams = 1 + fm_fuzz_u8(&run->in) % 48;
		params.max_mbufs = 1 + fm_fuzz_u8(&run->in);
	}
	run->table.params = params;
	read_settings(run, &params.settings);
	for (unsigned int i = 0; i < FM_SECRET_LEN; i++)
		params.secret[i] = (uint8_t)(i * run->flags);
	fm_fuzz_table_init(&run->table, &params, (run->flags & (COMPARE | NO_HEADER_POOL)) != NO_HEADER_POOL);
	fm_model_init(&run->model, &unset);
	set_model(run);
	run->plain = true;
	run->now = 1000;
}

static void compare_counts(const struct run *run)
{
	const struct fm_reass_stats *stats = fm_reass_stats(run->table.reass);

	for (int i = 0; i < FM_OUTCOME_MAX; i++)
		FM_FUZZ_CHECK(stats->count[i] == run->model.count[i], "%s: %lu, model %lu", fm_outcome_info[i].name,
			      stats->count[i], run->model.count[i]);
	FM_FUZZ_CHECK(stats->held_fragments == run->model.held, "%lu fragments held, model %lu", stats->held_fragments,
		      run->model.held);
}

static uint64_t pending_mbufs(const struct run *run)
{
	uint64_t pending = 0;

	for (unsigned int i = 0; i < run->n_pending; i++)
		pending += run->pending[i]->nb_segs;
	return pending;
}

static void check(const struct run *run, const char *operation)
{
	fm_fuzz_table_check(&run->table, pending_mbufs(run), operation);
	if (run->flags & COMPARE)
		compare_counts(run);
}

static void compare_whole(const struct fm_whole *got, const struct fm_whole *model)
{
	FM_FUZZ_CHECK(got->id == model->id, "identification %u, model %u", got->id, model->id);
	FM_FUZZ_CHECK(got->ip_len == model->ip_len, "IP length %u, model %u", got->ip_len, model->ip_len);
	FM_FUZZ_CHECK(got->l2_len == model->l2_len, "l2_len %u, model %u", got->l2_len, model->l2_len);
	FM_FUZZ_CHECK(got->l3_len == model->l3_len, "l3_len %u, model %u", got->l3_len, model->l3_len);
	/* An IPv6 fragment may be longer than 16 bits can say. */
	FM_FUZZ_CHECK(got->largest == model->largest || got->largest == UINT16_MAX, "largest %u, model %u",
		      got->largest, model->largest);
	FM_FUZZ_CHECK(got->fragments == model->fragments, "%u fragments, model %u", got->fragments, model->fragments);
	FM_FUZZ_CHECK(got->family == model->family, "family %u, model %u", got->family, model->family);
	FM_FUZZ_CHECK(got->dont_fragment == model->dont_fragment, "DF %u, model %u", got->dont_fragment,
		      model->dont_fragment);
	FM_FUZZ_CHECK(got->next_at == model->next_at, "next header at %u, model %u", got->next_at, model->next_at);
}

static void compare_outputs(const struct run *run, const struct fm_result *result)
{
	const struct fm_model *model = &run->model;

	FM_FUZZ_CHECK(result->n_pass == model->pass.n, "%u passed, model %zu", result->n_pass, model->pass.n);
	FM_FUZZ_CHECK(result->n_done == model->done.n, "%u done, model %zu", result->n_done, model->done.n);
	for (unsigned int i = 0; i < result->n_done; i++) {
		const struct fm_model_output *expected = &model->done.output[i];
		uint32_t len;
		uint8_t *bytes = fm_test_bytes(result->done[i], &len);

		FM_FUZZ_CHECK(len == expected->len, "%u bytes, model %u", len, expected->len);
		FM_FUZZ_CHECK(memcmp(bytes, expected->bytes, len) == 0, "other bytes than the model's");
		compare_whole(&result->whole[i], &expected->whole);
		free(bytes);
	}
}

/* What passes is what came, in the same order. */
static void take_passed(const struct run *run, const struct fm_result *result)
{
	unsigned int from = 0;

	for (unsigned int i = 0; i < result->n_pass; i++, from++) {
		uint32_t len;
		uint8_t *bytes;

		while (from < run->n_pending && run->pending[from] != result->pass[i])
			from++;
		FM_FUZZ_CHECK(from < run->n_pending, "passed what did not come, or in another order");
		bytes = fm_test_bytes(result->pass[i], &len);
		FM_FUZZ_CHECK(len == run->len[from] && memcmp(bytes, run->bytes[from], len) == 0,
			      "passed, but changed");
		free(bytes);
		rte_pktmbuf_free(result->pass[i]);
	}
}

static void take_done(struct run *run, struct rte_mbuf *m, const struct fm_whole *whole)
{
	const uint32_t mtu = 68 + fm_fuzz_u8(&run->in) * 8U, payload_at = whole->l2_len + whole->l3_len;
	uint32_t len;
	uint8_t *bytes = fm_test_bytes(m, &len);

	FM_FUZZ_CHECK(len == whole->l2_len + whole->ip_len, "%u bytes, described as %u", len, whole->ip_len);
	FM_FUZZ_CHECK(whole->fragments <= RTE_MAX(run->table.params.settings.max_fragments, 1), "%u fragments",
		      whole->fragments);
	for (uint32_t at = payload_at; run->plain && at < len; at++)
		FM_FUZZ_CHECK(bytes[at] == fm_test_byte(at - payload_at), "wrong byte at %u", at - payload_at);
	free(bytes);
	fm_fuzz_split(m, whole, mtu, run->flags & STARVE_SPLIT);
}

static bool refused(const struct run *run)
{
	const uint64_t *count = fm_reass_stats(run->table.reass)->count;

	return count[FM_REFUSED_BUDGET] + count[FM_REFUSED_SHARE] != 0;
}

static void burst(struct run *run)
{
	static struct fm_result result;
	const uint16_t port = fm_fuzz_u8(&run->in) < 240 ? 0 : PORTS - 1;
	const uint16_t n = run->n_pending;

	fm_reass_burst(run->table.reass, run->pending, n, port, run->now, &result);
	/*
	 * The table may refuse what would fit because of what it expects, and that is not for the model to say: compare
	 * up to there.
	 */
	if (refused(run))
		run->flags &= (uint8_t)~COMPARE;
	for (unsigned int i = 0; run->flags & COMPARE && i < n; i++)
		fm_model_frame(&run->model, run->bytes[i], run->len[i], port, run->now);
	if (run->flags & COMPARE)
		compare_outputs(run, &result);
	take_passed(run, &result);
	for (unsigned int i = 0; i < result.n_done; i++)
		take_done(run, result.done[i], &result.whole[i]);
	for (unsigned int i = 0; i < n; i++)
		free(run->bytes[i]);
	run->n_pending = 0;
	fm_model_clear(&run->model);
	check(run, "burst");
}

static void add_frame(struct run *run, const struct fm_fuzz_frame *frame)
{
	const unsigned int at = run->n_pending;

	/* In the model memory has no end. */
	if (run->flags & COMPARE && run->given_mbufs + FM_FUZZ_SEGMENTS_MAX > COMPARE_MBUFS)
		return;
	run->plain &= frame->plain;
	run->pending[at] = fm_fuzz_mbuf(&run->in, &run->table.owner, frame);
	run->bytes[at] = malloc(frame->len);
	FM_FUZZ_CHECK(run->bytes[at] != NULL, "out of memory");
	memcpy(run->bytes[at], frame->bytes, frame->len);
	run->len[at] = frame->len;
	run->n_pending++;
	run->given_mbufs += run->pending[at]->nb_segs;
	if (run->n_pending == PENDING_MAX)
		burst(run);
}

/* A piece that needs no input: of so many datagrams, or all of one. */
static void add_piece(struct run *run, uint8_t plan, uint8_t number, uint8_t tweak)
{
	const uint8_t bytes[] = {plan, number, tweak};
	struct fm_fuzz_input in = {bytes, sizeof(bytes)};
	static struct fm_fuzz_frame frame;

	fm_fuzz_piece(&in, run->generation, &frame);
	add_frame(run, &frame);
}

/* A whole datagram goes into the burst, one piece after the other or the other way. */
static void add_whole(struct run *run, bool backwards)
{
	const uint8_t plan = fm_fuzz_u8(&run->in), tweak = fm_fuzz_u8(&run->in) & 0x1f, pieces = 2 + (plan >> 4);

	for (uint8_t i = 0; i < pieces; i++)
		add_piece(run, plan, backwards ? pieces - 1 - i : i, tweak);
}

/* One piece of each of up to 255 datagrams: more than are looked for near by. */
static void add_crowd(struct run *run)
{
	const uint8_t n = fm_fuzz_u8(&run->in), number = fm_fuzz_u8(&run->in);

	for (uint8_t i = 0; i < n; i++)
		add_piece(run, i, number, 0);
}

/* From now on memory is scarce once so much is held: there is as much of it as before. */
static void set_ease(struct run *run)
{
	run->table.reass->ease_mbufs = run->table.params.settings.budget_mbufs * fm_fuzz_u8(&run->in) / 256;
}

static void set(struct run *run)
{
	struct fm_reass_settings settings;
	char err[256] = "";
	const bool bad = fm_fuzz_u8(&run->in) == 0;
	int ret;

	read_settings(run, &settings);
	if (bad)
		settings.budget_mbufs = run->table.params.max_mbufs + 1;
	ret = fm_reass_set(run->table.reass, &settings, run->now, err, sizeof(err));
	if (bad) {
		FM_FUZZ_CHECK(ret == -EINVAL && err[0] != '\0', "%d for a budget over max_mbufs", ret);
		return;
	}
	FM_FUZZ_CHECK(ret == 0, "%s", err);
	run->table.params.settings = settings;
	set_model(run);
	check(run, "set");
}

static void expire(struct run *run, uint32_t max)
{
	struct fm_reass_view views[VIEWS_MAX];
	const uint32_t n = fm_reass_expire(run->table.reass, run->now, max);
	uint32_t n_views;

	FM_FUZZ_CHECK(n <= max, "%u expired of %u", n, max);
	/* The model knows no halves. */
	if (n == max && run->flags & COMPARE)
		fm_reass_expire(run->table.reass, run->now, UINT32_MAX);
	fm_model_expire(&run->model, run->now);
	check(run, "expire");
	if (n == max && !(run->flags & COMPARE))
		return;
	n_views = fm_reass_views(run->table.reass, run->now, views, VIEWS_MAX);
	for (uint32_t i = 0; i < n_views; i++)
		FM_FUZZ_CHECK(views[i].age_tsc <
				      run->table.params.settings.timeout_tsc[views[i].family == 4 ? FM_IPV4 : FM_IPV6],
			      "held for %lu", views[i].age_tsc);
}

static void flush(struct run *run)
{
	fm_fuzz_table_flush(&run->table, pending_mbufs(run));
	fm_model_flush(&run->model);
	check(run, "flush");
}

static void operate(struct run *run)
{
	static struct fm_fuzz_frame frame;
	const uint8_t operation = fm_fuzz_u8(&run->in);
	struct fm_reass_view views[VIEWS_MAX];

	switch (operation % 16) {
	case 8:
	case 9:
		fm_fuzz_described(&run->in, &frame);
		add_frame(run, &frame);
		break;
	case 10:
		fm_fuzz_raw(&run->in, &frame);
		add_frame(run, &frame);
		break;
	case 11:
		burst(run);
		break;
	case 12:
		if (operation & 0x80)
			set_ease(run);
		else
			run->now += fm_fuzz_u8(&run->in);
		break;
	case 13:
		expire(run, operation & 16 ? UINT32_MAX : 2);
		break;
	case 14:
		if (operation & 0x80)
			flush(run);
		else
			set(run);
		break;
	case 15:
		if (operation & 0x80) {
			add_crowd(run);
			break;
		}
		run->generation++;
		if (!(run->flags & COMPARE))
			fm_test_pool_limit(run->table.headers, operation & 16 ? 0 : FM_FUZZ_HEADER_MBUFS);
		fm_reass_views(run->table.reass, run->now, views, VIEWS_MAX);
		break;
	default:
		if (operation & 0x80) {
			add_whole(run, operation & 0x40);
			break;
		}
		fm_fuzz_piece(&run->in, run->generation, &frame);
		add_frame(run, &frame);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run run;

	run = (struct run){.in = {data, size}};
	start(&run);
	for (unsigned int i = 0; i < OPERATIONS_MAX && run.in.left > 0; i++)
		operate(&run);
	burst(&run);
	flush(&run);
	fm_fuzz_table_fini(&run.table);
	fm_model_fini(&run.model);
	return 0;
}
