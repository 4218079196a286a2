//! build.rs - passes the version of the compiler to lib.rs.
//! SPDX-License-Identifier: Apache-2.0

fn main() {
    let rustc = std::env::var("RUSTC").unwrap();
    let output = std::process::Command::new(rustc).arg("--version").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    println!("cargo:rustc-env=RUSTC_VERSION=rustc {}", text.split(' ').nth(1).unwrap());
}
