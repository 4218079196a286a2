/*
 * simt/faults.cu - kernels with one fault within a block, and for each kernel a twin without it.
 *
 * Faults between blocks are in faults_grid.cu, faults of memory order in faults_order.cu, faults of
 * asynchronous copies and of what other blocks see in faults_late.cu.
 * faults.def lists all of them.
 * A kernel and its twin share a body and differ only in `fixed`, a constant argument:
 *
 *     race_raw(a, 0)    s[t] = in[t];                     out[t] = s[t ^ 32];
 *     race_raw(a, 1)    s[t] = in[t];  __syncthreads();   out[t] = s[t ^ 32];
 *
 * Each body is the smallest one whose fault survives compilation. planted_oracle.c computes the
 * output of the twins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Findings depend on which statements share a line. */
/* clang-format off */
#include "planted.h"

#define ALL_LANES 0xffffffffu

extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline uint32_t *shared_words(void)
{
    return (uint32_t *)shared_bytes;
}

/* ---- Races in shared memory ---- */

static __device__ inline void race_raw(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    if (fixed) __syncthreads();
    a.out[t] = s[t ^ 32];
}
extern "C" __global__ void race_raw_across(const __grid_constant__ struct planted_args a)
{ race_raw(a, 0); }
extern "C" __global__ void race_raw_across_ok(const __grid_constant__ struct planted_args a)
{ race_raw(a, 1); }

static __device__ inline void race_raw_in_warp(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    if (fixed) __syncwarp();
    a.out[t] = s[t ^ 1];
}
extern "C" __global__ void race_raw_warp(const __grid_constant__ struct planted_args a)
{ race_raw_in_warp(a, 0); }
extern "C" __global__ void race_raw_warp_ok(const __grid_constant__ struct planted_args a)
{ race_raw_in_warp(a, 1); }

static __device__ inline void race_write_after_read(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    __syncthreads();
    uint32_t x = s[t ^ 32];
    if (fixed) __syncthreads();
    s[t] = x;
    __syncthreads();
    a.out[t] = s[t ^ 32];
}
extern "C" __global__ void race_war(const __grid_constant__ struct planted_args a)
{ race_write_after_read(a, 0); }
extern "C" __global__ void race_war_ok(const __grid_constant__ struct planted_args a)
{ race_write_after_read(a, 1); }

static __device__ inline void race_write_write(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (t % 32 == 0 && (!fixed || t < 32)) s[0] = a.in[t];
    __syncthreads();
    a.out[t] = s[0];
}
extern "C" __global__ void race_waw(const __grid_constant__ struct planted_args a)
{ race_write_write(a, 0); }
extern "C" __global__ void race_waw_ok(const __grid_constant__ struct planted_args a)
{ race_write_write(a, 1); }

/* Both warps write the same value, so the race has no effect. */
extern "C" __global__ void race_waw_same(const __grid_constant__ struct planted_args a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (t % 32 == 0) s[0] = a.in[0];
    __syncthreads();
    a.out[t] = s[0];
}

/* One store by 32 lanes to one word: the result is undefined. */
static __device__ inline void race_write_write_lanes(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[fixed ? t : 0] = a.in[t];
    __syncwarp();
    a.out[t] = s[0];
}
extern "C" __global__ void race_waw_lanes(const __grid_constant__ struct planted_args a)
{ race_write_write_lanes(a, 0); }
extern "C" __global__ void race_waw_lanes_ok(const __grid_constant__ struct planted_args a)
{ race_write_write_lanes(a, 1); }

/* Reads a byte of 16 bytes that another warp writes. */
static __device__ inline void race_overlapping(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (t < 32) ((uint4 *)shared_bytes)[t] = ((const uint4 *)a.in)[t];
    if (fixed) __syncthreads();
    if (t >= 32) a.out[t - 32] = shared_bytes[16 * (t - 32) + 5];
}
extern "C" __global__ void race_overlap(const __grid_constant__ struct planted_args a)
{ race_overlapping(a, 0); }
extern "C" __global__ void race_overlap_ok(const __grid_constant__ struct planted_args a)
{ race_overlapping(a, 1); }

