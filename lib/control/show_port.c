/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show port stats|link, and what all of `show port` share
 */
#include <errno.h>
#include <inttypes.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"
#include "show_port.h"
#include "stats.h"

static void print_direction(FILE *out, const char *name, uint64_t packets, uint64_t bytes, uint64_t recent_packets,
			    uint64_t recent_bytes, double recent_s)
{
	char pps[FM_RATE_LEN], mbit[FM_RATE_LEN];

	fprintf(out, "  %-12s %16" PRIu64 " %18" PRIu64 " %13s %12s\n", name, packets, bytes,
		fm_rate(recent_packets, recent_s, pps), fm_rate_mbit(recent_bytes, recent_s, mbit));
}

static int print_stats(struct fm_shell *shell, uint16_t index, const struct fm_port_stats *stats)
{
	const struct fm_port_view *view = &stats->view;
	FILE *out = shell->out;
	char title[16];

	(void)index;
	snprintf(title, sizeof(title), "Port %u", view->id);
	fprintf(out, "%-14s %16s %18s %13s %12s\n", title, "packets", "bytes", "packets/s", "Mbit/s");
	print_direction(out, "received", view->rx_packets, view->rx_bytes, stats->recent_rx_packets,
			stats->recent_rx_bytes, stats->recent_s);
	print_direction(out, "sent", view->tx_packets, view->tx_bytes, stats->recent_tx_packets,
			stats->recent_tx_bytes, stats->recent_s);
	fprintf(out, "  rx missed %" PRIu64 ", rx errors %" PRIu64 ", rx no mbuf %" PRIu64 ", tx errors %" PRIu64 "\n",
		view->rx_missed, view->rx_errors, view->rx_nombuf, view->tx_errors);
	return 0;
}

static int put_stats(struct fm_value *in, uint16_t index, const struct fm_port_stats *stats, char *err, size_t err_len)
{
	const struct fm_port_view *view = &stats->view;
	struct fm_value *per_s;

	(void)index;
	(void)err;
	(void)err_len;
	fm_put_bool(in, "link_up", view->link_up);
	fm_put_uint(in, "link_speed_mbps", fm_port_speed_mbps(view));
	fm_put_uint(in, "rx_packets", view->rx_packets);
	fm_put_uint(in, "rx_bytes", view->rx_bytes);
	fm_put_uint(in, "rx_missed", view->rx_missed);
	fm_put_uint(in, "rx_errors", view->rx_errors);
	fm_put_uint(in, "rx_no_mbuf", view->rx_nombuf);
	fm_put_uint(in, "tx_packets", view->tx_packets);
	fm_put_uint(in, "tx_bytes", view->tx_bytes);
	fm_put_uint(in, "tx_errors", view->tx_errors);
	if (stats->recent_s <= 0)
		return 0;
	per_s = fm_put_object(in, "per_s");
	fm_put_rate(per_s, "rx_packets", stats->recent_rx_packets, stats->recent_s);
	fm_put_rate(per_s, "rx_bytes", stats->recent_rx_bytes, stats->recent_s);
	fm_put_rate(per_s, "tx_packets", stats->recent_tx_packets, stats->recent_s);
	fm_put_rate(per_s, "tx_bytes", stats->recent_tx_bytes, stats->recent_s);
	return 0;
}

uint32_t fm_port_speed_mbps(const struct fm_port_view *view)
{
	/* ethdev says 0 for no speed and the largest number for an unknown one. */
	return view->link_up && view->link_speed_mbps != UINT32_MAX ? view->link_speed_mbps : 0;
}

static int print_link(struct fm_shell *shell, uint16_t index, const struct fm_port_stats *stats)
{
	const struct fm_port_view *view = &stats->view;
	const uint32_t speed = fm_port_speed_mbps(view);
	struct fm_port_more_view more;
	char speed_text[16] = "unknown";

	fm_door_port_more(index, &more);
	if (speed != 0)
		snprintf(speed_text, sizeof(speed_text), "%" PRIu32, speed);
	fprintf(shell->out, "Port %u: link %s, %s Mbit/s, %s duplex, autonegotiation %s%s\n", view->id,
		view->link_up ? "up" : "down", speed_text, more.full_duplex ? "full" : "half",
		more.autoneg ? "on" : "off", more.link_held_down ? ",\n  taken down by link-follow" : "");
	return 0;
}

