/*
 * matmul/cuda/tile.cuh - a block computes a tile of c: WR x WC warps of 4 x 8 lanes, each of which
 * has ROWS x COLS elements in registers.
 *
 *     stage of shared memory   a [STEPS][tile's rows], b [STEPS][tile's columns]
 *
 * Copies of later stages are in flight while one stage is multiplied, and the operands of the next
 * step are loaded while those of one step are.  Operands that are contiguous along k are transposed
 * while they are copied, element by element; others are copied by vectors if they are aligned.  A
 * lane has its rows and columns in vectors of 16 bytes, and the vectors of a warp are adjacent, so
 * that a load of shared memory is one or two wavefronts.
 *
 * Each element of c is one chain of fused multiply-adds in the order of k.  Steps beyond k are
 * products of -0 and +0, which change no sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_TILE_CUH
#define ECHI_MATMUL_CUDA_TILE_CUH

#include "matmul/cuda/stage.cuh"
/* Loops for whole stages have one copy per layout of a and b, which saves instructions. */
#define MATMUL_LAYOUTS (MATMUL_TYPE == 0 && MATMUL_ASYNC)

enum {
    STEPS = MATMUL_STEPS(MATMUL_TYPE),
    PAD = 16 / sizeof(real), /* so that steps begin in different banks */
    LANE_ROWS = 4,           /* of lanes in a warp */
    LANE_COLS = 8
};

/* Layouts of an operand: whether k is its contiguous dimension.  ANY_LAYOUT: see along_k. */
enum { ACROSS_K, ALONG_K, ANY_LAYOUT };

/* One operand of a tile, as a thread copies it: its rows (for b: columns) and k.  The thread begins
 * at step `step` and row `row`, and advances by `jump` steps, or rows. */
struct operand {
    const element *at; /* the thread's first element of the next stage */
    uint64_t stride, jump, advance;
    uint32_t step, row;
    uint32_t rows; /* valid rows of the tile */
    bool along_k;  /* k is the contiguous dimension */
    bool vectors;  /* otherwise: copied by full vectors */

    template <int LAYOUT> __device__ inline bool along(void) const
    {
        return LAYOUT == ANY_LAYOUT ? along_k : LAYOUT == ALONG_K;
    }
};

template <int ROWS, int THREADS>
static __device__ inline struct operand operand_of(const element *from, uint64_t stride,
                                                   bool along_k, uint64_t first, uint64_t all)
{
    struct operand x;
    x.stride = stride;
    x.along_k = along_k;
    x.vectors = sizeof(element) == sizeof(real) && (uintptr_t)from % 16 == 0 &&
                stride % REAL_VECTOR == 0 && first % REAL_VECTOR == 0;
    x.rows = all - first < ROWS ? (uint32_t)(all - first) : (uint32_t)ROWS;
    const uint32_t width = x.vectors ? ROWS / REAL_VECTOR : ROWS; /* threads per step */
    x.step = along_k ? threadIdx.x % STEPS : threadIdx.x / width;
    x.row = along_k ? threadIdx.x / STEPS : threadIdx.x % width * (ROWS / width);
    x.jump = (along_k ? THREADS / STEPS : THREADS / width) * stride;
    x.advance = along_k ? (uint64_t)STEPS : STEPS * stride;
    x.at = from + (along_k ? (first + x.row) * stride + x.step : x.step * stride + first + x.row);
    return x;
}

/* All rows and steps are valid. */
template <int ROWS, int THREADS, int LAYOUT>
static __device__ inline void fetch_whole(const struct operand &x, real *stage)
{
    enum { PITCH = ROWS + PAD, VECTORS = ROWS / REAL_VECTOR };
    const element *from = x.at;
    real *to = stage + x.step * PITCH + x.row;
    if (x.along<LAYOUT>()) {
#pragma unroll
        for (int i = 0; i < ROWS * STEPS / THREADS; i++, from += x.jump)
            copy_element(to + i * (THREADS / STEPS), from);
    } else if (x.vectors) {
#pragma unroll
        for (int i = 0; i < VECTORS * STEPS / THREADS; i++, from += x.jump)
            copy_vector(to + i * (THREADS / VECTORS) * PITCH, from);
    } else {
#pragma unroll
        for (int i = 0; i < ROWS * STEPS / THREADS; i++, from += x.jump)
            copy_element(to + i * (THREADS / ROWS) * PITCH, from);
    }
}

