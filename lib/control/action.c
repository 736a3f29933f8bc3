/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands that change something.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "door.h"
#include "handlers.h"
#include "stats.h"

int fm_do_start(struct fm_shell *shell, const struct fm_args *args)
{
	(void)args;
	return fm_door_start(shell->err, sizeof(shell->err));
}

int fm_do_stop(struct fm_shell *shell, const struct fm_args *args)
{
	(void)args;
	return fm_door_stop(shell->err, sizeof(shell->err));
}

int fm_do_flush(struct fm_shell *shell, const struct fm_args *args)
{
	uint64_t freed = 0;
	int ret = fm_door_flush(&freed, shell->err, sizeof(shell->err));

	(void)args;
	if (ret == 0)
		fprintf(shell->out, "%" PRIu64 " fragments freed.\n", freed);
	return ret;
}

int fm_do_quit(struct fm_shell *shell, const struct fm_args *args)
{
	if (shell->session && !fm_args_has(args, "program"))
		return fm_shell_fail(shell, -EPERM, "\"quit\" ends fragmend, not this session: \"exit\" leaves the "
				     "session, \"quit program\" stops forwarding for good");
	shell->quit = true;
	return 0;
}

int fm_do_exit(struct fm_shell *shell, const struct fm_args *args)
{
	(void)args;
	if (shell->session)
		shell->leave = true;
	else
		shell->quit = true;
	return 0;
}

/* Turn percent into mbufs, and say what the pools leave if it is too much. */
static int resolve_budget(struct fm_shell *shell, const char *text, struct fm_setting_value *value)
{
	uint64_t max = fm_door_budget_max();
	char mbufs[40] = "";

	if (value->percent)
		value->number = fm_door_budget_whole() * value->number / 100;
	if (value->number >= 1 && value->number <= max)
		return 0;
	if (value->percent)
		snprintf(mbufs, sizeof(mbufs), ", which is %" PRIu64, value->number);
	return fm_shell_fail(shell, -ERANGE, "budget must be 1..%" PRIu64 " mbufs, what the pools leave (see show "
			     "budget), got \"%s\"%s", max, text, mbufs);
}

int fm_do_set(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_setting *setting = args->command->setting;
	const char *text = args->arg[args->n - 1].text;
	struct fm_setting_value value;
	struct fm_settings settings;
	int ret;

	ret = fm_setting_parse(setting, text, &value, shell->err, sizeof(shell->err));
	if (ret == 0 && setting->kind == FM_KIND_BUDGET)
		ret = resolve_budget(shell, text, &value);
	if (ret != 0)
		return ret;
	if (setting->local) {
		setting->put(NULL, value.number);
		return 0;
	}
	fm_door_settings(&settings);
	setting->put(&settings, value.number);
	return fm_door_publish(&settings, shell->err, sizeof(shell->err));
}

int fm_do_clear_port(struct fm_shell *shell, const struct fm_args *args)
{
	int (*const clear)(uint16_t index, char *err, size_t err_len) =
		fm_args_has(args, "xstats") ? fm_door_clear_xstats : fm_door_clear_port;
	bool all = fm_args_has(args, "all");
	uint64_t id = fm_args_number(args, "PORT", 0);
	struct fm_port_view view;
	int ret = 0;

	for (uint16_t i = 0; i < fm_door_ports() && ret == 0; i++) {
		fm_door_port(i, &view);
		if (!all && view.id != id)
			continue;
		ret = clear(i, shell->err, sizeof(shell->err));
		if (ret == 0)
			fm_stats_port_cleared(i, fm_now_ns());
	}
	return ret;
}

int fm_do_clear_reassembly(struct fm_shell *shell, const struct fm_args *args)
{
	(void)shell;
	(void)args;
	fm_stats_clear();
	return 0;
}

int fm_do_load(struct fm_shell *shell, const struct fm_args *args)
{
	return fm_script_run(shell, fm_args_text(args, "FILE"));
}

static void write_settings(FILE *file)
{
	char text[FM_SETTING_TEXT_LEN];
	struct fm_settings settings;

	/* No date: the file has one, and equal settings make equal files. */
	fprintf(file, "# fragmend %s, all settings; for --cmdline-file or load\n", FM_VERSION);
	fm_door_settings(&settings);
	for (unsigned int i = 0; i < FM_SETTING_IDS; i++) {
		const struct fm_setting *setting = &fm_setting[i];

		fm_setting_format(setting, setting->get(&settings), text, sizeof(text));
		fprintf(file, "set %s %s\n", setting->name, text);
	}
}

/* What a new file may be read and written by, or who the old one could. */
static mode_t mode_of(const char *path)
{
	struct stat old;
	mode_t mask;

	if (stat(path, &old) == 0)
		return old.st_mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int write_file(int fd)
{
	FILE *file = fdopen(fd, "w");
	int ret = 0;

	if (file == NULL) {
		ret = -errno;
		close(fd);
		return ret;
	}
	errno = 0;
	write_settings(file);
	if (ferror(file) || fflush(file) != 0 || fsync(fd) != 0)
		ret = errno != 0 ? -errno : -EIO;
	if (fclose(file) != 0 && ret == 0)
		ret = -errno;
	return ret;
}

/* The old file stays until the new one, which has a name of its own in the same directory, is complete. */
static int replace_file(struct fm_shell *shell, const char *path)
{
	const char *slash = strrchr(path, '/');
	const int folder_len = slash == NULL ? 0 : (int)(slash + 1 - path);
	const mode_t mode = mode_of(path);
	char *part;
	int fd, ret;

	if (asprintf(&part, "%.*s.fragmend-XXXXXX", folder_len, path) < 0)
		return fm_shell_fail(shell, -ENOMEM, "cannot write %s: no memory", path);
	fd = mkostemp(part, O_CLOEXEC);
	if (fd < 0) {
		ret = fm_shell_fail(shell, -errno, "cannot write %s: a new file cannot be made beside it: %s", path,
				    strerror(errno));
		free(part);
		return ret;
	}
	ret = fchmod(fd, mode) == 0 ? 0 : -errno;
	if (ret == 0)
		ret = write_file(fd);
	else
		close(fd);
	if (ret == 0 && rename(part, path) != 0)
		ret = -errno;
	if (ret != 0) {
		unlink(part);
		fm_shell_fail(shell, ret, "cannot write %s: %s", path, strerror(-ret));
	}
	free(part);
	return ret;
}

int fm_do_save(struct fm_shell *shell, const struct fm_args *args)
{
	const char *path = fm_args_text(args, "FILE");
	struct stat target;
	char *real;
	int ret;

	/* A device or a socket must not be replaced by a file. */
	if (stat(path, &target) == 0 && !S_ISREG(target.st_mode))
		return fm_shell_fail(shell, -EINVAL, "cannot write %s: it is there and no regular file", path);
	/* Nor a symbolic link: the file behind it is, if there is one. */
	real = realpath(path, NULL);
	if (real == NULL && lstat(path, &target) == 0)
		return fm_shell_fail(shell, -ENOENT, "cannot write %s: it is a symbolic link to nothing", path);
	ret = replace_file(shell, real != NULL ? real : path);
	free(real);
	return ret;
}
