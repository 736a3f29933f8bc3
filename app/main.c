/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragmend: a bump in the wire that joins IP fragments.
 *
 * Starting and stopping is the list `steps`: taken downwards at start, undone upwards at the end or where a step
 * failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "control.h"
#include "door.h"
#include "engine.h"
#include "exit_code.h"
#include "fail.h"
#include "lock.h"
#include "log.h"
#include "loop.h"
#include "options.h"
#include "privilege.h"
#include "service.h"
#include "telemetry.h"

enum { FM_LOOK_MS = 2 };	/* between two looks for idleness */

struct fm_app {
	struct fm_options options;
	struct fm_loop loop;
	struct fm_server *server;	/* of the console socket; NULL: none */
	int eal_argc;
	char **eal_argv;
	char runtime_dir[PATH_MAX];
	bool eal_ready;
	bool quit;		/* said so by the command file */
	bool served;		/* the start went through: there is something to report */
};

static struct fm_app app;
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

static bool eal_has(const char *word)
{
	for (int i = 1; i < app.eal_argc; i++)
		if (strcmp(app.eal_argv[i], word) == 0)
			return true;
	return false;
}

/* What usually helps. */
static const char *eal_hint(void)
{
	if (rte_errno == EINVAL)
		return "; fragmend's own options go behind `--`";
	if (eal_has("--no-huge"))
		return "";
	return "; if it found no hugepages or too few: reserve some, as root, with `echo 512 > "
	       "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`, or do without by --no-huge -m 512";
}

/* First of all: a name that is taken is found before anything else is touched, and there is one thread only. */
static int socket_up(char *err, size_t err_len)
{
	if (app.options.console_socket == NULL)
		return 0;
	return fm_control_socket_open(&app.loop, app.options.console_socket, &app.server, err, err_len);
}

static int socket_down(char *err, size_t err_len)
{
	(void)err;
	(void)err_len;
	fm_control_socket_close(app.server);
	return 0;
}

static int eal_up(char *err, size_t err_len)
{
	int ret;

	/* EAL reorders the list it gets, which must not change the one that is looked at here. */
	char **argv = calloc((size_t)app.eal_argc + 1, sizeof(*argv));

	if (argv == NULL)
		return fm_fail(err, err_len, -ENOMEM, "no memory");
	memcpy(argv, app.eal_argv, (size_t)app.eal_argc * sizeof(*argv));
	ret = rte_eal_init(app.eal_argc, argv);
	free(argv);
	snprintf(app.runtime_dir, sizeof(app.runtime_dir), "%s", rte_eal_get_runtime_dir());
	app.eal_ready = ret >= 0;
	if (app.eal_ready)
		return 0;
	return fm_fail(err, err_len, -rte_errno, "EAL cannot start (%s); its messages say why%s",
		       rte_strerror(rte_errno), eal_hint());
}

static int eal_down(char *err, size_t err_len)
{
	(void)err;
	(void)err_len;
	if (app.eal_ready)
		rte_eal_cleanup();
	/* EAL leaves its directory; with --no-shconf there is nothing in it. */
	rmdir(app.runtime_dir);
	return 0;
}

static int pdump_up(char *err, size_t err_len)
{
	return app.options.pdump ? fm_pdump_up(err, err_len) : 0;
}

static int plan_up(char *err, size_t err_len)
{
	return fm_engine_plan(&app.options.config, err, err_len);
}

static int memory_down(char *err, size_t err_len)
{
	const uint64_t lost = fm_engine_free();

	if (lost == 0)
		return 0;
	return fm_fail(err, err_len, -EIO, "%llu mbufs were lost on the way", (unsigned long long)lost);
}

static int workers_down(char *err, size_t err_len)
{
	(void)err;
	(void)err_len;
	fm_engine_halt();
	if (app.served)
		fm_control_print_final(stdout);
	return 0;
}

static int privileges_up(char *err, size_t err_len)
{
	if (app.options.keep_privileges)
		return 0;
	return fm_privilege_drop(fm_privilege_of_ports(), err, err_len);
}

static int commands_up(char *err, size_t err_len)
{
	int ret;

	fm_control_set_stats_period(app.options.stats_period_s);
	fm_control_set_stop(&stop);
	if (app.options.cmdline_file == NULL)
		return 0;
	ret = fm_control_run_file(app.options.cmdline_file, stdout, err, err_len);
	app.quit = ret == 1;
	return ret < 0 ? ret : 0;
}

static int forwarding_up(char *err, size_t err_len)
{
	if (app.quit || fm_door_forwarding() || (app.options.interactive && !app.options.auto_start))
		return 0;
	return fm_door_start(err, err_len);
}

