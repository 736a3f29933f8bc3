/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A unix socket under a name that belongs to one program at a time.
 */
#ifndef FM_LISTEN_H
#define FM_LISTEN_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { FM_SOCKET_PATH_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };	/* bytes of a name */

/*
 * Listen. The socket is its owner's alone (mode 0600) from its first moment; one that a dead program has left is
 * replaced, and one that somebody listens on, or a file of another kind, is left as it is.
 *
 * Sets the umask for a moment: not while other threads make files.
 *
 * @param path  1..FM_SOCKET_PATH_MAX bytes
 * @param made  set to what identifies it, for fm_listen_remove()
 * @return      the descriptor, which does not block; -errno: err has one sentence
 */
int fm_listen(const char *path, struct stat *made, char *err, size_t err_len);

/* Remove the name, unless it has been given to something else since. */
void fm_listen_remove(const char *path, const struct stat *made);

#endif
