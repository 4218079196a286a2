/*
 * reduce/cuda/long.cuh - rows and segments that many blocks share, including entire arrays.
 *
 *     row      | item           | item           | item     |      a block reduces an item;
 *                w0  w1  w2 ... w0  w1 ...                          its warps the chunks in turn
 *     partials   p0               p1               p2               folded by the block that
 *                                                                   finishes the row's last item
 *
 * Or a block reduces a segment.  The first blocks only list the items of long segments.  If all are
 * listed, each block takes items at its end until none is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_LONG_CUH
#define ECHI_REDUCE_CUDA_LONG_CUH

#include "cuda/device/ptx_async.cuh"
#include "reduce/cuda/segments.cuh"

/* The two sums of each lane of a variance's chunks, which are folded together. */
enum { SUMS_CHUNKS = 8 };
struct chunk_sums {
    uint64_t sum[2 * SUMS_CHUNKS][33]; /* [32]: the center; the 33rd column avoids bank conflicts */
};

/* Each warp's lanes of some chunks, or the item's last chunk; if is_staged(). */
union long_parts {
    struct chunk_sums sums;
    struct vector lines[ECHI_CHUNK_LINES][32];
};

static_assert(sizeof(union long_parts) == REDUCE_PART_BYTES, "the host computes with this size");

extern __shared__ __align__(16) unsigned char shared_bytes[];

/* The block's data in dynamic shared memory, with as many chunks as the launch needs; then, if
 * is_staged(), the parts of all warps.  A small one leaves more of the L1 cache for loads. */
template <int KIND> struct __align__(16) long_shared
{
    struct reduce_item items[REDUCE_WARPS]; /* the item of each warp */
    uint32_t last;                          /* this block finishes its row */
    uint32_t taken;                         /* an item of the list */
    uint32_t unused[2];
    struct packed<KIND> digits[REDUCE_WARPS * REDUCE_DIGITS]; /* also a block's segment's values */
    struct packed<KIND> chunks[REDUCE_MOST_CHUNKS];           /* of the item */
};

/* Without fold_sums(), only the warp with the last chunk uses them. */
template <int KIND> static __device__ inline union long_parts &parts_of_warp(bool per_warp)
{
    return (
        (union long_parts
             *)(shared_bytes +
                sizeof(struct long_shared<KIND>)))[folds_sums<KIND>() || per_warp ? warp_id() : 0];
}

static_assert((int)REDUCE_WARPS * (int)REDUCE_LONG_CHUNKS <= (int)REDUCE_MOST_CHUNKS,
              "each warp of a block has places for a row that is not long");

/* The chunks of an item that a warp reduces. */
struct share {
    uint64_t begin, from; /* start of the item: in the array, in its row */
    uint32_t n;           /* elements of the item */
    uint32_t first, step; /* chunks */
    uint32_t place;       /* of chunk 0's value in long_shared */
    uint32_t before;      /* warps of other blocks that share the item, before this block's */
};

/* Computes the marked chunks of the item again, with their scales; by a warp. */
template <int KIND>
static __device__ __noinline__ void
scale_chunks(const struct reduce_args &a, struct packed<KIND> *chunks, uint64_t begin, uint32_t n)
{
    __syncwarp(WARP_ALL); /* all lanes have read the first value */
#pragma unroll 1
    for (uint32_t chunk = 0; chunk * CHUNK < n; chunk += 32) {
        const uint32_t mine = chunk + lane_id();
        const uint32_t scale =
            mine * CHUNK < n ? needs_scale<KIND>(value_kept<KIND>(&chunks[mine])) : 0;
        uint32_t marked = __ballot_sync(WARP_ALL, scale != 0);
        for (; marked; marked &= marked - 1) {
            const uint32_t lane = __ffs((int)marked) - 1, first = (chunk + lane) * CHUNK;
            const struct value v =
                chunk_scaled(a, (const ukey *)a.in + begin + first, min(n - first, (uint32_t)CHUNK),
                             __shfl_sync(WARP_ALL, scale, (int)lane));
            if (lane_id() == lane) value_keep<KIND>(&chunks[mine], v);
        }
    }
    __syncwarp(WARP_ALL); /* the values are written */
}

