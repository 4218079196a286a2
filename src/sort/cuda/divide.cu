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
 *     sort_divide_sample   the range of a sample, its lengths, and whether it is in order
 *     sort_divide          whole tiles; all keys are in the range, and no bin is divided
 *     sort_divide_lengths  the same for bins by lengths
 *     sort_divide_any      any tiles and keys
 *     sort_divide_count    counts the keys of bins by lengths, or of those into which some are
 *                          divided
 *     sort_divide_pull     copies keys from the memory of other GPUs
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda/device/block_range.cuh"
#include "sort/cuda/divide.cuh"

enum {
    DIVIDE_ITEMS = SORT_DIVIDE_THREAD_BYTES(KEY_BYTES) / KEY_BYTES,
    DIVIDE_TILE = SORT_MSD_THREADS * DIVIDE_ITEMS,
    DIVIDE_EACH = ECHI_DIVIDE_BUCKETS / SORT_MSD_THREADS, /* buckets of a thread, at most */
    DIVIDE_WARPS = SORT_MSD_THREADS / 32,
    DIVIDE_KEPT = KEY_BYTES == 4 /* buckets are kept in registers, two in each */
};
static_assert(!DIVIDE_KEPT || DIVIDE_ITEMS % 2 == 0, "buckets are in pairs");

struct divide_shared {
    ukey keys[DIVIDE_TILE];               /* encoded, by bucket */
    uint32_t next[ECHI_DIVIDE_BUCKETS];   /* count of each bucket; then the place of its next key */
    uint32_t target[ECHI_DIVIDE_BUCKETS]; /* a key of this bucket and place p goes to target + p */
    uint32_t sums[DIVIDE_WARPS - 1];
    uint32_t frequent; /* 1 + the most frequent bucket and, above it, its count if that is large */
    uint16_t table[ECHI_DIVIDE_BINS];
};
static_assert(sizeof(struct divide_shared) <= SORT_DIVIDE_SHARED_BYTES(KEY_BYTES),
              "the host gives less shared memory than the kernel uses");

/* How keys are mapped to bins: equal ones, or by lengths; or keys may also be outside the range,
 * and bins may be divided. */
enum { EQUAL, LENGTHS, ANY };
template <int KIND>
static __device__ inline uint32_t divide_bucket(const struct sort_divide_args &a,
                                                const struct divide_shared &sh, ukey e)
{
    const ukey x = KIND == ANY ? divide_offset(a, e) : (ukey)(e - (ukey)a.low);
    uint32_t entry = sh.table[KIND == ANY ? divide_any_bin(a, x) : divide_bin<KIND>(a, x)];
    while (KIND == ANY && entry & ECHI_DIVIDE_IS_NODE)
        entry = a.table[divide_slot(a, entry - ECHI_DIVIDE_IS_NODE, x)];
    return entry;
}

/* Converts the counts to places and reserves the positions; all counts are complete.  Adjacent
 * threads have adjacent buckets, so that a warp reserves positions in one operation. */
static __device__ inline void divide_plan(const struct sort_divide_args &a,
                                          struct divide_shared &sh)
{
    const uint32_t me = threadIdx.x, warp = me / 32;
    uint32_t room[DIVIDE_EACH] = {}, sum = 0;
#pragma unroll
    for (int j = 0; j < DIVIDE_EACH; j++) {
        const uint32_t bucket = me + j * SORT_MSD_THREADS;
        const uint32_t count = bucket < a.buckets ? sh.next[bucket] : 0;
        if (count) room[j] = atomicAdd(&a.next[bucket], count);
        if (count > DIVIDE_TILE / 8) atomicMax(&sh.frequent, count * ECHI_DIVIDE_BUCKETS + bucket);
        sum += count;
    }
    const uint32_t inclusive = warp_scan(sum);
    if (lane_id() == 31 && warp < DIVIDE_WARPS - 1) sh.sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
    uint32_t place = inclusive - sum;
#pragma unroll
    for (uint32_t w = 0; w < DIVIDE_WARPS - 1; w++)
        if (w < warp) place += sh.sums[w];
#pragma unroll
    for (int j = 0; j < DIVIDE_EACH; j++) {
        const uint32_t bucket = me + j * SORT_MSD_THREADS;
        if (bucket >= a.buckets) break;
        const uint32_t count = sh.next[bucket];
        sh.next[bucket] = place;
        sh.target[bucket] = room[j] - place;
        place += count;
    }
}

