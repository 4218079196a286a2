//! orders.rs - orders of a shop: the largest of each customer, the total, and the smallest of all.
//!
//!     cargo run --example orders [DEVICE]      a name for Context::open(): "cpu", "cuda"
//!
//! SPDX-License-Identifier: Apache-2.0

use echelon::{Column, Context, SortOptions};
use std::error::Error;

struct Orders {
    customer: Vec<i32>,
    amount: Vec<f64>, // multiples of 0.25: sums are exact
}

fn made_up_orders(n: usize, customers: i64) -> Orders {
    let mut x = 1_i64;
    let mut next = || {
        x = x * 48271 % 2147483647;
        x
    };
    let mut orders = Orders { customer: Vec::new(), amount: Vec::new() };
    for _ in 0..n {
        orders.customer.push((next() % customers) as i32);
        orders.amount.push(0.25 * (next() % 4000) as f64);
    }
    orders
}

/// By customer, and the largest order of each first.
fn is_sorted(orders: &Orders, index: &[i64]) -> bool {
    let key = |i: i64| (orders.customer[i as usize], -orders.amount[i as usize]);
    index.windows(2).all(|pair| key(pair[0]) <= key(pair[1]))
}

fn run() -> Result<(), Box<dyn Error>> {
    let n = 100_000;
    let orders = made_up_orders(n, 100);
    let ctx = match std::env::args().nth(1) {
        Some(device) => Context::open(&device)?,
        None => Context::open_default()?,
    };

    let total = ctx.sum(&orders.amount)?;
    if total != orders.amount.iter().sum::<f64>() {
        return Err("the total is wrong".into());
    }
    println!("{n} orders, total {total:.2}, mean {:.2}", ctx.mean(&orders.amount)?);

    let mut index = vec![0_i64; n];
    let columns = [Column::new(&orders.customer), Column::new(&orders.amount).descending()];
    ctx.argsort_columns(&columns, &mut index)?;
    if !is_sorted(&orders, &index) {
        return Err("the orders are not sorted".into());
    }
    for customer in 0..3 {
        let first = index.iter().map(|i| *i as usize).find(|i| orders.customer[*i] == customer);
        let order = first.ok_or("a customer without orders")?;
        println!("customer {customer}: largest order {order} of {:.2}", orders.amount[order]);
    }

    let (mut amounts, mut customers) = (orders.amount, orders.customer);
    ctx.sort_pairs(&mut amounts, &mut customers, SortOptions::ASCENDING)?;
    println!("smallest order {:.2} of customer {}", amounts[0], customers[0]);
    Ok(())
}

fn main() {
    if let Err(error) = run() {
        eprintln!("example: {error}");
        std::process::exit(1);
    }
}
