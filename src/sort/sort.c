/*
 * sort/sort.c - ech_sort() and its kin: checks the arguments, finds where the data lies, calls the
 * backend.
 *
 *     ech_sort, ech_sort_pairs, ech_argsort          the calls; each fills one struct echi_sort
 *       check_shape()      what can be checked without pointers: dtype, options, sizes
 *       check_pointers()   NULL, alignment, overlap, and on which side of the device they lie
 *       run()              gets the workspace and calls backend->sort(), or backend->sort_host()
 *     ech_*_workspace, ech_*_explain                 check_shape(), then ask the backend
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "sort/choice.h"

#include <stdlib.h>
#include <string.h>

static ech_status check_options(ech_ctx *ctx, const ech_sort_options *options, int key_bits)
{
    if (options->size != sizeof *options)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->size is %zu, not sizeof(ech_sort_options), %zu", options->size,
                         sizeof *options);
    if (options->descending != 0 && options->descending != 1)
        return echi_fail(ctx, ECH_ERR_ARG, "options->descending is %d, not 0 or 1",
                         options->descending);
    if (options->order != ECH_ORDER_NAN_LAST && options->order != ECH_ORDER_TOTAL)
        return echi_fail(ctx, ECH_ERR_ARG, "options->order is %d, not an ech_order",
                         (int)options->order);
    int end = options->end_bit ? options->end_bit : key_bits;
    if (options->begin_bit < 0 || options->begin_bit > end || end > key_bits)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->begin_bit is %d and end_bit is %d: not within 0 <= begin_bit <= "
                         "end_bit <= %d",
                         options->begin_bit, end, key_bits);
    if (options->work_bytes && !options->work)
        return echi_fail(ctx, ECH_ERR_ARG, "options->work is NULL, but work_bytes is %zu",
                         options->work_bytes);
    if ((uintptr_t)options->work % ECHI_ALIGN)
        return echi_fail(ctx, ECH_ERR_ARG, "options->work is not aligned to %d bytes", ECHI_ALIGN);
    return ECH_OK;
}

static ech_status check_shape(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s)
{
    static const ech_sort_options defaults = { .size = sizeof defaults };
    if (!echi_dtype_known(s->dtype))
        return echi_fail(ctx, ECH_ERR_ARG, "dtype is %d, not an ech_dtype", (int)s->dtype);
    s->key_bytes = (int)ech_dtype_bytes(s->dtype);
    if (!options) options = &defaults;
    ech_status status = check_options(ctx, options, 8 * s->key_bytes);
    if (status != ECH_OK) return status;

    s->begin_bit = options->begin_bit;
    s->end_bit = options->end_bit ? options->end_bit : 8 * s->key_bytes;
    bool all_bits = s->begin_bit == 0 && s->end_bit == 8 * s->key_bytes;
    s->stable = s->value_bytes || !all_bits;
    s->order = echi_order_make(s->dtype, options->order, options->descending, s->value_bytes != 0);
    s->algorithm = options->algorithm;
    if (!s->algorithm || !*s->algorithm)
        s->algorithm = ctx ? ctx->algorithm : getenv("ECHELON_ALGORITHM");
    if (s->algorithm && !*s->algorithm) s->algorithm = NULL;
    s->work = options->work;
    s->work_bytes = options->work_bytes;

    size_t widest = s->value_bytes > (size_t)s->key_bytes ? s->value_bytes : (size_t)s->key_bytes;
    if (s->n > PTRDIFF_MAX / widest)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "n is %zu: more than an address space of elements of %zu bytes", s->n,
                         widest);
    if (s->index_bytes == 4 && (uint64_t)s->n > (uint64_t)1 << 32)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "n is %zu: more than 2^32, which needs index_dtype ECH_U64", s->n);
    return ECH_OK;
}

static ech_status check_index_dtype(ech_ctx *ctx, ech_dtype index_dtype)
{
    if (index_dtype == ECH_U32 || index_dtype == ECH_U64) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "index_dtype is %s, not u32 or u64",
                     ech_dtype_name(index_dtype));
}

/* ---- Pointers ---- */

enum role { KEYS_IN, KEYS_OUT, VALUES_IN, VALUES_OUT, WORK, ROLES };

struct range {
    enum role role;
    const void *at;
    size_t bytes;
};

/* The argument's name in the call that was made. */
static const char *name_of(const struct echi_sort *s, enum role role)
{
    static const char *const names[3][ROLES] = {
        { "in", "out", "", "", "options->work" },
        { "keys_in", "keys_out", "values_in", "values_out", "options->work" },
        { "keys", "", "", "index", "options->work" },
    };
    return names[s->index_bytes ? 2 : s->value_bytes ? 1 : 0][role];
}

