/*
 * strings/cuda/merge.cu - sorts the strings of the remaining ties by merging, for any strings.
 *
 *     strings_members  one tile of marks per block: the strings in ties become records of a tie, a
 *                      key and a position
 *     strings_block    sorts the records of a tile in shared memory
 *     strings_merge    merges adjacent runs of records; each block writes a tile
 *     strings_place    writes the positions to the places of the ties
 *
 * Records are compared by tie, then by key, then by the bytes that follow the key. The number of
 * records is on the device: blocks without records, and passes after the last, end immediately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define BLOCK_THREADS STRINGS_THREADS
#include "strings/cuda/text.cuh"
#include "strings/cuda/ties.cuh"

enum { TILE = STRINGS_TILE, EACH = TILE / STRINGS_THREADS };

/* ---- Records ---- */

static __device__ inline void write_record(const struct strings_args &a, uint64_t r, uint64_t i,
                                           uint64_t tie)
{
    const uint64_t position = number_at(a.indices, a.index_bytes, i);
    a.records[0].keys[r] = text_key(a.array, position, a.common[tie]);
    store_number(a.records[0].positions, a.index_bytes, r, position);
    store_number(a.records[0].ties, a.index_bytes, r, tie);
    store_number(a.slots, a.index_bytes, r, i);
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_members(const __grid_constant__ struct strings_args a)
{
    __shared__ struct ties_shared s;
    wait_for_earlier();
    if (a.state->ties[a.level] == 0) return;
    const uint64_t word = grid_first();
    const uint32_t heads = a.heads[word], after = marks_after(a, word, heads);
    const uint64_t before = number_at(a.before, a.index_bytes, word);
    const uint32_t count = __popc(~(heads & after)), through = warp_scan(count);
    const uint32_t own = __shfl_sync(WARP_ALL, through, 31);
    uint64_t *words = a.words + (a.level + 1) * a.launch_words + STRINGS_WORDS_FIRST;
    uint32_t total;
    const uint64_t rank = ties_ranks(s, words, own, &total, a.n) + through - count;
    uint32_t todo = __ballot_sync(WARP_ALL, count != 0);
    for (; todo; todo &= todo - 1) { /* a lane per string */
        const int j = __ffs((int)todo) - 1;
        const struct member m =
            member_of(__shfl_sync(WARP_ALL, heads, j), __shfl_sync(WARP_ALL, after, j),
                      __shfl_sync(WARP_ALL, (unsigned long long)before, j));
        const uint64_t first = __shfl_sync(WARP_ALL, (unsigned long long)rank, j);
        if (m.here)
            write_record(a, first + __popc(m.members & lanes_below()),
                         32 * (word - lane_id() + j) + lane_id(), m.tie);
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) a.state->members = s.before + total;
}

struct record {
    uint64_t key, position, tie;
};

/* Records that a block holds in shared memory. */
struct tile_records {
    uint64_t keys[TILE], positions[TILE], ties[TILE];
};

static __device__ inline struct record record_at(const struct strings_args &a,
                                                 const struct strings_records &from, uint64_t r)
{
    struct record x;
    x.key = from.keys[r];
    x.position = number_at(from.positions, a.index_bytes, r);
    x.tie = number_at(from.ties, a.index_bytes, r);
    return x;
}

static __device__ inline void store_record(const struct strings_args &a,
                                           const struct strings_records &to, uint64_t r,
                                           const struct record &x)
{
    to.keys[r] = x.key;
    store_number(to.positions, a.index_bytes, r, x.position);
    store_number(to.ties, a.index_bytes, r, x.tie);
}

static __device__ inline struct record tile_record(const struct tile_records &t, uint32_t i)
{
    struct record x;
    x.key = t.keys[i];
    x.position = t.positions[i];
    x.tie = t.ties[i];
    return x;
}

static __device__ inline void tile_store(struct tile_records &t, uint32_t i, const struct record &x)
{
    t.keys[i] = x.key;
    t.positions[i] = x.position;
    t.ties[i] = x.tie;
}

static __device__ inline bool record_less(const struct strings_args &a, const struct record &x,
                                          const struct record &y)
{
    if (x.tie != y.tie) return x.tie < y.tie;
    if (x.key != y.key) return x.key < y.key;
    return echi_string_open(&a.array, x.key) &&
           text_less(a.array, x.position, y.position, a.common[x.tie] + STRINGS_STEP);
}

/* How many of the sorted records [from, to) of a tile precede x.  Equal ones do if x is of the
 * second run. */
static __device__ inline uint32_t rank_in(const struct strings_args &a,
                                          const struct tile_records &t, uint32_t from, uint32_t to,
                                          const struct record &x, bool second)
{
    uint32_t low = from, high = to;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        const struct record y = tile_record(t, middle);
        const bool precedes = second ? !record_less(a, x, y) : record_less(a, y, x);
        if (precedes)
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

/* Merges two runs of a tile, [from, middle) and [middle, to): returns the place of record i. */
static __device__ inline uint32_t merged_place(const struct strings_args &a,
                                               const struct tile_records &t, uint32_t from,
                                               uint32_t middle, uint32_t to, uint32_t i,
                                               const struct record &x)
{
    if (i < middle) return i + rank_in(a, t, middle, to, x, false);
    return i - (middle - from) + rank_in(a, t, from, middle, x, true);
}

/* ---- Tiles ---- */

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_block(const __grid_constant__ struct strings_args a)
{
    __shared__ struct tile_records tiles[2];
    wait_for_earlier();
    const uint64_t n = a.state->members;
    for (uint64_t first = (uint64_t)blockIdx.x * TILE; first < n;
         first += (uint64_t)gridDim.x * TILE) {
        const uint32_t count = (uint32_t)min((uint64_t)TILE, n - first);
        uint32_t now = 0;
        for (uint32_t i = threadIdx.x; i < count; i += STRINGS_THREADS)
            tile_store(tiles[0], i, record_at(a, a.records[0], first + i));
        __syncthreads(); /* the tile is loaded */
        for (uint32_t run = 1; run < count; run *= 2, now ^= 1) {
            for (uint32_t i = threadIdx.x; i < count; i += STRINGS_THREADS) {
                const uint32_t from = i & ~(2 * run - 1), middle = min(count, from + run);
                const struct record x = tile_record(tiles[now], i);
                tile_store(
                    tiles[now ^ 1],
                    merged_place(a, tiles[now], from, middle, min(count, from + 2 * run), i, x), x);
            }
            __syncthreads(); /* the runs are merged, and all threads have read them */
        }
        for (uint32_t i = threadIdx.x; i < count; i += STRINGS_THREADS)
            store_record(a, a.records[0], first + i, tile_record(tiles[now], i));
        __syncthreads(); /* the tile may be written again */
    }
}

/* ---- Merges ---- */

/* How many of the first `diagonal` records of a merged run are from its first run. */
static __device__ inline uint64_t merge_split(const struct strings_args &a,
                                              const struct strings_records &from, uint64_t first,
                                              uint64_t n_first, uint64_t n_second,
                                              uint64_t diagonal)
{
    uint64_t low = diagonal > n_second ? diagonal - n_second : 0, high = min(diagonal, n_first);
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        const struct record x = record_at(a, from, first + i);
        const struct record y = record_at(a, from, first + n_first + diagonal - 1 - i);
        if (!record_less(a, y, x))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_merge(const __grid_constant__ struct strings_args a)
{
    __shared__ struct tile_records tile;
    __shared__ uint64_t split[2];
    wait_for_earlier();
    const uint64_t n = a.state->members, run = (uint64_t)TILE << a.level;
    const struct strings_records from = a.records[a.level & 1], to = a.records[~a.level & 1];
    if (run >= n) return;
    for (uint64_t at = (uint64_t)blockIdx.x * TILE; at < n; at += (uint64_t)gridDim.x * TILE) {
        const uint64_t first = at & ~(2 * run - 1), n_first = min(run, n - first);
        const uint64_t n_second = min(run, n - first - n_first), diagonal = at - first;
        const uint32_t count = (uint32_t)min((uint64_t)TILE, n - at);
        if (threadIdx.x % 32 == 0 && threadIdx.x < 64)
            split[threadIdx.x / 32] = merge_split(a, from, first, n_first, n_second,
                                                  diagonal + (threadIdx.x ? count : 0));
        __syncthreads(); /* both ends of the tile are known */
        const uint64_t x = first + split[0], y = first + n_first + diagonal - split[0];
        const uint32_t middle = (uint32_t)(split[1] - split[0]);
        for (uint32_t i = threadIdx.x; i < count; i += STRINGS_THREADS)
            tile_store(tile, i, record_at(a, from, i < middle ? x + i : y + (i - middle)));
        __syncthreads(); /* both parts are loaded */
        for (uint32_t i = threadIdx.x; i < count; i += STRINGS_THREADS) {
            const struct record r = tile_record(tile, i);
            store_record(a, to, at + merged_place(a, tile, 0, middle, count, i, r), r);
        }
        __syncthreads(); /* the tile may be written again */
    }
}

extern "C" __global__ void __launch_bounds__(STRINGS_THREADS)
    strings_place(const __grid_constant__ struct strings_args a)
{
    wait_for_earlier();
    const uint64_t n = a.state->members;
    uint32_t passes = 0;
    while ((uint64_t)TILE << passes < n) passes++;
    const void *positions = a.records[passes & 1].positions;
    for (uint64_t r = grid_first(); r < n; r += grid_step())
        store_number(a.indices, a.index_bytes, number_at(a.slots, a.index_bytes, r),
                     number_at(positions, a.index_bytes, r));
}
