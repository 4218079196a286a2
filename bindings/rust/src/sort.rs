//! sort.rs - sorts, argsorts and top-k selections of slices.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::context::same_length;
use crate::{sys, Context, Element, Error, Index};

/// The order of a sort. The default is ascending, with NaN last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortOptions {
    /// The exact reverse of the ascending order.
    pub descending: bool,
    /// Orders floats as IEEE 754 totalOrder does.
    pub total_order: bool,
}

impl SortOptions {
    /// The default.
    pub const ASCENDING: Self = SortOptions { descending: false, total_order: false };
    /// The reverse of the default.
    pub const DESCENDING: Self = SortOptions { descending: true, total_order: false };

    pub(crate) fn order(self) -> sys::ech_order {
        if self.total_order {
            sys::ECH_ORDER_TOTAL
        } else {
            sys::ECH_ORDER_NAN_LAST
        }
    }

    pub(crate) fn raw(self) -> sys::ech_sort_options {
        let mut raw: sys::ech_sort_options = sys::init();
        raw.descending = self.descending.into();
        raw.order = self.order();
        raw
    }
}

impl Context {
    /// Sorts keys in place.
    ///
    /// ```
    /// # use echelon::{Context, SortOptions};
    /// # let ctx = Context::open("cpu")?;
    /// let mut keys = [3_u8, 1, 2];
    /// ctx.sort(&mut keys, SortOptions::ASCENDING)?;
    /// assert_eq!(keys, [1, 2, 3]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn sort<K: Element>(&self, keys: &mut [K], options: SortOptions) -> Result<(), Error> {
        let data = keys.as_mut_ptr().cast();
        // SAFETY: the slice has the length and the type that the call states.
        self.check(unsafe {
            sys::ech_sort(self.as_ptr(), data, data, keys.len(), K::DTYPE, &options.raw())
        })
    }

    /// Sorts keys in place and moves a value with each key. The sort is stable.
    ///
    /// # Errors
    ///
    /// [`Status::Argument`](crate::Status::Argument) if the lengths differ, or if `V` has no size.
    pub fn sort_pairs<K: Element, V: Copy>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        options: SortOptions,
    ) -> Result<(), Error> {
        same_length("values", values.len(), "keys", keys.len())?;
        let (k, v) = (keys.as_mut_ptr().cast(), values.as_mut_ptr().cast());
        // SAFETY: both slices have the same length. Values are opaque bytes that keep their form.
        self.check(unsafe {
            sys::ech_sort_pairs(
                self.as_ptr(),
                k,
                v,
                k,
                v,
                keys.len(),
                K::DTYPE,
                std::mem::size_of::<V>(),
                &options.raw(),
            )
        })
    }

    /// Writes the permutation that sorts the keys: `index[i]` is the position of the i-th key of
    /// the sorted sequence. It is stable.
    ///
    /// ```
    /// # use echelon::{Context, SortOptions};
    /// # let ctx = Context::open("cpu")?;
    /// let mut index = [0_u32; 3];
    /// ctx.argsort(&[0.5_f64, f64::NAN, -1.0], &mut index, SortOptions::ASCENDING)?;
    /// assert_eq!(index, [2, 0, 1]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn argsort<K: Element, I: Index>(
        &self,
        keys: &[K],
        index: &mut [I],
        options: SortOptions,
    ) -> Result<(), Error> {
        same_length("index", index.len(), "keys", keys.len())?;
        // SAFETY: both slices have the same length.
        self.check(unsafe {
            sys::ech_argsort(
                self.as_ptr(),
                keys.as_ptr().cast(),
                index.as_mut_ptr().cast(),
                keys.len(),
                K::DTYPE,
                I::DTYPE,
                &options.raw(),
            )
        })
    }

    /// Selects the `values.len()` largest elements, the largest first, and their positions.
    ///
    /// Elements that are equal are in the order of their positions. NaN is the largest.
    /// [`Context::bottomk`] selects the smallest elements.
    ///
    /// ```
    /// # use echelon::Context;
    /// # let ctx = Context::open("cpu")?;
    /// let (mut values, mut positions) = ([0_i16; 2], [0_i64; 2]);
    /// ctx.topk(&[5, 9, -1, 7], &mut values, &mut positions)?;
    /// assert_eq!((values, positions), ([9, 7], [1, 3]));
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn topk<K: Element, I: Index>(
        &self,
        input: &[K],
        values: &mut [K],
        positions: &mut [I],
    ) -> Result<(), Error> {
        self.select_k(input, values, positions, false)
    }

    /// Selects the `values.len()` smallest elements, the smallest first, and their positions.
    pub fn bottomk<K: Element, I: Index>(
        &self,
        input: &[K],
        values: &mut [K],
        positions: &mut [I],
    ) -> Result<(), Error> {
        self.select_k(input, values, positions, true)
    }

    fn select_k<K: Element, I: Index>(
        &self,
        input: &[K],
        values: &mut [K],
        positions: &mut [I],
        smallest: bool,
    ) -> Result<(), Error> {
        same_length("positions", positions.len(), "values", values.len())?;
        let mut options: sys::ech_topk_options = sys::init();
        options.smallest = smallest.into();
        // SAFETY: values and positions have k elements; the library rejects k > n.
        self.check(unsafe {
            sys::ech_topk(
                self.as_ptr(),
                input.as_ptr().cast(),
                values.as_mut_ptr().cast(),
                positions.as_mut_ptr().cast(),
                input.len(),
                values.len(),
                K::DTYPE,
                I::DTYPE,
                &options,
            )
        })
    }
}
