/*
 * direct/cuda/kernels.cu - steps of direct solvers on the GPU, device code: kernels that read or
 * copy a matrix; panels, triangles and exchanges of rows are in the included files.
 *
 *     direct_move, _sum, _rows, _symmetric, _columns, _peaks, _diagonal
 *     direct_residual, _signs, _place
 *     direct_lu, _qr, _panel_back                      panel.cuh
 *     direct_cholesky, _chain, _triangle, _swap        square.cuh
 *     direct_vector                                    vector.cuh
 *     direct_turn, _convert                            for a vendor's factorization
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "direct/cuda/panel.cuh"
#include "direct/cuda/square.cuh"
#include "direct/cuda/vector.cuh"

enum { THREADS = DIRECT_THREADS, WARPS = THREADS / 32 };

/* ---- Matrices ---- */

static __device__ inline real element_of(const struct echi_direct_step &step, uint64_t i,
                                         uint64_t j)
{
    const real *a = (const real *)step.a;
    switch (step.what) {
    case ECHI_DIRECT_COPY:
        return a[i * step.a_stride + j];
    case ECHI_DIRECT_ADD:
        return ((const real *)step.c)[i * step.c_stride + j] + a[i * step.a_stride + j];
    case ECHI_DIRECT_REFLECTORS:
        return i > j ? a[i * step.a_stride + j] : (real)(i == j);
    }
    if (step.make == ECHI_DIRECT_IDENTITY) return (real)(i == step.first + j);
    if (step.make == ECHI_DIRECT_EVEN) return 1 / (real)step.rows;
    const real size = 1 + (real)i / (real)(step.rows - 1);
    return i % 2 ? -size : size;
}

/* COPY, ADD, MAKE, REFLECTORS: rows of threads as wide as needed. */
extern "C" __global__ void __launch_bounds__(THREADS)
    direct_move(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    uint32_t across = 1;
    while (across < THREADS && across < step.cols) across *= 2;
    const uint32_t down = THREADS / across, x = threadIdx.x % across, y = threadIdx.x / across;
    for (uint64_t i = (uint64_t)blockIdx.x * down + y; i < step.rows;
         i += (uint64_t)gridDim.x * down)
        for (uint64_t j = x; j < step.cols; j += across)
            ((real *)step.c)[i * step.c_stride + j] = element_of(step, i, j);
}

/* One element per thread. */
extern "C" __global__ void __launch_bounds__(THREADS)
    direct_sum(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint64_t all = step.rows * step.cols, apart = step.rows * step.a_stride;
    for (uint64_t at = (uint64_t)blockIdx.x * THREADS + threadIdx.x; at < all;
         at += (uint64_t)gridDim.x * THREADS) {
        const uint64_t i = at / step.cols, j = at % step.cols;
        const real *__restrict__ a = (const real *)step.a + i * step.a_stride + j;
        real sum = *a;
#pragma unroll 8
        for (uint64_t k = 1; k < step.inner; k++) sum += a[k * apart];
        ((real *)step.c)[i * step.c_stride + j] = sum;
    }
}

static __device__ inline double fold_warp(double sum)
{
#pragma unroll
    for (int half = 16; half; half /= 2) sum += __shfl_down_sync(WARP_ALL, sum, half);
    return sum; /* of lane 0 */
}

/* One row per warp. */
extern "C" __global__ void __launch_bounds__(THREADS)
    direct_rows(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const real *__restrict__ a = (const real *)step.a;
    for (uint64_t i = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32; i < step.rows;
         i += (uint64_t)gridDim.x * WARPS) {
        real *__restrict__ c = (real *)step.c + i * step.c_stride;
        double sum = 0;
#pragma unroll 8
        for (uint64_t j = lane_id(); j < step.cols; j += 32) {
            const bool below = !step.lower || j <= i;
            const real x = below ? a[i * step.a_stride + j] : a[j * step.a_stride + i];
            c[j] = below ? x : (real)0;
            sum += fabs((double)x);
        }
        sum = fold_warp(sum);
        if (lane_id() == 0) step.sums[i] = sum;
    }
}

