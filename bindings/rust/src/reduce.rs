//! reduce.rs - reductions, scans and histograms of slices.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::context::same_length;
use crate::{sys, Context, Element, Error};

/// The operator of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Op {
    /// The sum, modulo 2^bits for integers.
    Sum = sys::ECH_OP_SUM,
    /// The product, modulo 2^bits for integers.
    Product = sys::ECH_OP_PRODUCT,
    /// The minimum.
    Min = sys::ECH_OP_MIN,
    /// The maximum.
    Max = sys::ECH_OP_MAX,
    /// Bitwise and, of integers only.
    And = sys::ECH_OP_AND,
    /// Bitwise or, of integers only.
    Or = sys::ECH_OP_OR,
    /// Bitwise exclusive or, of integers only.
    Xor = sys::ECH_OP_XOR,
}

/// How a histogram counts elements that are in no bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Outside {
    /// They are not counted.
    Drop = sys::ECH_OUTSIDE_DROP,
    /// Elements below count in the first bin, elements above in the last. NaN are not counted.
    Clamp = sys::ECH_OUTSIDE_CLAMP,
}

impl Context {
    /// The sum: 64-bit integers modulo 2^64, or floats of the same type.
    ///
    /// ```
    /// # use echelon::Context;
    /// # let ctx = Context::open("cpu")?;
    /// assert_eq!(ctx.sum(&[200_u8, 100])?, 300_u64);
    /// assert_eq!(ctx.mean(&[1_i32, 2])?, 1.5_f64);
    /// assert_eq!((ctx.min(&[3, -4])?, ctx.max(&[3, -4])?), (-4, 3));
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn sum<T: Element>(&self, input: &[T]) -> Result<T::Sum, Error> {
        self.reduce(sys::ECH_OP_SUM, input)
    }

    /// The minimum. An empty slice yields the maximum value of the type (`+inf` for floats).
    pub fn min<T: Element>(&self, input: &[T]) -> Result<T, Error> {
        self.reduce(sys::ECH_OP_MIN, input)
    }

    /// The maximum. An empty slice yields the minimum value of the type (`-inf` for floats).
    pub fn max<T: Element>(&self, input: &[T]) -> Result<T, Error> {
        self.reduce(sys::ECH_OP_MAX, input)
    }

    /// The mean, computed in `f64`. An empty slice yields NaN.
    pub fn mean<T: Element>(&self, input: &[T]) -> Result<T::Mean, Error> {
        self.reduce(sys::ECH_OP_MEAN, input)
    }

    // R is the type that ech_reduce_dtype() states for this operator.
    fn reduce<T: Element, R: Element>(&self, op: sys::ech_op, input: &[T]) -> Result<R, Error> {
        let mut result = R::default();
        let options: sys::ech_reduce_options = sys::init();
        // SAFETY: the slice has this length, and the result has the type of the operator.
        self.check(unsafe {
            sys::ech_reduce(
                self.as_ptr(),
                op,
                input.as_ptr().cast(),
                (&mut result as *mut R).cast(),
                input.len(),
                T::DTYPE,
                &options,
            )
        })?;
        Ok(result)
    }

    /// Combines each element with all elements before it: `out[i] = in[0] op ... op in[i]`.
    ///
    /// ```
    /// # use echelon::{Context, Op};
    /// # let ctx = Context::open("cpu")?;
    /// let mut out = [0_i32; 4];
    /// ctx.inclusive_scan(Op::Sum, &[1, 2, 3, 4], &mut out)?;
    /// assert_eq!(out, [1, 3, 6, 10]);
    /// ctx.exclusive_scan(Op::Sum, &[1, 2, 3, 4], &mut out)?;
    /// assert_eq!(out, [0, 1, 3, 6]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn inclusive_scan<T: Element>(
        &self,
        op: Op,
        input: &[T],
        out: &mut [T],
    ) -> Result<(), Error> {
        self.scan(op, input, out, false)
    }

    /// The same without the element itself: `out[0]` is the identity element of the operator.
    pub fn exclusive_scan<T: Element>(
        &self,
        op: Op,
        input: &[T],
        out: &mut [T],
    ) -> Result<(), Error> {
        self.scan(op, input, out, true)
    }

    fn scan<T: Element>(
        &self,
        op: Op,
        input: &[T],
        out: &mut [T],
        exclusive: bool,
    ) -> Result<(), Error> {
        same_length("out", out.len(), "input", input.len())?;
        let mut options: sys::ech_scan_options = sys::init();
        options.exclusive = exclusive.into();
        // SAFETY: both slices have the same length and type.
        self.check(unsafe {
            sys::ech_scan(
                self.as_ptr(),
                op as sys::ech_op,
                input.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                input.len(),
                T::DTYPE,
                &options,
            )
        })
    }

    /// Counts the elements in each of `counts.len()` bins of equal width from `lower` to `upper`.
    ///
    /// ```
    /// # use echelon::{Context, Outside};
    /// # let ctx = Context::open("cpu")?;
    /// let mut counts = [0; 2];
    /// ctx.histogram(&[0.1_f32, 0.7, 0.8, 4.0], &mut counts, 0.0, 1.0, Outside::Drop)?;
    /// assert_eq!(counts, [1, 2]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn histogram<T: Element>(
        &self,
        input: &[T],
        counts: &mut [u64],
        lower: f64,
        upper: f64,
        outside: Outside,
    ) -> Result<(), Error> {
        let mut options: sys::ech_histogram_options = sys::init();
        options.outside = outside as sys::ech_outside;
        // SAFETY: counts has one element per bin, since Outside has no variant with more counters.
        self.check(unsafe {
            sys::ech_histogram(
                self.as_ptr(),
                input.as_ptr().cast(),
                counts.as_mut_ptr().cast(),
                input.len(),
                T::DTYPE,
                counts.len(),
                lower,
                upper,
                &options,
            )
        })
    }

    /// Counts how many times each of the integers from 0 to `counts.len() - 1` occurs.
    pub fn bincount<T: Element>(&self, input: &[T], counts: &mut [u64]) -> Result<(), Error> {
        let options: sys::ech_histogram_options = sys::init();
        // SAFETY: counts has one element per bin.
        self.check(unsafe {
            sys::ech_bincount(
                self.as_ptr(),
                input.as_ptr().cast(),
                counts.as_mut_ptr().cast(),
                input.len(),
                T::DTYPE,
                counts.len(),
                &options,
            )
        })
    }
}
