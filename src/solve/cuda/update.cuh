/*
 * solve/cuda/update.cuh - a step of an iterative solver, by thread blocks: sums of vectors, their
 * dot products, and the scalars that follow.
 *
 *     item        a power of two of chunks, per block; a warp processes a chunk, a thread 16 bytes
 *                 of a line; LINES lines are loaded before the first of them is used
 *     partials    of the items, added in adjacent pairs by the block that finishes last; its
 *                 thread 0 then updates the scalars
 *
 * The operations of a step are given as a shape: if it is a constant, the compiler removes the
 * rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_CUDA_UPDATE_CUH
#define ECHI_SOLVE_CUDA_UPDATE_CUH

enum {
    EACH = 16 / sizeof(real), /* elements per thread in a line */
    LINE = 32 * EACH,
    CHUNK = LINE * ECHI_SOLVE_LINES,
    THREADS = 32 * ECHI_SOLVE_WARPS,
    RUN = 16 /* maximum number of partials that a thread adds */
};

struct pack {
    real x[EACH];
};

union vector {
    uint4 bits;
    struct pack pack;
};

/* FULL: 16 bytes at an aligned address; otherwise the elements before n. */
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

/* The dot products of a shape. */
static __device__ inline bool has_dot(const struct echi_solve_shape &shape, int k)
{
    return (shape.dots >> (ECHI_DOT_BITS * k) & 64) != 0;
}

static __device__ inline int left_of(const struct echi_solve_shape &shape, int k)
{
    return shape.dots >> (ECHI_DOT_BITS * k + 3) & 7;
}

static __device__ inline int right_of(const struct echi_solve_shape &shape, int k)
{
    return shape.dots >> (ECHI_DOT_BITS * k) & 7;
}

static __device__ inline bool has_operand(const struct echi_solve_shape &shape, int which)
{
    bool has = false;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++)
        has |= has_dot(shape, k) && (left_of(shape, k) == which || right_of(shape, k) == which);
    return has;
}

struct coefficients {
    real a[ECHI_SOLVE_TERMS], b[ECHI_SOLVE_TERMS];
};

static __device__ inline real coefficient(const double *s, const struct echi_solve_sum &sum, int k)
{
    const int scalar = sum.scalar[k];
    return (real)(scalar < 0 ? sum.factor[k] : sum.factor[k] * s[scalar]);
}

static __device__ inline struct coefficients load_coefficients(const struct echi_solve_step &step,
                                                               const struct echi_solve_shape &shape)
{
    struct coefficients c;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++) {
        c.a[k] = k < shape.a ? coefficient(step.scalars, step.a, k) : (real)0;
        c.b[k] = k < shape.b ? coefficient(step.scalars, step.b, k) : (real)0;
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

/* Adds term k of a sum, with vector v; term 0 starts the sum. */
static __device__ inline void add_term(struct pack &sum, int k, real c, const struct pack &v)
{
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        const real product = c * v.x[i];
        sum.x[i] = k ? sum.x[i] + product : product;
    }
}

/* 16 bytes of each array that a step reads. */
struct line {
    struct pack a[ECHI_SOLVE_TERMS], b[ECHI_SOLVE_TERMS], d, e, f;
};

/* Whether term k of b is the result of a. */
static __device__ inline bool is_of_a(const struct echi_solve_step &step,
                                      const struct echi_solve_shape &shape, int k)
{
    return shape.a && step.b.v[k] == step.a.out;
}

template <bool FULL>
static __device__ inline void load_line(const struct echi_solve_step &step,
                                        const struct echi_solve_shape &shape, uint64_t at,
                                        struct line &line)
{
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++) {
        if (k < shape.a) line.a[k] = load<FULL>(step.a.v[k], at, step.n);
        line.b[k] = nothing();
        if (k < shape.b && !is_of_a(step, shape, k))
            line.b[k] = load<FULL>(step.b.v[k], at, step.n);
    }
    if (shape.z) line.d = load<FULL>(step.diagonal, at, step.n);
    if (has_operand(shape, ECHI_OF_E)) line.e = load<FULL>(step.e, at, step.n);
    if (has_operand(shape, ECHI_OF_F)) line.f = load<FULL>(step.f, at, step.n);
}

