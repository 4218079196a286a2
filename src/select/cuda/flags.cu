/*
 * select/cuda/flags.cu - flags select elements of any size.
 *
 *     select_pass        selects: reads flags once, and only the selected elements
 *     select_partition   counts the elements that come first, then moves each element to its place
 *     select_count       counts, for a partition that another kernel places
 *
 * A block takes a tile of flags, 32 per thread, ranks them as kernels.cu does with elements, and
 * stores the selected positions in shared memory, by rank; then it loads those elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cuda/count.cuh"
#include "select/cuda/fetch.cuh"

enum { VECTOR = 16, LOADS = 2, TILE = SELECT_THREADS * LOADS * VECTOR };

static_assert((int)TILE == (int)SELECT_TILE_FLAGS, "the host assumes other tiles");

/* Blocks per multiprocessor; sm_75 holds no more than 1024 threads. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
enum { RESIDENT = 2 };
#else
enum { RESIDENT = 3 };
#endif

struct tile_shared {
    uint16_t local[TILE]; /* positions in the tile, by rank */
    uint32_t sums[WARPS];
    uint64_t before, all; /* selected elements in the tiles before; of a partition: in all */
};

/* The positions of a tile: position p is element base + p, modulo 2^64, and exists for first <= p <
 * end. */
struct span {
    uint64_t base;
    uint32_t first, end;
};

static __device__ inline struct span span_of(const struct select_args &a, uint64_t tile)
{
    struct span t;
    t.base = tile * TILE - a.skew;
    t.first = tile ? 0 : a.skew;
    t.end = (uint32_t)min(tile ? a.n - t.base : a.n + a.skew, (uint64_t)TILE);
    return t;
}

/* The position in the tile at which row j of this lane begins. */
static __device__ inline uint32_t position(int j)
{
    return threadIdx.x / 32 * (32 * LOADS * VECTOR) + (j * 32 + lane_id()) * VECTOR;
}

/* ---- Flags ---- */

/* The flags of those of positions p ... p + 15 that exist, one by one. */
static __device__ inline uint32_t bytes_between(const uint8_t *flags, uint32_t p,
                                                const struct span &t)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < VECTOR && p < t.end; k++)
        if (p + k >= t.first && p + k < t.end) bits |= (uint32_t)(flags[p + k] != 0) << k;
    return bits;
}

static __device__ inline void find_bits(const struct select_args &a, const struct span &t,
                                        uint32_t (&bits)[LOADS])
{
    if (a.source == SELECT_BYTES) {
        const uint8_t *flags = a.flags + t.base;
        uint4 v[LOADS];
        bool whole[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            whole[j] = position(j) >= t.first && position(j) + VECTOR <= t.end;
            if (whole[j]) v[j] = __ldcs((const uint4 *)(flags + position(j)));
        }
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            bits[j] = whole[j] ? vector_bits(v[j]) : bytes_between(flags, position(j), t);
    } else { /* the skew is a multiple of 8 flags, so vectors begin at bytes */
        const uint8_t *flags = a.flags + (int64_t)t.base / 8;
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            const uint32_t p = position(j);
            if (p >= t.first && p + VECTOR <= t.end) {
                bits[j] = *(const uint16_t *)(flags + p / 8);
                continue;
            }
            bits[j] = p >= t.first && p < t.end ? flags[p / 8] : 0;
            if (p + 8 >= t.first && p + 8 < t.end) bits[j] |= (uint32_t)flags[p / 8 + 1] << 8;
        }
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        if (a.invert) bits[j] = ~bits[j];
        bits[j] &= bits_between<VECTOR>(position(j), t.first, t.end);
    }
}

/* Ranks of the selected elements in the tile; total receives their number. */
static __device__ inline void find_ranks(struct tile_shared &s, const uint32_t (&bits)[LOADS],
                                         uint32_t (&start)[LOADS], uint32_t *total)
{
    uint32_t own = warp_ranks<LOADS, VECTOR>(bits, start);
    if (lane_id() == 0) s.sums[threadIdx.x / 32] = own;
    __syncthreads(); /* every warp has counted */
    uint32_t below = warps_before(s.sums, total);
#pragma unroll
    for (int j = 0; j < LOADS; j++) start[j] += below;
}

