//! The policy file.
pub mod pattern;
pub mod rule;
