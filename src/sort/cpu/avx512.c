/*
 * sort/cpu/avx512.c - the kernels compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"
#include "sort/cpu/vector_avx512.h"

#include <string.h>

enum {
    FEW_KEYS = 1024,       /* below this, the pivot is chosen from one vector */
    MANY_KEYS = 16384,     /* above this, a larger sample for the pivot pays off */
    AHEAD = 6,             /* prefetch distance in blocks, to hide the memory latency */
    AHEAD_BYTES = 1 << 19, /* smaller arrays are in the cache, where prefetching only costs time */
    LEAF_BYTES = 16384,    /* smaller parts are sorted by merges instead of partitions */
    MOST_U8 = 2048,        /* more keys of 8 bits are counted in less time */
    MANY_ARRAY_KEYS = 32,  /* longer arrays are sorted one by one */
    MANY_U16 = 8           /* arrays of 16-bit keys whose steps are interleaved */
};

#define UNROLL  _Pragma("GCC unroll 16")
#define ROWS    16
#define BIAS    0
#define KEY     uint16_t
#define NAME(x) x##_u16
#include "sort/cpu/network.h"
static void vector_sort_u16(const struct echi_order *order, const void *keys, void *out, void *work,
                            size_t n)
{
    const struct coding_u16 c = coding_of_u16(order), *coding = is_coded_u16(order) ? &c : NULL;
    (void)work;
    network_sort_u16(keys, out, n, coding, coding);
}

/* An array per vector: the steps of one array do not wait for those of another. */
static void many_u16(const struct echi_order *order, const struct echi_sort_many *arrays, int first)
{
    const struct coding_u16 c = coding_of_u16(order), *coding = is_coded_u16(order) ? &c : NULL;
    vec v[MANY_U16];
    UNROLL for (int i = 0; i < MANY_U16; i++)
        load_rows_u16(&v[i], arrays->keys[first + i], arrays->n[first + i], 1, 0, coding);
    merge_lanes_u16(v, MANY_U16, 1, 1);
    merge_lanes_u16(v, MANY_U16, 3, 2);
    merge_lanes_u16(v, MANY_U16, 7, 4);
    merge_lanes_u16(v, MANY_U16, 15, 8);
    merge_lanes_u16(v, MANY_U16, 31, 16);
    UNROLL for (int i = 0; i < MANY_U16; i++)
        store_rows_u16(&v[i], arrays->out[first + i], arrays->n[first + i], 1, 0, coding);
}

static void vector_many_u16(const struct echi_order *order, const struct echi_sort_many *arrays)
{
    for (int i = 0; i < ECHI_SORT_MANY && arrays->n[i]; i += MANY_U16) many_u16(order, arrays, i);
}

/* Keys of 8 bits as keys of 16 bits: at most a vector. */
INLINE void few_u8(const uint8_t *from, uint8_t *to, size_t n, vec code)
{
    const __mmask32 lanes = row_lanes_u16(n, 0);
    const vec padding = broadcast_u16(UINT16_MAX);
    const vec u = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(lanes, from));
    vec v[1] = { _mm512_mask_mov_epi16(padding, lanes, bit_xor(u, code)) };
    merge_lanes_u16(v, 1, 1, 1);
    merge_lanes_u16(v, 1, 3, 2);
    merge_lanes_u16(v, 1, 7, 4);
    merge_lanes_u16(v, 1, 15, 8);
    merge_lanes_u16(v, 1, 31, 16);
    _mm256_mask_storeu_epi8(to, lanes, _mm512_cvtepi16_epi8(bit_xor(v[0], code)));
}

/* Any number. */
static void vector_sort_u8(const struct echi_order *order, const void *keys, void *out, void *work,
                           size_t n)
{
    _Alignas(64) uint16_t wide[MOST_U8];
    const uint8_t *from = keys;
    uint8_t *to = out;
    const vec code = broadcast_u16((uint8_t)(order->sign ^ order->flip));
    (void)work;
    if (n <= LANES_u16) {
        few_u8(from, to, n, code);
        return;
    }
    size_t filled = 0;
    do {
        const __mmask32 lanes = row_lanes_u16(n - filled, 0);
        const vec v = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(lanes, from + filled));
        store(wide + filled, bit_xor(v, code));
        filled += LANES_u16;
    } while (filled < n);
    network_sort_u16(wide, wide, n, NULL, NULL);
    for (size_t i = 0; i < n; i += LANES_u16) {
        const vec v = bit_xor(load(wide + i), code);
        _mm256_mask_storeu_epi8(to + i, row_lanes_u16(n - i, 0), _mm512_cvtepi16_epi8(v));
    }
}

#undef KEY
#undef NAME
#define KEY     uint32_t
#define NAME(x) x##_u32
#include "sort/cpu/network.h"
#include "sort/cpu/leaf_avx512.h"
#define KEY     uint64_t
#define NAME(x) x##_u64
#define SPLITS
#include "sort/cpu/network.h"
#include "sort/cpu/leaf_avx512.h"

#define ISA      echi_sort_avx512
#define ISA_NAME "avx512"
#define SUPPORTED                                                                                  \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&                    \
     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&                   \
     __builtin_cpu_supports("bmi2"))
#define SORT_U32      vector_leaf_u32
#define SORT_U64      vector_leaf_u64
#define SORT_KEYS_U32 vector_sort_u32
#define SORT_KEYS_U64 vector_sort_u64
#define DIVIDE_U32    vector_divide_u32
#define DIVIDE_U64    vector_divide_u64
#define SORT_MANY_U16 vector_many_u16
#define SORT_MANY_U32 vector_many_u32
#define SORT_MANY_U64 vector_many_u64
#define SORT_PART_U32 vector_part_u32
#define SORT_PART_U64 vector_part_u64
#define SORT_KEYS_U8  vector_sort_u8
#define SORT_KEYS_U16 vector_sort_u16
#define LEAF_U8       MOST_U8
#define SORT_PACKED   vector_leaf_u64
#define WINDOW_BITS   64
#define CHECK_KEYS    512
#define VECTORS       true
#define LEAF_U16      ((size_t)1 << 19) /* counting more keys takes less time */
#define LEAF_U32      ((size_t)1 << 28)
#define LEAF_U64      ((size_t)1 << 27)
#include "sort/cpu/kernels.h"
