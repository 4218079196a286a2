/*
 * merge/cpu/avx512.c - merges of keys by vectors, compiled for AVX-512.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "merge/cpu/common.h"
#include "cpu/cpu.h"
#include "cpu/vector.h"
#undef INLINE
#include "sort/cpu/vector_avx512.h"

enum {
    CHAINS = 4, /* parts of the result that are merged at the same time */
    STEPS = 4,  /* between two tests for runs */
    RUN = 64    /* keys of one input that are copied together */
};

/* v in the lanes in `there`, otherwise `other`. */
INLINE vec only_u16(mask_u16 there, vec v, vec other)
{
    return _mm512_mask_blend_epi16(there, other, v);
}

INLINE vec only_u32(mask_u32 there, vec v, vec other)
{
    return _mm512_mask_blend_epi32(there, other, v);
}

INLINE vec only_u64(mask_u64 there, vec v, vec other)
{
    return _mm512_mask_blend_epi64(there, other, v);
}

/* The lanes in which a is at most b. */
INLINE mask_u16 at_most_u16(vec a, vec b)
{
    return _mm512_cmple_epu16_mask(a, b);
}

INLINE mask_u32 at_most_u32(vec a, vec b)
{
    return _mm512_cmple_epu32_mask(a, b);
}

INLINE mask_u64 at_most_u64(vec a, vec b)
{
    return _mm512_cmple_epu64_mask(a, b);
}

#define FROM u8
#define LANE u16
#include "merge/cpu/lanes_avx512.h"
#define FROM u16
#define LANE u16
#include "merge/cpu/lanes_avx512.h"
#define FROM u32
#define LANE u32
#include "merge/cpu/lanes_avx512.h"
#define FROM u64
#define LANE u64
#include "merge/cpu/lanes_avx512.h"

echi_merge_keys_function *const echi_merge_avx512[9] = {
    [1] = merge_of_u8, [2] = merge_of_u16, [4] = merge_of_u32, [8] = merge_of_u64
};
