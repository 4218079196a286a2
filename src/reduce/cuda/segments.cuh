/*
 * reduce/cuda/segments.cuh - a warp reduces up to 32 consecutive segments or rows.
 *
 *     tiny   side by side, one thread each: at most 64 bytes
 *     short  the same, eight threads each: at most 128 bytes, or a line
 *     rows   of full vectors, at most a line: rows.cuh
 *     other  one at a time by the warp, chunk by chunk
 *     long   put on a list, for blocks to share: long.cuh; in small arrays shared by the warps of
 *            the block
 *
 * The code for tiny and short sums of f32 (is_common() in value.cuh) is unrolled; other kinds use a
 * loop with four vectors in flight.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_REDUCE_CUDA_SEGMENTS_CUH
#define ECHI_REDUCE_CUDA_SEGMENTS_CUH

#include "cuda/device/data_error.cuh"
#include "reduce/cuda/rows.cuh"

/* A binary counter of the values of chunks, or of tiles of 32 parts: digit l is the value of 2^l of
 * them.  One lane keeps it. */

template <int KIND>
static __device__ inline void count_up(const struct reduce_args &a, struct packed<KIND> *digits,
                                       uint64_t count, struct value v)
{
    int l = 0;
    for (; count >> l & 1; l++) v = value_merge<KIND>(a, value_kept<KIND>(&digits[l]), v);
    value_keep<KIND>(&digits[l], v);
}

template <int KIND>
static __device__ inline struct value count_end(const struct reduce_args &a,
                                                const struct packed<KIND> *digits, uint64_t count)
{
    struct value v = value_nothing<KIND>();
    for (int l = 0; count >> l; l++)
        if (count >> l & 1) v = value_merge<KIND>(a, value_kept<KIND>(&digits[l]), v);
    return v;
}

/* Folds `count` values of a variance in shared memory, at most 1,024: each lane those that are
 * adjacent, in their places, then the warp those of the lanes.  A merge has divisions, so there are
 * few, one after the other.  Lane 0 gets the result. */
template <int KIND>
static __device__ __noinline__ struct value
fold_moments(const struct reduce_args &a, struct packed<KIND> *values, uint32_t count)
{
    uint32_t each = 1;
    while (32 * each < count) each *= 2;
    const uint32_t first = lane_id() * each, end = min(first + each, count);
#pragma unroll 1
    for (uint32_t step = 1; step < each; step *= 2)
#pragma unroll 1
        for (uint32_t i = first; i + step < end; i += 2 * step)
            value_keep<KIND>(&values[i], value_merge<KIND>(a, value_kept<KIND>(&values[i]),
                                                           value_kept<KIND>(&values[i + step])));
    return value_fold_some<KIND>(
        a, first < count ? value_kept<KIND>(&values[first]) : value_nothing<KIND>(),
        (count + each - 1) / each);
}

/* Folds `count` values in shared memory, each at its place; lane 0 gets the result. */
template <int KIND>
static __device__ inline struct value fold_shared(const struct reduce_args &a,
                                                  struct packed<KIND> *values, uint32_t count)
{
    if (KIND == REDUCE_VARIANCE) return fold_moments<KIND>(a, values, count);
    struct value v = value_nothing<KIND>();
    if (lane_id() < count) v = value_kept<KIND>(&values[lane_id()]);
    v = value_fold<KIND, 32, 1>(a, v);
    if (count <= 32) return v;
    struct value tiles = v;
#pragma unroll 1
    for (uint32_t at = 32; at < count; at += 32) {
        v = value_nothing<KIND>();
        if (at + lane_id() < count) v = value_kept<KIND>(&values[at + lane_id()]);
        v = value_fold<KIND, 32, 1>(a, v);
        if (lane_id() % 8 == at / 32) tiles = v;
    }
    if (lane_id() % 8 >= (count + 31) / 32) tiles = value_nothing<KIND>();
    return value_fold<KIND, 8, 1>(a, tiles);
}

