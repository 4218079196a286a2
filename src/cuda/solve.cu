/*
 * cuda/solve.cu - steps of iterative solvers on the GPU: sums of vectors, their dot products and
 * what follows for the scalars, in one launch.
 *
 *     item        a power of two of chunks, by a block; a warp takes a chunk, a thread 16 bytes of
 *                 a line
 *     partials    of the items, folded in adjacent pairs by the block that is done last, whose
 *                 thread 0 then does the scalars
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instance.cuh"
#include "warp.cuh"

#include "../solve_recur.h"

#if KEY_BITS == 64
typedef double real;
#else
typedef float real;
#endif

#include "solve_blocks.cuh"

enum {
    EACH = 16 / sizeof(real), /* elements of a thread in a line */
    LINE = 32 * EACH,
    CHUNK = LINE * ECHI_SOLVE_LINES,
    THREADS = 32 * ECHI_SOLVE_WARPS,
    RUN = 16 /* partials that a thread folds, most */
};

struct pack {
    real x[EACH];
};

union vector {
    uint4 bits;
    struct pack pack;
};

/* FULL: 16 bytes at an aligned address; else the elements before n. */
template <bool FULL>
static __device__ inline struct pack load(const void *v, uint64_t at, uint64_t n)
{
    union vector vector;
    if (FULL) {
        vector.bits = *(const uint4 *)((const real *)v + at);
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            vector.pack.x[i] = at + i < n ? ((const real *)v)[at + i] : (real)0;
    }
    return vector.pack;
}

template <bool FULL>
static __device__ inline void store(void *v, uint64_t at, uint64_t n, struct pack value)
{
    if (FULL) {
        union vector vector;
        vector.pack = value;
        *(uint4 *)((real *)v + at) = vector.bits;
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            if (at + i < n) ((real *)v)[at + i] = value.x[i];
    }
}

struct coefficients {
    real a[ECHI_SOLVE_TERMS], b[ECHI_SOLVE_TERMS];
};

static __device__ inline real coefficient(const double *s, const struct echi_solve_sum &sum, int k)
{
    const int scalar = sum.scalar[k];
    return (real)(scalar < 0 ? sum.factor[k] : sum.factor[k] * s[scalar]);
}

static __device__ inline struct coefficients load_coefficients(const struct echi_solve_step &step)
{
    struct coefficients c;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++) {
        c.a[k] = k < step.a.terms ? coefficient(step.scalars, step.a, k) : (real)0;
        c.b[k] = k < step.b.terms ? coefficient(step.scalars, step.b, k) : (real)0;
    }
    return c;
}

static __device__ inline struct pack nothing(void)
{
    struct pack p;
#pragma unroll
    for (int i = 0; i < EACH; i++) p.x[i] = 0;
    return p;
}

/* Term k of a sum, whose vector v is; the first is not added to anything. */
static __device__ inline void add_term(struct pack &sum, int k, real c, const struct pack &v)
{
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const real product = c * v.x[i];
        sum.x[i] = k ? sum.x[i] + product : product;
    }
}

/* One vector of each array.  All that is in memory is asked for before anything is computed. */
template <bool FULL>
static __device__ inline void vector_of(const struct echi_solve_step &step,
                                        const struct coefficients &c, uint64_t at,
                                        double dots[ECHI_SOLVE_DOTS][EACH])
{
    struct pack va[ECHI_SOLVE_TERMS], vb[ECHI_SOLVE_TERMS], a = nothing(), b = a, z = a, e = a;
    struct pack f = a, d = a;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++) {
        if (k < step.a.terms) va[k] = load<FULL>(step.a.v[k], at, step.n);
        if (k < step.b.terms && step.b.v[k] != step.a.out)
            vb[k] = load<FULL>(step.b.v[k], at, step.n);
    }
    if (step.diagonal) d = load<FULL>(step.diagonal, at, step.n);
    if (step.e) e = load<FULL>(step.e, at, step.n);
    if (step.f) f = load<FULL>(step.f, at, step.n);
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++)
        if (k < step.a.terms) add_term(a, k, c.a[k], va[k]);
    if (step.a.out) store<FULL>(step.a.out, at, step.n, a);
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++)
        if (k < step.b.terms) add_term(b, k, c.b[k], step.b.v[k] != step.a.out ? vb[k] : a);
    if (step.b.out) store<FULL>(step.b.out, at, step.n, b);
    if (step.diagonal) {
#pragma unroll
        for (int i = 0; i < EACH; i++) z.x[i] = d.x[i] * b.x[i];
        if (step.z) store<FULL>(step.z, at, step.n, z);
    }
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++) {
        if (k >= step.dots) continue;
        const int left = step.left[k], right = step.right[k];
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const real x = left == ECHI_OF_A   ? a.x[i]
                           : left == ECHI_OF_B ? b.x[i]
                           : left == ECHI_OF_Z ? z.x[i]
                           : left == ECHI_OF_E ? e.x[i]
                                               : f.x[i];
            const real y = right == ECHI_OF_A   ? a.x[i]
                           : right == ECHI_OF_B ? b.x[i]
                           : right == ECHI_OF_Z ? z.x[i]
                           : right == ECHI_OF_E ? e.x[i]
                                                : f.x[i];
            if (FULL || at + i < step.n) dots[k][i] += (double)x * (double)y;
        }
    }
}

