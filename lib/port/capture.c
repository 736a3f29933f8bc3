/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One capture at a time: taps on the workers, and a thread that writes what comes out of them.
 *
 *	          start                 stop, or the tick            the writer is done
 *	(nothing) ------> RUNNING ---------------------> ENDING ------------------------> (nothing)
 *	            taps on         taps off, then `ending`        file closed, memory freed
 *
 * The writer ends a capture early by setting `closed`, which makes the taps deaf at once: at the limit, or when the
 * file cannot be written. The tick does the rest. The writer is no lcore and sleeps where there is nothing to write; it
 * inherits the main lcore's CPU.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "capture_file.h"
#include "capture_taps.h"
#include "counter.h"
#include "door.h"
#include "engine.h"
#include "fail.h"
#include "state.h"

enum {
	FM_WRITE_BURST = 64,
	FM_WRITER_SLEEP_US = 2000,
	FM_BEGIN_WAIT_MS = 200,
	FM_END_WAIT_MS = 1000,
	FM_NOTE_LEN = 128,
};

/* What the writer thread has. */
struct writer {
	pthread_t thread;
	struct fm_capture_file *file;
	atomic_bool closed;		/* written by the writer; see above */
	atomic_bool ending;		/* written by control: nothing more comes into the rings */
	atomic_bool begun, ended;	/* written by the writer: the header is written; the file is closed */
	atomic_int error;		/* likewise: errno; 0: none */
	uint64_t packets, unwritten;	/* likewise, counters */
	uint64_t bytes;			/* likewise: in the file */
};

/* Control's own, but for `writer`. */
static struct {
	struct fm_capture_request request;
	char path[FM_PATH_LEN];
	bool present;			/* there is a thread, a file and memory */
	bool was;			/* there was a capture */
	bool stuck;			/* a worker did not answer; only a command tries again */
	uint64_t began_tsc, took_tsc;
	struct fm_taps taps;
	uint64_t over_rate, no_room;	/* as the taps left them */
	struct writer writer;
} capture;

static void fail(struct writer *w, int code)
{
	/* The first one says why. */
	if (atomic_load(&w->error) != 0)
		return;
	atomic_store(&w->error, -code);
	atomic_store(&w->closed, true);
	FM_LOG(ERR, "capture to %s ends: %s\n", capture.path, strerror(-code));
}

static void note_bytes(struct writer *w)
{
	__atomic_store_n(&w->bytes, fm_capture_file_bytes(w->file), __ATOMIC_RELAXED);
}

/* Write what is wanted of a burst. */
static void write_burst(struct writer *w, struct rte_mbuf **block, uint16_t n)
{
	const uint64_t limit = capture.request.limit_packets, done = fm_count_read(&w->packets);
	uint16_t wanted = n;
	int ret;

	if (limit != 0)
		wanted = (uint16_t)RTE_MIN((uint64_t)n, limit - done);
	if (atomic_load(&w->error) != 0) {
		fm_count(&w->unwritten, wanted);
		return;
	}
	ret = fm_capture_file_write(w->file, block, wanted);
	if (ret != 0) {
		fm_count(&w->unwritten, wanted);
		fail(w, ret);
		return;
	}
	note_bytes(w);
	fm_count(&w->packets, wanted);
	if (limit != 0 && done + wanted == limit)
		atomic_store(&w->closed, true);
}

/* Returns packets taken from the rings. */
static unsigned int drain(struct writer *w)
{
	struct rte_mbuf *block[FM_WRITE_BURST];
	unsigned int all = 0, n;

	for (uint16_t t = 0; t < capture.taps.n; t++) {
		n = rte_ring_sc_dequeue_burst(capture.taps.tap[t]->ring, (void **)block, FM_WRITE_BURST, NULL);
		if (n == 0)
			continue;
		write_burst(w, block, (uint16_t)n);
		rte_pktmbuf_free_bulk(block, n);
		all += n;
	}
	return all;
}

static void begin(struct writer *w)
{
	char note[FM_NOTE_LEN];
	int ret;

	snprintf(note, sizeof(note), "%s, at most %u bytes of a packet and %u packets a second",
		 capture.request.all ? "frames in and out, and what was dropped" : "what was dropped",
		 capture.request.snaplen_bytes, capture.request.rate_pps);
	ret = fm_capture_file_begin(w->file, note);
	if (ret != 0)
		fail(w, ret);
	note_bytes(w);
	atomic_store(&w->begun, true);
}

static void *write_all(void *arg)
{
	struct writer *w = arg;
	int ret;

	begin(w);
	for (;;) {
		/* Asked before the rings are looked at: what was put until then is found. */
		const bool ending = atomic_load(&w->ending);

		if (drain(w) == 0) {
			if (ending)
				break;
			usleep(FM_WRITER_SLEEP_US);
		}
	}
	ret = fm_capture_file_close(w->file);
	if (ret != 0)
		fail(w, ret);
	if (w->bytes == 0)
		unlink(capture.path);
	atomic_store(&w->ended, true);
	return NULL;
}

static bool wait_for(const atomic_bool *what, unsigned int ms)
{
	for (; ms > 0 && !atomic_load(what); ms--)
		usleep(1000);
	return atomic_load(what);
}

