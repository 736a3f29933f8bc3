/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_kvargs.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include "connect.h"
#include "counter.h"
#include "door.h"
#include "engine.h"
#include "fail.h"
#include "pool.h"
#include "port.h"
#include "sink.h"
#include "snapshot.h"
#include "state.h"
#include "worker.h"

RTE_LOG_REGISTER(fm_port_logtype, fragmend.port, NOTICE)

enum { FM_IDLE_TURNS = 16 };	/* turns in which a worker must have found nothing */

struct fm_engine fm_engine = { .timestamp_offset = -1 };

int fm_engine_port_index(uint16_t id)
{
	for (uint16_t i = 0; i < fm_engine_ports(); i++)
		if (fm_engine.port[i].id == id)
			return i;
	return -1;
}

int fm_engine_socket(int socket)
{
	/* Ports without a node of their own, and all of them with --no-numa: where the main lcore is. */
	if (socket < 0 || !fm_engine.config->numa)
		return (int)rte_socket_id();
	return socket;
}

static int make_rcu(char *err, size_t err_len)
{
	const size_t size = rte_rcu_qsbr_get_memsize(fm_engine_workers());

	fm_engine.rcu = rte_zmalloc("fm_rcu", size, RTE_CACHE_LINE_SIZE);
	if (fm_engine.rcu == NULL || rte_rcu_qsbr_init(fm_engine.rcu, fm_engine_workers()) != 0)
		return fm_fail(err, err_len, -ENOMEM, "no memory for the settings of %u workers", fm_engine_workers());
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		rte_rcu_qsbr_thread_register(fm_engine.rcu, w);
	return 0;
}

int fm_engine_allocate(char *err, size_t err_len)
{
	int ret = make_rcu(err, err_len);

	if (ret == 0)
		ret = fm_pools_make(err, err_len);
	for (uint16_t w = 0; w < fm_engine_workers() && ret == 0; w++)
		ret = fm_worker_make(w, err, err_len);
	if (ret == 0)
		ret = fm_worker_make_secret(err, err_len);
	return ret == 0 ? fm_workers_connect(err, err_len) : ret;
}

uint64_t fm_engine_free(void)
{
	const uint64_t lost = fm_pools_free();

	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		fm_worker_free(w);
	rte_free(fm_engine.rcu);
	fm_engine.rcu = NULL;
	return lost;
}