/* Copies a vector to shared memory, where this thread finds it after vector_wait(). */
static __device__ inline void vector_copy(struct vector *to, const ukey *from)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    copy_async_16(to, from);
#else
    *to = vector_at((const char *)from);
#endif
}

static __device__ inline void vector_wait(void)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    copy_commit();
    copy_wait<0>();
#endif
}

/* The value of the n elements of an aligned chunk that is not full.  Each thread copies its vectors
 * to shared memory, all before the first is added. */
template <int KIND>
static __device__ __noinline__ struct value
chunk_staged(const struct reduce_args &a, struct vector (*lines)[32], const ukey *x, uint32_t n)
{
    const uint32_t lane = lane_id(), vectors = n / VECTOR;
    const bool has_tail = n % VECTOR && vectors % 32 == lane;
    struct vector tail = { { 0, 0, 0, 0 } };
    struct lanes<KIND> lanes;
#pragma unroll
    for (int line = 0; line < ECHI_CHUNK_LINES; line++) {
        const uint32_t i = line * 32 + lane;
        if (i < vectors) vector_copy(&lines[line][lane], x + i * VECTOR);
    }
    if (has_tail)
        tail = vector_filled(vector_at_end(x + vectors * VECTOR, n % VECTOR), n % VECTOR,
                             lane_fill<KIND>());
    lanes_start(lanes);
    vector_wait();
    center_on(a, lanes, lane < vectors ? lines[0][lane] : tail);
#pragma unroll 1
    for (uint32_t i = lane; i < vectors; i += 32) {
        const struct vector v = lines[i / 32][lane];
        lanes_add<1>(a, lanes, v, v, VECTOR, 0);
    }
    if (has_tail) lanes_add<0>(a, lanes, tail, tail, n % VECTOR, 0);
    return close_lanes<KIND, 0>(a, lanes, 0, n);
}

/* Folds the lanes of `count` full chunks, and stores the values of the chunks in every `step`th
 * place from `to` on.  Two lanes fold 16 sums each, then add their results. */
template <int KIND>
static __device__ inline void fold_sums(const struct chunk_sums &sums, uint32_t count,
                                        struct packed<KIND> *to, uint32_t step)
{
    enum { HALF = 16 };
    const uint32_t row = lane_id() / 2, half = lane_id() % 2, chunk = row / 2;
    const bool there = chunk < count;
    uint64_t x[HALF], mine = 0, k = 0;
    __syncwarp(WARP_ALL); /* the sums are written */
    if (there) {
#pragma unroll
        for (int i = 0; i < HALF;
             i++) /* the halves of 16 are exchanged in odd lanes: other banks */
            x[i] = sums.sum[row][HALF * half + (i ^ (HALF / 2 * half))];
#pragma unroll
        for (int width = 1; width < HALF; width *= 2)
#pragma unroll
            for (int i = 0; i < HALF; i += 2 * width) x[i] = sum_add(x[i], x[i + width]);
        mine = x[0];
        k = sums.sum[2 * chunk][32];
    }
    mine = sum_add(mine, __shfl_xor_sync(WARP_ALL, (unsigned long long)mine, 1));
    struct value v = { CHUNK, mine, __shfl_xor_sync(WARP_ALL, (unsigned long long)mine, 2), 0 };
    v = value_close<KIND>(v, center_of_bits(k));
    if (there && lane_id() % 4 == 0) value_keep<KIND>(&to[chunk * step], v);
    __syncwarp(WARP_ALL); /* the sums may be overwritten */
}

/* Reduces the full chunks of the warp's share, if they are aligned; returns the first chunk that is
 * left.  With floats, the vectors of the next chunk are loaded before the lanes of this one are
 * folded. */
