//! A tool result as bytes.
pub mod json;
