/*
 * select/cuda/bulk.cu - selection of large arrays on GPUs with bulk asynchronous copies (sm_90):
 * one block per multiprocessor, whose warps each process their own part of every tile and
 * synchronise only with the scout warp.
 *
 *     part      4 KiB of a tile, in two slots of shared memory: one is being filled; in the other,
 *               the selected elements are at its beginning, by rank, and wait for their destination
 *     worker    tests, packs and counts its part of the next tile; waits for the destination of the
 *               previous part; stores that part; requests the tile after
 *     scout     a warp that adds the workers' counts of a tile, publishes the sum, adds the counts
 *               that other blocks published for the tiles since the block's previous one, and
 *               passes the total before the tile to the workers, while they pack the next tile
 *
 *     runs      the published words also contain the position of a tile's last run, so that the
 *               scout of a tile that begins a run knows the length of the run before it; lengths
 *               and values are derived from the positions (bulk.cuh)
 *
 *     partition   one launch counts; the next one moves elements, from the array's end on, which is
 *                 still in the L2 cache; its scouts only add known counts
 *
 * Tiles are assigned by a ticket: a block that waits for a count waits for a block that is running.
 * Blocks that place tiles do not wait: the first two tiles of each need no ticket.
 * There are deliberately only two slots: polls of other blocks' counts wait in the same queues as
 * bulk copies, and a third slot delayed every tile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
/* Other GPUs have no bulk copies, and the host launches none of these kernels there. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#include "select/cuda/bulk.cuh"

/* ---- Workers ---- */

/* The tile of a ticket; a.tiles: the end.  PLACE: from the array's end to its beginning. */
template <int PLACE>
static __device__ inline uint64_t tile_of(const struct select_args &a, uint64_t ticket)
{
    return PLACE && ticket < a.tiles ? a.tiles - 1 - ticket : min(ticket, a.tiles);
}

/* Stores positions and values of a part whose keys are already stored. next: the tile's first
 * selected position after the part. some: the first values, if the positions were available to load
 * them. */
template <int VALUE>
static __device__ inline void store_along(const struct select_args &a, const struct part &p,
                                          ukey *region, uint32_t own, uint32_t bits,
                                          uint64_t before, uint32_t next,
                                          struct some_values<VALUE ? VALUE : 4> &some)
{
    enum { VALUE_WORD = VALUE ? VALUE : 4 };
    const struct word<VALUE_WORD> *values =
        VALUE ? (const struct word<VALUE_WORD> *)a.values + p.at : nullptr;
    uint16_t *local = (uint16_t *)(own <= FEW ? region + own : region);
    if (own > FEW) {
        __syncwarp(); /* all keys are stored */
        order_positions(local, bits, rank_rows(bits));
        __syncwarp(); /* the positions are ordered by rank */
        if (VALUE) load_values(values, local, lane_id(), own, some);
    }
    store_positions(a, p, local, before, own, next == NONE ? NONE : next - threadIdx.x / 32 * PART);
    if (VALUE)
        store_values(values, local, own, some, (struct word<VALUE_WORD> *)a.values_out + before);
}

