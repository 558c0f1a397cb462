//! The scanner against serde_json, on raw bytes, at the full depth and at a small one: `tests/support/scan.rs`.
#![no_main]

#[path = "../../tests/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;
use mcp_select::result::json::MAX_DEPTH;
use support::scan::disagreement;

fuzz_target!(|input: &[u8]| {
    let small = u32::try_from(input.len() % 9 + 1).unwrap();
    for max_depth in [MAX_DEPTH, small] {
        if let Some(why) = disagreement(input, max_depth) {
            panic!("{why} (max_depth {max_depth}): {}", String::from_utf8_lossy(input));
        }
    }
});
