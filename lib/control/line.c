/* SPDX-License-Identifier: BSD-3-Clause */
#define FM_DPDK_LINE_EDITOR
#include "fm_dpdk.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "line.h"
#include "print.h"

enum { ITEMS_MAX = 160, WORD_COLUMN = 24 };

enum { CTRL_A = 'A' - '@', CTRL_K = 'K' - '@', CTRL_U = 'U' - '@' };

struct fm_line {
	struct rdline *rdline;
	FILE *out;
	const char *prompt;
	bool (*entered)(void *arg, const char *text);
	unsigned int (*find)(void *arg, const char *text, struct fm_completion *items, unsigned int max);
	void *arg;
	unsigned int n_items;	/* what completion lists now */
	struct fm_completion items[ITEMS_MAX];
};

static int write_char(struct rdline *rdline, char c)
{
	struct fm_line *line = rdline_get_opaque(rdline);

	return putc(c, line->out);
}

static void validate(struct rdline *rdline, const char *buf, unsigned int size)
{
	struct fm_line *line = rdline_get_opaque(rdline);
	char text[FM_LINE_MAX + 2];

	(void)size;
	snprintf(text, sizeof(text), "%s", buf);
	text[strcspn(text, "\n")] = '\0';
	if (!line->entered(line->arg, text))
		rdline_quit(rdline);
}

/* How many characters all items have in common; 0 if one of them cannot be typed. */
static size_t common(const struct fm_line *line)
{
	size_t len = strlen(line->items[0].word);

	for (unsigned int i = 0; i < line->n_items; i++) {
		if (!line->items[i].literal)
			return 0;
		for (size_t c = 0; c < len; c++)
			if (line->items[i].word[c] != line->items[0].word[c])
				len = c;
	}
	return len;
}

/* What can be added to the last word in any case. */
static bool extend(const struct fm_line *line, const char *buf, char *dst, unsigned int size)
{
	const char *partial = buf + strlen(buf);
	size_t len = common(line), typed;

	while (partial > buf && partial[-1] != ' ' && partial[-1] != '\t')
		partial--;
	typed = strlen(partial);
	if (len < typed || (len == typed && line->n_items > 1))
		return false;
	if (len == 0)
		return false;
	snprintf(dst, size, "%.*s%s", (int)(len - typed), line->items[0].word + typed, line->n_items == 1 ? " " : "");
	return true;
}

/* One line of the list, wrapped. */
static void describe(const struct fm_completion *item, char *dst, unsigned int size)
{
	FILE *text = fmemopen(dst, size, "w");
	int at;

	dst[0] = '\0';
	if (text == NULL)
		return;
	at = fprintf(text, "%-*s ", WORD_COLUMN, item->word);
	fm_print_wrapped(text, item->text, at + 1, WORD_COLUMN + 2);
	fclose(text);
	dst[size - 1] = '\0';
	if (strlen(dst) > 0)
		dst[strlen(dst) - 1] = '\0';
}

/*
 * Called by rte_cmdline with *state 0 (TAB) or -1 (?) at first, and then again as long as it returns 1.
 *
 * @return 0: nothing (more); 1: dst is a line to list; 2: dst is to be appended to what is typed
 */
static int complete(struct rdline *rdline, const char *buf, char *dst, unsigned int size, int *state)
{
	struct fm_line *line = rdline_get_opaque(rdline);

	if (*state <= 0) {
		line->n_items = line->find(line->arg, buf, line->items, ITEMS_MAX);
		if (line->n_items == 0)
			return 0;
		if (*state == 0 && extend(line, buf, dst, size))
			return 2;
		*state = 0;
	}
	if ((unsigned int)*state == line->n_items)
		return 0;
	describe(&line->items[*state], dst, size);
	(*state)++;
	return 1;
}

struct fm_line *fm_line_open(FILE *out, const char *prompt, bool (*entered)(void *arg, const char *text),
			     unsigned int (*find)(void *arg, const char *text, struct fm_completion *items,
						  unsigned int max),
			     void *arg)
{
	struct fm_line *line = calloc(1, sizeof(*line));

	if (line == NULL)
		return NULL;
	line->out = out;
	line->prompt = prompt;
	line->entered = entered;
	line->find = find;
	line->arg = arg;
	line->rdline = rdline_new(write_char, validate, complete, line);
	if (line->rdline == NULL) {
		free(line);
		return NULL;
	}
	rdline_newline(line->rdline, prompt);
	fflush(out);
	return line;
}

static void remember(struct rdline *rdline)
{
	const char *last = rdline_get_history_item(rdline, 0);
	char text[FM_LINE_MAX + 2];

	snprintf(text, sizeof(text), "%s", rdline_get_buffer(rdline));
	text[strcspn(text, "\n")] = '\0';
	if (text[0] != '\0' && (last == NULL || strcmp(last, text) != 0))
		rdline_add_history(rdline, text);
}

bool fm_line_type(struct fm_line *line, char c)
{
	int ret;

	/* rte_cmdline does not know the key that empties the line, but start of line and delete to the end. */
	if (c == CTRL_U) {
		rdline_char_in(line->rdline, CTRL_A);
		c = CTRL_K;
	}
	ret = rdline_char_in(line->rdline, c);
	if (ret == RDLINE_RES_VALIDATED) {
		remember(line->rdline);
		rdline_newline(line->rdline, line->prompt);
	}
	fflush(line->out);
	return ret != RDLINE_RES_EOF && ret != RDLINE_RES_EXITED;
}

void fm_line_hide(struct fm_line *line)
{
	fputs("\r" vt100_clear_right, line->out);
}

void fm_line_show(struct fm_line *line)
{
	rdline_redisplay(line->rdline);
	fflush(line->out);
}

void fm_line_close(struct fm_line *line)
{
	rdline_free(line->rdline);
	free(line);
}