static int put_link(struct fm_value *in, uint16_t index, const struct fm_port_stats *stats, char *err, size_t err_len)
{
	struct fm_port_more_view more;

	(void)err;
	(void)err_len;
	fm_door_port_more(index, &more);
	fm_put_bool(in, "link_up", stats->view.link_up);
	fm_put_uint(in, "link_speed_mbps", fm_port_speed_mbps(&stats->view));
	fm_put_bool(in, "full_duplex", more.full_duplex);
	fm_put_bool(in, "autonegotiation", more.autoneg);
	fm_put_bool(in, "held_down_by_link_follow", more.link_held_down);
	return 0;
}

/* Of each port that was asked for. */
static int put_each(struct fm_value *root, const struct fm_ask *ask, const struct fm_port_part *part, char *err,
		    size_t err_len)
{
	struct fm_value *list = fm_put_list(root, "ports"), *in;
	const uint64_t now_ns = fm_now_ns();
	struct fm_port_stats stats;
	bool found = false;
	int ret = 0;

	for (uint16_t i = 0; i < fm_door_ports() && ret == 0; i++) {
		fm_stats_port(i, now_ns, &stats);
		if (ask->given && stats.view.id != ask->number)
			continue;
		found = true;
		in = fm_put_object(list, NULL);
		fm_put_uint(in, "id", stats.view.id);
		fm_put_text(in, "name", stats.view.name);
		ret = part->put(in, i, &stats, err, err_len);
	}
	if (found || !ask->given)
		return ret;
	snprintf(err, err_len, "there is no port %" PRIu64 " (see /fragmend/ports or show port stats all)",
		 ask->number);
	return -ENOENT;
}

static int print_each(struct fm_shell *shell, const struct fm_ask *ask, const struct fm_port_part *part)
{
	const uint64_t now_ns = fm_now_ns();
	struct fm_port_stats stats;
	bool first = true;
	int ret = 0;

	for (uint16_t i = 0; i < fm_door_ports() && ret == 0; i++) {
		fm_stats_port(i, now_ns, &stats);
		if (ask->given && stats.view.id != ask->number)
			continue;
		if (!first && part->apart)
			fputc('\n', shell->out);
		first = false;
		ret = part->print(shell, i, &stats);
	}
	return ret;
}

static const struct fm_port_part stats_part = { print_stats, put_stats, true };
static const struct fm_port_part link_part = { print_link, put_link, false };

int fm_put_ports(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	return put_each(root, ask, &stats_part, err, err_len);
}

int fm_put_port_info(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	return put_each(root, ask, &fm_port_info_part, err, err_len);
}

int fm_put_port_xstats(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	return put_each(root, ask, &fm_port_xstats_part, err, err_len);
}

int fm_put_port_link(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	return put_each(root, ask, &link_part, err, err_len);
}

int fm_do_show_port(struct fm_shell *shell, const struct fm_args *args)
{
	static const struct {
		const char *word;
		const struct fm_port_part *part;
		int (*put)(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
	} words[] = {
		{ "info", &fm_port_info_part, fm_put_port_info },
		{ "stats", &stats_part, fm_put_ports },
		{ "xstats", &fm_port_xstats_part, fm_put_port_xstats },
		{ "link", &link_part, fm_put_port_link },
	};
	const struct fm_ask ask = {
		.given = fm_args_has(args, "PORT"), .number = fm_args_number(args, "PORT", 0),
	};
	unsigned int i = 0;

	while (!fm_args_has(args, words[i].word))
		i++;
	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, words[i].put);
	return print_each(shell, &ask, words[i].part);
}
