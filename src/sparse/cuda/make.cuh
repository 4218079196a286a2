/*
 * sparse/cuda/make.cuh - kernels of conversion, transpose, diagonal and check: one thread per entry
 * or row, so that row lengths do not matter.
 *
 *     from_coo    keys | sort | the runs of equal keys: select/cuda/operation.c | fill, offsets
 *     transpose   pack | sort | unpack, offsets
 *     diagonal    the first diagonal entry of each row, then its value
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SPARSE_CUDA_MAKE_CUH
#define ECHI_SPARSE_CUDA_MAKE_CUH

#include "cuda/device/data_error.cuh"
#include "sparse/cuda/tile.cuh"

static __device__ inline uint64_t global_thread(void)
{
    return (uint64_t)blockIdx.x * SPARSE_MAKE_THREADS + threadIdx.x;
}

/* The last row that begins at an entry or before: the row of the entry. */
static __device__ inline uint64_t row_of(const struct sparse_make_args &a, uint64_t entry)
{
    uint64_t low = 0, high = a.rows;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (((const index_type *)a.offsets)[middle] <= entry)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- From COO ---- */

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_coo_keys(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.entries) return;
    uint64_t row = ((const index_type *)a.offsets)[i], column = ((const index_type *)a.columns)[i];
    if (row >= a.rows)
        report_error(a.data_error, ECHI_COO_ROW, i);
    else if (column >= a.cols)
        report_error(a.data_error, ECHI_COO_COLUMN, i);
    if (row >= a.rows || column >= a.cols) row = a.rows, column = 0; /* after all valid keys */
    a.keys[i] = row << a.bits | column;
}

/* For a wide matrix: only columns, with their entries. */
extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_coo_columns(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.entries) return;
    const uint64_t row = ((const index_type *)a.offsets)[i];
    const uint64_t column = ((const index_type *)a.columns)[i];
    if (row >= a.rows)
        report_error(a.data_error, ECHI_COO_ROW, i);
    else if (column >= a.cols)
        report_error(a.data_error, ECHI_COO_COLUMN, i);
    a.keys[i] = column < a.cols ? column : 0;
    a.order[i] = i;
}

/* The sorted column at position i has the number of the last run that begins at i or before. */
extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_coo_numbers(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.entries) return;
    uint64_t low = 0, high = *a.count - 1;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if (a.starts[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    const uint64_t entry = a.order[i], row = ((const index_type *)a.offsets)[entry];
    const bool good = row < a.rows && ((const index_type *)a.columns)[entry] < a.cols;
    a.keys[entry] = good ? row << a.bits | low : a.rows << a.bits;
}

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_coo_fill(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= *a.count) return;
    const uint64_t key = a.keys[i], from = a.starts[i], to = a.starts[i + 1];
    const real *values = (const real *)a.values;
    if (key >> a.bits >= a.rows) return;
    real sum = values[from];
    for (uint64_t e = from + 1; e < to; e++) sum += values[e];
    if (to - from > 1 && sum != sum) sum = (real)__longlong_as_double(0x7ff8000000000000);
    const uint64_t column = key & (((uint64_t)1 << a.bits) - 1);
    ((index_type *)a.out_columns)[i] = (index_type)(a.table ? a.table[column] : column);
    ((real *)a.out_values)[i] = sum;
}

/* The start of each row in the sorted keys; and the total number. */
extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_offsets(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t row = global_thread();
    if (row > a.rows) return;
    uint64_t low = 0, high = a.count ? *a.count : a.entries;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (a.keys[middle] >> a.bits < row)
            low = middle + 1;
        else
            high = middle;
    }
    ((index_type *)a.out_offsets)[row] = (index_type)low;
    if (row == a.rows && a.out_entries) *a.out_entries = low;
}

/* ---- Transpose ---- */

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_pack(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.entries) return;
    const uint64_t column = ((const index_type *)a.columns)[i], row = row_of(a, i);
    a.keys[i] =
        (column < a.cols ? column : a.cols) << a.bits | (row & (((uint64_t)1 << a.bits) - 1));
}

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_unpack(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i < a.entries)
        ((index_type *)a.out_columns)[i] = (index_type)(a.keys[i] & (((uint64_t)1 << a.bits) - 1));
}

/* ---- Diagonal ---- */

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_diagonal_find(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.entries) return;
    const uint64_t column = ((const index_type *)a.columns)[i];
    if (column >= a.rows || column >= a.cols) return;
    const index_type *offsets = (const index_type *)a.offsets;
    if (offsets[column] <= i && i < offsets[column + 1])
        atomicMin((unsigned long long *)a.starts + column, (unsigned long long)i);
}

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_diagonal_take(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    if (i >= a.rows || i >= a.cols) return;
    const uint64_t entry = a.starts[i];
    ((real *)a.out_values)[i] = entry < a.entries ? ((const real *)a.values)[entry] : 0;
}

/* ---- Check ---- */

extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_check_rows(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t row = global_thread();
    const index_type *offsets = (const index_type *)a.offsets;
    if (row > a.rows) return;
    if (row == 0 && offsets[0] != 0) report_error(a.data_error, ECHI_CSR_BEGIN, 0);
    if (row == a.rows) {
        if (offsets[row] != a.entries) report_error(a.data_error, ECHI_CSR_END, row);
    } else if (offsets[row + 1] < offsets[row] || offsets[row + 1] > a.entries) {
        report_error(a.data_error, ECHI_CSR_ROW, row);
    }
}

/* Runs after the check of rows: a matrix with invalid offsets is not checked further. */
extern "C" __global__ void __launch_bounds__(SPARSE_MAKE_THREADS)
    sparse_check_columns(const __grid_constant__ struct sparse_make_args a)
{
    const uint64_t i = global_thread();
    const index_type *columns = (const index_type *)a.columns;
    if (i >= a.entries) return;
    const uint64_t found = ~load_relaxed_u64(a.data_error);
    const uint32_t what = (uint32_t)(found & 0xff);
    if (what == ECHI_CSR_BEGIN || what == ECHI_CSR_ROW || what == ECHI_CSR_END) return;
    const uint64_t column = columns[i];
    const bool falls = a.in_order && i && column <= columns[i - 1];
    if (column < a.cols && !falls) return;
    const uint64_t row = row_of(a, i);
    if (column >= a.cols)
        report_error(a.data_error, ECHI_CSR_COLUMN, row);
    else if (((const index_type *)a.offsets)[row] != i)
        report_error(a.data_error, ECHI_CSR_ORDER, row);
}

#endif
