/*
 * matmul/cuda/vector.cuh - a matrix-vector product: one level of sums (docs/matmul.md).
 *
 *     rows      a row's chunk is added by the 64 lanes of the definition; a thread has as many of
 *               them as a vector of 16 bytes has elements; short rows use fewer threads
 *     columns   a thread has a chunk of one vector of columns
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_VECTOR_CUH
#define ECHI_MATMUL_CUDA_VECTOR_CUH

#include "matmul/cuda/real.cuh"

enum { AT_ONCE = 8 }; /* loads of a thread that are in flight */

union lanes {
    real_vector v;
    real x[REAL_VECTOR];
};

static __device__ inline union lanes load_lanes(const real *from, bool vectors)
{
    union lanes l;
    if (vectors)
        l.v = *(const real_vector *)from;
    else
        for (int e = 0; e < REAL_VECTOR; e++) l.x[e] = from[e];
    return l;
}

static __device__ inline void put_sum(const struct matvec_args &args, uint64_t sum, uint64_t y,
                                      real s)
{
    real *out = (real *)args.out;
    if (args.last) {
        const real beta = (real)args.beta, before = beta != 0 ? out[y] : 0;
        out[y] = quiet(ended(s, (real)args.alpha, beta, before));
    } else {
        out[sum] = s;
    }
}

/* Adds n elements of a chunk of each of ROWS rows to the thread's lanes: batches of loads, then the
 * vector in which the chunk may end. */
template <int ROWS>
static __device__ inline void add_chunks(const struct matvec_args &args,
                                         const real *const (&a)[ROWS], const real *x, uint32_t n,
                                         uint32_t first, union lanes (&s)[ROWS])
{
    enum { STEPS_AT_ONCE = AT_ONCE / ROWS };
    for (uint32_t j = first; j + REAL_VECTOR <= n; j += STEPS_AT_ONCE * MATVEC_LANES) {
        union lanes y[ROWS][STEPS_AT_ONCE], z[STEPS_AT_ONCE];
#pragma unroll
        for (int u = 0; u < STEPS_AT_ONCE; u++) {
            const uint32_t at = j + u * MATVEC_LANES;
            if (at + REAL_VECTOR > n) continue;
#pragma unroll
            for (int r = 0; r < ROWS; r++) y[r][u] = load_lanes(a[r] + at, args.vectors);
            if (x) z[u] = load_lanes(x + at, args.vectors);
        }
#pragma unroll
        for (int u = 0; u < STEPS_AT_ONCE; u++) {
            if (j + u * MATVEC_LANES + REAL_VECTOR > n) continue;
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                for (int e = 0; e < REAL_VECTOR; e++)
                    s[r].x[e] = fused(y[r][u].x[e], x ? z[u].x[e] : 1, s[r].x[e]);
        }
    }
    const uint32_t last = n - n % REAL_VECTOR;
    if (last % MATVEC_LANES != first) return;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        for (int e = 0; e < REAL_VECTOR; e++)
            if (last + e < n) s[r].x[e] = fused(a[r][last + e], x ? x[last + e] : 1, s[r].x[e]);
}

/* Adjacent groups of threads process the chunks of the same rows, so that near addresses are read
 * at about the same time. */