/* Others become `fill`. */
template <int ROWS, int THREADS>
static __device__ inline void fetch_part(const struct operand &x, uint32_t steps, real fill,
                                         real *stage)
{
    enum { PITCH = ROWS + PAD };
    const bool along_k = x.along_k;
    const uint32_t width = x.vectors && !along_k ? (uint32_t)REAL_VECTOR : 1;
    const uint32_t more_steps = along_k ? (uint32_t)STEPS : THREADS * width / ROWS;
    const uint32_t more_rows = along_k ? THREADS / STEPS : ROWS;
    const uint64_t row_stride = along_k ? x.stride : 1, step_stride = along_k ? 1 : x.stride;
#pragma unroll 1
    for (uint32_t row = x.row; row < ROWS; row += more_rows)
#pragma unroll 1
        for (uint32_t step = x.step; step < STEPS; step += more_steps)
#pragma unroll 1
            for (uint32_t i = 0; i < width; i++) {
                real *to = stage + step * PITCH + row + i;
                if (row + i < x.rows && step < steps)
                    copy_element(to, x.at + (row - x.row) * row_stride +
                                         (step - x.step) * step_stride + i);
                else
                    *to = fill;
            }
}

/* Starts the copies of the next stage, which has `left` steps or more; `fill` replaces others. */
template <int ROWS, int THREADS>
static __device__ inline void fetch(struct operand &x, uint64_t left, real fill, real *stage)
{
    if (left >= STEPS && x.rows == ROWS)
        fetch_whole<ROWS, THREADS, ANY_LAYOUT>(x, stage);
    else
        fetch_part<ROWS, THREADS>(x, left < STEPS ? (uint32_t)left : (uint32_t)STEPS, fill, stage);
    x.at += x.advance;
}

/* The same for a stage without missing elements. */
template <int ROWS, int THREADS, int LAYOUT>
static __device__ inline void fetch_next(struct operand &x, real *stage)
{
    fetch_whole<ROWS, THREADS, LAYOUT>(x, stage);
    x.at += LAYOUT == ALONG_K ? (uint64_t)STEPS : x.advance;
}

/* Loads N elements of one step, in vectors that are GAP elements apart. */
template <int N, int GAP> static __device__ inline void load_step(const real *from, real (&to)[N])
{
    if (N == 2 && sizeof(real) == 4) {
        const float2 x = *(const float2 *)from;
        to[0] = x.x;
        to[N - 1] = x.y;
    } else if (N % REAL_VECTOR == 0) {
#pragma unroll
        for (int v = 0; v < N / REAL_VECTOR; v++) {
            const real_vector x = *(const real_vector *)(from + v * GAP * REAL_VECTOR);
            to[v * REAL_VECTOR] = x.x;
            to[v * REAL_VECTOR + 1] = x.y;
#if MATMUL_TYPE != 1
            to[v * REAL_VECTOR + 2] = x.z;
            to[v * REAL_VECTOR + 3] = x.w;
#endif
        }
    } else {
#pragma unroll
        for (int i = 0; i < N; i++) to[i] = from[i];
    }
}

/* The vectors of a lane: a warp's N x LANES elements consist of runs of them. */
template <int N> struct runs {
    enum { LENGTH = N < REAL_VECTOR ? N : (int)REAL_VECTOR };
};

template <int ROWS, int COLS> struct lane {
    uint32_t row, col; /* of its first element in the tile */
    real s[ROWS][COLS];
};

/* The operands of the steps that are loaded together: several if a lane has few elements, because
 * loads take longer than the products of one step. */
template <int ROWS, int COLS> struct step {
    enum { GROUP = ROWS * COLS >= 32 ? 1 : 4 };
    real a[GROUP][ROWS], b[GROUP][COLS];
};

/* M and N: of a step of a and b in a stage. */
template <int M, int N, int ROWS, int COLS>
static __device__ inline void load_operands(const real *stage, int t,
                                            const struct lane<ROWS, COLS> &l,
                                            struct step<ROWS, COLS> &x)
{
#pragma unroll
    for (int g = 0; g < step<ROWS, COLS>::GROUP; g++) {
        load_step<ROWS, LANE_ROWS>(stage + (t + g) * M + l.row, x.a[g]);
        load_step<COLS, LANE_COLS>(stage + STEPS * M + (t + g) * N + l.col, x.b[g]);
    }
}

