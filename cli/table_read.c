/*
 * table_read.c - reads columns of strings from a text, and columns from an array of records.
 *
 * A string is a column without its quotes, in which "" is a quote.  A carriage return at the end of
 * a record does not belong to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_read.h"

#include <stdlib.h>
#include <string.h>

/* ---- Fields of a text ---- */

/* The end of row i: its newline. */
static const char *row_end(const struct io_column *c, uint64_t i)
{
    return c->text + (i + 1 < c->n ? (size_t)c->lines[i + 1] : c->text_bytes) - 1;
}

/* As table_cut(), but returns the number of the column that was found. */
static uint64_t cut(const struct io_column *c, const struct table_column *column, uint64_t i,
                    const char **at, const char **end, const char **fault)
{
    *at = c->text + c->lines[i];
    *end = row_end(c, i);
    *fault = NULL;
    return column->cut.number ? io_cut_record(&column->cut, at, end, fault) : 0;
}

bool table_cut(const struct io_column *c, const struct table_column *column, uint64_t i,
               const char **at, const char **end, const char **fault)
{
    return cut(c, column, i, at, end, fault) == column->cut.number && !*fault;
}

/* Reports row i, whose column is malformed or missing. */
static int bad_row(const struct job *job, const struct table_column *column, uint64_t i)
{
    const struct io_column *c = &job->column;
    const char *at, *end, *fault;
    unsigned long long has = cut(c, column, i, &at, &end, &fault), want = column->cut.number;
    unsigned long long line = io_line_at(c, fault ? at : c->text + c->lines[i]);
    if (fault)
        return cli_fail(EXIT_BAD, "%s: line %llu, column %llu, %s", job->input, line, has, fault);
    return cli_fail(EXIT_BAD, "%s: line %llu has %llu column%s, but column %llu is selected",
                    job->input, line, has, has == 1 ? "" : "s", want);
}

int table_read_strings(struct job *job, struct table_column *column)
{
    const struct io_column *c = &job->column;
    const size_t most = c->text_bytes - c->head_bytes, n = (size_t)c->n;
    column->offsets = malloc((n + 1) * sizeof *column->offsets);
    column->bytes = malloc(most + 1);
    if (!column->offsets || !column->bytes)
        return job_no_memory(job, most + n * sizeof *column->offsets, "its strings");
    char *to = column->bytes;
    for (uint64_t i = 0; i < c->n; i++) {
        const char *at, *end, *fault, *row = c->text + c->lines[i];
        if (!table_cut(c, column, i, &at, &end, &fault)) return bad_row(job, column, i);
        const bool quoted = column->cut.delimiter && at > row && at[-1] == '"';
        if (!quoted && end > at && end == row_end(c, i) && end[-1] == '\r') end--;
        column->offsets[i] = (uint64_t)(to - column->bytes);
        to = table_copy_field(to, at, end, quoted);
    }
    const size_t used = (size_t)(to - column->bytes);
    column->offsets[n] = used;
    char *smaller = realloc(column->bytes, used + 1);
    if (smaller) column->bytes = smaller;
    return EXIT_DONE;
}

/* ---- Fields of records ---- */

/* The dtype of a field; -1: strings of bytes; -2: another type.  *swap: it is big-endian. */
static int field_type(const struct io_record_field *field, bool *swap)
{
    const char *descr = field->descr;
    *swap = descr[0] == '>' && field->element_bytes > 1;
    if (field->array) return -2;
    if (descr[1] == 'S') return -1;
    for (int type = 0; ech_dtype_bytes((ech_dtype)type); type++) {
        const char *numpy = io_npy_descr((ech_dtype)type);
        if (numpy && strcmp(strcmp(descr + 1, "b1") == 0 ? "u1" : descr + 1, numpy + 1) == 0)
            return type;
    }
    return -2;
}

/* The strings of a field end at their last byte that is not zero, as in NumPy. */
static int copy_strings(struct job *job, const struct io_record_field *field, size_t record_bytes,
                        struct table_column *column)
{
    const size_t n = (size_t)job->column.n, width = (size_t)field->element_bytes;
    const char *from = (const char *)job->column.keys + field->offset_bytes;
    column->offsets = malloc((n + 1) * sizeof *column->offsets);
    column->bytes = malloc(n * width + 1);
    if (!column->offsets || !column->bytes)
        return job_no_memory(job, n * (width + sizeof *column->offsets), "its strings");
    size_t used = 0;
    for (size_t i = 0; i < n; i++, from += record_bytes) {
        size_t length = width;
        while (length && from[length - 1] == 0) length--;
        column->offsets[i] = used;
        memcpy(column->bytes + used, from, length);
        used += length;
    }
    column->offsets[n] = used;
    return EXIT_DONE;
}

static int copy_numbers(struct job *job, const struct io_record_field *field, size_t record_bytes,
                        bool swap, struct table_column *column)
{
    const size_t n = (size_t)job->column.n, width = (size_t)field->element_bytes;
    const char *from = (const char *)job->column.keys + field->offset_bytes;
    char *to = column->keys = malloc(n * width + 1);
    if (!to) return job_no_memory(job, n * width, "its numbers");
    for (size_t i = 0; i < n; i++, from += record_bytes, to += width) memcpy(to, from, width);
    if (swap) io_swap(column->keys, n, width);
    return EXIT_DONE;
}

static int read_field(struct job *job, const struct table *table, struct table_column *column)
{
    const struct io_records *records = &table->records;
    const char *names[IO_MOST_FIELDS], *problem = NULL;
    bool swap;
    int at = 0;
    if (!column->word)
        return cli_fail(EXIT_BAD, "%s: is an array of records; select a field with --column",
                        job->input);
    for (int i = 0; i < records->count; i++) names[i] = records->fields[i].name;
    while (at < records->count && strcmp(names[at], column->word) != 0) at++;
    if (at == records->count) return cli_unknown("field", column->word, names, at);
    const struct io_record_field *field = &records->fields[at];
    const int type = field_type(field, &swap);
    if (type == -2) problem = "neither a number nor bytes";
    if (type == -1 && column->kind == TABLE_NUMBERS) problem = "not a number";
    if (type >= 0 && column->kind == TABLE_STRINGS) problem = "not bytes";
    if (problem)
        return cli_fail(EXIT_BAD, "%s: field \"%s\" has type '%s'%s, which is %s", job->input,
                        column->word, field->descr, field->array ? " and a shape" : "", problem);
    column->kind = type < 0 ? TABLE_STRINGS : TABLE_NUMBERS;
    const size_t record_bytes = (size_t)records->bytes;
    if (type < 0) return copy_strings(job, field, record_bytes, column);
    column->dtype = (ech_dtype)type;
    return copy_numbers(job, field, record_bytes, swap, column);
}

int table_read_records(struct job *job, struct table *table)
{
    int code = EXIT_DONE;
    job->record_bytes = table->records.bytes;
    table->delimiter = '\t';
    for (int i = 0; i < table->count && code == EXIT_DONE; i++)
        code = read_field(job, table, &table->columns[i]);
    return code;
}
