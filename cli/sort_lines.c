/*
 * sort_lines.c - sorts lines of text in memory for "echelon sort".
 *
 *     text -> lines_sort(): records in order -> blocks of the output -> io_write()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "sort.h"

#include <stdlib.h>
#include <string.h>

enum { OUT_BYTES = 2 << 20 };

/* Two blocks of the output: one is written while the next one is gathered. */
struct writer {
    const struct lines_sorted *sorted;
    struct lines_cursor cursor;
    struct io_output *output;
    struct io_error *error;
    io_status status;
    char *blocks[2];
    size_t bytes[2];
    int now; /* the block that is written; the other one is gathered */
    int threads;
};

static void write_or_gather(void *arg, int i)
{
    struct writer *w = arg;
    if (i == 0)
        w->status = io_write(w->output, w->blocks[w->now], w->bytes[w->now], w->error);
    else
        w->bytes[!w->now] = lines_gather(w->sorted, &w->cursor, w->blocks[!w->now], OUT_BYTES,
                                         w->threads > 2 ? w->threads - 1 : 1);
}

static io_status write_blocks(struct writer *w)
{
    w->bytes[0] = lines_gather(w->sorted, &w->cursor, w->blocks[0], OUT_BYTES, w->threads);
    for (; w->status == IO_OK && w->bytes[w->now]; w->now = !w->now)
        io_for_each_by(w->threads, 2, write_or_gather, w);
    return w->status;
}

static int write_sorted(const struct sort_job *job, const struct sort_text *text,
                        const struct lines_sorted *sorted, struct io_output *output,
                        io_status *status, struct io_error *error)
{
    char *blocks = malloc(2 * OUT_BYTES);
    if (!blocks) return job_no_memory(&job->base, 2 * OUT_BYTES, "the output");
    struct writer w = { .sorted = sorted,
                        .output = output,
                        .error = error,
                        .blocks = { blocks, blocks + OUT_BYTES },
                        .threads = job->base.threads };
    output->total_bytes = text->head + sorted->out_bytes;
    *status = io_write(output, text->text, text->head, error);
    if (*status == IO_OK) *status = write_blocks(&w);
    free(blocks);
    return EXIT_DONE;
}

/* One record after the other, with its keys underlined. */
static io_status write_debug(const struct sort_text *text, const struct lines_sorted *sorted,
                             struct io_output *output, struct io_error *error)
{
    io_status status = io_write(output, text->text, text->head, error);
    for (uint64_t i = 0; i < sorted->n && status == IO_OK; i++) {
        size_t bytes;
        const char *record = lines_record(sorted, i, &bytes);
        status = sort_write_debug(output, text->order, record, bytes, error);
    }
    return status;
}

int sort_lines(const struct sort_set *set, struct sort_job *job, struct sort_text *text,
               struct io_output *output)
{
    struct lines_sorted sorted;
    struct io_error error;
    char message[LINES_ERROR];
    stage_begin(&job->base, STAGE_WORK);
    const ech_status done =
        lines_sort(job->base.ctx, text->order, text->text + text->head, text->bytes - text->head,
                   job->base.threads, &sorted, message);
    stage_end(&job->base, STAGE_WORK, text->bytes);
    if (done == ECH_ERR_MEMORY || done == ECH_ERR_ARG)
        return cli_fail(done == ECH_ERR_ARG ? EXIT_BAD : EXIT_MEMORY, "%s: %s", job->base.input,
                        message);
    if (done != ECH_OK) return cli_fail_ech(done, job->base.ctx);
    job->base.column.n = sorted.n_read;
    job->base.n_out = sorted.n;
    stage_begin(&job->base, STAGE_WRITE);
    io_status status = IO_OK;
    int code = EXIT_DONE;
    if (set->text.debug)
        status = write_debug(text, &sorted, output, &error);
    else
        code = write_sorted(job, text, &sorted, output, &status, &error);
    if (code == EXIT_DONE) code = job_commit(&job->base, output, status, &error);
    lines_free(&sorted);
    return code;
}
