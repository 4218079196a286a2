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

/* The same for all matrices of a batch. */
static ech_status check_batch(ech_ctx *ctx, const char *name, size_t batch, size_t step,
                              size_t element_bytes, size_t *bytes)
{
    size_t more;
    if (!*bytes || batch == 1) return ECH_OK;
    if (__builtin_mul_overflow(batch - 1, step, &more) ||
        __builtin_mul_overflow(more, element_bytes, &more) ||
        __builtin_add_overflow(*bytes, more, bytes) || *bytes > (size_t)PTRDIFF_MAX)
        return echi_fail(ctx, ECH_ERR_ARG, "%s has %zu matrices: the size overflows size_t", name,
                         batch);
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
    call->batch = o->batch_count ? o->batch_count : 1;
    call->a_step = o->a_batch_stride;
    call->b_step = o->b_batch_stride;
    call->x_step = o->x_batch_stride;
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

/* Whether the CPU solves the systems in vector lanes. */
static bool is_small(const struct echi_direct *call)
{
    return call->backend->direct_small && call->m == call->n && call->n <= ECHI_DIRECT_SMALL &&
           call->count <= ECHI_DIRECT_SMALL && call->kind != ECH_FACTOR_QR;
}

static ech_status choose(ech_ctx *ctx, const char *algorithm, struct echi_direct *call)
{
    const char *name;
    bool fast;
    call->small = is_small(call);
    call->vendor = false;
    if (algorithm ? strcmp(algorithm, "blocked") == 0 : call->small) return ECH_OK;
    const bool found = ask_vendor(call, &name, &fast) == ECH_OK;
    call->vendor = found && fast;
    if (!algorithm) return ECH_OK;
    call->small = false;
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
    const bool solves = call->call == ECH_DIRECT_CALL_SOLVE;
    const char *x = solves ? "x" : "out";
    ech_status status;
    if (!call->backend->operations[ECHI_OP_direct])
        FAIL(ctx, ECH_ERR_UNSUPPORTED, "%s does not support direct solvers",
             ctx ? ctx->name : call->backend->name);
    TRY(check_options(ctx, options, call));
    TRY(check_matrix(ctx, "a", "a_stride", call->m, call->n, call->a_stride, element, &bytes->a));
    TRY(check_batch(ctx, "a", call->batch, call->a_step, element, &bytes->a));
    if (solves) {
        TRY(check_matrix(ctx, "b", "b_stride", call->m, call->count, call->b_stride, element,
                         &bytes->b));
        TRY(check_batch(ctx, "b", call->batch, call->b_step, element, &bytes->b));
    }
    TRY(check_matrix(ctx, x, solves ? "x_stride" : "out_stride", call->n, call->count,
                     call->x_stride, element, &bytes->x));
    TRY(check_batch(ctx, x, call->batch, call->x_step, element, &bytes->x));
    if (call->batch > 1 && bytes->x && call->x_step / call->x_stride < call->n)
        FAIL(ctx, ECH_ERR_ARG, "options->x_batch_stride is %zu, less than the %zu rows of %s, %zu",
             call->x_step, call->n, solves ? "x_stride" : "out_stride", call->x_stride);
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
    const struct echi_direct *call = request;
    struct echi_direct_parts parts;
    if (call->small) return echi_operation_workspace(call->backend->direct_small, call, bytes);
    return lay_out(call, NULL, &parts, bytes);
}

void echi_direct_put(const struct echi_direct *call, size_t i, const ech_direct_report *report)
{
    if (call->signs) {
        call->signs[i] = report->sign;
        call->log_abs[i] = report->log_abs;
        return;
    }
    char *given = (char *)call->reports + i * call->report_bytes;
    if (call->report_bytes == sizeof *report) { /* the common case, without calls */
        memcpy(given, report, sizeof *report);
        memcpy(given, &call->report_bytes, sizeof call->report_bytes);
        return;
    }
    memcpy(given, &call->report_bytes, sizeof call->report_bytes);
    echi_write_struct(report, sizeof *report, given);
}

/* One system after the other. */
static ech_status run_batch(ech_ctx *ctx, const struct echi_direct *call,
                            const struct echi_direct_parts *parts)
{
    const size_t element = ech_dtype_bytes(call->dtype);
    ech_status status = ECH_OK;
    for (size_t i = 0; i < call->batch && status == ECH_OK; i++) {
        ech_direct_report report = { .kind = call->kind, .log_abs = NAN };
        struct echi_direct one = *call;
        one.report = &report;
        one.a = (const char *)call->a + i * call->a_step * element;
        if (call->b) one.b = (const char *)call->b + i * call->b_step * element;
        if (call->x) one.x = (char *)call->x + i * call->x_step * element;
        status = echi_direct_run(ctx, &one, parts);
        echi_direct_put(call, i, &report);
    }
    return status;
}

static ech_status run(ech_ctx *ctx, const void *request, const void *plan, void *work)
{
    (void)plan;
    const struct echi_direct *call = request;
    struct echi_direct_parts parts;
    size_t bytes;
    if (call->small) return echi_operation_run(ctx, call->backend->direct_small, call, work);
    ech_status status = lay_out(call, work, &parts, &bytes);
    return status == ECH_OK ? run_batch(ctx, call, &parts) : status;
}

static const struct echi_operation whole = { .plan = workspace, .run = run };

/* ---- Calls ---- */

/* Marks rows that have gaps, if they have the same stride everywhere. */
static void set_rows(struct echi_array *array, size_t rows, size_t cols, size_t stride,
                     size_t batch, size_t step)
{
    if (rows * batch < 2 || stride == cols || (batch > 1 && step != rows * stride)) return;
    array->row_bytes = cols * array->align;
    array->pitch_bytes = stride * array->align;
}

static void put_all(const struct echi_direct *call, const ech_direct_report *report)
{
    for (size_t i = 0; i < call->batch; i++) echi_direct_put(call, i, report);
}

static ech_status do_call(ech_ctx *ctx, struct echi_direct *call, const ech_direct_options *options)
{
    struct extents bytes = { 0 };
    struct echi_array *array;
    const size_t element = ech_dtype_bytes(call->dtype);
    const bool solves = call->call == ECH_DIRECT_CALL_SOLVE;
    ech_status status;
    if (call->reports) {
        memcpy(&call->report_bytes, call->reports, sizeof call->report_bytes);
        TRY(echi_check_size(ctx, "report", "ech_direct_report", call->report_bytes,
                            sizeof(ech_direct_report)));
    }
    TRY(check_call(ctx, options, call, &bytes));
    if (!call->n) {
        put_all(call,
                &(ech_direct_report){ .kind = call->kind, .sign = call->m == call->n, .rcond = 1 });
        return ECH_OK;
    }
    struct echi_call list = { .what = "a dense system",
                              .operation = &whole,
                              .request = call,
                              .work = options->work,
                              .work_bytes = options->work_bytes };
    array = echi_call_add(&list, "a", &call->a, bytes.a, element, ECHI_IN);
    set_rows(array, call->m, call->n, call->a_stride, call->batch, call->a_step);
    if (solves && call->count) {
        array = echi_call_add(&list, "b", &call->b, bytes.b, element, ECHI_IN);
        set_rows(array, call->m, call->count, call->b_stride, call->batch, call->b_step);
    }
    if (call->count) {
        const bool gaps = call->x_stride > call->count ||
                          (call->batch > 1 && call->x_step > call->n * call->x_stride);
        array = echi_call_add(&list, solves ? "x" : "out", &call->x, bytes.x, element,
                              gaps ? ECHI_KEPT : ECHI_OUT);
        set_rows(array, call->n, call->count, call->x_stride, call->batch, call->x_step);
    }
    status = echi_call_run(ctx, &list);
    if (status != ECH_OK) put_all(call, &(ech_direct_report){ .kind = call->kind, .log_abs = NAN });
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
                                .reports = report };
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
                                .reports = report };
    return do_call(ctx, &call, options);
}

ech_status ech_determinant(ech_ctx *ctx, size_t n, const void *a, size_t a_stride, ech_dtype dtype,
                           const ech_direct_options *options, int *sign, double *log_abs)
{
    READ_OPTIONS(ctx, ech_direct_options, options);
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
                                .signs = sign,
                                .log_abs = log_abs };
    status = do_call(ctx, &call, options);
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
