/*
 * solve/cuda/project.cuh - a pass of Gram-Schmidt: subtracts vectors from a vector, then computes
 * its dot products with the next ones.
 *
 *     items, chunks, lines, partials   as in update.cuh, so that the sums equal those of the CPU
 *     the end                          several dot products: a warp computes every eighth of them
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SOLVE_CUDA_PROJECT_CUH
#define ECHI_SOLVE_CUDA_PROJECT_CUH

#include "solve/cuda/update.cuh"

enum {
    VECTORS = ECHI_SOLVE_VECTORS,
    GROUP_ITEMS = 32 * RUN, /* number of partials that a warp adds at a time */
    GROUPS = ECHI_SOLVE_ITEMS / GROUP_ITEMS
};

struct project_shared {
    double chunks[VECTORS][ECHI_SOLVE_MOST_CHUNKS];
    double groups[VECTORS][GROUPS];
    uint32_t last;
};

static __device__ inline void dot_line(double dot[EACH], const struct pack &w, const struct pack &v,
                                       uint64_t left)
{
#pragma unroll
    for (int i = 0; i < EACH; i++)
        if (i < left) dot[i] += (double)w.x[i] * (double)v.x[i];
}

/* FULL: the 16 bytes of all lanes are before n. */
template <bool FULL>
static __device__ inline void project_line(const struct echi_solve_step &step,
                                           const real c[VECTORS], uint64_t at,
                                           double dots[VECTORS][EACH])
{
    const struct echi_solve_projection &p = step.projection;
    const uint64_t left = FULL ? (uint64_t)EACH : step.n - at;
    struct pack w = load<FULL>(step.b.out, at, step.n), v[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (k < p.losses) v[k] = load<FULL>(p.loses[k], at, step.n);
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        if (k < p.losses) {
#pragma unroll
            for (int i = 0; i < EACH; i++) w.x[i] = w.x[i] - c[k] * v[k].x[i];
        }
    if (p.losses) store<FULL>(step.b.out, at, step.n, w);
    if (p.meetings) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            if (k < p.meetings) v[k] = load<FULL>(p.meets[k], at, step.n);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            if (k < p.meetings) dot_line(dots[k], w, v[k], left);
    } else if (step.dots) {
        dot_line(dots[0], w, w, left);
    }
}

/* One chunk by one warp; every lane gets its dot products. */
static __device__ inline void project_chunk(const struct echi_solve_step &step,
                                            const real c[VECTORS], uint64_t from,
                                            double sums[VECTORS])
{
    double dots[VECTORS][EACH];
    const uint64_t mine = from + lane_id() * EACH;
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
#pragma unroll
        for (int i = 0; i < EACH; i++) dots[k][i] = -0.0;
    if (step.aligned && step.n - from >= CHUNK) {
#pragma unroll 1
        for (int l = 0; l < ECHI_SOLVE_LINES; l++)
            project_line<true>(step, c, mine + l * LINE, dots);
    } else {
#pragma unroll 1
        for (uint64_t at = mine; at < step.n && at < from + CHUNK; at += LINE)
            project_line<false>(step, c, at, dots);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        sums[k] = fold_registers<EACH>(dots[k]);
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2)
            sums[k] += __shfl_xor_sync(WARP_ALL, sums[k], lane);
    }
}

/* Adds the partials of all items to the dot products; -0 pads missing partials, because it does not
 * change a sum. */
static __device__ inline void project_items(const struct echi_solve_step &step,
                                            struct project_shared &s)
{
    const uint64_t items = gridDim.x;
    uint64_t apart = 1;
    while ((items + apart - 1) / apart > ECHI_SOLVE_ITEMS) apart *= 2;
    for (int k = 0; apart > 1 && k < step.dots; k++)
        fold(step.partials + k, items, step.dots, apart);
    const uint32_t count = (uint32_t)((items + apart - 1) / apart);
    const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint32_t groups = (count + GROUP_ITEMS - 1) / GROUP_ITEMS;
    const int to = step.projection.meetings ? step.projection.meets_to : (int)ECHI_S_DOT;
#pragma unroll 2
    for (uint32_t job = warp; job < groups * step.dots; job += warps) {
        const uint32_t k = job % step.dots, group = job / step.dots;
        double v[RUN];
#pragma unroll
        for (int i = 0; i < RUN; i++) {
            const uint32_t at = group * GROUP_ITEMS + lane_id() * RUN + i;
            v[i] = at < count ? __ldcg(step.partials + at * apart * step.dots + k) : -0.0;
        }
        double sum = fold_registers<RUN>(v);
#pragma unroll
        for (int lane = 1; lane < 32; lane *= 2) sum += __shfl_xor_sync(WARP_ALL, sum, lane);
        if (lane_id() == 0) s.groups[k][group] = sum;
    }
    for (int k = 0; k < step.dots; k++) fold(s.groups[k], groups, 1, GROUPS);
    if (threadIdx.x < step.dots) step.scalars[to + threadIdx.x] = s.groups[threadIdx.x][0] + 0.0;
    __syncthreads(); /* thread 0 sees the partials of all threads */
}

static __device__ inline void project(const struct echi_solve_step &step)
{
    __shared__ struct project_shared s;
    wait_for_earlier();
    if (step.guarded && step.scalars[ECHI_S_STOP] != 0) return;
    real c[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        c[k] = k < step.projection.losses
                   ? (real)(step.projection.factor * step.scalars[step.projection.loses_by + k])
                   : (real)0;
    const uint64_t chunks = (step.n + CHUNK - 1) / CHUNK;
    const uint32_t warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint64_t first = (uint64_t)blockIdx.x * step.item;
    const uint32_t count = chunks <= first              ? 0
                           : chunks - first < step.item ? (uint32_t)(chunks - first)
                                                        : (uint32_t)step.item;
#pragma unroll 1
    for (uint32_t chunk = warp; chunk < count; chunk += warps) {
        double sums[VECTORS];
        project_chunk(step, c, (first + chunk) * CHUNK, sums);
#pragma unroll
        for (int k = 0; k < VECTORS; k++)
            if (k < step.dots && lane_id() == 0) s.chunks[k][chunk] = sums[k];
    }
    if (!step.dots) return;
    for (int k = 0; k < step.dots; k++) fold(s.chunks[k], count, 1, ECHI_SOLVE_MOST_CHUNKS);
    __syncthreads(); /* all threads have read the scalars */
    if (threadIdx.x < step.dots)
        step.partials[(uint64_t)blockIdx.x * step.dots + threadIdx.x] =
            count ? s.chunks[threadIdx.x][0] : -0.0;
    __syncthreads(); /* all partials are stored; thread 0 publishes them */
    if (threadIdx.x == 0) {
        uint32_t *counter = (uint32_t *)&step.scalars[ECHI_S_COUNTER];
        s.last = gridDim.x == 1 || add_acq_rel(counter, 1) == gridDim.x - 1;
        if (s.last && gridDim.x > 1) *counter = 0;
    }
    __syncthreads(); /* s.last is known, and all threads see the partials of other blocks */
    if (!s.last) return;
    project_items(step, s);
    if (threadIdx.x == 0 && step.after == ECHI_RECUR_GMRES_NORM)
        solve_gmres_norm(step.scalars, step.restart, step.column);
}

#endif
