//! device.rs - memory of the device, and calls on it, which are queued.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::context::same_length;
use crate::{sys, Context, Element, Error, Index, Op, SortOptions};
use std::fmt;
use std::marker::PhantomData;

/// The address of an array in memory of a context's device, or in any memory that the device can
/// access. It owns nothing.
pub struct DevicePtr<T> {
    pointer: *mut T,
    len: usize,
}

impl<T> Clone for DevicePtr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DevicePtr<T> {}

impl<T> fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DevicePtr({:p}, {})", self.pointer, self.len)
    }
}

impl<T> DevicePtr<T> {
    /// An array of `len` elements, for example of `cudaMalloc`. Its use is unsafe, not its name.
    pub const fn new(pointer: *mut T, len: usize) -> Self {
        DevicePtr { pointer, len }
    }

    /// The address.
    pub const fn as_ptr(self) -> *mut T {
        self.pointer
    }

    /// The number of elements.
    pub const fn len(self) -> usize {
        self.len
    }

    /// Whether the array has no elements.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// An array in memory of a context's device. Dropping it frees the memory in stream order.
///
/// ```
/// # use echelon::{Context, SortOptions};
/// # let ctx = Context::open("cpu")?;
/// let keys = ctx.upload(&[3_i32, 1, 2])?;
/// // SAFETY: the array belongs to this context, and nothing else uses it.
/// unsafe { ctx.sort_device(keys.ptr(), keys.ptr(), SortOptions::ASCENDING)? };
/// assert_eq!(keys.download()?, [1, 2, 3]);
/// # Ok::<(), echelon::Error>(())
/// ```
pub struct DeviceBuffer<'c, T: Element> {
    ctx: &'c Context,
    array: DevicePtr<T>,
    owned: PhantomData<T>,
}

impl<T: Element> DeviceBuffer<'_, T> {
    /// The array, for calls on the same context.
    pub fn ptr(&self) -> DevicePtr<T> {
        self.array
    }

    /// Copies the elements to the host, after the work queued before, and waits for them.
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut out = vec![T::default(); self.array.len];
        // SAFETY: both arrays have this size.
        self.ctx.check(unsafe {
            sys::ech_copy(
                self.ctx.as_ptr(),
                out.as_mut_ptr().cast(),
                self.array.pointer.cast(),
                bytes_of::<T>(self.array.len)?,
            )
        })?;
        Ok(out)
    }
}

impl<T: Element> Drop for DeviceBuffer<'_, T> {
    fn drop(&mut self) {
        let bytes = self.array.len * std::mem::size_of::<T>();
        // SAFETY: ech_malloc() allocated so many bytes for this context, which is still open.
        unsafe { sys::ech_free(self.ctx.as_ptr(), self.array.pointer.cast(), bytes) }
    }
}

impl<T: Element> fmt::Debug for DeviceBuffer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

fn bytes_of<T>(n: usize) -> Result<usize, Error> {
    n.checked_mul(std::mem::size_of::<T>())
        .ok_or_else(|| Error::argument(format!("n is {n}: n * size overflows usize")))
}

