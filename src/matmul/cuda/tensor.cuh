/*
 * matmul/cuda/tensor.cuh - products of f64 matrices by FP64 tensor cores: a block computes a tile
 * of c, and each warp MT x NT fragments of 16 x 8 elements of it.
 *
 *     stage of shared memory   a [rows][STEPS] or [STEPS][rows], as in global memory; then b
 *
 * Both layouts are lines of contiguous elements, copied by vectors if they are aligned.  Element i
 * of line l is at place i ^ 4 (l % 4) of the line, so that neither copies nor loads of fragments
 * have bank conflicts.
 *
 * Each element of c is one chain of fused multiply-adds in the order of k, as in tile.cuh.  Steps
 * beyond k are products of -0 and +0, which change no sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MATMUL_CUDA_TENSOR_CUH
#define ECHI_MATMUL_CUDA_TENSOR_CUH

#include "cuda/device/ptx_mma.cuh"
#include "matmul/cuda/stage.cuh"

#if MATMUL_TYPE == 1

enum {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    TENSOR_STAGES = TENSOR_STAGES_80,
#else
    TENSOR_STAGES = TENSOR_STAGES_90,
#endif
    TENSOR_DEPTH = 1, /* groups of four steps of an instruction */
    TENSOR_PARTS = TENSOR_STEPS / 4 / TENSOR_DEPTH
};

/* A stage of an operand consists of lines, which are contiguous in global memory: rows of
 * TENSOR_STEPS steps if k is the contiguous dimension, otherwise steps of ROWS rows (of b:
 * columns).  The place of element `at` of a line: */
static __device__ inline uint32_t tensor_place(uint32_t line, uint32_t at, uint32_t length)
{
    return line * length + (at ^ 4 * (line % 4));
}

/* One operand of a tile, as a thread copies it. */
struct tensor_operand {
    const double *at; /* the first element of the next stage */
    uint64_t stride, advance;
    uint32_t rows; /* valid rows of the tile */
    bool vectors;  /* aligned */
};

template <int ROWS>
static __device__ inline struct tensor_operand
tensor_operand_of(const double *from, uint64_t stride, bool along_k, uint64_t first, uint64_t all)
{
    struct tensor_operand x;
    x.at = from + (along_k ? first * stride : first);
    x.stride = stride;
    x.advance = along_k ? (uint64_t)TENSOR_STEPS : TENSOR_STEPS * stride;
    x.rows = all - first < ROWS ? (uint32_t)(all - first) : (uint32_t)ROWS;
    x.vectors = (uintptr_t)from % 16 == 0 && stride % 2 == 0 && (along_k || first % 2 == 0);
    return x;
}

/* All elements are valid.  A copy has WIDTH elements. */
template <int ELEMENTS, int LENGTH, int WIDTH, int THREADS>
static __device__ inline void tensor_fetch_whole(const struct tensor_operand &x, double *stage)
{
    enum {
        PER_LINE = LENGTH / WIDTH,
        JUMP = THREADS / PER_LINE,
        COPIES = ELEMENTS / WIDTH / THREADS
    };
    const uint32_t first = threadIdx.x / PER_LINE, at = threadIdx.x % PER_LINE * WIDTH;
    const double *from = x.at + first * x.stride + at;
    const uint64_t jump = JUMP * x.stride;
#pragma unroll WIDTH == 1 ? 4 : COPIES
    for (int i = 0; i < COPIES; i++, from += jump) {
        double *to = stage + tensor_place(first + (uint32_t)i * JUMP, at, LENGTH);
        if (WIDTH == 1)
            copy_element(to, from);
        else
            copy_vector(to, from);
    }
}

/* Starts the copies of the next stage, which has `left` steps or more; `fill` replaces others. */
template <int ROWS, int THREADS, bool ALONG>
static __device__ inline void tensor_fetch(struct tensor_operand &x, uint64_t left, double fill,
                                           double *stage)
{
    enum {
        ELEMENTS = ROWS * TENSOR_STEPS,
        LENGTH = ALONG ? (int)TENSOR_STEPS : ROWS,
        JUMP = THREADS / LENGTH
    };
    const uint32_t steps = left < TENSOR_STEPS ? (uint32_t)left : (uint32_t)TENSOR_STEPS;
    if (steps == TENSOR_STEPS && x.rows == ROWS) {
        if (x.vectors)
            tensor_fetch_whole<ELEMENTS, LENGTH, 2, THREADS>(x, stage);
        else
            tensor_fetch_whole<ELEMENTS, LENGTH, 1, THREADS>(x, stage);
    } else {
        const uint32_t lines = ALONG ? x.rows : steps, length = ALONG ? steps : x.rows;
        const uint32_t at = threadIdx.x % LENGTH;
#pragma unroll 1
        for (uint32_t line = threadIdx.x / LENGTH; line < ELEMENTS / LENGTH; line += JUMP) {
            double *to = stage + tensor_place(line, at, LENGTH);
            if (line < lines && at < length)
                copy_element(to, x.at + line * x.stride + at);
            else
                *to = fill;
        }
    }
    x.at += x.advance;
}

