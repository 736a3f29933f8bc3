/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragmend-pcap IN OUT [options]: a capture through fragmend and into a capture, without ports, hugepages or root.
 *
 * It checks IN, builds the command line and becomes fragmend. There is one port: it receives IN, and OUT is what it
 * sends.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include "exit_code.h"

enum {
	FM_FRAME_MAX = 65535,		/* what net_pcap can receive */
	FM_MBUF_BYTES = 2048,
	FM_POOL_RESERVE = 4096,		/* rings, caches and bursts take half of it */
	FM_FRAGMENTS_USUAL = 128,	/* what fragmend lets a datagram have by itself ... */
	FM_FRAGMENTS_MAX = 8192,	/* ... and what it can */
	FM_POOL_MAX = 131072,		/* nearly all captures fit in as a whole */
	FM_ARGS_MAX = 64,		/* of our own */
	FM_WORD_LEN = 128,
};

struct fm_capture {
	int fd;
	uint64_t frames, mbufs, cut;
	bool ends_early;	/* within a frame */
};

static int usage(FILE *out, int code)
{
	fprintf(out,
		"usage: fragmend-pcap IN OUT [options]\n\n"
		"Reads the Ethernet capture IN (pcap or pcapng), joins the IP fragments in it and writes the result\n"
		"to OUT (pcap). Options are those of fragmend behind its `--`, see `fragmend --help`. IN and OUT are\n"
		"its port 0: --mtu 0=1500 writes what would leave by an interface with that MTU. Unless said\n"
		"otherwise, time is that of the capture, and a datagram may have as many fragments as there are, up\n"
		"to 8192. A capture with a frame of more than 65535 bytes is refused; of one that ends within a\n"
		"frame, the frames before are used. Exit status as fragmend's.\n");
	return code;
}

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "fragmend-pcap: %s: %s\n", path, why);
	return FM_EXIT_FAILED;
}

/* The option itself, or with its value behind '='. */
static bool is_given(char **options, const char *name)
{
	const size_t len = strlen(name);

	for (; *options != NULL; options++)
		if (strncmp(*options, name, len) == 0 && ((*options)[len] == '\0' || (*options)[len] == '='))
			return true;
	return false;
}

/* Look at every frame, so that what is wrong with IN is said before anything is written. */
static int read_all(pcap_t *pcap, const char *path, struct fm_capture *capture)
{
	struct pcap_pkthdr *header;
	const u_char *bytes;
	char why[PCAP_ERRBUF_SIZE + 64];
	int ret;

	while ((ret = pcap_next_ex(pcap, &header, &bytes)) == 1) {
		capture->frames++;
		capture->mbufs += header->caplen / FM_MBUF_BYTES + 1;
		capture->cut += header->caplen < header->len;
		if (header->caplen > FM_FRAME_MAX) {
			snprintf(why, sizeof(why), "frame %" PRIu64 " has %u bytes, at most %u can be received",
				 capture->frames, header->caplen, FM_FRAME_MAX);
			return fail(path, why);
		}
	}
	if (ret == PCAP_ERROR_BREAK)
		return 0;
	/* What a capture looks like whose writer was killed. libpcap has no code of its own for it. */
	if (strncmp(pcap_geterr(pcap), "truncated ", strlen("truncated ")) == 0) {
		capture->ends_early = true;
		return 0;
	}
	snprintf(why, sizeof(why), "behind frame %" PRIu64 ": %s", capture->frames, pcap_geterr(pcap));
	return fail(path, why);
}

static int check_input(const char *path, struct fm_capture *capture)
{
	char err[PCAP_ERRBUF_SIZE];
	const char *type;
	struct stat st;
	pcap_t *pcap;
	FILE *file;
	int ret;

	capture->fd = open(path, O_RDONLY);
	if (capture->fd < 0 || fstat(capture->fd, &st) != 0)
		return fail(path, strerror(errno));
	/* It is read twice, once here and once by fragmend. */
	if (!S_ISREG(st.st_mode))
		return fail(path, "not a regular file");
	file = fdopen(dup(capture->fd), "r");
	if (file == NULL)
		return fail(path, strerror(errno));
	pcap = pcap_fopen_offline(file, err);
	if (pcap == NULL) {
		fclose(file);
		return fail(path, err);
	}
	if (pcap_datalink(pcap) == DLT_EN10MB) {
		ret = read_all(pcap, path, capture);
	} else {
		type = pcap_datalink_val_to_description(pcap_datalink(pcap));
		snprintf(err, sizeof(err), "not an Ethernet capture, but %s",
			 type == NULL ? "of an unknown kind" : type);
		ret = fail(path, err);
	}
	pcap_close(pcap);
	if (ret == 0 && capture->ends_early)
		fprintf(stderr, "fragmend-pcap: %s: ends within a frame; only the %" PRIu64 " before it are used\n",
			path, capture->frames);
	if (ret == 0 && capture->cut != 0)
		fprintf(stderr, "fragmend-pcap: %s: %" PRIu64 " of %" PRIu64 " frames were cut when they were "
			"captured: fragments among them will be dropped as truncated\n", path, capture->cut,
			capture->frames);
	return ret;
}

