/*
 * sort_stages.c - calls the library for "echelon sort".
 *
 * The library accepts host memory.  It overlaps its copies with the sort, or sorts on the CPU.  If
 * times are requested and --device names a GPU, this file copies to and from the GPU itself, so
 * that each copy is timed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

/* ---- Calls ---- */

static size_t second_bytes(const struct sort_job *job)
{
    size_t n = (size_t)job->base.column.n;
    if (job->argsort) return n * job->index_bytes;
    return n * job->value_bytes;
}

static ech_status call_rows(struct sort_job *job, void *keys, void *second)
{
    const ech_dtype dtype = job->base.column.dtype;
    if (job->argsort)
        return ech_argsort_rows(job->base.ctx, keys, second, job->rows, job->cols, dtype,
                                job->index_bytes == 4 ? ECH_U32 : ECH_U64, &job->options);
    if (job->value_bytes)
        return ech_sort_pairs_rows(job->base.ctx, keys, second, keys, second, job->rows, job->cols,
                                   dtype, job->value_bytes, &job->options);
    return ech_sort_rows(job->base.ctx, keys, keys, job->rows, job->cols, dtype, &job->options);
}

/* keys and second (the index, or the values) are both in host or both in device memory. */
static ech_status call(struct sort_job *job, void *keys, void *second)
{
    const struct io_column *c = &job->base.column;
    size_t n = (size_t)c->n;
    if (job->cols) return call_rows(job, keys, second);
    if (job->argsort)
        return ech_argsort(job->base.ctx, keys, second, n, c->dtype,
                           job->index_bytes == 4 ? ECH_U32 : ECH_U64, &job->options);
    if (job->value_bytes)
        return ech_sort_pairs(job->base.ctx, keys, second, keys, second, n, c->dtype,
                              job->value_bytes, &job->options);
    return ech_sort(job->base.ctx, keys, keys, n, c->dtype, &job->options);
}

/* Returns ECH_ERR_MEMORY before any host memory is changed; then call() with host memory may
 * succeed. */
static ech_status run_staged(struct sort_job *job, void *second)
{
    struct io_column *c = &job->base.column;
    size_t keys_bytes = c->keys_bytes, more = second_bytes(job);
    void *device_keys = NULL, *device_second = NULL;
    ech_ctx *ctx = job->base.ctx;

    stage_begin(&job->base, STAGE_UPLOAD);
    ech_status status = ech_malloc(ctx, &device_keys, keys_bytes);
    if (status == ECH_OK && more) status = ech_malloc(ctx, &device_second, more);
    if (status == ECH_OK) status = ech_copy(ctx, device_keys, c->keys, keys_bytes);
    if (status == ECH_OK && more && !job->argsort)
        status = ech_copy(ctx, device_second, second, more);
    stage_end(&job->base, STAGE_UPLOAD, keys_bytes + (job->argsort ? 0 : more));

    if (status == ECH_OK) {
        stage_begin(&job->base, STAGE_WORK);
        status = call(job, device_keys, device_second);
        if (status == ECH_OK) status = ech_sync(ctx);
        stage_end(&job->base, STAGE_WORK, keys_bytes);
    }
    if (status == ECH_OK) {
        stage_begin(&job->base, STAGE_DOWNLOAD);
        if (!job->argsort) status = ech_copy(ctx, c->keys, device_keys, keys_bytes);
        if (status == ECH_OK && more) status = ech_copy(ctx, second, device_second, more);
        stage_end(&job->base, STAGE_DOWNLOAD, (job->argsort ? 0 : keys_bytes) + more);
    }
    ech_free(ctx, device_second, more);
    ech_free(ctx, device_keys, keys_bytes);
    return status;
}

int sort_column(struct sort_job *job)
{
    struct io_column *c = &job->base.column;
    void *second = job->values;
    if (job->argsort) {
        job->index_bytes = c->n <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
        size_t bytes = second_bytes(job);
        second = job->index = malloc(bytes + 1);
        if (!second) return job_no_memory(&job->base, bytes, "the index");
    }
    ech_status status = ECH_ERR_MEMORY;
    const char *device = ech_device_name(job->base.ctx);
    bool on_gpu = strcmp(device, "cpu") != 0 && strncmp(device, "auto", 4) != 0;
    if (job->staged && on_gpu && c->n) status = run_staged(job, second);
    if (status == ECH_ERR_MEMORY) {
        struct stage_time none = { 0 };
        job->base.stages[STAGE_UPLOAD] = job->base.stages[STAGE_DOWNLOAD] =
            job->base.stages[STAGE_WORK] = none;
        stage_begin(&job->base, STAGE_WORK);
        status = call(job, c->keys, second);
        stage_end(&job->base, STAGE_WORK, c->keys_bytes);
    }
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->base.ctx);
}

void sort_plan(const struct sort_job *job, char *text, size_t bytes)
{
    const struct io_column *c = &job->base.column;
    const char *device = ech_device_name(job->base.ctx);
    size_t n = (size_t)c->n;
    text[0] = 0;
    if (job->cols)
        ech_sort_segments_explain(
            device, job->argsort ? ECH_SORT_CALL_ARGSORT_ROWS : ECH_SORT_CALL_ROWS, n, job->rows,
            c->dtype, job->argsort ? job->index_bytes : job->value_bytes, &job->options,
            ECH_FORMAT_TEXT, text, bytes);
    else if (job->argsort)
        ech_argsort_explain(device, n, c->dtype, job->index_bytes == 4 ? ECH_U32 : ECH_U64,
                            &job->options, ECH_FORMAT_TEXT, text, bytes);
    else
        ech_sort_explain(device, n, c->dtype, job->value_bytes, &job->options, ECH_FORMAT_TEXT,
                         text, bytes);
}
