/*
 * sort_text.c - text without an option for lines, for the external sort: whether every line is a
 * number, or which type a column of numbers has.
 *
 * Only the whole text answers that.  A file is read twice.  A pipe that does not end within a
 * quarter of the budget is copied to a temporary file, unless its begin has a line that is not a
 * number; so the result is that of a file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define _GNU_SOURCE /* memrchr() */
#include "io/text.h"
#include "sort_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- The text, block by block ---- */

int sort_reader_open(struct sort_files *files, struct sort_reader *r, size_t room)
{
    enum { BLOCK = 4 << 20 };
    *r = (struct sort_reader){ .files = files, .input = &files->inputs[0], .room = BLOCK };
    if (r->input->fd < 0) r->room = (size_t)(sort_files_memory(files->set) / 4);
    if (room) r->room = room;
    r->block = malloc(r->room + 1);
    return r->block ? EXIT_DONE : job_no_memory(&files->job->base, r->room, "a block");
}

/* Reads up to want bytes; fewer only at the end. */
static int read_bytes(struct sort_reader *r, char *to, size_t want, size_t *got)
{
    const struct files_input *input = r->input;
    struct io_error error;
    *got = 0;
    if (input->fd < 0) {
        const io_status status = io_read(input->stream, to, want, got, &error);
        return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
    }
    if (want > input->bytes - r->at) want = (size_t)(input->bytes - r->at);
    while (*got < want) {
        const off_t from = (off_t)(input->offset + r->at + *got);
        const ssize_t n = pread(input->fd, to + *got, want - *got, from);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return cli_fail(EXIT_BAD, "%s: cannot read: %s", input->name,
                            n < 0 ? strerror(errno) : "it ended early");
        *got += (size_t)n;
    }
    return EXIT_DONE;
}

int sort_reader_fill(struct sort_reader *r, size_t done)
{
    const struct io_progress *progress = &r->files->job->base.progress.io;
    size_t got = 0;
    r->have -= done;
    memmove(r->block, r->block + done, r->have);
    char *to = r->block + r->have;
    const size_t want = r->room - r->have;
    int code = read_bytes(r, to, want, &got);
    if (code == EXIT_DONE && r->copied) code = sort_scratch_append(&r->files->spool, to, got);
    r->at += got;
    r->have += got;
    progress->tick(progress->user, r->at, r->input->bytes);
    r->ended = r->input->fd < 0 ? got < want : r->at == r->input->bytes;
    if (r->ended && r->have && r->block[r->have - 1] != '\n') r->block[r->have++] = '\n';
    return code;
}

/* Begins to copy the text of a pipe, of which the block has the begin. */
static int begin_copy(struct sort_reader *r)
{
    struct sort_files *files = r->files;
    if (r->input->fd >= 0) return EXIT_DONE;
    if (files->set->files.resume.given)
        return cli_fail(EXIT_BAD,
                        "%s: --resume cannot continue with numbers of a pipe, which are copied; "
                        "sort a file, or give -n, -g or --string",
                        r->input->name);
    r->copied = true;
    const int code = sort_scratch_open(files->set, &files->spool);
    return code == EXIT_DONE ? sort_scratch_append(&files->spool, r->block, (size_t)r->at) : code;
}

/* The copy is the input; its begin is the look-ahead. */
static int end_copy(struct sort_reader *r)
{
    struct sort_files *files = r->files;
    const struct sort_scratch *copy = &files->spool;
    const size_t head = copy->bytes < IO_LOOK ? (size_t)copy->bytes : IO_LOOK;
    if (!r->copied) return EXIT_DONE;
    r->input->fd = copy->fd;
    r->input->offset = 0;
    r->input->bytes = copy->bytes;
    files->begins[0].bytes = malloc(IO_LOOK);
    if (!files->begins[0].bytes) return job_no_memory(&files->job->base, IO_LOOK, "a block");
    files->sources[0].ahead = (const unsigned char *)files->begins[0].bytes;
    files->sources[0].ahead_bytes = head;
    return sort_scratch_get(copy, 0, files->begins[0].bytes, head);
}

/* The block becomes the look-ahead of the pipe, which is read on. */
static void give_back(struct sort_reader *r)
{
    struct sort_files *files = r->files;
    files->begins[0].bytes = r->block;
    files->sources[0].ahead = (const unsigned char *)r->block;
    files->sources[0].ahead_bytes = (size_t)r->at;
    files->held_bytes = r->have;
    r->block = NULL;
}

/* The block, which is all of the pipe, becomes the source of a sort in memory. */
static void give_all(struct sort_reader *r)
{
    struct io_source *source = &r->files->sources[0];
    const char *name = source->name;
    const size_t bytes = (size_t)r->at;
    give_back(r);
    io_close(source); /* a terminal would have to end the text once more */
    io_open_memory(source, name, r->files->begins[0].bytes, bytes);
}

/* ---- The numbers ---- */

/* Finds the column in the first records, which are in the block. */
static int find_column(struct sort_reader *r, const struct io_hints *hints, struct io_column *begin,
                       struct io_cut *cut)
{
    struct io_error error;
    const char *name = r->input->name;
    const char *last = r->have ? memrchr(r->block, '\n', r->have) : NULL;
    *begin = (struct io_column){ .format = IO_TEXT,
                                 .text = r->block,
                                 .text_bytes = last ? (size_t)(last + 1 - r->block) : 0 };
    if (r->have >= 3 && memcmp(r->block, "\xEF\xBB\xBF", 3) == 0) begin->head_bytes = 3;
    const bool is_short = hints->field.column && !r->ended && begin->text_bytes < r->have / 2;
    const io_status status =
        is_short
            ? io_fail(&error, IO_FAIL, name,
                      "a record is longer than half of the %zu bytes of a block; give a larger "
                      "budget with --memory",
                      r->room)
            : io_find_field(begin, &hints->field, true, name, cut, &error);
    return status == IO_OK ? EXIT_DONE : cli_fail_io(status, &error);
}