template <int KIND>
static __device__ inline struct value chunk_called(const struct reduce_args &a, uint64_t begin,
                                                   uint64_t first, uint32_t n)
{
    return reduce_chunk<KIND, 0>(a, begin, first, n);
}

/* n elements by the warp, chunk by chunk. */
template <int KIND>
static __device__ inline struct value reduce_chunks(const struct reduce_args &a, uint64_t begin,
                                                    uint64_t n, struct packed<KIND> *digits)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i == 0 || i < n; i += CHUNK, count++) {
        uint32_t here = n - i < CHUNK ? (uint32_t)(n - i) : (uint32_t)CHUNK;
        struct value v = chunk_called<KIND>(a, begin + i, i, here);
        const uint32_t scale = needs_scale<KIND>(v);
        if (scale) v = chunk_scaled(a, (const ukey *)a.in + begin + i, here, scale);
        if (n <= CHUNK) return v;
        if (lane_id() == 0) count_up<KIND>(a, digits, count, v);
    }
    return lane_id() == 0 ? count_end<KIND>(a, digits, count) : value_nothing<KIND>();
}

/* n elements by the warp: at most REDUCE_ALONE_CHUNKS chunks, unless they are listed. */
template <int KIND>
static __device__ inline struct value reduce_middle(const struct reduce_args &a, uint64_t begin,
                                                    uint64_t n, struct packed<KIND> *digits)
{
    return value_any_place<KIND>()
               ? value_of_any<KIND>(a, (const ukey *)a.in + begin, (uint32_t)n, 0, 1)
               : reduce_chunks<KIND>(a, begin, n, digits);
}

static __device__ inline uint32_t items_of(uint64_t n)
{
    return (uint32_t)((n + (uint64_t)REDUCE_ITEM_CHUNKS * CHUNK - 1) /
                      (REDUCE_ITEM_CHUNKS * CHUNK));
}

/* Writes the items of a segment, of REDUCE_ITEM_CHUNKS chunks, to the list from `first` on; by the
 * warp.  If there is no place for them, segments overlap, which has been reported: empty items. */
static __device__ inline void write_items(const struct reduce_args &a, uint64_t first,
                                          uint64_t segment, uint64_t begin, uint64_t n)
{
    const uint32_t groups = items_of(n);
    const bool fits = first + groups <= a.capacity;
    for (uint64_t i = lane_id(); i < groups && first + i < a.capacity; i += 32) {
        struct reduce_item item = { segment, begin, n, (uint32_t)i, groups };
        struct reduce_item empty = { segment, begin, 0, 0, 1 };
        a.items[first + i] = fits ? item : empty;
    }
    if (lane_id() == 0 && fits) a.done[first] = 0;
}

/* Puts a long segment on the list for the next launch; by the warp. */
static __device__ inline void list_segment(const struct reduce_args &a, uint64_t segment,
                                           uint64_t begin, uint64_t n)
{
    const uint32_t groups = items_of(n);
    unsigned long long first = 0;
    if (lane_id() == 0)
        first = atomicAdd((unsigned long long *)&a.counts->items, (unsigned long long)groups);
    first = __shfl_sync(WARP_ALL, first, 0);
    write_items(a, first, segment, begin, n);
}

static __device__ inline uint64_t offset_of(const struct reduce_args &a, uint64_t i)
{
    return echi_index_at(a.offsets, a.offsets_index, i);
}

/* Loads the start and end of a lane's segment from the offsets, or of a row; empty if there is
 * none.  Narrow offsets get zeros above 32 bits, also negative ones, which exceed offsets_limit. */
static __device__ inline void load_segment(const struct reduce_args &a, uint64_t s, bool there,
                                           uint64_t *from, uint64_t *to)
{
    *from = *to = 0;
    if (!there) return;
    if (!a.offsets) {
        *from = s * a.columns;
        *to = *from + a.columns;
    } else if (a.offsets_index.bytes == 8) {
        *from = ((const uint64_t *)a.offsets)[s];
        *to = ((const uint64_t *)a.offsets)[s + 1];
    } else {
        *from = ((const uint32_t *)a.offsets)[s];
        *to = ((const uint32_t *)a.offsets)[s + 1];
    }
}

