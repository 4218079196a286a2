/*
 * sparse/cuda/make.c - conversion, transpose, diagonal and check of sparse matrices on the GPU,
 * host code: lays out the workspace, queues kernels, sorts and selections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "core/backend.h"
#include "sparse/sparse.h"
#include "cuda/cuda.h"
#include "sparse/cuda/make.h"
#include "select/cuda/runs.h"
#include "sparse/cuda/common.h"

/* One thread for each of n. */
static ech_status launch(ech_ctx *ctx, const ech_csr *m, const char *kernel, uint64_t n,
                         const struct sparse_make_args *args)
{
    char image[SPARSE_IMAGE_BYTES];
    if (n == 0) return ECH_OK;
    echi_cuda_sparse_image(m, image);
    return echi_cuda_launch(ctx, image, kernel, (unsigned)((n - 1) / SPARSE_MAKE_THREADS + 1),
                            SPARSE_MAKE_THREADS, 0, args);
}

/* ---- Workspace ---- */

struct parts {
    uint64_t *keys, *sorted; /* [n]; keys become the distinct ones */
    void *values;            /* [n], sorted */
    uint64_t *starts;        /* [n + 1], or [n] of a diagonal */
    uint64_t *count;
    uint64_t *order, *sorted_order, *table; /* [n] of a wide matrix */
    void *own;                              /* workspace of sorts and selections, used in turn */
    size_t own_bytes;
};

static ech_status lay_out(const struct echi_sparse *s, struct echi_layout *layout,
                          struct parts *parts)
{
    const bool coo = s->what == ECHI_SPARSE_FROM_COO;
    const size_t n = coo ? s->n : s->a.nnz;
    struct echi_sort sort = echi_sparse_sort(&s->out, n, 0);
    ech_status status = ECH_OK;
    *parts = (struct parts){ .keys = NULL };
    if (s->what == ECHI_SPARSE_DIAGONAL) {
        parts->starts = echi_part(layout, s->n, sizeof *parts->starts);
        return ECH_OK;
    }
    if (s->what == ECHI_SPARSE_CHECK || n == 0) return ECH_OK;
    if (!coo) sort.begin_bit = echi_sparse_column_bits(&s->out);
    TRY(echi_operation_workspace(&echi_cuda_sort, &sort, &parts->own_bytes));
    parts->keys = echi_part(layout, n, sizeof *parts->keys);
    parts->sorted = echi_part(layout, n, sizeof *parts->sorted);
    if (coo) {
        const size_t runs = echi_cuda_runs_workspace(n);
        if (runs > parts->own_bytes) parts->own_bytes = runs;
        parts->values = echi_part(layout, n, ech_dtype_bytes(s->out.dtype));
        parts->starts = echi_part(layout, n + 1, sizeof *parts->starts);
        parts->count = echi_part(layout, 1, sizeof *parts->count);
        if (echi_sparse_is_wide(&s->out)) {
            size_t bytes;
            sort = echi_sparse_sort_columns(&s->out, n);
            TRY(echi_operation_workspace(&echi_cuda_sort, &sort, &bytes));
            if (bytes > parts->own_bytes) parts->own_bytes = bytes;
            parts->order = echi_part(layout, n, sizeof *parts->order);
            parts->sorted_order = echi_part(layout, n, sizeof *parts->order);
            parts->table = echi_part(layout, n, sizeof *parts->table);
        }
    }
    parts->own = echi_part(layout, parts->own_bytes, 1);
done:
    return status;
}