static bool overlap(const struct range *a, const struct range *b)
{
    uintptr_t pa = (uintptr_t)a->at, pb = (uintptr_t)b->at;
    return pa < pb + b->bytes && pb < pa + a->bytes;
}

static ech_status check_overlap(ech_ctx *ctx, const struct echi_sort *s, const struct range *ranges,
                                int count)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const struct range *a = &ranges[i], *b = &ranges[j];
            bool same = (a->role == KEYS_IN && b->role == KEYS_OUT) ||
                        (a->role == VALUES_IN && b->role == VALUES_OUT);
            if (same && a->at == b->at) continue;
            if (a->role == KEYS_IN && b->role == VALUES_IN) continue; /* both are only read */
            if (overlap(a, b))
                return echi_fail(ctx, ECH_ERR_ARG,
                                 same ? "%s and %s overlap but are not equal" : "%s and %s overlap",
                                 name_of(s, a->role), name_of(s, b->role));
        }
    return ECH_OK;
}

static ech_status check_pointers(ech_ctx *ctx, const struct echi_sort *s)
{
    bool pairs = s->value_bytes && !s->index_bytes;
    size_t key_bytes = s->n * (size_t)s->key_bytes, value_bytes = s->n * s->value_bytes;
    struct range ranges[ROLES];
    int count =
        0; /* of those that this call has: a small sort is over in fewer steps than all need */
    ranges[count++] = (struct range){ KEYS_IN, s->keys_in, key_bytes };
    if (!s->index_bytes) ranges[count++] = (struct range){ KEYS_OUT, s->keys_out, key_bytes };
    if (pairs) ranges[count++] = (struct range){ VALUES_IN, s->values_in, value_bytes };
    if (s->value_bytes) ranges[count++] = (struct range){ VALUES_OUT, s->values_out, value_bytes };
    if (s->work) ranges[count++] = (struct range){ WORK, s->work, s->work_bytes };

    for (int i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (!r->at) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", name_of(s, r->role));
        if (r->role <= KEYS_OUT && (uintptr_t)r->at & (uintptr_t)(s->key_bytes - 1))
            return echi_fail(ctx, ECH_ERR_ARG, "%s is not aligned to %d bytes, the size of one %s",
                             name_of(s, r->role), s->key_bytes, ech_dtype_name(s->dtype));
    }
    if (s->index_bytes && (uintptr_t)s->values_out & (uintptr_t)(s->index_bytes - 1))
        return echi_fail(ctx, ECH_ERR_ARG, "index is not aligned to %d bytes", s->index_bytes);
    return check_overlap(ctx, s, ranges, count);
}

/* pinned: of the keys. */
static ech_status find_side(ech_ctx *ctx, const struct echi_sort *s, enum echi_side *side,
                            bool *pinned)
{
    const void *pointers[] = { s->keys_in, s->keys_out, s->values_in, s->values_out };
    const char *names[] = { "the keys", "the keys' output", "the values", "the output" };
    const struct echi_backend *backend = ctx->backend;
    *pinned = false;
    if (backend == &echi_cpu) return ECH_OK; /* all memory is its own */
    ech_status status = ECH_OK;
    TRY(backend->side(ctx, s->keys_in, side, pinned));
    for (int i = 1; i < 4; i++) {
        enum echi_side other = *side;
        if (pointers[i] && pointers[i] != s->keys_in)
            TRY(backend->side(ctx, pointers[i], &other, NULL));
        if (other != *side)
            FAIL(ctx, ECH_ERR_ARG, "%s are in %s memory, but %s are in %s memory", names[0],
                 *side == ECHI_HOST ? "host" : "device", names[i],
                 other == ECHI_HOST ? "host" : "device");
    }
done:
    return status;
}

/* Values need the alignment that the kernels move them by; staging copies host memory to aligned
 * places. */
static ech_status check_value_alignment(ech_ctx *ctx, const struct echi_sort *s)
{
    if (!s->value_bytes || s->index_bytes || ctx->backend == &echi_cpu) return ECH_OK;
    size_t align = s->value_bytes & (~s->value_bytes + 1);
    if (align > 16) align = 16;
    if ((uintptr_t)s->values_in % align || (uintptr_t)s->values_out % align)
        return echi_fail(
            ctx, ECH_ERR_ARG,
            "%s is not aligned to %zu bytes, as values of %zu bytes in GPU memory must be",
            (uintptr_t)s->values_in % align ? "values_in" : "values_out", align, s->value_bytes);
    return ECH_OK;
}

