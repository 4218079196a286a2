/*
 * simt/faults_late.cu - planted faults whose effect depends on when something happens, and twins:
 * asynchronous copies that are not waited for, and values that other blocks see late.
 *
 * As in faults.cu, a kernel and its twin share a body. In the kernels of the last two parts all
 * accesses to shared values are volatile, so there is no race to report: only the result is wrong,
 * if another block runs between two stores (the option yield), or sees a block's stores in another
 * order (the option weak).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Findings depend on which statements share a line. */
/* clang-format off */
#include "cuda/device/ptx_async.cuh"
#include "planted_words.cuh"

/* ---- Copies of single threads ---- */

enum { COMMIT = 1, WAIT = 2, BARRIER = 4, WAIT_AFTER = 8 };

static __device__ inline void copy_one(const struct planted_args &a, int how)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    copy_async_4(&s[t], &a.in[t]);
    if (how & COMMIT) copy_commit();
    if (how & WAIT) copy_wait<0>();
    if (how & BARRIER) __syncthreads(); /* the copies of all threads are complete */
    if (how & WAIT_AFTER) copy_wait<0>();
    a.out[t] = s[t ^ 32];
}
extern "C" __global__ void copy_no_wait(const __grid_constant__ struct planted_args a)
{ copy_one(a, COMMIT | BARRIER); }
extern "C" __global__ void copy_no_commit(const __grid_constant__ struct planted_args a)
{ copy_one(a, WAIT | BARRIER); }
extern "C" __global__ void copy_no_barrier(const __grid_constant__ struct planted_args a)
{ copy_one(a, COMMIT | WAIT); }
extern "C" __global__ void copy_wait_late(const __grid_constant__ struct planted_args a)
{ copy_one(a, COMMIT | BARRIER | WAIT_AFTER); }
extern "C" __global__ void copy_ok(const __grid_constant__ struct planted_args a)
{ copy_one(a, COMMIT | WAIT | BARRIER); }

/* Thread t reads its own two words, of which the second one belongs to a later group. */
template <int GROUPS>
static __device__ inline void copy_two(const struct planted_args &a)
{
    uint32_t *s = shared_words(), t = threadIdx.x;
    for (uint32_t i = 0; i < 2; i++) {
        copy_async_4(&s[64 * i + t], &a.in[64 * i + t]);
        copy_commit();
    }
    copy_wait<1>();
    a.out[t] = s[t];
    copy_wait<GROUPS>();
    a.out[64 + t] = s[64 + t];
}
extern "C" __global__ void copy_group(const __grid_constant__ struct planted_args a)
{ copy_two<1>(a); }
extern "C" __global__ void copy_group_ok(const __grid_constant__ struct planted_args a)
{ copy_two<0>(a); }

/* Two slots are filled in turn. Without the wait, a thread reads the word of two turns before. */
template <int GROUPS>
static __device__ inline void copy_ring_of(const struct planted_args &a)
{
    uint32_t *s = shared_words(), t = threadIdx.x, sum = 0;
    for (uint32_t i = 0; i < 5; i++) {
        if (i < 4) copy_async_4(&s[i % 2 * 32 + t], &a.in[i * 32 + t]);
        copy_commit();
        copy_wait<GROUPS>();
        if (i) sum += s[(i - 1) % 2 * 32 + t];
    }
    a.out[t] = sum;
}
extern "C" __global__ void copy_ring(const __grid_constant__ struct planted_args a)
{ copy_ring_of<2>(a); }
extern "C" __global__ void copy_ring_ok(const __grid_constant__ struct planted_args a)
{ copy_ring_of<1>(a); }

/* ---- Bulk copies ---- */

/* parity: of the phase that the threads wait for. 1, the phase before the first, is complete. */
static __device__ inline void bulk(const struct planted_args &a, int waits, uint32_t parity)
{
    uint32_t *s = shared_words() + 4, t = threadIdx.x;
    uint64_t *barrier = (uint64_t *)shared_bytes;
    if (t == 0) mbarrier_init(barrier, 1);
    __syncthreads(); /* the barrier is initialised */
    if (t == 0) {
        mbarrier_arrive_expect(barrier, 256);
        copy_bulk(s, a.in, 256, barrier);
    }
    if (!waits) __syncthreads();
    while (waits && !mbarrier_try_wait(barrier, parity)) {}
    a.out[t] = s[t ^ 32];
}
extern "C" __global__ void bulk_no_wait(const __grid_constant__ struct planted_args a)
{ bulk(a, 0, 0); }
extern "C" __global__ void bulk_parity(const __grid_constant__ struct planted_args a)
{ bulk(a, 1, 1); }
extern "C" __global__ void bulk_ok(const __grid_constant__ struct planted_args a)
{ bulk(a, 1, 0); }

