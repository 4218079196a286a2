/*
 * sort/cuda/sample.cu - sample sort of medium-sized arrays in one launch with one grid barrier.
 *
 *     sample    every block sorts the same sample and takes splitters from it at a regular stride
 *     tiles     a tile of the input is partitioned into buckets, the ranges between two splitters,
 *               and written to the workspace with the start of each bucket in it
 *     barrier   all blocks synchronise
 *     buckets   a block gathers its bucket from all tiles, sorts it on chip and writes it
 *
 *         tiles     | a  | b | c |   | a | b  |  c |   |  a  | b | c |
 *         output    |      a      |      b      |      c     |
 *
 * Keys are compared together with their positions, so that equal keys need not share a bucket and
 * no distribution overfills one.  A sample can still be bad: a bucket that does not fit in a block
 * is sorted in chunks, and each key's rank in the other chunks is found by search.
 *
 * Values are moved with the keys, to the tiles and from there to the output.  With values, every
 * step keeps the order of equal keys.
 *
 * Keys of 16 bits with values are sorted as words, which contain the position (words.cuh); values
 * are loaded once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cuda/sample.cuh"
#if SORT_WORDS
#include "sort/cuda/words.cuh"
#endif

/* The key at a position of the input, in the form in which keys are compared. */
static __device__ inline ukey sample_key(const struct sort_sample_args &a, uint32_t at)
{
#if SORT_WORDS
    return word_at(a, at);
#else
    return order_encode(a.common.order, ((const ukey *)a.common.keys_in)[at]);
#endif
}

/* ---- Sample ---- */

static __device__ inline void sample_load(const struct sort_sample_args &a, struct sample_held &h)
{
    sample_hold(h, a.samples);
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i))
            h.k.key[i] = sample_key(a, sample_position(h.mine + 32 * i, a.stride));
}

/* Splitters are the keys of the sorted sample at a regular stride; padding is greater than all
 * keys. */
static __device__ inline void sample_splitters(const struct sort_sample_args &a,
                                               struct sample_shared &s, const struct sample_held &h)
{
    for (uint32_t p = threadIdx.x; p < SAMPLE_BUCKETS; p += SORT_SAMPLE_THREADS)
        if (p >= a.buckets - 1) {
            s.splitter.value[p] = (ukey) ~(ukey)0;
            s.splitter.at[p] = ~0u;
        }
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++) {
        const uint32_t rank = h.mine + 32 * i, p = rank >> a.each_log;
        if (sample_has(h, i) && p && rank == p << a.each_log) {
            s.splitter.value[p - 1] = sort_value(a.common, h.k.key[i]);
#if SORT_WORDS
            s.splitter.at[p - 1] = 0;
#else
            s.splitter.at[p - 1] = sample_position(h.k.origin[i], a.stride);
#endif
        }
    }
    __syncthreads(); /* the splitters are written */
}

/* ---- Tiles ---- */

/* The smallest power of two that is not less than the number of buckets. */
static __device__ inline uint32_t buckets_power(const struct sort_sample_args &a)
{
    return 1u << (32 - __clz((int)(a.buckets - 1)));
}

/* Exclusive prefix sum over the threads; all threads must call it. */
static __device__ inline uint32_t block_scan(struct sample_shared &s, uint32_t x)
{
    const uint32_t warp = threadIdx.x / 32, lane = lane_id(), inclusive = warp_scan(x);
    if (lane == 31) s.sums[warp] = inclusive;
    __syncthreads(); /* the sums of all warps are written */
    return warp_sum(lane < warp ? s.sums[lane] : 0) + inclusive - x;
}

/* The bucket of each key: the number of splitters that are less in value, or in position if values
 * are equal. */
static __device__ inline void tile_buckets(const struct sort_sample_args &a,
                                           const struct sample_shared &s,
                                           const struct sample_held &h, uint32_t first,
                                           uint32_t (&bucket)[SAMPLE_ITEMS])
{
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS; i++) bucket[i] = 0;
    for (uint32_t step = buckets_power(a) / 2; step; step /= 2)
#pragma unroll
        for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
            if (sample_has(h, i)) {
                const ukey value = sort_value(a.common, h.k.key[i]);
                const uint32_t p = bucket[i] + step - 1;
                const ukey splitter = s.splitter.value[p];
                if (splitter < value ||
                    (splitter == value && s.splitter.at[p] < first + h.mine + 32 * i))
                    bucket[i] += step;
            }
}