/* Reads a lane's elements of an operand. */
template <int ROWS, bool ALONG> struct tensor_reader {
    uint32_t even, odd, flip; /* first element of even and of odd groups of eight rows */

    __device__ inline void begin(uint32_t first_row)
    {
        const uint32_t g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
        const uint32_t first =
            ALONG ? (first_row + g) * TENSOR_STEPS + t : first_row + t * ROWS + (g ^ 4 * (t % 2));
        flip = ALONG ? g % 4 : t / 2;
        even = ALONG ? first : first + 8 * flip;
        odd = ALONG ? first : first - 8 * flip;
    }

    /* Row g of group `row` of eight rows, step t of group `step` of four. */
    __device__ inline double element(const double *part, int row, int step) const
    {
        if (ALONG) return part[even + 4 * (step ^ flip) + row * 8 * TENSOR_STEPS];
        return part[(row % 2 ? odd : even) + 8 * row + 4 * ROWS * step];
    }
};

/* A lane's elements of a and b in TENSOR_DEPTH groups of four steps. */
template <int MT, int NT> struct tensor_step {
    double a[MT][2 * TENSOR_DEPTH], b[NT][TENSOR_DEPTH];

    template <class LEFT, class RIGHT>
    __device__ inline void load(const double *a_part, const double *b_part, int group,
                                const LEFT &left, const RIGHT &right)
    {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int e = 0; e < 2 * TENSOR_DEPTH; e++)
                a[i][e] = left.element(a_part, 2 * i + e % 2, group + e / 2);
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < TENSOR_DEPTH; e++) b[j][e] = right.element(b_part, j, group + e);
    }

    __device__ inline void multiply(double (&c)[MT][NT][4]) const
    {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) { /* back and forth: operands remain in place */
                const int q = i % 2 ? NT - 1 - j : j;
                mma_f64<TENSOR_DEPTH>(c[i][q], a[i], b[q]);
            }
    }
};

/* Adds the product to c. */
template <int MT, int NT, int WR, int WC, bool A_ALONG, bool B_ALONG>
static __device__ inline void tensor_product(struct tensor_operand &a, struct tensor_operand &b,
                                             uint64_t k, double (&c)[MT][NT][4])
{
    enum {
        M = 16 * MT * WR,
        N = 8 * NT * WC,
        THREADS = 32 * WR * WC,
        STAGE = TENSOR_STEPS * (M + N),
        LEAD =
            TENSOR_STEPS * (TENSOR_STAGES - 1) /* steps between the copy of a stage and its use */
    };
    double *stages = (double *)shared_bytes;
    struct tensor_reader<M, A_ALONG> left;
    struct tensor_reader<N, B_ALONG> right;
    const uint32_t warp = threadIdx.x / 32;
    left.begin(warp / WC * (16 * MT));
    right.begin(warp % WC * (8 * NT));
    uint32_t now = 0, next = 0;
#pragma unroll 1
    for (uint64_t at = 0; at < LEAD; at += TENSOR_STEPS) {
        if (at < k) {
            tensor_fetch<M, THREADS, A_ALONG>(a, k - at, -0.0, stages + next * STAGE);
            tensor_fetch<N, THREADS, B_ALONG>(b, k - at, 0,
                                              stages + next * STAGE + TENSOR_STEPS * M);
        }
        copy_commit();
        next++;
    }
    struct tensor_step<MT, NT> step[2];
    copy_wait<TENSOR_STAGES - 2>();
    __syncthreads(); /* the first stage is loaded for all threads */
    step[0].load(stages, stages + TENSOR_STEPS * M, 0, left, right);
#pragma unroll 1
    for (uint64_t at = 0; at < k; at += TENSOR_STEPS) {
        const uint64_t ahead = at + LEAD;
#pragma unroll
        for (int i = 0; i < TENSOR_PARTS; i++) {
            if (i == 0 && ahead < k)
                tensor_fetch<M, THREADS, A_ALONG>(a, k - ahead, -0.0, stages + next * STAGE);
            if (i == TENSOR_PARTS / 2) {
                if (ahead < k)
                    tensor_fetch<N, THREADS, B_ALONG>(b, k - ahead, 0,
                                                      stages + next * STAGE + TENSOR_STEPS * M);
                copy_commit();
            }
            if (i + 1 == TENSOR_PARTS && k - at > TENSOR_STEPS) {
                now = now + 1 == TENSOR_STAGES ? 0 : now + 1;
                copy_wait<TENSOR_STAGES - 2>();
                __syncthreads(); /* the next stage is loaded for all threads, and this one has been
                                    read */
            }
            /* At the end, this stage is read again, without effect. */
            step[(i + 1) % 2].load(stages + now * STAGE, stages + now * STAGE + TENSOR_STEPS * M,
                                   (i + 1) % TENSOR_PARTS * TENSOR_DEPTH, left, right);
            step[i % 2].multiply(c);
        }
        next = next + 1 == TENSOR_STAGES ? 0 : next + 1;
    }
}