/* Computes and stores the results of a line. */
template <bool FULL>
static __device__ inline void
finish_line(const struct echi_solve_step &step, const struct echi_solve_shape &shape,
            const struct coefficients &c, uint64_t at, const struct line &line,
            double dots[ECHI_SOLVE_DOTS][EACH])
{
    struct pack a = nothing(), b = a, z = a;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++)
        if (k < shape.a) add_term(a, k, c.a[k], line.a[k]);
    if (step.a.out) store<FULL>(step.a.out, at, step.n, a);
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_TERMS; k++)
        if (k < shape.b) {
            struct pack v = line.b[k];
            if (is_of_a(step, shape, k)) v = a;
            add_term(b, k, c.b[k], v);
        }
    if (step.b.out) store<FULL>(step.b.out, at, step.n, b);
    if (shape.z) {
#pragma unroll
        for (int i = 0; i < EACH; i++) z.x[i] = line.d.x[i] * b.x[i];
        if (step.z) store<FULL>(step.z, at, step.n, z);
    }
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++) {
        if (!has_dot(shape, k)) continue;
        const int left = left_of(shape, k), right = right_of(shape, k);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const real x = left == ECHI_OF_A   ? a.x[i]
                           : left == ECHI_OF_B ? b.x[i]
                           : left == ECHI_OF_Z ? z.x[i]
                           : left == ECHI_OF_E ? line.e.x[i]
                                               : line.f.x[i];
            const real y = right == ECHI_OF_A   ? a.x[i]
                           : right == ECHI_OF_B ? b.x[i]
                           : right == ECHI_OF_Z ? z.x[i]
                           : right == ECHI_OF_E ? line.e.x[i]
                                                : line.f.x[i];
            if (FULL || at + i < step.n) dots[k][i] += (double)x * (double)y;
        }
    }
}

/* The sum of N values, a power of two, in adjacent pairs. */
template <int N> static __device__ inline double fold_registers(double *v)
{
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2)
#pragma unroll
        for (int i = 0; i < N; i++) /* of a length that is known before `apart` is */
            if (i % (2 * apart) == 0) v[i] += v[i + apart];
    return v[0];
}

/* One chunk by one warp; every lane gets its dot products. */
template <int LINES>
static __device__ inline void
chunk_of(const struct echi_solve_step &step, const struct echi_solve_shape &shape,
         const struct coefficients &c, uint64_t from, double sums[ECHI_SOLVE_DOTS])
{
    double dots[ECHI_SOLVE_DOTS][EACH];
    const uint64_t mine = from + lane_id() * EACH;
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++)
#pragma unroll
        for (int i = 0; i < EACH; i++) dots[k][i] = -0.0;
    if (step.aligned && step.n - from >= CHUNK) {
#pragma unroll 1
        for (int first = 0; first < ECHI_SOLVE_LINES; first += LINES) {
            struct line lines[LINES];
#pragma unroll
            for (int l = 0; l < LINES; l++)
                load_line<true>(step, shape, mine + (first + l) * LINE, lines[l]);
#pragma unroll
            for (int l = 0; l < LINES; l++)
                finish_line<true>(step, shape, c, mine + (first + l) * LINE, lines[l], dots);
        }
    } else {
#pragma unroll 1
        for (uint64_t at = mine; at < step.n && at < from + CHUNK; at += LINE) {
            struct line line;
            load_line<false>(step, shape, at, line);
            finish_line<false>(step, shape, c, at, line, dots);
        }
    }
#pragma unroll
    for (int k = 0; k < ECHI_SOLVE_DOTS; k++) {
        if (!has_dot(shape, k)) continue;
        double sum = fold_registers<EACH>(dots[k]);
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, lane);
        sums[k] = sum;
    }
}

/* Adds adjacent pairs of `count` values at stride `distance`; each sum replaces its left value.
 * Ends when each sum has `until` values. */
static __device__ inline void fold(double *values, uint64_t count, uint64_t distance,
                                   uint64_t until)
{
#pragma unroll 1
    for (uint64_t apart = 1; apart < until && apart < count; apart *= 2) {
        __syncthreads(); /* the sums of half the size are written */
#pragma unroll 1
        for (uint64_t i = (uint64_t)threadIdx.x * 2 * apart; i + apart < count;
             i += (uint64_t)blockDim.x * 2 * apart)
            values[i * distance] += values[(i + apart) * distance];
    }
    __syncthreads(); /* all sums are written */
}

struct shared {
    double chunks[ECHI_SOLVE_DOTS][ECHI_SOLVE_MOST_CHUNKS];
    uint32_t last;
};

/* Adds the partials of all items to the dot products: a thread adds an aligned run, then the warps
 * their results. -0 pads missing partials, because it does not change a sum. */