/* Compares tiles below the diagonal with their mirror images, which are also read by rows. */
extern "C" __global__ void __launch_bounds__(THREADS)
    direct_symmetric(const __grid_constant__ struct direct_args args)
{
    __shared__ real mirror[LEAF][PITCH];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const real *a = (const real *)step.a;
    const uint64_t n = step.rows, tiles = (n + LEAF - 1) / LEAF, stride = step.a_stride;
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    bool same = true;
    for (uint64_t tile = blockIdx.x; tile < tiles * tiles; tile += gridDim.x) {
        const uint64_t down = tile / tiles * LEAF, right = tile % tiles * LEAF;
        if (right > down) continue;
        __syncthreads(); /* the previous mirror image has been read */
        for (uint32_t row = warp; row < LEAF; row += WARPS)
            if (right + row < n && down + lane < n)
                mirror[row][lane] = a[(right + row) * stride + down + lane];
        __syncthreads(); /* this one is loaded */
        for (uint32_t row = warp; row < LEAF; row += WARPS) {
            const uint64_t i = down + row, j = right + lane;
            if (i >= n || j > i) continue;
            const real x = a[i * stride + j];
            if (i == j ? !(x > 0) : x != mirror[lane][row]) same = false;
        }
    }
    if (!same) atomicOr((unsigned long long *)&step.scalars->asymmetric, 1ull);
}

/* One column per thread, from top to bottom. */
extern "C" __global__ void __launch_bounds__(DIRECT_COLUMN_THREADS)
    direct_columns(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint64_t j = (uint64_t)blockIdx.x * DIRECT_COLUMN_THREADS + threadIdx.x;
    if (j >= step.cols) return;
    const real *__restrict__ a = (const real *)step.a + j;
    const uint64_t rows = step.upper && j + 1 < step.rows ? j + 1 : step.rows;
    double sum = 0;
#pragma unroll 16
    for (uint64_t i = 0; i < rows; i++) sum += fabs((double)a[i * step.a_stride]);
    step.sums[j] = sum;
}

