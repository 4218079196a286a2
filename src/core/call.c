/*
 * core/call.c - the steps that every call on arrays has in common: checks its pointers, stages
 * arrays in host memory, gets the workspace, runs the backend's operation.
 *
 *     check      NULL, alignment, overlap
 *     sides      the memory of each array; the CPU can use all memory
 *     plan       computed once: what the operation will do, and its workspace
 *     workspace  the caller's, or borrowed from the context
 *     stage      an array in host memory gets a copy on the device; an output is copied back
 *     run        if any array was staged, also waits: the outputs are then in the caller's memory
 *
 * If all arrays are in host memory, an operation may run on the CPU of an "auto" context, or copy
 * and execute in its own way (run_host).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "cpu/cpu.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void *pointer_of(const struct echi_array *a)
{
    void *pointer;
    memcpy(&pointer, a->pointer, sizeof pointer);
    return pointer;
}

static void set_pointer(const struct echi_array *a, void *pointer)
{
    memcpy(a->pointer, &pointer, sizeof pointer);
}

/* ---- Checks ---- */

ech_status echi_check_large_count(ech_ctx *ctx, const char *name, size_t count, size_t bytes)
{
    if (bytes && count > (size_t)PTRDIFF_MAX / bytes)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu: %s * %zu bytes overflows size_t", name,
                         count, name, bytes);
    return ECH_OK;
}

ech_status echi_check_known(ech_ctx *ctx, const char *name, ech_dtype dtype)
{
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %d, not an ech_dtype", name, (int)dtype);
}

ech_status echi_check_any_index(ech_ctx *ctx, const char *name, ech_dtype dtype,
                                const char *count_name, uint64_t count)
{
    const uint64_t most = dtype == ECH_I32   ? (uint64_t)1 << 31
                          : dtype == ECH_U32 ? (uint64_t)1 << 32
                                             : (uint64_t)1 << 63;
    if (dtype != ECH_I32 && dtype != ECH_U32 && dtype != ECH_I64 && dtype != ECH_U64)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %s, not i32, u32, i64 or u64", name,
                         ech_dtype_name(dtype));
    if (count <= most) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %llu: %s %s represents only positions below %llu",
                     count_name, (unsigned long long)count, name, ech_dtype_name(dtype),
                     (unsigned long long)most);
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t pa = (uintptr_t)a, pb = (uintptr_t)b;
    return pa < pb + b_bytes && pb < pa + a_bytes;
}

/* Whether a row of a shares a byte with a row of b, which begins later. Interleaved rows are
 * recognised only if both arrays have the same pitch, as parts of one matrix. */
static bool rows_overlap(const struct echi_array *a, const struct echi_array *b, size_t distance)
{
    const size_t pitch = a->pitch_bytes;
    if (!pitch || b->pitch_bytes != pitch) return true;
    const size_t rows = (a->bytes - a->row_bytes) / pitch + 1, row = distance / pitch;
    const size_t offset = distance % pitch;
    return (row < rows && offset < a->row_bytes) ||
           (row + 1 < rows && offset + b->row_bytes > pitch);
}

static bool arrays_overlap(const struct echi_array *a, const void *pa, const struct echi_array *b,
                           const void *pb)
{
    if (!overlap(pa, a->bytes, pb, b->bytes)) return false;
    return (uintptr_t)pa <= (uintptr_t)pb ? rows_overlap(a, b, (uintptr_t)pb - (uintptr_t)pa)
                                          : rows_overlap(b, a, (uintptr_t)pa - (uintptr_t)pb);
}

static ech_status check_pair(ech_ctx *ctx, const struct echi_call *call, int i, int j)
{
    const struct echi_array *a = echi_call_array(call, i), *b = echi_call_array(call, j);
    const void *pa = pointer_of(a), *pb = pointer_of(b);
    if (!a->bytes || !b->bytes || (a->use == ECHI_IN && b->use == ECHI_IN)) return ECH_OK;
    bool may_be = a->may_be == j + 1 || b->may_be == i + 1;
    if (may_be && pa == pb && a->pitch_bytes == b->pitch_bytes) return ECH_OK;
    if (!arrays_overlap(a, pa, b, pb)) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG,
                     may_be ? "%s and %s overlap but are not equal" : "%s and %s overlap", a->name,
                     b->name);
}

