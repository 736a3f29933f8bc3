/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A main() for a fuzz target without libFuzzer: runs each file named, and each file of a directory named, in order of
 * their names. For compilers that have no libFuzzer, and to look at a crash in a debugger.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned int replayed;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	struct stat st;

	if (file == NULL || fstat(fileno(file), &st) != 0)
		goto fail;
	/* Exactly as large as the file, so that a sanitizer sees a read behind it. */
	data = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
	if (data == NULL || fread(data, 1, (size_t)st.st_size, file) != (size_t)st.st_size)
		goto fail;
	fclose(file);
	/* Before the run: the last line then names the file that failed. */
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	replayed++;
	return 0;
fail:
	fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
	free(data);
	if (file != NULL)
		fclose(file);
	return -1;
}

static int replay_directory(const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	int ret = 0;

	if (n < 0) {
		fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char name[PATH_MAX];

		if (entries[i]->d_name[0] != '.') {
			snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
			ret |= replay_file(name);
		}
		free(entries[i]);
	}
	free(entries);
	return ret;
}

int main(int argc, char **argv)
{
	int ret = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			ret |= replay_directory(argv[i]);
		else
			ret |= replay_file(argv[i]);
	}
	if (replayed == 0)
		fprintf(stderr, "%s: nothing to replay; usage: %s FILE|DIRECTORY...\n", argv[0], argv[0]);
	return ret != 0 || replayed == 0;
}
