/*
 * merge/cuda/table.cuh - merges large arrays of keys of 8 and 16 bits without values by their
 * possible keys: searches where each of them begins, and writes it as often as it occurs.
 *
 *     merge_codes   a warp (8 bits) or a thread (16 bits) per possible key searches both arrays
 *     merge_fill    a block finds the keys of its tile in the table, and writes vectors of 16 bytes
 *
 *     a  0 0 2 2 2     b  0 2 3     starts  0 3 3 7 8     out  0 0 0 2 2 2 2 3
 *
 * Only a small part of both arrays is read.  Keys with equal codes have equal bits.  Where
 * different codes are equal, as of -0 and +0, or of NaN, the keys of a and then of b are copied.
 *
 * A search is a comparison of codes with one number, so that what it finds never decreases from one
 * code to the next, even if the arrays are not sorted: all positions are within them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_MERGE_CUDA_TABLE_CUH
#define ECHI_MERGE_CUDA_TABLE_CUH

#include "cuda/device/merge_path.cuh"
#include "merge/cuda/common.h"

enum {
    FILL_VECTOR = 16 / KEY_BYTES, /* keys of a vector */
    FILL_EACH = MERGE_FILL_EACH,  /* vectors of a thread */
    FILL_TILE = MERGE_FILL_TILE(KEY_BYTES),
    TABLE_LAST = MERGE_CODES(KEY_BYTES) - 1, /* the last code */
    SEARCH_WAYS = 4                          /* parts of a range per step of a thread */
};

/* ---- The table ---- */

#if KEY_BYTES == 1

/* How many keys of one array have a lower code, by half of a warp with 16 comparisons per step. */
static __device__ inline uint64_t table_search(const struct merge_args &a, ukey code)
{
    const uint32_t half = lane_id() / 16;
    const ukey *keys = (const ukey *)a.keys[half];
    uint64_t low = 0, end = half ? a.n_b : a.n_a;
    while (__any_sync(WARP_ALL, low < end)) {
        const uint64_t part = (end - low + 16) / 17, i = low + (lane_id() % 16 + 1) * part - 1;
        const bool less = low < end && i < end && merge_form(a.order, __ldg(keys + i)) < code;
        const uint32_t all = __ballot_sync(WARP_ALL, less);
        const uint32_t count = __popc(all >> 16 * half & 0xffff);
        if (low == end) continue;
        if (count < 16) end = min(end, low + (count + 1) * part - 1);
        low += count * part;
    }
    return low;
}

#else

/* A range of an array that contains the first key without a lower code, or ends there. */
struct table_range {
    const ukey *keys;
    uint64_t low, end;
};

/* The comparisons of a step; all loads are in flight together. */
static __device__ inline void table_load(const struct table_range &r, uint64_t part,
                                         ukey (&x)[SEARCH_WAYS - 1])
{
#pragma unroll
    for (uint32_t w = 0; w < SEARCH_WAYS - 1; w++) {
        const uint64_t i = r.low + (w + 1) * part - 1;
        x[w] = r.low < r.end && i < r.end ? __ldg(r.keys + i) : (ukey)0;
    }
}

static __device__ inline void table_step(const struct echi_order &o, struct table_range &r,
                                         uint64_t part, const ukey (&x)[SEARCH_WAYS - 1], ukey code)
{
    uint32_t count = 0;
    if (r.low == r.end) return;
#pragma unroll
    for (uint32_t w = 0; w < SEARCH_WAYS - 1; w++)
        count += r.low + (w + 1) * part - 1 < r.end && merge_form(o, x[w]) < code;
    if (count < SEARCH_WAYS - 1) r.end = min(r.end, r.low + (count + 1) * part - 1);
    r.low += count * part;
}