static const struct fm_step {
	int (*up)(char *err, size_t err_len);	/* 0, or negative and one sentence in `err` */
	int (*down)(char *err, size_t err_len);	/* also after an `up` that failed half way; NULL: nothing to undo */
} steps[] = {
	/* Before EAL lets clients in: an endpoint that is not there yet answers null. */
	{ fm_control_telemetry, NULL },
	{ socket_up, socket_down },
	{ fm_privilege_lock, NULL },
	{ eal_up, eal_down },
	{ pdump_up, fm_pdump_down },
	{ plan_up, NULL },
	{ fm_engine_allocate, memory_down },
	{ fm_engine_open, fm_engine_close },
	{ fm_engine_launch, workers_down },
	{ privileges_up, NULL },
	{ commands_up, NULL },
	{ forwarding_up, NULL },
	{ fm_service_up, fm_service_down },
};

enum { FM_STEPS = sizeof(steps) / sizeof(steps[0]) };

static void tick(void *arg, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	fm_engine_link_follow();
	fm_capture_tick();
	fm_service_tick();
	fm_control_sample();
	if (!app.options.interactive)
		fm_control_periodic(stdout);
}

static void look_for_idleness(void *arg, uint64_t now_ns)
{
	(void)arg;
	(void)now_ns;
	if (fm_engine_idle(app.options.exit_on_idle_ms))
		fm_loop_end(&app.loop);
}

static struct fm_timer ticking = { .period_ms = FM_TICK_MS, .due = tick };
static struct fm_timer idling = { .period_ms = FM_LOOK_MS, .due = look_for_idleness };

static int serve(char *err, size_t err_len)
{
	struct fm_console *console = NULL;
	int ret = 0, console_ret;

	app.served = true;
	if (app.quit)
		return 0;
	fm_loop_add_timer(&app.loop, &ticking);
	if (app.options.exit_on_idle_ms != 0)
		fm_loop_add_timer(&app.loop, &idling);
	if (app.options.interactive)
		ret = fm_control_console_open(&app.loop, &console);
	if (ret == 0 && app.options.live)
		fm_control_console_live(console);
	if (ret == 0)
		ret = fm_loop_run(&app.loop);
	console_ret = fm_control_console_close(console);
	if (ret == 0)
		ret = console_ret;
	if (ret != 0)
		return fm_fail(err, err_len, ret, "the console cannot be served: %s", strerror(-ret));
	return 0;
}

static int complain(int code, const char *err)
{
	fflush(stdout);
	fm_log_always(RTE_LOG_ERR, "%s", err);
	fm_service_failed(err);
	return code;
}

static int run(void)
{
	char err[FM_SENTENCE_LEN] = "";
	int code = EXIT_SUCCESS;
	int taken = 0;

	while (taken < FM_STEPS && code == EXIT_SUCCESS && !stop) {
		if (steps[taken].up(err, sizeof(err)) != 0)
			code = complain(FM_EXIT_FAILED, err);
		taken++;
	}
	if (code == EXIT_SUCCESS && !stop && serve(err, sizeof(err)) != 0)
		code = complain(FM_EXIT_FAILED, err);
	while (taken-- > 0)
		if (steps[taken].down != NULL && steps[taken].down(err, sizeof(err)) != 0)
			code = complain(FM_EXIT_FAILED, err);
	return code;
}

static void catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction before;

	sigemptyset(&action.sa_mask);
	/* nohup ignores SIGHUP for us, and that is to stay so. */
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) != 0 || before.sa_handler != SIG_IGN)
			sigaction(ends[i], &action, NULL);
	/* A reader of the statistics who leaves must not keep the ports from being closed. */
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, NULL);
	/* A file that may not grow any more is an error to be told, no reason to end. */
	sigaction(SIGXFSZ, &action, NULL);
}

/*
 * A file or socket that gets number 0, 1 or 2 because that was closed would be read as the console, or take what is
 * printed.
 */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Where fragmend's own options begin: at `--`, or at the end. */
static int find_own(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return i;
	return argc;
}

int main(int argc, char **argv)
{
	const int own = find_own(argc, argv);
	char err[FM_SENTENCE_LEN] = "";

	occupy_standard_files();
	fm_service_log(false);
	app.eal_argc = own;
	app.eal_argv = argv;
	if (own < argc && fm_options_parse(argc - own, argv + own, &app.options, err, sizeof(err)) != 0)
		return complain(FM_EXIT_USAGE, err);
	if (own == argc)
		fm_options_parse(1, argv, &app.options, NULL, 0);
	if (app.options.help || eal_has("--help")) {
		fm_options_help(stdout);
		return EXIT_SUCCESS;
	}
	if (app.options.version || eal_has("--version")) {
		printf("fragmend %s\n", FM_VERSION);
		return EXIT_SUCCESS;
	}
	if (app.options.live && !fm_control_can_live())
		return complain(FM_EXIT_USAGE, "--live needs a terminal on stdin and stdout, and a TERM that can place "
				"its cursor");
	fm_service_log(app.options.log_prefix);
	if (app.options.config.has_seed)
		fm_log_always(RTE_LOG_WARNING, "--seed makes the tables attackable; for tests only");
	catch_signals();
	fm_loop_init(&app.loop, &stop);
	fm_loop_around_wait(&app.loop, fm_lock_lend, fm_lock_take_back);
	return run();
}