/* ---- One pass ---- */

extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_pass(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    const uint64_t tile = blockIdx.x, value_bytes = a.value_words * a.value_word_bytes;
    const struct span t = span_of(a, tile);
    uint64_t *words = a.words + SELECT_WORDS_FIRST;
    uint32_t bits[LOADS], start[LOADS], total;
    find_bits(a, t, bits);
    find_ranks(s, bits, start, &total);
    if (threadIdx.x == 0 && a.tiles > 1) publish_tile(words, tile, total);
#pragma unroll
    for (int j = 0; j < LOADS; j++)
        for (uint32_t kept = bits[j], r = start[j]; kept; kept &= kept - 1)
            s.local[r++] = (uint16_t)(position(j) + __ffs((int)kept) - 1);
    if (threadIdx.x < 32) {
        uint64_t before = a.tiles > 1 ? place_tile(words, tile, total, COUNT_MASK) : 0;
        if (lane_id() == 0) s.before = before;
    }
    __syncthreads(); /* the positions are ordered by rank, and their destination is known */
    const uint64_t before = s.before;
    uint64_t left = 0;
    if (a.clear && threadIdx.x < 32) left = count_left(a.words);
    for (uint32_t r = threadIdx.x; r < total && a.starts; r += SELECT_THREADS)
        store_position(a, before + r, t.base + s.local[r]);
    if (a.values)
        fetch((char *)a.values_out + before * value_bytes,
              (const char *)a.values + t.base * value_bytes, s.local, total, a.value_words,
              a.value_word_bytes);
    if (tile == a.tiles - 1 && threadIdx.x == 0) *a.count = before + total;
    if (a.clear && threadIdx.x < 32) clear_words(a.words, a.tiles, a.tiles, left);
}

/* ---- Counts of large partitions ---- */

/* By a warp: the number of flags of n elements from `begin` on, at most a chunk, which it stores as
 * bits.  The flags, bytes, are aligned to 16; so is n, except at the end of the array. */
static __device__ inline uint32_t pack_flags(const struct select_args &a, uint64_t begin,
                                             uint32_t n)
{
    enum { EACH = SELECT_CHUNK / 32 / 16 };
    const uint8_t *from = a.flags + begin;
    uint16_t *to = a.packed + begin / 16;
    uint4 v[EACH];
    uint32_t own = 0;
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint32_t i = j * 32 + lane_id();
        v[j] = make_uint4(0, 0, 0, 0);
        if (16 * i + 16 <= n) v[j] = __ldcs((const uint4 *)from + i);
    }
#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const uint32_t i = j * 32 + lane_id(), bits = vector_bits(v[j]);
        if (16 * i + 16 <= n) to[i] = (uint16_t)bits;
        own += (uint32_t)__popc((int)bits);
    }
    if (n % 16) {
        const uint32_t at = n / 16 * 16 + lane_id();
        const uint32_t bits = __ballot_sync(WARP_ALL, at < n && from[at]);
        if (lane_id() == 0) {
            to[n / 16] = (uint16_t)bits;
            own += (uint32_t)__popc((int)bits);
        }
    }
    return (uint32_t)warp_sum_u64(own);
}

/* The number of elements that come first: of each tile, of each group, and of all. A warp counts a
 * chunk of a tile, and adds it to the tile's word. */
extern "C" __global__ void __launch_bounds__(SELECT_THREADS)
    select_count(const __grid_constant__ struct select_args a)
{
    __shared__ unsigned long long sum;
    wait_for_earlier();
    unsigned long long *words = (unsigned long long *)a.words + SELECT_WORDS_FIRST, all = 0;
    const uint64_t chunks = (a.tile_n + SELECT_CHUNK - 1) / SELECT_CHUNK;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads(); /* the sum is zero */
    for (uint64_t i = blockIdx.x * WARPS + threadIdx.x / 32; i < a.tiles * chunks;
         i += gridDim.x * WARPS) {
        const uint64_t tile = i / chunks, at = tile * a.tile_n + i % chunks * SELECT_CHUNK;
        const uint64_t next = min(at + SELECT_CHUNK, (tile + 1) * a.tile_n);
        const uint64_t begin = at > a.skew ? at - a.skew : 0;
        const uint64_t end = min(next > a.skew ? next - a.skew : 0, a.n);
        if (begin >= end) continue;
        uint32_t own =
            a.packed ? pack_flags(a, begin, (uint32_t)(end - begin)) : count_flags(a, begin, end);
        if (a.invert) own = (uint32_t)(end - begin) - own;
        if (lane_id() == 0) atomicAdd(words + tile, (unsigned long long)own);
        if (lane_id() == 0 && a.group)
            atomicAdd(words + a.tiles + tile / a.group, (unsigned long long)own);
        all += own;
    }
    if (lane_id() == 0) atomicAdd(&sum, all);
    __syncthreads(); /* all warps have added */
    if (threadIdx.x == 0) atomicAdd(words - 1, sum);
}

