/*
 * condition.c - parses conditions on the columns of a table, and finds the rows that satisfy them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "condition.h"

#include <stdlib.h>
#include <string.h>

/* ---- Words ---- */

static int fail(const struct condition *c)
{
    return cli_fail(EXIT_BAD,
                    "WHERE is \"%s\"; give a condition such as \"<3\", \">=0.5\", \"!=nan\", "
                    "\"price<9\", \"city==Oslo\", \"price:1..9\", or \"flags&0xff\" for bits",
                    c->text);
}

static char *trim(char *at)
{
    at += strspn(at, " \t");
    size_t n = strlen(at);
    while (n && (at[n - 1] == ' ' || at[n - 1] == '\t')) at[--n] = 0;
    return at;
}

static bool is_word(const char *at)
{
    return strcmp(at, "nan") == 0 || strcmp(at, "zero") == 0 || strcmp(at, "nonzero") == 0;
}

/* The ".." between the ends of a range, outside of quotes; NULL if there is none. */
static char *find_dots(char *at)
{
    bool quoted = false;
    for (; *at; at++) {
        quoted ^= *at == '"';
        if (!quoted && at[0] == '.' && at[1] == '.') return at;
    }
    return NULL;
}

/* Removes the double quotes of a value, in which "" is a quote.  Returns false if they are
 * malformed. */
static bool unquote(struct condition *c, char **value)
{
    char *from = *value, *to = from;
    if (*from != '"') return true;
    c->quoted = true;
    for (from++; *from && (*from != '"' || from[1] == '"'); from++) {
        if (*from == '"') from++;
        *to++ = *from;
    }
    if (*from != '"' || from[1]) return false;
    *to = 0;
    return true;
}

/* Adds "value with sign": a test of numbers, or of strings. */
static bool add_test(struct condition *c, ech_compare compare, char *value)
{
    const int i = c->tests++;
    value = trim(value);
    c->compare[i] = compare;
    if (!unquote(c, &value)) return false;
    c->value[i] = value;
    c->bytes[i] = strlen(value);
    const bool number = where_is_number(value);
    c->string |= c->quoted || !number;
    return true;
}

static int parse_range(struct condition *c, char *low, char *dots)
{
    char *high = dots + 2;
    *dots = 0;
    low = trim(low);
    high = trim(high);
    if (!*low && !*high) return fail(c);
    if (*low && !add_test(c, ECH_COMPARE_GREATER_EQUAL, low)) return fail(c);
    if (*high && !add_test(c, ECH_COMPARE_LESS_EQUAL, high)) return fail(c);
    return EXIT_DONE;
}

/* Parses a condition without its column. */
static int parse_test(struct condition *c, char *at)
{
    ech_compare compare = ECH_COMPARE_NONZERO;
    if (is_word(at)) {
        c->test[c->tests++] = at;
        return EXIT_DONE;
    }
    const size_t sign = where_sign(at, &compare);
    char *dots = sign ? NULL : find_dots(at);
    if (dots) return parse_range(c, at, dots);
    if (!sign) return fail(c);
    if (compare >= ECH_COMPARE_HAS_ANY) {
        c->test[c->tests++] = at;
        return where_check("WHERE", at);
    }
    if (!add_test(c, compare, at + sign)) return fail(c);
    c->test[0] = at;
    return EXIT_DONE;
}

/* Writes the tests of a range of numbers as words for where_parse(). */
static void write_tests(struct condition *c, char *room)
{
    for (int i = 0; i < c->tests && !c->string; i++) {
        if (c->test[i]) continue;
        const char *sign = c->compare[i] == ECH_COMPARE_LESS_EQUAL ? "<=" : ">=";
        c->test[i] = room;
        room += sprintf(room, "%s%s", sign, c->value[i]) + 1;
    }
}

int condition_parse(const char *text, struct condition *c)
{
    /* The memory: a copy that is divided; then the column; then the tests of a range. */
    const size_t n = strlen(text);
    *c = (struct condition){ .text = text, .memory = malloc(2 * n + 16) };
    if (!c->memory) return cli_fail(EXIT_MEMORY, "out of memory: cannot allocate %zu bytes", n);
    memcpy(c->memory, text, n + 1);
    char *at = trim(c->memory), *room = c->memory + n + 1;
    const size_t before = *at == '"' || is_word(at) ? 0 : strcspn(at, "<>=!&:");
    if (before && at[before]) {
        memcpy(room, at, before);
        room[before] = 0;
        c->column = trim(room);
        if (!*c->column) return fail(c);
        at += before;
        at = trim(*at == ':' ? at + 1 : at);
        room += before + 1;
    }
    const int code = parse_test(c, at);
    if (code == EXIT_DONE) write_tests(c, room);
    return code;
}

