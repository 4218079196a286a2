//! sys.rs - the declarations of echelon.h that this crate uses, for calls that it does not wrap.
//!
//! Names are those of the header, which documents them. `bindings/check_abi.py` compares this file
//! with `include/abi.txt`: names, types and order of parameters, values, fields and their offsets.
//!
//! SPDX-License-Identifier: Apache-2.0
#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_double, c_int, c_void};

#[repr(C)]
pub struct ech_ctx {
    _opaque: [u8; 0],
}

pub type ech_status = c_int;
pub const ECH_OK: ech_status = 0;
pub const ECH_ERR_ARG: ech_status = 1;
pub const ECH_ERR_UNSUPPORTED: ech_status = 2;
pub const ECH_ERR_MEMORY: ech_status = 3;
pub const ECH_ERR_NO_DEVICE: ech_status = 4;
pub const ECH_ERR_DEVICE: ech_status = 5;
pub const ECH_ERR_CANCELED: ech_status = 6;
pub const ECH_ERR_COMM: ech_status = 7;

pub type ech_dtype = c_int;
pub const ECH_I8: ech_dtype = 0;
pub const ECH_I16: ech_dtype = 1;
pub const ECH_I32: ech_dtype = 2;
pub const ECH_I64: ech_dtype = 3;
pub const ECH_U8: ech_dtype = 4;
pub const ECH_U16: ech_dtype = 5;
pub const ECH_U32: ech_dtype = 6;
pub const ECH_U64: ech_dtype = 7;
pub const ECH_F16: ech_dtype = 8;
pub const ECH_BF16: ech_dtype = 9;
pub const ECH_F32: ech_dtype = 10;
pub const ECH_F64: ech_dtype = 11;

pub type ech_order = c_int;
pub const ECH_ORDER_NAN_LAST: ech_order = 0;
pub const ECH_ORDER_TOTAL: ech_order = 1;

pub type ech_op = c_int;
pub const ECH_OP_SUM: ech_op = 0;
pub const ECH_OP_PRODUCT: ech_op = 1;
pub const ECH_OP_MIN: ech_op = 2;
pub const ECH_OP_MAX: ech_op = 3;
pub const ECH_OP_AND: ech_op = 4;
pub const ECH_OP_OR: ech_op = 5;
pub const ECH_OP_XOR: ech_op = 6;
pub const ECH_OP_MEAN: ech_op = 13;

pub type ech_nan = c_int;
pub const ECH_NAN_PROPAGATE: ech_nan = 0;
pub const ECH_NAN_IGNORE: ech_nan = 1;

pub type ech_compare = c_int;
pub const ECH_COMPARE_NONZERO: ech_compare = 0;
pub const ECH_COMPARE_LESS: ech_compare = 1;
pub const ECH_COMPARE_LESS_EQUAL: ech_compare = 2;
pub const ECH_COMPARE_EQUAL: ech_compare = 3;
pub const ECH_COMPARE_NOT_EQUAL: ech_compare = 4;
pub const ECH_COMPARE_GREATER_EQUAL: ech_compare = 5;
pub const ECH_COMPARE_GREATER: ech_compare = 6;
pub const ECH_COMPARE_IS_NAN: ech_compare = 7;
pub const ECH_COMPARE_HAS_ANY: ech_compare = 8;
pub const ECH_COMPARE_HAS_ALL: ech_compare = 9;
pub const ECH_COMPARE_HAS_NONE: ech_compare = 10;

pub type ech_outside = c_int;
pub const ECH_OUTSIDE_DROP: ech_outside = 0;
pub const ECH_OUTSIDE_CLAMP: ech_outside = 1;
pub const ECH_OUTSIDE_COUNT: ech_outside = 2;

pub type ech_key_kind = c_int;
pub const ECH_KEY_DTYPE: ech_key_kind = 0;