/* Stores the start of each bucket in a tile. */
static __device__ inline void tile_starts(const struct sort_sample_args &a, uint32_t tile,
                                          uint32_t count, uint32_t begin)
{
    const uint32_t p = threadIdx.x;
    if (p < a.buckets) a.starts[p * a.buckets + tile] = (uint16_t)begin;
    if (p == a.buckets) a.starts[p * a.buckets + tile] = (uint16_t)count;
}

#if VAL_BYTES
/* slot[i] becomes the rank of this thread's key i by bucket; the order within a bucket is kept. */
static __device__ inline void tile_rank(const struct sort_sample_args &a, struct sample_shared &s,
                                        const struct sample_held &h, uint32_t tile,
                                        uint32_t (&slot)[SAMPLE_ITEMS])
{
    uint32_t *row = s.rows + threadIdx.x / 32 * SORT_BINS;
    uint32_t bucket[SAMPLE_ITEMS];
    rank_clear(s.rows, SAMPLE_WARPS * SORT_BINS);
    tile_buckets(a, s, h, tile * a.tile, slot);
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        bucket[i] = slot[i] = sample_has(h, i) ? slot[i] : SORT_BINS - 1;
    __syncthreads(); /* the counters are clear */
    rank_keys<SAMPLE_ITEMS>(row, slot, h.items);
    __syncthreads(); /* all warps have counted */
    const uint32_t bin = threadIdx.x;
    const uint32_t count = bin < SORT_BINS ? rank_column<SAMPLE_WARPS>(s.rows, bin) : 0;
    const uint32_t begin = block_scan(s, count);
    if (bin < SORT_BINS) rank_offsets<SAMPLE_WARPS>(s.rows, bin, begin);
    tile_starts(a, tile, h.count, begin);
    __syncthreads(); /* the rows contain the start of each warp's keys of a bucket */
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++) slot[i] += row[bucket[i]];
    __syncthreads(); /* all threads have read the rows */
}
#else
/* The same in any order within a bucket. */
static __device__ inline void tile_rank(const struct sort_sample_args &a, struct sample_shared &s,
                                        const struct sample_held &h, uint32_t tile,
                                        uint32_t (&slot)[SAMPLE_ITEMS])
{
    const uint32_t me = threadIdx.x;
    uint32_t bucket[SAMPLE_ITEMS];
    if (me < SAMPLE_BUCKETS) s.tile.count[me] = 0;
    tile_buckets(a, s, h, tile * a.tile, bucket);
    __syncthreads(); /* the counters are clear */
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) slot[i] = atomicAdd(&s.tile.count[bucket[i]], 1);
    __syncthreads(); /* every key is counted */
    const uint32_t begin = block_scan(s, me < a.buckets ? s.tile.count[me] : 0);
    if (me < a.buckets) s.tile.count[me] = begin;
    tile_starts(a, tile, h.count, begin);
    __syncthreads(); /* the offsets are written */
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) slot[i] += s.tile.count[bucket[i]];
}
#endif

#if VAL_BYTES
/* The value of the key at an input position. */
static __device__ inline uval value_at(const struct sort_common &a, uint32_t at)
{
    return a.index ? (uval)at : ((const uval *)a.values_in)[at];
}
#endif

static __device__ inline void tile_split(const struct sort_sample_args &a, struct sample_shared &s,
                                         struct sample_held &h, uint32_t tile)
{
    const uint32_t first = min((uint32_t)a.common.n, tile * a.tile);
    ukey *out = (ukey *)a.common.keys_tmp + first;
    uint32_t slot[SAMPLE_ITEMS];
    sample_hold(h, min((uint32_t)a.common.n - first, a.tile));
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) h.k.key[i] = sample_key(a, first + h.mine + 32 * i);
#if SORT_WORDS
    if (a.common.in_place)
        for (uint32_t i = threadIdx.x; i < h.count; i += SORT_SAMPLE_THREADS)
            word_copy(a, first + i);
#endif
    tile_rank(a, s, h, tile, slot);
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) {
            s.tile.keys[slot[i]] = h.k.key[i];
#if VAL_BYTES
            ((uval *)a.common.values_tmp)[first + slot[i]] =
                value_at(a.common, first + h.mine + 32 * i);
#endif
        }
    __syncthreads(); /* the tile is sorted by bucket */
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) out[h.mine + 32 * i] = s.tile.keys[h.mine + 32 * i];
    __syncthreads(); /* all threads have read; shared memory may be written again */
}