#endif

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_codes(const __grid_constant__ struct merge_args a)
{
    const uint32_t t = blockIdx.x * MERGE_THREADS + threadIdx.x;
    wait_for_earlier();
#if KEY_BYTES == 1
    const uint32_t code = t / 32;
    const uint64_t found = table_search(a, (ukey)code);
    const uint64_t in_a = __shfl_sync(WARP_ALL, (unsigned long long)found, 0);
    const uint64_t in_b = __shfl_sync(WARP_ALL, (unsigned long long)found, 16);
    const bool writes = lane_id() == 0;
#else
    const uint32_t code = t;
    struct table_range r[2] = { { (const ukey *)a.keys[0], 0, a.n_a },
                                { (const ukey *)a.keys[1], 0, a.n_b } };
    while (r[0].low < r[0].end || r[1].low < r[1].end) {
        const uint64_t part[2] = { (r[0].end - r[0].low + SEARCH_WAYS - 1) / SEARCH_WAYS,
                                   (r[1].end - r[1].low + SEARCH_WAYS - 1) / SEARCH_WAYS };
        ukey x[2][SEARCH_WAYS - 1];
#pragma unroll
        for (int i = 0; i < 2; i++) table_load(r[i], part[i], x[i]);
#pragma unroll
        for (int i = 0; i < 2; i++) table_step(a.order, r[i], part[i], x[i], (ukey)code);
    }
    const uint64_t in_a = r[0].low, in_b = r[1].low;
    const bool writes = true;
#endif
    if (!writes) return;
    a.starts[code] = in_a + in_b;
    a.starts_a[code] = in_a;
    if (code == TABLE_LAST) {
        a.starts[code + 1] = a.n_a + a.n_b;
        a.starts_a[code + 1] = a.n_a;
    }
}

/* ---- The result ---- */

/* The code of the element at a position: the last code of low ... high that begins at it or before
 * it; low does. */
static __device__ inline uint32_t code_at(const uint64_t *starts, uint32_t low, uint32_t high,
                                          uint64_t at)
{
    while (low < high) {
        const uint32_t code = (low + high + 1) / 2;
        if (__ldg((const unsigned long long *)starts + code) <= at)
            low = code;
        else
            high = code - 1;
    }
    return low;
}

/* The same by a warp, among all codes. */
static __device__ inline uint32_t code_at_by_warp(const uint64_t *starts, uint64_t at)
{
    uint32_t low = 0, high = TABLE_LAST;
    while (low < high) {
        const uint32_t part = (high - low + 32) / 33, code = low + (lane_id() + 1) * part;
        const bool before = code <= high && __ldg((const unsigned long long *)starts + code) <= at;
        const uint32_t count = __popc(__ballot_sync(WARP_ALL, before));
        if (count < 32) high = min(high, low + (count + 1) * part - 1);
        low += count * part;
    }
    return low;
}

/* Whether other codes are equal to this one. */
static __device__ inline bool code_is_mixed(const struct echi_order &o, uint32_t code)
{
    const ukey d = (ukey)code ^ (ukey)o.flip;
    return (ukey)o.float_mask && (d == (ukey)o.last || ((ukey)o.merge && d == (ukey)(o.zero + 1)));
}

static __device__ inline uint64_t start_of(const uint64_t *starts, uint32_t code)
{
    return __ldg((const unsigned long long *)starts + code);
}

/* The key at a position whose code is mixed. */
static __device__ inline ukey mixed_key(const struct merge_args &a, uint32_t code, uint64_t at)
{
    const uint64_t from = start_of(a.starts, code), from_a = start_of(a.starts_a, code);
    const uint64_t i = at - from, of_a = start_of(a.starts_a, code + 1) - from_a;
    return i < of_a ? ((const ukey *)a.keys[0])[from_a + i]
                    : ((const ukey *)a.keys[1])[from - from_a + (i - of_a)];
}

union fill_vector {
    uint4 vector;
    uint64_t half[2];
    uint32_t word[4];
};

static __device__ inline union fill_vector fill_copies(const struct echi_order &o, uint32_t code)
{
    union fill_vector x;
    const uint32_t key = order_decode(o, (ukey)code);
    const uint32_t word = key * (KEY_BYTES == 1 ? 0x01010101u : 0x00010001u);
#pragma unroll
    for (int w = 0; w < 4; w++) x.word[w] = word;
    return x;
}