/* Two warps write adjacent bytes of a word, which is not a race. */
extern "C" __global__ void race_bytes_ok(const __grid_constant__ struct planted_args a)
{
    uint32_t t = threadIdx.x, at = t % 32 * 2 + t / 32;
    shared_bytes[at] = (unsigned char)a.in[t];
    __syncthreads();
    a.out[t] = shared_bytes[at ^ 2];
}

/* Without the second barrier of the loop, one warp may be an iteration ahead. */
static __device__ inline void race_next_round(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x, x = a.in[t];
    for (uint32_t round = 0; round < a.p; round++) {
        s[t] = x;
        __syncthreads();
        x += s[t ^ 32];
        if (fixed) __syncthreads();
    }
    a.out[t] = x;
}
extern "C" __global__ void race_loop(const __grid_constant__ struct planted_args a)
{ race_next_round(a, 0); }
extern "C" __global__ void race_loop_ok(const __grid_constant__ struct planted_args a)
{ race_next_round(a, 1); }

/* ---- Lost updates, and atomic with plain accesses ---- */

static __device__ inline void lost_in_shared(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (t == 0) s[0] = 0;
    __syncthreads();
    if (fixed) atomicAdd(&s[0], a.in[t]);
    else s[0] += a.in[t];
    __syncthreads();
    a.out[t] = s[0];
}
extern "C" __global__ void lost_shared(const __grid_constant__ struct planted_args a)
{ lost_in_shared(a, 0); }
extern "C" __global__ void lost_shared_ok(const __grid_constant__ struct planted_args a)
{ lost_in_shared(a, 1); }

static __device__ inline void lost_in_global(const struct planted_args &a, int fixed)
{
    uint32_t x = a.in[blockIdx.x * blockDim.x + threadIdx.x];
    if (fixed) atomicAdd(&a.out[0], x);
    else a.out[0] += x;
}
extern "C" __global__ void lost_global(const __grid_constant__ struct planted_args a)
{ lost_in_global(a, 0); }
extern "C" __global__ void lost_global_ok(const __grid_constant__ struct planted_args a)
{ lost_in_global(a, 1); }

static __device__ inline void mixed_in_shared(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (t == 0) s[0] = 0;
    __syncthreads();
    if (t < 32) atomicAdd(&s[0], a.in[t]);
    if (fixed) __syncthreads();
    if (t >= 32) a.out[t - 32] = s[0];
}
extern "C" __global__ void mixed_shared(const __grid_constant__ struct planted_args a)
{ mixed_in_shared(a, 0); }
extern "C" __global__ void mixed_shared_ok(const __grid_constant__ struct planted_args a)
{ mixed_in_shared(a, 1); }

static __device__ inline void mixed_in_global(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (t < 32) atomicAdd(&a.out[32], a.in[t]);
    if (fixed) __syncthreads();
    if (t >= 32) a.out[t - 32] = a.out[32];
}
extern "C" __global__ void mixed_global(const __grid_constant__ struct planted_args a)
{ mixed_in_global(a, 0); }
extern "C" __global__ void mixed_global_ok(const __grid_constant__ struct planted_args a)
{ mixed_in_global(a, 1); }

/* ---- Barriers that some threads do not reach ---- */

/* Threads without `meets` skip the first barrier; `again`: all threads reach a second one. */
static __device__ inline void barrier_some(const struct planted_args &a, int meets, int again)
{
    if (meets) __syncthreads();
    if (again) __syncthreads();
    a.out[threadIdx.x] = a.in[threadIdx.x];
}
extern "C" __global__ void barrier_half_block(const __grid_constant__ struct planted_args a)
{ barrier_some(a, threadIdx.x < 32, 1); }
extern "C" __global__ void barrier_half_warp(const __grid_constant__ struct planted_args a)
{ barrier_some(a, threadIdx.x % 32 < 16, 0); }
extern "C" __global__ void barrier_some_ok(const __grid_constant__ struct planted_args a)
{ barrier_some(a, 1, 1); }

