/*
 * strings/cpu/operation.c - sorts of strings on the CPU: the check of the offsets, the workspace,
 * the passes.
 *
 *     keys       the next seven bytes of each string, after the common prefix of all strings
 *     sort       one stable sort of (key, position)
 *     refine     ties by the next keys (refine.c)
 *
 *     workspace  [ sorted keys ][ keys | workspace of the first sort ]
 *                               [ of the others | both for a short tie, per thread ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backend.h"
#include "core/call.h"
#include "core/data_error.h"
#include "strings/cpu/common.h"

#include <string.h>

enum { CHECK = 1 << 15 /* offsets that a thread checks at a time */ };

static const char algorithm_name[] = "refine";

static ech_status choose(const struct echi_strings *s)
{
    if (!s->algorithm || strcmp(s->algorithm, algorithm_name) == 0) return ECH_OK;
    return echi_fail(NULL, ECH_ERR_ARG,
                     "unknown algorithm \"%s\" for sorts of strings on the CPU; available: %s",
                     s->algorithm, algorithm_name);
}

/* ---- Workspace ---- */

static size_t aligned(size_t bytes)
{
    return (bytes + ECHI_ALIGN - 1) / ECHI_ALIGN * ECHI_ALIGN;
}

/* Measures the workspace, if layout->base is NULL, or lays it out. */
static ech_status lay_out(const struct echi_strings *s, struct echi_layout *layout,
                          struct echi_strings_job *job)
{
    struct echi_sort sort = echi_strings_sort(s, true);
    size_t first_bytes, sort_bytes, short_bytes;
    ech_status status;
    TRY(echi_operation_workspace(&echi_cpu_sort, &sort, &first_bytes));
    sort = echi_strings_sort(s, false);
    TRY(echi_operation_workspace(&echi_cpu_sort, &sort, &sort_bytes));
    job->room = sort.n = echi_min(s->n, STRINGS_SHORT);
    TRY(echi_operation_workspace(&echi_cpu_sort, &sort, &short_bytes));
    job->keys = echi_part(layout, s->n, sizeof *job->keys);
    struct echi_layout first = *layout; /* the first sort ends before the others begin */
    job->first_keys = echi_part(&first, s->n, sizeof *job->first_keys);
    job->first_work = echi_part(&first, first_bytes, 1);
    job->sort_work = echi_part(layout, sort_bytes, 1);
    job->own_bytes = aligned(aligned(short_bytes) + job->room * sizeof *job->keys);
    job->own = echi_part(layout, echi_parts(s->n), job->own_bytes);
    if (first.bytes > layout->bytes) layout->bytes = first.bytes;
    layout->overflow |= first.overflow;
done:
    return status;
}

static ech_status plan(const void *request, void *no_plan, size_t *work_bytes)
{
    const struct echi_strings *s = request;
    struct echi_layout layout = { 0 };
    struct echi_strings_job job = { 0 };
    ech_status status;
    (void)no_plan;
    *work_bytes = 0;
    TRY(choose(s));
    if (s->n == 0) goto done;
    TRY(lay_out(s, &layout, &job));
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "n is %zu: the workspace exceeds SIZE_MAX bytes", s->n);
    *work_bytes = layout.bytes;
done:
    return status;
}

/* ---- Offsets ---- */

struct check {
    const struct echi_string_array *array;
    _Atomic uint64_t error;
};

static void check_some(void *arg, size_t chunk, int thread)
{
    struct check *c = arg;
    const struct echi_string_array array = *c->array;
    const size_t begin = chunk * CHECK, end = echi_min((size_t)array.n + 1, begin + CHECK);
    uint64_t last = begin ? echi_index_at(array.offsets, array.index, begin - 1) : 0;
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t offset = echi_index_at(array.offsets, array.index, i);
        if (offset > array.total_bytes || offset < last) {
            echi_note_error(
                &c->error,
                offset > array.total_bytes ? ECHI_STRINGS_PAST_END : ECHI_OFFSETS_DECREASE, i);
            return;
        }
        last = offset;
    }
}

static ech_status check_offsets(const struct echi_strings_job *job)
{
    struct check c = { .array = &job->request->array };
    echi_parallel(job->threads, job->request->n / CHECK + 1, check_some, &c);
    return echi_noted_error(job->ctx, c.error);
}

/* ---- Passes ---- */

ech_status echi_strings_pass(const struct echi_strings_job *job, size_t begin, size_t n,
                             uint64_t *depth, uint64_t *keys, void *sort_work, int threads)
{
    const struct echi_strings *s = job->request;
    struct echi_sort sort = echi_strings_sort(s, false);
    char *positions = (char *)s->indices + begin * (size_t)s->index_bytes;
    struct echi_strings_tie tie = { .positions = positions, .n = n, .depth = *depth };
    echi_strings_keys(s, &tie, keys, threads);
    *depth = tie.depth;
    sort.n = n;
    sort.keys_in = sort.keys_out = keys;
    sort.values_in = sort.values_out = positions;
    return echi_operation_run(job->ctx, &echi_cpu_sort, &sort, sort_work);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *no_plan, void *work)
{
    const struct echi_strings *s = request;
    struct echi_layout layout = { .base = work };
    struct echi_strings_job job = { .ctx = ctx, .request = s };
    struct echi_strings_tie all = { .n = s->n };
    ech_status status = ECH_OK;
    (void)no_plan;
    if (s->n == 0) goto done;
    job.threads = (int)echi_min((size_t)echi_threads(ctx), echi_parts(s->n));
    TRY(check_offsets(&job));
    TRY(lay_out(s, &layout, &job));
    echi_strings_keys(s, &all, job.first_keys, job.threads);
    struct echi_sort sort = echi_strings_sort(s, true);
    sort.keys_in = job.first_keys;
    sort.keys_out = job.keys;
    sort.values_out = s->indices;
    TRY(echi_operation_run(ctx, &echi_cpu_sort, &sort, job.first_work));
    TRY(echi_strings_refine(&job, 0, s->n, all.depth, job.keys));
done:
    return status;
}

static ech_status explain(const void *request, struct echi_explain *e)
{
    const struct echi_strings *s = request;
    const ech_status status = choose(s);
    if (status != ECH_OK) return status;
    echi_explain_algorithm(e, true, algorithm_name,
                           "sorts by %d bytes after the common prefix, then strings with equal "
                           "bytes by the next",
                           STRINGS_STEP);
    echi_explain_line(e, "threads", "at most %zu",
                      echi_min(echi_parts(s->n), (size_t)echi_processors()));
    return ECH_OK;
}

const struct echi_operation echi_cpu_strings = { .plan = plan, .explain = explain, .run = run };
