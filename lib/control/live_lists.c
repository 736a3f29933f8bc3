/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "live_lists.h"
#include "live_table.h"

enum { PREFIX_LEN = INET6_ADDRSTRLEN + 4 };

enum fm_look fm_live_full(double percent)
{
	if (percent >= 90)
		return FM_LOOK_BAD;
	return percent >= 70 ? FM_LOOK_WARN : FM_LOOK_GOOD;
}

double fm_live_percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* How many of n lines there is room for; the rest is told on the last line, if there are two. */
static int shown(int n, int lines)
{
	if (n <= lines)
		return n;
	return lines > 1 ? lines - 1 : lines;
}

static void tell_more(const struct fm_table *table, int more, const char *text)
{
	if (more > 0)
		fm_canvas_put(table->canvas, table->row, 2, FM_LOOK_PLAIN, "+%d more%s", more, text);
}

static int compare(double left, double right)
{
	return (left < right) - (left > right);
}

/* Those that lose something first, then those that carry most. */
static int port_order(const void *a, const void *b)
{
	const struct fm_live_port *left = *(const struct fm_live_port *const *)a;
	const struct fm_live_port *right = *(const struct fm_live_port *const *)b;
	int order = compare(left->drops_per_s, right->drops_per_s);

	if (order == 0)
		order = compare(left->rx_packets_per_s + left->tx_packets_per_s,
				right->rx_packets_per_s + right->tx_packets_per_s);
	return order != 0 ? order : (left > right) - (left < right);
}

void fm_live_ports(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines)
{
	enum { PORT, LINK, RX, RX_MBIT, TX, TX_MBIT, DROPS_RATE, DROPS_ALL, NAME };
	static const struct fm_table_column column[] = {
		[PORT] = { "port", 0, 5, 0, false }, [LINK] = { "link", 4, 4, 0, false },
		[RX] = { "rx pkt/s", 1, 8, 0, false }, [RX_MBIT] = { "Mbit/s", 5, 7, 0, false },
		[TX] = { "tx pkt/s", 2, 8, 0, false }, [TX_MBIT] = { "Mbit/s", 6, 7, 0, false },
		[DROPS_RATE] = { "drops/s", 3, 7, 0, false }, [DROPS_ALL] = { "drops", 8, 6, 0, false },
		[NAME] = { "name", 7, 12, 32, true },
	};
	const struct fm_live_port *port[FM_PORTS_MAX];
	const int n = shown(live->n_ports, lines);
	struct fm_table table;
	char id[8];

	for (int i = 0; i < live->n_ports; i++)
		port[i] = &live->port[i];
	if (n < live->n_ports)
		qsort(port, live->n_ports, sizeof(port[0]), port_order);
	fm_table_start(&table, canvas, row, column, sizeof(column) / sizeof(column[0]));
	for (int i = 0; i < n; i++, table.row++) {
		const enum fm_look bad = port[i]->drops_per_s > 0 ? FM_LOOK_WARN : FM_LOOK_PLAIN;

		snprintf(id, sizeof(id), "%u", port[i]->id);
		fm_table_text(&table, PORT, FM_LOOK_PLAIN, id);
		fm_table_text(&table, LINK, port[i]->link_up ? FM_LOOK_PLAIN : FM_LOOK_BAD,
			      port[i]->link_up ? "up" : "down");
		fm_table_number(&table, RX, FM_LOOK_PLAIN, port[i]->rx_packets_per_s);
		fm_table_number(&table, RX_MBIT, FM_LOOK_PLAIN, port[i]->rx_mbit_per_s);
		fm_table_number(&table, TX, FM_LOOK_PLAIN, port[i]->tx_packets_per_s);
		fm_table_number(&table, TX_MBIT, FM_LOOK_PLAIN, port[i]->tx_mbit_per_s);
		fm_table_number(&table, DROPS_RATE, bad, port[i]->drops_per_s);
		fm_table_number(&table, DROPS_ALL, bad, (double)port[i]->drops);
		fm_table_text(&table, NAME, FM_LOOK_PLAIN, port[i]->name);
	}
	tell_more(&table, live->n_ports - n, "");
}

