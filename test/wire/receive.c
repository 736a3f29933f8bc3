/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver of the wire table: a UDP socket that counts the distinct datagrams whose every byte is right. Says
 * "ready" once it listens; ends by SIGTERM or SIGINT, when its socket is empty, and prints what it has counted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/sock_diag.h>

#include "wire.h"

enum {
	BATCH = 32,
	BUFFER_BYTES = 1 << 29, /* seconds of traffic: this program may be late, the socket may not drop */
	WAKE_MS = 50,           /* at the latest, to see the signal */
	WORD_BITS = 64,
};

struct sender {
	uint64_t *seen; /* a bit for each sequence number */
	uint32_t words;
	uint32_t distinct; /* of all groups */
};

struct receiver {
	uint64_t seed;
	uint32_t n_senders;
	struct sender *sender;
	uint64_t distinct[FM_WIRE_GROUPS];
	uint64_t repeated, wrong;
};

static volatile sig_atomic_t stopping;

static void stop(int number)
{
	(void)number;
	stopping = 1;
}

static void grow(struct sender *s, uint32_t words)
{
	const uint32_t more = words > 2 * s->words ? words : 2 * s->words;

	s->seen = realloc(s->seen, more * sizeof(*s->seen));
	if (s->seen == NULL) {
		perror("realloc");
		exit(1);
	}
	memset(s->seen + s->words, 0, (more - s->words) * sizeof(*s->seen));
	s->words = more;
}

static void count(struct receiver *r, const uint8_t *payload, size_t bytes)
{
	struct fm_wire_header h;
	uint64_t *word, bit;
	struct sender *s;

	if (!fm_wire_is_intact(payload, bytes, r->seed, &h) || h.sender >= r->n_senders ||
	    h.sequence >= FM_WIRE_SEQUENCE_MAX) {
		r->wrong++;
		return;
	}
	s = &r->sender[h.sender];
	if (h.sequence / WORD_BITS >= s->words)
		grow(s, h.sequence / WORD_BITS + 1);
	word = &s->seen[h.sequence / WORD_BITS];
	bit = UINT64_C(1) << h.sequence % WORD_BITS;
	if (*word & bit) {
		r->repeated++;
		return;
	}
	*word |= bit;
	s->distinct++;
	r->distinct[h.group]++;
}

static int open_socket(void)
{
	const struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons(FM_WIRE_PORT)};
	const struct timeval wake = {.tv_usec = WAKE_MS * 1000};
	const int bytes = BUFFER_BYTES;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wake, sizeof(wake)) != 0 ||
	    bind(fd, (const struct sockaddr *)&here, sizeof(here)) != 0) {
		perror("wire_receive: socket");
		exit(1);
	}
	return fd;
}

static void receive(struct receiver *r, int fd)
{
	static uint8_t buffer[BATCH][FM_WIRE_PAYLOAD_MAX];
	struct iovec part[BATCH];
	struct mmsghdr message[BATCH];

	memset(message, 0, sizeof(message));
	for (unsigned int i = 0; i < BATCH; i++) {
		part[i] = (struct iovec){buffer[i], sizeof(buffer[i])};
		message[i].msg_hdr.msg_iov = &part[i];
		message[i].msg_hdr.msg_iovlen = 1;
	}
	for (;;) {
		/* Read before the call: a datagram that was there at the signal is still counted. */
		const bool last = stopping != 0;
		int n = recvmmsg(fd, message, BATCH, last ? MSG_DONTWAIT : MSG_WAITFORONE, NULL);

		for (int i = 0; i < n; i++)
			count(r, buffer[i], message[i].msg_len);
		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			perror("wire_receive: recvmmsg");
			exit(1);
		}
		if (n < 0 && last)
			return;
	}
}

static void print(const struct receiver *r, int fd, bool each)
{
	uint32_t memory[SK_MEMINFO_VARS] = {0};
	socklen_t bytes = sizeof(memory);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &bytes) != 0) {
		perror("wire_receive: SO_MEMINFO");
		exit(1);
	}
	printf("distinct_steady %" PRIu64 "\ndistinct_after %" PRIu64 "\ndistinct_burst %" PRIu64 "\n",
	       r->distinct[FM_WIRE_STEADY], r->distinct[FM_WIRE_AFTER], r->distinct[FM_WIRE_BURST]);
	printf("repeated %" PRIu64 "\nwrong %" PRIu64 "\nsocket_drops %" PRIu32 "\n", r->repeated, r->wrong,
	       memory[SK_MEMINFO_DROPS]);
	for (uint32_t i = 0; each && i < r->n_senders; i++)
		printf("sender %" PRIu32 " %" PRIu32 "\n", i, r->sender[i].distinct);
}

static void usage(FILE *out)
{
	fputs("usage: wire_receive --senders N [--seed N] [--each]\n"
	      "  --senders N   senders, numbered from 0, those of a burst included\n"
	      "  --seed N      of wire_send\n"
	      "  --each        count by sender, too\n",
	      out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"senders", required_argument, NULL, 'n'},
		{"seed", required_argument, NULL, 's'},
		{"each", no_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	const struct sigaction action = {.sa_handler = stop};
	struct receiver r = {.seed = 1};
	bool each = false;
	int letter, fd;

	while ((letter = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (letter) {
		case 'n':
			r.n_senders = (uint32_t)fm_wire_number("--senders", optarg, 1, FM_WIRE_SENDERS_MAX);
			break;
		case 's':
			r.seed = (uint64_t)fm_wire_number("--seed", optarg, 0, UINT32_MAX);
			break;
		case 'e':
			each = true;
			break;
		default:
			usage(letter == 'h' ? stdout : stderr);
			return letter == 'h' ? 0 : 2;
		}
	if (r.n_senders == 0 || optind != argc) {
		usage(stderr);
		return 2;
	}
	r.sender = calloc(r.n_senders, sizeof(*r.sender));
	if (r.sender == NULL) {
		perror("calloc");
		return 1;
	}
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	fd = open_socket();
	puts("ready");
	fflush(stdout);
	receive(&r, fd);
	print(&r, fd, each);
	for (uint32_t i = 0; i < r.n_senders; i++)
		free(r.sender[i].seen);
	free(r.sender);
	return 0;
}
