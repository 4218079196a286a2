/*
 * sparse/cpu/make.c - conversion, transpose, diagonal and check of sparse matrices on the CPU.
 *
 *     from_coo    keys of row and column, sorted with the values; the first of equal keys begins an
 *                 entry.  If keys need more than 64 bits, columns are sorted and numbered first
 *     transpose   each thread counts and then places the entries of some columns
 *     diagonal, check    threads divide the rows by numbers of entries
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/cpu/common.h"
#include "core/call.h"
#include "core/data_error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 256, TRANSPOSERS = 16 };

struct job {
    const struct echi_sparse *s;
    size_t block, parts;
    int column_bits;
    uint64_t *keys;
    const uint64_t *table;    /* of a wide matrix: the numbered columns */
    const void *values;       /* sorted */
    size_t first[BLOCKS + 1]; /* number of entries that begin before each block of keys */
    _Atomic uint64_t data_error;
};

/* ---- Elements of dynamic types ---- */

static inline uint64_t get(const void *array, ech_dtype index, size_t i)
{
    return index == ECH_I32 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static inline void set(void *array, ech_dtype index, size_t i, uint64_t value)
{
    if (index == ECH_I32)
        ((uint32_t *)array)[i] = (uint32_t)value;
    else
        ((uint64_t *)array)[i] = value;
}

static inline void copy_value(ech_dtype dtype, void *to, size_t i, const void *from, size_t j)
{
    if (dtype == ECH_F32)
        memcpy((float *)to + i, (const float *)from + j, sizeof(float));
    else
        memcpy((double *)to + i, (const double *)from + j, sizeof(double));
}

/* Adds values[from ... to - 1], at least two, from left to right. */
static void add_values(ech_dtype dtype, void *out, size_t i, const void *values, size_t from,
                       size_t to)
{
    if (dtype == ECH_F32) {
        const float *v = values;
        float sum = v[from];
        for (size_t j = from + 1; j < to; j++) sum += v[j];
        ((float *)out)[i] = sum == sum ? sum : NAN;
    } else {
        const double *v = values;
        double sum = v[from];
        for (size_t j = from + 1; j < to; j++) sum += v[j];
        ((double *)out)[i] = sum == sum ? sum : (double)NAN;
    }
}

static inline size_t offset(const ech_csr *a, size_t row)
{
    return echi_min(get(a->row_offsets, a->index_dtype, row), a->nnz);
}

/* ---- From COO ---- */

static void make_keys(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_sparse *s = job->s;
    const size_t end = echi_min(s->n, (i + 1) * job->block);
    (void)thread;
    for (size_t e = i * job->block; e < end; e++) {
        const uint64_t row = get(s->rows, s->out.index_dtype, e);
        const uint64_t column = get(s->columns, s->out.index_dtype, e);
        if (row >= s->out.rows)
            echi_note_error(&job->data_error, ECHI_COO_ROW, e);
        else if (column >= s->out.cols)
            echi_note_error(&job->data_error, ECHI_COO_COLUMN, e);
        job->keys[e] = echi_sparse_is_wide(&s->out) ? column : row << job->column_bits | column;
    }
}

/* Converts keys that are columns to keys of row and column number; table gets the columns. */
static ech_status number_columns(ech_ctx *ctx, const struct job *job, uint64_t *order,
                                 uint64_t *table, void *work)
{
    const struct echi_sparse *s = job->s;
    struct echi_sort sort = echi_sparse_sort_columns(&s->out, s->n);
    uint64_t *sorted = table + s->n;
    uint64_t number = 0;
    sort.keys_in = job->keys;
    sort.keys_out = sorted;
    sort.values_in = sort.values_out = order;
    for (size_t e = 0; e < s->n; e++) order[e] = e;
    ech_status status = echi_operation_run(ctx, &echi_cpu_sort, &sort, work);
    for (size_t i = 0; i < s->n && status == ECH_OK; i++) {
        if (i && sorted[i] != sorted[i - 1]) number++;
        table[number] = sorted[i];
        job->keys[order[i]] =
            get(s->rows, s->out.index_dtype, order[i]) << job->column_bits | number;
    }
    return status;
}

static void count_heads(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const size_t from = i * job->block, end = echi_min(job->s->n, from + job->block);
    size_t count = from == 0;
    (void)thread;
    for (size_t e = from ? from : 1; e < end; e++) count += job->keys[e] != job->keys[e - 1];
    job->first[i + 1] = count;
}

/* The entries that begin in a block of keys, even if they end in another; and the offsets of their
 * rows. */
static void fill_block(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const struct echi_sparse *s = job->s;
    const ech_csr *out = &s->out;
    const uint64_t *keys = job->keys, mask = ((uint64_t)1 << job->column_bits) - 1;
    const size_t end = echi_min(s->n, (i + 1) * job->block);
    size_t e = i * job->block, entry = job->first[i];
    (void)thread;
    while (e && e < end && keys[e] == keys[e - 1]) e++;
    for (size_t next; e < end; e = next, entry++) {
        const uint64_t row = keys[e] >> job->column_bits;
        for (uint64_t r = e ? (keys[e - 1] >> job->column_bits) + 1 : 0; r <= row; r++)
            set(out->row_offsets, out->index_dtype, r, entry);
        for (next = e + 1; next < s->n && keys[next] == keys[e];) next++;
        const uint64_t column = keys[e] & mask;
        set(out->col_indices, out->index_dtype, entry, job->table ? job->table[column] : column);
        if (next == e + 1)
            copy_value(out->dtype, out->values, entry, job->values, e);
        else
            add_values(out->dtype, out->values, entry, job->values, e, next);
    }
}

struct coo_parts {
    uint64_t *keys;
    uint64_t *order, *table; /* [n], [2 n]: of a wide matrix */
    void *values, *sort;
    size_t sort_bytes;
};

static ech_status coo_parts(const struct echi_sparse *s, struct echi_layout *layout,
                            struct coo_parts *parts)
{
    struct echi_sort sort = echi_sparse_sort(&s->out, s->n, 0);
    *parts = (struct coo_parts){ .keys = NULL };
    if (s->n == 0) return ECH_OK;
    ech_status status = echi_operation_workspace(&echi_cpu_sort, &sort, &parts->sort_bytes);
    parts->keys = echi_part(layout, s->n, sizeof *parts->keys);
    parts->values = echi_part(layout, s->n, ech_dtype_bytes(s->out.dtype));
    if (status == ECH_OK && echi_sparse_is_wide(&s->out)) {
        size_t bytes;
        sort = echi_sparse_sort_columns(&s->out, s->n);
        status = echi_operation_workspace(&echi_cpu_sort, &sort, &bytes);
        if (bytes > parts->sort_bytes) parts->sort_bytes = bytes;
        parts->order = echi_part(layout, s->n, sizeof *parts->order);
        parts->table = echi_part(layout, s->n, 2 * sizeof *parts->table);
    }
    parts->sort = echi_part(layout, parts->sort_bytes, 1);
    return status;
}

static ech_status from_coo(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    struct echi_layout layout = { .base = work };
    struct coo_parts parts;
    struct job job = { .s = s, .column_bits = echi_sparse_number_bits(&s->out, s->n) };
    const int threads = echi_parallel_for_bytes(ctx, s->n * 32);
    ech_status status = ECH_OK;
    TRY(coo_parts(s, &layout, &parts));
    uint64_t row = 0;
    *s->entries = 0;
    if (s->n) {
        struct echi_sort sort = echi_sparse_sort(&s->out, s->n, 0);
        job.block = s->n / (threads > 1 ? BLOCKS : 1) + 1;
        const size_t blocks = (s->n + job.block - 1) / job.block;
        job.keys = parts.keys;
        job.values = parts.values;
        echi_parallel(threads, blocks, make_keys, &job);
        TRY(echi_noted_error(ctx, job.data_error));
        if (parts.table) {
            TRY(number_columns(ctx, &job, parts.order, parts.table, parts.sort));
            job.table = parts.table;
        }
        sort.keys_in = sort.keys_out = parts.keys;
        sort.values_in = s->values;
        sort.values_out = parts.values;
        TRY(echi_operation_run(ctx, &echi_cpu_sort, &sort, parts.sort));
        echi_parallel(threads, blocks, count_heads, &job);
        for (size_t i = 0; i < blocks; i++) job.first[i + 1] += job.first[i];
        echi_parallel(threads, blocks, fill_block, &job);
        *s->entries = job.first[blocks];
        row = (parts.keys[s->n - 1] >> job.column_bits) + 1;
    }
    for (; row <= s->out.rows; row++) set(s->out.row_offsets, s->out.index_dtype, row, *s->entries);
done:
    return status;
}

/* ---- Transpose ---- */

/* The columns of a part. */
static void part_columns(const struct job *job, size_t part, size_t *from, size_t *to)
{
    const size_t cols = job->s->a.cols, each = cols / job->parts + 1;
    *from = echi_min(part * each, cols);
    *to = echi_min(*from + each, cols);
}

static void count_columns(void *arg, size_t part, int thread)
{
    const struct job *job = arg;
    const ech_csr *a = &job->s->a, *out = &job->s->out;
    size_t from, to;
    (void)thread;
    part_columns(job, part, &from, &to);
    for (size_t c = from; c < to; c++) set(out->row_offsets, a->index_dtype, c + 1, 0);
    for (size_t e = 0; e < a->nnz; e++) {
        const uint64_t c = get(a->col_indices, a->index_dtype, e);
        if (c >= from && c < to)
            set(out->row_offsets, a->index_dtype, c + 1,
                get(out->row_offsets, a->index_dtype, c + 1) + 1);
    }
}

/* offsets[c + 1] is the place of the next entry of column c. */
static void place_columns(void *arg, size_t part, int thread)
{
    const struct job *job = arg;
    const ech_csr *a = &job->s->a, *out = &job->s->out;
    size_t from, to;
    (void)thread;
    part_columns(job, part, &from, &to);
    for (size_t row = 0; row < a->rows; row++)
        for (size_t e = offset(a, row), end = offset(a, row + 1); e < end; e++) {
            const uint64_t c = get(a->col_indices, a->index_dtype, e);
            if (c < from || c >= to) continue;
            const uint64_t at = get(out->row_offsets, a->index_dtype, c + 1);
            if (at >= a->nnz) continue; /* rows overlap: the input is invalid */
            set(out->row_offsets, a->index_dtype, c + 1, at + 1);
            set(out->col_indices, a->index_dtype, at, row);
            copy_value(a->dtype, out->values, at, a->values, e);
        }
}

static void transpose(ech_ctx *ctx, const struct echi_sparse *s)
{
    struct job job = { .s = s };
    const ech_csr *out = &s->out;
    const int threads = echi_parallel_for_bytes(ctx, s->a.nnz * 32);
    job.parts = echi_min((size_t)threads, TRANSPOSERS);
    echi_parallel(threads, job.parts, count_columns, &job);
    set(out->row_offsets, out->index_dtype, 0, 0);
    for (size_t c = 0, sum = 0; c < out->rows; c++) {
        const size_t count = get(out->row_offsets, out->index_dtype, c + 1);
        set(out->row_offsets, out->index_dtype, c + 1, sum);
        sum += count;
    }
    echi_parallel(threads, job.parts, place_columns, &job);
}

/* ---- Diagonal ---- */

static void take_diagonal(void *arg, size_t i, int thread)
{
    const struct job *job = arg;
    const struct echi_sparse *s = job->s;
    const ech_csr *a = &s->a;
    const size_t last = echi_min(s->n, (i + 1) * job->block);
    (void)thread;
    for (size_t row = i * job->block; row < last; row++) {
        const size_t end = offset(a, row + 1);
        size_t e = offset(a, row);
        while (e < end && get(a->col_indices, a->index_dtype, e) != row) e++;
        if (e < end)
            copy_value(a->dtype, s->y, row, a->values, e);
        else
            memset((char *)s->y + row * ech_dtype_bytes(a->dtype), 0, ech_dtype_bytes(a->dtype));
    }
}

/* ---- Check ---- */

static void check_rows(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const ech_csr *a = &job->s->a;
    const size_t last = echi_min(a->rows, (i + 1) * job->block);
    (void)thread;
    for (size_t row = i * job->block; row < last; row++) {
        const uint64_t begin = get(a->row_offsets, a->index_dtype, row);
        const uint64_t end = get(a->row_offsets, a->index_dtype, row + 1);
        if (end < begin || end > a->nnz) echi_note_error(&job->data_error, ECHI_CSR_ROW, row);
    }
}

static void check_columns(void *arg, size_t i, int thread)
{
    struct job *job = arg;
    const ech_csr *a = &job->s->a;
    const size_t last = echi_min(a->rows, (i + 1) * job->block);
    (void)thread;
    for (size_t row = i * job->block; row < last; row++) {
        const size_t begin = offset(a, row), end = offset(a, row + 1);
        uint64_t before = 0;
        for (size_t e = begin; e < end; e++) {
            const uint64_t c = get(a->col_indices, a->index_dtype, e);
            if (c >= a->cols)
                echi_note_error(&job->data_error, ECHI_CSR_COLUMN, row);
            else if (job->s->in_order && e > begin && c <= before)
                echi_note_error(&job->data_error, ECHI_CSR_ORDER, row);
            before = c;
        }
    }
}

static ech_status check(ech_ctx *ctx, const struct echi_sparse *s)
{
    struct job job = { .s = s };
    const ech_csr *a = &s->a;
    const int threads = echi_parallel_for_bytes(ctx, a->nnz * 8 + a->rows * 8);
    ech_status status = ECH_OK;
    job.block = a->rows / (threads > 1 ? BLOCKS : 1) + 1;
    const size_t blocks = (a->rows + job.block - 1) / job.block;
    if (get(a->row_offsets, a->index_dtype, 0) != 0)
        echi_note_error(&job.data_error, ECHI_CSR_BEGIN, 0);
    echi_parallel(threads, blocks, check_rows, &job);
    if (get(a->row_offsets, a->index_dtype, a->rows) != a->nnz)
        echi_note_error(&job.data_error, ECHI_CSR_END, a->rows);
    TRY(echi_noted_error(ctx, job.data_error));
    echi_parallel(threads, blocks, check_columns, &job);
    TRY(echi_noted_error(ctx, job.data_error));
done:
    return status;
}

/* ---- The parts of the operation ---- */

ech_status echi_cpu_sparse_make_workspace(const struct echi_sparse *s, size_t *bytes)
{
    struct echi_layout layout = { 0 };
    struct coo_parts parts;
    if (s->what != ECHI_SPARSE_FROM_COO) return ECH_OK;
    ech_status status = coo_parts(s, &layout, &parts);
    *bytes = layout.bytes;
    if (status == ECH_OK && layout.overflow)
        return echi_fail(NULL, ECH_ERR_MEMORY, "the workspace exceeds SIZE_MAX bytes");
    return status;
}

ech_status echi_cpu_sparse_make(ech_ctx *ctx, const struct echi_sparse *s, void *work)
{
    struct job job = { .s = s };
    int threads;
    switch (s->what) {
    case ECHI_SPARSE_FROM_COO:
        return from_coo(ctx, s, work);
    case ECHI_SPARSE_TRANSPOSE:
        transpose(ctx, s);
        return ECH_OK;
    case ECHI_SPARSE_DIAGONAL:
        threads = echi_parallel_for_bytes(ctx, s->a.nnz * 8 + s->n * 8);
        job.block = s->n / (threads > 1 ? BLOCKS : 1) + 1;
        echi_parallel(threads, (s->n + job.block - 1) / job.block, take_diagonal, &job);
        return ECH_OK;
    default:
        return check(ctx, s);
    }
}
