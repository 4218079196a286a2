/*
 * sort_lines.c - sorts lines of text in memory for "echelon sort".
 *
 *     text -> lines_sort(): records in order -> blocks of the output, by all threads -> io_write()
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "io/threads.h"
#include "sort.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of this size are written without a copy, and fit the cache of a processor. */
enum { OUT_BYTES = IO_BUFFER, MOST_BUFFERS = 64 };

/* Blocks of the output: each thread gathers one, waits until the blocks before it are written, and
 * writes it. */
struct writer {
    const struct lines_sorted *sorted;
    struct io_output *output;
    struct io_error *error;
    io_status status;
    pthread_mutex_t lock;
    pthread_cond_t written;
    int next; /* the block that is written next */
    char *buffers[MOST_BUFFERS];
    int free; /* buffers[0 .. free) are not in use */
};

static void write_block(void *arg, int i)
{
    struct writer *w = arg;
    pthread_mutex_lock(&w->lock);
    char *buffer = w->buffers[--w->free]; /* the last one that was used */
    const bool failed = w->status != IO_OK;
    pthread_mutex_unlock(&w->lock);
    struct lines_cursor cursor = { (uint64_t)i * OUT_BYTES };
    const size_t n = failed ? 0 : lines_gather(w->sorted, &cursor, buffer, OUT_BYTES, 1);
    pthread_mutex_lock(&w->lock);
    while (w->next != i) pthread_cond_wait(&w->written, &w->lock);
    if (w->status == IO_OK) {
        pthread_mutex_unlock(&w->lock);
        const io_status status = io_write(w->output, buffer, n, w->error);
        pthread_mutex_lock(&w->lock);
        w->status = status;
    }
    w->next++;
    w->buffers[w->free++] = buffer;
    pthread_cond_broadcast(&w->written);
    pthread_mutex_unlock(&w->lock);
}

static int write_sorted(const struct sort_job *job, const struct sort_text *text,
                        const struct lines_sorted *sorted, struct io_output *output,
                        io_status *status, struct io_error *error)
{
    const int threads = job->base.threads < 1              ? 1
                        : job->base.threads < MOST_BUFFERS ? job->base.threads
                                                           : MOST_BUFFERS;
    const size_t room = (size_t)threads * OUT_BYTES;
    char *buffers = lines_allocate(room);
    if (!buffers) return job_no_memory(&job->base, room, "the output");
    struct writer w = { .sorted = sorted,
                        .output = output,
                        .error = error,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .written = PTHREAD_COND_INITIALIZER,
                        .free = threads };
    for (int i = 0; i < threads; i++) w.buffers[i] = buffers + (size_t)i * OUT_BYTES;
    output->total_bytes = text->head + sorted->out_bytes;
    w.status = io_write(output, text->text, text->head, error);
    const uint64_t blocks = (sorted->out_bytes + OUT_BYTES - 1) / OUT_BYTES;
    if (w.status == IO_OK) io_for_each_by(threads, (int)blocks, write_block, &w);
    *status = w.status;
    free(buffers);
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
