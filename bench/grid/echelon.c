/*
 * echelon.c - the library's calls for the rows of the benchmark grid, on either processor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "grid.h"

#include <math.h>

static const double nine[9] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 };

static int is_float(int dtype)
{
    return dtype >= ECH_F16;
}

static int wide_enough(const struct grid_case *c) /* for sums that are compared */
{
    return c->row.dtype != ECH_F16 && c->row.dtype != ECH_BF16;
}

static ech_dtype index_type(const struct grid_case *c)
{
    return c->row.param == 4 ? ECH_U32 : ECH_U64;
}

/* ---- Sizes ---- */

static int plan_matrix(struct grid_case *c)
{
    const uint64_t n = c->row.n;
    c->cols = 1;
    while (4 * c->cols * c->cols <= n) c->cols *= 2;
    c->n_aux = n / c->cols;
    c->row.n = c->n_aux * c->cols;
    return 1;
}

static int plan_groups(struct grid_case *c, int regular)
{
    const uint64_t n = c->row.n, length = (uint64_t)c->row.param;
    if (n < 2 * length || n > INT32_MAX) return 0;
    c->cols = length;
    c->n_aux = n / length;
    if (regular) c->row.n = c->n_aux * length;
    c->aux_bytes = 4 * (c->n_aux + 1);
    return 1;
}

static int plan_selection(struct grid_case *c)
{
    const uint64_t n = c->row.n;
    c->out_bytes = n * c->bytes;
    switch (c->row.op) {
    case GRID_COMPACT:
    case GRID_PARTITION:
        c->aux_bytes = n;
        break;
    case GRID_ENCODE:
        c->out2_bytes = 8 * n;
        break;
    case GRID_DECODE:
        c->aux_bytes = n * c->bytes;
        c->aux2_bytes = 8 * n;
        break;
    default:
        break;
    }
    return 1;
}

static int plan_counts(struct grid_case *c)
{
    const int bins = c->row.param, integer = !is_float(c->row.dtype);
    if (integer != (c->row.op == GRID_BINCOUNT)) return 0;
    if (!integer && !wide_enough(c)) return 0;
    if (integer && c->bytes == 1 && bins > 100) return 0;
    c->out_bytes = 8 * (size_t)bins;
    return 1;
}

static int plan_products(struct grid_case *c)
{
    if (c->row.dtype != ECH_F32 && c->row.dtype != ECH_F64) return 0;
    if (c->row.op == GRID_MATVEC) {
        plan_matrix(c);
        c->aux_bytes = c->cols * c->bytes;
        c->out_bytes = c->n_aux * c->bytes;
        return 1;
    }
    const uint64_t n = c->row.n, length = (uint64_t)c->row.param;
    if (n < 2 * length || n > INT32_MAX / 2) return 0;
    c->cols = c->n_aux = n / length;
    c->row.n = c->n_aux * length;
    c->aux_bytes = 4 * c->row.n + c->cols * c->bytes; /* columns of the entries, x */
    c->aux2_bytes = 4 * (c->n_aux + 1);
    c->out_bytes = c->n_aux * c->bytes;
    return 1;
}