/* ---- Partition: count, then place ---- */

/* The number of elements that come first: of this tile, and in all tiles before. */
static __device__ inline void count_tile(const struct select_args &a, struct tile_shared &s,
                                         uint64_t tile)
{
    const struct span t = span_of(a, tile);
    uint64_t *words = a.words + SELECT_WORDS_FIRST;
    uint32_t bits[LOADS], own = 0, total;
    find_bits(a, t, bits);
#pragma unroll
    for (int j = 0; j < LOADS; j++) own += __popc(bits[j]);
#pragma unroll
    for (int step = 16; step; step /= 2) own += __shfl_xor_sync(WARP_ALL, own, step);
    if (lane_id() == 0) s.sums[threadIdx.x / 32] = own;
    __syncthreads(); /* every warp has counted */
    if (threadIdx.x >= 32) return;
    warps_before(s.sums, &total);
    if (lane_id() == 0) publish_tile(words, tile, total);
    uint64_t before = place_tile(words, tile, total, COUNT_MASK);
    if (tile == a.tiles - 1 && lane_id() == 0) *a.count = before + total;
    if (a.clear) leave_words(a.words, a.tiles, gridDim.x);
}

static __device__ inline void move_tile(const struct select_args &a, struct tile_shared &s,
                                        uint64_t tile)
{
    const uint64_t value_bytes = a.value_words * a.value_word_bytes;
    const struct span t = span_of(a, tile);
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    uint32_t bits[LOADS], start[LOADS], total;
    find_bits(a, t, bits);
    find_ranks(s, bits, start, &total);
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
        uint32_t r = start[j];
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
            uint32_t p = position(j) + k;
            bool kept = bits[j] >> k & 1;
            /* others follow all selected elements and the others before them */
            if (p >= t.first && p < t.end)
                s.local[kept ? r : total + p - t.first - r] = (uint16_t)p;
            r += kept;
        }
    }
    if (a.tiles > 1 && threadIdx.x == 0) s.before = await_placed(words, tile);
    if (a.tiles > 1 && threadIdx.x == 1) s.all = await_placed(words, a.tiles);
    if (a.tiles == 1 && threadIdx.x == 0) {
        s.before = 0;
        *a.count = s.all = total;
    }
    __syncthreads(); /* the positions are ordered, and their destinations are known */
    const uint64_t before = s.before, rest = s.all + (t.base + t.first - before);
    uint64_t left = 0;
    if (a.clear && threadIdx.x < 32) left = count_left(a.words);
    const char *values = (const char *)a.values + t.base * value_bytes;
    fetch((char *)a.values_out + before * value_bytes, values, s.local, total, a.value_words,
          a.value_word_bytes);
    fetch((char *)a.values_out + rest * value_bytes, values, s.local + total,
          t.end - t.first - total, a.value_words, a.value_word_bytes);
    if (a.clear && threadIdx.x < 32) clear_words(a.words, a.tiles, gridDim.x, left);
}

/* The first blocks count a tile each. The others place a tile each, and wait for the counts. They
 * begin at the array's end, which is still in the L2 cache. */
extern "C" __global__ void __launch_bounds__(SELECT_THREADS, RESIDENT)
    select_partition(const __grid_constant__ struct select_args a)
{
    __shared__ struct tile_shared s;
    wait_for_earlier();
    if (blockIdx.x < a.counting)
        count_tile(a, s, blockIdx.x);
    else
        move_tile(a, s, gridDim.x - 1 - blockIdx.x);
}
