/*
 * select/cuda/ring.cu - selection of large arrays: as many blocks as are resident take one tile
 * after another, and prefetch the next tile into shared memory.
 *
 *     select_ring         selects, in one pass
 *     select_ring_count   counts the elements that a partition puts first, per tile, per group of
 *                         tiles and in total
 *
 *     slot        a tile in shared memory; each thread copies the elements that it will read
 *     ahead       the selected elements of a tile that has arrived are counted, and the count is
 *                 published, one tile before it is written: no block waits for a tile that is still
 *                 being loaded
 *     before      the total before a tile is the total before the block's previous tile, plus the
 *                 counts of the tiles since then, which other blocks published: one word per
 *                 thread, no chain of blocks
 *
 * Tiles are assigned by a ticket: a block that waits for a count waits for a block that is running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK_THREADS SELECT_RING_THREADS
#define ONE_BY_ONE    /* test.cuh: pairs of 16 bits need more registers */
#include "select/cuda/keys.cuh"
#include "cuda/device/ptx_async.cuh"

extern __shared__ __align__(16) unsigned char shared_bytes[];

enum { SLOTS = SELECT_SLOTS, EDGE = KEY_BYTES == 8 ? 1 : 4 / KEY_BYTES };

static_assert(sizeof(union tile_data) == (int)SELECT_SLOT_BYTES, "the host assumes other slots");

/* The element before each warp's first one, and the elements that are copied with it. */
union edge {
    uint32_t word;
    ukey key[EDGE];
};

struct ring_shared {
    uint64_t ticket[SLOTS]; /* tiles in the slots */
    uint64_t parts[WARPS];  /* partial sums of the tiles before, per warp */
    uint32_t sums[2][WARPS];
    union edge edges[SLOTS][WARPS];
};

static __device__ inline union tile_data &slot_of(uint32_t slot)
{
    return ((union tile_data *)shared_bytes)[slot];
}

/* ---- Copies to shared memory, and reads ---- */

/* sm_75 has no asynchronous copies, and the host launches no ring there. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
template <class WORD> static __device__ inline void fetch(void *to, const void *from)
{
    *(WORD *)to = *(const WORD *)from;
}

static __device__ inline void commit(void)
{
}

template <int GROUPS> static __device__ inline void await(void)
{
}
#else
template <class WORD> static __device__ inline void fetch(void *to, const void *from)
{
    if (sizeof(WORD) == 16)
        copy_async_16(to, from);
    else if (sizeof(WORD) == 8)
        copy_async_8(to, from);
    else
        copy_async_4(to, from);
}

static __device__ inline void commit(void)
{
    copy_commit();
}

template <int GROUPS> static __device__ inline void await(void)
{
    copy_wait<GROUPS>();
}
#endif

/* Copies this thread's share of a tile; a tile past the last is empty. */
static __device__ inline void fetch_tile(const struct select_args &a, struct ring_shared &s,
                                         uint64_t tile, uint32_t slot)
{
    const struct span t = span_of(a, tile);
    const ukey *in = (const ukey *)a.in + t.base;
    union tile_data &data = slot_of(slot);
    if (tile < a.tiles && is_whole(t)) {
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            fetch<uint4>(data.keys + position(t, j), in + position(t, j));
    } else if (tile < a.tiles) {
#pragma unroll
        for (int j = 0; j < LOADS; j++)
            for (int k = 0; k < VECTOR; k++) {
                uint32_t p = position(t, j) + k;
                data.keys[p] = p >= t.first && p < t.limit ? in[p] : (ukey)0;
            }
    }
    if (a.source == SELECT_STARTS && lane_id() == 0 && tile < a.tiles && has_edge(a, t)) {
        union edge &edge = s.edges[slot][threadIdx.x / 32];
        if (KEY_BYTES == 8)
            fetch<uint2>(&edge, in + t.own - EDGE);
        else
            fetch<uint32_t>(&edge, in + t.own - EDGE);
    }
    commit();
}