/* The same as start and length; empty if the offsets are invalid. */
static __device__ inline void check_segment(const struct reduce_args &a, uint64_t s, bool there,
                                            uint64_t from, uint64_t to, uint64_t *begin,
                                            uint64_t *n)
{
    const bool good = from <= to && to <= a.offsets_limit;
    *begin = good ? from : 0;
    *n = good ? to - from : 0;
    if (!there || (good && s)) return;
    const bool first = s == 0 && from > a.offsets_limit;
    if (first || to > a.offsets_limit || to < from)
        report_error(a.data_error,
                     first || to > a.offsets_limit ? ECHI_OFFSETS_PAST_END : ECHI_OFFSETS_DECREASE,
                     first ? 0 : s + 1);
}

/* A warp's data of its segments in shared memory. */
template <int KIND> struct segments_shared {
    struct packed<KIND> digits[8]; /* of a segment that is not listed */
    uint8_t order[32];             /* the lanes whose segments are reduced side by side */
};

/* The segments of a block that its warps share. */
template <int KIND> struct long_segments {
    struct packed<KIND> values[REDUCE_BLOCK_CHUNKS]; /* of chunks, or of warps */
    uint64_t segment[REDUCE_WARP], begin[REDUCE_WARP];
    uint32_t n[REDUCE_WARP];
    uint32_t count; /* not all have a place */
};

/* Notes a segment; false if there is no place for it. By the warp. */
template <int KIND>
static __device__ inline bool note_segment(struct long_segments<KIND> &l, uint64_t segment,
                                           uint64_t begin, uint64_t n)
{
    uint32_t at = 0;
    if (lane_id() == 0) {
        at = atomicAdd(&l.count, 1);
        if (at < REDUCE_WARP) {
            l.segment[at] = segment;
            l.begin[at] = begin;
            l.n[at] = (uint32_t)n;
        }
    }
    return __shfl_sync(WARP_ALL, at, 0) < REDUCE_WARP;
}

/* Reduces the noted segments, by the block; after a barrier. */
template <int KIND>
static __device__ inline void reduce_noted(const struct reduce_args &a,
                                           struct long_segments<KIND> &l)
{
    const uint32_t warp = warp_id(), count = min(l.count, (uint32_t)REDUCE_WARP);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t begin = l.begin[i];
        const uint32_t n = l.n[i];
        const ukey *x = (const ukey *)a.in + begin;
        for (uint32_t at = warp * CHUNK; at < n && !value_any_place<KIND>();
             at += REDUCE_WARPS * CHUNK) {
            const struct value v =
                chunk_called<KIND>(a, begin + at, at, min(n - at, (uint32_t)CHUNK));
            if (lane_id() == 0) value_keep<KIND>(&l.values[at / CHUNK], v);
        }
        if (value_any_place<KIND>()) {
            const struct value v = value_of_any<KIND>(a, x, n, warp, REDUCE_WARPS);
            if (lane_id() == 0) value_keep<KIND>(&l.values[warp], v);
        }
        __syncthreads(); /* the values are written */
        if (warp == 0) {
            const uint32_t values =
                value_any_place<KIND>() ? (uint32_t)REDUCE_WARPS : (n + CHUNK - 1) / CHUNK;
            const struct value v = fold_shared<KIND>(a, l.values, values);
            if (lane_id() == 0) value_result<KIND>(a, v, x, n, l.segment[i]);
        }
        __syncthreads(); /* they have been read */
    }
}

/* Compacts the lanes whose segments are reduced side by side. */
template <int KIND>
static __device__ inline void note_order(bool mine, uint32_t which,
                                         struct segments_shared<KIND> &shared)
{
    __syncwarp(WARP_ALL); /* all lanes have read the last order */
    if (mine) shared.order[__popc(which & lanes_below())] = (uint8_t)lane_id();
    __syncwarp(WARP_ALL); /* the order is written */
}

