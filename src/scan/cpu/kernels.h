/*
 * scan/cpu/kernels.h - template: the kernels of every type for the instruction set of the including
 * file.
 *
 *   SCAN_TABLE   the name of the table
 *   SCAN_CALLS   the name of the table of short calls
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/call.h"
#include "scan/cpu/common.h"
#include "scan/cpu/half.h"
#include "scan/cpu/vector.h"

/* ---- Integers, and types that common.h maps to them; then wide ones ---- */

#define IN   u8
#define OUT  u8
#define WIDE 0
#include "scan/cpu/integer.h"

#define IN   u16
#define OUT  u16
#define WIDE 0
#include "scan/cpu/integer.h"

#define IN   u32
#define OUT  u32
#define WIDE 0
#include "scan/cpu/integer.h"

#define IN   u64
#define OUT  u64
#define WIDE 0
#include "scan/cpu/integer.h"

#define IN   u8
#define OUT  u64
#define WIDE 1
#include "scan/cpu/integer.h"

#define IN   u16
#define OUT  u64
#define WIDE 1
#include "scan/cpu/integer.h"

#define IN   u32
#define OUT  u64
#define WIDE 1
#include "scan/cpu/integer.h"

/* ---- Floats; then wide ones ---- */

#define FROM f16
#define IN   f32
#define TO   f16
#define TURN 1
#define SAME 0
#include "scan/cpu/float.h"

#define FROM bf16
#define IN   f32
#define TO   bf16
#define TURN 1
#define SAME 0
#include "scan/cpu/float.h"

#define FROM f32
#define IN   f32
#define TO   f32
#define TURN 0
#define SAME 1
#include "scan/cpu/float.h"

#define FROM f64
#define IN   f64
#define TO   f64
#define TURN 0
#define SAME 1
#include "scan/cpu/float.h"

#define FROM f16
#define IN   f64
#define TO   f64
#define TURN 0
#define SAME 0
#include "scan/cpu/float.h"

#define FROM bf16
#define IN   f64
#define TO   f64
#define TURN 0
#define SAME 0
#include "scan/cpu/float.h"

#define FROM f32
#define IN   f64
#define TO   f64
#define TURN 0
#define SAME 0
#include "scan/cpu/float.h"

/* ---- Short calls ---- */

#define IN       u8
#define IS_FLOAT 0
#include "scan/cpu/calls.h"

#define IN       u16
#define IS_FLOAT 0
#include "scan/cpu/calls.h"

#define IN       u32
#define IS_FLOAT 0
#include "scan/cpu/calls.h"

#define IN       u64
#define IS_FLOAT 0
#include "scan/cpu/calls.h"

#ifdef __AVX512F__
#define IN       f32
#define IS_FLOAT 1
#include "scan/cpu/calls.h"

#define IN       f64
#define IS_FLOAT 1
#include "scan/cpu/calls.h"
#endif

echi_scan_function *const SCAN_CALLS[ECHI_DTYPE_COUNT] = {
    [ECH_I8] = sum_call_u8,   [ECH_I16] = sum_call_u16, [ECH_I32] = sum_call_u32,
    [ECH_I64] = sum_call_u64, [ECH_U8] = sum_call_u8,   [ECH_U16] = sum_call_u16,
    [ECH_U32] = sum_call_u32, [ECH_U64] = sum_call_u64,
#ifdef __AVX512F__
    [ECH_F32] = sum_call_f32, [ECH_F64] = sum_call_f64,
#endif
};

const struct scan_kernels SCAN_TABLE[SCAN_KINDS] = {
    [SCAN_U8] = { true, combine_u8_u8, reduce_u8_u8, scan_u8_u8 },
    [SCAN_U16] = { true, combine_u16_u16, reduce_u16_u16, scan_u16_u16 },
    [SCAN_U32] = { true, combine_u32_u32, reduce_u32_u32, scan_u32_u32 },
    [SCAN_U64] = { true, combine_u64_u64, reduce_u64_u64, scan_u64_u64 },
    [SCAN_U8_WIDE] = { true, combine_u8_u64, reduce_u8_u64, scan_u8_u64 },
    [SCAN_U16_WIDE] = { true, combine_u16_u64, reduce_u16_u64, scan_u16_u64 },
    [SCAN_U32_WIDE] = { true, combine_u32_u64, reduce_u32_u64, scan_u32_u64 },
    [SCAN_F16] = { false, combine_f16_f32, reduce_f16_f32, scan_f16_f32 },
    [SCAN_BF16] = { false, combine_bf16_f32, reduce_bf16_f32, scan_bf16_f32 },
    [SCAN_F32] = { false, combine_f32_f32, reduce_f32_f32, scan_f32_f32 },
    [SCAN_F64] = { false, combine_f64_f64, reduce_f64_f64, scan_f64_f64 },
    [SCAN_F16_WIDE] = { false, combine_f16_f64, reduce_f16_f64, scan_f16_f64 },
    [SCAN_BF16_WIDE] = { false, combine_bf16_f64, reduce_bf16_f64, scan_bf16_f64 },
    [SCAN_F32_WIDE] = { false, combine_f32_f64, reduce_f32_f64, scan_f32_f64 },
};
