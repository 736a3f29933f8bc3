/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_pcapng as it is in 23.11 and later, for 22.11, too; see fm_dpdk.h. To be included before anything else: all of
 * the library is experimental in 22.11.
 *
 * 22.11 knows no comments, and works out a packet's time in variables that all threads share and none protects: two
 * that copy at the turn of a second can put the time of all later packets centuries off. So there the time is put in
 * here, and so is the comment.
 */
#ifndef FM_PCAPNG_H
#define FM_PCAPNG_H

#ifndef ALLOW_EXPERIMENTAL_API
#define ALLOW_EXPERIMENTAL_API
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pcapng.h>

#include "fm_dpdk.h"

enum {
	FM_EPB_COMMENT = 1,	/* opt_comment */
	FM_EPB_END = 0,		/* opt_endofopt */
	FM_EPB_TIME_AT = 12,	/* two words, the upper one first */
	FM_EPB_LENGTH_AT = 4,
	FM_EPB_COMMENT_MAX = 64,
	/*
	 * What a packet's block has behind its data, in bytes: padding, four options (flags, queue, hash, comment),
	 * their end and the length again. What it has in front of it goes into the headroom.
	 */
	FM_EPB_TAIL = 3 + 8 + 8 + 12 + 4 + FM_EPB_COMMENT_MAX + 4 + 4,
};

/*
 * Add a comment to an enhanced packet block of one segment that has no end of options yet:
 *
 *	| type | length | ... | options | length |
 *	| type | length | ... | options | 1, n | n bytes, padded | 0, 0 | length |
 *
 * @param comment  at most FM_EPB_COMMENT_MAX bytes
 * @return         false: it does not fit the mbuf, which is as it was
 */
static inline bool fm_epb_add_comment(struct rte_mbuf *block, const char *comment)
{
	const uint16_t n = (uint16_t)strlen(comment);
	const uint16_t head[2] = { FM_EPB_COMMENT, n }, end[2] = { FM_EPB_END, 0 };
	const uint16_t more = (uint16_t)(sizeof(head) + RTE_ALIGN_CEIL(n, 4) + sizeof(end));
	const uint32_t len = rte_pktmbuf_data_len(block) + (uint32_t)more;
	uint8_t *at;

	if (n > FM_EPB_COMMENT_MAX || rte_pktmbuf_append(block, more) == NULL)
		return false;
	at = rte_pktmbuf_mtod_offset(block, uint8_t *, len - more - sizeof(len));
	memset(at, 0, more);
	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), comment, n);
	memcpy(at + more - sizeof(end), end, sizeof(end));
	memcpy(at + more, &len, sizeof(len));
	memcpy(rte_pktmbuf_mtod_offset(block, uint8_t *, FM_EPB_LENGTH_AT), &len, sizeof(len));
	return true;
}

static inline void fm_epb_set_time(struct rte_mbuf *block, uint64_t time_ns)
{
	const uint32_t word[2] = { (uint32_t)(time_ns >> 32), (uint32_t)time_ns };

	memcpy(rte_pktmbuf_mtod_offset(block, uint8_t *, FM_EPB_TIME_AT), word, sizeof(word));
}

/*
 * Copy a frame into a block for rte_pcapng_write_packets().
 *
 * @param pool     its mbufs must have room for `snaplen` and FM_EPB_TAIL bytes behind the headroom
 * @param time_ns  now, since 1970; later releases look themselves
 * @param comment  NULL: none
 * @return         NULL: the pool is empty
 */
static inline struct rte_mbuf *fm_pcapng_copy(uint16_t port, uint16_t queue, const struct rte_mbuf *m,
					      struct rte_mempool *pool, uint32_t snaplen, uint64_t time_ns,
					      enum rte_pcapng_direction direction, const char *comment)
{
	struct rte_mbuf *block;

#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(23, 11, 0, 0)
	(void)time_ns;
	block = rte_pcapng_copy(port, queue, m, pool, snaplen, direction, comment);
#else
	block = rte_pcapng_copy(port, queue, m, pool, snaplen, rte_get_tsc_cycles(), direction);
	if (block == NULL)
		return NULL;
	fm_epb_set_time(block, time_ns);
	if (comment != NULL && !fm_epb_add_comment(block, comment)) {
		rte_pktmbuf_free(block);
		return NULL;
	}
#endif
	return block;
}

/*
 * Begin a file: its header and an interface for each port.
 *
 * @param fd  taken, also if this fails
 * @return    NULL: it cannot be written; errno or rte_errno may say why
 */
static inline rte_pcapng_t *fm_pcapng_open(int fd, const char *program, const char *comment)
{
	rte_pcapng_t *file = rte_pcapng_fdopen(fd, NULL, NULL, program, comment);

	if (file == NULL) {
		close(fd);
		return NULL;
	}
#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(23, 11, 0, 0)
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
#if FM_DPDK_RELEASE >= RTE_VERSION_NUM(25, 11, 0, 0)
		const int ret = rte_pcapng_add_interface(file, port, DLT_EN10MB, NULL, NULL, NULL);
#else
		const int ret = rte_pcapng_add_interface(file, port, NULL, NULL, NULL);
#endif

		if (ret < 0) {
			rte_pcapng_close(file);
			return NULL;
		}
	}
#endif
	return file;
}

#endif
