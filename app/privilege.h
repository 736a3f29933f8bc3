/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fragmend may do is given up when it is not needed any more: doc/design/0019-privileges.md. Main lcore only.
 * Functions that can fail return 0 or -errno and put one sentence into `err`.
 */
#ifndef FM_PRIVILEGE_H
#define FM_PRIVILEGE_H

#include <stddef.h>
#include <stdint.h>

/* No program that is ever started from here gets more than it has (no_new_privs). Before there are other threads. */
int fm_privilege_lock(char *err, size_t err_len);

/*
 * Drop capabilities, in every thread there is: those of DPDK are made by its libraries, before this.
 *
 * @param keep  those that stay, if they were there: bit N is capability N
 */
int fm_privilege_drop(uint64_t keep, char *err, size_t err_len);

/* What the ports that are open need until they are closed. */
uint64_t fm_privilege_of_ports(void);

#endif
