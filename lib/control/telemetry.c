/* SPDX-License-Identifier: BSD-3-Clause */
#define FM_DPDK_TELEMETRY
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <rte_common.h>

#include "door.h"
#include "fm_dpdk.h"
#include "lock.h"
#include "telemetry.h"
#include "word.h"

const struct fm_endpoint fm_endpoint[] = {
	{ .path = "/fragmend/stats", .params = "[,all|LCORE]", .param = FM_ENDPOINT_LCORE, .put = fm_put_stats,
	  .text = "Counters, rates and what is held, of all workers or of the one on an lcore." },
	{ .path = "/fragmend/drops", .params = "", .put = fm_put_drops,
	  .text = "Every outcome of a frame, fragment or datagram, by name." },
	{ .path = "/fragmend/sources", .params = "[,N[,FIRST]]", .param = FM_ENDPOINT_COUNT, .put = fm_put_sources,
	  .list = "sources", .text = "The N sources that hold most mbufs; 10 unless N is given." },
	{ .path = "/fragmend/datagrams", .params = "[,N[,FIRST]]", .param = FM_ENDPOINT_COUNT,
	  .put = fm_put_datagrams, .list = "datagrams",
	  .text = "The N oldest datagrams that wait for fragments; 10 unless N is given." },
	{ .path = "/fragmend/config", .params = "", .put = fm_put_config,
	  .text = "Settings now, what the program was started with, and versions." },
	{ .path = "/fragmend/budget", .params = "[,all[,FIRST]]", .put = fm_put_budget, .list = "pools",
	  .text = "Where the mbufs of each pool go." },
	{ .path = "/fragmend/check", .params = "", .put = fm_put_check,
	  .text = "The accounting identities, with numbers." },
	{ .path = "/fragmend/ports", .params = "[,all|PORT[,FIRST]]", .param = FM_ENDPOINT_PORT, .put = fm_put_ports,
	  .list = "ports", .text = "Link, counters and rates of all ports or of one." },
	{ .path = "/fragmend/lcores", .params = "[,all|LCORE[,FIRST]]", .param = FM_ENDPOINT_LCORE,
	  .put = fm_put_lcores, .list = "lcores",
	  .text = "Load and tables of all workers; of one also its queues and what it hands to others." },
};

const unsigned int fm_endpoints = RTE_DIM(fm_endpoint);

static int bad(char *err, size_t err_len, const char *what, const char *must, const struct fm_word *got)
{
	/* An answer's text has room for so much. */
	snprintf(err, err_len, "%s must be %s, got \"%.*s\"", what, must, got->len < 24 ? got->len : 24, got->text);
	return -EINVAL;
}

