/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show port info|stats
 */
#include <inttypes.h>

#include <rte_common.h>

#include "door.h"
#include "handlers.h"
#include "print.h"
#include "stats.h"

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static void print_link(FILE *out, const struct fm_port_view *view)
{
	fprintf(out, "  link               %s", view->link_up ? "up" : "down");
	/* ethdev says 0 for no speed and the largest number for an unknown one. */
	if (view->link_up && view->link_speed_mbps != 0 && view->link_speed_mbps != UINT32_MAX)
		fprintf(out, ", %u Mbit/s", view->link_speed_mbps);
	fputc('\n', out);
}

static void print_rss(FILE *out, const struct fm_port_view *view)
{
	char text[160] = "not in use";

	if (view->no_rss != NULL)
		snprintf(text, sizeof(text), "off: the port %s", view->no_rss);
	else if (view->rss)
		snprintf(text, sizeof(text), "on, %s",
			 view->rss_symmetric ? "both directions by one queue" : "each direction by a queue of its own");
	fprintf(out, "  RSS on addresses   ");
	fm_print_wrapped(out, text, 21, 21);
}

static void print_info(FILE *out, const struct fm_port_view *view)
{
	const uint8_t *mac = view->mac;

	fprintf(out, "Port %u: %s\n", view->id, view->name);
	fprintf(out, "  driver             %s\n", view->driver);
	fprintf(out, "  paired with port   %u\n", view->peer);
	fprintf(out, "  MAC address        %02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	if (view->socket >= 0)
		fprintf(out, "  NUMA node          %d\n", view->socket);
	else
		fprintf(out, "  NUMA node          unknown\n");
	print_link(out, view);
	fprintf(out, "  egress MTU         %u bytes\n", view->egress_mtu);
	fprintf(out, "  RX queues          %u of %u descriptors\n", view->nb_rxq, view->nb_rxd);
	fprintf(out, "  TX queues          %u of %u descriptors\n", view->nb_txq, view->nb_txd);
	fprintf(out, "  TX segments        up to %u a frame%s\n", view->max_segs,
		view->max_segs == 1 ? " (datagrams are linearised)" : "");
	fprintf(out, "  promiscuous        %s\n", on_off(view->promiscuous));
	print_rss(out, view);
	fprintf(out, "  RX IP checksum     by %s\n", view->checksum_offload ? "hardware" : "software");
	if (view->write_path != NULL)
		fprintf(out, "  output to file     %s\n", view->write_path);
}

static void print_direction(FILE *out, const char *name, uint64_t packets, uint64_t bytes, uint64_t recent_packets,
			    uint64_t recent_bytes, double recent_s)
{
	char pps[FM_RATE_LEN], mbit[FM_RATE_LEN];

	fprintf(out, "  %-12s %16" PRIu64 " %18" PRIu64 " %13s %12s\n", name, packets, bytes,
		fm_rate(recent_packets, recent_s, pps), fm_rate_mbit(recent_bytes, recent_s, mbit));
}

static void print_stats(FILE *out, const struct fm_port_stats *stats)
{
	const struct fm_port_view *view = &stats->view;
	char title[16];

	snprintf(title, sizeof(title), "Port %u", view->id);
	fprintf(out, "%-14s %16s %18s %13s %12s\n", title, "packets", "bytes", "packets/s", "Mbit/s");
	print_direction(out, "received", view->rx_packets, view->rx_bytes, stats->recent_rx_packets,
			stats->recent_rx_bytes, stats->recent_s);
	print_direction(out, "sent", view->tx_packets, view->tx_bytes, stats->recent_tx_packets,
			stats->recent_tx_bytes, stats->recent_s);
	fprintf(out, "  rx missed %" PRIu64 ", rx errors %" PRIu64 ", rx no mbuf %" PRIu64 ", tx errors %" PRIu64 "\n",
		view->rx_missed, view->rx_errors, view->rx_nombuf, view->tx_errors);
}

int fm_do_show_port(struct fm_shell *shell, const struct fm_args *args)
{
	bool all = fm_args_has(args, "all");
	uint64_t id = fm_args_number(args, "PORT", 0);
	uint64_t now_ns = fm_now_ns();
	struct fm_port_stats stats;
	bool first = true;

	for (uint16_t i = 0; i < fm_door_ports(); i++) {
		fm_stats_port(i, now_ns, &stats);
		if (!all && stats.view.id != id)
			continue;
		if (!first)
			fputc('\n', shell->out);
		first = false;
		if (fm_args_has(args, "info"))
			print_info(shell->out, &stats.view);
		else
			print_stats(shell->out, &stats);
	}
	return 0;
}
