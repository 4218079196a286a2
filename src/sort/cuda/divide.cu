/*
 * sort/cuda/divide.cu - moves keys to buckets by a table from bins: the first step of a distributed
 * sort (sort/divide.h).
 *
 *     bin       (key - low) >> shift, in the encoded form        |.|.|.|.|.|.|.|.|
 *     bucket    of a table with 16 bits per bin                  | 0 |1|   2   |3|
 *     tile      placed by bucket in shared memory; each bucket is written as one run
 *
 * A tile reserves the positions of its keys by atomic additions, so the order in a bucket is not
 * determined.  The keys are written as they were read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/common.cuh"
#include "sort/cuda/divide.h"

enum {
    DIVIDE_ITEMS = SORT_MSD_THREAD_BYTES / KEY_BYTES,
    DIVIDE_TILE = SORT_MSD_THREADS * DIVIDE_ITEMS,
    DIVIDE_EACH = SORT_DIVIDE_EACH,
    DIVIDE_WARPS = SORT_MSD_THREADS / 32
};

struct divide_shared {
    ukey keys[DIVIDE_TILE];               /* encoded, by bucket */
    uint32_t next[ECHI_DIVIDE_BUCKETS];   /* count of each bucket; then the place of its next key */
    uint32_t target[ECHI_DIVIDE_BUCKETS]; /* a key of this bucket and place p goes to target + p */
    uint32_t sums[DIVIDE_WARPS];
    uint16_t bucket_of[ECHI_DIVIDE_BINS];
};
static_assert(sizeof(struct divide_shared) <= SORT_DIVIDE_SHARED_BYTES(KEY_BYTES),
              "the host gives less shared memory than the kernel uses");

static __device__ inline uint32_t divide_bucket(const struct sort_divide_args &a,
                                                const struct divide_shared &sh, ukey e)
{
    const ukey low = (ukey)a.low, most = low + (ukey)a.span;
    const ukey x = (e < low ? low : e > most ? most : e) - low;
    return sh.bucket_of[(uint32_t)(x >> a.shift)];
}

/* Converts the counts to places and reserves the positions; all counts are complete. */
static __device__ inline void divide_plan(const struct sort_divide_args &a,
                                          struct divide_shared &sh)
{
    const uint32_t first = threadIdx.x * DIVIDE_EACH, warp = threadIdx.x / 32;
    uint32_t count[DIVIDE_EACH], room[DIVIDE_EACH], sum = 0;
#pragma unroll
    for (int j = 0; j < DIVIDE_EACH; j++) {
        count[j] = sh.next[first + j];
        room[j] = 0;
        if (count[j]) room[j] = atomicAdd(&a.next[first + j], count[j]);
        sum += count[j];
    }
    const uint32_t inclusive = warp_scan(sum);
    if (lane_id() == 31) sh.sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t place = inclusive - sum;
#pragma unroll
    for (uint32_t w = 0; w < DIVIDE_WARPS; w++)
        if (w < warp) place += sh.sums[w];
#pragma unroll
    for (int j = 0; j < DIVIDE_EACH; j++) {
        sh.next[first + j] = place;
        sh.target[first + j] = room[j] - place;
        place += count[j];
    }
}

/* Writes the keys in the order of their places, so that all lanes of a warp write. */
static __device__ inline void divide_write(const struct sort_divide_args &a,
                                           const struct divide_shared &sh, uint32_t here)
{
    ukey *out = (ukey *)a.out;
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++) {
        const uint32_t place = threadIdx.x + i * SORT_MSD_THREADS;
        if (place < here) {
            const ukey e = sh.keys[place];
            out[sh.target[divide_bucket(a, sh, e)] + place] = order_decode(a.order, e);
        }
    }
}

static __device__ inline void divide_load(const struct sort_divide_args &a, uint64_t at,
                                          ukey (&key)[DIVIDE_ITEMS])
{
    const ukey *in = (const ukey *)a.keys_in;
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++) {
        const uint64_t mine = at + threadIdx.x + i * SORT_MSD_THREADS;
        key[i] = mine < a.n ? in[mine] : (ukey)0;
    }
}

/* Places a tile by bucket. */
static __device__ inline void divide_place(const struct sort_divide_args &a,
                                           struct divide_shared &sh, uint32_t here,
                                           ukey (&key)[DIVIDE_ITEMS])
{
    const uint32_t me = threadIdx.x;
    rank_clear(sh.next, ECHI_DIVIDE_BUCKETS);
    if (!order_plain(a.order))
#pragma unroll
        for (int i = 0; i < DIVIDE_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    __syncthreads(); /* the counters are clear, and the table is loaded */
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++)
        if (me + i * SORT_MSD_THREADS < here) atomicAdd(&sh.next[divide_bucket(a, sh, key[i])], 1);
    __syncthreads(); /* every key is counted */
    divide_plan(a, sh);
    __syncthreads(); /* the places are written */
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++)
        if (me + i * SORT_MSD_THREADS < here)
            sh.keys[atomicAdd(&sh.next[divide_bucket(a, sh, key[i])], 1)] = key[i];
    __syncthreads(); /* the tile is sorted by bucket */
}

/* The next tile is read while one is written. */
static __device__ inline void divide_all(const struct sort_divide_args &a, struct divide_shared &sh)
{
    const uint64_t step = (uint64_t)gridDim.x * DIVIDE_TILE;
    ukey key[DIVIDE_ITEMS];
    divide_load(a, (uint64_t)blockIdx.x * DIVIDE_TILE, key);
    for (uint64_t at = (uint64_t)blockIdx.x * DIVIDE_TILE; at < a.n; at += step) {
        const uint32_t here = (uint32_t)min(a.n - at, (uint64_t)DIVIDE_TILE);
        divide_place(a, sh, here, key);
        divide_load(a, at + step, key);
        divide_write(a, sh, here);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_divide(const __grid_constant__ struct sort_divide_args a)
{
    struct divide_shared &sh = *(struct divide_shared *)shared_bytes;
    for (uint32_t i = threadIdx.x; i < ECHI_DIVIDE_BINS; i += SORT_MSD_THREADS)
        sh.bucket_of[i] = a.bucket_of[i];
    divide_all(a, sh);
}
