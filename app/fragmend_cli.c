/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fragmend-cli: the console of a fragmend that runs, through its console socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli_link.h"
#include "cli_terminal.h"
#include "exit_code.h"
#include "listen.h"

#define DEFAULT_PATH "/run/fragmend/console.sock"

enum { FM_EXIT_NO_LINK = 3 };

static const char *path;
static bool failed;	/* some command was */
static int write_error;	/* an errno: what was to be printed could not be */

static int complain(int code, const char *what)
{
	fflush(stdout);
	fprintf(stderr, "fragmend-cli: %s\n", what);
	return code;
}

/* Notes why it fails while errno still tells. @param complete  stdio took all that was printed */
static void flush_output(bool complete)
{
	if ((!complete || fflush(stdout) != 0) && write_error == 0)
		write_error = errno;
}

/* The last thing: an answer that nobody got is no success. @return the exit code */
static int finish(int code)
{
	const bool before = ferror(stdout);

	flush_output(true);
	if (!before && write_error == 0)
		return code;
	fprintf(stderr, "fragmend-cli: cannot write the output: %s\n", strerror(write_error != 0 ? write_error : EIO));
	return code == EXIT_SUCCESS ? FM_EXIT_FAILED : code;
}

static int usage(FILE *out, int code)
{
	fputs("usage: fragmend-cli [-s PATH] [COMMAND...]\n\n"
	      "Runs a console command of a running fragmend and prints the answer. Without a command: a prompt with\n"
	      "history and TAB completion on a terminal, else one command for each line of stdin. `fragmend-cli help`\n"
	      "lists the commands; \"exit\" or Ctrl-D leaves the prompt, \"quit program\" ends fragmend.\n\n"
	      "  -s, --socket PATH\n"
	      "        What fragmend was given as --console-socket; default $FRAGMEND_SOCKET, else\n"
	      "        " DEFAULT_PATH ".\n"
	      "  -h, --help\n"
	      "        Print this.\n"
	      "  -V, --version\n"
	      "        Print the version.\n\n"
	      "Exit status: 0 if all commands succeeded; 1 if one failed; 2 on wrong usage; 3 if there was no\n"
	      "connection, or it ended before the answer.\n", out);
	return code;
}

/* Say once why the connection is of no use. @param said  by the other end; may be NULL */
static void no_link(int error, const char *said)
{
	static bool told;
	char text[FM_SENTENCE_LEN];

	if (told)
		return;
	told = true;
	if (said != NULL && *said != '\0') {
		snprintf(text, sizeof(text), "%s: %.*s", path, (int)strcspn(said, "\n"), said);
	} else if (error == -EINTR) {
		snprintf(text, sizeof(text), "interrupted");
	} else {
		snprintf(text, sizeof(text), "%s: %s", path,
			 error == -ECONNRESET || error == -EPIPE ? "the connection has ended" : strerror(-error));
	}
	complain(FM_EXIT_NO_LINK, text);
}

static int connect_to(struct fm_cli_link *link)
{
	char text[FM_SENTENCE_LEN];
	const int ret = fm_link_open(link, path);

	if (ret == 0)
		return 0;
	snprintf(text, sizeof(text), "cannot connect to %s: %s%s", path, strerror(-ret),
		 ret == -ENOENT || ret == -ECONNREFUSED ? " (does fragmend run, with --console-socket?)" : "");
	return complain(FM_EXIT_NO_LINK, text);
}

/* @return 0; 1: it ended the session; -errno: no connection any more, said already */
static int run(struct fm_cli_link *link, const char *text)
{
	struct fm_answer answer;
	int ret = fm_link_ask(link, FM_REQUEST_RUN, text);
	int lost = fm_link_answer(link, &answer);

	if (lost == 0) {
		flush_output(fwrite(answer.text, 1, answer.len, stdout) == answer.len);
	} else {
		ret = lost;
		no_link(ret, answer.text);
	}
	free(answer.text);
	if (lost == 0 && answer.screen) {
		ret = fm_terminal_screen(link, &answer);
		if (ret != 0)
			no_link(ret, NULL);
		else
			free(answer.text);
	}
	if (ret != 0)
		return ret;
	if (answer.status != 0) {
		failed = true;
		fprintf(stderr, "error: %s\n", answer.sentence);
	}
	return answer.left;
}

