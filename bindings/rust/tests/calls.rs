//! calls.rs - every method, compared with plain Rust, on the CPU; device memory also on other devices.
//!
//! SPDX-License-Identifier: Apache-2.0

use echelon::{gf2::Matrix, sys, Column, Compare, Context, Element, Op, Outside, SortOptions};
use std::io::Write;

const UP: SortOptions = SortOptions::ASCENDING;
const DOWN: SortOptions = SortOptions::DESCENDING;

fn cpu() -> Context {
    Context::open("cpu").unwrap()
}

/// Numbers from 0 to below, which repeat if below is less than n.
fn numbers(n: usize, below: i64) -> Vec<i64> {
    let mut x = 1_i64;
    (0..n)
        .map(|_| {
            x = x * 48271 % 2147483647;
            x % below
        })
        .collect()
}

fn sorts<T: Element + PartialOrd + std::fmt::Debug>(from: impl Fn(i64) -> T) {
    let ctx = cpu();
    let input: Vec<T> = numbers(3000, 100).into_iter().map(from).collect();
    let mut expected = input.clone();
    expected.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let mut keys = input.clone();
    ctx.sort(&mut keys, UP).unwrap();
    assert_eq!(keys, expected);
    expected.reverse();
    ctx.sort(&mut keys, DOWN).unwrap();
    assert_eq!(keys, expected);
}

#[test]
fn sorts_every_type() {
    sorts(|x| x as i8);
    sorts(|x| x as i16 - 50);
    sorts(|x| x as i32 - 50);
    sorts(|x| x - 50);
    sorts(|x| x as u8);
    sorts(|x| x as u16);
    sorts(|x| x as u32);
    sorts(|x| x as u64);
    sorts(|x| x as f32 - 50.5);
    sorts(|x| x as f64 - 50.5);
}

/// The types of results are those that the library states.
fn result_types<T: Element>() {
    let result = |op| unsafe { sys::ech_reduce_dtype(op, T::DTYPE, 0) };
    assert_eq!(result(sys::ECH_OP_SUM), T::Sum::DTYPE);
    assert_eq!(result(sys::ECH_OP_MEAN), T::Mean::DTYPE);
    assert_eq!(result(sys::ECH_OP_MIN), T::DTYPE);
}

#[test]
fn result_types_of_every_type() {
    result_types::<i8>();
    result_types::<i16>();
    result_types::<i32>();
    result_types::<i64>();
    result_types::<u8>();
    result_types::<u16>();
    result_types::<u32>();
    result_types::<u64>();
    result_types::<f32>();
    result_types::<f64>();
}

#[test]
fn orders_floats() {
    let ctx = cpu();
    let mut keys = [f32::NAN, 1.0, -f32::NAN, f32::NEG_INFINITY];
    let total = SortOptions { total_order: true, ..UP };
    ctx.sort(&mut keys, UP).unwrap();
    assert!(keys[0] == f32::NEG_INFINITY && keys[3].is_nan());
    ctx.sort(&mut keys, total).unwrap();
    assert!(keys[0].is_nan() && keys[3].is_nan() && keys[2] == 1.0);
}

#[test]
fn sorts_pairs_and_indices() {
    let ctx = cpu();
    let input = numbers(2000, 50);
    let mut expected: Vec<(i64, [u8; 3])> =
        input.iter().enumerate().map(|(i, x)| (*x, [i as u8, (i >> 8) as u8, 7])).collect();
    let (mut keys, mut values): (Vec<i64>, Vec<[u8; 3]>) = expected.iter().copied().unzip();
    ctx.sort_pairs(&mut keys, &mut values, UP).unwrap();
    expected.sort_by_key(|pair| pair.0); // stable, as sort_pairs()
    assert_eq!(keys.into_iter().zip(values).collect::<Vec<_>>(), expected);

    let mut index = vec![0_i32; input.len()];
    ctx.argsort(&input, &mut index, DOWN).unwrap();
    let mut positions: Vec<i32> = (0..2000).collect();
    positions.sort_by_key(|i| -input[*i as usize]);
    assert_eq!(index, positions);

    let (mut best, mut places) = (vec![0; 9], vec![0_u64; 9]);
    ctx.topk(&input, &mut best, &mut places).unwrap();
    assert!(places.iter().zip(&positions).all(|(a, b)| *a == *b as u64));
    ctx.bottomk(&input, &mut best, &mut places).unwrap();
    assert_eq!(best, [0; 9]);
}