static ech_status check_pointers(ech_ctx *ctx, const struct echi_call *call)
{
    for (int i = 0; i < call->count; i++) {
        const struct echi_array *a = echi_call_array(call, i);
        const void *pointer = pointer_of(a);
        if (!a->bytes) continue;
        if (!pointer) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", a->name);
        if (a->align > 1 && (uintptr_t)pointer % a->align)
            return echi_fail(ctx, ECH_ERR_ARG, "%s is not aligned to %zu bytes, the size of one %s",
                             a->name, a->align, a->element ? a->element : "element");
        if (call->work && overlap(pointer, a->bytes, call->work, call->work_bytes))
            return echi_fail(ctx, ECH_ERR_ARG, "%s and options->work overlap", a->name);
        for (int j = 0; j < i; j++) {
            ech_status status = check_pair(ctx, call, j, i);
            if (status != ECH_OK) return status;
        }
    }
    return ECH_OK;
}

/* Whether the arrays of a call without a workspace and without conversions are present, aligned,
 * and equal or apart. Otherwise check_pointers() finds what is wrong, if anything is. */
static bool plainly_valid(const struct echi_call *call)
{
    uintptr_t begin[ECHI_FEW], end[ECHI_FEW];
    if (call->many || call->work) return false;
    for (int i = 0; i < call->count; i++) {
        const struct echi_array *a = &call->few[i];
        begin[i] = a->bytes ? (uintptr_t)pointer_of(a) : 0;
        end[i] = begin[i] + a->bytes;
        if (!a->bytes) continue;
        /* an alignment is a power of two, or 0 */
        if (!begin[i] || (a->align && begin[i] & (a->align - 1)) || a->widened) return false;
        for (int j = 0; j < i; j++) {
            if (end[j] <= begin[i] || end[i] <= begin[j]) continue;
            const struct echi_array *b = &call->few[j];
            if (a->use == ECHI_IN && b->use == ECHI_IN) continue;
            if (a->may_be != j + 1 || begin[i] != begin[j] || a->pitch_bytes != b->pitch_bytes)
                return false;
        }
    }
    return true;
}

struct sides {
    bool on_host[ECHI_ARRAYS];
    bool any_on_host, all_on_host;
    bool pinned; /* the first array */
};

/* The workspace must be device memory even if the arrays are in host memory. */
static ech_status check_work_side(ech_ctx *ctx, const struct echi_call *call)
{
    enum echi_side side = ECHI_DEVICE;
    ech_status status = ctx->backend->side(ctx, call->work, &side, NULL);
    if (status != ECH_OK || side == ECHI_DEVICE) return status;
    return echi_fail(ctx, ECH_ERR_ARG, "options->work is in host memory: it must be memory of %s",
                     ctx->name);
}

static ech_status find_sides(ech_ctx *ctx, const struct echi_call *call, struct sides *sides)
{
    sides->any_on_host = sides->pinned = false;
    sides->all_on_host = ctx->backend != &echi_cpu;
    for (int i = 0; i < call->count; i++) {
        const struct echi_array *a = echi_call_array(call, i);
        enum echi_side side = ECHI_DEVICE;
        sides->on_host[i] = false;
        if (!a->bytes || ctx->backend == &echi_cpu) continue;
        ech_status status =
            ctx->backend->side(ctx, pointer_of(a), &side, i == 0 ? &sides->pinned : NULL);
        if (status != ECH_OK) return status;
        sides->on_host[i] = side == ECHI_HOST;
        sides->any_on_host |= sides->on_host[i];
        sides->all_on_host &= sides->on_host[i];
        if (!sides->on_host[i] && a->device_align && (uintptr_t)pointer_of(a) % a->device_align)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "%s is not aligned to %zu bytes, as elements of this size must be in "
                             "GPU memory",
                             a->name, a->device_align);
    }
    return sides->any_on_host && call->work ? check_work_side(ctx, call) : ECH_OK;
}

