/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show port info|xstats
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "print.h"
#include "show_port.h"

enum { XSTAT_WIDTH = 52 };	/* of a name; the longest have 63 characters */

static const char *on_off(bool on)
{
	return on ? "on" : "off";
}

static void print_link(FILE *out, const struct fm_port_view *view, const struct fm_port_more_view *more)
{
	fprintf(out, "  link               %s", view->link_up ? "up" : "down");
	if (fm_port_speed_mbps(view) != 0)
		fprintf(out, ", %u Mbit/s, %s duplex", fm_port_speed_mbps(view), more->full_duplex ? "full" : "half");
	fprintf(out, "%s\n", more->link_held_down ? ", taken down by link-follow" : "");
	fprintf(out, "  link changes       %s\n", more->link_interrupt ? "reported by the driver" : "polled");
}

static void print_rss(FILE *out, const struct fm_port_view *view, const struct fm_port_more_view *more)
{
	char text[160] = "not in use";

	if (view->no_rss != NULL)
		snprintf(text, sizeof(text), "off: the port %s", view->no_rss);
	else if (view->rss)
		snprintf(text, sizeof(text), "on, %s",
			 view->rss_symmetric ? "both directions by one queue" : "each direction by a queue of its own");
	fprintf(out, "  RSS on addresses   ");
	fm_print_wrapped(out, text, 21, 21);
	if (more->reta_size != 0 || more->hash_key_bytes != 0)
		fprintf(out, "  RSS of the device  table of %u entries, key of %u bytes\n", more->reta_size,
			more->hash_key_bytes);
}

static void print_queues(FILE *out, const struct fm_port_view *view, const struct fm_port_more_view *more)
{
	fprintf(out, "  RX queues          %u of %u descriptors (up to %u of %u..%u)\n", view->nb_rxq, view->nb_rxd,
		more->rxq_max, more->rxd_min, more->rxd_max);
	fprintf(out, "  TX queues          %u of %u descriptors (up to %u of %u..%u)\n", view->nb_txq, view->nb_txd,
		more->txq_max, more->txd_min, more->txd_max);
	fprintf(out, "  TX segments        up to %u a frame%s\n", view->max_segs,
		view->max_segs == 1 ? " (datagrams are linearised)" : "");
	fprintf(out, "  RX scatter         %s\n", on_off(more->scatter));
	fprintf(out, "  longest frame      %u bytes in, ", more->rx_frame_max);
	if (more->tx_frame_max == UINT32_MAX)
		fprintf(out, "any length out\n");
	else
		fprintf(out, "%u bytes out\n", more->tx_frame_max);
}

static int print_info(struct fm_shell *shell, uint16_t index, const struct fm_port_stats *stats)
{
	const struct fm_port_view *view = &stats->view;
	const uint8_t *mac = view->mac;
	struct fm_port_more_view more;
	FILE *out = shell->out;

	fm_door_port_more(index, &more);
	fprintf(out, "Port %u: %s\n", view->id, view->name);
	fprintf(out, "  driver             %s\n", view->driver);
	if (more.firmware[0] != '\0')
		fprintf(out, "  firmware           %s\n", more.firmware);
	if (more.interface[0] != '\0')
		fprintf(out, "  kernel interface   %s\n", more.interface);
	fprintf(out, "  paired with port   %u\n", view->peer);
	fprintf(out, "  MAC address        %02x:%02x:%02x:%02x:%02x:%02x\n", mac[0], mac[1], mac[2], mac[3], mac[4],
		mac[5]);
	if (view->socket >= 0)
		fprintf(out, "  NUMA node          %d\n", view->socket);
	else
		fprintf(out, "  NUMA node          unknown\n");
	print_link(out, view, &more);
	fprintf(out, "  egress MTU         %u bytes\n", view->egress_mtu);
	if (more.mtu != 0)
		fprintf(out, "  MTU of the device  %u bytes (%u..%u)\n", more.mtu, more.mtu_min, more.mtu_max);
	print_queues(out, view, &more);
	fprintf(out, "  promiscuous        %s\n", on_off(view->promiscuous));
	fprintf(out, "  all multicast      %s\n", on_off(more.allmulticast));
	print_rss(out, view, &more);
	fprintf(out, "  RX IP checksum     by %s\n", view->checksum_offload ? "hardware" : "software");
	if (view->write_path != NULL)
		fprintf(out, "  output to file     %s\n", view->write_path);
	return 0;
}

static void put_queues(struct fm_value *in, const char *name, uint16_t queues, uint16_t descriptors,
		       uint16_t queues_max, uint16_t descriptors_min, uint16_t descriptors_max)
{
	struct fm_value *object = fm_put_object(in, name);

	fm_put_uint(object, "queues", queues);
	fm_put_uint(object, "descriptors", descriptors);
	fm_put_uint(object, "queues_max", queues_max);
	fm_put_uint(object, "descriptors_min", descriptors_min);
	fm_put_uint(object, "descriptors_max", descriptors_max);
}

