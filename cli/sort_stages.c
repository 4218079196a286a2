/*
 * sort_stages.c - calls the library for "echelon sort", and reports what ran where and how fast.
 *
 * The library takes host memory and hides its copies behind the sort.  When times are wanted and
 * the device is a GPU, the copies are made here instead, one after another, so that each has a
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

static const char *const stage_names[STAGES] = {
    [STAGE_OPEN] = "open", [STAGE_READ] = "read",         [STAGE_UPLOAD] = "upload",
    [STAGE_SORT] = "sort", [STAGE_DOWNLOAD] = "download", [STAGE_WRITE] = "write",
};

void stage_begin(struct sort_job *job, enum stage stage)
{
    static const char *const doing[STAGES] = {
        [STAGE_OPEN] = "opening the device", [STAGE_READ] = "reading",
        [STAGE_UPLOAD] = "uploading",        [STAGE_SORT] = "sorting",
        [STAGE_DOWNLOAD] = "downloading",    [STAGE_WRITE] = "writing",
    };
    cli_progress_stage(&job->progress, doing[stage]);
    job->stages[stage].ran = true;
    job->stages[stage].seconds -= cli_seconds();
}

void stage_end(struct sort_job *job, enum stage stage, uint64_t bytes)
{
    job->stages[stage].seconds += cli_seconds();
    job->stages[stage].bytes += bytes;
}

/* ---- Calls ---- */

static size_t second_bytes(const struct sort_job *job)
{
    size_t n = (size_t)job->column.n;
    if (job->argsort) return n * job->index_bytes;
    return n * job->value_bytes;
}

/* keys and second (the index, or the values) are both of the host or both of the device. */
static ech_status call(struct sort_job *job, void *keys, void *second)
{
    const struct io_column *c = &job->column;
    size_t n = (size_t)c->n;
    if (job->argsort)
        return ech_argsort(job->ctx, keys, second, job->index_bytes == 4 ? ECH_U32 : ECH_U64, n,
                           c->dtype, &job->options);
    if (job->value_bytes)
        return ech_sort_pairs(job->ctx, keys, keys, second, second, job->value_bytes, n, c->dtype,
                              &job->options);
    return ech_sort(job->ctx, keys, keys, n, c->dtype, &job->options);
}

/* ECH_ERR_MEMORY before anything of the host's was changed: call() with host memory may do then. */
static ech_status run_staged(struct sort_job *job, void *second)
{
    struct io_column *c = &job->column;
    size_t keys_bytes = c->keys_bytes, more = second_bytes(job);
    void *device_keys = NULL, *device_second = NULL;
    ech_ctx *ctx = job->ctx;

    stage_begin(job, STAGE_UPLOAD);
    ech_status status = ech_malloc(ctx, &device_keys, keys_bytes);
    if (status == ECH_OK && more) status = ech_malloc(ctx, &device_second, more);
    if (status == ECH_OK) status = ech_copy(ctx, device_keys, c->keys, keys_bytes);
    if (status == ECH_OK && more && !job->argsort)
        status = ech_copy(ctx, device_second, second, more);
    stage_end(job, STAGE_UPLOAD, keys_bytes + (job->argsort ? 0 : more));

    if (status == ECH_OK) {
        stage_begin(job, STAGE_SORT);
        status = call(job, device_keys, device_second);
        if (status == ECH_OK) status = ech_sync(ctx);
        stage_end(job, STAGE_SORT, keys_bytes);
    }
    if (status == ECH_OK) {
        stage_begin(job, STAGE_DOWNLOAD);
        if (!job->argsort) status = ech_copy(ctx, c->keys, device_keys, keys_bytes);
        if (status == ECH_OK && more) status = ech_copy(ctx, second, device_second, more);
        stage_end(job, STAGE_DOWNLOAD, (job->argsort ? 0 : keys_bytes) + more);
    }
    ech_free(ctx, device_second, more);
    ech_free(ctx, device_keys, keys_bytes);
    return status;
}