template <int ROWS, int COLS>
static __device__ inline void multiply_step(const struct step<ROWS, COLS> &x,
                                            struct lane<ROWS, COLS> &l)
{
#pragma unroll
    for (int g = 0; g < step<ROWS, COLS>::GROUP; g++)
#pragma unroll
        for (int j = 0; j < COLS; j++)
#pragma unroll
            for (int i = 0; i < ROWS; i++) { /* back and forth, so that operands remain in place */
                const int r = j % 2 ? ROWS - 1 - i : i;
                l.s[r][j] = fused(x.a[g][r], x.b[g][j], l.s[r][j]);
            }
}

/* The offset of the lane's element i from its first. */
template <int N, int LANES> static __device__ inline uint32_t place_of(int i)
{
    enum { LENGTH = runs<N>::LENGTH };
    return i / LENGTH * LENGTH * LANES + i % LENGTH;
}

/* All elements of the tile, by vectors; to: of the lane's first element. */
template <int ROWS, int COLS>
static __device__ inline void store_vectors(real *to, uint64_t stride, real alpha, real beta,
                                            const struct lane<ROWS, COLS> &l)
{
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j += REAL_VECTOR) {
            real_vector *at = (real_vector *)(to + place_of<ROWS, LANE_ROWS>(i) * stride +
                                              place_of<COLS, LANE_COLS>(j));
            real_vector v = {};
            if (beta != 0) v = *at;
            v.x = quiet(ended(l.s[i][j], alpha, beta, v.x));
            v.y = quiet(ended(l.s[i][j + 1], alpha, beta, v.y));
#if MATMUL_TYPE != 1
            v.z = quiet(ended(l.s[i][j + 2], alpha, beta, v.z));
            v.w = quiet(ended(l.s[i][j + 3], alpha, beta, v.w));
#endif
            *at = v;
        }
}

template <bool VECTORS, int ROWS, int COLS>
static __device__ inline void store_tile(const struct matmul_args &args, void *c,
                                         const struct tile_part &rows, const struct tile_part &cols,
                                         bool whole, const struct lane<ROWS, COLS> &l)
{
    const real alpha = (real)args.alpha, beta = (real)args.beta;
#if MATMUL_TYPE < 2
    if (VECTORS && COLS % REAL_VECTOR == 0 && whole && (uintptr_t)c % 16 == 0 &&
        args.c_stride % REAL_VECTOR == 0 && cols.first % REAL_VECTOR == 0) {
        store_vectors<ROWS, COLS>((real *)c + (rows.first + l.row) * args.c_stride + cols.first +
                                      l.col,
                                  args.c_stride, alpha, beta, l);
        return;
    }
#endif
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint64_t r = rows.first + l.row + place_of<ROWS, LANE_ROWS>(i);
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            const uint64_t q = cols.first + l.col + place_of<COLS, LANE_COLS>(j);
            const uint64_t at = r * args.c_stride + q;
            if (r < rows.own || r >= args.m || q < cols.own || q >= args.n) continue;
            if (sizeof(element) == 2 && args.wide) {
                float *to = (float *)c + at;
                const real before = beta != 0 ? *to : 0;
                *to = (float)quiet(ended(l.s[i][j], alpha, beta, before));
            } else {
                element *to = (element *)c + at;
                const real before = beta != 0 ? real_of(*to) : 0;
                *to = element_of(ended(l.s[i][j], alpha, beta, before));
            }
        }
    }
}

