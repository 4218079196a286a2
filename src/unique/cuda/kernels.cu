/*
 * unique/cuda/kernels.cu - distinct elements and the mode, from sorted keys; keys of 8 and 16 bits
 * also without a sort (present.cuh).
 *
 *     unique_heads    one tile per block: marks the first key of each run (head), ranks the heads
 *                     by decoupled look-back, writes what depends on one run, and the ranks of all
 *                     elements at their positions
 *     unique_firsts   if the first of equal keys must be written, and their bits differ: finds the
 *                     first -0 or +0, and the first NaN, of the input
 *     unique_counts   the lengths of the runs, from their starts
 *     unique_appear   one tile of positions per block: ranks the runs in order of appearance, and
 *                     writes them
 *     unique_inverse  converts ranks in ascending order to ranks in order of appearance
 *     unique_longest  the longest run of each block's share of the runs
 *     unique_mode     the longest of these
 *     unique_present  distinct keys of 8 or 16 bits, from a bit per value
 *
 *     keys        2 2 2 5 | 5 7 7 7         a warp holds EACH rows of 32 adjacent keys; the
 *     heads       x . . x | . x . .         key before each comes from the lane below
 *     rank        0 0 0 1 | 1 2 2 2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK_THREADS UNIQUE_THREADS
#include "unique/cuda/common.h"
#include "cuda/device/order.cuh"
#include "select/cuda/tile.cuh"
#if KEY_BITS <= 16
#include "unique/cuda/present.cuh"
#endif

static __device__ inline uint64_t number_at(const void *array, uint32_t bytes, uint64_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static __device__ inline void store_number(void *array, uint32_t bytes, uint64_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

static __device__ inline ukey merged(const struct unique_args &a, ukey u)
{
    return order_merge(a.order, order_encode(a.order, u));
}

static __device__ inline uint64_t grid_first(void)
{
    return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ inline uint64_t grid_step(void)
{
    return (uint64_t)gridDim.x * blockDim.x;
}

static __device__ inline bool is_zero(const struct unique_args &a, ukey u)
{
    return merged(a, u) == (ukey)(a.order.zero + 1);
}

/* ---- First positions of zero and NaN ---- */

static __device__ inline void keep_first(uint64_t *word, uint64_t complement)
{
#pragma unroll
    for (int step = 16; step; step /= 2)
        complement = max(complement,
                         (uint64_t)__shfl_xor_sync(WARP_ALL, (unsigned long long)complement, step));
    if (lane_id() == 0 && complement > load_relaxed_u64(word))
        atomicMax((unsigned long long *)word, (unsigned long long)complement);
}

/* If zeros or NaN with different bits occur: finds the first ones, and writes them to the values of
 * their runs. */
static __device__ inline void repair(const struct unique_args &a)
{
    struct unique_firsts *f = a.firsts;
    const uint64_t zero_run = load_relaxed_u64(&f->zero_run),
                   nan_run = load_relaxed_u64(&f->nan_run);
    if (!zero_run && !nan_run) return;
    uint64_t zero = 0, nan = 0;
    for (uint64_t i = grid_first(); i < a.n; i += grid_step()) {
        const ukey e = merged(a, ((const ukey *)a.in)[i]);
        if (e == (ukey)(a.order.zero + 1)) zero = max(zero, ~i);
        if (e == (ukey)a.order.last) nan = max(nan, ~i);
    }
    keep_first(&f->zero, zero);
    keep_first(&f->nan, nan);
    __syncthreads(); /* all warps have kept the first ones */
    if (threadIdx.x || a.longest) return;
    __threadfence(); /* orders them before the block's atomic */
    if (atomicAdd((unsigned long long *)&f->finished, 1ull) != gridDim.x - 1) return;
    __threadfence(); /* ... and those of blocks that counted themselves earlier */
    ukey *values = (ukey *)a.values;
    const ukey *in = (const ukey *)a.in;
    if (zero_run) values[zero_run - 1] = in[~load_relaxed_u64(&f->zero)];
    if (nan_run) values[nan_run - 1] = in[~load_relaxed_u64(&f->nan)];
    if (a.clear) *f = {};
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_firsts(const __grid_constant__ struct unique_args a)
{
    wait_for_earlier();
    repair(a);
}

/* ---- Heads ---- */

enum { EACH = UNIQUE_EACH(KEY_BYTES) };

/* What lanes exchange. */
#if KEY_BYTES == 8
typedef unsigned long long lane_key;
#else
typedef uint32_t lane_key;
#endif

/* The heads of a warp's keys from `begin` on: bit k of heads[j] is that of key 32 * j + k. Returns
 * a bit per row: whether this lane's key equals the key before, but has other bits. */
static __device__ inline uint32_t find_heads(const struct unique_args &a, uint64_t begin,
                                             ukey (&key)[EACH], uint32_t (&heads)[EACH])
{
    uint32_t differ = 0;
    const ukey *keys = (const ukey *)a.keys;
    const bool merges = (ukey)a.order.merge || (ukey)a.order.last != (ukey)-1;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint64_t i = begin + 32 * j + lane_id();
        key[j] = i < a.n ? keys[i] : (ukey)0;
    }
    ukey last = begin && begin < a.n ? keys[begin - 1] : (ukey)0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint64_t i = begin + 32 * j + lane_id();
        ukey previous = (ukey)__shfl_up_sync(WARP_ALL, (lane_key)key[j], 1);
        if (lane_id() == 0) previous = last;
        last = (ukey)__shfl_sync(WARP_ALL, (lane_key)key[j], 31);
        const bool other = i < a.n && (i == 0 || key[j] != previous);
        heads[j] = __ballot_sync(WARP_ALL, other);
        if (!merges || !heads[j]) continue;
        const bool head = other && (i == 0 || merged(a, key[j]) != merged(a, previous));
        heads[j] = __ballot_sync(WARP_ALL, head);
        differ |= (uint32_t)(other && !head) << j;
    }
    return differ;
}

