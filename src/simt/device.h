/*
 * simt/device.h - CUDA C for a host compiler: included before a kernel's file, it makes that file
 * C++ whose threads the SIMT emulator runs.
 *
 *     keywords      expand to nothing, except __shared__: thread-local memory, which the emulator
 *                   exchanges when it switches between blocks
 *     indices       threadIdx and related variables
 *     functions     barriers and traps here; warps, memory, integers and floats in device_*.h
 *
 * The compiler reports all memory accesses to the emulator, but only the kernel's own must be
 * reported. Therefore this code works on values and calls runtime.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

/* Headers that nvcc includes implicitly; before the keywords, because system headers use some of
 * these. */
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "simt/runtime.h"

/* ---- Keywords ---- */

#define __global__ __attribute__((noinline)) /* not inlined, so that messages can name it */
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...) /* image.cc.in parses them from the source's text */
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__    __attribute__((noinline))
#define __align__(n)    __attribute__((aligned(n))) /* alignas() cannot follow thread_local */
#define __shared__      thread_local

#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
#define __assume(condition) __builtin_assume(condition)

#include "simt/vector_types.h"

/* ---- Indices of a thread ---- */

static __forceinline__ uint3 simt_thread_place()
{
    return { simt_thread_index(SIMT_X), simt_thread_index(SIMT_Y), simt_thread_index(SIMT_Z) };
}

static __forceinline__ uint3 simt_block_place()
{
    return { simt_block_index(SIMT_X), simt_block_index(SIMT_Y), simt_block_index(SIMT_Z) };
}

static __forceinline__ dim3 simt_block_extent()
{
    return { simt_block_size(SIMT_X), simt_block_size(SIMT_Y), simt_block_size(SIMT_Z) };
}

static __forceinline__ dim3 simt_grid_extent()
{
    return { simt_grid_size(SIMT_X), simt_grid_size(SIMT_Y), simt_grid_size(SIMT_Z) };
}

/* Values, not objects: nothing is read from memory, and threadIdx.x is an unsigned in every
 * expression. */
#define threadIdx (simt_thread_place())
#define blockIdx  (simt_block_place())
#define blockDim  (simt_block_extent())
#define gridDim   (simt_grid_extent())
static constexpr int warpSize = 32;

/* ---- Barriers of a block, and fences ---- */

/* Macros, so that debuggers and the emulator's messages show the kernel's own line. */
#define __syncthreads()        simt_barrier(0, 0)
#define __syncthreads_count(p) simt_barrier_vote(SIMT_VOTE_COUNT, p)
#define __syncthreads_and(p)   simt_barrier_vote(SIMT_VOTE_AND, p)
#define __syncthreads_or(p)    simt_barrier_vote(SIMT_VOTE_OR, p)
#define __threadfence_block()  simt_fence(SIMT_BLOCK)
#define __threadfence()        simt_fence(SIMT_DEVICE)
#define __threadfence_system() simt_fence(SIMT_SYSTEM)

/* ---- Time, and termination ---- */

#define __nanosleep(ns) ((void)(ns), simt_yield())

static __forceinline__ long long clock64()
{
    return (long long)simt_clock();
}

#define clock() ((clock_t)simt_clock()) /* the C library has a function of this name */

static inline __attribute__((noreturn)) void __trap()
{
    simt_trap("calls __trap()");
}

static inline __attribute__((noreturn)) void __brkpt()
{
    simt_trap("calls __brkpt()");
}

#include "simt/device_warp.h"
#include "simt/device_memory.h"
#include "simt/device_integer.h"
#include "simt/device_float.h"

#endif
