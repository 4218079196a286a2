/*
 * groups.c - finds the rows with equal keys in a table, and writes a table with one line per group.
 *
 * Strings are ranked, so that every key is a number.  A stable sort of the rows by their keys makes
 * the rows of a group adjacent, in the order of the input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups.h"

#include <stdlib.h>
#include <string.h>

/* ---- Plan ---- */

int groups_plan(struct groups *groups, const struct cli_list *by, bool string,
                const struct job_words *words, bool needs_value)
{
    int type, code = cli_parse_dtype(words->type, &type);
    if (code != EXIT_DONE) return code;
    if (by->count > GROUPS_KEYS)
        return cli_fail(EXIT_BAD, "--by is given %d times; the maximum is %d", by->count,
                        GROUPS_KEYS);
    if (needs_value && !words->column)
        return cli_fail(EXIT_BAD, "--by needs --column, which selects the numbers");
    groups->value = -1;
    groups->table.has_string = true;
    for (int i = 0; i < by->count; i++) {
        const char *word = by->words[i];
        if (!*word || strspn(word, "0") == strlen(word))
            return cli_fail(
                EXIT_BAD, "--by is \"%s\"; give a column number, counted from 1, or a name", word);
        groups->keys[i] = table_add(&groups->table, word, string ? TABLE_STRINGS : TABLE_GUESS, -1);
    }
    groups->key_count = by->count;
    if (needs_value) groups->value = table_add(&groups->table, words->column, TABLE_NUMBERS, type);
    return EXIT_DONE;
}

/* ---- Groups ---- */

uint64_t groups_row(const struct groups *groups, uint64_t i)
{
    return groups->index_dtype == ECH_U64 ? ((const uint64_t *)groups->order)[i]
                                          : ((const uint32_t *)groups->order)[i];
}