/* The busiest first. */
static int worker_order(const void *a, const void *b)
{
	const struct fm_live_worker *left = *(const struct fm_live_worker *const *)a;
	const struct fm_live_worker *right = *(const struct fm_live_worker *const *)b;
	int order = compare(left->busy_percent, right->busy_percent);

	return order != 0 ? order : (left > right) - (left < right);
}

void fm_live_workers(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines)
{
	enum { LCORE, BUSY, BAR, FRAMES, FRAGMENTS, HELD, TX_WAIT };
	static const struct fm_table_column column[] = {
		[LCORE] = { "lcore", 0, 5, 0, false }, [BUSY] = { "busy", 1, 6, 0, false },
		[BAR] = { "", 5, 12, 32, true }, [FRAMES] = { "frames/s", 2, 8, 0, false },
		[FRAGMENTS] = { "fragments/s", 4, 11, 0, false }, [HELD] = { "held", 3, 7, 0, false },
		[TX_WAIT] = { "tx wait", 6, 7, 0, false },
	};
	const struct fm_live_worker *worker[FM_WORKERS_MAX];
	const int n = shown(live->n_workers, lines);
	char id[8], percent[FM_NUMBER_LEN], rest[64] = "";
	struct fm_table table;

	for (int i = 0; i < live->n_workers; i++)
		worker[i] = &live->worker[i];
	if (n < live->n_workers)
		qsort(worker, live->n_workers, sizeof(worker[0]), worker_order);
	fm_table_start(&table, canvas, row, column, sizeof(column) / sizeof(column[0]));
	for (int i = 0; i < n; i++, table.row++) {
		const enum fm_look look = fm_live_full(worker[i]->busy_percent);

		snprintf(id, sizeof(id), "%u", worker[i]->lcore);
		fm_table_text(&table, LCORE, FM_LOOK_PLAIN, id);
		fm_table_text(&table, BUSY, look == FM_LOOK_GOOD ? FM_LOOK_PLAIN : look,
			      fm_percent(worker[i]->busy_percent, percent));
		if (table.at[BAR] >= 0)
			fm_canvas_bar(canvas, table.row, table.at[BAR], table.width[BAR],
				      worker[i]->busy_percent / 100, look);
		fm_table_number(&table, FRAMES, FM_LOOK_PLAIN, worker[i]->frames_per_s);
		fm_table_number(&table, FRAGMENTS, FM_LOOK_PLAIN, worker[i]->fragments_per_s);
		fm_table_number(&table, HELD, FM_LOOK_PLAIN, (double)worker[i]->held_mbufs);
		fm_table_number(&table, TX_WAIT, FM_LOOK_PLAIN, (double)worker[i]->tx_backlog_mbufs);
	}
	if (n < live->n_workers && worker[n]->busy_percent >= 0)
		snprintf(rest, sizeof(rest), ", at most %s busy", fm_percent(worker[n]->busy_percent, percent));
	tell_more(&table, live->n_workers - n, rest);
}

/* By what they are sorted by, then by what they hold, then as they were gathered. */
static int source_order(const void *a, const void *b, void *sort)
{
	const struct fm_live_source *left = *(const struct fm_live_source *const *)a;
	const struct fm_live_source *right = *(const struct fm_live_source *const *)b;
	int order = 0;

	if (*(const enum fm_live_sort *)sort == FM_LIVE_BY_WASTED)
		order = compare(left->wasted_per_s, right->wasted_per_s);
	if (*(const enum fm_live_sort *)sort == FM_LIVE_BY_DELIVERED)
		order = compare(left->delivered_per_s, right->delivered_per_s);
	if (order == 0)
		order = compare(left->view.held_mbufs, right->view.held_mbufs);
	return order != 0 ? order : (left > right) - (left < right);
}

static void draw_source(const struct fm_live *live, const struct fm_live_source *source, const struct fm_table *table)
{
	enum { SOURCE, HELD, SHARE, CHANCE, DELIVERED, WASTED };
	const double share = fm_live_percent(source->view.held_mbufs, live->budget_mbufs);
	char address[INET6_ADDRSTRLEN] = "?", prefix[PREFIX_LEN], percent[FM_NUMBER_LEN];

	inet_ntop(source->view.family == 4 ? AF_INET : AF_INET6, source->view.prefix, address, sizeof(address));
	snprintf(prefix, sizeof(prefix), "%s/%u", address, source->view.prefix_len);
	fm_table_text(table, SOURCE, FM_LOOK_PLAIN, prefix);
	fm_table_number(table, HELD, FM_LOOK_PLAIN, source->view.held_mbufs);
	fm_table_text(table, SHARE, share >= 50 ? FM_LOOK_WARN : FM_LOOK_PLAIN, fm_percent(share, percent));
	fm_table_text(table, CHANCE, FM_LOOK_PLAIN, fm_percent(source->view.chance_permille / 10.0, percent));
	fm_table_number(table, DELIVERED, FM_LOOK_PLAIN, source->delivered_per_s);
	fm_table_number(table, WASTED, FM_LOOK_PLAIN, source->wasted_per_s);
}

