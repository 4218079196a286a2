/*
 * cuda/device/merge_tile.cuh - a block's part of two sorted sequences: its keys in shared memory,
 * and the values of elements that are selected from it.
 *
 * Values are read at the places that the block has found. They are adjacent in both sequences, so
 * that a warp reads two contiguous ranges.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CUDA_DEVICE_MERGE_TILE_CUH
#define ECHI_CUDA_DEVICE_MERGE_TILE_CUH

#include "cuda/device/merge_path.cuh"
#include "cuda/device/ptx.cuh"

/* Keys in shared memory: a thread that takes ITEMS may read so far after the end. */
#define MERGE_ROOM(threads, items) ((threads) * (items) + (items) + 1)

/* The same with codes of all ones after each part, as many as a thread may read. */
#define MERGE_GAP(items)                  ((items) + 1)
#define MERGE_ROOM_PADDED(threads, items) ((threads) * (items) + 2 * MERGE_GAP(items))

/* Whether a float may be a NaN; all but those of 32 and 64 bits are tested as codes. */
static __device__ inline bool merge_is_nan(const struct echi_order &o, ukey u)
{
#if KEY_BITS == 32 && defined(__CUDACC__)
    const float x = __uint_as_float(u);
    (void)o;
    return x != x;
#elif KEY_BITS == 64 && defined(__CUDACC__)
    const double x = __longlong_as_double((long long)u);
    (void)o;
    return x != x;
#else
    const ukey e = order_encode(o, u);
    return order_merge(o, e) != e;
#endif
}

/* Loads both parts, of at most THREADS * ITEMS elements, to keys[MERGE_ROOM], and encodes the keys;
 * all loads of a thread are in flight together.  PADDED: with the codes of all ones.  Returns, in
 * every thread, whether order_merge() changes a key of the tile.  Otherwise the codes of its keys
 * can be compared as they are. */
template <int THREADS, int ITEMS, bool PADDED = false>
static __device__ inline bool merge_load(const struct echi_order &o, const void *const (&inputs)[2],
                                         const struct merge_part &part, ukey *keys)
{
    const int64_t shift = (int64_t)part.b - part.n_a; /* constant offsets need no arithmetic */
    const ukey *first = keep_pointer((const ukey *)inputs[0] + part.a + threadIdx.x);
    const ukey *second = keep_pointer((const ukey *)inputs[1] + (shift + threadIdx.x));
    const uint32_t n = part.n_a + part.n_b;
    /* Elements from this thread's first one on: compared with constants. */
    const int32_t here_a = (int32_t)(part.n_a - threadIdx.x), here = (int32_t)(n - threadIdx.x);
    enum { GAP = MERGE_GAP(ITEMS) };
    const bool full = n == THREADS * ITEMS;
    bool changes = false;
    ukey x[ITEMS];
    if (full) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            x[k] =
                k * THREADS < here_a ? __ldcs(first + k * THREADS) : __ldcs(second + k * THREADS);
    } else {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            x[k] = 0;
            if (k * THREADS < here)
                x[k] = k * THREADS < here_a ? __ldcs(first + k * THREADS)
                                            : __ldcs(second + k * THREADS);
        }
    }
    if (o.float_mask) {
        const ukey sign = (ukey)o.sign, rest = (ukey)~sign, change = (ukey)(o.sign ^ o.flip);
        const ukey shift_by = o.flip ? (ukey)o.shift : (ukey)(0 - o.shift);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) { /* order_encode(), with fewer instructions */
            const ukey negative = (ukey)((skey)x[k] >> (KEY_BITS - 1));
            changes |= x[k] == sign || merge_is_nan(o, x[k]);
            x[k] = (ukey)((x[k] ^ (negative & rest)) ^ change) + shift_by;
        }
    } else {
        const ukey change = (ukey)(o.sign ^ o.flip);
#pragma unroll
        for (int k = 0; k < ITEMS; k++) x[k] ^= change;
    }
    /* Bytes from keys: kept, or each address is computed with more instructions. */
    uint32_t to_a = threadIdx.x * KEY_BYTES, to_b = to_a + (PADDED ? GAP * KEY_BYTES : 0);
    keep_u32(to_a);
    keep_u32(to_b);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const uint32_t to = (PADDED && k * THREADS >= here_a ? to_b : to_a);
        if (full || !PADDED) *(ukey *)((char *)keys + to + k * THREADS * KEY_BYTES) = x[k];
    }
    if (!full && PADDED) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++)
            if (k * THREADS < here)
                *(ukey *)((char *)keys + (k * THREADS >= here_a ? to_b : to_a) +
                          k * THREADS * KEY_BYTES) = x[k];
    }
    if (PADDED && threadIdx.x < GAP)
        keys[part.n_a + threadIdx.x] = keys[n + GAP + threadIdx.x] = (ukey) ~(ukey)0;
    if (!PADDED && threadIdx.x < ITEMS + 1) keys[THREADS * ITEMS + threadIdx.x] = 0;
    return __syncthreads_or(changes); /* both parts are loaded */
}

