/*
 * matmul/matmul.c - ech_matmul() and its related functions, and ech_matvec(): checks the arguments,
 * calls the backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "matmul/matmul.h"
#include "core/call.h"

/* ---- Checks ---- */

static ech_status check_flag(ech_ctx *ctx, const char *name, int value)
{
    if (value == 0 || value == 1) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %d, not 0 or 1", name, value);
}

static ech_status check_stride(ech_ctx *ctx, const char *name, size_t stride, size_t cols)
{
    if (stride >= cols) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu, less than the number of columns, %zu", name,
                     stride, cols);
}

/* The bytes from the first to the last element of count matrices. */
static ech_status extent(ech_ctx *ctx, const char *name, size_t rows, size_t cols, size_t stride,
                         size_t count, size_t step, size_t element_bytes, size_t *bytes)
{
    size_t all = 0, matrix = 0;
    *bytes = 0;
    if (!rows || !cols || !count) return ECH_OK;
    if (__builtin_mul_overflow(rows - 1, stride, &matrix) ||
        __builtin_mul_overflow(count - 1, step, &all) ||
        __builtin_add_overflow(all, matrix, &all) || __builtin_add_overflow(all, cols, &all) ||
        __builtin_mul_overflow(all, element_bytes, bytes) || *bytes > (size_t)PTRDIFF_MAX)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu x %zu: the size overflows size_t", name, rows,
                         cols);
    return ECH_OK;
}

static ech_status check_types(ech_ctx *ctx, const struct echi_matmul *p)
{
    if (p->dtype != ECH_F16 && p->dtype != ECH_BF16 && p->dtype != ECH_F32 && p->dtype != ECH_F64)
        return echi_fail(ctx, ECH_ERR_ARG, "dtype is %s (%d), not f16, bf16, f32 or f64",
                         ech_dtype_name(p->dtype), (int)p->dtype);
    if (p->wide && ech_dtype_bytes(p->dtype) != 2)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->accumulate_wide needs dtype f16 or bf16, but dtype is %s",
                         ech_dtype_name(p->dtype));
    return ECH_OK;
}

static ech_status check_options(ech_ctx *ctx, const ech_matmul_options *options,
                                struct echi_matmul *p)
{
    ech_status status;
    TRY(check_flag(ctx, "options->transpose_a", options->transpose_a));
    TRY(check_flag(ctx, "options->transpose_b", options->transpose_b));
    TRY(check_flag(ctx, "options->accumulate_wide", options->accumulate_wide));
    p->a_turned = options->transpose_a;
    p->b_turned = options->transpose_b;
    p->wide = options->accumulate_wide;
    p->algorithm = options->algorithm;
    TRY(check_types(ctx, p));
done:
    return status;
}

static ech_status check_steps(ech_ctx *ctx, const ech_matmul_options *options,
                              struct echi_matmul *p)
{
    if (p->list) {
        if (options->batch_count || options->a_batch_stride || options->b_batch_stride ||
            options->c_batch_stride)
            return echi_fail(
                ctx, ECH_ERR_ARG,
                "options->batch_count or a batch stride is set, but the pointer arrays "
                "define the batch; leave them 0");
        return ECH_OK;
    }
    p->count = options->batch_count ? options->batch_count : 1;
    if (p->count == 1) return ECH_OK;
    p->a_step = options->a_batch_stride;
    p->b_step = options->b_batch_stride;
    p->c_step = options->c_batch_stride;
    if (p->c_step / (p->c_stride ? p->c_stride : 1) < p->m && p->m && p->n)
        return echi_fail(ctx, ECH_ERR_ARG,
                         "options->c_batch_stride is %zu, less than the %zu rows of c_stride, %zu",
                         p->c_step, p->m, p->c_stride);
    return ECH_OK;
}

static size_t rows_of_a(const struct echi_matmul *p)
{
    return p->a_turned ? p->k : p->m;
}

static size_t rows_of_b(const struct echi_matmul *p)
{
    return p->b_turned ? p->n : p->k;
}

struct extents {
    size_t a, b, c;
};

