//! What the tests that compare the engine with something simpler share: where choices come from (`choices`), results and
//! policies made of them (`results`, `policies`), and the simpler things to compare with (`tree`, `judge`, `interpreter`).
//!
//! Each test uses some of it.
#![allow(dead_code, reason = "every test binary compiles this folder and uses its own part")]

pub mod choices;
pub mod interpreter;
pub mod judge;
pub mod policies;
pub mod results;
pub mod tree;
