/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table under pressure: a budget of 1 to 64 mbufs, or of hundreds, sources of many kinds, and everything that
 * changes what the
 * policy believes: time that jumps, expiry in small steps, new budgets, timeouts and source prefixes, floods, flushes.
 *
 * Input: six bytes of parameters, then operations of a byte each with their arguments; operate() shows them. After
 * each of them the table must be sound and within its budget, and everything accounted for; what comes out must be
 * right byte for byte; and what comes while memory is empty is not refused.
 */
#include "fuzz_check.h"

#include "fm_mbuf.h"
#include "fm_packet.h"
#include "internal.h"

enum {
	OPERATIONS_MAX = 400,
	PENDING_MAX = FM_BURST_MAX,
	BUDGET_MAX = 64,
	WIDE = 224, /* a parameter from here on: hundreds */
	FLOOD_MAX = 16,
	CROWD_MAX = 64,
	PIECE_BYTES = 24,
	STRANGERS = 0x0b000000,
	CROWD = 0x0c000000,
	JUMP_SHIFT = 6,
	VIEWS_MAX = 8,
};

struct run {
	struct fm_fuzz_input in;
	struct fm_fuzz_table table;
	uint64_t now;
	uint32_t strangers;
	uint32_t crowd; /* datagrams in two pieces begun so far */
	struct rte_mbuf *pending[PENDING_MAX];
	uint16_t n_pending;
};

static uint64_t pending_mbufs(const struct run *run)
{
	uint64_t pending = 0;

	for (unsigned int i = 0; i < run->n_pending; i++)
		pending += run->pending[i]->nb_segs;
	return pending;
}

static uint64_t refused(const struct run *run)
{
	const uint64_t *count = fm_reass_stats(run->table.reass)->count;

	return count[FM_REFUSED_BUDGET] + count[FM_REFUSED_SHARE] + count[FM_REFUSED_TABLE];
}

static void take_done(const struct run *run, struct rte_mbuf *m, const struct fm_whole *whole)
{
	const uint32_t payload_at = whole->l2_len + whole->l3_len;
	uint32_t len;
	uint8_t *bytes = fm_test_bytes(m, &len);

	FM_FUZZ_CHECK(len == whole->l2_len + whole->ip_len, "%u bytes, described as %u", len, whole->ip_len);
	FM_FUZZ_CHECK(whole->fragments <= run->table.params.settings.max_fragments, "%u fragments", whole->fragments);
	for (uint32_t at = payload_at; at < len; at++)
		FM_FUZZ_CHECK(bytes[at] == fm_test_byte(at - payload_at), "wrong byte at %u", at - payload_at);
	free(bytes);
	rte_pktmbuf_free(m);
}

static void burst(struct run *run)
{
	static struct fm_result result;
	const uint64_t held = fm_reass_stats(run->table.reass)->held_mbufs, refused_before = refused(run);
	const uint16_t n = run->n_pending;
	const uint16_t segments = n == 1 ? run->pending[0]->nb_segs : 0;

	fm_reass_burst(run->table.reass, run->pending, n, 0, run->now, &result);
	run->n_pending = 0;
	FM_FUZZ_CHECK(result.n_pass == 0, "%u passed, and all were fragments", result.n_pass);
	for (unsigned int i = 0; i < result.n_done; i++)
		take_done(run, result.done[i], &result.whole[i]);
	fm_fuzz_table_check(&run->table, 0, "burst");
	if (n == 1 && held == 0 && segments <= run->table.params.settings.budget_mbufs)
		FM_FUZZ_CHECK(refused(run) == refused_before, "refused, and nothing was held");
}

static void add(struct run *run, const struct fm_test_frag *frag)
{
	static struct fm_fuzz_frame frame;

	frame.len = fm_test_frame(frag, frame.bytes);
	frame.plain = true;
	run->pending[run->n_pending++] = fm_fuzz_mbuf(&run->in, &run->table.owner, &frame);
	if (run->n_pending == PENDING_MAX)
		burst(run);
}

static uint32_t pieces_of(uint8_t who)
{
	static const uint32_t counts[] = {2, 3, 5, 8, 13, 21, 34, 2};

	return counts[(who >> 1 & 7) ^ (who >> 5)];
}

