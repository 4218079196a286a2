/*
 * json.h - a parser of JSON, for tests: whether a text is valid, not what it contains.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_JSON_H
#define TESTS_JSON_H

/* The first character that is not blank. */
const char *json_blanks(const char *at);

/* The end of the value that begins at `at`, or NULL if it is not valid. */
const char *json_value(const char *at);

#endif
