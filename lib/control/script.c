/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command files.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "control.h"

/* Files that run each other in a circle end here. */
enum { FILES_OPEN_MAX = 8 };

/* Put "file:line: " before the sentence that is there. */
static void locate(struct fm_shell *shell, const char *path, unsigned int number)
{
	char sentence[FM_SENTENCE_LEN];

	memcpy(sentence, shell->err, sizeof(sentence));
	if (snprintf(shell->err, sizeof(shell->err), "%s:%u: %s", path, number, sentence) >= (int)sizeof(shell->err))
		memcpy(shell->err + sizeof(shell->err) - 4, "...", 4);
}

static int run_lines(struct fm_shell *shell, const char *path, FILE *file)
{
	unsigned int number = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 0;

	while (ret == 0 && !shell->quit) {
		errno = 0;
		len = getline(&line, &size, file);
		if (len < 0) {
			if (!feof(file))
				ret = fm_shell_fail(shell, errno != 0 ? -errno : -EIO, "%s: %s", path, strerror(errno));
			break;
		}
		number++;
		if (strlen(line) != (size_t)len)
			ret = fm_shell_fail(shell, -EINVAL, "line has a NUL character");
		else
			ret = fm_command_run(shell, line);
		if (ret != 0)
			locate(shell, path, number);
	}
	free(line);
	return ret;
}

int fm_script_run(struct fm_shell *shell, const char *path)
{
	FILE *file;
	int ret;

	if (shell->depth == FILES_OPEN_MAX)
		return fm_shell_fail(shell, -ELOOP, "cannot load %s: %d command files are open already", path,
				     FILES_OPEN_MAX);
	file = fopen(path, "re");
	if (file == NULL)
		return fm_shell_fail(shell, -errno, "cannot read %s: %s", path, strerror(errno));
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
