/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show reassembly datagrams
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "door.h"
#include "handlers.h"
#include "print.h"

static int older_first(const void *a, const void *b)
{
	const struct fm_reass_view *left = a, *right = b;

	return (left->age_tsc < right->age_tsc) - (left->age_tsc > right->age_tsc);
}

/*
 * The oldest datagrams of all workers.
 *
 * @param views  room for max of each worker
 * @return       how many there are; -errno, err says why
 */
static int gather(struct fm_reass_view *views, uint32_t max, char *err, size_t err_len)
{
	int n = 0, ret;

	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		ret = fm_door_datagrams(w, &views[n], max, err, err_len);
		if (ret < 0)
			return ret;
		n += ret;
	}
	qsort(views, n, sizeof(*views), older_first);
	return n;
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

int fm_do_show_datagrams(struct fm_shell *shell, const struct fm_args *args)
{
	uint32_t top = (uint32_t)fm_args_number(args, "N", FM_TOP_DEFAULT);
	uint16_t workers = fm_door_workers();
	struct fm_worker_stats stats;
	struct fm_reass_view *views;
	uint64_t held = 0;
	int n, shown;

	views = calloc((size_t)top * workers + 1, sizeof(*views));
	if (views == NULL)
		return fm_shell_fail(shell, -ENOMEM, "no memory for %u datagrams of %u workers", top, workers);
	n = gather(views, top, shell->err, sizeof(shell->err));
	if (n >= 0) {
		shown = n < (int)top ? n : (int)top;
		for (int i = 0; i < shown; i++)
			print_datagram(shell->out, &views[i]);
		for (uint16_t w = 0; w < workers; w++) {
			fm_door_worker_stats(w, &stats);
			held += stats.reass.datagrams;
		}
		fprintf(shell->out, "%s%d of %" PRIu64 " held datagrams, oldest first\n", shown > 0 ? "\n" : "", shown,
			held);
	}
	free(views);
	return n < 0 ? n : 0;
}
