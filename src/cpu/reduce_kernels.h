/*
 * cpu/reduce_kernels.h - template: all kernels of the reduction in the instruction set that the
 * including file is compiled for, and the struct that names them.
 *
 *   ISA   the name of the struct
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu.h"
#include "reduce.h"
#include "vector.h"

enum { OF_SUM, OF_SQUARES, OF_PRODUCT, OF_DOT };

/* ---- Floats in f32, and in f64 what f64 or options->wide want ---- */

#define IS_FLOAT 1
#define IN_F64   0
#define IN       f32
#define ACC      float
#define ELEM     uint16_t
#define FROM     f16
#define NAME(x)  x##_f16
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    uint16_t
#define FROM    bf16
#define NAME(x) x##_bf16
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    float
#define FROM    f32
#define NAME(x) x##_f32
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#undef IN_F64
#undef IN
#undef ACC
#define IN_F64  1
#define IN      f64
#define ACC     double
#define ELEM    uint16_t
#define FROM    f16
#define NAME(x) x##_f16_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    uint16_t
#define FROM    bf16
#define NAME(x) x##_bf16_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    float
#define FROM    f32
#define NAME(x) x##_f32_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    double
#define FROM    f64
#define NAME(x) x##_f64_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#undef IS_FLOAT
#define IS_FLOAT 0
#define ELEM     int32_t
#define FROM     i32
#define NAME(x)  x##_i32_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    int64_t
#define FROM    i64
#define NAME(x) x##_i64_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    uint32_t
#define FROM    u32
#define NAME(x) x##_u32_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#define ELEM    uint64_t
#define FROM    u64
#define NAME(x) x##_u64_f64
#include "reduce_lanes.h"
#undef ELEM
#undef FROM
#undef NAME

#undef IS_FLOAT
#undef IN_F64
#undef IN
#undef ACC

/* ---- Integers ---- */

#define ELEM        int8_t
#define SHORT       int32_t
#define PRODUCTS(v) twice_i32(twice_i16(twice_i8(v)))
#define DISTANCE    int16_t
#define SQUARE      int32_t
#define SQUARES     int32_t
#define NAME_F64(x) x##_i8_f64
#define NAME(x)     x##_i8
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef DISTANCE
#undef SQUARE
#undef SQUARES
#undef NAME_F64
#undef NAME

#define ELEM        int16_t
#define SHORT       int32_t
#define PRODUCTS(v) twice_i32(twice_i16(v))
#define DISTANCE    int32_t
#define SQUARE      uint32_t
#define SQUARES     uint64_t
#define NAME_F64(x) x##_i16_f64
#define NAME(x)     x##_i16
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef DISTANCE
#undef SQUARE
#undef SQUARES
#undef NAME_F64
#undef NAME

#define ELEM        int32_t
#define SHORT       int64_t
#define PRODUCTS(v) twice_i32(v)
#define NAME(x)     x##_i32
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef NAME

#define ELEM        int64_t
#define SHORT       uint64_t
#define PRODUCTS(v) (v)
#define NAME(x)     x##_i64
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef NAME

#define ELEM        uint8_t
#define SHORT       uint32_t
#define PRODUCTS(v) twice_u32(twice_u16(twice_u8(v)))
#define DISTANCE    int16_t
#define SQUARE      int32_t
#define SQUARES     int32_t
#define NAME_F64(x) x##_u8_f64
#define NAME(x)     x##_u8
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef DISTANCE
#undef SQUARE
#undef SQUARES
#undef NAME_F64
#undef NAME

#define ELEM        uint16_t
#define SHORT       uint32_t
#define PRODUCTS(v) twice_u32(twice_u16(v))
#define DISTANCE    int32_t
#define SQUARE      uint32_t
#define SQUARES     uint64_t
#define NAME_F64(x) x##_u16_f64
#define NAME(x)     x##_u16
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef DISTANCE
#undef SQUARE
#undef SQUARES
#undef NAME_F64
#undef NAME