template <int KIND>
static __device__ inline uint32_t share_full(const struct reduce_args &a,
                                             struct long_shared<KIND> &s, const struct share &p)
{
    enum { LINES = ECHI_CHUNK_LINES, EARLY = REDUCE_FLOAT != 0 };
    const uint32_t full = p.n / CHUNK;
    const ukey *x = (const ukey *)a.in + p.begin;
    uint32_t chunk = p.first, kept = 0;
    if (!can_stage<KIND>(a, x) || chunk >= full) return chunk;
    struct chunk_sums &sums = parts_of_warp<KIND>(true).sums;
    const char *at = (const char *)(x + chunk * CHUNK) + lane_id() * 16;
    struct vector line[LINES];
    if (EARLY) vector_lines<LINES, 1>(at, LINES, line);
#pragma unroll 1
    for (bool more = true; more; chunk += p.step) {
        struct lanes<KIND> lanes;
        lanes_start(lanes);
        more = chunk + p.step < full;
        at += p.step * (uint32_t)ECHI_CHUNK_BYTES;
        if (EARLY)
            center_on(a, lanes, line[0]);
        else
            add_aligned<KIND, 1>(a, lanes, place_of<KIND>(a, p.begin + chunk * CHUNK, 0), CHUNK);
#pragma unroll
        for (int i = 0; EARLY && i < LINES; i++) {
            lanes_add<1>(a, lanes, line[i], line[i], VECTOR, 0);
            if (more) line[i] = vector_at(at + 512 * i);
        }
        const struct value v = lanes_end(a, lanes);
        sums.sum[2 * kept][lane_id()] = v.b;
        sums.sum[2 * kept + 1][lane_id()] = v.c;
        if (lane_id() == 0) sums.sum[2 * kept][32] = center_bits(get_center(lanes));
        if (++kept < SUMS_CHUNKS && more) continue;
        fold_sums<KIND>(sums, kept, &s.chunks[p.place + chunk - (kept - 1) * p.step], p.step);
        kept = 0;
    }
    return chunk;
}

/* Reduces the warp's share, chunk by chunk. */
template <int KIND>
static __device__ inline struct value
share_chunks(const struct reduce_args &a, struct long_shared<KIND> &s, const struct share &p)
{
    struct value v = value_nothing<KIND>();
    struct lanes<KIND> lanes;
    lanes_start(lanes);
    uint32_t chunk = p.first;
    if (folds_sums<KIND>()) {
        chunk = share_full<KIND>(a, s, p);
        if (chunk != p.first) v = value_kept<KIND>(&s.chunks[p.place + chunk - p.step]);
    }
#pragma unroll 1
    for (; chunk * CHUNK < p.n; chunk += p.step) {
        const uint32_t first = chunk * CHUNK, here = min(p.n - first, (uint32_t)CHUNK);
        if (value_any_order<KIND>()) {
            const struct place at = place_of<KIND>(a, p.begin + first, first);
            if (!add_aligned<KIND, 1>(a, lanes, at, here)) lanes = added_around(a, lanes, at, here);
        } else {
            const ukey *x = (const ukey *)a.in + p.begin + first;
            if (is_staged<KIND>() && here < CHUNK && can_stage<KIND>(a, x))
                v = chunk_staged<KIND>(a, parts_of_warp<KIND>(p.step == 1).lines, x, here);
            else if (has_common<KIND>() && KEY_BITS >= 32 && a.offsets)
                v = reduce_chunk<KIND, LONG_SEGMENTS>(a, p.begin + first, first, here);
            else
                v = reduce_chunk<KIND, LONG_ROWS>(a, p.begin + first, first, here);
            if (lane_id() == 0) value_keep<KIND>(&s.chunks[p.place + chunk], v);
        }
    }
    return value_any_order<KIND>() ? close_lanes<KIND, 0>(a, lanes, p.from, 0) : v;
}

/* Reduces the warp's share and stores the values in shared memory.  Returns the value of the last
 * chunk or, if the order does not matter, of all chunks. */
template <int KIND>
static __device__ inline struct value
reduce_share(const struct reduce_args &a, struct long_shared<KIND> &s, const struct share &p)
{
    const struct value v = value_any_place<KIND>()
                               ? value_in_any_order<KIND>(a, (const ukey *)a.in + p.begin, p.n,
                                                          p.before + p.first, p.step)
                               : share_chunks<KIND>(a, s, p);
    if (value_any_order<KIND>() && lane_id() == 0)
        value_keep<KIND>(&s.chunks[p.place + p.first], v);
    return v;
}

/* The value of a part, from the values of its chunks, in shared memory if there are several;
 * otherwise v. */