ech_status echi_cuda_sparse_make_workspace(const struct echi_sparse *s, size_t *bytes)
{
    struct echi_layout layout = { 0 };
    struct parts parts;
    ech_status status = lay_out(s, &layout, &parts);
    *bytes = layout.bytes;
    if (status == ECH_OK && layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    return status;
}

/* ---- The operations ---- */

static ech_status sort_keys(ech_ctx *ctx, const struct echi_sparse *s, const struct parts *parts,
                            size_t n, int begin_bit, const void *values, void *values_out)
{
    struct echi_sort sort = echi_sparse_sort(&s->out, n, begin_bit);
    sort.keys_in = parts->keys;
    sort.keys_out = parts->sorted;
    sort.values_in = values;
    sort.values_out = values_out;
    return echi_operation_run(ctx, &echi_cuda_sort, &sort, parts->own);
}

/* Keys of rows and column numbers; the table maps these to columns. */
static ech_status number_columns(ech_ctx *ctx, const struct echi_sparse *s,
                                 const struct parts *parts, struct sparse_make_args *args)
{
    struct echi_sort sort = echi_sparse_sort_columns(&s->out, s->n);
    ech_status status = ECH_OK;
    sort.keys_in = parts->keys;
    sort.keys_out = parts->sorted;
    sort.values_in = parts->order;
    sort.values_out = parts->sorted_order;
    args->order = parts->order;
    TRY(launch(ctx, &s->out, "sparse_coo_columns", s->n, args));
    TRY(echi_operation_run(ctx, &echi_cuda_sort, &sort, parts->own));
    TRY(echi_cuda_runs(ctx, parts->sorted, ECH_U64, s->n, parts->table, parts->starts, parts->count,
                       parts->own));
    args->order = parts->sorted_order;
    args->count = parts->count;
    TRY(launch(ctx, &s->out, "sparse_coo_numbers", s->n, args));
    args->table = parts->table;
done:
    return status;
}

static ech_status from_coo(ech_ctx *ctx, const struct echi_sparse *s, const struct parts *parts)
{
    const ech_csr *out = &s->out;
    struct sparse_make_args args = { .offsets = s->rows,
                                     .columns = s->columns,
                                     .rows = out->rows,
                                     .cols = out->cols,
                                     .entries = s->n,
                                     .keys = parts->keys,
                                     .bits = (uint32_t)echi_sparse_number_bits(out, s->n),
                                     .values = parts->values,
                                     .starts = parts->starts,
                                     .out_offsets = out->row_offsets,
                                     .out_columns = out->col_indices,
                                     .out_values = out->values,
                                     .out_entries = s->entries,
                                     .data_error = echi_cuda_error_word(ctx) };
    ech_status status = ECH_OK;
    if (s->n) {
        if (parts->table)
            TRY(number_columns(ctx, s, parts, &args));
        else
            TRY(launch(ctx, out, "sparse_coo_keys", s->n, &args));
        TRY(sort_keys(ctx, s, parts, s->n, 0, s->values, parts->values));
        TRY(echi_cuda_runs(ctx, parts->sorted, ECH_U64, s->n, parts->keys, parts->starts,
                           parts->count, parts->own));
        args.count = parts->count;
        TRY(launch(ctx, out, "sparse_coo_fill", s->n, &args));
    }
    TRY(launch(ctx, out, "sparse_offsets", out->rows + 1, &args));
done:
    return status;
}

/* Entries are in row order, so a stable sort by columns only is sufficient. */
static ech_status transpose(ech_ctx *ctx, const struct echi_sparse *s, const struct parts *parts)
{
    const ech_csr *a = &s->a, *out = &s->out;
    const int bits = echi_sparse_column_bits(out);
    struct sparse_make_args args = { .offsets = a->row_offsets,
                                     .columns = a->col_indices,
                                     .rows = a->rows,
                                     .cols = a->cols,
                                     .entries = a->nnz,
                                     .keys = parts->keys,
                                     .bits = (uint32_t)bits,
                                     .out_offsets = out->row_offsets,
                                     .out_columns = out->col_indices };
    ech_status status = ECH_OK;
    if (a->nnz) {
        TRY(launch(ctx, a, "sparse_pack", a->nnz, &args));
        TRY(sort_keys(ctx, s, parts, a->nnz, bits, a->values, out->values));
        args.keys = parts->sorted;
        TRY(launch(ctx, a, "sparse_unpack", a->nnz, &args));
    }
    args.rows = out->rows;
    TRY(launch(ctx, a, "sparse_offsets", out->rows + 1, &args));
done:
    return status;
}

static ech_status diagonal(ech_ctx *ctx, const struct echi_sparse *s, const struct parts *parts)
{
    const struct echi_cuda *cuda = ctx->state;
    const struct echi_driver *driver = cuda->driver;
    const ech_csr *a = &s->a;
    const struct sparse_make_args args = { .offsets = a->row_offsets,
                                           .columns = a->col_indices,
                                           .rows = a->rows,
                                           .cols = a->cols,
                                           .entries = a->nnz,
                                           .values = a->values,
                                           .starts = parts->starts,
                                           .out_values = s->y };
    ech_status status = ECH_OK;
    CU(cuMemsetD8Async, (CUdeviceptr)(uintptr_t)parts->starts, 0xff, s->n * sizeof *parts->starts,
       echi_cuda_stream(ctx));
    TRY(launch(ctx, a, "sparse_diagonal_find", a->nnz, &args));
    TRY(launch(ctx, a, "sparse_diagonal_take", s->n, &args));
done:
    return status;
}

static ech_status check(ech_ctx *ctx, const struct echi_sparse *s)
{
    const ech_csr *a = &s->a;
    const struct sparse_make_args args = { .offsets = a->row_offsets,
                                           .columns = a->col_indices,
                                           .rows = a->rows,
                                           .cols = a->cols,
                                           .entries = a->nnz,
                                           .in_order = s->in_order,
                                           .data_error = echi_cuda_error_word(ctx) };
    ech_status status = launch(ctx, a, "sparse_check_rows", a->rows + 1, &args);
    if (status != ECH_OK) return status;
    return launch(ctx, a, "sparse_check_columns", a->nnz, &args);
}

ech_status echi_cuda_sparse_make(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    struct echi_layout layout = { .base = work };
    struct parts parts;
    ech_status status = lay_out(s, &layout, &parts);
    if (status != ECH_OK) return status;
    switch (s->what) {
    case ECHI_SPARSE_FROM_COO:
        return from_coo(ctx, s, &parts);
    case ECHI_SPARSE_TRANSPOSE:
        return transpose(ctx, s, &parts);
    case ECHI_SPARSE_DIAGONAL:
        return diagonal(ctx, s, &parts);
    default:
        return check(ctx, s);
    }
}