/* A chunk by a warp; its dot products in every lane. */
static __device__ inline void chunk_of(const struct echi_solve_step &step,
                                       const struct coefficients &c, bool aligned, uint64_t from,
                                       double sums[ECHI_SOLVE_DOTS])
{
    double dots[ECHI_SOLVE_DOTS][EACH];
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++)
#pragma unroll
        for (int i = 0; i < EACH; i++) dots[k][i] = -0.0;
    if (aligned && step.n - from >= CHUNK) {
#pragma unroll 1
        for (int line = 0; line < ECHI_SOLVE_LINES; line++)
            vector_of<true>(step, c, from + line * LINE + lane_id() * EACH, dots);
    } else {
#pragma unroll 1
        for (int line = 0; line < ECHI_SOLVE_LINES; line++) {
            const uint64_t at = from + line * LINE + lane_id() * EACH;
            if (at < step.n) vector_of<false>(step, c, at, dots);
        }
    }
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++) {
        if (k >= step.dots) continue;
#pragma unroll
        for (int half = EACH / 2; half; half /= 2)
#pragma unroll
            for (int i = 0; i < half; i++) dots[k][i] = dots[k][2 * i] + dots[k][2 * i + 1];
        double sum = dots[k][0];
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, lane);
        sums[k] = sum;
    }
}

/* Sums of adjacent pairs of count values, `distance` from each other; the sum is where its left one
 * was.  Until there are sums of `until`. */
static __device__ inline void fold(double *values, uint64_t count, uint64_t distance,
                                   uint64_t until)
{
    for (uint64_t apart = 1; apart < until && apart < count; apart *= 2) {
        __syncthreads(); /* those of half the distance are there */
        for (uint64_t i = (uint64_t)threadIdx.x * 2 * apart; i + apart < count;
             i += (uint64_t)blockDim.x * 2 * apart)
            values[i * distance] += values[(i + apart) * distance];
    }
    __syncthreads(); /* all are */
}

struct shared {
    double chunks[ECHI_SOLVE_DOTS][ECHI_SOLVE_MOST_CHUNKS];
    uint32_t last;
};

/* The partials of all items become the dot products: a thread takes an aligned run, then come the
 * warps.  -0 is where none is: it changes nothing. */
static __device__ inline void fold_items(const struct echi_solve_step &step, struct shared &s,
                                         uint64_t items)
{
    uint64_t apart = 1;
    while ((items + apart - 1) / apart > ECHI_SOLVE_ITEMS) apart *= 2;
    for (int k = 0; apart > 1 && k < step.dots; k++)
        fold(step.partials + k, items, ECHI_SOLVE_DOTS, apart);
    const uint32_t count = (uint32_t)((items + apart - 1) / apart);
    uint32_t run = 1;
    while (run * blockDim.x < count) run *= 2;
#pragma unroll 1
    for (int k = 0; k < step.dots; k++) {
        double v[RUN];
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const uint32_t at = threadIdx.x * run + i;
            v[i] = i < run && at < count ? __ldcg(step.partials + at * apart * ECHI_SOLVE_DOTS + k)
                                         : -0.0;
        }
#pragma unroll
        for (int half = RUN / 2; half; half /= 2)
#pragma unroll
            for (int i = 0; i < half; i++) v[i] = v[2 * i] + v[2 * i + 1];
        double sum = v[0];
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, lane);
        if (lane_id() == 0) s.chunks[k][threadIdx.x / 32] = sum;
    }
    for (int k = 0; k < step.dots; k++) fold(s.chunks[k], blockDim.x / 32, 1, ECHI_SOLVE_WARPS);
    if (threadIdx.x < step.dots)
        step.scalars[ECHI_S_DOT + threadIdx.x] = s.chunks[threadIdx.x][0] + 0.0;
    __syncthreads(); /* thread 0 sees all of them */
}