static void put_limits(struct fm_value *in, const struct fm_port_view *view, const struct fm_port_more_view *more)
{
	fm_put_uint(in, "egress_mtu_bytes", view->egress_mtu);
	fm_put_uint(in, "mtu_bytes", more->mtu);
	fm_put_uint(in, "mtu_min_bytes", more->mtu_min);
	fm_put_uint(in, "mtu_max_bytes", more->mtu_max);
	put_queues(in, "rx", view->nb_rxq, view->nb_rxd, more->rxq_max, more->rxd_min, more->rxd_max);
	put_queues(in, "tx", view->nb_txq, view->nb_txd, more->txq_max, more->txd_min, more->txd_max);
	fm_put_uint(in, "tx_segments_max", view->max_segs);
	fm_put_bool(in, "rx_scatter", more->scatter);
	fm_put_uint(in, "rx_frame_max_bytes", more->rx_frame_max);
	if (more->tx_frame_max != UINT32_MAX)
		fm_put_uint(in, "tx_frame_max_bytes", more->tx_frame_max);
}

static int put_info(struct fm_value *in, uint16_t index, const struct fm_port_stats *stats, char *err, size_t err_len)
{
	const struct fm_port_view *view = &stats->view;
	const uint8_t *mac = view->mac;
	struct fm_port_more_view more;
	char text[24];

	(void)err;
	(void)err_len;
	fm_door_port_more(index, &more);
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	fm_put_text(in, "driver", view->driver);
	fm_put_text(in, "firmware", more.firmware);
	fm_put_text(in, "kernel_interface", more.interface);
	fm_put_uint(in, "paired_with", view->peer);
	fm_put_text(in, "mac_address", text);
	fm_put_int(in, "numa_node", view->socket);
	fm_put_bool(in, "link_up", view->link_up);
	fm_put_uint(in, "link_speed_mbps", fm_port_speed_mbps(view));
	fm_put_bool(in, "full_duplex", more.full_duplex);
	fm_put_bool(in, "held_down_by_link_follow", more.link_held_down);
	fm_put_bool(in, "link_interrupt", more.link_interrupt);
	put_limits(in, view, &more);
	fm_put_bool(in, "promiscuous", view->promiscuous);
	fm_put_bool(in, "all_multicast", more.allmulticast);
	fm_put_bool(in, "rss", view->rss);
	fm_put_bool(in, "rss_symmetric", view->rss_symmetric);
	if (view->no_rss != NULL)
		fm_put_text(in, "no_rss", view->no_rss);
	fm_put_uint(in, "reta_entries", more.reta_size);
	fm_put_uint(in, "hash_key_bytes", more.hash_key_bytes);
	fm_put_bool(in, "rx_checksum_offload", view->checksum_offload);
	if (view->write_path != NULL)
		fm_put_text(in, "output_file", view->write_path);
	return 0;
}

const struct fm_port_part fm_port_info_part = { print_info, put_info, true };

/*
 * What the driver of a port counts.
 *
 * @param views  set to an array, to be freed
 * @return       how many; -errno
 */
static int get_xstats(uint16_t index, struct fm_xstat_view **views, char *err, size_t err_len)
{
	int n = fm_door_xstats(index, NULL, 0, err, err_len);

	*views = NULL;
	if (n <= 0)
		return n;
	*views = calloc((size_t)n, sizeof(**views));
	if (*views == NULL) {
		snprintf(err, err_len, "no memory for %d statistics", n);
		return -ENOMEM;
	}
	return fm_door_xstats(index, *views, (uint32_t)n, err, err_len);
}

static int print_xstats(struct fm_shell *shell, uint16_t index, const struct fm_port_stats *stats)
{
	struct fm_xstat_view *views;
	const int n = get_xstats(index, &views, shell->err, sizeof(shell->err));

	if (n >= 0)
		fprintf(shell->out, "Port %u: %s\n", stats->view.id, n == 0 ? "its driver counts nothing" :
			"as its driver counts");
	for (int i = 0; i < n; i++) {
		fprintf(shell->out, "  %-*s", XSTAT_WIDTH, views[i].name);
		if (strlen(views[i].name) > XSTAT_WIDTH)
			fprintf(shell->out, "\n  %*s", XSTAT_WIDTH, "");
		fprintf(shell->out, " %20" PRIu64 "\n", views[i].value);
	}
	free(views);
	return n < 0 ? n : 0;
}

static int put_xstats(struct fm_value *in, uint16_t index, const struct fm_port_stats *stats, char *err, size_t err_len)
{
	struct fm_xstat_view *views;
	const int n = get_xstats(index, &views, err, err_len);
	struct fm_value *xstats = n < 0 ? NULL : fm_put_object(in, "xstats");

	(void)stats;
	for (int i = 0; i < n; i++)
		fm_put_uint(xstats, views[i].name, views[i].value);
	free(views);
	return n < 0 ? n : 0;
}

const struct fm_port_part fm_port_xstats_part = { print_xstats, put_xstats, true };
