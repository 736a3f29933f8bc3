/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "control.h"
#include "lock.h"
#include "session.h"

/* Files that run each other in a circle end here. */
enum { FILES_OPEN_MAX = 8 };

enum { LOOK_MS = 100 };	/* between two looks at `stop` */

static const volatile sig_atomic_t *stop;

void fm_control_set_stop(const volatile sig_atomic_t *flag)
{
	stop = flag;
}

static bool stopped(void)
{
	return stop != NULL && *stop != 0;
}

/* Put "file:line: " before the sentence that is there. */
static void locate(struct fm_shell *shell, const char *path, unsigned int number)
{
	char sentence[FM_SENTENCE_LEN];

	memcpy(sentence, shell->err, sizeof(sentence));
	if (snprintf(shell->err, sizeof(shell->err), "%s:%u: %s", path, number, sentence) >= (int)sizeof(shell->err))
		memcpy(shell->err + sizeof(shell->err) - 4, "...", 4);
}

/* A character; waits for one that is still to come through a pipe, but not longer than until `stop`. */
static int read_char(FILE *file)
{
	struct pollfd input = { .fd = fileno(file), .events = POLLIN };
	int c;

	while ((c = getc(file)) == EOF && ferror(file) && errno == EAGAIN && !stopped()) {
		clearerr(file);
		fm_lock_lend();
		poll(&input, 1, LOOK_MS);
		fm_lock_take_back();
	}
	return c;
}

/*
 * Read a line, or as much of it as shows that it is too long.
 *
 * @return its length, without its end; -1: there is none, or it cannot be read (see errno)
 */
static int read_line(FILE *file, char line[FM_LINE_MAX + 1])
{
	int len = 0;
	int c = EOF;

	errno = 0;
	while (len < FM_LINE_MAX && (c = read_char(file)) != EOF && c != '\n')
		line[len++] = (char)c;
	line[len] = '\0';
	return ferror(file) || (len == 0 && c == EOF) ? -1 : len;
}

static int run_lines(struct fm_shell *shell, const char *path, FILE *file)
{
	char line[FM_LINE_MAX + 1];
	unsigned int number = 0;
	int ret = 0;
	int len;

	while (ret == 0 && !shell->quit && !shell->leave && !stopped()) {
		len = read_line(file, line);
		if (len < 0) {
			if (ferror(file) && !stopped())
				ret = fm_shell_fail(shell, errno != 0 ? -errno : -EIO, "%s: %s", path, strerror(errno));
			break;
		}
		number++;
		if (strlen(line) != (size_t)len)
			ret = fm_shell_fail(shell, -EINVAL, "line has a NUL character");
		else
			ret = fm_command_run(shell, line);
		if (ret == 0 && shell->session && ftello(shell->out) > FM_SESSION_OUT_BYTES / 2)
			ret = fm_shell_fail(shell, -EFBIG, "what the file's commands print is too long for a session");
		if (ret != 0)
			locate(shell, path, number);
	}
	return ret;
}

/* Files end, and pipes are what a shell makes of a command's output. Devices may do neither. */
static int check_kind(struct fm_shell *shell, const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return fm_shell_fail(shell, -errno, "cannot read %s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		return fm_shell_fail(shell, -EISDIR, "cannot read %s: %s", path, strerror(EISDIR));
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return fm_shell_fail(shell, -EINVAL, "cannot read %s: neither a regular file nor a pipe", path);
	/* To open a pipe is to wait for who writes into it. */
	if (S_ISFIFO(st.st_mode) && shell->serving)
		return fm_shell_fail(shell, -EINVAL, "cannot read %s: a pipe, which only --cmdline-file can wait for",
				     path);
	return 0;
}

int fm_script_run(struct fm_shell *shell, const char *path)
{
	FILE *file;
	int ret;

	if (shell->depth == FILES_OPEN_MAX)
		return fm_shell_fail(shell, -ELOOP, "cannot load %s: %d command files are open already", path,
				     FILES_OPEN_MAX);
	ret = check_kind(shell, path);
	if (ret != 0)
		return ret;
	file = fopen(path, "re");
	/* To open a pipe is to wait for who writes into it. */
	if (file == NULL && stopped())
		return 0;
	if (file == NULL)
		return fm_shell_fail(shell, -errno, "cannot read %s: %s", path, strerror(errno));
	fcntl(fileno(file), F_SETFL, O_NONBLOCK);
	shell->depth++;
	ret = run_lines(shell, path, file);
	shell->depth--;
	fclose(file);
	return ret;
}

int fm_control_run_file(const char *path, FILE *out, char *err, size_t err_len)
{
	struct fm_shell shell = { .out = out };
	int ret = fm_script_run(&shell, path);

	fflush(out);
	if (ret != 0 && err != NULL)
		snprintf(err, err_len, "%s", shell.err);
	return ret != 0 ? ret : shell.quit;
}
