/*
 * simt/faults_order.cu - planted faults of memory order, and twins, in which a fence or barrier is
 * missing or just sufficient.
 *
 * As in faults.cu, a kernel and its twin share a body and differ only in `fixed`. The result
 * depends on which threads execute which fence or barrier:
 *
 *     __syncwarp(0xffff)          orders 16 lanes, transitively
 *     __shfl_sync(), a ballot     order no memory
 *     __threadfence_block()       a flag, shared or global, then publishes data only in the block
 *     __threadfence()             covers earlier writes of its thread, even if another thread sets
 *                                 the flag after a barrier
 *
 * Many twins are correct, but a detector that keeps one record per word reports them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Findings depend on which statements share a line. */
/* clang-format off */
#include "planted_words.cuh"

#define ALL_LANES 0xffffffffu
#define LOWER_HALF 0x0000ffffu

/* ---- Accesses to one word that conflict only in part ---- */

/* Thread 0 does a plain read, then thread 32 a volatile read, then one of them an atomic write. The
 * write races with the plain read of another thread, but not with a volatile read. The flag has no
 * fence, so it orders only time. */
static __device__ inline void mixed_strength_by(const struct planted_args &a, uint32_t writer)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    if (t == 0) s[0] = a.in[0];
    __syncthreads();
    if (t == 0) {
        a.out[0] = s[0];
        while (look(a.flag) == 0) {}
    }
    if (t == 32) {
        look(&s[0]);
        tell(a.flag, 1);
    }
    if (t == writer) atomicExch(&s[0], a.in[1]);
    __syncthreads();
    if (t == 0) a.out[1] = s[0];
}
extern "C" __global__ void mixed_strength(const __grid_constant__ struct planted_args a)
{ mixed_strength_by(a, 32); }
extern "C" __global__ void mixed_strength_ok(const __grid_constant__ struct planted_args a)
{ mixed_strength_by(a, 0); }

/* Both warps write the same value, which has no effect, and then one of them another value. */
static __device__ inline void race_waw_same_other(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (t % 32 == 0) a.raw[0] = a.in[0];
    if (fixed) __syncthreads();
    if (t == 63) a.raw[0] = a.in[1];
    __syncthreads();
    a.out[t] = a.raw[0];
}
extern "C" __global__ void race_waw_same_then_other(const __grid_constant__ struct planted_args a)
{ race_waw_same_other(a, 0); }
extern "C" __global__ void
    race_waw_same_then_other_ok(const __grid_constant__ struct planted_args a)
{ race_waw_same_other(a, 1); }

/* In each round every thread changes a byte, or two, of words that it shares with other threads,
 * and in the next round a different one. Without `fixed` the barrier between rounds is missing. */
template <typename small>
static __device__ inline void change_parts(const struct planted_args &a, void *memory, int fixed)
{
    small *parts = (small *)memory;
    uint32_t t = threadIdx.x, own = t % 32 * 2 + t / 32;
    parts[own] = (small)a.in[t];
    __syncthreads();
    for (uint32_t round = 0; round < a.p; round++) {
        parts[own ^ round] = (small)(parts[own ^ round] * 5 + a.in[t]);
        if (fixed) __syncthreads();
    }
    if (!fixed) __syncthreads();
    a.out[t] = parts[t];
}
extern "C" __global__ void parts_bytes_shared(const __grid_constant__ struct planted_args a)
{ change_parts<uint8_t>(a, shared_bytes, 0); }
extern "C" __global__ void parts_bytes_shared_ok(const __grid_constant__ struct planted_args a)
{ change_parts<uint8_t>(a, shared_bytes, 1); }
extern "C" __global__ void parts_halves_shared(const __grid_constant__ struct planted_args a)
{ change_parts<uint16_t>(a, shared_bytes, 0); }
extern "C" __global__ void parts_halves_shared_ok(const __grid_constant__ struct planted_args a)
{ change_parts<uint16_t>(a, shared_bytes, 1); }
extern "C" __global__ void parts_bytes_global(const __grid_constant__ struct planted_args a)
{ change_parts<uint8_t>(a, a.raw, 0); }
extern "C" __global__ void parts_bytes_global_ok(const __grid_constant__ struct planted_args a)
{ change_parts<uint8_t>(a, a.raw, 1); }
extern "C" __global__ void parts_halves_global(const __grid_constant__ struct planted_args a)
{ change_parts<uint16_t>(a, a.raw, 0); }
extern "C" __global__ void parts_halves_global_ok(const __grid_constant__ struct planted_args a)
{ change_parts<uint16_t>(a, a.raw, 1); }

/* ---- Warp operations that order no memory ---- */

static __device__ inline void race_beside_shuffle(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    uint32_t x = __shfl_xor_sync(ALL_LANES, a.in[t], 1);
    if (fixed) __syncwarp();
    a.out[t] = s[t ^ 1] + x;
}
extern "C" __global__ void race_shuffle(const __grid_constant__ struct planted_args a)
{ race_beside_shuffle(a, 0); }
extern "C" __global__ void race_shuffle_ok(const __grid_constant__ struct planted_args a)
{ race_beside_shuffle(a, 1); }

static __device__ inline void race_beside_ballot(const struct planted_args &a, int fixed)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    s[t] = a.in[t];
    uint32_t odd = __ballot_sync(ALL_LANES, a.in[t] & 1);
    if (fixed) __syncwarp();
    a.out[t] = s[t ^ 1] + odd;
}
extern "C" __global__ void race_ballot(const __grid_constant__ struct planted_args a)
{ race_beside_ballot(a, 0); }
extern "C" __global__ void race_ballot_ok(const __grid_constant__ struct planted_args a)
{ race_beside_ballot(a, 1); }

