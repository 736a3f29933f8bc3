/* SPDX-License-Identifier: BSD-3-Clause */
/* One sentence for the user, and the error to return with it. */
#ifndef FM_FAIL_H
#define FM_FAIL_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/*
 * @param err   takes the sentence, cut to err_len bytes; may be NULL
 * @param code  negative errno
 * @return      code, so that a function can end with `return fm_fail(...)`
 */
__attribute__((format(printf, 4, 5)))
static inline int fm_fail(char *err, size_t err_len, int code, const char *format, ...)
{
	va_list args;

	if (err != NULL && err_len > 0) {
		va_start(args, format);
		vsnprintf(err, err_len, format, args);
		va_end(args);
	}
	return code;
}

#endif