/* ---- Staging ---- */

struct stage {
    void *host[ECHI_ARRAYS], *device[ECHI_ARRAYS]; /* NULL: not staged */
    bool shared[ECHI_ARRAYS];                      /* the device copy belongs to an earlier array */
};

static ech_status stage_in(ech_ctx *ctx, const struct echi_call *call,
                           const bool on_host[ECHI_ARRAYS], struct stage *stage)
{
    for (int i = 0; i < call->count; i++) {
        const struct echi_array *a = echi_call_array(call, i);
        ech_status status = ECH_OK;
        if (!on_host[i]) continue;
        stage->host[i] = pointer_of(a);
        for (int j = 0; j < i && !stage->shared[i]; j++)
            if (stage->host[j] == stage->host[i] && echi_call_array(call, j)->bytes >= a->bytes) {
                stage->device[i] = stage->device[j];
                stage->shared[i] = true;
            }
        if (!stage->shared[i]) {
            status = echi_allocate(ctx, a->bytes, a->name, &stage->device[i]);
            if (status == ECH_OK && a->use != ECHI_OUT)
                status = ctx->backend->copy(ctx, stage->device[i], stage->host[i], a->bytes);
        }
        if (status != ECH_OK) return status;
        set_pointer(a, stage->device[i]);
    }
    return ECH_OK;
}

/* The number of bytes of an output to copy back. */
static ech_status written_bytes(ech_ctx *ctx, const struct echi_call *call, int i, size_t *bytes)
{
    const struct echi_array *a = echi_call_array(call, i);
    uint64_t count;
    *bytes = a->bytes;
    if (!a->counted_by) return ECH_OK;
    const void *from = pointer_of(echi_call_array(call, a->counted_by - 1));
    ech_status status = ctx->backend->copy(ctx, &count, from, sizeof count);
    if (status == ECH_OK && count < a->bytes / a->element_bytes)
        *bytes = (size_t)count * a->element_bytes;
    return status;
}

/* Copies rows back into an array with gaps between them, which must not be written. */
static ech_status fetch_rows(ech_ctx *ctx, const struct echi_array *a, void *to, const void *from)
{
    char *rows = malloc(a->bytes);
    if (!rows)
        return echi_fail(ctx, ECH_ERR_MEMORY, "out of host memory: %zu bytes for a copy of %s",
                         a->bytes, a->name);
    ech_status status = ctx->backend->copy(ctx, rows, from, a->bytes);
    for (size_t at = 0; status == ECH_OK && at < a->bytes; at += a->pitch_bytes)
        memcpy((char *)to + at, rows + at, a->row_bytes);
    free(rows);
    return status;
}

static ech_status stage_out(ech_ctx *ctx, const struct echi_call *call, const struct stage *stage)
{
    ech_status status = ctx->backend->sync(ctx); /* also finds data errors that kernels reported */
    for (int i = 0; i < call->count && status == ECH_OK; i++) {
        size_t bytes;
        if (!stage->host[i] || echi_call_array(call, i)->use == ECHI_IN) continue;
        const struct echi_array *a = echi_call_array(call, i);
        if (a->pitch_bytes > a->row_bytes) {
            status = fetch_rows(ctx, a, stage->host[i], stage->device[i]);
            continue;
        }
        status = written_bytes(ctx, call, i, &bytes);
        if (status == ECH_OK && bytes)
            status = ctx->backend->copy(ctx, stage->host[i], stage->device[i], bytes);
    }
    return status;
}

/* Restores the caller's pointers in the request. */
static void stage_end(ech_ctx *ctx, const struct echi_call *call, const struct stage *stage)
{
    for (int i = call->count - 1; i >= 0; i--) {
        if (!stage->host[i]) continue;
        set_pointer(echi_call_array(call, i), stage->host[i]);
        if (!stage->shared[i]) echi_release(ctx, stage->device[i], echi_call_array(call, i)->bytes);
    }
}

