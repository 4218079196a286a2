/*
 * direct/cuda/vector.cuh - triangular solve of any size for one column.
 *
 *     a block solves 32 rows; the preceding elements of x become known 32 at a time
 *
 *     |\             sums of its rows, one element of each part of x per thread, as soon as that
 *     | \            part is known; then its own triangle, which makes the next part known
 *     |##\
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_DIRECT_CUDA_VECTOR_CUH
#define ECHI_DIRECT_CUDA_VECTOR_CUH

#include "direct/cuda/square.cuh"

enum { VECTOR_EACH = 8 /* known parts that are loaded at a time */ };

struct vector_shared {
    real t[LEAF][PITCH], turned[LEAF][PITCH], sums[LEAF];
    uint32_t ticket, known;
};

extern "C" __global__ void __launch_bounds__(DIRECT_PANEL_THREADS)
    direct_vector(const __grid_constant__ struct direct_args args)
{
    __shared__ struct vector_shared s;
    wait_for_earlier();
    const struct echi_direct_step &step = args.step;
    const uint32_t turn = take_ticket(args.state, &s.ticket), parts = gridDim.x;
    const uint32_t warp = threadIdx.x / 32, lane = lane_id();
    const bool forward = step.upper == step.turned;
    const uint64_t first = (uint64_t)(forward ? turn : parts - 1 - turn) * LEAF, n = step.rows;
    const uint64_t stride = step.a_stride, start = forward ? 0 : (uint64_t)(parts - 1) * LEAF;
    const uint32_t rows = at_most(n - first, LEAF);
    const uint32_t row = step.turned ? lane : warp, column = step.turned ? warp : lane;
    const real *a = (const real *)step.a;
    real *x = (real *)step.c;
    /* A backward solve begins with the partial part, in which columns may be missing. */
    const bool row_there = row < rows, in_first = row_there && start + column < n;
    const real *t = step.turned ? a + (start + column) * stride + first + row
                                : a + (first + row) * stride + start + column;
    const int64_t apart = forward ? (int64_t)LEAF : -(int64_t)LEAF;
    const int64_t t_apart = step.turned ? apart * (int64_t)stride : apart;
    const real *known_x = x + start + column;
    real sum = 0;
    load_square(step, a + first * stride + first, rows, s.t);
    real mine = lane < rows ? x[first + lane] : (real)0;
    /* The last part is loaded before the wait for it. */
    real last = 0;
    if (turn && (turn == 1 ? in_first : row_there)) last = t[(int64_t)(turn - 1) * t_apart];
    for (uint32_t part = 0; part < turn;) {
        if (threadIdx.x == 0)
            while ((s.known = load_acquire(&args.state->ready[0])) <= part) continue;
        __syncthreads(); /* thread 0 has seen how many parts are known */
        const uint32_t known = s.known < turn ? s.known : turn;
        __syncthreads(); /* all threads have read it */
        while (part < known) {
            real by[VECTOR_EACH], at[VECTOR_EACH];
            const uint32_t count = at_most(known - part, VECTOR_EACH);
#pragma unroll
            for (int e = 0; e < VECTOR_EACH; e++) {
                const uint32_t p = part + e;
                const bool there = e < count && (p ? row_there : in_first);
                by[e] = !there ? (real)0 : p == turn - 1 ? last : t[(int64_t)p * t_apart];
                at[e] = there ? __ldcg(known_x + (int64_t)p * apart) : (real)0;
            }
#pragma unroll
            for (int e = 0; e < VECTOR_EACH; e++)
                if (e < count) sum += by[e] * at[e];
            part += count;
        }
    }
    if (step.turned) { /* lanes have rows, and warps columns: transposed */
        s.turned[warp][lane] = sum;
        __syncthreads(); /* the sums of all threads are written */
        sum = s.turned[lane][warp];
    }
#pragma unroll
    for (int half = 16; half; half /= 2) sum += __shfl_down_sync(WARP_ALL, sum, half);
    if (lane == 0) s.sums[warp] = sum;
    __syncthreads(); /* the rows' sums and the tile are written */
    if (warp) return;
    if (turn && lane < rows) mine -= s.sums[lane];
    mine = solve_square(s.t, rows, forward, step.unit, mine);
    if (lane < rows) x[first + lane] = mine;
    __syncwarp(); /* all lanes have written */
    if (lane) return;
    store_release(&args.state->ready[0], turn + 1);
    if (add_acq_rel(&args.state->done, 1) != parts - 1) return;
    store_relaxed(&args.state->ready[0], 0);
    store_relaxed(&args.state->ticket, 0);
    store_relaxed(&args.state->done, 0);
}

#endif
