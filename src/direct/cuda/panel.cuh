/*
 * direct/cuda/panel.cuh - panels of at most 32 columns: LU with exchanges of rows, and QR.
 *
 *     block j    loads column j of the matrix into the panel, applies columns 0 ... j - 1 to it as
 *                soon as each is complete, factors it, and signals completion
 *     a ticket   assigns the column to a block, so that blocks only wait for blocks that have begun
 *
 * A separate kernel copies the panel back to the matrix: the row exchange of a column applies to
 * all columns, and the blocks of earlier columns have ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_PANEL_CUH
#define ECHI_DIRECT_CUDA_PANEL_CUH

#include "direct/cuda/real.cuh"

enum {
    PANEL_THREADS = DIRECT_PANEL_THREADS,
    PANEL_EACH = 8,                 /* elements that a thread loads at a time */
    PANEL_SHARE = 2 * PANEL_THREADS /* products that are added at a time */
};

/* ---- Order of the blocks ---- */

/* Waits until column k is complete. */
static __device__ inline void wait_for_column(const struct direct_state *state, uint32_t k)
{
    if (threadIdx.x == 0)
        while (!load_acquire(&state->ready[k])) continue;
    __syncthreads(); /* thread 0 has seen the signal of the column's block */
}

/* Signals that the block's column is complete; the last block resets the state. */
static __device__ inline void signal_ready(struct direct_state *state, uint32_t j)
{
    __syncthreads(); /* all threads have written their elements */
    if (threadIdx.x) return;
    store_release(&state->ready[j], 1);
    if (add_acq_rel(&state->done, 1) != gridDim.x - 1) return;
    for (uint32_t k = 0; k < gridDim.x; k++) store_relaxed(&state->ready[k], 0);
    store_relaxed(&state->ticket, 0);
    store_relaxed(&state->done, 0);
}

/* ---- LU ---- */

struct lu_shared {
    struct peak peaks[32];
    uint32_t ticket;
};

/* Applies column k to column x: exchanges rows k and `place`, and subtracts from the rows below. */
static __device__ inline struct peak update_column(real *x, const real *l, uint32_t rows,
                                                   uint32_t k, uint32_t place)
{
    const real pivot = __ldcg(l + k), top = x[place], old = x[k];
    struct peak best = no_peak(k + 1);
    __syncthreads(); /* all threads have read both */
    if (threadIdx.x == 0) x[k] = top;
    for (uint32_t begin = threadIdx.x; begin < rows; begin += PANEL_THREADS * PANEL_EACH) {
        real by[PANEL_EACH], value[PANEL_EACH];
#pragma unroll
        for (int e = 0; e < PANEL_EACH; e++) {
            const uint32_t i = begin + e * PANEL_THREADS;
            by[e] = i > k && i < rows ? __ldcg(l + i) : (real)0;
            value[e] = i > k && i < rows ? x[i] : (real)0;
        }
#pragma unroll
        for (int e = 0; e < PANEL_EACH; e++) {
            const uint32_t i = begin + e * PANEL_THREADS;
            if (i <= k || i >= rows) continue;
            if (i == place) value[e] = old;
            if (pivot != 0) value[e] -= by[e] * top; /* otherwise all of l is zero */
            x[i] = value[e];
            update_peak(best, value[e], i);
        }
    }
    return best;
}

