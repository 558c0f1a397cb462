//! What the tests and fuzz targets that compare the engine with something simpler share: where choices come from
//! (`choices`), results and policies made of them (`results`, `policies`), the simpler things to compare with (`tree`,
//! `judge`, `interpreter`), and the comparisons themselves (`scan`, `table`, `properties`; `c_abi` compares with its header).
//!
//! Each uses some of it.
#![allow(dead_code, reason = "every test binary and fuzz target compiles this folder and uses its own part")]

pub mod c_abi;
pub mod choices;
pub mod interpreter;
pub mod judge;
pub mod policies;
pub mod properties;
pub mod results;
pub mod scan;
pub mod table;
pub mod tree;
