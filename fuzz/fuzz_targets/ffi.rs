//! Sequences of calls of the C ABI, with all that its header promises: `tests/support/c_abi.rs`. What makes it worth while is
//! the address sanitizer.
#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| support::c_abi::run(input));
