/*
 * topk/cpu/kernels.h - template: the kernels of a top-k selection for four key widths, in the
 * instruction set that the including file is compiled for, and the struct that names them.
 *
 *   ISA, ISA_NAME   the name of the struct, and of the instruction set
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "topk/cpu/common.h"
#include "core/call.h"
#include "cpu/bits.h"
#include "cpu/vector.h"

/* Element i of a sample is at a position in part i of `parts` parts of the array. */
INLINE size_t sample_at(size_t i, size_t step)
{
    const uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15u >> 32;
    return i * step + (size_t)(hash * (step < UINT32_MAX ? step : UINT32_MAX) >> 32);
}

enum { INSIDE = 512 /* keys of an interval that a bisection copies */ };

/* ---- Kernels ---- */

#define FROM u8
#include "topk/cpu/width.h"
#define FROM u16
#include "topk/cpu/width.h"
#define FROM u32
#include "topk/cpu/width.h"
#define FROM u64
#include "topk/cpu/width.h"

const struct echi_topk_isa ISA = {
    .name = ISA_NAME,
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
};
