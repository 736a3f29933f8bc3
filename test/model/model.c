/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's table: which datagrams there are, and section 4 of the semantics. */
#include <stdlib.h>
#include <string.h>

#include "model_internal.h"

static void *must(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void list_add(struct fm_model_list *list, const struct fm_model_output *output)
{
	list->output = must(realloc(list->output, (list->n + 1) * sizeof(*list->output)));
	list->output[list->n++] = *output;
}

static void list_clear(struct fm_model_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->output[i].bytes);
	free(list->output);
	*list = (struct fm_model_list){0};
}

/* The fate of a frame is known, or has changed from held to known. */
static void settle(struct fm_model *model, size_t number, enum fm_outcome outcome)
{
	if (model->fate[number] == FM_MODEL_HELD)
		model->held--;
	model->fate[number] = (uint16_t)outcome;
	if (outcome == FM_MODEL_HELD)
		model->held++;
	else
		model->count[outcome]++;
}

static void free_held(struct fm_model *model, struct fm_model_datagram *datagram, enum fm_outcome why)
{
	while (datagram->held != NULL) {
		struct model_held *held = datagram->held;

		datagram->held = held->next;
		settle(model, held->number, why);
		free(held->frame);
		free(held);
	}
	datagram->n_held = 0;
	free(datagram->bytes);
	free(datagram->present);
	datagram->bytes = NULL;
	datagram->present = NULL;
	datagram->size = 0;
}

static void forget(struct fm_model *model, struct fm_model_datagram *datagram, enum fm_outcome why)
{
	struct fm_model_datagram **link = &model->datagrams;

	free_held(model, datagram, why);
	while (*link != datagram)
		link = &(*link)->next;
	*link = datagram->next;
	free(datagram);
}

static uint64_t timeout_of(const struct fm_model *model, const struct fm_model_datagram *datagram)
{
	return model->settings.timeout[datagram->family == 4 ? FM_IPV4 : FM_IPV6];
}

/*
 * RFC 5722: nothing of it is used, and nothing that still comes until its time is up, which is known now: new settings
 * change it no more.
 */
static enum fm_outcome condemn(struct fm_model *model, struct fm_model_datagram *datagram, enum fm_outcome why)
{
	free_held(model, datagram, why);
	datagram->condemned = true;
	datagram->condemned_until = datagram->first_seen + timeout_of(model, datagram);
	return why;
}

static bool expired(const struct fm_model *model, const struct fm_model_datagram *datagram, uint64_t now)
{
	return datagram->condemned ? now >= datagram->condemned_until :
				     now - datagram->first_seen >= timeout_of(model, datagram);
}

static struct fm_model_datagram *find_or_make(struct fm_model *model, const struct model_frag *frag, uint64_t now)
{
	struct fm_model_datagram *datagram = model->datagrams;

	while (datagram != NULL && memcmp(datagram->key, frag->key, MODEL_KEY_LEN) != 0)
		datagram = datagram->next;
	if (datagram != NULL && !expired(model, datagram, now))
		return datagram;
	if (datagram != NULL)
		forget(model, datagram, FM_TIMEOUT);
	datagram = must(calloc(1, sizeof(*datagram)));
	memcpy(datagram->key, frag->key, MODEL_KEY_LEN);
	datagram->family = frag->family;
	datagram->first_seen = now;
	datagram->next = model->datagrams;
	model->datagrams = datagram;
	return datagram;
}

static bool exact_duplicate(const struct fm_model_datagram *datagram, const struct model_frag *frag,
			    const uint8_t *frame)
{
	for (const struct model_held *held = datagram->held; held != NULL; held = held->next) {
		if (held->frag.offset == frag->offset && held->frag.length == frag->length &&
		    held->frag.more == frag->more &&
		    memcmp(held->frame + held->frag.payload_at, frame + frag->payload_at, frag->length) == 0)
			return true;
	}
	return false;
}

/* Is any byte from `from` up to and not including `to` there? */
static bool any_present(const struct fm_model_datagram *datagram, uint32_t from, uint32_t to)
{
	to = to < datagram->size ? to : datagram->size;
	return from < to && memchr(datagram->present + from, true, to - from) != NULL;
}

static bool complete(const struct fm_model_datagram *datagram)
{
	return datagram->end_known && memchr(datagram->present, false, datagram->end) == NULL;
}

static bool inconsistent_end(const struct fm_model_datagram *datagram, const struct model_frag *frag)
{
	const uint32_t end = frag->offset + frag->length;

	if (datagram->end_known)
		return frag->more ? end > datagram->end : end != datagram->end;
	return !frag->more && any_present(datagram, end, datagram->size);
}

/* Let the arrays reach as far as `end`; what is new is not present. */
static void reach(struct fm_model_datagram *datagram, uint32_t end)
{
	if (end <= datagram->size)
		return;
	datagram->bytes = must(realloc(datagram->bytes, end));
	datagram->present = must(realloc(datagram->present, end * sizeof(*datagram->present)));
	for (uint32_t i = datagram->size; i < end; i++)
		datagram->present[i] = false;
	datagram->size = end;
}

