/*
 * sparse/sparse.c - ech_spmv() and its related functions: checks the arguments and calls the
 * backend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/sparse.h"
#include "core/call.h"

#include <string.h>

/* ---- Checks ---- */

static ech_status check_limit(ech_ctx *ctx, const char *name, const char *field, size_t value,
                              ech_dtype index)
{
    const size_t most = index == ECH_I32 ? INT32_MAX : PTRDIFF_MAX / 32;
    if (value <= most) return ECH_OK;
    return echi_fail(
        ctx, ECH_ERR_ARG, "%s%s%s is %zu: exceeds %s", name, field ? "->" : "", field ? field : "",
        value, index == ECH_I32 ? "INT32_MAX; use an index_dtype of 64 bits" : "PTRDIFF_MAX / 32");
}

/* Checks everything except pointers; *m receives a copy. */
static ech_status check_csr(ech_ctx *ctx, const char *name, const ech_csr *a, ech_csr *m)
{
    ech_status status;
    if (!a) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", name);
    TRY(echi_read_struct(ctx, name, "ech_csr", a, m, sizeof *m));
    a = m;
    m->index_dtype = echi_csr_index_dtype(a->index_dtype);
    if (a->index_dtype != ECH_I32 && a->index_dtype != ECH_I64)
        FAIL(ctx, ECH_ERR_ARG, "%s->index_dtype is %s, not i32, u32, i64 or u64", name,
             ech_dtype_name(a->index_dtype));
    if (a->dtype != ECH_F32 && a->dtype != ECH_F64)
        FAIL(ctx, ECH_ERR_ARG, "%s->dtype is %s, not f32 or f64", name, ech_dtype_name(a->dtype));
    TRY(check_limit(ctx, name, "rows", a->rows, a->index_dtype));
    TRY(check_limit(ctx, name, "cols", a->cols, a->index_dtype));
    TRY(check_limit(ctx, name, "nnz", a->nnz, a->index_dtype));
done:
    return status;
}

static ech_status check_context(ech_ctx *ctx)
{
    if (!ctx) return echi_fail(NULL, ECH_ERR_ARG, "ctx is NULL");
    if (ctx->backend->operations[ECHI_OP_sparse]) return ECH_OK;
    return echi_fail(ctx, ECH_ERR_UNSUPPORTED, "%s does not support sparse matrices", ctx->name);
}

static const struct echi_operation *operation(const struct echi_backend *backend)
{
    return backend->operations[ECHI_OP_sparse];
}

/* ---- Arrays ---- */

static void add_csr(struct echi_call *call, const char *const names[3], ech_csr *a)
{
    const size_t index = ech_dtype_bytes(a->index_dtype), value = ech_dtype_bytes(a->dtype);
    echi_call_add(call, names[0], &a->row_offsets, (a->rows + 1) * index, index, ECHI_IN);
    echi_call_add(call, names[1], &a->col_indices, a->nnz * index, index, ECHI_IN);
    echi_call_add(call, names[2], &a->values, a->nnz * value, value, ECHI_IN);
}

static const char *const names_a[3] = { "a->row_offsets", "a->col_indices", "a->values" };

/* rows x n elements, with a row stride. */
static struct echi_array *add_rows(struct echi_call *call, const char *name, void *pointer,
                                   size_t rows, size_t n, size_t stride, size_t bytes,
                                   enum echi_use use)
{
    const size_t row = n * bytes, all = rows && n ? (rows - 1) * stride * bytes + row : 0;
    struct echi_array *array = echi_call_add(call, name, pointer, all, bytes, use);
    if (rows > 1 && stride > n) {
        array->row_bytes = row;
        array->pitch_bytes = stride * bytes;
        if (use == ECHI_OUT) array->use = ECHI_KEPT;
    }
    return array;
}

/* ---- Products ---- */

