/*
 * kernel_struct.c - the members of the structs in preprocessed C++, by their tokens, so that
 * "echelon emulate" can set the members of a kernel's parameter.
 *
 *     struct NAME { TYPE MEMBER , MEMBER ; TYPE MEMBER ; }      typedef struct { ... } NAME ;
 *
 * Only plain members are read.  A struct with arrays, bit-fields, bases, or structs and unions that
 * are defined inside is marked as complex.  Functions and static members are ignored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kernel_tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads up to the token that closes what the current token opens. */
static void skip_group(struct reader *r, const char *open, const char *close)
{
    int depth = 0;
    for (; r->token.kind != END; token_advance(r)) {
        depth += token_is(&r->token, open);
        depth -= token_is(&r->token, close);
        if (depth == 0) return;
    }
}

static void add_member(struct kernel_struct *s, const struct token *name)
{
    if (s->member_count == KERNEL_MEMBERS || name->length >= sizeof s->members[0])
        s->complex = true;
    else
        snprintf(s->members[s->member_count++], sizeof s->members[0], "%.*s", (int)name->length,
                 name->at);
}

/* Words that begin a declaration which is no member. */
static bool is_other(const struct token *t)
{
    static const char *const words[] = { "static",    "using",  "typedef", "template",
                                         "friend",    "public", "private", "protected",
                                         "constexpr", "enum",   "operator" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(t, words[i])) return true;
    return false;
}

struct declaration {
    struct token name;
    bool other;       /* it declares no member */
    bool initialised; /* "=" has been read */
    int angles;       /* of template arguments that are open */
};

/* Handles ( and {: functions and their bodies, initialisers.  Returns whether the declaration has
 * ended. */
static bool read_group(struct reader *r, struct kernel_struct *s, struct declaration *d)
{
    if (token_is(&r->token, "(")) {
        d->other |= !d->initialised; /* a function */
        skip_group(r, "(", ")");
        return false;
    }
    s->complex |= !d->other;
    skip_group(r, "{", "}");
    return d->other; /* the body of a function */
}

/* Reads a declaration, of which the first token has been read, up to its end.  Returns false at the
 * end of the struct. */
static bool read_declaration(struct reader *r, struct kernel_struct *s)
{
    struct declaration d = { .other = is_other(&r->token) };
    for (; r->token.kind != END; token_advance(r)) {
        const struct token *t = &r->token;
        const bool ends = token_is(t, ";"), comma = token_is(t, ",") && d.angles == 0;
        if (token_is(t, "}")) return false;
        if ((ends || comma) && !d.other && d.name.kind == WORD) add_member(s, &d.name);
        if (ends || (token_is(t, ":") && d.other)) return true; /* public: */
        if (comma) d.initialised = false;
        if (token_is(t, "operator")) d.other = true;
        if (token_is(t, "[") || token_is(t, ":")) s->complex |= !d.other;
        if (token_is(t, "=")) d.initialised = true;
        d.angles += token_is(t, "<") && !d.initialised;
        d.angles -= token_is(t, ">") && d.angles > 0;
        if (token_is(t, "__attribute__") || token_is(t, "alignas")) {
            token_advance(r);
            skip_group(r, "(", ")");
        } else if (token_is(t, "(") || token_is(t, "{")) {
            if (read_group(r, s, &d)) return true;
        } else if (t->kind == WORD && !d.initialised && d.angles == 0) {
            d.name = *t;
        }
    }
    return false;
}

static void read_body(struct reader *r, struct kernel_struct *s)
{
    token_advance(r);
    while (read_declaration(r, s)) token_advance(r);
}

void kernel_struct_read(const struct reader *from)
{
    struct reader *r = malloc(sizeof *r);
    struct kernel_struct s = { .member_count = 0 };
    if (!r) return;
    *r = *from;
    const bool is_typedef = token_is(&r->previous, "typedef");
    token_advance(r);
    while (token_is(&r->token, "__attribute__") || token_is(&r->token, "alignas")) {
        token_advance(r);
        skip_group(r, "(", ")");
        token_advance(r);
    }
    if (r->token.kind == WORD) {
        snprintf(s.name, sizeof s.name, "%.*s", (int)r->token.length, r->token.at);
        token_advance(r);
    }
    if (token_is(&r->token, "final")) token_advance(r);
    if (token_is(&r->token, ":"))
        for (s.complex = true; r->token.kind != END && !token_is(&r->token, "{");) token_advance(r);
    if (token_is(&r->token, "{")) {
        read_body(r, &s);
        token_advance(r);
        if (is_typedef && r->token.kind == WORD)
            snprintf(s.name, sizeof s.name, "%.*s", (int)r->token.length, r->token.at);
        struct kernel_text *t = from->text;
        struct kernel_struct *more = NULL;
        if (*s.name) more = realloc(t->structs, ((size_t)t->struct_count + 1) * sizeof *more);
        if (more) {
            t->structs = more;
            t->structs[t->struct_count++] = s;
        }
    }
    free(r);
}
