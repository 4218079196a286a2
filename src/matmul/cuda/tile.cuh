/*
 * matmul/cuda/tile.cuh - a block computes a tile of c: 4 warps of 4 x 8 lanes, each of which has
 * ROWS x COLS elements in registers.
 *
 *     stage of shared memory   a [STEPS][tile's rows], b [STEPS][tile's columns]
 *
 * Copies of later stages are in flight while one stage is multiplied.  Operands that are contiguous
 * along k are transposed while they are copied, element by element; operands that are contiguous
 * along rows or columns of c are copied by vectors if they are aligned.  A lane has its rows and
 * columns in vectors of 16 bytes, and the vectors of a warp are adjacent, so that a load of shared
 * memory is one or two wavefronts.
 *
 * Each element of c is one chain of fused multiply-adds in the order of k.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_TILE_CUH
#define ECHI_MATMUL_CUDA_TILE_CUH

#include "matmul/cuda/real.cuh"
#include "cuda/device/ptx_async.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define MATMUL_ASYNC 0
#else
#define MATMUL_ASYNC (MATMUL_TYPE < 2)
#endif

extern __shared__ __align__(16) unsigned char shared_bytes[];

enum {
    STEPS = MATMUL_STEPS(sizeof(real)),
    PAD = 16 / sizeof(real), /* so that steps begin in different banks */
    LANE_ROWS = 4,           /* of lanes in a warp */
    LANE_COLS = 8,
    WARP_ROWS = 2, /* of warps in a block */
    WARP_COLS = 2
};

/* Copies one element to shared memory; complete after the next wait. */
static __device__ inline void copy_element(real *to, const element *from)
{
#if MATMUL_ASYNC && MATMUL_TYPE == 0
    copy_async_4(to, from);
#elif MATMUL_ASYNC
    copy_async_8(to, from);
#else
    *to = real_of(*from);
#endif
}

static __device__ inline void copy_vector(real *to, const element *from)
{
#if MATMUL_ASYNC
    copy_async_16(to, from);
#elif MATMUL_TYPE < 2
    *(real_vector *)to = *(const real_vector *)from;
#else
    for (int i = 0; i < REAL_VECTOR; i++) to[i] = real_of(from[i]);
#endif
}

static __device__ inline void wait_copies(void)
{
#if MATMUL_ASYNC
    copy_wait<MATMUL_STAGES - 2>();
#endif
}

static __device__ inline void end_stage(void)
{
#if MATMUL_ASYNC
    copy_commit();
#endif
}

/* One operand of a tile, as a thread copies it: its rows (for b: columns) and k.  The thread begins
 * at step `step` and row `row`, and advances by `jump` steps, or rows. */
struct operand {
    const element *at; /* the thread's first element of the next stage */
    uint64_t stride, jump, advance;
    uint32_t step, row;
    uint32_t rows; /* valid rows of the tile */
    bool along_k;  /* k is the contiguous dimension */
    bool vectors;  /* otherwise: copied by full vectors */
};

template <int ROWS>
static __device__ inline struct operand operand_of(const element *from, uint64_t stride,
                                                   bool along_k, uint64_t first, uint64_t all)
{
    struct operand x;
    x.stride = stride;
    x.along_k = along_k;
    x.vectors =
        sizeof(element) == sizeof(real) && (uintptr_t)from % 16 == 0 && stride % REAL_VECTOR == 0;
    x.rows = all - first < ROWS ? (uint32_t)(all - first) : (uint32_t)ROWS;
    const uint32_t width = x.vectors ? ROWS / REAL_VECTOR : ROWS; /* threads per step */
    x.step = along_k ? threadIdx.x % STEPS : threadIdx.x / width;
    x.row = along_k ? threadIdx.x / STEPS : threadIdx.x % width * (ROWS / width);
    x.jump = (along_k ? MATMUL_THREADS / STEPS : MATMUL_THREADS / width) * stride;
    x.advance = along_k ? (uint64_t)STEPS : STEPS * stride;
    x.at = from + (along_k ? (first + x.row) * stride + x.step : x.step * stride + first + x.row);
    return x;
}