int grid_plan(struct grid_case *c)
{
    const uint64_t n = c->row.n, param = (uint64_t)c->row.param;
    c->bytes = ech_dtype_bytes((ech_dtype)c->row.dtype);
    c->n_aux = c->cols = 0;
    switch (c->row.op) {
    case GRID_PAIRS:
        c->aux_bytes = c->out2_bytes = n * param;
        c->out_bytes = n * c->bytes;
        return n <= UINT32_MAX;
    case GRID_ARGSORT:
        c->out_bytes = n * param;
        return 1;
    case GRID_TOPK:
        c->out_bytes = param * c->bytes;
        c->out2_bytes = param * 8;
        return param < n;
    case GRID_SUM:
    case GRID_MIN:
    case GRID_VARIANCE:
        c->out_bytes = 16;
        return c->row.op != GRID_VARIANCE || is_float(c->row.dtype);
    case GRID_SCAN:
        c->out_bytes = n * c->bytes;
        return wide_enough(c);
    case GRID_BINCOUNT:
    case GRID_HISTOGRAM:
        return plan_counts(c);
    case GRID_SELECT:
    case GRID_COMPACT:
    case GRID_PARTITION:
    case GRID_UNIQUE:
    case GRID_DISTINCT:
    case GRID_ENCODE:
    case GRID_DECODE:
        return plan_selection(c);
    case GRID_SEARCH:
        c->aux_bytes = n * c->bytes;
        c->out_bytes = 8 * n;
        return 1;
    case GRID_SORT_ROWS:
    case GRID_SORT_SEGMENTS:
        c->out_bytes = n * c->bytes;
        return plan_groups(c, c->row.op == GRID_SORT_ROWS);
    case GRID_REDUCE_ROWS:
    case GRID_REDUCE_SEGMENTS:
        c->out_bytes = 8 * (n / param + 1);
        return wide_enough(c) && plan_groups(c, c->row.op == GRID_REDUCE_ROWS);
    case GRID_GATHER:
        c->aux_bytes = 8 * n;
        c->out_bytes = n * c->bytes;
        return 1;
    case GRID_TRANSPOSE:
        c->out_bytes = n * c->bytes;
        return plan_matrix(c);
    case GRID_MEDIAN:
        c->out_bytes = 16;
        return 1;
    case GRID_QUANTILE:
        c->out_bytes = 9 * 8;
        return c->row.dtype == ECH_F32 || c->row.dtype == ECH_F64;
    case GRID_MATVEC:
    case GRID_SPMV:
        return plan_products(c);
    default: /* GRID_SORT, GRID_MERGE */
        c->out_bytes = n * c->bytes;
        return 1;
    }
}

/* ---- Calls ---- */

static ech_status call_reduce(struct grid_case *c, ech_dtype dtype)
{
    const ech_op op = c->row.op == GRID_VARIANCE ? ECH_OP_VARIANCE
                      : c->row.op == GRID_MIN    ? ECH_OP_MIN
                                                 : ECH_OP_SUM;
    if (c->row.op == GRID_REDUCE_ROWS)
        return ech_reduce_rows(c->ctx, op, c->in, c->out[0], c->n_aux, c->cols, dtype, NULL);
    if (c->row.op == GRID_REDUCE_SEGMENTS)
        return ech_reduce_segments(c->ctx, op, c->in, c->aux, c->out[0], c->row.n, c->n_aux, dtype,
                                   ECH_I32, NULL);
    return ech_reduce(c->ctx, op, c->in, c->out[0], c->row.n, dtype, NULL);
}

static ech_status call_selection(struct grid_case *c, ech_dtype dtype)
{
    const uint64_t n = c->row.n;
    const uint8_t *flags = (const uint8_t *)c->aux;
    switch (c->row.op) {
    case GRID_SELECT:
        return ech_select_if(c->ctx, ECH_COMPARE_LESS, grid_input(c), c->out[0], c->count[0], n,
                             dtype, c->value, NULL);
    case GRID_COMPACT:
        return ech_select_flags(c->ctx, c->in, flags, c->out[0], c->count[0], n, c->bytes, NULL);
    case GRID_PARTITION:
        return ech_partition_flags(c->ctx, c->in, flags, c->out[0], c->count[0], n, c->bytes, NULL);
    case GRID_UNIQUE:
        return ech_unique(c->ctx, grid_input(c), c->out[0], c->count[0], n, dtype, NULL);
    case GRID_DISTINCT:
        return ech_unique_all(c->ctx, grid_input(c), c->out[0], NULL, NULL, NULL, c->count[0], n,
                              dtype, ECH_I64, NULL);
    case GRID_ENCODE:
        return ech_rle_encode(c->ctx, grid_input(c), c->out[0], (uint64_t *)c->out2[0], c->count[0],
                              n, dtype, NULL);
    default: /* GRID_DECODE */
        return ech_rle_decode(c->ctx, c->aux, (const uint64_t *)c->aux2, c->out[0], c->n_aux, n,
                              c->bytes, NULL);
    }
}

