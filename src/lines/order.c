/*
 * lines/order.c - makes an order from the words of the user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _POSIX_C_SOURCE 200809L
#include "lines/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rules of the C locale, whatever that of the process is. */
static bool is_letter_or_digit(int c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void make_map(struct key *key)
{
    key->filtered = key->fold || key->dictionary || key->printing;
    key->folds = key->fold && !key->dictionary && !key->printing;
    for (int c = 0; c < 256; c++) {
        const bool dropped = key->dictionary ? !is_letter_or_digit(c) && !is_blank((char)c)
                                             : key->printing && (c < ' ' || c > '~');
        const int folded = key->fold && c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
        key->map[c] = (uint16_t)(dropped ? DROPPED : folded);
    }
}

/* A key without letters has those of the whole order. */
static void inherit(struct key *key, const struct key *global)
{
    if (!lines_is_default(key) || key->reverse) return;
    key->kind = global->kind;
    key->reverse = global->reverse;
    key->fold = global->fold;
    key->dictionary = global->dictionary;
    key->printing = global->printing;
    key->skip_start = global->skip_start;
    key->skip_end = global->skip_end;
}

static bool add_keys(struct lines_order *order, const struct lines_words *words,
                     char error[LINES_ERROR])
{
    struct key global;
    if (!lines_parse_letters(&global, words->letters ? words->letters : "", error)) return false;
    order->reversed = global.reverse;
    if (words->n_keys > LINES_MOST_KEYS) {
        snprintf(error, LINES_ERROR, "%d keys; at most %d are supported", words->n_keys,
                 LINES_MOST_KEYS);
        return false;
    }
    for (; order->n_keys < words->n_keys; order->n_keys++) {
        struct key *key = &order->keys[order->n_keys];
        const char *word = words->keys[order->n_keys];
        if (!lines_parse_key(key, word, error)) {
            free(key->name);
            key->name = NULL;
            return false;
        }
        if (key->name && !words->header) {
            snprintf(error, LINES_ERROR,
                     "key \"%s\" is the name of a column; names need --header, and a number of a "
                     "field begins with a digit",
                     word);
            free(key->name);
            key->name = NULL;
            return false;
        }
        inherit(key, &global);
        /* A column of blanks-separated text begins after the blanks. */
        if (key->name && order->delimiter == LINES_BLANKS) key->skip_start = true;
    }
    global.keep_quotes = true;
    if (!words->n_keys && !lines_is_default(&global)) order->keys[order->n_keys++] = global;
    return true;
}

static bool is_whole(const struct key *key)
{
    return !key->name && key->first_field == 0 && key->first_char == 0 &&
           key->last_field == SIZE_MAX && !key->skip_start;
}

/* Decides which work is not necessary. */
static void simplify(struct lines_order *order, const struct lines_words *words)
{
    order->resort = order->n_keys && !words->stable && !words->unique;
    order->underlined = order->resort;
    if (!order->n_keys) { /* the whole record is the key */
        order->n_keys = 1;
        order->keys[0] =
            (struct key){ .last_field = SIZE_MAX, .reverse = order->reversed, .keep_quotes = true };
    }
    for (int i = 0; i < order->n_keys; i++) {
        struct key *key = &order->keys[i];
        make_map(key);
        key->all = is_whole(key) && (!order->csv || key->keep_quotes);
        order->fields |= !key->all;
    }
    const struct key *last = &order->keys[order->n_keys - 1], *first = &order->keys[0];
    const bool bytes = last->kind == KIND_BYTES && !last->filtered && last->all;
    /* After the whole record as a key, equal keys are equal records. */
    if (bytes) order->resort = false;
    order->total = bytes || order->resort;
    order->whole = order->n_keys == 1 && bytes && !first->reverse;
    order->number = first->kind == KIND_NUMBER && first->all && !first->filtered;
    order->direct =
        order->whole || (order->n_keys == 1 && first->kind == KIND_BYTES && !first->filtered &&
                         !first->reverse && !order->resort && !order->csv && !first->name);
    lines_quick_plan(order);
}

struct lines_order *lines_order_new(const struct lines_words *words, char error[LINES_ERROR])
{
    struct lines_order *order = calloc(1, sizeof *order);
    if (!order) {
        snprintf(error, LINES_ERROR, "out of memory");
        return NULL;
    }
    order->unique = words->unique;
    order->csv = words->csv;
    order->header = words->header;
    order->terminator = words->zero ? 0 : '\n';
    order->delimiter = words->delimiter == LINES_BLANKS && words->csv ? ',' : words->delimiter;
    memcpy(order->seed, words->seed, sizeof order->seed);
    if (!add_keys(order, words, error)) {
        lines_order_free(order);
        return NULL;
    }
    simplify(order, words);
    return order;
}

void lines_order_free(struct lines_order *order)
{
    for (int i = 0; order && i < order->n_keys; i++) free(order->keys[i].name);
    free(order);
}

/* ---- Columns by name ---- */

const char *lines_first_name(const struct lines_order *order)
{
    for (int i = 0; i < order->n_keys; i++)
        if (order->keys[i].name) return order->keys[i].name;
    return NULL;
}

/* Whether the value of a field is the name. */
static bool is_named(const struct lines_order *order, const struct key *field, const char *header,
                     size_t bytes, const char *name)
{
    struct reader reader = lines_reader(field, lines_span_of(order, field, header, bytes, NULL));
    for (; *name; name++)
        if (lines_read(&reader) != (unsigned char)*name) return false;
    return lines_read(&reader) < 0;
}

static size_t count_fields(const struct lines_order *order, const char *header, size_t bytes)
{
    size_t n = 0;
    if (order->delimiter == LINES_BLANKS) {
        for (size_t i = 0; i < bytes; i++)
            n += !is_blank(header[i]) && (i == 0 || is_blank(header[i - 1]));
        return n;
    }
    bool quoted = false;
    for (size_t i = 0; i < bytes; i++) {
        quoted ^= order->csv && header[i] == '"';
        n += !quoted && header[i] == (char)order->delimiter;
    }
    return n + 1;
}

bool lines_bind(struct lines_order *order, const char *header, size_t bytes,
                char error[LINES_ERROR])
{
    if (bytes && order->csv && header[bytes - 1] == '\r') bytes--;
    const size_t n = count_fields(order, header, bytes);
    for (int i = 0; i < order->n_keys; i++) {
        struct key *key = &order->keys[i];
        size_t found = SIZE_MAX;
        if (!key->name) continue;
        for (size_t f = 0; f < n; f++) {
            struct key field = { .first_field = f, .last_field = f };
            field.skip_start = order->delimiter == LINES_BLANKS;
            if (!is_named(order, &field, header, bytes, key->name)) continue;
            if (found != SIZE_MAX) {
                snprintf(error, LINES_ERROR,
                         "column \"%s\" is not unique: columns %zu and %zu of the header have this "
                         "name; give the number",
                         key->name, found + 1, f + 1);
                return false;
            }
            found = f;
        }
        if (found == SIZE_MAX) {
            snprintf(error, LINES_ERROR, "the header has no column \"%s\" among its %zu column%s%s",
                     key->name, n, n == 1 ? "" : "s",
                     order->delimiter == LINES_BLANKS
                         ? ", which blanks separate; for others use --delimiter or --csv"
                         : "");
            return false;
        }
        key->first_field = key->last_field = found;
    }
    return true;
}

/* ---- Description ---- */

static size_t add_text(char *text, size_t capacity, size_t used, const char *more)
{
    const int n = snprintf(text + used, capacity - used, "%s", more);
    return n < 0 || (size_t)n >= capacity - used ? capacity - 1 : used + (size_t)n;
}

static void describe_place(const struct lines_order *order, const struct key *key, char text[160])
{
    if (key->name) {
        snprintf(text, 160, "column %s", key->name);
    } else if (is_whole(key)) {
        snprintf(text, 160, order->csv ? "the record" : "the line");
    } else {
        int n = snprintf(text, 160, "field %zu", key->first_field + 1);
        if (key->first_char)
            n += snprintf(text + n, 160 - (size_t)n, " from character %zu", key->first_char + 1);
        if (key->last_field == SIZE_MAX)
            snprintf(text + n, 160 - (size_t)n, " to the end");
        else if (key->last_char)
            snprintf(text + n, 160 - (size_t)n, " to field %zu, character %zu", key->last_field + 1,
                     key->last_char);
        else if (key->last_field != key->first_field)
            snprintf(text + n, 160 - (size_t)n, " to field %zu", key->last_field + 1);
    }
}

void lines_describe(const struct lines_order *order, char *text, size_t capacity_bytes)
{
    static const char *const kinds[] = {
        [KIND_BYTES] = "bytes",         [KIND_NUMBER] = "number",
        [KIND_GENERAL] = "float",       [KIND_HUMAN] = "number with a unit",
        [KIND_MONTH] = "month",         [KIND_VERSION] = "version",
        [KIND_RANDOM] = "random order",
    };
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < order->n_keys; i++) {
        const struct key *key = &order->keys[i];
        char place[160], one[256];
        describe_place(order, key, place);
        snprintf(one, sizeof one, "%s%s of %s%s%s%s%s%s", i ? "; " : "", kinds[key->kind], place,
                 key->skip_start ? ", without leading blanks" : "",
                 key->fold ? ", case folded" : "",
                 key->dictionary ? ", only blanks, letters and digits"
                 : key->printing ? ", only printable characters"
                                 : "",
                 key->reverse ? ", descending" : "", "");
        used = add_text(text, capacity_bytes, used, one);
    }
    if (order->resort)
        add_text(text, capacity_bytes, used,
                 order->reversed ? "; then bytes of the line, descending"
                                 : "; then bytes of the line");
}
