/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_log.h>
#include <systemd/sd-daemon.h>

#include "door.h"
#include "engine.h"
#include "log.h"
#include "service.h"
#include "stats.h"

#define FM_SECOND_NS 1000000000ULL

enum {
	FM_STATUS_S = 5,		/* between two lines of state */
	FM_STANDING_S = 2,		/* a worker that has not turned for so long is worth a line in the log */
	FM_SIGNS = 4,			/* of life, in the time in which there must be one */
	FM_STATE_LEN = 320,
};

struct fm_traffic {
	uint64_t rx_frames, rx_bytes, tx_frames, tx_bytes, held_mbufs;
};

static struct fm_service {
	bool ready;
	uint64_t watchdog_ns;		/* 0: nobody watches */
	uint64_t sign_ns;		/* when the last sign of life was given */
	uint64_t turned_ns;		/* when all workers had last turned */
	bool standing_told;
	uint64_t status_ns;		/* when the state was last told ... */
	char state[40];			/* ... which it was then, without figures ... */
	struct fm_traffic traffic;	/* ... and what had come and gone */
} service;

static bool stderr_is_journal(void)
{
	const char *text = getenv("JOURNAL_STREAM");
	uintmax_t device, inode;
	struct stat is;

	return text != NULL && sscanf(text, "%ju:%ju", &device, &inode) == 2 && fstat(STDERR_FILENO, &is) == 0 &&
	       is.st_dev == device && is.st_ino == inode;
}

void fm_service_log(bool prefix)
{
	fm_log_set_prefix(prefix || stderr_is_journal());
}

static void add_traffic(struct fm_traffic *sum)
{
	struct fm_worker_stats stats;

	memset(sum, 0, sizeof(*sum));
	for (uint16_t w = 0; w < fm_door_workers(); w++) {
		fm_door_worker_stats(w, &stats);
		sum->rx_frames += stats.rx_frames;
		sum->rx_bytes += stats.rx_bytes;
		sum->tx_frames += stats.tx_frames;
		sum->tx_bytes += stats.tx_bytes;
		sum->held_mbufs += stats.reass.held_mbufs;
	}
}

static uint16_t links_up(void)
{
	struct fm_port_view view;
	uint16_t up = 0;

	for (uint16_t i = 0; i < fm_door_ports(); i++) {
		fm_door_port(i, &view);
		up += view.link_up;
	}
	return up;
}

/* Three digits and a unit: "1.23 M". */
static const char *rate(uint64_t now, uint64_t before, double seconds, char buf[16])
{
	static const char units[] = " kMGT";
	double value = (double)(now - before) / seconds;
	unsigned int unit = 0;

	while (value >= 999.5 && units[unit + 1] != '\0') {
		value /= 1000;
		unit++;
	}
	snprintf(buf, 16, "%.*f %.1s", value >= 99.95 || unit == 0 ? 0 : value >= 9.995 ? 1 : 2, value,
		 unit == 0 ? "" : &units[unit]);
	return buf;
}

static void get_state(char *state, size_t len, const struct fm_settings *settings)
{
	const uint16_t up = links_up();

	snprintf(state, len, "%s, %u of %u links up",
		 !fm_door_forwarding() ? "stopped" : settings->bypass ? "bypass" : "forwarding", up, fm_door_ports());
}

/* `text` becomes one line: the state, and rates since the last one. */
static void describe(char text[FM_STATE_LEN], const struct fm_settings *settings, uint64_t now)
{
	const double seconds = (double)(now - service.status_ns) / FM_SECOND_NS;
	const struct fm_traffic *before = &service.traffic;
	char in[16], in_bits[16], out[16], out_bits[16];
	struct fm_traffic sum;

	add_traffic(&sum);
	if (service.status_ns == 0 || seconds < 1)
		snprintf(text, FM_STATE_LEN, "%s", service.state);
	else
		snprintf(text, FM_STATE_LEN, "%s; in %spps %sbit/s, out %spps %sbit/s; %" PRIu64 " of %" PRIu64
			 " mbufs held", service.state, rate(sum.rx_frames, before->rx_frames, seconds, in),
			 rate(8 * sum.rx_bytes, 8 * before->rx_bytes, seconds, in_bits),
			 rate(sum.tx_frames, before->tx_frames, seconds, out),
			 rate(8 * sum.tx_bytes, 8 * before->tx_bytes, seconds, out_bits), sum.held_mbufs,
			 (uint64_t)settings->budget_mbufs);
	service.traffic = sum;
	service.status_ns = now;
}

static void tell_state(uint64_t now)
{
	char state[sizeof(service.state)], text[FM_STATE_LEN];
	const bool ready = !service.ready && fm_door_forwarding();
	struct fm_settings settings;

	fm_door_settings(&settings);
	get_state(state, sizeof(state), &settings);
	if (!ready && strcmp(state, service.state) == 0 && now - service.status_ns < FM_STATUS_S * FM_SECOND_NS)
		return;
	memcpy(service.state, state, sizeof(state));
	describe(text, &settings, now);
	sd_notifyf(0, "%sSTATUS=%s", ready ? "READY=1\n" : "", text);
	service.ready |= ready;
}

/* A worker that stands still is not told of at once: it may have lost its CPU for a moment. */
static void tell_standing(uint16_t worker, uint64_t now)
{
	struct fm_worker_view view;

	if (service.standing_told || now - service.turned_ns < FM_STANDING_S * FM_SECOND_NS)
		return;
	fm_door_worker(worker, &view);
	FM_LOG(ERR, "worker %u (lcore %u) has stood still for %u s%s\n", worker, view.lcore, FM_STANDING_S,
	       service.watchdog_ns == 0 ? "" : ": no sign of life for the service manager until it moves");
	sd_notifyf(0, "STATUS=worker %u (lcore %u) stands still", worker, view.lcore);
	service.standing_told = true;
}

static void watch(uint64_t now)
{
	const int standing = fm_engine_standing();

	if (standing >= 0) {
		tell_standing((uint16_t)standing, now);
		return;
	}
	service.turned_ns = now;
	if (service.standing_told) {
		FM_LOG(NOTICE, "all workers turn again\n");
		service.standing_told = false;
		service.status_ns = 0;
	}
	if (service.watchdog_ns != 0 && now - service.sign_ns >= service.watchdog_ns / FM_SIGNS) {
		sd_notify(0, "WATCHDOG=1");
		service.sign_ns = now;
	}
}

int fm_service_up(char *err, size_t err_len)
{
	uint64_t watchdog_us = 0;
	const int ret = sd_watchdog_enabled(0, &watchdog_us);

	RTE_SET_USED(err);
	RTE_SET_USED(err_len);
	if (ret < 0)
		FM_LOG(WARNING, "WATCHDOG_USEC or WATCHDOG_PID in the environment is no number: no watchdog\n");
	service.watchdog_ns = ret > 0 ? watchdog_us * 1000 : 0;
	service.turned_ns = fm_now_ns();
	fm_service_tick();
	return 0;
}

int fm_service_down(char *err, size_t err_len)
{
	RTE_SET_USED(err);
	RTE_SET_USED(err_len);
	sd_notify(0, "STOPPING=1\nSTATUS=stopping");
	return 0;
}

void fm_service_tick(void)
{
	const uint64_t now = fm_now_ns();

	watch(now);
	/* While a worker stands still, the line that names it stays. */
	if (getenv("NOTIFY_SOCKET") != NULL && !service.standing_told)
		tell_state(now);
	fm_log_tell_suppressed();
}

void fm_service_failed(const char *sentence)
{
	sd_notifyf(0, "STATUS=%s", sentence);
}
