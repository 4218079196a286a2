/*
 * kernel_tokens.c - the tokens of preprocessed C++, with the file and the line of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "kernel_tokens.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool token_is(const struct token *token, const char *text)
{
    return token->length == strlen(text) && memcmp(token->at, text, token->length) == 0;
}

static void add_file(struct reader *r)
{
    struct kernel_text *t = r->text;
    for (int i = 0; i < t->file_count; i++)
        if (strcmp(t->files[i].path, r->path) == 0) return;
    struct kernel_file *more = realloc(t->files, ((size_t)t->file_count + 1) * sizeof *more);
    char *path = strdup(r->path);
    if (more) t->files = more;
    if (more && path)
        t->files[t->file_count++].path = path;
    else
        free(path), r->no_memory = true;
}

/* # 12 "path" 1 3: the flag 3 marks a system header. */
static void read_marker(struct reader *r, const char *end)
{
    const char *at = r->at + 1;
    size_t length = 0;
    int line = 0;
    while (at < end && *at == ' ') at++;
    if (at == end || !isdigit((unsigned char)*at)) return; /* #pragma */
    for (; at < end && isdigit((unsigned char)*at) && line < INT_MAX / 16; at++)
        line = 10 * line + (*at - '0');
    r->line = line - 1; /* the next line has this number */
    at = memchr(at, '"', (size_t)(end - at));
    for (at = at ? at + 1 : end; at < end && *at != '"' && length + 1 < sizeof r->path; at++) {
        if (*at == '\\' && at + 1 < end) at++;
        r->path[length++] = *at;
    }
    r->path[length] = 0;
    r->system = *r->path == '<';
    for (at = at < end ? at + 1 : end; at < end; at++) r->system |= *at == '3';
    if (!r->system) add_file(r);
}

/* Blanks, and lines that begin with #. */
static void skip_blanks(struct reader *r)
{
    bool begins = r->at[-1] == '\n';
    while (r->at < r->end) {
        if (isspace((unsigned char)*r->at)) {
            begins = *r->at == '\n';
            r->line += begins;
            r->at++;
        } else if (*r->at == '#' && begins) {
            const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
            if (!end) end = r->end;
            read_marker(r, end);
            r->at = end;
        } else {
            return;
        }
    }
}

static size_t quoted(const char *at, const char *end)
{
    const char *p = at + 1;
    while (p < end && *p != *at && *p != '\n') p += *p == '\\' && p + 1 < end ? 2 : 1;
    return (size_t)(p - at) + (p < end);
}

bool token_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

void token_advance(struct reader *r)
{
    r->previous = r->token;
    skip_blanks(r);
    struct token *t = &r->token;
    *t = (struct token){ END, r->at, 0 };
    if (r->at == r->end) return;
    const char c = *r->at;
    size_t n = 1;
    t->kind = SIGN;
    if (isdigit((unsigned char)c)) {
        t->kind = NUMBER;
        while (r->at + n < r->end && (token_is_word(r->at[n]) || r->at[n] == '.')) n++;
    } else if (token_is_word(c)) {
        t->kind = WORD;
        while (r->at + n < r->end && token_is_word(r->at[n])) n++;
    } else if (c == '"' || c == '\'') {
        t->kind = STRING;
        n = quoted(r->at, r->end);
    } else if (r->end - r->at >= 3 && memcmp(r->at, "<<<", 3) == 0) {
        n = 3;
    } else if (r->end - r->at >= 2 && memcmp(r->at, "::", 2) == 0) {
        n = 2;
    }
    t->length = n;
    r->at += n;
}
