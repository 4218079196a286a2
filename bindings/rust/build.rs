//! build.rs - finds libechelon: in ECHELON_LIB_DIR, or with pkg-config, or where the linker searches.
//!
//! SPDX-License-Identifier: Apache-2.0

use std::{env, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=ECHELON_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = env::var("ECHELON_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        return;
    }
    let pkg_config = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".to_string());
    if let Ok(output) = Command::new(pkg_config).args(["--libs-only-L", "echelon"]).output() {
        for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
            println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"));
        }
    }
}
