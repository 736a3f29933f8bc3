/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { NAMES_MAX = 512, DEPTH_MAX = 16 };

/* Each of these steps over what it reads; NULL: it is not that. */
static const char *value(const char *at, unsigned int depth);

static const char *blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Bytes of one character beyond ASCII, or 0, by decoding it. */
static int character(const unsigned char *at)
{
	const int more = *at >= 0xf0 ? 3 : *at >= 0xe0 ? 2 : 1;
	static const unsigned long least[] = { 0, 0x80, 0x800, 0x10000 };
	unsigned long code = *at & (0x3f >> more);

	if (*at < 0xc0 || *at > 0xf7)
		return 0;
	for (int i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	return code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0 : more + 1;
}

static const char *string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at != '"') {
		if ((unsigned char)*at >= 0x80) {
			const int len = character((const unsigned char *)at);

			if (len == 0)
				return NULL;
			at += len;
		} else if ((unsigned char)*at < 0x20) {
			return NULL;
		} else if (*at++ == '\\') {
			if (*at == '\0' || strchr("\"\\/bfnrtu", *at) == NULL)
				return NULL;
			if (*at++ != 'u')
				continue;
			if (strspn(at, "0123456789abcdefABCDEF") < 4)
				return NULL;
			at += 4;
		}
	}
	return at + 1;
}

static const char *digits(const char *at)
{
	return isdigit((unsigned char)*at) ? at + strspn(at, "0123456789") : NULL;
}

static const char *number(const char *at)
{
	if (*at == '-')
		at++;
	at = *at == '0' ? at + 1 : digits(at);
	if (at != NULL && *at == '.')
		at = digits(at + 1);
	if (at != NULL && (*at == 'e' || *at == 'E'))
		at = digits(at[1] == '+' || at[1] == '-' ? at + 2 : at + 1);
	return at;
}

static bool seen_before(const char *const *names, unsigned int n, const char *name, size_t len)
{
	for (unsigned int i = 0; i < n; i++)
		if (strncmp(names[i], name, len) == 0)
			return true;
	return false;
}

static const char *members(const char *at, char end, unsigned int depth)
{
	const char *names[NAMES_MAX], *start;
	unsigned int n = 0;

	at = blanks(at + 1);
	if (*at == end)
		return at + 1;
	for (;; at = blanks(at + 1)) {
		if (end == '}') {
			start = at;
			at = string(at);
			if (at == NULL || n == NAMES_MAX || seen_before(names, n, start, (size_t)(at - start)))
				return NULL;
			names[n++] = start;
			at = blanks(at);
			if (*at++ != ':')
				return NULL;
			at = blanks(at);
		}
		at = value(at, depth + 1);
		if (at == NULL)
			return NULL;
		at = blanks(at);
		if (*at == end)
			return at + 1;
		if (*at != ',')
			return NULL;
	}
}

static const char *value(const char *at, unsigned int depth)
{
	static const char *const words[] = { "true", "false", "null" };

	if (depth > DEPTH_MAX)
		return NULL;
	if (*at == '{' || *at == '[')
		return members(at, *at == '{' ? '}' : ']', depth);
	if (*at == '"')
		return string(at);
	for (unsigned int i = 0; i < 3; i++)
		if (strncmp(at, words[i], strlen(words[i])) == 0)
			return at + strlen(words[i]);
	return number(at);
}

bool json_valid(const char *text)
{
	const char *end = value(text, 0);

	if (end != NULL && *end == '\n')
		end++;
	return end != NULL && *end == '\0';
}

/* The value behind that name or with that number in the object or list at `at`. */
static const char *find(const char *at, const char *name, size_t len)
{
	const bool object = *at == '{';
	unsigned long wanted = strtoul(name, NULL, 10);
	const char *start;

	if (*at != '{' && *at != '[')
		return NULL;
	for (at = blanks(at + 1); *at != '}' && *at != ']'; at = blanks(at)) {
		bool here = !object && wanted-- == 0;

		if (object) {
			start = at + 1;
			at = string(at);
			here = (size_t)(at - start - 1) == len && strncmp(start, name, len) == 0;
			at = blanks(blanks(at) + 1);
		}
		if (here)
			return at;
		at = blanks(value(at, 0));
		if (*at == ',')
			at++;
	}
	return NULL;
}

bool json_at(const char *text, const char *path, char *to, size_t to_len)
{
	const char *at = text;
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, ".");
		at = find(at, path, len);
		if (at == NULL)
			return false;
		if (path[len] == '\0')
			break;
	}
	len = (size_t)(value(at, 0) - at);
	if (len >= to_len)
		return false;
	memcpy(to, at, len);
	to[len] = '\0';
	return true;
}