static __device__ inline void read_slot(uint32_t slot, union vector (&v)[LOADS])
{
    const uint4 *from = slot_of(slot).vectors + threadIdx.x / 32 * (32 * LOADS) + lane_id();
#pragma unroll
    for (int j = 0; j < LOADS; j++) v[j].v = from[j * 32];
}

static __device__ inline void find_slot_bits(const struct select_args &a,
                                             const struct ring_shared &s, uint64_t tile,
                                             uint32_t slot, const union vector (&v)[LOADS],
                                             uint32_t (&bits)[LOADS])
{
    const struct span t = span_of(a, tile);
    ukey edge = 0;
    if (a.source == SELECT_STARTS && lane_id() == 0 && has_edge(a, t))
        edge = s.edges[slot][threadIdx.x / 32].key[EDGE - 1];
    find_bits(a, t, v, edge, bits);
}

/* ---- Exclusive prefix of a tile ---- */

/* This warp's part of the counts of tiles from ... to - 1, for which it waits; word is the result
 * of an earlier read of this thread's first one. */
static __device__ inline uint64_t sum_counts(const uint64_t *words, uint64_t from, uint64_t to,
                                             uint64_t word)
{
    uint64_t sum = 0;
    for (uint64_t t = from + threadIdx.x; t < to;) {
        while (word < STATE_OWN) word = load_relaxed_u64(words + t);
        sum += word & COUNT_MASK;
        t += BLOCK_THREADS;
        if (t < to) word = load_relaxed_u64(words + t);
    }
    return warp_sum_u64(sum);
}

static __device__ inline uint64_t sum_parts(const struct ring_shared &s)
{
    return warp_sum_u64(lane_id() < WARPS ? s.parts[lane_id()] : 0);
}

/* ---- One pass ---- */

/* For a tile that has arrived: bits, ranks in the warp, and the warp's sum. */
static __device__ inline void rank_ahead(const struct select_args &a, struct ring_shared &s,
                                         uint64_t tile, uint32_t slot, uint32_t (&sums)[WARPS],
                                         uint32_t (&bits)[LOADS], uint32_t (&start)[LOADS])
{
    union vector v[LOADS];
    if (tile >= a.tiles) return;
    read_slot(slot, v);
    find_slot_bits(a, s, tile, slot, v, bits);
    uint32_t own = warp_ranks<LOADS, VECTOR>(bits, start);
    if (lane_id() == 0) sums[threadIdx.x / 32] = own;
}

/* ... once all warps have done so: ranks in the tile. Publishes and returns the total. */
static __device__ inline uint32_t publish_ahead(const struct select_args &a, uint64_t tile,
                                                const uint32_t (&sums)[WARPS],
                                                uint32_t (&start)[LOADS])
{
    uint32_t total;
    if (tile >= a.tiles) return 0;
    uint32_t below = warps_before(sums, &total);
    if (threadIdx.x == 0) store_relaxed_u64(a.words + SELECT_WORDS_FIRST + tile, STATE_OWN | total);
#pragma unroll
    for (int j = 0; j < LOADS; j++) start[j] += below;
    return total;
}

/* By one thread of a block, because the tickets of a block must ascend: the total before a tile
 * includes that of the block's previous tile, and the first ticket past the last tile is the end.
 * The atomics of the lanes of a warp have no defined order. */
static __device__ inline uint64_t take_ticket(const struct select_args &a)
{
    return atomicAdd((unsigned long long *)a.words + 1, 1ull);
}