/* The value of lane `who`; if each thread has its own segment, the thread's own value. */
template <int LANES> static __device__ inline uint64_t of_lane(uint64_t x, int who)
{
    return LANES == 1 ? x : __shfl_sync(WARP_ALL, (unsigned long long)x, who);
}

/* Reduces some of the warp's segments side by side, with LANES threads each.  A thread has VECTORS
 * consecutive vectors, and loads those of ROUNDS rounds before it adds the first.  At the end each
 * thread has the result of one segment, so that they are written together.  SHIFTED 0: all are
 * aligned. */
template <int KIND, int LANES, int VECTORS, int SHIFTED, int ROUNDS>
static __device__ inline void reduce_short(const struct reduce_args &a, bool mine, uint64_t s,
                                           uint64_t begin, uint64_t n,
                                           struct segments_shared<KIND> &shared)
{
    enum { GROUPS = 32 / LANES };
    const uint32_t which = __ballot_sync(WARP_ALL, mine), count = (uint32_t)__popc(which);
    const uint32_t at = lane_id() % LANES * (VECTORS * VECTOR);
    struct value result = value_nothing<KIND>();
    if (which == 0) return;
    if (LANES > 1) note_order(mine, which, shared);
#pragma unroll 1
    for (uint32_t round = 0; round * GROUPS < count; round += ROUNDS) {
        struct raw<VECTORS, SHIFTED> v[ROUNDS];
        const ukey *x[ROUNDS];
        uint32_t here[ROUNDS];
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const uint32_t slot = (round + r) * GROUPS + lane_id() / LANES;
            const int who = LANES > 1 && slot < count ? shared.order[slot] : 0;
            x[r] = (const ukey *)a.in + of_lane<LANES>(begin, who);
            here[r] = (uint32_t)of_lane<LANES>(n, who);
            if (LANES > 1 ? slot >= count : !mine) here[r] = 0;
            const uint32_t shift = (uint32_t)((uintptr_t)x[r] & 15);
            const uint32_t some = here[r] <= at ? 0 : here[r] - at;
            raw_load<VECTORS, SHIFTED>(
                (const char *)(x[r] + at) - (SHIFTED ? shift : 0), shift,
                (some < VECTORS * VECTOR ? some : VECTORS * VECTOR) * KEY_BYTES, v[r]);
        }
#pragma unroll
        for (int r = 0; r < ROUNDS; r++) {
            const uint32_t shift = (uint32_t)((uintptr_t)x[r] & 15);
            const center k = center_of<KIND>(a, x[r], here[r]);
            struct value value =
                reduce_vectors<KIND, VECTORS, SHIFTED>(a, v[r], shift, here[r], at, k);
            value = value_close<KIND>(value_fold<KIND, LANES, 0>(a, value), k);
            if (lane_id() % LANES == round + r) result = value;
        }
    }
    const uint32_t slot = lane_id() % LANES * GROUPS + lane_id() / LANES;
    const int who = LANES == 1 ? (int)lane_id() : slot < count ? shared.order[slot] : 0;
    const uint64_t from = of_lane<LANES>(begin, who), length = of_lane<LANES>(n, who);
    if (LANES > 1 ? slot < count : mine)
        value_result<KIND>(a, result, (const ukey *)a.in + from, length, s - lane_id() + who);
}

/* A vector of a small segment. */
struct piece {
    struct raw<1, 1> v;
    const ukey *x; /* the segment's elements */
    uint32_t n;
};

/* The same in a loop: `each` threads per segment, `vectors` (1 or 4) per thread, and enough rounds
 * for four vectors, which are loaded before the first is added. */
