/*
 * cuda/device/merge_path.cuh - the merge path: how two sorted sequences are divided into parts of
 * equal size that merge independently (Green, McColl and Bader, 2012).
 *
 *     a   | 1 3 4 4 | 8 9 |          the first 6 elements of the result are 4 of a and 2 of b:
 *     b   | 2 3 | 5 6 7 |            merge_path(..., 6) is 4
 *
 * Equal elements of a precede those of b. For sequences that are not sorted, the result is still
 * between its two bounds, but it may decrease from one diagonal to the next: merge_part_make()
 * bounds the part so that no access is outside the sequences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_MERGE_PATH_CUH
#define ECHI_CUDA_DEVICE_MERGE_PATH_CUH

#include "cuda/device/order.cuh"
#include "cuda/device/warp.cuh"

/* A key as it is compared: equal keys have the same form. */
static __device__ inline ukey merge_form(const struct echi_order &o, ukey u)
{
    return o.float_mask ? order_merge(o, order_encode(o, u)) : (ukey)(u ^ (ukey)(o.sign ^ o.flip));
}

/* How many of the first `diagonal` elements of the result are from a, of n_a elements; b has n_b.
 * diagonal is at most n_a + n_b. */
static __device__ inline uint64_t merge_path(const struct echi_order &o, const ukey *a,
                                             uint64_t n_a, const ukey *b, uint64_t n_b,
                                             uint64_t diagonal)
{
    uint64_t low = diagonal > n_b ? diagonal - n_b : 0, high = diagonal < n_a ? diagonal : n_a;
    while (low < high) {
        const uint64_t i = low + (high - low) / 2;
        if (merge_form(o, a[i]) <= merge_form(o, b[diagonal - 1 - i]))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The same by each LANES adjacent lanes of a warp for a diagonal of their own, with LANES
 * comparisons per step: a step waits for memory once, and leaves a part of LANES + 1 of the
 * interval. active: whether these lanes search.  All lanes of the warp call it. */
template <int LANES>
static __device__ inline uint64_t merge_path_lanes(const struct echi_order &o, const ukey *a,
                                                   uint64_t n_a, const ukey *b, uint64_t n_b,
                                                   uint64_t diagonal, bool active)
{
    const uint32_t lane = lane_id() % LANES, all = LANES == 32 ? WARP_ALL : (1u << LANES % 32) - 1;
    uint64_t low = diagonal > n_b ? diagonal - n_b : 0, high = diagonal < n_a ? diagonal : n_a;
    if (!active) low = high;
    while (__any_sync(WARP_ALL, low < high)) {
        const uint64_t step = (high - low + LANES) / (LANES + 1), i = low + (lane + 1) * step - 1;
        const bool less =
            low < high && i < high && merge_form(o, a[i]) <= merge_form(o, b[diagonal - 1 - i]);
        const uint32_t others = ~(__ballot_sync(WARP_ALL, less) >> (lane_id() - lane)) & all;
        if (low >= high) continue; /* other lanes search */
        const uint32_t count = others ? (uint32_t)__ffs((int)others) - 1 : LANES;
        const uint64_t end = low + (count + 1) * step - 1; /* where the first other lane compares */
        low += count * step;
        if (count < LANES && end < high) high = end;
    }
    return low;
}

/* The same by a warp, for all of its lanes, with 32 comparisons per step: a step waits for memory
 * once, and a thirty-third of the interval is left. */
static __device__ inline uint64_t merge_path_warp(const struct echi_order &o, const ukey *a,
                                                  uint64_t n_a, const ukey *b, uint64_t n_b,
                                                  uint64_t diagonal)
{
    uint64_t low = diagonal > n_b ? diagonal - n_b : 0, high = diagonal < n_a ? diagonal : n_a;
    while (low < high) {
        const uint64_t step = (high - low + 32) / 33, i = low + (lane_id() + 1) * step - 1;
        const bool less = i < high && merge_form(o, a[i]) <= merge_form(o, b[diagonal - 1 - i]);
        const uint32_t others = ~__ballot_sync(WARP_ALL, less);
        const uint32_t count = others ? (uint32_t)__ffs((int)others) - 1 : 32;
        const uint64_t end = low + (count + 1) * step - 1; /* where the first other lane compares */
        low += count * step;
        if (count < 32 && end < high) high = end;
    }
    return low;
}

/* A stored key as it is compared.  MERGED: some keys that are equal have different codes. */
template <bool MERGED>
static __device__ inline ukey merge_stored(const struct echi_order &o, ukey e)
{
    return MERGED ? order_merge(o, e) : e;
}

/* The same for parts that a block holds in shared memory, as order_encode() returns keys. */
template <bool MERGED>
static __device__ inline uint32_t merge_path_shared(const struct echi_order &o, const ukey *a,
                                                    uint32_t n_a, const ukey *b, uint32_t n_b,
                                                    uint32_t diagonal)
{
    uint32_t low = diagonal > n_b ? diagonal - n_b : 0, high = min(diagonal, n_a);
    while (low < high) {
        const uint32_t i = (low + high) / 2;
        if (merge_stored<MERGED>(o, a[i]) <= merge_stored<MERGED>(o, b[diagonal - 1 - i]))
            low = i + 1;
        else
            high = i;
    }
    return low;
}

/* The part of a and of b between two diagonals, at most 2^32 - 1 apart. */
struct merge_part {
    uint64_t a, b; /* where they begin */
    uint32_t n_a, n_b;
};

/* from, to: merge_path() of the diagonals `first` and first + n. */
static __device__ inline void merge_part_make(struct merge_part &part, uint64_t first, uint32_t n,
                                              uint64_t from, uint64_t to)
{
    part.a = from;
    part.b = first - from;
    part.n_a = to <= from ? 0 : to - from < n ? (uint32_t)(to - from) : n;
    part.n_b = n - part.n_a;
}

#endif
