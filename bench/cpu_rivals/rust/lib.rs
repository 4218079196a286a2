//! lib.rs - competitors of bench_cpu: the sorts of Rust's standard library and of rayon.
//!
//! The structs are those of ../../cpu_rivals.h.
//!
//! SPDX-License-Identifier: Apache-2.0

use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::Once;

#[repr(C)]
pub struct Job {
    dtype: *const c_char,
    call: c_int,
    keys: *mut c_void,
    values: *mut c_void,
    n: usize,
    batch: usize,
    value_bytes: usize,
    threads: c_int,
}

#[repr(C)]
pub struct Rival {
    name: *const c_char,
    version: *const c_char,
    stable: c_int,
    records: c_int,
    sort: extern "C" fn(&Job) -> c_int,
}

unsafe impl Sync for Rival {}

const ARGSORT: c_int = 1;

#[derive(Clone, Copy)]
#[repr(C)]
struct Record<K> {
    key: K,
    value: K,
}

trait Element: Copy + Send {
    fn order(&self, other: &Self) -> Ordering;
}

macro_rules! integers {
    ($($t:ty)*) => {
        $(impl Element for $t {
            fn order(&self, other: &Self) -> Ordering { self.cmp(other) }
        }
        impl Element for Record<$t> {
            fn order(&self, other: &Self) -> Ordering { self.key.cmp(&other.key) }
        })*
    };
}
integers!(u8 u16 u32 u64);

impl Element for f32 {
    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}
impl Element for f64 {
    fn order(&self, other: &Self) -> Ordering {
        self.total_cmp(other)
    }
}

#[derive(Clone, Copy)]
enum How {
    Unstable,
    Stable,
    Parallel,
    ParallelStable,
}

fn each<T: Element>(job: &Job, how: How) -> c_int {
    for i in 0..job.batch {
        let a = unsafe { std::slice::from_raw_parts_mut((job.keys as *mut T).add(i * job.n), job.n) };
        match how {
            How::Unstable => a.sort_unstable_by(T::order),
            How::Stable => a.sort_by(T::order),
            How::Parallel => a.par_sort_unstable_by(T::order),
            How::ParallelStable => a.par_sort_by(T::order),
        }
    }
    1
}

static POOL: Once = Once::new();

fn sort(job: &Job, how: How, records: bool) -> c_int {
    let parallel = matches!(how, How::Parallel | How::ParallelStable);
    if parallel != (job.threads > 1) || job.call == ARGSORT || records == job.values.is_null() {
        return 0;
    }
    if parallel {
        let threads = job.threads as usize;
        POOL.call_once(|| rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().unwrap());
    }
    let dtype = unsafe { CStr::from_ptr(job.dtype) }.to_bytes();
    match (dtype, records) {
        (b"u8", false) => each::<u8>(job, how),
        (b"u16", false) => each::<u16>(job, how),
        (b"u32", false) => each::<u32>(job, how),
        (b"u64", false) => each::<u64>(job, how),
        (b"f32", false) => each::<f32>(job, how),
        (b"f64", false) => each::<f64>(job, how),
        (b"u32", true) if job.value_bytes == 4 => each::<Record<u32>>(job, how),
        (b"u64", true) if job.value_bytes == 8 => each::<Record<u64>>(job, how),
        _ => 0,
    }
}

const VERSION: *const c_char = concat!(env!("RUSTC_VERSION"), "\0").as_ptr() as *const c_char;

macro_rules! rivals {
    ($($rival:ident $call:ident $name:literal $how:ident $stable:literal $records:literal)*) => {
        $(extern "C" fn $call(job: &Job) -> c_int {
            sort(job, How::$how, $records)
        }
        static $rival: Rival = Rival {
            name: concat!($name, "\0").as_ptr() as *const c_char,
            version: VERSION,
            stable: $stable,
            records: $records as c_int,
            sort: $call,
        };)*

        #[no_mangle]
        pub static bench_rivals: [Option<&Rival>; 9] = [$(Some(&$rival),)* None];
    };
}

rivals! {
    UNSTABLE unstable "Rust sort_unstable" Unstable 0 false
    UNSTABLE_RECORDS unstable_records "Rust sort_unstable" Unstable 0 true
    STABLE stable "Rust sort" Stable 1 false
    STABLE_RECORDS stable_records "Rust sort" Stable 1 true
    PARALLEL parallel "rayon par_sort_unstable" Parallel 0 false
    PARALLEL_RECORDS parallel_records "rayon par_sort_unstable" Parallel 0 true
    PARALLEL_STABLE parallel_stable "rayon par_sort" ParallelStable 1 false
    PARALLEL_STABLE_RECORDS parallel_stable_records "rayon par_sort" ParallelStable 1 true
}
