/*
 * table_write.c - writes parts of tables: names and fields with their quotes, and records.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_read.h"

#include <stdlib.h>
#include <string.h>

/* ---- Text ---- */

char *table_copy_field(char *to, const char *at, const char *end, bool quoted)
{
    if (!quoted) {
        memcpy(to, at, (size_t)(end - at));
        return to + (end - at);
    }
    for (; at < end; at++) {
        if (*at == '"' && at + 1 < end && at[1] == '"') at++;
        *to++ = *at;
    }
    return to;
}

char *table_title(const struct job *job, const struct table_column *column)
{
    const struct io_column *c = &job->column;
    const char *at = "", *end = at, *fault, *first = NULL;
    if (!c->text && column->word) at = column->word, end = at + strlen(at); /* of records */
    if (c->text && io_has_header(c)) {
        const bool mark = c->head_bytes > 3 && memcmp(c->text, "\xEF\xBB\xBF", 3) == 0;
        first = at = c->text + (mark ? 3 : 0);
        end = c->text + c->head_bytes - 1;
        if (io_cut_record(&column->cut, &at, &end, &fault) != column->cut.number) end = at;
    }
    const bool quoted = first && column->cut.delimiter && at > first && at[-1] == '"';
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) end--;
    char *title = malloc((size_t)(end - at) + 1);
    if (title) *table_copy_field(title, at, end, quoted) = 0;
    return title;
}

io_status table_write_field(struct io_output *output, char delimiter, const char *at, size_t n,
                            struct io_error *error)
{
    bool quote = n > 0 && (*at == ' ' || *at == '"');
    for (size_t i = 0; i < n && !quote; i++)
        quote = at[i] == delimiter || at[i] == '"' || at[i] == '\n' || at[i] == '\r';
    if (!quote || !delimiter) return io_write(output, at, n, error);
    io_status status = io_write(output, "\"", 1, error);
    for (size_t i = 0; i < n && status == IO_OK; i++) {
        if (at[i] == '"') status = io_write(output, "\"", 1, error);
        if (status == IO_OK) status = io_write(output, at + i, 1, error);
    }
    return status == IO_OK ? io_write(output, "\"", 1, error) : status;
}

/* ---- Records ---- */

/* The header of the input with another number of elements, from malloc().  Returns NULL if it has
 * no shape, or out of memory. */
static char *make_header(const struct io_column *c, uint64_t n, size_t *bytes)
{
    const char *header = (const char *)c->header;
    const size_t prefix = header[6] == 1 ? 10 : 12, have = c->npy.header_bytes - prefix;
    char *dict = malloc(have + 1), *made = malloc(have + 256);
    char *shape = NULL, *open = NULL, *close = NULL;
    if (dict && made) {
        memcpy(dict, header + prefix, have);
        dict[have] = 0;
        shape = strstr(dict, "'shape'");
        open = shape ? strchr(shape, '(') : NULL;
        close = open ? strchr(open, ')') : NULL;
    }
    if (close) {
        char *end = dict + have;
        while (end > close && (end[-1] == ' ' || end[-1] == '\n')) end--;
        int used = snprintf(made + prefix, have + 200, "%.*s(%llu,)%.*s", (int)(open - dict), dict,
                            (unsigned long long)n, (int)(end - close - 1), close + 1);
        memcpy(made, header, prefix);
        *bytes = (prefix + (size_t)used + 1 + 63) / 64 * 64;
        memset(made + prefix + used, ' ', *bytes - prefix - (size_t)used);
        made[*bytes - 1] = '\n';
        io_store(made + 8, prefix - 8, *bytes - prefix);
    } else {
        free(made);
        made = NULL;
    }
    free(dict);
    return made;
}

io_status table_write_records(const struct job *job, struct io_output *output, bool npy,
                              const uint64_t *positions, uint64_t n, struct io_error *error)
{
    const struct io_column *c = &job->column;
    const size_t each = (size_t)job->record_bytes;
    io_status status = IO_OK;
    if (npy) {
        size_t bytes = 0;
        char *header = make_header(c, n, &bytes);
        if (!header) return io_no_memory(error, job->input, c->npy.header_bytes, "the header");
        status = io_write(output, header, bytes, error);
        free(header);
    }
    const char *records = c->keys;
    for (uint64_t i = 0; i < n && status == IO_OK; i++)
        status = io_write(output, records + positions[i] * each, each, error);
    return status;
}