static ech_status check_shape(ech_ctx *ctx, const struct echi_matmul *p, struct extents *bytes)
{
    const size_t in = ech_dtype_bytes(p->dtype), out = ech_dtype_bytes(echi_matmul_c_dtype(p));
    const size_t a_cols = p->a_turned ? p->m : p->k, b_cols = p->b_turned ? p->k : p->n;
    const size_t count = p->list ? 1 : p->count;
    ech_status status;
    TRY(check_stride(ctx, "a_stride", p->a_stride, a_cols));
    TRY(check_stride(ctx, "b_stride", p->b_stride, b_cols));
    TRY(check_stride(ctx, "c_stride", p->c_stride, p->n));
    TRY(extent(ctx, "a", rows_of_a(p), a_cols, p->a_stride, count, p->a_step, in, &bytes->a));
    TRY(extent(ctx, "b", rows_of_b(p), b_cols, p->b_stride, count, p->b_step, in, &bytes->b));
    TRY(extent(ctx, "c", p->m, p->n, p->c_stride, count, p->c_step, out, &bytes->c));
    if (p->list) TRY(extent(ctx, "count", 1, p->count, 0, 1, 0, sizeof(void *), &bytes->a));
done:
    return status;
}

/* A product without terms is treated as one with k = 0. */
static void drop_terms(struct echi_matmul *p)
{
    if (p->alpha != 0 && p->k) return;
    p->k = 0;
    p->alpha = 0;
    p->a = p->b = NULL;
}

/* ---- Calls ---- */

/* Marks rows that have gaps, if they have the same stride everywhere. */
static void set_rows(struct echi_array *array, size_t rows, size_t cols, size_t stride,
                     size_t count, size_t step)
{
    const size_t bytes = array->align;
    if (rows * count < 2 || stride == cols || (count > 1 && step != rows * stride)) return;
    array->row_bytes = cols * bytes;
    array->pitch_bytes = stride * bytes;
}

static ech_status run(ech_ctx *ctx, struct echi_matmul *p, const struct extents *bytes,
                      const ech_matmul_options *options)
{
    struct echi_call call;
    echi_call_begin(&call, "a product", ctx->backend->operations[ECHI_OP_matmul], p, options->work,
                    options->work_bytes);
    const size_t in = ech_dtype_bytes(p->dtype), out = ech_dtype_bytes(echi_matmul_c_dtype(p));
    const bool gaps = p->c_stride > p->n || (p->count > 1 && p->c_step > p->m * p->c_stride);
    struct echi_array *array;
    array = echi_call_add(&call, "a", &p->a, p->k ? bytes->a : 0, in, ECHI_IN);
    set_rows(array, rows_of_a(p), p->a_turned ? p->m : p->k, p->a_stride, p->count, p->a_step);
    array = echi_call_add(&call, "b", &p->b, p->k ? bytes->b : 0, in, ECHI_IN);
    set_rows(array, rows_of_b(p), p->b_turned ? p->k : p->n, p->b_stride, p->count, p->b_step);
    array = echi_call_add(&call, "c", &p->c, bytes->c, out,
                          p->beta != 0 || gaps ? ECHI_KEPT : ECHI_OUT);
    set_rows(array, p->m, p->n, p->c_stride, p->count, p->c_step);
    return echi_call_run(ctx, &call);
}

/* Rejects an unknown algorithm. Backends choose none if there is nothing to multiply. */
static ech_status check_algorithm(ech_ctx *ctx, const struct echi_matmul *p)
{
    struct echi_matmul one = *p;
    one.m = one.n = one.k = one.count = 1;
    one.a_stride = one.b_stride = one.c_stride = 1;
    const struct echi_call call = { .what = "a product",
                                    .operation = ctx->backend->operations[ECHI_OP_matmul],
                                    .request = &one };
    return echi_call_check(ctx, &call);
}

static ech_status begin(ech_ctx *ctx, const ech_matmul_options *options, struct echi_matmul *p,
                        struct extents *bytes)
{
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (!ctx->backend->operations[ECHI_OP_matmul])
        return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "%s does not support matrix products",
                         ctx->name);
    p->backend = ctx->backend;
    TRY(check_options(ctx, options, p));
    TRY(check_steps(ctx, options, p));
    TRY(check_shape(ctx, p, bytes));
    drop_terms(p);
    if (!p->m || !p->n || !p->k || !p->count) TRY(check_algorithm(ctx, p));
done:
    return status;
}