template <int ROWS> static __device__ inline void matvec_row_chunks(const struct matvec_args &args)
{
    const uint32_t lane = threadIdx.x % args.lanes;
    const uint64_t each = MATVEC_THREADS / args.lanes, groups = (args.rows + ROWS - 1) / ROWS;
    for (uint64_t i = blockIdx.x * each; i < groups * args.chunks; i += gridDim.x * each) {
        const uint64_t item = i + threadIdx.x / args.lanes;
        const bool is_there = item < groups * args.chunks;
        const uint64_t group = args.chunks == 1 ? item : item / args.chunks;
        const uint64_t chunk = item - group * args.chunks;
        const uint64_t row = group * ROWS, from = chunk * MATVEC_CHUNK;
        const uint64_t left = args.cols - from;
        const real *a[ROWS];
        union lanes s[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const uint64_t mine = row + r < args.rows ? row + r : row; /* loaded, but not used */
            a[r] = (const real *)args.a + mine * args.stride + from;
            for (int e = 0; e < REAL_VECTOR; e++) s[r].x[e] = 0;
        }
        if (is_there)
            add_chunks<ROWS>(args, a, args.x ? (const real *)args.x + from : NULL,
                             left < MATVEC_CHUNK ? (uint32_t)left : (uint32_t)MATVEC_CHUNK,
                             lane * REAL_VECTOR, s);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            /* Adds the upper half of the lanes to the lower, repeatedly; missing lanes would add
             * +0, which turns -0 into +0. */
            if (args.lanes < MATVEC_LANES / REAL_VECTOR)
                for (int e = 0; e < REAL_VECTOR; e++) s[r].x[e] = s[r].x[e] + (real)0;
            for (uint32_t half = args.lanes / 2; half; half /= 2)
                for (int e = 0; e < REAL_VECTOR; e++)
                    s[r].x[e] =
                        s[r].x[e] + __shfl_down_sync(0xffffffffu, s[r].x[e], half, args.lanes);
#pragma unroll
            for (int half = REAL_VECTOR / 2; half; half /= 2)
                for (int e = 0; e < half; e++) s[r].x[e] = s[r].x[e] + s[r].x[e + half];
            if (is_there && lane == 0 && row + r < args.rows)
                put_sum(args, (row + r) * args.chunks + chunk, row + r, s[r].x[0]);
        }
    }
}

template <int WIDTH>
static __device__ inline void add_rows(const struct matvec_args &args, const real *a, const real *x,
                                       uint32_t rows, real (&s)[WIDTH])
{
    uint32_t i = 0;
    for (; i + AT_ONCE <= rows; i += AT_ONCE) {
        real y[AT_ONCE][WIDTH];
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const real *from = a + (i + u) * args.stride;
            if (WIDTH == REAL_VECTOR) {
                const union lanes l = load_lanes(from, true);
                for (int e = 0; e < WIDTH; e++) y[u][e] = l.x[e];
            } else {
                y[u][0] = from[0];
            }
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; u++) {
            const real z = x ? x[i + u] : 1;
            for (int e = 0; e < WIDTH; e++) s[e] = fused(y[u][e], z, s[e]);
        }
    }
    for (; i < rows; i++)
        for (int e = 0; e < WIDTH; e++) s[e] = fused(a[i * args.stride + e], x ? x[i] : 1, s[e]);
}

template <int WIDTH>
static __device__ inline void matvec_column_chunks(const struct matvec_args &args)
{
    const uint64_t groups = (args.cols + WIDTH - 1) / WIDTH, items = groups * args.chunks;
    const uint64_t step = (uint64_t)gridDim.x * MATVEC_THREADS;
    for (uint64_t i = (uint64_t)blockIdx.x * MATVEC_THREADS + threadIdx.x; i < items; i += step) {
        const uint64_t chunk = i / groups, col = i % groups * WIDTH, row = chunk * MATVEC_ROWS;
        const uint32_t rows =
            args.rows - row < MATVEC_ROWS ? (uint32_t)(args.rows - row) : (uint32_t)MATVEC_ROWS;
        const real *a = (const real *)args.a + row * args.stride + col;
        const real *x = args.x ? (const real *)args.x + row : NULL;
        if (col + WIDTH <= args.cols) {
            real s[WIDTH];
            for (int e = 0; e < WIDTH; e++) s[e] = 0;
            add_rows<WIDTH>(args, a, x, rows, s);
            for (int e = 0; e < WIDTH; e++)
                put_sum(args, chunk * args.cols + col + e, col + e, s[e]);
        } else {
            for (uint64_t e = 0; col + e < args.cols; e++) {
                real s[1] = { 0 };
                add_rows<1>(args, a + e, x, rows, s);
                put_sum(args, chunk * args.cols + col + e, col + e, s[0]);
            }
        }
    }
}

#endif
