/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly sources
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "handlers.h"
#include "print.h"

enum {
	EACH_MIN = 64,		/* of each worker: a source may stand high in the sum and low with one worker */
	PREFIX_WIDTH = 24,	/* an IPv6 prefix of 64 bits */
	PREFIX_LEN = INET6_ADDRSTRLEN + 4,
};

static int by_prefix(const void *a, const void *b)
{
	const struct fm_source_view *left = a, *right = b;

	if (left->family != right->family)
		return left->family - right->family;
	if (left->prefix_len != right->prefix_len)
		return left->prefix_len - right->prefix_len;
	return memcmp(left->prefix, right->prefix, sizeof(left->prefix));
}

static int compare(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

/* The prefix comes last, so that equal ones do not change places from one look to the next. */
static int most_first(const void *a, const void *b)
{
	const struct fm_source_view *left = a, *right = b;
	int order = compare(left->held_mbufs, right->held_mbufs);

	if (order == 0)
		order = compare(left->wasted, right->wasted);
	if (order == 0)
		order = compare(left->delivered, right->delivered);
	return order != 0 ? order : by_prefix(a, b);
}

/* What a worker's knowledge of a source is worth: the fragments that it has seen of it. */
static double weight(const struct fm_source_view *view)
{
	return 1.0 + (double)view->delivered + (double)view->wasted + view->held_mbufs;
}

static void add(struct fm_source_view *sum, const struct fm_source_view *view)
{
	const double old = weight(sum), new = weight(view);

	sum->chance_permille = (uint16_t)((sum->chance_permille * old + view->chance_permille * new) / (old + new) +
					  0.5);
	sum->held_mbufs += view->held_mbufs;
	sum->delivered += view->delivered;
	sum->wasted += view->wasted;
}

/* One line for each prefix; returns how many there are. */
static int sum_up(struct fm_source_view *views, int n)
{
	int sums = 0;

	qsort(views, n, sizeof(*views), by_prefix);
	for (int i = 0; i < n; i++) {
		if (sums > 0 && by_prefix(&views[sums - 1], &views[i]) == 0)
			add(&views[sums - 1], &views[i]);
		else
			views[sums++] = views[i];
	}
	qsort(views, sums, sizeof(*views), most_first);
	return sums;
}

/*
 * The sources of all workers.
 *
 * @param views  room for max of each worker
 * @return       how many there are; -errno, err says why
 */
static int gather(struct fm_source_view *views, uint32_t max, char *err, size_t err_len)
{
	int n = 0, ret;

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		ret = fm_door_sources(w, &views[n], max, err, err_len);
		if (ret < 0)
			return ret;
		n += ret;
	}
	return sum_up(views, n);
}

static uint64_t held_by_all(void)
{
	struct fm_worker_stats stats;
	uint64_t held = 0;

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker_stats(w, &stats);
		held += stats.reass.held_mbufs;
	}
	return held;
}

static void print_source(FILE *out, const struct fm_source_view *view, uint64_t held)
{
	char address[INET6_ADDRSTRLEN] = "?", prefix[PREFIX_LEN];
	double share = held == 0 ? 0 : 100.0 * view->held_mbufs / (double)held;

	inet_ntop(view->family == 4 ? AF_INET : AF_INET6, view->prefix, address, sizeof(address));
	snprintf(prefix, sizeof(prefix), "%s/%u", address, view->prefix_len);
	fprintf(out, "%-*s", PREFIX_WIDTH, prefix);
	if (strlen(prefix) > PREFIX_WIDTH)
		fprintf(out, "\n%*s", PREFIX_WIDTH, "");
	/* While traffic runs, what is held in all was another figure when this source was looked at. */
	fprintf(out, " %10" PRIu32 " %6.1f%% %6.1f%% %13" PRIu64 " %13" PRIu64 "\n", view->held_mbufs,
		share > 100 ? 100 : share, view->chance_permille / 10.0, view->delivered, view->wasted);
}

int fm_do_show_sources(struct fm_shell *shell, const struct fm_args *args)
{
	const uint32_t top = (uint32_t)fm_args_number(args, "N", FM_TOP_DEFAULT);
	const uint32_t each = top > EACH_MIN ? top : EACH_MIN;
	const uint16_t workers = fm_door_workers();
	struct fm_source_view *views = calloc((size_t)each * workers + 1, sizeof(*views));
	uint64_t held;
	int n, shown;

	if (views == NULL)
		return fm_shell_fail(shell, -ENOMEM, "no memory for %u sources of %u workers", each, workers);
	n = gather(views, each, shell->err, sizeof(shell->err));
	held = held_by_all();
	shown = n < (int)top ? n : (int)top;
	if (shown > 0)
		fprintf(shell->out, "%-*s %10s %7s %7s %13s %13s\n", PREFIX_WIDTH, "source", "held mbufs", "share",
			"chance", "delivered", "wasted");
	for (int i = 0; i < shown; i++)
		print_source(shell->out, &views[i], held);
	if (n >= 0)
		fprintf(shell->out, "%s%s%d source%s, most mbufs held first; delivered and wasted: fragments\n",
			shown > 0 ? "\n" : "", shown < n ? "the first " : "", shown, shown == 1 ? "" : "s");
	free(views);
	return n < 0 ? n : 0;
}
