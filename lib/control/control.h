/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control layer, as the program sees it: command files, the console, and the tables it prints by itself.
 *
 * All functions are called by one thread, the one that is allowed to use the control door (lib/port/door.h), after the
 * ports have been started up, but for fm_control_socket_open(), fm_control_set_stop() and fm_control_can_live(), which
 * need none.
 */
#ifndef FM_CONTROL_H
#define FM_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fm_console;
struct fm_loop;
struct fm_server;

/*
 * What ends command files early, also those of `load`, between two of their lines: *stop, set by a signal handler. NULL
 * (the default): nothing does. It must stay valid.
 */
void fm_control_set_stop(const volatile sig_atomic_t *stop);

/*
 * Run the console commands of a file or pipe. Blank lines and what follows a '#' are ignored. The first command that
 * fails ends the run; the commands before it stay done.
 *
 * @param out      takes what the commands print
 * @param err      on failure: one sentence that starts with "file:line: ", or that names the file if it cannot be read
 * @param err_len  bytes at err; FM_SENTENCE_LEN (config.h) hold any sentence
 * @return         0: all done, or ended early, see fm_control_set_stop(); 1: stopped at `quit`, which succeeded;
 *                 otherwise -errno
 */
int fm_control_run_file(const char *path, FILE *out, char *err, size_t err_len);

/*
 * Serve the console on stdin and stdout from a loop (loop.h), which is ended by `quit` and by the end of the input.
 *
 * On a terminal: prompt, history, TAB completion, the live view; Ctrl-C empties the line and Ctrl-D on an empty line
 * leaves. Otherwise (pipe, file): one command per line, no prompt and no echo. A command that fails prints one sentence
 * on stdout and the console goes on. The status table of `set stats-period` is printed from here, too.
 *
 * @return  0, or -errno if stdin cannot be served
 */
int fm_control_console_open(struct fm_loop *loop, struct fm_console **console);

/* Can the console of this program show the live view? stdin and stdout must be a terminal that can place its cursor. */
bool fm_control_can_live(void);

/* Begin with `show live`. */
void fm_control_console_live(struct fm_console *console);

/*
 * Leave the terminal as it was, and the loop.
 *
 * @param console  may be NULL
 * @return         0; -errno: what ended it was that stdin could not be read
 */
int fm_control_console_close(struct fm_console *console);

enum { FM_SESSIONS_MAX = 16 };	/* of the console socket at the same time */

/*
 * Serve the console on a unix socket, too, from a loop, which is ended by `quit program`. What a client may say is in
 * request.h. Call it before there are other threads: see fm_listen().
 *
 * @param path  1..FM_SOCKET_PATH_MAX (listen.h) bytes
 * @return      0; -errno: err says why not
 */
int fm_control_socket_open(struct fm_loop *loop, const char *path, struct fm_server **server, char *err,
			   size_t err_len);

/* End all sessions, and remove the socket. @param server  may be NULL */
void fm_control_socket_close(struct fm_server *server);

/* Sample the counters, of which rates are made. Call it every FM_TICK_MS (loop.h). */
void fm_control_sample(void);

/*
 * Print the status table if `set stats-period` or fm_control_set_stats_period() asks for it and it is due. For a
 * program without console; call it every FM_TICK_MS.
 */
void fm_control_periodic(FILE *out);

/* Seconds between two status tables, 0..3600; 0: never (the default). The value of `set stats-period`. */
void fm_control_set_stats_period(uint32_t seconds);

/* The status table: ports and reassembly, rates since the last call. */
void fm_control_print_stats(FILE *out);

/* What to print on the way out: reassembly statistics, drops that are not zero, the accounting check. Raw counters. */
void fm_control_print_final(FILE *out);

#endif