static ech_status check_stride(ech_ctx *ctx, const char *name, size_t stride, size_t n, size_t rows)
{
    size_t elements;
    if (stride < n)
        return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu, less than n, %zu", name, stride, n);
    if (!__builtin_mul_overflow(stride, rows, &elements) && elements <= PTRDIFF_MAX / 8)
        return ECH_OK;
    return echi_fail(ctx, ECH_ERR_ARG, "%s is %zu: the size of %zu rows overflows size_t", name,
                     stride, rows);
}

/* y = beta y, as a dense product without terms. */
static ech_status scale(ech_ctx *ctx, const struct echi_sparse *s, double beta, const char *y)
{
    if (!s->y) return echi_fail(ctx, ECH_ERR_ARG, "%s is NULL", y);
    return ech_matmul(ctx, s->a.rows, s->n, 0, 0, NULL, 0, NULL, s->n, beta, s->y, s->y_stride,
                      s->a.dtype, NULL);
}

/* s has everything except the rounded scalars; x and y are the arguments' names. */
static ech_status multiply(ech_ctx *ctx, struct echi_sparse *s, double alpha, double beta,
                           const char *x, const char *y, const ech_csr_options *options)
{
    const size_t bytes = ech_dtype_bytes(s->a.dtype);
    s->alpha = s->a.dtype == ECH_F32 ? (double)(float)alpha : alpha;
    s->beta = s->a.dtype == ECH_F32 ? (double)(float)beta : beta;
    if (s->a.rows == 0 || s->n == 0) return ECH_OK;
    if (s->alpha == 0 || s->a.cols == 0) return scale(ctx, s, beta, y);
    struct echi_call call;
    echi_call_begin(&call, "a product with a sparse matrix", operation(ctx->backend), s,
                    options->work, options->work_bytes);
    add_csr(&call, names_a, &s->a);
    add_rows(&call, x, &s->x, s->a.cols, s->n, s->x_stride, bytes, ECHI_IN);
    add_rows(&call, y, &s->y, s->a.rows, s->n, s->y_stride, bytes,
             s->beta != 0 ? ECHI_KEPT : ECHI_OUT);
    return echi_call_run(ctx, &call);
}

ech_status ech_spmv(ech_ctx *ctx, double alpha, const ech_csr *a, const void *x, double beta,
                    void *y, const ech_csr_options *options)
{
    READ_OPTIONS(ctx, ech_csr_options, options);
    struct echi_sparse s = {
        .what = ECHI_SPARSE_MULTIPLY, .x = x, .y = y, .n = 1, .x_stride = 1, .y_stride = 1
    };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "a", a, &s.a));
    TRY(multiply(ctx, &s, alpha, beta, "x", "y", options));
done:
    return status;
}

ech_status ech_spmm(ech_ctx *ctx, double alpha, const ech_csr *a, size_t n, const void *b,
                    size_t b_stride, double beta, void *c, size_t c_stride,
                    const ech_csr_options *options)
{
    READ_OPTIONS(ctx, ech_csr_options, options);
    struct echi_sparse s = { .what = ECHI_SPARSE_MULTIPLY,
                             .x = b,
                             .y = c,
                             .n = n,
                             .x_stride = b_stride,
                             .y_stride = c_stride };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "a", a, &s.a));
    TRY(check_stride(ctx, "b_stride", b_stride, n, a->cols));
    TRY(check_stride(ctx, "c_stride", c_stride, n, a->rows));
    TRY(multiply(ctx, &s, alpha, beta, "b", "c", options));
done:
    return status;
}

/* ---- Conversions and checks ---- */

/* Row and column numbers must fit in one key of 64 bits; n: number of COO entries. */
static ech_status check_bits(ech_ctx *ctx, const char *name, const ech_csr *m, size_t n)
{
    if (echi_sparse_bits(m->rows) + echi_sparse_number_bits(m, n) <= 64) return ECH_OK;
    return echi_fail(
        ctx, ECH_ERR_UNSUPPORTED,
        "%s is %zu x %zu: the index of a row and that of one of %zu columns do not fit in "
        "64 bits",
        name, m->rows, m->cols, echi_sparse_is_wide(m) && n < m->cols ? n : m->cols);
}

