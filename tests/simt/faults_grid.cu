/*
 * simt/faults_grid.cu - planted faults between blocks, of waiting and of launch parameters, with
 * twins.
 *
 * As in faults.cu, a kernel and its twin share a body. Waiting for a flag orders time, but not
 * memory, which needs fences:
 *
 *     block 0:  data; __threadfence(); flag = 1         release: who sees the flag sees the data
 *     block 1:  while (flag == 0); __threadfence(); data                                acquire
 *
 * Some of the kernels do not terminate; faults.def lists them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Findings depend on which statements share a line. */
/* clang-format off */
#include "planted.h"

extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline uint32_t look(const uint32_t *at)
{
    return *(const volatile uint32_t *)at;
}

static __device__ inline void tell(uint32_t *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}

/* ---- Races in global memory without a flag ---- */

static __device__ inline void race_two_warps(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    a.out[t] = a.in[t];
    if (fixed) __syncthreads();
    a.out[64 + t] = a.out[t ^ 32];
}
extern "C" __global__ void race_global(const __grid_constant__ struct planted_args a)
{ race_two_warps(a, 0); }
extern "C" __global__ void race_global_ok(const __grid_constant__ struct planted_args a)
{ race_two_warps(a, 1); }

/* A barrier synchronises only one block, so it has no effect here. */
static __device__ inline void race_two_blocks(const struct planted_args &a, const uint32_t *from)
{
    uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) a.out[t] = a.in[t];
    __syncthreads();
    if (blockIdx.x == 1) a.out[64 + t] = from[t];
}
extern "C" __global__ void race_blocks(const __grid_constant__ struct planted_args a)
{ race_two_blocks(a, a.out); }
extern "C" __global__ void race_blocks_ok(const __grid_constant__ struct planted_args a)
{ race_two_blocks(a, a.in); }

static __device__ inline void race_blocks_writing(const struct planted_args &a, uint32_t to)
{
    a.out[to + threadIdx.x] = a.in[blockIdx.x * blockDim.x + threadIdx.x];
}
extern "C" __global__ void race_blocks_write(const __grid_constant__ struct planted_args a)
{ race_blocks_writing(a, 0); }
extern "C" __global__ void race_blocks_write_ok(const __grid_constant__ struct planted_args a)
{ race_blocks_writing(a, blockIdx.x * blockDim.x); }

/* Each block writes the same values, so the race has no effect. */
extern "C" __global__ void race_blocks_same(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = a.in[threadIdx.x]; }

/* ---- Look-back: block 1 waits for a value of block 0, with one thread per block ---- */

enum { RELEASE = 1, ACQUIRE = 2, FLAG_FIRST = 4, DATA_FIRST = 8 };

static __device__ inline void lookback(const struct planted_args &a, int how)
{
    if (blockIdx.x == 0) {
        if (how & FLAG_FIRST) tell(a.flag, 1);
        if ((how & FLAG_FIRST) && (how & RELEASE)) __threadfence();
        a.out[0] = a.in[0];
        if (how & RELEASE) __threadfence();
        if (!(how & FLAG_FIRST)) tell(a.flag, 1);
    } else {
        uint32_t early = how & DATA_FIRST ? a.out[0] : 0;
        while (look(a.flag) == 0) {}
        if (how & ACQUIRE) __threadfence();
        a.out[1] = (how & DATA_FIRST ? early : a.out[0]) + 1;
    }
}
extern "C" __global__ void lookback_no_release(const __grid_constant__ struct planted_args a)
{ lookback(a, ACQUIRE); }
extern "C" __global__ void lookback_no_acquire(const __grid_constant__ struct planted_args a)
{ lookback(a, RELEASE); }
extern "C" __global__ void lookback_flag_first(const __grid_constant__ struct planted_args a)
{ lookback(a, RELEASE | ACQUIRE | FLAG_FIRST); }
extern "C" __global__ void lookback_read_early(const __grid_constant__ struct planted_args a)
{ lookback(a, RELEASE | ACQUIRE | DATA_FIRST); }
extern "C" __global__ void lookback_ok(const __grid_constant__ struct planted_args a)
{ lookback(a, RELEASE | ACQUIRE); }

/* The same with an atomic flag. Atomics without fences do not order other accesses. */
static __device__ inline void lookback_by_atomics(const struct planted_args &a, int fixed)
{
    if (blockIdx.x == 0) {
        a.out[0] = a.in[0];
        if (fixed) __threadfence();
        atomicExch(a.flag, 1u);
    } else {
        while (atomicAdd(a.flag, 0u) == 0) {}
        if (fixed) __threadfence();
        a.out[1] = a.out[0] + 1;
    }
}
extern "C" __global__ void lookback_atomic(const __grid_constant__ struct planted_args a)
{ lookback_by_atomics(a, 0); }
extern "C" __global__ void lookback_atomic_ok(const __grid_constant__ struct planted_args a)
{ lookback_by_atomics(a, 1); }

/* Flag and data in one word need no fence. */
extern "C" __global__ void lookback_packed_ok(const __grid_constant__ struct planted_args a)
{
    if (blockIdx.x == 0) {
        tell(a.flag, a.in[0] >> 1 | 1u << 31);
    } else {
        uint32_t status = look(a.flag);
        while (status >> 31 == 0) status = look(a.flag);
        a.out[0] = status << 1;
    }
}