/* Writes the keys in the order of their places, so that all lanes of a warp write. */
template <int KIND>
static __device__ inline void divide_write(const struct sort_divide_args &a,
                                           const struct divide_shared &sh, uint32_t here)
{
    ukey *out = (ukey *)a.out;
    const bool plain = order_plain(a.order);
#pragma unroll 4 /* of more, the registers do not suffice */
    for (int i = 0; i < DIVIDE_ITEMS; i++) {
        const uint32_t place = threadIdx.x + i * SORT_MSD_THREADS;
        if (KIND == ANY && place >= here) break;
        const ukey e = sh.keys[place];
        const uint32_t to = sh.target[divide_bucket<KIND>(a, sh, e)] + place;
        out[to] = plain ? e : order_decode(a.order, e);
    }
}

static __device__ inline ukey divide_key(const struct sort_divide_args &a, uint64_t i)
{
    return order_encode(a.order, ((const ukey *)a.keys_in)[i]);
}

/* Places a tile by bucket, and reads it again for this.  Additions to one counter are serialised,
 * so if a bucket is frequent, each warp adds its keys of that bucket in one operation. */
template <int KIND>
static __device__ inline void divide_spread(const struct sort_divide_args &a,
                                            struct divide_shared &sh, uint64_t at, uint32_t here)
{
    const uint32_t none = ECHI_DIVIDE_BUCKETS;
    const uint32_t frequent = sh.frequent ? sh.frequent % none : none;
#pragma unroll 2
    for (uint32_t i = threadIdx.x; i < DIVIDE_TILE; i += SORT_MSD_THREADS) {
        const bool exists = i < here;
        const ukey e = exists ? divide_key(a, at + i) : (ukey)0;
        const uint32_t bucket = exists ? divide_bucket<KIND>(a, sh, e) : 0;
        const bool in = exists && bucket == frequent;
        const uint32_t peers = __ballot_sync(WARP_ALL, in), before = __popc(peers & lanes_below());
        uint32_t place = 0;
        if (in && before == 0) place = atomicAdd(&sh.next[frequent], (uint32_t)__popc(peers));
        place = __shfl_sync(WARP_ALL, place, peers ? __ffs((int)peers) - 1 : 0) + before;
        if (exists && !in) place = atomicAdd(&sh.next[bucket], 1);
        if (exists) sh.keys[place] = e;
    }
}

/* ---- The range of a sample ---- */

extern "C" __global__ void __launch_bounds__(SORT_DIVIDE_SAMPLE_THREADS)
    sort_divide_sample(const __grid_constant__ struct sort_divide_args a)
{
    static_assert(SORT_DIVIDE_SAMPLE_THREADS == 32, "a block is a warp");
    const uint32_t samples = gridDim.x * SORT_DIVIDE_SAMPLE_THREADS, n = (uint32_t)a.n;
    const uint32_t t = blockIdx.x * SORT_DIVIDE_SAMPLE_THREADS + threadIdx.x;
    const uint32_t part = max(n / samples, 1u), after = min(t + 1, samples - 1);
    const ukey e = divide_key(a, min(sample_position(t, part), n - 1));
    const ukey next = divide_key(a, min(sample_position(after, part), n - 1));
    const bool falls = __ballot_sync(WARP_ALL, e > next) != 0;
    ukey low = e, high = e;
    atomicAdd(&a.sample->lengths[bits_of(e)], 1);
    const uint64_t set =
        e | e << 1 | e << 2 | e << 3; /* bit i: one of the bits i - 3 ... i is set */
    uint32_t zeros[2] = {};
    for (uint32_t bit = 0; bit < KEY_BITS; bit++) {
        const uint32_t without = __popc(__ballot_sync(WARP_ALL, !(set >> bit & 1)));
        if (bit % 32 == threadIdx.x) zeros[bit / 32] = without;
    }
    for (uint32_t k = 0; k < KEY_BITS / 32; k++)
        atomicAdd(&a.sample->zeros[k * 32 + threadIdx.x], zeros[k]);
    warp_range(low, high);
    if (threadIdx.x != 0) return;
    atomicMin((unsigned long long *)&a.sample->least, (unsigned long long)low);
    atomicMin((unsigned long long *)&a.sample->rest, ~(unsigned long long)high);
    if (falls) atomicMin(&a.sample->ordered, 0u);
}

/* ---- Whole tiles: the keys stay in registers ---- */

