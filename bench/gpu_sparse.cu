/*
 * gpu_sparse.cu - measures sparse products on the GPU, compared with cuSPARSE on the same data in
 * one run.
 *
 *     gpu_sparse [--quick] [--only TEXT] [--csv FILE]
 *
 * Rates count entries, offsets, x and y once each; repeated reads of x are not counted.  Algorithm
 * 1 is cuSPARSE's default; algorithm 2 is bit-identical in every run, like Echelon.  The
 * preprocessing of a matrix is outside the measured time.
 *
 * C++ like gpu_common.cuh; not part of the library.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <cusparse.h>

#include "gpu_common.cuh"

#define CUSPARSE(call)                                                                             \
    do {                                                                                           \
        cusparseStatus_t result = (call);                                                          \
        if (result != CUSPARSE_STATUS_SUCCESS) {                                                   \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    cusparseGetErrorString(result));                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static cusparseHandle_t handle;

/* ---- Generated matrices ---- */

enum kind { POISSON2, POISSON3, FIXED, POWER, DENSE_ROW, ONE_ROW };

struct rule {
    enum kind kind;
    uint64_t side; /* of a grid; the number of rows of other matrices */
    uint64_t length;
};

static __host__ __device__ uint64_t rows_of(const struct rule &r)
{
    return r.kind == POISSON2   ? r.side * r.side
           : r.kind == POISSON3 ? r.side * r.side * r.side
           : r.kind == ONE_ROW  ? 1
                                : r.side;
}

/* The k-th neighbour of a grid point, or the number of neighbours. */
static __device__ uint64_t neighbour(const struct rule &r, uint64_t row, int k, int *count)
{
    const uint64_t step[3] = { r.side * r.side, r.side, 1 };
    int found = 0;
    for (int way = -3; way <= 3; way++) {
        const int axis = way < 0 ? way + 3 : 3 - way;
        uint64_t to = row;
        if (way && !(r.kind == POISSON2 && axis == 0)) {
            const uint64_t at = row / step[axis] % r.side;
            if (way < 0 ? at == 0 : at + 1 == r.side) continue;
            to = way < 0 ? row - step[axis] : row + step[axis];
        } else if (way) {
            continue;
        }
        if (found++ == k) return to;
    }
    *count = found;
    return 0;
}

static __global__ void make_lengths(struct rule r, int32_t *lengths)
{
    const uint64_t row = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x, rows = rows_of(r);
    if (row > rows) return;
    int count = 0;
    if (r.kind == POISSON2 || r.kind == POISSON3)
        neighbour(r, row, -1, &count);
    else if (r.kind == POWER) /* lengths follow a power law */
        count = (int)(r.length / (0.0005 + (double)(random_at(row) >> 40) * 0x1p-24) / 8);
    else
        count = r.kind == DENSE_ROW && row == rows / 3 ? (int)rows : (int)r.length;
    lengths[row] = row == rows ? 0 : count;
}

template <class Index, class Real>
static __global__ void make_entries(struct rule r, const Index *offsets, uint64_t cols,
                                    Index *columns, Real *values, uint64_t entries)
{
    const uint64_t e = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= entries) return;
    uint64_t low = 0, high = rows_of(r) - 1;
    while (low < high) {
        const uint64_t middle = high - (high - low) / 2;
        if ((uint64_t)offsets[middle] <= e)
            low = middle;
        else
            high = middle - 1;
    }
    const uint64_t n = offsets[low + 1] - offsets[low], k = e - offsets[low];
    int unused;
    if (r.kind == POISSON2 || r.kind == POISSON3)
        columns[e] = (Index)neighbour(r, low, (int)k, &unused);
    else
        columns[e] = (Index)(k * (cols / n) + random_at(e) % (cols / n));
    values[e] = (Real)((double)(random_at(e + 77) >> 11) * 0x1p-52 - 1);
}