#[test]
fn sorts_tables() {
    let ctx = cpu();
    let (first, second) = ([1_u8, 0, 1, 0], [0.5_f64, f64::NAN, 1.5, 2.5]);
    let mut index = [0_u64; 4];
    let columns = [Column::new(&first), Column::new(&second).descending()];
    ctx.argsort_columns(&columns, &mut index).unwrap();
    assert_eq!(index, [1, 3, 2, 0]);
    let nulls = [0b1110_u8]; // element 0 is null
    let columns = [Column::new(&first).validity(&nulls), Column::new(&second).total_order()];
    ctx.argsort_columns(&columns, &mut index).unwrap();
    assert_eq!(index, [3, 1, 2, 0]);
    let columns = [Column::new(&first).validity(&nulls).nulls_first()];
    ctx.argsort_columns(&columns, &mut index).unwrap();
    assert_eq!(index, [0, 1, 3, 2]);
}

#[test]
fn reduces_and_scans() {
    let ctx = cpu();
    let input: Vec<i16> = numbers(5000, 1000).into_iter().map(|x| x as i16 - 500).collect();
    let sum: i64 = input.iter().map(|x| *x as i64).sum();
    assert_eq!(ctx.sum(&input).unwrap(), sum);
    assert_eq!(ctx.mean(&input).unwrap(), sum as f64 / 5000.0);
    assert_eq!(ctx.min(&input).unwrap(), *input.iter().min().unwrap());
    assert_eq!(ctx.max(&input).unwrap(), *input.iter().max().unwrap());
    assert_eq!(ctx.sum(&[0.5_f32, 0.25]).unwrap(), 0.75_f32);
    assert_eq!(ctx.mean(&[0.5_f32, 1.0]).unwrap(), 0.75_f32);
    assert_eq!(ctx.sum(&[u32::MAX; 2]).unwrap(), 8589934590_u64);
    assert_eq!((ctx.max::<i8>(&[]).unwrap(), ctx.min::<f64>(&[]).unwrap()), (-128, f64::INFINITY));

    let mut out = [0_u32; 4];
    ctx.inclusive_scan(Op::Xor, &[1, 3, 4, 4], &mut out).unwrap();
    assert_eq!(out, [1, 2, 6, 2]);
    ctx.exclusive_scan(Op::Max, &[1, 3, 2, 4], &mut out).unwrap();
    assert_eq!(out, [0, 1, 3, 3]);
    ctx.inclusive_scan(Op::Product, &[1, 3, 2, 4], &mut out).unwrap();
    assert_eq!(out, [1, 3, 6, 24]);
}

#[test]
fn counts_selects_and_searches() {
    let ctx = cpu();
    let input: Vec<u16> = numbers(4000, 40).into_iter().map(|x| x as u16).collect();
    let expected: Vec<u64> =
        (0..40).map(|bin| input.iter().filter(|x| **x == bin).count() as u64).collect();
    let mut counts = [9_u64; 40];
    ctx.bincount(&input, &mut counts).unwrap();
    assert_eq!(counts, expected[..]);
    ctx.histogram(&input, &mut counts, 0.0, 40.0, Outside::Drop).unwrap();
    assert_eq!(counts, expected[..]);
    ctx.histogram(&input, &mut counts[..1], 3.0, 4.0, Outside::Clamp).unwrap();
    assert_eq!(counts[0], 4000);

    let large: Vec<u16> = input.iter().copied().filter(|x| *x >= 30).collect();
    assert_eq!(ctx.select_if(&input, Compare::GreaterEqual, 30).unwrap(), large);
    let flags: Vec<u8> = input.iter().map(|x| u8::from(*x >= 30)).collect();
    assert_eq!(ctx.select_flags(&input, &flags).unwrap(), large);
    let mut sorted = input;
    ctx.sort(&mut sorted, UP).unwrap();
    assert_eq!(ctx.unique(&sorted).unwrap(), (0..40).collect::<Vec<_>>());

    let needles = [0_u16, 17, 39, 65535];
    let (mut low, mut high) = ([0_i64; 4], [0_i64; 4]);
    ctx.lower_bound(&sorted, &needles, &mut low, UP).unwrap();
    ctx.upper_bound(&sorted, &needles, &mut high, UP).unwrap();
    for (i, needle) in needles.into_iter().enumerate() {
        assert_eq!(low[i] as usize, sorted.partition_point(|x| *x < needle));
        assert_eq!(high[i] as usize, sorted.partition_point(|x| *x <= needle));
    }
}

