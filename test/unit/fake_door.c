/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_door.h"
#include "setting.h"

struct fake_door fake_door;

static void reset_port(uint16_t i)
{
	struct fm_port_view *port = &fake_door.port[i];

	*port = (struct fm_port_view){
		.id = i, .peer = i ^ 1, .driver = "net_fake", .mac = { 2, 0, 0, 0, 0, (uint8_t)i }, .socket = 0,
		.link_up = true, .link_speed_mbps = 10000, .egress_mtu = 1500, .nb_rxq = 2, .nb_txq = 2,
		.nb_rxd = 1024, .nb_txd = 512, .max_segs = 8, .promiscuous = true, .rss = true,
	};
	snprintf(port->name, sizeof(port->name), "net_fake%u", i);
	fake_door.port_more[i] = (struct fm_port_more_view){
		.interface = "eth", .firmware = "22.31", .full_duplex = true, .autoneg = true, .mtu = 1500,
		.mtu_min = 68, .mtu_max = 9600, .rx_frame_max = 1522, .tx_frame_max = 9622, .rxq_max = 16,
		.txq_max = 16, .rxd_min = 64, .rxd_max = 4096, .txd_min = 64, .txd_max = 4096, .reta_size = 128,
		.hash_key_bytes = 40,
	};
	fake_door.budget[i] = (struct fm_budget_view){
		.port = i, .size = 10000, .available = 7000, .rx_descriptors = 2048, .tx_descriptors = 1024,
		.tx_backlog = 500, .pipes = 50, .caches = 750, .burst_reserve = 128, .budget = 5000, .spare = 500,
	};
	snprintf(fake_door.budget[i].name, sizeof(fake_door.budget[i].name), "fm_pool_%u", i);
}

void fake_door_reset(void)
{
	memset(&fake_door, 0, sizeof(fake_door));
	fake_door.workers = 2;
	fake_door.ports = 2;
	fake_door.budget_max = 5550;
	fake_door.budget_whole = 10000;
	fm_settings_default(&fake_door.settings);
	fake_door.settings.budget_mbufs = 5000;
	fake_door.config.settings = fake_door.settings;
	for (uint16_t i = 0; i < 2; i++) {
		reset_port(i);
		fake_door.worker[i] = (struct fm_worker_view){
			.id = i, .lcore = i + 1, .socket = 0, .budget_mbufs = 2500, .max_datagrams = 1024,
			.table_bytes = 1024 * 300, .n_queues = 2, .queue = { { 0, i, 1, 0, 1 }, { 1, i, 0, 0, 1 } },
			.n_owned = 2, .owned = { 0, 1 }, .n_pipes = 1,
			.pipe = { { .to_lcore = 2 - i, .port = UINT16_MAX, .mbufs = 3, .room_mbufs = 1024,
				    .frames = 1000000, .dropped = 4 } },
		};
	}
	/* The second one sends by the first. */
	fake_door.worker[1].pipe[fake_door.worker[1].n_pipes++] = (struct fm_pipe_view){
		.to_lcore = 1, .port = 1, .mbufs = 8000, .room_mbufs = 8704, .frames = 5000000000000, .dropped = 7,
	};
	fake_door.check = (struct fm_check_view){ .fragments_ok = true, .frames_ok = true, .mbufs_ok = true };
}

static int fail(int error, char *err, size_t err_len)
{
	if (error != 0)
		snprintf(err, err_len, "the door says %d", error);
	return error;
}

uint16_t fm_door_workers(void)
{
	return fake_door.workers;
}

uint16_t fm_door_ports(void)
{
	return fake_door.ports;
}

int fm_door_start(char *err, size_t err_len)
{
	if (fake_door.forwarding)
		return fail(-EALREADY, err, err_len);
	fake_door.forwarding = true;
	return 0;
}

int fm_door_stop(char *err, size_t err_len)
{
	if (!fake_door.forwarding)
		return fail(-EALREADY, err, err_len);
	fake_door.forwarding = false;
	return 0;
}

bool fm_door_forwarding(void)
{
	return fake_door.forwarding;
}

void fm_door_settings(struct fm_settings *settings)
{
	*settings = fake_door.settings;
}

int fm_door_publish(const struct fm_settings *settings, char *err, size_t err_len)
{
	if (fake_door.publish_error == 0) {
		fake_door.settings = *settings;
		fake_door.published++;
	}
	return fail(fake_door.publish_error, err, err_len);
}