static void store(struct fm_model_datagram *datagram, const struct model_frag *frag, const uint8_t *frame, uint32_t len,
		  size_t number)
{
	struct model_held *held = must(calloc(1, sizeof(*held)));

	held->frag = *frag;
	held->number = number;
	held->len = len;
	held->frame = must(malloc(len));
	memcpy(held->frame, frame, len);
	held->next = datagram->held;
	datagram->held = held;
	datagram->n_held++;
	reach(datagram, frag->offset + frag->length);
	for (uint32_t i = 0; i < frag->length; i++) {
		datagram->bytes[frag->offset + i] = frame[frag->payload_at + i];
		datagram->present[frag->offset + i] = true;
	}
	if (!frag->more) {
		datagram->end_known = true;
		datagram->end = frag->offset + frag->length;
	}
}

static enum fm_outcome insert(struct fm_model *model, struct fm_model_datagram *datagram,
			      const struct model_frag *frag, const uint8_t *frame)
{
	if (datagram->condemned)
		return FM_CONDEMNED;
	if (exact_duplicate(datagram, frag, frame))
		return FM_DUPLICATE;
	if (inconsistent_end(datagram, frag))
		return condemn(model, datagram, FM_INCONSISTENT_END);
	if (any_present(datagram, frag->offset, frag->offset + frag->length))
		return condemn(model, datagram, FM_OVERLAP);
	if (datagram->n_held >= model->settings.max_fragments)
		return condemn(model, datagram, FM_TOO_MANY_FRAGMENTS);
	return FM_MODEL_HELD;
}

/* RFC 6946: an atomic fragment is a datagram of its own and never meets stored fragments. */
static enum fm_outcome atomic(struct fm_model *model, const struct model_frag *frag, const uint8_t *frame)
{
	struct fm_model_output output;
	const enum fm_outcome outcome = model_join_atomic(frag, frame, &output);

	if (outcome == FM_COMPLETED)
		list_add(&model->done, &output);
	return outcome;
}

static void fragment(struct fm_model *model, const struct model_frag *frag, const uint8_t *frame, uint32_t len,
		     size_t number, uint64_t now)
{
	struct fm_model_datagram *datagram = find_or_make(model, frag, now);
	struct fm_model_output output;
	enum fm_outcome outcome = insert(model, datagram, frag, frame);

	settle(model, number, outcome);
	if (outcome != FM_MODEL_HELD)
		return;
	store(datagram, frag, frame, len, number);
	if (!complete(datagram))
		return;
	outcome = model_join(datagram, model->settings.verify_l4, &output);
	if (outcome == FM_COMPLETED)
		list_add(&model->done, &output);
	forget(model, datagram, outcome);
}

void fm_model_frame(struct fm_model *model, const uint8_t *frame, uint32_t len, uint16_t port, uint64_t now)
{
	struct fm_model_output output = {.bytes = must(malloc(len + 1U)), .len = len};
	const size_t number = model->frames++;
	struct model_frag frag;
	const enum fm_outcome outcome = model_parse(frame, len, port, model->settings.short_chain, &frag);

	memcpy(output.bytes, frame, len);
	if (number == model->fate_room) {
		model->fate_room = 2 * number + 64;
		model->fate = must(realloc(model->fate, model->fate_room * sizeof(*model->fate)));
	}
	model->fate[number] = FM_PASSED;
	if (outcome == FM_PASSED || outcome == FM_PASSED_MALFORMED) {
		settle(model, number, outcome);
		list_add(&model->pass, &output);
		return;
	}
	free(output.bytes);
	model->fragments_in++;
	if (outcome != FM_MODEL_HELD)
		settle(model, number, outcome);
	else if (frag.atomic)
		settle(model, number, atomic(model, &frag, frame));
	else
		fragment(model, &frag, frame, len, number, now);
}

void fm_model_expire(struct fm_model *model, uint64_t now)
{
	struct fm_model_datagram *next;

	for (struct fm_model_datagram *datagram = model->datagrams; datagram != NULL; datagram = next) {
		next = datagram->next;
		if (expired(model, datagram, now))
			forget(model, datagram, FM_TIMEOUT);
	}
}

void fm_model_flush(struct fm_model *model)
{
	while (model->datagrams != NULL)
		forget(model, model->datagrams, FM_FLUSHED);
}

size_t fm_model_datagrams(const struct fm_model *model, bool condemned)
{
	size_t n = 0;

	for (const struct fm_model_datagram *datagram = model->datagrams; datagram != NULL; datagram = datagram->next)
		n += datagram->condemned == condemned;
	return n;
}

void fm_model_init(struct fm_model *model, const struct fm_model_settings *settings)
{
	*model = (struct fm_model){.settings = *settings};
}

void fm_model_clear(struct fm_model *model)
{
	list_clear(&model->pass);
	list_clear(&model->done);
}

void fm_model_fini(struct fm_model *model)
{
	fm_model_flush(model);
	fm_model_clear(model);
	free(model->fate);
	*model = (struct fm_model){0};
}
