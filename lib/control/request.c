/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "request.h"

bool fm_request_take(struct fm_request *request, char c)
{
	const size_t room = request->framed ? sizeof(request->text) - 1 : FM_LINE_MAX;

	if (c == FM_REQUEST_MARK) {
		request->framed = true;
		request->used = 0;
		return false;
	}
	if (c == '\n')
		return true;
	if (request->used < room)
		request->text[request->used++] = c != '\0' ? c : '?';
	return false;
}

bool fm_request_begun(const struct fm_request *request)
{
	return request->framed || request->used > 0;
}

int fm_request_get(struct fm_request *request, char text[FM_LINE_MAX + 1])
{
	const char *from = request->text;
	int kind = FM_REQUEST_LINE;

	request->text[request->used] = '\0';
	/* Of terminals that end their lines as on paper. */
	if (request->used > 0 && request->text[request->used - 1] == '\r')
		request->text[request->used - 1] = '\0';
	if (request->framed) {
		kind = request->text[0] != '\0' ? (unsigned char)request->text[0] : '?';
		from += *from != '\0';
		from += *from == ' ';
	}
	strncpy(text, from, FM_LINE_MAX);
	text[FM_LINE_MAX] = '\0';
	request->used = 0;
	request->framed = false;
	return kind;
}
