/*
 * lines/words.c - parses keys such as "2,2nr", "1.3b,4" and "price:n", and letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "lines/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char all_letters[] = "bdfghiMnRrV";

enum end { END_START = 1, END_LAST = 2, END_BOTH = 3 };

static bool fail(char error[LINES_ERROR], const char *word, const char *what)
{
    snprintf(error, LINES_ERROR, "key \"%s\": %s", word, what);
    return false;
}

/* Sets what the letters at text mean for an end of the key; returns where they end. */
static const char *set_letters(struct key *key, const char *text, enum end end, unsigned *kinds)
{
    for (; *text; text++) {
        switch (*text) {
        case 'b':
            if (end & END_START) key->skip_start = true;
            if (end & END_LAST) key->skip_end = true;
            break;
        case 'd':
            key->dictionary = true;
            break;
        case 'f':
            key->fold = true;
            break;
        case 'i':
            key->printing = true;
            break;
        case 'r':
            key->reverse = true;
            break;
        case 'n':
            *kinds |= 1u << KIND_NUMBER;
            break;
        case 'g':
            *kinds |= 1u << KIND_GENERAL;
            break;
        case 'h':
            *kinds |= 1u << KIND_HUMAN;
            break;
        case 'M':
            *kinds |= 1u << KIND_MONTH;
            break;
        case 'V':
            *kinds |= 1u << KIND_VERSION;
            break;
        case 'R':
            *kinds |= 1u << KIND_RANDOM;
            break;
        default:
            return text;
        }
    }
    return text;
}

/* As in GNU sort, a number or a month excludes every other kind, d and i; R and V may be combined,
 * and then R applies. */
static bool set_kind(struct key *key, unsigned kinds, const char *word, char error[LINES_ERROR])
{
    static const struct {
        enum kind kind;
        char letter;
    } exclusive[] = {
        { KIND_NUMBER, 'n' }, { KIND_GENERAL, 'g' }, { KIND_HUMAN, 'h' }, { KIND_MONTH, 'M' }
    };
    char first = 0;
    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++) {
        if (!(kinds >> exclusive[i].kind & 1)) continue;
        key->kind = exclusive[i].kind;
        char other = first;
        if (kinds >> KIND_RANDOM & 1) other = 'R';
        if (kinds >> KIND_VERSION & 1) other = 'V';
        if (key->printing) other = 'i';
        if (key->dictionary) other = 'd';
        first = exclusive[i].letter;
        if (!other) continue;
        snprintf(error, LINES_ERROR, "%s%s%sthe letters %c and %c cannot be combined",
                 *word ? "key \"" : "", word, *word ? "\": " : "", other, first);
        return false;
    }
    if (kinds >> KIND_VERSION & 1 && !first) key->kind = KIND_VERSION;
    if (kinds >> KIND_RANDOM & 1 && !first) key->kind = KIND_RANDOM;
    return true;
}

/* A count in decimal; too large ones become SIZE_MAX.  Returns false if there is none. */
static bool parse_count(const char **text, size_t *count)
{
    const char *at = *text;
    size_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        const size_t digit = (size_t)(*at - '0');
        value = value > (SIZE_MAX - digit) / 10 ? SIZE_MAX : 10 * value + digit;
    }
    const bool found = at > *text;
    *text = at;
    *count = value;
    return found;
}

/* A name, and after its last colon only letters: "price:n", "price", "a:b:", ":2024:n". */
static bool parse_name(struct key *key, const char *word, char error[LINES_ERROR])
{
    const char *name = *word == ':' ? word + 1 : word, *colon = strrchr(name, ':');
    unsigned kinds = 0;
    if (colon && colon[1 + strspn(colon + 1, all_letters)]) {
        snprintf(error, LINES_ERROR,
                 "key \"%s\": \"%s\" after the colon are not letters out of %s; if the colon is "
                 "part of the name, add another colon",
                 word, colon + 1, all_letters);
        return false;
    }
    const size_t length = colon ? (size_t)(colon - name) : strlen(name);
    if (!length)
        return fail(error, word, "is neither a number of a field nor the name of a column");
    if (colon) set_letters(key, colon + 1, END_BOTH, &kinds);
    key->name = strndup(name, length);
    if (!key->name) return fail(error, word, "out of memory");
    return set_kind(key, kinds, word, error);
}

/* ",4.2r": the end of the key. */
static bool parse_last(struct key *key, const char **at, const char *word, unsigned *kinds,
                       char error[LINES_ERROR])
{
    ++*at;
    if (!parse_count(at, &key->last_field))
        return fail(error, word, "the number of a field is missing after the comma");
    if (!key->last_field--) return fail(error, word, "the number of a field is 0; 1 is the first");
    if (**at == '.') {
        ++*at;
        if (!parse_count(at, &key->last_char))
            return fail(error, word, "the number of a character is missing after the point");
    }
    *at = set_letters(key, *at, END_LAST, kinds);
    return true;
}

bool lines_parse_key(struct key *key, const char *word, char error[LINES_ERROR])
{
    *key = (struct key){ .last_field = SIZE_MAX };
    if (*word < '0' || *word > '9') return parse_name(key, word, error);
    const char *at = word;
    unsigned kinds = 0;
    parse_count(&at, &key->first_field);
    if (!key->first_field--) return fail(error, word, "the number of a field is 0; 1 is the first");
    if (*at == '.') {
        at++;
        if (!parse_count(&at, &key->first_char))
            return fail(error, word, "the number of a character is missing after the point");
        if (!key->first_char--)
            return fail(error, word, "the number of the first character is 0; 1 is the first");
    }
    at = set_letters(key, at, END_START, &kinds);
    if (*at == ',' && !parse_last(key, &at, word, &kinds, error)) return false;
    if (*at) {
        snprintf(error, LINES_ERROR,
                 "key \"%s\": unexpected \"%s\"; use FIELD[.CHARACTER][LETTERS][,FIELD[.CHARACTER]"
                 "[LETTERS]] with letters out of %s",
                 word, at, all_letters);
        return false;
    }
    return set_kind(key, kinds, word, error);
}

bool lines_parse_letters(struct key *key, const char *letters, char error[LINES_ERROR])
{
    *key = (struct key){ .last_field = SIZE_MAX };
    unsigned kinds = 0;
    const char *end = set_letters(key, letters, END_BOTH, &kinds);
    if (*end) {
        snprintf(error, LINES_ERROR, "letter \"%c\" is not one of %s", *end, all_letters);
        return false;
    }
    return set_kind(key, kinds, "", error);
}

bool lines_is_default(const struct key *key)
{
    return key->kind == KIND_BYTES && !key->fold && !key->dictionary && !key->printing &&
           !key->skip_start && !key->skip_end;
}

void lines_key_letters(const struct key *key, char letters[16])
{
    static const char kinds[] = { [KIND_NUMBER] = 'n', [KIND_GENERAL] = 'g', [KIND_HUMAN] = 'h',
                                  [KIND_MONTH] = 'M',  [KIND_VERSION] = 'V', [KIND_RANDOM] = 'R' };
    if (key->skip_start || key->skip_end) *letters++ = 'b';
    if (key->dictionary) *letters++ = 'd';
    if (key->fold) *letters++ = 'f';
    if (key->printing) *letters++ = 'i';
    if (key->kind != KIND_BYTES) *letters++ = kinds[key->kind];
    if (key->reverse) *letters++ = 'r';
    *letters = 0;
}