static bool same_file(const char *name, const char *other)
{
	struct stat a, b;

	return stat(name, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* For rte_kvargs_process(): stops at the file that is to be written. */
static int compare_input(const char *key, const char *value, void *path)
{
	(void)key;
	return value != NULL && same_file(path, value) ? -1 : 0;
}

/* Does a net_pcap port read the file that is to be written? */
static bool is_input(const struct fm_port *port, const char *path)
{
	const struct rte_devargs *devargs = rte_dev_devargs(port->info.device);
	struct rte_kvargs *args;
	bool is;

	if (devargs == NULL || devargs->args == NULL || strcmp(port->driver->name, "net_pcap") != 0)
		return false;
	args = rte_kvargs_parse(devargs->args, NULL);
	if (args == NULL)
		return false;
	is = rte_kvargs_process(args, "rx_pcap", compare_input, (void *)(uintptr_t)path) != 0;
	rte_kvargs_free(args);
	return is;
}

static int check_inputs(char *err, size_t err_len)
{
	const char *const *path = fm_engine.config->write_path;

	for (uint16_t i = 0; i < FM_PORTS_MAX; i++)
		for (uint16_t j = 0; j < fm_engine_ports() && path[i] != NULL; j++)
			if (is_input(&fm_engine.port[j], path[i]))
				return fm_fail(err, err_len, -EINVAL, "--write %u=%s: port %u (%s) reads that file", i,
					       path[i], fm_engine.port[j].id, fm_engine.port[j].name);
	return 0;
}

/*
 * Two writers into one file, whatever it is called, would spoil it. A name that is not there yet is told apart only
 * once its file is.
 */
static int check_sinks(char *err, size_t err_len)
{
	const char *const *path = fm_engine.config->write_path;

	for (uint16_t i = 0; i < FM_PORTS_MAX; i++)
		for (uint16_t j = 0; j < i; j++)
			if (path[i] != NULL && path[j] != NULL && same_file(path[i], path[j]))
				return fm_fail(err, err_len, -EINVAL, "--write %u=%s: is the file of port %u, too (%s)",
					       i, path[i], j, path[j]);
	return 0;
}

/* A port's capture file becomes the way out of those workers that send on it. */
static int open_sink(uint16_t i, char *err, size_t err_len)
{
	struct fm_port *port = &fm_engine.port[i];
	int ret = fm_sink_open(&port->sink, fm_engine.config->write_path[port->id], err, err_len);

	for (uint16_t w = 0; w < fm_engine_workers() && ret == 0; w++)
		for (uint16_t e = 0; e < fm_engine.worker[w]->n_egress; e++)
			if (fm_engine.worker[w]->egress[e].port == port->id)
				fm_engine.worker[w]->egress[e].sink = port->sink;
	return ret;
}

int fm_engine_open(char *err, size_t err_len)
{
	int ret = 0;

	for (uint16_t i = 0; i < fm_engine_ports() && ret == 0; i++)
		ret = fm_port_open(&fm_engine.port[i], &fm_engine.plan.port[i], err, err_len);
	if (ret == 0)
		ret = fm_pools_recount(err, err_len);
	if (ret == 0)
		fm_snapshot_start(&fm_engine.config->settings);
	/* Last, so that a start that fails leaves an old file alone. */
	if (ret == 0)
		ret = check_inputs(err, err_len);
	if (ret == 0)
		ret = check_sinks(err, err_len);
	for (uint16_t i = 0; i < fm_engine_ports() && ret == 0; i++)
		if (fm_engine.config->write_path[fm_engine.port[i].id] != NULL)
			ret = open_sink(i, err, err_len);
	return ret == 0 ? check_sinks(err, err_len) : ret;
}

int fm_engine_close(char *err, size_t err_len)
{
	int code = 0;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		struct fm_port *port = &fm_engine.port[i];
		int ret = fm_sink_close(port->sink, code == 0 ? err : NULL, err_len);

		port->sink = NULL;
		if (code == 0)
			code = ret;
	}
	for (uint16_t i = 0; i < fm_engine_ports(); i++)
		fm_port_close(&fm_engine.port[i]);
	return code;
}

unsigned int fm_engine_needs(void)
{
	unsigned int needs = 0;

	for (uint16_t i = 0; i < fm_engine_ports(); i++) {
		const struct fm_port *port = &fm_engine.port[i];
		const bool hardware = port->driver->name[0] == '\0';

		if (port->kernel_ifindex != 0)
			needs |= FM_NEED_INTERFACE;
		if (hardware)
			needs |= FM_NEED_PINNED;
		if (hardware && port->kernel_ifindex != 0)
			needs |= FM_NEED_RAW;
	}
	return needs;
}

int fm_engine_launch(char *err, size_t err_len)
{
	fm_engine.launched = true;
	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		int ret = rte_eal_remote_launch(fm_worker_main, fm_engine.worker[w], fm_engine.lcore[w]);

		if (ret != 0)
			return fm_fail(err, err_len, ret, "worker %u cannot be started on lcore %u: %s", w,
				       fm_engine.lcore[w], strerror(-ret));
	}
	return 0;
}

void fm_engine_halt(void)
{
	if (!fm_engine.launched)
		return;
	fm_door_stop(NULL, 0);
	atomic_store(&fm_engine.quit, true);
	rte_eal_mp_wait_lcore();
	/* For one that did not answer. */
	for (unsigned int round = 0; round < FM_STOP_ROUNDS; round++)
		for (uint16_t w = 0; w < fm_engine_workers(); w++)
			fm_worker_stop(fm_engine.worker[w]);
	/* After the last drops. */
	fm_capture_end();
	fm_engine.launched = false;
}

bool fm_engine_idle(uint32_t idle_ms)
{
	struct fm_idle *last = &fm_engine.idle;
	const uint64_t now = rte_rdtsc();
	struct fm_pipe_level steered, relayed;
	uint64_t frames = 0;
	bool looked = true;

	for (uint16_t w = 0; w < fm_engine_workers(); w++) {
		const struct fm_worker *worker = fm_engine.worker[w];
		const uint64_t polls = fm_count_read(&worker->counters.polls) - last->polls[w];

		frames += fm_count_read(&worker->counters.rx_frames);
		/* A worker that got no CPU has not found its ports idle, and has not done what it got. */
		looked &= worker->reass == NULL || polls >= FM_IDLE_TURNS;
		fm_worker_pipes(worker, &steered, &relayed);
		looked &= steered.frames + relayed.frames == 0;
	}
	if (last->since_tsc != 0 && frames == last->frames)
		return looked && now - last->since_tsc >= idle_ms * (rte_get_tsc_hz() / 1000);
	last->frames = frames;
	last->since_tsc = now;
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		last->polls[w] = fm_count_read(&fm_engine.worker[w]->counters.polls);
	return false;
}

static uint64_t turns(uint16_t w)
{
	const struct fm_worker_counters *counters = &fm_engine.worker[w]->counters;

	return fm_count_read(&counters->polls) + fm_count_read(&counters->waits);
}

int fm_engine_standing(void)
{
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		if (turns(w) == fm_engine.turns[w])
			return w;
	for (uint16_t w = 0; w < fm_engine_workers(); w++)
		fm_engine.turns[w] = turns(w);
	return -1;
}
