/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of `show port` share.
 */
#ifndef FM_SHOW_PORT_H
#define FM_SHOW_PORT_H

#include "data.h"

/* What there is to be told of a port: for people, and as members of an object. 0 or -errno with a sentence. */
struct fm_port_part {
	int (*print)(struct fm_shell *shell, uint16_t index, const struct fm_port_stats *stats);
	int (*put)(struct fm_value *in, uint16_t index, const struct fm_port_stats *stats, char *err, size_t err_len);
	bool apart;		/* an empty line between two ports */
};

extern const struct fm_port_part fm_port_info_part, fm_port_xstats_part;

/* 0: no link, or unknown. */
uint32_t fm_port_speed_mbps(const struct fm_port_view *view);

#endif