extern "C" __global__ void __launch_bounds__(THREADS, 3)
    solve_update(const __grid_constant__ struct echi_solve_step step)
{
    __shared__ struct shared s;
    wait_for_earlier();
    if (step.guarded && step.scalars[ECHI_S_STOP] != 0) return;
    const struct coefficients c = load_coefficients(step);
    const uint64_t chunks = (step.n + CHUNK - 1) / CHUNK;
    const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint64_t first = (uint64_t)blockIdx.x * step.item;
    const uint32_t count = chunks <= first              ? 0
                           : chunks - first < step.item ? (uint32_t)(chunks - first)
                                                        : (uint32_t)step.item;
#pragma unroll 1
    for (uint32_t chunk = warp; chunk < count; chunk += warps) {
        double sums[ECHI_SOLVE_DOTS];
        chunk_of(step, c, step.aligned, (first + chunk) * CHUNK, sums);
#pragma unroll
        for (int k = 0; k < ECHI_SOLVE_DOTS; k++)
            if (k < step.dots && lane_id() == 0) s.chunks[k][chunk] = sums[k];
    }
    if (!step.dots && !step.after) return;
    for (int k = 0; k < step.dots; k++) fold(s.chunks[k], count, 1, ECHI_SOLVE_MOST_CHUNKS);
    __syncthreads(); /* every thread has read the scalars */
    if (threadIdx.x == 0) {
        for (int k = 0; k < step.dots; k++)
            step.partials[(uint64_t)blockIdx.x * ECHI_SOLVE_DOTS + k] =
                count ? s.chunks[k][0] : -0.0;
        uint32_t *counter = (uint32_t *)&step.scalars[ECHI_S_COUNTER];
        s.last = gridDim.x == 1 || add_acq_rel(counter, 1) == gridDim.x - 1;
        if (s.last && gridDim.x > 1) *counter = 0;
    }
    __syncthreads(); /* s.last is known, and what thread 0 knows */
    if (!s.last) return;
    fold_items(step, s, gridDim.x);
    if (threadIdx.x == 0)
        solve_recur(step.after, step.scalars, step.row, step.column, step.restart);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    solve_random(const __grid_constant__ struct echi_solve_step step)
{
    wait_for_earlier();
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < step.n;
         i += (uint64_t)gridDim.x * THREADS)
        ((real *)step.a.out)[i] = (real)solve_uniform((uint64_t)step.column, i);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    solve_invert(const __grid_constant__ struct echi_solve_step step)
{
    wait_for_earlier();
    unsigned long long *where = (unsigned long long *)&step.scalars[ECHI_S_WHERE];
    for (uint64_t i = (uint64_t)blockIdx.x * THREADS + threadIdx.x; i < step.n;
         i += (uint64_t)gridDim.x * THREADS) {
        real x = 0;
        if (step.e) {
            x = ((const real *)step.e)[i * step.e_step];
        } else {
            const uint64_t at = echi_solve_diagonal(&step.csr, i);
            if (at != UINT64_MAX) x = ((const real *)step.csr.values)[at];
        }
        if (step.invert == ECHI_INVERT_ABSOLUTE && x < 0) x = -x;
        if (x == 0 || (step.invert == ECHI_INVERT_POSITIVE && !(x > 0)))
            atomicMax(where, ~(unsigned long long)i);
        ((real *)step.a.out)[i] = (real)step.scale / x;
    }
}

/* A thread has a row. */
extern "C" __global__ void __launch_bounds__(THREADS)
    solve_sweep(const __grid_constant__ struct echi_solve_step step)
{
    wait_for_earlier();
    const uint64_t k = step.begin + (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (k >= step.end || (step.guarded && step.scalars[ECHI_S_STOP] != 0)) return;
    const struct echi_solve_csr &a = step.csr;
    const uint64_t i = step.order[k];
    const uint64_t last = echi_solve_index(a.offsets, a.index_bytes, i + 1);
    const real *values = (const real *)a.values, *in = (const real *)step.e;
    real *out = (real *)step.a.out, sum = 0;
    for (uint64_t e = echi_solve_index(a.offsets, a.index_bytes, i); e < last && e < a.entries;
         e++) {
        const uint64_t j = echi_solve_index(a.columns, a.index_bytes, e);
        if (step.upper ? j > i && j < step.n : j < i) sum = sum + values[e] * out[j];
    }
    const real scale = step.diagonal ? ((const real *)step.diagonal)[i] : (real)1;
    out[i] = step.scaled_sum ? in[i] - sum * scale : (in[i] - sum) * scale;
}