static bool read_number(const struct fm_word *word, uint64_t *number)
{
	char text[24];

	if (word->len >= (int)sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", word->len, word->text);
	return fm_number_parse(text, number) == 0;
}

static int parse_first(const struct fm_word *word, uint32_t *first, char *err, size_t err_len)
{
	uint64_t number;

	if (!read_number(word, &number) || number > UINT32_MAX)
		return bad(err, err_len, "FIRST", "0..4294967295", word);
	*first = (uint32_t)number;
	return 0;
}

static int parse_subject(const struct fm_endpoint *endpoint, const struct fm_word *word, struct fm_ask *ask, char *err,
			 size_t err_len)
{
	const char *what = endpoint->param == FM_ENDPOINT_LCORE ? "LCORE" : "PORT";
	char range[32];

	if (endpoint->param != FM_ENDPOINT_COUNT && fm_word_is(word, "all"))
		return 0;
	if (endpoint->param == FM_ENDPOINT_NONE)
		return bad(err, err_len, "the parameter", "all", word);
	ask->given = true;
	if (endpoint->param != FM_ENDPOINT_COUNT)
		return read_number(word, &ask->number) ? 0 : bad(err, err_len, what, "all or a number", word);
	if (read_number(word, &ask->number) && ask->number >= 1 && ask->number <= FM_TELEMETRY_LIST_MAX)
		return 0;
	snprintf(range, sizeof(range), "1..%d", FM_TELEMETRY_LIST_MAX);
	return bad(err, err_len, "N", range, word);
}

int fm_telemetry_parse(const struct fm_endpoint *endpoint, const char *params, struct fm_telemetry_query *query,
		       char *err, size_t err_len)
{
	struct fm_word word[3];
	const char *at = params;
	unsigned int n = 0;
	int ret = 0;

	*query = (struct fm_telemetry_query){ .ask = { .since_start = true, .brief = true } };
	while (at != NULL && n < RTE_DIM(word)) {
		word[n] = (struct fm_word){ .text = at, .len = (int)strcspn(at, ",") };
		at = at[word[n].len] == ',' ? at + word[n].len + 1 : NULL;
		n++;
	}
	if (n > (endpoint->params[0] == '\0' ? 0 : endpoint->list == NULL ? 1 : 2)) {
		snprintf(err, err_len, "too many parameters: it is %s%s", endpoint->path, endpoint->params);
		return -EINVAL;
	}
	if (n > 0)
		ret = parse_subject(endpoint, &word[0], &query->ask, err, err_len);
	if (ret == 0 && n > 1)
		ret = parse_first(&word[1], &query->first, err, err_len);
	return ret;
}

_Static_assert(FM_TELEMETRY_TEXT_MAX < RTE_TEL_MAX_STRING_LEN, "rte_telemetry would cut them");

/* rte_telemetry of 22.11 writes other characters in a way that is no JSON. */
static void clean(const char *text, char to[FM_TELEMETRY_TEXT_MAX + 1])
{
	size_t i;

	for (i = 0; text[i] != '\0' && i < FM_TELEMETRY_TEXT_MAX; i++)
		to[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	to[i] = '\0';
}

static size_t text_bytes(const char *text)
{
	char cleaned[FM_TELEMETRY_TEXT_MAX + 1];
	size_t bytes = 2;

	clean(text, cleaned);
	for (const char *at = cleaned; *at != '\0'; at++)
		bytes += *at == '"' || *at == '\\' ? 2 : 1;
	return bytes;
}

size_t fm_telemetry_bytes(const struct fm_value *value)
{
	/* A name, or a number in its place, with quotes, colon and comma. */
	size_t bytes = (value->name == NULL ? 3 : strlen(value->name)) + 4;

	switch (value->kind) {
	case FM_VALUE_OBJECT:
	case FM_VALUE_LIST:
		bytes += 2;
		for (const struct fm_value *in = value->in.first; in != NULL; in = in->next)
			bytes += fm_telemetry_bytes(in);
		return bytes;
	case FM_VALUE_TEXT:
		return bytes + text_bytes(value->text);
	case FM_VALUE_UINT:
		return bytes + (size_t)snprintf(NULL, 0, "%" PRIu64, value->number);
	case FM_VALUE_INT:
		return bytes + (size_t)snprintf(NULL, 0, "%" PRId64, value->integer);
	case FM_VALUE_DOUBLE:
		return bytes + (size_t)snprintf(NULL, 0, "%.0f", value->real);
	case FM_VALUE_BOOL:
		break;
	}
	return bytes + 1;
}

static struct fm_value *find(struct fm_value *root, const char *name)
{
	for (struct fm_value *in = root->in.first; in != NULL; in = in->next)
		if (in->name != NULL && strcmp(in->name, name) == 0)
			return in;
	return NULL;
}

/* Drop the elements behind the first `n`. */
static void cut(struct fm_value *list, uint32_t n)
{
	struct fm_value *last = NULL, *in = list->in.first;

	while (n-- > 0) {
		last = in;
		in = in->next;
	}
	list->in.last = last;
	*(last == NULL ? &list->in.first : &last->next) = NULL;
}

int fm_telemetry_fit(struct fm_value *root, const char *name, uint32_t first)
{
	struct fm_value *list = name == NULL ? NULL : find(root, name);
	size_t rest = fm_telemetry_bytes(root), room;
	uint32_t n = 0;

	if (list == NULL || list->in.first == NULL)
		return rest <= FM_TELEMETRY_BYTES ? 0 : -E2BIG;
	for (const struct fm_value *in = list->in.first; in != NULL; in = in->next)
		rest -= fm_telemetry_bytes(in);
	for (uint32_t i = 0; i < first && list->in.first != NULL; i++)
		list->in.first = list->in.first->next;
	if (list->in.first == NULL)
		list->in.last = NULL;
	room = rest < FM_TELEMETRY_BYTES ? FM_TELEMETRY_BYTES - rest : 0;
	for (const struct fm_value *in = list->in.first; in != NULL; in = in->next) {
		const size_t bytes = fm_telemetry_bytes(in);

		if (bytes > room || n == RTE_TEL_MAX_DICT_ENTRIES) {
			cut(list, n);
			fm_put_uint(root, "next", (uint64_t)first + n);
			return n > 0 ? 0 : -E2BIG;
		}
		room -= bytes;
		n++;
	}
	return rest <= FM_TELEMETRY_BYTES ? 0 : -E2BIG;
}

static int convert(const struct fm_value *from, struct rte_tel_data *to);

static uint64_t to_whole(double real)
{
	return real > 0 && real < (double)INT64_MAX ? (uint64_t)llround(real) : 0;
}

static int add(const struct fm_value *value, const char *name, struct rte_tel_data *to)
{
	char text[FM_TELEMETRY_TEXT_MAX + 1];
	struct rte_tel_data *inner;
	int ret;

	switch (value->kind) {
	case FM_VALUE_OBJECT:
	case FM_VALUE_LIST:
		inner = rte_tel_data_alloc();
		if (inner == NULL)
			return -ENOMEM;
		ret = convert(value, inner);
		if (ret == 0)
			ret = rte_tel_data_add_dict_container(to, name, inner, 0);
		if (ret != 0)
			rte_tel_data_free(inner);
		return ret;
	case FM_VALUE_UINT:
		return fm_dpdk_tel_uint(to, name, value->number);
	case FM_VALUE_INT:
		return rte_tel_data_add_dict_int(to, name, (int)value->integer);
	case FM_VALUE_DOUBLE:
		return fm_dpdk_tel_uint(to, name, to_whole(value->real));
	case FM_VALUE_TEXT:
		clean(value->text, text);
		return rte_tel_data_add_dict_string(to, name, text);
	case FM_VALUE_BOOL:
		break;
	}
	return fm_dpdk_tel_uint(to, name, value->yes);
}

/* It has neither lists of objects nor truth: lists become objects whose names are 0, 1, ..., and true is 1. */
static int convert(const struct fm_value *from, struct rte_tel_data *to)
{
	char number[12];
	uint32_t i = 0;
	int ret = rte_tel_data_start_dict(to);

	for (const struct fm_value *in = from->in.first; in != NULL && ret == 0; in = in->next) {
		snprintf(number, sizeof(number), "%" PRIu32, i++);
		ret = add(in, in->name != NULL ? in->name : number, to);
	}
	return ret;
}

static int answer(const struct fm_endpoint *endpoint, const char *params, struct fm_report *report, char *err,
		  size_t err_len)
{
	struct fm_value *root = fm_report_root(report);
	struct fm_telemetry_query query;
	int ret = fm_telemetry_parse(endpoint, params, &query, err, err_len);

	if (ret != 0)
		return ret;
	if (!fm_lock_borrow(FM_TELEMETRY_WAIT_MS)) {
		snprintf(err, err_len, "busy: fragmend starts, ends or runs a long command");
		return -EBUSY;
	}
	ret = endpoint->put(root, &query.ask, err, err_len);
	fm_lock_give_back();
	if (ret == 0)
		ret = fm_telemetry_fit(root, endpoint->list, query.first);
	if (ret == -E2BIG)
		snprintf(err, err_len, "the answer is longer than telemetry can carry");
	if (ret == 0 && !fm_report_ok(report)) {
		snprintf(err, err_len, "no memory");
		ret = -ENOMEM;
	}
	return ret;
}

static int on_request(const char *path, const char *params, struct rte_tel_data *to)
{
	struct fm_report *report = fm_report_new(), *refusal;
	char err[FM_SENTENCE_LEN] = "";
	int ret = -ENOENT;

	for (unsigned int i = 0; i < fm_endpoints && report != NULL; i++)
		if (strcmp(fm_endpoint[i].path, path) == 0)
			ret = answer(&fm_endpoint[i], params, report, err, sizeof(err));
	if (ret == 0) {
		ret = convert(fm_report_root(report), to);
	} else if ((refusal = fm_report_new()) != NULL) {
		fm_put_text(fm_report_root(refusal), "error", err);
		ret = convert(fm_report_root(refusal), to);
		fm_report_free(refusal);
	}
	fm_report_free(report);
	return ret;
}

int fm_control_telemetry(char *err, size_t err_len)
{
	char help[256];
	int ret = 0;

	for (unsigned int i = 0; i < fm_endpoints && ret == 0; i++) {
		snprintf(help, sizeof(help), "%s Parameters: %s", fm_endpoint[i].text,
			 fm_endpoint[i].params[0] == '\0' ? "none" : fm_endpoint[i].params);
		ret = rte_telemetry_register_cmd(fm_endpoint[i].path, on_request, help);
		if (ret != 0)
			snprintf(err, err_len, "telemetry endpoint %s cannot be registered: %s", fm_endpoint[i].path,
				 strerror(-ret));
	}
	return ret;
}