ech_status ech_matmul(ech_ctx *ctx, size_t m, size_t n, size_t k, double alpha, const void *a,
                      size_t a_stride, const void *b, size_t b_stride, double beta, void *c,
                      size_t c_stride, ech_dtype dtype, const ech_matmul_options *options)
{
    READ_OPTIONS(ctx, ech_matmul_options, options);
    struct echi_matmul p = { .m = m,
                             .n = n,
                             .k = k,
                             .alpha = alpha,
                             .beta = beta,
                             .a = a,
                             .b = b,
                             .c = c,
                             .a_stride = a_stride,
                             .b_stride = b_stride,
                             .c_stride = c_stride,
                             .dtype = dtype };
    struct extents bytes = { 0 };
    ech_status status = begin(ctx, options, &p, &bytes);
    if (status != ECH_OK || !m || !n) return status;
    return run(ctx, &p, &bytes, options);
}

/* ---- Pointer arrays ---- */

/* The memory of the pointer arrays, which must be the same for all. */
static ech_status find_side(ech_ctx *ctx, const struct echi_matmul *p, enum echi_side *side)
{
    const struct {
        const char *name;
        const void *array;
    } arrays[] = { { "c", p->c }, { "a", p->a }, { "b", p->b } };
    ech_status status;
    for (int i = 0; i < (p->k ? 3 : 1); i++) {
        enum echi_side here = ECHI_HOST;
        if (!arrays[i].array) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", arrays[i].name);
        if (ctx->backend->side != echi_cpu.side)
            TRY(ctx->backend->side(ctx, arrays[i].array, &here, NULL));
        if (i && here != *side)
            FAIL(ctx, ECH_ERR_ARG,
                 "%s is not in the memory of c: all pointer arrays must be in the same memory",
                 arrays[i].name);
        *side = here;
    }
    status = ECH_OK;
done:
    return status;
}

static ech_status check_list(ech_ctx *ctx, const char *name, const void *const *list, size_t count,
                             size_t align)
{
    for (size_t i = 0; i < count; i++) {
        if (!list[i]) return echi_fail(ctx, ECH_ERR_ARG, "%s[%zu] is NULL", name, i);
        if ((uintptr_t)list[i] % align)
            return echi_fail(ctx, ECH_ERR_ARG,
                             "%s[%zu] is not aligned to %zu bytes, the size of one", name, i,
                             align);
    }
    return ECH_OK;
}

static ech_status check_lists(ech_ctx *ctx, const struct echi_matmul *p)
{
    const size_t in = ech_dtype_bytes(p->dtype), out = ech_dtype_bytes(echi_matmul_c_dtype(p));
    ech_status status;
    TRY(check_list(ctx, "c", p->c, p->count, out));
    if (p->k) TRY(check_list(ctx, "a", p->a, p->count, in));
    if (p->k) TRY(check_list(ctx, "b", p->b, p->count, in));
done:
    return status;
}

/* For pointer arrays in host memory: one product after another. */
static ech_status run_each(ech_ctx *ctx, const struct echi_matmul *p,
                           const ech_matmul_options *options)
{
    ech_status status = ECH_OK;
    for (size_t i = 0; i < p->count; i++)
        TRY(ech_matmul(ctx, p->m, p->n, p->k, p->alpha,
                       p->k ? ((const void *const *)p->a)[i] : NULL, p->a_stride,
                       p->k ? ((const void *const *)p->b)[i] : NULL, p->b_stride, p->beta,
                       ((void *const *)p->c)[i], p->c_stride, p->dtype, options));
done:
    return status;
}

static ech_status run_list(ech_ctx *ctx, struct echi_matmul *p, const ech_matmul_options *options)
{
    struct echi_call call;
    echi_call_begin(&call, "a batch of products", ctx->backend->operations[ECHI_OP_matmul], p,
                    options->work, options->work_bytes);
    const size_t bytes = p->count * sizeof(void *), align = sizeof(void *);
    echi_call_add(&call, "a", &p->a, p->k ? bytes : 0, align, ECHI_IN);
    echi_call_add(&call, "b", &p->b, p->k ? bytes : 0, align, ECHI_IN);
    echi_call_add(&call, "c", &p->c, bytes, align, ECHI_IN);
    return echi_call_run(ctx, &call);
}