/* ---- All blocks ---- */

/* A grid barrier.  The counters are zero before, and again when the last block has passed it. */
static __device__ inline void sample_barrier(const struct sort_sample_args &a)
{
    __syncthreads(); /* all writes of this block are done */
    if (threadIdx.x == 0) {
        add_acq_rel(&a.arrived[0], 1); /* release: publishes the block's writes to all blocks that
                                          observe the sum */
        wait_acquire(&a.arrived[0], gridDim.x);
        if (add_acq_rel(&a.arrived[1], 1) == gridDim.x - 1) a.arrived[0] = a.arrived[1] = 0;
    }
    __syncthreads(); /* the writes of all blocks can be read */
}

/* ---- Buckets ---- */

struct sample_bucket {
    uint32_t count, start; /* number of keys, and their start in the output */
};

/* Finds a bucket's segments in the tiles. */
static __device__ inline struct sample_bucket
bucket_segments(const struct sort_sample_args &a, struct sample_shared &s, uint32_t bucket)
{
    const uint32_t t = threadIdx.x, warp = t / 32, lane = lane_id();
    const uint16_t *row = a.starts + bucket * a.buckets;
    uint32_t start = 0, count = 0;
    if (t < a.buckets) {
        start = row[t];
        count = row[a.buckets + t] - start;
    }
    const uint32_t starts = warp_sum(start);
    if (lane == 0) s.starts[warp] = starts;
    const uint32_t begin = block_scan(s, count);
    struct sample_bucket b;
    b.count = warp_sum(s.sums[lane]);
    b.start = warp_sum(s.starts[lane]); /* lower buckets precede this one in every tile */
    if (t < SAMPLE_BUCKETS) {
        s.segment.begin[t] = t < a.buckets ? begin : ~0u;
        s.segment.from[t] = t * a.tile + start - begin;
    }
    __syncthreads(); /* the segments are written */
    return b;
}

/* The location, in the tiles, of the key at position p of the bucket. */
static __device__ inline uint32_t bucket_at(const struct sort_sample_args &a,
                                            const struct sample_shared &s, uint32_t p)
{
    uint32_t t = 0;
    for (uint32_t step = buckets_power(a) / 2; step; step /= 2)
        if (s.segment.begin[t + step] <= p) t += step;
    return s.segment.from[t] + p;
}

static __device__ inline void bucket_load(const struct sort_sample_args &a,
                                          const struct sample_shared &s,
                                          const struct sample_bucket &b, uint32_t first,
                                          struct sample_held &h)
{
    const ukey *in = (const ukey *)a.common.keys_tmp;
    sample_hold(h, min(b.count - first, (uint32_t)SAMPLE_MOST));
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) h.k.key[i] = in[bucket_at(a, s, first + h.mine + 32 * i)];
}

/* Writes the bucket, all of whose keys the block holds. */
static __device__ inline void bucket_write(const struct sort_sample_args &a,
                                           const struct sample_shared &s,
                                           const struct sample_bucket &b,
                                           const struct sample_held &h)
{
#if SORT_WORDS
    uint32_t rank[SAMPLE_ITEMS], mine = 0;
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS; i++) {
        rank[i] = b.start + h.mine + 32 * i;
        if (sample_has(h, i)) mine |= 1u << i;
    }
    words_write<SAMPLE_ITEMS>(a, h.k.key, rank, mine);
#else
    ukey *keys_out = (ukey *)a.common.keys_out + b.start;
#if VAL_BYTES
    const uval *values = (const uval *)a.common.values_tmp;
    uval *values_out = (uval *)a.common.values_out + b.start;
    uval value[SAMPLE_ITEMS];
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) value[i] = values[bucket_at(a, s, h.k.origin[i])];
#endif
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) {
            if (!a.common.discard_keys)
                keys_out[h.mine + 32 * i] = order_decode(a.common.order, h.k.key[i]);
#if VAL_BYTES
            values_out[h.mine + 32 * i] = value[i];
#endif
        }
#endif
}

/* ---- Buckets that do not fit in the block ---- */

/* Writes a sorted chunk back in place. */
static __device__ inline void chunk_put_back(const struct sort_sample_args &a,
                                             const struct sample_shared &s, uint32_t first,
                                             const struct sample_held &h)
{
    ukey *keys = (ukey *)a.common.keys_tmp;
#if VAL_BYTES
    uval *values = (uval *)a.common.values_tmp;
    uval value[SAMPLE_ITEMS];
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) value[i] = values[bucket_at(a, s, first + h.k.origin[i])];
    __syncthreads(); /* all threads have read the values */
