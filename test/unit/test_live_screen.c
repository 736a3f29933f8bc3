/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the live view gathers, against a fake door, and what keys and time make of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_door.h"
#include "live.h"
#include "shell.h"
#include "stats.h"

#define MS 1000000ull
#define S (1000 * MS)

static struct fm_screen *screen;
static uint64_t now_ns = 1000 * S;
static char text[1 << 16];	/* the last frame, without bold */

static int setup(void **state)
{
	(void)state;
	fake_door_reset();
	fm_stats_clear();
	now_ns += 100 * S;	/* sources of the test before are old */
	screen = fm_screen_open(false);
	return screen != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	fm_screen_close(screen);
	return 0;
}

/* Is there a frame, so much later? */
static bool frame(uint64_t later_ns)
{
	const char *drawn;
	char *to = text;
	int len;

	now_ns += later_ns;
	len = fm_screen_frame(screen, now_ns, &drawn);
	assert_true(len >= 0 && len < (int)sizeof(text));
	assert_int_equal(len, strlen(drawn));
	while (*drawn != '\0') {
		if (strncmp(drawn, "\x1b[0m", 4) == 0 || strncmp(drawn, "\x1b[1m", 4) == 0)
			drawn += 4;
		else
			*to++ = *drawn++;
	}
	*to = '\0';
	return len > 0;
}

static void has(const char *word)
{
	if (strstr(text, word) == NULL)
		fail_msg("no \"%s\" in %s", word, text);
}

static void has_not(const char *word)
{
	if (strstr(text, word) != NULL)
		fail_msg("\"%s\" in %s", word, text);
}

static void press(char c)
{
	fm_screen_key(screen, c, now_ns);
}

static bool left(void)
{
	return fm_screen_left(screen, now_ns);
}

static void a_frame_each_second(void **state)
{
	(void)state;
	assert_true(frame(0));
	assert_false(frame(0));
	assert_false(frame(999 * MS));
	assert_true(frame(1 * MS));
	assert_false(frame(500 * MS));
	assert_true(frame(3 * S));
	assert_false(frame(999 * MS));
}

static void periods(void **state)
{
	(void)state;
	press('-');
	assert_true(frame(0));
	has("every 1 s");
	press('+');
	press('+');
	assert_true(frame(0));		/* says so at once, but looks at nothing anew */
	has("every 5 s");
	assert_int_equal(fake_door.asked_sources, 2);
	assert_false(frame(4999 * MS));
	assert_true(frame(1 * MS));
	assert_int_equal(fake_door.asked_sources, 4);
	press('-');
	assert_true(frame(1 * S));
	has("every 2 s");
	assert_false(frame(999 * MS));
	assert_true(frame(1 * MS));
	for (unsigned int i = 0; i < 100; i++)
		press('+');
	assert_true(frame(0));
	has("every 60 s");
}

static void pause_and_go_on(void **state)
{
	(void)state;
	frame(0);
	fake_door.stats[0].reass.held_mbufs = 1234;
	press(' ');
	assert_true(frame(0));
	has("PAUSED");
	assert_false(frame(3600 * S));
	assert_int_equal(fake_door.asked_sources, 2);
	fm_screen_size(screen, 120, 40);
	assert_true(frame(0));		/* in its new size, with the old figures */
	has("PAUSED");
	has_not("1234");
	press(' ');
	assert_true(frame(0));
	has_not("PAUSED");
	has("1234");
}

static void sources_change_order(void **state)
{
	(void)state;
	frame(0);
	has("sources by held");
	press('s');
	assert_true(frame(0));
	has("sources by wasted");
	press('S');
	assert_true(frame(0));
	has("sources by delivered");
	press('s');
	assert_true(frame(0));
	has("sources by held");
	assert_int_equal(fake_door.asked_sources, 2);
}

static void sizes(void **state)
{
	(void)state;
	frame(0);
	has("\x1b[2J");
	has("\x1b[24;1H");
	has_not("\x1b[25;1H");
	fm_screen_size(screen, 80, 24);
	assert_false(frame(0));		/* that is what it was */
	fm_screen_size(screen, 120, 40);
	assert_true(frame(0));
	has("\x1b[2J");			/* what is left of the old one goes away */
	has("\x1b[40;1H");
	assert_true(frame(1 * S));
	has_not("\x1b[2J");		/* would flicker */
	press('L' - '@');
	assert_true(frame(0));
	has("\x1b[2J");
	fm_screen_size(screen, 0, 0);
	assert_true(frame(0));
	has("\x1b[24;1H");
	has_not("\x1b[25;1H");
}