template <class Index> static __global__ void widen(const int32_t *from, Index *to, uint64_t n)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

template <class Real> static __global__ void make_numbers(Real *x, uint64_t n)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (Real)((double)(random_at(i + 5) >> 11) * 0x1p-52 - 1);
}

template <class Real>
static __global__ void count_far(const Real *a, const Real *b, uint64_t n, double far,
                                 unsigned long long *count)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !(fabs((double)a[i] - (double)b[i]) <= far)) atomicAdd(count, 1ull);
}

static unsigned blocks_for(uint64_t n)
{
    return (unsigned)((n + 255) / 256);
}

/* ---- A matrix on the device ---- */

struct matrix {
    ech_csr csr;
    cusparseSpMatDescr_t descriptor;
};

template <class Index, class Real> static struct matrix make(const struct rule &r)
{
    struct matrix m;
    const uint64_t rows = rows_of(r), cols = r.kind == ONE_ROW ? r.length : rows;
    int32_t *lengths, *offsets, entries;
    CUDA(cudaMalloc(&lengths, (rows + 1) * sizeof *lengths));
    CUDA(cudaMalloc(&offsets, (rows + 1) * sizeof *offsets));
    make_lengths<<<blocks_for(rows + 1), 256, 0, stream>>>(r, lengths);
    ech_scan_options o = {};
    o.size = sizeof o;
    o.exclusive = 1;
    ECH(ech_scan(ctx, ECH_OP_SUM, lengths, offsets, rows + 1, ECH_I32, &o));
    CUDA(cudaMemcpyAsync(&entries, offsets + rows, 4, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    m.csr.size = sizeof m.csr;
    m.csr.rows = rows;
    m.csr.cols = cols;
    m.csr.nnz = (size_t)entries;
    m.csr.index_dtype = sizeof(Index) == 4 ? ECH_I32 : ECH_I64;
    m.csr.dtype = sizeof(Real) == 4 ? ECH_F32 : ECH_F64;
    CUDA(cudaMalloc(&m.csr.row_offsets, (rows + 1) * sizeof(Index)));
    CUDA(cudaMalloc(&m.csr.col_indices, m.csr.nnz * sizeof(Index)));
    CUDA(cudaMalloc(&m.csr.values, m.csr.nnz * sizeof(Real)));
    widen<<<blocks_for(rows + 1), 256, 0, stream>>>(offsets, (Index *)m.csr.row_offsets, rows + 1);
    make_entries<<<blocks_for(m.csr.nnz), 256, 0, stream>>>(
        r, (Index *)m.csr.row_offsets, cols, (Index *)m.csr.col_indices, (Real *)m.csr.values,
        (uint64_t)m.csr.nnz);
    const cusparseIndexType_t index = sizeof(Index) == 4 ? CUSPARSE_INDEX_32I : CUSPARSE_INDEX_64I;
    CUSPARSE(cusparseCreateCsr(&m.descriptor, (int64_t)rows, (int64_t)cols, entries,
                               m.csr.row_offsets, m.csr.col_indices, m.csr.values, index, index,
                               CUSPARSE_INDEX_BASE_ZERO,
                               sizeof(Real) == 4 ? CUDA_R_32F : CUDA_R_64F));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(lengths));
    CUDA(cudaFree(offsets));
    return m;
}

static void drop(struct matrix *m)
{
    CUSPARSE(cusparseDestroySpMat(m->descriptor));
    CUDA(cudaFree(m->csr.row_offsets));
    CUDA(cudaFree(m->csr.col_indices));
    CUDA(cudaFree(m->csr.values));
}

/* ---- Rows ---- */

/* Whether the results agree, and a second run of Echelon is bit-identical. */
template <class Real, class Ours>
static bool agree(const Real *y, const Real *other, Real *again, uint64_t n, double far,
                  const Ours &ours)
{
    unsigned long long *count, result;
    CUDA(cudaMalloc(&count, sizeof *count));
    CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
    count_far<<<blocks_for(n), 256, 0, stream>>>(y, other, n, far, count);
    CUDA(cudaMemcpyAsync(&result, count, sizeof result, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(count));
    for (int i = 0; i < 3 && result == 0; i++) {
        CUDA(cudaMemcpyAsync(again, y, n * sizeof *y, cudaMemcpyDeviceToDevice, stream));
        ours();
        result = differences(again, y, n * sizeof *y);
    }
    return result == 0;
}

/* columns == 0: a vector. */
template <class Index, class Real>
static void run(const char *shape, const char *dist, const struct rule &r, int64_t columns)
{
    const char *dtype = sizeof(Real) == 4 ? "f32" : "f64";
    const struct bench_name name = { columns ? "spmm" : "spmv", dtype, rows_of(r), shape, dist };
    if (!bench_wanted(name)) return;
    struct matrix m = make<Index, Real>(r);
    const ech_csr &a = m.csr;
    const int64_t n = columns ? columns : 1;
    const cudaDataType type = sizeof(Real) == 4 ? CUDA_R_32F : CUDA_R_64F;
    const Real one = 1, zero = 0;
    Real *x, *y, *other, *again;
    void *work, *buffer;
    size_t work_bytes, buffer_bytes;
    CUDA(cudaMalloc(&x, a.cols * n * sizeof *x));
    CUDA(cudaMalloc(&y, a.rows * n * sizeof *y));
    CUDA(cudaMalloc(&other, a.rows * n * sizeof *y));
    CUDA(cudaMalloc(&again, a.rows * n * sizeof *y));
    make_numbers<<<blocks_for(a.cols * n), 256, 0, stream>>>(x, a.cols * n);
    ECH(ech_csr_workspace("cuda", columns ? ECH_CSR_CALL_SPMM : ECH_CSR_CALL_SPMV, &a, columns,
                          NULL, &work_bytes));
    CUDA(cudaMalloc(&work, work_bytes + 256));
    ech_csr_options o = { sizeof o, work, work_bytes };
    const double bytes = (double)a.nnz * (sizeof(Index) + sizeof(Real)) +
                         (double)(a.rows + 1) * sizeof(Index) +
                         (double)(a.rows + a.cols) * n * sizeof(Real);
    const double far = (sizeof(Real) == 4 ? 1e-6 : 1e-14) *
                       (r.kind == ONE_ROW || r.kind == DENSE_ROW ? 20000 : 200);
    auto ours = [&] {
        if (columns)
            ECH(ech_spmm(ctx, 1, &a, n, x, n, 0, y, n, &o));
        else
            ECH(ech_spmv(ctx, 1, &a, x, 0, y, &o));
    };
    auto same = [&] { return agree(y, other, again, a.rows * n, far, ours); };
    cusparseDnVecDescr_t vx, vy;
    cusparseDnMatDescr_t mx, my;
    if (!columns) {
        CUSPARSE(cusparseCreateDnVec(&vx, (int64_t)a.cols, x, type));
        CUSPARSE(cusparseCreateDnVec(&vy, (int64_t)a.rows, other, type));
        for (int which = 1; which <= 2; which++) {
            const cusparseSpMVAlg_t how =
                which == 1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2;
            CUSPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                             m.descriptor, vx, &zero, vy, type, how,
                                             &buffer_bytes));
            CUDA(cudaMalloc(&buffer, buffer_bytes + 256));
            CUSPARSE(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                             m.descriptor, vx, &zero, vy, type, how, buffer));
            auto rival = [&] {
                CUSPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.descriptor,
                                      vx, &zero, vy, type, how, buffer));
            };
            bench_row(name, bytes, work_bytes, ours, rival, same,
                      which == 1 ? "cusparse-alg1" : "cusparse-alg2");
            CUDA(cudaFree(buffer));
        }
        CUSPARSE(cusparseDestroyDnVec(vx));
        CUSPARSE(cusparseDestroyDnVec(vy));
    } else {
        const cusparseSpMMAlg_t how = CUSPARSE_SPMM_CSR_ALG2; /* its best for row-major matrices */
        CUSPARSE(cusparseCreateDnMat(&mx, (int64_t)a.cols, n, n, x, type, CUSPARSE_ORDER_ROW));
        CUSPARSE(cusparseCreateDnMat(&my, (int64_t)a.rows, n, n, other, type, CUSPARSE_ORDER_ROW));
        CUSPARSE(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.descriptor, mx,
                                         &zero, my, type, how, &buffer_bytes));
        CUDA(cudaMalloc(&buffer, buffer_bytes + 256));
        CUSPARSE(cusparseSpMM_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.descriptor, mx,
                                         &zero, my, type, how, buffer));
        auto rival = [&] {
            CUSPARSE(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                  CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m.descriptor, mx, &zero,
                                  my, type, how, buffer));
        };
        bench_row(name, bytes, work_bytes, ours, rival, same, "cusparse-alg2");
        CUDA(cudaFree(buffer));
        CUSPARSE(cusparseDestroyDnMat(mx));
        CUSPARSE(cusparseDestroyDnMat(my));
    }
    CUDA(cudaFree(x));
    CUDA(cudaFree(y));
    CUDA(cudaFree(other));
    CUDA(cudaFree(again));
    CUDA(cudaFree(work));
    drop(&m);
}

