/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference model on a capture: reads a pcap file (Ethernet, microseconds, this machine's byte order), writes what
 * must leave, and prints how often each outcome came. The time of a frame is the one in the capture.
 *
 *	model_pcap IN OUT [max-fragments]
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fm_model.h"

enum { FRAME_MAX = 262144, MAGIC = 0xa1b2c3d4 };

struct record {
	uint32_t seconds, micros, captured, length;
};

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "model_pcap: %s: %s\n", what, errno != 0 ? strerror(errno) : "not a capture");
	exit(1);
}

static void write_list(const struct fm_model_list *list, const struct record *when, FILE *out)
{
	struct record record = *when;

	for (size_t i = 0; i < list->n; i++) {
		record.captured = record.length = list->output[i].len;
		need(fwrite(&record, sizeof(record), 1, out) == 1, "output");
		need(fwrite(list->output[i].bytes, 1, record.captured, out) == record.captured, "output");
	}
}

static void run(struct fm_model *model, FILE *in, FILE *out)
{
	static uint8_t frame[FRAME_MAX];
	struct record record;
	uint32_t header[6];
	uint64_t now;

	need(fread(header, sizeof(header), 1, in) == 1 && header[0] == MAGIC, "input");
	need(fwrite(header, sizeof(header), 1, out) == 1, "output");
	while (fread(&record, sizeof(record), 1, in) == 1) {
		need(record.captured <= FRAME_MAX && fread(frame, 1, record.captured, in) == record.captured, "input");
		now = record.seconds * UINT64_C(1000000) + record.micros;
		fm_model_expire(model, now);
		fm_model_frame(model, frame, record.captured, 0, now);
		write_list(&model->pass, &record, out);
		write_list(&model->done, &record, out);
		fm_model_clear(model);
	}
	need(ferror(in) == 0, "input");
}

int main(int argc, char **argv)
{
	const struct fm_model_settings settings = {
		.timeout = { [FM_IPV4] = 2000000, [FM_IPV6] = 10000000 },
		.max_fragments = argc > 3 ? (uint32_t)atoi(argv[3]) : 128,
	};
	struct fm_model model;
	FILE *in, *out;

	if (argc < 3) {
		fprintf(stderr, "usage: model_pcap IN OUT [max-fragments]\n");
		return 2;
	}
	in = fopen(argv[1], "rb");
	need(in != NULL, argv[1]);
	out = fopen(argv[2], "wb");
	need(out != NULL, argv[2]);
	fm_model_init(&model, &settings);
	run(&model, in, out);
	fm_model_flush(&model);
	for (unsigned int i = 0; i < FM_OUTCOME_MAX; i++)
		if (model.count[i] > 0)
			printf("%s %" PRIu64 "\n", fm_outcome_info[i].name, model.count[i]);
	fm_model_fini(&model);
	fclose(in);
	need(fclose(out) == 0, argv[2]);
	return 0;
}
