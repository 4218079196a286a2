/*
 * stats_text.c - summary statistics of strings: counts, lengths, extremes, the most frequent one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

struct text_stats {
    uint64_t empty, shortest, longest, mode_count;
    char *first, *last, *mode; /* from malloc(); NULL without strings */
};

static uint64_t length_of(const struct table_column *column, uint64_t row)
{
    return column->offsets[row + 1] - column->offsets[row];
}

static void find_lengths(const struct io_column *c, const struct table_column *column,
                         struct text_stats *stats)
{
    stats->shortest = c->n ? UINT64_MAX : 0;
    for (uint64_t i = 0; i < c->n; i++) {
        const uint64_t bytes = length_of(column, i);
        stats->empty += bytes == 0;
        if (bytes < stats->shortest) stats->shortest = bytes;
        if (bytes > stats->longest) stats->longest = bytes;
    }
}

/* A copy of the string with this rank, in which a zero byte is an invalid character of UTF-8. */
static char *copy_string(const struct job *job, const struct table_column *column, uint64_t rank)
{
    const struct io_column *c = &job->column;
    const size_t bytes = ech_dtype_bytes(c->dtype);
    const char *keys = c->keys;
    uint64_t row = 0;
    while (io_load(keys + row * bytes, bytes) != rank) row++;
    const char *at = column->bytes + column->offsets[row];
    const size_t n = (size_t)(column->bytes + column->offsets[row + 1] - at);
    char *text = malloc(n + 1);
    if (!text) return NULL;
    memcpy(text, at, n);
    text[n] = 0;
    for (size_t i = 0; i < n; i++)
        if (!text[i]) text[i] = (char)0xff;
    return text;
}

static int find_stats(struct job *job, const struct table_column *column, struct text_stats *stats)
{
    const struct io_column *c = &job->column;
    uint64_t rank = 0;
    stage_begin(job, STAGE_WORK);
    find_lengths(c, column, stats);
    const ech_status status =
        ech_mode(job->ctx, c->keys, &rank, &stats->mode_count, (size_t)c->n, c->dtype, NULL);
    stage_end(job, STAGE_WORK, 0);
    if (status != ECH_OK) return cli_fail_ech(status, job->ctx);
    if (c->n == 0) return EXIT_DONE;
    stats->first = copy_string(job, column, 0);
    stats->last = copy_string(job, column, column->distinct - 1);
    stats->mode = copy_string(job, column, io_load(&rank, ech_dtype_bytes(c->dtype)));
    if (!stats->first || !stats->last || !stats->mode)
        return job_no_memory(job, 3 * stats->longest, "its strings");
    return EXIT_DONE;
}

/* ---- Output ---- */

static void print_count(const char *name, uint64_t count)
{
    printf("%-10s  %llu\n", name, (unsigned long long)count);
}

static void print_string(const char *name, const char *text)
{
    printf("%-10s  ", name);
    cli_print_name(stdout, text);
    putchar('\n');
}

static void print_text(const struct job *job, const struct table_column *column,
                       const struct text_stats *stats)
{
    print_count("n", job->column.n);
    print_count("empty", stats->empty);
    print_count("distinct", column->distinct);
    if (!stats->mode) return;
    print_count("shortest", stats->shortest);
    print_count("longest", stats->longest);
    print_string("first", stats->first);
    print_string("last", stats->last);
    print_string("mode", stats->mode);
    print_count("mode_count", stats->mode_count);
}

static void print_json(const struct job *job, const struct table_column *column,
                       const struct text_stats *stats)
{
    struct json json = { .to = stdout };
    json_open(&json, NULL, '{');
    json_text(&json, "input", job->input);
    json_text(&json, "type", "strings");
    json_header(&json, &job->column);
    json_count(&json, "n", job->column.n);
    json_count(&json, "empty", stats->empty);
    json_count(&json, "distinct", column->distinct);
    if (stats->mode) {
        json_count(&json, "shortest", stats->shortest);
        json_count(&json, "longest", stats->longest);
        json_text(&json, "first", stats->first);
        json_text(&json, "last", stats->last);
        json_text(&json, "mode", stats->mode);
        json_count(&json, "mode_count", stats->mode_count);
    }
    json_close(&json, '}');
    putchar('\n');
}

int stats_of_strings(struct job *job, const struct table_column *column, bool json)
{
    struct text_stats stats = { 0 };
    const int code = find_stats(job, column, &stats);
    cli_progress_end(&job->progress);
    if (code == EXIT_DONE && json) print_json(job, column, &stats);
    if (code == EXIT_DONE && !json) print_text(job, column, &stats);
    free(stats.first);
    free(stats.last);
    free(stats.mode);
    return code;
}