/* VALUE: bytes of the values that are moved; 0: there are none. */
template <int SOURCE, int PLACE, int VALUE>
static __device__ inline void work(const struct select_args &a, struct bulk_shared &s, uint64_t all)
{
    enum { VALUE_WORD = VALUE ? VALUE : 4 };
    const uint32_t warp = threadIdx.x / 32;
    uint64_t tile = a.tiles, next = tile_of<PLACE>(a, s.first[0]);
    uint32_t own = 0, bits = 0, next_bits = 0; /* bits: with runs, the selected elements */
    bool asked = true;                         /* the elements of the next tile were requested */
    if (next >= a.tiles) return;
    ask_for<SOURCE>(a, s, next, 0, true);
    ask_for<SOURCE>(a, s, tile_of<PLACE>(a, s.first[1]), 1, true);
    /* An additional first iteration only packs. */
#pragma unroll 1
    for (uint32_t turn = ~0u;; turn++) {
        const uint32_t slot = turn % 2;
        struct some_values<VALUE_WORD> some;
        uint32_t next_own = 0;
        if (VALUE && tile < a.tiles && own <= FEW)
            load_values((const struct word<VALUE_WORD> *)a.values + part_of(a, tile).at,
                        (uint16_t *)(region_of<SOURCE>(slot) + own), lane_id(), own, some);
        if (next < a.tiles) next_own = pack<SOURCE, PLACE>(a, s, next, turn + 1, asked, &next_bits);
        uint64_t after = tile_of<PLACE>(a, s.first[1]);
        if (tile < a.tiles) {
            wait_for(&s.placed[slot], turn);
            const uint64_t before = s.begin[slot][warp];
            ukey *out = (ukey *)a.out, *region = region_of<SOURCE>(slot);
            if (SOURCE != BY_RUNS || out) store_part(region, out + before, own);
            if (SOURCE == BY_RUNS)
                store_along<VALUE>(a, part_of(a, tile), region, own, bits, before,
                                   s.next[slot][warp], some);
            if (PLACE) {
                const struct part p = part_of(a, tile);
                const uint64_t rest = p.at + p.first - before;
                if (p.end) store_part(region + own, out + all + rest, p.end - p.first - own);
            }
            after = tile_of<PLACE>(a, s.after[slot][warp]);
            if (next >= a.tiles) return;
            copy_bulk_fence();
            __syncwarp(); /* the slot is free */
            /* With flags that select few elements, only those are read; assumes the next part
             * selects as many. */
            asked = SOURCE != BY_FLAGS || PLACE || next_own > PART / SELECT_SPARSE;
            ask_for<SOURCE>(a, s, after, slot, asked);
        }
        tile = next;
        next = after;
        own = next_own;
        bits = next_bits;
    }
}

/* ---- The scout ---- */

struct tally {
    uint32_t all, before; /* selected elements of the tile, and of the workers before this lane */
    /* BY_RUNS: positions in the tile of the first and the last selected element, and of the first
     * after this lane's part */
    uint32_t first, last, next;
};

/* The tally of the current tile, once all workers have counted it. */
template <int SOURCE>
static __device__ inline struct tally add_up(struct bulk_shared &s, uint32_t turn)
{
    wait_for(&s.counted[turn % 2], turn);
    const uint32_t own = lane_id() < workers() ? s.own[turn % 2][lane_id()] : 0;
    const uint32_t through = warp_scan(own);
    struct tally t = { __shfl_sync(WARP_ALL, through, 31), through - own, 0, 0, NONE };
    if (SOURCE != BY_RUNS) return t;
    const uint32_t some = __ballot_sync(WARP_ALL, own != 0), behind = some & (~1u << lane_id());
    const uint32_t ends = own ? s.ends[turn % 2][lane_id()] + lane_id() * (PART * 0x10001u) : 0;
    const uint32_t next = __shfl_sync(WARP_ALL, ends, behind ? __ffs((int)behind) - 1 : 0);
    t.first = __shfl_sync(WARP_ALL, ends, some ? __ffs((int)some) - 1 : 0) & 0xffff;
    t.last = __shfl_sync(WARP_ALL, ends, some ? 31 - __clz((int)some) : 0) >> 16;
    if (behind) t.next = next & 0xffff;
    return t;
}

/* ... published to other blocks. */
template <int SOURCE>
static __device__ inline struct tally publish(const struct select_args &a, struct bulk_shared &s,
                                              uint64_t tile, uint32_t turn)
{
    const struct tally t = add_up<SOURCE>(s, turn);
    if (lane_id() == 0) publish_last(a.words + SELECT_WORDS_FIRST, tile, t.all, t.last);
    return t;
}

/* By one thread of a block, or by another one after a barrier, because the tickets of a block must
 * ascend: the total before a tile includes that of the block's previous tile, and the first ticket
 * past the last tile is the end. The atomics of the lanes of a warp have no defined order. */
static __device__ inline uint64_t take_ticket(const struct select_args &a)
{
    return atomicAdd((unsigned long long *)a.words + 1, 1ull);
}

/* Writes lengths of runs once a tile's total is known: of the run that ends at the tile's first
 * run, and after the last tile the array's last run. last: as above, before the tile. */
