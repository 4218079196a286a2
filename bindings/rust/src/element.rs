//! element.rs - the types of elements and of indices.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::sys;

mod sealed {
    pub trait Sealed {}
}

/// An element: `i8` to `u64`, `f32` or `f64`. No other types can implement it.
pub trait Element: Copy + Default + Send + Sync + sealed::Sealed + 'static {
    /// The type of sums: `i64`, `u64`, `f32` or `f64`.
    type Sum: Element;
    /// The type of means: `f32` for `f32`, otherwise `f64`.
    type Mean: Element;
    /// The constant of the C interface.
    const DTYPE: sys::ech_dtype;
}

/// An index or a position: `i32`, `u32`, `i64` or `u64`.
pub trait Index: Element {}

// A list of types; convention 22 allows macros for lists.
macro_rules! elements {
    ($($type:ty, $sum:ty, $mean:ty, $dtype:ident;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Element for $type {
            type Sum = $sum;
            type Mean = $mean;
            const DTYPE: sys::ech_dtype = sys::$dtype;
        }
    )*};
}

elements! {
    i8, i64, f64, ECH_I8;
    i16, i64, f64, ECH_I16;
    i32, i64, f64, ECH_I32;
    i64, i64, f64, ECH_I64;
    u8, u64, f64, ECH_U8;
    u16, u64, f64, ECH_U16;
    u32, u64, f64, ECH_U32;
    u64, u64, f64, ECH_U64;
    f32, f32, f32, ECH_F32;
    f64, f64, f64, ECH_F64;
}

impl Index for i32 {}
impl Index for u32 {}
impl Index for i64 {}
impl Index for u64 {}