static ech_status call_sort(struct grid_case *c, ech_dtype dtype)
{
    const uint64_t n = c->row.n;
    switch (c->row.op) {
    case GRID_PAIRS:
        return ech_sort_pairs(c->ctx, grid_input(c), c->aux, c->out[0], c->out2[0], n, dtype,
                              (size_t)c->row.param, NULL);
    case GRID_ARGSORT:
        return ech_argsort(c->ctx, grid_input(c), c->out[0], n, dtype, index_type(c), NULL);
    case GRID_TOPK:
        return ech_topk(c->ctx, grid_input(c), c->out[0], c->out2[0], n, (size_t)c->row.param,
                        dtype, ECH_I64, NULL);
    case GRID_SORT_ROWS:
        return ech_sort_rows(c->ctx, c->in, c->out[0], c->n_aux, c->cols, dtype, NULL);
    case GRID_SORT_SEGMENTS:
        return ech_sort_segments(c->ctx, c->in, c->aux, NULL, c->out[0], n, c->n_aux, dtype,
                                 ECH_I32, NULL);
    case GRID_MERGE: {
        const char *in = grid_input(c);
        return ech_merge(c->ctx, in, in + n / 2 * c->bytes, c->out[0], n / 2, n - n / 2, dtype,
                         NULL);
    }
    default:
        return ech_sort(c->ctx, grid_input(c), c->out[0], n, dtype, NULL);
    }
}

static ech_status call_spmv(struct grid_case *c, ech_dtype dtype)
{
    ech_csr a = { .size = sizeof a,
                  .rows = c->n_aux,
                  .cols = c->cols,
                  .nnz = c->row.n,
                  .row_offsets = c->aux2,
                  .col_indices = c->aux,
                  .values = c->in,
                  .index_dtype = ECH_I32,
                  .dtype = dtype };
    return ech_spmv(c->ctx, 1, &a, c->aux + 4 * c->row.n, 0, c->out[0], NULL);
}

ech_status grid_echelon(struct grid_case *c)
{
    const ech_dtype dtype = (ech_dtype)c->row.dtype;
    const uint64_t n = c->row.n;
    switch (c->row.op) {
    case GRID_SUM:
    case GRID_MIN:
    case GRID_VARIANCE:
    case GRID_REDUCE_ROWS:
    case GRID_REDUCE_SEGMENTS:
        return call_reduce(c, dtype);
    case GRID_SCAN:
        return ech_scan(c->ctx, ECH_OP_SUM, c->in, c->out[0], n, dtype, NULL);
    case GRID_BINCOUNT:
        return ech_bincount(c->ctx, c->in, c->out[0], n, dtype, (size_t)c->row.param, NULL);
    case GRID_HISTOGRAM:
        return ech_histogram(c->ctx, c->in, c->out[0], n, dtype, (size_t)c->row.param, c->range[0],
                             c->range[1], NULL);
    case GRID_SELECT:
    case GRID_COMPACT:
    case GRID_PARTITION:
    case GRID_UNIQUE:
    case GRID_DISTINCT:
    case GRID_ENCODE:
    case GRID_DECODE:
        return call_selection(c, dtype);
    case GRID_SEARCH:
        return ech_lower_bound(c->ctx, c->in, c->aux, c->out[0], n, n, dtype, ECH_I64, NULL);
    case GRID_GATHER:
        return ech_gather(c->ctx, c->in, c->aux, c->out[0], n, n, ECH_I64, c->bytes);
    case GRID_TRANSPOSE:
        return ech_transpose(c->ctx, c->in, c->out[0], c->n_aux, c->cols, c->bytes);
    case GRID_MEDIAN:
        return ech_nth_element(c->ctx, grid_input(c), c->out[0], NULL, n, n / 2, dtype, ECH_I64,
                               NULL);
    case GRID_QUANTILE:
        return ech_quantiles(c->ctx, grid_input(c), c->out[0], nine, n, 9, dtype,
                             ECH_QUANTILE_LINEAR, NULL);
    case GRID_MATVEC:
        return ech_matvec(c->ctx, c->n_aux, c->cols, 1, c->in, c->cols, c->aux, 0, c->out[0], dtype,
                          NULL);
    case GRID_SPMV:
        return call_spmv(c, dtype);
    default:
        return call_sort(c, dtype);
    }
}

/* ---- Results ---- */

static void slot(struct grid_case *c, char *const out[2], int dtype, enum grid_kind kind,
                 uint64_t n)
{
    c->slots[c->n_slots++] = (struct grid_slot){
        .ours = out[0],
        .other = out[1],
        .dtype = dtype,
        .kind = kind,
        .stride_bytes = ech_dtype_bytes((ech_dtype)dtype),
        .n = n,
        .tolerance = c->row.dtype == ECH_F64 ? 1e-9
                     : wide_enough(c)        ? 1e-3
                                             : 2e-2,
    };
}

