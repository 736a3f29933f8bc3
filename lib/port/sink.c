/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pcap/pcap.h>
#include <rte_mbuf.h>

#include "fail.h"
#include "sink.h"

enum { FM_US_PER_S = 1000000 };

struct fm_sink {
	const char *path;
	pcap_t *pcap;
	pcap_dumper_t *dumper;
	int error;			/* errno of the first write that failed */
	uint8_t frame[FM_SINK_FRAME_MAX];	/* a chain, copied together */
};

int fm_sink_open(struct fm_sink **result, const char *path, char *err, size_t err_len)
{
	struct fm_sink *sink = calloc(1, sizeof(*sink));
	int code;

	if (sink == NULL)
		return fm_fail(err, err_len, -ENOMEM, "no memory for capture file %s", path);
	sink->path = path;
	sink->pcap = pcap_open_dead(DLT_EN10MB, FM_SINK_FRAME_MAX);
	if (sink->pcap == NULL) {
		free(sink);
		return fm_fail(err, err_len, -ENOMEM, "no memory for capture file %s", path);
	}
	errno = 0;
	sink->dumper = pcap_dump_open(sink->pcap, path);
	if (sink->dumper == NULL) {
		code = fm_fail(err, err_len, errno != 0 ? -errno : -EIO, "capture file %s", pcap_geterr(sink->pcap));
		pcap_close(sink->pcap);
		free(sink);
		return code;
	}
	*result = sink;
	return 0;
}

bool fm_sink_write(struct fm_sink *sink, const struct rte_mbuf *m, uint64_t time_us)
{
	const uint32_t len = RTE_MIN(m->pkt_len, (uint32_t)FM_SINK_FRAME_MAX);
	const uint8_t *bytes = rte_pktmbuf_read(m, 0, len, sink->frame);
	struct pcap_pkthdr header = { .caplen = len, .len = m->pkt_len };
	struct timespec now;

	if (sink->error != 0 || bytes == NULL)
		return false;
	if (time_us == 0) {
		clock_gettime(CLOCK_REALTIME, &now);
		header.ts = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
	} else {
		header.ts = (struct timeval){ .tv_sec = (time_t)(time_us / FM_US_PER_S),
					      .tv_usec = (suseconds_t)(time_us % FM_US_PER_S) };
	}
	errno = 0;
	pcap_dump((u_char *)sink->dumper, &header, bytes);
	if (ferror(pcap_dump_file(sink->dumper)))
		sink->error = errno != 0 ? errno : EIO;
	return sink->error == 0;
}

int fm_sink_close(struct fm_sink *sink, char *err, size_t err_len)
{
	int code = 0;

	if (sink == NULL)
		return 0;
	errno = 0;
	if (pcap_dump_flush(sink->dumper) != 0 && sink->error == 0)
		sink->error = errno != 0 ? errno : EIO;
	if (sink->error != 0)
		code = fm_fail(err, err_len, -sink->error, "capture file %s: %s", sink->path, strerror(sink->error));
	pcap_dump_close(sink->dumper);
	pcap_close(sink->pcap);
	free(sink);
	return code;
}
