/*
 * kernel_tokens.h - shared by kernel_text.c and kernel_tokens.c: the tokens of preprocessed C++.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHELON_CLI_KERNEL_TOKENS_H
#define ECHELON_CLI_KERNEL_TOKENS_H

#include "kernel_text.h"

enum { MOST_DEPTH = 64, MOST_PATH = 4096 };

enum token_kind { END, WORD, NUMBER, STRING, SIGN };

struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
};

struct reader {
    const char *at, *end;
    struct kernel_text *text;
    char path[MOST_PATH];
    int line;
    bool system; /* in a system header */
    bool no_memory;
    struct token token, previous;
    char spaces[MOST_DEPTH][KERNEL_NAME]; /* names of the open braces; "": not a namespace */
    int depth;
    char next_space[KERNEL_NAME]; /* of a namespace whose brace has not been read */
    bool in_template;             /* a declaration that began with "template" */
};

bool token_is(const struct token *token, const char *text);
bool token_is_word(char c); /* whether a word may contain it */
/* Reads the next token of the text, and the line markers before it. */
void token_advance(struct reader *r);

/* kernel_struct.c: adds the struct whose keyword is the current token, if it is defined here.  The
 * reader does not move. */
void kernel_struct_read(const struct reader *from);

#endif
