/*
 * core/half.h - conversions of f16 and bf16 from and to f32, for the CPU and for kernels.
 *
 * The functions have no branches, so that loops over them can be vectorised. Every NaN becomes the
 * canonical NaN; other values are rounded to nearest, ties to even.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_HALF_H
#define ECHI_CORE_HALF_H

#include "core/both.h"

#include <stdint.h>
#include <string.h>

ECHI_BOTH uint32_t echi_bits_of_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

ECHI_BOTH float echi_f32_of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* The exponent is too low by 112; a multiplication corrects it exactly, also for subnormals. */
ECHI_BOTH float echi_f32_of_f16(uint32_t u)
{
    uint32_t magnitude = (u & 0x7fff) << 13, sign = (u & 0x8000) << 16;
    uint32_t number = echi_bits_of_f32(echi_f32_of_bits(magnitude) * 0x1p112f);
    uint32_t special = magnitude | 0x7f800000; /* infinity, NaN */
    return echi_f32_of_bits(sign | (magnitude >= 0x0f800000 ? special : number));
}

ECHI_BOTH uint16_t echi_f16_of_f32(float x)
{
    uint32_t u = echi_bits_of_f32(x), rest = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    uint32_t normal = (rest + 0xfff + (rest >> 13 & 1) - (112u << 23)) >> 13;
    /* The addition rounds at the last bit of a subnormal; the subtraction removes the added
     * bits. */
    uint32_t small = rest < 113u << 23 ? rest : 0;
    uint32_t subnormal = echi_bits_of_f32(echi_f32_of_bits(small) + 0.5f) - 0x3f000000;
    uint32_t h = rest < 113u << 23 ? subnormal : normal;
    h = rest >= 0x47800000 ? 0x7c00 : h;
    return (uint16_t)(rest > 0x7f800000 ? 0x7e00 : (h | sign));
}

ECHI_BOTH float echi_f32_of_bf16(uint32_t u)
{
    return echi_f32_of_bits(u << 16);
}

ECHI_BOTH uint16_t echi_bf16_of_f32(float x)
{
    uint32_t u = echi_bits_of_f32(x), rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

#endif
