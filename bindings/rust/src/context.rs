//! context.rs - contexts and errors.
//!
//! SPDX-License-Identifier: Apache-2.0

use crate::sys;
use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::{c_char, c_void};
use std::ptr;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// An argument violates its documented contract.
    Argument,
    /// Valid, but not supported by this device or this build.
    Unsupported,
    /// Out of memory, or a workspace is too small.
    Memory,
    /// The requested device does not exist or cannot be used.
    NoDevice,
    /// The GPU driver reported an error; the context can no longer be used.
    Device,
    /// A progress function ended the call.
    Canceled,
    /// A status of a newer library.
    Other(i32),
}

/// A failed call, with the message of the library.
///
/// ```
/// use echelon::{Context, Status};
///
/// let error = Context::open("tpu").unwrap_err();
/// assert_eq!(error.status(), Status::Argument);
/// assert!(error.to_string().starts_with("device is \"tpu\""));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    message: String,
}

impl Error {
    /// The kind of the failure.
    pub fn status(&self) -> Status {
        self.status
    }

    /// What is wrong, with the name of the argument or of the driver function.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn argument(message: String) -> Self {
        Error { status: Status::Argument, message }
    }

    fn new(status: sys::ech_status, message: *const c_char) -> Self {
        let status = match status {
            sys::ECH_ERR_ARG => Status::Argument,
            sys::ECH_ERR_UNSUPPORTED => Status::Unsupported,
            sys::ECH_ERR_MEMORY => Status::Memory,
            sys::ECH_ERR_NO_DEVICE => Status::NoDevice,
            sys::ECH_ERR_DEVICE => Status::Device,
            sys::ECH_ERR_CANCELED => Status::Canceled,
            other => Status::Other(other),
        };
        // SAFETY: ech_error() returns a string, which is copied before the next call.
        let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
        Error { status, message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Fails if two slices that must have the same length have different lengths.
pub(crate) fn same_length(a: &str, n: usize, b: &str, m: usize) -> Result<(), Error> {
    if n == m {
        return Ok(());
    }
    Err(Error::argument(format!(
        "{a} has {n} elements, but {b} has {m}: they must be equally long"
    )))
}

/// An open device. Dropping it waits for queued work and closes it.
///
/// A context may be sent to another thread, but only one thread at a time may use it. Contexts of
/// several threads are independent.
///
/// ```compile_fail
/// fn share<T: Sync>(_: &T) {}
/// share(&echelon::Context::open("cpu").unwrap()); // Context is not Sync
/// ```
pub struct Context {
    raw: *mut sys::ech_ctx,
}

// SAFETY: any thread may use a context, one at a time. The pointer makes it !Sync.
unsafe impl Send for Context {}

impl Context {
    /// Opens a device: `"cpu"`, `"cuda"`, `"cuda:1"`, `"auto"`, or `"simt"`, the emulator.
    ///
    /// # Errors
    ///
    /// [`Status::Argument`] if there is no such name, [`Status::NoDevice`] if the device or its
    /// driver is missing, [`Status::Memory`].
    pub fn open(device: &str) -> Result<Self, Error> {
        let name = CString::new(device)
            .map_err(|_| Error::argument(format!("device is {device:?}, which contains a zero")))?;
        Self::open_raw(name.as_ptr())
    }

    /// Opens the device that the environment variable `ECHELON_DEVICE` names, otherwise the first
    /// GPU, otherwise the CPU.
    pub fn open_default() -> Result<Self, Error> {
        Self::open_raw(ptr::null())
    }

    fn open_raw(device: *const c_char) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: both pointers are valid; ech_error(NULL) belongs to the calling thread.
        match unsafe { sys::ech_open(&mut raw, device) } {
            sys::ECH_OK => Ok(Context { raw }),
            status => Err(Error::new(status, unsafe { sys::ech_error(ptr::null()) })),
        }
    }

    /// The name with which [`Context::open`] opens the same device again.
    pub fn device_name(&self) -> String {
        // SAFETY: the name is valid while the context is open.
        unsafe { CStr::from_ptr(sys::ech_device_name(self.raw)) }.to_string_lossy().into_owned()
    }

    /// The context for functions of [`sys`]. It stays owned by this object.
    pub fn as_ptr(&self) -> *mut sys::ech_ctx {
        self.raw
    }

    /// Turns a status that a function of [`sys`] returned for this context into a result.
    pub fn check(&self, status: sys::ech_status) -> Result<(), Error> {
        match status {
            sys::ECH_OK => Ok(()),
            // SAFETY: the context is open.
            _ => Err(Error::new(status, unsafe { sys::ech_error(self.raw) })),
        }
    }

    /// Waits until all queued work has finished, and returns its errors.
    pub fn sync(&self) -> Result<(), Error> {
        // SAFETY: the context is open.
        self.check(unsafe { sys::ech_sync(self.raw) })
    }

    /// Selects the CUDA stream of later calls. Null is the legacy default stream.
    ///
    /// # Safety
    ///
    /// `stream` is null or a `CUstream` of the context's GPU, which lives until the next call of
    /// this function or until the context is dropped.
    pub unsafe fn set_stream(&self, stream: *mut c_void) -> Result<(), Error> {
        self.check(unsafe { sys::ech_set_stream(self.raw, stream) })
    }

    /// Selects a non-blocking stream that the context owns, for later calls.
    pub fn set_private_stream(&self) -> Result<(), Error> {
        // SAFETY: the context is open.
        self.check(unsafe { sys::ech_set_private_stream(self.raw) })
    }

    /// Limits the number of CPU threads of a call. 0 is the default: all processors.
    pub fn set_threads(&self, threads: i32) -> Result<(), Error> {
        // SAFETY: the context is open.
        self.check(unsafe { sys::ech_set_threads(self.raw, threads) })
    }

    /// Limits the device memory that the context may hold at once. 0 is the default: no limit.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<(), Error> {
        // SAFETY: the context is open.
        self.check(unsafe { sys::ech_set_memory_limit(self.raw, bytes) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is open, and nothing can use it after this.
        unsafe { sys::ech_close(self.raw) }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Context").field(&self.device_name()).finish()
    }
}

/// The version of the library that is running, such as `"0.2.0"`.
pub fn version() -> String {
    // SAFETY: the library returns a static string.
    unsafe { CStr::from_ptr(sys::ech_version()) }.to_string_lossy().into_owned()
}
