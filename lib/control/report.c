/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { CHUNK_BYTES = 16384 };

/* Memory of a report: taken piece by piece, given back as a whole. */
struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(struct fm_value) char bytes[];
};

struct fm_report {
	struct chunk *chunk;	/* the newest */
	bool out_of_memory;
	struct fm_value root;
	struct fm_value nowhere;	/* takes what there is no memory for */
};

static void *take(struct fm_report *report, size_t size)
{
	const size_t align = _Alignof(struct fm_value);
	struct chunk *chunk = report->chunk;
	void *at;

	size = (size + align - 1) / align * align;
	if (chunk == NULL || chunk->size - chunk->used < size) {
		const size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (chunk == NULL) {
			report->out_of_memory = true;
			return NULL;
		}
		chunk->size = room;
		chunk->used = 0;
		chunk->next = report->chunk;
		report->chunk = chunk;
	}
	at = chunk->bytes + chunk->used;
	chunk->used += size;
	return at;
}

struct fm_report *fm_report_new(void)
{
	struct fm_report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return NULL;
	report->root = (struct fm_value){ .report = report, .kind = FM_VALUE_OBJECT };
	report->nowhere = report->root;
	return report;
}

void fm_report_free(struct fm_report *report)
{
	struct chunk *next;

	if (report == NULL)
		return;
	for (struct chunk *chunk = report->chunk; chunk != NULL; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(report);
}

struct fm_value *fm_report_root(struct fm_report *report)
{
	return &report->root;
}

bool fm_report_ok(const struct fm_report *report)
{
	return !report->out_of_memory;
}

static const char *copy(struct fm_report *report, const char *text)
{
	const size_t size = strlen(text) + 1;
	char *to = take(report, size);

	return to == NULL ? NULL : memcpy(to, text, size);
}

static struct fm_value *put(struct fm_value *in, const char *name, enum fm_value_kind kind)
{
	struct fm_report *report = in->report;
	struct fm_value *value = NULL;

	/* What is put behind the end of memory must not look like the whole. */
	if (!report->out_of_memory)
		value = take(report, sizeof(*value));
	if (value == NULL)
		return &report->nowhere;
	*value = (struct fm_value){ .report = report, .kind = kind };
	if (name != NULL)
		value->name = copy(report, name);
	if (report->out_of_memory)
		return &report->nowhere;
	if (in->in.last == NULL)
		in->in.first = value;
	else
		in->in.last->next = value;
	in->in.last = value;
	return value;
}

struct fm_value *fm_put_object(struct fm_value *in, const char *name)
{
	return put(in, name, FM_VALUE_OBJECT);
}

struct fm_value *fm_put_list(struct fm_value *in, const char *name)
{
	return put(in, name, FM_VALUE_LIST);
}

void fm_put_uint(struct fm_value *in, const char *name, uint64_t number)
{
	put(in, name, FM_VALUE_UINT)->number = number;
}

void fm_put_int(struct fm_value *in, const char *name, int64_t integer)
{
	put(in, name, FM_VALUE_INT)->integer = integer;
}

void fm_put_double(struct fm_value *in, const char *name, double real)
{
	put(in, name, FM_VALUE_DOUBLE)->real = real;
}

void fm_put_bool(struct fm_value *in, const char *name, bool yes)
{
	put(in, name, FM_VALUE_BOOL)->yes = yes;
}

void fm_put_text(struct fm_value *in, const char *name, const char *text)
{
	struct fm_value *value = put(in, name, FM_VALUE_TEXT);
	const char *copied = copy(in->report, text);

	value->text = copied != NULL ? copied : "";
}