extern "C" __global__ void __launch_bounds__(PANEL_THREADS)
    direct_lu(const __grid_constant__ struct direct_args args)
{
    __shared__ struct lu_shared s;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t j = take_ticket(args.state, &s.ticket), rows = (uint32_t)step.rows;
    real *panel = (real *)args.panel, *x = panel + (uint64_t)j * rows;
    struct peak best = no_peak(0);
    for (uint32_t i = threadIdx.x; i < rows; i += PANEL_THREADS) {
        x[i] = ((const real *)step.c)[i * step.c_stride + j];
        update_peak(best, x[i], i);
    }
    for (uint32_t k = 0; k < j; k++) {
        wait_for_column(args.state, k);
        const uint32_t place =
            (uint32_t)(__ldcg((const unsigned long long *)step.pivots + step.first + k) -
                       step.first);
        best = update_column(x, panel + (uint64_t)k * rows, rows, k, place);
    }
    const uint32_t place = block_peak(best, s.peaks).place; /* also a barrier: x is written */
    const real pivot = x[place], old = x[j];
    __syncthreads(); /* all threads have read both */
    if (threadIdx.x == 0) {
        x[j] = pivot;
        step.pivots[step.first + j] = step.first + place;
        if (pivot == 0 && !__ldcg((const unsigned long long *)&step.scalars->failed))
            step.scalars->failed = step.first + j + 1;
    }
    for (uint32_t i = threadIdx.x; i < rows; i += PANEL_THREADS) {
        if (i <= j) continue;
        const real value = i == place ? old : x[i];
        x[i] = pivot == 0 ? value : value / pivot;
    }
    signal_ready(args.state, j);
}

/* ---- QR ---- */

struct qr_shared {
    real products[2][PANEL_SHARE];
    real largest[32], sum;
    uint32_t ticket;
};

/* The sum of v x from row k on, where v's element in row k is 1; or with SQUARES the sum of (x /
 * scale)^2 below row k. 32 lanes take rows in turn, and are then added pairwise. */
template <bool SQUARES>
static __device__ inline real add_down(const real *v, real scale, const real *x, uint32_t k,
                                       uint64_t rows, struct qr_shared &s)
{
    real sum = 0;
    int turn = 0;
    for (uint64_t begin = 0; begin < rows; begin += PANEL_SHARE, turn ^= 1) {
#pragma unroll
        for (int e = 0; e < PANEL_SHARE / PANEL_THREADS; e++) {
            const uint32_t at = e * PANEL_THREADS + threadIdx.x;
            const uint64_t i = begin + at;
            real product = 0; /* adding it does not change a sum that began with +0 */
            if (SQUARES && i > k && i < rows) {
                product = x[i] / scale;
                product = product * product;
            }
            if (!SQUARES && i >= k && i < rows) product = i == k ? x[i] : __ldcg(v + i) * x[i];
            s.products[turn][at] = product;
        }
        __syncthreads(); /* the products are written, and the ones before the last are added */
        if (threadIdx.x >= 32) continue;
        const uint32_t count = at_most(rows - begin, PANEL_SHARE);
#pragma unroll 8
        for (uint32_t at = threadIdx.x; at < count; at += 32) sum += s.products[turn][at];
    }
    if (threadIdx.x < 32) {
#pragma unroll
        for (int half = 16; half; half /= 2) sum += __shfl_down_sync(WARP_ALL, sum, half);
        if (threadIdx.x == 0) s.sum = sum;
    }
    __syncthreads(); /* the sum is written */
    return s.sum;
}

/* The maximum below row k; NaN counts as larger than any previous element. */
static __device__ inline real largest_below(const real *x, uint32_t k, uint64_t rows,
                                            struct qr_shared &s)
{
    real largest = 0;
    for (uint64_t i = threadIdx.x; i < rows; i += PANEL_THREADS) {
        const real here = size_of(x[i]);
        if (i > k && !(here <= largest)) largest = here;
    }
    for (int turn = 0; turn < 2; turn++) {
#pragma unroll
        for (int step = 16; step; step /= 2) {
            const real other = __shfl_xor_sync(WARP_ALL, largest, step);
            if (!(other <= largest)) largest = other;
        }
        if (turn) break;
        if (lane_id() == 0) s.largest[threadIdx.x / 32] = largest;
        __syncthreads(); /* the maxima of all warps are written */
        largest = s.largest[lane_id()];
    }
    return largest;
}

