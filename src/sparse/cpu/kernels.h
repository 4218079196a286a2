/*
 * sparse/cpu/kernels.h - template: products of sparse matrices for the instruction set of the
 * including file, and the struct that lists them.  Parameter: ISA, its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse/cpu/common.h"
#include "cpu/vector.h"

#include <math.h>
#include <string.h>
#ifdef __AVX512F__
#include "sparse/cpu/eight_avx512.h"
#endif

#define INDEX   uint32_t
#define REAL    float
#define V(x)    x##_f32
#define GATHER  GATHER_F32
#define NAME(x) x##_i32_f32
#include "sparse/cpu/width.h"
#undef REAL
#undef V
#undef GATHER
#undef NAME
#define REAL    double
#define V(x)    x##_f64
#define GATHER  GATHER_F64
#define NAME(x) x##_i32_f64
#include "sparse/cpu/width.h"
#undef INDEX
#undef REAL
#undef V
#undef GATHER
#undef NAME
#define INDEX   uint64_t
#define REAL    float
#define V(x)    x##_f32
#define GATHER  GATHER_F32
#define NAME(x) x##_i64_f32
#include "sparse/cpu/width.h"
#undef REAL
#undef V
#undef GATHER
#undef NAME
#define REAL    double
#define V(x)    x##_f64
#define GATHER  GATHER_F64
#define NAME(x) x##_i64_f64
#include "sparse/cpu/width.h"

const struct echi_sparse_isa ISA = {
    .place = { { place_i32_f32, place_i32_f64 }, { place_i64_f32, place_i64_f64 } },
    .rows = { { rows_i32_f32, rows_i32_f64 }, { rows_i64_f32, rows_i64_f64 } },
    .join = { { join_i32_f32, join_i32_f64 }, { join_i64_f32, join_i64_f64 } },
    .rows_wide = { { rows_wide_i32_f32, rows_wide_i32_f64 },
                   { rows_wide_i64_f32, rows_wide_i64_f64 } },
    .join_wide = { { join_wide_i32_f32, join_wide_i32_f64 },
                   { join_wide_i64_f32, join_wide_i64_f64 } },
};
