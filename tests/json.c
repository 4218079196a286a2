/*
 * json.c - a parser of JSON: each function returns the end of what it read, or NULL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "json.h"

#include <ctype.h>
#include <stddef.h>

const char *json_blanks(const char *at)
{
    while (isspace((unsigned char)*at)) at++;
    return at;
}

static const char *string(const char *at)
{
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < ' ') return NULL;
        if (*at == '\\' && !*++at) return NULL;
    }
    return at + 1;
}

static const char *number(const char *at)
{
    const char *begin = at;
    while (isdigit((unsigned char)*at)) at++;
    return at > begin ? at : NULL;
}

static const char *list(const char *at, char open, char close)
{
    if (*at != open) return NULL;
    at = json_blanks(at + 1);
    if (*at == close) return at + 1;
    for (;;) {
        if (open == '{') {
            at = string(at);
            if (!at || *(at = json_blanks(at)) != ':') return NULL;
            at++;
        }
        at = json_value(at);
        if (!at) return NULL;
        at = json_blanks(at);
        if (*at == close) return at + 1;
        if (*at++ != ',') return NULL;
        at = json_blanks(at);
    }
}

const char *json_value(const char *at)
{
    at = json_blanks(at);
    if (*at == '{') return list(at, '{', '}');
    if (*at == '[') return list(at, '[', ']');
    return *at == '"' ? string(at) : number(at);
}