/* All rows and steps are valid. */
template <int ROWS> static __device__ inline void fetch_whole(const struct operand &x, real *stage)
{
    enum { PITCH = ROWS + PAD, VECTORS = ROWS / REAL_VECTOR };
    const element *from = x.at;
    real *to = stage + x.step * PITCH + x.row;
    if (x.along_k) {
#pragma unroll
        for (int i = 0; i < ROWS * STEPS / MATMUL_THREADS; i++, from += x.jump)
            copy_element(to + i * (MATMUL_THREADS / STEPS), from);
    } else if (x.vectors) {
#pragma unroll
        for (int i = 0; i < VECTORS * STEPS / MATMUL_THREADS; i++, from += x.jump)
            copy_vector(to + i * (MATMUL_THREADS / VECTORS) * PITCH, from);
    } else {
#pragma unroll
        for (int i = 0; i < ROWS * STEPS / MATMUL_THREADS; i++, from += x.jump)
            copy_element(to + i * (MATMUL_THREADS / ROWS) * PITCH, from);
    }
}

/* Invalid rows become 0, and invalid steps are skipped. */
template <int ROWS>
static __device__ inline void fetch_part(const struct operand &x, uint32_t steps, real *stage)
{
    enum { PITCH = ROWS + PAD };
    const uint32_t width = x.vectors && !x.along_k ? (uint32_t)REAL_VECTOR : 1;
    const uint32_t more_steps = x.along_k ? (uint32_t)STEPS : MATMUL_THREADS * width / ROWS;
    const uint32_t more_rows = x.along_k ? MATMUL_THREADS / STEPS : ROWS;
    const uint64_t row_stride = x.along_k ? x.stride : 1, step_stride = x.along_k ? 1 : x.stride;
#pragma unroll 1
    for (uint32_t row = x.row; row < ROWS; row += more_rows)
#pragma unroll 1
        for (uint32_t step = x.step; step < steps; step += more_steps)
#pragma unroll 1
            for (uint32_t i = 0; i < width; i++) {
                real *to = stage + step * PITCH + row + i;
                if (row + i < x.rows)
                    copy_element(to, x.at + (row - x.row) * row_stride +
                                         (step - x.step) * step_stride + i);
                else
                    *to = 0;
            }
}

/* Starts the copies of the next stage, with the remaining steps. */
template <int ROWS>
static __device__ inline void fetch(struct operand &x, uint64_t left, real *stage)
{
    if (left >= STEPS && x.rows == ROWS)
        fetch_whole<ROWS>(x, stage);
    else
        fetch_part<ROWS>(x, left < STEPS ? (uint32_t)left : (uint32_t)STEPS, stage);
    x.at += x.advance;
}