/* Writes what the head at i, of the run `rank`, determines. */
static __device__ inline void write_head(const struct unique_args &a, uint64_t i, uint64_t rank,
                                         ukey key, uint64_t position)
{
    if (a.starts) store_number(a.starts, a.position_bytes, rank, i);
    if (a.bits) {
        atomicOr(a.bits + position / 32, 1u << position % 32);
        return;
    }
    if (a.longest) return;
    if (a.values) ((ukey *)a.values)[rank] = key;
    if (a.first) store_number(a.first, a.index_bytes, rank, position);
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_heads(const __grid_constant__ struct unique_args a)
{
    __shared__ struct tile_ranks s;
    ukey key[EACH];
    uint32_t heads[EACH], own = 0, total;
    wait_for_earlier();
    const uint64_t tile = blockIdx.x, w = threadIdx.x / 32;
    const uint64_t begin = tile * UNIQUE_TILE(KEY_BYTES) + w * 32 * EACH;
    uint64_t *words = a.words + UNIQUE_WORDS_FIRST;
    const uint32_t differ = find_heads(a, begin, key, heads);
#pragma unroll
    for (int j = 0; j < EACH; j++) own += __popc(heads[j]);
    const bool alone = a.tiles == 1; /* no other block waits for the count */
    uint64_t rank = alone ? rank_alone(s, own, &total) : rank_tile(s, words, own, &total, a.n);
    const bool scatters = a.inverse || a.ranks;
    const bool all = scatters || __any_sync(WARP_ALL, differ != 0);
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        if (!all && !heads[j]) continue; /* in a long run */
        const uint64_t i = begin + 32 * j + lane_id();
        const bool head = heads[j] >> lane_id() & 1;
        const uint64_t mine = rank + __popc(heads[j] & lanes_below()) + head - 1;
        rank += __popc(heads[j]);
        if (i >= a.n) continue;
        uint64_t position = 0;
        if (a.positions && (head || scatters))
            position = number_at(a.positions, a.position_bytes, i);
        if (head) write_head(a, i, mine, key[j], position);
        if (a.firsts && differ >> j & 1)
            store_relaxed_u64(is_zero(a, key[j]) ? &a.firsts->zero_run : &a.firsts->nan_run,
                              mine + 1);
        if (a.ranks)
            store_number(a.ranks, a.position_bytes, position, mine);
        else if (a.inverse)
            store_number(a.inverse, a.index_bytes, position, mine);
    }
    if (tile == a.tiles - 1 && threadIdx.x == 0) {
        *a.count = s.before + total;
        if (a.starts) store_number(a.starts, a.position_bytes, s.before + total, a.n);
    }
    if (a.clear && !alone && w == 0) leave_words(a.words, a.tiles, a.tiles);
    if (!a.firsts || !alone) return;
    __syncthreads(); /* all values are written, and it is known whether some need a repair */
    repair(a);
}