/* ---- Decoupled look-back: states that only another block can see ---- */

/* The two highest bits of a status: the value of the block, or the sum up to the block. */
enum { VALUE = 1, SUM = 2, TICKET = 15 };

static __device__ inline uint32_t status(uint32_t kind, uint32_t value)
{
    return kind << 30 | (value & 0x3fffffff);
}

/* A block of one thread publishes its value, adds the values before it, and publishes the sum. The
 * blocks are numbered in the order in which they begin. */
static __device__ inline void lookback_sum(const struct planted_args &a, int fixed)
{
    const uint32_t b = atomicAdd(&a.flag[TICKET], 1u);
    uint32_t sum = 0, value = a.in[b];
    tell(&a.flag[b], status(b ? VALUE : SUM, value));
    for (uint32_t i = b; i-- > 0;) {
        uint32_t other = look(&a.flag[i]);
        while (other >> 30 == 0) other = look(&a.flag[i]);
        if (fixed || other >> 30 == SUM) sum += other;
        if (other >> 30 == SUM) break;
    }
    tell(&a.flag[b], status(SUM, sum + value));
    a.out[b] = sum & 0x3fffffff;
}
extern "C" __global__ void lookback_value(const __grid_constant__ struct planted_args a)
{ lookback_sum(a, 0); }
extern "C" __global__ void lookback_value_ok(const __grid_constant__ struct planted_args a)
{ lookback_sum(a, 1); }

/* ---- Stores that another block sees in another order ---- */

enum { NO_FENCE, BLOCK_FENCE, DEVICE_FENCE };

/* Block 2 i passes a word to block 2 i + 1; two volatile stores without a fence are not ordered. */
static __device__ inline void weak_words(const struct planted_args &a, int fence)
{
    const uint32_t pair = blockIdx.x / 2;
    if (blockIdx.x % 2 == 0) {
        tell(&a.out[2 * pair], a.in[pair]);
        if (fence == BLOCK_FENCE) __threadfence_block();
        if (fence == DEVICE_FENCE) __threadfence();
        tell(&a.flag[pair], 1);
    } else {
        while (look(&a.flag[pair]) == 0) {}
        __threadfence();
        tell(&a.out[2 * pair + 1], look(&a.out[2 * pair]));
    }
}
extern "C" __global__ void weak_no_fence(const __grid_constant__ struct planted_args a)
{ weak_words(a, NO_FENCE); }
extern "C" __global__ void weak_block_fence(const __grid_constant__ struct planted_args a)
{ weak_words(a, BLOCK_FENCE); }
extern "C" __global__ void weak_fence_ok(const __grid_constant__ struct planted_args a)
{ weak_words(a, DEVICE_FENCE); }

/* All threads of block 0 write; after a barrier, thread 0 sets the flag. Its fence covers what the
 * other threads wrote before the barrier. */
static __device__ inline void weak_gather_all(const struct planted_args &a, int fixed)
{
    const uint32_t t = threadIdx.x;
    if (blockIdx.x == 0) {
        tell(&a.out[t], a.in[t]);
        __syncthreads(); /* all threads have written before thread 0 sets the flag */
        if (fixed && t == 0) __threadfence();
        if (t == 0) tell(a.flag, 1);
    } else {
        if (t == 0)
            while (look(a.flag) == 0) {}
        __threadfence();
        __syncthreads(); /* thread 0 has seen the flag before any thread reads */
        tell(&a.out[64 + t], look(&a.out[t ^ 32]));
    }
}
extern "C" __global__ void weak_gather(const __grid_constant__ struct planted_args a)
{ weak_gather_all(a, 0); }
extern "C" __global__ void weak_gather_ok(const __grid_constant__ struct planted_args a)
{ weak_gather_all(a, 1); }