static __device__ inline void end_runs(const struct select_args &a, const struct tally &t,
                                       uint64_t tile, uint64_t before, uint64_t *last)
{
    if (t.all && before && a.lengths && lane_id() == 0)
        a.lengths[before - 1] = tile * a.tile_n + t.first - *last;
    if (t.all) *last = tile * a.tile_n + t.last;
    if (tile + 1 < a.tiles || lane_id()) return;
    if (a.lengths) a.lengths[before + t.all - 1] = a.n + a.skew - *last;
    if (a.close) store_position(a, before + t.all, a.n);
}

template <int SOURCE>
static __device__ inline void scout(const struct select_args &a, struct bulk_shared &s)
{
    uint64_t tile = s.first[0], next = s.first[1];
    uint64_t known = 0, before = 0, last = 0; /* tiles, their elements, the last position */
    if (tile >= a.tiles) return;
    struct tally t = publish<SOURCE>(a, s, tile, 0);
    for (uint32_t turn = 0;; turn++) {
        unsigned long long after = 0;
        struct tally next_t = { 0, 0, 0, 0, NONE };
        if (lane_id() == 0) after = take_ticket(a);
        if (next < a.tiles) next_t = publish<SOURCE>(a, s, next, turn + 1);
        before += sum_tiles<SOURCE == BY_RUNS>(a, known, tile, &last);
        after = __shfl_sync(WARP_ALL, after, 0);
        if (lane_id() < workers()) {
            s.begin[turn % 2][lane_id()] = before + t.before;
            s.after[turn % 2][lane_id()] = after;
            if (SOURCE == BY_RUNS) s.next[turn % 2][lane_id()] = t.next;
        }
        if (SOURCE == BY_RUNS) end_runs(a, t, tile, before, &last);
        before += t.all;
        known = tile + 1;
        if (known == a.tiles && lane_id() == 0) *a.count = before;
        __syncwarp(); /* all lanes have written */
        if (lane_id() == 0) mbarrier_arrive(&s.placed[turn % 2]);
        if (next >= a.tiles) return;
        tile = next;
        next = after;
        t = next_t;
    }
}

/* For a partition, whose counts are all known. */
static __device__ inline void scout_back(const struct select_args &a, struct bulk_shared &s)
{
    const uint64_t *words = a.words + SELECT_WORDS_FIRST;
    uint64_t known = a.tiles, before = words[-1]; /* the sum of the tiles before `known` */
    if (blockIdx.x == 0 && lane_id() == 0) *a.count = before;
    uint64_t ticket = s.first[0], next = s.first[1];
    for (uint32_t turn = 0;; turn++) {
        const uint64_t tile = tile_of<1>(a, ticket);
        uint64_t sum = 0;
        unsigned long long after = 0;
        if (tile >= a.tiles) return;
        if (lane_id() == 0 && next < a.tiles) after = 2 * gridDim.x + take_ticket(a);
#pragma unroll 4
        for (uint64_t t = tile + lane_id(); t < known; t += 32) sum += words[t];
        before -= warp_sum_u64(sum);
        known = tile;
        const struct tally t = add_up<BY_TEST>(s, turn);
        after = __shfl_sync(WARP_ALL, after, 0);
        if (lane_id() < workers()) {
            s.begin[turn % 2][lane_id()] = before + t.before;
            s.after[turn % 2][lane_id()] = after;
        }
        __syncwarp(); /* all lanes have written */
        if (lane_id() == 0) mbarrier_arrive(&s.placed[turn % 2]);
        ticket = next;
        next = after;
    }
}

/* ---- Kernels ---- */

static __device__ inline void open(struct bulk_shared &s)
{
    const uint32_t warp = threadIdx.x / 32;
    if (lane_id() >= 2) return;
    if (warp < workers()) mbarrier_init(&s.arrived[lane_id()][warp], 1);
    if (warp) return;
    mbarrier_init(&s.counted[lane_id()], workers());
    mbarrier_init(&s.placed[lane_id()], 1);
}