template <int KIND>
static __device__ inline void
reduce_small(const struct reduce_args &a, bool mine, uint64_t s, uint64_t begin, uint64_t n,
             struct segments_shared<KIND> &shared, uint32_t each, uint32_t vectors)
{
    enum { PIECES = 4 };
    const uint32_t which = __ballot_sync(WARP_ALL, mine), count = (uint32_t)__popc(which);
    const uint32_t groups = 32 / each, nth = lane_id() & (each - 1);
    struct value result = value_nothing<KIND>(), one = result, two = result;
    center k = 0;
    if (which == 0) return;
    note_order(mine, which, shared);
#pragma unroll 1
    for (uint32_t t = 0; t < vectors * count; t += PIECES * groups) {
        struct piece p[PIECES];
#pragma unroll
        for (int i = 0; i < PIECES; i++) {
            if (i) p[i] = p[i - 1];
            if (i == 0 || vectors == 1) {
                const uint32_t slot = t / vectors + i * groups + lane_id() / each;
                const int who = slot < count ? shared.order[slot] : 0;
                p[i].x = (const ukey *)a.in + __shfl_sync(WARP_ALL, (unsigned long long)begin, who);
                p[i].n = __shfl_sync(WARP_ALL, (uint32_t)n, who);
                if (slot >= count) p[i].n = 0;
            }
            const uint32_t at = vectors == 1 ? nth * VECTOR : (nth * PIECES + i) * VECTOR;
            const uint32_t shift = (uint32_t)((uintptr_t)p[i].x & 15);
            raw_load<1, 1>((const char *)(p[i].x + at) - shift, shift,
                           elements_here(p[i].n, at) * KEY_BYTES, p[i].v);
        }
#pragma unroll 1
        for (uint32_t i = 0; i < PIECES; i++) {
            const ukey *x = p[0].x;
            const uint32_t at = vectors == 1 ? nth * VECTOR : (nth * PIECES + i) * VECTOR;
            if (i == 0 || vectors == 1) k = center_of<KIND>(a, x, p[0].n);
            struct value value =
                reduce_vectors<KIND, 1, 1>(a, p[0].v, (uint32_t)((uintptr_t)x & 15), p[0].n, at, k);
#pragma unroll
            for (int j = 1; j < PIECES; j++) p[j - 1] = p[j];
            if (vectors != 1) {
                if (i & 1) value = value_add<KIND>(a, one, value);
                if (i == 3) value = value_add<KIND>(a, two, value);
                if (i == 1)
                    two = value;
                else
                    one = value;
                if (i != PIECES - 1) continue;
            }
#pragma unroll 1
            for (uint32_t step = 1; step < each; step *= 2)
                value = value_add<KIND>(a, value, value_from<KIND>(value, (int)step, false));
            value = value_close<KIND>(value, k);
            if (nth == t / vectors / groups + (vectors == 1 ? i : 0)) result = value;
        }
    }
    const uint32_t slot = nth * groups + lane_id() / each;
    const int who = slot < count ? shared.order[slot] : 0;
    const uint64_t from = __shfl_sync(WARP_ALL, (unsigned long long)begin, who);
    const uint64_t length = __shfl_sync(WARP_ALL, (unsigned long long)n, who);
    const uint32_t scale = slot < count ? needs_scale<KIND>(result) : 0;
    if (scale) result = line_scaled(a, (const ukey *)a.in + from, (uint32_t)length, scale);
    if (slot < count)
        value_result<KIND>(a, result, (const ukey *)a.in + from, length, s - lane_id() + who);
}

