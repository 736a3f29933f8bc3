/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose turn it is at the control door (lib/port/door.h), which serves one thread at a time.
 *
 * The main thread has it from the start of the program to its end, and lends it while it waits: around poll(),
 * nanosleep() and the like. So nothing that it does needs a lock, a wait that is not marked only keeps the others
 * waiting, and once its last loop is over nobody looks at ports and workers that are being taken down.
 *
 * Other threads (those of rte_telemetry) borrow it for one look and give it back. The main thread comes first: it waits
 * for no more than the one that looks now. Workers have nothing to do with it and never wait.
 */
#ifndef FM_LOCK_H
#define FM_LOCK_H

#include <stdbool.h>

/* Main thread only, in pairs, without nesting. fm_lock_take_back() waits for who looks now. */
void fm_lock_lend(void);
void fm_lock_take_back(void);

/*
 * For any other thread.
 *
 * @param wait_ms  how long to wait for it
 * @return         false: it is not to be had; nothing may be looked at
 */
bool fm_lock_borrow(unsigned int wait_ms);
void fm_lock_give_back(void);

#endif
