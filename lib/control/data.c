/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>

#include "data.h"

void fm_put_rate(struct fm_value *in, const char *name, uint64_t count, double seconds)
{
	if (seconds > 0)
		fm_put_double(in, name, (double)count / seconds);
}

int fm_shell_json(struct fm_shell *shell, const struct fm_ask *ask,
		  int (*put)(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len))
{
	struct fm_report *report = fm_report_new();
	int ret;

	if (report == NULL)
		return fm_shell_fail(shell, -ENOMEM, "no memory");
	ret = put(fm_report_root(report), ask, shell->err, sizeof(shell->err));
	if (ret == 0 && !fm_report_ok(report))
		ret = fm_shell_fail(shell, -ENOMEM, "no memory");
	if (ret == 0)
		fm_report_json(report, shell->out);
	fm_report_free(report);
	return ret;
}
