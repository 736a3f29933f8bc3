/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly sources
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "door.h"
#include "handlers.h"
#include "print.h"
#include "show.h"

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

int fm_sources_gather(struct fm_source_view *views, uint32_t max, char *err, size_t err_len)
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

/* What was asked for, of all workers. */
struct gathered {
	struct fm_source_view *views;	/* most mbufs first */
	uint32_t n, known;		/* of `known` that were looked at */
	uint64_t held_mbufs;		/* of all sources */
};

/*
 * The first sources of all workers together. @return 0, and gathered->views must be freed; -errno, err says why
 */
static int gather(struct gathered *gathered, uint32_t top, char *err, size_t err_len)
{
	const uint32_t each = top > EACH_MIN ? top : EACH_MIN;
	const uint16_t workers = fm_door_workers();
	int n;

	*gathered = (struct gathered){ .views = calloc((size_t)each * workers + 1, sizeof(*gathered->views)) };
	if (gathered->views == NULL) {
		snprintf(err, err_len, "no memory for %u sources of %u workers", each, workers);
		return -ENOMEM;
	}
	n = fm_sources_gather(gathered->views, each, err, err_len);
	if (n < 0) {
		free(gathered->views);
		return n;
	}
	gathered->known = (uint32_t)n;
	gathered->n = gathered->known < top ? gathered->known : top;
	gathered->held_mbufs = held_by_all();
	return 0;
}

static void write_prefix(const struct fm_source_view *view, char prefix[PREFIX_LEN])
{
	char address[INET6_ADDRSTRLEN] = "?";

	inet_ntop(view->family == 4 ? AF_INET : AF_INET6, view->prefix, address, sizeof(address));
	snprintf(prefix, PREFIX_LEN, "%s/%u", address, view->prefix_len);
}

/* While traffic runs, what is held in all was another figure when this source was looked at. */
static double share(const struct fm_source_view *view, uint64_t held_mbufs)
{
	const double part = held_mbufs == 0 ? 0 : view->held_mbufs / (double)held_mbufs;

	return part > 1 ? 1 : part;
}

static void print_source(FILE *out, const struct fm_source_view *view, uint64_t held)
{
	char prefix[PREFIX_LEN];

	write_prefix(view, prefix);
	fprintf(out, "%-*s", PREFIX_WIDTH, prefix);
	if (strlen(prefix) > PREFIX_WIDTH)
		fprintf(out, "\n%*s", PREFIX_WIDTH, "");
	fprintf(out, " %10" PRIu32 " %6.1f%% %6.1f%% %13" PRIu64 " %13" PRIu64 "\n", view->held_mbufs,
		100 * share(view, held), view->chance_permille / 10.0, view->delivered, view->wasted);
}

int fm_put_sources(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_value *list, *in;
	char prefix[PREFIX_LEN];
	struct gathered all;
	int ret = gather(&all, ask->given ? (uint32_t)ask->number : FM_TOP_DEFAULT, err, err_len);

	if (ret != 0)
		return ret;
	fm_put_uint(root, "held_mbufs", all.held_mbufs);
	list = fm_put_list(root, "sources");
	for (uint32_t i = 0; i < all.n; i++) {
		const struct fm_source_view *view = &all.views[i];

		in = fm_put_object(list, NULL);
		write_prefix(view, prefix);
		fm_put_text(in, "source", prefix);
		fm_put_uint(in, "held_mbufs", view->held_mbufs);
		fm_put_uint(in, "share_permille", (uint64_t)(1000 * share(view, all.held_mbufs) + 0.5));
		fm_put_uint(in, "chance_permille", view->chance_permille);
		fm_put_uint(in, "delivered_fragments", view->delivered);
		fm_put_uint(in, "wasted_fragments", view->wasted);
	}
	free(all.views);
	return 0;
}

int fm_do_show_sources(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = true, .number = fm_args_number(args, "N", FM_TOP_DEFAULT) };
	struct gathered all;
	int ret;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_sources);
	ret = gather(&all, (uint32_t)ask.number, shell->err, sizeof(shell->err));
	if (ret != 0)
		return ret;
	if (all.n > 0)
		fprintf(shell->out, "%-*s %10s %7s %7s %13s %13s\n", PREFIX_WIDTH, "source", "held mbufs", "share",
			"chance", "delivered", "wasted");
	for (uint32_t i = 0; i < all.n; i++)
		print_source(shell->out, &all.views[i], all.held_mbufs);
	fprintf(shell->out, "%s%s%" PRIu32 " source%s, most mbufs held first; delivered and wasted: fragments\n",
		all.n > 0 ? "\n" : "", all.n < all.known ? "the first " : "", all.n, all.n == 1 ? "" : "s");
	free(all.views);
	return 0;
}