static int start_writer(struct writer *w, char *err, size_t err_len)
{
	sigset_t all, before;
	int ret;

	/* Signals are for the main thread, whose sleep they end. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&w->thread, NULL, write_all, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0)
		return fm_fail(err, err_len, -ret, "capture: no thread to write %s: %s", capture.path, strerror(ret));
	pthread_setname_np(w->thread, "fm-capture");
	return 0;
}

/* The taps are off. */
static void reap(void)
{
	struct writer *w = &capture.writer;

	pthread_join(w->thread, NULL);
	fm_taps_counts(&capture.taps, &capture.over_rate, &capture.no_room);
	fm_taps_free(&capture.taps);
	capture.present = false;
}

/* Nothing more is to be captured. */
static int end_taps(char *err, size_t err_len)
{
	int ret = fm_taps_off(&capture.taps, err, err_len);

	capture.stuck = ret != 0;
	if (ret != 0)
		return ret;
	if (!atomic_load(&capture.writer.ending))
		capture.took_tsc = rte_rdtsc() - capture.began_tsc;
	atomic_store(&capture.writer.ending, true);
	return 0;
}

/* End it, and see it closed if the disk is quick. */
static int finish(char *err, size_t err_len)
{
	const int ret = end_taps(err, err_len);

	if (ret == 0 && wait_for(&capture.writer.ended, FM_END_WAIT_MS))
		reap();
	return ret;
}

void fm_capture_tick(void)
{
	if (!capture.present)
		return;
	if (atomic_load(&capture.writer.closed) && !atomic_load(&capture.writer.ending) && !capture.stuck)
		end_taps(NULL, 0);
	if (atomic_load(&capture.writer.ended))
		reap();
}

void fm_capture_end(void)
{
	if (!capture.present)
		return;
	fm_taps_take(&capture.taps);
	end_taps(NULL, 0);
	reap();
}

static int check(const struct fm_capture_request *request, char *err, size_t err_len)
{
	fm_capture_tick();
	if (capture.present)
		return fm_fail(err, err_len, -EALREADY, "a capture to %s is %s", capture.path,
			       atomic_load(&capture.writer.ending) ? "still being written; see show capture" :
								     "running; end it with capture stop");
	if (strlen(request->path) >= sizeof(capture.path))
		return fm_fail(err, err_len, -ENAMETOOLONG, "capture: the name of the file is too long");
	return 0;
}

static int create_file(const char *path, char *err, size_t err_len)
{
	const int ret = fm_capture_file_create(&capture.writer.file, path);

	if (ret == -EEXIST)
		return fm_fail(err, err_len, ret, "capture: %s is there already; remove it, or name another file",
			       path);
	if (ret != 0)
		return fm_fail(err, err_len, ret, "capture: %s cannot be made: %s", path, strerror(-ret));
	return 0;
}

/* Memory and a thread, for the file that is there now. */
static int make(const struct fm_capture_request *request, char *err, size_t err_len)
{
	struct writer *w = &capture.writer;
	int ret;

	*w = (struct writer){ .file = w->file };
	snprintf(capture.path, sizeof(capture.path), "%s", request->path);
	capture.request = *request;
	capture.request.path = capture.path;
	ret = fm_taps_make(&capture.taps, request, &w->closed, err, err_len);
	if (ret == 0)
		ret = start_writer(w, err, err_len);
	capture.present = capture.was = ret == 0;
	capture.began_tsc = rte_rdtsc();
	capture.took_tsc = 0;
	if (ret == 0)
		return 0;
	fm_taps_free(&capture.taps);
	fm_capture_file_close(w->file);
	unlink(capture.path);
	return ret;
}

int fm_door_capture_start(const struct fm_capture_request *request, char *err, size_t err_len)
{
	int ret = check(request, err, err_len);

	if (ret == 0)
		ret = create_file(request->path, err, err_len);
	if (ret == 0)
		ret = make(request, err, err_len);
	if (ret != 0)
		return ret;
	ret = fm_taps_on(&capture.taps, err, err_len);
	if (ret != 0) {
		finish(NULL, 0);
		return ret;
	}
	wait_for(&capture.writer.begun, FM_BEGIN_WAIT_MS);
	ret = -atomic_load(&capture.writer.error);
	if (ret == 0)
		return 0;
	finish(NULL, 0);
	return fm_fail(err, err_len, ret, "capture: %s cannot be written: %s", capture.path, strerror(-ret));
}

int fm_door_capture_stop(char *err, size_t err_len)
{
	fm_capture_tick();
	if (!capture.present)
		return fm_fail(err, err_len, -EALREADY, "no capture is running");
	return finish(err, err_len);
}

static enum fm_capture_state state_now(void)
{
	const struct writer *w = &capture.writer;

	if (!capture.was)
		return FM_CAPTURE_NONE;
	if (atomic_load(&w->error) != 0)
		return FM_CAPTURE_FAILED;
	if (capture.present && !atomic_load(&w->closed) && !atomic_load(&w->ending))
		return FM_CAPTURE_RUNNING;
	if (capture.present)
		return FM_CAPTURE_ENDING;
	if (capture.request.limit_packets != 0 && w->packets == capture.request.limit_packets)
		return FM_CAPTURE_LIMIT;
	return FM_CAPTURE_STOPPED;
}

void fm_door_capture(struct fm_capture_view *view)
{
	const struct writer *w = &capture.writer;
	uint64_t took_tsc;

	fm_capture_tick();
	memset(view, 0, sizeof(*view));
	view->state = state_now();
	if (view->state == FM_CAPTURE_NONE)
		return;
	snprintf(view->path, sizeof(view->path), "%s", capture.path);
	view->request = capture.request;
	view->request.path = view->path;
	view->over_rate = capture.over_rate;
	view->no_room = capture.no_room;
	if (capture.present)
		fm_taps_counts(&capture.taps, &view->over_rate, &view->no_room);
	view->packets = fm_count_read(&w->packets);
	view->unwritten = fm_count_read(&w->unwritten);
	view->bytes = fm_count_read(&w->bytes);
	view->error = atomic_load(&w->error);
	took_tsc = capture.took_tsc != 0 ? capture.took_tsc : rte_rdtsc() - capture.began_tsc;
	view->seconds = (double)took_tsc / (double)rte_get_tsc_hz();
}
