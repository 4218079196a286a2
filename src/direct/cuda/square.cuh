/*
 * direct/cuda/square.cuh - operations on tiles of 32 x 32: the Cholesky factor, the triangle T of
 * reflectors, triangular solves; and row exchanges, 32 at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_SQUARE_CUH
#define ECHI_DIRECT_CUDA_SQUARE_CUH

#include "direct/cuda/real.cuh"

/* ---- Cholesky ---- */

/* One element per thread: warp i has row i. */
extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_cholesky(const __grid_constant__ struct direct_args args)
{
    __shared__ real pivot, column[LEAF];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t n = (uint32_t)step.cols, i = threadIdx.x / 32, j = lane_id();
    const bool mine = i < n && j <= i;
    real *at = (real *)step.c + i * step.c_stride + j;
    real x = mine ? *at : (real)0;
    for (uint32_t k = 0; k < n; k++) {
        if (i == k && j == k) {
            if (!(x > 0)) {
                if (!step.scalars->failed) step.scalars->failed = step.first + k + 1;
                x = 1; /* any value: it is not used */
            }
            pivot = x = root(x);
        }
        __syncthreads(); /* the pivot is written */
        if (mine && j == k && i > k) column[i] = x = x / pivot;
        __syncthreads(); /* the column is written */
        if (mine && j > k) x -= column[i] * column[j];
    }
    if (mine) *at = x;
}

/* ---- Reflectors ---- */

/* T from V and tau: column j is -tau T (V^T v).  Lane i has row i. */
extern "C" __global__ void __launch_bounds__(32)
    direct_chain(const __grid_constant__ struct direct_args args)
{
    __shared__ real gram[LEAF][LEAF], tau[LEAF];
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t n = (uint32_t)step.cols, i = lane_id();
    real t[LEAF];
    for (uint32_t k = 0; k < n; k++)
        gram[k][i] = i < n ? ((const real *)step.a)[k * step.a_stride + i] : (real)0;
    if (i < n) tau[i] = ((const real *)step.tau)[step.first + i];
    __syncwarp(); /* all lanes have read their part */
#pragma unroll
    for (uint32_t j = 0; j < LEAF; j++) {
        real sum = 0;
        t[j] = 0;
        if (j >= n) continue;
#pragma unroll
        for (uint32_t k = 0; k < LEAF; k++)
            if (k < j && k >= i) sum += t[k] * gram[k][j];
        if (i <= j) t[j] = i < j ? -tau[j] * sum : tau[j];
    }
#pragma unroll
    for (uint32_t j = 0; j < LEAF; j++)
        if (j < n && i < n) ((real *)step.c)[i * step.c_stride + j] = t[j];
}

/* ---- Triangles ---- */

struct triangle_shared {
    real t[LEAF][PITCH], x[LEAF][PITCH];
};

/* One column per warp: lane i has row i of n.  Known elements are subtracted from the rows that are
 * still unknown. */
static __device__ inline real solve_square(const real t[LEAF][PITCH], uint32_t n, bool forward,
                                           bool unit, real x)
{
    const uint32_t lane = lane_id();
#pragma unroll 4
    for (uint32_t turn = 0; turn < n; turn++) {
        const uint32_t k = forward ? turn : n - 1 - turn;
        const real by = lane < n ? t[lane][k] : (real)0;
        real known = __shfl_sync(WARP_ALL, x, k);
        if (!unit) known = known / t[k][k];
        if (lane == k) x = known;
        if (lane < n && (forward ? lane > k : lane < k)) x -= by * known;
    }
    return x;
}

/* Loads the tile of op(a) whose first element is at `a`. */
static __device__ inline void load_square(const struct echi_direct_step &step, const real *a,
                                          uint32_t n, real t[LEAF][PITCH])
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    if (warp >= n || lane >= n) return;
    *(step.turned ? &t[lane][warp] : &t[warp][lane]) = a[warp * step.a_stride + lane];
}

