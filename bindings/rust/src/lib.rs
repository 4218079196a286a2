//! lib.rs - Echelon for Rust: sorting and data-parallel operations on NVIDIA GPUs and on the CPU.
//!
//! A [`Context`] is an open device. Its methods work on slices, which may be in any host memory, and
//! return when they have finished. A GPU context copies the slices to the GPU and back. Methods on
//! [`DevicePtr`] work on GPU memory and are queued; they are `unsafe`.
//!
//! ```
//! use echelon::{Context, SortOptions};
//!
//! # fn main() -> Result<(), echelon::Error> {
//! let ctx = Context::open("cpu")?; // "cuda", "cuda:1", "auto"
//! let mut keys = [2.5_f32, -1.0, 7.0, 0.0];
//! let mut names = ["b", "a", "d", "c"];
//! ctx.sort_pairs(&mut keys, &mut names, SortOptions::DESCENDING)?;
//! assert_eq!(keys, [7.0, 2.5, 0.0, -1.0]);
//! assert_eq!(names, ["d", "b", "c", "a"]);
//! assert_eq!(ctx.sum(&keys)?, 8.5);
//! # Ok(())
//! # }
//! ```
//!
//! Every method returns an [`Error`] if an argument is wrong, for example if slices have different
//! lengths. The order of floats, the bit-identical results and all other guarantees are those of the
//! C interface; the headers in `include/echelon` describe them. [`sys`] declares the C functions, and
//! [`Context::as_ptr`] gives access to those that have no method.
//!
//! SPDX-License-Identifier: Apache-2.0
#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod context;
mod device;
mod element;
pub mod gf2;
mod reduce;
mod select;
mod sort;
pub mod sys;
mod table;

pub use context::{version, Context, Error, Status};
pub use device::{DeviceBuffer, DevicePtr};
pub use element::{Element, Index};
pub use reduce::{Op, Outside};
pub use select::Compare;
pub use sort::SortOptions;
pub use table::Column;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
