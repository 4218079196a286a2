/*
 * direct/direct.c - ech_solve_direct() and its related functions: checks the arguments, chooses,
 * lays out the workspace.
 *
 *     workspace   [ factor | reflectors, gram, chain, between, room | tau | residual | image |
 *                   vector | signs | sums | peaks | pivots | scalars | workspace of products |
 *                   workspace of steps ]
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/direct.h"

#include <math.h>
#include <string.h>

const char *ech_direct_status_text(ech_direct_status end)
{
    static const char *const texts[] = {
        [ECH_DIRECT_STATUS_SOLVED] = "solved",
        [ECH_DIRECT_STATUS_SINGULAR] =
            "the matrix is singular: a column depends on the columns before it",
        [ECH_DIRECT_STATUS_INDEFINITE] = "the matrix is not positive definite",
        [ECH_DIRECT_STATUS_NOT_FINITE] = "the matrix contains NaN or infinity",
        [ECH_DIRECT_STATUS_NOT_FINITE_B] = "a right-hand side contains NaN or infinity",
        [ECH_DIRECT_STATUS_OVERFLOW] = "a norm or a factor of the matrix overflows",
    };
    return (unsigned)end < sizeof texts / sizeof *texts ? texts[end] : "?";
}

const char *ech_factor_name(ech_factor kind)
{
    static const char *const names[] = { "auto", "lu", "cholesky", "qr" };
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

/* ---- Checks ---- */

struct extents {
    size_t a, b, x;
};

static ech_status check_matrix(ech_ctx *ctx, const char *name, const char *stride_name, size_t rows,
                               size_t cols, size_t stride, size_t element_bytes, size_t *bytes)
{
    if (stride < cols)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu, less than the number of columns, %zu",
                         stride_name, stride, cols);
    *bytes = 0;
    if (!rows || !cols) return ECH_OK;
    if (__builtin_mul_overflow(rows - 1, stride, bytes) ||
        __builtin_add_overflow(*bytes, cols, bytes) ||
        __builtin_mul_overflow(*bytes, element_bytes, bytes) || *bytes > (size_t)PTRDIFF_MAX)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu x %zu: the size overflows size_t", name, rows,
                         cols);
    return ECH_OK;
}

static ech_status check_options(ech_ctx *ctx, const ech_direct_options *o, struct echi_direct *call)
{
    ech_status status = ECH_OK;
    if ((unsigned)o->kind > ECH_FACTOR_QR)
        FAIL(ctx, ECH_ERR_ARG, "options->kind is %d, not an ech_factor", (int)o->kind);
    if (o->refine < -1 || o->refine > 1000)
        FAIL(ctx, ECH_ERR_ARG, "options->refine is %d, not from -1 to 1000", o->refine);
    if (call->dtype != ECH_F32 && call->dtype != ECH_F64)
        FAIL(ctx, ECH_ERR_ARG, "dtype is %s (%d), not f32 or f64", ech_dtype_name(call->dtype),
             (int)call->dtype);
    if (call->m < call->n)
        FAIL(ctx, ECH_ERR_ARG,
             "m is %zu, less than n, %zu: underdetermined systems are not supported", call->m,
             call->n);
    if (call->m != call->n && (o->kind == ECH_FACTOR_LU || o->kind == ECH_FACTOR_CHOLESKY))
        FAIL(ctx, ECH_ERR_ARG, "options->kind is %s, which needs m = n, but m is %zu and n is %zu",
             ech_factor_name(o->kind), call->m, call->n);
    call->kind = o->kind;
    call->refine = o->refine < 0                         ? 0
                   : o->refine                           ? o->refine
                   : call->call == ECH_DIRECT_CALL_SOLVE ? 10
                                                         : 0;
done:
    return status;
}

/* The vendor's library, if this backend has one; also its name, or the reason why there is none. */
static ech_status ask_vendor(const struct echi_direct *call, const char **name, bool *fast)
{
    size_t bytes;
    const struct echi_vendor_factor request = { .kind = call->kind,
                                                .m = call->m,
                                                .n = call->n,
                                                .stride = echi_direct_stride(call),
                                                .dtype = call->dtype,
                                                .name = name,
                                                .fast = fast };
    *name = "this device runs the library's own kernels";
    *fast = false;
    if (!call->backend->direct_vendor) return ECH_ERR_UNSUPPORTED;
    return echi_operation_workspace(call->backend->direct_vendor, &request, &bytes);
}

