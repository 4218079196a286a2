/*
 * sort/cpu/kernels.h - template: all kernels of the sort for the instruction set of the including
 * file, and the struct that lists them.
 *
 *   ISA, ISA_NAME       echi_sort_<...>, "..."
 *   SUPPORTED           whether this machine has it
 *   SORT_U32, SORT_U64  sorts of unsigned keys
 *   SORT_KEYS_U8, _U16  of raw keys; optional
 *   SORT_KEYS_U32, _U64 of raw keys; optional, and required by
 *   DIVIDE_U32, ...     divide(), sort_part() of SORT_PART_U32, ...
 *   SORT_PACKED         SORT_U64, if it sorts vectors; otherwise undefined
 *   SORT_MANY_U32, ...  sort_many(), for arrays of at most MANY_ARRAY_KEYS; _U16 is optional
 *   WINDOW_BITS, CHECK_KEYS, VECTORS     see struct echi_sort_isa
 *   LEAF_U8, ..., LEAF_U64       leaf_keys of struct echi_sort_width
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sort/cpu/common.h"

#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifdef __AVX512BW__
#include "sort/cpu/ranks_avx512.h"
#define RANKS
#endif

enum {
    FIRST_LOOK = 16, /* keys that show most unordered input to be unordered */
    CHUNK = 256      /* keys whose buckets are computed as one unit */
};

/* Writes whole 64-byte lines with non-temporal stores if the machine has them and to is aligned to
 * a line.  A partial line would have to be read first, so it is stored through the cache. */
static inline void stream_lines(void *to, const void *from, size_t bytes, bool aligned)
{
#if defined(__AVX512F__)
    if (aligned && bytes % 64 == 0) {
        for (size_t i = 0; i < bytes; i += 64)
            _mm512_stream_si512((void *)((char *)to + i),
                                _mm512_load_si512((const char *)from + i));
        return;
    }
#elif defined(__SSE2__)
    if (aligned && bytes % 64 == 0) {
        for (size_t i = 0; i < bytes; i += 16)
            _mm_stream_si128(
                (__m128i *)(void *)((char *)to + i),
                _mm_load_si128((const __m128i *)(const void *)((const char *)from + i)));
        return;
    }
#else
    (void)aligned;
#endif
    memcpy(to, from, bytes);
}

/* Makes non-temporal stores visible to the thread that reads them next. */
static inline void stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

static inline char *fill_positions(uint64_t *to, size_t first, size_t n, size_t bytes)
{
    for (size_t j = 0; j < n; j++) {
        uint64_t position = first + j;
        uint32_t narrow = (uint32_t)position;
        if (bytes == 4)
            memcpy((char *)to + 4 * j, &narrow, 4);
        else
            memcpy((char *)to + 8 * j, &position, 8);
    }
    return (char *)to;
}

#define KEY     uint8_t
#define NAME(x) x##_u8
#define SORT    NULL
#ifdef SORT_KEYS_U8
#define SORT_KEYS SORT_KEYS_U8
#define LEAF_KEYS LEAF_U8
#else
#define SORT_KEYS NULL
#define LEAF_KEYS 0
#endif
#include "sort/cpu/width.h"
#define KEY     uint16_t
#define NAME(x) x##_u16
#define SORT    NULL
#ifdef SORT_KEYS_U16
#define SORT_KEYS SORT_KEYS_U16
#define LEAF_KEYS LEAF_U16
#ifdef SORT_MANY_U16
#define SORT_MANY      SORT_MANY_U16
#define SORT_MANY_KEYS MANY_ARRAY_KEYS
#endif
#else
#define SORT_KEYS NULL
#define LEAF_KEYS 0
#endif
#include "sort/cpu/width.h"
#define KEY       uint32_t
#define NAME(x)   x##_u32
#define SORT      SORT_U32
#define LEAF_KEYS LEAF_U32
#ifdef SORT_KEYS_U32
#define SORT_KEYS      SORT_KEYS_U32
#define DIVIDE         DIVIDE_U32
#define SORT_PART      SORT_PART_U32
#define SORT_MANY      SORT_MANY_U32
#define SORT_MANY_KEYS MANY_ARRAY_KEYS
#endif
#include "sort/cpu/width.h"
#undef SORT_PACKED
#define KEY       uint64_t
#define NAME(x)   x##_u64
#define SORT      SORT_U64
#define LEAF_KEYS LEAF_U64
#ifdef SORT_KEYS_U64
#define SORT_KEYS      SORT_KEYS_U64
#define DIVIDE         DIVIDE_U64
#define SORT_PART      SORT_PART_U64
#define SORT_MANY      SORT_MANY_U64
#define SORT_MANY_KEYS MANY_ARRAY_KEYS
#endif
#include "sort/cpu/width.h"

static bool supported(void)
{
    return SUPPORTED;
}

const struct echi_sort_isa ISA = {
    .name = ISA_NAME,
    .supported = supported,
    .window_bits = WINDOW_BITS,
    .vectors = VECTORS,
    .check_keys = CHECK_KEYS,
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
};
