//! table.rs - sorts of the rows of a table by several columns.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::context::same_length;
use crate::{sys, Context, Element, Error, Index};
use std::marker::PhantomData;

/// A column of a table and how its elements are compared.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    raw: sys::ech_sort_column,
    len: usize,
    bits: Option<usize>,
    data: PhantomData<&'a ()>,
}

impl<'a> Column<'a> {
    /// A column in ascending order, without nulls.
    pub fn new<T: Element>(data: &'a [T]) -> Self {
        let mut raw: sys::ech_sort_column = sys::init();
        raw.data = data.as_ptr().cast();
        raw.dtype = T::DTYPE;
        Column { raw, len: data.len(), bits: None, data: PhantomData }
    }

    /// Descending order. The place of nulls does not depend on it.
    pub fn descending(mut self) -> Self {
        self.raw.descending = 1;
        self
    }

    /// Orders floats as IEEE 754 totalOrder does.
    pub fn total_order(mut self) -> Self {
        self.raw.order = sys::ECH_ORDER_TOTAL;
        self
    }

    /// A bitmap as in Apache Arrow: element i is null if bit `i % 8` of byte `i / 8` is 0.
    pub fn validity(mut self, bitmap: &'a [u8]) -> Self {
        self.raw.validity = bitmap.as_ptr();
        self.bits = Some(bitmap.len().saturating_mul(8));
        self
    }

    /// Nulls before all other elements; otherwise they are after them.
    pub fn nulls_first(mut self) -> Self {
        self.raw.nulls_first = 1;
        self
    }
}

impl Context {
    /// Writes the permutation that sorts the rows of a table: by the first column, equal elements
    /// of it by the second column, and so on. It is stable.
    ///
    /// ```
    /// # use echelon::{Column, Context};
    /// # let ctx = Context::open("cpu")?;
    /// let (city, price) = ([2_u8, 1, 1], [9.5_f32, 3.0, 4.0]);
    /// let mut index = [0_u32; 3];
    /// ctx.argsort_columns(&[Column::new(&city), Column::new(&price).descending()], &mut index)?;
    /// assert_eq!(index, [2, 1, 0]);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn argsort_columns<I: Index>(
        &self,
        columns: &[Column<'_>],
        index: &mut [I],
    ) -> Result<(), Error> {
        for (i, column) in columns.iter().enumerate() {
            same_length("index", index.len(), &format!("columns[{i}]"), column.len)?;
            if let Some(bits) = column.bits.filter(|bits| *bits < index.len()) {
                return Err(Error::argument(format!(
                    "the validity of columns[{i}] has {bits} bits, fewer than the {} rows",
                    index.len()
                )));
            }
        }
        let raw: Vec<_> = columns.iter().map(|column| column.raw).collect();
        let options: sys::ech_columns_options = sys::init();
        // SAFETY: all columns and bitmaps have one element per row, as index.
        self.check(unsafe {
            sys::ech_argsort_columns(
                self.as_ptr(),
                raw.as_ptr(),
                index.as_mut_ptr().cast(),
                index.len(),
                raw.len(),
                I::DTYPE,
                &options,
            )
        })
    }
}
