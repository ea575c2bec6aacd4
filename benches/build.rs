//! Tells the bench what it was built with.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let profile = std::env::var("PROFILE").unwrap_or_default();
    println!("cargo::rustc-env=BUILT_WITH={}, {profile} profile", version.unwrap_or_default());
}