static void add_out(struct echi_call *call, ech_csr *out)
{
    const size_t index = ech_dtype_bytes(out->index_dtype), value = ech_dtype_bytes(out->dtype);
    echi_call_add(call, "out->row_offsets", &out->row_offsets, (out->rows + 1) * index, index,
                  ECHI_OUT);
    echi_call_add(call, "out->col_indices", &out->col_indices, out->nnz * index, index, ECHI_OUT);
    echi_call_add(call, "out->values", &out->values, out->nnz * value, value, ECHI_OUT);
}

ech_status ech_csr_from_coo(ech_ctx *ctx, const void *rows, const void *cols, const void *values,
                            ech_csr *out, uint64_t *nnz, size_t n, const ech_csr_options *options)
{
    READ_OPTIONS(ctx, ech_csr_options, options);
    struct echi_sparse s = { .what = ECHI_SPARSE_FROM_COO,
                             .n = n,
                             .rows = rows,
                             .columns = cols,
                             .values = values,
                             .entries = nnz };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "out", out, &s.out));
    TRY(check_bits(ctx, "out", &s.out, n));
    if (out->nnz < n) FAIL(ctx, ECH_ERR_ARG, "out->nnz is %zu, less than n, %zu", out->nnz, n);
    s.out.nnz = n; /* entries beyond n are not accessed */
    struct echi_call call;
    echi_call_begin(&call, "a matrix", operation(ctx->backend), &s, options->work,
                    options->work_bytes);
    const size_t index = ech_dtype_bytes(out->index_dtype), value = ech_dtype_bytes(out->dtype);
    echi_call_add(&call, "rows", &s.rows, n * index, index, ECHI_IN);
    echi_call_add(&call, "cols", &s.columns, n * index, index, ECHI_IN);
    echi_call_add(&call, "values", &s.values, n * value, value, ECHI_IN);
    add_out(&call, &s.out);
    echi_call_add(&call, "nnz", &s.entries, sizeof *nnz, sizeof *nnz, ECHI_OUT);
    for (int i = 4; i < 6; i++) { /* their final number is known later */
        echi_call_array(&call, i)->counted_by = call.count;
        echi_call_array(&call, i)->element_bytes = i == 4 ? index : value;
    }
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_csr_transpose(ech_ctx *ctx, const ech_csr *a, ech_csr *out,
                             const ech_csr_options *options)
{
    READ_OPTIONS(ctx, ech_csr_options, options);
    struct echi_sparse s = { .what = ECHI_SPARSE_TRANSPOSE };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "a", a, &s.a));
    TRY(check_csr(ctx, "out", out, &s.out));
    TRY(check_bits(ctx, "out", &s.out, SIZE_MAX));
    if (out->rows != a->cols || out->cols != a->rows)
        FAIL(ctx, ECH_ERR_ARG, "out is %zu x %zu, not %zu x %zu", out->rows, out->cols, a->cols,
             a->rows);
    if (s.out.index_dtype != s.a.index_dtype || out->dtype != a->dtype)
        FAIL(ctx, ECH_ERR_ARG, "out has types %s and %s, not %s and %s",
             ech_dtype_name(out->index_dtype), ech_dtype_name(out->dtype),
             ech_dtype_name(a->index_dtype), ech_dtype_name(a->dtype));
    if (out->nnz != a->nnz) FAIL(ctx, ECH_ERR_ARG, "out->nnz is %zu, not %zu", out->nnz, a->nnz);
    struct echi_call call;
    echi_call_begin(&call, "a transpose", operation(ctx->backend), &s, options->work,
                    options->work_bytes);
    add_csr(&call, names_a, &s.a);
    add_out(&call, &s.out);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_csr_diagonal(ech_ctx *ctx, const ech_csr *a, void *diagonal)
{
    struct echi_sparse s = { .what = ECHI_SPARSE_DIAGONAL, .y = diagonal };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "a", a, &s.a));
    s.n = a->rows < a->cols ? a->rows : a->cols;
    if (s.n == 0) return ECH_OK;
    struct echi_call call;
    echi_call_begin(&call, "a diagonal", operation(ctx->backend), &s, NULL, 0);
    const size_t bytes = ech_dtype_bytes(a->dtype);
    add_csr(&call, names_a, &s.a);
    echi_call_add(&call, "diagonal", &s.y, s.n * bytes, bytes, ECHI_OUT);
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