/* The keys from position `at` on; codes: the first and the last one of the tile.  Before and after
 * the result, any. */
static __device__ inline union fill_vector fill_keys(const struct merge_args &a, int64_t at,
                                                     const uint32_t *codes)
{
    enum { HALF = FILL_VECTOR / 2 };
    const uint64_t n = a.n_a + a.n_b;
    uint32_t code = code_at(a.starts, codes[0], codes[1], (uint64_t)max(at, (int64_t)0));
    uint64_t next = start_of(a.starts, code + 1);
    union fill_vector x = fill_copies(a.order, code);
    bool mixed = code_is_mixed(a.order, code);
    if (!mixed && next >= (uint64_t)(at + FILL_VECTOR)) return x;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        uint64_t keys = 0;
#pragma unroll 1
        for (int j = 0; j < HALF; j++) {
            const int64_t p = at + h * HALF + j;
            if (p < 0 || (uint64_t)p >= n) continue;
            if ((uint64_t)p >= next) {
                code = code_at(a.starts, code + 1, codes[1], (uint64_t)p);
                next = start_of(a.starts, code + 1);
                mixed = code_is_mixed(a.order, code);
            }
            const ukey key =
                mixed ? mixed_key(a, code, (uint64_t)p) : order_decode(a.order, (ukey)code);
            keys |= (uint64_t)key << KEY_BITS * j;
        }
        x.half[h] = keys;
    }
    return x;
}

/* Writes the vector from position `at` on; the first and the last one may be incomplete. */
static __device__ inline void fill_store(ukey *out, int64_t at, uint64_t n, union fill_vector x)
{
    if (at >= 0 && (uint64_t)(at + FILL_VECTOR) <= n) {
        __stcs((uint4 *)(out + at), x.vector);
        return;
    }
#pragma unroll 1
    for (int j = 0; j < FILL_VECTOR; j++) {
        const uint64_t half = j < FILL_VECTOR / 2 ? x.half[0] : x.half[1];
        const int64_t p = at + j;
        if (p >= 0 && (uint64_t)p < n) out[p] = (ukey)(half >> KEY_BITS * (j % (FILL_VECTOR / 2)));
    }
}

extern "C" __global__ void __launch_bounds__(MERGE_THREADS)
    merge_fill(const __grid_constant__ struct merge_args a)
{
    __shared__ uint32_t found[2][2]; /* the first and the last code of every second tile */
    const uint64_t n = a.n_a + a.n_b;
    ukey *out = (ukey *)a.keys_out;
    /* Tiles begin at vectors of the output: the first one before it. */
    const int64_t skip = (int64_t)((uintptr_t)out / KEY_BYTES % FILL_VECTOR);
    wait_for_earlier();
    const uint32_t warp = warp_id();
    uint32_t turn = 0;
    for (uint64_t tile = blockIdx.x; tile * FILL_TILE < n + (uint64_t)skip; tile += gridDim.x) {
        const int64_t first = (int64_t)(tile * FILL_TILE) - skip;
        uint32_t *codes = found[turn];
        turn ^= 1;
        if (warp < 2) {
            const uint64_t at =
                warp ? min((uint64_t)(first + FILL_TILE), n) - 1 : (uint64_t)max(first, (int64_t)0);
            const uint32_t code = code_at_by_warp(a.starts, at);
            if (lane_id() == 0) codes[warp] = code;
        }
        __syncthreads(); /* the codes are known, and all threads have read those before the last */
        const bool one = codes[0] == codes[1] && !code_is_mixed(a.order, codes[0]);
        const union fill_vector x = fill_copies(a.order, codes[0]);
#pragma unroll
        for (uint32_t e = 0; e < FILL_EACH; e++) {
            const int64_t at = first + (int64_t)(e * MERGE_THREADS + threadIdx.x) * FILL_VECTOR;
            if (at < (int64_t)n) fill_store(out, at, n, one ? x : fill_keys(a, at, codes));
        }
    }
}

#endif
