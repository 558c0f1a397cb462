//! Names the shared library for the dynamic linker: `libmcp_select.so.1`, where 1 is the number that a break of the C ABI
//! raises, and has the linker refuse undefined symbols. Which symbols are exported is rustc's affair (`tests/c/exports.sh`).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(key).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmcp_select.so.1");
        // A sanitizer's runtime is the program's, so an instrumented library refers to it undefined.
        if !target("CARGO_ENCODED_RUSTFLAGS").contains("sanitizer") {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-z,defs");
        }
    }
}
