/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "line.h"

enum { SEND_BYTES = 64 << 20 };

static void fail(const char *what, const char *device)
{
	fprintf(stderr, "wire_send: %s %s: %s\n", what, device, strerror(errno));
	exit(1);
}

void fm_wire_line_open(struct fm_wire_line *line, const char *device)
{
	/* Protocol 0: it sends only, and no frame is kept for it to read. */
	struct sockaddr_ll here = {.sll_family = AF_PACKET};
	struct ifreq request = {0};
	const int bytes = SEND_BYTES;

	line->fd = socket(AF_PACKET, SOCK_RAW, 0);
	if (line->fd < 0)
		fail("a packet socket on", device);
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (ioctl(line->fd, SIOCGIFHWADDR, &request) != 0)
		fail("the link address of", device);
	memcpy(line->mac, request.ifr_hwaddr.sa_data, sizeof(line->mac));
	here.sll_ifindex = (int)if_nametoindex(device);
	if (setsockopt(line->fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) != 0 ||
	    bind(line->fd, (struct sockaddr *)&here, sizeof(here)) != 0)
		fail("a packet socket on", device);
	for (unsigned int i = 0; i < FM_WIRE_BATCH; i++) {
		line->part[i].iov_base = line->frame[i];
		line->message[i].msg_hdr.msg_iov = &line->part[i];
		line->message[i].msg_hdr.msg_iovlen = 1;
	}
}

uint8_t *fm_wire_line_room(struct fm_wire_line *line)
{
	if (line->n == FM_WIRE_BATCH)
		fm_wire_line_flush(line);
	return line->frame[line->n];
}

void fm_wire_line_add(struct fm_wire_line *line, uint32_t bytes, void *owner, uint32_t tag)
{
	line->owner[line->n] = owner;
	line->tag[line->n] = tag;
	line->part[line->n].iov_len = bytes;
	line->n++;
}

void fm_wire_line_flush(struct fm_wire_line *line)
{
	unsigned int at = 0;

	while (at < line->n) {
		const int n = sendmmsg(line->fd, &line->message[at], line->n - at, 0);

		if (n > 0) {
			line->sent += (unsigned int)n;
			at += (unsigned int)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		line->unsent++;
		if (line->owner[at] != NULL)
			line->on_unsent(line->owner[at], line->tag[at]);
		at++;
	}
	line->n = 0;
}