static __device__ inline void divide_load(const struct sort_divide_args &a, uint64_t at,
                                          ukey (&key)[DIVIDE_ITEMS])
{
    const ukey *in = (const ukey *)a.keys_in + at + threadIdx.x;
    if (at >= a.n) return;
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++) key[i] = in[i * SORT_MSD_THREADS];
}

template <int KIND>
static __device__ inline void divide_place(const struct sort_divide_args &a,
                                           struct divide_shared &sh, uint64_t at,
                                           ukey (&key)[DIVIDE_ITEMS])
{
    uint32_t buckets[DIVIDE_KEPT ? DIVIDE_ITEMS / 2 : 1];
    if (!order_plain(a.order))
#pragma unroll
        for (int i = 0; i < DIVIDE_ITEMS; i++) key[i] = order_encode(a.order, key[i]);
    __syncthreads(); /* the counters are clear, and the table is loaded */
#pragma unroll
    for (int i = 0; i < DIVIDE_ITEMS; i++) {
        const uint32_t bucket = divide_bucket<KIND>(a, sh, key[i]);
        atomicAdd(&sh.next[bucket], 1);
        if (!DIVIDE_KEPT) continue;
        if (i % 2) {
            buckets[i / 2] |= bucket << 16;
            keep_u32(buckets[i / 2]); /* in one register, not two */
        } else {
            buckets[i / 2] = bucket;
        }
    }
    __syncthreads(); /* every key is counted */
    divide_plan(a, sh);
    __syncthreads(); /* the places are written */
    if (sh.frequent) {
        divide_spread<KIND>(a, sh, at, DIVIDE_TILE);
    } else {
#pragma unroll
        for (int i = 0; i < DIVIDE_ITEMS; i++) {
            const uint32_t two = buckets[DIVIDE_KEPT ? i / 2 : 0];
            const uint32_t bucket = !DIVIDE_KEPT ? divide_bucket<KIND>(a, sh, key[i])
                                    : i % 2      ? two >> 16
                                                 : two & 0xffff;
            sh.keys[atomicAdd(&sh.next[bucket], 1)] = key[i];
        }
    }
    __syncthreads(); /* the tile is sorted by bucket */
}

static __device__ inline void divide_begin(const struct sort_divide_args &a,
                                           struct divide_shared &sh)
{
    rank_clear(sh.next, a.buckets);
    if (threadIdx.x == 0) sh.frequent = 0;
}

static __device__ inline void divide_load_table(const struct sort_divide_args &a,
                                                struct divide_shared &sh)
{
    for (uint32_t i = threadIdx.x; i < ECHI_DIVIDE_BINS; i += SORT_MSD_THREADS)
        sh.table[i] = a.table[i];
}

