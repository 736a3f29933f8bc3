/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw frames onto an interface, some at a time; each that the kernel does not take is told to its owner. */
#ifndef FM_WIRE_LINE_H
#define FM_WIRE_LINE_H

#include <stdint.h>
#include <sys/socket.h>

enum { FM_WIRE_BATCH = 64, FM_WIRE_FRAME_MAX = 1514 };

struct fm_wire_line {
	int fd;
	unsigned int n;        /* frames that wait */
	uint64_t sent, unsent; /* frames */
	uint8_t mac[6];        /* of the interface */
	/* Of each frame that was not sent, with what fm_wire_line_add() was given. */
	void (*on_unsent)(void *owner, uint32_t tag);
	void *owner[FM_WIRE_BATCH];
	uint32_t tag[FM_WIRE_BATCH];
	struct iovec part[FM_WIRE_BATCH];
	struct mmsghdr message[FM_WIRE_BATCH];
	uint8_t frame[FM_WIRE_BATCH][FM_WIRE_FRAME_MAX];
};

/* Ends the program if there is no such interface. */
void fm_wire_line_open(struct fm_wire_line *line, const char *device);

/* Room for FM_WIRE_FRAME_MAX bytes of the next frame; sends what waits if there is none. */
uint8_t *fm_wire_line_room(struct fm_wire_line *line);

/* The frame at the last fm_wire_line_room() is complete; `owner` may be NULL. */
void fm_wire_line_add(struct fm_wire_line *line, uint32_t bytes, void *owner, uint32_t tag);

/* Send what waits. */
void fm_wire_line_flush(struct fm_wire_line *line);

#endif