/* Threads that have returned do not count at a barrier. This is defined. */
static __device__ inline void barrier_after_return(const struct planted_args &a, int returns)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    if (returns) return;
    __syncthreads();
    a.out[t] = s[t ^ 8];
}
extern "C" __global__ void barrier_returned(const __grid_constant__ struct planted_args a)
{ barrier_after_return(a, threadIdx.x >= 32); }
extern "C" __global__ void barrier_returned_warp(const __grid_constant__ struct planted_args a)
{ barrier_after_return(a, threadIdx.x % 32 >= 16); }
extern "C" __global__ void barrier_returned_ok(const __grid_constant__ struct planted_args a)
{ barrier_after_return(a, 0); }

static __device__ inline void barrier_two(const struct planted_args &a, int first)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (first) {
        s[t] = a.in[t];
        __syncthreads();
        a.out[t] = s[t ^ 1];
    } else {
        s[t] = ~a.in[t];
        __syncthreads();
        a.out[t] = ~s[t ^ 2];
    }
}
extern "C" __global__ void barrier_two_lines(const __grid_constant__ struct planted_args a)
{ barrier_two(a, threadIdx.x < 32); }
extern "C" __global__ void barrier_two_lines_warp(const __grid_constant__ struct planted_args a)
{ barrier_two(a, threadIdx.x % 32 < 16); }
extern "C" __global__ void barrier_two_lines_ok(const __grid_constant__ struct planted_args a)
{ barrier_two(a, a.p != 0); }

/* Warp 0 reaches p barriers, warp 1 one more. */
static __device__ inline void barrier_count(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x, rounds = fixed ? a.p : a.p + t / 32;
    for (uint32_t round = 0; round < rounds; round++) __syncthreads();
    a.out[t] = a.in[t];
}
extern "C" __global__ void barrier_counts(const __grid_constant__ struct planted_args a)
{ barrier_count(a, 0); }
extern "C" __global__ void barrier_counts_ok(const __grid_constant__ struct planted_args a)
{ barrier_count(a, 1); }

/* ---- Out of bounds: the last thread exceeds the end by one, or the first thread the start ---- */

static __device__ inline uint32_t next_place(int fixed)
{
    uint32_t i = threadIdx.x + 1;
    return fixed ? i % blockDim.x : i;
}

static __device__ inline void bounds_in_shared(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    __syncthreads();
    a.out[t] = s[next_place(fixed)];
}
extern "C" __global__ void bounds_shared_read(const __grid_constant__ struct planted_args a)
{ bounds_in_shared(a, 0); }
extern "C" __global__ void bounds_shared_read_ok(const __grid_constant__ struct planted_args a)
{ bounds_in_shared(a, 1); }

static __device__ inline void bounds_in_shared_write(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    s[next_place(fixed)] = a.in[t];
    __syncthreads();
    a.out[t] = s[t];
}
extern "C" __global__ void bounds_shared_write(const __grid_constant__ struct planted_args a)
{ bounds_in_shared_write(a, 0); }
extern "C" __global__ void bounds_shared_write_ok(const __grid_constant__ struct planted_args a)
{ bounds_in_shared_write(a, 1); }

extern "C" __global__ void bounds_read(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = a.in[next_place(0)]; }
extern "C" __global__ void bounds_read_ok(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = a.in[next_place(1)]; }

extern "C" __global__ void bounds_write(const __grid_constant__ struct planted_args a)
{ a.out[next_place(0)] = a.in[threadIdx.x]; }
extern "C" __global__ void bounds_write_ok(const __grid_constant__ struct planted_args a)
{ a.out[next_place(1)] = a.in[threadIdx.x]; }

extern "C" __global__ void bounds_atomic(const __grid_constant__ struct planted_args a)
{ atomicAdd(&a.out[next_place(0)], a.in[threadIdx.x]); }
extern "C" __global__ void bounds_atomic_ok(const __grid_constant__ struct planted_args a)
{ atomicAdd(&a.out[next_place(1)], a.in[threadIdx.x]); }