ech_status ech_matmul_pointers(ech_ctx *ctx, size_t count, size_t m, size_t n, size_t k,
                               double alpha, const void *const *a, size_t a_stride,
                               const void *const *b, size_t b_stride, double beta, void *const *c,
                               size_t c_stride, ech_dtype dtype, const ech_matmul_options *options)
{
    READ_OPTIONS(ctx, ech_matmul_options, options);
    struct echi_matmul p = { .list = true,
                             .count = count,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = alpha,
                             .beta = beta,
                             .a = a,
                             .b = b,
                             .c = (void *)(uintptr_t)c,
                             .a_stride = a_stride,
                             .b_stride = b_stride,
                             .c_stride = c_stride,
                             .dtype = dtype };
    struct extents bytes = { 0 };
    enum echi_side side = ECHI_HOST;
    ech_status status;
    TRY(begin(ctx, options, &p, &bytes));
    if (!count || !m || !n) return ECH_OK;
    TRY(find_side(ctx, &p, &side));
    if (side == ECHI_HOST) {
        TRY(check_lists(ctx, &p));
        if (ctx->backend->side != echi_cpu.side) return run_each(ctx, &p, options);
    }
    TRY(run_list(ctx, &p, options));
done:
    return status;
}

/* ---- Queries ---- */

static ech_status ask(const char *device, size_t m, size_t n, size_t k, ech_dtype dtype,
                      const ech_matmul_options *options, struct echi_matmul *p)
{
    const struct echi_backend *backend = NULL;
    ech_status status;
    *p = (struct echi_matmul){ .m = m, .n = n, .k = k, .alpha = 1, .dtype = dtype };
    TRY(echi_backend_ask(device, &backend));
    if (!backend->operations[ECHI_OP_matmul])
        FAIL(NULL, ECH_ERR_UNSUPPORTED, "%s does not support matrix products", backend->name);
    p->backend = backend;
    TRY(check_options(NULL, options, p));
    p->count = options->batch_count ? options->batch_count : 1;
    p->a_stride = p->a_turned ? m : k;
    p->b_stride = p->b_turned ? k : n;
    p->c_stride = n;
done:
    return status;
}

ech_status ech_matmul_workspace(const char *device, size_t m, size_t n, size_t k, ech_dtype dtype,
                                const ech_matmul_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_matmul_options, options);
    struct echi_matmul p;
    ech_status status;
    if (!bytes) return echi_fail(NULL, ECH_ERR_ARG, "bytes is NULL");
    *bytes = 0;
    TRY(ask(device, m, n, k, dtype, options, &p));
    if (m && n && k)
        TRY(echi_operation_workspace(p.backend->operations[ECHI_OP_matmul], &p, bytes));
done:
    return status;
}

ech_status ech_matmul_explain(const char *device, size_t m, size_t n, size_t k, ech_dtype dtype,
                              const ech_matmul_options *options, ech_format format, char *text,
                              size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_matmul_options, options);
    struct echi_explain e;
    struct echi_matmul p;
    size_t bytes = 0;
    ech_status status = echi_explain_begin(&e, format, text, capacity_bytes);
    if (status != ECH_OK) return status;
    TRY(ask(device, m, n, k, dtype, options, &p));
    echi_explain_call(&e, "matmul", p.backend->name);
    const struct echi_operation *operation = p.backend->operations[ECHI_OP_matmul];
    if (!m || !n)
        echi_explain_algorithm(&e, true, "empty", "c has no elements");
    else
        TRY(operation->explain(&p, &e));
    if (m && n && k) TRY(echi_operation_workspace(operation, &p, &bytes));
    echi_explain_workspace(&e, bytes);
done:
    return echi_explain_end(&e, status);
}

/* ---- A matrix times a vector ---- */

/* All of a request but the pointers and numbers. */
static ech_status shape_vector(ech_ctx *ctx, size_t rows, size_t cols, ech_dtype dtype,
                               const ech_matvec_options *options, struct echi_matvec *v)
{
    const size_t bytes = ech_dtype_bytes(dtype);
    ech_status status;
    TRY(check_flag(ctx, "options->transpose", options->transpose));
    if (dtype != ECH_F32 && dtype != ECH_F64)
        FAIL(ctx, ECH_ERR_ARG, "dtype is %s (%d), not f32 or f64", ech_dtype_name(dtype),
             (int)dtype);
    TRY(echi_check_count(ctx, "rows", rows, bytes));
    TRY(echi_check_count(ctx, "cols", cols, bytes));
    *v = (struct echi_matvec){ .rows = rows,
                               .cols = cols,
                               .turned = options->transpose,
                               .empty = !rows || !cols,
                               .a_stride = cols,
                               .alpha = 1,
                               .dtype = dtype };
done:
    return status;
}

