/*
 * quantile/cpu/vector_vbmi2.h - operations on a vector of 64 u8 or 32 u16, under the names of
 * sort/cpu/vector_avx512.h. Only compress needs VBMI2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_QUANTILE_CPU_VECTOR_VBMI2_H
#define ECHI_QUANTILE_CPU_VECTOR_VBMI2_H

#include "sort/cpu/vector_avx512.h"

/* ---- u8 ---- */

INLINE vec broadcast_u8(uint8_t key)
{
    return _mm512_set1_epi8((char)key);
}

INLINE vec load_some_u8(const uint8_t *p, __mmask64 lanes, vec others)
{
    return _mm512_mask_loadu_epi8(others, lanes, p);
}

INLINE void store_some_u8(uint8_t *p, __mmask64 lanes, vec v)
{
    _mm512_mask_storeu_epi8(p, lanes, v);
}

INLINE vec min_u8(vec a, vec b)
{
    return _mm512_min_epu8(a, b);
}

INLINE vec blend_u8(__mmask64 lanes, vec others, vec v)
{
    return _mm512_mask_blend_epi8(lanes, others, v);
}

INLINE uint64_t less_u8(vec a, vec b)
{
    return _mm512_cmplt_epu8_mask(a, b);
}

INLINE uint64_t less_equal_u8(vec a, vec b)
{
    return _mm512_cmple_epu8_mask(a, b);
}

INLINE vec compress_u8(__mmask64 lanes, vec v)
{
    return _mm512_mask_compress_epi8(v, lanes, v);
}

INLINE vec sign_bits_u8(vec v)
{
    return _mm512_movm_epi8(_mm512_movepi8_mask(v));
}

INLINE vec subtract_u8(vec a, vec b)
{
    return _mm512_sub_epi8(a, b);
}

/* ---- u16: what the networks do not need ---- */

INLINE vec blend_u16(__mmask32 lanes, vec others, vec v)
{
    return _mm512_mask_blend_epi16(lanes, others, v);
}

INLINE uint64_t less_u16(vec a, vec b)
{
    return _mm512_cmplt_epu16_mask(a, b);
}

INLINE uint64_t less_equal_u16(vec a, vec b)
{
    return _mm512_cmple_epu16_mask(a, b);
}

INLINE vec compress_u16(__mmask32 lanes, vec v)
{
    return _mm512_mask_compress_epi16(v, lanes, v);
}

#endif