/* ---- Indices that an operation takes as u32 ---- */

struct narrow {
    void *wide[ECHI_ARRAYS], *own[ECHI_ARRAYS]; /* own NULL: the array is not converted */
};

static ech_status narrow_in(ech_ctx *ctx, const struct echi_call *call, struct narrow *narrow)
{
    static const uint32_t zero;
    ech_status status = ECH_OK;
    for (int i = 0; i < call->count; i++) {
        const struct echi_array *a = echi_call_array(call, i);
        const size_t n = a->bytes / 8;
        if (!a->widened || !n) continue;
        narrow->wide[i] = pointer_of(a);
        TRY(echi_allocate(ctx, n * 4, a->name, &narrow->own[i]));
        if (a->use == ECHI_IN)
            TRY(echi_convert_index(ctx, narrow->wide[i], 8, narrow->own[i], 4, n));
        else
            TRY(ech_fill(ctx, narrow->own[i], n, 4,
                         &zero)); /* an operation may write only a part */
        set_pointer(a, narrow->own[i]);
    }
done:
    return status;
}

/* The request's pointers are those of 64 bits again; outputs are converted if status is ECH_OK. */
static ech_status narrow_out(ech_ctx *ctx, const struct echi_call *call, struct narrow *narrow,
                             ech_status status)
{
    for (int i = call->count - 1; i >= 0; i--) {
        const struct echi_array *a = echi_call_array(call, i);
        const size_t n = a->bytes / 8;
        if (!narrow->own[i]) continue;
        if (status == ECH_OK && a->use != ECHI_IN)
            status = echi_convert_index(ctx, narrow->own[i], 4, narrow->wide[i], 8, n);
        set_pointer(a, narrow->wide[i]);
        echi_release(ctx, narrow->own[i], n * 4);
    }
    return status;
}

/* ---- Plans ---- */

static ech_status enter(ech_ctx *ctx)
{
    return ctx->backend->enter ? ctx->backend->enter(ctx) : ECH_OK;
}

static void leave(ech_ctx *ctx)
{
    if (ctx->backend->leave) ctx->backend->leave(ctx);
}

union plan {
    max_align_t align;
    unsigned char bytes[ECHI_PLAN_BYTES];
};

static ech_status make_plan(const struct echi_operation *operation, const void *request,
                            union plan *plan, size_t *bytes)
{
    *bytes = 0;
    if (!operation->plan) return ECH_OK;
    return operation->plan(request, operation->plan_bytes ? plan : NULL, bytes);
}

static const void *given(const struct echi_operation *operation, const union plan *plan)
{
    return operation->plan_bytes ? plan : NULL;
}

ech_status echi_operation_workspace(const struct echi_operation *operation, const void *request,
                                    size_t *bytes)
{
    union plan plan;
    return make_plan(operation, request, &plan, bytes);
}

static ech_status execute(ech_ctx *ctx, const struct echi_operation *operation, const void *request,
                          const union plan *plan, void *work)
{
    const ech_status status = operation->run(ctx, request, given(operation, plan), work);
    if (status != ECH_OK || !echi_canceled(ctx)) return status;
    return echi_fail(ctx, ECH_ERR_CANCELED, "the progress function canceled the call");
}

ech_status echi_operation_run(ech_ctx *ctx, const struct echi_operation *operation,
                              const void *request, void *work)
{
    union plan plan;
    size_t bytes;
    ech_status status = ECH_OK;
    if (operation->plan_bytes) {
        status = make_plan(operation, request, &plan, &bytes);
        if (status != ECH_OK) return echi_fail(ctx, status, "%s", ech_error(NULL));
    }
    status = enter(ctx);
    if (status != ECH_OK) return status;
    status = execute(ctx, operation, request, &plan, work);
    leave(ctx);
    return status;
}

/* ---- Run ---- */