/* 32 columns per block, one per warp. */
extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_triangle(const __grid_constant__ struct direct_args args)
{
    __shared__ struct triangle_shared s;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t n = (uint32_t)step.rows, warp = threadIdx.x / 32, lane = lane_id();
    const uint64_t begin = (uint64_t)blockIdx.x * LEAF;
    const uint32_t cols = at_most(step.cols - begin, LEAF);
    const bool forward = step.upper == step.turned;
    real *c = (real *)step.c;
    real *at = step.beside ? c + (begin + warp) * step.c_stride + lane
                           : c + warp * step.c_stride + begin + lane;
    const bool there = step.beside ? warp < cols && lane < n : warp < n && lane < cols;
    load_square(step, (const real *)step.a, n, s.t);
    if (there) *(step.beside ? &s.x[lane][warp] : &s.x[warp][lane]) = *at;
    __syncthreads(); /* both are loaded */
    if (warp < cols) {
        const real x =
            solve_square(s.t, n, forward, step.unit, lane < n ? s.x[lane][warp] : (real)0);
        if (lane < n) s.x[lane][warp] = x;
    }
    __syncthreads(); /* the columns are solved */
    if (there) *at = *(step.beside ? &s.x[lane][warp] : &s.x[warp][lane]);
}

/* ---- Exchanges of rows ---- */

struct swap_shared {
    uint64_t places[DIRECT_BATCHES][LEAF];
    uint64_t from[DIRECT_BATCHES][2 * LEAF], to[DIRECT_BATCHES][2 * LEAF];
};

static const uint64_t no_row = ~(uint64_t)0;

/* The row that is moved to row i by a batch; base: the batch's first row. */
static __device__ inline uint64_t row_before(const uint64_t *places, uint64_t base, uint32_t count,
                                             bool turned, uint64_t i)
{
    for (uint32_t turn = 0; turn < count; turn++) {
        const uint32_t k = turned ? turn : count - 1 - turn;
        if (i == base + k)
            i = places[k];
        else if (i == places[k])
            i = base + k;
    }
    return i;
}

/* The rows that a batch moves: its own and their exchange partners, each once. */
static __device__ inline void list_rows(const struct echi_direct_step &step, struct swap_shared &s,
                                        uint64_t batch, uint32_t slot, uint32_t which)
{
    const uint64_t base = step.first + batch * LEAF;
    const uint64_t left = step.rows - batch * LEAF;
    const uint32_t count = at_most(left, LEAF), k = which % LEAF;
    const uint64_t *places = s.places[slot];
    uint64_t to = no_row;
    if (which < LEAF && k < count) to = base + k;
    if (which >= LEAF && k < count && places[k] >= base + count) {
        to = places[k];
        for (uint32_t other = k + 1; other < count; other++)
            if (places[other] == to) to = no_row;
    }
    const uint64_t from = to == no_row ? no_row : row_before(places, base, count, step.turned, to);
    s.from[slot][which] = from;
    s.to[slot][which] = from == to ? no_row : to;
}

/* 32 columns per block; 16 batches are planned at once and then executed in order. */
extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_swap(const __grid_constant__ struct direct_args args)
{
    __shared__ struct swap_shared s;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint64_t batches = (step.rows + LEAF - 1) / LEAF;
    const uint64_t column = (uint64_t)blockIdx.x * LEAF + lane_id();
    const uint32_t warp = threadIdx.x / 32;
    const bool there = column < step.cols;
    real *c = (real *)step.c + column;
    for (uint64_t done = 0; done < batches; done += DIRECT_BATCHES) {
        const uint32_t slots = at_most(batches - done, DIRECT_BATCHES);
        const uint32_t slot = threadIdx.x / (2 * LEAF), which = threadIdx.x % (2 * LEAF);
        const uint64_t next = done + slot;
        const uint64_t batch = step.turned ? batches - 1 - next : next;
        const uint64_t pivot = batch * LEAF + which;
        __syncthreads(); /* the previous batches are done */
        if (slot < slots && which < LEAF && pivot < step.rows)
            s.places[slot][which] = step.pivots[step.first + pivot];
        __syncthreads(); /* their places are loaded */
        if (slot < slots) list_rows(step, s, batch, slot, which);
        __syncthreads(); /* rows are listed */
        for (uint32_t b = 0; b < slots; b++) {
            const uint64_t first = s.to[b][warp], second = s.to[b][warp + LEAF];
            real one = 0, two = 0;
            if (there && first != no_row) one = c[s.from[b][warp] * step.c_stride];
            if (there && second != no_row) two = c[s.from[b][warp + LEAF] * step.c_stride];
            __syncthreads(); /* every row is read */
            if (there && first != no_row) c[first * step.c_stride] = one;
            if (there && second != no_row) c[second * step.c_stride] = two;
            __syncthreads(); /* every row is written */
        }
    }
}

#endif
