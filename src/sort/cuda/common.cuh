/*
 * sort/cuda/common.cuh - device code that the sort's kernels share: sizes, digits, buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SORT_CUDA_COMMON_CUH
#define ECHI_SORT_CUDA_COMMON_CUH

#include "cuda/device/instance.cuh"
#include "cuda/device/order.cuh"
#include "cuda/device/ptx.cuh"
#include "cuda/device/block_rank.cuh"
#include "sort/cuda/passes.h"

#if defined(__CUDA_ARCH__)
#define STAGED SORT_STAGED(KEY_BYTES, VAL_BYTES, __CUDA_ARCH__ / 10)
#else
#define STAGED SORT_STAGED(KEY_BYTES, VAL_BYTES, 90)
#endif

/* This instance's row of tuning.h. */
#if STAGED
#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (threads)
enum { THREADS = 0 SORT_STAGED_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (items)
enum { ITEMS = 0 SORT_STAGED_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks)                                                    \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (blocks)
enum { BLOCKS = 0 SORT_STAGED_TUNING(ROW) };
#undef ROW
#else
#define ROW(key, value, threads, items, blocks, large)                                             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (threads)
enum { THREADS = 0 SORT_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks, large)                                             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (items)
enum { ITEMS = 0 SORT_TUNING(ROW) };
#undef ROW
#define ROW(key, value, threads, items, blocks, large)                                             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (blocks)
enum { BLOCKS = 0 SORT_TUNING(ROW) };
#undef ROW
#endif
#define ROW(key, value, threads, items, blocks, large)                                             \
    +((key) == KEY_BYTES && (value) == VAL_BYTES) * (large)
enum { BLOCK_ITEMS = 0 SORT_TUNING(ROW) };
#undef ROW
/* Before sm_80 a multiprocessor holds 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = BLOCKS * THREADS <= 1024 ? (int)BLOCKS : 1024 / THREADS };
#else
enum { RESIDENT = BLOCKS };
#endif
enum { WARPS = THREADS / SORT_WARP, TILE = THREADS * ITEMS };

/* Dynamic shared memory; each kernel accesses it as its own struct. */
extern __shared__ __align__(16) unsigned char shared_bytes[];

static __device__ inline uint32_t digit_of(const struct sort_common &a, ukey e, int pass)
{
    int shift = a.begin_bit + pass * SORT_DIGIT_BITS;
    int bits = min(a.end_bit - shift, (int)SORT_DIGIT_BITS);
#if VAL_BYTES
    e = order_merge(a.order, e);
#endif
    return (uint32_t)(e >> shift) & ((1u << bits) - 1);
}

/* Whether the map of the keys only inverts bits, and keys that compare equal are identical. */
static __device__ inline bool order_inverts(const struct echi_order &o)
{
    return !((ukey)o.float_mask | (ukey)o.shift | (ukey)o.merge) && (ukey)o.last == (ukey)-1;
}

static __device__ inline uint32_t bits_of(uint64_t x)
{
    return 64 - __clzll((long long)x);
}

static __device__ inline uint64_t bits_mask(uint32_t bits)
{
    return bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

static __device__ inline const ukey *keys_of(const struct sort_common &a, uint32_t buffer)
{
    return (const ukey *)(buffer == SORT_IN    ? a.keys_in
                          : buffer == SORT_OUT ? a.keys_out
                                               : a.keys_tmp);
}

/* A barrier for all blocks of the grid, which must be resident together: the times-th barrier,
 * counted from 1, since *arrived was 0. */
static __device__ inline void grid_barrier(uint32_t *arrived, uint32_t times)
{
    __syncthreads(); /* all writes of this block are done */
    if (threadIdx.x == 0) {
        add_acq_rel(arrived, 1); /* release: publishes the block's writes to all blocks that observe
                                    the sum */
        wait_acquire(arrived, times * gridDim.x);
    }
    __syncthreads(); /* the writes of all blocks can be read */
}

/* The position of sample t: a random one in part t of an array. */
static __device__ inline uint32_t sample_position(uint32_t t, uint32_t part)
{
    return t * part + __umulhi(t * 2654435761u >> 7, part);
}

/* Tile status descriptors of the decoupled look-back: a state in the top two bits, a count below.
 * The states are: nothing, the tile's own count (aggregate), and the count of all tiles up to this
 * one (inclusive prefix).  Descriptors are not cleared between passes or levels: odd and even ones
 * use different states, so that those of the previous pass count as "nothing". */
enum { COUNT_BITS = 30 };
#define COUNT_MASK ((1u << COUNT_BITS) - 1)

static __device__ inline uint32_t state_own(uint32_t epoch)
{
    return (epoch & 1 ? 3u : 1u) << COUNT_BITS;
}

static __device__ inline uint32_t state_all(uint32_t epoch)
{
    return (epoch & 1 ? 0u : 2u) << COUNT_BITS;
}

#endif