template <int KIND>
static __device__ inline struct value close_part(const struct reduce_args &a,
                                                 struct long_shared<KIND> &s, const struct share &p,
                                                 uint32_t values, struct value v)
{
    if (KIND == REDUCE_VARIANCE && REDUCE_F64) {
        if (values > 1 || (values == 1 && needs_scale<KIND>(value_kept<KIND>(&s.chunks[p.place]))))
            scale_chunks<KIND>(a, s.chunks + p.place, p.begin, p.n);
        if (values == 1) v = value_kept<KIND>(&s.chunks[p.place]);
    }
    return values == 1 ? v : fold_shared<KIND>(a, s.chunks + p.place, values);
}

/* Folds the row's `count` partials; the result is valid in warp 0.  A warp has an aligned run of
 * tiles, in which a thread has adjacent partials. */
template <int KIND>
static __device__ inline struct value fold_partials(const struct reduce_args &a,
                                                    struct long_shared<KIND> &s, uint64_t first,
                                                    uint64_t count)
{
    enum {
        EACH = value_words<KIND>() == 1   ? 8
               : value_words<KIND>() <= 3 ? 4
                                          : 2,
        TILE = 32 * EACH
    };
    const uint32_t warp = warp_id();
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
        const uint64_t lanes = (count - tile * TILE + EACH - 1) / EACH;
        sum = value_fold_some<KIND>(a, v[0], lanes < 32 ? (uint32_t)lanes : 32);
        if (run > 1 && lane_id() == 0)
            count_up<KIND>(a, s.digits + warp * REDUCE_DIGITS, done, sum);
        done++;
    }
    if (run > 1 && lane_id() == 0) sum = count_end<KIND>(a, s.digits + warp * REDUCE_DIGITS, done);
    if (lane_id() == 0) value_keep<KIND>(&s.chunks[warp], sum);
    __syncthreads(); /* the values of all warps are written */
    return fold_shared<KIND>(a, s.chunks, a.warps);
}

/* Stores the block's partial; returns whether it was the row's last. */
template <int KIND>
static __device__ inline bool leave_partial(const struct reduce_args &a,
                                            struct long_shared<KIND> &s, uint64_t item,
                                            uint32_t *done, uint32_t groups, struct value v)
{
    if (threadIdx.x == 0) {
        value_store<KIND>(a.partials, item, v);
        s.last = add_acq_rel(done, 1) == groups - 1; /* release: a block that counts has stored its
                                                        partial */
    }
    __syncthreads(); /* s.last is known, and all threads see the partials of other blocks */
    return s.last;
}

/* Reduces a part of a row: that of the block, or of the warp (per_warp).  The result is valid
 * in warp 0, or in the warp.  After the last part of a block's segment, folds the values of all. */
template <int KIND>
static __device__ inline struct value
reduce_part(const struct reduce_args &a, struct long_shared<KIND> &s, bool per_warp, bool own)
{
    const uint32_t warp = warp_id();
    const struct reduce_item now = s.items[warp];
    const bool all = value_any_place<KIND>() && !a.item; /* the blocks of a row read it together */
    const uint64_t from = (uint64_t)now.group * a.item * CHUNK;
    struct value v = value_nothing<KIND>();
    if (own && now.group && from >= now.n)
        return warp == 0 && now.group > 1 ? fold_shared<KIND>(a, s.digits, now.group) : v;
    const uint32_t most = (per_warp ? (uint32_t)REDUCE_LONG_CHUNKS : a.item) * CHUNK;
    const uint64_t rest = now.n - from;
    const struct share p = { now.begin + from,
                             from,
                             rest < most || all ? (uint32_t)rest : most,
                             per_warp ? 0 : warp,
                             per_warp ? 1
                             : all    ? a.warps * now.groups
                                      : a.warps,
                             per_warp ? warp * REDUCE_LONG_CHUNKS : 0,
                             all ? a.warps * now.group : 0 };
    v = reduce_share<KIND>(a, s, p);
    if (!per_warp)
        __syncthreads(); /* the values are written */
    else
        __syncwarp(WARP_ALL); /* the values of lane 0 are written */
    const uint32_t values = !value_any_order<KIND>() ? (p.n + CHUNK - 1) / CHUNK
                            : per_warp               ? 1
                                                     : a.warps;
    return per_warp || warp == 0 ? close_part<KIND>(a, s, p, values, v) : v;
}

