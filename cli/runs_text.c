/*
 * runs_text.c - loads files that are sorted as text, and replaces their strings by ranks.
 *
 * Ranks are numbers with the order of the strings, so that the operations on numbers apply.  The
 * strings of all files are ranked together, because equal strings must have equal ranks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runs.h"

#include <stdlib.h>
#include <string.h>

static struct io_column *column_of(struct runs_job *job, int i)
{
    return i ? &job->columns[i] : &job->base.column;
}

int runs_load_one(struct runs_job *job, const struct job_words *words, int i)
{
    struct table table = { .has_string = true };
    struct io_column *c = &job->base.column;
    int type, code = cli_parse_dtype(words->type, &type);
    if (code != EXIT_DONE) return code;
    const enum table_kind kind = job->string ? TABLE_STRINGS
                                 : type < 0  ? TABLE_GUESS
                                             : TABLE_NUMBERS;
    table_add(&table, words->column, kind, type);
    code = table_load(&job->base, words, &table);
    job->names[i] = job->base.input; /* "standard input" */
    struct table_column *column = &table.columns[0];
    if (code == EXIT_DONE && c->text && column->kind == TABLE_STRINGS) {
        job->strings[i] = *column;
        job->text = true;
        *column = (struct table_column){ 0 };
    } else if (code == EXIT_DONE && c->text) {
        c->keys = column->keys;
        c->dtype = column->dtype;
        c->keys_bytes = (size_t)c->n * ech_dtype_bytes(c->dtype);
        column->keys = NULL;
    }
    table_free(&table);
    return code;
}

/* Appends the strings of all files to job->all; rows is their number. */
static int join(struct runs_job *job, uint64_t *rows)
{
    uint64_t n = 0, bytes = 0;
    for (int i = 0; i < job->count; i++) {
        const struct io_column *c = column_of(job, i);
        n += c->n;
        if (c->n && !job->strings[i].offsets)
            return cli_fail(EXIT_BAD,
                            "%s: the lines are numbers, but those of other files are text; "
                            "--string compares all as text",
                            job->names[i]);
        if (c->n) bytes += job->strings[i].offsets[c->n];
    }
    struct table_column *all = &job->all;
    all->offsets = malloc(((size_t)n + 1) * sizeof *all->offsets);
    all->bytes = malloc((size_t)bytes + 1);
    if (!all->offsets || !all->bytes)
        return job_no_memory(&job->base, bytes + n * sizeof *all->offsets, "the strings");
    *rows = n;
    n = bytes = 0;
    for (int i = 0; i < job->count; i++) {
        struct table_column *from = &job->strings[i];
        const uint64_t own = column_of(job, i)->n;
        for (uint64_t k = 0; k < own; k++) all->offsets[n++] = bytes + from->offsets[k];
        if (own) memcpy(all->bytes + bytes, from->bytes, (size_t)from->offsets[own]);
        if (own) bytes += from->offsets[own];
        free(from->offsets);
        free(from->bytes);
        from->offsets = NULL;
        from->bytes = NULL;
    }
    all->offsets[n] = bytes;
    return EXIT_DONE;
}

/* String i of all files, at most as many bytes as a message shows. */
static const char *show(const struct runs_job *job, uint64_t i, char text[64])
{
    const struct table_column *all = &job->all;
    const size_t n = (size_t)(all->offsets[i + 1] - all->offsets[i]);
    snprintf(text, 64, "%.*s%s", n < 48 ? (int)n : 48, all->bytes + all->offsets[i],
             n > 48 ? "..." : "");
    return text;
}

/* Fails if file i, whose strings begin at position first, is not sorted. */
static int check_sorted(struct runs_job *job, int i, uint64_t first)
{
    const struct io_column *c = column_of(job, i);
    const ech_is_sorted_options o = { .size = sizeof o, .descending = job->descending };
    char now[64], before[64];
    uint64_t at = 0;
    const ech_status status =
        ech_is_sorted(job->base.ctx, c->keys, &at, (size_t)c->n, c->dtype, &o);
    if (status != ECH_OK) return cli_fail_ech(status, job->base.ctx);
    if (at == c->n) return EXIT_DONE;
    return cli_fail(EXIT_BAD,
                    "%s: not sorted as text, by bytes: line %llu is \"%s\", after \"%s\"; sort the "
                    "file first",
                    job->names[i], (unsigned long long)io_line_number(c, at),
                    show(job, first + at, now), show(job, first + at - 1, before));
}

int runs_rank(struct runs_job *job)
{
    uint64_t rows = 0, first = 0;
    int code = join(job, &rows);
    stage_begin(&job->base, STAGE_WORK);
    if (code == EXIT_DONE) code = table_rank(&job->base, &job->all, rows);
    for (int i = 0; i < job->count && code == EXIT_DONE; i++) {
        struct io_column *c = column_of(job, i);
        const size_t bytes = ech_dtype_bytes(job->all.dtype);
        c->dtype = job->all.dtype;
        c->keys_bytes = (size_t)c->n * bytes;
        free(c->keys);
        c->keys = malloc(c->keys_bytes + 1);
        if (!c->keys) {
            code = job_no_memory(&job->base, c->keys_bytes, "the ranks");
            break;
        }
        memcpy(c->keys, (const char *)job->all.keys + first * bytes, c->keys_bytes);
        code = check_sorted(job, i, first);
        first += c->n;
    }
    stage_end(&job->base, STAGE_WORK, 0);
    job->base.strings = true;
    return code;
}
