/*
 * solve/cuda/blocks.cuh - diagonal blocks of A: inverted once, applied in each iteration.
 *
 *     inverting     one block per warp, in shared memory and f64: a lane has a row; the steps and
 *                   operations of solve/cpu/operation.c, element by element
 *     multiplying   one row per thread; a thread block has the rows of full diagonal blocks.  The
 *                   columns of blocks are stored one after the other for all rows, so that a warp
 *                   reads full lines
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_CUDA_BLOCKS_CUH
#define ECHI_SOLVE_CUDA_BLOCKS_CUH

enum {
    SQUARE = ECHI_SOLVE_BLOCK,
    SQUARE_PITCH = SQUARE + 1, /* lanes read a column without conflicts */
    SQUARE_WARPS = ECHI_SOLVE_BLOCK_WARPS
};

/* Loads this lane's row of the diagonal block from row `start` on; duplicate entries are added. */
static __device__ inline void take_row(const struct echi_solve_step &step, uint64_t start,
                                       uint32_t size, double *row)
{
    const struct echi_solve_csr &a = step.csr;
    const uint64_t i = start + lane_id();
    const real *dense = (const real *)step.e;
    for (uint32_t j = 0; j < size; j++)
        row[j] = dense ? (double)dense[i * step.e_step + start + j] : 0;
    if (dense) return;
    const uint64_t last = echi_solve_index(a.offsets, a.index_bytes, i + 1);
    for (uint64_t e = echi_solve_index(a.offsets, a.index_bytes, i); e < last && e < a.entries;
         e++) {
        const uint64_t j = echi_solve_index(a.columns, a.index_bytes, e) - start;
        if (j < size) row[j] += (double)((const real *)a.values)[e];
    }
}

/* The first row, from k on, with the largest element in column k. */
static __device__ inline uint32_t find_pivot(double (*a)[SQUARE_PITCH], uint32_t k, uint32_t size,
                                             double *pivot)
{
    const uint32_t lane = lane_id();
    const double mine = lane >= k && lane < size ? fabs(a[lane][k]) : -1.0;
    double most =
        mine >= 0 ? mine : -1.0; /* NaN is no pivot, except in row k: it spreads from there */
    *pivot = fabs(a[k][k]);
    if (!(*pivot >= 0)) return k;
#pragma unroll
    for (int apart = 1; apart < 32; apart *= 2) {
        const double other = __shfl_xor_sync(WARP_ALL, most, apart);
        if (other > most) most = other;
    }
    *pivot = most;
    return __ffs(__ballot_sync(WARP_ALL, mine == most)) - 1;
}

/* Inverts in place; false: row *where has no pivot. */
static __device__ inline bool invert_square(double (*a)[SQUARE_PITCH], uint32_t size,
                                            uint32_t *where)
{
    const uint32_t lane = lane_id();
    uint32_t exchanged = lane; /* lane k: the row that was exchanged with row k */
    for (uint32_t k = 0; k < size; k++) {
        double pivot;
        const uint32_t p = find_pivot(a, k, size, &pivot);
        if (pivot == 0) {
            *where = k;
            return false;
        }
        if (lane == k) exchanged = p;
        __syncwarp(); /* all lanes have read column k; now a lane has a column */
        if (lane < size && p != k) {
            const double other = a[k][lane];
            a[k][lane] = a[p][lane];
            a[p][lane] = other;
        }
        __syncwarp(); /* the pivot row is in its place */
        const double inverse = 1 / a[k][k];
        __syncwarp(); /* all lanes have read it */
        if (lane < size) a[k][lane] = lane == k ? inverse : a[k][lane] * inverse;
        __syncwarp(); /* row k is scaled; now a lane has a row again */
        if (lane < size && lane != k) {
            const double ratio = a[lane][k];
            for (uint32_t j = 0; j < size; j++)
                a[lane][j] = j == k ? -ratio * inverse : a[lane][j] - ratio * a[k][j];
        }
        __syncwarp(); /* all lanes are done with row k */
    }
    for (uint32_t k = size; k-- > 0;) {
        const uint32_t p = __shfl_sync(WARP_ALL, exchanged, k);
        if (lane >= size || p == k) continue;
        const double other = a[lane][k];
        a[lane][k] = a[lane][p];
        a[lane][p] = other;
    }
    return true;
}

extern "C" __global__ void __launch_bounds__(32 * SQUARE_WARPS)
    solve_blocks(const __grid_constant__ struct echi_solve_step step)
{
    __shared__ double squares[SQUARE_WARPS][SQUARE][SQUARE_PITCH];
    wait_for_earlier();
    double(*a)[SQUARE_PITCH] = squares[threadIdx.x / 32];
    const uint64_t stride = (uint64_t)gridDim.x * SQUARE_WARPS * step.block;
    uint64_t start = ((uint64_t)blockIdx.x * SQUARE_WARPS + threadIdx.x / 32) * step.block;
    for (; start < step.n; start += stride) {
        const uint64_t left = step.n - start;
        const uint32_t size = left < (uint32_t)step.block ? (uint32_t)left : step.block;
        uint32_t where;
        if (lane_id() < size) take_row(step, start, size, a[lane_id()]);
        __syncwarp(); /* the block is loaded */
        if (!invert_square(a, size, &where)) {
            if (lane_id() == 0)
                atomicMax((unsigned long long *)&step.scalars[ECHI_S_WHERE],
                          ~(unsigned long long)(start + where));
        } else if (lane_id() < size) {
            real *out = (real *)step.a.out + start + lane_id();
            for (uint32_t j = 0; j < size; j++) out[j * step.block_step] = (real)a[lane_id()][j];
        }
        __syncwarp(); /* shared memory may be overwritten */
    }
}

extern "C" __global__ void __launch_bounds__(ECHI_SOLVE_BLOCK_THREADS)
    solve_blocked(const __grid_constant__ struct echi_solve_step step)
{
    wait_for_earlier();
    if (step.guarded && step.scalars[ECHI_S_STOP] != 0) return;
    const uint32_t rows = ECHI_SOLVE_BLOCK_THREADS / step.block * step.block;
    const uint32_t square = threadIdx.x / step.block * step.block;
    const uint64_t first = (uint64_t)blockIdx.x * rows, i = first + threadIdx.x;
    if (threadIdx.x >= rows || i >= step.n) return;
    const uint64_t left = step.n - (first + square);
    const int size = left < (uint32_t)step.block ? (int)left : step.block;
    const real *in = (const real *)step.e + first + square;
    const real *column = (const real *)step.diagonal + i;
    real sum = column[0] * in[0];
#pragma unroll 8
    for (int j = 1; j < size; j++) sum = sum + column[j * step.block_step] * in[j];
    ((real *)step.a.out)[i] = sum;
}

#endif
