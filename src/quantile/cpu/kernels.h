/*
 * quantile/cpu/kernels.h - template: the kernels of selections by rank for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA     the name of the struct
 *   NARROW  only sift() and move(), for elements of 8 and 16 bits with VBMI2
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "quantile/cpu/common.h"
#include "cpu/bits.h"
#include "cpu/vector.h"
#ifdef NARROW
#include "quantile/cpu/vector_vbmi2.h"
#elif defined __AVX512BW__
#include "sort/cpu/vector_avx512.h"
#endif

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

/* The bits of the elements before a bound, of those whose keys are less and equal; *own gets the
 * bit of its own element.  seen: the equal elements before them, not counted after the bound. */
INLINE uint64_t bits_before(const struct echi_quantile_bound *bound, uint64_t less, uint64_t equal,
                            uint64_t *seen, uint64_t *own)
{
    *own = 0;
    if (*seen > bound->tie) return less;
    const uint64_t before = bound->tie - *seen;
    *seen += ones(equal);
    if (*seen <= bound->tie) return less | equal;
    *own = bit_at(equal, before);
    return less | (equal & (*own - 1));
}

#ifdef __AVX512BW__
#define WIDE_VECTORS 1
#else
#define WIDE_VECTORS 0
#endif

#ifdef NARROW
#define NARROW_VECTORS 1
#else
#define NARROW_VECTORS 0
#endif

#define FROM        u8
#define HAS_VECTORS NARROW_VECTORS
#define MASK        __mmask64
#include "quantile/cpu/width.h"
#undef MASK
#define FROM        u16
#define HAS_VECTORS NARROW_VECTORS
#define MASK        __mmask32
#include "quantile/cpu/width.h"
#undef MASK

#ifdef NARROW
const struct echi_quantile_isa ISA = { .widths = { &width_u8, &width_u16 } };
#else
#define FROM        u32
#define HAS_VECTORS WIDE_VECTORS
#define MASK        __mmask16
#include "quantile/cpu/width.h"
#undef MASK
#define FROM        u64
#define HAS_VECTORS WIDE_VECTORS
#define MASK        __mmask8
#include "quantile/cpu/width.h"
#undef MASK

const struct echi_quantile_isa ISA = {
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
};
#endif