uint64_t fm_door_budget_max(void)
{
	return fake_door.budget_max;
}

uint64_t fm_door_budget_whole(void)
{
	return fake_door.budget_whole;
}

int fm_door_flush(uint64_t *freed, char *err, size_t err_len)
{
	fake_door.flushed++;
	*freed = 17;
	return fail(fake_door.flush_error, err, err_len);
}

void fm_door_worker_stats(uint16_t worker, struct fm_worker_stats *stats)
{
	*stats = fake_door.stats[worker];
}

void fm_door_worker(uint16_t worker, struct fm_worker_view *view)
{
	*view = fake_door.worker[worker];
}

void fm_door_port(uint16_t index, struct fm_port_view *view)
{
	*view = fake_door.port[index];
}

void fm_door_port_more(uint16_t index, struct fm_port_more_view *view)
{
	*view = fake_door.port_more[index];
}

int fm_door_xstats(uint16_t index, struct fm_xstat_view *views, uint32_t max, char *err, size_t err_len)
{
	const uint32_t n = fake_door.xstats[index];

	if (fake_door.xstats_error != 0)
		return fail(fake_door.xstats_error, err, err_len);
	if (max != 0 && max < n)
		return fail(-EAGAIN, err, err_len);
	if (max != 0)
		memcpy(views, fake_door.xstat[index], n * sizeof(*views));
	return (int)n;
}

int fm_door_clear_xstats(uint16_t index, char *err, size_t err_len)
{
	fake_door.xstats_cleared[index]++;
	return fail(fake_door.clear_error, err, err_len);
}

void fm_door_budget(uint16_t index, struct fm_budget_view *view)
{
	*view = fake_door.budget[index];
}

void fm_door_numa(struct fm_numa_view *view)
{
	*view = fake_door.numa;
}

void fm_door_port_place(uint16_t index, struct fm_port_place_view *view)
{
	*view = fake_door.port_place[index];
}

void fm_door_worker_place(uint16_t worker, struct fm_worker_place_view *view)
{
	*view = fake_door.worker_place[worker];
}

int fm_door_clear_port(uint16_t index, char *err, size_t err_len)
{
	fake_door.cleared[index]++;
	return fail(fake_door.clear_error, err, err_len);
}

int fm_door_datagrams(uint16_t worker, struct fm_reass_view *views, uint32_t max, char *err, size_t err_len)
{
	uint32_t n = fake_door.views[worker] < max ? fake_door.views[worker] : max;

	memcpy(views, fake_door.view[worker], n * sizeof(*views));
	return fake_door.datagrams_error != 0 ? fail(fake_door.datagrams_error, err, err_len) : (int)n;
}

int fm_door_sources(uint16_t worker, struct fm_source_view *views, uint32_t max, char *err, size_t err_len)
{
	uint32_t n = fake_door.sources[worker] < max ? fake_door.sources[worker] : max;

	fake_door.asked_sources++;
	memcpy(views, fake_door.source[worker], n * sizeof(*views));
	return fake_door.sources_error != 0 ? fail(fake_door.sources_error, err, err_len) : (int)n;
}

double fm_door_tsc_to_ms(uint64_t tsc)
{
	return (double)tsc / 1000;
}

void fm_door_check(struct fm_check_view *check)
{
	*check = fake_door.check;
	if (fake_door.check_moves > 0) {
		fake_door.check_moves--;
		check->fragments_ok = false;
	}
}

const struct fm_config *fm_door_config(void)
{
	return &fake_door.config;
}

int fm_door_capture_start(const struct fm_capture_request *request, char *err, size_t err_len)
{
	if (fake_door.capture_error != 0)
		return fail(fake_door.capture_error, err, err_len);
	fake_door.capture.state = FM_CAPTURE_RUNNING;
	fake_door.capture.request = *request;
	snprintf(fake_door.capture.path, sizeof(fake_door.capture.path), "%s", request->path);
	return 0;
}

int fm_door_capture_stop(char *err, size_t err_len)
{
	if (fake_door.capture.state != FM_CAPTURE_RUNNING)
		return fail(-EALREADY, err, err_len);
	fake_door.capture.state = fake_door.capture.error != 0 ? FM_CAPTURE_FAILED : FM_CAPTURE_STOPPED;
	return 0;
}

void fm_door_capture(struct fm_capture_view *view)
{
	*view = fake_door.capture;
}
