/*
 * cpu/scan_kernels.h - template: the kernels of every type in the instruction set that the
 * including file is compiled for.
 *
 *   SCAN_TABLE   the name of the table
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scan.h"

#define RAW     uint8_t
#define WORK    uint8_t
#define NAME(x) x##_u8
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint16_t
#define WORK    uint16_t
#define NAME(x) x##_u16
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint32_t
#define WORK    uint32_t
#define NAME(x) x##_u32
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint64_t
#define WORK    uint64_t
#define NAME(x) x##_u64
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint8_t
#define WORK    uint64_t
#define NAME(x) x##_u8_wide
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint16_t
#define WORK    uint64_t
#define NAME(x) x##_u16_wide
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW     uint32_t
#define WORK    uint64_t
#define NAME(x) x##_u32_wide
#include "scan_integer.h"
#undef RAW
#undef WORK
#undef NAME
#define RAW      uint16_t
#define WORK     float
#define OUT      uint16_t
#define LOAD(u)  echi_load_f16(u)
#define STORE(x) echi_store_f16(x)
#define NAME(x)  x##_f16
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      uint16_t
#define WORK     float
#define OUT      uint16_t
#define LOAD(u)  echi_load_bf16(u)
#define STORE(x) echi_store_bf16(x)
#define NAME(x)  x##_bf16
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      float
#define WORK     float
#define OUT      float
#define LOAD(u)  (u)
#define STORE(x) echi_store_f32(x)
#define NAME(x)  x##_f32
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      double
#define WORK     double
#define OUT      double
#define LOAD(u)  (u)
#define STORE(x) echi_store_f64(x)
#define NAME(x)  x##_f64
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      uint16_t
#define WORK     double
#define OUT      double
#define LOAD(u)  (double)echi_load_f16(u)
#define STORE(x) echi_store_f64(x)
#define NAME(x)  x##_f16_wide
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      uint16_t
#define WORK     double
#define OUT      double
#define LOAD(u)  (double)echi_load_bf16(u)
#define STORE(x) echi_store_f64(x)
#define NAME(x)  x##_bf16_wide
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE
#define RAW      float
#define WORK     double
#define OUT      double
#define LOAD(u)  (double)(u)
#define STORE(x) echi_store_f64(x)
#define NAME(x)  x##_f32_wide
#include "scan_float.h"
#undef RAW
#undef WORK
#undef NAME
#undef OUT
#undef LOAD
#undef STORE

const struct scan_kernels SCAN_TABLE[SCAN_KINDS] = {
    [SCAN_U8] = { true, combine_u8, reduce_u8, scan_u8 },
    [SCAN_U16] = { true, combine_u16, reduce_u16, scan_u16 },
    [SCAN_U32] = { true, combine_u32, reduce_u32, scan_u32 },
    [SCAN_U64] = { true, combine_u64, reduce_u64, scan_u64 },
    [SCAN_U8_WIDE] = { true, combine_u8_wide, reduce_u8_wide, scan_u8_wide },
    [SCAN_U16_WIDE] = { true, combine_u16_wide, reduce_u16_wide, scan_u16_wide },
    [SCAN_U32_WIDE] = { true, combine_u32_wide, reduce_u32_wide, scan_u32_wide },
    [SCAN_F16] = { false, combine_f16, reduce_f16, scan_f16 },
    [SCAN_BF16] = { false, combine_bf16, reduce_bf16, scan_bf16 },
    [SCAN_F32] = { false, combine_f32, reduce_f32, scan_f32 },
    [SCAN_F64] = { false, combine_f64, reduce_f64, scan_f64 },
    [SCAN_F16_WIDE] = { false, combine_f16_wide, reduce_f16_wide, scan_f16_wide },
    [SCAN_BF16_WIDE] = { false, combine_bf16_wide, reduce_bf16_wide, scan_bf16_wide },
    [SCAN_F32_WIDE] = { false, combine_f32_wide, reduce_f32_wide, scan_f32_wide },
};