void fm_live_sources(const struct fm_live *live, enum fm_live_sort sort, struct fm_canvas *canvas, int row, int lines)
{
	static const struct fm_table_column column[] = {
		{ "source", 0, 18, PREFIX_LEN - 1, true }, { "held", 1, 6, 0, false }, { "budget", 2, 6, 0, false },
		{ "chance", 3, 6, 0, false }, { "delivered/s", 4, 11, 0, false }, { "wasted/s", 5, 8, 0, false },
	};
	const struct fm_live_source *source[FM_LIVE_SOURCES];
	const uint32_t all = live->n_sources + live->more_sources;
	const int room = shown((int)all, lines), n = room < live->n_sources ? room : live->n_sources;
	struct fm_table table;

	for (int i = 0; i < live->n_sources; i++)
		source[i] = &live->source[i];
	qsort_r(source, live->n_sources, sizeof(source[0]), source_order, &sort);
	fm_table_start(&table, canvas, row, column, sizeof(column) / sizeof(column[0]));
	if (live->sources_err[0] != '\0')
		fm_canvas_put(canvas, table.row, 2, FM_LOOK_WARN, "%s", live->sources_err);
	else if (n == 0)
		fm_canvas_put(canvas, table.row, 2, FM_LOOK_PLAIN, "no source has a record");
	for (int i = 0; i < n; i++, table.row++)
		draw_source(live, source[i], &table);
	tell_more(&table, (int)all - n, "");
}

/* The fastest first, then those that have happened most often. */
static int drop_order(const void *a, const void *b)
{
	const struct fm_live_drop *left = *(const struct fm_live_drop *const *)a;
	const struct fm_live_drop *right = *(const struct fm_live_drop *const *)b;
	int order = compare(left->per_s, right->per_s);

	if (order == 0)
		order = (left->count < right->count) - (left->count > right->count);
	return order != 0 ? order : (left > right) - (left < right);
}

void fm_live_drops(const struct fm_live *live, struct fm_canvas *canvas, int row, int lines)
{
	enum { NAME, RATE, COUNT, TEXT };
	static const struct fm_table_column column[] = {
		{ "dropped", 0, 18, 0, true }, { "per s", 1, 8, 0, false }, { "count", 2, 8, 0, false },
		{ "", 3, 20, 120, true },
	};
	const struct fm_live_drop *drop[FM_OUTCOME_MAX];
	const int n = shown(live->n_drops, lines);
	struct fm_table table;

	for (int i = 0; i < live->n_drops; i++)
		drop[i] = &live->drop[i];
	qsort(drop, live->n_drops, sizeof(drop[0]), drop_order);
	fm_table_start(&table, canvas, row, column, sizeof(column) / sizeof(column[0]));
	if (n == 0)
		fm_canvas_put(canvas, table.row, 2, FM_LOOK_PLAIN, "nothing");
	for (int i = 0; i < n; i++, table.row++) {
		const struct fm_outcome_info *info = &fm_outcome_info[drop[i]->outcome];
		const bool now = drop[i]->per_s > 0;

		fm_table_text(&table, NAME,
			      !now ? FM_LOOK_PLAIN : info->severity == FM_SEV_PRESSURE ? FM_LOOK_BAD : FM_LOOK_WARN,
			      info->name);
		fm_table_number(&table, RATE, FM_LOOK_PLAIN, drop[i]->per_s);
		fm_table_number(&table, COUNT, FM_LOOK_PLAIN, (double)drop[i]->count);
		fm_table_text(&table, TEXT, FM_LOOK_PLAIN, info->text);
	}
	tell_more(&table, live->n_drops - n, "");
}