static ech_status plan_call(ech_ctx *ctx, const struct echi_call *call, union plan *plan,
                            size_t *bytes)
{
    ech_status status = make_plan(call->operation, call->request, plan, bytes);
    return status == ECH_OK ? status : echi_fail(ctx, status, "%s", ech_error(NULL));
}

/* The workspace from the context. If it cannot be allocated, a variant that needs less is tried. */
static ech_status borrow(ech_ctx *ctx, const struct echi_call *call, union plan *plan,
                         size_t *bytes, void **own)
{
    const char *what = call->workspace ? call->workspace : call->what;
    ech_status status = echi_borrow(ctx, *bytes, what, own);
    if (status != ECH_ERR_MEMORY || !call->operation->economise) return status;
    if (!call->operation->economise(call->request)) return status;
    status = plan_call(ctx, call, plan, bytes);
    return status == ECH_OK ? echi_borrow(ctx, *bytes, what, own) : status;
}

static bool any_widened(const struct echi_call *call)
{
    bool widened = false;
    for (int i = 0; i < call->count; i++) widened |= echi_call_array(call, i)->widened;
    return widened;
}

static ech_status small_workspace(ech_ctx *ctx, const struct echi_call *call, size_t bytes)
{
    return echi_fail(ctx, ECH_ERR_MEMORY,
                     "options->work_bytes is %zu, but %s with these arguments needs %zu",
                     call->work_bytes, call->what, bytes);
}

/* Runs the operation with all arrays in memory that the backend can use, or staged. */
static ech_status run_staged(ech_ctx *ctx, struct echi_call *call, const struct sides *sides,
                             union plan *plan, size_t bytes)
{
    struct stage stage;
    struct narrow narrow;
    void *own = NULL;
    const bool widened = any_widened(call);
    ech_status status = enter(ctx);
    if (status != ECH_OK) return status;
    if (sides->any_on_host) stage = (struct stage){ { NULL }, { NULL }, { false } };
    if (widened) narrow = (struct narrow){ { NULL }, { NULL } };
    if (call->work && call->work_bytes < bytes) {
        status = small_workspace(ctx, call, bytes);
        goto done;
    }
    if (!call->work) TRY(borrow(ctx, call, plan, &bytes, &own));
    if (sides->any_on_host) TRY(stage_in(ctx, call, sides->on_host, &stage));
    if (widened) status = narrow_in(ctx, call, &narrow);
    if (status == ECH_OK)
        status = execute(ctx, call->operation, call->request, plan, call->work ? call->work : own);
    if (widened) status = narrow_out(ctx, call, &narrow, status);
    if (status != ECH_OK) goto done;
    if (sides->any_on_host) TRY(stage_out(ctx, call, &stage));
done:
    if (sides->any_on_host) stage_end(ctx, call, &stage);
    if (own) echi_give_back(ctx, own, bytes);
    leave(ctx);
    return status;
}

/* The same operation of another backend. */
static const struct echi_operation *twin_of(const struct echi_operation *operation,
                                            const struct echi_backend *from,
                                            const struct echi_backend *to)
{
    int i = 0;
    while (i < ECHI_OPERATIONS && from->operations[i] != operation) i++;
    return i < ECHI_OPERATIONS ? to->operations[i] : NULL;
}

/* A context for "auto" also has a CPU context, for arrays in host memory. */
static ech_status run_on_cpu(ech_ctx *ctx, const struct echi_call *call,
                             const struct echi_operation *operation)
{
    static const struct sides none;
    union plan plan;
    size_t bytes = 0;
    struct echi_call twin = *call;
    twin.operation = operation;
    ctx->cpu->threads = ctx->threads;
    ech_status status;
    TRY(plan_call(ctx->cpu, &twin, &plan, &bytes));
    TRY(run_staged(ctx->cpu, &twin, &none, &plan, bytes));
done:
    echi_threads_end(ctx->cpu);
    return status == ECH_OK ? ECH_OK : echi_fail(ctx, status, "%s", ctx->cpu->error);
}

