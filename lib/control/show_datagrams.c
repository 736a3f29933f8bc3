/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly datagrams
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

static int older_first(const void *a, const void *b)
{
	const struct fm_reass_view *left = a, *right = b;

	return (left->age_tsc < right->age_tsc) - (left->age_tsc > right->age_tsc);
}

/* What was asked for, of all workers. */
struct gathered {
	struct fm_reass_view *views;	/* oldest first */
	uint32_t n;
	uint64_t held;			/* datagrams in all */
};

/*
 * The oldest datagrams of all workers. @return 0, and gathered->views must be freed; -errno, err says why
 */
static int gather(struct gathered *gathered, uint32_t top, char *err, size_t err_len)
{
	const uint16_t workers = fm_door_workers();
	struct fm_worker_stats stats;
	int n = 0, ret = 0;

	*gathered = (struct gathered){ .views = calloc((size_t)top * workers + 1, sizeof(*gathered->views)) };
	if (gathered->views == NULL) {
		snprintf(err, err_len, "no memory for %u datagrams of %u workers", top, workers);
		return -ENOMEM;
	}
	for (uint16_t w = 0; w < workers && ret >= 0; w++) {
		ret = fm_door_datagrams(w, &gathered->views[n], top, err, err_len);
		n += ret < 0 ? 0 : ret;
	}
	if (ret < 0) {
		free(gathered->views);
		return ret;
	}
	qsort(gathered->views, (size_t)n, sizeof(*gathered->views), older_first);
	gathered->n = (uint32_t)n < top ? (uint32_t)n : top;
	for (uint16_t w = 0; w < workers; w++) {
		fm_door_worker_stats(w, &stats);
		gathered->held += stats.reass.datagrams;
	}
	return 0;
}

static void print_datagram(FILE *out, const struct fm_reass_view *view)
{
	char source[INET6_ADDRSTRLEN] = "?", destination[INET6_ADDRSTRLEN] = "?";
	int family = view->family == 4 ? AF_INET : AF_INET6;

	inet_ntop(family, view->source, source, sizeof(source));
	inet_ntop(family, view->destination, destination, sizeof(destination));
	/* Two long IPv6 addresses are wider than a terminal. */
	fprintf(out, "%s >%s%s\n", source, strlen(source) + strlen(destination) + 3 > FM_COLUMNS ? "\n    " : " ",
		destination);
	fprintf(out, "    id 0x%0*x", view->family == 4 ? 4 : 8, view->id);
	if (view->family == 4)
		fprintf(out, ", protocol %u", view->protocol);
	fprintf(out, ", port %u", view->port);
	for (unsigned int i = 0; i < 2 && view->vlan[i] != UINT16_MAX; i++)
		fprintf(out, ", vlan %u", view->vlan[i]);
	fprintf(out, "\n    age %.1f ms, idle %.1f ms, chance %.1f%%%s\n", fm_door_tsc_to_ms(view->age_tsc),
		fm_door_tsc_to_ms(view->idle_tsc), view->chance_permille / 10.0, view->cold ? ", cold" : "");
	fprintf(out, "    %u fragment%s, %u mbuf%s, %u ", view->fragments, view->fragments == 1 ? "" : "s",
		view->held_mbufs, view->held_mbufs == 1 ? "" : "s", view->held_bytes);
	if (view->end_bytes != 0)
		fprintf(out, "of %u bytes", view->end_bytes);
	else
		fprintf(out, "bytes, end not seen");
	fprintf(out, ", %u missing range%s\n", view->missing_ranges, view->missing_ranges == 1 ? "" : "s");
}

static uint64_t tsc_to_us(uint64_t tsc)
{
	return (uint64_t)(fm_door_tsc_to_ms(tsc) * 1000);
}

static void put_datagram(struct fm_value *in, const struct fm_reass_view *view)
{
	char source[INET6_ADDRSTRLEN] = "?", destination[INET6_ADDRSTRLEN] = "?";
	int family = view->family == 4 ? AF_INET : AF_INET6;
	struct fm_value *vlan;

	inet_ntop(family, view->source, source, sizeof(source));
	inet_ntop(family, view->destination, destination, sizeof(destination));
	fm_put_text(in, "source", source);
	fm_put_text(in, "destination", destination);
	fm_put_uint(in, "family", view->family);
	fm_put_uint(in, "id", view->id);
	if (view->family == 4)
		fm_put_uint(in, "protocol", view->protocol);
	fm_put_uint(in, "port", view->port);
	vlan = fm_put_list(in, "vlan");
	for (unsigned int i = 0; i < 2 && view->vlan[i] != UINT16_MAX; i++)
		fm_put_uint(vlan, NULL, view->vlan[i]);
	fm_put_uint(in, "age_us", tsc_to_us(view->age_tsc));
	fm_put_uint(in, "idle_us", tsc_to_us(view->idle_tsc));
	fm_put_uint(in, "fragments", view->fragments);
	fm_put_uint(in, "held_mbufs", view->held_mbufs);
	fm_put_uint(in, "held_bytes", view->held_bytes);
	if (view->end_bytes != 0)
		fm_put_uint(in, "end_bytes", view->end_bytes);
	fm_put_uint(in, "missing_ranges", view->missing_ranges);
	fm_put_uint(in, "chance_permille", view->chance_permille);
	fm_put_bool(in, "cold", view->cold);
}

int fm_put_datagrams(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len)
{
	struct fm_value *list;
	struct gathered all;
	int ret = gather(&all, ask->given ? (uint32_t)ask->number : FM_TOP_DEFAULT, err, err_len);

	if (ret != 0)
		return ret;
	fm_put_uint(root, "held", all.held);
	list = fm_put_list(root, "datagrams");
	for (uint32_t i = 0; i < all.n; i++)
		put_datagram(fm_put_object(list, NULL), &all.views[i]);
	free(all.views);
	return 0;
}

int fm_do_show_datagrams(struct fm_shell *shell, const struct fm_args *args)
{
	const struct fm_ask ask = { .given = true, .number = fm_args_number(args, "N", FM_TOP_DEFAULT) };
	struct gathered all;
	int ret;

	if (fm_args_has(args, "json"))
		return fm_shell_json(shell, &ask, fm_put_datagrams);
	ret = gather(&all, (uint32_t)ask.number, shell->err, sizeof(shell->err));
	if (ret != 0)
		return ret;
	for (uint32_t i = 0; i < all.n; i++)
		print_datagram(shell->out, &all.views[i]);
	fprintf(shell->out, "%s%" PRIu32 " of %" PRIu64 " held datagrams, oldest first\n", all.n > 0 ? "\n" : "", all.n,
		all.held);
	free(all.views);
	return 0;
}