static ech_status choose(ech_ctx *ctx, const char *algorithm, struct echi_direct *call)
{
    const char *name;
    bool fast;
    const bool found = ask_vendor(call, &name, &fast) == ECH_OK;
    call->vendor = found && fast;
    if (!algorithm) return ECH_OK;
    if (strcmp(algorithm, "blocked") == 0) {
        call->vendor = false;
        return ECH_OK;
    }
    if (strcmp(algorithm, call->backend->direct_vendor_name) != 0)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "unknown algorithm \"%s\"; available for dense systems: blocked and "
                         "%s on %s",
                         algorithm, call->backend->direct_vendor_name, call->backend->name);
    if (!found)
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "algorithm \"%s\" is not available: %s",
                         algorithm, name);
    call->vendor = true;
    return ECH_OK;
}

static ech_status check_call(ech_ctx *ctx, const ech_direct_options *options,
                             struct echi_direct *call, struct extents *bytes)
{
    const size_t element = ech_dtype_bytes(call->dtype);
    ech_status status;
    if (!call->backend->operations[ECHI_OP_direct])
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "%s does not support direct solvers",
             ctx ? ctx->name : call->backend->name);
    TRY(check_options(ctx, options, call));
    TRY(check_matrix(ctx, "a", "a_stride", call->m, call->n, call->a_stride, element, &bytes->a));
    if (call->call == ECH_DIRECT_CALL_SOLVE)
        TRY(check_matrix(ctx, "b", "b_stride", call->m, call->count, call->b_stride, element,
                         &bytes->b));
    TRY(check_matrix(ctx, call->call == ECH_DIRECT_CALL_SOLVE ? "x" : "out",
                     call->call == ECH_DIRECT_CALL_SOLVE ? "x_stride" : "out_stride", call->n,
                     call->count, call->x_stride, element, &bytes->x));
    TRY(choose(ctx, options->algorithm, call));
done:
    return status;
}

/* ---- Workspace ---- */

/* The workspace of the products. One column of x is computed by matrix-vector products if x_stride
 * is 1, otherwise by matrix products, but the workspace must not depend on x_stride. */
static ech_status product_bytes(const struct echi_direct *call, size_t *bytes)
{
    struct echi_direct other = *call;
    size_t other_bytes = 0;
    ech_status status;
    TRY(echi_direct_walk(call, bytes));
    other.x_stride = call->x_stride > 1 ? 1 : 2;
    if (call->count == 1) TRY(echi_direct_walk(&other, &other_bytes));
    if (*bytes < other_bytes) *bytes = other_bytes;
done:
    return status;
}

static ech_status lay_out(const struct echi_direct *call, void *base,
                          struct echi_direct_parts *parts, size_t *bytes)
{
    struct echi_layout layout = { .base = base };
    const size_t m = call->m, n = call->n, count = call->count;
    const size_t element = ech_dtype_bytes(call->dtype), leaf = ECHI_DIRECT_LEAF;
    const bool qr = call->kind == ECH_FACTOR_QR || m > n;
    const size_t square = qr ? leaf * leaf : 0, wide = n > count ? n : count;
    const struct echi_operation *step = call->backend->operations[ECHI_OP_direct];
    const struct echi_direct_step largest = { .f64 = element == 8, .rows = m, .cols = n };
    size_t product = 0, steps = 0;
    ech_status status;
    TRY(product_bytes(call, &product));
    TRY(echi_operation_workspace(step, &largest, &steps));
    parts->factor = echi_part(&layout, m, echi_direct_stride(call) * element);
    parts->reflectors = echi_part(&layout, qr ? m : 0, leaf * element);
    parts->gram = echi_part(&layout, square, element);
    parts->chain = echi_part(&layout, qr ? n : 0, leaf * element);
    for (int i = 0; i < 2; i++)
        parts->between[i] = echi_part(&layout, qr ? wide : 0, leaf * element);
    parts->room = echi_part(&layout, qr && m > ECHI_DIRECT_LONG ? m / ECHI_DIRECT_LONG + 1 : 0,
                            leaf * wide * element);
    parts->tau = echi_part(&layout, n, element);
    parts->residual = echi_part(&layout, m, count * element);
    parts->image = echi_part(&layout, n, (m > n ? count : 1) * element);
    parts->vector = echi_part(&layout, n, element);
    parts->signs = echi_part(&layout, n, element);
    parts->row_sums = echi_part(&layout, m, sizeof(double));
    parts->column_sums = echi_part(&layout, n, sizeof(double));
    parts->peaks = echi_part(&layout, 3 * count, sizeof(double));
    parts->pivots = echi_part(&layout, n, sizeof(uint64_t));
    parts->scalars = echi_part(&layout, 1, sizeof *parts->scalars);
    parts->product = echi_part(&layout, product, 1);
    parts->steps = echi_part(&layout, steps, 1);
    *bytes = layout.bytes;
    if (layout.overflow)
        FAIL(NULL, ECH_ERR_MEMORY, "the workspace of a system of %zu x %zu exceeds SIZE_MAX bytes",
             m, n);
done:
    return status;
}

