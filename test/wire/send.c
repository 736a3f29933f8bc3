/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender of the wire table: fragments of UDP datagrams as raw frames, at a steady pace, the same ones each time.
 * Up to three streams, each with its own pace: the steady senders, a burst, and fragments that never complete.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "traffic.h"

enum {
	SECOND_NS = 1000000000,
	TICK_NS = 200000,  /* sleep at least so long: what has fallen due meanwhile goes in one system call */
	LATE_NS = 2000000, /* who is later than this does not catch up: no ring on the way has room for it */
};

enum stream_kind { STEADY, HOSTILE, BURST, STREAMS };

struct stream {
	double from_ns, interval_ns;
	uint64_t done;
	bool active;
};

struct pace {
	struct stream stream[STREAMS];
	int64_t start_ns;   /* moves when the program was late */
	int64_t slipped_ns; /* by how much in all */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void sleep_until(int64_t at_ns)
{
	const struct timespec at = {.tv_sec = at_ns / SECOND_NS, .tv_nsec = at_ns % SECOND_NS};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void activate(struct stream *s, double from_s, double rate)
{
	*s = (struct stream){.from_ns = from_s * SECOND_NS, .interval_ns = SECOND_NS / rate, .active = true};
}

static double due_ns(const struct stream *s)
{
	return s->from_ns + (double)s->done * s->interval_ns;
}

/* The active stream whose turn is first; NULL: none is active. */
static struct stream *next_stream(struct pace *p)
{
	struct stream *first = NULL;

	for (unsigned int i = 0; i < STREAMS; i++)
		if (p->stream[i].active && (first == NULL || due_ns(&p->stream[i]) < due_ns(first)))
			first = &p->stream[i];
	return first;
}

static void take_turn(struct fm_wire_traffic *t, struct pace *p, struct stream *s)
{
	const struct fm_wire_plan *plan = t->plan;
	const double at_s = due_ns(s) / SECOND_NS;
	const bool after = plan->burst != 0 && at_s >= plan->burst_at_s;

	s->done++;
	if (s == &p->stream[STEADY])
		s->active = fm_wire_steady_turn(t, at_s < plan->seconds, after ? FM_WIRE_AFTER : FM_WIRE_STEADY);
	else if (s == &p->stream[BURST])
		s->active = fm_wire_burst_turn(t);
	else if (at_s < plan->seconds)
		fm_wire_hostile_turn(t);
	else
		s->active = false;
}

/* Sleep until some fragments are due; a start that is put off where that has taken too long. */
static int64_t wait_for(struct fm_wire_traffic *t, struct pace *p, int64_t due)
{
	int64_t now = now_ns();

	if (due > now) {
		fm_wire_line_flush(&t->line);
		sleep_until(due + TICK_NS);
		now = now_ns();
	}
	if (now - due > LATE_NS) {
		p->start_ns += now - due;
		p->slipped_ns += now - due;
	}
	return now;
}

static void run(struct fm_wire_traffic *t, struct pace *p)
{
	int64_t now;
	struct stream *s;

	p->start_ns = now = now_ns();
	while ((s = next_stream(p)) != NULL) {
		const int64_t due = p->start_ns + (int64_t)due_ns(s);

		if (due > now)
			now = wait_for(t, p, due);
		else
			take_turn(t, p, s);
	}
	fm_wire_line_flush(&t->line);
}

static void print_group(const struct fm_wire_traffic *t, const char *name, enum fm_wire_group group)
{
	printf("offered_%s %" PRIu64 "\ncomplete_%s %" PRIu64 "\n", name, t->begun[group], name,
	       t->begun[group] - t->incomplete[group]);
}

static void print(const struct fm_wire_traffic *t, const struct pace *p, double seconds)
{
	print_group(t, "steady", FM_WIRE_STEADY);
	print_group(t, "after", FM_WIRE_AFTER);
	print_group(t, "burst", FM_WIRE_BURST);
	printf("sent %" PRIu64 "\nunsent %" PRIu64 "\nlost %" PRIu64 "\ncopies %" PRIu64 "\nhostile %" PRIu64 "\n",
	       t->line.sent, t->line.unsent, t->lost, t->copies, t->hostile);
	printf("seconds %.6f\nslipped_seconds %.6f\n", seconds, (double)p->slipped_ns / SECOND_NS);
	for (uint32_t i = 0; t->plan->each && i < t->plan->senders + t->plan->burst; i++)
		printf("sender %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", i, t->sender[i].begun,
		       t->sender[i].begun - t->sender[i].incomplete);
}

int main(int argc, char **argv)
{
	static struct fm_wire_traffic traffic;
	struct fm_wire_plan plan;
	struct pace pace = {0};
	int64_t began;

	fm_wire_options(&plan, argc, argv);
	fm_wire_traffic_open(&traffic, &plan);
	activate(&pace.stream[STEADY], 0, plan.rate);
	if (plan.hostile_rate > 0)
		activate(&pace.stream[HOSTILE], 0, plan.hostile_rate);
	if (plan.burst != 0)
		activate(&pace.stream[BURST], plan.burst_at_s, plan.rate);
	prctl(PR_SET_TIMERSLACK, 1UL);
	began = now_ns();
	run(&traffic, &pace);
	print(&traffic, &pace, (double)(now_ns() - began) / SECOND_NS);
	return 0;
}