/* ---- Look-back for half a warp: lane 0 waits, or sets the flag, for 16 lanes ---- */

static __device__ inline void lookback_hears(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) {
            a.out[0] = a.in[0];
            __threadfence();
            tell(a.flag, 1);
        }
    } else if (t < 16) {
        if (t == 0) {
            while (look(a.flag) == 0) {}
            __threadfence();
        }
        if (fixed) __syncwarp(LOWER_HALF);
        a.out[1 + t] = a.out[0];
    }
    __syncwarp(); /* keeps the upper half in the kernel */
}
extern "C" __global__ void lookback_half_hears(const __grid_constant__ struct planted_args a)
{ lookback_hears(a, 0); }
extern "C" __global__ void lookback_half_hears_ok(const __grid_constant__ struct planted_args a)
{ lookback_hears(a, 1); }

static __device__ inline void lookback_tells(const struct planted_args &a, int fixed)
{
    uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t < 16) {
            a.out[t] = a.in[t];
            if (fixed) __syncwarp(LOWER_HALF);
            if (t == 0) {
                __threadfence();
                tell(a.flag, 1);
            }
        }
        __syncwarp();
    } else {
        if (t == 0) {
            while (look(a.flag) == 0) {}
            __threadfence();
        }
        __syncwarp();
        if (t < 16) a.out[16 + t] = a.out[t];
    }
}
extern "C" __global__ void lookback_half_tells(const __grid_constant__ struct planted_args a)
{ lookback_tells(a, 0); }
extern "C" __global__ void lookback_half_tells_ok(const __grid_constant__ struct planted_args a)
{ lookback_tells(a, 1); }

/* ---- The scope of a fence ---- */

static __device__ inline void fence(int far)
{
    if (far) __threadfence();
    else __threadfence_block();
}

/* A fence of the block is not sufficient between blocks, on either side. */
static __device__ inline void lookback_fences(const struct planted_args &a, int writer, int reader)
{
    if (blockIdx.x == 0) {
        a.out[0] = a.in[0];
        fence(writer);
        tell(a.flag, 1);
    } else {
        while (look(a.flag) == 0) {}
        fence(reader);
        a.out[1] = a.out[0] + 1;
    }
}
extern "C" __global__ void lookback_block_fence(const __grid_constant__ struct planted_args a)
{ lookback_fences(a, 0, 0); }
extern "C" __global__ void lookback_block_release(const __grid_constant__ struct planted_args a)
{ lookback_fences(a, 0, 1); }
extern "C" __global__ void lookback_block_acquire(const __grid_constant__ struct planted_args a)
{ lookback_fences(a, 1, 0); }
extern "C" __global__ void lookback_block_fence_ok(const __grid_constant__ struct planted_args a)
{ lookback_fences(a, 1, 1); }

/* It is sufficient between warps of a block. */
static __device__ inline void block_fences(const struct planted_args &a, uint32_t *data,
                                           uint32_t *flag, int fixed)
{
    uint32_t t = threadIdx.x;
    if (t == 0) tell(flag, 0);
    __syncthreads();
    if (t == 0) {
        *data = a.in[0];
        if (fixed) __threadfence_block();
        tell(flag, 1);
    } else if (t == 32) {
        while (look(flag) == 0) {}
        if (fixed) __threadfence_block();
        a.out[0] = *data;
    }
}
extern "C" __global__ void block_fence_shared(const __grid_constant__ struct planted_args a)
{ block_fences(a, shared_words(), shared_words() + 1, 0); }
extern "C" __global__ void block_fence_shared_ok(const __grid_constant__ struct planted_args a)
{ block_fences(a, shared_words(), shared_words() + 1, 1); }
extern "C" __global__ void block_fence_global(const __grid_constant__ struct planted_args a)
{ block_fences(a, a.raw, a.flag, 0); }
extern "C" __global__ void block_fence_global_ok(const __grid_constant__ struct planted_args a)
{ block_fences(a, a.raw, a.flag, 1); }
extern "C" __global__ void block_fence_mixed_ok(const __grid_constant__ struct planted_args a)
{ block_fences(a, a.raw, shared_words(), 1); }

/* Thread 32 writes data and executes a fence (fixed: after the write). Thread 0 sets the flag after
 * a barrier of both; `fences`: with its own fence before the barrier. */
static __device__ inline void lookback_other(const struct planted_args &a, int fixed, int fences)
{
    uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 32) {
            if (!fixed) __threadfence();
            a.out[0] = a.in[0];
            if (fixed) __threadfence();
        }
        if (t == 0 && fences) __threadfence();
        __syncthreads();
        if (t == 0) tell(a.flag, 1);
    } else if (t == 0) {
        while (look(a.flag) == 0) {}
        __threadfence();
        a.out[1] = a.out[0] + 1;
    }
}
extern "C" __global__ void lookback_other_tells(const __grid_constant__ struct planted_args a)
{ lookback_other(a, 0, 0); }
extern "C" __global__ void lookback_other_tells_ok(const __grid_constant__ struct planted_args a)
{ lookback_other(a, 1, 0); }
extern "C" __global__ void lookback_other_fences(const __grid_constant__ struct planted_args a)
{ lookback_other(a, 0, 1); }
extern "C" __global__ void lookback_other_fences_ok(const __grid_constant__ struct planted_args a)
{ lookback_other(a, 1, 1); }

/* Four neighbouring blocks count themselves; the last one replaces their counter. The atomics of
 * the other blocks are ordered before its own, which it has executed last. */
extern "C" __global__ void last_replaces_ok(const __grid_constant__ struct planted_args a)
{
    const uint32_t four = blockIdx.x / 4;
    __threadfence();
    const uint32_t last = atomicAdd(&a.out[four], 1) == 3;
    __threadfence();
    if (last) a.out[four] = a.in[four];
}