/* Adds the product to l.s. */
template <int ROWS, int COLS, int WR, int WC, int STAGES>
static __device__ inline void add_product(struct operand &a, struct operand &b, uint64_t k,
                                          struct lane<ROWS, COLS> &l)
{
    enum {
        M = ROWS * LANE_ROWS * WR,
        N = COLS * LANE_COLS * WC,
        THREADS = 32 * WR * WC,
        B_AT = STEPS * (M + PAD), /* the beginning of b in a stage */
        STAGE = B_AT + STEPS * (N + PAD),
        GROUP = step<ROWS, COLS>::GROUP,
        LEAD = STEPS * (STAGES - 1) /* steps between the copy of a stage and its use */
    };
    real *stages = (real *)shared_bytes;
    struct step<ROWS, COLS> x[2];
    uint32_t now = 0, next = 0;
#pragma unroll 1
    for (uint64_t at = 0; at < LEAD; at += STEPS, next++) {
        if (at < k) {
            fetch<M, THREADS>(a, k - at, (real)-0.0, stages + next * STAGE);
            fetch<N, THREADS>(b, k - at, 0, stages + next * STAGE + B_AT);
        }
        end_stage();
    }
    wait_copies<STAGES>();
    __syncthreads(); /* the first stage is loaded for all threads */
    load_operands<M + PAD, N + PAD>(stages, 0, l, x[0]);
#pragma unroll 1
    for (uint64_t at = 0; at < k; at += STEPS) {
        const uint64_t ahead = at + LEAD;
        const real *stage = stages + now * STAGE;
        now = now + 1 == STAGES ? 0 : now + 1;
#pragma unroll
        for (int t = 0; t < STEPS; t += GROUP) {
            if (t == 0 && ahead < k)
                fetch<M, THREADS>(a, k - ahead, (real)-0.0, stages + next * STAGE);
            if (t == STEPS / 2 && ahead < k)
                fetch<N, THREADS>(b, k - ahead, 0, stages + next * STAGE + B_AT);
            if (t + GROUP < STEPS) {
                load_operands<M + PAD, N + PAD>(stage, t + GROUP, l, x[(t / GROUP + 1) % 2]);
            } else {
                end_stage();
                wait_copies<STAGES>();
                __syncthreads(); /* the next stage is loaded for all threads, and this one has been
                                    read */
                if (k - at > STEPS)
                    load_operands<M + PAD, N + PAD>(stages + now * STAGE, 0, l, x[0]);
            }
            multiply_step(x[t / GROUP % 2], l);
        }
        next = next + 1 == STAGES ? 0 : next + 1;
    }
}

/* The same for `count` stages without missing elements. */
template <int ROWS, int COLS, int WR, int WC, int STAGES, int A, int B>
static __device__ inline void add_whole(struct operand &a, struct operand &b, uint64_t count,
                                        struct lane<ROWS, COLS> &l)
{
    enum {
        M = ROWS * LANE_ROWS * WR,
        N = COLS * LANE_COLS * WC,
        THREADS = 32 * WR * WC,
        B_AT = STEPS * (M + PAD),
        STAGE = B_AT + STEPS * (N + PAD),
        GROUP = step<ROWS, COLS>::GROUP
    };
    real *stages = (real *)shared_bytes;
    struct step<ROWS, COLS> x[2];
    uint32_t now = 0, next = 0;
    if (count == 0) return;
#pragma unroll 1
    for (; next < STAGES - 1; next++) {
        if (next < count) {
            fetch_next<M, THREADS, A>(a, stages + next * STAGE);
            fetch_next<N, THREADS, B>(b, stages + next * STAGE + B_AT);
        }
        end_stage();
    }
    wait_copies<STAGES>();
    __syncthreads(); /* the first stage is loaded for all threads */
    load_operands<M + PAD, N + PAD>(stages, 0, l, x[0]);
#pragma unroll 1
    for (uint64_t left = count; left; left--) {
        const bool more = left >= STAGES;
        const real *stage = stages + now * STAGE;
        now = now + 1 == STAGES ? 0 : now + 1;
#pragma unroll
        for (int t = 0; t < STEPS; t += GROUP) {
            if (t == 0 && more) fetch_next<M, THREADS, A>(a, stages + next * STAGE);
            if (t == STEPS / 2 && more) fetch_next<N, THREADS, B>(b, stages + next * STAGE + B_AT);
            if (t + GROUP < STEPS) {
                load_operands<M + PAD, N + PAD>(stage, t + GROUP, l, x[(t / GROUP + 1) % 2]);
            } else {
                end_stage();
                wait_copies<STAGES>();
                __syncthreads(); /* the next stage is loaded for all threads, and this one has been
                                    read */
                if (left > 1) load_operands<M + PAD, N + PAD>(stages + now * STAGE, 0, l, x[0]);
            }
            multiply_step(x[t / GROUP % 2], l);
        }
        next = next + 1 == STAGES ? 0 : next + 1;
    }
}

/* The last steps, fewer than a stage. */
template <int ROWS, int COLS, int WR, int WC>
static __device__ inline void add_rest(struct operand &a, struct operand &b, uint32_t steps,
                                       struct lane<ROWS, COLS> &l)
{
    enum {
        M = ROWS * LANE_ROWS * WR,
        N = COLS * LANE_COLS * WC,
        THREADS = 32 * WR * WC,
        B_AT = STEPS * (M + PAD)
    };
    real *stage = (real *)shared_bytes; /* has been read: add_whole ends with a barrier */
    struct step<ROWS, COLS> x;
    enum { GROUP = step<ROWS, COLS>::GROUP };
    fetch_part<M, THREADS>(a, steps, (real)-0.0, stage);
    fetch_part<N, THREADS>(b, steps, 0, stage + B_AT);
    copy_commit();
    copy_wait<0>();
    __syncthreads(); /* the steps are loaded for all threads */
#pragma unroll 1
    for (uint32_t t = 0; t < steps; t += GROUP) { /* the last ones may be products of -0 and +0 */
        load_operands<M + PAD, N + PAD>(stage, (int)t, l, x);
        multiply_step(x, l);
    }
}

