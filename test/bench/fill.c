/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in for any DPDK program (EAL option -d) that puts frames of a capture into a net_ring port, as telemetry
 * command /bench/fill,PORT,COUNT,FILE. Between two such ports that are forwarded to each other the frames then go
 * round and round: a bench for forwarding alone, with a program's own loop and nothing that generates or frees.
 *
 * All frames go into the ring by one enqueue, and nobody else can produce on it before that has ended, because a ring
 * that is empty has nothing to forward. So the program may be forwarding already.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <pcap/pcap.h>
#include <rte_common.h>
#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_telemetry.h>

enum { FRAMES_MAX = 512 };	/* half a ring, so that two rings take them all, wherever they are */

static struct rte_mempool *pool;

/* The first `count` frames of the capture. Returns how many there were. */
static uint32_t read_frames(const char *path, struct rte_mbuf **m, uint32_t count)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(path, err);
	struct pcap_pkthdr *header;
	const u_char *bytes;
	uint32_t n = 0;

	while (pcap != NULL && n < count && pcap_next_ex(pcap, &header, &bytes) == 1) {
		char *to;

		m[n] = rte_pktmbuf_alloc(pool);
		to = m[n] == NULL ? NULL : rte_pktmbuf_append(m[n], (uint16_t)RTE_MIN(header->caplen, 65535U));
		if (to == NULL) {
			rte_pktmbuf_free(m[n]);
			break;
		}
		memcpy(to, bytes, header->caplen);
		n++;
	}
	if (pcap != NULL)
		pcap_close(pcap);
	return n;
}

static uint32_t fill(const char *port, uint32_t count, const char *path)
{
	struct rte_mbuf *m[FRAMES_MAX];
	char name[RTE_RING_NAMESIZE];
	struct rte_ring *ring;
	uint32_t n;

	/* As the driver calls it. */
	snprintf(name, sizeof(name), "ETH_RXTX0_%s", port);
	ring = rte_ring_lookup(name);
	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("bench_fill", FRAMES_MAX, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					       SOCKET_ID_ANY);
	if (ring == NULL || pool == NULL)
		return 0;
	n = read_frames(path, m, count);
	if (rte_ring_enqueue_bulk(ring, (void **)m, n, NULL) == n)
		return n;
	rte_pktmbuf_free_bulk(m, n);
	return 0;
}

/* Answers with how many frames went in; 0 if none could. */
static int handle(const char *command, const char *params, struct rte_tel_data *answer)
{
	char port[64] = "", path[1024] = "";
	unsigned int count = 0;

	(void)command;
	if (params == NULL || sscanf(params, "%63[^,],%u,%1023[^\n]", port, &count, path) != 3 || count > FRAMES_MAX)
		return -EINVAL;
	rte_tel_data_start_dict(answer);
	return rte_tel_data_add_dict_int(answer, "frames", (int)fill(port, count, path));
}

RTE_INIT(bench_fill_register)
{
	rte_telemetry_register_cmd("/bench/fill", handle,
				   "Fill a net_ring port. Parameters: port name, frames, capture");
}
