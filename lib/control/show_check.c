/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show check
 */
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "show.h"

static void print_line(FILE *out, const char *name, uint64_t count)
{
	fprintf(out, "  %-52s %18" PRIu64 "\n", name, count);
}

static void print_verdict(FILE *out, bool ok)
{
	fprintf(out, "  %-52s %18s\n", "", ok ? "OK" : "BROKEN");
}

bool fm_check_ok(const struct fm_check_view *check)
{
	return check->fragments_ok && check->frames_ok && check->mbufs_ok;
}

void fm_check_get(struct fm_check_view *check)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	fm_door_check(check);
	for (unsigned int i = 0; i < 20 && fm_door_forwarding() && !fm_check_ok(check); i++) {
		nanosleep(&pause, NULL);
		fm_door_check(check);
	}
}

void fm_show_check(FILE *out, const struct fm_check_view *check)
{
	fprintf(out, "Every frame is counted once\n");
	print_line(out, "frames in", check->frames_in);
	print_line(out, "= by outcome, fragments included", check->frames_out);
	print_line(out, "+ between two workers", check->frames_between);
	print_verdict(out, check->frames_ok);
	fprintf(out, "Every fragment is somewhere\n");
	print_line(out, "fragments in", check->fragments_in);
	print_line(out, "= of completed datagrams", check->completed);
	print_line(out, "+ dropped", check->dropped);
	print_line(out, "+ held now", check->held);
	print_verdict(out, check->fragments_ok);
	fprintf(out, "No mbuf is lost\n");
	print_line(out, "mbufs in all pools", check->mbufs_size);
	print_line(out, "= free", check->mbufs_free);
	print_line(out, "+ held now", check->mbufs_held);
	print_line(out, "+ in rings, queues, caches and between workers", check->mbufs_elsewhere);
	print_line(out, "+ lost", check->mbufs_lost);
	print_verdict(out, check->mbufs_ok);
}

void fm_show_verdict(FILE *out, const struct fm_check_view *check)
{
	fprintf(out, "accounting: frames %s, fragments %s, mbufs %s\n", check->frames_ok ? "OK" : "BROKEN",
		check->fragments_ok ? "OK" : "BROKEN", check->mbufs_ok ? "OK" : "BROKEN");
}

static void put(struct fm_value *root, const struct fm_check_view *check)
{
	struct fm_value *part;

	fm_put_bool(root, "ok", fm_check_ok(check));
	part = fm_put_object(root, "frames");
	fm_put_bool(part, "ok", check->frames_ok);
	fm_put_uint(part, "in", check->frames_in);
	fm_put_uint(part, "by_outcome", check->frames_out);
	fm_put_uint(part, "between_workers", check->frames_between);
	part = fm_put_object(root, "fragments");
	fm_put_bool(part, "ok", check->fragments_ok);
	fm_put_uint(part, "in", check->fragments_in);
	fm_put_uint(part, "completed", check->completed);
	fm_put_uint(part, "dropped", check->dropped);
	fm_put_uint(part, "held", check->held);
	part = fm_put_object(root, "mbufs");
	fm_put_bool(part, "ok", check->mbufs_ok);
	fm_put_uint(part, "size", check->mbufs_size);
	fm_put_uint(part, "free", check->mbufs_free);
	fm_put_uint(part, "held", check->mbufs_held);
	fm_put_uint(part, "elsewhere", check->mbufs_elsewhere);
	fm_put_uint(part, "lost", check->mbufs_lost);
}

int fm_put_check(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_check_view check;

	(void)ask;
	(void)err;
	(void)err_len;
	fm_check_get(&check);
	put(root, &check);
	return 0;
}

static int print_json(struct fm_shell *shell, const struct fm_check_view *check)
{
	struct fm_report *report = fm_report_new();
	int ret = 0;

	if (report != NULL)
		put(fm_report_root(report), check);
	if (report != NULL && fm_report_ok(report))
		fm_report_json(report, shell->out);
	else
		ret = fm_shell_fail(shell, -ENOMEM, "no memory");
	fm_report_free(report);
	return ret;
}

int fm_do_show_check(struct fm_shell *shell, const struct fm_args *args)
{
	struct fm_check_view check;
	int ret = 0;

	fm_check_get(&check);
	if (fm_args_has(args, "json"))
		ret = print_json(shell, &check);
	else
		fm_show_check(shell->out, &check);
	if (ret != 0 || fm_check_ok(&check))
		return ret;
	return fm_shell_fail(shell, -EBADMSG, "accounting is broken: frames %s, fragments %s, %" PRIu64 " mbufs lost%s",
			     check.frames_ok ? "OK" : "differ", check.fragments_ok ? "OK" : "differ", check.mbufs_lost,
			     fm_door_forwarding() ? " (traffic was running: exact only when it is quiet)" : "");
}