/* PARTS: c may have fewer rows or columns than a tile. */
template <bool PARTS, int ROWS, int COLS, int WR, int WC, int STAGES>
static __device__ inline void matmul_tile(const struct matmul_args &args, uint64_t which,
                                          uint64_t tile_row, uint64_t tile_col)
{
    enum { M = ROWS * LANE_ROWS * WR, N = COLS * LANE_COLS * WC, THREADS = 32 * WR * WC };
    const uint32_t warp = threadIdx.x / 32, in_warp = threadIdx.x % 32;
    const struct tile_part rows = tile_part_of(tile_row, M, args.m);
    const struct tile_part cols = tile_part_of(tile_col, N, args.n);
    struct operand a = operand_of<M, THREADS>(
        (const element *)matrix_at(args.a, args.list, args.a_step, sizeof(element), which),
        args.a_stride, !args.a_turned, rows.first, args.m);
    struct operand b = operand_of<N, THREADS>(
        (const element *)matrix_at(args.b, args.list, args.b_step, sizeof(element), which),
        args.b_stride, args.b_turned, cols.first, args.n);
    struct lane<ROWS, COLS> l;
    /* Lanes i and i ^ 1 have the same columns, i and i ^ 2 the same rows: a load of shared memory
     * by all lanes is two wavefronts. */
    const uint32_t lane_row = in_warp % 2 + in_warp / 16 * 2, lane_col = in_warp / 2 % LANE_COLS;
    l.row = warp / WC * (ROWS * LANE_ROWS) + lane_row * runs<ROWS>::LENGTH;
    l.col = warp % WC * (COLS * LANE_COLS) + lane_col * runs<COLS>::LENGTH;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++) l.s[i][j] = 0;
#if !MATMUL_LAYOUTS
    add_product<ROWS, COLS, WR, WC, STAGES>(a, b, args.k, l);
#else
    const bool part = PARTS && (a.rows < M || b.rows < N);
    if (part)
        add_product<ROWS, COLS, WR, WC, STAGES>(a, b, args.k, l);
    else if (a.along_k && b.along_k)
        add_whole<ROWS, COLS, WR, WC, STAGES, ALONG_K, ALONG_K>(a, b, args.k / STEPS, l);
    else if (a.along_k)
        add_whole<ROWS, COLS, WR, WC, STAGES, ALONG_K, ACROSS_K>(a, b, args.k / STEPS, l);
    else if (b.along_k)
        add_whole<ROWS, COLS, WR, WC, STAGES, ACROSS_K, ALONG_K>(a, b, args.k / STEPS, l);
    else
        add_whole<ROWS, COLS, WR, WC, STAGES, ACROSS_K, ACROSS_K>(a, b, args.k / STEPS, l);
    if (!part && args.k % STEPS) add_rest<ROWS, COLS, WR, WC>(a, b, args.k % STEPS, l);
#endif
    const uint32_t c_bytes = args.wide ? sizeof(float) : sizeof(element);
    void *c = (void *)matrix_at(args.c, args.list, args.c_step, c_bytes, which);
    const bool whole =
        rows.first == rows.own && cols.first == cols.own && a.rows == M && b.rows == N;
    /* In the largest tiles, vectors of c would cause conflicts of register banks in the loop. */
    store_tile<(M * N < 128 * 128), ROWS, COLS>(args, c, rows, cols, whole, l);
}

template <bool PARTS, int ROWS, int COLS, int WR, int WC, int STAGES>
static __device__ inline void matmul_tiles(const struct matmul_args &args)
{
    const uint64_t tiles = args.row_tiles * args.column_tiles;
    for (uint64_t i = blockIdx.x; i < tiles * args.count; i += gridDim.x) {
        const struct tile_place at = tile_place_of(args, i % tiles);
        matmul_tile<PARTS, ROWS, COLS, WR, WC, STAGES>(args, i / tiles, at.row, at.column);
        __syncthreads(); /* the previous stages have been read before they are overwritten */
    }
}

#endif
