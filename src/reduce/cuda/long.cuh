/*
 * reduce/cuda/long.cuh - rows and segments that many blocks share, the whole array among them.
 *
 *     row      | item           | item           | item     |      a block takes an item
 *                w0  w1  w2 ... w0  w1 ...                          its warps the chunks in turn
 *     partials   p0               p1               p2               folded by the block that
 *                                                                   finishes the row's last item
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_LONG_CUH
#define ECHI_REDUCE_CUDA_LONG_CUH

#include "reduce/cuda/segments.cuh"

struct long_shared {
    struct value chunks[REDUCE_MOST_CHUNKS]; /* of the item */
    struct value digits[REDUCE_WARPS][DIGITS];
    uint32_t last; /* this block finishes its row */
};

/* So many values, each in its place in shared memory, become one: in every lane of warp 0. */
template <int KIND>
static __device__ inline struct value fold_shared(const struct reduce_args &a,
                                                  const struct value *values, uint32_t count)
{
    struct value v = value_nothing<KIND>();
    if (lane_id() < count) v = values[lane_id()];
    v = value_fold<KIND, 32, 1>(a, v);
    if (count <= 32) return v;
    struct value tiles = v;
#pragma unroll 1
    for (uint32_t at = 32; at < count; at += 32) {
        v = value_nothing<KIND>();
        if (at + lane_id() < count) v = values[at + lane_id()];
        v = value_fold<KIND, 32, 1>(a, v);
        if (lane_id() % 8 == at / 32) tiles = v;
    }
    if (lane_id() % 8 >= (count + 31) / 32) tiles = value_nothing<KIND>();
    return value_fold<KIND, 8, 1>(a, tiles);
}

/* A part of a row, a.item chunks at most, by the block; right in warp 0. */
template <int KIND>
static __device__ inline struct value reduce_item_chunks(const struct reduce_args &a,
                                                         struct long_shared &s, uint64_t begin,
                                                         uint64_t from, uint64_t n)
{
    const uint64_t rest = (n - from + CHUNK - 1) / CHUNK;
    const uint32_t count = n <= from ? 0 : rest < a.item ? (uint32_t)rest : a.item;
    const uint32_t warp = threadIdx.x / 32;
    struct lanes<KIND> lanes;
    lanes_start(lanes);
#pragma unroll 1
    for (uint32_t chunk = warp; chunk < count; chunk += a.warps) {
        const uint64_t first = from + (uint64_t)chunk * CHUNK;
        const uint32_t here = n - first < CHUNK ? (uint32_t)(n - first) : (uint32_t)CHUNK;
        if (value_any_order<KIND>()) {
            add_chunk<KIND, 1>(a, lanes, begin + first, chunk * CHUNK, here);
        } else {
            struct value v = reduce_chunk<KIND, 1>(a, begin + first, first, here);
            if (lane_id() == 0) s.chunks[chunk] = v;
        }
    }
    if (value_any_order<KIND>()) {
        struct value v = close_lanes(a, lanes, from, 0);
        if (lane_id() == 0) s.chunks[warp] = v;
    }
    __syncthreads(); /* the values are there */
    if (warp) return value_nothing<KIND>();
    return fold_shared<KIND>(a, s.chunks, value_any_order<KIND>() ? a.warps : count);
}

/* The row's partials, of which there are `count`, as one; right in warp 0.  A warp has an aligned
 * run of tiles, of which a thread has adjacent ones. */
template <int KIND>
static __device__ inline struct value
fold_partials(const struct reduce_args &a, struct long_shared &s, uint64_t first, uint64_t count)
{
    enum { EACH = value_words<KIND>() == 1 ? 8 : 4, TILE = 32 * EACH };
    const uint32_t warp = threadIdx.x / 32;
    uint64_t tiles = (count + TILE - 1) / TILE, run = 1, done = 0;
    while (run * a.warps < tiles) run *= 2;
    const uint64_t from = run * warp, to = from + run < tiles ? from + run : tiles;
    struct value sum = value_nothing<KIND>();
    for (uint64_t tile = from; tile < to; tile++) {
        struct value v[EACH]; /* loaded before the first is folded */
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const uint64_t at = tile * TILE + lane_id() * EACH + i;
            v[i] = at < count ? value_load<KIND>(a.partials, first + at) : value_nothing<KIND>();
        }
#pragma unroll
        for (int half = EACH / 2; half; half /= 2)
#pragma unroll
            for (int i = 0; i < half; i++) v[i] = value_merge<KIND>(a, v[2 * i], v[2 * i + 1]);
        sum = value_fold<KIND, 32, 1>(a, v[0]);
        if (run > 1 && lane_id() == 0) count_up<KIND>(a, s.digits[warp], done, sum);
        done++;
    }
    if (run > 1 && lane_id() == 0) sum = count_end<KIND>(a, s.digits[warp], done);
    if (lane_id() == 0) s.chunks[warp] = sum;
    __syncthreads(); /* every warp's value is there */
    return fold_shared<KIND>(a, s.chunks, a.warps);
}