#define ELEM        uint32_t
#define SHORT       uint64_t
#define PRODUCTS(v) twice_u32(v)
#define NAME(x)     x##_u32
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef NAME

#define ELEM        uint64_t
#define SHORT       uint64_t
#define PRODUCTS(v) (v)
#define NAME(x)     x##_u64
#include "reduce_integers.h"
#undef ELEM
#undef SHORT
#undef PRODUCTS
#undef NAME

/* ---- By width ---- */

#define KEY     uint8_t
#define NAME(x) x##_k8
#include "reduce_width.h"
#undef KEY
#undef NAME

#define KEY     uint16_t
#define NAME(x) x##_k16
#include "reduce_width.h"
#undef KEY
#undef NAME

#define KEY     uint32_t
#define NAME(x) x##_k32
#include "reduce_width.h"
#undef KEY
#undef NAME

#define KEY     uint64_t
#define NAME(x) x##_k64
#include "reduce_width.h"
#undef KEY
#undef NAME

/* ---- The table ---- */

/* clang-format off */
#define BY_WIDTH(kernel)                                                                           \
    { [ECH_I8] = kernel##_k8, [ECH_I16] = kernel##_k16, [ECH_I32] = kernel##_k32,                  \
      [ECH_I64] = kernel##_k64, [ECH_U8] = kernel##_k8, [ECH_U16] = kernel##_k16,                  \
      [ECH_U32] = kernel##_k32, [ECH_U64] = kernel##_k64, [ECH_F16] = kernel##_k16,                \
      [ECH_BF16] = kernel##_k16, [ECH_F32] = kernel##_k32, [ECH_F64] = kernel##_k64 }
#define INTEGERS(kernel, end)                                                                      \
    [ECH_I8] = kernel##_i8##end, [ECH_I16] = kernel##_i16##end, [ECH_I32] = kernel##_i32##end,     \
    [ECH_I64] = kernel##_i64##end, [ECH_U8] = kernel##_u8##end, [ECH_U16] = kernel##_u16##end,     \
    [ECH_U32] = kernel##_u32##end, [ECH_U64] = kernel##_u64##end
#define NARROW(kernel, end)                                                                        \
    [ECH_F16] = kernel##_f16##end, [ECH_BF16] = kernel##_bf16##end, [ECH_F32] = kernel##_f32##end
#define WIDE(kernel) NARROW(kernel, _f64), [ECH_F64] = kernel##_f64_f64

const struct echi_reduce_isa ISA = {
    .chunk = {
        [ECHI_REDUCE_ISUM] = { INTEGERS(isum, ) },
        [ECHI_REDUCE_IPRODUCT] = { INTEGERS(iproduct, ) },
        [ECHI_REDUCE_IDOT] = { INTEGERS(idot, ) },
        [ECHI_REDUCE_SUM] = { NARROW(sum, ) },
        [ECHI_REDUCE_PRODUCT] = { NARROW(product, ) },
        [ECHI_REDUCE_DOT] = { NARROW(dot, ) },
        [ECHI_REDUCE_SUM64] = { INTEGERS(sum, _f64), WIDE(sum) },
        [ECHI_REDUCE_PRODUCT64] = { WIDE(product) },
        [ECHI_REDUCE_DOT64] = { WIDE(dot) },
        [ECHI_REDUCE_VARIANCE] = { INTEGERS(variance, _f64), WIDE(variance) },
        [ECHI_REDUCE_BITS] = BY_WIDTH(bits),
        [ECHI_REDUCE_MAX] = BY_WIDTH(max),
        [ECHI_REDUCE_MINMAX] = BY_WIDTH(minmax),
        [ECHI_REDUCE_ARG] = BY_WIDTH(arg),
        [ECHI_REDUCE_COUNT] = BY_WIDTH(count),
    },
    .run_starts = { [1] = run_starts_k8, [2] = run_starts_k16, [4] = run_starts_k32,
                    [8] = run_starts_k64 },
    .run_end = { [1] = run_end_k8, [2] = run_end_k16, [4] = run_end_k32, [8] = run_end_k64 },
};
/* clang-format on */