static int sort_rows(struct job *job, struct groups *groups)
{
    const size_t n = (size_t)job->column.n;
    ech_sort_column columns[GROUPS_KEYS];
    for (int i = 0; i < groups->key_count; i++) {
        const struct table_column *c = &groups->table.columns[groups->keys[i]];
        columns[i] =
            (ech_sort_column){ .size = sizeof *columns, .data = c->keys, .dtype = c->dtype };
    }
    groups->index_dtype = n > UINT32_MAX ? ECH_U64 : ECH_U32;
    const size_t bytes = n * ech_dtype_bytes(groups->index_dtype);
    groups->order = malloc(bytes + 1);
    if (!groups->order) return job_no_memory(job, bytes, "the order of its rows");
    const ech_status status =
        groups->key_count == 1
            ? ech_argsort(job->ctx, columns[0].data, groups->order, n, columns[0].dtype,
                          groups->index_dtype, NULL)
            : ech_argsort_columns(job->ctx, columns, groups->order, n, (size_t)groups->key_count,
                                  groups->index_dtype, NULL);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* Sets first[i] if element i of a sorted column differs from the one before it: -0 equals +0, and
 * all NaN are equal. */
static void mark_first(const struct table_column *c, const char *sorted, uint64_t n, bool *first)
{
    const struct io_order order = { .dtype = c->dtype,
                                    .order = ECH_ORDER_NAN_LAST,
                                    .merged = true };
    const size_t bytes = ech_dtype_bytes(c->dtype);
    if (c->dtype == ECH_U32) {
        const uint32_t *ranks = (const uint32_t *)(const void *)sorted;
        for (uint64_t i = 1; i < n; i++) first[i] |= ranks[i] != ranks[i - 1];
    } else {
        uint64_t before = n ? io_rank(&order, sorted) : 0;
        for (uint64_t i = 1; i < n; i++) {
            const uint64_t rank = io_rank(&order, sorted + i * bytes);
            first[i] |= rank != before;
            before = rank;
        }
    }
    if (n) first[0] = true;
}

/* Sets first[i] if row i of the sorted rows is the first one of its group. */
static int mark_groups(struct job *job, const struct groups *groups, bool *first)
{
    const size_t n = (size_t)job->column.n;
    char *sorted = malloc(n * sizeof(uint64_t) + 1);
    if (!sorted) return job_no_memory(job, n * sizeof(uint64_t), "the sorted keys");
    ech_status status = ECH_OK;
    for (int i = 0; i < groups->key_count && status == ECH_OK; i++) {
        const struct table_column *c = &groups->table.columns[groups->keys[i]];
        status = ech_gather(job->ctx, c->keys, groups->order, sorted, n, n, groups->index_dtype,
                            ech_dtype_bytes(c->dtype));
        if (status == ECH_OK) mark_first(c, sorted, n, first);
    }
    free(sorted);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

static int find_groups(struct job *job, struct groups *groups)
{
    const uint64_t n = job->column.n;
    bool *first = calloc((size_t)n + 1, sizeof *first);
    if (!first) return job_no_memory(job, n, "its groups");
    int code = mark_groups(job, groups, first);
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) count += first[i];
    groups->count = count;
    groups->offsets = malloc(((size_t)count + 1) * sizeof *groups->offsets);
    if (groups->offsets) {
        uint64_t *to = groups->offsets;
        for (uint64_t i = 0; i < n && code == EXIT_DONE; i++)
            if (first[i]) *to++ = i;
        groups->offsets[count] = n;
    } else {
        code = job_no_memory(job, count * sizeof *groups->offsets, "its groups");
    }
    free(first);
    return code;
}

static int sort_values(struct job *job, struct groups *groups)
{
    if (groups->value < 0) return EXIT_DONE;
    struct table_column *c = &groups->table.columns[groups->value];
    const size_t n = (size_t)job->column.n, bytes = ech_dtype_bytes(c->dtype);
    groups->sorted = malloc(n * bytes + 1);
    if (!groups->sorted) return job_no_memory(job, n * bytes, "the numbers");
    const ech_status status = ech_gather(job->ctx, c->keys, groups->order, groups->sorted, n, n,
                                         groups->index_dtype, bytes);
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

int groups_load(struct job *job, const struct job_words *words, struct groups *groups)
{
    struct table *table = &groups->table;
    int code = table_load(job, words, table);
    if (code != EXIT_DONE) return code;
    stage_begin(job, STAGE_WORK);
    for (int i = 0; i < groups->key_count && code == EXIT_DONE; i++) {
        struct table_column *c = &table->columns[groups->keys[i]];
        if (c->kind == TABLE_STRINGS && !c->keys) code = table_rank(job, c, job->column.n);
    }
    if (code == EXIT_DONE) code = sort_rows(job, groups);
    if (code == EXIT_DONE) code = find_groups(job, groups);
    if (code == EXIT_DONE) code = sort_values(job, groups);
    stage_end(job, STAGE_WORK, 0);
    return code;
}

void groups_free(struct groups *groups)
{
    table_free(&groups->table);
    free(groups->order);
    free(groups->offsets);
    free(groups->sorted);
}

/* ---- Output ---- */

int groups_check(const struct groups *groups)
{
    for (int i = 0; i < groups->value_count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(groups->values[i].name, groups->values[k].name) == 0)
                return cli_fail(EXIT_BAD, "two columns of the output would be %s; give it once",
                                groups->values[i].name);
    return EXIT_DONE;
}

/* Text that is collected before it is written, because it may have to be quoted. */
struct field {
    const char *at;
    size_t n;
    char number[IO_NUMBER_TEXT];
};

static void key_field(const struct groups *groups, int key, uint64_t g, struct field *field)
{
    const struct table_column *c = &groups->table.columns[groups->keys[key]];
    const uint64_t row = groups_row(groups, groups->offsets[g]);
    field->at = field->number;
    if (c->kind == TABLE_STRINGS) {
        field->at = c->bytes + c->offsets[row];
        field->n = (size_t)(c->offsets[row + 1] - c->offsets[row]);
    } else {
        const char *keys = c->keys;
        field->n = io_format_key(c->dtype, keys + row * ech_dtype_bytes(c->dtype), field->number);
    }
}

static void value_field(const struct groups_value *value, uint64_t g, struct field *field)
{
    const size_t bytes = ech_dtype_bytes(value->dtype);
    const char *result = value->results + (size_t)g * value->stride * bytes;
    field->at = field->number;
    if (value->position && io_load(result, bytes) == UINT64_MAX)
        field->n = (size_t)snprintf(field->number, sizeof field->number, "none");
    else
        field->n = io_format_key(value->dtype, result, field->number);
}

static char delimiter_of(const struct groups *groups)
{
    return groups->table.delimiter ? groups->table.delimiter : ' ';
}

/* The name of a column, or "sum(price)", or "size", which needs no column. */
static io_status write_title(const struct job *job, struct io_output *output,
                             const struct groups *groups, int column, const char *operation,
                             struct io_error *error)
{
    char *name = table_title(job, &groups->table.columns[column]), *title = NULL;
    const size_t room = (name ? strlen(name) : 0) + strlen(operation) + 3;
    if (name) title = malloc(room);
    io_status status;
    if (title) {
        const int n = *operation ? snprintf(title, room, "%s(%s)", operation, name)
                                 : snprintf(title, room, "%s", name);
        status = table_write_field(output, delimiter_of(groups), title, (size_t)n, error);
    } else {
        status = io_no_memory(error, job->input, room, "the header");
    }
    free(name);
    free(title);
    return status;
}

static io_status write_header(const struct job *job, struct io_output *output,
                              const struct groups *groups, struct io_error *error)
{
    const char delimiter = delimiter_of(groups);
    io_status status = IO_OK;
    for (int k = 0; k < groups->key_count && status == IO_OK; k++) {
        if (k) status = io_write(output, &delimiter, 1, error);
        if (status == IO_OK) status = write_title(job, output, groups, groups->keys[k], "", error);
    }
    for (int v = 0; v < groups->value_count && status == IO_OK; v++) {
        const struct groups_value *value = &groups->values[v];
        status = io_write(output, &delimiter, 1, error);
        if (status != IO_OK) break;
        status = value->plain ? io_write(output, value->name, strlen(value->name), error)
                              : write_title(job, output, groups, groups->value, value->name, error);
    }
    return status == IO_OK ? io_write(output, "\n", 1, error) : status;
}

/* Prefetches the keys of groups that are written later; their rows are anywhere in the input. */
static void prefetch_keys(const struct groups *groups, uint64_t g)
{
    enum { AHEAD = 12 };
    for (int k = 0; k < groups->key_count; k++) {
        const struct table_column *c = &groups->table.columns[groups->keys[k]];
        const size_t bytes = ech_dtype_bytes(c->dtype);
        if (g + 2 * AHEAD >= groups->count) return;
        const uint64_t far = groups_row(groups, groups->offsets[g + 2 * AHEAD]);
        const uint64_t near = groups_row(groups, groups->offsets[g + AHEAD]);
        if (c->kind == TABLE_STRINGS) {
            __builtin_prefetch(c->offsets + far);
            __builtin_prefetch(c->bytes + c->offsets[near]);
        } else {
            __builtin_prefetch((const char *)c->keys + far * bytes);
        }
    }
}

static io_status write_group(struct io_output *output, const struct groups *groups, uint64_t g,
                             struct io_error *error)
{
    const char delimiter = delimiter_of(groups);
    io_status status = IO_OK;
    struct field field;
    for (int k = 0; k < groups->key_count && status == IO_OK; k++) {
        key_field(groups, k, g, &field);
        if (k) status = io_write(output, &delimiter, 1, error);
        if (status == IO_OK)
            status = table_write_field(output, delimiter, field.at, field.n, error);
    }
    for (int v = 0; v < groups->value_count && status == IO_OK; v++) {
        value_field(&groups->values[v], g, &field);
        status = io_write(output, &delimiter, 1, error);
        if (status == IO_OK) status = io_write(output, field.at, field.n, error);
    }
    return status == IO_OK ? io_write(output, "\n", 1, error) : status;
}

int groups_write(struct job *job, struct io_output *output, const struct groups *groups)
{
    const struct io_column *c = &job->column;
    struct io_error error;
    io_status status = IO_OK;
    stage_begin(job, STAGE_WRITE);
    job->n_out = groups->count;
    if (!c->text || io_has_header(c)) status = write_header(job, output, groups, &error);
    for (uint64_t g = 0; g < groups->count && status == IO_OK; g++) {
        prefetch_keys(groups, g);
        status = write_group(output, groups, g, &error);
    }
    return job_commit(job, output, status, &error);
}

/* ---- JSON ---- */

/* The writer of JSON ends at a zero, which therefore becomes U+FFFD, as invalid UTF-8 does. */
static void json_key(struct json *json, const struct field *field, char *text)
{
    memcpy(text, field->at, field->n);
    text[field->n] = 0;
    for (size_t i = 0; i < field->n; i++)
        if (!text[i]) text[i] = (char)0xff;
    json_text(json, NULL, text);
}

/* The length of the longest key. */
static size_t longest_key(const struct groups *groups)
{
    struct field field;
    size_t longest = 0;
    for (uint64_t g = 0; g < groups->count; g++)
        for (int k = 0; k < groups->key_count; k++) {
            key_field(groups, k, g, &field);
            if (field.n > longest) longest = field.n;
        }
    return longest;
}

static void json_group(struct json *json, const struct groups *groups, uint64_t g, char *text)
{
    struct field field;
    json_open(json, NULL, '{');
    json_open(json, "key", '[');
    for (int k = 0; k < groups->key_count; k++) {
        key_field(groups, k, g, &field);
        if (groups->table.columns[groups->keys[k]].kind == TABLE_STRINGS)
            json_key(json, &field, text);
        else
            json_literal(json, NULL, field.number);
    }
    json_close(json, ']');
    for (int v = 0; v < groups->value_count; v++) {
        value_field(&groups->values[v], g, &field);
        json_literal(json, groups->values[v].name, field.number);
    }
    json_close(json, '}');
}

int groups_print_json(const struct job *job, const struct groups *groups)
{
    struct json json = { .to = stdout };
    const size_t room = longest_key(groups) + 1;
    char *text = malloc(room);
    if (!text) return job_no_memory(job, room, "a key");
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_open(&json, "by", '[');
    for (int k = 0; k < groups->key_count; k++)
        json_text(&json, NULL, groups->table.columns[groups->keys[k]].word);
    json_close(&json, ']');
    json_open(&json, "by_types", '[');
    for (int k = 0; k < groups->key_count; k++) {
        const struct table_column *c = &groups->table.columns[groups->keys[k]];
        json_text(&json, NULL, c->kind == TABLE_STRINGS ? "strings" : ech_dtype_name(c->dtype));
    }
    json_close(&json, ']');
    if (groups->value >= 0) {
        const struct table_column *c = &groups->table.columns[groups->value];
        json_text(&json, "column", c->word);
        json_text(&json, "type", ech_dtype_name(c->dtype));
    }
    json_header(&json, &job->column);
    json_count(&json, "n", job->column.n);
    json_open(&json, "groups", '[');
    for (uint64_t g = 0; g < groups->count; g++) json_group(&json, groups, g, text);
    json_close(&json, ']');
    json_close(&json, '}');
    putchar('\n');
    free(text);
    return EXIT_DONE;
}
