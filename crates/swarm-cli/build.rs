//! How the binary is linked while it is worked on.
//!
//! `swarm` starts itself once more for each call of git (`swarm-process/src/bound.rs`). Unoptimised and position
//! independent, most of such a start is the patching of two hundred thousand addresses: a third of the time of all
//! tests. What is released is small enough and stays position independent, as hardening asks for.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