/* Every thread of block 0 writes data, and thread 0 sets the flag. Thread 0 of block 1 waits, and
 * all threads read. */
static __device__ inline void lookback_all(const struct planted_args &a, int gather, int scatter)
{
    uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) {
        a.out[t] = a.in[t];
        __threadfence();
        if (gather) __syncthreads(); /* all threads have written before thread 0 sets the flag */
        if (t == 0) tell(a.flag, 1);
    } else {
        if (t == 0)
            while (look(a.flag) == 0) {}
        __threadfence();
        if (scatter) __syncthreads(); /* thread 0 has seen the flag before any thread reads */
        a.out[64 + t] = a.out[t ^ 32];
    }
}
extern "C" __global__ void lookback_no_gather(const __grid_constant__ struct planted_args a)
{ lookback_all(a, 0, 1); }
extern "C" __global__ void lookback_no_scatter(const __grid_constant__ struct planted_args a)
{ lookback_all(a, 1, 0); }
extern "C" __global__ void lookback_all_ok(const __grid_constant__ struct planted_args a)
{ lookback_all(a, 1, 1); }

/* A spin lock that every thread acquires, including lanes of one warp. */
static __device__ inline void lock(const struct planted_args &a, int fixed)
{
    uint32_t x = a.in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int done = 0; !done;) {
        if (atomicExch(a.flag, 1u) == 0) {
            if (fixed) __threadfence();
            tell(a.out, look(a.out) + x);
            a.out[1] ^= x;
            if (fixed) __threadfence();
            atomicExch(a.flag, 0u);
            done = 1;
        }
    }
}
extern "C" __global__ void lock_no_fence(const __grid_constant__ struct planted_args a)
{ lock(a, 0); }
extern "C" __global__ void lock_ok(const __grid_constant__ struct planted_args a)
{ lock(a, 1); }

/* ---- Kernels that do not terminate ---- */

/* With one block no thread sets the flag; with two, block 1 sets it. */
static __device__ inline void wait_for_flag(const struct planted_args &a)
{
    if (blockIdx.x == 1) {
        tell(a.flag, 1);
    } else {
        while (look(a.flag) == 0) {}
        a.out[0] = a.in[0];
    }
}
extern "C" __global__ void deadlock_spin(const __grid_constant__ struct planted_args a)
{ wait_for_flag(a); }
extern "C" __global__ void deadlock_spin_ok(const __grid_constant__ struct planted_args a)
{ wait_for_flag(a); }

/* A barrier of the grid. With `leaves` the last block returns before it. */
static __device__ inline void meet_grid(const struct planted_args &a, int leaves)
{
    if (leaves && blockIdx.x == gridDim.x - 1) return;
    a.out[blockIdx.x] = a.in[blockIdx.x];
    __threadfence();
    atomicAdd(a.flag, 1u);
    while (look(a.flag) < gridDim.x) {}
    __threadfence();
    a.out[gridDim.x + blockIdx.x] = a.out[(blockIdx.x + 1) % gridDim.x];
}
extern "C" __global__ void deadlock_grid(const __grid_constant__ struct planted_args a)
{ meet_grid(a, 1); }
extern "C" __global__ void deadlock_grid_ok(const __grid_constant__ struct planted_args a)
{ meet_grid(a, 0); }

/* Warp 1 waits for a flag that warp 0 sets before (fixed) or after a barrier of both. */
static __device__ inline void flag_and_barrier(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (fixed && t == 0) tell(a.flag, 1);
    if (t >= 32)
        while (look(a.flag) == 0) {}
    __syncthreads();
    if (!fixed && t == 0) tell(a.flag, 1);
    a.out[t] = a.in[t];
}
extern "C" __global__ void deadlock_barrier(const __grid_constant__ struct planted_args a)
{ flag_and_barrier(a, 0); }
extern "C" __global__ void deadlock_barrier_ok(const __grid_constant__ struct planted_args a)
{ flag_and_barrier(a, 1); }

/* ---- Launches that the device rejects because of their parameters in faults.def ---- */

static __device__ inline void reverse(const struct planted_args &a)
{
    uint32_t *s = (uint32_t *)shared_bytes, t = threadIdx.x;
    s[t] = a.in[t];
    __syncthreads();
    a.out[t] = s[blockDim.x - 1 - t];
}
extern "C" __global__ void __launch_bounds__(64)
    launch_bounds(const __grid_constant__ struct planted_args a)
{ reverse(a); }
extern "C" __global__ void __launch_bounds__(64)
    launch_bounds_ok(const __grid_constant__ struct planted_args a)
{ reverse(a); }
extern "C" __global__ void launch_threads(const __grid_constant__ struct planted_args a)
{ reverse(a); }
extern "C" __global__ void launch_threads_ok(const __grid_constant__ struct planted_args a)
{ reverse(a); }
extern "C" __global__ void launch_shared(const __grid_constant__ struct planted_args a)
{ reverse(a); }
extern "C" __global__ void launch_shared_ok(const __grid_constant__ struct planted_args a)
{ reverse(a); }
