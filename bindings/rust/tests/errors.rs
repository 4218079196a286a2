//! errors.rs - wrong calls, which return errors and never write outside a slice.
//!
//! SPDX-License-Identifier: Apache-2.0

use echelon::{gf2::Matrix, Column, Compare, Context, Error, Op, Outside, SortOptions, Status};

const UP: SortOptions = SortOptions::ASCENDING;

fn fails<T: std::fmt::Debug>(result: Result<T, Error>, status: Status, text: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.status(), status);
    assert!(error.message().contains(text), "{error}");
    assert_eq!(error.to_string(), error.message());
}

fn wrong<T: std::fmt::Debug>(result: Result<T, Error>, text: &str) {
    fails(result, Status::Argument, text);
}

#[test]
fn wrong_devices() {
    wrong(Context::open("nosuch"), "device is \"nosuch\"");
    wrong(Context::open("cp\0u"), "zero");
    fails(Context::open("cuda:99"), Status::NoDevice, "");
}

#[test]
fn wrong_lengths() {
    let ctx = Context::open("cpu").unwrap();
    let (mut keys, mut index) = ([3_i32, 1, 2], [0_u32; 4]);
    let same = "they must be equally long";
    wrong(ctx.sort_pairs(&mut keys, &mut [1_u8, 2], UP), "values has 2 elements, but keys has 3");
    wrong(ctx.argsort(&keys, &mut index, UP), same);
    wrong(ctx.topk(&keys, &mut [0; 2], &mut index), same);
    wrong(ctx.topk(&keys, &mut [0; 4], &mut index), "k is 4");
    wrong(ctx.inclusive_scan(Op::Sum, &keys, &mut [0; 2]), same);
    wrong(ctx.select_flags(&keys, &[1, 0]), same);
    wrong(ctx.lower_bound(&keys, &keys, &mut index, UP), same);
    wrong(ctx.argsort_columns(&[Column::new(&keys)], &mut index), "columns[0] has 3");
    let wide = [0_u8; 9];
    let column = Column::new(&wide).validity(&[255]);
    wrong(ctx.argsort_columns(&[column], &mut [0_u32; 9]), "8 bits, fewer than the 9 rows");
    let (a, b) = (Matrix::zeros(3, 2), Matrix::zeros(4, 1));
    wrong(ctx.gf2_solve(&a, &b), "");
    wrong(ctx.gf2_mul(&a, &b), "");
    assert_eq!(keys, [3, 1, 2]);
}

#[test]
fn wrong_values() {
    let ctx = Context::open("cpu").unwrap();
    let mut counts = [0; 2];
    wrong(ctx.histogram(&[1.0_f32], &mut counts, 1.0, 1.0, Outside::Drop), "lower");
    wrong(ctx.histogram(&[1.0_f32], &mut [], 0.0, 1.0, Outside::Drop), "bins");
    wrong(ctx.bincount(&[1.0_f32], &mut counts), "");
    wrong(ctx.select_if(&[1.0_f32], Compare::HasAny, 1.0), "");
    wrong(ctx.inclusive_scan(Op::And, &[1.0_f32], &mut [0.0]), "");
    wrong(ctx.sort_pairs(&mut [1], &mut [()], UP), "value_bytes is 0");
    wrong(ctx.argsort_columns(&[], &mut [0_u32; 1]), "column");
    wrong(ctx.set_threads(-1), "threads");
    fails(ctx.set_private_stream(), Status::Unsupported, "");
    // SAFETY: null is the default stream; the CPU rejects all others.
    unsafe {
        ctx.set_stream(std::ptr::null_mut()).unwrap();
        let stream = std::ptr::addr_of_mut!(counts).cast();
        fails(ctx.set_stream(stream), Status::Unsupported, "stream");
    }
    ctx.set_threads(1).unwrap();
    ctx.set_memory_limit(1 << 20).unwrap();
    fails(ctx.upload(&vec![0_u8; 2 << 20]).map(drop), Status::Memory, "");
    wrong(ctx.allocate::<f64>(usize::MAX).map(drop), "overflows");
}

#[test]
#[should_panic(expected = "outside the matrix")]
fn elements_outside_a_matrix() {
    Matrix::zeros(3, 3).get(0, 3);
}

#[test]
fn a_context_moves_to_a_thread() {
    let ctx = Context::open("cpu").unwrap();
    assert_eq!(format!("{ctx:?}"), "Context(\"cpu\")");
    assert!(echelon::version().starts_with("0."));
    let sorted = std::thread::spawn(move || {
        let mut keys = [2_u8, 1];
        ctx.sort(&mut keys, UP).map(|()| keys)
    });
    assert_eq!(sorted.join().unwrap().unwrap(), [1, 2]);
}