/* What this program says to fragmend cannot be said again. */
static int check_options(char **options)
{
	static const char *const taken[] = { "--write", "--port-topology" };

	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (!is_given(options, taken[i]))
			continue;
		fprintf(stderr, "fragmend-pcap: %s is set by fragmend-pcap itself and cannot be given\n", taken[i]);
		return FM_EXIT_USAGE;
	}
	return 0;
}

static int check_names(const char *in, const char *out)
{
	if (*in == '\0' || *out == '\0') {
		fprintf(stderr, "fragmend-pcap: the name of %s is empty\n", *in == '\0' ? "IN" : "OUT");
		return FM_EXIT_USAGE;
	}
	if (strcmp(out, "-") == 0) {
		fprintf(stderr, "fragmend-pcap: OUT must be a file, standard output is for the statistics; ./- is a "
			"file of that name\n");
		return FM_EXIT_USAGE;
	}
	return 0;
}

static int check_output(const char *in, const char *out)
{
	struct stat a, b;

	if (stat(in, &a) == 0 && stat(out, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return fail(out, "is the input, too");
	return 0;
}

/* The main lcore and one worker, on whatever CPUs this process may use: runs share them as the kernel sees fit. */
static void write_lcores(char *word, size_t len)
{
	char cpus[1024] = "";
	cpu_set_t set;
	size_t at = 0;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && at < sizeof(cpus) - 8; cpu++)
		if (CPU_ISSET(cpu, &set))
			at += (size_t)snprintf(cpus + at, sizeof(cpus) - at, "%s%d", at == 0 ? "" : ",", cpu);
	snprintf(word, len, "0@(%s),1@(%s)", at == 0 ? "0" : cpus, at == 0 ? "0" : cpus);
}

/* Becomes fragmend: the one beside this program, else the one in PATH. Returns only on failure. */
static int become(const char **args)
{
	/* The prototype of exec is older than const. */
	char *const *argv = (char *const *)(uintptr_t)args;
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - sizeof("fragmend"));
	char *slash;

	if (len > 0) {
		path[len] = '\0';
		slash = strrchr(path, '/');
		strcpy(slash + 1, "fragmend");
		execv(path, argv);
	}
	execvp("fragmend", argv);
	return fail("fragmend", strerror(errno));
}

int main(int argc, char **argv)
{
	char lcores[2200], prefix[FM_WORD_LEN], input[FM_WORD_LEN], pool[FM_WORD_LEN], fragments[FM_WORD_LEN],
	     write_to[PATH_MAX + 16];
	struct fm_capture capture = { .fd = -1 };
	const char **args;
	char **options;
	int n = 0;

	if (argc >= 2 && strcmp(argv[1], "--help") == 0)
		return usage(stdout, EXIT_SUCCESS);
	if (argc < 3 || argv[1][0] == '-')
		return usage(stderr, FM_EXIT_USAGE);
	if (check_names(argv[1], argv[2]) != 0 || check_options(argv + 3) != 0)
		return FM_EXIT_USAGE;
	if (check_input(argv[1], &capture) != 0 || check_output(argv[1], argv[2]) != 0)
		return FM_EXIT_FAILED;
	options = argv + 3;
	write_lcores(lcores, sizeof(lcores));
	snprintf(prefix, sizeof(prefix), "fragmend-pcap-%ld", (long)getpid());
	/* By number, because a name may hold what means something in a device argument. */
	snprintf(input, sizeof(input), "net_pcap0,rx_pcap=/proc/self/fd/%d", capture.fd);
	snprintf(pool, sizeof(pool), "%" PRIu64,
		 capture.mbufs < FM_POOL_MAX - FM_POOL_RESERVE ? capture.mbufs + FM_POOL_RESERVE : FM_POOL_MAX);
	/* Nobody attacks with a file, so as many as there are. */
	snprintf(fragments, sizeof(fragments), "%" PRIu64,
		 capture.frames < FM_FRAGMENTS_USUAL ? FM_FRAGMENTS_USUAL :
		 capture.frames > FM_FRAGMENTS_MAX ? FM_FRAGMENTS_MAX : capture.frames);
	if ((size_t)snprintf(write_to, sizeof(write_to), "0=%s", argv[2]) >= sizeof(write_to))
		return fail(argv[2], strerror(ENAMETOOLONG));

	const char *const own[] = {
		"fragmend", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "1024", "--lcores", lcores,
		"--file-prefix", prefix, "--log-level", "warning", "--vdev", input, "--",
		"--port-topology", "loop", "--write", write_to,
	};
	const char *const defaults[][2] = {
		{ "--clock", "rx-timestamp" }, { "--exit-on-idle", "5" }, { "--max-fragments", fragments },
		{ "--total-num-mbufs", pool },
	};

	args = calloc((size_t)argc + FM_ARGS_MAX, sizeof(*args));
	if (args == NULL)
		return fail(argv[1], strerror(errno));
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		args[n++] = own[i];
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		if (is_given(options, defaults[i][0]))
			continue;
		args[n++] = defaults[i][0];
		args[n++] = defaults[i][1];
	}
	while (*options != NULL)
		args[n++] = *options++;
	return become(args);
}
