/*
 * finish.cuh - the last phase of every rung: a block sorts a bucket, whose keys agree in their
 * leading bits.
 *
 * A bucket that fits on chip is sorted there by a bitonic network (rung 2 of the ladder bitonic).
 * With values, the network sorts the keys together with their positions in the bucket, so it keeps
 * the order that the scatters produced.  Larger buckets, which only skewed keys have, are sorted
 * from the least significant digit by stable scatters of one block, ranked by msd_1_rank().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef LADDER_MSD_FINISH_CUH
#define LADDER_MSD_FINISH_CUH

#include "ladder/msd/msd.cuh"

template <typename item> struct msd_finish_shared {
    enum { CHIP = sizeof(item) == 4 ? 6144 : 5120 }; /* items that fit on chip */
    union {
        item x[CHIP];
        struct {
            msd_shared<item, MSD_KEYS> scatter;
            uint32_t rows[MSD_WARPS * MSD_BINS];
        } large;
    };
};

/* With values, the item of a network is the key above the position in the bucket. */
static __device__ inline uint32_t msd_finish_load(const uint32_t *bucket, uint32_t i)
{
    return bucket[i];
}

static __device__ inline uint64_t msd_finish_load(const uint64_t *bucket, uint32_t i)
{
    return bucket[i] >> 32 << 32 | i;
}

static __device__ inline void msd_finish_store(uint32_t x, const uint32_t *, element *out,
                                               uint32_t *, uint64_t i)
{
    from_order_bits(x, &out[i]);
}

static __device__ inline void msd_finish_store(uint64_t x, const uint64_t *bucket, element *out,
                                               uint32_t *values, uint64_t i)
{
    from_order_bits((uint32_t)(x >> 32), &out[i]);
    values[i] = (uint32_t)bucket[(uint32_t)x];
}

/* All threads of the block, or for few items only its first warp, sort x. */
template <typename item> static __device__ inline void msd_finish_chip(item *x, uint32_t count)
{
    const bool one_warp = count <= 128;
    const uint32_t threads = one_warp ? 32 : MSD_THREADS;
    uint32_t pairs = 1;
    while (2 * pairs < count) pairs *= 2;
    if (threadIdx.x >= threads) return;
    for (uint32_t half = 1; half < count; half *= 2)
        for (uint32_t near = half; near > 0; near /= 2) {
            const uint32_t flip = near == half ? 2 * half - 1 : near;
            for (uint32_t pair = threadIdx.x; pair < pairs; pair += threads) {
                const uint32_t i = pair / near * 2 * near + pair % near, j = i ^ flip;
                if (j < count && x[j] < x[i]) {
                    const item lower = x[j];
                    x[j] = x[i];
                    x[i] = lower;
                }
            }
            if (one_warp)
                __syncwarp(); /* the same for one warp */
            else
                __syncthreads(); /* before the next step reads them */
        }
}

/* Three stable passes by 8 bits; the result is in `other`. */
template <typename item>
static __device__ inline void msd_finish_large(msd_shared<item, MSD_KEYS> &sh, uint32_t *rows,
                                               item *items, item *other, uint32_t count)
{
    const unsigned t = threadIdx.x;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        sh.count[t] = 0;
        __syncthreads(); /* all counts are 0, and the previous pass has ended */
        for (uint32_t i = t; i < count; i += MSD_THREADS)
            atomicAdd(&sh.count[msd_digit(items[i], shift, MSD_BINS)], 1u);
        __syncthreads(); /* the bucket is counted */
        sh.next[t] = msd_exclusive(sh.count[t], sh.of_warp);
        __syncthreads(); /* all threads have read of_warp */
        msd_scatter<item, MSD_KEYS, true, msd_1_rank<MSD_KEYS>>(sh, rows, items, 0, count, shift,
                                                                MSD_BINS, other);
        item *swap = items;
        items = other;
        other = swap;
    }
    __syncthreads(); /* the last pass has ended */
}

/* Block i sorts bucket i of gridDim.x.  values: NULL without values. */
template <typename item>
static __device__ inline void
msd_finish_bucket(msd_finish_shared<item> &sh, item *items, item *other, uint64_t n, element *out,
                  uint32_t *values, const uint32_t *starts, unsigned stride)
{
    const uint32_t begin = starts[blockIdx.x * stride];
    const uint32_t count = msd_bucket_end(starts, stride, blockIdx.x, gridDim.x, n) - begin;
    const item *bucket = items + begin;
    if (count > msd_finish_shared<item>::CHIP) {
        msd_finish_large(sh.large.scatter, sh.large.rows, items + begin, other + begin, count);
        bucket = other + begin;
        for (uint32_t i = threadIdx.x; i < count; i += MSD_THREADS)
            msd_finish_store(msd_finish_load(bucket, i), bucket, out, values, (uint64_t)begin + i);
        return;
    }
    for (uint32_t i = threadIdx.x; i < count; i += MSD_THREADS)
        sh.x[i] = msd_finish_load(bucket, i);
    __syncthreads(); /* the bucket is loaded */
    msd_finish_chip(sh.x, count);
    __syncthreads(); /* the bucket is sorted */
    for (uint32_t i = threadIdx.x; i < count; i += MSD_THREADS)
        msd_finish_store(sh.x[i], bucket, out, values, (uint64_t)begin + i);
}

extern "C" __global__ void msd_finish(uint32_t *items, uint32_t *other, uint64_t n, element *out,
                                      const uint32_t *starts, unsigned stride)
{
    __shared__ msd_finish_shared<uint32_t> sh;
    msd_finish_bucket<uint32_t>(sh, items, other, n, out, NULL, starts, stride);
}

/* The second half of out receives the values. */
extern "C" __global__ void msd_finish_pairs(uint64_t *items, uint64_t *other, uint64_t n,
                                            element *out, const uint32_t *starts, unsigned stride)
{
    __shared__ msd_finish_shared<uint64_t> sh;
    msd_finish_bucket<uint64_t>(sh, items, other, n, out, (uint32_t *)(out + n), starts, stride);
}

#endif
