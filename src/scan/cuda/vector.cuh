/*
 * scan/cuda/vector.cuh - vectors of 16 bytes of a row in memory: loads, asynchronous copies to
 * shared memory, stores.
 *
 * Vectors are in memory order until order_vectors() or reverse() brings them to the order of
 * positions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_SCAN_CUDA_VECTOR_CUH
#define ECHI_SCAN_CUDA_VECTOR_CUH

#include "cuda/device/ptx_async.cuh"
#include "scan/cuda/value.cuh"

/* A row of the array; position i is element i; in a reverse scan, n - 1 - i. */
struct scan_row {
    const ukey *in;
    uout *out;
    uint64_t n;
    uint64_t begin, end; /* positions to write */
};

union vector {
    uint4 all;
    uint32_t word[4];
    ukey e[VECTOR];
};

/* SEGMENTED: with segments, whose offsets may exclude the first and the last elements. */
template <int SEGMENTED>
static __device__ inline struct scan_row row_of(const struct scan_args &a, uint64_t i)
{
    struct scan_row row = { (const ukey *)a.in + i * a.columns, (uout *)a.out + i * a.columns,
                            a.columns, 0, a.columns };
    if (!SEGMENTED || !a.offsets) return row;
    uint64_t begin = min(echi_index_at(a.offsets, a.offsets_index, 0), a.columns);
    uint64_t end = min(echi_index_at(a.offsets, a.offsets_index, a.segments), a.columns);
    if (end < begin) end = begin; /* scan_flags_offsets reports the error */
    row.begin = a.backward ? row.n - end : begin;
    row.end = a.backward ? row.n - begin : end;
    return row;
}

/* The elements of a vector in memory, one bit each, whose positions are in [begin, end).
 */
static __device__ inline uint32_t elements_within(uint64_t at, uint64_t begin, uint64_t end,
                                                  uint32_t backward)
{
    const uint32_t from = at < begin ? (uint32_t)min(begin - at, (uint64_t)VECTOR) : 0;
    const uint32_t to = at < end ? (uint32_t)min(end - at, (uint64_t)VECTOR) : 0;
    const uint32_t set = ((1u << to) - 1) & ~((1u << from) - 1);
    return backward ? __brev(set) >> (32 - VECTOR) : set;
}

/* Vectors at ends, or of arrays that are not aligned, are processed element by element, in memory
 * order.  This is a function, and not inlined, because it is long and used in many places. */
static __device__ __noinline__ uint4 elements_at(const ukey *in, uint64_t n, uint64_t at,
                                                 uint32_t backward)
{
    const uint32_t set = elements_within(at, 0, n, backward);
    const ukey *from = in + (backward ? n - at - VECTOR : at);
    union vector v;
#pragma unroll
    for (int j = 0; j < VECTOR; j++) {
        v.e[j] = 0; /* padding after all results */
        if (set >> j & 1) v.e[j] = from[j];
    }
    return v.all;
}

static __device__ inline void load_elements(const struct scan_args &a, const struct scan_row &row,
                                            uint64_t at, union vector &v)
{
    v.all = elements_at(row.in, row.n, at, a.backward);
}

/* Whether all vectors of the tile that begins at position `begin` are within the row and aligned.
 * Full tiles branch once and call no function, so that the accesses of their vectors overlap. */
static __device__ inline bool tile_loaded_whole(const struct scan_args &a,
                                                const struct scan_row &row, uint64_t begin)
{
    return begin + TILE <= row.n && (uintptr_t)(row.in + (a.backward ? row.n : 0)) % 16 == 0;
}

static __device__ inline bool tile_stored_whole(const struct scan_args &a,
                                                const struct scan_row &row, uint64_t begin)
{
    return begin >= row.begin && begin + TILE <= row.end &&
           (uintptr_t)(row.out + (a.backward ? row.n : 0)) % 16 == 0;
}

/* Makes the compiler extract elements from v again, instead of keeping each in a register. */
static __device__ inline void forget_elements(union vector &v)
{
#if KEY_BITS <= 16
#pragma unroll
    for (int w = 0; w < 4; w++) asm("" : "+r"(v.word[w]));
#else
    (void)v;
#endif
}

/* Replaces a NaN that is ignored by the identity element.  The test whether NaN are ignored is done
 * once, not per element. */
template <int OP, int N>
static __device__ inline void drop_nan(const struct scan_args &a, union vector (&v)[N])
{
#if SCAN_FLOAT
#if KEY_BITS == 64
    const ukey infinity = 0x7ff0000000000000u, one = 0x3ff0000000000000u;
#elif KEY_BITS == 32
    const ukey infinity = 0x7f800000u, one = 0x3f800000u;
#elif SCAN_FLOAT == 2
    const ukey infinity = 0x7f80, one = 0x3f80;
#else
    const ukey infinity = 0x7c00, one = 0x3c00;
#endif
    const ukey sign = (ukey)1 << (KEY_BITS - 1);
    if (!a.ignore_nan) return;
    const ukey nothing = is_sum<OP>(a) ? sign : one;
#pragma unroll
    for (int k = 0; k < N; k++)
#pragma unroll
        for (int j = 0; j < VECTOR; j++)
            if ((ukey)(v[k].e[j] & (ukey)~sign) > infinity) v[k].e[j] = nothing;
#else
    (void)a, (void)v;
#endif
}