static __device__ inline void fold_items(const struct echi_solve_step &step, struct shared &s,
                                         uint64_t items)
{
    uint64_t apart = 1;
    while ((items + apart - 1) / apart > ECHI_SOLVE_ITEMS) apart *= 2;
    for (int k = 0; apart > 1 && k < step.dots; k++)
        fold(step.partials + k, items, step.dots, apart);
    const uint32_t count = (uint32_t)((items + apart - 1) / apart);
    uint32_t run = 1;
    while (run * blockDim.x < count) run *= 2;
#pragma unroll 1
    for (int k = 0; k < step.dots; k++) {
        double v[RUN];
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const uint32_t at = threadIdx.x * run + i;
            v[i] =
                i < run && at < count ? __ldcg(step.partials + at * apart * step.dots + k) : -0.0;
        }
        double sum = fold_registers<RUN>(v);
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, lane);
        if (lane_id() == 0) s.chunks[k][threadIdx.x / 32] = sum;
    }
    for (int k = 0; k < step.dots; k++) fold(s.chunks[k], blockDim.x / 32, 1, ECHI_SOLVE_WARPS);
    if (threadIdx.x < step.dots)
        step.scalars[ECHI_S_DOT + threadIdx.x] = s.chunks[threadIdx.x][0] + 0.0;
    __syncthreads(); /* thread 0 sees the sums of all warps */
}

static __device__ constexpr int lowest_bit(int bits)
{
    return bits & 1 ? 0 : 1 + lowest_bit(bits >> 1);
}

template <int AFTER> static __device__ inline void follow(const struct echi_solve_step &step)
{
    const int what = lowest_bit(AFTER);
    if (step.after == what)
        solve_recur(what, step.scalars, step.column, step.restart);
    else
        follow<(AFTER & (AFTER - 1))>(step);
}

template <> __device__ inline void follow<0>(const struct echi_solve_step &)
{
}

template <> __device__ inline void follow<-1>(const struct echi_solve_step &step)
{
    solve_recur(step.after, step.scalars, step.column, step.restart);
}

/* Runs once per step, in its last block; not inline, so that it takes no registers from the main
 * part.  AFTER: bit mask of the recurrences that may follow; a kernel contains the code of these
 * only. */
template <int AFTER>
static __device__ __noinline__ void end_step(const struct echi_solve_step &step, struct shared &s)
{
    fold_items(step, s, gridDim.x);
    if (threadIdx.x != 0) return;
    follow<AFTER>(step);
}

/* The shared memory of all kernels. */
static __device__ inline struct shared *shared_room(void)
{
    __shared__ struct shared s;
    return &s;
}

/* A block's item, and the end of the step. */
template <int LINES, int AFTER>
static __device__ inline void update(const struct echi_solve_step &step,
                                     const struct echi_solve_shape &shape)
{
    struct shared &s = *shared_room();
    wait_for_earlier();
    if (step.guarded && step.scalars[ECHI_S_STOP] != 0) return;
    const struct coefficients c = load_coefficients(step, shape);
    const uint64_t chunks = (step.n + CHUNK - 1) / CHUNK;
    const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint64_t first = (uint64_t)blockIdx.x * step.item;
    const uint32_t count = chunks <= first              ? 0
                           : chunks - first < step.item ? (uint32_t)(chunks - first)
                                                        : (uint32_t)step.item;
#pragma unroll 1
    for (uint32_t chunk = warp; chunk < count; chunk += warps) {
        double sums[ECHI_SOLVE_DOTS];
        chunk_of<LINES>(step, shape, c, (first + chunk) * CHUNK, sums);
#pragma unroll
        for (int k = 0; k < ECHI_SOLVE_DOTS; k++)
            if (has_dot(shape, k) && lane_id() == 0) s.chunks[k][chunk] = sums[k];
    }
    if (!shape.dots && (AFTER == ECHI_AFTER_NONE || !step.after)) return;
    for (int k = 0; k < step.dots; k++) fold(s.chunks[k], count, 1, ECHI_SOLVE_MOST_CHUNKS);
    __syncthreads(); /* all threads have read the scalars */
    if (threadIdx.x == 0) {
        for (int k = 0; k < step.dots; k++)
            step.partials[(uint64_t)blockIdx.x * step.dots + k] = count ? s.chunks[k][0] : -0.0;
        uint32_t *counter = (uint32_t *)&step.scalars[ECHI_S_COUNTER];
        s.last = gridDim.x == 1 || add_acq_rel(counter, 1) == gridDim.x - 1;
        if (s.last && gridDim.x > 1) *counter = 0;
    }
    __syncthreads(); /* s.last is known, and all threads see the partials of other blocks */
    if (s.last) end_step<AFTER>(step, s);
}

#endif