static const struct echi_operation *matvec_of(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_matvec];
}

/* A product with few elements without options; false if it is not one. */
static bool matvec_at_once(const ech_ctx *ctx, size_t rows, size_t cols, double alpha,
                           const void *a, size_t a_stride, const void *x, double beta, void *y,
                           ech_dtype dtype)
{
    enum { AT_ONCE = 1024, MOST_STRIDE = 1 << 20 };
    if (rows - 1 >= AT_ONCE || cols - 1 >= AT_ONCE || a_stride < cols || a_stride > MOST_STRIDE ||
        (dtype != ECH_F32 && dtype != ECH_F64) || alpha == 0)
        return false;
    const size_t bytes = dtype == ECH_F32 ? 4 : 8;
    const struct echi_span in[2] = { { a, ((rows - 1) * a_stride + cols) * bytes, bytes },
                                     { x, cols * bytes, bytes } };
    const struct echi_span out = { y, rows * bytes, bytes };
    if (!echi_call_is_simple(ctx, in, 2, &out, 1)) return false;
    const struct echi_matvec v = { .rows = rows,
                                   .cols = cols,
                                   .a = a,
                                   .x = x,
                                   .y = y,
                                   .a_stride = a_stride,
                                   .alpha = alpha,
                                   .beta = beta,
                                   .dtype = dtype };
    return matvec_of(ctx->backend)->quick(&v);
}

ech_status ech_matvec(ech_ctx *ctx, size_t rows, size_t cols, double alpha, const void *a,
                      size_t a_stride, const void *x, double beta, void *y, ech_dtype dtype,
                      const ech_matvec_options *options)
{
    if (!options && matvec_at_once(ctx, rows, cols, alpha, a, a_stride, x, beta, y, dtype))
        return ECH_OK;
    READ_OPTIONS(ctx, ech_matvec_options, options);
    const size_t bytes = ech_dtype_bytes(dtype);
    struct echi_matvec v;
    size_t a_bytes;
    ech_status status;
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    TRY(shape_vector(ctx, rows, cols, dtype, options, &v));
    const size_t n = v.turned ? cols : rows, terms = v.turned ? rows : cols;
    TRY(check_stride(ctx, "a_stride", a_stride, cols));
    TRY(extent(ctx, "a", rows, cols, a_stride, 1, 0, bytes, &a_bytes));
    if (!n) return ECH_OK;
    v.empty = !terms || alpha == 0;
    v.a = a;
    v.x = x;
    v.y = y;
    v.a_stride = a_stride;
    v.alpha = alpha;
    v.beta = beta;
    struct echi_call call;
    echi_call_begin(&call, "a matrix times a vector", matvec_of(ctx->backend), &v, options->work,
                    options->work_bytes);
    struct echi_array *array =
        echi_call_add(&call, "a", &v.a, v.empty ? 0 : a_bytes, bytes, ECHI_IN);
    set_rows(array, rows, cols, a_stride, 1, 0);
    echi_call_add(&call, "x", &v.x, v.empty ? 0 : terms * bytes, bytes, ECHI_IN);
    echi_call_add(&call, "y", &v.y, n * bytes, bytes, beta != 0 ? ECHI_KEPT : ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_matvec_workspace(const char *device, size_t rows, size_t cols, ech_dtype dtype,
                                const ech_matvec_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_matvec_options, options);
    struct echi_matvec v;
    if (bytes) *bytes = 0;
    const ech_status status = shape_vector(NULL, rows, cols, dtype, options, &v);
    return status == ECH_OK ? echi_call_workspace(device, matvec_of, &v, bytes) : status;
}

ech_status ech_matvec_explain(const char *device, size_t rows, size_t cols, ech_dtype dtype,
                              const ech_matvec_options *options, ech_format format, char *text,
                              size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_matvec_options, options);
    struct echi_matvec v;
    const ech_status status = shape_vector(NULL, rows, cols, dtype, options, &v);
    if (status != ECH_OK) return status;
    return echi_explain(device, "matvec", matvec_of, &v, format, text, capacity_bytes);
}