/* Checks all records.  optional: stops at a line that is not a number; a pipe is then read on if no
 * byte of it was copied. */
static int scan_numbers(struct sort_reader *r, struct io_text_scan *scan, size_t done,
                        bool optional)
{
    const int threads = r->files->job->base.threads;
    int code = EXIT_DONE;
    done += io_text_scan(scan, r->block + done, r->have - done, r->ended, threads);
    if (optional && scan->failed && r->input->fd < 0) {
        give_back(r);
        return EXIT_DONE;
    }
    code = begin_copy(r);
    while (code == EXIT_DONE && !r->ended) {
        const bool stop = optional && scan->failed;
        if (stop && !r->copied) break;
        if (!done && r->have == r->room) {
            if (!optional)
                return cli_fail(EXIT_BAD,
                                "%s: record %llu is longer than %zu bytes, or one of its quotes is "
                                "not closed",
                                r->input->name, (unsigned long long)scan->records + 1, r->room);
            scan->failed = true; /* no number is that long */
        }
        code = sort_reader_fill(r, scan->failed && optional ? r->have : done);
        done =
            scan->failed && optional ? 0 : io_text_scan(scan, r->block, r->have, r->ended, threads);
    }
    return code == EXIT_DONE ? end_copy(r) : code;
}

/* The report has the column, and whether there is a header. */
static int fill_column(struct job *base, const struct io_column *begin, ech_dtype dtype)
{
    struct io_column *c = &base->column;
    *c = (struct io_column){ .format = IO_TEXT, .dtype = dtype, .head_bytes = begin->head_bytes };
    base->out_format = IO_TEXT;
    c->text = malloc(begin->head_bytes + 1);
    c->keys = malloc(1);
    if (!c->text || !c->keys) return job_no_memory(base, begin->head_bytes, "a header");
    c->text_bytes = begin->head_bytes;
    memcpy(c->text, begin->text, begin->head_bytes);
    return EXIT_DONE;
}

/* What is written is not the lines. */
static bool has_elements(const struct sort_files *files)
{
    const char *name = files->set->words.job.output;
    const int said = name ? io_format_from_extension(name) : -1;
    return files->job->argsort || (said >= 0 && said != IO_TEXT);
}

/* Sorts by the numbers that the scan has found. */
static int use_numbers(struct sort_files *files, struct io_text_scan *scan,
                       const struct io_column *begin)
{
    struct job *base = &files->job->base;
    struct io_error error;
    ech_dtype dtype;
    const io_status status = io_text_scan_end(scan, &dtype, &error);
    if (status != IO_OK) return cli_fail_io(status, &error);
    base->column.dtype = dtype;
    files->text_records = scan->records;
    int code = cli_parse_bits(files->set->words.bits, dtype, &files->job->options);
    if (code == EXIT_DONE)
        code = sort_files_head(files, base->column.text, begin->head_bytes, '\n');
    files_column_init(&files->column, &scan->parser.cut, scan->quotes ? begin->delimiter : 0, dtype,
                      &files->job->options, ech_device_name(base->ctx));
    files->sort.kind = &files->column.kind;
    if (code == EXIT_DONE && has_elements(files)) return sort_files_elements(files);
    if (files->set->rows) files->run = sort_text_rows;
    return code;
}

/* optional: text that is not numbers is sorted as lines. */
static int use_text(struct sort_reader *r, const struct io_hints *hints, bool optional)
{
    struct sort_files *files = r->files;
    struct io_column begin;
    struct io_cut cut;
    struct io_text_scan scan;
    int code = find_column(r, hints, &begin, &cut);
    /* Before other blocks are read. */
    if (code == EXIT_DONE) code = fill_column(&files->job->base, &begin, ECH_F64);
    if (code != EXIT_DONE) return code;
    io_text_scan_begin(&scan, &begin, &cut, hints, r->input->name);
    code = scan_numbers(r, &scan, begin.head_bytes, optional);
    if (code != EXIT_DONE) return code;
    const bool lines = optional && scan.failed;
    if (optional)
        files->what = lines ? "a line is not a number: sorted by the bytes of lines"
                            : "every line is a number: sorted as numbers";
    if (!lines) return use_numbers(files, &scan, &begin);
    io_free_column(&files->job->base.column);
    return sort_files_lines(files, files->text->order);
}

/* ---- The choice ---- */

static uint64_t count_lines(const struct sort_reader *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->have; i++) n += r->block[i] == '\n';
    return n;
}

int sort_files_text(struct sort_files *files, const struct io_hints *hints, bool *usable)
{
    struct sort_reader r;
    *usable = files->count == 1;
    if (!*usable) return EXIT_DONE;
    int code = sort_reader_open(files, &r, 0);
    if (code == EXIT_DONE) code = sort_reader_fill(&r, 0);
    *usable = code != EXIT_DONE || r.input->fd >= 0 || !r.ended || sort_files_option(files->set) ||
              !sort_text_fits(files->set, r.have, count_lines(&r));
    if (code == EXIT_DONE && *usable) code = use_text(&r, hints, files->text->order != NULL);
    if (code == EXIT_DONE && !*usable) give_all(&r);
    free(r.block);
    return code;
}