extern "C" __global__ void bounds_before(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = a.in[(int)threadIdx.x - 1]; }
extern "C" __global__ void bounds_before_ok(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = a.in[(threadIdx.x + blockDim.x - 1) % blockDim.x]; }

/* Only the first half of the last vector is inside the array. */
static __device__ inline void bounds_in_vector(const struct planted_args &a, uint32_t vectors)
{
    uint4 v = ((const uint4 *)a.in)[threadIdx.x % vectors];
    a.out[threadIdx.x] = v.x ^ v.y ^ v.z ^ v.w;
}
extern "C" __global__ void bounds_vector(const __grid_constant__ struct planted_args a)
{ bounds_in_vector(a, (a.n_in + 3) / 4); }
extern "C" __global__ void bounds_vector_ok(const __grid_constant__ struct planted_args a)
{ bounds_in_vector(a, a.n_in / 4); }

/* ---- Misaligned addresses of vector accesses ---- */

static __device__ inline void misaligned(const struct planted_args &a, uint32_t begin)
{
    uint4 v = *(const uint4 *)(a.in + 4 * threadIdx.x + begin);
    a.out[threadIdx.x] = v.x ^ v.y ^ v.z ^ v.w;
}
extern "C" __global__ void misaligned_global(const __grid_constant__ struct planted_args a)
{ misaligned(a, 1); }
extern "C" __global__ void misaligned_global_ok(const __grid_constant__ struct planted_args a)
{ misaligned(a, 0); }

static __device__ inline void misaligned_in_shared(const struct planted_args &a, uint32_t begin)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    for (uint32_t i = t; i < a.n_in; i += blockDim.x) s[i] = a.in[i];
    __syncthreads();
    uint4 v = *(const uint4 *)(s + 4 * t + begin);
    a.out[t] = v.x ^ v.y ^ v.z ^ v.w;
}
extern "C" __global__ void misaligned_shared(const __grid_constant__ struct planted_args a)
{ misaligned_in_shared(a, a.p / PLANTED_FAULT_P); }
extern "C" __global__ void misaligned_shared_ok(const __grid_constant__ struct planted_args a)
{ misaligned_in_shared(a, 0); }

/* ---- Uninitialised reads ---- */

static __device__ inline void uninitialized_in(const struct planted_args &a, uint32_t *to,
                                               int fixed)
{
    uint32_t t = threadIdx.x;
    if (fixed || t % 2 == 0) to[t] = a.in[t];
    __syncthreads();
    a.out[t] = to[t ^ 1];
}
extern "C" __global__ void uninitialized_shared(const __grid_constant__ struct planted_args a)
{ uninitialized_in(a, shared_words(), 0); }
extern "C" __global__ void uninitialized_shared_ok(const __grid_constant__ struct planted_args a)
{ uninitialized_in(a, shared_words(), 1); }
extern "C" __global__ void uninitialized_global(const __grid_constant__ struct planted_args a)
{ uninitialized_in(a, a.raw, 0); }
extern "C" __global__ void uninitialized_global_ok(const __grid_constant__ struct planted_args a)
{ uninitialized_in(a, a.raw, 1); }

/* A sum that is not initialised to 0. */
static __device__ inline void uninitialized_sum(const struct planted_args &a, uint32_t *sum,
                                                int fixed)
{
    uint32_t t = threadIdx.x;
    if (fixed && t == 0) sum[0] = 0;
    __syncthreads();
    atomicAdd(&sum[0], a.in[t]);
    __syncthreads();
    a.out[t] = sum[0];
}
extern "C" __global__ void uninitialized_atomic(const __grid_constant__ struct planted_args a)
{ uninitialized_sum(a, shared_words(), 0); }
extern "C" __global__ void uninitialized_atomic_ok(const __grid_constant__ struct planted_args a)
{ uninitialized_sum(a, shared_words(), 1); }
extern "C" __global__ void
uninitialized_atomic_global(const __grid_constant__ struct planted_args a)
{ uninitialized_sum(a, a.raw, 0); }
extern "C" __global__ void
    uninitialized_atomic_global_ok(const __grid_constant__ struct planted_args a)
{ uninitialized_sum(a, a.raw, 1); }