/* ---- The calls ---- */

static ech_status workspace(ech_ctx *ctx, const struct echi_backend *backend,
                            const struct echi_sort *s, size_t *bytes)
{
    ech_status status = backend->sort_workspace(s, bytes);
    if (status != ECH_OK && ctx) return echi_fail(ctx, status, "%s", ech_error(NULL));
    return status;
}

enum { LEAN = 1 << 16 }; /* elements: a workspace of fewer that is not there is an error */

/* With the workspace of the caller or, where that is none, of the context; where it has too little,
 * by the algorithm that needs little. */
static ech_status run_on(ech_ctx *ctx, struct echi_sort *s, size_t bytes)
{
    void *own = NULL;
    ech_status status = ECH_OK;
    if (!s->work) {
        const char *lean = s->n >= LEAN && !s->algorithm ? ctx->backend->sort_lean : NULL;
        if (lean && !echi_try_allocate(ctx, bytes, "the workspace of a sort", &own)) {
            s->algorithm = lean;
            TRY(workspace(ctx, ctx->backend, s, &bytes));
        }
        if (!own) TRY(echi_borrow(ctx, bytes, "the workspace of a sort", &own));
        s->work = own;
        s->work_bytes = bytes;
    }
    if (s->work_bytes < bytes)
        FAIL(ctx, ECH_ERR_MEMORY, "options->work_bytes is %zu, and this sort needs %zu",
             s->work_bytes, bytes);
    TRY(ctx->backend->sort(ctx, s));
done:
    if (own) echi_give_back(ctx, own, bytes);
    return status;
}

/* A context that has the CPU, too, leaves arrays in host memory to it where it is sooner done.  An
 * algorithm that is named is the GPU's. */
static bool sooner_on_cpu(const ech_ctx *ctx, const struct echi_sort *s, bool pinned)
{
    struct echi_sort_times times = echi_sort_times(s, ctx->threads);
    return times.cpu <= (pinned ? times.pinned : times.pageable);
}

static ech_status run_on_cpu(ech_ctx *ctx, struct echi_sort *s)
{
    ech_ctx *cpu = ctx->cpu;
    size_t bytes = 0;
    cpu->threads = ctx->threads;
    ech_status status = workspace(ctx, cpu->backend, s, &bytes);
    if (status != ECH_OK) return status;
    status = run_on(cpu, s, bytes);
    return status == ECH_OK ? ECH_OK : echi_fail(ctx, status, "%s", cpu->error);
}

static ech_status run(ech_ctx *ctx, const ech_sort_options *options, struct echi_sort *s)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    size_t bytes = 0;
    enum echi_side side = ECHI_DEVICE;
    bool pinned;
    ech_status status;
    TRY(check_shape(ctx, options, s));
    bool on_cpu = ctx->cpu && !s->algorithm; /* if they are in host memory, perhaps */
    if (!on_cpu)
        TRY(workspace(ctx, ctx->backend, s, &bytes)); /* also refuses an unknown algorithm */
    if (s->n == 0) goto done;
    TRY(check_pointers(ctx, s));
    TRY(find_side(ctx, s, &side, &pinned));
    if (side == ECHI_HOST) {
        if (s->work)
            FAIL(ctx, ECH_ERR_ARG,
                 "options->work is given, but the keys are in host memory, which takes none");
        on_cpu = on_cpu && sooner_on_cpu(ctx, s, pinned);
        TRY(on_cpu ? run_on_cpu(ctx, s) : ctx->backend->sort_host(ctx, s));
        goto done;
    }
    if (on_cpu) TRY(workspace(ctx, ctx->backend, s, &bytes));
    TRY(check_value_alignment(ctx, s));
    TRY(run_on(ctx, s, bytes));
done:
    return status;
}

ech_status ech_sort(ech_ctx *ctx, const void *in, void *out, size_t n, ech_dtype dtype,
                    const ech_sort_options *options)
{
    struct echi_sort s = { .keys_in = in, .keys_out = out, .n = n, .dtype = dtype };
    return run(ctx, options, &s);
}

ech_status ech_sort_pairs(ech_ctx *ctx, const void *keys_in, void *keys_out, const void *values_in,
                          void *values_out, size_t value_bytes, size_t n, ech_dtype dtype,
                          const ech_sort_options *options)
{
    if (value_bytes == 0)
        return echi_fail(ctx, ECH_ERR_ARG, "value_bytes is 0: ech_sort() sorts keys alone");
    struct echi_sort s = { .keys_in = keys_in,
                           .keys_out = keys_out,
                           .values_in = values_in,
                           .values_out = values_out,
                           .value_bytes = value_bytes,
                           .n = n,
                           .dtype = dtype };
    return run(ctx, options, &s);
}

