/*
 * sort_rows_across.c - sorts lines of a matrix that lie across its storage, for "echelon sort".
 *
 *     divide()       blocks of the matrix, transposed, to a temporary file
 *     sort_groups()  groups of lines, read from all blocks, sorted, written back
 *     join()         blocks, transposed back, to the output
 *
 * If lines are contiguous in the input, divide() is omitted; if they are in the output, join().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_rows.h"

#include <stdlib.h>
#include <string.h>

/* The temporary file has blocks of some outer elements of every line. */
struct across {
    struct rows *rows;
    struct sort_scratch keys, index; /* index: of an argsort */
    uint64_t block;                  /* outer elements of a block; the last one may have fewer */
    char *group;                     /* lines that are sorted at once */
};

static uint64_t block_length(const struct across *a, uint64_t first)
{
    const uint64_t left = a->rows->outer - first;
    return left < a->block ? left : a->block;
}

static int transpose(struct rows *r, const char *in, char *out, uint64_t rows, uint64_t cols,
                     size_t bytes)
{
    stage_begin(r->base, STAGE_WORK);
    const ech_status status =
        ech_transpose(r->base->ctx, in, out, (size_t)rows, (size_t)cols, bytes);
    stage_end(r->base, STAGE_WORK, 0);
    return rows_fail_ech(r, status);
}

static int divide(struct across *a)
{
    struct rows *r = a->rows;
    int code = EXIT_DONE;
    for (uint64_t i = 0; i < r->outer && code == EXIT_DONE; i += a->block) {
        const uint64_t n = block_length(a, i);
        uint64_t got;
        code = rows_read(r, r->in, n * r->inner, &got);
        if (code == EXIT_DONE) code = transpose(r, r->in, r->second, n, r->inner, r->bytes);
        stage_begin(r->base, STAGE_WRITE);
        if (code == EXIT_DONE)
            code = sort_scratch_append(&a->keys, r->second, (size_t)(n * r->inner) * r->bytes);
        stage_end(r->base, STAGE_WRITE, 0);
    }
    return code;
}

/* Moves lines [from, from + n) between the blocks of a file and a group, in which each line is
 * contiguous.  r->in receives the part of a block. */
static int move_lines(struct across *a, struct sort_scratch *file, char *group, size_t bytes,
                      uint64_t from, uint64_t n, bool write)
{
    struct rows *r = a->rows;
    int code = EXIT_DONE;
    stage_begin(r->base, write ? STAGE_WRITE : STAGE_READ);
    for (uint64_t i = 0; i < r->outer && code == EXIT_DONE; i += a->block) {
        const uint64_t length = block_length(a, i);
        const uint64_t place = (i * r->inner + from * length) * bytes;
        const size_t piece = (size_t)length * bytes, all = (size_t)n * piece;
        if (!write) code = sort_scratch_get(file, place, r->in, all);
        for (uint64_t k = 0; k < n && code == EXIT_DONE; k++) {
            char *line = group + (k * r->outer + i) * bytes;
            memcpy(write ? r->in + k * piece : line, write ? line : r->in + k * piece, piece);
        }
        if (write) code = sort_scratch_put(file, place, r->in, all);
    }
    stage_end(r->base, write ? STAGE_WRITE : STAGE_READ, 0);
    return code;
}

/* Sorts groups of lines. */
static int sort_groups(struct across *a, uint64_t at_once)
{
    struct rows *r = a->rows;
    const bool argsort = r->job->argsort;
    int code = EXIT_DONE;
    for (uint64_t i = 0; i < r->inner && code == EXIT_DONE; i += at_once) {
        const uint64_t n = at_once < r->inner - i ? at_once : r->inner - i;
        char *sorted = argsort ? r->second : a->group;
        uint64_t got;
        code = r->lines_in ? rows_read(r, a->group, n * r->outer, &got)
                           : move_lines(a, &a->keys, a->group, r->bytes, i, n, false);
        if (code == EXIT_DONE) code = rows_sort(r, a->group, r->second, n, r->outer);
        if (code != EXIT_DONE) break;
        code = r->lines_out ? rows_write(r, sorted, n * r->outer)
                            : move_lines(a, argsort ? &a->index : &a->keys, sorted, r->out_bytes, i,
                                         n, true);
    }
    return code;
}

static int join(struct across *a)
{
    struct rows *r = a->rows;
    const struct sort_scratch *file = r->job->argsort ? &a->index : &a->keys;
    int code = EXIT_DONE;
    for (uint64_t i = 0; i < r->outer && code == EXIT_DONE; i += a->block) {
        const uint64_t n = block_length(a, i), elements = n * r->inner;
        stage_begin(r->base, STAGE_READ);
        code = sort_scratch_get(file, i * r->inner * r->out_bytes, r->in,
                                (size_t)elements * r->out_bytes);
        stage_end(r->base, STAGE_READ, 0);
        if (code == EXIT_DONE) code = transpose(r, r->in, r->second, r->inner, n, r->out_bytes);
        if (code == EXIT_DONE) code = rows_write(r, r->second, elements);
    }
    return code;
}

static int run_across(struct across *a)
{
    struct rows *r = a->rows;
    const uint64_t elements = r->outer * r->inner;
    const uint64_t at_once = rows_fit(r, r->inner, r->outer, r->out_bytes);
    a->block = r->budget / (2 * r->out_bytes) / r->inner;
    if (a->block > r->outer) a->block = r->outer;
    if (!at_once) return EXIT_MEMORY;
    if (!a->block)
        return cli_fail(EXIT_MEMORY, "%s: two of its rows do not fit in the budget of %llu bytes",
                        r->name, (unsigned long long)r->budget);
    const uint64_t blocks = a->block * r->inner, lines = at_once * r->outer;
    int code = sort_scratch_open(r->set, &a->keys);
    if (code == EXIT_DONE) code = sort_scratch_reserve(&a->keys, elements * r->bytes);
    if (code == EXIT_DONE && r->job->argsort) code = sort_scratch_open(r->set, &a->index);
    if (code == EXIT_DONE && r->job->argsort)
        code = sort_scratch_reserve(&a->index, elements * r->out_bytes);
    if (code == EXIT_DONE) code = rows_allocate(r, &r->in, blocks * r->out_bytes);
    if (code == EXIT_DONE) code = rows_allocate(r, &r->second, blocks * r->out_bytes);
    if (code == EXIT_DONE && !r->lines_in) code = divide(a);
    free(r->in);
    free(r->second);
    r->in = r->second = NULL;
    if (code == EXIT_DONE) code = rows_allocate(r, &a->group, lines * r->bytes);
    if (code == EXIT_DONE) code = rows_allocate(r, &r->in, lines * r->out_bytes);
    if (code == EXIT_DONE && r->job->argsort)
        code = rows_allocate(r, &r->second, lines * r->out_bytes);
    if (code == EXIT_DONE) code = sort_groups(a, at_once);
    free(a->group);
    free(r->in);
    free(r->second);
    r->in = r->second = NULL;
    if (code != EXIT_DONE || r->lines_out) return code;
    code = rows_allocate(r, &r->in, blocks * r->out_bytes);
    if (code == EXIT_DONE) code = rows_allocate(r, &r->second, blocks * r->out_bytes);
    return code == EXIT_DONE ? join(a) : code;
}

int rows_sort_across(struct rows *r)
{
    struct across a = { .rows = r, .keys.fd = -1, .index.fd = -1 };
    const int code = run_across(&a);
    sort_scratch_close(&a.keys);
    sort_scratch_close(&a.index);
    return code;
}
