/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the commands do. Every handler returns 0, or -errno with one sentence in shell->err.
 */
#ifndef FM_HANDLERS_H
#define FM_HANDLERS_H

#include "command.h"

enum { FM_TOP_DEFAULT = 10 };	/* lines of a list, unless N is given */

int fm_do_start(struct fm_shell *shell, const struct fm_args *args);
int fm_do_stop(struct fm_shell *shell, const struct fm_args *args);
int fm_do_flush(struct fm_shell *shell, const struct fm_args *args);
int fm_do_set(struct fm_shell *shell, const struct fm_args *args);
int fm_do_clear_port(struct fm_shell *shell, const struct fm_args *args);
int fm_do_clear_reassembly(struct fm_shell *shell, const struct fm_args *args);
int fm_do_save(struct fm_shell *shell, const struct fm_args *args);
int fm_do_load(struct fm_shell *shell, const struct fm_args *args);
int fm_do_exit(struct fm_shell *shell, const struct fm_args *args);
int fm_do_quit(struct fm_shell *shell, const struct fm_args *args);

int fm_do_help(struct fm_shell *shell, const struct fm_args *args);
int fm_do_version(struct fm_shell *shell, const struct fm_args *args);

int fm_do_show_port(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_config(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_budget(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_numa(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_lcores(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_stats(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_drops(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_datagrams(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_sources(struct fm_shell *shell, const struct fm_args *args);
int fm_do_capture_start(struct fm_shell *shell, const struct fm_args *args);
int fm_do_capture_stop(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_capture(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_live(struct fm_shell *shell, const struct fm_args *args);
int fm_do_show_check(struct fm_shell *shell, const struct fm_args *args);

#endif
