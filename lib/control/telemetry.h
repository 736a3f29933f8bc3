/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telemetry: the endpoints under /fragmend/, and a report in the form of rte_telemetry.
 *
 * rte_telemetry answers each client in a thread of its own. Such a thread borrows the control door (lock.h) while it
 * gathers, and makes the answer without it. So no worker is stopped for an answer, and a client costs a worker what
 * the same `show` costs it.
 */
#ifndef FM_TELEMETRY_H
#define FM_TELEMETRY_H

#include "data.h"

enum {
	/* Of an answer, at most: what is beyond 16 KiB rte_telemetry drops in silence. */
	FM_TELEMETRY_BYTES = 15 * 1024,
	FM_TELEMETRY_TEXT_MAX = 127,	/* characters of a text or a name */
	FM_TELEMETRY_LIST_MAX = 200,	/* sources or datagrams that can be asked for */
	FM_TELEMETRY_WAIT_MS = 2000,	/* for the control door */
};

/* What stands behind the name of an endpoint. */
enum fm_endpoint_param {
	FM_ENDPOINT_NONE,
	FM_ENDPOINT_LCORE,
	FM_ENDPOINT_PORT,
	FM_ENDPOINT_COUNT,
};

struct fm_endpoint {
	const char *path;
	const char *params;	/* as it is written in documents: "[,all|LCORE]"; "": none */
	const char *text;	/* one sentence */
	int (*put)(struct fm_value *root, const struct fm_ask *ask, char *err, size_t err_len);
	enum fm_endpoint_param param;	/* may be left out */
	const char *list;	/* a member of the answer that may be longer than an answer; NULL: none */
};

/* THE table of endpoints. */
extern const struct fm_endpoint fm_endpoint[];
extern const unsigned int fm_endpoints;

/* What was asked: parsed parameters. */
struct fm_telemetry_query {
	struct fm_ask ask;
	uint32_t first;		/* of the list: how many to leave out at its beginning */
};

/*
 * Read the parameters of an endpoint.
 *
 * @param params  what the client wrote behind the first comma; NULL: nothing
 * @param err     receives one sentence on failure
 * @return        0; -EINVAL
 */
int fm_telemetry_parse(const struct fm_endpoint *endpoint, const char *params, struct fm_telemetry_query *query,
		       char *err, size_t err_len);

/*
 * Make a report fit an answer: of its list `list`, drop the first `first` elements and so many at the end as there is
 * no room for; "next" says where to go on.
 *
 * @return 0; -E2BIG: it does not fit with a single element
 */
int fm_telemetry_fit(struct fm_value *root, const char *list, uint32_t first);

/* Bytes of the value's JSON as rte_telemetry writes it, or somewhat more. */
size_t fm_telemetry_bytes(const struct fm_value *value);

/*
 * Register the endpoints with rte_telemetry, best before EAL is started. With --no-telemetry nobody will ever ask for
 * them. 0 or -errno.
 */
int fm_control_telemetry(char *err, size_t err_len);

#endif