/* Two adjacent elements of c, or one of them; both as a vector if it is aligned. */
static __device__ inline void tensor_put(const struct matmul_args &args, double *at, bool put_first,
                                         bool put_second, double first, double second)
{
    const double alpha = args.alpha, beta = args.beta;
    if (put_first && put_second && (uintptr_t)at % 16 == 0) {
        double2 v = make_double2(0, 0);
        if (beta != 0) v = *(const double2 *)at;
        v.x = quiet(ended(first, alpha, beta, v.x));
        v.y = quiet(ended(second, alpha, beta, v.y));
        *(double2 *)at = v;
        return;
    }
    if (put_first) at[0] = quiet(ended(first, alpha, beta, beta != 0 ? at[0] : 0));
    if (put_second) at[1] = quiet(ended(second, alpha, beta, beta != 0 ? at[1] : 0));
}

/* row and col: of the lane's first element in the tile. */
template <int MT, int NT>
static __device__ inline void
tensor_store(const struct matmul_args &args, double *c, const struct tile_part &rows, uint32_t row,
             const struct tile_part &cols, uint32_t col, double (&s)[MT][NT][4])
{
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint64_t r = rows.first + row + 16 * i + 8 * half;
            if (r < rows.own || r >= args.m) continue;
#pragma unroll
            for (int j = 0; j < NT; j++) {
                const uint64_t q = cols.first + col + 8 * j;
                tensor_put(args, c + r * args.c_stride + q, q >= cols.own && q < args.n,
                           q + 1 >= cols.own && q + 1 < args.n, s[i][j][2 * half],
                           s[i][j][2 * half + 1]);
            }
        }
}

template <int MT, int NT, int WR, int WC>
static __device__ inline void tensor_tile(const struct matmul_args &args, uint64_t which,
                                          uint64_t tile_row, uint64_t tile_col)
{
    enum { M = 16 * MT * WR, N = 8 * NT * WC };
    const uint32_t warp = threadIdx.x / 32, in_warp = threadIdx.x % 32;
    const struct tile_part rows = tile_part_of(tile_row, M, args.m);
    const struct tile_part cols = tile_part_of(tile_col, N, args.n);
    const uint64_t k = args.k;
    const bool a_along = !args.a_turned, b_along = args.b_turned;
    struct tensor_operand a = tensor_operand_of<M>(
        (const double *)matrix_at(args.a, args.list, args.a_step, sizeof(double), which),
        args.a_stride, a_along, rows.first, args.m);
    struct tensor_operand b = tensor_operand_of<N>(
        (const double *)matrix_at(args.b, args.list, args.b_step, sizeof(double), which),
        args.b_stride, b_along, cols.first, args.n);
    double c[MT][NT][4];
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) c[i][j][e] = 0;
    if (a_along && b_along)
        tensor_product<MT, NT, WR, WC, true, true>(a, b, k, c);
    else if (a_along)
        tensor_product<MT, NT, WR, WC, true, false>(a, b, k, c);
    else if (b_along)
        tensor_product<MT, NT, WR, WC, false, true>(a, b, k, c);
    else
        tensor_product<MT, NT, WR, WC, false, false>(a, b, k, c);
    tensor_store<MT, NT>(
        args, (double *)matrix_at(args.c, args.list, args.c_step, sizeof(double), which), rows,
        warp / WC * (16 * MT) + in_warp / 4, cols, warp % WC * (8 * NT) + in_warp % 4 * 2, c);
}

template <int MT, int NT, int WR, int WC>
static __device__ inline void tensor_tiles(const struct matmul_args &args)
{
    const uint64_t tiles = args.row_tiles * args.column_tiles;
    for (uint64_t i = blockIdx.x; i < tiles * args.count; i += gridDim.x) {
        const struct tile_place at = tile_place_of(args, i % tiles);
        tensor_tile<MT, NT, WR, WC>(args, i / tiles, at.row, at.column);
        __syncthreads(); /* the previous stages have been read before they are overwritten */
    }
}

#endif

#endif
