/*
 * cpu/merge_path.h - template: the merge path of two sorted arrays (cuda/device/merge_path.cuh),
 * for one key width.
 *
 *   KEY       u8_element ... u64_element
 *   NAME(x)   x##_u8 ...
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/predicate.h"

/* A key as it is compared: equal keys have the same form. */
INLINE KEY NAME(form)(const struct echi_order *o, KEY u, bool is_float)
{
    return is_float ? NAME(merged)(o, u) : (KEY)(u ^ (KEY)(o->sign ^ o->flip));
}

/* first ? x : y, of which compilers make a branch. */
INLINE KEY NAME(either)(bool first, KEY x, KEY y)
{
    return (KEY)(y ^ ((x ^ y) & (KEY)(0 - (uint64_t)first)));
}

/* How many of the first `diagonal` elements of the merged arrays are from a, of n_a elements; b has
 * n_b. */
__attribute__((unused)) static size_t NAME(merge_path)(const struct echi_order *o, const KEY *a,
                                                       size_t n_a, const KEY *b, size_t n_b,
                                                       size_t diagonal)
{
    size_t low = diagonal > n_b ? diagonal - n_b : 0, high = diagonal < n_a ? diagonal : n_a;
    while (low < high) {
        const size_t i = low + (high - low) / 2;
        if (NAME(merged)(o, a[i]) <= NAME(merged)(o, b[diagonal - 1 - i]))
            low = i + 1;
        else
            high = i;
    }
    return low;
}