/* The results of operations whose outputs are counts, sums and numbers. */
static void number_results(struct grid_case *c)
{
    const int dtype = c->row.dtype;
    const uint64_t n = c->row.n;
    c->read = (double)(n * c->bytes);
    c->written = 0;
    switch (c->row.op) {
    case GRID_BINCOUNT:
        slot(c, c->out, ECH_U64, GRID_EXACT, (uint64_t)c->row.param);
        break;
    case GRID_HISTOGRAM: /* elements near an edge of a bin may count in either bin */
        slot(c, c->out, ECH_U64, GRID_CLOSE, (uint64_t)c->row.param);
        c->slots[0].tolerance = 0.05;
        break;
    case GRID_MEDIAN:
        slot(c, c->out, dtype, GRID_EXACT, 1);
        break;
    case GRID_QUANTILE:
        slot(c, c->out, ech_quantile_dtype(ECH_QUANTILE_LINEAR, (ech_dtype)dtype), GRID_CLOSE, 9);
        break;
    case GRID_MATVEC:
    case GRID_SPMV:
        if (c->row.op == GRID_SPMV) c->read += (double)(4 * n + 4 * c->n_aux);
        c->read += (double)(c->cols * c->bytes);
        c->written = (double)(c->n_aux * c->bytes);
        slot(c, c->out, dtype, GRID_CLOSE, c->n_aux);
        break;
    default: { /* reductions */
        const ech_op op = c->row.op == GRID_VARIANCE ? ECH_OP_VARIANCE
                          : c->row.op == GRID_MIN    ? ECH_OP_MIN
                                                     : ECH_OP_SUM;
        const int type = ech_reduce_dtype(op, (ech_dtype)dtype, 0);
        const uint64_t results = c->n_aux ? c->n_aux : 1;
        c->written = c->n_aux ? (double)(c->n_aux * ech_dtype_bytes((ech_dtype)type)) : 0;
        slot(c, c->out, type, is_float(type) ? GRID_CLOSE : GRID_EXACT, results);
    }
    }
}

void grid_results(struct grid_case *c)
{
    const int dtype = c->row.dtype, param = c->row.param;
    const uint64_t n = c->row.n;
    const double keys = (double)(n * c->bytes);
    c->n_slots = 0;
    c->read = c->written = keys;
    switch (c->row.op) {
    case GRID_PAIRS:
        slot(c, c->out, dtype, GRID_EXACT, n);
        slot(c, c->out2, param == 4 ? ECH_U32 : ECH_U64, GRID_POSITION, n);
        c->slots[1].stride_bytes = (size_t)param;
        c->read = c->written = keys + (double)n * param;
        break;
    case GRID_ARGSORT:
        slot(c, c->out, (int)index_type(c), GRID_POSITION, n);
        c->written = (double)n * param;
        break;
    case GRID_TOPK:
        slot(c, c->out, dtype, GRID_EXACT, (uint64_t)param);
        c->written = 0;
        break;
    case GRID_SEARCH:
        slot(c, c->out, ECH_I64, GRID_EXACT, n);
        c->read = 2 * keys;
        c->written = 8.0 * (double)n;
        break;
    case GRID_GATHER:
        slot(c, c->out, dtype, GRID_EXACT, n);
        c->read = keys + 8.0 * (double)n;
        break;
    case GRID_SELECT:
    case GRID_COMPACT:
    case GRID_PARTITION:
    case GRID_UNIQUE:
    case GRID_DISTINCT:
    case GRID_ENCODE:
        slot(c, c->out, dtype, GRID_EXACT, c->kept);
        if (c->aux_bytes) c->read += (double)n; /* flags */
        if (c->row.op != GRID_PARTITION) c->written = (double)(c->kept * c->bytes);
        if (c->row.op != GRID_ENCODE) break;
        slot(c, c->out2, ECH_U64, GRID_EXACT, c->kept);
        c->written += 8.0 * (double)c->kept;
        break;
    case GRID_DECODE:
        slot(c, c->out, dtype, GRID_EXACT, n);
        c->read = (double)(c->n_aux * (c->bytes + 8));
        break;
    case GRID_SCAN:
        slot(c, c->out, dtype, is_float(dtype) ? GRID_CLOSE : GRID_EXACT, n);
        break;
    case GRID_SORT:
    case GRID_MERGE:
    case GRID_SORT_ROWS:
    case GRID_SORT_SEGMENTS:
    case GRID_TRANSPOSE:
        slot(c, c->out, dtype, GRID_EXACT, n);
        break;
    default:
        number_results(c);
    }
}
