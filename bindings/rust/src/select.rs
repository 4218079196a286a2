//! select.rs - selections, unique elements and searches of slices.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::context::same_length;
use crate::{sys, Context, Element, Error, Index, SortOptions};

/// A test of an element x against a value v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Compare {
    /// x != 0; ignores v.
    Nonzero = sys::ECH_COMPARE_NONZERO,
    /// x < v.
    Less = sys::ECH_COMPARE_LESS,
    /// x <= v.
    LessEqual = sys::ECH_COMPARE_LESS_EQUAL,
    /// x == v.
    Equal = sys::ECH_COMPARE_EQUAL,
    /// x != v.
    NotEqual = sys::ECH_COMPARE_NOT_EQUAL,
    /// x >= v.
    GreaterEqual = sys::ECH_COMPARE_GREATER_EQUAL,
    /// x > v.
    Greater = sys::ECH_COMPARE_GREATER,
    /// x is NaN; ignores v.
    IsNan = sys::ECH_COMPARE_IS_NAN,
    /// x & v != 0, of integers only.
    HasAny = sys::ECH_COMPARE_HAS_ANY,
    /// x & v == v, of integers only.
    HasAll = sys::ECH_COMPARE_HAS_ALL,
    /// x & v == 0, of integers only.
    HasNone = sys::ECH_COMPARE_HAS_NONE,
}

// The first count elements of out, of which a call wrote so many.
fn truncated<T>(mut out: Vec<T>, count: u64) -> Vec<T> {
    out.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    out
}

impl Context {
    /// The elements that pass a test, in their order.
    ///
    /// ```
    /// # use echelon::{Compare, Context};
    /// # let ctx = Context::open("cpu")?;
    /// assert_eq!(ctx.select_if(&[5, -2, 8, 0], Compare::Greater, 0)?, [5, 8]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn select_if<T: Element>(
        &self,
        input: &[T],
        compare: Compare,
        value: T,
    ) -> Result<Vec<T>, Error> {
        let (mut out, mut count) = (vec![T::default(); input.len()], 0);
        let options: sys::ech_select_options = sys::init();
        // SAFETY: out has room for all elements; value and count have one.
        self.check(unsafe {
            sys::ech_select_if(
                self.as_ptr(),
                compare as sys::ech_compare,
                input.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                &mut count,
                input.len(),
                T::DTYPE,
                (&value as *const T).cast(),
                &options,
            )
        })?;
        Ok(truncated(out, count))
    }

    /// The elements whose flag is not 0, in their order.
    pub fn select_flags<T: Element>(&self, input: &[T], flags: &[u8]) -> Result<Vec<T>, Error> {
        same_length("flags", flags.len(), "input", input.len())?;
        let (mut out, mut count) = (vec![T::default(); input.len()], 0);
        let options: sys::ech_select_options = sys::init();
        // SAFETY: flags has one byte per element; out has room for all elements.
        self.check(unsafe {
            sys::ech_select_flags(
                self.as_ptr(),
                input.as_ptr().cast(),
                flags.as_ptr(),
                out.as_mut_ptr().cast(),
                &mut count,
                input.len(),
                std::mem::size_of::<T>(),
                &options,
            )
        })?;
        Ok(truncated(out, count))
    }

    /// The first element of each run of equal elements: one per value if the input is sorted.
    pub fn unique<T: Element>(&self, input: &[T]) -> Result<Vec<T>, Error> {
        let (mut out, mut count) = (vec![T::default(); input.len()], 0);
        let options: sys::ech_select_options = sys::init();
        // SAFETY: out has room for all elements.
        self.check(unsafe {
            sys::ech_unique(
                self.as_ptr(),
                input.as_ptr().cast(),
                out.as_mut_ptr().cast(),
                &mut count,
                input.len(),
                T::DTYPE,
                &options,
            )
        })?;
        Ok(truncated(out, count))
    }

    /// For each needle, the number of elements of a sorted slice that precede it.
    ///
    /// ```
    /// # use echelon::{Context, SortOptions};
    /// # let ctx = Context::open("cpu")?;
    /// let (mut low, mut high) = ([0_u32; 2], [0_u32; 2]);
    /// ctx.lower_bound(&[1, 3, 3, 5], &[3, 9], &mut low, SortOptions::ASCENDING)?;
    /// ctx.upper_bound(&[1, 3, 3, 5], &[3, 9], &mut high, SortOptions::ASCENDING)?;
    /// assert_eq!((low, high), ([1, 4], [3, 4]));
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn lower_bound<T: Element, I: Index>(
        &self,
        sorted: &[T],
        needles: &[T],
        positions: &mut [I],
        options: SortOptions,
    ) -> Result<(), Error> {
        self.bound(sorted, needles, positions, options, sys::ech_lower_bound)
    }

    /// For each needle, the number of elements of a sorted slice that precede or equal it.
    pub fn upper_bound<T: Element, I: Index>(
        &self,
        sorted: &[T],
        needles: &[T],
        positions: &mut [I],
        options: SortOptions,
    ) -> Result<(), Error> {
        self.bound(sorted, needles, positions, options, sys::ech_upper_bound)
    }

    fn bound<T: Element, I: Index>(
        &self,
        sorted: &[T],
        needles: &[T],
        positions: &mut [I],
        order: SortOptions,
        call: Bound,
    ) -> Result<(), Error> {
        same_length("positions", positions.len(), "needles", needles.len())?;
        let mut options: sys::ech_search_options = sys::init();
        options.descending = order.descending.into();
        options.order = order.order();
        // SAFETY: positions has one element per needle. An unsorted slice yields other positions.
        self.check(unsafe {
            call(
                self.as_ptr(),
                sorted.as_ptr().cast(),
                needles.as_ptr().cast(),
                positions.as_mut_ptr().cast(),
                sorted.len(),
                needles.len(),
                T::DTYPE,
                I::DTYPE,
                &options,
            )
        })
    }
}

type Bound = unsafe extern "C" fn(
    *mut sys::ech_ctx,
    *const std::os::raw::c_void,
    *const std::os::raw::c_void,
    *mut std::os::raw::c_void,
    usize,
    usize,
    sys::ech_dtype,
    sys::ech_dtype,
    *const sys::ech_search_options,
) -> sys::ech_status;