impl Context {
    // An array whose elements are not initialised.
    fn raw_buffer<T: Element>(&self, n: usize) -> Result<DeviceBuffer<'_, T>, Error> {
        let mut pointer = std::ptr::null_mut();
        // SAFETY: pointer receives the address.
        self.check(unsafe { sys::ech_malloc(self.as_ptr(), &mut pointer, bytes_of::<T>(n)?) })?;
        let array = DevicePtr { pointer: pointer.cast(), len: n };
        Ok(DeviceBuffer { ctx: self, array, owned: PhantomData })
    }

    /// Allocates an array of the device with n zeros.
    pub fn allocate<T: Element>(&self, n: usize) -> Result<DeviceBuffer<'_, T>, Error> {
        let (buffer, zero) = (self.raw_buffer::<T>(n)?, T::default());
        // SAFETY: the array has n elements of the type of zero.
        self.check(unsafe {
            sys::ech_fill(
                self.as_ptr(),
                buffer.array.pointer.cast(),
                n,
                std::mem::size_of::<T>(),
                (&zero as *const T).cast(),
            )
        })?;
        Ok(buffer)
    }

    /// Allocates an array of the device and copies a slice to it.
    pub fn upload<T: Element>(&self, from: &[T]) -> Result<DeviceBuffer<'_, T>, Error> {
        let buffer: DeviceBuffer<'_, T> = self.raw_buffer(from.len())?;
        // SAFETY: both arrays have this size.
        self.check(unsafe {
            sys::ech_copy(
                self.as_ptr(),
                buffer.array.pointer.cast(),
                from.as_ptr().cast(),
                std::mem::size_of_val(from),
            )
        })?;
        Ok(buffer)
    }

    /// [`Context::sort`] in device memory. `out` may be `keys`.
    ///
    /// # Safety
    ///
    /// All arrays are in memory that the context's device can access, have the stated lengths, do
    /// not overlap otherwise, and stay valid and unused by others until the queued work is done.
    /// The same holds for the functions below.
    pub unsafe fn sort_device<K: Element>(
        &self,
        keys: DevicePtr<K>,
        out: DevicePtr<K>,
        options: SortOptions,
    ) -> Result<(), Error> {
        same_length("out", out.len, "keys", keys.len)?;
        self.check(unsafe {
            sys::ech_sort(
                self.as_ptr(),
                keys.pointer.cast(),
                out.pointer.cast(),
                keys.len,
                K::DTYPE,
                &options.raw(),
            )
        })
    }

    /// [`Context::sort_pairs`] in device memory, in place.
    ///
    /// # Safety
    ///
    /// As [`Context::sort_device`].
    pub unsafe fn sort_pairs_device<K: Element, V: Copy>(
        &self,
        keys: DevicePtr<K>,
        values: DevicePtr<V>,
        options: SortOptions,
    ) -> Result<(), Error> {
        same_length("values", values.len, "keys", keys.len)?;
        let (k, v) = (keys.pointer.cast(), values.pointer.cast());
        let bytes = std::mem::size_of::<V>();
        self.check(unsafe {
            sys::ech_sort_pairs(
                self.as_ptr(),
                k,
                v,
                k,
                v,
                keys.len,
                K::DTYPE,
                bytes,
                &options.raw(),
            )
        })
    }

    /// [`Context::argsort`] in device memory.
    ///
    /// # Safety
    ///
    /// As [`Context::sort_device`].
    pub unsafe fn argsort_device<K: Element, I: Index>(
        &self,
        keys: DevicePtr<K>,
        index: DevicePtr<I>,
        options: SortOptions,
    ) -> Result<(), Error> {
        same_length("index", index.len, "keys", keys.len)?;
        self.check(unsafe {
            sys::ech_argsort(
                self.as_ptr(),
                keys.pointer.cast(),
                index.pointer.cast(),
                keys.len,
                K::DTYPE,
                I::DTYPE,
                &options.raw(),
            )
        })
    }

    /// [`Context::sum`] in device memory: `out` receives one element.
    ///
    /// # Safety
    ///
    /// As [`Context::sort_device`].
    pub unsafe fn sum_device<T: Element>(
        &self,
        input: DevicePtr<T>,
        out: DevicePtr<T::Sum>,
    ) -> Result<(), Error> {
        same_length("out", out.len, "a sum", 1)?;
        let options: sys::ech_reduce_options = sys::init();
        self.check(unsafe {
            sys::ech_reduce(
                self.as_ptr(),
                sys::ECH_OP_SUM,
                input.pointer.cast(),
                out.pointer.cast(),
                input.len,
                T::DTYPE,
                &options,
            )
        })
    }

    /// [`Context::inclusive_scan`] in device memory. `out` may be `input`.
    ///
    /// # Safety
    ///
    /// As [`Context::sort_device`].
    pub unsafe fn inclusive_scan_device<T: Element>(
        &self,
        op: Op,
        input: DevicePtr<T>,
        out: DevicePtr<T>,
    ) -> Result<(), Error> {
        same_length("out", out.len, "input", input.len)?;
        let options: sys::ech_scan_options = sys::init();
        self.check(unsafe {
            sys::ech_scan(
                self.as_ptr(),
                op as sys::ech_op,
                input.pointer.cast(),
                out.pointer.cast(),
                input.len,
                T::DTYPE,
                &options,
            )
        })
    }
}
