/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is printed without a command: the status table and the final statistics.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "door.h"
#include "print.h"
#include "setting.h"
#include "show.h"
#include "stats.h"
#include "stream_terminal.h"

static void print_port(FILE *out, uint16_t index, uint64_t now_ns)
{
	char rx[FM_RATE_LEN], rx_mbit[FM_RATE_LEN], tx[FM_RATE_LEN], tx_mbit[FM_RATE_LEN];
	struct fm_port_stats stats;

	fm_stats_port(index, now_ns, &stats);
	fprintf(out, "%4u %4s %11s %9s %11s %9s %12" PRIu64 " %10" PRIu64 "\n", stats.view.id,
		stats.view.link_up ? "up" : "down", fm_rate(stats.recent_rx_packets, stats.recent_s, rx),
		fm_rate_mbit(stats.recent_rx_bytes, stats.recent_s, rx_mbit),
		fm_rate(stats.recent_tx_packets, stats.recent_s, tx),
		fm_rate_mbit(stats.recent_tx_bytes, stats.recent_s, tx_mbit), stats.view.rx_missed,
		stats.view.rx_nombuf);
}

void fm_control_print_stats(FILE *out)
{
	char fragments[FM_RATE_LEN], datagrams[FM_RATE_LEN], drops[FM_RATE_LEN];
	uint64_t now_ns = fm_now_ns();
	struct fm_stats_sums recent;
	struct fm_stats stats;

	fm_stats_sample(now_ns);
	fm_stats_get(FM_ALL_WORKERS, now_ns, &stats);
	fm_stats_sum(&stats.recent, &recent);
	fprintf(out, "%4s %4s %11s %9s %11s %9s %12s %10s\n", "port", "link", "rx pkt/s", "Mbit/s", "tx pkt/s",
		"Mbit/s", "rx missed", "no mbuf");
	for (uint16_t i = 0; i < fm_door_ports(); i++)
		print_port(out, i, now_ns);
	fprintf(out, "per s: fragments %s, datagrams %s, dropped %s; held: datagrams %" PRIu64 ", mbufs %" PRIu64 "\n",
		fm_rate(stats.recent.reass.fragments_in, stats.recent_s, fragments),
		fm_rate(stats.recent.reass.datagrams_done, stats.recent_s, datagrams),
		fm_rate(recent.fragments_dropped + recent.datagrams_dropped, stats.recent_s, drops),
		stats.raw.reass.datagrams, stats.raw.reass.held_mbufs);
	fflush(out);
}

static void print_final(FILE *out)
{
	struct fm_check_view check;
	struct fm_stats stats;

	fm_stats_get(FM_ALL_WORKERS, fm_now_ns(), &stats);
	stats.shown = stats.raw;
	stats.recent_s = -1;
	fm_show_stats(out, FM_ALL_WORKERS, &stats);
	fputc('\n', out);
	fm_show_outcomes(out, &stats, false);
	fputc('\n', out);
	fm_door_check(&check);
	if (fm_check_ok(&check))
		fm_show_verdict(out, &check);
	else
		fm_show_check(out, &check);
	fflush(out);
}

void fm_control_print_final(FILE *out)
{
	char *text = NULL;
	size_t len = 0;
	FILE *memory = out == stdout && isatty(STDOUT_FILENO) ? open_memstream(&text, &len) : NULL;

	print_final(memory != NULL ? memory : out);
	if (memory == NULL)
		return;
	fclose(memory);
	/* A terminal that nobody reads must not keep the program from ending. */
	fm_stream_terminal_say(text, len);
	free(text);
}

bool fm_status_due(uint64_t now_ns)
{
	static uint64_t last_ns;
	uint64_t period_ns = fm_setting[FM_SETTING_STATS_PERIOD].get(NULL) * 1000000000;
	bool first = last_ns == 0;

	if (period_ns == 0 || now_ns - last_ns < period_ns)
		return false;
	last_ns = now_ns;
	return !first;
}

void fm_control_sample(void)
{
	fm_stats_sample(fm_now_ns());
}

void fm_control_periodic(FILE *out)
{
	if (fm_status_due(fm_now_ns()))
		fm_control_print_stats(out);
}