static struct echi_sort argsort_shape(ech_dtype index_dtype, size_t n, ech_dtype dtype)
{
    int bytes = (int)ech_dtype_bytes(index_dtype);
    return (struct echi_sort){
        .n = n, .dtype = dtype, .value_bytes = (size_t)bytes, .index_bytes = bytes
    };
}

ech_status ech_argsort(ech_ctx *ctx, const void *keys, void *index, ech_dtype index_dtype, size_t n,
                       ech_dtype dtype, const ech_sort_options *options)
{
    ech_status status = check_index_dtype(ctx, index_dtype);
    if (status != ECH_OK) return status;
    struct echi_sort s = argsort_shape(index_dtype, n, dtype);
    s.keys_in = keys;
    s.values_out = index;
    return run(ctx, options, &s);
}

/* ---- Questions that need no device ---- */

static ech_status ask_workspace(const char *device, const ech_sort_options *options,
                                struct echi_sort *s, size_t *bytes)
{
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    const struct echi_backend *backend;
    ech_status status;
    TRY(echi_backend_ask(device, &backend));
    TRY(check_shape(NULL, options, s));
    TRY(workspace(NULL, backend, s, bytes));
done:
    return status;
}

/* Of a device that has the CPU beside it: which of them does it, of arrays in host memory. */
static ech_status explain_choice(const struct echi_sort *s, const struct echi_backend **backend,
                                 struct echi_text *lines)
{
    struct echi_sort_times times = echi_sort_times(s, 0);
    if (s->algorithm) {
        echi_print(lines, "device     %s, as an algorithm is named\n", (*backend)->name);
        return ECH_OK;
    }
    bool on_cpu = times.cpu <= times.pageable;
    echi_print(lines,
               "device     %s for arrays in host memory: about %.*f us on the CPU; on the GPU with "
               "the copies %.*f, of pinned memory %.*f\n",
               on_cpu ? "cpu" : (*backend)->name, times.cpu < 10, times.cpu, times.pageable < 10,
               times.pageable, times.pinned < 10, times.pinned);
    if (on_cpu) *backend = &echi_cpu;
    return ECH_OK;
}

static ech_status ask_explain(const char *device, const ech_sort_options *options,
                              struct echi_sort *s, char *text, size_t capacity_bytes)
{
    if (!text || !capacity_bytes)
        return echi_fail(NULL, ECH_ERR_ARG, "text is NULL or has no capacity");
    *text = 0;
    const struct echi_backend *backend;
    struct echi_text lines = { text, capacity_bytes };
    ech_status status;
    TRY(echi_backend_ask(device, &backend));
    TRY(check_shape(NULL, options, s));
    if (echi_backend_auto(device) && backend != &echi_cpu) TRY(explain_choice(s, &backend, &lines));
    TRY(backend->sort_explain(s, &lines));
done:
    return status;
}

ech_status ech_sort_workspace(const char *device, size_t n, ech_dtype dtype, size_t value_bytes,
                              const ech_sort_options *options, size_t *bytes)
{
    struct echi_sort s = { .n = n, .dtype = dtype, .value_bytes = value_bytes };
    return ask_workspace(device, options, &s, bytes);
}

ech_status ech_argsort_workspace(const char *device, size_t n, ech_dtype dtype,
                                 ech_dtype index_dtype, const ech_sort_options *options,
                                 size_t *bytes)
{
    ech_status status = check_index_dtype(NULL, index_dtype);
    if (status != ECH_OK) return status;
    struct echi_sort s = argsort_shape(index_dtype, n, dtype);
    return ask_workspace(device, options, &s, bytes);
}

ech_status ech_sort_explain(const char *device, size_t n, ech_dtype dtype, size_t value_bytes,
                            const ech_sort_options *options, char *text, size_t capacity_bytes)
{
    struct echi_sort s = { .n = n, .dtype = dtype, .value_bytes = value_bytes };
    return ask_explain(device, options, &s, text, capacity_bytes);
}

ech_status ech_argsort_explain(const char *device, size_t n, ech_dtype dtype, ech_dtype index_dtype,
                               const ech_sort_options *options, char *text, size_t capacity_bytes)
{
    ech_status status = check_index_dtype(NULL, index_dtype);
    if (status != ECH_OK) return status;
    struct echi_sort s = argsort_shape(index_dtype, n, dtype);
    return ask_explain(device, options, &s, text, capacity_bytes);
}
