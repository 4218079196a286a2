/*
 * sort_check_numbers.c - checks for "echelon sort --check" whether an input that is not in memory
 * is sorted: numbers of an array, or of a text; other text is left to sort_check.c.
 *
 *     kind of the input (sort_kinds.c) -> block by block: the last number before it, its numbers
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 1 << 18 }; /* numbers of a block, with that of the block before */

struct numbers_check {
    struct sort_files *files;
    size_t bytes; /* of a number */
    char *keys;   /* [MOST]; the first one is the last one of the block before, unless first */
    bool first;
    uint64_t done; /* numbers before keys */
};

/* Checks n numbers that follow the one before. */
static int check_some(struct numbers_check *c, size_t n)
{
    struct io_column *column = &c->files->job->base.column;
    column->keys = c->keys;
    column->n = n + !c->first;
    if (!n) return EXIT_DONE;
    const int code = sort_check_numbers(c->files->set, c->files->job, c->done);
    c->done += column->n - 1;
    memcpy(c->keys, c->keys + (size_t)(column->n - 1) * c->bytes, c->bytes);
    c->first = false;
    return code;
}

static char *next_keys(const struct numbers_check *c)
{
    return c->keys + (c->first ? 0 : c->bytes);
}

/* ---- Arrays ---- */

static int check_array(struct numbers_check *c)
{
    struct sort_files *files = c->files;
    const struct files_input *input = &files->inputs[0];
    size_t got = 1;
    uint64_t from = 0;
    int code = EXIT_DONE;
    while (code == EXIT_DONE && got) {
        const size_t want = (MOST - 1) * c->bytes;
        code = sort_files_read(files, 0, next_keys(c), (size_t)from, want, &got);
        if (code != EXIT_DONE) return code;
        from += got;
        if (got % c->bytes)
            return cli_fail(EXIT_BAD,
                            "%s: has %llu bytes, which is not a multiple of %zu, the size of %s",
                            input->name, (unsigned long long)from, c->bytes,
                            ech_dtype_name(files->job->base.column.dtype));
        if (files->job->base.column.npy.big_endian) io_swap(next_keys(c), got / c->bytes, c->bytes);
        code = check_some(c, got / c->bytes);
        if (got < want) break;
    }
    if (code == EXIT_DONE && input->fd < 0 && input->expects && from != input->expected)
        return cli_fail(EXIT_BAD, "%s: %s, but %s follow", input->name, input->expects,
                        from < input->expected ? "fewer" : "more");
    return code;
}

/* ---- Text ---- */

/* The line of a message is found in the block. */
static int check_records(struct numbers_check *c, struct sort_reader *r, uint64_t *lines, size_t at,
                         size_t n)
{
    struct io_column *column = &c->files->job->base.column;
    column->text = r->block;
    column->text_bytes = r->have;
    for (size_t i = 0; i <= n; i++) lines[i] += at;
    column->lines = c->first ? lines : lines - 1; /* lines[-1] has no meaning, and is not used */
    return check_some(c, n);
}

static uint64_t count_newlines(const char *text, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += text[i] == '\n';
    return n;
}

static int check_text(struct numbers_check *c)
{
    struct sort_reader r = { .block = NULL };
    struct io_column *column = &c->files->job->base.column;
    uint64_t *lines = malloc((MOST + 1) * sizeof *lines);
    int code = lines ? EXIT_DONE : job_no_memory(&c->files->job->base, MOST, "offsets");
    if (code == EXIT_DONE) code = sort_reader_open(c->files, &r, 0);
    size_t at = 0;
    column->delimiter = c->files->column.delimiter;
    while (code == EXIT_DONE) {
        if (at) column->lines_before += count_newlines(r.block, at);
        code = sort_reader_fill(&r, at);
        for (at = 0; code == EXIT_DONE && at < r.have;) {
            size_t n;
            const size_t some = sort_parse_records(c->files, r.block + at, r.have - at, MOST - 1,
                                                   lines + 1, next_keys(c), &n);
            if (!n) break;
            code = check_records(c, &r, lines + 1, at, n);
            at += some;
        }
        if (r.ended) break;
    }
    free(r.block);
    free(lines);
    return code;
}

/* ---- The kind ---- */

static int check_kind(struct sort_files *files)
{
    struct io_column *column = &files->job->base.column;
    const bool text = column->format == IO_TEXT;
    const struct io_column loaded = *column;
    struct numbers_check c = { .files = files,
                               .bytes = ech_dtype_bytes(column->dtype),
                               .first = true };
    c.keys = malloc(MOST * sizeof(uint64_t));
    if (!c.keys) return job_no_memory(&files->job->base, MOST * sizeof(uint64_t), "numbers");
    *column = (struct io_column){ .format = loaded.format,
                                  .dtype = loaded.dtype,
                                  .npy = loaded.npy,
                                  .lines_before = count_newlines(files->head, files->head_bytes) };
    const int code = text ? check_text(&c) : check_array(&c);
    *column = loaded;
    free(c.keys);
    return code;
}

/* The text that was opened and, if it is a pipe, copied. */
static int check_lines(struct sort_files *files)
{
    struct files_input *input = &files->inputs[0];
    struct io_source source = { .fd = input->fd, .name = input->name };
    if (input->fd < 0) return sort_check_source(files->set, files->text, &files->sources[0]);
    if (lseek(source.fd, (off_t)input->offset, SEEK_SET) < 0)
        return cli_fail(EXIT_BAD, "%s: cannot be read again", input->name);
    return sort_check_source(files->set, files->text, &source);
}

int sort_check_files(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
                     bool *done)
{
    struct sort_files files = { .set = set, .job = job, .text = text };
    bool usable;
    *done = false;
    if (!sort_files_needed(&files)) return EXIT_DONE;
    const struct io_output none = { .fd = -1 };
    int code = sort_files_open(&files, &none, &usable);
    *done = code != EXIT_DONE || usable;
    if (code == EXIT_DONE && !usable) sort_files_hand_over(&files);
    if (code == EXIT_DONE && usable)
        code = files.sort.kind == &files.text_lines.kind ? check_lines(&files) : check_kind(&files);
    sort_files_close(&files);
    return code;
}