static ech_status workspace(const void *request, void *plan, size_t *bytes)
{
    (void)plan;
    struct echi_direct_parts parts;
    return lay_out(request, NULL, &parts, bytes);
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    struct echi_direct_parts parts;
    size_t bytes;
    ech_status status = lay_out(request, work, &parts, &bytes);
    return status == ECH_OK ? echi_direct_run(ctx, request, &parts) : status;
}

static const struct echi_operation whole = { .plan = workspace, .run = run };

/* ---- Calls ---- */

/* Marks rows that have gaps. */
static void set_rows(struct echi_array *array, size_t rows, size_t cols, size_t stride)
{
    if (rows < 2 || stride == cols) return;
    array->row_bytes = cols * array->align;
    array->pitch_bytes = stride * array->align;
}

static ech_status do_call(ech_ctx *ctx, struct echi_direct *call, const ech_direct_options *options)
{
    struct extents bytes = { 0 };
    struct echi_array *array;
    const size_t element = ech_dtype_bytes(call->dtype);
    const bool solves = call->call == ECH_DIRECT_CALL_SOLVE;
    ech_status status;
    ech_direct_report *given = call->report, report = { 0 };
    TRY(echi_check_size(ctx, "report", "ech_direct_report", given->size, sizeof report));
    TRY(check_call(ctx, options, call, &bytes));
    report = (ech_direct_report){ .kind = call->kind, .sign = call->m == call->n, .rcond = 1 };
    echi_write_struct(&report, sizeof report, given);
    if (!call->n) return ECH_OK;
    report = (ech_direct_report){ .kind = call->kind, .log_abs = NAN };
    call->report = &report;
    struct echi_call list = { .what = "a dense system",
                              .operation = &whole,
                              .request = call,
                              .work = options->work,
                              .work_bytes = options->work_bytes };
    array = echi_call_add(&list, "a", &call->a, bytes.a, element, ECHI_IN);
    set_rows(array, call->m, call->n, call->a_stride);
    if (solves && call->count) {
        array = echi_call_add(&list, "b", &call->b, bytes.b, element, ECHI_IN);
        set_rows(array, call->m, call->count, call->b_stride);
    }
    if (call->count) {
        array = echi_call_add(&list, solves ? "x" : "out", &call->x, bytes.x, element,
                              call->x_stride > call->count ? ECHI_KEPT : ECHI_OUT);
        set_rows(array, call->n, call->count, call->x_stride);
    }
    status = echi_call_run(ctx, &list);
    echi_write_struct(&report, sizeof report, given);
done:
    return status;
}

ech_status ech_solve_direct(ech_ctx *ctx, size_t m, size_t n, const void *a, size_t a_stride,
                            size_t count, const void *b, size_t b_stride, void *x, size_t x_stride,
                            ech_dtype dtype, const ech_direct_options *options,
                            ech_direct_report *report)
{
    READ_OPTIONS(ctx, ech_direct_options, options);
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!report) return echi_fail(ctx, ECH_ERR_ARG, "report is NULL");
    struct echi_direct call = { .backend = ctx->backend,
                                .call = ECH_DIRECT_CALL_SOLVE,
                                .m = m,
                                .n = n,
                                .count = count,
                                .a = a,
                                .a_stride = a_stride,
                                .b = b,
                                .b_stride = b_stride,
                                .x = x,
                                .x_stride = x_stride,
                                .dtype = dtype,
                                .report = report };
    return do_call(ctx, &call, options);
}

ech_status ech_inverse(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, void *out,
                       size_t out_stride, ech_dtype dtype, const ech_direct_options *options,
                       ech_direct_report *report)
{
    READ_OPTIONS(ctx, ech_direct_options, options);
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!report) return echi_fail(ctx, ECH_ERR_ARG, "report is NULL");
    struct echi_direct call = { .backend = ctx->backend,
                                .call = ECH_DIRECT_CALL_INVERSE,
                                .m = n,
                                .n = n,
                                .count = n,
                                .a = a,
                                .a_stride = a_stride,
                                .x = out,
                                .x_stride = out_stride,
                                .dtype = dtype,
                                .report = report };
    return do_call(ctx, &call, options);
}