/* ---- Masks that differ from the calling lanes ---- */

static __device__ inline void mask_self(const struct planted_args &a, uint32_t mask)
{
    a.out[threadIdx.x] = __shfl_sync(mask, a.in[threadIdx.x], 1);
}
extern "C" __global__ void mask_lacks_self(const __grid_constant__ struct planted_args a)
{ mask_self(a, ~1u); }
extern "C" __global__ void mask_lacks_self_ok(const __grid_constant__ struct planted_args a)
{ mask_self(a, ALL_LANES); }

extern "C" __global__ void mask_ballot(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = __ballot_sync(~1u, a.in[threadIdx.x] & 1); }
extern "C" __global__ void mask_ballot_ok(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = __ballot_sync(ALL_LANES, a.in[threadIdx.x] & 1); }

/* Only half of the lanes call. lacks_self: the mask lacks the calling lane. outside: the source
 * lane is not in the mask. absent: the mask contains lanes that do not call. */
static __device__ inline void mask_half(const struct planted_args &a, uint32_t mask, int source)
{
    uint32_t t = threadIdx.x, x = 0;
    if (t < 16) x = __shfl_sync(mask, a.in[t], source);
    __syncwarp();
    a.out[t] = x;
}
extern "C" __global__ void mask_half_lacks_self(const __grid_constant__ struct planted_args a)
{ mask_half(a, 0xfffe, 4); }
extern "C" __global__ void mask_outside(const __grid_constant__ struct planted_args a)
{ mask_half(a, 0xffff, 20); }
extern "C" __global__ void mask_absent(const __grid_constant__ struct planted_args a)
{ mask_half(a, ALL_LANES, 4); }
extern "C" __global__ void mask_half_ok(const __grid_constant__ struct planted_args a)
{ mask_half(a, 0xffff, 4); }

/* The mask may contain lanes that have returned, but they cannot be sources. */
static __device__ inline void mask_returned(const struct planted_args &a, int source)
{
    uint32_t t = threadIdx.x;
    if (t >= 16) return;
    a.out[t] = __shfl_sync(ALL_LANES, a.in[t], source);
}
extern "C" __global__ void mask_exited(const __grid_constant__ struct planted_args a)
{ mask_returned(a, 20); }
extern "C" __global__ void mask_exited_ok(const __grid_constant__ struct planted_args a)
{ mask_returned(a, 4); }

/* Each half shuffles from the other half, but at a different line. */
extern "C" __global__ void mask_two_lines(const __grid_constant__ struct planted_args a)
{
    uint32_t t = threadIdx.x, x = a.in[t];
    if (t < 16) a.out[t] = __shfl_sync(ALL_LANES, x, t + 16);
    else a.out[t] = ~__shfl_sync(ALL_LANES, ~x, t - 16);
}
extern "C" __global__ void mask_two_lines_ok(const __grid_constant__ struct planted_args a)
{ a.out[threadIdx.x] = __shfl_xor_sync(ALL_LANES, a.in[threadIdx.x], 16); }

/* Half of the lanes have a mask of themselves, the others a mask of all lanes. */
extern "C" __global__ void mask_differs(const __grid_constant__ struct planted_args a)
{
    uint32_t t = threadIdx.x;
    a.out[t] = __shfl_xor_sync(t < 16 ? 0xffff : ALL_LANES, a.in[t], 1);
}
extern "C" __global__ void mask_differs_ok(const __grid_constant__ struct planted_args a)
{
    uint32_t t = threadIdx.x;
    a.out[t] = __shfl_xor_sync(t < 16 ? 0xffff : 0xffff0000, a.in[t], 1);
}
