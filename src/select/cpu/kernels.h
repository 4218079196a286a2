/*
 * select/cpu/kernels.h - template: all kernels of selections in the instruction set that the
 * including file is compiled for, and the struct that names them.
 *
 *   ISA   the struct's name
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "select/cpu/common.h"
#include "cpu/bits.h"

static void flags(const uint8_t *bytes, size_t n, uint64_t *bits)
{
    for (size_t i = 0; i < n; i += 64) bits[i / 64] = bits_of_bytes(bytes + i, echi_min(64, n - i));
}

static void keep_positions(uint64_t *out, uint64_t at, const uint64_t *bits, size_t n)
{
    for (size_t i = 0; i < n; i += 64) {
        positions_some(out, at + i, bits[i / 64]);
        out += __builtin_popcountll(bits[i / 64]);
    }
}

static void keep_positions32(uint32_t *out, uint64_t at, const uint64_t *bits, size_t n)
{
    for (size_t i = 0; i < n; i += 64) {
        positions32_some(out, at + i, bits[i / 64]);
        out += __builtin_popcountll(bits[i / 64]);
    }
}

/* ---- Widths ---- */

#define KEY       uint8_t
#define NAME(x)   x##_u8
#define KEEP_SOME keep_some_u8
#include "select/cpu/width.h"

#define KEY       uint16_t
#define NAME(x)   x##_u16
#define KEEP_SOME keep_some_u16
#include "select/cpu/width.h"

#define KEY       uint32_t
#define NAME(x)   x##_u32
#define KEEP_SOME keep_some_u32
#include "select/cpu/width.h"

#define KEY       uint64_t
#define NAME(x)   x##_u64
#define KEEP_SOME keep_some_u64
#include "select/cpu/width.h"

const struct echi_select_isa ISA = {
    .widths = { &width_u8, &width_u16, &width_u32, &width_u64 },
    .flags = flags,
    .keep_positions = keep_positions,
    .keep_positions32 = keep_positions32,
};