/* Values of one word. */
template <int THREADS, typename word>
static __device__ inline void merge_words(const void *const (&values)[2],
                                          const struct merge_part &part, word *out, uint32_t n,
                                          const uint16_t *places)
{
    const word *first = (const word *)values[0] + part.a;
    const word *second = (const word *)values[1] + part.b;
    enum { AT_ONCE = 4 };
    for (uint32_t from = threadIdx.x; from < n; from += AT_ONCE * THREADS) {
        word w[AT_ONCE];
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const uint32_t i = from + k * THREADS, place = places[min(i, n - 1)];
            w[k] = place < part.n_a ? first[place] : second[place - part.n_a];
        }
#pragma unroll
        for (int k = 0; k < AT_ONCE; k++) {
            const uint32_t i = from + k * THREADS;
            if (i < n) out[i] = w[k];
        }
    }
}

/* Values of several words: adjacent threads move adjacent words. */
template <int THREADS, typename word>
static __device__ inline void merge_wide(const void *const (&values)[2],
                                         const struct merge_part &part, uint64_t words, word *out,
                                         uint32_t n, const uint16_t *places)
{
    const word *first = (const word *)values[0] + part.a * words;
    const word *second = (const word *)values[1] + part.b * words;
    const uint32_t lanes = words < 32 ? (uint32_t)words : 32; /* per value */
    const uint32_t each = THREADS / lanes, lane = threadIdx.x % lanes;
    for (uint32_t i = threadIdx.x / lanes; i < n && threadIdx.x < each * lanes; i += each) {
        const uint32_t place = places[i];
        const word *from =
            place < part.n_a ? first + place * words : second + (place - part.n_a) * words;
        for (uint64_t w = lane; w < words; w += lanes) out[i * words + w] = from[w];
    }
}

template <int THREADS, typename word>
static __device__ inline void
merge_values_of(const void *const (&values)[2], const struct merge_part &part, uint64_t words,
                void *out, uint64_t to, uint32_t n, const uint16_t *places)
{
    if (words == 1)
        merge_words<THREADS>(values, part, (word *)out + to, n, places);
    else
        merge_wide<THREADS>(values, part, words, (word *)out + to * words, n, places);
}

/* Writes n values, of `words` words of word_bytes, from element `to` of out on: value i is that of
 * the element that is at places[i] in the two parts. */
template <int THREADS>
static __device__ inline void
merge_values(const void *const (&values)[2], const struct merge_part &part, uint64_t words,
             uint32_t word_bytes, void *out, uint64_t to, uint32_t n, const uint16_t *places)
{
    if (word_bytes == 4)
        merge_values_of<THREADS, uint32_t>(values, part, words, out, to, n, places);
    else if (word_bytes == 8)
        merge_values_of<THREADS, uint64_t>(values, part, words, out, to, n, places);
    else if (word_bytes == 16)
        merge_values_of<THREADS, uint4>(values, part, words, out, to, n, places);
    else if (word_bytes == 2)
        merge_values_of<THREADS, uint16_t>(values, part, words, out, to, n, places);
    else
        merge_values_of<THREADS, uint8_t>(values, part, words, out, to, n, places);
}

#endif