pub type ech_gf2_form = c_int;
pub const ECH_GF2_FORM_REDUCED: ech_gf2_form = 0;
pub const ECH_GF2_FORM_ECHELON: ech_gf2_form = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_sort_options {
    pub size: usize,
    pub descending: c_int,
    pub order: ech_order,
    pub begin_bit: c_int,
    pub end_bit: c_int,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
    pub row_stride: usize,
    pub element_stride: usize,
    pub out_row_stride: usize,
    pub out_element_stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_topk_options {
    pub size: usize,
    pub smallest: c_int,
    pub unsorted: c_int,
    pub order: ech_order,
    pub counts: *const c_void,
    pub counts_dtype: ech_dtype,
    pub row_stride: usize,
    pub element_stride: usize,
    pub out_row_stride: usize,
    pub out_element_stride: usize,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_reduce_options {
    pub size: usize,
    pub nan: ech_nan,
    pub accumulate_wide: c_int,
    pub compare: ech_compare,
    pub value: *const c_void,
    pub ddof: c_int,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_scan_options {
    pub size: usize,
    pub exclusive: c_int,
    pub reverse: c_int,
    pub accumulate_wide: c_int,
    pub nan: ech_nan,
    pub init: *const c_void,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_histogram_options {
    pub size: usize,
    pub channels: c_int,
    pub outside: ech_outside,
    pub include_right: c_int,
    pub accumulate: c_int,
    pub weights: *const c_void,
    pub weights_dtype: ech_dtype,
    pub dimensions: c_int,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_select_options {
    pub size: usize,
    pub invert: c_int,
    pub positions: ech_dtype,
    pub packed: c_int,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_search_options {
    pub size: usize,
    pub descending: c_int,
    pub order: ech_order,
    pub needles_sorted: c_int,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_sort_column {
    pub size: usize,
    pub data: *const c_void,
    pub dtype: ech_dtype,
    pub descending: c_int,
    pub order: ech_order,
    pub nulls_first: c_int,
    pub validity: *const u8,
    pub validity_offset: usize,
    pub kind: ech_key_kind,
    pub width_bytes: usize,
    pub stride_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_columns_options {
    pub size: usize,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_gf2 {
    pub size: usize,
    pub words: *mut u64,
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_gf2_options {
    pub size: usize,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ech_gf2_echelon_options {
    pub size: usize,
    pub form: ech_gf2_form,
    pub column_order: *const c_void,
    pub pivot_cols: usize,
    pub max_rank: usize,
    pub transform: *mut ech_gf2,
    pub rows_from: *mut c_void,
    pub index_dtype: ech_dtype,
    pub algorithm: *const c_char,
    pub work: *mut c_void,
    pub work_bytes: usize,
}

/// Structs that begin with `size`, and in which zero is a valid value of every other field.
///
/// # Safety
///
/// The struct has the layout of C, its first field is `size: usize`, and all zeros are a valid value.
pub unsafe trait SizedStruct: Copy {}
unsafe impl SizedStruct for ech_sort_options {}
unsafe impl SizedStruct for ech_topk_options {}
unsafe impl SizedStruct for ech_reduce_options {}
unsafe impl SizedStruct for ech_scan_options {}
unsafe impl SizedStruct for ech_histogram_options {}
unsafe impl SizedStruct for ech_select_options {}
unsafe impl SizedStruct for ech_search_options {}
unsafe impl SizedStruct for ech_sort_column {}
unsafe impl SizedStruct for ech_columns_options {}
unsafe impl SizedStruct for ech_gf2 {}
unsafe impl SizedStruct for ech_gf2_options {}
unsafe impl SizedStruct for ech_gf2_echelon_options {}

/// A struct with its size set and zero in all other fields, as `ECH_INIT()` in C.
pub fn init<T: SizedStruct>() -> T {
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    unsafe {
        value.as_mut_ptr().cast::<usize>().write(std::mem::size_of::<T>());
        value.assume_init()
    }
}

#[link(name = "echelon")]
extern "C" {
    pub fn ech_open(ctx: *mut *mut ech_ctx, device: *const c_char) -> ech_status;
    pub fn ech_close(ctx: *mut ech_ctx);
    pub fn ech_sync(ctx: *mut ech_ctx) -> ech_status;
    pub fn ech_error(ctx: *const ech_ctx) -> *const c_char;
    pub fn ech_device_name(ctx: *const ech_ctx) -> *const c_char;
    pub fn ech_version() -> *const c_char;
    pub fn ech_version_number() -> c_int;
    pub fn ech_status_name(status: ech_status) -> *const c_char;
    pub fn ech_malloc(ctx: *mut ech_ctx, pointer: *mut *mut c_void, bytes: usize) -> ech_status;
    pub fn ech_free(ctx: *mut ech_ctx, pointer: *mut c_void, bytes: usize);
    pub fn ech_copy(
        ctx: *mut ech_ctx,
        to: *mut c_void,
        from: *const c_void,
        bytes: usize,
    ) -> ech_status;
    pub fn ech_set_stream(ctx: *mut ech_ctx, stream: *mut c_void) -> ech_status;
    pub fn ech_set_private_stream(ctx: *mut ech_ctx) -> ech_status;
    pub fn ech_set_threads(ctx: *mut ech_ctx, threads: c_int) -> ech_status;
    pub fn ech_set_memory_limit(ctx: *mut ech_ctx, bytes: u64) -> ech_status;
    pub fn ech_sort(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        out: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        options: *const ech_sort_options,
    ) -> ech_status;
    pub fn ech_sort_pairs(
        ctx: *mut ech_ctx,
        keys_in: *const c_void,
        values_in: *const c_void,
        keys_out: *mut c_void,
        values_out: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        value_bytes: usize,
        options: *const ech_sort_options,
    ) -> ech_status;
    pub fn ech_argsort(
        ctx: *mut ech_ctx,
        keys: *const c_void,
        index: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        index_dtype: ech_dtype,
        options: *const ech_sort_options,
    ) -> ech_status;
    pub fn ech_topk(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        values: *mut c_void,
        indices: *mut c_void,
        n: usize,
        k: usize,
        dtype: ech_dtype,
        index_dtype: ech_dtype,
        options: *const ech_topk_options,
    ) -> ech_status;
    pub fn ech_reduce(
        ctx: *mut ech_ctx,
        op: ech_op,
        in_: *const c_void,
        out: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        options: *const ech_reduce_options,
    ) -> ech_status;
    pub fn ech_reduce_dtype(op: ech_op, dtype: ech_dtype, accumulate_wide: c_int) -> c_int;
    pub fn ech_scan(
        ctx: *mut ech_ctx,
        op: ech_op,
        in_: *const c_void,
        out: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        options: *const ech_scan_options,
    ) -> ech_status;
    pub fn ech_histogram(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        counts: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        bins: usize,
        lower: c_double,
        upper: c_double,
        options: *const ech_histogram_options,
    ) -> ech_status;
    pub fn ech_histogram_edges(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        edges: *const c_void,
        counts: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        bins: usize,
        options: *const ech_histogram_options,
    ) -> ech_status;
    pub fn ech_bincount(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        counts: *mut c_void,
        n: usize,
        dtype: ech_dtype,
        bins: usize,
        options: *const ech_histogram_options,
    ) -> ech_status;
    pub fn ech_select_flags(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        flags: *const u8,
        out: *mut c_void,
        count: *mut u64,
        n: usize,
        element_bytes: usize,
        options: *const ech_select_options,
    ) -> ech_status;
    pub fn ech_select_if(
        ctx: *mut ech_ctx,
        compare: ech_compare,
        in_: *const c_void,
        out: *mut c_void,
        count: *mut u64,
        n: usize,
        dtype: ech_dtype,
        value: *const c_void,
        options: *const ech_select_options,
    ) -> ech_status;
    pub fn ech_unique(
        ctx: *mut ech_ctx,
        in_: *const c_void,
        out: *mut c_void,
        count: *mut u64,
        n: usize,
        dtype: ech_dtype,
        options: *const ech_select_options,
    ) -> ech_status;
    pub fn ech_lower_bound(
        ctx: *mut ech_ctx,
        sorted: *const c_void,
        needles: *const c_void,
        positions: *mut c_void,
        n: usize,
        m: usize,
        dtype: ech_dtype,
        index_dtype: ech_dtype,
        options: *const ech_search_options,
    ) -> ech_status;
    pub fn ech_upper_bound(
        ctx: *mut ech_ctx,
        sorted: *const c_void,
        needles: *const c_void,
        positions: *mut c_void,
        n: usize,
        m: usize,
        dtype: ech_dtype,
        index_dtype: ech_dtype,
        options: *const ech_search_options,
    ) -> ech_status;
    pub fn ech_argsort_columns(
        ctx: *mut ech_ctx,
        columns: *const ech_sort_column,
        indices: *mut c_void,
        n: usize,
        column_count: usize,
        index_dtype: ech_dtype,
        options: *const ech_columns_options,
    ) -> ech_status;
    pub fn ech_fill(
        ctx: *mut ech_ctx,
        out: *mut c_void,
        n: usize,
        element_bytes: usize,
        value: *const c_void,
    ) -> ech_status;
    pub fn ech_gf2_stride(cols: usize) -> usize;
    pub fn ech_gf2_mul(
        ctx: *mut ech_ctx,
        a: *const ech_gf2,
        b: *const ech_gf2,
        out: *mut ech_gf2,
        options: *const ech_gf2_options,
    ) -> ech_status;
    pub fn ech_gf2_rank(
        ctx: *mut ech_ctx,
        a: *const ech_gf2,
        rank: *mut u32,
        options: *const ech_gf2_echelon_options,
    ) -> ech_status;
    pub fn ech_gf2_solve(
        ctx: *mut ech_ctx,
        a: *const ech_gf2,
        b: *const ech_gf2,
        x: *mut ech_gf2,
        solvable: *mut u8,
        certificate: *mut ech_gf2,
        options: *const ech_gf2_echelon_options,
    ) -> ech_status;
}