/* A piece of one of 16 datagrams of one of 8 sources of each family; all about a datagram follows from those. */
static void piece(struct run *run, uint8_t who, uint8_t what)
{
	const uint32_t pieces = pieces_of(who), number = what % pieces;
	struct fm_test_frag frag = {
		.family = who & 1 ? 6 : 4,
		.id = who >> 4,
		/* Near ones and far ones, so that prefixes of all lengths tell some apart. */
		.source = 0x0a000000U | (who >> 1 & 1) | (who >> 2 & 1) << 12 | (who >> 3 & 1) << 20,
		.destination = 9,
		.protocol = 253,
		.offset = number * PIECE_BYTES,
		.length = number + 1 == pieces ? 1 + who % PIECE_BYTES : PIECE_BYTES,
		.more = number + 1 < pieces,
	};

	/* Now and then another's place: an overlap, or a contradiction about the end. */
	if (what >= 250)
		frag.offset += 8;
	add(run, &frag);
}

static void any_piece(struct run *run)
{
	const uint8_t who = fm_fuzz_u8(&run->in), what = fm_fuzz_u8(&run->in);

	piece(run, who, what);
}

/* A whole one goes into the burst, one piece after the other or the other way. */
static void whole(struct run *run, bool backwards)
{
	const uint8_t who = fm_fuzz_u8(&run->in);

	for (uint32_t n = pieces_of(who), i = 0; i < n; i++)
		piece(run, who, (uint8_t)(backwards ? n - 1 - i : i));
}

/* The first pieces of many datagrams, or the last pieces of those begun last: each of one of sixteen sources. */
static void crowd(struct run *run)
{
	const uint8_t how_many = fm_fuzz_u8(&run->in);
	const bool last = how_many & 64;
	const uint32_t n = RTE_MIN(1U + how_many % CROWD_MAX, last ? run->crowd : UINT32_MAX);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t id = last ? run->crowd - n + i : run->crowd + i;
		const struct fm_test_frag frag = {
			.family = id & 1 ? 6 : 4,
			.id = id & 0xffff,
			.source = CROWD + id % 16,
			.protocol = 253,
			.offset = last ? PIECE_BYTES : 0,
			.length = PIECE_BYTES,
			.more = !last,
		};

		add(run, &frag);
	}
	run->crowd += last ? 0 : n;
}

/* From now on memory is scarce once so much is held: there is as much of it as before. */
static void set_ease(struct run *run)
{
	run->table.reass->ease_mbufs = run->table.params.settings.budget_mbufs * fm_fuzz_u8(&run->in) / 256;
}

static void flood(struct run *run)
{
	const uint8_t how_many = fm_fuzz_u8(&run->in);

	for (uint32_t i = 0; i < how_many % FLOOD_MAX; i++) {
		const struct fm_test_frag frag = {
			.family = how_many & 16 ? 6 : 4,
			.id = run->strangers & 0xffff,
			.source = STRANGERS + (how_many & 32 ? 0 : run->strangers),
			.protocol = 253,
			.offset = how_many & 64 ? PIECE_BYTES : 0,
			.length = PIECE_BYTES,
			.more = true,
		};

		run->strangers++;
		add(run, &frag);
	}
}

static void read_settings(struct run *run, struct fm_reass_settings *settings)
{
	const uint32_t max_mbufs = run->table.params.max_mbufs, budget = fm_fuzz_u8(&run->in);

	settings->budget_mbufs = max_mbufs > 256 ? (1 + budget) * max_mbufs / 256 : 1 + budget % max_mbufs;
	settings->timeout_tsc[FM_IPV4] = 1U + fm_fuzz_u8(&run->in) * 16U;
	settings->timeout_tsc[FM_IPV6] = 1U + fm_fuzz_u8(&run->in) * 16U;
	settings->max_fragments = FM_FRAGMENTS_MIN + fm_fuzz_u8(&run->in) % 64;
}

static void set(struct run *run, const struct fm_reass_settings *settings)
{
	char err[256] = "";
	const int ret = fm_reass_set(run->table.reass, settings, run->now, err, sizeof(err));

	FM_FUZZ_CHECK(ret == 0, "%s", err);
	run->table.params.settings = *settings;
	fm_fuzz_table_check(&run->table, pending_mbufs(run), "set");
}