#endif
#pragma unroll
    for (int i = 0; i < SAMPLE_ITEMS && i < h.items; i++)
        if (sample_has(h, i)) {
            const uint32_t at = bucket_at(a, s, first + h.mine + 32 * i);
            keys[at] = h.k.key[i];
#if VAL_BYTES
            values[at] = value[i];
#endif
        }
    __syncthreads(); /* the chunk is sorted */
}

/* The number of keys at the sorted positions [first, last) of the bucket that precede a value:
 * smaller keys, and equal keys of earlier chunks. */
static __device__ inline uint32_t chunk_rank(const struct sort_sample_args &a,
                                             const struct sample_shared &s, uint32_t first,
                                             uint32_t last, ukey value, bool before)
{
    const ukey *keys = (const ukey *)a.common.keys_tmp;
    uint32_t low = first, high = last;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const ukey other = sort_value(a.common, keys[bucket_at(a, s, middle)]);
        if (other < value || (other == value && before))
            low = middle + 1;
        else
            high = middle;
    }
    return low - first;
}

static __device__ inline void chunks_merge(const struct sort_sample_args &a,
                                           const struct sample_shared &s,
                                           const struct sample_bucket &b)
{
    const ukey *keys = (const ukey *)a.common.keys_tmp;
    for (uint32_t p = threadIdx.x; p < b.count; p += SORT_SAMPLE_THREADS) {
        const uint32_t at = bucket_at(a, s, p), mine = p - p % SAMPLE_MOST;
        const ukey e = keys[at], value = sort_value(a.common, e);
        uint32_t rank = b.start + p % SAMPLE_MOST;
        for (uint32_t first = 0; first < b.count; first += SAMPLE_MOST)
            if (first != mine)
                rank +=
                    chunk_rank(a, s, first, min(b.count, first + SAMPLE_MOST), value, first < mine);
#if SORT_WORDS
        const uint32_t word[1] = { e }, ranks[1] = { rank };
        words_write<1>(a, word, ranks, 1);
#else
        if (!a.common.discard_keys)
            ((ukey *)a.common.keys_out)[rank] = order_decode(a.common.order, e);
#if VAL_BYTES
        ((uval *)a.common.values_out)[rank] = ((const uval *)a.common.values_tmp)[at];
#endif
#endif
    }
}

/* ---- The kernel ---- */

/* The sample and every chunk of every bucket are sorted by the same code, which is most of the
 * kernel. */
static __device__ inline void sample_kernel(const struct sort_sample_args &a)
{
    struct sample_shared &s = *(struct sample_shared *)shared_bytes;
    struct sample_bucket b = { 0, 0 };
    struct sample_held h;
    uint32_t bucket = blockIdx.x, first = 0;
    bool sampling = true;
    sample_load(a, h);
    for (;;) {
        sample_sort(a.common, s, h, sampling || VAL_BYTES);
        if (sampling) {
            sample_splitters(a, s, h);
            for (uint32_t tile = blockIdx.x; tile < a.buckets; tile += gridDim.x)
                tile_split(a, s, h, tile);
            sample_barrier(a);
            sampling = false;
        } else if (b.count <= SAMPLE_MOST) {
            bucket_write(a, s, b, h);
            bucket += gridDim.x;
        } else {
            chunk_put_back(a, s, first, h);
            first += h.count;
            if (first == b.count) {
                chunks_merge(a, s, b);
                bucket += gridDim.x;
                first = 0;
            }
        }
        if (bucket >= a.buckets) break;
        if (first == 0) {
            __syncthreads(); /* all threads are done with the segments */
            b = bucket_segments(a, s, bucket);
        }
        bucket_load(a, s, b, first, h);
    }
}

#if SAMPLE_NARROW
extern "C" __global__ void __launch_bounds__(SORT_SAMPLE_THREADS)
    sort_sample_narrow(const __grid_constant__ struct sort_sample_args a)
{
    sample_kernel(a);
}
#else
extern "C" __global__ void __launch_bounds__(SORT_SAMPLE_THREADS)
    sort_sample(const __grid_constant__ struct sort_sample_args a)
{
    sample_kernel(a);
}
#endif