/* Leaves the block's partial, and says whether it was the row's last. */
template <int KIND>
static __device__ inline bool leave_partial(const struct reduce_args &a, struct long_shared &s,
                                            uint64_t item, uint32_t *done, uint32_t groups,
                                            struct value v)
{
    if (threadIdx.x == 0) {
        value_store<KIND>(a.partials, item, v);
        s.last = add_acq_rel(done, 1) == groups - 1; /* whoever counted has left its partial */
    }
    __syncthreads(); /* s.last is known, and what thread 0 knows */
    return s.last;
}

template <int KIND>
static __device__ inline void reduce_item_of(const struct reduce_args &a, struct long_shared &s,
                                             uint64_t item)
{
    uint64_t row, begin, n, group, groups;
    if (a.row_items) {
        row = a.segments == 1 ? 0 : item / a.row_items;
        group = item - row * a.row_items;
        groups = a.row_items;
        begin = row * a.columns;
        n = a.columns;
    } else {
        struct reduce_item listed = a.items[item];
        row = listed.segment;
        group = listed.group;
        groups = listed.groups;
        begin = a.offsets[row];
        n = a.offsets[row + 1] - begin;
    }
    struct value v = reduce_item_chunks<KIND>(a, s, begin, group * a.item * CHUNK, n);
    if (groups > 1) {
        uint32_t *done = a.done + (a.row_items ? row : item - group);
        if (leave_partial<KIND>(a, s, item, done, (uint32_t)groups, v)) {
            v = fold_partials<KIND>(a, s, item - group, groups);
            if (threadIdx.x == 0) *done = 0; /* as the next call wants it */
        } else {
            groups = 0; /* not this block's to write */
        }
    }
    if (groups && threadIdx.x == 0) value_result<KIND>(a, v, (const ukey *)a.in + begin, n, row);
    __syncthreads(); /* the shared memory is free for the next item */
}

/* Rows that are longer than a line and not long: each by a warp. */
template <int KIND>
static __device__ inline void reduce_rows_alone(const struct reduce_args &a, struct long_shared &s)
{
    const uint32_t warp = threadIdx.x / 32;
    for (uint64_t row = (uint64_t)blockIdx.x * a.warps + warp; row < a.segments;
         row += (uint64_t)gridDim.x * a.warps) {
        const uint64_t begin = row * a.columns;
        struct value v = reduce_middle<KIND, 1>(a, begin, a.columns, s.digits[warp]);
        if (lane_id() == 0) value_result<KIND>(a, v, (const ukey *)a.in + begin, a.columns, row);
    }
}

template <int KIND> static __device__ inline void reduce_long(const struct reduce_args &a)
{
    __shared__ struct long_shared s;
    wait_for_earlier();
    if (!has_two<KIND>() && !a.row_items && !a.offsets) {
        reduce_rows_alone<KIND>(a, s);
        return;
    }
    uint64_t items = a.row_items * a.segments;
    if (!a.row_items) items = a.counts->items < a.capacity ? a.counts->items : a.capacity;
    for (uint64_t item = blockIdx.x; item < items; item += gridDim.x)
        reduce_item_of<KIND>(a, s, item);
    if (a.row_items) return;
    /* The last block to finish empties the list. */
    __syncthreads(); /* every thread of the block has read its length */
    if (threadIdx.x) return;
    __threadfence(); /* what was read was read before it is counted */
    if (atomicAdd(&a.counts->blocks, 1) == gridDim.x - 1) {
        __threadfence();
        a.counts->items = 0;
        a.counts->blocks = 0;
    }
}

#endif