static void keys_that_leave(void **state)
{
	static const char keys[] = { 'q', 'Q', 'C' - '@', 'D' - '@' };

	(void)state;
	for (unsigned int i = 0; i < sizeof(keys); i++) {
		teardown(NULL);
		setup(NULL);
		frame(0);
		press('x');
		assert_false(left());
		press(keys[i]);
		assert_true(left());
	}
}

static void escape_leaves(void **state)
{
	(void)state;
	press('\x1b');
	assert_false(left());
	now_ns += (FM_LIVE_WAIT_MS - 1) * MS;
	assert_false(left());
	now_ns += 1 * MS;
	assert_true(left());
	teardown(NULL);
	setup(NULL);
	press('\x1b');
	press('\x1b');
	assert_true(left());
	teardown(NULL);
	setup(NULL);
	press('\x1b');
	now_ns += FM_LIVE_WAIT_MS * MS;
	press('[');		/* too late to belong to it */
	assert_true(left());
}

/* Arrows, function keys, a mouse: begin with an escape, and their letters mean nothing here. */
static void sequences_do_nothing(void **state)
{
	static const char *const sequences[] = { "\x1b[A", "\x1bOq", "\x1b[15~", "\x1b[1;5C", "\x1bq",
						 "\x1b[<0;10;10M", "\x1b[200~" };

	(void)state;
	frame(0);
	for (unsigned int i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++) {
		for (const char *c = sequences[i]; *c != '\0'; c++)
			press(*c);
		now_ns += FM_LIVE_WAIT_MS * MS;
		assert_false(left());
		assert_false(frame(0));
	}
	press('\x1b');
	press('[');
	press('C' - '@');
	assert_true(left());
}

static void rates(void **state)
{
	struct fm_worker_stats *worker = &fake_door.stats[1];

	(void)state;
	worker->reass.count[FM_TIMEOUT] = 100000;
	frame(0);
	has("delivered      -/s");
	fake_door.port[1].rx_packets += 3000;
	fake_door.port[1].tx_packets += 8;
	fake_door.port[1].rx_bytes += 2 * 125000 * 77;
	fake_door.port[1].rx_missed += 4;
	fake_door.port[1].rx_nombuf += 6;
	worker->polls += 1000;
	worker->busy_polls += 250;
	worker->rx_frames += 8000;
	worker->reass.fragments_in += 2468;
	worker->reass.datagrams_done += 642;
	worker->reass.count[FM_TIMEOUT] += 10;
	worker->reass.count[FM_COMPLETED] += 2000;
	worker->reass.held_mbufs = 2500;
	worker->reass.datagrams = 555;
	worker->tx_backlog_mbufs = 7;
	assert_true(frame(2 * S));
	has("    1   up     1500      77        4       0       5     10 net_fake1");
	has("    0   up        0       0        0       0       0      0 net_fake0");
	has("    2  25.0% [");
	has("]     4000        1234    2500       7");
	has("    1      - [");		/* it did not poll at all */
	has("2500 of 5000 mbufs  50.0%");
	has("delivered    321/s  in flight    555  dropped      5/s  fragments   1234/s");
	has("timeout                   5   100010 ");
	has_not("completed");
	fake_door.port[1].rx_packets = 0;	/* cleared by somebody */
	assert_true(frame(2 * S));
	has("    1   up        -       0        0       0       0     10 net_fake1");
	has("timeout                   0   100010 ");
}

static void drops_start_at_the_last_clear(void **state)
{
	(void)state;
	fake_door.stats[0].reass.count[FM_OVERLAP] = 5;
	fm_stats_clear();
	fake_door.stats[0].reass.count[FM_TIMEOUT] = 3;
	frame(0);
	has("timeout ");
	has_not("overlap ");
}

static struct fm_source_view source(uint8_t last, uint32_t held, uint64_t delivered, uint64_t wasted)
{
	return (struct fm_source_view){ .prefix = { 10, 0, 0, last }, .prefix_len = 32, .family = 4,
		.chance_permille = 500, .held_mbufs = held, .delivered = delivered, .wasted = wasted };
}

/* Workers know the same source; their figures add up. */
static void source_rates(void **state)
{
	(void)state;
	fake_door.sources[0] = fake_door.sources[1] = 1;
	fake_door.source[0][0] = source(1, 1000, 5000, 10);
	fake_door.source[1][0] = source(1, 500, 100, 0);
	frame(0);
	has("10.0.0.1/32                              1500  30.0%  50.0%           -        -");
	fake_door.source[0][0].delivered += 600;
	fake_door.source[1][0].delivered += 60;
	fake_door.source[1][0].wasted += 9;
	fake_door.sources[1] = 2;
	fake_door.source[1][1] = source(2, 5, 70, 70);
	assert_true(frame(3 * S));
	has("10.0.0.1/32                              1500  30.0%  50.0%         220        3");
	has("10.0.0.2/32                                 5   0.1%  50.0%           -        -");
}