/* The warp's segments from `first` on. */
template <int KIND>
static __device__ inline void
reduce_some(const struct reduce_args &a, uint64_t first, uint64_t segments, uint64_t from,
            uint64_t to, struct segments_shared<KIND> &shared, struct long_segments<KIND> *noted)
{
    const uint64_t s = first + lane_id();
    uint64_t begin, n;
    const bool there = lane_id() < a.each && s < segments;
    check_segment(a, s, there, from, to, &begin, &n);
    const ukey *x = (const ukey *)a.in + begin;
    const bool small = n <= LINE && (n == 0 || lies_within(a, a.in, x, (uint32_t)n));
    const bool tiny = small && n <= REDUCE_TINY_BYTES / KEY_BYTES;
    const bool is_short = small && !tiny && n <= REDUCE_SHORT_BYTES / KEY_BYTES;
    const bool is_line = small && !tiny && !is_short;
    if (is_common<KIND>()) {
        reduce_short<KIND, 1, REDUCE_TINY_BYTES / 16, 1, 1>(a, there && tiny, s, begin, n, shared);
        if (__any_sync(WARP_ALL, is_short && ((uintptr_t)x & 15)))
            reduce_short<KIND, 8, REDUCE_SHORT_BYTES / 128, 1, 4>(a, is_short, s, begin, n, shared);
        else
            reduce_short<KIND, 8, REDUCE_SHORT_BYTES / 128, 0, 8>(a, is_short, s, begin, n, shared);
        reduce_short<KIND, 8, ECHI_LINE_BYTES / 128, 1, 1>(a, is_line, s, begin, n, shared);
    } else {
#pragma unroll 1
        for (int size = 0; size < 3; size++) /* tiny, short, at most a line */
            reduce_small<KIND>(a,
                               size == 0   ? there && tiny
                               : size == 1 ? is_short
                                           : is_line,
                               s, begin, n, shared, size == 0 ? 1 : 8, size == 1 ? 1 : 4);
    }
    uint32_t others = __ballot_sync(WARP_ALL, there && !small);
    for (; others; others &= others - 1) {
        const int who = __ffs((int)others) - 1;
        const uint64_t from = __shfl_sync(WARP_ALL, (unsigned long long)begin, who);
        const uint64_t count = __shfl_sync(WARP_ALL, (unsigned long long)n, who);
        if (count > (uint64_t)a.long_chunks * CHUNK && a.capacity) {
            list_segment(a, first + who, from, count);
            continue;
        }
        if (REDUCE_LISTS(KIND) && noted && count > (uint64_t)a.long_chunks * CHUNK &&
            note_segment(*noted, first + who, from, count))
            continue;
        struct value v = reduce_middle<KIND>(a, from, count, shared.digits);
        if (lane_id() == 0) value_result<KIND>(a, v, (const ukey *)a.in + from, count, first + who);
    }
}

template <int KIND> static __device__ inline void reduce_segments(const struct reduce_args &a)
{
    __shared__ struct segments_shared<KIND> shared[REDUCE_WARPS];
    wait_for_earlier();
    const uint64_t segments = a.segments_at ? *a.segments_at : a.segments;
    const uint64_t warps = (uint64_t)gridDim.x * REDUCE_WARPS;
    uint64_t warp = (uint64_t)blockIdx.x * REDUCE_WARPS + warp_id();
    if (a.row_lanes) {
        for (; warp >> a.row_share << 5 < segments; warp += warps)
            if (!is_plain_sum<KIND>() || a.row_lanes == 2)
                reduce_rows<KIND, 2>(a, warp, a.row_lanes);
            else
                reduce_rows<KIND, 8>(a, warp, a.row_lanes);
        return;
    }
    const bool notes = REDUCE_LISTS(KIND) && !a.capacity;
    __shared__ struct long_segments<KIND> noted;
    uint64_t s = warp * a.each + lane_id(), from, to;
    load_segment(a, s, lane_id() < a.each && s < segments, &from, &to);
    if (notes) {
        if (threadIdx.x == 0) noted.count = 0;
        __syncthreads(); /* the count is written */
    }
    while (warp * a.each < segments) {
        const uint64_t first = warp * a.each, this_from = from, this_to = to;
        warp += warps;
        s = warp * a.each + lane_id();
        load_segment(a, s, lane_id() < a.each && s < segments, &from, &to); /* long before use */
        reduce_some<KIND>(a, first, segments, this_from, this_to, shared[warp_id()],
                          notes ? &noted : NULL);
    }
    if (!notes) return;
    __syncthreads(); /* all segments are noted */
    if (REDUCE_LISTS(KIND)) reduce_noted<KIND>(a, noted);
}

#endif
