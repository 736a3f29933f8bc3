/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * capture start|stop, show capture
 */
#include <inttypes.h>
#include <string.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "report.h"

static const char *const state_text[] = {
	[FM_CAPTURE_NONE] = "none",
	[FM_CAPTURE_RUNNING] = "running",
	[FM_CAPTURE_ENDING] = "ended, still being written",
	[FM_CAPTURE_STOPPED] = "stopped",
	[FM_CAPTURE_LIMIT] = "ended at its limit",
	[FM_CAPTURE_FAILED] = "FAILED",
};

static void print_line(FILE *out, const char *name, uint64_t value, const char *text)
{
	fprintf(out, "  %-14s %14" PRIu64 "%s%s\n", name, value, *text != '\0' ? "  " : "", text);
}

static void print_capture(FILE *out, const struct fm_capture_view *v)
{
	fprintf(out, "Capture to %s: %s", v->path, state_text[v->state]);
	if (v->state == FM_CAPTURE_FAILED)
		fprintf(out, ": %s", strerror(v->error));
	fprintf(out, "\n  %s, for %.1f s\n",
		v->request.all ? "frames in and out, and what is dropped" : "what is dropped", v->seconds);
	print_line(out, "snaplen", v->request.snaplen_bytes, "bytes of a packet at most");
	print_line(out, "rate", v->request.rate_pps, "packets a second at most, in all");
	if (v->request.limit_packets != 0)
		print_line(out, "limit", v->request.limit_packets, "packets in the file at most");
	print_line(out, "packets", v->packets, "in the file");
	print_line(out, "bytes", v->bytes, "");
	print_line(out, "not captured", v->over_rate + v->no_room + v->unwritten, "");
	print_line(out, "  over rate", v->over_rate, "came faster than the rate");
	print_line(out, "  no room", v->no_room, "came faster than the file was written");
	print_line(out, "  unwritten", v->unwritten, "could not be written");
}

int fm_do_capture_start(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_capture_request request = {
		.path = fm_args_text(args, "FILE"),
		.all = fm_args_has(args, "all"),
		.snaplen_bytes = (uint32_t)fm_args_number(args, "BYTES", FM_SNAPLEN_DEFAULT),
		.limit_packets = fm_args_number(args, "PACKETS", 0),
		.rate_pps = (uint32_t)fm_args_number(args, "RATE", FM_CAPTURE_RATE_DEFAULT),
	};

	return fm_door_capture_start(&request, shell->err, sizeof(shell->err));
}

int fm_do_capture_stop(struct fm_shell *shell, const struct fm_args *args)
{
	struct fm_capture_view view;
	int ret = fm_door_capture_stop(shell->err, sizeof(shell->err));

	(void)args;
	if (ret != 0)
		return ret;
	fm_door_capture(&view);
	print_capture(shell->out, &view);
	if (view.state == FM_CAPTURE_FAILED)
		return fm_shell_fail(shell, -view.error, "capture to %s has failed: %s", view.path,
				     strerror(view.error));
	return 0;
}

static int put_capture(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_capture_view view;

	(void)ask;
	(void)err;
	(void)err_len;
	fm_door_capture(&view);
	fm_put_text(root, "state", state_text[view.state]);
	if (view.state == FM_CAPTURE_NONE)
		return 0;
	fm_put_text(root, "file", view.path);
	fm_put_bool(root, "all", view.request.all);
	fm_put_uint(root, "snaplen_bytes", view.request.snaplen_bytes);
	fm_put_uint(root, "rate_pps", view.request.rate_pps);
	fm_put_uint(root, "limit_packets", view.request.limit_packets);
	fm_put_double(root, "seconds", view.seconds);
	fm_put_uint(root, "packets", view.packets);
	fm_put_uint(root, "bytes", view.bytes);
	fm_put_uint(root, "over_rate", view.over_rate);
	fm_put_uint(root, "no_room", view.no_room);
	fm_put_uint(root, "unwritten", view.unwritten);
	if (view.state == FM_CAPTURE_FAILED)
		fm_put_text(root, "error", strerror(view.error));
	return 0;
}

int fm_do_show_capture(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { 0 };
	struct fm_capture_view view;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, put_capture);
	fm_door_capture(&view);
	if (view.state == FM_CAPTURE_NONE)
		fprintf(shell->out, "There was no capture yet.\n");
	else
		print_capture(shell->out, &view);
	return 0;
}