/* Whoever looks, and however often: workers are asked once a second. */
static void screens_share_the_sources(void **state)
{
	struct fm_screen *other = fm_screen_open(false);
	const char *its;

	(void)state;
	assert_non_null(other);
	fake_door.sources[0] = 1;
	fake_door.source[0][0] = source(1, 1000, 5000, 10);
	for (unsigned int i = 0; i < 10; i++) {
		assert_true(frame(500 * MS));
		assert_int_equal(fake_door.asked_sources, 2 * (i + 1));
		now_ns += 500 * MS;
		assert_true(fm_screen_frame(other, now_ns, &its) > 0);
		assert_non_null(strstr(its, "10.0.0.1/32"));
		assert_int_equal(fake_door.asked_sources, 2 * (i + 1));
	}
	fm_screen_close(other);
}

static void a_worker_does_not_answer(void **state)
{
	(void)state;
	fake_door.sources[0] = 1;
	fake_door.source[0][0] = source(1, 1000, 5000, 10);
	fake_door.sources_error = -ETIMEDOUT;
	frame(0);
	has("the door says");
	has_not("10.0.0.1");
	fake_door.sources_error = 0;
	for (unsigned int i = 0; i < 9; i++)
		assert_true(frame(1 * S));
	assert_int_equal(fake_door.asked_sources, 1);	/* each time would take seconds */
	has("the door says");
	assert_true(frame(1 * S));
	assert_int_equal(fake_door.asked_sources, 3);
	has("10.0.0.1");
	has_not("the door says");
}

static void forwarding_is_told(void **state)
{
	(void)state;
	frame(0);
	has("stopped");
	fake_door.forwarding = true;
	assert_true(frame(1 * S));
	has("forwarding");
	fake_door.settings.bypass = true;
	assert_true(frame(1 * S));
	has("BYPASS");
}

/* The command leaves a stream with whoever has a terminal; others, and files, are told what else there is. */
static void the_command(void **state)
{
	struct shell_fixture *f = *state;
	const struct fm_stream *stream = &f->shell.stream;
	const char *drawn;
	char line[80];
	FILE *file;
	int len;

	assert_int_equal(shell_run(f, "show live"), -ENOTTY);
	assert_non_null(strstr(f->shell.err, "show live needs a terminal"));
	assert_null(stream->frame);
	f->shell.can_stream = f->shell.colour = true;
	file = fopen(f->file, "w");
	assert_non_null(file);
	fputs("show live\n", file);
	fclose(file);
	snprintf(line, sizeof(line), "load %s", f->file);
	assert_int_equal(shell_run(f, line), -ENOTTY);
	assert_non_null(strstr(f->shell.err, ":1: show live needs a terminal"));
	assert_null(stream->frame);
	assert_int_equal(shell_run(f, "show live"), 0);
	assert_non_null(strstr(stream->enter, "\x1b[?1049h"));
	assert_non_null(strstr(stream->leave, "\x1b[?1049l"));
	stream->size(stream->arg, 100, 30);
	fake_door.stats[0].reass.held_mbufs = 1;
	now_ns += 100 * S;
	len = stream->frame(stream->arg, now_ns, &drawn);
	assert_int_equal(len, strlen(drawn));
	assert_non_null(strstr(drawn, "\x1b[30;1H"));
	assert_non_null(strstr(drawn, "\x1b[32m#"));	/* colour */
	assert_int_equal(stream->frame(stream->arg, now_ns, &drawn), 0);
	stream->key(stream->arg, 's', now_ns);
	assert_false(stream->left(stream->arg, now_ns));
	stream->key(stream->arg, 'q', now_ns);
	assert_true(stream->left(stream->arg, now_ns));
	stream->close(stream->arg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_frame_each_second, setup, teardown),
		cmocka_unit_test_setup_teardown(periods, setup, teardown),
		cmocka_unit_test_setup_teardown(pause_and_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(sources_change_order, setup, teardown),
		cmocka_unit_test_setup_teardown(sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(keys_that_leave, setup, teardown),
		cmocka_unit_test_setup_teardown(escape_leaves, setup, teardown),
		cmocka_unit_test_setup_teardown(sequences_do_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(rates, setup, teardown),
		cmocka_unit_test_setup_teardown(drops_start_at_the_last_clear, setup, teardown),
		cmocka_unit_test_setup_teardown(source_rates, setup, teardown),
		cmocka_unit_test_setup_teardown(screens_share_the_sources, setup, teardown),
		cmocka_unit_test_setup_teardown(a_worker_does_not_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(forwarding_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(the_command, shell_setup, shell_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
