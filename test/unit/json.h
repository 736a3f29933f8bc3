/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A strict reader of JSON (RFC 8259), for tests of what writes it: nothing is forgiven, and names in an object must
 * differ.
 */
#ifndef FM_TEST_JSON_H
#define FM_TEST_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Is the whole text one JSON value, in UTF-8, with nothing behind it but at most one newline? */
bool json_valid(const char *text);

/*
 * What stands at a path of names and numbers, as it is written there: "ports.0.rx_packets".
 *
 * @param text  valid
 * @return      false: there is nothing
 */
bool json_at(const char *text, const char *path, char *value, size_t len);

#endif