/* Loads N elements of one step, in vectors that are GAP elements apart. */
template <int N, int GAP> static __device__ inline void load_step(const real *from, real (&to)[N])
{
    if (N % REAL_VECTOR == 0) {
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

template <int ROWS, int COLS>
static __device__ inline void multiply_step(const real *a, const real *b,
                                            struct lane<ROWS, COLS> &l)
{
    real x[ROWS], y[COLS];
    load_step<ROWS, LANE_ROWS>(a + l.row, x);
    load_step<COLS, LANE_COLS>(b + l.col, y);
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++) l.s[i][j] = fused(x[i], y[j], l.s[i][j]);
}

/* The offset of the lane's element i from its first. */
template <int N, int LANES> static __device__ inline uint32_t place_of(int i)
{
    enum { LENGTH = runs<N>::LENGTH };
    return i / LENGTH * LENGTH * LANES + i % LENGTH;
}

template <int ROWS, int COLS>
static __device__ inline void store_tile(const struct matmul_args &args, void *c, uint64_t row,
                                         uint64_t col, const struct lane<ROWS, COLS> &l)
{
    const real alpha = (real)args.alpha, beta = (real)args.beta;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint64_t r = row + l.row + place_of<ROWS, LANE_ROWS>(i);
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            const uint64_t q = col + l.col + place_of<COLS, LANE_COLS>(j);
            const uint64_t at = r * args.c_stride + q;
            if (r >= args.m || q >= args.n) continue;
            if (args.wide) {
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

static __device__ inline const void *matrix_at(const void *array, uint32_t list, uint64_t step,
                                               uint32_t bytes, uint64_t i)
{
    return list ? ((const void *const *)array)[i] : (const char *)array + i * step * bytes;
}

template <int ROWS, int COLS>
static __device__ inline void matmul_tile(const struct matmul_args &args, uint64_t which,
                                          uint64_t tile_row, uint64_t tile_col)
{
    enum {
        M = ROWS * LANE_ROWS * WARP_ROWS,
        N = COLS * LANE_COLS * WARP_COLS,
        STAGE = STEPS * (M + N + 2 * PAD)
    };
    real *stages = (real *)shared_bytes;
    const uint32_t warp = threadIdx.x / 32, in_warp = threadIdx.x % 32;
    const uint64_t row = tile_row * M, col = tile_col * N, k = args.k;
    struct operand a = operand_of<M>(
        (const element *)matrix_at(args.a, args.list, args.a_step, sizeof(element), which),
        args.a_stride, !args.a_turned, row, args.m);
    struct operand b = operand_of<N>(
        (const element *)matrix_at(args.b, args.list, args.b_step, sizeof(element), which),
        args.b_stride, args.b_turned, col, args.n);
    struct lane<ROWS, COLS> l;
    l.row = warp / WARP_COLS * (ROWS * LANE_ROWS) + in_warp / LANE_COLS * runs<ROWS>::LENGTH;
    l.col = warp % WARP_COLS * (COLS * LANE_COLS) + in_warp % LANE_COLS * runs<COLS>::LENGTH;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLS; j++) l.s[i][j] = 0;
    for (uint32_t s = 0; s < MATMUL_STAGES - 1; s++) {
        const uint64_t begin = (uint64_t)s * STEPS;
        if (begin < k) {
            fetch<M>(a, k - begin, stages + s * STAGE);
            fetch<N>(b, k - begin, stages + s * STAGE + STEPS * (M + PAD));
        }
        end_stage();
    }
    uint32_t now = 0, next = MATMUL_STAGES - 1;
    for (uint64_t at = 0; at < k; at += STEPS) {
        const uint64_t ahead = at + (MATMUL_STAGES - 1) * STEPS;
        wait_copies();
        __syncthreads(); /* this stage is loaded for all threads, and the previous one has been
                            read */
        if (ahead < k) {
            fetch<M>(a, k - ahead, stages + next * STAGE);
            fetch<N>(b, k - ahead, stages + next * STAGE + STEPS * (M + PAD));
        }
        end_stage();
        const real *x = stages + now * STAGE, *y = x + STEPS * (M + PAD);
        if (k - at >= STEPS) {
#pragma unroll
            for (int t = 0; t < STEPS; t++)
                multiply_step<ROWS, COLS>(x + t * (M + PAD), y + t * (N + PAD), l);
        } else {
#pragma unroll 1
            for (uint32_t t = 0; t < (uint32_t)(k - at); t++)
                multiply_step<ROWS, COLS>(x + t * (M + PAD), y + t * (N + PAD), l);
        }
        now = now + 1 == MATMUL_STAGES ? 0 : now + 1;
        next = next + 1 == MATMUL_STAGES ? 0 : next + 1;
    }
    const uint32_t c_bytes = args.wide ? sizeof(float) : sizeof(element);
    void *c = (void *)matrix_at(args.c, args.list, args.c_step, c_bytes, which);
    store_tile(args, c, row, col, l);
}

/* Blocks process tiles in bands of MATMUL_BAND rows of tiles, first down the rows of a band. */
template <int ROWS, int COLS>
static __device__ inline void matmul_tiles(const struct matmul_args &args)
{
    const uint64_t tiles = args.row_tiles * args.column_tiles;
    const uint64_t band = MATMUL_BAND * args.column_tiles;
    for (uint64_t i = blockIdx.x; i < tiles * args.count; i += gridDim.x) {
        const uint64_t tile = i % tiles, first = tile / band * MATMUL_BAND;
        const uint64_t left = args.row_tiles - first;
        const uint64_t rows = left < MATMUL_BAND ? left : (uint64_t)MATMUL_BAND;
        matmul_tile<ROWS, COLS>(args, i / tiles, first + tile % band % rows, tile % band / rows);
        __syncthreads(); /* the previous stages have been read before they are overwritten */
    }
}

#endif