int sort_column(struct sort_job *job)
{
    struct io_column *c = &job->column;
    void *second = job->values;
    if (job->argsort) {
        job->index_bytes = c->n <= UINT32_MAX ? sizeof(uint32_t) : sizeof(uint64_t);
        size_t bytes = second_bytes(job);
        second = job->index = malloc(bytes + 1);
        if (!second)
            return cli_fail(EXIT_MEMORY, "%s: out of memory: no %zu bytes for the index",
                            job->input, bytes);
    }
    ech_status status = ECH_ERR_MEMORY;
    bool on_gpu = strcmp(ech_device_name(job->ctx), "cpu") != 0;
    if (job->staged && on_gpu && c->n) status = run_staged(job, second);
    if (status == ECH_ERR_MEMORY) {
        struct stage_time none = { 0 };
        job->stages[STAGE_UPLOAD] = job->stages[STAGE_DOWNLOAD] = job->stages[STAGE_SORT] = none;
        stage_begin(job, STAGE_SORT);
        status = call(job, c->keys, second);
        stage_end(job, STAGE_SORT, c->keys_bytes);
    }
    return status == ECH_OK ? EXIT_DONE : cli_fail_ech(status, job->ctx);
}

/* ---- Report ---- */

void plan_text(const struct sort_job *job, char *text, size_t bytes)
{
    const struct io_column *c = &job->column;
    const char *device = ech_device_name(job->ctx);
    size_t n = (size_t)c->n;
    text[0] = 0;
    if (job->argsort)
        ech_argsort_explain(device, n, c->dtype, job->index_bytes == 4 ? ECH_U32 : ECH_U64,
                            &job->options, text, bytes);
    else
        ech_sort_explain(device, n, c->dtype, job->value_bytes, &job->options, text, bytes);
}

static double rate(const struct stage_time *stage)
{
    return stage->seconds > 0 ? 1e-9 * (double)stage->bytes / stage->seconds : 0;
}

void report_text(struct sort_job *job, FILE *to)
{
    const struct io_column *c = &job->column;
    uint64_t now, peak;
    char plan[4096];
    ech_memory(job->ctx, 0, &now, &peak);
    plan_text(job, plan, sizeof plan);
    fprintf(to, "%s: %llu %s (%s) on %s\n%s", job->input, (unsigned long long)c->n,
            ech_dtype_name(c->dtype), io_format_name(c->format), ech_device_name(job->ctx), plan);
    for (int i = 0; i < STAGES; i++) {
        const struct stage_time *stage = &job->stages[i];
        if (!stage->ran) continue;
        fprintf(to, "  %-9s %10.3f ms", stage_names[i], 1e3 * stage->seconds);
        if (stage->bytes) fprintf(to, " %9.3f GB/s", rate(stage));
        putc('\n', to);
    }
    fprintf(to, "  %-9s %10.3f ms\n", "total", 1e3 * (cli_seconds() - job->started));
    fprintf(to, "  peak memory: host %.1f MB, held by the library on %s %.1f MB\n",
            1e-6 * (double)cli_peak_host_bytes(), ech_device_name(job->ctx), 1e-6 * (double)peak);
}

void report_json(struct sort_job *job, FILE *to)
{
    const struct io_column *c = &job->column;
    uint64_t now, peak;
    char plan[4096];
    struct json json = { .to = to };
    ech_memory(job->ctx, 0, &now, &peak);
    plan_text(job, plan, sizeof plan);
    json_open(&json, NULL, '{');
    json_text(&json, "command", job->argsort ? "argsort" : "sort");
    json_text(&json, "version", ech_version());
    json_text(&json, "input", job->input);
    json_text(&json, "output", job->output);
    json_text(&json, "format", io_format_name(c->format));
    json_text(&json, "type", ech_dtype_name(c->dtype));
    json_count(&json, "n", c->n);
    json_count(&json, "n_out", job->n_out);
    json_text(&json, "device", ech_device_name(job->ctx));
    json_text(&json, "plan", plan);
    json_open(&json, "stages", '[');
    for (int i = 0; i < STAGES; i++) {
        const struct stage_time *stage = &job->stages[i];
        if (!stage->ran) continue;
        json_open(&json, NULL, '{');
        json_text(&json, "name", stage_names[i]);
        json_number(&json, "seconds", stage->seconds);
        json_count(&json, "bytes", stage->bytes);
        json_number(&json, "gb_per_s", rate(stage));
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_number(&json, "seconds", cli_seconds() - job->started);
    json_count(&json, "peak_host_bytes", cli_peak_host_bytes());
    json_count(&json, "peak_device_bytes", peak);
    json_close(&json, '}');
    putc('\n', to);
}