template <int SOURCE, int VALUE>
static __device__ inline void keep_bulk(const struct select_args &a)
{
    __shared__ struct bulk_shared s;
    open(s);
    wait_for_earlier();
    if (threadIdx.x == workers() * 32)
        for (int i = 0; i < 2; i++) s.first[i] = take_ticket(a);
    __syncthreads(); /* barriers and tickets are initialised */
    if (threadIdx.x / 32 < workers()) {
        work<SOURCE, 0, VALUE>(a, s, 0);
        return;
    }
    scout<SOURCE>(a, s);
    if (a.clear) leave_words(a.words, a.tiles, gridDim.x); /* workers use no words */
}

/* Counts the elements of each tile, and of all tiles, that a partition puts first. */
static __device__ inline void count_bulk(const struct select_args &a)
{
    __shared__ struct bulk_shared s;
    unsigned long long *words = (unsigned long long *)a.words + SELECT_WORDS_FIRST, all = 0;
    open(s);
    wait_for_earlier();
    __syncthreads(); /* the barriers are initialised */
    if (threadIdx.x / 32 == workers()) return;
    ask_for<BY_TEST>(a, s, blockIdx.x, 0, true);
    ask_for<BY_TEST>(a, s, blockIdx.x + gridDim.x, 1, true);
    uint64_t tile = blockIdx.x;
    for (uint32_t turn = 0; tile < a.tiles; turn++, tile += gridDim.x) {
        const uint32_t slot = turn % 2;
        const struct part p = part_of(a, tile);
        union vector v[ROWS];
        wait_for(&s.arrived[slot][threadIdx.x / 32], turn);
        read_part(region_of<BY_TEST>(slot) + VECTOR, v);
        uint32_t own = __popc(kept_bits<BY_TEST>(a, slot, p, v));
#pragma unroll
        for (int step = 16; step; step /= 2) own += __shfl_xor_sync(WARP_ALL, own, step);
        copy_bulk_fence();
        __syncwarp(); /* the slot is free */
        ask_for<BY_TEST>(a, s, tile + 2 * gridDim.x, slot, true);
        if (lane_id() == 0) atomicAdd(words + tile, (unsigned long long)own);
        all += own;
    }
    if (lane_id() == 0 && all) atomicAdd(words - 1, all);
}

template <int SOURCE> static __device__ inline void place_bulk(const struct select_args &a)
{
    __shared__ struct bulk_shared s;
    open(s);
    wait_for_earlier();
    const uint64_t all = a.words[SELECT_WORDS_FIRST - 1];
    if (threadIdx.x < 2) s.first[threadIdx.x] = blockIdx.x + threadIdx.x * gridDim.x;
    __syncthreads(); /* the barriers are initialised, and all threads have read the total */
    if (threadIdx.x / 32 < workers()) {
        work<SOURCE, 1, 0>(a, s, all);
        return;
    }
    scout_back(a, s);
    if (a.clear) leave_words(a.words, a.tiles, gridDim.x); /* workers use no other words */
}

#else
#include "select/cuda/common.h"

enum source { BY_TEST, BY_STARTS, BY_FLAGS, BY_RUNS };

template <int SOURCE, int VALUE> static __device__ inline void keep_bulk(const struct select_args &)
{
}

static __device__ inline void count_bulk(const struct select_args &)
{
}

template <int SOURCE> static __device__ inline void place_bulk(const struct select_args &)
{
}
#endif

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS * 32 + 32, 1)
    select_bulk_test(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_TEST, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS * 32 + 32, 1)
    select_bulk_starts(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_STARTS, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS * 32 + 32, 1)
    select_bulk_runs(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_RUNS, 0>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_values4(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_RUNS, 4>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_values8(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_RUNS, 8>(a);
}

#if KEY_BITS == 32
extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_flags(const __grid_constant__ struct select_args a)
{
    keep_bulk<BY_FLAGS, 0>(a);
}
#endif

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_count(const __grid_constant__ struct select_args a)
{
    count_bulk(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_place(const __grid_constant__ struct select_args a)
{
    place_bulk<BY_TEST>(a);
}

extern "C" __global__ void __launch_bounds__(SELECT_WORKERS_FLAGS * 32 + 32, 1)
    select_bulk_place_flags(const __grid_constant__ struct select_args a)
{
    place_bulk<BY_FLAGS>(a);
}
