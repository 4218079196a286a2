/*
 * quantile/cpu/kernels.h - template: the kernels of selections by rank for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA   the name of the struct
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"
#include "cpu/bits.h"
#include "cpu/vector.h"

INLINE void store_number(void *array, int bytes, size_t i, uint64_t number)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)number;
    else
        ((uint64_t *)array)[i] = number;
}

INLINE size_t ones(uint64_t bits)
{
    return (size_t)__builtin_popcountll(bits);
}

/* The bit of the set one that has `before` set ones below it. */
INLINE uint64_t bit_at(uint64_t bits, uint64_t before)
{
    for (; before > 0; before--) bits &= bits - 1;
    return bits & (~bits + 1);
}

#define FROM u8
#include "quantile/cpu/width.h"
#define FROM u16
#include "quantile/cpu/width.h"
#define FROM u32
#include "quantile/cpu/width.h"
#define FROM u64
#include "quantile/cpu/width.h"

const struct echi_quantile_isa ISA = {
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
};