static __device__ inline uint64_t length_at(const struct unique_args &a, uint64_t rank)
{
    return number_at(a.starts, a.position_bytes, rank + 1) -
           number_at(a.starts, a.position_bytes, rank);
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_counts(const __grid_constant__ struct unique_args a)
{
    wait_for_earlier();
    const uint64_t runs = *a.count;
    for (uint64_t r = grid_first(); r < runs; r += grid_step()) a.counts[r] = length_at(a, r);
}

/* ---- Order of appearance ---- */

/* Writes the run whose first position is p, the one number `at` in order of appearance. */
static __device__ inline void write_run(const struct unique_args &a, uint64_t p, uint64_t at)
{
    if (a.values) ((ukey *)a.values)[at] = ((const ukey *)a.in)[p];
    if (a.first) store_number(a.first, a.index_bytes, at, p);
    if (!a.ranks) return;
    const uint64_t rank = number_at(a.ranks, a.position_bytes, p);
    if (a.counts) a.counts[at] = length_at(a, rank);
    if (a.map) store_number(a.map, a.position_bytes, rank, at);
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_appear(const __grid_constant__ struct unique_args a)
{
    __shared__ struct tile_ranks s;
    wait_for_earlier();
    const uint64_t tile = blockIdx.x, w = threadIdx.x / 32;
    const uint64_t begin = tile * UNIQUE_POSITIONS + w * 1024;
    uint64_t *words = a.appear_words + UNIQUE_WORDS_FIRST;
    /* The bits are padded with zeros to whole tiles. */
    const uint32_t mine = a.bits[tile * UNIQUE_THREADS + threadIdx.x];
    const uint32_t through = warp_scan(__popc(mine));
    uint32_t total;
    const uint32_t own = __shfl_sync(WARP_ALL, through, 31);
    const uint64_t before = rank_tile(s, words, own, &total, a.n);
    for (int j = 0; j < 32; j++) { /* a lane per position */
        const uint32_t bits = __shfl_sync(WARP_ALL, mine, j);
        const uint32_t at = __shfl_sync(WARP_ALL, through, j) - __popc(bits);
        if (bits >> lane_id() & 1)
            write_run(a, begin + 32 * j + lane_id(), before + at + __popc(bits & lanes_below()));
    }
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_inverse(const __grid_constant__ struct unique_args a)
{
    wait_for_earlier();
    for (uint64_t p = grid_first(); p < a.n; p += grid_step())
        store_number(a.inverse, a.index_bytes, p,
                     number_at(a.map, a.position_bytes, number_at(a.ranks, a.position_bytes, p)));
}

/* ---- The mode ---- */

/* The longer one of two runs; the one with the lower rank if they are equally long. */
static __device__ inline struct unique_longest longer(struct unique_longest x,
                                                      struct unique_longest y)
{
    return y.length > x.length || (y.length == x.length && y.rank < x.rank) ? y : x;
}

/* The longest over the block; the result is that of thread 0. */
static __device__ inline struct unique_longest block_longest(struct unique_longest x)
{
    __shared__ struct unique_longest found[WARPS];
#pragma unroll
    for (int step = 16; step; step /= 2) {
        const struct unique_longest y = {
            __shfl_xor_sync(WARP_ALL, (unsigned long long)x.length, step),
            __shfl_xor_sync(WARP_ALL, (unsigned long long)x.rank, step)
        };
        x = longer(x, y);
    }
    if (lane_id() == 0) found[threadIdx.x / 32] = x;
    __syncthreads(); /* every warp has stored its own */
    for (int i = 0; i < WARPS && threadIdx.x == 0; i++) x = longer(x, found[i]);
    return x;
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_longest(const __grid_constant__ struct unique_args a)
{
    wait_for_earlier();
    const uint64_t runs = *a.count;
    struct unique_longest best = { 0, ~(uint64_t)0 };
    for (uint64_t r = grid_first(); r < runs; r += grid_step()) {
        const struct unique_longest run = { length_at(a, r), r };
        best = longer(best, run);
    }
    best = block_longest(best);
    if (threadIdx.x == 0) a.longest[blockIdx.x] = best;
}

extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS)
    unique_mode(const __grid_constant__ struct unique_args a)
{
    wait_for_earlier();
    struct unique_longest best = { 0, ~(uint64_t)0 };
    for (uint32_t i = threadIdx.x; i < a.longest_blocks; i += UNIQUE_THREADS)
        best = longer(best, a.longest[i]);
    best = block_longest(best);
    if (threadIdx.x) return;
    *a.count = best.length;
    if (a.values)
        *(ukey *)a.values =
            ((const ukey *)a.keys)[number_at(a.starts, a.position_bytes, best.rank)];
    if (!a.firsts) return;
    const uint64_t zero = load_relaxed_u64(&a.firsts->zero), nan = load_relaxed_u64(&a.firsts->nan);
    if (best.rank + 1 == a.firsts->zero_run) *(ukey *)a.values = ((const ukey *)a.in)[~zero];
    if (best.rank + 1 == a.firsts->nan_run) *(ukey *)a.values = ((const ukey *)a.in)[~nan];
    if (a.clear) *a.firsts = {};
}

/* ---- Keys of 8 and 16 bits ---- */

#if KEY_BITS <= 16
extern "C" __global__ void __launch_bounds__(UNIQUE_THREADS,
                                             RESIDENT_BLOCKS(UNIQUE_PRESENT_BLOCKS, UNIQUE_THREADS))
    unique_present(const __grid_constant__ struct unique_args a)
{
    find_present(a);
}
#endif