static int run_lines(struct fm_cli_link *link)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int ret = 0;

	while (ret == 0 && (len = getline(&line, &size, stdin)) >= 0) {
		if (len > 0 && line[len - 1] == '\n')
			line[--len] = '\0';
		for (ssize_t i = 0; i < len; i++)
			if (line[i] == '\0')
				line[i] = '?';
		ret = run(link, line);
	}
	free(line);
	return ret;
}

/* The words as one line. */
static char *join(char **words)
{
	size_t len = 1;
	char *line, *at;

	for (char **word = words; *word != NULL; word++)
		len += strlen(*word) + 1;
	line = calloc(1, len);
	for (at = line; at != NULL && *words != NULL; words++) {
		at = stpcpy(at, *words);
		if (words[1] != NULL)
			at = stpcpy(at, " ");
	}
	return line;
}

static int run_words(struct fm_cli_link *link, char **words)
{
	char *line = join(words);
	int ret;

	if (line == NULL)
		return -ENOMEM;
	ret = run(link, line);
	free(line);
	return ret;
}

static int run_prompt(struct fm_cli_link *link)
{
	struct fm_answer last = { .text = NULL };
	const int ret = fm_terminal_prompt(link, run);

	/* Also when nothing was asked for yet it may have said why: too many sessions. */
	if (ret == -ECONNRESET || ret == -EPIPE)
		fm_link_answer(link, &last);
	if (ret < 0)
		no_link(ret, last.text);
	free(last.text);
	return ret;
}

static int serve(char **words)
{
	struct fm_cli_link link;
	int ret;

	if (connect_to(&link) != 0)
		return FM_EXIT_NO_LINK;
	/* Also for words: they may ask for a screen, which has to be left in order. */
	if (fm_terminal_able() || (*words == NULL && isatty(STDIN_FILENO)))
		fm_terminal_catch_signals(&link);
	if (fm_terminal_able())
		fm_terminal_tell_size(&link);
	if (*words != NULL) {
		ret = run_words(&link, words);
	} else if (!isatty(STDIN_FILENO)) {
		ret = run_lines(&link);
	} else {
		ret = run_prompt(&link);
	}
	close(link.fd);
	if (ret < 0)
		return FM_EXIT_NO_LINK;
	return failed ? FM_EXIT_FAILED : EXIT_SUCCESS;
}

static int check_path(void)
{
	char text[FM_SENTENCE_LEN];
	const size_t len = strlen(path);

	if (len > 0 && len <= FM_SOCKET_PATH_MAX)
		return 0;
	snprintf(text, sizeof(text), "the socket's name must have 1..%d bytes, got %zu: \"%s\"", FM_SOCKET_PATH_MAX,
		 len, path);
	return complain(FM_EXIT_USAGE, text);
}

/* Else the socket becomes stdout if that is closed, and each answer goes back as commands. */
static void occupy_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ .name = "socket", .has_arg = required_argument, .val = 's' },
		{ .name = "help", .val = 'h' },
		{ .name = "version", .val = 'V' },
		{ .name = NULL },
	};
	int got;

	occupy_standard_files();
	path = getenv("FRAGMEND_SOCKET");
	if (path == NULL || *path == '\0')
		path = DEFAULT_PATH;
	while ((got = getopt_long(argc, argv, "+s:hV", longs, NULL)) != -1) {
		switch (got) {
		case 's':
			path = optarg;
			break;
		case 'h':
			return finish(usage(stdout, EXIT_SUCCESS));
		case 'V':
			printf("fragmend-cli %s\n", FM_VERSION);
			return finish(EXIT_SUCCESS);
		default:
			return usage(stderr, FM_EXIT_USAGE);
		}
	}
	if (check_path() != 0)
		return FM_EXIT_USAGE;
	for (int i = optind; i < argc; i++)
		if (strpbrk(argv[i], "\n\001") != NULL)
			return complain(FM_EXIT_USAGE, "a command is one line, of printable characters");
	return finish(serve(argv + optind));
}