/* Whether blocks share a segment of n elements. */
static __device__ inline bool is_shared(const struct reduce_args &a, uint64_t n)
{
    return a.capacity && n > (uint64_t)a.long_chunks * CHUNK;
}

/* ---- The list of segments that blocks share ---- */

/* Lists the shared ones of the block's segments, one per thread.  No block takes an item before all
 * segments are listed: then a number of items that exceeds the list does no harm. */
static __device__ inline void list_segments(const struct reduce_args &a)
{
    unsigned long long *state = (unsigned long long *)&a.counts->state;
    const uint64_t segment = (uint64_t)blockIdx.x * a.warps * 32 + threadIdx.x;
    uint64_t from, end, begin, n;
    if (blockIdx.x == 0 && threadIdx.x == 0) a.turns->taken = a.turns->finished = 0;
    load_segment(a, segment, segment < a.segments, &from, &end);
    check_segment(a, segment, false, from, end, &begin, &n);
    uint32_t which = __ballot_sync(WARP_ALL, is_shared(a, n));
    for (; which; which &= which - 1) {
        const int lane = __ffs((int)which) - 1;
        const uint64_t its_begin = __shfl_sync(WARP_ALL, (unsigned long long)begin, lane);
        const uint64_t its_n = __shfl_sync(WARP_ALL, (unsigned long long)n, lane);
        unsigned long long first = 0;
        if (lane_id() == 0)
            first = atomicAdd(state, (unsigned long long)items_of(its_n) << 32) >> 32;
        first = __shfl_sync(WARP_ALL, first, 0);
        write_items(a, first, segment - lane_id() + (uint64_t)lane, its_begin, its_n);
    }
    __syncthreads(); /* the items of all warps are written */
    /* By the thread of take_item(), so that the block that lists the last segments takes items. */
    if (threadIdx.x != (a.warps - 1) * 32) return;
    __threadfence(); /* a block that takes an item sees it, and the turns */
    if (atomicAdd(state, 1) + 1 == a.scans) store_relaxed_u64(&a.counts->state, 0); /* no items */
}

/* Takes an item; ~0 if there is none, or if not all segments are listed: the block that lists the
 * last ones, and those that end after it, reduce all items.  For all threads of the block. */
template <int KIND>
static __device__ inline uint32_t take_item(const struct reduce_args &a,
                                            struct long_shared<KIND> &s)
{
    if (threadIdx.x == (a.warps - 1) * 32) { /* warp 0 may still fold values */
        const uint64_t state = load_relaxed_u64(&a.counts->state), items = state >> 32;
        uint32_t item = ~0u;
        if (items && (uint32_t)state == a.scans) {
            __threadfence(); /* the items and the turns were written before the last increment */
            item = atomicAdd(&a.turns->taken, 1);
            if (item >= items || item >= a.capacity) item = ~0u;
        }
        s.taken = item;
    }
    __syncthreads(); /* the item is known */
    return s.taken;
}

/* Counts an item that the block has reduced; the last one of the list empties it. */
static __device__ inline void finish_item(const struct reduce_args &a)
{
    if (threadIdx.x) return;
    const uint64_t items = load_relaxed_u64(&a.counts->state) >> 32; /* not empty before this one */
    const uint32_t finished = add_acq_rel(&a.turns->finished, 1) + 1;
    if (finished == items || finished == a.capacity) store_relaxed_u64(&a.counts->state, 0);
}

/* ---- Items ---- */

/* An item of a row, by the block.  per_warp: one warp per row, for rows that are longer than a line
 * but not long; a row has at most as many chunks as a warp has places.  own: an item is the
 * block's segment, which it reduces part by part, unless it is listed; if there is one part, warp 0
 * folds its values while the other warps read the list.
 *
 * The loop over chunks has few variables, so that none is spilled: a load from local memory would
 * wait for the preceding loads of elements. */