ech_status ech_determinant(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, ech_dtype dtype,
                           const ech_direct_options *options, int *sign, double *log_abs)
{
    READ_OPTIONS(ctx, ech_direct_options, options);
    ech_direct_report report = { .size = sizeof report };
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!sign) FAIL(ctx, ECH_ERR_ARG, "sign is NULL");
    if (!log_abs) FAIL(ctx, ECH_ERR_ARG, "log_abs is NULL");
    struct echi_direct call = { .backend = ctx->backend,
                                .call = ECH_DIRECT_CALL_DETERMINANT,
                                .m = n,
                                .n = n,
                                .a = a,
                                .a_stride = a_stride,
                                .dtype = dtype,
                                .report = &report };
    TRY(do_call(ctx, &call, options));
    *sign = report.sign;
    *log_abs = report.log_abs;
done:
    return status;
}

/* ---- Questions ---- */

static ech_status ask(const char *device, ech_direct_call what, size_t m, size_t n, size_t count,
                      ech_dtype dtype, const ech_direct_options *options, struct echi_direct *call)
{
    struct extents bytes = { 0 };
    ech_status status;
    *call = (struct echi_direct){ .call = what,
                                  .m = m,
                                  .n = n,
                                  .count = count,
                                  .a_stride = n,
                                  .b_stride = count,
                                  .x_stride = count,
                                  .dtype = dtype };
    TRY(echi_backend_ask(device, &call->backend));
    if ((unsigned)what > ECH_DIRECT_CALL_DETERMINANT)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_direct_call", (int)what);
    if (what != ECH_DIRECT_CALL_SOLVE && m != n)
        FAIL(NULL, ECH_ERR_ARG, "m is %zu, but this call needs m = n, and n is %zu", m, n);
    if (what != ECH_DIRECT_CALL_SOLVE && count != (what == ECH_DIRECT_CALL_INVERSE ? n : 0))
        FAIL(NULL, ECH_ERR_ARG, "nrhs is %zu, which this call does not allow", count);
    TRY(check_call(NULL, options, call, &bytes));
done:
    return status;
}

ech_status ech_direct_workspace(const char *device, ech_direct_call what, size_t m, size_t n,
                                size_t count, ech_dtype dtype, const ech_direct_options *options,
                                size_t *bytes)
{
    READ_OPTIONS(NULL, ech_direct_options, options);
    struct echi_direct call;
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    TRY(ask(device, what, m, n, count, dtype, options, &call));
    if (n) TRY(echi_operation_workspace(&whole, &call, bytes));
done:
    return status;
}

static void explain_kind(const struct echi_direct *call, struct echi_explain *e)
{
    if (call->kind != ECH_FACTOR_AUTO)
        echi_explain_line(e, "kind", "%s", ech_factor_name(call->kind));
    else if (call->m > call->n)
        echi_explain_line(e, "kind", "qr, because m > n");
    else
        echi_explain_line(e, "kind",
                          "cholesky if a is symmetric with a positive diagonal and all pivots are "
                          "positive, otherwise lu");
}

ech_status ech_direct_explain(const char *device, ech_direct_call what, size_t m, size_t n,
                              size_t count, ech_dtype dtype, const ech_direct_options *options,
                              ech_format format, char *text, size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_direct_options, options);
    static const char *const names[] = { "direct_solve", "direct_inverse", "direct_determinant" };
    struct echi_explain e;
    struct echi_direct call;
    const char *name;
    bool fast;
    size_t bytes = 0;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(ask(device, what, m, n, count, dtype, options, &call));
    echi_explain_call(&e, names[what], call.backend->name);
    if (!n) {
        echi_explain_algorithm(&e, true, "empty", "the matrix has no elements");
        echi_explain_workspace(&e, 0);
        return echi_explain_end(&e, ECH_OK);
    }
    const bool found = ask_vendor(&call, &name, &fast) == ECH_OK;
    const char *vendor = call.backend->direct_vendor_name;
    for (int chosen = 1; chosen >= 0; chosen--) {
        if (found && call.vendor == chosen) echi_explain_algorithm(&e, chosen, vendor, "%s", name);
        if (call.vendor != chosen)
            echi_explain_algorithm(&e, chosen, "blocked",
                                   "panels of %d columns, products \"tiled\"",
                                   (int)ECHI_DIRECT_LEAF);
    }
    if (!found) echi_explain_line(&e, "unavailable", "%s: %s", vendor, name);
    explain_kind(&call, &e);
    echi_explain_line(&e, "refinement", "at most %d steps", call.refine);
    TRY(echi_operation_workspace(&whole, &call, &bytes));
    echi_explain_workspace(&e, bytes);
done:
    return echi_explain_end(&e, status);
}
