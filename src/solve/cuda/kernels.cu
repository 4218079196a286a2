/*
 * solve/cuda/kernels.cu - the kernels of iterative solvers: steps (update.cuh, project.cuh),
 * inverse diagonals and diagonal blocks (blocks.cuh), and triangular solves.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/instance.cuh"
#include "cuda/device/warp.cuh"

#include "solve/recur.h"

#if KEY_BITS == 64
typedef double real;
#else
typedef float real;
#endif

#include "solve/cuda/blocks.cuh"
#include "solve/cuda/project.cuh"
#include "solve/cuda/update.cuh"

/* Any step. */
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    solve_update(const __grid_constant__ struct echi_solve_step step)
{
    update<1, -1>(step, step.shape);
}

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    solve_project(const __grid_constant__ struct echi_solve_step step)
{
    project(step);
}

/* ---- Kernels of frequent steps: the table in operation.c lists them ---- */

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_ef(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_EF>(step, { 0, 0, 0, ECHI_DOTS_EF });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_ee(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_EE>(step, { 0, 0, 0, ECHI_DOTS_EE });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_ef_ee(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_EF_EE>(step, { 0, 0, 0, ECHI_DOTS_EF_EE });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b1(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_NONE>(step, { 0, 1, 0, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_NONE>(step, { 0, 2, 0, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b3(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_NONE>(step, { 0, 3, 0, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b1z(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_NONE>(step, { 0, 1, 1, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2z(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_NONE>(step, { 0, 2, 1, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b3z(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_NONE>(step, { 0, 3, 1, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2_bb(const __grid_constant__ struct echi_solve_step step)
{
    update<4, ECHI_AFTER_B2_BB>(step, { 0, 2, 0, ECHI_DOTS_BB });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2_be(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_B2_BE>(step, { 0, 2, 0, ECHI_DOTS_BE });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2z_bb(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_RESIDUAL>(step, { 0, 2, 1, ECHI_DOTS_BB });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2z_bz(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_B2Z_BZ>(step, { 0, 2, 1, ECHI_DOTS_BZ });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_b2z_bb_bz(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_B2Z_BB_BZ>(step, { 0, 2, 1, ECHI_DOTS_BB_BZ });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_a2b2(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_NONE>(step, { 2, 2, 0, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_a2b2_bb(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_RESIDUAL>(step, { 2, 2, 0, ECHI_DOTS_BB });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_a2b2z_bb(const __grid_constant__ struct echi_solve_step step)
{
    update<2, ECHI_AFTER_RESIDUAL>(step, { 2, 2, 1, ECHI_DOTS_BB });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_a3b2(const __grid_constant__ struct echi_solve_step step)
{
    update<1, ECHI_AFTER_A3B2>(step, { 3, 2, 0, 0 });
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
    solve_a3b2_bb_be(const __grid_constant__ struct echi_solve_step step)
{
    update<1, ECHI_AFTER_A3B2_BB_BE>(step, { 3, 2, 0, ECHI_DOTS_BB_BE });
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

/* One row per thread. */
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