static void set_some(struct run *run, bool prefixes)
{
	struct fm_reass_settings settings = run->table.params.settings;

	if (prefixes) {
		settings.source_prefix[FM_IPV4] = fm_fuzz_u8(&run->in) % 33;
		settings.source_prefix[FM_IPV6] = fm_fuzz_u8(&run->in) % 129;
	} else {
		read_settings(run, &settings);
	}
	set(run, &settings);
}

/* What is said of datagrams and of sources can be true. */
static void look(const struct run *run)
{
	struct fm_reass *reass = run->table.reass;
	const uint64_t held = fm_reass_stats(reass)->held_mbufs;
	struct fm_reass_view views[VIEWS_MAX];
	struct fm_source_view sources[VIEWS_MAX];
	const uint32_t n = fm_reass_views(reass, run->now, views, VIEWS_MAX);
	uint64_t of_sources = 0;
	uint32_t n_sources = 0;

	for (uint32_t i = 0; i < n; i++)
		FM_FUZZ_CHECK(views[i].chance_permille <= 1000, "chance of %u", views[i].chance_permille);
	for (uint32_t at = 0; (at = fm_reass_sources(reass, at, 100, sources, VIEWS_MAX, &n_sources)) != 0;)
		;
	FM_FUZZ_CHECK(n_sources <= VIEWS_MAX, "%u sources", n_sources);
	for (uint32_t i = 0; i < n_sources; i++) {
		FM_FUZZ_CHECK(sources[i].chance_permille <= 1000, "chance of %u", sources[i].chance_permille);
		of_sources += sources[i].held_mbufs;
	}
	FM_FUZZ_CHECK(of_sources <= held, "sources hold %llu of %llu", (unsigned long long)of_sources,
		      (unsigned long long)held);
}

static void expire(struct run *run, uint32_t max)
{
	const uint32_t n = fm_reass_expire(run->table.reass, run->now, max);

	FM_FUZZ_CHECK(n <= max, "%u expired of %u", n, max);
	fm_fuzz_table_check(&run->table, pending_mbufs(run), "expire");
	look(run);
}

static void operate(struct run *run)
{
	const uint8_t operation = fm_fuzz_u8(&run->in);

	switch (operation % 16) {
	default: /* one by one */
		if (operation & 0x80) {
			whole(run, operation & 0x40);
			break;
		}
		burst(run);
		any_piece(run);
		burst(run);
		break;
	case 6:
	case 7:
		any_piece(run);
		break;
	case 8:
		burst(run);
		break;
	case 9:
		if (operation & 0x80)
			set_ease(run);
		else
			run->now += fm_fuzz_u8(&run->in);
		break;
	case 10:
		run->now += (uint64_t)fm_fuzz_u16(&run->in) << JUMP_SHIFT;
		break;
	case 11:
		expire(run, operation & 16 ? UINT32_MAX : operation >> 5);
		break;
	case 12:
		if (operation & 0x80)
			crowd(run);
		else
			flood(run);
		break;
	case 13:
		set_some(run, operation & 16);
		break;
	case 14:
		/* A little back, as between the clocks of two cores. */
		run->now -= operation >> 4;
		break;
	case 15:
		fm_fuzz_table_flush(&run->table, pending_mbufs(run));
	}
}

static uint32_t read_size(struct run *run)
{
	const uint8_t size = fm_fuzz_u8(&run->in);

	return size < WIDE ? 1U + size % BUDGET_MAX : 128 + (size - WIDE) * 16U;
}

static void start(struct run *run)
{
	struct fm_reass_params params = {.secret = "an open secret."};

	params.max_mbufs = read_size(run);
	params.max_datagrams = read_size(run);
	run->table.params = params;
	read_settings(run, &params.settings);
	fm_fuzz_table_init(&run->table, &params, true);
	run->now = 1000000;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct run run;

	run = (struct run){.in = {data, size}};
	start(&run);
	for (unsigned int i = 0; i < OPERATIONS_MAX && run.in.left > 0; i++)
		operate(&run);
	burst(&run);
	fm_fuzz_table_flush(&run.table, 0);
	fm_fuzz_table_fini(&run.table);
	return 0;
}
