/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs end with if not with EXIT_SUCCESS. */
#ifndef FM_EXIT_CODE_H
#define FM_EXIT_CODE_H

enum {
	FM_EXIT_FAILED = 1,
	FM_EXIT_USAGE = 2,
};

#endif