void condition_free(struct condition *condition)
{
    free(condition->memory);
    condition->memory = NULL;
}

/* ---- Columns ---- */

int condition_columns(struct condition *conditions, int n, const char *column, int type,
                      struct table *table)
{
    for (int i = 0; i < n; i++) {
        struct condition *c = &conditions[i];
        const enum table_kind kind = !c->string  ? TABLE_NUMBERS
                                     : c->quoted ? TABLE_STRINGS
                                                 : TABLE_GUESS;
        c->at = table_add(table, c->column ? c->column : column, kind, c->string ? -1 : type);
        if (c->at < 0) return EXIT_BAD;
    }
    return EXIT_DONE;
}

int condition_check(const struct job *job, const struct condition *condition,
                    const struct table *table)
{
    const struct table_column *column = &table->columns[condition->at];
    if (!condition->string || column->kind == TABLE_STRINGS) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "%s: WHERE is \"%s\", which compares numbers with text; give a number, or, to "
                    "compare the column as text, put the text in double quotes",
                    job->input, condition->text);
}

/* ---- Rows ---- */

/* Finds the rows that pass test i of a condition on numbers: passed[row] is incremented. */
static int test_numbers(struct job *job, const struct condition *c, int i,
                        const struct table_column *column, uint8_t *passed, uint64_t *positions)
{
    struct where where;
    const ech_select_options o = { .size = sizeof o, .positions = ECH_U64 };
    uint64_t count = 0;
    const void *keys = column->keys ? column->keys : job->column.keys;
    const ech_dtype dtype = column->keys ? column->dtype : job->column.dtype;
    const int code = where_parse("WHERE", c->test[i], dtype, &where);
    if (code != EXIT_DONE) return code;
    const ech_status status = ech_select_if(job->ctx, where.compare, keys, positions, &count,
                                            (size_t)job->column.n, dtype, &where.value, &o);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    for (uint64_t k = 0; k < count; k++) passed[positions[k]]++;
    return EXIT_DONE;
}

/* Less than, equal to or greater than 0, as the string of a row is compared with a value. */
static int compare_bytes(const struct table_column *column, uint64_t row, const char *value,
                         size_t n)
{
    const size_t own = (size_t)(column->offsets[row + 1] - column->offsets[row]);
    const int order = memcmp(column->bytes + column->offsets[row], value, own < n ? own : n);
    return order ? order : (own > n) - (own < n);
}

static bool holds(ech_compare compare, int order)
{
    switch (compare) {
    case ECH_COMPARE_LESS:
        return order < 0;
    case ECH_COMPARE_LESS_EQUAL:
        return order <= 0;
    case ECH_COMPARE_EQUAL:
        return order == 0;
    case ECH_COMPARE_NOT_EQUAL:
        return order != 0;
    case ECH_COMPARE_GREATER_EQUAL:
        return order >= 0;
    default:
        return order > 0;
    }
}

int condition_apply(struct job *job, const struct condition *c, const struct table *table,
                    uint8_t *votes, void *scratch)
{
    const struct table_column *column = &table->columns[c->at];
    const uint64_t n = job->column.n;
    uint64_t *positions = scratch;
    uint8_t *passed = (uint8_t *)(positions + n);
    memset(passed, 0, (size_t)n);
    for (int i = 0; i < c->tests; i++) {
        if (c->string) {
            for (uint64_t row = 0; row < n; row++)
                passed[row] = (uint8_t)(passed[row] +
                                        holds(c->compare[i], compare_bytes(column, row, c->value[i],
                                                                           c->bytes[i])));
            continue;
        }
        const int code = test_numbers(job, c, i, column, passed, positions);
        if (code != EXIT_DONE) return code;
    }
    for (uint64_t row = 0; row < n; row++)
        votes[row] = (uint8_t)(votes[row] + (passed[row] == c->tests));
    return EXIT_DONE;
}