ech_status ech_csr_check(ech_ctx *ctx, const ech_csr *a, int in_order)
{
    struct echi_sparse s = { .what = ECHI_SPARSE_CHECK, .in_order = in_order == 1 };
    ech_status status;
    TRY(check_context(ctx));
    TRY(check_csr(ctx, "a", a, &s.a));
    if (in_order != 0 && in_order != 1)
        FAIL(ctx, ECH_ERR_ARG, "in_order is %d, not 0 or 1", in_order);
    struct echi_call call;
    echi_call_begin(&call, "a check", operation(ctx->backend), &s, NULL, 0);
    add_csr(&call, names_a, &s.a);
    call.count--; /* values may be anything */
    TRY(echi_call_run(ctx, &call));
done:
    return status;
}

/* ---- Queries that need no device ---- */

/* A request without pointers. */
static ech_status question(struct echi_sparse *s, ech_csr_call call, const ech_csr *a, size_t n)
{
    ech_status status;
    *s = (struct echi_sparse){ .what = ECHI_SPARSE_MULTIPLY, .n = 1, .x_stride = 1, .y_stride = 1 };
    TRY(check_csr(NULL, "a", a, &s->a));
    if ((unsigned)call > ECH_CSR_CALL_SPMM)
        FAIL(NULL, ECH_ERR_ARG, "call is %d, not an ech_csr_call", (int)call);
    if (call == ECH_CSR_CALL_SPMM) {
        s->n = n;
        s->x_stride = s->y_stride = n > 1 ? n : 2; /* rows may have gaps: not a vector */
    }
    if (call == ECH_CSR_CALL_FROM_COO || call == ECH_CSR_CALL_TRANSPOSE) {
        s->what = call == ECH_CSR_CALL_FROM_COO ? ECHI_SPARSE_FROM_COO : ECHI_SPARSE_TRANSPOSE;
        if (call == ECH_CSR_CALL_FROM_COO) {
            TRY(check_limit(NULL, "n", NULL, n, s->a.index_dtype));
            s->a.nnz = n;
        }
        s->n = s->a.nnz;
        s->out = s->a;
        if (call == ECH_CSR_CALL_TRANSPOSE) {
            s->out.rows = s->a.cols;
            s->out.cols = s->a.rows;
        }
        TRY(check_bits(NULL, "a", &s->out, call == ECH_CSR_CALL_FROM_COO ? s->n : SIZE_MAX));
    }
done:
    return status;
}

ech_status ech_csr_workspace(const char *device, ech_csr_call call, const ech_csr *a, size_t n,
                             const ech_csr_options *options, size_t *bytes)
{
    READ_OPTIONS(NULL, ech_csr_options, options);
    struct echi_sparse s;
    if (bytes) *bytes = 0;
    const ech_status status = question(&s, call, a, n);
    return status == ECH_OK ? echi_call_workspace(device, operation, &s, bytes) : status;
}

ech_status ech_csr_explain(const char *device, ech_csr_call call, const ech_csr *a, size_t n,
                           const ech_csr_options *options, ech_format format, char *text,
                           size_t capacity_bytes)
{
    READ_OPTIONS(NULL, ech_csr_options, options);
    static const char *const names[] = { "csr_from_coo", "csr_transpose", "spmv", "spmm" };
    struct echi_sparse s;
    const ech_status status = question(&s, call, a, n);
    if (status != ECH_OK) return status;
    return echi_explain(device, names[call], operation, &s, format, text, capacity_bytes);
}
