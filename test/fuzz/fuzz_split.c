/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"
#include "fuzz_split.h"

#include "bytes.h"
#include "fm_mbuf.h"
#include "frag.h"

enum {
	PIECES_MAX = 2048,
	PIECE_MAX = 4096, /* bytes; larger ones do not fit the pool */
	PORT = 3,
};

/* RFC 791 3.1: what the options with the copied flag take, padded; behind a malformed one nothing counts. */
static uint32_t copied_len(const uint8_t *options, uint32_t len)
{
	uint32_t copied = 0, option_len;

	for (uint32_t i = 0; i < len && options[i] != 0; i += option_len) {
		option_len = options[i] == 1 ? 1 : i + 1 < len ? options[i + 1] : 0;
		if (option_len == 0 || (options[i] != 1 && option_len < 2) || i + option_len > len)
			break;
		copied += options[i] & 0x80 ? option_len : 0;
	}
	return (copied + 3) & ~3U;
}

static void check_options(const uint8_t *piece, const struct fm_frag *frag, const uint8_t *datagram,
			  const struct fm_whole *whole)
{
	const uint8_t *options = datagram + whole->l2_len + FM_IPV4_MIN_LEN;
	const uint32_t len = copied_len(options, whole->l3_len - FM_IPV4_MIN_LEN);

	if (frag->offset == 0) {
		FM_FUZZ_CHECK(frag->l3_len == whole->l3_len, "header of %u bytes in the first piece", frag->l3_len);
		return;
	}
	FM_FUZZ_CHECK(frag->l3_len == FM_IPV4_MIN_LEN + len, "header of %u bytes, %u of options are copied",
		      frag->l3_len, len);
	/* They fill the room of the copied ones, so there is no other option among them. */
	FM_FUZZ_CHECK(copied_len(piece + frag->l2_len + FM_IPV4_MIN_LEN, len) == len, "other options");
}

static void check_piece(const struct rte_mbuf *piece, const struct fm_whole *whole, uint32_t mtu, uint32_t *end,
			bool last, const uint8_t *datagram)
{
	struct fm_frag frag;
	enum fm_outcome why;
	uint32_t len;
	uint8_t *bytes = fm_test_bytes(piece, &len);

	FM_FUZZ_CHECK(piece->nb_segs == 1, "%u segments", piece->nb_segs);
	FM_FUZZ_CHECK(len <= whole->l2_len + mtu, "%u bytes for an MTU of %u", len, mtu);
	FM_FUZZ_CHECK(len <= (uint32_t)whole->l2_len + whole->largest, "%u bytes, the largest received had %u", len,
		      whole->largest);
	FM_FUZZ_CHECK(fm_frame_parse(bytes, len, len, PORT, FM_PARSE_SHORT_CHAIN, &frag, &why) == FM_VERDICT_FRAGMENT,
		      "a piece is no fragment");
	FM_FUZZ_CHECK(frag.offset == *end, "piece at %u, expected at %u", frag.offset, *end);
	FM_FUZZ_CHECK(frag.more == !last, "more is %d", frag.more);
	FM_FUZZ_CHECK((uint32_t)frag.payload_at + frag.length == len, "bytes behind the packet");
	FM_FUZZ_CHECK(frag.id == whole->id, "identification %u", frag.id);
	if (frag.family == 4)
		check_options(bytes, &frag, datagram, whole);
	*end += frag.length;
	free(bytes);
}

/* Whatever the way, the frame that comes out is the one that was cut. */
static void check_result(const struct fm_result *result, const uint8_t *bytes, uint32_t len)
{
	const bool passed = result->n_pass == 1;
	uint32_t again_len;
	uint8_t *again;

	FM_FUZZ_CHECK(result->n_pass + result->n_done == 1, "%u passed and %u done", result->n_pass, result->n_done);
	again = fm_test_bytes(passed ? result->pass[0] : result->done[0], &again_len);
	FM_FUZZ_CHECK(again_len == len, "%u bytes, before %u", again_len, len);
	FM_FUZZ_CHECK(memcmp(again, bytes, len) == 0, "other bytes");
	free(again);
	rte_pktmbuf_free(passed ? result->pass[0] : result->done[0]);
}