/* Whether a context may use memory that is neither counted nor logged. */
static bool unobserved(const ech_ctx *ctx)
{
    return !ctx->allocator.allocate && !ctx->limit_bytes && !ctx->log;
}

/* On the CPU, nothing is staged. A small workspace is on the stack. */
static ech_status run_here(ech_ctx *ctx, const struct echi_call *call)
{
    enum { STACK_BYTES = 4096 };
    _Alignas(ECHI_ALIGN) char room[STACK_BYTES];
    union plan plan;
    size_t bytes = 0;
    void *work = call->work, *own = NULL;
    ech_status status;
    TRY(plan_call(ctx, call, &plan, &bytes));
    if (work && call->work_bytes < bytes) return small_workspace(ctx, call, bytes);
    if (!work && bytes) {
        if (bytes <= sizeof room && unobserved(ctx))
            work = room;
        else
            TRY(borrow(ctx, call, &plan, &bytes, &own));
    }
    status = execute(ctx, call->operation, call->request, &plan, own ? own : work);
done:
    if (own) echi_give_back(ctx, own, bytes);
    if (*ctx->processors) echi_threads_end(ctx);
    return status;
}

static ech_status run_anywhere(ech_ctx *ctx, struct echi_call *call)
{
    const struct echi_operation *operation = call->operation;
    const bool private_stream = ctx->private_stream;
    struct sides sides;
    union plan plan;
    size_t bytes = 0;
    ech_status status;
    TRY(check_pointers(ctx, call));
    if (ctx->backend == &echi_cpu && !any_widened(call)) return run_here(ctx, call);
    TRY(find_sides(ctx, call, &sides));
    if (sides.all_on_host && ctx->cpu && !call->work && operation->faster_on_cpu &&
        operation->faster_on_cpu(ctx, call->request, sides.pinned)) {
        status = run_on_cpu(ctx, call, twin_of(operation, ctx->backend, &echi_cpu));
        goto done;
    }
    TRY(plan_call(ctx, call, &plan, &bytes));
    /* No array is in device memory, so copies and kernels need not be ordered with the caller's
     * stream, and do not block it. */
    if (sides.all_on_host && !call->work && ctx->backend->record_event) ctx->private_stream = true;
    if (sides.all_on_host && !call->work && operation->run_host) {
        TRY(enter(ctx));
        status = operation->run_host(ctx, call->request, given(operation, &plan), bytes);
        leave(ctx);
    } else {
        status = run_staged(ctx, call, &sides, &plan, bytes);
    }
done:
    ctx->private_stream = private_stream;
    echi_threads_end(ctx);
    return status;
}

ech_status echi_call_run(ech_ctx *ctx, struct echi_call *call)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (ctx->progress) ctx->progress->canceled = false;
    if (ctx->backend != &echi_cpu || !plainly_valid(call)) return run_anywhere(ctx, call);
    const struct echi_operation *operation = call->operation;
    if (operation->quick && operation->quick(call->request)) return ECH_OK;
    return run_here(ctx, call);
}

ech_status echi_call_check(ech_ctx *ctx, const struct echi_call *call)
{
    union plan plan;
    size_t bytes;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    const ech_status status = plan_call(ctx, call, &plan, &bytes);
    echi_threads_end(ctx);
    return status;
}

/* ---- Queries that need no device ---- */

ech_status echi_backend_ask(const char *device, const struct echi_backend **backend)
{
    int ordinal;
    ech_status status = echi_backend_find(device, backend, &ordinal);
    for (int i = 0; status == ECH_OK && !*backend && echi_backends[i]; i++)
        if (echi_backends[i]->count() > 0) *backend = echi_backends[i];
    return status;
}

ech_status echi_call_workspace(const char *device,
                               const struct echi_operation *(*find)(const struct echi_backend *),
                               const void *request, size_t *bytes)
{
    const struct echi_backend *backend;
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    TRY(echi_backend_ask(device, &backend));
    TRY(echi_operation_workspace(find(backend), request, bytes));
done:
    return status;
}