/* By full words: small elements in one register each would be too many registers. */
static __device__ inline void reverse(union vector &v)
{
    union vector u = v;
#if KEY_BITS <= 16
    const uint32_t order = KEY_BITS == 8 ? 0x0123 : 0x1032;
#pragma unroll
    for (int w = 0; w < 4; w++) v.word[w] = __byte_perm(u.word[3 - w], 0, order);
#else
#pragma unroll
    for (int j = 0; j < VECTOR; j++) v.e[j] = u.e[VECTOR - 1 - j];
#endif
}

/* The address of a vector in memory. */
static __device__ inline const ukey *vector_in(const struct scan_args &a,
                                               const struct scan_row &row, uint64_t at)
{
    return row.in + (a.backward ? row.n - at - VECTOR : at);
}

/* Loads in memory order, so that several vectors are loaded before the first is reversed. */
static __device__ inline void load_whole(const struct scan_args &a, const struct scan_row &row,
                                         uint64_t at, union vector &v)
{
    v.all = *(const uint4 *)vector_in(a, row, at);
}

static __device__ inline void load_vector(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, union vector &v)
{
    const bool whole = at < row.n && row.n - at >= VECTOR;
    if (whole && ((uintptr_t)vector_in(a, row, at) & 15) == 0) {
        load_whole(a, row, at, v);
    } else {
        load_elements(a, row, at, v);
    }
}

/* Converts vectors from memory order to the order of positions. */
static __device__ inline void order_vectors(const struct scan_args &a,
                                            union vector (&v)[SCAN_SLOTS])
{
    if (!a.backward) return;
#pragma unroll
    for (int k = 0; k < SCAN_SLOTS; k++) reverse(v[k]);
}

/* Asynchronous copies exist from sm_80 on. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define SCAN_ASYNC 1
#else
#define SCAN_ASYNC 0
#endif

/* Makes one group of the copies since the last commit; and waits until at most the latest group is
 * in flight. */
static __device__ inline void fetch_commit(void)
{
#if SCAN_ASYNC
    copy_commit();
#endif
}

static __device__ inline void fetch_wait(void)
{
#if SCAN_ASYNC
    copy_wait<SCAN_AHEAD>();
#endif
}

/* Like load_whole() and load_vector(), to shared memory, in memory order; complete after
 * fetch_wait(). */
static __device__ inline void fetch_whole(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, uint4 *to)
{
    const uint4 *from = (const uint4 *)vector_in(a, row, at);
#if SCAN_ASYNC
    copy_async_16(to, from);
#else
    *to = *from;
#endif
}

static __device__ inline void fetch_vector(const struct scan_args &a, const struct scan_row &row,
                                           uint64_t at, uint4 *to)
{
#if SCAN_ASYNC
    const bool whole = at < row.n && row.n - at >= VECTOR;
    const ukey *from = vector_in(a, row, at);
    if (whole && ((uintptr_t)from & 15) == 0) {
        copy_async_16(to, from);
        return;
    }
#if KEY_BITS == 32 || KEY_BITS == 64
    if (whole) {
#pragma unroll
        for (int j = 0; j < VECTOR; j++) {
            if (KEY_BITS == 32)
                copy_async_4((ukey *)to + j, from + j);
            else
                copy_async_8((ukey *)to + j, from + j);
        }
        return;
    }
#endif
#endif
    union vector v;
    load_vector(a, row, at, v);
    *to = v.all;
}

static __device__ inline void fetch_word(uint32_t *to, const uint32_t *from)
{
#if SCAN_ASYNC
    copy_async_4(to, from);
#else
    *to = *from;
#endif
}

/* Whether a vector is written by one store. */
static __device__ inline bool stored_whole(const struct scan_args &a, const struct scan_row &row,
                                           uint64_t at)
{
    const uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
    return at >= row.begin && at < row.end && row.end - at >= VECTOR && ((uintptr_t)to & 15) == 0;
}

static __device__ inline void store_whole(const struct scan_args &a, const struct scan_row &row,
                                          uint64_t at, const uout (&e)[VECTOR])
{
    enum { WORDS = VECTOR * sizeof(uout) / 16, EACH = 16 / sizeof(uout) };
    uout *to = row.out + (a.backward ? row.n - at - VECTOR : at);
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        union {
            uint4 all;
            uout e[EACH];
        } u;
#pragma unroll
        for (int j = 0; j < EACH; j++)
            u.e[j] = a.backward ? e[VECTOR - 1 - w * EACH - j] : e[w * EACH + j];
        ((uint4 *)to)[w] = u.all;
    }
}

#endif
