/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capabilities belong to a thread, and only the thread itself can drop them. So each one gets a signal, and drops them
 * in its handler: capset() and prctl() are plain system calls and may be made there.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <rte_log.h>

#include "engine.h"
#include "fail.h"
#include "log.h"
#include "privilege.h"

#define FM_CAP(name) (UINT64_C(1) << CAP_##name)

enum {
	FM_THREADS_MAX = 1024,
	FM_ANSWER_MS = 2000,	/* for one thread; what takes longer has the signal blocked */
	FM_LOOKS_PER_MS = 10,
	FM_ROUNDS = 16,		/* threads can be made meanwhile, but not without end */
};

/* Between fm_privilege_drop() and the handlers. */
static uint64_t keep_caps;	/* written before the first signal */
static atomic_int answered;	/* the thread that has done as it was told; 0: none yet */
static atomic_int answer;	/* 0 or -errno */

/* Async-signal safe. What execve() could give is limited first: that takes a capability. */
static int drop_own(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return -errno;
	for (unsigned long cap = 0; cap <= CAP_LAST_CAP; cap++)
		/* EINVAL: newer than the kernel. EPERM: no CAP_SETPCAP; no_new_privs is enough then. */
		if ((keep >> cap & 1) == 0 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno != EINVAL &&
		    errno != EPERM)
			return -errno;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
		return -errno;
	for (unsigned int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective &= data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	return 0;
}

static void on_drop(int number)
{
	const int before = errno;

	(void)number;
	atomic_store(&answer, drop_own(keep_caps));
	atomic_store(&answered, (int)syscall(SYS_gettid));
	errno = before;
}

/* The threads of this process; returns how many or -errno. */
static int list_threads(pid_t tids[FM_THREADS_MAX])
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	if (folder == NULL)
		return -errno;
	while ((entry = readdir(folder)) != NULL && n < FM_THREADS_MAX)
		if (entry->d_name[0] != '.')
			tids[n++] = (pid_t)atoi(entry->d_name);
	closedir(folder);
	return n < FM_THREADS_MAX ? n : -E2BIG;
}

/* 0; -ESRCH: it has ended meanwhile; other: -errno. */
static int drop_in_thread(pid_t tid, int number)
{
	const struct timespec pause = { .tv_nsec = 1000000 / FM_LOOKS_PER_MS };

	atomic_store(&answered, 0);
	if (syscall(SYS_tgkill, getpid(), tid, number) != 0)
		return -errno;
	for (int i = 0; i < FM_ANSWER_MS * FM_LOOKS_PER_MS && atomic_load(&answered) != tid; i++) {
		/* Signal 0 asks whether it is there. */
		if (syscall(SYS_tgkill, getpid(), tid, 0) != 0)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return atomic_load(&answered) == tid ? atomic_load(&answer) : -ETIMEDOUT;
}

static bool is_among(pid_t tid, const pid_t *tids, int n)
{
	while (n-- > 0)
		if (tids[n] == tid)
			return true;
	return false;
}

/* Until a look finds no thread that has not been told: one that was not yet can have made another. */
static int drop_in_all(int number, int *n_done, char *err, size_t err_len)
{
	static pid_t done[FM_THREADS_MAX], now[FM_THREADS_MAX];
	bool found = true;
	int n, ret;

	*n_done = 0;
	for (int round = 0; found && round < FM_ROUNDS; round++) {
		found = false;
		n = list_threads(now);
		if (n < 0)
			return fm_fail(err, err_len, n, "privileges cannot be dropped: threads cannot be listed: %s",
				       strerror(-n));
		for (int i = 0; i < n; i++) {
			if (is_among(now[i], done, *n_done))
				continue;
			ret = drop_in_thread(now[i], number);
			if (ret != 0 && ret != -ESRCH)
				return fm_fail(err, err_len, ret, "privileges cannot be dropped in thread %d: %s; "
					       "--keep-privileges does without", now[i], strerror(-ret));
			found = true;
			if (ret == 0 && *n_done < FM_THREADS_MAX)
				done[(*n_done)++] = now[i];
		}
	}
	return found ? fm_fail(err, err_len, -EAGAIN, "privileges cannot be dropped: threads come without end") : 0;
}

/* A real-time signal that nobody has: net_tap looks for some, too, from the other end. */
static int find_signal(void)
{
	struct sigaction action;

	for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
		if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
			return number;
	return -EBUSY;
}

int fm_privilege_drop(uint64_t keep, char *err, size_t err_len)
{
	struct sigaction action = { .sa_handler = on_drop, .sa_flags = SA_RESTART }, ignore = { .sa_handler = SIG_IGN };
	const int number = find_signal();
	int threads, ret;

	if (number < 0)
		return fm_fail(err, err_len, number, "privileges cannot be dropped: every signal is taken");
	sigfillset(&action.sa_mask);
	keep_caps = keep;
	sigaction(number, &action, NULL);
	ret = drop_in_all(number, &threads, err, err_len);
	/* Not as it was before: a thread that answers too late must not end the program. */
	sigaction(number, &ignore, NULL);
	if (ret == 0)
		FM_LOG(INFO, "privileges dropped in %d threads, kept:%s%s%s%s\n", threads,
		       keep & FM_CAP(NET_ADMIN) ? " net_admin" : "", keep & FM_CAP(NET_RAW) ? " net_raw" : "",
		       keep & FM_CAP(IPC_LOCK) ? " ipc_lock" : "", keep == 0 ? " none" : "");
	return ret;
}

int fm_privilege_lock(char *err, size_t err_len)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		return 0;
	return fm_fail(err, err_len, -errno, "no_new_privs cannot be set: %s", strerror(errno));
}

uint64_t fm_privilege_of_ports(void)
{
	const unsigned int needs = fm_engine_needs();

	return (needs & FM_NEED_INTERFACE ? FM_CAP(NET_ADMIN) : 0) | (needs & FM_NEED_PINNED ? FM_CAP(IPC_LOCK) : 0) |
	       (needs & FM_NEED_RAW ? FM_CAP(NET_RAW) : 0);
}
