/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_door.h"
#include "shell.h"
#include "stats.h"

int shell_setup(void **state)
{
	struct shell_fixture *f = calloc(1, sizeof(*f));

	fake_door_reset();
	fm_stats_clear();
	strcpy(f->dir, "/tmp/fragmend-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->file, sizeof(f->file), "%s/a.cmd", f->dir);
	snprintf(f->other, sizeof(f->other), "%s/b.cmd", f->dir);
	f->shell.out = open_memstream(&f->text, &f->len);
	*state = f;
	return 0;
}

int shell_teardown(void **state)
{
	struct shell_fixture *f = *state;

	fclose(f->shell.out);
	free(f->text);
	unlink(f->file);
	unlink(f->other);
	assert_int_equal(rmdir(f->dir), 0);	/* no other file was left behind */
	free(f);
	return 0;
}

int shell_run(struct shell_fixture *f, const char *line)
{
	int ret;

	rewind(f->shell.out);
	ret = fm_command_run(&f->shell, line);
	fputc('\0', f->shell.out);
	fflush(f->shell.out);
	assert_int_equal(ret != 0, f->shell.err[0] != '\0');
	return ret;
}