extern "C" __global__ void __launch_bounds__(SELECT_RING_THREADS, SELECT_RING_BLOCKS)
    select_ring(const __grid_constant__ struct select_args a)
{
    __shared__ struct ring_shared s;
    wait_for_earlier();
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    const uint32_t warp = threadIdx.x / 32;
    uint32_t bits[LOADS] = {}, start[LOADS] = {}, slot = 0;
    uint64_t known = 0, before = 0; /* tiles, and their number of selected elements */
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < SLOTS; i++) s.ticket[i] = take_ticket(a);
    }
    __syncthreads(); /* the tickets are taken */
    for (uint32_t i = 0; i < SLOTS; i++) fetch_tile(a, s, s.ticket[i], i);
    uint64_t tile = s.ticket[0];
    await<SLOTS - 1>();
    rank_ahead(a, s, tile, 0, s.sums[0], bits, start);
    __syncthreads(); /* every warp has counted */
    uint32_t total = publish_ahead(a, tile, s.sums[0], start);
    for (uint32_t turn = 1; tile < a.tiles; turn ^= 1) {
        const uint32_t ahead = slot + 1 < SLOTS ? slot + 1 : 0;
        const uint64_t next = s.ticket[ahead];
        uint32_t next_bits[LOADS] = {}, next_start[LOADS] = {};
        union vector v[LOADS];
        uint64_t word = 0, ticket = 0;
        if (known + threadIdx.x < tile) word = load_relaxed_u64(words + known + threadIdx.x);
        if (threadIdx.x == 0) ticket = take_ticket(a);
        await<SLOTS - 2>();
        rank_ahead(a, s, next, ahead, s.sums[turn], next_bits, next_start);
        read_slot(slot, v);
        __syncthreads(); /* every warp has counted ahead, and has loaded the contents of the slot */
        uint32_t next_total = publish_ahead(a, next, s.sums[turn], next_start);
        gather_keys(slot_of(slot), v, bits, start);
        if (KEY_BYTES < 4 && threadIdx.x < 4 / KEY_BYTES)
            slot_of(slot).keys[total + threadIdx.x] = 0;
        if (threadIdx.x == 0) s.ticket[slot] = ticket;
        uint64_t part = sum_counts(words, known, tile, word);
        if (lane_id() == 0) s.parts[warp] = part;
        __syncthreads(); /* the tile is ordered by rank, and its destination is known */
        before += sum_parts(s);
        store_keys(slot_of(slot), (ukey *)a.out + before, 0, total);
        before += total;
        known = tile + 1;
        if (known == a.tiles && threadIdx.x == 0) *a.count = before;
        __syncthreads(); /* the slot is free */
        fetch_tile(a, s, s.ticket[slot], slot);
        tile = next;
        total = next_total;
        slot = ahead;
#pragma unroll
        for (int j = 0; j < LOADS; j++) bits[j] = next_bits[j], start[j] = next_start[j];
    }
    await<0>();
    if (a.clear && warp == 0) leave_words(a.words, a.tiles, gridDim.x);
}

/* ---- Partition ---- */

/* A block takes a group of tiles. Each warp adds its count of a tile to the tile's word, and at the
 * end to the group's word and to the total. */
extern "C" __global__ void __launch_bounds__(SELECT_RING_THREADS, SELECT_RING_BLOCKS)
    select_ring_count(const __grid_constant__ struct select_args a)
{
    __shared__ struct ring_shared s;
    wait_for_earlier();
    unsigned long long *words = (unsigned long long *)a.words + SELECT_WORDS_FIRST, all = 0;
    uint32_t slot = 0;
    const uint64_t begin = blockIdx.x * a.group, end = min(begin + a.group, a.tiles);
    for (uint32_t i = 0; i < SLOTS; i++) fetch_tile(a, s, begin + i, i);
    for (uint64_t tile = begin; tile < end; tile++) {
        union vector v[LOADS];
        uint32_t bits[LOADS];
        await<SLOTS - 1>();
        read_slot(slot, v);
        find_slot_bits(a, s, tile, slot, v, bits);
        uint32_t own = count_bits(bits);
        fetch_tile(a, s, tile + SLOTS, slot); /* only this thread has read it */
        if (lane_id() == 0) atomicAdd(words + tile, (unsigned long long)own);
        all += own;
        slot = slot + 1 < SLOTS ? slot + 1 : 0;
    }
    await<0>();
    if (lane_id() == 0 && begin < end) {
        atomicAdd(words + a.tiles + blockIdx.x, all);
        atomicAdd(words - 1, all);
    }
}