/* The next tile is read while one is written. */
template <int KIND>
static __device__ inline void divide_whole(const struct sort_divide_args &a,
                                           struct divide_shared &sh)
{
    const uint64_t step = (uint64_t)gridDim.x * DIVIDE_TILE;
    ukey key[DIVIDE_ITEMS];
    divide_load_table(a, sh);
    divide_load(a, (uint64_t)blockIdx.x * DIVIDE_TILE, key);
    for (uint64_t at = (uint64_t)blockIdx.x * DIVIDE_TILE; at < a.n; at += step) {
        divide_begin(a, sh);
        divide_place<KIND>(a, sh, at, key);
        divide_load(a, at + step, key);
        divide_write<KIND>(a, sh, DIVIDE_TILE);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_divide(const __grid_constant__ struct sort_divide_args a)
{
    divide_whole<EQUAL>(a, *(struct divide_shared *)shared_bytes);
}

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_divide_lengths(const __grid_constant__ struct sort_divide_args a)
{
    divide_whole<LENGTHS>(a, *(struct divide_shared *)shared_bytes);
}

/* ---- Any tiles and keys ---- */

extern "C" __global__ void __launch_bounds__(SORT_MSD_THREADS, SORT_MSD_BLOCKS)
    sort_divide_any(const __grid_constant__ struct sort_divide_args a)
{
    struct divide_shared &sh = *(struct divide_shared *)shared_bytes;
    const uint64_t step = (uint64_t)gridDim.x * DIVIDE_TILE;
    divide_load_table(a, sh);
    for (uint64_t at = (uint64_t)blockIdx.x * DIVIDE_TILE; at < a.n; at += step) {
        const uint32_t here = (uint32_t)min(a.n - at, (uint64_t)DIVIDE_TILE);
        divide_begin(a, sh);
        __syncthreads(); /* the counters are clear, and the table is loaded */
#pragma unroll 4
        for (uint32_t i = threadIdx.x; i < here; i += SORT_MSD_THREADS)
            atomicAdd(&sh.next[divide_bucket<ANY>(a, sh, divide_key(a, at + i))], 1);
        __syncthreads(); /* every key is counted */
        divide_plan(a, sh);
        __syncthreads(); /* the places are written */
        divide_spread<ANY>(a, sh, at, here);
        __syncthreads(); /* the tile is sorted by bucket */
        divide_write<ANY>(a, sh, here);
        __syncthreads(); /* all threads have read; the counters may be cleared */
    }
}

/* ---- Counts of divided bins ---- */

struct divide_counts {
    uint32_t bins[ECHI_DIVIDE_BINS];
    uint16_t table[ECHI_DIVIDE_BINS];
};
static_assert(sizeof(struct divide_counts) <= SORT_DIVIDE_COUNT_BYTES,
              "the host gives less shared memory than the kernel uses");

static __device__ inline void divide_count_key(const struct sort_divide_args &a,
                                               struct divide_counts &sh, ukey e)
{
    const ukey x = divide_offset(a, e);
    const uint32_t bin = divide_any_bin(a, x);
    if (a.first == 0) {
        atomicAdd(&sh.bins[bin], 1);
        return;
    }
    uint32_t entry = sh.table[bin];
    while (entry & ECHI_DIVIDE_IS_NODE) {
        const uint32_t node = entry - ECHI_DIVIDE_IS_NODE, slot = divide_slot(a, node, x);
        if (node >= a.new_nodes) {
            atomicAdd(&sh.bins[slot - a.first], 1);
            return;
        }
        entry = a.table[slot];
    }
}

extern "C" __global__ void __launch_bounds__(SORT_DIVIDE_COUNT_THREADS)
    sort_divide_count(const __grid_constant__ struct sort_divide_args a)
{
    enum { THREADS = SORT_DIVIDE_COUNT_THREADS };
    struct divide_counts &sh = *(struct divide_counts *)shared_bytes;
    const uint64_t each = a.n / gridDim.x + (a.n % gridDim.x != 0);
    const uint64_t from = min(a.n, blockIdx.x * each), to = min(a.n, from + each);
    rank_clear(sh.bins, ECHI_DIVIDE_BINS);
    for (uint32_t i = threadIdx.x; i < ECHI_DIVIDE_BINS; i += THREADS) sh.table[i] = a.table[i];
    __syncthreads(); /* the counters are clear, and the table is loaded */
#pragma unroll 4
    for (uint64_t i = from + threadIdx.x; i < to; i += THREADS)
        divide_count_key(a, sh, divide_key(a, i));
    __syncthreads(); /* every key is counted */
    for (uint32_t bin = threadIdx.x; bin < ECHI_DIVIDE_BINS; bin += THREADS)
        if (sh.bins[bin]) atomicAdd(&a.next[bin], sh.bins[bin]);
}

/* ---- Copies ---- */

/* The blocks take tiles of all copies in turn.  Warps read aligned lines of the other GPU. */
extern "C" __global__ void __launch_bounds__(SORT_DIVIDE_PULL_THREADS)
    sort_divide_pull(const __grid_constant__ struct sort_divide_pull_args a)
{
    enum { EACH = SORT_DIVIDE_PULL_BYTES / KEY_BYTES, THREADS = SORT_DIVIDE_PULL_THREADS };
    enum { TILE = EACH * THREADS, LINE = 128 / KEY_BYTES };
    uint32_t mine = blockIdx.x;
    for (uint32_t c = 0; c < a.copies; c++) {
        const struct sort_divide_copy copy = a.copy[c];
        const uint32_t skip = (uint32_t)((uintptr_t)copy.from / KEY_BYTES % LINE);
        const ukey *from = (const ukey *)copy.from - skip;
        ukey *to = (ukey *)copy.to - skip;
        const uint64_t end = copy.n + skip;
        const uint32_t tiles = (uint32_t)((end + TILE - 1) / TILE);
        for (; mine < tiles; mine += gridDim.x) {
            const uint64_t at = (uint64_t)mine * TILE + threadIdx.x;
            ukey key[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const uint64_t e = at + (uint32_t)(i * THREADS);
                key[i] = e >= skip && e < end ? from[e] : (ukey)0;
            }
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                const uint64_t e = at + (uint32_t)(i * THREADS);
                if (e >= skip && e < end) to[e] = key[i];
            }
        }
        mine -= tiles;
    }
}
