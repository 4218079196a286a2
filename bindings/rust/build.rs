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
    match Command::new(pkg_config).args(["--libs-only-L", "echelon"]).output() {
        Ok(output) if output.status.success() => {
            for flag in String::from_utf8_lossy(&output.stdout).split_whitespace() {
                println!("cargo:rustc-link-search=native={}", flag.trim_start_matches("-L"));
            }
        }
        _ => println!(
            "cargo:warning=pkg-config does not find libechelon. If the linker does not find it either, set \
             ECHELON_LIB_DIR to the folder of libechelon.so, or PKG_CONFIG_PATH to that of echelon.pc."
        ),
    }
}