static void join_again(struct rte_mbuf **pieces, uint32_t n, const uint8_t *bytes, uint32_t len)
{
	static struct fm_result result;
	struct rte_mempool *headers = fm_test_pool(4, RTE_PKTMBUF_HEADROOM + FM_HEADER_ROOM);
	const struct fm_reass_params params = {
		.settings.timeout_tsc = {100, 100},
		.settings.budget_mbufs = n,
		.settings.max_fragments = FM_FRAGMENTS_MAX,
		/* Pieces may be shorter than the header chain. */
		.settings.short_chain = true,
		.max_datagrams = 2,
		.max_mbufs = n,
		.header_pool = headers,
	};
	struct fm_reass *reass;
	char err[256] = "";
	void *memory;

	FM_FUZZ_CHECK(posix_memalign(&memory, 64, fm_reass_memsize(&params)) == 0, "out of memory");
	FM_FUZZ_CHECK(fm_reass_init(memory, &params, &reass, err, sizeof(err)) == 0, "%s", err);
	for (uint32_t at = 0; at < n; at += FM_BURST_MAX) {
		fm_reass_burst(reass, pieces + at, (uint16_t)RTE_MIN(n - at, (uint32_t)FM_BURST_MAX), PORT, 0, &result);
		if (at + FM_BURST_MAX < n)
			FM_FUZZ_CHECK(result.n_pass + result.n_done == 0, "something came out before the last piece");
	}
	check_result(&result, bytes, len);
	FM_FUZZ_CHECK(fm_reass_stats(reass)->held_fragments == 0, "pieces are left");
	fm_reass_flush(reass);
	free(memory);
	fm_test_pool_free(headers);
}

/* Failures leave the datagram as it was. Returns what fm_split() said: pieces, where it needed no new mbuf. */
static int split_starved(struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu, uint32_t count,
			 struct rte_mempool *pool, struct rte_mbuf **pieces)
{
	uint32_t len, after_len;
	uint8_t *bytes = fm_test_bytes(m, &len), *after;
	int ret;

	ret = fm_split(m, whole, mtu, pool, pieces, count - 1);
	FM_FUZZ_CHECK(ret == -ENOSPC, "%d without room for the last piece", ret);
	fm_test_pool_limit(pool, 0);
	ret = fm_split(m, whole, mtu, pool, pieces, PIECES_MAX);
	fm_test_pool_limit(pool, PIECES_MAX);
	if (ret < 0) {
		FM_FUZZ_CHECK(ret == -ENOMEM, "%d from an empty pool", ret);
		after = fm_test_bytes(m, &after_len);
		FM_FUZZ_CHECK(after_len == len && memcmp(after, bytes, len) == 0,
			      "a failed split changed the datagram");
		free(after);
	}
	free(bytes);
	return ret;
}

void fm_fuzz_split(struct rte_mbuf *m, const struct fm_whole *whole, uint32_t mtu, bool starve)
{
	static struct rte_mbuf *pieces[PIECES_MAX];
	struct rte_mempool *pool = fm_test_pool(PIECES_MAX, RTE_PKTMBUF_HEADROOM + PIECE_MAX);
	const bool fits = whole->l2_len + RTE_MIN(mtu, whole->largest) <= PIECE_MAX;
	const uint32_t count = fm_split_count(m, whole, mtu);
	uint32_t len, end = 0;
	uint8_t *bytes = fm_test_bytes(m, &len);
	int n = -ENOMEM;

	if (starve && count > 0 && count <= PIECES_MAX && fits)
		n = split_starved(m, whole, mtu, count, pool, pieces);
	if (n == -ENOMEM)
		n = fm_split(m, whole, mtu, pool, pieces, PIECES_MAX);
	if (n < 0) {
		FM_FUZZ_CHECK((n == -EMSGSIZE && (count == 0 || !fits)) || (n == -ENOSPC && count > PIECES_MAX),
			      "%d for %u pieces", n, count);
		rte_pktmbuf_free(m);
	} else {
		FM_FUZZ_CHECK((uint32_t)n == count, "%d pieces, announced %u", n, count);
		for (int i = 0; n > 1 && i < n; i++)
			check_piece(pieces[i], whole, mtu, &end, i == n - 1, bytes);
		join_again(pieces, (uint32_t)n, bytes, len);
	}
	free(bytes);
	fm_test_pool_free(pool);
}