/* Replaces column j by R's element and the reflector below it; returns tau. */
static __device__ inline real make_reflector(real *x, uint32_t j, uint64_t rows,
                                             struct qr_shared &s)
{
    __syncthreads(); /* x is written */
    real largest = largest_below(x, j, rows, s);
    const real alpha = x[j];
    if (largest == 0) return 0;
    if (size_of(alpha) > largest) largest = size_of(alpha);
    const real sum = add_down<true>(NULL, largest, x, j, rows, s), first = alpha / largest;
    const real norm = largest * root(sum + first * first);
    const real beta = alpha < 0 ? norm : -norm, by = alpha - beta;
    for (uint64_t i = threadIdx.x; i < rows; i += PANEL_THREADS)
        if (i > j) x[i] = x[i] / by;
    if (threadIdx.x == 0) x[j] = beta; /* all threads have read alpha before a barrier of the sum */
    return (beta - alpha) / beta;
}

extern "C" __global__ void __launch_bounds__(PANEL_THREADS)
    direct_qr(const __grid_constant__ struct direct_args args)
{
    __shared__ struct qr_shared s;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint64_t rows = step.rows;
    const uint32_t j = take_ticket(args.state, &s.ticket);
    real *panel = (real *)args.panel, *x = panel + j * rows, *tau = (real *)step.tau + step.first;
    for (uint64_t i = threadIdx.x; i < rows; i += PANEL_THREADS)
        x[i] = ((const real *)step.c)[i * step.c_stride + j];
    for (uint32_t k = 0; k < j; k++) {
        const real *v = panel + k * rows;
        wait_for_column(args.state, k);
        const real by = __ldcg(tau + k) * add_down<false>(v, 0, x, k, rows, s);
        for (uint64_t i = threadIdx.x; i < rows; i += PANEL_THREADS)
            if (i >= k) x[i] -= i == k ? by : __ldcg(v + i) * by;
    }
    const real factor = make_reflector(x, j, rows, s);
    if (threadIdx.x == 0) tau[j] = factor;
    signal_ready(args.state, j);
}

/* ---- Back to the matrix ---- */

/* The location of the element that will be in row i of column j after the exchanges of the columns
 * after it. */
static __device__ inline uint64_t source_of(const uint64_t *places, uint32_t cols, uint64_t i,
                                            uint32_t j)
{
    for (uint32_t k = cols - 1; k > j; k--) {
        if (i == k)
            i = places[k];
        else if (i == places[k])
            i = k;
    }
    return i;
}

extern "C" __global__ void __launch_bounds__(DIRECT_THREADS)
    direct_panel_back(const __grid_constant__ struct direct_args args)
{
    __shared__ real tile[LEAF][PITCH];
    __shared__ uint64_t places[LEAF];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t cols = (uint32_t)step.cols, warp = threadIdx.x / 32, lane = lane_id();
    const real *panel = (const real *)args.panel;
    const bool swapped = step.what == ECHI_DIRECT_LU;
    if (swapped && threadIdx.x < cols)
        places[threadIdx.x] = step.pivots[step.first + threadIdx.x] - step.first;
    for (uint64_t begin = (uint64_t)blockIdx.x * LEAF; begin < step.rows;
         begin += (uint64_t)gridDim.x * LEAF) {
        __syncthreads(); /* places are written, and the previous tile has been stored */
        for (uint32_t j = warp; j < cols; j += DIRECT_THREADS / 32) {
            const uint64_t i = begin + lane;
            if (i < step.rows)
                tile[lane][j] =
                    panel[j * step.rows + (swapped ? source_of(places, cols, i, j) : i)];
        }
        __syncthreads(); /* the tile is loaded */
        for (uint32_t row = warp; row < LEAF; row += DIRECT_THREADS / 32)
            if (begin + row < step.rows && lane < cols)
                ((real *)step.c)[(begin + row) * step.c_stride + lane] = tile[row][lane];
    }
}

#endif