#[test]
fn solves_over_gf2() {
    let ctx = cpu();
    let bits = numbers(90 * 70, 2);
    let a = Matrix::from_fn(90, 70, |i, j| bits[i * 70 + j] == 1);
    let x = Matrix::from_fn(70, 3, |i, j| bits[7 * i + j] == 1);
    let b = ctx.gf2_mul(&a, &x).unwrap();
    assert_eq!((b.rows(), b.cols(), b.row(0).len()), (90, 3, 1));
    let solution = ctx.gf2_solve(&a, &b).unwrap();
    assert_eq!(solution.solvable, [true; 3]);
    assert_eq!(ctx.gf2_mul(&a, &solution.x).unwrap(), b);
    assert_eq!(ctx.gf2_rank(&a).unwrap(), 70);
    assert_eq!(ctx.gf2_rank(&Matrix::zeros(0, 0)).unwrap(), 0);
    let other = Matrix::from_fn(90, 1, |i, _| i == 0);
    let solvable = ctx.gf2_solve(&a, &other).unwrap().solvable[0];
    assert!(!solvable, "90 equations for 70 unknowns");
}

fn calls_on_device(ctx: &Context, n: usize) {
    let input = numbers(n, 1000);
    let mut expected = input.clone();
    expected.sort();
    let (keys, index) = (ctx.upload(&input).unwrap(), ctx.allocate::<u32>(n).unwrap());
    let (sum, zeros) = (ctx.allocate::<i64>(1).unwrap(), ctx.allocate::<i64>(n).unwrap());
    assert_eq!(zeros.download().unwrap(), vec![0; n]);
    // SAFETY: the buffers belong to ctx, are different, and live to the end.
    unsafe {
        ctx.argsort_device(keys.ptr(), index.ptr(), UP).unwrap();
        ctx.sum_device(keys.ptr(), sum.ptr()).unwrap();
        ctx.inclusive_scan_device(Op::Sum, keys.ptr(), zeros.ptr()).unwrap();
        ctx.sort_pairs_device(keys.ptr(), zeros.ptr(), UP).unwrap();
        assert!(ctx.sort_device(keys.ptr(), sum.ptr(), UP).is_err());
        ctx.sort_device(keys.ptr(), keys.ptr(), UP).unwrap();
    }
    ctx.sync().unwrap();
    assert_eq!(keys.download().unwrap(), expected);
    assert_eq!(sum.download().unwrap(), [expected.iter().sum::<i64>()]);
    assert_eq!(zeros.download().unwrap().into_iter().max(), Some(expected.iter().sum::<i64>()));
    let index = index.download().unwrap();
    assert!(index.windows(2).all(|i| input[i[0] as usize] <= input[i[1] as usize]));
    drop(keys);
    let mut host = input;
    ctx.sort(&mut host, UP).unwrap();
    assert_eq!(host, expected);
}

#[test]
fn device_memory_of_the_cpu() {
    calls_on_device(&cpu(), 3000);
}

/// Prints SKIPPED if there is no such device; the test script counts it.
fn calls_on_device_if_any(device: &str, n: usize) {
    match Context::open(device) {
        Ok(ctx) => calls_on_device(&ctx, n),
        Err(error) => {
            // One write, which output of other tests does not split.
            let line = format!("\nSKIPPED {device}: {error}\n");
            std::io::stderr().write_all(line.as_bytes()).unwrap();
        }
    }
}

#[test]
fn device_memory_of_the_emulator() {
    calls_on_device_if_any("simt", 200);
}

#[test]
fn device_memory_of_a_gpu() {
    calls_on_device_if_any("cuda", 100_000);
}
