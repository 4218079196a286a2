//! gf2.rs - matrices over GF(2): products, ranks and linear systems.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::{sys, Context, Error};

/// A matrix over GF(2) in host memory, one bit per element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    words: Vec<u64>, // bits beyond the last column are 0
    rows: usize,
    cols: usize,
    stride: usize,
}

impl Matrix {
    /// A matrix of zeros.
    ///
    /// # Panics
    ///
    /// If the matrix does not fit in memory, as a `Vec` does.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        // SAFETY: the function only divides.
        let stride = unsafe { sys::ech_gf2_stride(cols) };
        let words = rows.checked_mul(stride).expect("rows * stride overflows usize");
        Matrix { words: vec![0; words], rows, cols, stride }
    }

    /// The matrix whose element (i, j) is `bit(i, j)`.
    pub fn from_fn(rows: usize, cols: usize, mut bit: impl FnMut(usize, usize) -> bool) -> Self {
        let mut matrix = Self::zeros(rows, cols);
        for i in 0..rows {
            for j in 0..cols {
                matrix.set(i, j, bit(i, j));
            }
        }
        matrix
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The words: bit `j % 64` of word `j / 64` of a row is its element j.
    pub fn row(&self, i: usize) -> &[u64] {
        &self.words[i * self.stride..(i + 1) * self.stride]
    }

    fn word(&self, i: usize, j: usize) -> usize {
        assert!(i < self.rows && j < self.cols, "({i}, {j}) is outside the matrix");
        i * self.stride + j / 64
    }

    /// The element (i, j).
    pub fn get(&self, i: usize, j: usize) -> bool {
        self.words[self.word(i, j)] >> (j % 64) & 1 == 1
    }

    /// Sets the element (i, j).
    pub fn set(&mut self, i: usize, j: usize, bit: bool) {
        let word = self.word(i, j);
        self.words[word] = self.words[word] & !(1 << (j % 64)) | (bit as u64) << (j % 64);
    }

    // A view for reading: a call does not write the words of a const ech_gf2 *.
    fn raw(&self) -> sys::ech_gf2 {
        let mut raw: sys::ech_gf2 = sys::init();
        raw.words = self.words.as_ptr() as *mut u64;
        (raw.rows, raw.cols, raw.stride) = (self.rows, self.cols, self.stride);
        raw
    }

    fn raw_mut(&mut self) -> sys::ech_gf2 {
        let words = self.words.as_mut_ptr();
        sys::ech_gf2 { words, ..self.raw() }
    }
}

/// The result of [`Context::gf2_solve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solution {
    /// One column per right-hand side: a solution, or 0 if there is none.
    pub x: Matrix,
    /// Whether each right-hand side has a solution.
    pub solvable: Vec<bool>,
}

impl Context {
    /// The product of two matrices.
    pub fn gf2_mul(&self, a: &Matrix, b: &Matrix) -> Result<Matrix, Error> {
        let mut out = Matrix::zeros(a.rows, b.cols);
        let options: sys::ech_gf2_options = sys::init();
        // SAFETY: the views describe the matrices; the library compares their shapes.
        self.check(unsafe {
            sys::ech_gf2_mul(self.as_ptr(), &a.raw(), &b.raw(), &mut out.raw_mut(), &options)
        })?;
        Ok(out)
    }

    /// The rank of a matrix.
    ///
    /// ```
    /// # use echelon::{gf2::Matrix, Context};
    /// # let ctx = Context::open("cpu")?;
    /// // In each row, neighbours of a cycle: the rows add up to 0.
    /// let cycle = Matrix::from_fn(70, 70, |i, j| j == i || j == (i + 1) % 70);
    /// assert_eq!(ctx.gf2_rank(&cycle)?, 69);
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn gf2_rank(&self, a: &Matrix) -> Result<u32, Error> {
        let mut rank = 0;
        let options: sys::ech_gf2_echelon_options = sys::init();
        // SAFETY: the view describes the matrix.
        self.check(unsafe { sys::ech_gf2_rank(self.as_ptr(), &a.raw(), &mut rank, &options) })?;
        Ok(rank)
    }

    /// Solves a x = b for each column of b. A system without a solution is not an error.
    ///
    /// ```
    /// # use echelon::{gf2::Matrix, Context};
    /// # let ctx = Context::open("cpu")?;
    /// let a = Matrix::from_fn(3, 2, |i, j| i == j || i == 2); // x0, x1, x0 + x1
    /// let b = Matrix::from_fn(3, 2, |i, j| i == 0 || (i, j) == (2, 0)); // 1 0 1 and 1 0 0
    /// let solution = ctx.gf2_solve(&a, &b)?;
    /// assert_eq!(solution.solvable, [true, false]);
    /// assert!(solution.x.get(0, 0) && !solution.x.get(1, 0));
    /// # Ok::<(), echelon::Error>(())
    /// ```
    pub fn gf2_solve(&self, a: &Matrix, b: &Matrix) -> Result<Solution, Error> {
        let mut x = Matrix::zeros(a.cols, b.cols);
        let mut solvable = vec![0_u8; b.cols];
        let options: sys::ech_gf2_echelon_options = sys::init();
        // SAFETY: x and solvable have one column per right-hand side; the library compares shapes.
        self.check(unsafe {
            sys::ech_gf2_solve(
                self.as_ptr(),
                &a.raw(),
                &b.raw(),
                &mut x.raw_mut(),
                solvable.as_mut_ptr(),
                std::ptr::null_mut(),
                &options,
            )
        })?;
        Ok(Solution { x, solvable: solvable.iter().map(|flag| *flag != 0).collect() })
    }
}