/* Up to 32 adjacent columns; the threads of a column take rows in turn. */
extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_peaks(const __grid_constant__ struct direct_args args)
{
    __shared__ double peaks[DIRECT_PANEL_THREADS];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    uint32_t across = 1;
    while (across < LEAF && across < step.cols) across *= 2;
    const uint32_t down = DIRECT_PANEL_THREADS / across;
    const uint64_t j = (uint64_t)blockIdx.x * across + threadIdx.x % across;
    const real *__restrict__ a = (const real *)step.a + j;
    double peak = 0;
    if (j < step.cols) {
#pragma unroll 4
        for (uint64_t i = threadIdx.x / across; i < step.rows; i += down) {
            const real x = a[i * step.a_stride];
            const double here = x == x ? fabs((double)x) : (double)__int_as_float(0x7f800000);
            if (here > peak) peak = here;
        }
    }
    peaks[threadIdx.x] = peak;
    for (uint32_t half = down / 2; half; half /= 2) {
        __syncthreads(); /* the maxima of the other half are written */
        if (threadIdx.x < half * across) {
            const double other = peaks[threadIdx.x + half * across];
            if (other > peaks[threadIdx.x]) peaks[threadIdx.x] = other;
        }
    }
    if (threadIdx.x < across && j < step.cols) step.sums[j] = peaks[threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    direct_diagonal(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= step.rows) return;
    const double here = (double)((const real *)step.c)[i * step.c_stride + i];
    step.sums[i] = step.turned && ((const real *)step.tau)[i] != 0 ? -here : here;
}

/* ---- Residual ---- */

/* A sum in twice the precision: f32 in f64, where products are exact; f64 with the rounding error
 * of each operation in addition. */
struct wide {
    double sum, lost;
};

static __device__ inline void add_product(struct wide &w, real a, real x)
{
#if KEY_BITS == 32
    w.sum += (double)a * (double)x;
#else
    const double product = a * x, rest = __fma_rn(a, x, -product), before = w.sum;
    const double sum = before + product, part = sum - before;
    w.lost += ((before - (sum - part)) + (product - part)) + rest;
    w.sum = sum;
#endif
}

static __device__ inline real subtract_wide(struct wide w, real b)
{
#pragma unroll
    for (int half = 16; half; half /= 2) {
        const double before = w.sum, more = __shfl_down_sync(WARP_ALL, w.sum, half);
        const double lost = __shfl_down_sync(WARP_ALL, w.lost, half);
        const double sum = before + more, part = sum - before;
        w.lost += lost + ((before - (sum - part)) + (more - part));
        w.sum = sum;
    }
    const double from = b, minus = -w.sum, sum = from + minus, part = sum - from;
    const double lost = ((from - (sum - part)) + (minus - part)) - w.lost;
    return (real)(sum + lost);
}

/* One row per warp, one right-hand side after the other. */
extern "C" __global__ void __launch_bounds__(THREADS)
    direct_residual(const __grid_constant__ struct direct_args args)
{
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const real *__restrict__ a = (const real *)step.a, *__restrict__ x = (const real *)step.x;
    const real *b = (const real *)step.b;
    for (uint64_t i = (uint64_t)blockIdx.x * WARPS + threadIdx.x / 32; i < step.rows;
         i += (uint64_t)gridDim.x * WARPS)
        for (uint64_t column = 0; column < step.cols; column++) {
            struct wide w = { 0, 0 };
#pragma unroll 4
            for (uint64_t j = lane_id(); j < step.inner; j += 32)
                add_product(
                    w, !step.lower || j <= i ? a[i * step.a_stride + j] : a[j * step.a_stride + i],
                    x[j * step.x_stride + column]);
            const real right = b ? b[i * step.b_stride + column] : (real)(i == column);
            const real rest = subtract_wide(w, right);
            if (lane_id() == 0) ((real *)step.c)[i * step.c_stride + column] = rest;
        }
}

/* ---- Estimate ---- */

/* One block: one lane per thread. */
extern "C" __global__ void __launch_bounds__(ECHI_DIRECT_ESTIMATE_LANES)
    direct_signs(const __grid_constant__ struct direct_args args)
{
    __shared__ double sums[ECHI_DIRECT_ESTIMATE_LANES];
    __shared__ unsigned long long all_changed;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    real *c = (real *)step.c, *signs = (real *)step.tau;
    unsigned long long changed = 0;
    double sum = 0;
    if (threadIdx.x == 0) all_changed = 0;
    for (uint64_t i = threadIdx.x; i < step.rows; i += ECHI_DIRECT_ESTIMATE_LANES) {
        const real x = c[i], sign = x >= 0 ? 1 : -1;
        sum += fabs((double)x);
        if (step.compare && signs[i] != sign) changed++;
        c[i] = signs[i] = sign;
    }
    sums[threadIdx.x] = sum;
    for (uint32_t half = ECHI_DIRECT_ESTIMATE_LANES / 2; half; half /= 2) {
        __syncthreads(); /* the sums of the other half are written; at first also the zero */
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (changed) atomicAdd(&all_changed, changed);
    __syncthreads(); /* all threads have added their sums */
    if (threadIdx.x) return;
    step.scalars->sum = sums[0];
    step.scalars->changed = all_changed;
}

/* One block. */
extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_place(const __grid_constant__ struct direct_args args)
{
    __shared__ struct peak peaks[32];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const real *c = (const real *)step.c;
    struct peak best = no_peak(0);
    for (uint32_t i = threadIdx.x; i < step.rows; i += DIRECT_PANEL_THREADS)
        update_peak(best, c[i], i);
    best = block_peak(best, peaks);
    if (threadIdx.x) return;
    step.scalars->largest = best.place;
    step.scalars->sum = fabs((double)c[best.place]);
    step.scalars->before = fabs((double)c[step.first]);
}

/* ---- A vendor's factorization ---- */

extern "C" __global__ void __launch_bounds__(THREADS)
    direct_turn(const __grid_constant__ struct direct_vendor_args args)
{
    __shared__ real tile[LEAF][PITCH];
    wait_for_earlier();
    const uint64_t across = (args.cols + LEAF - 1) / LEAF, down = (args.rows + LEAF - 1) / LEAF;
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    for (uint64_t at = blockIdx.x; at < across * down; at += gridDim.x) {
        const uint64_t i = at / across * LEAF, j = at % across * LEAF;
        __syncthreads(); /* the previous tile is written */
        for (uint32_t row = warp; row < LEAF; row += WARPS)
            if (i + row < args.rows && j + lane < args.cols)
                tile[row][lane] =
                    ((const real *)args.from)[(i + row) * args.from_stride + j + lane];
        __syncthreads(); /* this one is loaded */
        for (uint32_t row = warp; row < LEAF; row += WARPS)
            if (j + row < args.cols && i + lane < args.rows)
                ((real *)args.to)[(j + row) * args.to_stride + i + lane] = tile[lane][row];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    direct_convert(const __grid_constant__ struct direct_vendor_args args)
{
    wait_for_earlier();
    const uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (i == 0) args.scalars->failed = *args.info > 0 ? (uint64_t)*args.info : 0;
    if (args.ints && i < args.rows) args.pivots[i] = (uint64_t)args.ints[i] - 1;
}