int main(int argc, char **argv)
{
    bench_open(argc, argv, "sparse",
               "matrices in device memory, caller-provided workspace; bytes: entries, offsets, x "
               "and y once each; preprocessing of cuSPARSE not measured");
    CUSPARSE(cusparseCreate(&handle));
    CUSPARSE(cusparseSetStream(handle, stream));
    const struct rule grid = { POISSON2, 4096, 0 }, cube = { POISSON3, 256, 0 };
    const struct rule rows32 = { FIXED, 4 << 20, 32 }, rows1000 = { FIXED, 100000, 1000 };
    const struct rule power = { POWER, 4 << 20, 20 }, dense = { DENSE_ROW, 16 << 20, 5 };
    const struct rule one = { ONE_ROW, 1, 1 << 26 }, small = { POISSON2, 256, 0 };
    const struct rule tiny = { POISSON2, 32, 0 };
    run<int32_t, double>("i32", "poisson 2-D", grid, 0);
    run<int32_t, float>("i32", "poisson 2-D", grid, 0);
    run<int32_t, double>("i32", "poisson 2-D", small, 0);
    run<int32_t, double>("i32", "poisson 2-D", tiny, 0);
    run<int32_t, double>("i32", "poisson 3-D", cube, 0);
    run<int32_t, float>("i32", "poisson 3-D", cube, 0);
    run<int64_t, double>("i64", "poisson 3-D", cube, 0);
    run<int32_t, double>("i32", "rows of 32", rows32, 0);
    run<int32_t, float>("i32", "rows of 32", rows32, 0);
    run<int32_t, double>("i32", "rows of 1000", rows1000, 0);
    run<int32_t, float>("i32", "rows of 1000", rows1000, 0);
    run<int32_t, double>("i32", "power law", power, 0);
    run<int32_t, double>("i32", "rows of 5 and a dense one", dense, 0);
    run<int32_t, double>("i32", "one row", one, 0);
    const struct rule half = { POISSON2, 2048, 0 }, some = { FIXED, 1 << 20, 32 };
    run<int32_t, double>("i32", "poisson 2-D; 8 columns", half, 8);
    run<int32_t, double>("i32", "poisson 2-D; 32 columns", half, 32);
    run<int32_t, float>("i32", "rows of 32; 32 columns", some, 32);
    run<int32_t, double>("i32", "rows of 32; 64 columns", some, 64);
    CUSPARSE(cusparseDestroy(handle));
    return bench_close();
}
