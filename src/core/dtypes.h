/*
 * core/dtypes.h - the element types, as ENTRY(with, constant, name, width, bytes, kind,
 * mantissa_bits, numpy).
 *
 * with an argument that is passed to every entry width the unsigned integer whose kernels serve the
 * type if no arithmetic is needed kind how its bits are ordered: UNSIGNED, SIGNED or FLOAT numpy
 * its name in a .npy file; NULL: none
 *
 * Tables of kernels per type are generated from this list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ECHI_CORE_DTYPES_H
#define ECHI_CORE_DTYPES_H

/* clang-format off */
#define ECHI_INTEGER_DTYPES(ENTRY, with)                          \
    ENTRY(with, ECH_I8,   i8,   u8,  1, SIGNED,   0,  "|i1")      \
    ENTRY(with, ECH_I16,  i16,  u16, 2, SIGNED,   0,  "<i2")      \
    ENTRY(with, ECH_I32,  i32,  u32, 4, SIGNED,   0,  "<i4")      \
    ENTRY(with, ECH_I64,  i64,  u64, 8, SIGNED,   0,  "<i8")      \
    ENTRY(with, ECH_U8,   u8,   u8,  1, UNSIGNED, 0,  "|u1")      \
    ENTRY(with, ECH_U16,  u16,  u16, 2, UNSIGNED, 0,  "<u2")      \
    ENTRY(with, ECH_U32,  u32,  u32, 4, UNSIGNED, 0,  "<u4")      \
    ENTRY(with, ECH_U64,  u64,  u64, 8, UNSIGNED, 0,  "<u8")

/* Floats that are summed in f32 unless a wider accumulator is requested; then also f64. */
#define ECHI_NARROW_FLOAT_DTYPES(ENTRY, with)                     \
    ENTRY(with, ECH_F16,  f16,  u16, 2, FLOAT,    10, "<f2")      \
    ENTRY(with, ECH_BF16, bf16, u16, 2, FLOAT,    7,  NULL)       \
    ENTRY(with, ECH_F32,  f32,  u32, 4, FLOAT,    23, "<f4")
#define ECHI_FLOAT_DTYPES(ENTRY, with)                            \
    ECHI_NARROW_FLOAT_DTYPES(ENTRY, with)                         \
    ENTRY(with, ECH_F64,  f64,  u64, 8, FLOAT,    52, "<f8")

#define ECHI_DTYPES(ENTRY, with)                                  \
    ECHI_INTEGER_DTYPES(ENTRY, with)                              \
    ECHI_FLOAT_DTYPES(ENTRY, with)
/* clang-format on */

#endif
