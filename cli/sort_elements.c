/*
 * sort_elements.c - the numbers of a text as elements, for the external sort of "echelon sort".
 *
 *     text, block by block -> offsets of records -> numbers, by all threads -> temporary file
 *
 * If the output is positions or an array, the lines are not needed.  The text was checked before
 * (sort_text.c), so its type is known and every record has a number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _XOPEN_SOURCE 700
#include "io/text.h"
#include "io/threads.h"
#include "sort_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOME = 1 << 12, MOST = 1 << 16 /* records that are parsed at once */ };

/* ---- Records ---- */

struct parse {
    const struct files_column *column;
    const char *text;
    const uint64_t *lines; /* [n + 1] */
    char *keys;
    size_t n;
};

static void parse_some(void *arg, int i)
{
    const struct parse *p = arg;
    const ech_dtype dtype = p->column->dtype;
    const size_t bytes = ech_dtype_bytes(dtype), from = (size_t)i * SOME;
    const size_t to = p->n - from < SOME ? p->n : from + SOME;
    for (size_t k = from; k < to; k++) {
        const char *first = p->text + p->lines[k], *last = p->text + p->lines[k + 1] - 1, *fault;
        uint64_t key = 0;
        if (p->column->cut.number) io_cut_record(&p->column->cut, &first, &last, &fault);
        io_column_key(&p->column->cut, first, last, dtype, &key);
        memcpy(p->keys + k * bytes, &key, bytes);
    }
}

size_t sort_parse_records(const struct sort_files *files, const char *text, size_t bytes,
                          size_t most, uint64_t *lines, char *keys, size_t *n)
{
    const struct files_column *column = &files->column;
    const char *at = text, *end = text + bytes, *open;
    struct parse p = { .column = column, .text = text, .lines = lines, .keys = keys };
    for (lines[0] = 0; at < end && p.n < most;) {
        const char *newline = column->delimiter ? io_record_end(at, end, column->delimiter, &open)
                                                : memchr(at, '\n', (size_t)(end - at));
        if (!newline || newline == end) break;
        at = newline + 1;
        lines[++p.n] = (uint64_t)(at - text);
    }
    *n = p.n;
    if (keys)
        io_for_each_by(files->job->base.threads, (int)((p.n + SOME - 1) / SOME), parse_some, &p);
    return (size_t)(at - text);
}

/* ---- The temporary file ---- */

static int write_elements(struct sort_files *files, struct sort_reader *r, uint64_t *lines,
                          char *keys)
{
    const size_t bytes = ech_dtype_bytes(files->column.dtype);
    size_t done = 0;
    int code = EXIT_DONE;
    for (;;) {
        while (done < r->have && code == EXIT_DONE) {
            size_t n;
            const size_t some =
                sort_parse_records(files, r->block + done, r->have - done, MOST, lines, keys, &n);
            if (!n) break;
            done += some;
            code = sort_scratch_append(&files->elements, keys, n * bytes);
        }
        if (code != EXIT_DONE || r->ended) return code;
        code = sort_reader_fill(r, done);
        if (code != EXIT_DONE) return code;
        done = 0;
    }
}

static int convert(struct sort_files *files)
{
    const size_t bytes = ech_dtype_bytes(files->column.dtype);
    struct sort_reader r = { .block = NULL };
    uint64_t *lines = malloc((MOST + 1) * sizeof *lines);
    char *keys = malloc(MOST * bytes);
    int code = sort_scratch_open(files->set, &files->elements);
    if (code == EXIT_DONE)
        code = sort_scratch_reserve(&files->elements, files->text_records * bytes);
    if (code == EXIT_DONE && (!lines || !keys))
        code = job_no_memory(&files->job->base, MOST * (bytes + sizeof *lines), "numbers");
    if (code == EXIT_DONE) code = sort_reader_open(files, &r, 0);
    cli_progress_stage(&files->job->base.progress, "converting");
    if (code == EXIT_DONE) code = write_elements(files, &r, lines, keys);
    if (code == EXIT_DONE && files->elements.bytes != files->text_records * bytes)
        code = cli_fail(EXIT_BAD, "%s: has changed while it was read", r.input->name);
    free(r.block);
    free(lines);
    free(keys);
    return code;
}

int sort_files_elements(struct sort_files *files)
{
    struct job *base = &files->job->base;
    struct files_input *input = &files->inputs[0];
    const bool argsort = files->job->argsort;
    const ech_dtype dtype = files->column.dtype, out = argsort ? ECH_U64 : dtype;
    if (files->set->files.resume.given)
        return cli_fail(EXIT_BAD,
                        "%s: --resume cannot continue with numbers of a text, whose output is not "
                        "text",
                        input->name);
    int code = sort_plan_numbers(files, IO_TEXT, out);
    if (code == EXIT_DONE && !files->set->files.dry_run) code = convert(files);
    if (code != EXIT_DONE) return code;
    sort_scratch_close(&files->spool); /* the text of a pipe */
    *input = (struct files_input){ .name = input->name,
                                   .fd = files->elements.fd,
                                   .bytes = files->text_records * ech_dtype_bytes(dtype) };
    if (files->set->rows) files->run = sort_element_rows;
    files->head_bytes = 0;
    sort_plan_after(files, files->set->unique);
    if (base->out_format == IO_NPY) code = sort_make_header(files, NULL, false, dtype);
    files_numbers_init(&files->numbers, dtype, &files->job->options, argsort, false,
                       ech_device_name(base->ctx));
    files->sort.kind = &files->numbers.kind;
    return code;
}