template <int KIND>
static __device__ inline void reduce_item_of(const struct reduce_args &a,
                                             struct long_shared<KIND> &s, uint64_t item,
                                             bool per_warp, bool own)
{
    const uint32_t warp = warp_id();
    struct reduce_item now = { item, 0, 0, 0, 1 }; /* the same for all threads of the block, or of
                                                      the warp */
    if (a.row_items) {
        now.segment = a.segments == 1 ? 0 : item / a.row_items;
        now.group = (uint32_t)(item - now.segment * a.row_items);
        now.groups = (uint32_t)a.row_items;
    } else if (own) {
        uint64_t from, to;
        load_segment(a, item, true, &from, &to);
        check_segment(a, item, threadIdx.x == 0, from, to, &now.begin, &now.n);
        if (REDUCE_LISTS(KIND) && is_shared(a, now.n)) return;
    } else if (!per_warp) {
        now = a.items[item];
    } else {
        now.segment = item * a.warps + warp;
        if (now.segment >= a.segments) return;
    }
    if (!a.offsets) {
        now.begin = now.segment * a.columns;
        now.n = a.columns;
    }
    if (lane_id() == 0) s.items[warp] = now;
    __syncwarp(WARP_ALL); /* the item is written */
    struct value v;
    for (;;) {
        v = reduce_part<KIND>(a, s, per_warp, own);
        now = s.items[warp];
        if (!own || now.n <= (uint64_t)a.item * CHUNK ||
            (uint64_t)now.group * a.item * CHUNK >= now.n)
            break;
        if (threadIdx.x == 0) value_keep<KIND>(&s.digits[now.group], v);
        __syncthreads(); /* the value is written, and all warps have read those of the chunks */
        if (lane_id() == 0) s.items[warp].group = now.group + 1;
        __syncwarp(WARP_ALL); /* the item is written */
    }
    uint32_t groups = now.groups;
    if (groups > 1) {
        uint32_t *done = a.done + (a.row_items ? now.segment : item - now.group);
        if (leave_partial<KIND>(a, s, item, done, groups, v)) {
            v = fold_partials<KIND>(a, s, item - now.group, groups);
            if (threadIdx.x == 0) *done = 0; /* reset for the next call */
        } else {
            groups = 0; /* another block writes the result */
        }
    }
    if (groups && lane_id() == 0 && (per_warp || warp == 0))
        value_write<KIND>(a, v, (const ukey *)a.in + now.begin, now.n, now.segment);
    if (per_warp || (own && now.n <= (uint64_t)a.item * CHUNK))
        __syncwarp(WARP_ALL); /* the warp's places may be overwritten */
    else
        __syncthreads(); /* the shared memory may be overwritten */
}

template <int KIND> static __device__ inline void reduce_long(const struct reduce_args &a)
{
    static_assert(sizeof(struct long_shared<KIND>) ==
                      REDUCE_SHARED_BYTES(value_words<KIND>(), REDUCE_MOST_CHUNKS),
                  "the host computes with this size");
    struct long_shared<KIND> &s = *(struct long_shared<KIND> *)shared_bytes;
    wait_for_earlier();
    const bool per_warp = !has_two<KIND>() && !a.row_items && !a.offsets;
    const bool lists = REDUCE_LISTS(KIND) && a.per_block && a.capacity;
    uint64_t items = a.row_items * a.segments;
    if (per_warp)
        items = (a.segments + a.warps - 1) / a.warps;
    else if (a.per_block)
        items = a.segments;
    else if (!a.row_items)
        items = a.counts->items < a.capacity ? a.counts->items : a.capacity;
    uint64_t item = blockIdx.x;
    bool own = !has_two<KIND>() && a.per_block;
    if (lists && item < a.scans) {
        list_segments(a);
        own = false;
    } else if (lists) {
        item -= a.scans;
    }
    for (;; item += gridDim.x) {
        if (lists && !own) {
            item = take_item(a, s);
            if (item == ~0u) return;
        } else if (item >= items) {
            break;
        }
        reduce_item_of<KIND>(a, s, item, per_warp, own);
        if (lists && !own) finish_item(a);
        if (lists) own = false;
    }
    if (per_warp || a.row_items || a.per_block || !items) return;
    /* The last block to finish empties the list. */
    __syncthreads(); /* all threads of the block have read its length */
    if (threadIdx.x) return;
    __threadfence(); /* the reads precede the increment */
    if (atomicAdd(&a.counts->blocks, 1) == gridDim.x - 1) {
        __threadfence();
        *a.counts = reduce_counts{};
    }
}

#endif
